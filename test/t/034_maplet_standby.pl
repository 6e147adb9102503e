# SPDX-License-Identifier: PostgreSQL
# Property: on a standby, whose snapshots the primary does not know, the index never says of a row that a snapshot sees that it is not there, however
# late it was built; nor does maplet_check() take such a row for one that the index has lost.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = start_node('primary', '', allows_streaming => 1);

$primary->safe_psql('postgres', q{
	-- a page that is not so full that readers prune it, whose replay would wait for the snapshot
	CREATE TABLE t (n int, m int);
	INSERT INTO t SELECT g, g FROM generate_series(1, 100) g;
	CREATE INDEX t_again ON t USING maplet (n, m);
});
my $standby = start_standby($primary);

# rows are deleted and an index is built behind the back of a snapshot, which has asked nothing of the table yet: the locks of REINDEX, which are
# replayed, would wait for that
my $rows = 100;
foreach my $case ([ 't_new', 'CREATE INDEX t_new ON t USING maplet (n, m)' ], [ 't_again', 'REINDEX INDEX t_again' ],
	[ 't_last', 'CREATE INDEX t_last ON t USING maplet (n, m)', 'promotion' ])
{
	my ($index, $command, $promotion) = @$case;
	my $check = "SELECT count(*), count(*) FILTER (WHERE maplet_may_contain('$index', n, m)) FROM t";
	my $old = session($standby);

	is(ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'), 1, 'a snapshot of before');
	$primary->safe_psql('postgres', $_) foreach 'DELETE FROM t WHERE n IN (SELECT n FROM t LIMIT 10)', $command;
	$primary->wait_for_catchup($standby);
	if ($promotion)
	{
		$standby->promote;
		$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
	}
	is(ask($old, $check), "$rows|$rows", join(', ', $command, $promotion // ()) . ': the index says no of no row that the snapshot sees');
	is(ask($old, "SAVEPOINT s; SELECT maplet_check('$index', true); ROLLBACK TO s"), qq(ERROR:  index "$index" is too new for this snapshot),
		'... and maplet_check() does not say that it lacks one');
	is(ask($old, 'COMMIT'), '', 'the snapshot is gone');

	$rows -= 10;
	is(ask($old, $check), "$rows|$rows", '... the index has all rows that another one sees');
	is(ask($old, "SELECT count(*) FROM t WHERE maplet_may_contain('$index', -n, m)"), 0, '... says no again');
	is(ask($old, "SELECT maplet_check('$index', true)"), '', '... and is whole');
	$old->{in} .= "\\q\n";
	$old->{run}->finish;
}

no_crash($primary, 'primary: no backend crashed');
no_crash($standby, 'standby: no backend crashed');
$standby->stop;
$primary->stop;
done_testing();
