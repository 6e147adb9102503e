# SPDX-License-Identifier: PostgreSQL
# Property: a partition that is a foreign table, and in which no row can match, is not read: the other server hears of no query.  The rows are those
# without filters.

use strict;
use warnings;

use BloomfamTest;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', q{
	session_preload_libraries = 'bloomfam'
	max_parallel_workers_per_gather = 0
	enable_nestloop = off
	enable_mergejoin = off
});
plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';

my ($host, $port) = ($node->host, $node->port);
my $file = $node->basedir . '/rows.csv';
my $has_files = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'});

# The partitions 1 to 4 of each table are there, each with 25 keys and four rows of each.
append_to_file($file, join('', map { ($_ % 25 + 125) . ",file\n" } 0 .. 99));
$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', q{
	CREATE EXTENSION bloomfam;
	SELECT format('CREATE TABLE %s_%s AS SELECT g %% 25 + %2$s * 25 AS k, %2$L AS t FROM generate_series(0, 99) g', name, i)
		FROM unnest(ARRAY['range', 'list', 'async']) name, generate_series(1, 4) i \gexec
	CREATE TABLE here (k int) PARTITION BY HASH (k);
	SELECT format('CREATE TABLE hash_%s PARTITION OF here FOR VALUES WITH (MODULUS 4, REMAINDER %s)', i, i - 1) FROM generate_series(1, 4) i \gexec
	ALTER TABLE here ADD t text;
	INSERT INTO here SELECT g % 100 + 25, 'hash' FROM generate_series(0, 399) g;
	ANALYZE;
	ALTER DATABASE far SET log_statement = 'all';
});
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far');
	CREATE SERVER filtering FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'bloomfam');
	CREATE SERVER async FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', async_capable 'true');
	SELECT format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I', srvname) FROM pg_foreign_server \\gexec
	CREATE TABLE by_range (k int, t text) PARTITION BY RANGE (k);
	CREATE TABLE range_0 PARTITION OF by_range FOR VALUES FROM (0) TO (25);
	INSERT INTO range_0 SELECT g % 25, '0' FROM generate_series(0, 99) g;
	CREATE TABLE by_list (k int, t text) PARTITION BY LIST (k);
	CREATE TABLE by_hash (k int, t text) PARTITION BY HASH (k);
	CREATE TABLE by_async (k int, t text) PARTITION BY RANGE (k);
	SELECT format('CREATE FOREIGN TABLE range_%s PARTITION OF by_range FOR VALUES FROM (%s) TO (%s) SERVER %I', i, i * 25, i * 25 + 25,
			CASE WHEN i = 3 THEN 'filtering' ELSE 'far' END),
		format('CREATE FOREIGN TABLE async_%s PARTITION OF by_async FOR VALUES FROM (%s) TO (%s) SERVER async', i, i * 25, i * 25 + 25),
		format('CREATE FOREIGN TABLE list_%s PARTITION OF by_list FOR VALUES IN (%s) SERVER far', i,
			(SELECT string_agg(v::text, ',') FROM generate_series(i * 25, i * 25 + 24) v)),
		format('CREATE FOREIGN TABLE hash_%s PARTITION OF by_hash FOR VALUES WITH (MODULUS 4, REMAINDER %s) SERVER far', i, i - 1)
		FROM generate_series(1, 4) i \\gexec
	CREATE TABLE dim AS SELECT g AS k, g AS v FROM generate_series(0, 149) g;
	ANALYZE;
});
$node->safe_psql('postgres', qq{
	CREATE EXTENSION file_fdw;
	CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE TABLE by_file (k int, t text) PARTITION BY RANGE (k);
	CREATE TABLE file_0 PARTITION OF by_file FOR VALUES FROM (0) TO (125);
	INSERT INTO file_0 SELECT g % 25, 'here' FROM generate_series(0, 99) g;
	CREATE FOREIGN TABLE file_1 PARTITION OF by_file FOR VALUES FROM (125) TO (150) SERVER files OPTIONS (filename '$file', format 'csv');
	ANALYZE by_file;
}) if $has_files;

# With skipping, with filters that skip nothing, without filters.
my @modes = ('force', 'force; SET bloomfam.join_filter_skip = off', 'off');

sub run
{
	my ($mode, $sql) = @_;

	return $node->safe_psql('postgres', "SET bloomfam.join_filter = $mode; $sql");
}

