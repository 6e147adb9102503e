-- What Citus asks of an aggregate to push it down, in two steps: its catalogue entry, and calls as Citus makes them.
CREATE SCHEMA citus;
SET search_path = citus, public;
SET max_parallel_workers_per_gather = 0;

--
-- Concrete arguments (workers are called without the expression that would tell what "any" is), a state that is a real type and travels as text, and a
-- function that combines two states.
--
SELECT a.aggfnoid::regprocedure AS aggregate, a.aggtranstype::regtype AS state, a.aggcombinefn <> 0 AS combines,
	a.aggserialfn <> 0 AS serialises, bool_and(t.typtype <> 'p') AND s.typtype <> 'p' AND a.aggcombinefn <> 0 AS pushed_down
FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid JOIN pg_type s ON s.oid = a.aggtranstype,
	unnest(p.proargtypes) arg JOIN pg_type t ON t.oid = arg
WHERE p.proname IN ('bloom_agg', 'bloom_union_agg', 'bloom_intersect_agg')
GROUP BY 1, 2, 3, 4, s.typtype
ORDER BY 1;

-- the functions behind them: declared with what they are called with, and harmless on any node
SELECT f::regprocedure AS function, p.prorettype::regtype AS returns, p.provolatile AS volatile, p.proparallel AS parallel
FROM pg_aggregate a JOIN pg_proc agg ON agg.oid = aggfnoid JOIN pg_type s ON s.oid = aggtranstype AND s.typtype <> 'p',
	unnest(ARRAY[aggtransfn, aggcombinefn, aggfinalfn]) f JOIN pg_proc p ON p.oid = f
WHERE agg.proname IN ('bloom_agg', 'bloom_union_agg', 'bloom_intersect_agg')
GROUP BY 1, 2, 3, 4
ORDER BY 1;

--
-- The two steps: worker_partial_agg runs the transition function over a node's rows and sends the state as text; coord_combine_agg combines the
-- states as they were read in, and finishes.
--
CREATE AGGREGATE worker_partial(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE worker_partial(bloomkey, float8) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE worker_partial(bloomkey, text) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE worker_partial(bloomkey, float8, text) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE worker_partial(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE coord_combine(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
CREATE AGGREGATE worker_partial_union(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter);
CREATE AGGREGATE coord_combine_union(bloomfilter) (SFUNC = bloom_union_combine, STYPE = bloomfilter, FINALFUNC = bloom_union_final);

CREATE TABLE k AS SELECT x, x % 4 AS node, 'k' || x % 3000 AS t FROM generate_series(1, 20000) x;

SELECT coord_combine(p::text::bloomfilter) = (SELECT bloom_agg(t) FROM k) AS the_same FROM (SELECT worker_partial(bloom_key(t)) AS p FROM k GROUP BY node) s;
SELECT coord_combine(p::text::bloomfilter) = (SELECT bloom_agg(t, 0.001) FROM k) AS the_same
FROM (SELECT worker_partial(bloom_key(t), 0.001) AS p FROM k GROUP BY node) s;
SELECT coord_combine(p::text::bloomfilter) = (SELECT bloom_agg(t, 'ribbon') FROM k) AS the_same
FROM (SELECT worker_partial(bloom_key(t), 'ribbon') AS p FROM k GROUP BY node) s;
SELECT coord_combine(p::text::bloomfilter) = (SELECT bloom_agg(t, 0.001, 'standard') FROM k) AS the_same
FROM (SELECT worker_partial(bloom_key(t), 0.001, 'standard') AS p FROM k GROUP BY node) s;
SELECT coord_combine(p::text::bloomfilter) = (SELECT bloom_agg(x, 0.001, 'blocked', 50000) FROM k) AS the_same
FROM (SELECT worker_partial(bloom_key(x), 0.001, 'blocked', 50000) AS p FROM k GROUP BY node) s;
-- a node without rows sends NULL; one without keys, too; and without any there is the empty filter
SELECT coord_combine(p) = (SELECT bloom_agg(x) FROM k WHERE node = 1) AS the_same
FROM (SELECT worker_partial(bloom_key(CASE WHEN node = 1 THEN x END))::text::bloomfilter AS p FROM k GROUP BY node
	UNION ALL SELECT worker_partial(bloom_key(x)) FROM k WHERE false) s;
SELECT coord_combine(p) = (SELECT bloom_agg(bloom_key(x)) FROM k WHERE false) AS the_same
FROM (SELECT worker_partial(bloom_key(x))::text::bloomfilter AS p FROM k WHERE false) s;
-- keys of different families meet when the states are combined
SELECT coord_combine(p) FROM (SELECT worker_partial(bloom_key(x))::text::bloomfilter AS p FROM k UNION ALL SELECT worker_partial(bloom_key(t)) FROM k) s;

-- filters, of which each node has some
CREATE TABLE f AS SELECT node, x % 3 AS part, bloom_agg(x, 0.01, 'blocked', 20000) AS f FROM k GROUP BY 1, 2;
SELECT coord_combine_union(p) = (SELECT bloom_union_agg(f) FROM f) AS the_same
FROM (SELECT worker_partial_union(f)::text::bloomfilter AS p FROM f GROUP BY node) s;

SET client_min_messages = warning;
DROP SCHEMA citus CASCADE;
