# SPDX-License-Identifier: PostgreSQL
# Property: a flush of a maplet index that has stopped half way misses no row and keeps no dead one: look-ups, a crash, VACUUM, a standby that is
# promoted; and no insert does more than a small piece of a flush or a merge.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $node = start_node('primary', "max_wal_size = 2GB\n", allows_streaming => 1);

# so many rows that tails have their full size, and are flushed in many steps
$node->safe_psql('postgres', q{
	CREATE TABLE log (n bigserial PRIMARY KEY, id uuid);
	INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 200000);
	CREATE INDEX log_id ON log USING maplet (id);
});
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;

# src/maplet/FORMAT.md: is a tail to be flushed, and how many of the run's main pages are written
sub flush_state
{
	my $meta = pack 'H*', $node->safe_psql('postgres', q{CHECKPOINT; SELECT encode(pg_read_binary_file(pg_relation_filepath('log_id'), 24, 1128), 'hex')});
	my ($pending) = unpack 'x62 S', $meta;
	my ($id, $pages, $written) = unpack 'x232 Q x24 L x68 L', $meta;

	return $pending ? ($id ? "$written of $pages" : 'planned') : 'none';
}

sub insert
{
	my ($rows, $on) = @_;

	($on // $node)->safe_psql('postgres', "INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, $rows)");
	return;
}

# Inserts until a flush has written some pages, but not all.
sub go_half_way
{
	my ($name) = @_;
	my $state;

	foreach (1 .. 200)
	{
		insert(2000);
		$state = flush_state();
		last if $state =~ /^(\d+) of (\d+)/ && $1 > $2 / 4;
	}
	like($state, qr/^[1-9]\d* of/, "$name: pages of the flush that are written: $state");
	return;
}

sub check
{
	my ($on, $name) = @_;

	is($on->safe_psql('postgres', q{
		SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off;
		SELECT count(*) FROM (SELECT n, id FROM log ORDER BY n DESC LIMIT 100000) a
		WHERE NOT EXISTS (SELECT FROM log b WHERE b.id = a.id AND b.n = a.n OFFSET 0)}), '0', "$name: every row is found");
	is($on->safe_psql('postgres', q{SELECT maplet_check('log_id', true)}), '', "$name: the index is whole");
	return;
}

go_half_way('look-ups');
check($node, 'half way');

$node->stop('immediate');
$node->start;
like(flush_state(), qr/^[1-9]\d* of/, 'it is half way after a crash');
check($node, 'after a crash');
insert(40000);
is(flush_state(), 'none', 'it has ended');
check($node, 'at its end');

# dead rows in the part that is written, and in the part that is not
go_half_way('VACUUM');
$node->safe_psql('postgres', q{DELETE FROM log WHERE n % 3 = 0});
$node->safe_psql('postgres', q{VACUUM log});
is($node->safe_psql('postgres', q{SELECT entries - (SELECT count(*) FROM log) FROM maplet_info('log_id')}), '0', 'VACUUM leaves no dead place');
check($node, 'after VACUUM');
insert(20000);
check($node, 'with new rows where the dead ones were');

# all rows of the tail are dead
go_half_way('no row is left');
$node->safe_psql('postgres', q{DELETE FROM log; VACUUM log});
is($node->safe_psql('postgres', q{SELECT entries, runs, tail_entries FROM maplet_info('log_id')}), '0|0|0', 'no row is left');
insert(250000);
check($node, 'and it goes on');

go_half_way('standby');
$node->wait_for_catchup($standby);
check($standby, 'standby');
$standby->promote;
insert(30000, $standby);
check($standby, 'promoted');
no_crash($standby, 'standby: no backend crashed');
$standby->stop;

# what an insert does is bounded: alone it writes all the WAL there is
my ($bytes, $ms) = split /\|/, $node->safe_psql('postgres', q{
	CREATE FUNCTION most(rows int, OUT bytes numeric, OUT ms numeric) LANGUAGE plpgsql AS $$
	DECLARE
		lsn pg_lsn := pg_current_wal_insert_lsn();
		at timestamptz := clock_timestamp();
		next_lsn pg_lsn;
		next_at timestamptz;
	BEGIN
		bytes := 0;
		ms := 0;
		FOR i IN 1 .. rows LOOP
			INSERT INTO log (id) VALUES (gen_random_uuid());
			next_lsn := pg_current_wal_insert_lsn();
			next_at := clock_timestamp();
			bytes := greatest(bytes, next_lsn - lsn);
			ms := greatest(ms, extract(epoch FROM next_at - at) * 1000);
			lsn := next_lsn;
			at := next_at;
		END LOOP;
	END $$;
	CHECKPOINT;
	SELECT * FROM most(150000)});
note("the longest of 150000 inserts of a row: $ms ms, $bytes bytes of WAL");
cmp_ok($bytes, '<=', 20 * 8192, "no insert writes more than 20 pages; a whole tail would be 42");
check($node, 'row by row');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
