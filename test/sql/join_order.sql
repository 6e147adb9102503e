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

CREATE TABLE fact AS SELECT g AS id, g % 1000 AS a, g % 997 AS b, CASE WHEN g % 9 > 0 THEN 'k' || g % 991 END AS t FROM generate_series(1, 60000) g;
-- the planner takes u and v for independent of each other
CREATE TABLE dim AS SELECT g AS k, 'k' || g AS t, g % 10 AS u, g % 10 AS v FROM generate_series(0, 999) g;
ANALYZE fact, dim;

-- Of a plan, and of what became of it, the filters of the probe side.
CREATE FUNCTION filters(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM analyzed(query) WITH ORDINALITY a (line, i)
	WHERE i <= (SELECT min(i) FROM analyzed(query) WITH ORDINALITY a (line, i) WHERE line ~ 'Scan on|Function Scan') AND line ~ 'Filter [0-9]|Probed' ORDER BY i
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
-- three, of which the last is best in the first half of the table, and the first in the second
CREATE TABLE halves AS SELECT g AS id, CASE WHEN g >= 300000 THEN g % 1000 WHEN g % 5 = 0 THEN 999 ELSE 1 END AS a, g % 3 AS b,
		CASE WHEN g < 300000 THEN g % 1000 WHEN g % 5 = 0 THEN 999 ELSE 1 END AS c
	FROM generate_series(1, 600000) g;
ANALYZE halves;
SELECT filters('SELECT count(*) FROM ((halves f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10');
-- the same rows in any order
SELECT count(*), sum(f.id) FROM ((halves f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10;
SET bloomfam.join_filter = off;
SELECT count(*), sum(f.id) FROM ((halves f JOIN dim d ON d.k = f.a) JOIN dim e ON e.k = f.b) JOIN dim g ON g.k = f.c WHERE d.k + 0 < 10 AND e.u < 2 AND g.k + 0 < 10;

SET client_min_messages = warning;
DROP SCHEMA join_order CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
