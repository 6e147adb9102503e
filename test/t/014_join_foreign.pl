# SPDX-License-Identifier: PostgreSQL
# Property: a join filter travels to a foreign server, which then sends hardly a row that does not join; and the rows are those without it.

use strict;
use warnings;

use BloomfamTest;
use JSON::PP;
use List::Util qw(max sum0);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

# Filters alone: keys as they are have a test of their own.
my $node = start_node('main', "session_preload_libraries = 'bloomfam'\nbloomfam.join_foreign_keys = 0\n");
plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';

my ($host, $port) = ($node->host, $node->port);
my $icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collprovider = 'i'}) > 0;

# Remote rows: 40000, of whose 10000 keys the local dim has 100; every 50th key is NULL.
$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', q{
	CREATE EXTENSION bloomfam;
	CREATE TABLE fact AS SELECT g AS id, k, k::bigint AS k8, 'key ' || k AS t, ('key ' || k)::varchar(20) AS v, md5(k::text)::uuid AS u,
			k * 1.25 AS n, '2000-01-01'::timestamptz + k * interval '1 h' AS at, k % 7 AS g
		FROM (SELECT g, CASE WHEN g % 50 = 0 THEN NULL ELSE g % 10000 END AS k FROM generate_series(1, 40000) g) s;
	CREATE TABLE other AS SELECT g AS id, g * 10 AS w FROM generate_series(1, 40000) g;
	CREATE TABLE spread_1 AS SELECT 1 AS part, id, k, t FROM fact;
	CREATE TABLE spread_2 AS SELECT 2 AS part, id, k, t FROM fact;
	CREATE TABLE spread_3 AS SELECT 3 AS part, id, k, t FROM fact;
	ANALYZE;
});
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'plpgsql, bloomfam');
	CREATE SERVER plain FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'plpgsql');
	CREATE SERVER asking FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'far', extensions 'bloomfam', use_remote_estimate 'true');
	CREATE SERVER async FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'far', extensions 'bloomfam', async_capable 'true');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE USER MAPPING FOR CURRENT_USER SERVER plain;
	CREATE USER MAPPING FOR CURRENT_USER SERVER asking;
	CREATE USER MAPPING FOR CURRENT_USER SERVER async;
	CREATE FOREIGN TABLE fact (id int, k int, k8 bigint, t text, v varchar(20), u uuid, n numeric, at timestamptz, g int) SERVER far;
	CREATE FOREIGN TABLE plain_fact (id int, k int) SERVER plain OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE asking_fact (id int, k int) SERVER asking OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE asking_other (id int, w int) SERVER asking OPTIONS (table_name 'other');
	CREATE TABLE spread (part int, id int, k int, t text) PARTITION BY LIST (part);
	CREATE FOREIGN TABLE spread_1 PARTITION OF spread FOR VALUES IN (1) SERVER async;
	CREATE FOREIGN TABLE spread_2 PARTITION OF spread FOR VALUES IN (2) SERVER async;
	CREATE FOREIGN TABLE spread_3 PARTITION OF spread FOR VALUES IN (3) SERVER far;
	CREATE TABLE dim AS SELECT k, k::bigint AS k8, k::smallint AS k2, 'key ' || k AS t, 'key ' || k AS v, md5(k::text)::uuid AS u, k * 1.250 AS n,
			'2000-01-01'::timestamptz + k * interval '1 h' AS at, k % 5 AS five
		FROM (SELECT g * 100 AS k FROM generate_series(1, 99) g UNION ALL SELECT NULL) s;
	CREATE TABLE many AS SELECT g AS k FROM generate_series(1, 9000) g;
	CREATE TABLE nothing (k int);
	CREATE TABLE nulls AS SELECT NULL::int AS k FROM generate_series(1, 10);
	ANALYZE dim, many, nothing, nulls;
});

my $hash = 'SET enable_mergejoin = off; SET enable_nestloop = off; SET enable_partitionwise_join = off;';

