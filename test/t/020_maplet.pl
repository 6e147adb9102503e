# SPDX-License-Identifier: PostgreSQL
# Property: a maplet index loses no row: to concurrent inserts, deletes and VACUUM, to kills at any time, on a standby, in a replay that is
# compared with the original page by page.
#
# MAPLET_KILLS in the environment: how many times the server is killed (3).  CLANG_TESTS, LONG: for more time between.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $slower = share(0.5, 1, 2);

# a small shared_buffers makes pages go to disk and come back
my $primary = start_node('primary', "shared_buffers = 8MB\nwal_consistency_checking = all\nmax_wal_size = 128MB\nwal_keep_size = 4GB\n", allows_streaming => 1);

$primary->safe_psql('postgres', q{
	CREATE TABLE log (n bigserial PRIMARY KEY, id uuid, v int);
	CREATE INDEX log_id ON log USING maplet (id);
	CREATE TABLE event (id text, EXCLUDE USING maplet (id WITH =));
	CREATE TABLE still AS SELECT g AS n FROM generate_series(1, 30000) g;
	CREATE INDEX still_n ON still USING maplet (n);
	-- rows are found by their ids: all, and each once
	CREATE FUNCTION lost(first bigint, rows int) RETURNS bigint LANGUAGE sql
		SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off AS $$
		SELECT (SELECT count(*) FROM (SELECT n, id FROM log WHERE n BETWEEN first AND first + rows OFFSET 0) a
				WHERE NOT EXISTS (SELECT FROM log b WHERE b.id = a.id AND b.n = a.n OFFSET 0))
			+ abs((SELECT count(*) FROM log WHERE id = ANY (ARRAY(SELECT id FROM log WHERE n BETWEEN first AND first + rows))
					AND n + 0 BETWEEN first AND first + rows)
				- (SELECT count(*) FROM log WHERE n BETWEEN first AND first + rows)) $$;
});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

my %script = (
	insert => q{INSERT INTO log (id, v) SELECT gen_random_uuid(), g FROM generate_series(1, 100) g;},
	abort => q{BEGIN; SAVEPOINT a; INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 20); ROLLBACK TO a;
		INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 20); COMMIT;},
	hot => q{INSERT INTO log (id) SELECT md5((random() * 5)::int::text)::uuid FROM generate_series(1, 20);},
	change => q{DELETE FROM log WHERE n BETWEEN :r * (SELECT max(n) FROM log) / 1000000 AND :r * (SELECT max(n) FROM log) / 1000000 + 100;
		UPDATE log SET id = gen_random_uuid() WHERE n BETWEEN :s * (SELECT max(n) FROM log) / 1000000 AND :s * (SELECT max(n) FROM log) / 1000000 + 20;
		UPDATE log SET v = v + 1 WHERE n BETWEEN :s * (SELECT max(n) FROM log) / 1000000 AND :s * (SELECT max(n) FROM log) / 1000000 + 20;},
	read => q{SELECT 1 / (lost(:r * (SELECT coalesce(max(n), 0) FROM log) / 1000000, 50) = 0)::int;
		SELECT 1 / (lost((SELECT coalesce(max(n), 0) FROM log) - 50, 50) = 0)::int;},
	event => q{INSERT INTO event SELECT 'e' || x FROM generate_series(:r / 20, :r / 20 + 3) x ON CONFLICT DO NOTHING;},
	vacuum => q{VACUUM log; SELECT maplet_check('log_id', true);},
	build => q{BEGIN; SELECT pg_advisory_xact_lock(1); DROP INDEX still_n; CREATE INDEX still_n ON still USING maplet (n); COMMIT;},
	reindex => q{SELECT maplet_merge('log_id'); SELECT pg_sleep(0.5);});
my @files;

