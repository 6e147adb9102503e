--
-- Join filters in EXPLAIN, and what the log says of them.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_explain;
SET search_path = join_explain, public;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET bloomfam.join_filter = on;
-- what EXPLAIN VERBOSE would show besides
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;

CREATE TABLE fact AS
	SELECT g AS id, g % 1000 AS a, (g % 1000)::bigint AS big, (g % 1000)::numeric AS n, 'k' || g % 1000 AS t, g % 3 AS few
	FROM generate_series(1, 20000) g;
CREATE TABLE dim AS SELECT g AS a, g::numeric AS n, 'k' || g AS t, g % 3 AS few FROM generate_series(1, 100) g;
CREATE TABLE part (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (500);
CREATE TABLE part_high PARTITION OF part FOR VALUES FROM (500) TO (1000);
INSERT INTO part SELECT g % 1000, g FROM generate_series(1, 20000) g;
ANALYZE fact;
ANALYZE dim;
ANALYZE part;

CREATE FUNCTION explained(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan;
END $$;

\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/analyzed.sql'
\i :file
\set file :folder '/sql/include/related.sql'
\i :file

-- Of a structured EXPLAIN, what is said of filters.
CREATE FUNCTION structured(query text, options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	line text;
	inside boolean := false;
BEGIN
	EXECUTE format('EXPLAIN (COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, %s) %s', options, query) INTO plan;
	FOREACH line IN ARRAY string_to_array(plan, E'\n')
	LOOP
		inside := (inside OR line ~ '(Bloom|Join).Filters') AND line !~ 'Plans';
		IF inside THEN
			RETURN NEXT ltrim(line);
		END IF;
	END LOOP;
END $$;

--
-- Text
--

-- a filter has a number, at both of its nodes, and a key
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d USING (a);
SELECT analyzed('SELECT count(*) FROM fact f JOIN dim d USING (a)');

-- keys as they are called where the node is: below a subquery, of a partition, computed on the build side
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT a AS key, random() FROM fact OFFSET 0) s JOIN dim d ON s.key = d.a;
SET enable_partitionwise_join = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM part p JOIN dim d ON p.k = d.a;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN (SELECT a, count(*) FROM dim GROUP BY a) d ON f.a = d.a + 7;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f WHERE a IN (SELECT a FROM dim);

-- several joins; a key of several columns; one filter for each column, where they come from different tables
SELECT related('SELECT count(*) FROM fact f JOIN dim d1 USING (a) JOIN dim d2 ON f.n = d2.n AND f.t = d2.t WHERE d1.t < ''k2''');
SET join_collapse_limit = 1;
EXPLAIN (COSTS OFF)
SELECT count(*) FROM (fact f1 JOIN fact f2 ON f1.id = f2.id) JOIN dim d ON f1.n = d.n AND f2.t = d.t;
SELECT analyzed('SELECT count(*) FROM (fact f1 JOIN fact f2 ON f1.id = f2.id) JOIN dim d ON f1.n = d.n AND f2.t = d.t');
RESET join_collapse_limit;

-- hashed by our own functions or by the operator family's; int4 = int8 has the same hash on both sides
SELECT analyzed('SELECT count(*) FROM fact f JOIN dim d ON f.n = d.n AND f.t = d.t AND f.big = d.a', ', VERBOSE');

-- row by row
SELECT analyzed('SELECT count(*) FROM generate_series(1, 20000) g JOIN dim d ON g = d.a');

-- several loops: sums
SET enable_material = off;
SELECT analyzed('
	SELECT g, s.* FROM generate_series(1, 3) g,
		LATERAL (SELECT count(*) FROM fact f JOIN dim d USING (a) WHERE d.a % 4 <> g OFFSET 0) s');
RESET enable_material;

-- nothing was built
SELECT analyzed('SELECT count(*) FROM fact f JOIN dim d USING (a) WHERE current_setting(''block_size'')::int < 0');
SELECT analyzed('SELECT count(*) FROM fact f JOIN dim d USING (a) WHERE d.a < -current_setting(''block_size'')::int');

-- too many keys
SET bloomfam.join_filter_max_size = 1;
SELECT related('SELECT count(*) FROM fact f JOIN (SELECT id FROM fact WHERE id % 4 = 0) d ON f.id = d.id');
RESET bloomfam.join_filter_max_size;

-- a filter that drops nothing, against what the planner expects, is disabled
SELECT regexp_replace(line, 'Probed: \d+ (.*)Checked: \d+', 'Probed: ... \1Checked: ...') AS analyzed
FROM analyzed('SELECT count(*) FROM fact f JOIN fact d USING (id) WHERE d.id + 0 < 1000000') line WHERE line ~ 'Rows Probed';

-- a cached plan keeps its nodes
PREPARE cached AS SELECT count(*) FROM fact f JOIN dim d USING (a);
SET plan_cache_mode = force_generic_plan;
EXECUTE cached;
SET bloomfam.join_filter = off;
SELECT analyzed('EXECUTE cached');
SELECT structured('EXECUTE cached', 'ANALYZE, FORMAT YAML');
SET bloomfam.join_filter = on;
DEALLOCATE cached;

--
-- JSON, XML, YAML
--
SELECT structured('SELECT count(*) FROM fact f JOIN dim d ON f.n = d.n AND f.t = d.t', 'FORMAT JSON');
SELECT structured('SELECT count(*) FROM fact f JOIN dim d ON f.n = d.n AND f.t = d.t', 'ANALYZE, VERBOSE, FORMAT JSON');
SELECT structured('SELECT count(*) FROM fact f JOIN dim d ON f.n = d.n AND f.t = d.t', 'ANALYZE, VERBOSE, FORMAT XML');
SELECT regexp_replace(structured, '(Rows Probed|Rows Removed): [0-9]+', '\1: N')
FROM structured('SELECT count(*) FROM fact f JOIN dim d1 USING (a) JOIN dim d2 ON f.t = d2.t WHERE d2.a < 10', 'ANALYZE, FORMAT YAML');
SELECT structured('SELECT count(*) FROM generate_series(1, 20000) g JOIN dim d ON g = d.a', 'ANALYZE, FORMAT YAML');
-- all rows of the table are accounted for
CREATE TEMP TABLE disabled AS
	SELECT * FROM structured('SELECT count(*) FROM fact f JOIN fact d USING (id) WHERE d.id + 0 < 1000000', 'ANALYZE, FORMAT YAML') line;
SELECT sum(substring(line FROM '(?:Rows Probed|Rows Not Checked): (\d+)')::int) AS rows,
	   bool_or(line ~ 'Rows Removed: 0') AS none_dropped, bool_or(line ~ 'Disabled: true') AS disabled
FROM disabled;

--
-- With VERBOSE, what was decided about each key of each hash join, and why.
--
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM fact f LEFT JOIN dim d USING (a);
-- (19 names subplans anew)
EXPLAIN (COSTS OFF, VERBOSE)
SELECT (SELECT count(*) FROM fact f JOIN dim d USING (few) WHERE d.a = o.a) FROM dim o JOIN fact f ON f.few + 0 = o.few AND f.n = o.n
\g | sed 's/SubPlan expr_/SubPlan /'
SELECT structured('SELECT count(*) FROM fact f JOIN dim d1 USING (a) LEFT JOIN dim d2 ON d2.few = f.few', format('VERBOSE, FORMAT %s', format))
FROM unnest(ARRAY['JSON', 'XML', 'YAML']) format;
-- of plans with no hash join, nothing
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM dim;
SET bloomfam.join_filter = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM fact f LEFT JOIN dim d USING (a);
SET bloomfam.join_filter = on;
-- of statements that have a query
EXPLAIN (COSTS OFF, VERBOSE) CREATE TABLE copy AS SELECT d.few FROM fact f LEFT JOIN dim d USING (a);
EXPLAIN (COSTS OFF, VERBOSE) DECLARE c CURSOR FOR SELECT d.few FROM fact f LEFT JOIN dim d USING (a);
-- (which columns the nodes below hand on, and in which order, is not the same in all versions)
CREATE FUNCTION decided(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	seen bool = false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query LOOP
		seen = seen OR line = 'Join Filters:';
		IF seen THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT decided('UPDATE dim SET few = 0 FROM fact f LEFT JOIN dim d USING (a) WHERE f.id = dim.a');
-- and of the one that is explained, whatever functions plan meanwhile: while it is planned, and while it runs
CREATE FUNCTION at_planning() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM dim d1 LEFT JOIN dim d2 USING (t)' INTO n;
	RETURN n;
END $$;
CREATE FUNCTION at_run() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n bigint := 0;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM fact f LEFT JOIN dim d USING (n)
	LOOP
		n := n + (line ~ 'No filter')::int;
	END LOOP;
	RETURN n + at_planning();
END $$;
SELECT at_run();
SELECT analyzed('SELECT at_planning(), at_run() FROM fact f LEFT JOIN dim d USING (a) WHERE f.id = 1', ', VERBOSE');
EXPLAIN (ANALYZE, VERBOSE) SELECT 1 / (f.id - 5) FROM fact f LEFT JOIN dim d USING (a);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f LEFT JOIN dim d USING (a);
-- a prepared statement may have been planned long ago
PREPARE prepared AS SELECT count(*) FROM fact f LEFT JOIN dim d USING (a);
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE prepared;
DEALLOCATE prepared;

--
-- The log: each hash join that is planned, and why it gets no filter.
--
SET bloomfam.join_filter_log = on;
SET client_min_messages = log;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d USING (a);
-- kinds of joins
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f LEFT JOIN dim d USING (a);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f FULL JOIN dim d USING (a);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.a = f.a);
-- keys
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.a + 1 = d.a;
-- (the second is not computed where the first is NULL)
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.a + 1 = d.a AND f.n = d.n + 1;
-- not strict
CREATE FUNCTION int4eq_any(int, int) RETURNS boolean LANGUAGE internal IMMUTABLE AS 'int4eq';
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, PROCEDURE = int4eq_any, COMMUTATOR = ===, HASHES, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE OPERATOR CLASS any_ops FOR TYPE int USING hash AS OPERATOR 1 ===, FUNCTION 1 hashint4(int);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.a === d.a;
-- one of several columns
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.a === d.a AND f.n = d.n AND f.t || '' = d.t AND f.few = d.few;
-- what it would cost and win
EXPLAIN (COSTS OFF) SELECT count(*) FROM dim d1 JOIN dim d2 USING (a);
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d USING (few);
SET join_collapse_limit = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (dim d JOIN fact f1 USING (few)) JOIN (SELECT id FROM fact WHERE id <= 1000) f2 ON f2.id = d.a;
-- several filters for one join; several joins; joins in subqueries, and below a recursive union
EXPLAIN (COSTS OFF)
SELECT count(*) FROM (fact f1 JOIN fact f2 ON f1.id = f2.id) JOIN dim d ON f1.n = d.n AND f2.t = d.t;
RESET join_collapse_limit;
EXPLAIN (COSTS OFF)
SELECT (SELECT count(*) FROM fact f JOIN dim d USING (a) WHERE d.few = o.few) FROM dim o
\g | sed 's/SubPlan expr_/SubPlan /'
EXPLAIN (COSTS OFF)
WITH RECURSIVE r AS (SELECT a FROM dim UNION SELECT f.id FROM r JOIN fact f ON f.id = r.a * 3) SELECT count(*) FROM r;
-- EXPLAIN VERBOSE also tells of joins that are no hash joins
RESET client_min_messages;
SET enable_hashjoin = off;
SET enable_nestloop = on;
CREATE TABLE looked_up AS SELECT id, a FROM fact;
CREATE UNIQUE INDEX ON looked_up (id);
ANALYZE looked_up;
EXPLAIN (VERBOSE, COSTS OFF) SELECT u.a FROM dim d JOIN looked_up u ON u.id = d.a;
SET enable_bitmapscan = off;
EXPLAIN (VERBOSE, COSTS OFF) SELECT u.id FROM dim d JOIN looked_up u ON u.id = d.a;
-- ... with a key that is computed of the outer row, of several of them, and beside another condition
EXPLAIN (VERBOSE, COSTS OFF) SELECT u.a FROM dim d JOIN looked_up u ON u.id = d.a - 1;
EXPLAIN (VERBOSE, COSTS OFF) SELECT u.a FROM dim d JOIN looked_up u ON u.id = d.n::int AND u.a = d.few;
EXPLAIN (VERBOSE, COSTS OFF) SELECT u.a FROM (dim d1 CROSS JOIN dim d2) JOIN looked_up u ON u.id = d1.a + d2.a;
-- ... but not one that is computed of both sides, which no hash join could have had (17 turns it round)
SELECT replace(d, 'u.a = (d.few + u.id)', '(d.few + u.id) = u.a') AS decided FROM decided('SELECT u.a FROM dim d JOIN looked_up u ON u.id = d.a + 1 AND u.a = d.few + u.id') d;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d JOIN dim e ON d.few = e.few AND d.a < e.a;
-- by a volatile condition the planner makes no other join
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d JOIN dim e ON d.few = e.few + (random() * 0)::int;
-- nor by conditions that compare no value of one side with one of the other
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d JOIN dim e ON d.few + e.few = 5 AND d.few - e.few = e.n;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d LEFT JOIN dim e ON d.few = 5 AND e.few = d.few + e.n;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d JOIN dim e ON d.a < e.a;
SET enable_nestloop = off;
SET enable_mergejoin = on;
EXPLAIN (VERBOSE, COSTS OFF) SELECT 1 FROM dim d JOIN dim e ON d.few = e.few AND d.t = e.t;
EXPLAIN (VERBOSE, COSTS OFF, FORMAT json) SELECT 1 FROM dim d JOIN dim e USING (a) \g | sed -n '/Join Filters/,$p'
RESET enable_bitmapscan;
SET enable_hashjoin = on;
SET enable_mergejoin = off;
-- the casts that the server makes of two types: docs/join_filter_reference.md has this as a table
CREATE TABLE many AS
	SELECT g AS i4, g::bigint AS i8, (g % 1000)::smallint AS i2, g::numeric AS n, g::float8 AS f8, g::float4 AS f4, g::oid AS o,
		g::text AS t, g::text::varchar AS v, g::text::char(8) AS c, g::text::name AS nm,
		date '2000-01-01' + g AS d, timestamp '2000-01-01' + g * interval '1 day' AS ts, timestamptz '2000-01-01' + g * interval '1 day' AS tz
	FROM generate_series(1, 20000) g;
CREATE TABLE few AS SELECT * FROM many WHERE i4 % 100 = 0;
CREATE STATISTICS few_i4_n ON (i4::numeric) FROM few;
CREATE STATISTICS few_i4_f8 ON (i4::float8) FROM few;
CREATE STATISTICS few_n_f8 ON (n::float8) FROM few;
CREATE STATISTICS few_c_t ON (c::text) FROM few;
CREATE STATISTICS few_i8_o ON (i8::oid) FROM few;
CREATE STATISTICS few_ts_d ON (ts::date) FROM few;
ANALYZE many;
ANALYZE few;
CREATE FUNCTION decided(many text, few text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (VERBOSE, FORMAT JSON) SELECT count(*) FROM many JOIN few ON many.%s = few.%s', many, few) INTO plan;
	RETURN (SELECT string_agg(coalesce(decision ->> 'Reason', format('filter %s of %s rows removes %s', decision ->> 'Number', decision ->> 'Expected Rows Probed', decision ->> 'Expected Rows Removed')), '') FROM json_array_elements(plan -> 0 -> 'Join Filters') decision);
END $$;
SELECT a || ' = ' || b AS types, decided(a, b) AS a_of_many, CASE WHEN b !~ '::' THEN decided(b, a) END AS b_of_many
FROM (VALUES ('i2', 'i4'), ('i4', 'i8'), ('f4', 'f8'), ('nm', 't'), ('v', 't'), ('v', 'v'), ('c', 'v'), ('i4', 'o'),
	('i4', 'n'), ('i4', 'f8'), ('n', 'f8'), ('c', 't'), ('i8', 'o'), ('d', 'ts'), ('ts', 'tz'), ('d', 'tz'), ('d', 'ts::date')) pair (a, b);
-- probe nodes show the rows that are expected to pass
SELECT rows FROM (SELECT plan -> 0 #> '{Plan,Plans,0,Plans,0}' ->> 'Plan Rows' AS rows FROM explained('SELECT count(*) FROM fact f JOIN dim d USING (a)') plan) s;
SET client_min_messages = log;
-- nothing is said where nothing is decided
SET bloomfam.join_filter = off;
SELECT count(*) FROM fact f JOIN dim d USING (a);
RESET client_min_messages;

\c -
SET client_min_messages = warning;
DROP SCHEMA join_explain CASCADE;
RESET client_min_messages;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
