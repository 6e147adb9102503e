# SPDX-License-Identifier: PostgreSQL
# Property: beside writers, VACUUM, REINDEX CONCURRENTLY and kills of the server, a unique maplet index has each id once and loses none that was committed;
# so it is on a standby that is promoted. The key is the id in one round, the tenant and the id in the next. And a subscriber finds its rows by it, although it names others, too.
#
# PostgreSQL 18 or later.  UNIQUE_SECONDS in the environment: how long the writers work, in all (30; 600 with LONG); UNIQUE_IDS: of so many ids (100000;
# 2000000 with LONG).

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my ($version) = `$ENV{PG_CONFIG} --version` =~ /(\d+)/ if $ENV{PG_CONFIG};
($version) = `pg_config --version` =~ /(\d+)/ if !$version;
plan skip_all => 'PostgreSQL has unique indexes of other access methods than B-tree from 18 on' if $version < 18;

my $seconds = $ENV{UNIQUE_SECONDS} // share(30, 60, 600);
my $ids = $ENV{UNIQUE_IDS} // share(100000, 200000, 2000000);

# 1. writers: whoever inserts or deletes an id writes that down in the same transaction
my $primary = start_node('primary', "max_wal_size = 4GB\nmax_connections = 40\nmin_wal_size = 1GB\n", allows_streaming => 1);
$primary->safe_psql('postgres', q{
	CREATE TABLE seen (id uuid, n int NOT NULL, tenant int GENERATED ALWAYS AS (('x' || left(id::text, 2))::bit(8)::int % 7) STORED);
	CREATE UNIQUE INDEX seen_id ON seen USING maplet (id);
	CREATE TABLE journal (id uuid, change int);
	CREATE FUNCTION id_of(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT md5(n::text)::uuid $$;
	CREATE VIEW wrong AS
		SELECT id FROM (SELECT id, change FROM journal UNION ALL SELECT id, -1 FROM seen) x GROUP BY id HAVING sum(change) <> 0;
});
my $standby = start_standby($primary);

# half of the ids come in order, and half at random among all that came
my %script = (
	nothing => [ 4, 'WITH new AS (INSERT INTO seen (id, n) SELECT id_of(g), 1 FROM generate_series(:r, :r + 9) g ON CONFLICT DO NOTHING RETURNING id) '
		  . 'INSERT INTO journal SELECT id, 1 FROM new' ],
	update => [ 4, 'WITH new AS (INSERT INTO seen (id, n) SELECT id_of(g), 1 FROM generate_series(:r, :r + 9) g ON CONFLICT (id) DO UPDATE SET n = seen.n + 1 '
		  . 'RETURNING new.id, old.id AS before) INSERT INTO journal SELECT id, 1 FROM new WHERE before IS NULL' ],
	plain => [ 4, 'WITH new AS (INSERT INTO seen (id, n) VALUES (id_of(:r), 1) RETURNING id) INSERT INTO journal SELECT id, 1 FROM new' ],
	remove => [ 2, 'WITH old AS (DELETE FROM seen WHERE id IN (SELECT id_of(g) FROM generate_series(:r, :r + 4) g) RETURNING id) '
		  . 'INSERT INTO journal SELECT id, -1 FROM old' ],
	undo => [ 1, "BEGIN;\nINSERT INTO seen (id, n) SELECT id_of(g), 1 FROM generate_series(:r, :r + 4) g ON CONFLICT DO NOTHING;\nSAVEPOINT s;\nDELETE FROM seen "
		  . "WHERE id = id_of(:r);\nROLLBACK TO s;\nROLLBACK" ],
	move => [ 1, 'WITH moved AS (UPDATE seen SET id = id_of(:r + 1) WHERE id = id_of(:r) RETURNING new.id, old.id AS before) '
		  . 'INSERT INTO journal SELECT id, 1 FROM moved UNION ALL SELECT before, -1 FROM moved' ]);
my @files;
while (my ($name, $script) = each %script)
{
	my $file = $primary->basedir . "/$name.sql";

	append_to_file($file, "\\set r random(1, $ids)\n$script->[1];\n");
	push @files, '-f', "$file\@$script->[0]";
}
my @keys = ('id', 'tenant, id');

# The index is of this key from now on, and so is what ON CONFLICT names.
sub take_key
{
	my ($key) = @_;
	my $file = $primary->basedir . '/update.sql';

	$primary->safe_psql('postgres', "DROP INDEX seen_id; CREATE UNIQUE INDEX seen_id ON seen USING maplet ($key)");
	unlink $file;
	append_to_file($file, "\\set r random(1, $ids)\n" . $script{update}[1] =~ s/CONFLICT \(id\)/CONFLICT ($key)/r . ";\n");
	return;
}

# With ids in no order two transactions may wait for each other; a plain insert of an id that is there is an error.
sub write_beside
{
	my ($node) = @_;
	my $log = $primary->basedir . '/pgbench.log';

	return IPC::Run::start([ 'pgbench', '-n', '-c', 8, '-T', 3600, '--max-tries=3', @{ $_[1] // \@files }, '-h', $node->host, '-p', $node->port, 'postgres' ],
		'>', $log, '2>', "$log.err");
}

# pgbench ends a client whose statement fails otherwise than by a deadlock, so those that fail do so within a function.
$primary->safe_psql('postgres', q{
	CREATE PROCEDURE try(statement text, INOUT result text DEFAULT NULL) LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN unique_violation THEN
		result := 'unique';
	END $$;
});
foreach my $name (qw(plain move))
{
	my $file = $primary->basedir . "/$name.sql";

	unlink $file;
	append_to_file($file, "\\set r random(1, $ids)\nCALL try(\$\$$script{$name}[1]\$\$);\n");
}

sub check
{
	my ($node, $name) = @_;

	is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT id FROM seen GROUP BY id HAVING count(*) > 1) x'), 0, "$name: each id is there once");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM wrong'), 0, "$name: those that were committed are there, and no others");
	is($node->safe_psql('postgres', q{SELECT maplet_check('seen_id', true)}), '', "$name: the index is whole");
	return;
}

