# SPDX-License-Identifier: PostgreSQL
# Property: the bytes of a maplet index are what src/maplet/FORMAT.md says, and those of test/golden/maplet.hex, written by an earlier build, are still read.
#
# MAPLET_GOLDEN_WRITE in the environment: write that file anew, which only a new format is a reason for.

use strict;
use warnings;

use BloomfamTest;
use HexFile;
use PostgreSQL::Test::Utils;
use Test::More;

my $golden = 'test/golden/maplet.hex';
my $little_endian = unpack('C', pack('S', 1)) == 1;
my $node = start_node('primary');

plan skip_all => 'the golden index is of a machine with little-endian integers and pages of 8 kB'
  unless $little_endian && $node->safe_psql('postgres', 'SHOW block_size') eq '8192';

# 300 rows in a run, 100 in the tail; the rows' places are the same everywhere
$node->safe_psql('postgres', q{
	CREATE TABLE t (n int) WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT generate_series(1, 300);
	CREATE INDEX t_n ON t USING maplet (n) WITH (rows = 1000, remainder_bits = 6);
	INSERT INTO t SELECT generate_series(301, 400);
	CHECKPOINT;
});
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t_n')});

# The file, each page without its LSN and checksum.
sub index_file
{
	my $file = slurp_file($path);

	substr($file, $_ * 8192, 10) = "\0" x 10 foreach 0 .. length($file) / 8192 - 1;
	return $file;
}

# what the documented offsets say, against what the index's own functions do
sub compare_fields
{
	my ($file, $name) = @_;
	my $meta = substr $file, 24;
	my ($format, $hash) = unpack 'L2', $meta;
	my ($remainder_bits, $p, $end, $active, $pending) = unpack 'x48 L L L S S', $meta;
	my ($runs, $length) = unpack 'x96 L L', $meta;
	my ($id, $entries, $fingerprints) = unpack 'x1128 Q3', $meta;
	my ($d, $m, $first, $blocks, $offsets, $run_p, $s, $start) = unpack 'x1152 Q L3 S C C L', $meta;
	my ($generation, $tail_start, $tail_pages) = unpack 'Q L L', substr $meta, 64 + 16 * $active, 16;
	my @tids;

	is("$format $hash $runs $pending", '1 1 1 0', "$name: format, hash, runs, pending");
	is(substr($meta, 104, $length), 'int', "$name: family");
	is(join('|', $entries + 100, 100, $runs, $p), $node->safe_psql('postgres', q{SELECT entries, tail_entries, runs, bits FROM maplet_info('t_n')}), "$name: figures");
	is(join('|', $id, $entries, $fingerprints, $run_p, $m), $node->safe_psql('postgres', q{SELECT id, entries, fingerprints, bits, pages FROM maplet_runs('t_n')}),
		"$name: the run");
	is($end * 8192, length $file, "$name: end");
	is_deeply([ unpack 'Q L C C S', substr $file, -16 + 8192 * (1 + $_), 16 ], $_ == 0 ? [ 0, 0, 0, 1, 0x4d50 ] : [ $generation, $_ - $tail_start, 0, 2, 0x4d50 ],
		"$name: stamp of block $_") foreach 0 .. $tail_pages;
	is_deeply([ unpack 'Q L C C S', substr $file, -16 + 8192 * ($start + 1), 16 ], [ $id, 0, 0, 3, 0x4d50 ], "$name: stamp of the run's first page");
	foreach my $page ($tail_start .. $tail_start + $tail_pages - 1)
	{
		foreach my $at (0 .. 678)
		{
			my ($high, $middle, $low, $block_high, $block_low, $offset) = unpack 'S6', substr $file, $page * 8192 + 24 + 12 * $at, 12;

			last if $offset == 0;
			is(int($high * $tail_pages / 65536), $page - $tail_start, "$name: an entry is on its hash's page") if $at == 0;
			push @tids, '(' . ($block_high * 65536 + $block_low) . ",$offset)";
		}
	}
	is(join(' ', sort @tids), $node->safe_psql('postgres', q{SELECT string_agg(ctid::text, ' ' ORDER BY ctid::text COLLATE "C") FROM t WHERE n > 300}), "$name: the tail's TIDs");
	return;
}

my $own = index_file();
compare_fields($own, 'own');
if ($ENV{MAPLET_GOLDEN_WRITE})
{
	open my $out, '>', $ENV{MAPLET_GOLDEN_WRITE} or die;
	print $out to_hex($own);
	close $out;
}

# the golden one in its place
is(to_hex(from_hex(to_hex($own))), to_hex($own), 'the hexadecimal form');
my $file = from_hex(slurp_file($golden));
$node->stop;
open my $out, '>', $path or die;
binmode $out;
print $out $file;
close $out;
$node->start;
compare_fields($file, 'golden');
is($node->safe_psql('postgres', q{SELECT maplet_check('t_n', true)}), '', 'golden: whole, and has every row');
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM generate_series(1, 400) g, LATERAL (SELECT FROM t WHERE n = g OFFSET 0) f}), '400',
	'golden: every row is found');
$node->safe_psql('postgres', q{INSERT INTO t SELECT generate_series(401, 10000); DELETE FROM t WHERE n % 5 = 0});
$node->safe_psql('postgres', q{VACUUM t});
$node->safe_psql('postgres', q{SELECT maplet_merge('t_n')});
is($node->safe_psql('postgres', q{SELECT maplet_check('t_n', true), entries FROM maplet_info('t_n')}), '|8000', 'golden: it goes on from there');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
