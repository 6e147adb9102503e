# SPDX-License-Identifier: PostgreSQL
# Property: a library serves the script of the version before, and a script that is newer than the library breaks only what the library lacks.
# ALTER EXTENSION UPDATE changes no answer of values, indexes, views and plans that are in use.  The next version is test/next.

use strict;
use warnings;

use BloomfamTest;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use Installation;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tree = getcwd();
my @make = ('make', '-s', '-C', "$tree/test/next", 'all');
push @make, "PG_CONFIG=$ENV{PG_CONFIG}" if $ENV{PG_CONFIG};
ok(run_log(\@make), 'the library of a next version is built');

my $folder = PostgreSQL::Test::Utils::tempdir();
my ($bin, $lib, $scripts) = make_installation($folder);
my ($old, $new) = ("$folder/old.so", "$tree/test/next/bloomfam.so");
copy("$lib/bloomfam.so", $old) or die;
copy("$tree/test/next/bloomfam--1.0--1.1.sql", $scripts) or die;

my $node = PostgreSQL::Test::Cluster->new('main', install_path => $bin =~ s,/bin$,,r);
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nsession_preload_libraries = 'bloomfam'\nenable_seqscan = off\nmax_parallel_workers_per_gather = 0\n");
$node->start;
$node->safe_psql('postgres', q{CREATE EXTENSION bloomfam VERSION '1.0'});
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_extension_update_paths('bloomfam') WHERE source = '1.0' AND target = '1.1' AND path IS NOT NULL}), '1',
	'the server sees the way to the next version');

# ---- in use: values, views, indexes, constraints, functions ----

$node->safe_psql('postgres', q{
	CREATE TABLE log (n int, id uuid, t text, x xid8);
	INSERT INTO log SELECT g, md5(g::text)::uuid, 'key ' || g, g::text::xid8 FROM generate_series(1, 20000) g;
	CREATE INDEX log_n ON log USING maplet (n);
	CREATE INDEX log_id ON log USING maplet (id);
	CREATE INDEX log_t ON log USING maplet (t);
	INSERT INTO log SELECT g, md5(g::text)::uuid, 'key ' || g, g::text::xid8 FROM generate_series(20001, 21000) g;

	CREATE TABLE filter (kind text PRIMARY KEY, f bloomfilter, shard int GENERATED ALWAYS AS (bloom_shard(kind, 16)) STORED);
	INSERT INTO filter SELECT kind, bloom_agg(n, 0.01, kind) FROM log, bloom_kinds(1000) GROUP BY kind;
	CREATE INDEX filter_f ON filter USING hash (f);
	CREATE INDEX filter_shard ON filter (bloom_shard(kind, 16));

	CREATE TABLE tagged (id int, tags text[], has bloomfilter GENERATED ALWAYS AS (bloom_add_all(bloom_create(100), tags)) STORED, CHECK (has @~ 'all'),
		hashed bloomkey, f bloomfilter DEFAULT bloom_create(1000, 'counting'));
	INSERT INTO tagged (id, tags, hashed) SELECT g, ARRAY['all', 't' || g], bloom_key(g) FROM generate_series(1, 200) g;
	CREATE INDEX tagged_one ON tagged (id) WHERE has @~ 't7';

	CREATE VIEW by_operator AS SELECT kind, count(*) AS rows FROM filter JOIN log ON f @~ log.n AND log.n % 100 = 0 GROUP BY kind;
	CREATE VIEW by_function AS SELECT kind AS name, bloom_which(ARRAY[f], 77) AS which, bloom_shard(kind, 1000) AS shard, (bloom_info(f)).* FROM filter;
	CREATE VIEW by_aggregate AS SELECT bloom_agg(n) AS f, bloom_union_agg(bloom_create(10, key_type => 'int')) AS u FROM log WHERE n < 100;
	CREATE VIEW by_counters AS SELECT s.* FROM bloomfam_stat_join_filters s;
	CREATE MATERIALIZED VIEW kept AS SELECT * FROM by_operator;
	CREATE FUNCTION has(key int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM filter WHERE f @~ key); END $$;
	CREATE FUNCTION kept_true() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.f := bloom_add(NEW.f, NEW.id); RETURN NEW; END $$;
	CREATE TRIGGER kept_true BEFORE INSERT ON tagged FOR EACH ROW EXECUTE FUNCTION kept_true();
	INSERT INTO tagged VALUES (1000, '{all}');
	ANALYZE;
});

