# SPDX-License-Identifier: PostgreSQL
# Property: whatever bytes of a signature index's file have changed, each statement that reads it gives an answer or the error that says what to do, and none
# crashes or takes for ever.  What decides where and how keys are looked up is never taken from damaged bytes: no row is missed by those.
#
# DAMAGE_SEED in the environment: of the bytes that are changed.  CLANG_TESTS, LONG: more indexes.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{DAMAGE_SEED} // int(rand(1 << 31));
my $constants = 10;
my $indexes = $constants + ($ENV{DAMAGE_INDEXES} // share(15, 40, 400));

srand($seed);
note("DAMAGE_SEED=$seed");

my $node = start_node('primary', "fsync = off\nshared_buffers = 64MB\nstatement_timeout = 30s\nignore_checksum_failure = on\nenable_seqscan = off\n");

# each index has a slab and a batch
$node->safe_psql('postgres', q{SELECT format('CREATE TABLE t%1$s (n int, line text) WITH (autovacuum_enabled = off); INSERT INTO t%1$s SELECT g, md5(g::text) FROM generate_series(1, 20000) g;
	CREATE INDEX i%1$s ON t%1$s USING signature (line, n) WITH (pages_per_range = 1)', i) FROM generate_series(1, } . $indexes . q{) i \gexec});
my @paths = map { $node->data_dir . "/$_" } split /\n/, $node->safe_psql('postgres', "SELECT pg_relation_filepath('i' || i) FROM generate_series(1, $indexes) i");
$node->stop;

# the metapage's fields, a page of the directory, a batch or a slab, or a page's stamp
sub damage
{
	my ($path) = @_;
	my $page = rand() < 0.4 ? 0 : int(rand((-s $path) / 8192));
	my $at = rand() < 0.15 ? 8176 + int(rand(16)) : 24 + int(rand($page == 0 && rand() < 0.8 ? 600 : rand() < 0.5 ? 64 : 8150));
	my $bytes = join '', map { chr((0, 1, 127, 255, int(rand(256)))[ rand(5) ]) } 0 .. int(rand(8));

	return overwrite($path, $page, $at, $bytes);
}

# the pages of a range, the bits of a key, the size of an n-gram, the seed, the bits for each key, a format that is to
# come, the end of what is used, the places of a batch and of a page of the directory, and a free extent, far from the file's end
my @damages = map { overwrite($paths[ $_->[0] ], 0, 24 + $_->[1], $_->[2]) } [ 0, 4, pack('L', 2) ], [ 1, 8, pack('L', 2) ], [ 2, 12, pack('L', 3) ], [ 3, 24, 'seed' ], [ 4, 16, 'bits' ],
  [ 5, 0, pack('L', 2) ], [ 6, 56, pack('L', 1 << 30) ], [ 7, 88, pack('L', 8323483) ], [ 8, 464, pack('L', 8323483) ], [ 9, 208, pack('L', 1 << 30) ];
push @damages, map { join '; ', damage($_), rand() < 0.3 ? damage($_) : () } @paths[ $constants .. $#paths ];
$node->start;

my @statements = (
	q{SELECT count(*) FROM generate_series(1, 20000, 311) g, LATERAL (SELECT FROM %t WHERE line LIKE '%' || substr(md5(g::text), 3, 20) || '%' OFFSET 0) f},
	q{SELECT count(*) FROM generate_series(1, 20000, 311) g, LATERAL (SELECT FROM %t WHERE n = g OFFSET 0) f},
	q{SELECT * FROM signature_info('%i')},
	q{SELECT signature_check('%i')},
	q{INSERT INTO %t SELECT g, md5(g::text) FROM generate_series(20001, 24000) g},
	q{DELETE FROM %t WHERE n % 5 = 0},
	q{VACUUM %t},
	q{INSERT INTO %t SELECT g, md5(g::text) FROM generate_series(24001, 30000) g},
	q{SELECT signature_check('%i')});
my %errors;
my @others;
my @missed;
foreach my $i (1 .. $indexes)
{
	foreach my $at (0 .. $#statements)
	{
		my $sql = $statements[$at] =~ s/%i/i$i/gr =~ s/%t/t$i/gr;
		my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

		push @missed, "i$i, $damages[$i - 1]: $out" if $i <= $constants && $at < 2 && $err eq '' && $out ne '65';
		next if $err !~ /ERROR|FATAL|PANIC|server closed/;
		$errors{XX001}++, next if $err =~ /ERROR:  XX001: /;
		$errors{XX002}++, next if $err =~ /ERROR:  XX002: .*signature index.*HINT:  Please REINDEX it\./s;
		$errors{'0A000'}++, next if $err =~ /ERROR:  0A000: .*signature index "i\d+" has format \d+, .*DETAIL:  This version reads format 1\.\nHINT:  Install the version/s;
		$errors{55000}++, next if $err =~ /ERROR:  55000: .* was built for keys that were hashed otherwise/;
		push @others, "i$i, $damages[$i - 1]: $sql\n$err";
	}
}
is(join("\n", @others), '', "$indexes damaged indexes: no other errors");
is(join("\n", @missed), '', '... no row is missed by what has become of the constants');
cmp_ok($errors{$_} // 0, '>', 0, "some of $_") foreach qw(XX002 0A000);
note('errors: ' . join(', ', map { "$errors{$_} of $_" } sort keys %errors));
$node->safe_psql('postgres', "SELECT format('REINDEX INDEX i%s', i) FROM generate_series(1, $indexes) i \\gexec");
is($node->safe_psql('postgres', "SELECT sum(length(signature_check(format('i%s', i)::regclass)::text)) FROM generate_series(1, $indexes) i"), 0, 'after REINDEX all are whole');

# a query names the page that is damaged, as the check does
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('i1')");
my $pages = -s $path;
$node->stop;
overwrite($path, $_, 8176, "\xff" x 8) foreach 1 .. $pages / 8192 - 1;
$node->start;
my ($status, $out, $err) = $node->psql('postgres', "SELECT FROM t1 WHERE line LIKE '%4711%'");
like($err, qr/signature index "i1" is damaged at block [1-9]/, 'a query names the block');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
