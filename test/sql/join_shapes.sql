--
-- Join filters for the same question in other words: existence checks by merge joins, and below windows, set operations and conditions with subqueries.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_shapes;
SET search_path = join_shapes, public;
SET bloomfam.join_filter = on;
SET bloomfam.join_samples = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '16MB';
SET compute_query_id = off;
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file

-- 30,000 rows of 15,000 keys, all of which ANALYZE reads, and 800 keys of which half are there
CREATE TABLE target AS SELECT g / 2 AS id, g AS n, g % 10 AS part, 'k' || g / 2 AS name FROM generate_series(0, 29999) g;
CREATE TABLE staging AS SELECT CASE WHEN g % 2 = 0 THEN g * 16 ELSE -g END AS id, g AS v, 'k' || CASE WHEN g % 2 = 0 THEN g * 16 ELSE -g END AS name FROM generate_series(1, 800) g;
INSERT INTO staging VALUES (NULL, 0, NULL);
ALTER TABLE target ALTER part SET NOT NULL;
VACUUM ANALYZE target, staging;

-- ---- what is expected of a subquery's column ----
-- rows of a join with a subquery that groups, beside those that there are
CREATE FUNCTION expected(query text, OUT rows bigint, OUT seen bigint) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		rows := coalesce(rows, substring(line FROM 'rows=(\d+)')::bigint);
	END LOOP;
	EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO seen;
END $$;
CREATE TABLE subqueries AS SELECT * FROM (VALUES
	('GROUP BY', 'SELECT id, max(n) FROM target GROUP BY id'),
	('GROUP BY two', 'SELECT id, part, max(n) FROM target GROUP BY id, part'),
	('HAVING', 'SELECT id, max(n) FROM target GROUP BY id HAVING count(*) > 1'),
	('DISTINCT', 'SELECT DISTINCT id FROM target'),
	('DISTINCT two', 'SELECT DISTINCT id, part FROM target'),
	('DISTINCT ON', 'SELECT DISTINCT ON (id) id, n FROM target ORDER BY id, n DESC'),
	('UNION', 'SELECT id FROM target UNION SELECT id + 0 FROM target'),
	('UNION of columns', 'SELECT id FROM target UNION SELECT id FROM staging'),
	('EXCEPT', 'SELECT id FROM target EXCEPT SELECT v FROM staging'),
	('INTERSECT', 'SELECT id FROM target INTERSECT SELECT id FROM target t2'),
	('nested', 'SELECT id, count(*) FROM (SELECT id, part FROM target GROUP BY id, part) s GROUP BY id'),
	('a set, grouped', 'SELECT id, count(*) FROM (SELECT id FROM target UNION ALL SELECT id FROM target) s GROUP BY id'),
	('two sets', 'SELECT id FROM target UNION (SELECT id FROM target INTERSECT SELECT id FROM target)'),
	('a window', 'SELECT id, row_number() OVER (PARTITION BY id ORDER BY n) FROM target'),
	('GROUPING SETS', 'SELECT id, max(n) FROM target GROUP BY GROUPING SETS ((id), (part))'),
	('set-returning', 'SELECT id, generate_series(1, 2) FROM target GROUP BY id'),
	('computed', 'SELECT id + 1 AS id, max(n) FROM target GROUP BY 1'),
	('constant', 'SELECT 1 AS id, max(n) FROM target GROUP BY part')) v(name, q);
