# SPDX-License-Identifier: PostgreSQL
# The table that docs/troubleshooting.md begins with: each of its lines, typed in sessions of all the states that it names.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

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
	[ 'loaded, and off', "$preloaded -c bloomfam.join_filter=off", '', '.X.X', 1 ],
	[ 'loaded, and on by default', $preloaded, '', '...X', 1 ],
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

# A parallel worker, which always loads the module before its first command, has the default of its leader.
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $parallel = 'SET ' . ($version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on;';
foreach my $case ([ '', $use, 'off' ], [ $preloaded, '', 'on' ], [ $preloaded, 'SET bloomfam.join_filter = off;', 'off' ])
{
	my ($options, $before, $value) = @$case;
	local $ENV{PGOPTIONS} = $options;

	like($node->safe_psql('postgres', "$before SET max_parallel_workers_per_gather = 1; $parallel EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT FROM t WHERE current_setting('bloomfam.join_filter') || g = '$value' || g"),
		qr/Gather \(actual rows=1000[. ].*Workers Launched: 1\n.*Single Copy: true/s, "a worker of a leader in which filters are $value, loaded " . ($options ? 'in time' : 'too late'));
}

# Waits until a reload has reached a session.
sub wait_for
{
	my ($session, $value) = @_;

	foreach (1 .. 300)
	{
		return if $session->query('SHOW bloomfam.join_filter') eq $value;
		usleep(100_000);
	}
	return;
}

# The emergency switch reaches sessions that run, but not those for which something nearer says otherwise.
{
	local $ENV{PGOPTIONS} = $preloaded;
	my $plain = $node->background_psql('postgres');

	is($plain->query('SHOW bloomfam.join_filter'), 'on', 'filters are on in a session');
	$node->safe_psql('postgres', "CREATE ROLE insistent LOGIN SUPERUSER; ALTER ROLE insistent SET bloomfam.join_filter = on");
	my $insistent = $node->background_psql('postgres', extra_params => [ '-U', 'insistent' ]);
	is($insistent->query('SHOW bloomfam.join_filter'), 'on', 'and where a role has them on');
	$node->safe_psql('postgres', 'ALTER SYSTEM SET bloomfam.join_filter = off');
	$node->reload;
	wait_for($plain, 'off');
	is($plain->query('SHOW bloomfam.join_filter'), 'off', 'ALTER SYSTEM and a reload switch them off');
	is($insistent->query('SHOW bloomfam.join_filter'), 'on', 'but not for the role');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET bloomfam.join_filter');
	$node->reload;
	wait_for($plain, 'on');
	is($plain->query('SHOW bloomfam.join_filter'), 'on', 'and on again');
	$_->quit foreach $plain, $insistent;
}
no_crash($node);
done_testing();