sub rows_of
{
	my ($mode, $sql, $before) = @_;
	return $node->safe_psql('postgres', "SET bloomfam.join_filter = $mode; " . ($before // $hash) . $sql);
}

# What the planner logs of a query's join filters.
sub log_of
{
	my ($sql) = @_;
	my ($status, $out, $error) = $node->psql('postgres',
		"SET bloomfam.join_filter = force; $hash SET bloomfam.join_filter_log = on; SET client_min_messages = log; EXPLAIN $sql");

	return $error;
}

# All nodes of a plan, by EXPLAIN with these options.
sub nodes_of
{
	my ($mode, $sql, $before, $options) = @_;
	my $json = rows_of($mode, 'EXPLAIN (' . ($options // 'ANALYZE, VERBOSE, FORMAT JSON') . ") $sql", $before);
	my @todo = map { $_->{Plan} } @{ decode_json($json) };
	my @nodes;

	while (my $plan = shift @todo)
	{
		push @nodes, $plan;
		push @todo, @{ $plan->{Plans} // [] };
	}
	return @nodes;
}

# How many rows the foreign scans returned, in all loops; and the remote queries.
sub fetched
{
	my @scans = grep { $_->{'Node Type'} =~ /Foreign Scan/ } @_;
	return sum0(map { $_->{'Actual Rows'} * $_->{'Actual Loops'} } @scans);
}

sub shipped
{
	return scalar grep { ($_->{'Remote SQL'} // '') =~ /bloom_may_contain/ } @_;
}

sub same_rows
{
	my ($sql, $name, $before) = @_;
	my ($off, $on, $force) = in_modes($node, 'postgres', $before // $hash, $sql, qw(off on force));

	is($on, $off, "$name: the same rows, on");
	is($force, $off, "$name: the same rows, force");
	return $off;
}

# The filter travels, and few rows come back: those that match, and the FPR's share of the others.
sub travels
{
	my ($sql, $name, $matches, $before) = @_;
	my @nodes = nodes_of('force', $sql, $before);

	cmp_ok(shipped(@nodes), '>', 0, "$name: the filter travels");
	cmp_ok(fetched(@nodes), '>=', $matches, "$name: no row is lost");
	cmp_ok(fetched(@nodes), '<=', $matches + 0.005 * 40000, "$name: few others are sent");
	same_rows($sql, $name, $before);
	return;
}

# It does not, and all rows come.
sub stays
{
	my ($sql, $name, $before) = @_;
	my @nodes = nodes_of('force', $sql, $before);

	is(shipped(@nodes), 0, "$name: the filter stays here");
	same_rows($sql, $name, $before);
	return;
}

# Types.  Of the 4 rows of each of 99 keys, those with an id that is a multiple of 50 have NULL: the keys are such multiples, so shift them.
$node->safe_psql('postgres', q{UPDATE dim SET k = k + 1, k8 = k8 + 1, k2 = k2 + 1, t = 'key ' || (k + 1), v = 'key ' || (k + 1),
	u = md5((k + 1)::text)::uuid, n = (k + 1) * 1.250, at = at + interval '1 h'});
is(rows_of('off', 'SELECT count(*) FROM fact JOIN dim USING (k)'), 4 * 99, 'as many rows match as this test thinks');
foreach my $column (qw(k k8 t v u n at))
{
	travels("SELECT count(*), sum(id) FROM fact JOIN dim USING ($column)", "keys $column", 4 * 99);
}
travels('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.k = dim.k8', 'int against bigint', 4 * 99);
travels('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.k8 = dim.k2', 'bigint against smallint', 4 * 99);
travels('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.k8 = dim.k', 'bigint against int', 4 * 99);
travels('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.v = dim.t', 'varchar against text', 4 * 99);
travels('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.k = dim.k8 AND fact.t = dim.t', 'two columns', 4 * 99);
stays('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.k + 0 = dim.k', 'an expression as the key');
stays('SELECT count(*), sum(id) FROM fact JOIN dim ON fact.t::bpchar = dim.t::bpchar', 'text as bpchar');

# Joins.
travels('SELECT count(*) FROM fact WHERE k IN (SELECT k FROM dim)', 'semi join', 4 * 99);
travels('SELECT count(*), count(id) FROM fact RIGHT JOIN dim USING (k)', 'right join', 4 * 99);
stays('SELECT count(*), count(dim.k) FROM fact LEFT JOIN dim USING (k)', 'left join');
stays('SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE dim.k = fact.k)', 'anti join');
travels('SELECT count(*), sum(w) FROM asking_fact JOIN asking_other USING (id) JOIN dim USING (k)', 'a remote join', 4 * 99, "$hash SET join_collapse_limit = 1;");
travels('SELECT sum(c) FROM (SELECT k, count(*) AS c FROM fact GROUP BY k) s JOIN dim USING (k)', 'a remote aggregate', 99);
travels('SELECT count(*) FROM fact JOIN dim a USING (k) JOIN dim b ON fact.t = b.t', 'two filters for one scan', 4 * 99);
my ($scan) = grep { exists $_->{'Remote SQL'} } nodes_of('force', 'SELECT count(*) FROM fact JOIN dim a USING (k) JOIN dim b ON fact.t = b.t');
is(scalar(() = $scan->{'Remote SQL'} =~ /bloom_may_contain/g), 2, '... two of them');
travels('SELECT count(*) FROM asking_fact JOIN dim USING (k)', 'estimates from there', 4 * 99);
stays('SELECT count(*) FROM plain_fact JOIN dim USING (k)', 'a server without the extension');
stays('SELECT count(*) FROM (SELECT * FROM fact ORDER BY id LIMIT 1000) s JOIN dim USING (k)', 'a limit');
stays('SELECT count(*) FROM fact JOIN dim USING (k)', 'a maximum of 0', "$hash SET bloomfam.join_foreign_keys = -1;");
stays('SELECT count(*) FROM fact JOIN dim USING (k) WHERE fact.id + random() > 0', 'a volatile condition');
stays('SELECT id FROM fact JOIN dim USING (k) ORDER BY id FOR UPDATE OF fact', 'rows that are locked');

# Build sides that have nothing, or too much.
foreach my $build (qw(nothing nulls))
{
	my $sql = "SELECT count(*) FROM fact JOIN $build USING (k)";

	is(fetched(nodes_of('force', $sql)), 0, "$build on the build side: nothing is fetched");
	same_rows($sql, "$build on the build side");
}
is(fetched(nodes_of('force', 'SELECT count(*) FROM fact RIGHT JOIN nulls USING (k)')), 0, 'an outer join with NULLs only: nothing is fetched');

my $small = "$hash SET bloomfam.join_filter_max_size = 8;";
my @nodes = nodes_of('force', 'SELECT count(*) FROM fact JOIN many USING (k)', $small);
is(shipped(@nodes), 1, 'a filter that is too large: it was to travel');
is(fetched(@nodes), 40000, '... and did not');
like(rows_of('force', 'EXPLAIN ANALYZE SELECT count(*) FROM fact JOIN many USING (k)', $small), qr/Sent to Foreign Servers: nothing/, '... says EXPLAIN');
same_rows('SELECT count(*), sum(id) FROM fact JOIN many USING (k)', '... with', $small);
@nodes = nodes_of('force', 'SELECT count(*) FROM fact JOIN dim USING (k)', $small);
cmp_ok(fetched(@nodes), '<', 1000, 'a small one fits');

# Partitions: asked all at once, or not.
my $async = 'SELECT count(*), sum(id), count(DISTINCT part) FROM spread JOIN dim USING (k)';
@nodes = nodes_of('force', $async);
is(scalar(grep { $_->{'Async Capable'} } @nodes), 2, 'partitions: two are asked at once');
is(shipped(@nodes), 3, '... and all three get the filter');
cmp_ok(fetched(@nodes), '<=', 3 * (4 * 99 + 200), '... and send few rows');
is(same_rows($async, '... with'), join('|', 3 * 4 * 99, rows_of('off', 'SELECT 3 * sum(id) FROM fact JOIN dim USING (k)'), 3), '... all of them');
@nodes = nodes_of('force', 'SELECT count(*) FROM (SELECT k FROM spread_1 UNION ALL SELECT k FROM spread_2) s JOIN dim USING (k)');
cmp_ok(fetched(@nodes), '<=', 2 * (4 * 99 + 200), 'UNION ALL of foreign tables');

# Rescans.  The build side may be repeated, may differ each time, and may depend on the outer row.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE turn;
	CREATE FUNCTION next_turn() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT nextval('turn') $$;
	CREATE TABLE few AS SELECT g AS f FROM generate_series(1, 4) g;
	ANALYZE few});
my $mix = 'SET enable_mergejoin = off; SET enable_memoize = off;';
foreach my $memory ('4MB', '64kB')
{
	my $before = "$mix SET work_mem = '$memory';";

	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.g < f OFFSET 0) s ORDER BY f',
		"LATERAL, the probe side depends on the outer row, $memory", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.five < f OFFSET 0) s ORDER BY f',
		"LATERAL, the build side does, $memory", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id + f) FROM fact JOIN many USING (k) OFFSET 0) s ORDER BY f',
		"LATERAL, neither does, $memory", $before);
	same_rows('SELECT f, (SELECT count(*) FROM fact JOIN dim USING (k) JOIN many m USING (k) WHERE m.k > f * 1000) FROM few ORDER BY f',
		"a correlated subquery, $memory", $before);
}

# A build side that differs from time to time: each time there must be the keys of that time.  The hash table has several batches, so that it is
# made anew for each row.  (Its function says that it is stable: with a volatile one the join may not build first, and no filter is sent.)
my $turns = q{SELECT f, c = 4 * n FROM few, LATERAL (SELECT count(DISTINCT d.k) AS n, count(*) AS c
	FROM fact JOIN (SELECT k, repeat('x', 100) AS pad FROM many WHERE k % 50 <> 0 AND k % 3 = (next_turn() / 9000) % 3 OFFSET 0) d USING (k)
	WHERE length(pad) + fact.id + f > 0 OFFSET 0) s ORDER BY f};
my $rebuild = "$mix SET enable_nestloop = on; SET work_mem = '64kB';";
@nodes = nodes_of('force', $turns, $rebuild);
cmp_ok(max(map { $_->{'Hash Batches'} // 0 } @nodes), '>', 1, 'a build side that differs each time: several batches');
is(shipped(@nodes), 1, '... and the filter travels');
is(rows_of('force', $turns, $rebuild), "1|t\n2|t\n3|t\n4|t", '... each time the right one');
$node->safe_psql('postgres', 'ALTER FUNCTION next_turn() VOLATILE');
is(shipped(nodes_of('force', $turns, $rebuild)), 0, '... and none where the function says what it is');
$node->safe_psql('postgres', 'ALTER FUNCTION next_turn() STABLE');

# The same nodes, prepared, run with other settings than they were planned with.
my $prepare = "$hash PREPARE p(int) AS SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.id > \$1; SET plan_cache_mode = force_generic_plan;";
my $rows = rows_of('off', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.id > 100');
is(rows_of('force', "$prepare EXECUTE p(100); SET bloomfam.join_filter = off; EXECUTE p(100); SET bloomfam.join_filter = on; EXECUTE p(100);
		SET bloomfam.join_foreign_keys = -1; EXECUTE p(100)"),
	join("\n", ($rows) x 4), 'prepared: the same rows with other settings');
my $explain = 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF)';
like(rows_of('force', "$prepare $explain EXECUTE p(100)"), qr/Foreign Scan on public\.fact \(actual rows=[4-6]\d\d loops=1\)/, '... and few rows come');
like(rows_of('force', "$prepare EXECUTE p(100); SET bloomfam.join_filter = off; $explain EXECUTE p(100)"),
	qr/Foreign Scan on public\.fact \(actual rows=39900 loops=1\)/, '... or all, if it is off now');
unlike(rows_of('force', 'ALTER SERVER far OPTIONS (SET extensions \'plpgsql\');' . "$explain SELECT count(*) FROM fact JOIN dim USING (k);
		ALTER SERVER far OPTIONS (SET extensions 'plpgsql, bloomfam')"),
	qr/bloom_may_contain/, 'the option is looked at anew');

# Cursors.
my $cursor = 'SELECT id, k FROM fact JOIN dim USING (k)';
is( rows_of('force', "BEGIN; DECLARE c SCROLL CURSOR FOR $cursor; MOVE FORWARD ALL IN c; MOVE BACKWARD ALL IN c;
		CREATE TEMP TABLE t (id int, k int) ON COMMIT DROP; FETCH FORWARD ALL IN c"),
	rows_of('off', $cursor), 'a cursor that goes back');

like(rows_of('force', "EXPLAIN (VERBOSE, COSTS OFF) $cursor"), qr/bloom_may_contain\(\$1::public\.bloomfilter, s\.c2\) ELSE true END/,
	'EXPLAIN VERBOSE shows the condition');

# A filter that did its work there is not said to have failed here.
{
	my $sql = 'SELECT count(*) FROM fact JOIN (SELECT k FROM many WHERE k % 3 <> 0) m USING (k)';
	my $probed = qr/Rows Probed: \d+ \(row by row\)  Rows Removed: \d+  Rows Not Checked: \d+/;
	my $small = "$hash SET bloomfam.join_filter_max_size = '1kB';";
	my $probe;

	$node->safe_psql('postgres', 'ANALYZE fact');
	like(rows_of('on', "EXPLAIN ANALYZE $sql"), qr/$probed  \(filtered by the foreign server\)$/m, 'EXPLAIN says where the rows were dropped');
	($probe) = grep { $_->{'Bloom Filters'} && $_->{'Bloom Filters'}[0]{'Probed'} } nodes_of('on', $sql);
	is($probe->{'Bloom Filters'}[0]{'Filtered by Foreign Server'}, JSON::PP::true, '... in JSON, too');
	is($probe->{'Bloom Filters'}[0]{'Disabled'}, JSON::PP::true, '... while the filter here was disabled');
	unlike(rows_of('force', "EXPLAIN ANALYZE $sql", $small), qr/filtered by/, '... but not of one that was too large to travel');
	unlike(rows_of('on', "EXPLAIN $sql"), qr/filtered by/, '... nor before it has');
	same_rows($sql, '... with');
}

# How many rows a table has that was never analyzed, and what share of them a filter drops, is no reason against one; else it is.
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE never (id int, k int) SERVER far OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE known (id int, k int) SERVER far OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE known_other (id int, w int) SERVER far OPTIONS (table_name 'other');
	ANALYZE known, known_other});
my $never = 'SELECT count(*) FROM never JOIN dim USING (k)';
my $unknown = 'Expected Rows Probed: unknown  Expected Rows Removed: unknown';
my $guess = "$hash SET bloomfam.join_filter_plans = off;";
like(rows_of('on', "EXPLAIN VERBOSE $never"), qr/bloom_may_contain.*\(never\.k = dim\.k\): Filter 1  Expected Rows Probed: \d{5}  Expected Rows Removed: unknown/s,
	'a foreign table that was never analyzed gets a filter; its size is asked for');
like(rows_of('on', "EXPLAIN VERBOSE $never", $guess), qr/bloom_may_contain.*\(never\.k = dim\.k\): Filter 1  $unknown/s, '... or not');
foreach my $before ($hash, $guess)
{
	cmp_ok(fetched(nodes_of('on', $never, $before)), '<=', 4 * 99 + 200, '... and the filter travels');
	same_rows($never, '... with', $before);
}
like(rows_of('on', "EXPLAIN VERBOSE $never WHERE never.id <= 5000", $guess), qr/Expected Rows Probed: unknown/, '... whatever number of rows is asked for');
like(rows_of('on', "EXPLAIN VERBOSE SELECT count(*) FROM $_ f JOIN dim USING (k) WHERE f.id <= 5000", $guess),
	qr/No filter: too few rows to probe  Expected Rows Probed: \d{4} /, "... but not $_, of which the number is known")
  foreach qw(known asking_fact);
like(rows_of('on', 'EXPLAIN VERBOSE SELECT count(*) FROM never JOIN known_other USING (id) JOIN dim USING (k) WHERE id <= 5000', "$guess SET join_collapse_limit = 1;"),
	qr/Filter \d  Expected Rows Probed: unknown/, '... and a remote join with one that is not');

# The planner takes 200 for the number of different keys of which it knows nothing: of more on the build side it expects each to find one.
$node->safe_psql('postgres', q{
	CREATE TABLE picks AS SELECT g * 30 AS k, 'key ' || g * 30 AS t FROM generate_series(1, 300) g;
	CREATE TABLE every AS SELECT g AS k FROM generate_series(0, 9999) g;
	CREATE TABLE here AS SELECT g AS id, g % 10000 AS k FROM generate_series(1, 40000) g;
	CREATE FOREIGN TABLE grown (id int, k int) SERVER far OPTIONS (table_name 'fact');
	ANALYZE picks, every, here, grown;
	ALTER FOREIGN TABLE grown ADD t text});
foreach my $case (
	[ 'never JOIN picks USING (k)', 1200, $unknown ],
	[ 'never JOIN picks USING (k) WHERE never.id > 0', 1200, $unknown ],
	[ '(SELECT k, count(*) FROM never GROUP BY k) s JOIN dim USING (k)', 99, $unknown ],
	[ 'never JOIN known_other USING (id) JOIN picks USING (k)', 1200, $unknown ],
	[ 'spread JOIN picks USING (k)', 3600, $unknown ],
	[ '(SELECT k FROM here UNION ALL SELECT k FROM never) s JOIN picks USING (k)', 1200, $unknown ],
	[ 'asking_fact JOIN picks USING (k)', 1200, 'Expected Rows Probed: 40000  Expected Rows Removed: unknown' ],
	[ 'asking_fact JOIN asking_other USING (id) JOIN picks USING (k)', 1200, 'Expected Rows Probed: \d+  Expected Rows Removed: unknown' ],
	[ 'grown JOIN picks USING (t)', 1200, 'Expected Rows Probed: \d+  Expected Rows Removed: unknown' ])
{
	my ($from, $matches, $words) = @$case;
	my $before = "$guess SET join_collapse_limit = 1;";
	my $explained = rows_of('on', "EXPLAIN VERBOSE SELECT count(*) FROM $from", $before);
	my @sent = grep { shipped($_) } nodes_of('on', "SELECT count(*) FROM $from", $before);

	like($explained, qr/: Filter 1  $words/m, "nothing is known of the keys of $from: a filter");
	unlike($explained, qr/Expected Rows Removed: \d/, '... of which nothing is expected');
	is(scalar(@sent), $from =~ /spread/ ? 3 : 1, '... which travels');
	cmp_ok(fetched(@sent), '<=', $matches + 0.005 * 40000 * @sent, '... so that few rows come');
	same_rows("SELECT count(*) FROM $from", '... with', $before);
}
like(rows_of('on', 'EXPLAIN VERBOSE SELECT count(*) FROM known JOIN every USING (k)'), qr/No filter: too few rows to remove  Expected Rows Probed: \d+  Expected Rows Removed: \d+$/m,
	'no filter where the share is known, and small');
like(rows_of('on', 'EXPLAIN VERBOSE SELECT count(*) FROM known JOIN picks USING (k)'), qr/Filter 1  Expected Rows Probed: 40000  Expected Rows Removed: 3[89]\d{3} /,
	'a filter where it is known, and large');
my $large = 'never JOIN (SELECT k FROM many WHERE k <= 2000) m USING (k)';
like(rows_of('on', "EXPLAIN VERBOSE SELECT count(*) FROM $large", $guess), qr/Filter 1  $unknown/, 'nothing is known of the keys, and a filter of 2000');
like(rows_of('on', "EXPLAIN VERBOSE SELECT count(*) FROM $large", "$guess SET bloomfam.join_filter_max_size = '1kB';"),
	qr/No filter: too few rows to probe/, '... but none if it were too large to be sent');

# Why a filter stays here is in the log, with what else was decided about it.
foreach my $case (
	[ 'plain_fact JOIN dim USING (k)', '0 of 1', 'the foreign server has no bloomfam among its extensions' ],
	[ '(SELECT k FROM fact UNION ALL SELECT k FROM plain_fact) s JOIN dim USING (k)', '1 of 2', 'the foreign server has no bloomfam among its extensions' ],
	[ 'fact JOIN dim ON fact.t::bpchar = dim.t::bpchar', '0 of 1', 'keys of this type are not hashed alike by all servers' ],
	[ 'fact JOIN dim USING (k) WHERE fact.id + random() > 0', undef, 'the foreign scan has a volatile condition or column' ],
	[ 'fact JOIN dim USING (k) FOR UPDATE OF fact', undef, 'the remote query locks or sorts its rows' ])
{
	my ($from, $scans, $reason) = @$case;
	my $words = $scans ? "Sent to Foreign Scans: keys 0 of .*, filter $scans \\($reason\\)" : "Sent to Foreign Scans: 0 of 1 \\($reason\\)";
	my $logged = log_of("SELECT 1 FROM $from");

	is(scalar(() = $logged =~ /LOG:  (?!statement)/g), 1, "one message on $from");
	like($logged, qr/LOG:  bloom filter 1 for the hash join on .*\nDETAIL:  Filter 1 \(.*\)  Expected Rows Probed: \d+  Expected Rows Removed: \d+  $words$/m,
		'... says why the filter is not pushed to all scans');
}
like(log_of('SELECT 1 FROM fact JOIN dim USING (k)'), qr/, filter 1 of 1$/m, '... and that it is');
like(rows_of('force', 'EXPLAIN VERBOSE SELECT 1 FROM plain_fact JOIN dim USING (k)'),
	qr/^Join Filters:\n  \(plain_fact\.k = dim\.k\): Filter 1  Expected Rows Probed: .*  Sent to Foreign Scans: .* filter 0 of 1 \(the foreign server has no /m,
	'... EXPLAIN VERBOSE says the same');

# Where it can neither be sent nor asked here, there is none.
my $nowhere = "SELECT 1 FROM (SELECT t::bpchar AS c FROM spread_1 UNION ALL SELECT t::bpchar FROM spread_2) s JOIN dim ON c = dim.t::bpchar";
unlike(rows_of('force', "EXPLAIN $nowhere"), qr/Bloom Filter/, 'asynchronous scans that it cannot be sent to: no filter');
like(log_of($nowhere), qr/LOG:  no bloom filter for the hash join on .*\nDETAIL:  No filter .*: the probe side is scanned asynchronously  Sent to Foreign Scans: .* filter 0 of 2 \(keys of this type are not hashed alike by all servers\)$/m,
	'... and the log says why');

# Data-modifying commands: the local table is changed.
foreach my $mode (qw(off on force))
{
	is( rows_of($mode, q{BEGIN; CREATE TEMP TABLE target AS SELECT k, 0::bigint AS s, 0 AS n FROM dim; ANALYZE target;
			UPDATE target SET s = s + id, n = n + 1 FROM (SELECT k, max(id) AS id FROM fact GROUP BY k) f WHERE f.k = target.k;
			DELETE FROM target USING fact WHERE fact.k = target.k AND fact.k < 500;
			SELECT count(*), sum(s), sum(n) FROM target; ROLLBACK}),
		'96|3344095|95', "UPDATE and DELETE by a foreign join, $mode") ;
}
foreach my $mode (qw(off on force))
{
	is( rows_of($mode, q{BEGIN; UPDATE fact SET g = 100 FROM dim WHERE fact.k = dim.k; DELETE FROM fact USING dim WHERE fact.k = dim.k AND dim.k < 500;
			SELECT count(*), sum(g) FROM fact WHERE g >= 100; ROLLBACK}),
		'380|38000', "UPDATE and DELETE of a foreign table, $mode");
}

is(shipped(nodes_of('force', 'UPDATE dim SET five = five FROM fact WHERE fact.k = dim.k', undef, 'VERBOSE, FORMAT JSON')), 1, 'the filter travels for UPDATE');
is(shipped(nodes_of('force', 'INSERT INTO dim (k) SELECT k FROM fact JOIN dim USING (k)', undef, 'VERBOSE, FORMAT JSON')), 1, '... and for INSERT');

# EvalPlanQual: a row that another transaction changes while we wait is looked at again.
$node->safe_psql('postgres', 'CREATE TABLE account AS SELECT g AS id, g * 100 + 1 AS k, 0 AS n FROM generate_series(1, 50) g; ANALYZE account');
foreach my $mode (qw(off on force))
{
	my $other = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
			'BEGIN; UPDATE account SET k = 4901 WHERE id = 3; UPDATE account SET k = 77777 WHERE id = 4; SELECT pg_sleep(2); COMMIT' ],
		'>', \my $ignored);

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die 'no other session';
	rows_of($mode, 'UPDATE account SET n = account.n + 1 FROM fact WHERE fact.k = account.k AND fact.id <= 10000');
	$other->finish;
	is($node->safe_psql('postgres', 'SELECT id, k, n FROM account WHERE id IN (2, 3, 4) ORDER BY id'), "2|201|1\n3|4901|0\n4|77777|0",
		"rows changed while we wait are joined by what they are then, $mode");
	$node->safe_psql('postgres', 'UPDATE account SET k = id * 100 + 1, n = 0');
}

# Remote columns whose types are not the declared ones: as many rows as without.
my $collation = $icu ? q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)} :
  q{CREATE COLLATION nocase FROM "C"};
$node->safe_psql('far', qq{
	$collation;
	CREATE DOMAIN number AS int;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd');
	CREATE TABLE odd AS SELECT g AS id, (g % 20)::text::char(5) AS padded, g % 20 || '  ' AS blanks, '2020-01-01'::timestamp + g % 20 * interval '1 h' AS local_time,
		g % 20 + 0.04 AS rounded, ((g % 20) / 10.0)::float8 AS wide, ((g % 20) / 10.0)::float4 AS narrow, md5((g % 20)::text)::uuid AS u,
		(CASE g % 2 WHEN 0 THEN 'KEY' ELSE 'key' END || g % 20) COLLATE nocase AS folded,
		(g % 20)::number AS domain, ('{a,b,c,d}'::mood[])[g % 4 + 1] AS mood, (g % 20)::text AS digits, (g % 20)::numeric AS whole
	FROM generate_series(1, 1000) g;
	ANALYZE});
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE odd (id int, padded text, blanks char(5), local_time timestamptz, rounded numeric(10,1), wide float4, narrow float8, u text, folded text,
		domain int, mood text, digits int, whole int) SERVER far;
	SET TimeZone = 'Asia/Kolkata';
	CREATE TABLE odd_dim AS SELECT DISTINCT padded, blanks, local_time, rounded, wide, narrow, u, folded, domain, mood, digits, whole FROM odd WHERE id <= 7});
