# SPDX-License-Identifier: PostgreSQL
# Property: the functions of the aggregates may be called by another than the executor, each time through an FmgrInfo of its own whose memory is
# gone afterwards, as Citus does: the result is the same, and nothing is read that was freed.  Built with test/modules/foreign_caller.
#
# MATRIX in the environment, as of 016_aggregate_matrix.pl: how many calls are tried under each condition.

use strict;
use warnings;

use BloomfamTest;
use Cwd qw(getcwd);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $module = getcwd() . '/test/modules/foreign_caller';
my @make = ('make', '-s', '-C', $module);
push @make, "PG_CONFIG=$ENV{PG_CONFIG}" if $ENV{PG_CONFIG};
ok(run_log(\@make), 'the module that calls is built');

# what the C library frees is written over
local $ENV{MALLOC_PERTURB_} = 165;
my $thin = { all => 1, default => share(3, 1), sample => share(6, 1) }->{ $ENV{MATRIX} // 'default' };
my $node = start_node('main', "work_mem = '4MB'\nmax_parallel_workers_per_gather = 0\ntest.thin = $thin\n");
my $pid = $node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)});

$node->safe_psql('postgres', qq{
	CREATE FUNCTION split_trans(internal, oid, int, VARIADIC "any") RETURNS internal AS '$module/foreign_caller' LANGUAGE C;
	CREATE FUNCTION split_final(internal, oid, int, VARIADIC "any") RETURNS bloomfilter AS '$module/foreign_caller' LANGUAGE C;
	CREATE FUNCTION state_bytes_final(internal, oid, int, VARIADIC "any") RETURNS bigint AS '$module/foreign_caller' LANGUAGE C;
	CREATE AGGREGATE split_agg(oid, int, VARIADIC "any") (SFUNC = split_trans, STYPE = internal, FINALFUNC = split_final, FINALFUNC_EXTRA);
	CREATE AGGREGATE state_bytes(oid, int, VARIADIC "any") (SFUNC = split_trans, STYPE = internal, FINALFUNC = state_bytes_final, FINALFUNC_EXTRA);
} . q{
	CREATE TABLE t AS SELECT x AS id, (x::bigint * 7919) % 4001 AS k, CASE WHEN x % 10 > 0 THEN 'key ' || x % 4000 END AS s FROM generate_series(1, 6000) x;
	CREATE TABLE filters AS SELECT id % 100 AS id, CASE WHEN id % 100 <> 17 THEN bloom_agg(k, 0.01, 'blocked', 20000) END AS f FROM t GROUP BY 1;

	-- what is aggregated, under a condition
	CREATE TABLE calls (aggregate regprocedure, args text, source text, number int GENERATED ALWAYS AS IDENTITY);
	INSERT INTO calls
		SELECT format('bloom_agg("any"%s)', signature)::regprocedure, key || args, 't' FROM unnest(ARRAY['k', 'id', 's', 'ROW(id, s)']) key,
			(VALUES ('', ''), (',float8', ', 0.001::float8'), (',text', $$, 'ribbon'::text$$), (',text', $$, '0.001'::text$$), (',float8,text', $$, 0.001::float8, 'standard'::text$$),
				(',float8,text,int8', $$, 0.001::float8, 'blocked'::text, 30000::bigint$$)) v(signature, args);
	INSERT INTO calls
		SELECT format('bloom_agg(bloomkey%s)', signature)::regprocedure, key || args, 't' FROM unnest(ARRAY['bloom_key(k)', 'bloom_key(s)']) key,
			(VALUES ('', ''), (',float8', ', 0.001::float8'), (',text', $$, 'ribbon'::text$$), (',text', $$, '0.001'::text$$), (',float8,text', $$, 0.001::float8, 'standard'::text$$),
				(',float8,text,int8', $$, 0.001::float8, 'blocked'::text, 30000::bigint$$)) v(signature, args);
	INSERT INTO calls
		SELECT format('bloom_agg(%s,float8,text,int8)', key_type)::regprocedure, format('%s, 0.01::float8, %L::text, %s::bigint', key, kind, expected), 't'
		FROM (SELECT kind FROM bloom_kinds(10)) kinds, (VALUES ('"any"', 'k'), ('bloomkey', 'bloom_key(k)')) v(key_type, key), unnest(ARRAY['NULL', '100', '1000003']) expected
		WHERE kind <> 'parquet' OR key_type <> 'bloomkey';
	INSERT INTO calls SELECT a::regprocedure, 'f', 'filters' FROM unnest(ARRAY['bloom_union_agg(bloomfilter)', 'bloom_intersect_agg(bloomfilter)']) a;

	-- those calls whose result is not that of the aggregate itself
	CREATE FUNCTION differences(condition text, groups text) RETURNS TABLE (aggregate regprocedure, args text, what text) LANGUAGE plpgsql AS $$
	DECLARE
		different bigint;
		source text;
	BEGIN
		FOR aggregate, args, source IN SELECT c.aggregate, c.args, c.source FROM calls c
				WHERE (c.number + length(condition || groups)) % current_setting('test.thin')::int = 0 OR c.source = 'filters' LOOP
			EXECUTE format('SELECT count(*) FROM (SELECT %6$s AS g, split_agg(%1$s, id %% 3, %2$s) AS a, %3$s(%2$s) AS b FROM %4$s WHERE %5$s GROUP BY 1) x
				WHERE a IS DISTINCT FROM b', aggregate::oid, args, aggregate::oid::regproc, source, condition, groups) INTO different;
			IF different > 0 THEN
				what := different || ' of the groups';
				RETURN NEXT;
			END IF;
		END LOOP;
	END $$;
});

is( $node->safe_psql('postgres', q{SELECT count(*) > 80 FROM calls;
		SELECT p.oid::regprocedure FROM pg_proc p WHERE prokind = 'a' AND proname ~ '^bloom_.*agg$' AND p.oid NOT IN (SELECT aggregate FROM calls)
			-- of an untyped key: an error, whoever calls it
			AND NOT 'bloomliteral'::regtype = ANY (p.proargtypes)}),
	't', 'every aggregate is called');
is($node->safe_psql('postgres', q{SELECT * FROM differences('true', '1')}), '', 'one group');
is($node->safe_psql('postgres', q{SELECT * FROM differences('id <> 17', '1')}), '', 'no NULL among the filters');
is($node->safe_psql('postgres', q{SELECT * FROM differences('id < 400', 'id % 37')}), '', 'many groups');
is($node->safe_psql('postgres', q{SET enable_hashagg = off; SELECT * FROM differences('id < 400', 'id % 37')}), '', 'many groups, one after the other');
is($node->safe_psql('postgres', q{SELECT * FROM differences('id % 3 = 1 AND id < 100', '1')}), '', 'nodes without rows');
is($node->safe_psql('postgres', q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SELECT * FROM differences('true', '1')}), '', 'with little memory');