# What the other server was asked for by a statement: its tables, in order.
sub asked
{
	my ($sql, $mode) = @_;
	my $at = -s $node->logfile;

	run($mode // $modes[0], $sql);
	return join(' ', sort map { /DECLARE c\d+ CURSOR FOR.* FROM public\.(\w+)/s ? $1 : () } split /^(?=\S)/m, slurp_file($node->logfile, $at));
}

# The names of tables, and whether they were read.
sub scans
{
	my ($sql) = @_;
	my @todo = map { $_->{Plan} } @{ decode_json(run($modes[0], "EXPLAIN (ANALYZE, FORMAT JSON) $sql")) };
	my %read;

	while (my $plan = shift @todo)
	{
		$read{ $plan->{'Relation Name'} } = $plan->{'Actual Loops'} > 0 if $plan->{'Node Type'} =~ /^(?:Foreign|Seq) Scan$/;
		push @todo, @{ $plan->{Plans} // [] };
	}
	delete $read{dim};
	return join(' ', map { $read{$_} ? $_ : "($_)" } sort keys %read);
}

sub same_rows
{
	my ($sql, $rows, $name) = @_;

	is(run($_, $sql), $rows, "$name: the same rows, $_") foreach @modes;
	return;
}

sub joined
{
	my ($table, $condition) = @_;
	return "SELECT count(*), min(f.k), max(f.k) FROM $table f JOIN dim d USING (k) WHERE d.v $condition";
}

# EXPLAIN names all, and reads those that can match: the first one may be asked for a row before the keys are known
my $sql = joined('by_range', 'IN (80, 81)');
like(scans($sql), qr/^\(?range_0\)? \(range_1\) \(range_2\) range_3 \(range_4\)$/, 'range: one partition is read');
is(asked($sql), 'range_3', 'the other server is asked for that one');
is(asked($sql, $modes[1]), 'range_1 range_2 range_3 range_4', 'and for all if none are to be skipped');
same_rows($sql, '8|80|81', 'range');

$sql = joined('by_range', 'IN (30, 110)');
is(asked($sql), 'range_1 range_4', 'two of them');
same_rows($sql, '8|30|110', 'two partitions');

$sql = joined('by_range', 'IN (7)');
is(asked($sql), '', 'a partition that is here: the other server hears of nothing');
same_rows($sql, '4|7|7', 'the one that is here');

$sql = joined('by_range', '> 1000');
is(asked($sql), '', 'no key: neither');
same_rows($sql, '0||', 'no key');

SKIP:
{
	skip 'file_fdw is not installed', 8 unless $has_files;
	$sql = joined('by_file', 'IN (5, 6)');
	is(scans($sql), 'file_0 (file_1)', 'a file is not read');
	same_rows($sql, '8|5|6', 'without the file');
	$sql = joined('by_file', 'IN (130, 131)');
	like(scans($sql), qr/^\(?file_0\)? file_1$/, 'but where its keys are wanted');
	same_rows($sql, '8|130|131', 'with the file');
}

# the first partition of these is foreign itself
$sql = joined('by_list', 'IN (60, 61)');
like(asked($sql), qr/^(?:list_1 )?list_2$/, 'list');
like(scans($sql), qr/^\(?list_1\)? list_2 \(list_3\) \(list_4\)$/, 'list: never executed');
same_rows($sql, '8|60|61', 'list');
$sql = joined('by_hash', '= 60');
cmp_ok(scalar(split / /, asked($sql)), '<=', 2, 'hash: of four, one and perhaps the first are asked for');
same_rows($sql, '4|60|60', 'hash');

# a plan that was made before
is(asked("SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM by_range f JOIN dim d USING (k) WHERE d.v + 0 = \$1; EXECUTE p (80); EXECUTE p (40)"),
	'range_1 range_3', 'a prepared plan asks for those of its keys');

# what is scanned asynchronously has no node on top that could skip it
$sql = joined('by_async', 'IN (80, 81)');
is(asked($sql), 'async_1 async_2 async_3 async_4', 'asynchronous scans begin all at once');
same_rows($sql, '8|80|81', 'asynchronous');

# partitions joined one by one, on the other server
$sql = 'SET enable_partitionwise_join = on; SET enable_partitionwise_aggregate = on; '
  . 'SELECT count(*), min(f.k) FROM by_list f JOIN by_list g USING (k) JOIN dim d USING (k) WHERE d.v IN (60, 61)';
same_rows($sql, '32|60', 'partitions joined there');

# rows that change
foreach my $change ("UPDATE by_range f SET t = 'new' FROM dim d WHERE f.k = d.k AND d.v IN (80, 81)", 'DELETE FROM by_range f USING dim d WHERE f.k = d.k AND d.v IN (10, 80)')
{
	my $of_all = 'SELECT count(*), count(*) FILTER (WHERE t = $$new$$), sum(k) FROM by_range';
	my @after = map { run($_, "BEGIN; $change; $of_all; ROLLBACK") } @modes;

	isnt($after[0], run('off', $of_all), "$change: changes rows");
	is($after[$_], $after[2], "$change: the same, $modes[$_]") foreach 0, 1;
}

no_crash($node);
$node->stop;
done_testing();