foreach my $name (sort keys %script)
{
	my $file = $primary->basedir . "/$name.sql";
	my $weight = { insert => 8, vacuum => 1, build => 1, reindex => 1 }->{$name} // 3;

	# two of these at once would wait for each other's locks all the time
	append_to_file($file, "\\set r random(1, 1000000)\n\\set s random(1, 1000000)\n" . join('', map { s/\s*\n\s*/ /gr =~ s/^\s*//r =~ s/$/\n/r } split /(?<=;)\s*\n/, $script{$name}));
	push @files, '-f', "$file\@$weight";
}

sub work
{
	my ($seconds, %more) = @_;
	my $log = $primary->basedir . '/pgbench.log';

	return IPC::Run::start([ 'pgbench', '-n', '-M', 'simple', '-c', 8, '-T', $seconds, '-h', $primary->host, '-p', $primary->port, @files, 'postgres' ],
		'>', $log, '2>', "$log.err");
}

sub check
{
	my ($node, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', q{SELECT maplet_check('log_id', true), maplet_check('event_id_excl', true), maplet_check('still_n', true)});

	is($err, '', "$name: the indexes are whole, and have every row");
	is($node->safe_psql('postgres', q{SELECT count(*) - count(DISTINCT id) FROM event}), '0', "$name: events are there once");
	return;
}

my $run = work(4 * $slower);
$run->finish;
unlike(slurp_file($primary->basedir . '/pgbench.log.err'), qr/ERROR/, 'readers beside writers find every row');
check($primary, 'primary');
cmp_ok($primary->safe_psql('postgres', q{SELECT runs FROM maplet_info('log_id')}), '<', 40, 'runs are few');

$primary->wait_for_catchup($standby);
check($standby, 'standby');
my ($status, $out, $err) = $standby->psql('postgres', q{SELECT maplet_merge('log_id')});
like($err, qr/cannot execute maplet_merge\(\) during recovery/, 'a standby merges nothing');

foreach my $round (1 .. $ENV{MAPLET_KILLS} // 3)
{
	$run = work(20);
	PostgreSQL::Test::Utils::system_or_bail('sleep', $slower * (1 + rand(1)));
	$primary->stop('immediate');
	$run->finish;
	$primary->start;
	unlike(slurp_file($primary->basedir . '/pgbench.log.err'), qr/division by zero|damaged|lacks a row/, "before crash $round all rows were found");
	check($primary, "after crash $round");
}

# look-ups on the standby while it replays flushes and merges
$run = work(4 * $slower);
my $lost = 0;
foreach (1 .. 20)
{
	$lost += $standby->safe_psql('postgres', q{SELECT sum(lost(f, 100)) FROM (SELECT (random() * max(n))::bigint FROM log, generate_series(1, 5) GROUP BY generate_series) s(f)});
}
is($lost, 0, 'the standby finds every row meanwhile');
$run->finish;
$primary->wait_for_catchup($standby);
check($standby, 'standby at last');

# unlogged: as empty after a crash as the table
$primary->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE gone (n int);
	CREATE INDEX gone_n ON gone USING maplet (n);
	INSERT INTO gone SELECT generate_series(1, 10000);
});
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres', q{SELECT entries FROM maplet_info('gone_n')}), '0', 'an unlogged index is empty after a crash');
$primary->safe_psql('postgres', q{INSERT INTO gone SELECT generate_series(1, 10000)});
is($primary->safe_psql('postgres', q{SELECT maplet_check('gone_n', true)}), '', 'and goes on');

# pages that are damaged
sub damage
{
	my ($name, $block, $offset, $bytes) = @_;
	my $path = $primary->data_dir . '/' . $primary->safe_psql('postgres', q{SELECT pg_relation_filepath('hurt_n')});

	$primary->stop;
	open my $file, '+<', $path or die;
	binmode $file;
	seek $file, $block * 8192 + $offset, 0;
	print $file $bytes;
	close $file;
	$primary->start;
	foreach my $sql (q{SET enable_seqscan = off; SELECT count(*) FROM (SELECT n FROM hurt) a, LATERAL (SELECT FROM hurt b WHERE b.n = a.n OFFSET 0) c},
		q{SELECT maplet_check('hurt_n', true)}, q{INSERT INTO hurt SELECT generate_series(1, 5000)}, q{VACUUM hurt}, q{SELECT maplet_merge('hurt_n')})
	{
		my ($status, $out, $err) = $primary->psql('postgres', $sql);

		# whether it notices depends on what it reads
		ok($status == 0 || $err =~ /damaged|lacks a row|could not|invalid page|has format/, "$name: $sql gives an answer or an error") or diag($err);
	}
	my ($status, $out, $err) = $primary->psql('postgres', q{SELECT maplet_check('hurt_n', true)});
	like($err, qr/damaged|lacks a row|invalid page|has format/, "$name: maplet_check() notices");
	$primary->safe_psql('postgres', q{REINDEX INDEX hurt_n; SELECT maplet_check('hurt_n', true)});
	return;
}

$primary->safe_psql('postgres', q{CREATE TABLE hurt (n int); INSERT INTO hurt SELECT generate_series(1, 30000); CREATE INDEX hurt_n ON hurt USING maplet (n)});
my $first_run_block = 1 + 16;
damage('metapage zeroed', 0, 0, "\0" x 8192);
damage('metapage random', 0, 24, join('', map { chr(int(rand(256))) } 1 .. 6000));
damage('tail zeroed', 1, 0, "\0" x 8192);
damage('run zeroed', $first_run_block + 4, 0, "\0" x 8192);
damage('run random', $first_run_block + 4, 24, join('', map { chr(int(rand(256))) } 1 .. 8000));

no_crash($primary, 'primary: no backend crashed');
no_crash($standby, 'standby: no backend crashed');
$standby->stop;
$primary->stop;
done_testing();
