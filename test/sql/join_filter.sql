--
-- Join filters: rows are the same with and without, whatever the join, and wherever the filter goes.
--
-- The planner's hook is installed only in sessions that preload the module.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
-- (a session that loads the module later on would warn that this has no effect)
SET client_min_messages = error;
SET bloomfam.join_filter = force;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE jf_plain AS SELECT i AS k FROM generate_series(1, 1000) i;
ANALYZE jf_plain;
-- not here, and not where the server's settings preload the module, with its filters off
SELECT count(*) > 0 AS preloaded FROM pg_settings WHERE name = 'bloomfam.join_filter_max_size'
\gset
\if :preloaded
SET bloomfam.join_filter = off;
\endif
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_plain a JOIN jf_plain b USING (k);
\c -
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET bloomfam.join_filter = force;
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_plain a JOIN jf_plain b USING (k);
SET bloomfam.join_filter = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_plain a JOIN jf_plain b USING (k);
SET bloomfam.join_filter = on;
-- too few rows to be worth it
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_plain a JOIN jf_plain b USING (k) WHERE b.k < 10;
-- all rows are expected to match
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_plain a JOIN jf_plain b USING (k);

-- settings
SET bloomfam.join_filter = maybe;
SET bloomfam.join_foreign_keys = -2;
SHOW bloomfam.join_filter_max_size;

-- makes join_compare()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file

CREATE TABLE jf_a AS SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i END::bigint AS k, i AS v, i % 50 AS g, 'text ' || i AS t
	FROM generate_series(1, 20000) i;
CREATE TABLE jf_b AS SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE i * 3 END::bigint AS k, i AS v, i % 100 AS g, 'text ' || i * 3 AS t
	FROM generate_series(1, 5000) i;
CREATE TABLE jf_c AS SELECT (i * 5)::smallint AS k, i AS v, i % 10 AS g FROM generate_series(1, 1000) i;
CREATE TABLE jf_empty (k bigint, v int);
ANALYZE jf_a, jf_b, jf_c, jf_empty;
SET enable_nestloop = off;
SET enable_mergejoin = off;

-- kinds of joins
SELECT q, r.rows, r.same, CASE WHEN q !~ 'NOT' THEN r.filtered END AS filtered FROM (VALUES -- later versions have more kinds of anti joins
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b USING (k)'),
	('SELECT a.v, b.v AS w FROM jf_b b JOIN jf_a a USING (k) WHERE b.g < 5'),
	('SELECT a.v, b.v AS w FROM jf_a a LEFT JOIN jf_b b USING (k)'),
	('SELECT a.v, b.v AS w FROM jf_a a RIGHT JOIN jf_b b USING (k)'),
	('SELECT a.v, b.v AS w FROM jf_a a FULL JOIN jf_b b USING (k)'),
	('SELECT v FROM jf_a WHERE k IN (SELECT k FROM jf_b)'),
	('SELECT v FROM jf_a WHERE k NOT IN (SELECT k FROM jf_b WHERE k IS NOT NULL)'),
	('SELECT v FROM jf_a a WHERE EXISTS (SELECT FROM jf_b b WHERE b.k = a.k AND b.v > a.v / 4)'),
	('SELECT v FROM jf_a a WHERE NOT EXISTS (SELECT FROM jf_b b WHERE b.k = a.k)'),
	('SELECT v FROM jf_b b WHERE NOT EXISTS (SELECT FROM jf_a a WHERE b.k = a.k)'),
	('SELECT a.v FROM jf_a a JOIN jf_empty e USING (k)'),
	('SELECT a.v FROM jf_a a LEFT JOIN (jf_b b JOIN jf_c c ON b.k = c.k) ON a.k = b.k'),
	('SELECT a.v, b.v AS bv FROM jf_a a LEFT JOIN jf_b b ON a.k = b.k JOIN jf_c c ON c.k = b.k'),
	('SELECT a.v, b.v AS bv FROM jf_a a LEFT JOIN jf_b b ON a.k = b.k JOIN jf_c c ON c.k = a.k'),
	('SELECT a.v, c.v AS w FROM jf_a a JOIN jf_c c ON a.k = c.k'),
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b ON a.k = b.k AND a.g = b.g'),
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b ON a.t = b.t'),
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b ON a.k + 1 = b.k'),
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b ON a.k = b.k + 1'),
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b ON a.k = b.k JOIN jf_c c ON c.k = b.k AND c.v = a.v % 10')
) AS queries (q), LATERAL join_compare(q) r;

