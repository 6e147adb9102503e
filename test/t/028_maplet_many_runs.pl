# Property: merges that fail again and again do not keep a maplet index from taking rows for ever: once they can succeed, they do.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('primary', "max_wal_size = 2GB\nautovacuum = off\n");

# one key's rows fill few pages of a tail, so that there are many flushes; two pages of the first tail come before the run
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE hot (k int);
	INSERT INTO hot SELECT 7 FROM generate_series(1, 500);
	CREATE INDEX hot_k ON hot USING maplet (k);
});
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('hot_k')});
my $at = 3 * 8192;

# Puts other bytes in the place of a page; returns those that were there.
sub exchange_page
{
	my ($bytes) = @_;
	my $old;

	$node->stop;
	open my $file, '+<:raw', $path or die "$path: $!";
	seek $file, $at, 0;
	read $file, $old, 8192;
	seek $file, $at, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	$node->start;
	return $old;
}

sub runs
{
	return $node->safe_psql('postgres', q{SELECT runs FROM maplet_info('hot_k')});
}

my $page = exchange_page("\0" x 8192);
my $inserts = "INSERT INTO hot SELECT 7 FROM generate_series(1, 5000);\n" x 800;
my $errors;
$node->psql('postgres', $inserts, on_error_stop => 0, stderr => \$errors);
like($errors, qr/maplet index "hot_k" is damaged at block 3/, 'no merge succeeds');
cmp_ok(runs(), '>', 60, 'so that runs are many');

exchange_page($page);
$node->safe_psql('postgres', $inserts =~ s/\n.*//sr);
cmp_ok(runs(), '<=', 60, 'they are merged before a row has to wait for a flush');
$node->safe_psql('postgres', "VACUUM hot; INSERT INTO hot SELECT 7 FROM generate_series(1, 50000)");
cmp_ok(runs(), '<', 20, 'in the end they are few');
is($node->safe_psql('postgres', q{SELECT maplet_check('hot_k', true)}), '', 'and the index is whole');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
