# SPDX-License-Identifier: PostgreSQL
# Property: whatever writers do (inserts, updates, deletes, savepoints, aborts), a signature index gives the rows that a sequential scan gives to the same
# snapshot, at any time while indexes are built and rebuilt concurrently and vacuumed beside them, after all processes were killed, on a standby, and when
# that is promoted.  Ranges of one page go through all of their states in no time.
#
# LONG in the environment: as many rounds as are worth trying after a change of the index, and 100,000 queries of each condition in a small table.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = share(1, 2, 20);
my $kills = share(1, 2, 20);
my $queries = $ENV{LONG} ? 100000 : 0;
my $node = start_node('primary', "shared_buffers = 16MB\nwal_consistency_checking = all\nmax_wal_size = 512MB\nwal_keep_size = 2GB\n", allows_streaming => 1);

$node->safe_psql('postgres', q{
	CREATE TABLE log (n bigserial PRIMARY KEY, k int, line text, tags text[], doc jsonb, v int DEFAULT 0,
		words tsvector GENERATED ALWAYS AS (to_tsvector('simple', line)) STORED) WITH (fillfactor = 90);
	CREATE FUNCTION add_rows(first int, rows int) RETURNS void LANGUAGE sql AS $$
		INSERT INTO log (k, line, tags, doc)
		SELECT k, format('%s request %s of user %s: %s', clock_timestamp()::date, md5(k::text), k % 977, repeat('long ', k % 13)),
			ARRAY['t' || k % 311, 'u' || k % 17], jsonb_build_object('id', k, 'user', jsonb_build_object('name', 'user' || k % 977))
		FROM (SELECT g % 6000 FROM generate_series(first, first + rows - 1) g) s(k) $$;
	SELECT add_rows(1, 6000);
	CREATE INDEX log_line ON log USING signature (line) WITH (pages_per_range = 1);
	CREATE INDEX log_rest ON log USING signature (tags, doc jsonb_path_ops, k) WITH (pages_per_range = 2);
	CREATE INDEX log_part ON log USING signature (words, upper(line)) WITH (pages_per_range = 1) WHERE k % 2 = 0;
	CREATE TABLE long (n bigserial, line text);
	ALTER TABLE long ALTER line SET STORAGE EXTERNAL;
	INSERT INTO long (line) SELECT repeat(md5(g::text), 80) FROM generate_series(1, 3000) g;
	CREATE INDEX long_line ON long USING signature (line) WITH (pages_per_range = 1);
	CREATE TABLE few (LIKE log INCLUDING ALL);
	CREATE INDEX few_line ON few USING signature (line) WITH (pages_per_range = 1);
	CREATE INDEX few_rest ON few USING signature (tags, doc jsonb_path_ops, k) WITH (pages_per_range = 2);
	CREATE INDEX few_part ON few USING signature (words, upper(line)) WITH (pages_per_range = 1) WHERE k % 2 = 0;
	INSERT INTO few (k, line, tags, doc) SELECT k, line, tags, doc FROM log WHERE n <= 300;
	CREATE SEQUENCE asked;
});

# in the snapshot of the statement that calls them: a query of each class by the index, and by the table
my %conditions = (
	line => q{line LIKE '%' || md5(key::text) || '%'},
	part => q{line ILIKE '%REQUEST ' || left(md5(key::text), 9) || '%user _' || '%'},
	any => q{line LIKE ANY (ARRAY['%' || md5(key::text) || '%', '%' || md5((key + 1)::text) || '%'])},
	tags => q{tags @> ARRAY['t' || key % 311, 'u' || key % 17]},
	some => q{tags && ARRAY['t' || key % 311, 'nothing']},
	doc => q{doc @> ('{"id":' || key || '}')::jsonb},
	both => q{doc @> ('{"user": {"name": "user' || key % 977 || '"}}')::jsonb AND k = key},
	upper => q{upper(line) LIKE '%' || upper(md5(key::text)) || '%' AND k % 2 = 0},
	keys => q{k = ANY (ARRAY[key, key + 7, -1])},
	words => q{words @@ to_tsquery('simple', md5(key::text) || ' & !nothing') AND k % 2 = 0});