-- a star, a chain, a bushy one
SELECT q, r.* FROM (VALUES
	('SELECT a.v FROM jf_a a JOIN jf_b b ON a.k = b.k JOIN jf_c c ON a.k = c.k JOIN jf_plain p ON a.g = p.k WHERE p.k < 20'),
	('SELECT a.v FROM jf_a a JOIN jf_b b USING (k) JOIN jf_a c USING (k) JOIN jf_b d USING (k)'),
	('SELECT a.v FROM (jf_a a JOIN jf_b b USING (k)) JOIN (jf_a c JOIN jf_c d ON c.k = d.k) ON a.k = c.k')
) AS queries (q), LATERAL join_compare(q) r;

-- through what a filter goes, and through what it does not
SELECT q, r.* FROM (VALUES
	('SELECT * FROM (SELECT k, count(*) FROM jf_a GROUP BY k) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT g, count(*) AS n, max(k) AS k FROM jf_a GROUP BY g) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k, g, count(*) FROM jf_a GROUP BY GROUPING SETS (k, g)) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT DISTINCT k, g FROM jf_a) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT DISTINCT ON (g) g, k FROM jf_a ORDER BY g, v) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT DISTINCT ON (k) g, k FROM jf_a ORDER BY k, v) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k, v FROM jf_a ORDER BY v LIMIT 500) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k, row_number() OVER (ORDER BY v) FROM jf_a) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k FROM jf_a UNION ALL SELECT k FROM jf_c) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k FROM jf_a UNION SELECT k FROM jf_c) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k FROM jf_a EXCEPT ALL SELECT k FROM jf_c) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT k FROM jf_a INTERSECT SELECT k FROM jf_c) a JOIN jf_b b USING (k)'),
	('WITH a AS MATERIALIZED (SELECT k, v FROM jf_a) SELECT * FROM a JOIN jf_b b USING (k) WHERE (SELECT count(*) FROM a) > 0'),
	('SELECT * FROM (SELECT k, unnest(ARRAY[1, 2]) FROM jf_a) a JOIN jf_b b USING (k)'),
	('SELECT * FROM (SELECT unnest(ARRAY[k, 1]) AS k FROM jf_a) a JOIN jf_b b USING (k)'),
	('SELECT * FROM generate_series(1, 20000) AS a (k) JOIN jf_b b USING (k)'),
	('SELECT * FROM (VALUES (3::bigint), (6), (7), (NULL)) AS a (k) JOIN jf_b b USING (k)'),
	('SELECT * FROM jf_a a JOIN LATERAL (SELECT * FROM jf_b b WHERE b.k = a.k OFFSET 0) b ON true JOIN jf_c c ON c.k = a.k WHERE a.v < 500'),
	('WITH RECURSIVE r AS (SELECT 1::bigint AS k UNION ALL SELECT r.k + 1 FROM r JOIN jf_a a USING (k)) SELECT * FROM r')
) AS queries (q), LATERAL join_compare(q) r;

-- a build side that may come out otherwise the next time: then not through the hash table of a lower join, nor on top of it
SET join_collapse_limit = 1;
SET from_collapse_limit = 1;
SELECT r.* FROM join_compare('SELECT a.v, b.v AS w FROM (jf_a a JOIN jf_b b ON a.v = b.v) JOIN unnest((SELECT array_agg(k) FROM jf_c)) x (k) ON b.k = x.k') r;
RESET join_collapse_limit;
RESET from_collapse_limit;