# kill -9 of all processes: the children first, so that none goes on
sub kill_server
{
	my ($node) = @_;
	my ($pid) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	kill 'STOP', $pid;
	system 'pkill', '-KILL', '-P', $pid;
	kill 'CONT', $pid;
	$node->kill9;
	sleep 0.2 while kill 0, $pid;
	foreach (1 .. 50)
	{
		last if $node->start(fail_ok => 1);
		sleep 0.2;
	}
	return;
}

my $end = time + $seconds;
my $round = 0;
while (time < $end)
{
	take_key($keys[ $round % 2 ]);
	my $run = write_beside($primary);
	my $stop = time + ($seconds > 100 ? 20 : 5);

	while (time < $stop)
	{
		sleep 1;
		$primary->safe_psql('postgres', $_)
		  foreach 'VACUUM seen', $round % 2 ? 'REINDEX INDEX CONCURRENTLY seen_id' : q{SELECT maplet_merge('seen_id')};
	}
	kill_server($primary);
	$run->finish;
	$round++;
	unlike(slurp_file($primary->basedir . '/pgbench.log.err'), qr/ERROR(?!.*deadlock)/, "before kill $round no statement failed otherwise");
	check($primary, "after kill $round");

	# what a REINDEX that was broken off has left keeps ids unique as well, and slows all down
	$primary->safe_psql('postgres', "DROP INDEX IF EXISTS $_")
	  foreach split /\n/, $primary->safe_psql('postgres', q{SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'seen'::regclass AND NOT indisvalid});
}
my $rows = $primary->safe_psql('postgres', 'SELECT count(*) FROM journal');
cmp_ok($rows, '>', 1000, "$rows changes were written down");

# 2. the standby, promoted
$primary->wait_for_catchup($standby);
check($standby, 'standby');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
my $run = write_beside($standby);
sleep share(3, 5, 60);
$run->kill_kill;
check($standby, 'promoted');
$primary->stop;
$standby->stop;