-- (of a set-returning function's 18 knows more)
SELECT name, (expected('SELECT 1 FROM staging JOIN (' || q || ') s USING (id)')).* FROM subqueries WHERE name <> 'set-returning';
-- the same as CTEs, which are not inlined
SELECT name, (expected('WITH c AS MATERIALIZED (' || q || ') SELECT 1 FROM staging JOIN c USING (id)')).rows FROM subqueries WHERE name <> 'set-returning';
-- a view that hides rows, a recursive CTE, one of another level, a lateral one
CREATE VIEW guarded WITH (security_barrier) AS SELECT id, max(n) FROM target GROUP BY id;
SELECT (expected('SELECT 1 FROM staging JOIN guarded USING (id)')).seen;
SELECT (expected('WITH RECURSIVE c AS (SELECT id FROM target UNION SELECT id + 1 FROM c WHERE id < 0) SELECT 1 FROM staging JOIN c USING (id)')).seen;
SELECT (expected('WITH c AS MATERIALIZED (SELECT id, max(n) FROM target GROUP BY id) SELECT * FROM (SELECT 1 FROM staging JOIN c USING (id) OFFSET 0) s')).*;
SELECT (expected('SELECT 1 FROM staging s, LATERAL (SELECT id, max(n) FROM target WHERE n > s.v GROUP BY id) t WHERE t.id = s.id AND s.v % 40 = 0')).seen;

-- ---- the same rows ----
CREATE TABLE queries AS SELECT row_number() OVER () AS i, q FROM (
	SELECT 'SELECT s.v, t.* FROM staging s JOIN (' || q || ') t USING (id)' FROM subqueries
	UNION ALL SELECT 'SELECT s.v, t.* FROM staging s LEFT JOIN (' || q || ') t USING (id)' FROM subqueries) v(q);
SELECT i, left(q, 110) AS q, r.* FROM queries, join_compare(q) r ORDER BY i;

-- ---- windows ----
CREATE TABLE windows AS SELECT row_number() OVER () AS i, 'SELECT s.v, t.* FROM staging s JOIN (SELECT id, part, n, ' || w || ' FROM target) t USING (id)' AS q FROM (VALUES
	('sum(n) OVER (PARTITION BY id)'), ('sum(n) OVER (PARTITION BY part, id)'), ('sum(n) OVER (PARTITION BY part)'), ('count(*) OVER ()'),
	('sum(n) OVER (PARTITION BY id), rank() OVER (PARTITION BY part, id ORDER BY n)'), ('sum(n) OVER (PARTITION BY id), rank() OVER (PARTITION BY part ORDER BY n)'),
	('sum(n) OVER (PARTITION BY id ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)'), ('sum(n) OVER (PARTITION BY id + 1)')) v(w);
SELECT i, substring(q FROM '(?:sum|count).*(?= FROM target)') AS window, r.* FROM windows, join_compare(q) r ORDER BY i;
-- what fails for a part of a group would not for all of it: rows of a key are dropped together, or not at all
SELECT count(*) FROM staging s JOIN (SELECT id, sum(1 / (n + 1)) OVER (PARTITION BY id) AS x FROM target) t USING (id);

-- ---- existence checks ----
CREATE FUNCTION joins(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := concat_ws(', ', found, substring(line FROM '(?:Nested Loop|Merge|Hash)[A-Za-z ]*(?:Join|Loop)|Bloom Filter \d+: \([^)]*\) of'));
	END LOOP;
	RETURN found;
END $$;
CREATE FUNCTION why(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'ilter' AND line ~ ': (No filter|Filter \d)' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
CREATE TABLE checks AS SELECT row_number() OVER () AS i, q FROM (VALUES
	('SELECT v FROM staging s WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)'),
	('SELECT v FROM staging s LEFT JOIN target t USING (id) WHERE t.part IS NULL'),
	('SELECT v FROM staging s WHERE id IN (SELECT id FROM target)'),
	('SELECT v FROM staging s WHERE id NOT IN (SELECT id FROM target)'),
	('SELECT v FROM staging s WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id AND t.part = 4)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id AND t.part = 4)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id AND t.n > s.v * 40)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.name = s.name)'),
	('SELECT v FROM staging s WHERE s.v > (SELECT 10) AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)'),
	('SELECT v FROM staging s WHERE EXISTS (SELECT FROM target t WHERE t.name = s.name AND t.id = s.id)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id::numeric = s.id)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id + 1)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM target t JOIN staging u ON u.v = t.part WHERE t.id = s.id)'),
	('SELECT v FROM (SELECT id, max(v) AS v FROM staging GROUP BY id) s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)')) v(q);
SELECT i, r.rows, r.same FROM checks, join_compare(q) r ORDER BY i;
-- merge joins of all kinds, forced: which get a filter, and the same rows
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT i, joins(q) ~ 'Bloom Filter' AS filtered FROM checks ORDER BY i;
SELECT i, r.* FROM checks, join_compare(q) r ORDER BY i;
CREATE TABLE kinds AS SELECT kind, 'SELECT s.v, t.n FROM staging s ' || kind || ' JOIN target t ON t.id = s.id' AS q FROM unnest('{INNER,LEFT,RIGHT,FULL}'::text[]) kind;
SELECT kind, r.* FROM kinds, join_compare(q) r;
EXPLAIN (VERBOSE, COSTS OFF) SELECT s.v, t.n FROM staging s LEFT JOIN target t ON t.id = s.id;
EXPLAIN (VERBOSE, COSTS OFF) SELECT s.v, t.n FROM staging s FULL JOIN target t ON t.id = s.id;
EXPLAIN (VERBOSE, COSTS OFF, FORMAT json) SELECT s.v FROM staging s JOIN target t ON t.id = s.id \g | grep -E '"(Node Type|Number|Key|Joined With|Merge Cond|Reason)"|^ +"[(]|"t.id"|"s.id"'
SET bloomfam.join_filter_log = on;
SET client_min_messages = log;
EXPLAIN (COSTS OFF) SELECT s.v, t.n FROM staging s LEFT JOIN target t ON t.id = s.id;
RESET client_min_messages;
RESET bloomfam.join_filter_log;

-- an inner side in the order of an index is read only in part: a filter would have more of it read
CREATE TABLE ordered AS SELECT * FROM target;
CREATE INDEX ON ordered (id);
VACUUM ANALYZE ordered;
SET enable_sort = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT replace(line, 'No filter: ', '') AS why FROM why('SELECT s.v FROM staging s LEFT JOIN ordered t ON t.id = s.id AND t.n < s.v') line;
-- what is read further would be seen: by an error, for instance; the same of a merge join below another join
CREATE FUNCTION at_most(x int, most int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF x > most THEN
		RAISE 'read as far as %', x;
	END IF;
	RETURN true;
END $$;
CREATE TABLE first AS SELECT * FROM ordered WHERE id <= 50;
CREATE INDEX ON first (id);
CREATE TABLE third AS SELECT g * 3 AS n FROM generate_series(1, 10) g;
VACUUM ANALYZE first, third;
SET enable_material = off;
SELECT r.* FROM join_compare('SELECT s.n FROM first s JOIN ordered t USING (id) WHERE at_most(t.id, 100)') r;
SET enable_hashjoin = on;
SELECT r.* FROM join_compare('SELECT x.n FROM (SELECT t.id, t.n FROM first s JOIN ordered t USING (id) WHERE at_most(t.id, 100) OFFSET 0) x JOIN third ON third.n = x.n') r;
SET enable_hashjoin = off;
RESET enable_material;
RESET enable_sort;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- a merge join that is run again, with other keys and with the same ones; what the inner side keeps must be of the same keys
CREATE TABLE reruns AS SELECT row_number() OVER () AS i, q FROM (VALUES
	('SELECT a, x.* FROM generate_series(1, 3) a, LATERAL (SELECT s.id, t.n FROM staging s JOIN target t ON t.id = s.id WHERE s.v % 3 = a - 1 OFFSET 0) x'),
	('SELECT a, x.* FROM generate_series(1, 3) a, LATERAL (SELECT s.id, t.n FROM staging s JOIN target t ON t.id = s.id AND t.part > a OFFSET 0) x'),
	('SELECT a, (SELECT count(*) FROM staging s WHERE s.v < a * 200 AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)) FROM generate_series(1, 4) a'),
	('SELECT a, (SELECT count(*) FROM staging s WHERE s.v < a * 200 AND s.v > (SELECT 10) AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)) FROM generate_series(1, 4) a'),
	('SELECT a, (SELECT count(*) FROM staging s WHERE s.v > (SELECT 10) AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id) AND s.v <> a) FROM generate_series(1, 4) a'),
	('SELECT a, (SELECT count(*) FROM staging s WHERE s.v > (SELECT a * 100) AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)) FROM generate_series(1, 4) a'),
	('SELECT a, (SELECT count(*) FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id AND t.part < a)) FROM generate_series(1, 4) a')) v(q);
SELECT i, r.* FROM reruns, join_compare(q) r ORDER BY i;
-- a cursor that goes back, and one that ends early
SET bloomfam.join_filter = force;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT s.v FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id) ORDER BY s.v;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE LAST IN c;
FETCH BACKWARD 2 FROM c;
COMMIT;
SELECT count(*) FROM (SELECT FROM staging s JOIN target t ON t.id = s.id LIMIT 5) x;
-- rows that were changed meanwhile are looked at again (EvalPlanQual has its own tests): here only that the plan runs
BEGIN;
SELECT count(*) FROM (SELECT s.v FROM staging s WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id) FOR UPDATE) x;
UPDATE staging s SET v = v FROM target t WHERE t.id = s.id AND t.part = 0;
DELETE FROM staging s USING target t WHERE t.id = s.id AND t.part = 0;
ROLLBACK;
-- and has a filter, also of a build side with a stable function
SELECT q, joins(q) ~ 'Bloom Filter' AS filtered FROM (VALUES
	('INSERT INTO staging SELECT s.* FROM staging s WHERE s.v < 100 + now()::date - now()::date AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)'),
	('DELETE FROM staging s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)'),
	('UPDATE staging s SET v = v WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id)')) v(q);
RESET bloomfam.join_filter;
SET bloomfam.join_filter = on;
-- prepared, and with other settings later
PREPARE p(int) AS SELECT count(*) FROM staging s WHERE s.v > $1 AND NOT EXISTS (SELECT FROM target t WHERE t.id = s.id);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(100);
SET bloomfam.join_filter = off;
EXECUTE p(100);
SET bloomfam.join_filter = on;
EXECUTE p(100);
RESET enable_hashjoin;
RESET enable_nestloop;

-- ---- keys of other types, and of two columns ----
CREATE TABLE typed AS SELECT n, md5(id::text)::uuid AS u, name AS t, id::numeric / 4 AS m, id % 100 AS a, id / 100 AS b FROM target;
CREATE TABLE typed_staging AS SELECT v, md5(id::text)::uuid AS u, name AS t, id::numeric / 4 AS m, id % 100 AS a, id / 100 AS b FROM staging;
VACUUM ANALYZE typed, typed_staging;
CREATE TABLE shapes AS SELECT * FROM (VALUES
	('GROUP BY', 'SELECT s.v, t.n FROM typed_staging s JOIN (SELECT KEY, max(n) AS n FROM typed GROUP BY KEY) t USING (KEY)'),
	('left', 'SELECT s.v, t.n FROM typed_staging s LEFT JOIN (SELECT KEY, max(n) AS n FROM typed GROUP BY KEY) t USING (KEY)'),
	('window', 'SELECT s.v, t.n FROM typed_staging s JOIN (SELECT KEY, n, row_number() OVER (PARTITION BY KEY ORDER BY n) AS r FROM typed) t USING (KEY) WHERE r = 1'),
	('DISTINCT ON', 'SELECT s.v, t.n FROM typed_staging s JOIN (SELECT DISTINCT ON (KEY) KEY, n FROM typed ORDER BY KEY, n DESC) t USING (KEY)'),
	('UNION', 'SELECT s.v FROM typed_staging s JOIN (SELECT KEY FROM typed UNION SELECT KEY FROM typed WHERE n < 100) t USING (KEY)'),
	('EXCEPT', 'SELECT s.v FROM typed_staging s JOIN (SELECT KEY FROM typed EXCEPT SELECT KEY FROM typed WHERE n < 100) t USING (KEY)'),
	('CTE', 'WITH c AS MATERIALIZED (SELECT KEY, max(n) AS n FROM typed GROUP BY KEY) SELECT s.v, x.n FROM typed_staging s JOIN c x USING (KEY) JOIN c y USING (KEY)'),
	('EXISTS', 'SELECT v FROM typed_staging s WHERE EXISTS (SELECT FROM typed t WHERE (SAME))'),
	('NOT EXISTS', 'SELECT v FROM typed_staging s WHERE NOT EXISTS (SELECT FROM typed t WHERE (SAME))'),
	('IS NULL', 'SELECT v FROM typed_staging s LEFT JOIN typed t ON SAME WHERE t.FIRST IS NULL')) v(shape, q);
CREATE TABLE typed_results AS SELECT shape, k AS key, r.* FROM shapes,
	(VALUES ('u', 't.u = s.u'), ('t', 't.t = s.t'), ('m', 't.m = s.m'), ('a, b', 't.a = s.a AND t.b = s.b')) v(k, same_key), join_compare(replace(replace(replace(q, 'KEY', k), 'SAME', same_key), 'FIRST', left(k, 1))) r;
SELECT shape, min(rows) AS least, max(rows) AS most, bool_and(same) AS same, string_agg(key, '; ' ORDER BY key) FILTER (WHERE NOT filtered) AS unfiltered FROM typed_results GROUP BY shape ORDER BY shape;

-- ---- CTEs that are read several times ----
-- where the filter's probe node is: in the CTE, or on top of its scans
CREATE FUNCTION places(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	above text;
	found text;
	probing bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		above := coalesce(substring(line FROM 'CTE (\w+)$'), above);
		IF probing AND line ~ '->' THEN
			found := concat_ws(', ', found, regexp_replace(line, '.*->  ', ''));
			probing := false;
		END IF;
		probing := probing OR line ~ 'Bloom Filter Probe';
	END LOOP;
	RETURN found;
END $$;
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN ' || query;
END $$;
CREATE TABLE groups AS SELECT g AS part, g % 3 AS kind FROM generate_series(0, 9) g;
ANALYZE groups;
CREATE TABLE ctes AS SELECT row_number() OVER () AS i, 'WITH c AS MATERIALIZED (SELECT id, max(n) AS m FROM target GROUP BY id) ' || q AS q FROM (VALUES
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b USING (id)'),
	('SELECT s.v, a.m FROM (SELECT a.id, a.m FROM c a JOIN c b USING (id) OFFSET 0) a JOIN staging s USING (id)'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b ON b.id = s.v'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b ON b.m = s.id'),
	('SELECT s.v, a.m, (SELECT count(*) FROM c) FROM staging s JOIN c a USING (id)'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) LEFT JOIN c b USING (id)'),
	('SELECT s.v, a.m FROM staging s LEFT JOIN c a USING (id) LEFT JOIN c b USING (id)'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN (SELECT id, sum(1 / (m + 1)) AS x FROM c GROUP BY id) b USING (id)'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b USING (id) WHERE a.m % 2 = 1 AND b.m > 500'),
	('SELECT s.v, x.m FROM staging s, LATERAL (SELECT a.m FROM c a JOIN c b USING (id) WHERE a.id = s.id OFFSET 0) x WHERE s.v < 20'),
	('SELECT s.v, d.m FROM staging s JOIN (WITH d AS MATERIALIZED (SELECT * FROM c) SELECT a.* FROM d a JOIN d b USING (id)) d USING (id)'),
	('SELECT s.v FROM staging s JOIN c a USING (id) WHERE NOT EXISTS (SELECT FROM c b WHERE b.id = s.id AND b.m % 4 = 1)'),
	-- two joins by one column, and by that and another
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b ON b.id = s.id AND b.m = a.m'),
	('SELECT s.v, a.m FROM staging s JOIN c a USING (id) JOIN c b ON b.id = s.v AND b.m = a.m')) v(q);
SELECT i, places(q) FROM ctes WHERE i <= 9 OR i >= 13 ORDER BY i;
SELECT i, r.* FROM ctes, join_compare(q) r ORDER BY i;
SET enable_hashjoin = off;
SELECT i, r.* FROM ctes, join_compare(q) r ORDER BY i;
RESET enable_hashjoin;
EXPLAIN (VERBOSE, COSTS OFF) WITH c AS MATERIALIZED (SELECT id, max(n) AS m FROM target GROUP BY id) SELECT a.m FROM (SELECT a.id, a.m FROM c a JOIN c b USING (id) OFFSET 0) a JOIN staging s USING (id);
-- one that changes rows does so, whoever reads them
BEGIN;
SET LOCAL bloomfam.join_filter = force;
WITH c AS (UPDATE target SET part = part + 1 RETURNING id, n) SELECT count(*), sum(a.n) FROM staging s JOIN c a USING (id) JOIN c b USING (id);
SELECT sum(part) FROM target;
ROLLBACK;
-- its columns are those of RETURNING
CREATE TABLE copied (id int, part int);
SELECT substring(line FROM 'rows=(\d+)')::int > 1000 AS many FROM (SELECT * FROM explained('WITH c AS (INSERT INTO copied (id, part) SELECT id, part FROM target RETURNING part) SELECT 1 FROM c JOIN groups USING (part)') line LIMIT 1) x;

-- ---- what the planner chooses ----
CREATE TABLE large AS SELECT g / 2 AS id, g AS n FROM generate_series(0, 199999) g;
ANALYZE large;
SELECT left(q, 100) AS q, joins(q) ~ 'Bloom Filter 1: \(large.id\)|Bloom Filter 1: \(t.id\)' AS filtered FROM (VALUES
	('SELECT s.v, t.n FROM staging s JOIN (SELECT id, n, row_number() OVER (PARTITION BY id ORDER BY n) AS r FROM large) t USING (id) WHERE r = 1'),
	('SELECT s.v, t.n FROM staging s JOIN (SELECT DISTINCT ON (id) id, n FROM large ORDER BY id, n) t USING (id)'),
	('SELECT s.v, t.n FROM staging s JOIN (SELECT id, max(n) AS n FROM large GROUP BY id) t USING (id)'),
	('SELECT v FROM staging s WHERE NOT EXISTS (SELECT FROM large t WHERE t.id = s.id)'),
	('SELECT v FROM staging s WHERE EXISTS (SELECT FROM large t WHERE t.id = s.id)'),
	('SELECT v FROM staging s LEFT JOIN large t USING (id) WHERE t.n IS NULL'),
	('SELECT v FROM staging s JOIN (SELECT id FROM large EXCEPT SELECT v FROM staging) t USING (id)'),
	('SELECT v FROM staging s JOIN (SELECT id FROM large UNION SELECT id FROM staging) t USING (id)')) v(q);

-- ---- conditions with subqueries ----
CREATE TABLE conditions AS SELECT row_number() OVER () AS i, 'SELECT s.v, t.n FROM staging s JOIN target t USING (id) WHERE ' || w AS q FROM (VALUES
	('t.part IN (1, 2) OR t.part IN (SELECT part FROM groups WHERE kind = 2)'), ('t.n > (SELECT count(*) FROM groups g WHERE g.part <= t.part)'),
	('t.n > 8000 OR NOT EXISTS (SELECT FROM groups g WHERE g.part = t.part + 5)'), ('t.part NOT IN (SELECT part FROM groups WHERE kind = 1)'),
	('coalesce((SELECT g.kind FROM groups g WHERE g.part = t.part), 0) < random() + 3')) v(w);
SELECT i, r.* FROM conditions, join_compare(q) r ORDER BY i;
SELECT places('SELECT s.v, t.n FROM staging s JOIN target t USING (id) WHERE t.part IN (1, 2) OR t.part IN (SELECT part FROM groups WHERE kind = 2)');

DROP SCHEMA join_shapes CASCADE;