-- volatile functions are called as often as without a filter
CREATE SEQUENCE jf_calls;
SET bloomfam.join_filter = off;
SELECT count(*) FROM (SELECT k, nextval('jf_calls') AS n FROM jf_a OFFSET 0) a JOIN jf_b b USING (k) WHERE n > 0;
SELECT currval('jf_calls');
SET bloomfam.join_filter = force;
SELECT count(*) FROM (SELECT k, nextval('jf_calls') AS n FROM jf_a OFFSET 0) a JOIN jf_b b USING (k) WHERE n > 0;
SELECT currval('jf_calls');
SELECT count(*) FROM jf_a a JOIN jf_b b USING (k) WHERE nextval('jf_calls') + a.v > 0;
SELECT currval('jf_calls');
-- ... also what a nested loop asks for each row, and a subquery in the key of a join below
SET join_collapse_limit = 1;
SET from_collapse_limit = 1;
SELECT count(*) FROM (jf_a a CROSS JOIN LATERAL (SELECT nextval('jf_calls'), a.v OFFSET 0) x) JOIN jf_b b USING (k);
SELECT currval('jf_calls');
ALTER SEQUENCE jf_calls CACHE 1 RESTART;
SELECT count(*) FROM (jf_a a JOIN jf_c c ON c.v = (SELECT a.v + 0 * nextval('jf_calls'))) JOIN jf_b b ON a.k = b.k;
SELECT currval('jf_calls') > 20000 AS for_all_rows;
-- ... also what another side of a join below gives, which is not asked if there are no rows to join, and what a LIMIT asks for
CREATE FUNCTION jf_calls_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('jf_calls', 1, false);
	EXECUTE query;
	RETURN nextval('jf_calls') - 1;