foreach my $column (qw(padded blanks local_time rounded wide narrow u folded domain mood digits whole))
{
	my $sql = "SELECT count(*), sum(id) FROM odd JOIN odd_dim USING ($column)";
	my $off = same_rows($sql, "a remote column of another type, $column", "$hash SET TimeZone = 'Asia/Kolkata';");

	cmp_ok((split /\|/, $off)[0], '>=', 350, "... of which some join, $column");
}
$node->safe_psql('far', 'ALTER TABLE odd ALTER rounded TYPE numeric(10,2)');
same_rows('SELECT count(*), sum(id) FROM odd JOIN odd_dim USING (rounded)', 'numbers that are rounded as they arrive');
is(shipped(nodes_of('force', 'SELECT count(*), sum(id) FROM odd JOIN odd_dim USING (rounded)')), 1, '... with a filter');

# Views of others: keys of a column that she may not select are sent by no mapping of hers; but by the owner's, where all of it is his.
$node->safe_psql('postgres', q{
	CREATE ROLE owner;
	CREATE ROLE reader;
	CREATE USER MAPPING FOR owner SERVER far OPTIONS (user '} . $node->safe_psql('postgres', 'SELECT current_user') . q{', password_required 'false');
	CREATE USER MAPPING FOR reader SERVER far OPTIONS (user '} . $node->safe_psql('postgres', 'SELECT current_user') . q{', password_required 'false');
	CREATE TABLE hidden AS SELECT g AS id, g * 100 + 1 AS k FROM generate_series(1, 99) g;
	CREATE VIEW hiding AS SELECT k FROM hidden WHERE id > 0;
	CREATE VIEW joined AS SELECT f.id FROM fact f JOIN hidden h ON h.k = f.k;
	GRANT SELECT ON fact TO owner, reader;
	GRANT SELECT ON hidden TO owner;
	ALTER VIEW hiding OWNER TO owner;
	ALTER VIEW joined OWNER TO owner;
	GRANT SELECT ON hiding, joined TO reader;
	ANALYZE hidden});