# What is asked before, meanwhile and after; the first part needs nothing that a next version serves by another C function.
my $answers = q{
	SELECT kind, md5(f::text), bloom_cardinality(f), f @~ 77, bloom_may_contain_all(f, ARRAY[1, 2, 20000]) FROM filter ORDER BY kind;
	SELECT count(*) FROM filter a JOIN filter b ON a.f = b.f;
	SELECT * FROM by_operator ORDER BY kind;
	SELECT md5(f::text), u @~ 1 FROM by_aggregate;
	SELECT sum(rows) FROM kept;
	SELECT count(*), min(id) FROM tagged WHERE has @~ 't7';
	SELECT count(*) FROM tagged WHERE hashed = bloom_key(id) AND has ~@ ANY (ARRAY[has]) IS NOT NULL AND bloom_key('all'::text) ~@ has;
	SELECT bool_and(f @~ id) FROM tagged WHERE id >= 1000;
	SELECT n FROM log WHERE n = 20500::bigint;
	SELECT n FROM log WHERE id = md5('4711')::uuid;
	SELECT count(*) FROM log WHERE t = ANY (ARRAY['key 5', 'key 21000', 'none']);
	SELECT maplet_check(i::regclass, true) FROM unnest('{log_n,log_id,log_t}'::text[]) i;
	SELECT has(77), has(-1) < 5;
	SELECT count(filter_bytes) FROM by_counters WHERE false;
	SELECT count(*) FROM log JOIN (SELECT g AS n FROM generate_series(1, 100) g) s USING (n);
} =~ s/AND has ~@ ANY \(ARRAY\[has\]\) IS NOT NULL //r;
my $replaced = q{
	SELECT kind, shard, shard = bloom_shard(kind, 16) FROM filter ORDER BY kind;
	SELECT kind, which, shard, keys_estimated, format_version FROM by_function ORDER BY kind;
	SELECT count(*) FROM filter WHERE bloom_shard(kind, 16) = bloom_shard('ribbon'::text, 16);
};
my $first = $node->safe_psql('postgres', $answers);
my $before = "$first\n" . $node->safe_psql('postgres', $replaced);
like($before, qr/^ribbon\|\w{32}\|21000\|t\|t$/m, 'there is something to compare');
like($before, qr/^ribbon\|\d+\|t$/m, '... and of what is replaced');

my $plan = q{EXPLAIN (COSTS OFF) SELECT n FROM log WHERE n = 5};
like($node->safe_psql('postgres', $plan), qr/using log_n|on log_n/, 'the index is used');

# Sessions that have it loaded, plans kept, and a scan under way.

# What was printed, without the empty lines.
sub lines
{
	return join "\n", grep { length } map { split /\n/ } @_;
}

# A session is asked one statement after the other.
sub ask_all
{
	my ($session, $sql) = @_;

	return lines(map { ask($session, $_) } grep { /\S/ } split /;\n/, $sql);
}

my $long = session($node);
my $scan = session($node);
my $prepared = q{PREPARE by_index(int) AS SELECT n, t FROM log WHERE n = $1;
	PREPARE by_filter(int) AS SELECT count(*) FROM filter WHERE f @~ $1;
	PREPARE by_constant AS SELECT count(*) FROM log WHERE bloom_may_contain((SELECT f FROM filter WHERE kind = 'ribbon'), n);
	PREPARE by_added(text) AS SELECT bloom_add(bloom_create(10), $1) @~ $1;
};
my $execute = "EXECUTE by_index(20900);\nEXECUTE by_filter(20999);\nEXECUTE by_constant;\nEXECUTE by_added('a');\n";
ask_all($long, $prepared);
ask($long, 'SET plan_cache_mode = force_generic_plan');
my $executed = ask_all($long, $execute);
is($executed, "20900|key 20900\n11\n21000\nt", 'prepared statements');
ask_all($scan, "BEGIN;\nSET LOCAL enable_bitmapscan = off;\nDECLARE c CURSOR FOR SELECT l.n FROM generate_series(1, 500) g, LATERAL (SELECT n FROM log WHERE log.n = g OFFSET 0) l;\n");
is(ask($scan, 'FETCH 3 FROM c'), "1\n2\n3", 'a scan of a maplet index begins');

# ---- the new library, with the old script ----

replace_file($new, "$lib/bloomfam.so");
is($node->safe_psql('postgres', $answers . $replaced), $before, 'the new library serves the old script: all answers');
is($node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'bloomfam'}), '1.0', '... of 1.0');
is(ask_all($long, $execute), $executed, '... and who has loaded the old one goes on');

# ---- the update, while all that is in use ----

