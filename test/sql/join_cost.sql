--
-- Plans that are chosen for what join filters are expected to save.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_cost;
SET search_path = join_cost, public;
SET bloomfam.join_filter = on;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '4MB';

-- makes join_compare()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file

-- each row of the fact table is found by index at the cost of a page
CREATE TABLE fact AS SELECT (g * 7919::bigint % 200000)::int AS k, g % 100 AS v, g AS id, g % 1000 AS d FROM generate_series(1, 200000) g;
CREATE INDEX ON fact (k);
CREATE TABLE parts (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100000);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100000) TO (200000);
INSERT INTO parts SELECT k, v FROM fact;
CREATE INDEX ON parts (k);
CREATE TABLE few AS SELECT g * 20000 AS k FROM generate_series(1, 10) g;
CREATE TABLE picks AS SELECT g * 500 AS k, g % 2 AS v FROM generate_series(1, 400) g;
CREATE TABLE many AS SELECT g AS k FROM generate_series(0, 199999) g;
CREATE TABLE days AS SELECT g AS d FROM generate_series(1, 100) g;
VACUUM ANALYZE fact, parts, few, picks, many, days;

-- the joins of a query's plan, from the top down, and which have filters
CREATE FUNCTION joins(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found || substring(line FROM '(?:Parallel )?(?:Hash|Merge)(?: Semi| Left| Right)? Join|Nested Loop.*|Bloom Filter [0-9]+: .* of');
	END LOOP;
	RETURN array_to_string(found, ', ');
END $$;
CREATE FUNCTION total_cost(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' -> 'Total Cost';
END $$;

-- a nested loop without filters, and a hash join for what its filter saves
\set query 'SELECT sum(fact.v) FROM fact JOIN picks USING (k)'
EXPLAIN (COSTS OFF) :query;
:query;
SET bloomfam.join_filter_plans = off;
EXPLAIN (COSTS OFF) :query;
:query;
-- ... which shows in its cost
SET enable_nestloop = off;
SELECT total_cost(:'query') AS plain \gset
SET bloomfam.join_filter_plans = on;
SELECT total_cost(:'query') < 0.8 * :plain AS lower;
SET bloomfam.join_filter = off;
SELECT total_cost(:'query') = :plain AS same;
RESET enable_nestloop;
SELECT joins(:'query');
SET bloomfam.join_filter = on;

-- what saves more, or no filter would: few rows to look for; all rows match; the first row only
SELECT joins('SELECT sum(fact.v) FROM fact JOIN few USING (k)');
SELECT joins('SELECT sum(fact.v) FROM fact JOIN many USING (k)');
SELECT total_cost('SELECT sum(fact.v) FROM fact JOIN many USING (k)') AS cost \gset
SET bloomfam.join_filter_plans = off;
SELECT total_cost('SELECT sum(fact.v) FROM fact JOIN many USING (k)') = :cost AS same;
SET bloomfam.join_filter_plans = on;
SELECT joins('SELECT fact.v FROM fact JOIN picks USING (k) LIMIT 1');
-- no filter by its settings
SET bloomfam.join_filter_min_rows = 200001;
SELECT joins(:'query');
RESET bloomfam.join_filter_min_rows;
SET bloomfam.join_filter_min_drop = 0.999;
SELECT joins(:'query');
RESET bloomfam.join_filter_min_drop;
SET bloomfam.join_filter_max_size = '1kB';
SELECT joins('SELECT sum(fact.v) FROM fact JOIN (SELECT k FROM many WHERE k % 100 = 0) picks USING (k)');
RESET bloomfam.join_filter_max_size;
SELECT joins('SELECT sum(fact.v) FROM fact JOIN (SELECT k FROM many WHERE k % 100 = 0) picks USING (k)');
SET enable_hashjoin = off;
SELECT joins(:'query');
RESET enable_hashjoin;
-- a filter that cannot come before the scan's conditions saves nothing there
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) WHERE fact.v < 101');
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) WHERE fact.v < (SELECT 101 FROM few WHERE few.k = fact.d LIMIT 1)');
-- an outer join that keeps the rows, and one that does not
SELECT joins('SELECT count(few.k) FROM fact LEFT JOIN few USING (k)');
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) LEFT JOIN few USING (k)');

-- other kinds: semi-joins, partitions, keys of several columns and of several tables, above another join
SELECT q, joins(q), r.rows, r.same FROM (VALUES
	('SELECT fact.v FROM fact WHERE EXISTS (SELECT FROM picks WHERE picks.k = fact.k OFFSET 0)'),
	('SELECT fact.v FROM fact WHERE k IN (SELECT k FROM picks UNION ALL SELECT k FROM few)'),
	('SELECT parts.v FROM parts JOIN picks USING (k)'),
	('SELECT fact.v FROM fact JOIN picks USING (k, v)'),
	('SELECT fact.v FROM fact JOIN picks USING (k) JOIN days USING (d)'),
	('SELECT fact.v FROM fact JOIN days USING (d) JOIN picks ON picks.k = fact.k AND picks.v = days.d'),
	('SELECT fact.v FROM fact JOIN picks ON picks.k::text = fact.id::text'),
	('SELECT fact.v FROM few, LATERAL (SELECT * FROM fact JOIN picks USING (k) WHERE fact.d < few.k) fact')
) v(q), join_compare(q) r;
SET bloomfam.join_filter = on;

-- from a merge join
CREATE UNIQUE INDEX ON many (k);
VACUUM ANALYZE many;
SET enable_nestloop = off;
SET enable_partitionwise_join = on;
SELECT joins('SELECT * FROM many JOIN parts USING (k) WHERE v < 5');
RESET enable_partitionwise_join;
RESET enable_nestloop;

-- with workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) :query;
SET enable_parallel_hash = off;
SELECT joins(:'query');
SET bloomfam.join_filter_plans = off;
SELECT joins(:'query');
:query;

\c -
DROP SCHEMA join_cost CASCADE;
