# SPDX-License-Identifier: PostgreSQL
# Property: a parallel plan gives the same filters, to the byte, and the same rows as a serial one.
#
# Each worker gets a share of the rows, however busy the machine is: a worker that has come to its first page waits there for the other one.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', q{
	max_worker_processes = 16
	max_parallel_workers = 16
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
});

# every third key is NULL in n, and every key comes twice in dup
$node->safe_psql('postgres', q{
	CREATE TYPE pair AS (a int, b text);
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE TABLE big_rows AS SELECT g AS k, g % 30000 AS dup, 'key ' || g AS t, CASE WHEN g % 3 > 0 THEN g END AS n, bloom_key(g) AS h,
			(g % 5000, 'x')::pair AS p, ('{sad,ok,happy}'::mood[])[g % 3 + 1] AS m, g % 7 AS grp
		FROM generate_series(1, 60000) g;
	CREATE TABLE dim AS SELECT g * 41 AS k FROM generate_series(1, 1000) g;
	CREATE TABLE segment_rows AS
		SELECT g % 300 AS id, g % 5 AS grp, bloom_agg(g, 0.01, 'blocked', 1000) AS same, bloom_agg(g) AS own, bloom_agg(g, 0.01, 'standard') AS standard
		FROM generate_series(1, 30000) g WHERE g % 300 < 150 OR g % 2 = 0 GROUP BY 1, 2;
	CREATE TABLE stored AS SELECT bloom_agg(k * 41) AS f FROM generate_series(1, 100000) k;
	ALTER TABLE big_rows SET (parallel_workers = 2);
	ALTER TABLE segment_rows SET (parallel_workers = 2);
	VACUUM ANALYZE;

	-- Waits once in each worker until as many have come as share.workers says, each of which makes a file.  The leader waits for two seconds at most, as it
	-- may be in a part of the plan that has no workers.
	CREATE FUNCTION all_here() RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE COST 0.01 AS $$
	DECLARE
		folder text := current_setting('share.folder', true);
		own text := folder || '/' || pg_backend_pid();
		is_leader boolean;
	BEGIN
		IF coalesce(current_setting('share.workers', true), '0') = '0' OR (pg_stat_file(own || '.worker', true)).size > 0 OR (pg_stat_file(own || '.leader', true)).size > 0 THEN
			RETURN true;
		END IF;
		is_leader := (SELECT leader_pid IS NULL FROM pg_stat_activity WHERE pid = pg_backend_pid());
		EXECUTE format('COPY (SELECT 1) TO %L', own || CASE WHEN is_leader THEN '.leader' ELSE '.worker' END);
		FOR tries IN 1 .. CASE WHEN is_leader THEN 2000 ELSE 60000 END LOOP
			EXIT WHEN (SELECT count(*) FROM pg_ls_dir(folder) name WHERE name LIKE '%worker') >= current_setting('share.workers')::int;
			PERFORM pg_sleep(0.001);
		END LOOP;
		RETURN true;
	END $$;
	-- each page has such rows
	CREATE VIEW big AS SELECT * FROM big_rows WHERE k % 40 > 0 OR all_here();
	CREATE VIEW segments AS SELECT * FROM segment_rows WHERE grp > 0 OR all_here();
});

my $serial = 'SET max_parallel_workers_per_gather = 0; SET share.workers = 0; SET share.folder = \'\';';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET share.workers = 0; SET share.folder = \'\';';
# the workers do it all, or the leader takes part
my %setups = ('two workers' => "$parallel SET parallel_leader_participation = off;", 'with the leader' => $parallel);
my $shares = 0;
my $turns = 0;

# The settings by which the workers of one query wait for each other, in a folder of its own.
sub shared
{
	my $folder = $node->basedir . '/share' . $shares++;

	mkdir $folder or die;
	return "SET share.workers = 2; SET share.folder = '$folder';";
}