# 3. logical replication by an index with many false places, on both sides
my $from = start_node('publisher', '', allows_streaming => 'logical');
$from->safe_psql('postgres', "CREATE DATABASE target");
my $define = q{
	CREATE EXTENSION IF NOT EXISTS bloomfam;
	CREATE TABLE item (id int NOT NULL, n int);
	CREATE UNIQUE INDEX item_id ON item USING maplet (id) WITH (rows = 1, remainder_bits = 1);
	ALTER TABLE item REPLICA IDENTITY USING INDEX item_id;
	CREATE TABLE pair (tenant int NOT NULL, id text NOT NULL, n int);
	CREATE UNIQUE INDEX pair_id ON pair USING maplet (tenant, id) WITH (rows = 1, remainder_bits = 1);
	ALTER TABLE pair REPLICA IDENTITY USING INDEX pair_id;
	CREATE TABLE any_row (tenant int, id text, n int);
	CREATE INDEX any_row_id ON any_row USING maplet (tenant, id) WITH (rows = 1, remainder_bits = 1);
	ALTER TABLE any_row REPLICA IDENTITY FULL;
};
$from->safe_psql($_, $define) foreach qw(postgres target);
$from->safe_psql('postgres', q{
	INSERT INTO item SELECT g, 0 FROM generate_series(1, 20000) g;
	INSERT INTO pair SELECT g % 10, 'id ' || g / 10, g FROM generate_series(1, 5000) g;
	INSERT INTO any_row SELECT nullif(g % 10, 3), nullif('id ' || g / 10, 'id 7'), g FROM generate_series(1, 500) g;
	CREATE PUBLICATION p FOR TABLE item, pair, any_row});
$from->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('s', 'pgoutput')});
my $connection = $from->connstr('postgres') =~ s/'/''/gr;
$from->safe_psql('target', "CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION p WITH (create_slot = false, slot_name = s)");
$from->poll_query_until('target', 'SELECT count(*) = 20000 FROM item') or die 'no copy';
$from->poll_query_until('target', q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel}) or die 'not ready';
$from->safe_psql('target', q{VACUUM item; SELECT maplet_merge('item_id')});
$from->safe_psql('postgres', q{
	UPDATE item SET n = id WHERE id % 3 = 0;
	UPDATE item SET id = id + 20000 WHERE id % 7 = 0;
	DELETE FROM item WHERE id % 11 = 0;
	UPDATE pair SET n = -n WHERE n % 3 = 0;
	UPDATE pair SET id = id || '!' WHERE n % 7 = 0;
	DELETE FROM pair WHERE n % 11 = 0;
	UPDATE any_row SET n = -n WHERE n % 3 = 0;
	UPDATE any_row SET id = 'new' WHERE n % 7 = 0;
	DELETE FROM any_row WHERE n % 11 = 0;
	INSERT INTO item SELECT g, -1 FROM generate_series(50001, 51000) g;
});
my $content = 'SELECT count(*), sum(id::bigint), sum(n::bigint), sum(hashint4(id)::bigint * n) FROM item';
my $expected = $from->safe_psql('postgres', $content);
$from->poll_query_until('target', "$content", $expected);
is($from->safe_psql('target', $content), $expected, 'the subscriber changes the rows that the publisher has changed');
is($from->safe_psql('target', q{SELECT maplet_check('item_id', true)}), '', '... and its index is whole');
foreach my $table (qw(pair any_row))
{
	my $rows = "SELECT count(*), sum(n), sum(hashtext(($table)::text)::bigint) FROM $table";

	is($from->safe_psql('target', $rows), $from->safe_psql('postgres', $rows), "... of $table, by two columns, some of them NULL where they may be");
	is($from->safe_psql('target', "SELECT maplet_check('${table}_id', true)"), '', '... whose index is whole');
}
$from->safe_psql('target', 'ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');
no_crash($from);
$from->stop;
done_testing();
