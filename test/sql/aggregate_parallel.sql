-- Parallel plans: the same bytes, whatever the number of workers.
CREATE SCHEMA aggregate_parallel;
SET search_path = aggregate_parallel, public;

CREATE TABLE t (id int, g int, k bigint, s text, f bloomfilter) WITH (parallel_workers = 4);
INSERT INTO t SELECT x, x % 5, x % 20000, CASE WHEN x % 3 = 0 THEN 'key ' || x END FROM generate_series(1, 50000) x;
-- few rows, so that some workers see none, and none at all; the planner expects many
CREATE VIEW few AS SELECT k, CASE WHEN id < 0 THEN s END AS s FROM t WHERE id % 15000 < 1;
CREATE VIEW none AS SELECT k, f FROM t WHERE id % 15000 < 0;
CREATE TABLE filters (id int, f bloomfilter, maybe bloomfilter) WITH (parallel_workers = 4);
ALTER TABLE filters ALTER f SET STORAGE MAIN;
INSERT INTO filters SELECT i, (SELECT bloom_agg(x, 0.01, 'standard', 100 + i) FROM generate_series(1, 100 + i) x), CASE WHEN i <> 700 THEN (SELECT bloom_agg(x, 0.01, 'standard') FROM generate_series(i, i + 2) x) END FROM generate_series(1, 1000) i;
ANALYZE t, filters;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers = 8;

SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bloom_agg(k) FROM t;
EXPLAIN (COSTS OFF) SELECT bloom_agg(bloom_key(k), 0.001, 'standard', 20000) FROM t;
EXPLAIN (COSTS OFF) SELECT bloom_union_agg(f), bloom_intersect_agg(f) FROM filters;
-- the probe takes part in a parallel scan
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE f @~ k;

-- All forms, in one row; the number of partial aggregates in the plan that made it.
CREATE FUNCTION forms(workers int, leader boolean) RETURNS TABLE (what text, partial boolean, f bloomfilter) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	query text;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM set_config('parallel_leader_participation', leader::text, true);
	FOR what, query IN VALUES
		('keys', 'SELECT bloom_agg(k) FROM t'),
		('fpr', 'SELECT bloom_agg(k, 0.001) FROM t'),
		('kind', 'SELECT bloom_agg(k, 0.001, ''standard'') FROM t'),
		('kind alone', 'SELECT bloom_agg(k, ''ribbon'') FROM t'),
		('fpr as text', 'SELECT bloom_agg(k, ''0.001'') FROM t'),
		('expected', 'SELECT bloom_agg(k, 0.001, ''standard'', 20000) FROM t'),
		('expected, blocked', 'SELECT bloom_agg(k, 0.01, ''blocked'', 20000) FROM t'),
		('expected too few', 'SELECT bloom_agg(k, 0.01, ''blocked'', 10) FROM t'),
		('expected too many', 'SELECT bloom_agg(k, 0.01, ''blocked'', 3000000) FROM t'),
		('text with NULLs', 'SELECT bloom_agg(s) FROM t'),
		('FILTER', 'SELECT bloom_agg(k) FILTER (WHERE id % 7 = 0) FROM t'),
		('FILTER none', 'SELECT bloom_agg(k) FILTER (WHERE id < 0) FROM t'),
		('hashed', 'SELECT bloom_agg(bloom_key(k)) FROM t'),
		('hashed, fpr', 'SELECT bloom_agg(bloom_key(k), 0.001) FROM t'),
		('hashed, kind', 'SELECT bloom_agg(bloom_key(k), 0.001, ''standard'') FROM t'),
		('hashed, kind alone', 'SELECT bloom_agg(bloom_key(k), ''ribbon'') FROM t'),
		('hashed, fpr as text', 'SELECT bloom_agg(bloom_key(k), ''0.001'') FROM t'),
		('hashed, expected', 'SELECT bloom_agg(bloom_key(k), 0.001, ''standard'', 20000) FROM t'),
		('hashed, expected too few', 'SELECT bloom_agg(bloom_key(k), 0.001, ''standard'', 10) FROM t'),
		('hashed with NULLs', 'SELECT bloom_agg(bloom_key(s)) FROM t'),
		('union', 'SELECT bloom_union_agg(f) FROM filters'),
		('union with NULL', 'SELECT bloom_union_agg(maybe) FROM filters'),
		('union without NULL', 'SELECT bloom_union_agg(maybe) FROM filters WHERE maybe IS NOT NULL'),
		('intersection with NULL', 'SELECT bloom_intersect_agg(maybe) FROM filters WHERE id BETWEEN 690 AND 710 AND (maybe IS NULL OR f @~ 50)'),
		('few rows', 'SELECT bloom_agg(k) FROM few'),
		('few rows, expected', 'SELECT bloom_agg(k, 0.01, ''blocked'', 100) FROM few'),
		('few hashed rows', 'SELECT bloom_agg(bloom_key(k), 0.01, ''standard'') FROM few'),
		('only NULLs', 'SELECT bloom_agg(s) FROM few'),
		('only NULLs, expected', 'SELECT bloom_agg(s, 0.5, ''standard'', 10) FROM few'),
		('no rows', 'SELECT bloom_agg(k) FROM none'),
		('no rows, expected', 'SELECT bloom_agg(k, 0.5, ''standard'', 10) FROM none'),
		('no hashed rows', 'SELECT bloom_agg(bloom_key(k)) FROM none'),
		('union of no rows', 'SELECT bloom_union_agg(f) FROM none'),
		('intersection of no rows', 'SELECT bloom_intersect_agg(f) FROM none'),
		('union of groups', 'SELECT bloom_union_agg(f ORDER BY g) FROM (SELECT g, bloom_agg(k, 0.01, ''blocked'', 20000) FROM t GROUP BY g) x(g, f)'),
		('union of hashed groups', 'SELECT bloom_union_agg(f ORDER BY g) FROM (SELECT g, bloom_agg(bloom_key(k)) FROM t GROUP BY g) x(g, f)')
	LOOP
		partial := false;
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
			partial := partial OR line LIKE '%Partial%Aggregate%';
		END LOOP;
		EXECUTE query INTO f;
		RETURN NEXT;
	END LOOP;
