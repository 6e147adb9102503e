# SPDX-License-Identifier: PostgreSQL
# Property: bloomfam_stat_join_filters counts what the filters of joins did, right to the row, once, and in bounded memory.

use strict;
use warnings;

use BloomfamTest;
use FindBin;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', q{
	shared_preload_libraries = 'bloomfam'
	compute_query_id = on
	bloomfam.stat_max = 100
	bloomfam.join_filter = force
	max_worker_processes = 16
	max_parallel_workers = 16
	max_parallel_workers_per_gather = 0
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
	enable_nestloop = off
	enable_mergejoin = off
});
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

# 3 in 100 keys of fact are in dim
$node->safe_psql('postgres', q{
	CREATE TABLE fact AS SELECT i AS id, i * 7919::bigint % 100000 AS k FROM generate_series(1, 200000) i;
	CREATE TABLE dim AS SELECT i * 33 AS k, i AS v FROM generate_series(1, 3000) i;
	CREATE TABLE same AS SELECT i AS k, i AS v FROM generate_series(0, 99999) i;
	VACUUM ANALYZE;
	GRANT SELECT ON fact, dim TO PUBLIC;
});

my $rows = 200_000;
my $join = 'SELECT count(*) FROM fact f JOIN dim d USING (k)';
my @columns = qw(executions filters_built filters_discarded filters_disabled filters_pushed rows_probed rows_removed rows_not_checked filter_bytes);
my $sums = 'SELECT ' . join(', ', map { "coalesce(sum($_), 0) AS $_" } @columns) . ' FROM bloomfam_stat_join_filters';

sub sql { return $node->safe_psql('postgres', @_) }
sub reset_all { return sql('SELECT bloomfam_stat_join_filters_reset()') }

# The sums of all counters, which nothing but these statements has added to.
sub counted
{
	my (@statements) = @_;
	my %sum;

	reset_all();
	sql($_) foreach @statements;
	@sum{@columns} = split /\|/, sql($sums);
	return \%sum;
}

