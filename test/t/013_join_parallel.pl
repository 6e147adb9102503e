# SPDX-License-Identifier: PostgreSQL
# Property: join filters of parallel plans drop rows, and never one that joins, whoever takes part in building and probing.

use strict;
use warnings;

use BloomfamTest;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Wire;

my $node = start_node('main', q{
	session_preload_libraries = 'bloomfam'
	dynamic_shared_memory_type = mmap
	max_worker_processes = 16
	max_parallel_workers = 16
	max_parallel_workers_per_gather = 2
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
	enable_nestloop = off
	enable_mergejoin = off
});

# 3 in 100 keys of fact are in dim, and every 50th is NULL
$node->safe_psql('postgres', q{
	CREATE TABLE fact AS
		SELECT i AS id, CASE WHEN i % 50 > 0 THEN i * 7919::bigint % 100000 END AS k, 'key ' || i * 7919::bigint % 100000 AS t, i % 10 AS g
		FROM generate_series(1, 200000) i;
	CREATE TABLE dim AS SELECT i * 33 AS k, 'key ' || i * 33 AS t, i % 10 AS g, i AS v, repeat('x', 200) AS pad FROM generate_series(1, 3000) i;
	INSERT INTO dim SELECT NULL, NULL, 1, i, NULL FROM generate_series(1, 20) i;
	CREATE TABLE parts (LIKE fact) PARTITION BY LIST (g);
	CREATE TABLE parts_low PARTITION OF parts FOR VALUES IN (0, 1, 2, 3, 4);
	CREATE TABLE parts_high PARTITION OF parts FOR VALUES IN (5, 6, 7, 8, 9);
	INSERT INTO parts SELECT * FROM fact;
	VACUUM ANALYZE;
});

my $join = 'SELECT count(*), sum(f.id), sum(d.v), count(DISTINCT f.k) FROM fact f JOIN dim d USING (k)';