my $session = session($node);
is(ask_all($session, $execute =~ s/^.*//sr . $prepared), '', 'a session with the new library');
is(ask_all($session, $execute), $executed, '... has the same answers before');
is(ask($session, q{ALTER EXTENSION bloomfam UPDATE TO '1.1'}), '', 'ALTER EXTENSION UPDATE waits for nobody');
is(ask_all($session, $execute), $executed, '... and after: prepared statements');
is(ask($scan, 'FETCH 3 FROM c'), "4\n5\n6", '... the scan that was under way');
is(ask($scan, 'FETCH ALL FROM c'), join("\n", 7 .. 500), '... goes to its end');
ask($scan, 'COMMIT');
is(ask_all($long, $execute), $executed, '... prepared statements of a session with the old library');
is(ask_all($long, $answers), lines($first), '... all other answers there');
is($node->safe_psql('postgres', $answers . $replaced), $before, '... all answers of a new session');

is($node->safe_psql('postgres', q{SELECT bloom_next(), extversion FROM pg_extension WHERE extname = 'bloomfam'}), '1.1|1.1', 'what is new is there');
is($node->safe_psql('postgres', q{SELECT oprrest, oprjoin FROM pg_operator WHERE oid = '@~ (bloomfilter, anyelement)'::regoperator}), 'contsel|contjoinsel', '... what is changed');
is($node->safe_psql('postgres', q{SELECT count(filter_bytes) FROM by_counters WHERE false}), '0', '... a view on a view that has grown keeps its columns');
is($node->safe_psql('postgres', q{SELECT attname FROM pg_attribute WHERE attrelid = 'bloomfam_stat_join_filters'::regclass AND attnum > 0 ORDER BY attnum DESC LIMIT 1}),
	'filters_next', '... the new column is the last');
is($node->safe_psql('postgres', q{CREATE INDEX log_x ON log USING maplet (x); SELECT n FROM log WHERE x = '77'::xid8; SELECT maplet_check('log_x', true)}), "77\n", '... an operator class more');
like($node->safe_psql('postgres', $plan), qr/using log_n|on log_n/, 'the index is still used');
like($node->safe_psql('postgres', q{EXPLAIN (COSTS OFF) SELECT FROM log WHERE n = 5::bigint}), qr/log_n/, '... with the operator that was made anew');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = 'bloom_next()'::regprocedure AND deptype = 'e'}), '1',
	'what is new belongs to the extension');

# who still has the old library
is(ask($long, 'SELECT bloom_next()') =~ s/file ".*"/file/r, 'ERROR:  could not find function "bloomfam_next" in file', 'a session with the old library has not what is new');
like(ask($long, $replaced =~ s/;.*//sr), qr/ERROR:  could not find function "bloomfam_next_shard" in file/, '... nor what the next library serves');
is(ask_all($long, $execute), $executed, '... and goes on');

# ---- a restart: all have the new library ----

$node->stop;
$node->start;
is($node->safe_psql('postgres', $answers . $replaced), $before, 'after a restart: all answers');
$node->safe_psql('postgres', 'INSERT INTO log SELECT g, md5(g::text)::uuid, $$key $$ || g, g::text::xid8 FROM generate_series(21001, 30000) g; DELETE FROM log WHERE n > 21000; VACUUM log');
is($node->safe_psql('postgres', $answers . $replaced), $before, '... the indexes go on');

# ---- the old library, with the new script ----

replace_file($old, "$lib/bloomfam.so");
$node->restart;
is($node->safe_psql('postgres', $answers), $first, 'the old library serves what it has of the new script: all answers');
foreach my $call ([ 'SELECT bloom_next()', 'bloomfam_next' ], [ q{SELECT bloom_shard('a'::text, 4)}, 'bloomfam_next_shard' ], [ 'SELECT shard FROM by_function', 'bloomfam_next_shard' ],
	[ q{INSERT INTO filter VALUES ('new', bloom_create(1))}, 'bloomfam_next_shard' ])
{
	my ($out, $error);

	$node->psql('postgres', $call->[0], stdout => \$out, stderr => \$error);
	like($error, qr/ERROR:  could not find function "$call->[1]" in file ".*bloomfam\.so"/, "... what it lacks is an error: $call->[0]");
}
is($node->safe_psql('postgres', q{INSERT INTO tagged VALUES (2000, '{all}'); SELECT f @~ id FROM tagged WHERE id = 2000}), 't', '... all else can be written');

# ---- and back: no script leads down; the new library again ----

my ($out, $error);
$node->psql('postgres', q{ALTER EXTENSION bloomfam UPDATE TO '1.0'}, stderr => \$error);
like($error, qr/ERROR:  extension "bloomfam" has no update path from version "1.1" to version "1.0"/, 'no way leads back');
replace_file($new, "$lib/bloomfam.so");
$node->restart;
is($node->safe_psql('postgres', $answers . $replaced), $before, 'with the new library again: all answers');
$node->safe_psql('postgres', 'DROP EXTENSION bloomfam CASCADE');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'bloom%' OR proname LIKE 'maplet%'}), '0', 'DROP EXTENSION takes what the update brought');

foreach my $open ($long, $scan, $session)
{
	$open->{in} .= "\\q\n";
	$open->{run}->finish;
}
no_crash($node);
$node->stop;
done_testing();