END
$$;
SET bloomfam.join_filter_plans = off;
CREATE TEMP TABLE jf_calls_off (query text, calls bigint);
SET bloomfam.join_filter = off;
INSERT INTO jf_calls_off SELECT q, jf_calls_of(q) FROM (VALUES
	('SELECT count(n) FROM (jf_a a LEFT JOIN (SELECT v, nextval(''jf_calls'') AS n FROM jf_c OFFSET 0) c USING (v)) JOIN unnest(''{-1, -2}''::bigint[]) b (k) USING (k)'),
	('WITH c AS MATERIALIZED (SELECT v, nextval(''jf_calls'') AS n FROM jf_c) SELECT count(n) FROM (jf_a a LEFT JOIN c USING (v)) JOIN unnest(''{-1, -2}''::bigint[]) b (k) USING (k)'),
	('WITH c AS MATERIALIZED (SELECT nextval(''jf_calls'') AS n FROM jf_plain), e AS MATERIALIZED (SELECT n FROM c)
		SELECT count(*) FROM (jf_a a LEFT JOIN jf_c c USING (v) CROSS JOIN LATERAL (SELECT sum(n) FROM e WHERE n < a.v AND a.v % 20 = 0 OFFSET 0) x) JOIN unnest(''{-1, -2}''::bigint[]) b (k) ON b.k = a.k'),
	('SELECT count(*) FROM (jf_a a LEFT JOIN jf_c c ON c.v = a.v AND a.g < (SELECT nextval(''jf_calls''))) JOIN unnest(''{-1, -2}''::bigint[]) b (k) ON b.k = a.k'),
	('SELECT count(*) FROM (jf_a a CROSS JOIN LATERAL (SELECT p.k FROM jf_plain p WHERE p.k < a.v LIMIT nextval(''jf_calls'')) x) JOIN unnest(''{-1, -2}''::bigint[]) b (k) ON b.k = a.k'),
	('SELECT count(*) FROM jf_a a JOIN unnest(''{-1, -2}''::bigint[]) b (k) USING (k) WHERE a.g > (SELECT nextval(''jf_calls''))'),
	('SELECT count(n) FROM (SELECT k, (SELECT nextval(''jf_calls'')) AS n FROM jf_a OFFSET 0) a JOIN unnest(''{-1, -2}''::bigint[]) b (k) USING (k)')
) AS queries (q);
SET bloomfam.join_filter = force;
SELECT calls > 0 AS called, jf_calls_of(query) >= calls AS as_often FROM jf_calls_off;
RESET bloomfam.join_filter_plans;
DROP FUNCTION jf_calls_of;
DROP TABLE jf_calls_off;
-- (of a subquery that notices nothing it is worth most to ask less often)
EXPLAIN (COSTS OFF)
SELECT count(*) FROM (jf_a a JOIN jf_c c ON c.v = (SELECT count(*) + a.v FROM jf_plain p WHERE p.k = a.g)) JOIN jf_b b ON a.k = b.k
\g (format=unaligned) | grep -E '(Join|Custom Scan|Seq Scan on jf_a)'
RESET join_collapse_limit;
RESET from_collapse_limit;

-- rescans: what was built for one row must not answer for the next
RESET enable_nestloop;
SELECT q, r.* FROM (VALUES
	('SELECT x.n FROM generate_series(1, 50) g, LATERAL (SELECT count(*) n FROM jf_a a JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON a.k = b.k) x'),
	('SELECT (SELECT count(*) FROM jf_a a JOIN jf_b b ON a.k = b.k WHERE b.g = gg) FROM generate_series(1, 30) gg'),
	('SELECT x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM (jf_a a JOIN jf_c c ON a.v = c.v) JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON c.k = b.k) x'),
	('SELECT x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM (SELECT * FROM jf_a ORDER BY v OFFSET 0) a JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON a.k = b.k) x'),
	('SELECT x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM (SELECT k, count(*) FROM jf_a GROUP BY k) a JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON a.k = b.k) x'),
	('SELECT g.g, x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM jf_a a WHERE a.k IN (SELECT b.k FROM jf_b b WHERE b.g = g.g)) x'),
	('SELECT g.g, x.n FROM generate_series(1, 20) g LEFT JOIN LATERAL (SELECT a.v AS n FROM jf_a a JOIN jf_b b USING (k) WHERE b.g = g.g AND a.g = g.g ORDER BY 1 LIMIT 3) x ON true')
) AS queries (q), LATERAL join_compare(q) r;
-- and with hash joins only
SET enable_nestloop = off;
SELECT q, r.* FROM (VALUES
	('SELECT x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM (jf_a a JOIN jf_c c ON a.v = c.v) JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON c.k = b.k) x'),
	('SELECT x.n FROM generate_series(1, 20) g, LATERAL (SELECT count(*) n FROM (jf_a a JOIN (SELECT * FROM jf_c OFFSET 0) c ON a.v = c.v) JOIN (SELECT * FROM jf_b WHERE jf_b.g = g.g OFFSET 0) b ON a.k = b.k) x')
) AS queries (q), LATERAL join_compare(q) r;
-- a parameter in the build side's key alone
SET join_collapse_limit = 1;
SELECT r.* FROM join_compare('SELECT o, (SELECT count(*) FROM (jf_c c JOIN jf_a a ON c.v = a.v) JOIN jf_plain b ON a.k = b.k + o) FROM generate_series(0, 5) o') r;
RESET join_collapse_limit;
-- a key that is not computed where the one before it is NULL, in the plan that has that order without filters
SET bloomfam.join_filter_plans = off;
CREATE TABLE jf_zero AS SELECT i::bigint AS k, i AS z FROM generate_series(1, 50) i UNION ALL SELECT NULL, 0;
ANALYZE jf_zero;
SELECT r.* FROM join_compare('SELECT count(*) FROM jf_a a JOIN jf_zero z ON a.k + 1 = z.k AND a.v = 100 / z.z') r;
SELECT r.* FROM join_compare('SELECT count(*) FROM jf_a a JOIN jf_zero z ON a.k = z.k AND a.v = 100 / z.z') r;
SELECT r.* FROM join_compare('SELECT count(*) FROM (jf_a a JOIN jf_b b ON a.g = b.g) JOIN jf_zero z ON a.k = z.k AND b.v = 100 / z.z') r;
RESET bloomfam.join_filter_plans;
-- little memory: batches
SET work_mem = '64kB';
SELECT q, r.* FROM (VALUES
	('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b USING (k)'),
	('SELECT a.v, b.v AS w FROM jf_b b JOIN jf_a a USING (k)'),
	('SELECT a.v FROM jf_a a JOIN jf_a b USING (k) JOIN jf_b c USING (k)'),
	('SELECT x.n FROM generate_series(1, 5) g, LATERAL (SELECT count(*) n FROM jf_b b JOIN (SELECT * FROM jf_a WHERE jf_a.g <> g.g OFFSET 0) a ON a.k = b.k) x')
) AS queries (q), LATERAL join_compare(q) r;
SET work_mem = '4MB';
-- too many keys for the filter: none
SET bloomfam.join_filter_max_size = '1kB';
SELECT r.* FROM join_compare('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b USING (k)') r;
RESET bloomfam.join_filter_max_size;

-- merge joins and nested loops below; mark and restore
RESET enable_mergejoin;
CREATE INDEX ON jf_a (k);
CREATE INDEX ON jf_b (k);
CREATE INDEX ON jf_c (k);
CREATE TABLE jf_dup AS SELECT (i / 10)::bigint AS k, i AS v FROM generate_series(1, 20000) i;
CREATE INDEX ON jf_dup (k);
ANALYZE jf_dup;
SET enable_sort = off;
SET enable_material = off;
EXPLAIN (COSTS OFF)
SELECT d.v, e.v AS w, p.k FROM jf_dup d JOIN jf_dup e USING (k) JOIN jf_plain p ON p.k = d.k WHERE p.k % 9 = 0;
SELECT r.* FROM join_compare('SELECT d.v, e.v AS w, p.k FROM jf_dup d JOIN jf_dup e USING (k) JOIN jf_plain p ON p.k = d.k WHERE p.k % 9 = 0') r;
SELECT r.* FROM join_compare('SELECT d.v, e.v AS w, p.k FROM jf_dup d JOIN jf_dup e USING (k) JOIN jf_plain p ON p.k = e.v WHERE p.k % 9 = 0') r;
-- what is computed of a part of a group may fail where that of the group does not: of those whose key is not in the filter, too, a part is never
-- left; not where the first row passes before the filter is there, nor where it does not pay and is put aside for a while
SET enable_hashagg = off;
SET bloomfam.join_filter = force;
-- (18 would rather build on the groups, if it counted on that filter)
SET bloomfam.join_filter_plans = off;
EXPLAIN (COSTS OFF)
SELECT count(*), sum(r) FROM (SELECT k, 100 / (count(*) - 1) AS r FROM jf_dup WHERE k < 1999 GROUP BY k OFFSET 0) d WHERE k IN (SELECT k FROM jf_a WHERE g = 3);
SELECT r.* FROM join_compare('SELECT k, r FROM (SELECT k, 100 / (count(*) - 1) AS r FROM jf_dup WHERE k < 1999 GROUP BY k OFFSET 0) d WHERE k IN (SELECT k FROM jf_a WHERE g = 3)') r;
RESET bloomfam.join_filter_plans;
RESET enable_hashagg;
RESET enable_sort;
RESET enable_material;
SET bloomfam.join_filter = on;
CREATE TABLE jf_groups AS SELECT g % 5000 AS k, (g < 5000)::int AS first FROM generate_series(0, 19999) g;
CREATE TABLE jf_most AS SELECT g AS k FROM generate_series(0, 4999) g WHERE g % 20 <> 7;
ANALYZE jf_groups, jf_most;
EXPLAIN (COSTS OFF)
SELECT count(*), sum(r) FROM (SELECT k, 10 / sum(first) AS r FROM jf_groups GROUP BY k OFFSET 0) g WHERE k IN (SELECT k FROM jf_most WHERE k % 5 < 10);
SELECT count(*), sum(r) FROM (SELECT k, 10 / sum(first) AS r FROM jf_groups GROUP BY k OFFSET 0) g WHERE k IN (SELECT k FROM jf_most WHERE k % 5 < 10);
DROP TABLE jf_groups, jf_most;
RESET enable_nestloop;
SET enable_hashjoin = off;
SELECT r.* FROM join_compare('SELECT a.v, b.v AS w FROM jf_a a JOIN jf_b b USING (k)') r;
RESET enable_hashjoin;

-- types whose equality is not that of their bytes, and pairs of types
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE COLLATION jf_ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE jf_types AS SELECT i, i::smallint AS s, i::int AS n, i::bigint AS l, (i || '.0')::numeric AS d, CASE WHEN i % 2 = 0 THEN -0.0 ELSE i END::float8 AS f,
	i::float4 AS r, ('x' || i)::bpchar AS b, ('x' || i || '  ')::char(12) AS c, ('X' || i) COLLATE jf_ignore_case AS u, ('x' || i)::name AS m, ('x' || i)::varchar AS vc,
	md5(i::text)::uuid AS id, '2000-01-01'::date + i AS da, '2000-01-01'::timestamp + i * '1 day'::interval AS ts, (i % 2 = 0) AS bo, ARRAY[i, NULL] AS ar, ROW(i, 'x')::text AS ro,
	i * '1 hour'::interval AS iv, ('10.0.0.' || i % 250)::inet AS ip, (i::bit(16)) AS bi, decode(md5(i::text), 'hex') AS by, jsonb_build_object('a', i) AS j, int4range(i, i + 5) AS ra,
	chr(65 + i % 26)::"char" AS ch, i::oid AS o
	FROM generate_series(1, 500) i;
CREATE TABLE jf_types2 AS SELECT i, i::int8 AS s, i::int2 AS n, i::int4 AS l, (i || '.00')::numeric AS d, CASE WHEN i % 2 = 0 THEN 0.0 ELSE i END::float8 AS f,
	i::float8 AS r, ('x' || i || '   ')::bpchar AS b, ('x' || i)::char(20) AS c, ('x' || i) COLLATE jf_ignore_case AS u, ('x' || i)::text AS m, ('x' || i)::text AS vc,
	md5(i::text)::uuid AS id, '2000-01-01'::date + i AS da, '2000-01-01'::timestamp + i * '1 day'::interval AS ts, (i % 2 = 0) AS bo, ARRAY[i, NULL] AS ar, ROW(i, 'x')::text AS ro,
	i * '60 minutes'::interval AS iv, ('10.0.0.' || i % 250 || '/32')::inet AS ip, (i::bit(16)) AS bi, decode(md5(i::text), 'hex') AS by, jsonb_build_object('a', i::numeric) AS j, int4range(i, i + 4, '[]') AS ra,
	chr(65 + i % 26)::"char" AS ch, i::oid AS o
	FROM generate_series(1, 1000, 3) i;
ANALYZE jf_types, jf_types2;
SELECT c, r.* FROM unnest(ARRAY['s', 'n', 'l', 'd', 'f', 'r', 'b', 'c', 'u', 'm', 'vc', 'id', 'da', 'ts', 'bo', 'ar', 'ro', 'iv', 'ip', 'bi', 'by', 'j', 'ra', 'ch', 'o']) c,
	LATERAL join_compare(format('SELECT a.i, b.i AS k FROM jf_types a JOIN jf_types2 b ON a.%1$I = b.%1$I', c)) r;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_types a JOIN jf_types2 b ON a.da = b.ts') r;
-- names are compared by a collation, and hashed by the server without it: a merge join finds those that are equal, and no filter may drop them
CREATE TYPE jf_named AS (n int, m name COLLATE jf_ignore_case);
CREATE DOMAIN jf_named_too AS jf_named;
CREATE TABLE jf_names AS SELECT i, ('X' || i)::name COLLATE jf_ignore_case AS m, ARRAY[('X' || i)::name] COLLATE jf_ignore_case AS ms, ROW(1, 'X' || i)::jf_named AS r,
	ARRAY[ROW(1, 'X' || i)::jf_named_too] AS rs, ('X' || i)::name COLLATE "C" AS c FROM generate_series(1, 500) i;
CREATE TABLE jf_names2 AS SELECT i, ('x' || i)::name COLLATE jf_ignore_case AS m, ARRAY[('x' || i)::name] COLLATE jf_ignore_case AS ms, ROW(1, 'x' || i)::jf_named AS r,
	ARRAY[ROW(1, 'x' || i)::jf_named_too] AS rs, ('X' || i)::name COLLATE "C" AS c FROM generate_series(1, 1000, 3) i;
ANALYZE jf_names, jf_names2;
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT c, r.* FROM unnest('{m,ms,r,rs,c}'::text[]) c, LATERAL join_compare(format('SELECT a.i, b.i AS k FROM jf_names a JOIN jf_names2 b ON a.%1$I = b.%1$I', c)) r;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_names a JOIN jf_types2 b ON a.m = b.u') r;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_types a JOIN jf_names2 b ON a.u = b.m') r;
RESET enable_hashjoin;
SET enable_mergejoin = off;
DROP TABLE jf_names, jf_names2;
DROP TYPE jf_named CASCADE;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_types a JOIN jf_types2 b ON (a.n, a.d) = (b.n, b.d)') r;
-- domains, rows
CREATE DOMAIN jf_domain AS int CHECK (VALUE > 0);
CREATE TYPE jf_row AS (i int, d numeric);
CREATE TABLE jf_rows AS SELECT i::jf_domain AS n, ROW(i, i || '.0')::jf_row AS w, i FROM generate_series(1, 500) i;
CREATE TABLE jf_rows2 AS SELECT i::bigint AS n, ROW(i, i || '.00')::jf_row AS w, i FROM generate_series(1, 1000, 3) i;
ANALYZE jf_rows, jf_rows2;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_rows a JOIN jf_rows2 b USING (n)') r;
SELECT r.* FROM join_compare('SELECT a.i, b.i AS k FROM jf_rows a JOIN jf_rows2 b USING (w)') r;
-- grouped in another sense of equality than joined: a group may not lose some of its rows
SELECT r.* FROM join_compare('SELECT * FROM (SELECT u, count(*) FROM (SELECT u FROM jf_types UNION ALL SELECT u FROM jf_types2) x GROUP BY u) a JOIN jf_types2 b ON a.u COLLATE "C" = b.vc') r;