END $$;

CREATE TABLE result AS SELECT workers, leader, x.*
FROM (VALUES (0, true), (1, false), (2, true), (4, false)) v(workers, leader), forms(workers, leader) x;
SELECT workers, leader, count(*), count(*) FILTER (WHERE partial) AS partial FROM result WHERE workers <> 1 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT what FROM result WHERE workers > 1 AND NOT partial GROUP BY 1 ORDER BY what COLLATE "C";
-- what was not the same as without workers
SELECT r.what, r.workers, r.leader FROM result r JOIN result s USING (what) WHERE s.workers = 0 AND r.f IS DISTINCT FROM s.f ORDER BY 1, 2, 3;
-- and without workers it was right
SELECT what, CASE WHEN f IS NULL THEN 'NULL' ELSE (bloom_info(f)).kind END AS kind, (bloom_info(f)).key_type, (bloom_info(f)).keys_added, (bloom_info(f)).capacity,
	CASE what WHEN 'text with NULLs' THEN (SELECT count(*) FROM t WHERE NOT f @~ s) WHEN 'hashed with NULLs' THEN (SELECT count(*) FROM t WHERE NOT f @~ s)
		WHEN 'FILTER' THEN (SELECT count(*) FROM t WHERE id % 7 = 0 AND NOT f @~ k) WHEN 'union' THEN (SELECT count(*) FROM generate_series(1, 1100) x WHERE NOT f @~ x)
		WHEN 'union without NULL' THEN (SELECT count(*) FROM generate_series(1, 1002) x WHERE NOT f @~ x)
		ELSE CASE WHEN (bloom_info(f)).keys_added BETWEEN 20000 AND 50000 THEN (SELECT count(*) FROM t WHERE NOT f @~ k) WHEN what LIKE 'few%' THEN (SELECT count(*) FROM few WHERE NOT f @~ k) END END AS lost
FROM result WHERE workers = 0 ORDER BY what COLLATE "C";

