# SPDX-License-Identifier: PostgreSQL
# Property: once make install-plugin has made its link, any user switches join filters on for own sessions, by local_preload_libraries; and is not
# let in by any other name.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('plugin', "max_parallel_workers_per_gather = 0\nmax_parallel_workers = 4\n");
my $libdir = $node->config_data('--pkglibdir');

plan skip_all => 'make install-plugin was not called' unless -e "$libdir/plugins/bloomfam.so";
is(readlink "$libdir/plugins/bloomfam.so", '../bloomfam.so', 'the link is relative');
is((stat "$libdir/plugins/bloomfam.so")[1], (stat "$libdir/bloomfam.so")[1], '... and leads to the module');

$node->safe_psql('postgres', q{
	CREATE ROLE plain LOGIN;
	CREATE TABLE fact AS SELECT g AS id, g % 1000 AS k FROM generate_series(1, 50000) g;
	CREATE TABLE dim AS SELECT g AS k, g % 100 AS c FROM generate_series(1, 1000) g;
	GRANT SELECT ON fact, dim TO plain;
	ANALYZE fact, dim;
});

my $query = 'SELECT count(*) FROM fact JOIN dim USING (k) WHERE c = 7';

# What a user's session says, with these options.
sub said
{
	my ($sql, $options, $user) = @_;
	my ($out, $error);

	local $ENV{PGOPTIONS} = $options // '';
	$node->psql('postgres', $sql, stdout => \$out, stderr => \$error, extra_params => [ '-U', $user // 'plain' ]);
	return $out . ($error =~ /\S/ ? "\n$error" : '');
}

my $plan = "EXPLAIN (COSTS OFF) $query";
unlike(said("SET bloomfam.join_filter = on; $plan"), qr/Bloom Filter/, 'without it: no filters, and no word');

# for one session
my $preloaded = '-c local_preload_libraries=bloomfam';
like(said("SET bloomfam.join_filter = on; $plan", $preloaded), qr/Bloom Filter Probe/, 'a session that asks for it has filters');
unlike(said("SET bloomfam.join_filter = on; $plan", $preloaded), qr/WARNING/, '... and no warning that it is too late');
is(said("SET bloomfam.join_filter = on; $query", $preloaded), said($query), '... with the same rows');
like(said($plan, $preloaded), qr/Bloom Filter Probe/, '... by default');
unlike(said($plan, "$preloaded -c bloomfam.join_filter=off"), qr/Bloom Filter/, '... unless they are switched off as it begins');
like(said("SET bloomfam.join_filter = force; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query", $preloaded), qr/Workers Launched: [12](?s:.*)Bloom Filter Probe/,
	'parallel workers load it, too');

# the functions come from the other name of the file: it is loaded once
is(said("SET bloomfam.join_filter = on; SELECT bloom_agg(k) \@~ 7 FROM dim; SHOW bloomfam.join_filter; $query", $preloaded), "t\non\n500", 'it is one module under both names');
is(said(q{SELECT bloom_agg(k) @~ 7 FROM dim; LOAD '$libdir/plugins/bloomfam'; SELECT bloom_agg(k) @~ 8 FROM dim}), "t\nt", '... in the other order, too');

# the counters of all sessions: a server that can have shared memory later needs no setting of a superuser's
my $counted = said("SET bloomfam.join_filter = on; $query; SELECT sum(executions) > 0, sum(rows_removed) > 0 FROM bloomfam_stat_join_filters", $preloaded);
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 170000)
{
	is($counted, "500\nt|t", 'filters are counted where any user has loaded the module');
}
else
{
	like($counted, qr/^500\n.*shared_preload_libraries/s, 'filters are counted only where a superuser has loaded the module, which is said');
}

# for all sessions of a role, which it says for itself: what the module's settings are is known once it is loaded
is(said(q{ALTER ROLE plain SET local_preload_libraries = 'bloomfam'}), '', 'a role may set it for itself');
is(said('ALTER ROLE plain SET bloomfam.join_filter = on'), '', '... and switch filters on, in a later session');
like(said($plan), qr/Bloom Filter Probe/, '... and has filters from then on');
unlike(said($plan, '', (getpwuid $<)[0]), qr/Bloom Filter/, '... others have none');
is(said('ALTER ROLE plain RESET ALL'), '', '... and takes it back');

# what is not in that folder stays out
like(said('SELECT 1', '-c local_preload_libraries=../bloomfam'), qr/access to library|No such file/, 'no other name is let in');
like(said(q{LOAD '$libdir/bloomfam'}), qr/access to library/, '... nor by LOAD');
like(said(q{SET session_preload_libraries = 'bloomfam'}), qr/permission denied/, '... nor by the setting of superusers');

no_crash($node);
$node->stop;
done_testing();
