--
-- Join filters: several of a scan are asked in the order of what they do, not of what was expected of them.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_order;
SET search_path = join_order, public;
SET bloomfam.join_filter = on;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET join_collapse_limit = 1;

-- makes analyzed()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/analyzed.sql'
\i :file
\set file :folder '/sql/include/related.sql'
\i :file

CREATE TABLE fact AS SELECT g AS id, g % 1000 AS a, g % 997 AS b, CASE WHEN g % 9 > 0 THEN 'k' || g % 991 END AS t FROM generate_series(1, 60000) g;
-- the planner takes u and v for independent of each other
CREATE TABLE dim AS SELECT g AS k, 'k' || g AS t, g % 10 AS u, g % 10 AS v FROM generate_series(0, 999) g;
ANALYZE fact, dim;

-- Of a plan, and of what became of it, the filters of the probe side.
CREATE FUNCTION filters(query text) RETURNS SETOF text LANGUAGE sql AS $$
	WITH plan AS MATERIALIZED (SELECT * FROM related(query) WITH ORDINALITY a (line, i))
	SELECT line FROM plan WHERE i <= (SELECT min(i) FROM plan WHERE line ~ 'Scan on|Function Scan') AND line ~ 'Filter [0-9]|Probed|Together' ORDER BY i
$$;

-- What each filter did, by the column that it is of.
CREATE FUNCTION work(query text) RETURNS TABLE (key text, probed bigint, removed bigint) LANGUAGE sql AS $$
	WITH plan AS MATERIALIZED (SELECT * FROM analyzed(query) WITH ORDINALITY a (line, i))
	SELECT substring(f.line FROM '\(([a-z.]+)\) of the join'), substring(n.line FROM 'Probed: (\d+)')::bigint, substring(n.line FROM 'Removed: (\d+)')::bigint
	FROM plan f JOIN plan n ON n.i = f.i + 1 WHERE n.line ~ 'Rows Probed'
$$;

-- one that was expected to leave one row in 200, and leaves all; the other leaves one in ten
EXPLAIN (COSTS OFF) SELECT count(*) FROM (fact f JOIN dim d ON d.k = f.b) JOIN dim e ON e.k = f.a WHERE d.u = 1 AND e.u = e.v;
SELECT filters('SELECT count(*) FROM (fact f JOIN dim d ON d.k = f.b) JOIN dim e ON e.k = f.a WHERE d.u = 1 AND e.u = e.v');
-- both leave one in ten; the one that was expected to leave less costs more to ask
EXPLAIN (COSTS OFF) SELECT count(*) FROM (fact f JOIN dim d ON d.k = f.b) JOIN dim e ON e.t = f.t WHERE d.u = 1 AND e.u = 2 AND e.v = 2;
SELECT filters('SELECT count(*) FROM (fact f JOIN dim d ON d.k = f.b) JOIN dim e ON e.t = f.t WHERE d.u = 1 AND e.u = 2 AND e.v = 2');
-- as expected: the order stays
SELECT filters('SELECT count(*) FROM (fact f JOIN dim d ON d.k = f.b) JOIN dim e ON e.k = f.a WHERE d.u = 1 AND e.u > 5');
-- row by row
SELECT filters('SELECT count(*) FROM ((SELECT g % 1000 AS a, g % 997 AS b FROM generate_series(1, 60000) g OFFSET 0) f JOIN dim d ON d.k = f.b)
	JOIN dim e ON e.k = f.a WHERE d.u = 1 AND e.u = e.v');
-- three, of which the last is best in the first part of the table, and the first in the rest
CREATE TABLE parts AS SELECT g AS id, CASE WHEN g >= 100000 THEN g % 1000 WHEN g % 5 = 0 THEN 999 ELSE 1 END AS a, g % 3 AS b,
		CASE WHEN g < 100000 THEN g % 1000 WHEN g % 5 = 0 THEN 999 ELSE 1 END AS c
	FROM generate_series(1, 600000) g;
ANALYZE parts;
SELECT filters('SELECT count(*) FROM ((parts f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10');
-- where the last stayed the first, all are probed a million times; where it never was, it removes 79000 rows
SELECT sum(probed) < 900000 AS few, sum(removed) FILTER (WHERE key = 'f.c') > 90000 AS by_the_last
FROM work('SELECT count(*) FROM ((parts f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10');
-- the same rows in any order
SELECT count(*), sum(f.id) FROM ((parts f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10;
SET bloomfam.join_filter = off;
SELECT count(*), sum(f.id) FROM ((parts f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10;

SET client_min_messages = warning;
DROP SCHEMA join_order CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