foreach my $name (sort keys %conditions)
{
	foreach my $by ([ 'index', 'enable_seqscan = off SET enable_indexscan = off' ], [ 'table', 'enable_bitmapscan = off SET enable_indexscan = off' ])
	{
		foreach my $table ([ log => '' ], [ few => 'few_' ])
		{
			$node->safe_psql('postgres', qq{
				CREATE FUNCTION $table->[1]${name}_by_$by->[0](key int) RETURNS text STABLE LANGUAGE plpgsql SET $by->[1] SET plan_cache_mode = force_custom_plan AS \$\$
				BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM $table->[0] WHERE $conditions{$name}); END \$\$});
		}
	}
	my $query = "SELECT FROM log WHERE $conditions{$name}" =~ s/\bkey\b/5/gr;
	like($node->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN $query"), qr/Bitmap Index Scan on log_(line|rest|part)/, "$name: an index is used");
}
my $equal = join ' AND ', map { "${_}_by_index(:key) = ${_}_by_table(:key)" } sort keys %conditions;

my %script = (
	insert => [ 6, q{SELECT add_rows(:key, 100);} ],
	update => [ 3, q{UPDATE log SET v = v + 1 WHERE n BETWEEN :n AND :n + 3;} ],
	move => [ 3, q{UPDATE log SET k = :key, line = line || md5(:key::text), doc = jsonb_build_object('id', :key) WHERE n BETWEEN :n AND :n + 2;} ],
	delete => [ 3, q{DELETE FROM log WHERE n BETWEEN :n AND :n + 100;} ],
	savepoint => [ 2, qq{BEGIN;
		SELECT add_rows(:key, 1);
		SAVEPOINT a;
		SELECT add_rows(:key, 3);
		UPDATE log SET v = v + 1 WHERE n = :n;
		SELECT 1 / ($equal)::int;
		ROLLBACK TO a;
		UPDATE log SET line = md5(:key::text) WHERE n = :n;
		SELECT 1 / ($equal)::int;
		COMMIT;} ],
	abort => [ 2, q{BEGIN;
		SELECT add_rows(:key, 20);
		INSERT INTO long (line) SELECT repeat(md5(:key::text), 80);
		ROLLBACK;} ],
	long => [ 2, q{INSERT INTO long (line) SELECT repeat(md5(:key::text), 80); DELETE FROM long WHERE n = :key % 3000;} ],
	snapshot => [ 1, q{BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT hashtext(line_by_table(:key)) AS seen \gset
		SELECT pg_sleep(0.02);
		SELECT 1 / (hashtext(line_by_index(:key)) = :seen)::int;
		COMMIT;} ],
	read => [ 4, qq{SELECT 1 / ($equal)::int;} ]);

# Are all indexes whole, and do they give what the table gives?
sub check
{
	my ($on, $name) = @_;

	is($on->safe_psql('postgres', q{SELECT signature_check(indexrelid) FROM pg_stat_user_indexes JOIN pg_class ON pg_class.oid = indexrelid
		WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'signature')}) =~ s/\s//gr, '', "$name: the indexes are whole") unless $on->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 't';
	is($on->safe_psql('postgres', 'SELECT count(*) FROM generate_series(0, 5999, ' . share(513, 171) . ') key WHERE NOT (' . $equal =~ s/:key/key/gr . ')'), 0, "$name: the same rows");
	return;
}

# each is checked beside the writers as soon as it is done
my @maintenance = (
	'REINDEX INDEX CONCURRENTLY log_line',
	'DROP INDEX CONCURRENTLY log_part',
	q{CREATE INDEX CONCURRENTLY log_part ON log USING signature (words, upper(line)) WITH (pages_per_range = 1) WHERE k % 2 = 0},
	'VACUUM log',
	'REINDEX TABLE CONCURRENTLY log',
	'VACUUM (INDEX_CLEANUP on) log, long');