# Runs a query serially and in parallel, and shows that workers took part: each had rows, unless there are but few.
sub same
{
	my ($query, $name, %how) = @_;
	my $settings = $how{settings} // '';
	my $expected = $node->safe_psql('postgres', "$serial $settings $query");

	isnt($expected, '', "$name: there is a result");
	my @all = sort keys %setups;

	# every day, one by turns
	foreach my $setup (share(1, 0) ? $all[$turns++ % @all] : @all)
	{
		is($node->safe_psql('postgres', "$setups{$setup} @{[ shared() ]} $settings $query"), $expected, "$name: the same, $setup");
	}
	my $plan = $node->safe_psql('postgres', "$setups{'two workers'} @{[ shared() ]} $settings EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) $query");
	like($plan, qr/Workers Launched: 2/, "$name: workers took part");
	like($plan, qr/Parallel Seq Scan on public\.\w+_rows\b(?:(?!->).)*Worker 0:  actual rows=[1-9]\S* loops=1\n\s+Worker 1:  actual rows=[1-9]\S* loops=1\n/s, "$name: each had rows") unless $how{few};
	like($plan, qr/Partial \w*Aggregate|Partial \w*GroupAggregate/, "$name: and did a part of the aggregate") unless $how{whole};
	return $expected;
}

# ---- bloom_agg ----

my %keys = (k => 'different keys', dup => 'repeated keys', t => 'text', n => 'some NULLs', h => 'hashed keys', p => 'rows', m => 'few keys');
foreach my $kind (split /\n/, $node->safe_psql('postgres', 'SELECT kind FROM bloom_kinds(1000)'))
{
	# those that Parquet has types for
	my @of_kind = grep { $kind ne 'parquet' || /^(k|dup|t|n)$/ } sort keys %keys;
	my @calls = map { "bloom_agg($_, 0.02, '$kind'), bloom_agg($_, 0.001, '$kind', 50000), bloom_agg($_, 0.1, '$kind', 5)" } @of_kind;

	same("SELECT " . join(', ', map { "md5(bytea($_))" } map { split /, (?=bloom_agg)/ } @calls) . " FROM big", "$kind, all keys");
}
same('SELECT ' . join(', ', map { "md5(bytea(bloom_agg($_))), md5(bytea(bloom_agg($_, 0.03))), md5(bytea(bloom_agg($_, 'standard'))), md5(bytea(bloom_agg($_, '0.03')))" } sort keys %keys) . ' FROM big', 'short forms');
is( $node->safe_psql('postgres', "$parallel SELECT bloom_agg(k) = bloom_agg(h), bloom_agg(k, 0.02, 'standard', 9) = bloom_agg(h, 0.02, 'standard', 9) FROM big"),
	't|t', 'the two forms agree in parallel, too');
same('SELECT grp, md5(bytea(bloom_agg(k))), md5(bytea(bloom_agg(t, 0.1, \'standard\', 1000))), md5(bytea(bloom_agg(h))) FROM big GROUP BY grp ORDER BY grp',
	'groups');
# how often each of 30,000 keys came
is( same('SELECT count(*), bool_and(bloom_count(f, dup) BETWEEN 2 AND 3) FROM big, (SELECT bloom_agg(dup, 1e-6, \'counting\') f FROM big) c', 'counts'),
	'60000|t', 'the workers add up');
# a worker's share of 300,000 hashes does not fit the least that work_mem can be
my $spilling = q{SELECT md5(bytea(bloom_agg(k * 5 + s))), md5(bytea(bloom_agg(bloom_key(k * 5 + s), 0.001, 'standard'))) FROM big, generate_series(0, 4) s};
same($spilling, 'each spills', settings => q{SET work_mem = '64kB';});
like($node->safe_psql('postgres', "$setups{'two workers'} @{[ shared() ]} SET work_mem = '64kB'; EXPLAIN (ANALYZE, BUFFERS, VERBOSE, COSTS OFF, TIMING OFF) $spilling"),
	qr/Partial Aggregate.*Worker 0: [^\n]*\n\s+Buffers:[^\n]*temp [^\n]*written/s, '... into files of their own');