# The nodes of a plan.
sub nodes
{
	my ($plan) = @_;

	return ($plan, map { nodes($_) } @{ $plan->{Plans} // [] });
}

sub is_probe { return ($_[0]->{'Custom Plan Provider'} // '') eq 'Bloom Filter Probe' }
sub is_build { return ($_[0]->{'Custom Plan Provider'} // '') eq 'Bloom Filter Build' }

# The plan that was run, as its nodes.
sub run_plan
{
	my ($query, $settings) = @_;
	my $json = $node->safe_psql('postgres', "$settings; SET bloomfam.join_filter = force; EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, FORMAT json) $query");

	return nodes(decode_json($json)->[0]->{Plan});
}

# The rows that came through the filters: of all participants and rescans.
sub rows_through
{
	my $rows = 0;

	$rows += $_->{'Actual Rows'} * $_->{'Actual Loops'} foreach grep { is_probe($_) } @_;
	return $rows;
}

# The same rows with filters off, on and forced; returns the plan with them.
sub same
{
	my ($name, $query, $settings) = @_;
	my ($off, $on, $force) = in_modes($node, 'postgres', $settings, $query, qw(off on force));

	isnt($off, '', "$name: there are rows");
	is($on, $off, "$name: the same rows, on");
	is($force, $off, "$name: the same rows, force");
	my @plan = run_plan($query, $settings);
	ok((grep { $_->{'Node Type'} =~ /^Gather/ } @plan), "$name: the plan is parallel");
	return @plan;
}

# The same, and the filters let pass at most so many rows.  A process that asks while another makes the filter lets a few pass.
sub filtered
{
	my ($name, $query, $settings, $most) = @_;
	my @plan = same($name, $query, $settings);

	cmp_ok(scalar(grep { is_probe($_) } @plan), '>', 0, "$name: there is a filter");
	cmp_ok(rows_through(@plan), '<', $most, "$name: it drops rows");
	return @plan;
}

# What the leader gathered of a property of filters, in all and by worker.
sub counted
{
	my ($property, @filters) = map { ref ? @{ $_->{'Bloom Filters'} // [] } : $_ } @_;
	my ($all, $workers) = (0, 0);

	foreach my $filter (grep { exists $_->{$property} } @filters)
	{
		$all += $filter->{$property};
		$workers += $_->{$property} foreach @{ $filter->{Workers} // [] };
	}
	return ($all, $workers);
}

sub is_shared { return grep { $_->{'Node Type'} eq 'Hash' && $_->{'Parallel Aware'} } @_ }

# What EXPLAIN says of one join of fact and dim, whose filter was made so many times.
sub counts_add_up
{
	my ($plan, $leader, $made) = @_;
	my ($probed, $by_workers) = counted('Rows Probed', @$plan);
	my ($dropped) = counted('Rows Removed', @$plan);
	my ($unseen, $unseen_by_workers) = counted('Rows Not Checked', @$plan);
	my ($builds) = counted('Builds', @$plan);
	my ($keys) = counted('Keys', @$plan);

	is($probed + $unseen, 200000, '... EXPLAIN counts all rows');
	# EXPLAIN rounds the rows of one process on average
	cmp_ok(abs($probed + $unseen - $dropped - rows_through(@$plan)), '<', 3, '... and those that were dropped');
	is($by_workers + $unseen_by_workers, 200000, '... by workers alone') if $leader eq 'off';
	is("$builds $keys", "$made " . $made * 3000, '... and keys');
	return;
}

my $few = 50000;

# ---- Parallel Hash below: the filter of the upper join goes into the hash table of the lower one ----

{
	$node->safe_psql('postgres', 'CREATE TABLE fact2 AS SELECT id, k FROM fact; ANALYZE fact2');
	my $three = 'SELECT count(*), sum(f.id), sum(g.id), sum(d.v) FROM fact f JOIN fact2 g USING (k) JOIN dim d USING (k)';
	my @plan = filtered('two facts', $three, 'SET join_collapse_limit = 1', 2 * $few);

	ok(is_shared(@plan), '... under a Parallel Hash');
	is(scalar(grep { is_probe($_) } @plan), 2, '... both have the filter');
	# begun anew by each row of an outer query, with the same build side and with another one each time
	filtered('... in a loop', "SELECT x, c, s FROM generate_series(1, 3) x, LATERAL (SELECT count(*) + x * 0 AS c, sum(f.id) AS s FROM fact f JOIN fact2 g USING (k) JOIN dim d USING (k)
		OFFSET 0) y", 'SET join_collapse_limit = 1; SET enable_material = off; SET enable_memoize = off', 6 * $few);
}

# ---- Parallel Hash: one filter of all shares ----

foreach my $leader (qw(on off))
{
	my $set = "SET parallel_leader_participation = $leader";
	my @plan = filtered("shared, leader $leader", $join, $set, $few);

	ok(is_shared(@plan), "... under a Parallel Hash");
	counts_add_up(\@plan, $leader, 1);
	filtered("shared semijoin, leader $leader", 'SELECT count(*), sum(id) FROM fact WHERE k IN (SELECT k FROM dim)', $set, $few);
	filtered("shared, two columns, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN dim d ON f.k = d.k AND f.t = d.t', $set, $few);
	filtered("shared, text, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN dim d USING (t)', $set, $few);
	filtered("shared by partitions, leader $leader", 'SELECT count(*), sum(f.id) FROM parts f JOIN dim d USING (k)', $set, $few);
	filtered("shared, nothing built, leader $leader", "$join WHERE d.v < 0", $set, 10);
	filtered("shared, a row built, leader $leader", "$join WHERE d.v = 7", $set, 20000);
	filtered("two joins, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN dim d USING (k) JOIN dim e ON f.k = e.k', $set, $few);
	my $each = "SELECT count(*), sum(f.id) FROM (fact f JOIN dim e USING (k)) JOIN dim d ON d.k = f.k AND d.v = e.v";
	@plan = filtered("a filter for each column, leader $leader", $each, "$set; SET join_collapse_limit = 1", $few);
	cmp_ok(scalar(grep { is_build($_) } @plan), '>', scalar(grep { $_->{'Node Type'} eq 'Hash' } @plan), '... of one of the joins');
	filtered("more processes than work, leader $leader", $join, "$set; SET max_parallel_workers_per_gather = 7;
		ALTER TABLE fact SET (parallel_workers = 7); ALTER TABLE dim SET (parallel_workers = 7)", $few);
	$node->safe_psql('postgres', 'ALTER TABLE fact RESET (parallel_workers); ALTER TABLE dim RESET (parallel_workers)');
	filtered("no process launched, leader $leader", $join, "$set; SET max_parallel_workers = 0", $few);
	filtered("one process launched, leader $leader", $join, "$set; SET max_parallel_workers = 1", $few);

	# the hash table in batches: the probe side is read before any of them is probed
	my $wide = 'SELECT count(*), sum(f.id), sum(length(d.pad)) FROM fact f JOIN dim d USING (k)';
	@plan = filtered("batches, leader $leader", $wide, "$set; SET work_mem = '64kB'; SET hash_mem_multiplier = 1", $few);
	ok((grep { ($_->{'Hash Batches'} // 0) > 1 } @plan), '... of which there are several');

	# far more keys than memory for their hashes
	@plan = same("discarded, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN fact d ON f.k = d.id WHERE d.g < 8 AND d.id <= 50000',
		"$set; SET work_mem = '64kB'; SET hash_mem_multiplier = 1");
	my $within = $node->safe_psql('postgres', 'SELECT count(*) FROM fact f, (SELECT min(id), max(id) FROM fact WHERE g < 8 AND id <= 50000) d WHERE f.k BETWEEN d.min AND d.max');
	# (rows are averages of the processes, rounded)
	cmp_ok(rows_through(@plan), '>=', $within - 10, "discarded, leader $leader: all rows pass between the smallest key and the largest");
	cmp_ok(rows_through(@plan), '<=', $within + 1000, "discarded, leader $leader: few others do");
	@plan = same("a limit, leader $leader", "SELECT count(*) FROM (SELECT 1 FROM fact f JOIN dim d USING (k) LIMIT 10) x", $set);
}

# what comes of the inner side only
filtered('right join', 'SELECT count(*), sum(f.id), sum(d.v) FROM fact f RIGHT JOIN dim d ON f.k = d.k AND f.g < 5', '', $few);
# rows without a match stay
same('left join', 'SELECT count(*), sum(f.id), sum(d.v) FROM fact f LEFT JOIN dim d USING (k)', '');
same('antijoin', 'SELECT count(*), sum(id) FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k)', '');

# ---- each process its own table and filter ----

foreach my $leader (share(0, 1) ? qw(on off) : 'on')
{
	my $set = "SET parallel_leader_participation = $leader; SET enable_parallel_hash = off";
	my @plan = filtered("own filters, leader $leader", $join, $set, $few);

	ok(!is_shared(@plan), '... under plain Hashes');
	my $builders = (grep { is_build($_) } @plan)[0]->{'Actual Loops'};
	counts_add_up(\@plan, $leader, $builders);
	filtered("own filters in batches, leader $leader", 'SELECT count(*), sum(length(d.pad)) FROM fact f JOIN dim d USING (k)', "$set; SET work_mem = '64kB'; SET hash_mem_multiplier = 1", $few);
}

# ---- the join above, the probe side below a Gather ----

# what cannot be run by workers is the build side
$node->safe_psql('postgres', q{
	CREATE FUNCTION keys(n int) RETURNS TABLE (k int, v int) LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100
	AS 'BEGIN RETURN QUERY SELECT i * 33, i FROM generate_series(1, n) i; END';
});
foreach my $leader (share(0, 1) ? qw(on off) : 'on')
{
	my $set = "SET parallel_leader_participation = $leader";
	my $above = 'SELECT count(*), sum(f.id), sum(d.v) FROM fact f JOIN keys(3000) d USING (k)';
	my @plan = filtered("above, leader $leader", $above, $set, $few);
	my ($top) = grep { $_->{'Node Type'} eq 'Hash Join' } @plan;

	ok((grep { $_->{'Node Type'} =~ /^Gather/ } nodes($top)), '... above a Gather');
	filtered("above, no process launched, leader $leader", $above, "$set; SET max_parallel_workers = 0", $few);
	filtered("above, two filters, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN keys(3000) d USING (k) JOIN keys(1500) e ON e.k = f.k',
		$set, $few);
	filtered("above partitions, leader $leader", 'SELECT count(*), sum(f.id) FROM parts f JOIN keys(3000) d USING (k)', $set, $few);
	filtered("above and shared, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN dim d USING (k) JOIN keys(1500) e ON e.k = f.k',
		$set, $few);
	filtered("above and empty, leader $leader", 'SELECT count(*), sum(f.id) FROM fact f JOIN keys(0) d USING (k)', $set, 10);
}

# ---- again and again ----

my $rescan = 'SET enable_material = off; SET enable_memoize = off; SET enable_nestloop = on';
my @plan = filtered('rescans', "SELECT x, s.* FROM (VALUES (1), (2), (3), (4)) v(x) LEFT JOIN LATERAL ($join) s ON true ORDER BY x", $rescan, 4 * $few);

cmp_ok((grep { $_->{'Node Type'} =~ /^Gather/ } @plan)[0]->{'Actual Loops'}, '>', 1, '... of a Gather');

# the build side is another each time
@plan = filtered('rescans with other keys', q{SELECT x, (SELECT (count(*), sum(f.id), sum(d.v)) FROM fact f JOIN keys(x) d USING (k))
	FROM generate_series(0, 3000, 600) x ORDER BY x}, $rescan, 6 * $few);
cmp_ok((grep { $_->{'Node Type'} =~ /^Gather/ } @plan)[0]->{'Actual Loops'}, '>', 1, '... of a Gather');

# a copy of the filter for the workers of each Gather, and no more of them with each rescan; mmap has its files in the server's folder
my $shared = q{(SELECT sum((pg_stat_file('pg_dynshmem/' || f)).size) FROM pg_ls_dir('pg_dynshmem' || left(x::text, 0)) f)};
my $gathers = q{SELECT count(*), sum(f.id), sum(d.v) FROM (
	SELECT DISTINCT k, id FROM parts_high UNION ALL SELECT DISTINCT k, id FROM parts_low) f JOIN keys(60000) d USING (k)};
my $sorted = "$rescan; SET enable_hashagg = off";
@plan = filtered('rescans of two Gathers', "SELECT x, s.* FROM generate_series(1, 4) x LEFT JOIN LATERAL ($gathers) s ON true ORDER BY x", $sorted, 4 * $few);
cmp_ok(scalar(grep { $_->{'Node Type'} =~ /^Gather/ && $_->{'Actual Loops'} == 4 } @plan), '==', 2, '... of which there are two');
my @sizes = split /\n/, $node->safe_psql('postgres', "$sorted; SET bloomfam.join_filter = force;
	SELECT $shared FROM generate_series(1, 40) x LEFT JOIN LATERAL ($gathers) s ON true");
cmp_ok($sizes[1], '>', 100_000, '... of which each has a copy');
is($sizes[-1], $sizes[1], '... that is not left there when the next one comes');

# and so is that of a Parallel Hash
@plan = filtered('rescans with other shares', q{SELECT x, (SELECT (count(*), sum(f.id), sum(d.v)) FROM fact f JOIN dim d USING (k)
	WHERE d.v <= (SELECT max(e.v) FROM dim e WHERE e.v <= x)) FROM generate_series(600, 3000, 600) x ORDER BY x}, $rescan, 5 * $few);
ok(is_shared(@plan), '... under a Parallel Hash');
cmp_ok((grep { $_->{'Node Type'} =~ /^Gather/ } @plan)[0]->{'Actual Loops'}, '>', 1, '... of a Gather');

# ---- a parallel plan that is run by one process ----

my $into = qq{
	CREATE FUNCTION pg_temp.one(OUT a bigint, OUT b bigint, OUT c bigint, OUT d bigint) LANGUAGE plpgsql AS
		'BEGIN $join INTO a, b, c, d; END';
	SELECT * FROM pg_temp.one()};
is($node->safe_psql('postgres', "SET bloomfam.join_filter = force; $into"), $node->safe_psql('postgres', $join), 'without parallel mode');

# ---- the setting is not part of the plan ----

my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE p AS $join";
is($node->safe_psql('postgres', "SET bloomfam.join_filter = force; $prepare; SET bloomfam.join_filter = off; EXECUTE p"),
	$node->safe_psql('postgres', $join), 'planned with, run without');

# ---- the leader began without filters, its workers begin with them: nobody knows the leader's keys ----

# each block of the build side has a key of its own, which one process reads, and each key a partition
$node->safe_psql('postgres', q{
	CREATE TABLE keyed (k int, v int) PARTITION BY LIST (k);
	SELECT format('CREATE TABLE keyed_%1$s PARTITION OF keyed FOR VALUES IN (%1$s)', k) FROM generate_series(0, 29) k \gexec
	INSERT INTO keyed SELECT i % 30, i FROM generate_series(1, 30000) i;
	CREATE TABLE wide (k int, pad text);
	ALTER TABLE wide ALTER pad SET STORAGE PLAIN;
	INSERT INTO wide SELECT i / 2, repeat('x', 3500) FROM generate_series(0, 59) i;
	CREATE FUNCTION slow(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
		'BEGIN PERFORM pg_sleep(0.01); RETURN true; END';
	VACUUM ANALYZE keyed, wide;
});
my $late = 'SELECT count(*), count(DISTINCT k), sum(v) FROM keyed JOIN wide USING (k) WHERE slow(pad)';
my @late_plan = run_plan($late, '');
ok((grep { is_shared($_) } @late_plan), 'begun without filters: a Parallel Hash');
ok((grep { is_probe($_) } @late_plan), '... with filters on partitions');
my $client = Wire->new($node, 'postgres');
$client->query($_) foreach 'SET plan_cache_mode = force_generic_plan', 'SET bloomfam.join_filter = force';
$client->prepare('late', $late);
my $whole = $client->execute_prepared('late', []);
is_deeply($whole->[0], [ 60000, 30, 900030000 ], '... all rows');
$client->query($_) foreach 'BEGIN', 'SET bloomfam.join_filter = off';
# the executor starts
$client->message('B', "later\0late\0" . pack('n*', 0, 0, 0));
$client->message('S', '');
$client->finish;
$client->query('SET bloomfam.join_filter = force');
$client->message('E', "later\0" . pack('N', 0));
$client->message('S', '');
is_deeply($client->finish, $whole, '... and all again');
$client->close;

# ---- cut short ----

# at any point of the query, once by the clock, once by an error of some process
my $expected = $node->safe_psql('postgres', $join);
my $cut = 0;
my $session = "SET bloomfam.join_filter = force;\n";

foreach my $try (grep { $_ % share(4, 1) == 0 } 1 .. 60)
{
	$session .= "SET statement_timeout = $try;\n$join;\n";
}
my ($ret, $out, $err) = $node->psql('postgres', $session, on_error_stop => 0);
$cut++ while $err =~ /canceling statement due to statement timeout/g;
cmp_ok($cut, '>', 3, 'some queries were cut short');
is_deeply([ grep { $_ ne $expected } split /\n/, $out ], [], 'the others gave the same');

$session = "SET bloomfam.join_filter = force;\n";
foreach my $id (map { $_ * 20000 + 3 } 0 .. 9)
{
	$session .= "SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE 1 / (f.id - $id) < 2;\n$join;\n";
	$session .= "SELECT count(*) FROM fact f JOIN dim d ON f.k = d.k + 0 / (d.v - 200) * $id;\n$join;\n";
}
($ret, $out, $err) = $node->psql('postgres', $session, on_error_stop => 0);
$cut = () = $err =~ /division by zero/g;
cmp_ok($cut, '>=', 10, 'queries failed');
is_deeply([ grep { $_ ne $expected } grep { /\|/ } split /\n/, $out ], [], 'those after them gave the same');

no_crash($node);

done_testing();
