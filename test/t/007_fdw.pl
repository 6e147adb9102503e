# SPDX-License-Identifier: PostgreSQL
# Property: postgres_fdw ships probes to the other server, with the filter, and the rows are those that a local probe gives.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main');
plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', q{
	CREATE EXTENSION bloomfam;
	CREATE TABLE fact AS SELECT g AS id, 'n' || g AS t, '2000-01-01'::timestamptz + g * interval '1 h' AS at, md5(g::text)::uuid AS u,
		bloom_key(g) AS h FROM generate_series(1, 30000) g;
	CREATE TABLE filters AS SELECT 'small' AS name, bloom_agg(g) AS f FROM generate_series(1, 100) g;
	INSERT INTO filters SELECT 'large', bloom_agg(g, 0.001, 'standard') FROM generate_series(1, 200000) g;
	INSERT INTO filters SELECT 'empty', bloom_agg(g) FROM generate_series(1, 0) g;
	INSERT INTO filters VALUES ('null', NULL);
	ANALYZE;
});
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far', extensions 'bloomfam');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE FOREIGN TABLE fact (id int, t text, at timestamptz, u uuid, h bloomkey) SERVER far;
	CREATE FOREIGN TABLE filters (name text, f bloomfilter) SERVER far;
	CREATE TABLE local_fact AS SELECT * FROM fact;
	CREATE TABLE dim AS SELECT g * 77 AS id, 'n' || g * 77 AS t, '2000-01-01'::timestamptz + g * 77 * interval '1 h' AS at,
		md5((g * 77)::text)::uuid AS u FROM generate_series(1, 200) g;
	CREATE TABLE stored AS SELECT bloom_agg(id, 0.01) AS id, bloom_agg(id, 0.01, 'standard', 100000) AS large, bloom_agg(t) AS t, bloom_agg(at) AS at, bloom_agg(u) AS u FROM dim;
	ANALYZE;
});

sub shipped
{
	my ($condition, $name, $remote) = @_;
	my $plan = $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM fact WHERE $condition");

	like($plan, qr/Remote SQL: [^\n]*WHERE[^\n]*$remote/, "$name: the other server probes");
	unlike($plan, qr/\n\s+Filter:/, "$name: ... all that there is to probe");
	my $far = $node->safe_psql('postgres', "SELECT count(*), sum(id) FROM fact WHERE $condition");
	my $near = $node->safe_psql('postgres', "SELECT count(*), sum(id) FROM local_fact WHERE $condition");
	is($far, $near, "$name: the same rows");
	cmp_ok((split /\|/, $far)[0], '>=', 200, "$name: no row is lost");
	cmp_ok((split /\|/, $far)[0], '<', 1500, "$name: most are dropped");
	return;
}

my $constant = $node->safe_psql('postgres', 'SELECT id FROM stored');
shipped("bloom_may_contain('$constant', id)", 'a constant', qr/bloom_may_contain\(E?'\\+x6266616d/);
shipped("id ~@ '$constant'::bloomfilter", 'a constant, operator', qr/OPERATOR\(public\.~@\)/);
shipped('bloom_may_contain((SELECT bloom_agg(id) FROM dim), id)', 'a scalar subquery', qr/bloom_may_contain\([^\n]*::public\.bloomfilter\)?, id\)/);
shipped('(SELECT id FROM stored) @~ id', 'a stored filter', qr/OPERATOR\(public\.@~\)/);
shipped('bloom_may_contain((SELECT large FROM stored), id)', 'a stored filter that is TOASTed', qr/bloom_may_contain/);
shipped('bloom_may_contain((SELECT t FROM stored), t)', 'text', qr/bloom_may_contain/);
shipped('bloom_may_contain((SELECT at FROM stored), at)', 'timestamptz', qr/bloom_may_contain/);
shipped('bloom_may_contain((SELECT u FROM stored), u)', 'uuid', qr/bloom_may_contain/);
shipped('bloom_may_contain((SELECT id FROM stored), h)', 'hashed keys', qr/bloom_may_contain/);
shipped('bloom_may_contain((SELECT id FROM stored), bloom_key(id))', 'keys that are hashed there', qr/bloom_key\(id\)/);

# prepared, with the filter as a parameter
my $plan;
is( $node->safe_psql('postgres', qq{
		SET plan_cache_mode = force_generic_plan;
		PREPARE far(bloomfilter) AS SELECT count(*), sum(id) FROM fact WHERE bloom_may_contain(\$1, id);
		EXECUTE far('$constant')}),
	$node->safe_psql('postgres', "SELECT count(*), sum(id) FROM local_fact WHERE bloom_may_contain('$constant', id)"),
	'a parameter: the same rows');
like( $node->safe_psql('postgres', qq{
		SET plan_cache_mode = force_generic_plan;
		PREPARE far(bloomfilter) AS SELECT id FROM fact WHERE bloom_may_contain(\$1, id);
		EXPLAIN (VERBOSE, COSTS OFF) EXECUTE far('$constant')}),
	qr/Remote SQL: [^\n]*bloom_may_contain/, 'a parameter: the other server probes');

# Filters on the way: as text.
my $bytes = 'SELECT name, length(bytea(f)), sha256(bytea(f)) FROM filters ORDER BY name';
is($node->safe_psql('postgres', $bytes), $node->safe_psql('far', $bytes), 'a filter that was fetched is equal to the byte');
is( $node->safe_psql('postgres', q{
		INSERT INTO filters SELECT 'sent', bloom_agg(g) FROM generate_series(1, 50000) g;
		UPDATE filters SET f = bloom_add(f, 7777) WHERE name = 'small';
		SELECT f = (SELECT bloom_agg(g) FROM generate_series(1, 50000) g) FROM filters WHERE name = 'sent'}),
	't', 'one that was sent, too');
is($node->safe_psql('far', q{SELECT f @~ 7777 AND f @~ 50 FROM filters WHERE name = 'small'}), 't', 'a key that was added from afar');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM fact f JOIN local_fact l USING (id) WHERE f.h = l.h AND l.h = bloom_key(id)}),
	'30000', 'hashed keys are equal');