my $as_reader = "$hash SET ROLE reader;";
stays('SELECT count(*) FROM fact JOIN hiding USING (k)', 'a view of somebody else', $as_reader);
travels('SELECT count(*) FROM joined', '... in which all is read as its owner', 4 * 99, $as_reader);
travels('SELECT count(*) FROM fact JOIN hiding USING (k)', '... whose owner asks', 4 * 99, "$hash SET ROLE owner;");

# In any schema, under any name.
$node->safe_psql($_, 'CREATE SCHEMA "Odd one"; ALTER EXTENSION bloomfam SET SCHEMA "Odd one"') foreach qw(postgres far);
travels('SELECT count(*), sum(id) FROM fact JOIN dim USING (k)', 'the extension in another schema', 4 * 99);

# The extension is not there: nothing travels, and nothing fails.
$node->safe_psql('postgres', 'DROP EXTENSION bloomfam');
stays('SELECT count(*), sum(id) FROM fact JOIN dim USING (k)', 'no extension in this database');
$node->safe_psql('postgres', 'CREATE EXTENSION bloomfam SCHEMA public');
$node->safe_psql('far', 'DROP EXTENSION bloomfam');
my ($status, $out, $error) = $node->psql('postgres', "SET bloomfam.join_filter = force; $hash SELECT count(*) FROM fact JOIN dim USING (k)");
like($error, qr/public.*does not exist/, 'no extension on the other server, against the promise: an error');

no_crash($node);
$node->stop;
done_testing();
