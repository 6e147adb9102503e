# SPDX-License-Identifier: PostgreSQL
# Property: maplet indexes that an earlier revision has written, test/golden/server, are whole, find every row, and go on.

use strict;
use warnings;

use BloomfamTest;
use HexFile;
use PostgreSQL::Test::Utils;
use Test::More;

my $revision = '243bdb6';
my $little_endian = unpack('C', pack('S', 1)) == 1;

# The files have no checksums.
my $node = start_node('primary', "ignore_checksum_failure = on\n");

plan skip_all => 'the golden indexes are of a machine with little-endian integers and pages of 8 kB'
  unless $little_endian && $node->safe_psql('postgres', 'SHOW block_size') eq '8192';

my @indexes = qw(g_id_k g_text_k g_numeric_k);

$node->safe_psql('postgres', slurp_file('test/golden/server/index.sql'));
my %path = map { $_ => $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } @indexes;
my %seeds = map { $_ => unpack 'H*', substr slurp_file($path{$_}), 24, 64 } @indexes;

# in their places
$node->stop;
foreach my $index (@indexes)
{
	my $file = from_hex(slurp_file("test/golden/server/${revision}_$index.hex"));

	isnt(unpack('H*', substr $file, 24, 64), $seeds{$index}, "$index: it is another than the one that was there");
	open my $out, '>', $path{$index} or die;
	binmode $out;
	print $out $file;
	close $out;
}
$node->start;

# Of each key of the table, the rows that the index finds, and those that a scan of the table does.
sub found
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off;
		SET enable_memoize = off;
		SET enable_hashjoin = off;
		SET enable_mergejoin = off;
		SELECT count(*), count(*) FILTER (WHERE n = m), sum(hashint4(n)::bigint * m)
		FROM (SELECT n AS m, k FROM $table OFFSET 0) a, LATERAL (SELECT n FROM $table b WHERE b.k = a.k OFFSET 0) b});
}

sub expected
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_nestloop = off;
		SELECT count(*), count(*) FILTER (WHERE a.n = b.n), sum(hashint4(b.n)::bigint * a.n) FROM $table a JOIN $table b USING (k)});
}

my $runs = 0;
foreach my $index (@indexes)
{
	my $table = $index =~ s/_k$//r;

	like($node->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN SELECT FROM (SELECT k FROM $table OFFSET 0) a, LATERAL (SELECT FROM $table b WHERE b.k = a.k OFFSET 0) b"),
		qr/$index/, "$index: used");
	is($node->safe_psql('postgres', "SELECT maplet_check('$index', true)"), '', "$index: whole, and has every row");
	is(found($table), expected($table), "$index: finds the rows of each key");
	cmp_ok($node->safe_psql('postgres', "SELECT tail_entries FROM maplet_info('$index')"), '>', 0, "$index: some are in the tail");
	$runs += $node->safe_psql('postgres', "SELECT runs FROM maplet_info('$index')");
}
cmp_ok($runs, '>', 3, 'some are in several runs');

# they go on
$node->safe_psql('postgres', q{
	INSERT INTO g_id SELECT g, md5(g::text)::uuid FROM generate_series(7001, 14000) g;
	INSERT INTO g_text SELECT g, 'key ' || g FROM generate_series(7001, 14000) g;
	INSERT INTO g_numeric SELECT g, g / 8.0 FROM generate_series(7001, 14000) g;
	DELETE FROM g_id WHERE n % 7 = 0;
	DELETE FROM g_text WHERE n % 7 = 0;
	DELETE FROM g_numeric WHERE n % 7 = 0;
});
$node->safe_psql('postgres', "VACUUM $_") foreach map { s/_k$//r } @indexes;
foreach my $step ('vacuumed', 'merged', 'restarted')
{
	foreach my $index (@indexes)
	{
		my $table = $index =~ s/_k$//r;

		$node->safe_psql('postgres', "SELECT maplet_merge('$index')") if $step eq 'merged';
		is($node->safe_psql('postgres', "SELECT maplet_check('$index', true)"), '', "$index, $step: whole, and has every row");
		is(found($table), expected($table), "$index, $step: finds the rows of each key");
	}
	$node->restart if $step eq 'merged';
}

no_crash($node);
$node->stop;
done_testing();
