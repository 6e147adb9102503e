# SPDX-License-Identifier: PostgreSQL
# Property: a random query gives the same rows with automatic join filters as without them.
#
# test/join/random runs more of it: the environment says how much.  Items are numbered, and each is the same whatever ran before it:
#   JOIN_SEED     the first item's tables and queries follow from it
#   JOIN_QUERIES  how many items (150; with CLANG_TESTS=1 or LONG=1 250)
#   JOIN_JOBS     how many processes, each with tables and a seed of its own
#   JOIN_ITEM     this item alone, whose statements are printed first
#   JOIN_KIND     items of this kind alone
#   JOIN_SAMPLES  sizes by samples, too

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../join";
use BloomfamTest;
use JoinRunner;
use JSON::PP;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{JOIN_SEED} // 15;
my $queries = $ENV{JOIN_QUERIES} // share(100, 250);
my $jobs = $ENV{JOIN_JOBS} // 1;
my $item = $ENV{JOIN_ITEM};

my $preload = $seed % 2 ? 'session' : 'shared';
my $node = start_node('join', qq{
	${preload}_preload_libraries = 'bloomfam'
	max_connections = 50
	max_worker_processes = 40
	max_parallel_workers = 16
	restart_after_crash = on
	log_statement = none
	fsync = off
	shared_buffers = 256MB
	log_min_messages = warning
	log_min_error_statement = panic
}, extra => [ '--locale=C', '--encoding=UTF8' ]);

$node->safe_psql('postgres', 'CREATE ROLE join_reader');

my %sum;
my @differences;
my @children;
my $each = int(($queries + $jobs - 1) / $jobs);
foreach my $job (1 .. $jobs)
{
	pipe(my $read, my $write) or die "pipe: $!";
	my $pid = fork() // die "fork: $!";

	if ($pid == 0)
	{
		my $tally = eval {
			my $from = $seed + $job - 1;

			$node->safe_psql('postgres', "CREATE DATABASE job$job");
			make_tables($node, "job$job", $from);
			run_items($node, "job$job", $from, $item // 1, $item // $each, kind => $ENV{JOIN_KIND}, print => \&note) if defined $item;
			run_items($node, "job$job", $from, $item // 1, $item // $each, kind => $ENV{JOIN_KIND});
		} // { broken => "$@" };

		print {$write} encode_json($tally);
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	push @children, [ $pid, $read ];
}
foreach (@children)
{
	my ($pid, $read) = @$_;
	local $/;
	my $tally = decode_json(<$read> || '{"broken": "a process died"}');

	waitpid($pid, 0);
	push @differences, @{ delete $tally->{differences} // [] };
	foreach my $name (sort keys %$tally)
	{
		if ($name =~ /^(broken|failures)$/) { $sum{$name} = join('; ', grep { length } $sum{$name}, $tally->{$name}) }
		else { $sum{$name} += $tally->{$name} }
	}
}

diag($_) foreach @differences;
is(scalar @differences, 0, 'no item differs');
is($sum{broken}, undef, 'every process came to its end');
foreach my $name (sort keys %sum)
{
	note("$name: $sum{$name}");
}

# The rest says that the first was worth something.
my $share = sub { return ($sum{ $_[0] } // 0) / ($sum{ $_[1] } || 1) };
if (!defined $item)
{
	cmp_ok($share->('failed', 'items'), '<=', defined $ENV{JOIN_KIND} ? 0.1 : 0.05, sprintf('%.1f %% of the items fail, filters or not', 100 * $share->('failed', 'items')));
	cmp_ok($share->('late', 'items'), '<=', 0.25, sprintf('%.1f %% take too long', 100 * $share->('late', 'items')));
}
if (!defined $item && !defined $ENV{JOIN_KIND})
{
	cmp_ok($share->('filtered', 'plans'), '>=', 0.4, sprintf('%.1f %% of the plans have a filter', 100 * $share->('filtered', 'plans')));
	cmp_ok($sum{skipped} // 0, '>', 0, 'and skipped ' . ($sum{skipped} // 0) . ' partitions');
	cmp_ok($sum{'pages skipped'} // 0, '>', 0, 'and ' . ($sum{'pages skipped'} // 0) . ' pages');
	cmp_ok($sum{'sent keys'} // 0, '>', 0, 'and sent ' . ($sum{'sent keys'} // 0) . ' lists of keys to foreign servers');
	cmp_ok($share->('sampled', 'plans'), '>=', 0.05, sprintf('%.1f %% of the plans have a pair that was sampled', 100 * $share->('sampled', 'plans'))) if $ENV{JOIN_SAMPLES};
	cmp_ok($share->('planned with samples', 'plans'), '>=', 0.01, sprintf('%.1f %% are planned with what was found', 100 * $share->('planned with samples', 'plans'))) if $ENV{JOIN_SAMPLES};
	cmp_ok($sum{dropped} // 0, '>', 3 * ($sum{items} // 1), 'those that were looked at have dropped ' . ($sum{dropped} // 0) . ' rows');
}
no_crash($node);

$node->stop;
done_testing();