-- with little memory, where workers spill as well
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE spread WITH (parallel_workers = 4) AS SELECT x, (x::bigint * 7919) % 300007 AS k FROM generate_series(1, 400000) x;
ANALYZE spread;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT bloom_agg(k) AS f, bloom_agg(bloom_key(k), 0.001, 'standard') AS fk, bloom_agg(k, 0.01, 'standard', 300007) AS fe FROM spread;
SET max_parallel_workers_per_gather = 4;
SELECT f = (SELECT bloom_agg(k) FROM spread) AS keys, fk = (SELECT bloom_agg(bloom_key(k), 0.001, 'standard') FROM spread) AS hashed, fe = (SELECT bloom_agg(k, 0.01, 'standard', 300007) FROM spread) AS sized,
	(bloom_info(f)).capacity FROM serial;
SELECT count(*) FILTER (WHERE NOT f @~ k OR NOT fk @~ k OR NOT fe @~ k) AS lost FROM spread, serial;
RESET work_mem;
RESET hash_mem_multiplier;

-- groups in parallel
SET max_parallel_workers_per_gather = 0;
CREATE TABLE grouped AS SELECT k % 100 AS g, bloom_agg(k) AS f, bloom_agg(bloom_key(s)) AS fs, bloom_agg(k, 0.05, 'standard', 50) AS fe FROM t GROUP BY 1;
SET max_parallel_workers_per_gather = 4;
EXPLAIN (COSTS OFF) SELECT g, bloom_agg(k) FROM t GROUP BY 1;
SELECT count(*), count(*) FILTER (WHERE a.f = b.f AND a.fs = b.fs AND a.fe = b.fe) AS same
FROM grouped a JOIN (SELECT k % 100 AS g, bloom_agg(k) AS f, bloom_agg(bloom_key(s)) AS fs, bloom_agg(k, 0.05, 'standard', 50) AS fe FROM t GROUP BY 1) b USING (g);
SET enable_hashagg = off;
SELECT count(*), count(*) FILTER (WHERE a.f = b.f AND a.fs = b.fs AND a.fe = b.fe) AS same
FROM grouped a JOIN (SELECT k % 100 AS g, bloom_agg(k) AS f, bloom_agg(bloom_key(s)) AS fs, bloom_agg(k, 0.05, 'standard', 50) AS fe FROM t GROUP BY 1) b USING (g);
RESET enable_hashagg;

-- errors in workers are errors; so are options that differ, within one worker or between them
\set VERBOSITY terse
SELECT bloom_agg(k, 0.01, 'no such kind') FROM t;
\set VERBOSITY default
DO $$
BEGIN
	PERFORM bloom_agg(k, CASE WHEN id % 2 = 0 THEN 0.01 ELSE 0.02 END) FROM t;
EXCEPTION WHEN invalid_parameter_value THEN
	RAISE NOTICE 'refused';
END $$;
-- probes in workers: of a filter from a scalar subquery, stored out of line, and of a constant
CREATE TABLE stored AS SELECT bloom_agg(k, 0.0001) AS f FROM t WHERE k < 15000;
SET max_parallel_workers_per_gather = 4;
SELECT count(*) FILTER (WHERE k < 15000) AS inside, count(*) FILTER (WHERE k >= 15000) < 20 AS few_others FROM t WHERE (SELECT f FROM stored) @~ k;
SELECT count(*) FROM t WHERE bloom_add_all(bloom_create(3, 0.0001), '{1,2,3}'::int[]) @~ k AND k < 1000;

-- many keys for a filter that is larger than what they take: workers send hashes, from a set and then from a log
CREATE TABLE many WITH (parallel_workers = 4) AS SELECT x % 700000 AS k FROM generate_series(1, 900000) x;
ANALYZE many;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE many_serial AS SELECT bloom_agg(k, 0.01, 'blocked', 30000000) AS f, bloom_agg(bloom_key(k), 0.001, 'standard', 9000000) AS fk FROM many;
SET max_parallel_workers_per_gather = 2;
SELECT p.f = s.f AS keys, p.fk = s.fk AS hashed_keys FROM many_serial s,
	(SELECT bloom_agg(k, 0.01, 'blocked', 30000000) AS f, bloom_agg(bloom_key(k), 0.001, 'standard', 9000000) AS fk FROM many) p;
SELECT count(*) AS lost FROM many WHERE NOT (SELECT f FROM many_serial) @~ k;
