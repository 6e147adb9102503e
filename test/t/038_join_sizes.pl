# SPDX-License-Identifier: PostgreSQL
# Property: sizes of joins that come from samples depend on tables and their statistics alone: the same plan in each new session, and beside others.
# What is sampled is what the query's snapshot sees, and is seen by nobody who has no right to it.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', q{
	session_preload_libraries = 'bloomfam'
	max_parallel_workers_per_gather = 0
	log_min_messages = log
}, allows_streaming => 1);

$node->safe_psql('postgres', q{
	CREATE TABLE days AS SELECT g AS id, g / 366 AS year, repeat('a line ', 5) AS line FROM generate_series(0, 36524) g;
	ALTER TABLE days ADD PRIMARY KEY (id);
	CREATE TABLE people AS SELECT g AS id, (hashint4(g) & 1023) % 10 AS state FROM generate_series(1, 3000) g;
	CREATE TABLE facts AS SELECT g AS id, 18000 + (hashint8(g) & 1073741823) % 1830 AS day, 1 + (hashint8(g + 1) & 1073741823) % 3000 AS person
		FROM generate_series(1, 120000::bigint) g;
	VACUUM ANALYZE;
});
my $query = 'SELECT 1 FROM facts f JOIN days d ON d.id = f.day JOIN people p ON p.id = f.person WHERE d.year = 50 AND p.state = 7';
my $explain = "EXPLAIN (VERBOSE) $query";

# the same in new sessions, of which some have planned other things before, and while others scan the table
my $first = $node->safe_psql('postgres', $explain);
like($first, qr/f\.day = d\.id: Fraction: .*Planned Fraction: .*  Index: days_pkey/, 'the days are sampled, by their index');
like($first, qr/f\.person = p\.id: Fraction: (?!.*Index)/, 'the people are sampled, by reading');
my $scans = session($node);
my $sessions = $ENV{LONG} ? 100 : 8;
my $other = 0;

foreach my $i (1 .. $sessions)
{
	my $before = $i % 3 == 1 ? "SELECT count(*) FROM people;" : $i % 3 == 2 ? "EXPLAIN $query AND f.id > 5; $explain;" : '';

	ask($scans, 'SELECT count(*) FROM people WHERE id < 0');
	my $plan = $node->safe_psql('postgres', "\\o /dev/null\n$before\n\\o\n$explain");

	$other++ if $plan ne $first;
}
is($other, 0, "$sessions new sessions plan the same");

# the fraction of the facts that the plan says have a match
sub fraction_of
{
	my ($session) = @_;

	return ask($session, $explain) =~ /f\.day = d\.id: Fraction: ([0-9.]+)%/ ? $1 : 'none';
}

# changes are seen as soon as they are there
my $stays = session($node);
my $before = fraction_of($stays);
ok($before > 10 && $before < 30, "a fifth has a match: $before");
is(fraction_of($stays), $before, 'the same again');
$node->safe_psql('postgres', 'UPDATE days SET year = 50 WHERE id >= 18000; ANALYZE days');
ok(fraction_of($stays) > 90, 'days were changed and analyzed: all have a match');
$node->safe_psql('postgres', 'UPDATE facts SET day = day - 17000; ANALYZE facts');
ok(fraction_of($stays) < 5, 'facts were changed and analyzed: none has');
# a change of a session's own is seen, and nobody else's plans by it
is(ask($stays, 'BEGIN; UPDATE days SET year = 50'), '', 'a transaction changes days');
ok(fraction_of($stays) > 90, 'it sees them');
ok(ask($stays, "ROLLBACK; $explain") =~ /f\.day = d\.id: Fraction: ([0-9.]+)%/ && $1 < 5, 'it was undone');
# an old snapshot sees the rows as they were
$node->safe_psql('postgres', 'UPDATE facts SET day = day + 17000; ANALYZE facts');
my $old = session($node);
ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM people WHERE id < 0');
$node->safe_psql('postgres', 'UPDATE days SET year = 51 WHERE id >= 18000; ANALYZE days');
ok(fraction_of($old) > 90, 'an old snapshot sees the days as they were');
ask($old, 'COMMIT');
ok(fraction_of($old) < 5, '... and afterwards those that are there now');
$node->safe_psql('postgres', 'UPDATE days SET year = 50 WHERE id >= 18000; UPDATE facts SET day = day - 17000; ANALYZE days, facts');
# beside DDL: an index that is there no more, a table that has another column, a table that was dropped
$node->safe_psql('postgres', 'ALTER TABLE days DROP CONSTRAINT days_pkey');
like(ask($stays, $explain), qr/f\.day = d\.id: Not Sampled: the searched table is not small, and has no index on the key/, 'the index was dropped');
$node->safe_psql('postgres', 'ALTER TABLE days ALTER id TYPE bigint; ALTER TABLE days ADD PRIMARY KEY (id); ANALYZE days');
ok(fraction_of($stays) < 5, 'another type of key, and another index');
# a prepared statement goes on when its plan is made anew
ask($stays, "PREPARE p(int) AS SELECT count(*) FROM facts f JOIN days d ON d.id = f.day WHERE d.year < \$1");
is(ask($stays, 'EXECUTE p(3)'), ask($stays, 'EXECUTE p(3)'), 'a prepared statement') for 1 .. 4;

