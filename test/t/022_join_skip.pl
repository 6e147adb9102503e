# SPDX-License-Identifier: PostgreSQL
# Property: a partition or a page that a join does not read has no row that the query's snapshot would have given it, whoever attaches,
# detaches, makes indexes and writes meanwhile; and serializable transactions stay so.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Wire;

my $node = start_node('main', q{
	session_preload_libraries = 'bloomfam'
	bloomfam.join_filter = force
	max_parallel_workers_per_gather = 0
	enable_nestloop = off
	enable_mergejoin = off
	shared_buffers = 1MB
});

$node->safe_psql('postgres', q{
	CREATE TABLE dim (k int, v int);
	INSERT INTO dim SELECT g, g FROM generate_series(0, 99) g;
	CREATE TABLE fact (k int, t text) PARTITION BY RANGE (k);
	CREATE TABLE fact_0 PARTITION OF fact FOR VALUES FROM (0) TO (20);
	CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM (20) TO (40);
	CREATE TABLE fact_2 PARTITION OF fact FOR VALUES FROM (40) TO (60);
	CREATE TABLE fact_rest PARTITION OF fact DEFAULT;
	INSERT INTO fact SELECT g % 100, 'old' FROM generate_series(1, 2000) g;
	CREATE TABLE later (k int, t text);
	INSERT INTO later SELECT g, 'of later' FROM generate_series(0, 99) g;
	CREATE TABLE later_too (k int, t text);
	INSERT INTO later_too SELECT g % 10 + 80, 'of later' FROM generate_series(0, 99) g;
	CREATE TABLE marks (n int);
	VACUUM ANALYZE;
});

my $table = 'fact';