-- rows that lack columns, have NULLs before the key, or keep the key elsewhere
CREATE TABLE jf_odd (gone int, a text, n int, k int, long text);
INSERT INTO jf_odd SELECT i, repeat('a', i % 50), CASE WHEN i % 3 = 0 THEN i END, i FROM generate_series(1, 3000) i;
ALTER TABLE jf_odd DROP COLUMN gone, ADD COLUMN later int DEFAULT 3, ADD COLUMN none bigint;
INSERT INTO jf_odd SELECT NULL, i, i, repeat(md5(i::text), 200), i, i FROM generate_series(1, 300) i;
ALTER TABLE jf_odd ALTER COLUMN long SET STORAGE EXTERNAL;
INSERT INTO jf_odd SELECT NULL, i, i, repeat(md5(i::text), 200), i, i FROM generate_series(1, 300) i;
CREATE TABLE jf_long AS SELECT i, repeat(md5(i::text), 200) AS long FROM generate_series(1, 300, 7) i;
ANALYZE jf_odd, jf_long;
SELECT c, r.* FROM unnest(ARRAY['n', 'k', 'later', 'none']) c, LATERAL join_compare(format('SELECT o.*, b.v AS bv FROM jf_odd o JOIN jf_c b ON o.%I = b.k', c)) r;
SELECT r.* FROM join_compare('SELECT o.k FROM jf_odd o JOIN jf_long l USING (long)') r;

