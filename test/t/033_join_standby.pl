# SPDX-License-Identifier: PostgreSQL
# Property: on a standby, whose snapshots the primary does not know, a join leaves out no pages by an index that was built behind the back of its
# snapshot: of rows that were deleted before, and that the snapshot sees, such an index has no entries.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = start_node('primary', q{session_preload_libraries = 'bloomfam'}, allows_streaming => 1);

$primary->safe_psql('postgres', q{
	-- pages that are not so full that readers prune them, whose replay would wait for the snapshot
	CREATE TABLE f (n int) WITH (fillfactor = 50);
	INSERT INTO f SELECT g / 100 FROM generate_series(1, 100000) g;
	CREATE TABLE d AS SELECT 5 AS n;
	CREATE INDEX f_again ON f (n);
	VACUUM ANALYZE f, d;
});
my $standby = start_standby($primary);

my $settings = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; SET enable_nestloop = off;
	SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; SET bloomfam.join_filter = force';
my $count = 'SELECT count(*) FROM f JOIN d USING (n)';
my $explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $count";

# what a snapshot of today sees, it finds by the index
my $today = session($standby);
is(ask($today, "$settings; $count"), 100, 'a snapshot of today: all rows');
like(ask($today, $explain), qr/Pages Skipped: [1-9]/, '... and pages are skipped by the index');

foreach my $case ([ 'CREATE INDEX', 'DROP INDEX f_again', 'CREATE INDEX f_btree ON f (n)' ], [ 'REINDEX', 'REINDEX INDEX f_btree' ],
	[ 'BRIN', 'DROP INDEX f_btree', 'CREATE INDEX f_brin ON f USING brin (n) WITH (pages_per_range = 1)' ])
{
	my ($name, @commands) = @$case;

	$primary->safe_psql('postgres', 'INSERT INTO f SELECT 5 FROM generate_series(1, 100)') if $name ne 'CREATE INDEX';
	my $before = pop @commands;
	$primary->safe_psql('postgres', $_) foreach @commands;
	$primary->wait_for_catchup($standby);
	my $old = session($standby);

	is(ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'), 1, "$name: a snapshot of before");
	$primary->safe_psql('postgres', $_) foreach 'DELETE FROM f WHERE n = 5', $before;
	$primary->wait_for_catchup($standby);
	is(ask($old, "$settings; $count"), 100, '... sees the rows that were deleted since');
	my $new = session($standby);

	is(ask($new, "$settings; $count"), 0, '... and one of after does not');
	like(ask($new, $explain), qr/Pages Skipped: [1-9]/, '... which skips pages');
	kill_session($_) foreach $old, $new;
}
kill_session($today);
$standby->stop;
$primary->stop;

sub kill_session
{
	my ($session) = @_;

	$session->{in} .= "\\q\n";
	$session->{run}->finish;
}

done_testing();