my ($run, $errors) = start_writers($node, 6000, %script);

foreach my $round (1 .. $rounds)
{
	foreach my $sql (@maintenance)
	{
		my ($status, $out, $err) = $node->psql('postgres', $sql);

		is($err, '', "$round: $sql");
		is($node->safe_psql('postgres', q{SELECT signature_check(indexrelid) FROM pg_stat_user_indexes WHERE indexrelname IN ('log_line', 'log_rest', 'log_part', 'long_line')}) =~ s/\s//gr, '',
			'... the indexes are whole, and have every row');
	}
}
# it is to run for ever: its clients end when they have found a difference
ok($run->pumpable, 'the writers are at it');
$run->signal('TERM');
$run->finish;
unlike(slurp_file($errors), qr/ERROR|aborted/, 'writers and readers found every row') or diag(slurp_file($errors));
check($node, 'at the end');
my %info;
@info{qw(ranges summarized dirty)} = split /\|/, $node->safe_psql('postgres', q{SELECT ranges, summarized, dirty FROM signature_info('log_line')});
cmp_ok($info{summarized}, '>', 126, 'there are slabs');
cmp_ok($info{dirty}, '>', 0, '... and dirty ranges');
$node->safe_psql('postgres', 'VACUUM log');
cmp_ok($node->safe_psql('postgres', q{SELECT dirty FROM signature_info('log_line')}), '<', $info{dirty} / 4, '... which VACUUM summarizes anew');
check($node, 'after VACUUM');

# many queries of a small table, half of whose rows change all the time
if ($queries > 0)
{
	my %few = (
		insert => [ 6, q{INSERT INTO few (k, line, tags, doc, v) SELECT k, line, tags, doc, v FROM log WHERE n BETWEEN :n AND :n + 19;} ],
		update => [ 3, q{UPDATE few SET v = v + 1, line = line || ' ' || v WHERE k % 100 = :key % 100;} ],
		delete => [ 4, q{DELETE FROM few WHERE n < (SELECT max(n) - 600 FROM few) OR n % 50 = :key % 50;} ],
		vacuum => [ 1, q{VACUUM few;} ],
		ask => [ 6, q{SELECT nextval('asked'), 1 / (} . ($equal =~ s/\b(\w+_by_)/few_$1/gr =~ s/:key/key/gr) . q{)::int FROM (SELECT k AS key FROM log WHERE n > :n LIMIT 50) s;} ]);

	$node->safe_psql('postgres', 'VACUUM ANALYZE few');
	($run, $errors) = start_writers($node, 6000, %few);
	sleep 5 while $run->pumpable && $node->safe_psql('postgres', 'SELECT last_value FROM asked') < $queries;
	$run->signal('TERM');
	$run->finish;
	unlike(slurp_file($errors), qr/ERROR|aborted/, "no difference in $queries queries of each condition") or diag(slurp_file($errors));
	cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM asked'), '>=', $queries, '... that have been asked');
}

# a standby, and one that is promoted after the primary was killed
my $standby = start_standby($node);

foreach my $kill (1 .. $kills)
{
	($run) = start_writers($node, 6000, %script);
	sleep 2;
	$node->safe_psql('postgres', 'VACUUM log') if $kill % 2 == 0;
	$node->stop('immediate');
	$run->finish;
	$node->start;
	check($node, "killed $kill times");
}
$node->wait_for_catchup($standby);
check($standby, 'on a standby');
$node->stop('immediate');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
check($standby, 'promoted');
$standby->safe_psql('postgres', 'SELECT add_rows(1, 6000)');
check($standby, 'promoted, and written to');

no_crash($standby, 'standby: no backend crashed');
$standby->stop;
done_testing();