-- partitions and inheritance
CREATE TABLE jf_part (k bigint, v int) PARTITION BY RANGE (k);
CREATE TABLE jf_part1 PARTITION OF jf_part FOR VALUES FROM (0) TO (5000);
CREATE TABLE jf_part2 (v int, filler text, k bigint);
ALTER TABLE jf_part2 DROP COLUMN filler;
ALTER TABLE jf_part ATTACH PARTITION jf_part2 FOR VALUES FROM (5000) TO (20001);
CREATE TABLE jf_part3 PARTITION OF jf_part DEFAULT;
INSERT INTO jf_part SELECT k, v FROM jf_a;
ANALYZE jf_part;
SELECT q, r.* FROM (VALUES
	('SELECT a.v, b.v AS w FROM jf_part a JOIN jf_b b USING (k)'),
	('SELECT a.v, b.v AS w FROM jf_part a JOIN jf_part b USING (k) WHERE b.v < 100'),
	('SELECT a.v, b.v AS w FROM (SELECT * FROM jf_part ORDER BY k) a JOIN jf_b b USING (k)')
) AS queries (q), LATERAL join_compare(q) r;
SET enable_partitionwise_join = on;
SELECT r.* FROM join_compare('SELECT a.v, b.v AS w FROM jf_part a JOIN jf_part b USING (k) WHERE b.v < 100') r;