# another session's temporary table is not read for a plan: the query itself would fail, a plan need not
my $owner = session($node);
my $schema = ask($owner, 'CREATE TEMP TABLE mine AS SELECT * FROM people; ANALYZE mine; SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()');
like(ask($stays, "EXPLAIN (VERBOSE) SELECT 1 FROM facts f JOIN $schema.mine p ON p.id = f.person WHERE p.state = 7"), qr/Not Sampled: a relation is not a table whose rows can be read here/,
	"another session's temporary table is left");

# the log says what EXPLAIN says
my $start = -s $node->logfile;
$node->safe_psql('postgres', "SET bloomfam.join_filter_log = on; $query LIMIT 0");
like(substr(slurp_file($node->logfile), $start), qr/LOG: .*size of the join on f\.person = p\.id\n.*DETAIL:  Fraction: /, 'the log tells');

# rights are asked each time: of either side's key, of conditions, and where the same was found before
$node->safe_psql('postgres', q{
	CREATE ROLE reader;
	GRANT SELECT (id, year) ON days TO reader;
	GRANT SELECT (day) ON facts TO reader;
});

# What the log says when the reader plans a query, and the query's own error.
sub as_reader
{
	my ($from) = @_;
	my $start = -s $node->logfile;
	my ($code, $out, $err) = $node->psql('postgres',
		"SET client_min_messages = log; SET bloomfam.join_filter_log = on; SET ROLE reader; PREPARE q AS SELECT count(*) FROM $from; EXPLAIN EXECUTE q");

	my ($said) = substr(slurp_file($node->logfile), $start) =~ /DETAIL:  (Not Sampled: [^\n]*|Fraction)/;
	my ($error) = $err =~ /(permission denied.*)/;

	# who calls a function of somebody's that may read more would see of it
	unlike($err, qr/size of the join/, '... which only the server says');

	return $error ? ($said, $error) : $said;
}
is_deeply([ as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 50') ], ['Fraction'], 'a reader of these columns');
is_deeply([ as_reader("facts f JOIN days d ON d.id = f.day WHERE d.line = 'x'") ], [ 'Not Sampled: there is no right to select', 'permission denied for table days' ],
	'the column of a condition');
is_deeply([ as_reader('facts f JOIN days d ON d.id = f.person WHERE d.year = 50') ], [ 'Not Sampled: there is no right to select', 'permission denied for table facts' ],
	'the key of the large table');
is_deeply([ as_reader('facts f JOIN days d ON d.id = f.day AND d.year = f.person') ], [ 'Not Sampled: there is no right to select', 'permission denied for table facts' ],
	'the second column of a key, of which rows would be read');
$node->safe_psql('postgres', 'GRANT SELECT (person) ON facts TO reader');
is_deeply([ as_reader('facts f JOIN days d ON d.id = f.day AND d.year = f.person') ], ['Fraction'], '... and with the right to it');
$node->safe_psql('postgres', 'REVOKE SELECT (id, year) ON days FROM reader; GRANT INSERT, UPDATE, DELETE ON days TO reader');
is_deeply([ as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 50') ], [ 'Not Sampled: there is no right to select', 'permission denied for table days' ],
	'who may write, but not read');

# on a standby, where nothing can be written
$node->safe_psql('postgres', 'ANALYZE');
my $standby = start_standby($node);
$node->wait_for_catchup($standby);
my $there = $standby->safe_psql('postgres', $explain);
is($there, $node->safe_psql('postgres', $explain), 'a standby plans as its primary does');

# errors of data, again and again: they are caught, and leave nothing behind
my $memory = q{SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name NOT LIKE '%Cache%'};
my $wrong = 'SELECT 1 FROM facts f JOIN people p ON p.id = f.person WHERE 10 / (p.state - 7) > 0';
like(ask($stays, "EXPLAIN (VERBOSE) $wrong"), qr/f\.person = p\.id: Fraction: \d/, 'a condition that fails for some rows is sampled');
ask($stays, "EXPLAIN (VERBOSE) $wrong") for 1 .. 50;
$before = ask($stays, $memory);
ask($stays, "EXPLAIN (VERBOSE) $wrong") for 1 .. 100;
cmp_ok(ask($stays, $memory), '<', $before + 100000, '... and takes no memory for good');
like(ask($stays, "$wrong LIMIT 10000000"), qr/division by zero/, 'the query itself fails');
like(ask($stays, $explain), qr/f\.person = p\.id: Fraction: \d/, '... and the next one is sampled again');
no_crash($node);
no_crash($standby);
done_testing();
