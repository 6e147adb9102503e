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

# An error there is an error here.
my ($status, $out, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT count(*) FROM fact WHERE bloom_may_contain('$constant', u)");
like($error, qr/ERROR:  42804/, 'another family is an error from afar, too');

no_crash($node);
$node->stop;
done_testing();