-- prepared plans outlive the setting, and parameters change what is built
SET plan_cache_mode = force_generic_plan;
SET bloomfam.join_filter = force;
PREPARE jf_generic (int) AS SELECT count(*) FROM jf_a a JOIN jf_b b USING (k) WHERE b.g < $1;
EXECUTE jf_generic (5);
EXECUTE jf_generic (50);
EXECUTE jf_generic (0);
SET bloomfam.join_filter = off;
EXECUTE jf_generic (50);
SET bloomfam.join_filter = force;
EXECUTE jf_generic (100);
DEALLOCATE jf_generic;
RESET plan_cache_mode;

-- cursors, back and forth
BEGIN;
DECLARE jf_cursor SCROLL CURSOR FOR SELECT a.v, b.v FROM jf_a a JOIN jf_b b USING (k) ORDER BY a.v;
FETCH 3 FROM jf_cursor;
FETCH BACKWARD 2 FROM jf_cursor;
FETCH LAST FROM jf_cursor;
FETCH FIRST FROM jf_cursor;
CLOSE jf_cursor;
DECLARE jf_cursor SCROLL CURSOR FOR SELECT a.v, b.v FROM jf_a a JOIN jf_b b USING (k);
MOVE FORWARD ALL FROM jf_cursor;
MOVE BACKWARD ALL FROM jf_cursor;
ROLLBACK;

