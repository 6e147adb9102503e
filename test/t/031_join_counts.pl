# SPDX-License-Identifier: PostgreSQL
# Property: volatile functions are called, and rows locked, as often with automatic join filters as without them, wherever in a plan they are.
#
# Of the server's plannodes.h each node, and each of its fields that can carry an expression, must have a line in test/join/CountNodes.pm.  What is
# there is put into each place of CountPlaces.pm, and run with filters off, on and forced.  A plan that has filters must call and lock as it does when it
# is run with filters off, which then makes none; and as the one that is planned with filters off, if it is the same but for our nodes.
#
#   LONG=1         all shapes; with CLANG_TESTS=1 one in each place, else a third of these
#   COUNT_SHAPES   those alone whose name matches this expression; their plans are printed where they differ
#   COUNT_PLANS=1  the plans of all
#   COUNT_MOST     so many differences of a node are printed, else 20

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../join";
use BloomfamTest;
use CountNodes;
use CountPlaces;
use CountRunner;
use JSON::PP;
use List::Util qw(min sum0);
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Wire;

# ---- each node has its lines ----

my ($include) = map { chomp; $_ } `pg_config --includedir-server`;
my $nodes = plan_nodes(slurp_file("$include/nodes/plannodes.h"));
my @missing = map { my $node = $_; map { "$node.$_" } grep { !$lines{$node}{$_} } @{ $nodes->{$node} } } sort keys %$nodes;

cmp_ok(scalar keys %$nodes, '>=', 42, 'plannodes.h has ' . keys(%$nodes) . ' nodes of plans');
is("@missing", '', 'each of their fields that can carry an expression has a line');

# ---- the shapes ----

my $node = start_node('counts', q{
	session_preload_libraries = 'bloomfam'
	max_connections = 30
	log_statement = none
	log_min_error_statement = panic
	fsync = off
	shared_buffers = 256MB
});
plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';
$node->safe_psql('postgres', join(";\n", tables_sql($node->port, $node->host)));

my $jobs = 2;
$node->safe_psql('template1', "CREATE DATABASE job$_ TEMPLATE postgres") foreach 1 .. $jobs;

my $only = $ENV{COUNT_SHAPES};
my @shapes = grep { !defined $only || $_->{name} =~ /$only/ } shapes(defined $only || $ENV{LONG});
my $part = defined $only ? 1 : share(5, 1);
my $turn = 0;

# those that are queries as a whole have no other place
@shapes = grep { $_->{place} eq 'own' || $turn++ % $part == 0 } @shapes;
my @children;
foreach my $job (0 .. $jobs - 1)
{
	pipe(my $read, my $write) or die "pipe: $!";
	my $pid = fork() // die "fork: $!";

	if ($pid == 0)
	{
		my %results;
		my $db = 'job' . ($job + 1);
		my $wire = Wire->new($node, $db);
		foreach my $i (grep { $_ % $jobs == $job } 0 .. $#shapes)
		{
			$results{$i} = eval { run_shape($wire, $shapes[$i]) } // { differences => ["broken: $@"] };
			$wire = Wire->new($node, $db) if !eval { $wire->query('SELECT 1') };
		}
		print {$write} encode_json(\%results);
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	push @children, [ $pid, $read ];
}
my %results;
foreach (@children)
{
	my ($pid, $read) = @$_;
	local $/;

	%results = (%results, %{ decode_json(<$read> || '{}') });
	waitpid($pid, 0);
}

my (%differences, %number, %filtered, %controls, %called, %shown);
foreach my $i (0 .. $#shapes)
{
	my $shape = $shapes[$i];
	my $result = $results{$i} // { differences => ['was not run'] };

	$number{ $shape->{node} }++;
	$filtered{ $shape->{place} } += $result->{filtered} ? 1 : 0;
	$controls{ $shape->{place} } += $result->{control} // 0;
	($shown{ $shape->{name} =~ s/,.*//r } //= 0) += $result->{shown} // 0;
	$called{"$shape->{node}.$shape->{field}"} += $result->{called} // 0;
	push @{ $differences{ $shape->{node} } }, map { "$shape->{name}: $_" } @{ $result->{differences} };
	diag("PLAN $shape->{name}\n$shape->{sql}\n" . ($result->{last} // 'no filter')) if $ENV{COUNT_PLANS};
	diag("$shape->{name}\n$shape->{sql}\n" . ($result->{plan} // $result->{off} // '')) if defined $only && @{ $result->{differences} };
}
foreach my $name (sort keys %number)
{
	my @of = @{ $differences{$name} // [] };

	diag($_) foreach @of[ 0 .. min($#of, ($ENV{COUNT_MOST} // 20) - 1) ];
	is(scalar @of, 0, "$name: $number{$name} shapes");
}
if (!defined $only)
{
	my %of_place;

	$of_place{ $_->{place} }++ foreach @shapes;
	note("$_: $of_place{$_} shapes, $filtered{$_} with a filter; $controls{$_} without the calls") foreach sort keys %of_place;
	note("$_: seen in $shown{$_} plans") foreach sort keys %shown;
	cmp_ok(scalar @shapes, '>=', 3000 / $part, scalar(@shapes) . ' shapes');
	is(join(', ', grep { !$controls{$_} } sort keys %of_place), '', 'there are filters in each place');
	my ($with, $all) = (sum0(values %controls), scalar @shapes);

	cmp_ok($with, '>', 0.7 * $all, "and in $with of all shapes, had they no volatile calls");
	is(join(', ', grep { $shown{$_} < (/ \d/ && !/ModifyTable/ ? 10 / $part : 1) } sort keys %shown), '', 'each node is in the plans that are to have it');
	is(join(', ', grep { !$called{$_} } grep { !/LockRows/ } sort keys %called), '', 'there are calls of each field');
}
no_crash($node);

$node->stop;
done_testing();
