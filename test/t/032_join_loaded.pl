# SPDX-License-Identifier: PostgreSQL
# The table that docs/troubleshooting.md begins with: each of its lines, typed in sessions of all the states that it names.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('join_loaded', 'max_parallel_workers_per_gather = 0');
$node->safe_psql('postgres', 'CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g; ANALYZE t');

# The rows of the page's first table: what to type, what it shows, how bloomfam is.
my ($table) = slurp_file("$ENV{TESTDIR}/docs/troubleshooting.md") =~ /^(\| Type \|.*?)\n\n/ms;
my @rows = map { [ map { s/^ +| +$|`//gr } (split /\|/)[ 1 .. 3 ] ] } (split /\n/, $table // '')[ 2 .. 5 ];
is_deeply([ map { $_->[2] } @rows ], [ 'not loaded', 'loaded, and off', 'loaded too late, by the first use of a function', 'loaded, and on' ],
	'the table is found, and has the states');

my $preloaded = '-c session_preload_libraries=bloomfam';
my $use = 'SELECT bloom_create(10::bigint) IS NULL;';
my $set = 'SET bloomfam.join_filter = on;';

# What a session is begun with, what was done in it before, which rows fit, and whether its joins can have filters.
my @states = (
	[ 'not loaded', '', '', 'X..X', 0 ],
	[ 'not loaded, but set', '', $set, 'X..X', 0 ],
	[ 'not loaded, but set for the session', '-c bloomfam.join_filter=on', '', 'X..X', 0 ],
	[ 'loaded too late', '', $use, '.XXX', 0 ],
	[ 'loaded too late, and set before', '', "$set $use", '..XX', 0 ],
	[ 'loaded too late, and set for the session', '-c bloomfam.join_filter=on', $use, '..XX', 0 ],
	[ 'loaded, and off', $preloaded, '', '.X.X', 1 ],
	[ 'loaded, and on', "$preloaded -c bloomfam.join_filter=on", '', '...X', 1 ],
	[ 'loaded, and set', $preloaded, $set, '...X', 1 ]);

foreach my $state (@states)
{
	my ($name, $options, $before, $fits, $filters) = @$state;
	my $script = "$before\n\\echo @@\n" . join('', map { "$_->[0]\n\\echo @@\n" } @rows)
	  . "SET bloomfam.join_filter = force;\nEXPLAIN (COSTS OFF) SELECT FROM t a JOIN t b USING (g);\n";
	my $out;

	{
		local $ENV{PGOPTIONS} = $options;

		IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$script, '>&', \$out);
	}
	my (undef, @shown) = split /^@@\n/m, $out;
	my $explain = pop @shown;
	my $got = join('', map { index($shown[$_], "$rows[$_][1]\n") == 0 ? 'X' : '.' } 0 .. $#rows);

	is($got, $fits, "$name: the rows of the table that fit") || diag($out);
	is($explain =~ /Bloom Filter Probe/ ? 1 : 0, $filters, "$name: " . ($filters ? '' : 'no ') . 'filters');
}
no_crash($node);
done_testing();