# The sum of a join with the keys that a condition on v selects, and how many partitions were not read for it.
sub sum_of
{
	my ($session, $condition) = @_;
	my $rows = $session->query("SELECT count(*), string_agg(DISTINCT f.t, ', ') FROM $table f JOIN dim d USING (k) WHERE d.v $condition");

	return $rows ? join('|', map { $_ // '' } @{ $rows->[0] }) : "SQLSTATE $session->{sqlstate}";
}

sub skipped
{
	my ($session, $condition) = @_;
	my $plan = join("\n", map { $_->[0] } @{ $session->query("EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE d.v $condition") });

	return $plan =~ /Partitions Skipped: (\d+ of \d+)/ ? $1 : 'none';
}

sub do_it
{
	my ($session, @statements) = @_;

	$session->query($_) // die "SQLSTATE $session->{sqlstate}: $_\n" foreach @statements;
	return;
}

# The same with filters and without.
sub is_as_without
{
	my ($session, $condition, $expected, $name) = @_;
	my $with = sum_of($session, $condition);

	do_it($session, 'SET bloomfam.join_filter = off');
	is(sum_of($session, $condition), $expected, "$name, without filters");
	do_it($session, 'SET bloomfam.join_filter = force');
	is($with, $expected, $name);
	return;
}

my $one = Wire->new($node, 'postgres');
my $two = Wire->new($node, 'postgres');

# ---- tables that became partitions after the snapshot ----

is(skipped($one, 'IN (5, 6)'), '3 of 4', 'keys of one partition');
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');

# what lay outside its bounds was deleted before it was attached
do_it($two, 'DELETE FROM later WHERE k NOT BETWEEN 60 AND 79', "DELETE FROM fact WHERE k BETWEEN 60 AND 79",
	'ALTER TABLE fact ATTACH PARTITION later FOR VALUES FROM (60) TO (80)');
is_as_without($one, 'IN (5, 6)', '42|of later, old', 'an older snapshot sees rows outside the bounds of a partition');
is_as_without($one, 'IN (65, 66)', '42|of later, old', 'and rows in the default partition that belong to it now');
do_it($one, 'COMMIT');
is_as_without($one, 'IN (5, 6)', '40|old', 'a newer one does not');
is_as_without($one, 'IN (65, 66)', '2|of later', 'neither of the default partition');
is(skipped($one, 'IN (5, 6)'), '4 of 5', 'and its partitions are skipped');
is(skipped($one, 'IN (65, 66)'), '4 of 5', 'the default one as well');

# the same within a partition that has partitions
do_it($two, 'CREATE TABLE sub (k int, t text) PARTITION BY LIST (t)', "CREATE TABLE sub_old PARTITION OF sub DEFAULT",
	"INSERT INTO sub SELECT g, 'of sub' FROM generate_series(0, 99) g");
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
do_it($two, 'DELETE FROM sub', 'ALTER TABLE fact ATTACH PARTITION sub FOR VALUES FROM (200) TO (300)');
is_as_without($one, 'IN (5, 6)', '42|of sub, old', 'a level further down');
do_it($one, 'COMMIT');
is_as_without($one, 'IN (5, 6)', '40|old', 'and a newer snapshot');

# the same of a table that becomes a partition of one that has been a partition before, by a column that is no key
do_it($two, 'CREATE TABLE old_sub PARTITION OF fact FOR VALUES FROM (300) TO (400) PARTITION BY LIST (t)', 'CREATE TABLE old_sub_1 PARTITION OF old_sub DEFAULT',
	'CREATE TABLE joins_old_sub (k int, t text)',
	"INSERT INTO joins_old_sub SELECT g, 'of old sub' FROM generate_series(0, 99) g");
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
do_it($two, 'DELETE FROM joins_old_sub', "ALTER TABLE old_sub ATTACH PARTITION joins_old_sub FOR VALUES IN ('of old sub')");
is_as_without($one, 'IN (5, 6)', '42|of old sub, old', 'a partition that came to an older one');
do_it($one, 'COMMIT');
is_as_without($one, 'IN (5, 6)', '40|old', 'and a newer snapshot of that');

# a transaction's own partitions, while a cursor of an older command is open
do_it($one, 'BEGIN', 'DECLARE c CURSOR FOR SELECT f.k FROM fact f JOIN dim d USING (k) WHERE d.v IN (5, 85)', 'FETCH 1 c');
do_it($one, 'SAVEPOINT a');
is($one->query('ALTER TABLE fact ATTACH PARTITION later_too FOR VALUES FROM (80) TO (90)'), undef, 'the server keeps partitions from a table that is being read');
do_it($one, 'ROLLBACK TO a');
is(scalar @{ $one->query('FETCH ALL c') }, 39, 'the cursor goes on');
do_it($one, 'COMMIT');

# ---- partitions that go (the server wants no default partition then) ----

$table = 'going';
do_it($two, 'CREATE TABLE going (k int, t text) PARTITION BY RANGE (k)',
	(map { "CREATE TABLE going_$_ PARTITION OF going FOR VALUES FROM (${_}0) TO (${_}9)" } 1 .. 4),
	"INSERT INTO going SELECT g % 30 + 10, 'old' FROM generate_series(1, 3000) g WHERE g % 10 < 9", 'ANALYZE going');
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
is(sum_of($one, 'IN (15, 25)'), '200|old', 'before a partition is detached');
$two->message('Q', "ALTER TABLE going DETACH PARTITION going_2 CONCURRENTLY\0");
syswrite($two->{socket}, $two->{out}) == length $two->{out} or die 'send';
$two->{out} = '';
my $three = Wire->new($node, 'postgres');
foreach (1 .. 200)
{
	last if @{ $three->query('SELECT 1 FROM pg_inherits WHERE inhdetachpending') };
	select(undef, undef, undef, 0.05);
}
is(scalar @{ $three->query('SELECT 1 FROM pg_inherits WHERE inhdetachpending') }, 1, 'it is being detached');
is_as_without($one, 'IN (15, 25)', '200|old', 'meanwhile it is read by an older snapshot');
is_as_without($one, 'IN (25, 26)', '200|old', 'for its keys alone, too');
is_as_without($three, 'IN (15, 25)', '100|old', 'and by a newer one no more');
do_it($one, 'COMMIT');
$two->finish;
is($two->{sqlstate}, undef, 'it was detached');
is_as_without($one, 'IN (15, 25)', '100|old', 'and is gone');
do_it($two, 'ALTER TABLE going ATTACH PARTITION going_2 FOR VALUES FROM (20) TO (29)');
is_as_without($one, 'IN (15, 25)', '200|old', 'until it is attached again');
$table = 'fact';

# ---- a prepared plan that is older than the partitions ----

do_it($one, 'SET plan_cache_mode = force_generic_plan', 'PREPARE p (int) AS SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE d.v + 0 = $1');
my @before = map { $one->query("EXECUTE p ($_)")->[0][0] } 5, 25, 85;
do_it($two, 'ALTER TABLE fact DETACH PARTITION fact_1', 'CREATE TABLE fact_1b (t text, gone int, k int)', 'ALTER TABLE fact_1b DROP gone',
	"INSERT INTO fact_1b SELECT 'new', g FROM generate_series(20, 39) g", 'ALTER TABLE fact ATTACH PARTITION fact_1b FOR VALUES FROM (20) TO (40)');
is_deeply([ @before, map { $one->query("EXECUTE p ($_)")->[0][0] } 5, 25, 85 ], [ 20, 20, 20, 20, 1, 20 ], 'a prepared plan follows the partitions');

# ---- write skew ----

# Each reads what the other writes: one of them must fail, whether or not the first reads the partition that the second writes to.
foreach my $skip ('on', 'off')
{
	do_it($_, "SET bloomfam.join_filter_skip = $skip", 'BEGIN ISOLATION LEVEL SERIALIZABLE') foreach $one, $two;
	my $seen = sum_of($one, '= 1000 OR d.v = 5');
	my $marks = $two->query('SELECT count(*) FROM marks')->[0][0];

	do_it($one, 'INSERT INTO marks VALUES (1)');
	do_it($two, "INSERT INTO fact VALUES (45, 'skew')", 'INSERT INTO dim VALUES (45, 1000)');
	my @states = map { $_->query('COMMIT'); $_->{sqlstate} // '' } $one, $two;

	is_deeply([ sort @states ], [ '', '40001' ], "write skew is caught with skipping $skip");
	$_->query('ROLLBACK') foreach $one, $two;
	do_it($two, "DELETE FROM fact WHERE t = 'skew'", 'DELETE FROM dim WHERE v = 1000', 'DELETE FROM marks');
}

# A row in a partition that was not read matters to nobody.
do_it($_, 'SET bloomfam.join_filter_skip = on', 'BEGIN ISOLATION LEVEL SERIALIZABLE') foreach $one, $two;
my $seen = sum_of($one, 'IN (5, 6)');
$two->query('SELECT count(*) FROM marks');
do_it($one, 'INSERT INTO marks VALUES (1)');
do_it($two, "INSERT INTO fact VALUES (45, 'no skew')");
do_it($_, 'COMMIT') foreach $one, $two;
is(sum_of($one, 'IN (5, 6)'), $seen, 'and what is no skew is let be');

# ---- pages: what an index says, and a snapshot that is older ----

# How many pages were not read, with a plan of its own for the same sum.
sub pages_skipped
{
	my ($session, $condition) = @_;
	my $plan = join("\n", map { $_->[0] } @{ $session->query("EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM $table f JOIN dim d USING (k) WHERE d.v $condition") });

	return $plan =~ /Pages Skipped: (\d+) of/ ? $1 : 0;
}

# Sends a statement that will wait, and returns when it does.
sub send_and_wait
{
	my ($session, $sql) = @_;
	my $pid = $session->query('SELECT pg_backend_pid()')->[0][0];

	$session->message('Q', "$sql\0");
	syswrite($session->{socket}, $session->{out}) == length $session->{out} or die 'send';
	$session->{out} = '';
	foreach (1 .. 200)
	{
		return if @{ $three->query("SELECT 1 FROM pg_locks WHERE pid = $pid AND NOT granted") };
		select(undef, undef, undef, 0.05);
	}
	die "does not wait: $sql\n";
}

$table = 'paged';
do_it($two, 'CREATE TABLE paged (k int, t text) WITH (fillfactor = 50, autovacuum_enabled = off)',
	"INSERT INTO paged SELECT g / 100, 'old' FROM generate_series(0, 9999) g", 'VACUUM ANALYZE paged, dim');
do_it($_, "SET lock_timeout = '20s'") foreach $one, $two, $three;
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
# rows move within their pages, by HOT; an index that is made now has no entry for what they were
do_it($two, "UPDATE paged SET k = 1000 + k, t = 'new' WHERE k BETWEEN 5 AND 6", 'CREATE INDEX paged_k ON paged (k)');
is($two->query("SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'paged_k'::regclass")->[0][0], 't', 'an index that lacks rows of older snapshots');
is_as_without($one, 'IN (5, 6)', '200|old', 'is not asked by an older one');
is_as_without($two, 'IN (5, 6)', '0|', 'and a newer one does not see them');
do_it($one, 'COMMIT');
do_it($two, 'DROP INDEX paged_k');

# rows that an older snapshot sees, and a newer one does not; and the other way round
foreach my $index ('btree (k)', 'hash (k)', 'brin (k) WITH (pages_per_range = 2)')
{
	do_it($two, 'TRUNCATE paged', "INSERT INTO paged SELECT g / 100, 'old' FROM generate_series(0, 9999) g", "CREATE INDEX paged_k ON paged USING $index", 'VACUUM ANALYZE paged');
	cmp_ok(pages_skipped($one, 'IN (7, 8)'), '>', 50, "$index is asked");
	do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	do_it($two, 'DELETE FROM paged WHERE k = 7', "UPDATE paged SET k = 7, t = 'new' WHERE k = 90", "INSERT INTO paged SELECT 8, 'new' FROM generate_series(1, 500)");
	is_as_without($one, 'IN (7, 8)', '200|old', "an older snapshot finds what it sees by $index");
	is_as_without($two, 'IN (7, 8)', '700|new, old', 'as does a newer one');
	do_it($two, 'VACUUM paged');
	is_as_without($one, 'IN (7, 8)', '200|old', 'and after VACUUM');
	do_it($one, 'COMMIT');
	do_it($two, 'DROP INDEX paged_k') unless $index =~ /brin/;
}

# since PostgreSQL 16 rows move by HOT though BRIN has their column; a range that VACUUM summarises then has no word of what they were
do_it($two, 'CREATE TABLE hot (k int, t text) WITH (fillfactor = 50, autovacuum_enabled = off)', 'CREATE INDEX hot_k ON hot USING brin (k) WITH (pages_per_range = 1)',
	"INSERT INTO hot SELECT g / 100, 'old' FROM generate_series(0, 9999) g", 'ANALYZE hot');
$table = 'hot';
do_it($one, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
do_it($two, 'UPDATE hot SET k = 1000 WHERE k = 5', 'VACUUM hot');
is_as_without($one, 'IN (5, 6)', '200|old', 'rows that an older snapshot sees, and a summary does not have');
is_as_without($two, 'IN (5, 6)', '100|old', 'and a newer one does not see');
do_it($one, 'COMMIT');
$table = 'paged';

# a cursor that has begun goes on with what its snapshot sees
do_it($one, 'BEGIN', 'DECLARE c CURSOR FOR SELECT f.t FROM paged f JOIN dim d USING (k) WHERE d.v IN (20, 60)');
is(scalar @{ $one->query('FETCH 30 c') }, 30, 'a cursor begins');
do_it($two, "INSERT INTO paged SELECT 60, 'later' FROM generate_series(1, 500)", "UPDATE paged SET t = 'later' WHERE k = 60");
is_deeply($one->query('FETCH ALL c'), [ map { ['old'] } 1 .. 170 ], 'and goes on whatever is written');
do_it($one, 'COMMIT');
do_it($two, 'DELETE FROM paged WHERE k = 60', "INSERT INTO paged SELECT 60, 'old' FROM generate_series(1, 100)");

# ---- scans that begin where another one is ----

do_it($three, 'VACUUM ANALYZE paged', 'BEGIN', 'DECLARE s CURSOR FOR SELECT k FROM paged');
my %begun;
foreach (1 .. 12)
{
	do_it($three, 'FETCH 900 s');
	$begun{ $one->query('SELECT k FROM paged LIMIT 1')->[0][0] }++;
	is_as_without($one, 'IN (3, 55, 56, 99)', '400|old', "a scan that begins at another one's page, $_");
}
cmp_ok(scalar keys %begun, '>', 3, 'which is not always the same');
do_it($three, 'COMMIT');

# ---- an index that is locked ----

do_it($one, 'SET plan_cache_mode = force_generic_plan', 'PREPARE q AS SELECT count(*) FROM paged f JOIN dim d USING (k) WHERE d.v IN (3, 55)');
is($one->query('EXECUTE q')->[0][0], 200, 'a prepared plan');
do_it($two, 'BEGIN', 'REINDEX INDEX paged_k');
my $without = $one->query('EXPLAIN (ANALYZE, COSTS OFF) EXECUTE q');
ok($without && join('', map { $_->[0] } @$without) =~ /Pages Not Skipped: no index can be used now/, 'an index that is made anew is not waited for');
is(($one->query('EXECUTE q') // [ ['none'] ])->[0][0], 200, 'and all is read');
do_it($two, 'COMMIT');
is($one->query('EXECUTE q')->[0][0], 200, 'and then it is asked again');
do_it($one, 'RESET plan_cache_mode');

# ---- write skew through pages that were not read ----

# The second transaction's row is in the table before the first one reads, but in no index yet: an index that comes before waits.
do_it($two, 'DROP INDEX paged_k', q{CREATE FUNCTION waits(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN IF k = 777 THEN PERFORM pg_advisory_xact_lock(1); END IF; RETURN k; END $$}, 'CREATE INDEX paged_waits ON paged (waits(k))',
	'INSERT INTO dim VALUES (777, 777)', 'ANALYZE dim');
# a scan of the index as part of the plan would have its locks, too
do_it($one, 'SET enable_indexscan = off', 'SET enable_indexonlyscan = off', 'SET enable_bitmapscan = off');
foreach my $index ('btree (k)', 'hash (k)', 'brin (k) WITH (pages_per_range = 2)', 'maplet (k)')
{
	do_it($two, 'CREATE EXTENSION IF NOT EXISTS bloomfam', "CREATE INDEX paged_k ON paged USING $index", 'DELETE FROM marks');
	do_it($three, 'SELECT pg_advisory_lock(1)');
	do_it($_, 'BEGIN ISOLATION LEVEL SERIALIZABLE') foreach $one, $two;
	$two->query('SELECT count(*) FROM marks');
	send_and_wait($two, "INSERT INTO paged VALUES (777, 'skew')");
	cmp_ok(pages_skipped($one, '= 777'), '>', 50, "pages are not read, by $index");
	is(sum_of($one, '= 777'), '0|', "what is not committed is not seen by $index");
	do_it($one, 'INSERT INTO marks VALUES (1)');
	do_it($three, 'SELECT pg_advisory_unlock(1)');
	$two->finish;
	my @states = ($two->{sqlstate} // '');
	foreach ($one, $two)
	{
		$_->query('COMMIT');
		push @states, $_->{sqlstate} // '';
	}
	is(scalar(grep { $_ eq '40001' } @states) > 0, 1, "write skew through pages not read, by $index, is caught");
	$_->query('ROLLBACK') foreach $one, $two;
	do_it($two, 'DROP INDEX paged_k', 'DELETE FROM paged WHERE k = 777');
}

no_crash($node);
$_->close foreach $one, $two, $three;
$node->stop;
done_testing();