same('SELECT md5(bytea(bloom_agg(k) FILTER (WHERE k % 7 = 0))), md5(bytea(bloom_agg(k) FILTER (WHERE k < 0))) FROM big', 'FILTER');
same('SELECT bloom_agg(k), bloom_agg(k, 0.001, \'standard\', 10), bloom_agg(h) FROM big WHERE k % 100000 = -1', 'no rows', few => 1);
same('SELECT bloom_union_agg(own), bloom_intersect_agg(own) IS NULL FROM segments WHERE CASE WHEN id < 0 THEN true END', 'no filters', few => 1);
same('SELECT bloom_agg(k), bloom_agg(h, 0.1, \'standard\', 10), bloom_agg(n) FROM big WHERE k % 100000 = 77', 'one row: some workers have none', few => 1);
same('SELECT bloom_agg(n), bloom_agg(CASE WHEN n IS NULL THEN NULL::bloomkey END) FROM big WHERE n IS NULL', 'NULLs alone');
same('SELECT md5(bytea(bloom_agg(k))) FROM (SELECT k FROM big UNION ALL SELECT dup FROM big) b', 'Append');
same('SELECT count(*), md5(bytea(bloom_agg(b.k))) FROM big b JOIN dim USING (k)', 'above a join');

# ---- bloom_union_agg, bloom_intersect_agg ----

same('SELECT md5(bytea(bloom_union_agg(same))), md5(bytea(bloom_union_agg(own))), md5(bytea(bloom_union_agg(standard))) FROM segments', 'union');
same('SELECT md5(bytea(bloom_intersect_agg(same))) FROM segments', 'intersection');
same('SELECT grp, md5(bytea(bloom_union_agg(own))), md5(bytea(bloom_intersect_agg(same))) FROM segments GROUP BY 1 ORDER BY 1', 'unions of groups',
	settings => q{SET work_mem = '64MB';});
is( same('SELECT bloom_union_agg(CASE WHEN id <> 5 THEN same END) IS NULL, bloom_intersect_agg(CASE WHEN id <> 5 THEN same END) IS NULL FROM segments', 'one NULL filter'),
	't|f', 'a NULL filter makes a union unknown, an intersection no smaller');
is( $node->safe_psql('postgres', "$parallel SELECT count(*) FROM (SELECT bloom_union_agg(own) f FROM segments) u, generate_series(1, 30000) g
		WHERE (g % 300 < 150 OR g % 2 = 0) AND NOT f @~ g"),
	'0', 'the union of filters of different sizes has every key');

# ---- probes ----

my $probes = same('SELECT count(*), sum(k) FROM big WHERE bloom_may_contain((SELECT bloom_agg(k) FROM dim), k)', 'probe, InitPlan');
my $plan = $node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM big WHERE bloom_may_contain((SELECT bloom_agg(k) FROM dim), k)");
like($plan, qr/InitPlan.*Gather.*Parallel Seq Scan on big_rows\s+Filter: [^\n]*bloom_may_contain\(\$/s, 'the workers probe the filter of an InitPlan');
my $exact = $node->safe_psql('postgres', 'SELECT count(*), sum(k) FROM big WHERE k IN (SELECT k FROM dim)');
cmp_ok((split /\|/, $probes)[0], '>=', (split /\|/, $exact)[0], 'with all the rows of the join');

same('SELECT count(*), sum(k) FROM big WHERE bloom_may_contain((SELECT f FROM stored), k)', 'probe, stored filter');
same('SELECT count(*), sum(k) FROM big WHERE k ~@ (SELECT f FROM stored) OR (SELECT f FROM stored) @~ (k + 1)', 'probe, operators');
same('SELECT count(*), sum(k) FROM big, stored WHERE f @~ k', 'probe, join', whole => 1);
same('SELECT count(*), sum(k) FROM big WHERE bloom_may_contain((SELECT bloom_agg(h) FROM big WHERE k % 50 = 0), h)', 'probe, hashed keys');
same('SELECT count(*) FROM segments, generate_series(1, 200) g WHERE own @~ g', 'probe, many filters');
my $constant = $node->safe_psql('postgres', 'SELECT f FROM (SELECT bloom_agg(k) f FROM dim) d');
is(same("SELECT count(*), sum(k) FROM big WHERE bloom_may_contain('$constant', k)", 'probe, constant'), $probes, '... as the InitPlan does');

# A whole plan in one worker: what comes out of it travels, too.
my $force = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
is( $node->safe_psql('postgres', "$serial SET $force = regress; SELECT md5(bytea(bloom_agg(k))), md5(bytea(bloom_union_agg(bloom_create(k)))) FROM dim"),
	$node->safe_psql('postgres', "$serial SELECT md5(bytea(bloom_agg(k))), md5(bytea(bloom_union_agg(bloom_create(k)))) FROM dim"),
	'in a worker alone');

no_crash($node);
$node->stop;
done_testing();
