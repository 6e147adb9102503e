# SPDX-License-Identifier: PostgreSQL
# Property: of a stream with repeats, written by many at once and cut off by a crash, no key is taken for new twice, and none is lost but for
# the filters' FPR.

use strict;
use warnings;

use FindBin;
use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $writers = 8;
my $batches = 160;
my $batch = 500;

my $node = start_node('dedup', "max_connections = 40\ndeadlock_timeout = 100ms\nlog_lock_waits = on");

# The recipe of docs/maplet.md, with a queue of batches: who takes one locks it, and it goes with the commit.
my ($recipe) = slurp_file("$FindBin::Bin/../sql/include/take_new.sql") =~ /(CREATE TABLE shard \(shard int PRIMARY KEY\);.*?\nEND \$\$;\n)/s;
ok($recipe, 'the documented recipe is found');
$node->safe_psql('postgres', $recipe);
$node->safe_psql('postgres', qq{
	CREATE TABLE click (id bigint, batch int);
	-- three ids out of ten have been there before; the batches alternate between two hours
	CREATE TABLE queue AS
	SELECT b AS batch, timestamptz '2026-11-21 10:59' + (b % 2) * interval '2 minutes' AS at,
		(SELECT array_agg(CASE WHEN abs(hashint8(b * $batch + x)) % 10 < 3 THEN abs(hashint8(b * $batch + x)::bigint) % ($batches * $batch) ELSE b * $batch + x END::bigint)
		 FROM generate_series(1, $batch) x) AS ids
	FROM generate_series(0, $batches - 1) b;
	ALTER TABLE queue ADD PRIMARY KEY (batch);
	CREATE TABLE truth AS SELECT DISTINCT id FROM queue, unnest(ids) id;
	CREATE FUNCTION work() RETURNS int LANGUAGE plpgsql AS \$\$
	DECLARE
		q record;
	BEGIN
		SELECT * INTO q FROM queue ORDER BY batch FOR UPDATE SKIP LOCKED LIMIT 1;
		IF NOT FOUND THEN
			RETURN 0;
		END IF;
		INSERT INTO click SELECT id, q.batch FROM unnest(take_new(q.at, q.ids)) id;
		DELETE FROM queue WHERE batch = q.batch;
		RETURN 1;
	END \$\$;
});

sub start_writers
{
	my @handles;

	for my $i (1 .. $writers)
	{
		my ($out, $err) = ('', '');
		push @handles, IPC::Run::start(
			[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET synchronous_commit = on',
			  '-c', 'DO $$ BEGIN WHILE work() > 0 LOOP COMMIT; END LOOP; END $$' ],
			'<', \undef, '>', \$out, '2>', \$err);
	}
	return @handles;
}

# All start; the server is killed when a third of the batches is through.
my @handles = start_writers();
my $left = $batches;
for (1 .. 600)
{
	$left = $node->safe_psql('postgres', 'SELECT count(*) FROM queue');
	last if $left <= $batches * 2 / 3;
	usleep(20_000);
}
$node->stop('immediate');
$_->finish foreach @handles;
$node->start;
$left = $node->safe_psql('postgres', 'SELECT count(*) FROM queue');
cmp_ok($left, '>', 0, "the crash came in the middle ($left of $batches batches left)");

@handles = start_writers();
ok((!grep { !$_->finish } @handles), 'the writers come to their end');
is($node->safe_psql('postgres', 'SELECT count(*) FROM queue'), 0, 'every batch is through');

is($node->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM click'), 0, 'no key is new twice');
is($node->safe_psql('postgres', 'SELECT count(*) FROM click WHERE id NOT IN (SELECT id FROM truth)'), 0, 'nothing is made up');
my $lost = $node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT id FROM truth EXCEPT SELECT id FROM click) l');
# at 1e-9 one in ten thousand runs would lose one
cmp_ok($lost, '<=', 1, "$lost of " . $node->safe_psql('postgres', 'SELECT count(*) FROM truth') . ' keys are taken for repeats');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM truth'), '<', $batches * $batch * 0.9, 'there were repeats');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT hour) FROM seen_hour'), 2, 'two hours were written');
is(scalar(grep { /deadlock detected/ } split /\n/, slurp_file($node->logfile)), 0, 'no deadlock');

$node->stop;
done_testing();
