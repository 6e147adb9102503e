# SPDX-License-Identifier: PostgreSQL
# Property: whatever bytes of a maplet index's file have changed, each statement that reads it gives an answer or the error that says what to do: one of
# damaged data (XX001, XX002), or that keys were hashed otherwise.  None ends otherwise, crashes or takes for ever.
#
# DAMAGE_SEED in the environment: of the bytes that are changed.  CLANG_TESTS, LONG: more indexes.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{DAMAGE_SEED} // int(rand(1 << 31));
my $indexes = $ENV{DAMAGE_INDEXES} // share(20, 40, 400);

srand($seed);
note("DAMAGE_SEED=$seed");

my $node = start_node('primary', "fsync = off\nshared_buffers = 64MB\nstatement_timeout = 30s\nignore_checksum_failure = on\n");

# each index has a run, with overflow pages of the key 7, and a tail
$node->safe_psql('postgres', q{SELECT format('CREATE TABLE t%1$s (n int) WITH (autovacuum_enabled = off); INSERT INTO t%1$s SELECT CASE WHEN g %% 3 = 0 THEN 7 ELSE g END
	FROM generate_series(1, 9000) g; CREATE INDEX i%1$s ON t%1$s USING maplet (n) WITH (rows = 1000); INSERT INTO t%1$s SELECT g FROM generate_series(9001, 9300) g', i)
	FROM generate_series(1, } . $indexes . q{) i \gexec});
my @paths = map { $node->data_dir . "/$_" } split /\n/, $node->safe_psql('postgres', "SELECT pg_relation_filepath('i' || i) FROM generate_series(1, $indexes) i");
$node->stop;

# what is overwritten, at some place of the page: the metapage's fields, a tail's or a run's page, or a stamp
sub damage
{
	my ($path) = @_;
	my $page = rand() < 0.4 ? 0 : int(rand((-s $path) / 8192));
	my $at = rand() < 0.15 ? 8176 + int(rand(16)) : 24 + int(rand($page == 0 && rand() < 0.8 ? 1400 : rand() < 0.5 ? 64 : 8150));
	my $length = 1 + int(rand() < 0.5 ? 0 : rand(8));
	my $bytes = join '', map { chr((0, 1, 127, 255, int(rand(256)))[ rand(5) ]) } 1 .. $length;

	return overwrite($path, $page, $at, $bytes);
}

# the offsets of three of a tail's TIDs, in its first page
my @damages = map { overwrite($paths[$_], 1, 24 + 12 * 5 + 10, pack('S', (0, 292, 65535)[$_])) } 0 .. 2;
# the metapage's next id, the last one that there can be; and the end of its blocks, the one that is none
push @damages, overwrite($paths[3], 0, 40, pack('Q', ~0 >> 1)), overwrite($paths[4], 0, 80, pack('L', 0xFFFFFFFF));
# a format that is to come
push @damages, overwrite($paths[5], 0, 24, pack('L', 2));
push @damages, map { join '; ', damage($_), rand() < 0.3 ? damage($_) : () } @paths[6 .. $#paths];
$node->start;

my @statements = (
	q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM generate_series(1, 9300) g, LATERAL (SELECT FROM %t WHERE n = g OFFSET 0) f},
	q{SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(*) FROM generate_series(1, 9300) g, LATERAL (SELECT FROM %t WHERE n = g OFFSET 0) f},
	q{SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM %t WHERE n = ANY (ARRAY(SELECT generate_series(1, 9300)))},
	q{SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(*) FROM %t WHERE n = ANY (ARRAY(SELECT generate_series(1, 9300)))},
	q{SELECT count(*) FROM generate_series(1, 9300) g WHERE maplet_may_contain('%i', g)},
	q{SELECT * FROM maplet_info('%i')},
	q{SELECT * FROM maplet_runs('%i')},
	q{SELECT maplet_check('%i', true)},
	q{INSERT INTO %t SELECT generate_series(10001, 16000)},
	q{DELETE FROM %t WHERE n % 5 = 0},
	q{VACUUM %t},
	q{SELECT maplet_merge('%i')},
	q{SELECT maplet_check('%i', true)});
my %errors;
my @others;
foreach my $i (1 .. $indexes)
{
	foreach my $statement (@statements)
	{
		my $sql = $statement =~ s/%i/i$i/gr =~ s/%t/t$i/gr;
		my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

		next if $err !~ /ERROR|FATAL|PANIC|server closed/;
		$errors{XX001}++, next if $err =~ /ERROR:  XX001: /;
		$errors{XX002}++, next if $err =~ /ERROR:  XX002: .*maplet index.*HINT:  Please REINDEX it\./s;
		$errors{'0A000'}++, next if $err =~ /ERROR:  0A000: .*maplet index "i\d+" has format \d+, .*DETAIL:  This version reads format 1\.\nHINT:  Install the version/s;
		$errors{55000}++, next if $err =~ /ERROR:  55000: .* was built for keys that were hashed otherwise/;
		push @others, "i$i, $damages[$i - 1]: $sql\n$err";
	}
}
is(join("\n", @others), '', "$indexes damaged indexes: no other errors");
cmp_ok($errors{$_} // 0, '>', 0, "some of $_") foreach qw(XX002 0A000);
note('errors: ' . join(', ', map { "$errors{$_} of $_" } sort keys %errors));
is($node->safe_psql('postgres', "SELECT count(*) FROM generate_series(1, $indexes) i, LATERAL (SELECT) s"), $indexes, 'the server goes on');
$node->safe_psql('postgres', "SELECT format('REINDEX INDEX i%s', i) FROM generate_series(1, $indexes) i \\gexec");
$node->safe_psql('postgres', "SELECT count(maplet_check(format('i%s', i)::regclass, true)) FROM generate_series(1, $indexes) i");
pass('after REINDEX all are whole');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