-- a query within a query, the same plan at several depths at once
CREATE FUNCTION jf_recurse(depth int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint := 0;
	r record;
BEGIN
	FOR r IN SELECT a.v FROM jf_a a JOIN jf_b b USING (k) WHERE b.g = depth ORDER BY a.v LIMIT 3 LOOP
		n := n + r.v;
		IF depth < 4 THEN
			n := n + jf_recurse(depth + 1);
		END IF;
	END LOOP;
	RETURN n;
END
$$;
SELECT jf_recurse(1);
SET bloomfam.join_filter = off;
SELECT jf_recurse(1);
SET bloomfam.join_filter = force;

-- an error in the middle of a build, and in the middle of a scan
SELECT count(*) FROM jf_a a JOIN (SELECT k, 1 / (v - 2500) AS w FROM jf_b OFFSET 0) b USING (k) WHERE w < 1;
SELECT count(*) FROM jf_a a JOIN jf_b b USING (k) WHERE 1 / (a.v - 15) < 1;
DO $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		BEGIN
			PERFORM count(*) FROM jf_a a JOIN (SELECT k, 1 / (v - 2500) AS w FROM jf_b OFFSET 0) b USING (k) WHERE w < 1;
		EXCEPTION WHEN division_by_zero THEN
			RAISE NOTICE 'caught';
		END;
	END LOOP;
	RAISE NOTICE '%', (SELECT count(*) FROM jf_a a JOIN jf_b b USING (k));
END
$$;

-- data are changed by joins
SELECT $$
BEGIN;
UPDATE jf_a a SET v = -b.v FROM jf_b b WHERE a.k = b.k AND b.g < 10;
SELECT count(*), sum(v) FROM jf_a;
DELETE FROM jf_a a USING jf_b b WHERE a.k = b.k AND b.g >= 90;
SELECT count(*), sum(v) FROM jf_a;
MERGE INTO jf_a a USING jf_b b ON a.k = b.k WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT VALUES (-1, -1, -1, 'new');
SELECT count(*), sum(v) FROM jf_a;
SELECT count(*) FROM (SELECT a.v FROM jf_a a JOIN jf_b b USING (k) FOR UPDATE OF a) x;
ROLLBACK;
$$ AS changes \gset
:changes
SET bloomfam.join_filter = off;
:changes
SET bloomfam.join_filter = force;

-- row security: the filter sees what the policy lets through, or hashes without a sound
CREATE ROLE regress_bloomfam_join;
GRANT SELECT ON jf_a, jf_b, jf_types, jf_types2 TO regress_bloomfam_join;
ALTER TABLE jf_a ENABLE ROW LEVEL SECURITY;
CREATE POLICY jf_policy ON jf_a USING (g < 25);
SET ROLE regress_bloomfam_join;
EXPLAIN (COSTS OFF) SELECT count(*) FROM jf_a a JOIN jf_b b USING (k);
SELECT count(*) FROM jf_a a JOIN jf_b b USING (k);
SET bloomfam.join_filter = off;
SELECT count(*) FROM jf_a a JOIN jf_b b USING (k);
RESET ROLE;

-- a subquery that two expressions refer to, in the join's condition and in its keys: the join in it is come to twice
SET bloomfam.join_filter = force;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM jf_plain t JOIN jf_plain u ON t.k = (SELECT count(*) FROM jf_plain x JOIN jf_plain y USING (k) WHERE x.k % 10 = u.k % 10);

DROP TABLE jf_a, jf_b, jf_c, jf_empty, jf_plain, jf_dup, jf_zero, jf_types, jf_types2, jf_odd, jf_long, jf_part;
DROP FUNCTION join_compare, jf_recurse;
DROP TABLE jf_rows, jf_rows2;
DROP DOMAIN jf_domain;
DROP TYPE jf_row;
DROP SEQUENCE jf_calls;
DROP COLLATION jf_ignore_case;
DROP ROLE regress_bloomfam_join;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
