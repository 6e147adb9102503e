# SPDX-License-Identifier: PostgreSQL
# Property: the file of a maplet index that grows stays within half as much again as its pages in use, and its runs stay few, without any VACUUM; and VACUUM counts right
# what it removes beside a merge.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $node = start_node('primary', "autovacuum = off\nshared_buffers = 256MB\n");
my $info = q{SELECT pages, live_pages, runs, merges FROM maplet_info('grown_n')};

# keys have the same hashes in no two indexes, but their number alone says when tails are full, how much is merged, and into which gaps
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE grown (n int8);
	CREATE INDEX grown_n ON grown USING maplet (n);
});
my $rows = 0;
my $most_runs = 0;
foreach my $more (700_000, 700_000, 700_000, 700_000)
{
	$node->safe_psql('postgres', "INSERT INTO grown SELECT generate_series($rows + 1, $rows + $more)");
	$rows += $more;
	my (undef, undef, $runs) = split /\|/, $node->safe_psql('postgres', $info);
	$most_runs = $runs if $runs > $most_runs;
}
my ($pages, $live) = split /\|/, $node->safe_psql('postgres', $info);
# A merge writes its output before the pages of its inputs are free.  A merge of the largest level therefore needs as many pages as are live, unless
# pages that earlier merges freed can be reused by then, which depends on the snapshots that other processes hold meanwhile.
cmp_ok($pages, '<=', 2 * $live, "$rows rows: a file of $pages pages for $live");
cmp_ok($most_runs, '<=', 24, "at most $most_runs runs");
is($node->safe_psql('postgres', q{SELECT maplet_check('grown_n', true)}), '', 'the index is whole, in pieces as it is');

# a merge to one run needs no more than as much again, and leaves the old pages to whatever comes next
$node->safe_psql('postgres', q{SELECT maplet_merge('grown_n')});
my ($merged, $one) = split /\|/, $node->safe_psql('postgres', $info);
cmp_ok($merged, '<=', $pages + 1.05 * $one, "merged: $merged pages, $one of them in use");
$node->safe_psql('postgres', "INSERT INTO grown SELECT generate_series($rows + 1, $rows + 700000)");
is($node->safe_psql('postgres', q{SELECT pages FROM maplet_info('grown_n')}), $merged, 'what follows finds room in the file');
is($node->safe_psql('postgres', q{SELECT maplet_check('grown_n', true)}), '', 'and is whole');

# rows that are removed while a merge is under way
my $merging = 0;
foreach my $attempt (1 .. 20)
{
	$merging = $node->safe_psql('postgres', q{SELECT merges FROM maplet_info('grown_n')});
	last if $merging > 0;
	$node->safe_psql('postgres', q{INSERT INTO grown SELECT generate_series(5000000, 5040000)});
}
cmp_ok($merging, '>', 0, 'a merge is under way');
$node->safe_psql('postgres', q{DELETE FROM grown WHERE n % 10 = 0; VACUUM grown});
is($node->safe_psql('postgres', q{SELECT entries = (SELECT count(*) FROM grown) FROM maplet_info('grown_n')}), 't', 'entries are counted right after it');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