# An aggregate on the other server, and a filter built of what comes from there.
like($node->safe_psql('postgres', 'EXPLAIN (VERBOSE, COSTS OFF) SELECT bloom_agg(id) FROM fact'), qr/Remote SQL: SELECT public\.bloom_agg\(id\)/,
	'the other server builds');
is( $node->safe_psql('postgres', 'SELECT (SELECT bloom_agg(id) FROM fact) = (SELECT bloom_agg(id) FROM local_fact)'),
	't', '... the same filter');

# What the other server does not get: it probes here, with the same rows.  A constant or a COLLATE brings a collation that is not the remote column's.
sub kept
{
	my ($table, $condition, $name) = @_;
	my $plan = $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM $table WHERE $condition");

	like($plan, qr/\n\s+Filter: [^\n]*(bloom_may_contain|\@~|~\@)/, "$name: probed here");
	unlike($plan, qr/Remote SQL: [^\n]*WHERE/, "$name: ... all of it");
	is( $node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE $condition"),
		$node->safe_psql('postgres', "SELECT count(*) FROM local_$table WHERE $condition"),
		"$name: the same rows");
	return;
}

$node->safe_psql('far', q{DELETE FROM filters WHERE name <> 'large'; INSERT INTO filters SELECT 'texts', bloom_agg(t) FROM fact});
$node->safe_psql('postgres', q{
	CREATE TABLE local_filters AS SELECT * FROM filters;
	CREATE TABLE more AS SELECT bloom_agg((id, t)) AS r FROM dim});
my $text = q{name = 'texts' COLLATE "C" AND f};
kept('fact', 'bloom_may_contain((SELECT t FROM stored), t COLLATE "C")', 'a collation that is applied here');
kept('fact', 'bloom_may_contain((SELECT r FROM more), (id, t))', 'a row as the key');
kept('filters', "$text @~ 'n77'", 'a literal key');
kept('filters', "$text @~ 'n77'::text", 'a text constant as the key');
kept('filters', "$text @~ (SELECT 'n77'::text)", 'a text from a subquery as the key');
$plan = $node->safe_psql('postgres', q{EXPLAIN (VERBOSE, COSTS OFF) SELECT name FROM filters WHERE f @~ bloom_key('n77'::text)});
like($plan, qr/Remote SQL: [^\n]*OPERATOR\(public\.@~\) '[0-9a-f]{16}:[0-9a-f]{16}'::public\.bloomkey/, 'but it gets a text constant that is hashed here');
is($node->safe_psql('postgres', q{SELECT count(*) FROM filters WHERE name = 'texts' AND f @~ bloom_key('n77'::text)}), '1', '... and finds it');
$plan = $node->safe_psql('postgres', q{EXPLAIN (VERBOSE, COSTS OFF) SELECT name FROM filters WHERE name = 'large' AND bloom_may_contain(f, 77)});
like($plan, qr/Remote SQL: [^\n]*bloom_may_contain\(f, 77\)/, '... and a number as it is');
$plan = $node->safe_psql('postgres', 'EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM fact WHERE bloom_shard(id, 4) = 2');
like($plan, qr/Remote SQL: [^\n]*WHERE[^\n]*bloom_shard\(id, 4\)/, '... and the number of a shard');

