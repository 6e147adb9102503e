# SPDX-License-Identifier: PostgreSQL
# Property: maplet indexes beside what servers do by themselves: autovacuum that nobody waits for and nobody cancels, recovery to a point in time;
# and on pages that stand where others should: an error, never a row less.
#
# LONG or CLANG_TESTS in the environment: autovacuum beside writers for longer.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# 1. autovacuum beside writers, cancelled by whoever waits for it for 10 ms
my $node = start_node('primary', <<'CONF', allows_streaming => 1, has_archiving => 1);
autovacuum = on
autovacuum_naptime = 1
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_threshold = 500
autovacuum_vacuum_insert_threshold = 2000
autovacuum_vacuum_insert_scale_factor = 0
autovacuum_vacuum_cost_delay = 0
log_autovacuum_min_duration = 0
deadlock_timeout = 10ms
CONF
$node->safe_psql('postgres', q{
	CREATE TABLE log (n bigserial PRIMARY KEY, id uuid);
	CREATE INDEX log_id ON log USING maplet (id);
});
my $script = $node->basedir . '/write.sql';
append_to_file($script, <<'SQL');
INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 200);
DELETE FROM log WHERE n IN (SELECT n FROM log WHERE n > (SELECT max(n) FROM log) - 3000 AND n % 7 = 0 LIMIT 20 FOR UPDATE SKIP LOCKED);
SQL
$node->backup('backup');
$node->command_ok([ 'pgbench', '-n', '-c', 8, '-T', share(2, 4, 8), '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ], 'eight writers');
$node->poll_query_until('postgres', q{SELECT autovacuum_count > 0 FROM pg_stat_user_tables WHERE relname = 'log'}) or die 'no autovacuum';
my $log = slurp_file($node->logfile);
like($log, qr/automatic vacuum of table "postgres.public.log"/, 'autovacuum went through');
unlike($log, qr/canceling autovacuum task/, 'nobody had to cancel it');
cmp_ok($node->safe_psql('postgres', q{SELECT runs FROM maplet_info('log_id')}), '<', 40, 'runs are few');
is($node->safe_psql('postgres', q{SELECT maplet_check('log_id', true)}), '', 'the index is whole');

# 2. recovery to a point in time, between what came before and after
my $rows = $node->safe_psql('postgres', q{SELECT count(*) FROM log});
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('here')});
$node->safe_psql('postgres', q{
	INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 50000);
	DELETE FROM log WHERE n % 3 = 0;
});
$node->safe_psql('postgres', q{VACUUM log; SELECT maplet_merge('log_id'); SELECT pg_switch_wal()});
my $recovered = PostgreSQL::Test::Cluster->new('recovered');
$recovered->init_from_backup($node, 'backup', has_restoring => 1, standby => 0);
$recovered->append_conf('postgresql.conf', "recovery_target_name = 'here'\nrecovery_target_action = 'promote'\nautovacuum = off\narchive_mode = off\n");
$recovered->start;
$recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no end of recovery';
is($recovered->safe_psql('postgres', q{SELECT count(*) FROM log}), $rows, 'the table is as it was at that point');
is($recovered->safe_psql('postgres', q{SELECT maplet_check('log_id', true)}), '', 'and so is the index');
$recovered->safe_psql('postgres', q{INSERT INTO log (id) SELECT gen_random_uuid() FROM generate_series(1, 20000); VACUUM log});
is($recovered->safe_psql('postgres', q{SELECT maplet_check('log_id', true)}), '', '... which goes on from there');
$recovered->stop;

# 3. pages in each other's place: each key is found, or is an error; maplet's own, not that of a checksum, which clusters have since PostgreSQL 18
$node->safe_psql('postgres', q{
	ALTER SYSTEM SET autovacuum = off;
	ALTER SYSTEM SET ignore_checksum_failure = on;
	CREATE TABLE hurt (n int);
	CREATE INDEX hurt_n ON hurt USING maplet (n);
	INSERT INTO hurt SELECT generate_series(1, 1000);
	CREATE TABLE sorted (n int);
	INSERT INTO sorted SELECT generate_series(1, 50000);
	CREATE INDEX sorted_n ON sorted USING maplet (n);
	CREATE FUNCTION ask(tab text, rows int, OUT lost int, OUT errors int) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
	DECLARE
		found_n int;
	BEGIN
		lost := 0;
		errors := 0;
		FOR i IN 1 .. rows LOOP
			BEGIN
				EXECUTE format('SELECT n FROM %I WHERE n = $1', tab) INTO found_n USING i;
				lost := lost + (found_n IS NULL)::int;
			EXCEPTION WHEN index_corrupted THEN
				errors := errors + 1;
			END;
		END LOOP;
	END $$;
});

sub swap
{
	my ($index, $one, $other) = @_;
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', qq{SELECT pg_relation_filepath('$index')});
	my @pages;

	$node->stop;
	open my $file, '+<', $path or die;
	binmode $file;
	foreach my $block ($one, $other)
	{
		seek $file, $block * 8192, 0;
		read $file, my $page, 8192;
		push @pages, $page;
	}
	foreach my $block ($other, $one)
	{
		seek $file, $block * 8192, 0;
		print $file shift @pages;
	}
	close $file;
	$node->start;
	return;
}

# two pages of the tail behind the metapage; pages of the run behind a tail of 16 pages
foreach my $case ([ 'hurt', 'hurt_n', 1, 2, 1000 ], [ 'sorted', 'sorted_n', 20, 21, 5000 ])
{
	my ($table, $index, $one, $other, $asked) = @$case;

	is($node->safe_psql('postgres', "SELECT * FROM ask('$table', $asked)"), '0|0', "$index: all are found");
	swap($index, $one, $other);
	my ($lost, $errors) = split /\|/, $node->safe_psql('postgres', "SELECT * FROM ask('$table', $asked)");
	is($lost, 0, "$index, pages swapped: no row is missed");
	cmp_ok($errors, '>', 0, '... but errors say so');
	my ($status, $out, $err) = $node->psql('postgres', "SELECT maplet_check('$index')");
	like($err, qr/is damaged/, '... and so does maplet_check()');
}

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