# What EXPLAIN ANALYZE says of the filters of a query.
sub explained
{
	my ($json) = @_;
	my %sum = map { $_ => 0 } 'Builds', 'Discarded', 'Rows Probed', 'Rows Removed', 'Rows Not Checked';
	my @nodes = (decode_json($json)->[0]->{Plan});

	while (my $plan = shift @nodes)
	{
		push @nodes, @{ $plan->{Plans} // [] };
		foreach my $filter (@{ $plan->{'Bloom Filters'} // [] })
		{
			$sum{$_} += $filter->{$_} // 0 foreach keys %sum;
		}
	}
	return \%sum;
}

# An EXPLAIN ANALYZE, and what the counters say of it.
sub agree
{
	my ($name, $settings, $query) = @_;
	my %sum;

	reset_all();
	my $said = explained(sql("$settings; EXPLAIN (ANALYZE, FORMAT json) $query"));
	@sum{@columns} = split /\|/, sql($sums);
	is($sum{executions}, 1, "$name: one execution");
	is($sum{filters_built} + $sum{filters_discarded}, $said->{Builds}, "$name: filters as EXPLAIN has them");
	is($sum{filters_discarded}, $said->{'Discarded'}, "$name: those that are discarded");
	is($sum{rows_probed}, $said->{'Rows Probed'}, "$name: rows that are probed");
	is($sum{rows_removed}, $said->{'Rows Removed'}, "$name: rows that are dropped");
	is($sum{rows_not_checked}, $said->{'Rows Not Checked'}, "$name: rows that pass unchecked");
	return \%sum;
}

# Serial
my $once = agree('serial', 'SET jit = off', $join);
is($once->{rows_probed} + $once->{rows_not_checked}, $rows, 'serial: each row is counted once');
cmp_ok($once->{rows_not_checked}, '<=', 1, 'serial: all but the first one are probed');
cmp_ok($once->{rows_removed}, '<=', $rows - sql($join), 'serial: no row is dropped that joins');
cmp_ok($once->{rows_removed}, '>', $rows * 0.9, 'serial: rows are dropped');
cmp_ok($once->{filter_bytes}, '>', 3000, 'serial: the filter has bytes');
is_deeply(counted($join), $once, 'serial: the same without EXPLAIN');
is_deeply(counted($join, $join, $join), { map { $_ => $once->{$_} * 3 } @columns }, 'serial: three times as much after three executions');
is(counted("EXPLAIN $join")->{executions}, 0, 'an EXPLAIN that executes nothing is not counted');
is(counted("SET bloomfam.join_filter = off; $join")->{executions}, 0, 'nor a plan without filters');
is(counted("SET plan_cache_mode = force_generic_plan; PREPARE p AS $join; EXECUTE p; SET bloomfam.join_filter = off; EXECUTE p")->{executions},
	1, 'nor one whose filters are not used');
is(counted("SET bloomfam.track = off; $join")->{executions}, 0, 'nor is anything if bloomfam.track is off');
is(counted("SELECT count(*) FROM fact WHERE bloom_may_contain((SELECT bloom_agg(k) FROM dim), k)")->{executions},
	0, 'nor filters that the query names');

# Filters that do not pay
my $lost = agree('discarded', 'SET bloomfam.join_filter_max_size = 1', $join);
is($lost->{filters_discarded}, 1, 'discarded: one filter');
is($lost->{filters_built} + $lost->{filter_bytes}, 0, 'discarded: none that was made');
is($lost->{rows_removed}, sql('SELECT count(*) FROM fact WHERE k NOT BETWEEN (SELECT min(k) FROM dim) AND (SELECT max(k) FROM dim)'),
	'discarded: rows are dropped outside the range of the keys');
$lost = agree('discarded, two columns', 'SET bloomfam.join_filter_max_size = 1', 'SELECT count(*) FROM fact f JOIN dim d ON f.k = d.k AND f.id = d.v');
is($lost->{filters_discarded}, 1, 'discarded, two columns: one filter');
is($lost->{rows_not_checked}, $rows, 'discarded, two columns: all rows pass unchecked');
my $useless = agree('disabled', 'SET bloomfam.join_filter = on', 'SELECT count(*) FROM fact JOIN same USING (k) WHERE v % 1 = 0');
is($useless->{filters_disabled}, 1, 'disabled: one filter');
cmp_ok($useless->{rows_not_checked}, '>', 100_000, 'disabled: rows pass unchecked');
is($useless->{rows_not_checked} + $useless->{rows_probed}, $rows, 'disabled: each row is counted once');

# One that has done its work on another server, and finds nothing more to drop here
SKIP:
{
	skip 'postgres_fdw is not installed', 4
	  if sql(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';
	my ($host, $port) = ($node->host, $node->port);

	sql(qq{
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER near FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'bloomfam');
		CREATE USER MAPPING FOR CURRENT_USER SERVER near;
		CREATE FOREIGN TABLE far_fact (id int, k bigint) SERVER near OPTIONS (table_name 'fact');
		ANALYZE far_fact;
	});
	my $sent = counted('SET bloomfam.join_filter = on; SELECT count(*) FROM far_fact JOIN dim USING (k)');

	is($sent->{filters_pushed}, 1, 'sent: one filter');
	cmp_ok($sent->{rows_probed} + $sent->{rows_not_checked}, '<', $rows * 0.1, 'sent: few rows come');
	cmp_ok($sent->{rows_not_checked}, '>', 0, 'sent: of which some are not even probed');
	is($sent->{filters_disabled}, 0, 'sent: which is not called disabled');
}

# Parallel: a filter of each process; one that they make together; one that the leader gives them
my $workers = 'SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = on';
my %parallel = (
	'parallel, private' => 'SET enable_parallel_hash = off',
	'parallel, shared' => 'SET enable_parallel_hash = on',
	'parallel, without the leader' => 'SET parallel_leader_participation = off');
foreach my $name (sort keys %parallel)
{
	my $settings = "$workers; $parallel{$name}";

	like(sql("$settings; EXPLAIN ANALYZE $join"), qr/Workers Launched: 2/, "$name: two workers");
	my $sum = agree($name, $settings, $join);
	is($sum->{rows_probed} + $sum->{rows_not_checked}, $rows, "$name: each row is counted once");
	$sum = counted("$settings; $join", "$settings; $join");
	is($sum->{executions}, 2, "$name: two executions without EXPLAIN");
	is($sum->{rows_probed} + $sum->{rows_not_checked}, $rows * 2, "$name: each row is counted once without EXPLAIN");
	cmp_ok($sum->{rows_removed}, '>', $rows, "$name: rows are dropped without EXPLAIN");
	is($sum->{filters_built}, 2, "$name: a filter each time") if $name ne 'parallel, private';
	cmp_ok($sum->{filters_built}, '>=', 2, "$name: a filter each time, or more") if $name eq 'parallel, private';
}
my $above = "$workers; CREATE TEMP TABLE local AS TABLE dim; ANALYZE local";
my $local = 'SELECT count(*) FROM fact f JOIN local d USING (k)';
like(sql("$above; EXPLAIN $local"), qr/Hash Join.*Gather.*Bloom Filter Probe.*on fact/s, 'parallel scan: the join is above the Gather');
my $scan = agree('parallel scan', $above, $local);
cmp_ok($scan->{rows_removed}, '>', 0, 'parallel scan: rows are dropped');
is($scan->{rows_probed} + $scan->{rows_not_checked}, $rows, 'parallel scan: each row is counted once');

# Errors: what an execution that fails did is lost, and nothing else
my $fails = 'SELECT count(1 / (f.id - 150000)) FROM fact f JOIN dim d USING (k)';
sql('INSERT INTO dim SELECT k, -1 FROM fact WHERE id = 150000');
reset_all();
foreach my $settings ('SET jit = off', $workers)
{
	my ($code, undef, $error) = $node->psql('postgres', "$settings; $fails");

	isnt($code, 0, 'errors: an execution fails');
	like($error, qr/division by zero/, 'errors: while rows are probed');
}
is(sql($sums), join('|', (0) x @columns), 'errors: its counts are lost');
sql("DO \$\$ BEGIN FOR i IN 1..10 LOOP BEGIN PERFORM ($fails); EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END \$\$");
is(sql($sums), join('|', (0) x @columns), 'errors: also of one that is caught');
sql('DELETE FROM dim WHERE v = -1; VACUUM dim');
is_deeply(counted($join), $once, 'errors: the next one is counted as ever');
my $part = counted("BEGIN; DECLARE c CURSOR FOR SELECT f.id FROM fact f JOIN dim d USING (k); FETCH 1 FROM c; CLOSE c; COMMIT");
is($part->{executions}, 1, 'a cursor is counted that is closed early');
cmp_ok($part->{rows_probed}, '<', $rows, 'by what it read');

# Eight clients
reset_all();
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=20', 0, [qr/processed: 160\/160/], [qr/^$/], 'eight clients', { join => "$join;\n" });
is(sql($sums), join('|', map { $once->{$_} * 160 } @columns), 'eight clients: exact sums');
is(sql('SELECT count(*), count(DISTINCT queryid) FROM bloomfam_stat_join_filters'), '1|1', 'eight clients: one entry');

# The queries of docs/operate.md: the first finds those that do not pay
my $page = slurp_file("$FindBin::Bin/../../docs/operate.md");
my @queries = $page =~ /^    (SELECT .*\n(?:    .*\n)*    FROM bloomfam_stat_join_filters.*\n(?:    .*\n)*)/mg;
is(scalar @queries, 3, 'queries of the page');
counted($join, "SET bloomfam.join_filter = on; SELECT count(*) FROM fact JOIN same USING (k) WHERE v % 1 = 0");
like(sql($queries[0]), qr/^postgres\|postgres\|-?\d+\|1\|0\|1\|0\.0$/, 'the page finds a filter that does not pay, and no other');
my ($first, $second) = split /\n/, sql($queries[1]);
is((split /\|/, $first)[3], int($once->{rows_removed}), 'the page tells how many rows a query was spared');
like($first, qr/^postgres\|-?\d+\|1\|\d+\|9\d\.\d\|\d+$/, '... and what fraction');
like($second, qr/^postgres\|-?\d+\|1\|0\|0\.0\|/, '... those that were spared nothing last');

# Who they are of
reset_all();
sql("CREATE DATABASE other; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE monitor LOGIN; GRANT pg_read_all_stats TO monitor");
sql($join, extra_params => [ '-U', 'alice' ]);
sql("$join; SET compute_query_id = off; $join");
is(sql('SELECT count(*), count(DISTINCT userid), min(dbid) = (SELECT oid FROM pg_database WHERE datname = current_database()) FROM bloomfam_stat_join_filters'),
	'3|2|t', 'an entry for each role and query');
is(sql('SELECT executions FROM bloomfam_stat_join_filters WHERE queryid = 0'), 1, 'a query without an id has 0');
is(sql('SELECT count(*) FROM bloomfam_stat_join_filters', extra_params => [ '-U', 'alice' ]), 1, 'roles: their own');
is(sql('SELECT count(*) FROM bloomfam_stat_join_filters', extra_params => [ '-U', 'bob' ]), 0, 'roles: not those of others');
is(sql('SELECT count(*) FROM bloomfam_stat_join_filters', extra_params => [ '-U', 'monitor' ]), 3, 'roles: pg_read_all_stats sees all');
foreach my $statement ('SELECT bloomfam_stat_join_filters_reset()', 'SET bloomfam.track = off')
{
	my ($code, undef, $error) = $node->psql('postgres', $statement, extra_params => [ '-U', 'monitor' ]);

	isnt($code, 0, "roles: $statement");
	like($error, qr/permission denied/, 'roles: is refused');
}

# Bounded: 100,000 queries, or some of them
my $many = share(20_000, 100_000);
my $memory = sql(q{SELECT allocated_size FROM pg_shmem_allocations WHERE name = 'bloomfam_stat_join_filters'});
reset_all();
$node->safe_psql('postgres', q{
	CREATE TABLE wide AS SELECT 1 AS c0, 1 AS c1, 1 AS c2, 1 AS c3, 1 AS c4, 1 AS c5, 1 AS c6, 1 AS c7, 1 AS c8, 1 AS c9;
	DO $$
	BEGIN
		FOR i IN 0..} . ($many - 1) . q{ LOOP
			EXECUTE format('SELECT w.c%s, w.c%s, w.c%s, w.c%s, w.c%s FROM wide w JOIN wide v ON w.c0 = v.c0',
				i % 10, i / 10 % 10, i / 100 % 10, i / 1000 % 10, i / 10000);
		END LOOP;
	END $$;
}, timeout => 600);
is(sql('SELECT count(*) FILTER (WHERE queryid IS NOT NULL), count(*), max(executions) FILTER (WHERE queryid IS NOT NULL) FROM bloomfam_stat_join_filters'),
	'100|101|1', 'many queries: as many entries as bloomfam.stat_max, and one for those that made room');
is(sql('SELECT sum(executions), sum(rows_probed + rows_not_checked), sum(filters_built) FROM bloomfam_stat_join_filters'), "$many|$many|$many", '... exact sums');
is(sql(q{SELECT allocated_size FROM pg_shmem_allocations WHERE name = 'bloomfam_stat_join_filters'}), $memory, '... the same memory');
cmp_ok($memory, '<', 100 * 200, 'which is small');
is(sql('SELECT count(*) FROM bloomfam_stat_join_filters WHERE queryid IS NULL', extra_params => [ '-U', 'alice' ]), 0, 'roles: nobody sees the sum of all');
# one that is used often stays while others come and go
reset_all();
$node->safe_psql('postgres', q{
	DO $$
	BEGIN
		FOR i IN 0..999 LOOP
			EXECUTE format('SELECT w.c%s, w.c%s, w.c%s FROM wide w JOIN wide v ON w.c0 = v.c0', i % 10, i / 10 % 10, i / 100);
			IF i % 10 = 0 THEN
				PERFORM FROM wide w JOIN wide v ON w.c9 = v.c9;
			END IF;
		END LOOP;
	END $$;
});
is(sql('SELECT max(executions) FROM bloomfam_stat_join_filters WHERE queryid IS NOT NULL'), 100, 'a query that comes often keeps its entry');

# Restart
$node->restart;
is(sql($sums), join('|', (0) x @columns), 'after a restart they begin anew');
is_deeply(counted($join), $once, 'and count');
no_crash($node);

# Loaded by sessions
my $late = PostgreSQL::Test::Cluster->new('session');
$late->init;
$late->append_conf('postgresql.conf', "session_preload_libraries = 'bloomfam'\nbloomfam.join_filter = force\nenable_nestloop = off\nenable_mergejoin = off\n");
$late->start;
$late->safe_psql('postgres', 'CREATE EXTENSION bloomfam; CREATE TABLE t AS SELECT g AS k FROM generate_series(1, 1000) g');
$late->safe_psql('postgres', 'SELECT count(*) FROM t JOIN t u USING (k)');
if ($version >= 170000)
{
	is($late->safe_psql('postgres', 'SELECT executions, rows_probed FROM bloomfam_stat_join_filters'), '1|1000', 'loaded by sessions: counted');
}
else
{
	my (undef, undef, $error) = $late->psql('postgres', 'TABLE bloomfam_stat_join_filters');

	like($error, qr/only if it is loaded when the server starts.*HINT:  Add bloomfam to shared_preload_libraries/s, 'loaded by sessions: an error says what to do');
}
no_crash($late);

# With pg_stat_statements, two roles that run the same query, one of them without filters
SKIP:
{
	skip 'there is no pg_stat_statements', 2 unless $late->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'});
	my $both = PostgreSQL::Test::Cluster->new('both');

	$both->init;
	$both->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements, bloomfam'\nbloomfam.join_filter = force\nenable_nestloop = off\nenable_mergejoin = off\n");
	$both->start;
	$both->safe_psql('postgres', q{
		CREATE EXTENSION bloomfam;
		CREATE EXTENSION pg_stat_statements;
		CREATE TABLE t AS SELECT g AS k FROM generate_series(1, 1000) g;
		GRANT SELECT ON t TO PUBLIC;
		CREATE ROLE reports LOGIN;
		CREATE ROLE reports_without LOGIN;
		ALTER ROLE reports_without SET bloomfam.join_filter = off;
	});
	$both->safe_psql('postgres', 'SELECT count(*) FROM t JOIN t u USING (k)', extra_params => [ '-U', $_ ]) foreach qw(reports reports reports_without);
	is($both->safe_psql('postgres', 'SELECT executions FROM bloomfam_stat_join_filters WHERE executions = 2'), '2', 'only one of the roles has filters');
	like($both->safe_psql('postgres', $queries[2]), qr/^SELECT count\(\*\) FROM t JOIN t u USING \(k\)\|2\|\d+\|\d+\|\d+\.\d\d$/, 'the page compares the two');
	no_crash($both);
}

done_testing();