# more than the memory that it has: a file that all groups share
is( $node->safe_psql('postgres', q{
		SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
		SELECT count(*) FROM (SELECT x % 3 AS g, split_agg('bloom_agg(bloomkey)'::regprocedure, x % 2, bloom_key(x)) AS a, bloom_agg(x) AS b
			FROM generate_series(1, 400000) x GROUP BY 1) y WHERE a <> b}),
	'0', 'sets that are spilled');
is(join(' ', temp_files($node)), '', '... and their files are gone');

# errors on the way, with states and files open
my ($status, $out, $error) = $node->psql('postgres', q{
	SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
	SELECT split_agg('bloom_agg(bloomkey)'::regprocedure, x % 2, bloom_key(1000 / (450000 - x))) FROM generate_series(1, 500000) x});
like($error, qr/division by zero/, 'an error on the way');
($status, $out, $error) = $node->psql('postgres', q{
	SELECT split_agg('bloom_agg(bloomkey)'::regprocedure, 1, CASE WHEN x < 5 THEN bloom_key(x) ELSE bloom_key(x::text) END) FROM generate_series(1, 10) x});
like($error, qr/cannot build a bloom filter of keys of different types/, 'an error of a function');
($status, $out, $error) = $node->psql('postgres', q{
	SELECT split_agg('bloom_agg(bloomkey,float8,text,int8)'::regprocedure, 1, bloom_key(x), 0.01::float8, 'blocked'::text, x::bigint) FROM generate_series(1, 10) x});
like($error, qr/must not change within a group/, 'arguments that change are noticed, though nothing is known of the call');

# what travels is the smaller of the hashes and the filter, whoever calls
my $query = q{SELECT state_bytes('bloom_agg(bloomkey,float8,text,int8)'::regprocedure, 1, bloom_key(x), 0.01::float8, 'blocked'::text, 1000003::bigint)
	FROM generate_series(1, %d) x};
my $few = $node->safe_psql('postgres', sprintf $query, 10000);
my $many = $node->safe_psql('postgres', sprintf $query, 500000);
cmp_ok($few, '<', 165_000, "10,000 keys of 1,000,003 expected: $few bytes of text");
cmp_ok($many, '<', 3_000_000, "500,000 keys: $many bytes of text");

is($node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)}), $pid, 'the same postmaster');
no_crash($node);
$node->stop;
done_testing();