# Aggregates: those with a text among their arguments that is no column's are computed here.
foreach ([ 'bloom_agg(bloom_key(id))', 1 ], [ 'bloom_agg(t)', 1 ], [ 'bloom_agg(id, 0.001)', 1 ], [ q{bloom_agg(t, 0.001, 'standard', 30000)}, 1 ],
	[ q{bloom_agg(id, 0.001, 'standard', 30000)}, 0 ])
{
	my ($call, $there) = @$_;

	$plan = $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) SELECT $call FROM fact");
	is($plan =~ /Remote SQL: SELECT public\.bloom_agg/ ? 1 : 0, $there, "$call is computed " . ($there ? 'there' : 'here'));
	is($node->safe_psql('postgres', "SELECT (SELECT $call FROM fact) = (SELECT $call FROM local_fact)"), 't', '... to the same bytes');
}
like($node->safe_psql('postgres', 'EXPLAIN (VERBOSE, COSTS OFF) SELECT bloom_union_agg(f) FROM filters'),
	qr/Remote SQL: SELECT public\.bloom_union_agg\(f\)/, 'the other server unites');

# A table in parts on several nodes: all are asked at once, each gets the filter; and each makes its own filter, of one size, which are united here.
$node->safe_psql('postgres', qq{
	CREATE TABLE spread (part int, id int, t text) PARTITION BY LIST (part);
	CREATE TABLE local_spread (part int, id int, t text)});
foreach my $part (1 .. 3)
{
	$node->safe_psql('postgres', "CREATE DATABASE node$part");
	$node->safe_psql("node$part", qq{
		CREATE EXTENSION bloomfam;
		CREATE TABLE spread AS SELECT $part AS part, g AS id, 'n' || g AS t FROM generate_series(1, 30000) g WHERE g % 3 = $part - 1;
		CREATE VIEW filter AS SELECT bloom_agg(id, 0.01, 'blocked', 30000) AS f FROM spread;
		ANALYZE});
	$node->safe_psql('postgres', qq{
		CREATE SERVER node$part FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'node$part', extensions 'bloomfam', async_capable 'true');
		CREATE USER MAPPING FOR CURRENT_USER SERVER node$part;
		CREATE FOREIGN TABLE spread_$part PARTITION OF spread FOR VALUES IN ($part) SERVER node$part OPTIONS (table_name 'spread');
		CREATE FOREIGN TABLE filter_$part (f bloomfilter) SERVER node$part OPTIONS (table_name 'filter');
		INSERT INTO local_spread SELECT * FROM spread_$part});
}
foreach ([ 'a constant', "bloom_may_contain('$constant', id)" ], [ 'a subquery', 'bloom_may_contain((SELECT bloom_agg(id) FROM dim), id)' ])
{
	my ($name, $condition) = @$_;

	$plan = $node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM spread WHERE $condition");
	is(scalar(() = $plan =~ /Async Foreign Scan/g), 3, "parts on three nodes, $name: asked at once");
	is(scalar(() = $plan =~ /Remote SQL: [^\n]*bloom_may_contain/g), 3, '... and each probes');
	is( $node->safe_psql('postgres', "SELECT count(*), sum(id) FROM spread WHERE $condition"),
		$node->safe_psql('postgres', "SELECT count(*), sum(id) FROM local_spread WHERE $condition"),
		'... with the same rows');
}
my $united = q{(SELECT bloom_union_agg(f) FROM (SELECT * FROM filter_1 UNION ALL SELECT * FROM filter_2 UNION ALL SELECT * FROM filter_3) s)};
is( $node->safe_psql('postgres', "SELECT bloom_may_contain_all($united, array_agg(id)) FROM local_spread"),
	't', 'filters of the nodes, united: no key is lost');
is( $node->safe_psql('postgres', "SELECT (bloom_info(u)).bits = (bloom_info(a)).bits, bloom_fpr(u) = bloom_fpr(a)
		FROM (SELECT $united AS u, (SELECT bloom_agg(id, 0.01, 'blocked', 30000) FROM local_spread) AS a) s"),
	't|t', '... and it is as good as one filter of all');

# An error there is an error here.
my ($status, $out, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT count(*) FROM fact WHERE bloom_may_contain('$constant', u)");
like($error, qr/ERROR:  42804/, 'another family is an error from afar, too');

no_crash($node);
$node->stop;
done_testing();
