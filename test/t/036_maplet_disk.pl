# SPDX-License-Identifier: PostgreSQL
# Property: a statement that makes the file of a maplet index longer has the room for it, or fails: a full disk is no later CHECKPOINT's error.
#
# SMALL_DISK in the environment: an empty folder on a file system of 4 MB, that the user may write to; without it a full disk is not tried.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# nobody writes pages but who must; what is not logged would be written by COMMIT
my $node = start_node('primary', "wal_level = replica\nshared_buffers = 128MB\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = 1h\nmax_wal_size = 4GB\n");

sub has_holes
{
	my ($path) = @_;
	my @stat = stat $path or die "$path: $!";

	return $stat[12] * 512 < $stat[7];
}

# keys with many rows have overflow pages, behind all main pages, which the first of them makes the file longer by
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT CASE WHEN g % 9 = 0 THEN -(g % 50) ELSE g END AS n FROM generate_series(1, 1300000) g;
	CHECKPOINT;
});

SKIP:
{
	my $zeros = $node->basedir . '/zeros';

	append_to_file($zeros, "\0" x 1_000_000);
	skip 'the file system does not keep zeros', 2 if has_holes($zeros);
	$node->safe_psql('postgres', 'CREATE INDEX t_n ON t USING maplet (n)');
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t_n')});
	cmp_ok(-s $path, '>', 5_000_000, 'an index of ' . -s _);
	ok(!has_holes($path), '... has room for all of it before its pages are written');
	is($node->safe_psql('postgres', q{SELECT maplet_check('t_n', true)}), '', '... and is whole');
	$node->safe_psql('postgres', 'DROP INDEX t_n');
}

SKIP:
{
	my $disk = $ENV{SMALL_DISK} // '';

	skip 'SMALL_DISK names no small file system', 5 if $disk eq '';
	$node->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$disk'");
	my ($status, $out, $err) = $node->psql('postgres', '\set VERBOSITY verbose' . "\nCREATE INDEX t_small ON t USING maplet (n) TABLESPACE small");
	is($status, 3, 'an index that a disk has no room for');
	like($err, qr/ERROR:  53100: could not extend file ".*": No space left on device.*HINT:  Check free disk space\./s, '... is refused');
	($status, $out, $err) = $node->psql('postgres', 'CHECKPOINT');
	is($err, '', '... and no CHECKPOINT has to find out');
	($status, $out, $err) = $node->psql('postgres', 'CREATE INDEX t_small ON t USING maplet (n) TABLESPACE small WHERE n < 0; CHECKPOINT');
	is($err, '', 'a smaller one has room');
	is($node->safe_psql('postgres', q{SELECT maplet_check('t_small', true)}), '', '... and is whole');
	$node->safe_psql('postgres', 'DROP INDEX t_small; CHECKPOINT');
	$node->safe_psql('postgres', 'DROP TABLESPACE small');
}

# a file system that can only be written to: nothing is refused for that
SKIP:
{
	my $source = $node->basedir . '/cannot_allocate.c';
	my $library = $node->basedir . '/cannot_allocate.so';

	append_to_file($source, "#include <errno.h>\nint posix_fallocate(int f, long a, long b) { return EINVAL; }\nint posix_fallocate64(int f, long a, long b) { return EINVAL; }\n");
	skip 'no compiler makes a library', 2 if system("cc -shared -fPIC -w -o '$library' '$source' 2>/dev/null") != 0;
	$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = mmap');
	$node->stop;
	{
		local $ENV{LD_PRELOAD} = join(' ', $library, grep { $_ ne '' } $ENV{SERVER_PRELOAD} // '');
		$node->start;
	}
	my ($status, $out, $err) = $node->psql('postgres', 'CREATE INDEX t_n ON t USING maplet (n)');
	is($err, '', 'an index where the file system gives no room without that it is written');
	is($node->safe_psql('postgres', q{SELECT maplet_check('t_n', true)}), '', '... is whole');
}

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
