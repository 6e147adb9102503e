--
-- Plans that are chosen for what join filters are expected to save.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_cost;
SET search_path = join_cost, public;
SET bloomfam.join_filter = on;
-- what is compared is the cost model, with the sizes that the server expects
SET bloomfam.join_samples = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '4MB';

-- makes join_compare() and plan_of()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
\set file :folder '/sql/include/plan.sql'
\i :file

-- all is in memory: rows are found by index at some cost, but not at that of a disk
SET random_page_cost = 1.1;
CREATE TABLE fact AS SELECT g AS k, g % 100 AS v, g * 7919::bigint % 200000 AS id, g % 1000 AS d, repeat('x', 80) AS t FROM generate_series(1, 200000) g;
CREATE INDEX ON fact (k);
CREATE TABLE parts (k int, v int, t text) PARTITION BY RANGE (k);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100000);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100000) TO (200001);
INSERT INTO parts SELECT k, v, t FROM fact;
CREATE INDEX ON parts (k);
CREATE TABLE few AS SELECT g * 200 AS k FROM generate_series(1, 1000) g;
CREATE TABLE picks AS SELECT g * 50 AS k, g % 2 * 50 AS v, g % 2 * 500 AS w FROM generate_series(1, 4000) g;
CREATE TABLE many AS SELECT g AS k FROM generate_series(1, 200000) g;
CREATE TABLE days AS SELECT g * 10 AS d FROM generate_series(0, 99) g;
VACUUM ANALYZE fact, parts, few, picks, many, days;

-- the joins of a query's plan, from the top down, and which have filters
CREATE FUNCTION joins(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found || substring(line FROM '(?:Parallel )?(?:Hash|Merge)(?: [A-Z][a-z]+)? Join|Nested Loop.*|Bloom Filter [0-9]+: .* of');
	END LOOP;
	RETURN array_to_string(found, ', ');
END $$;
CREATE FUNCTION total_cost(query text) RETURNS float LANGUAGE sql AS $$ SELECT (plan_of(query) ->> 'Total Cost')::float $$;

-- a nested loop without filters, and a hash join for what its filter saves
\set query 'SELECT sum(id) FROM fact JOIN picks USING (k)'
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
-- what is compared is the cost model, with the sizes that the server expects
SET bloomfam.join_samples = off;

-- no filter would save that: few rows to look for; all rows match; the first row only
SELECT joins('SELECT sum(fact.v) FROM fact JOIN few USING (k)');
SET random_page_cost = 3;
SELECT joins('SELECT sum(fact.v) FROM fact JOIN few USING (k)');
SET random_page_cost = 1.1;
-- (a lookup that has rows on many pages takes longer, and the same with another join below, of which no row can be looked up)
CREATE INDEX ON fact (d);
CREATE TABLE bits AS SELECT g AS v FROM generate_series(0, 99) g;
CREATE TABLE some_days AS SELECT g * 30 AS d FROM generate_series(1, 20) g;
CREATE TABLE more_days AS SELECT g * 15 AS d FROM generate_series(1, 60) g;
ANALYZE bits, some_days, more_days;
SET random_page_cost = 2;
SELECT joins('SELECT sum(fact.k) FROM fact JOIN some_days USING (d)');
SELECT joins('SELECT sum(fact.k) FROM fact JOIN some_days USING (d) JOIN bits USING (v)');
SELECT joins('SELECT sum(fact.k) FROM fact JOIN more_days USING (d) JOIN bits USING (v)');
-- lookups that read the pages of the scan, too, have no advantage by what the planner counts for these; but few of them do not read the same
CREATE TABLE wide_days AS SELECT g AS d, g AS pad FROM generate_series(0, 999) g;
ANALYZE wide_days;
SET random_page_cost = 1.1;
\set lookups 'SELECT sum(fact.k) FROM fact JOIN wide_days w USING (d) JOIN bits USING (v) WHERE w.pad < 60'
SELECT joins(:'lookups');
SELECT joins('SELECT sum(fact.k) FROM fact JOIN wide_days w USING (d) JOIN bits USING (v) WHERE w.pad < 5');
SET bloomfam.join_filter_plans = off;
SELECT joins(:'lookups');
SET bloomfam.join_filter_plans = on;
-- with workers, which divide the pages of lookups and not those of a scan
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_parallel_hash = off;
SELECT joins(:'lookups');
SET bloomfam.join_filter_plans = off;
SELECT joins(:'lookups');
SET bloomfam.join_filter_plans = on;
RESET enable_parallel_hash;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;
DROP INDEX fact_d_idx;
SELECT joins('SELECT sum(fact.v) FROM fact JOIN many USING (k)');
SELECT total_cost('SELECT sum(fact.v) FROM fact JOIN many USING (k)') AS cost \gset
SET bloomfam.join_filter_plans = off;
SELECT total_cost('SELECT sum(fact.v) FROM fact JOIN many USING (k)') = :cost AS same;
SET bloomfam.join_filter_plans = on;
SELECT joins('SELECT fact.v FROM fact JOIN picks USING (k) LIMIT 1');
-- (more keys than a filter may have)
\set many 'SELECT sum(id) FROM fact JOIN many USING (k) WHERE many.k < 5000'
SET bloomfam.join_filter_plans = off;
SELECT total_cost(:'many') AS plain \gset
SET bloomfam.join_filter_plans = on;
SELECT joins(:'many'), total_cost(:'many') < 0.9 * :plain AS lower;
SET bloomfam.join_filter_max_size = '1kB';
SELECT total_cost(:'many') = :plain AS same;
RESET bloomfam.join_filter_max_size;
SET enable_hashjoin = off;
SELECT joins(:'query');
RESET enable_hashjoin;
-- conditions of the scan; a filter that cannot come before them saves nothing there
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) WHERE fact.v < 101');
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) WHERE fact.v < (SELECT 101 FROM few WHERE few.k = fact.d LIMIT 1)');
-- too few rows come to the join: planned as ever, though the filter would pay
\set less 'SELECT sum(fact.v) FROM fact JOIN picks USING (k) WHERE fact.v < 40'
SELECT joins(:'less');
SET bloomfam.join_filter = force;
SELECT joins(:'less');
SET bloomfam.join_filter = on;
-- what is compared is the cost model, with the sizes that the server expects
SET bloomfam.join_samples = off;
-- an anti-join, which keeps rows without a match; and below an outer join
\set anti 'SELECT sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM many WHERE many.k = fact.k AND many.k < 199000)'
SELECT joins(:'anti');
SELECT total_cost(:'anti') AS cost \gset
SET bloomfam.join_filter_plans = off;
SELECT total_cost(:'anti') = :cost AS same;
SET bloomfam.join_filter_plans = on;
SELECT joins('SELECT sum(fact.v) FROM fact JOIN picks USING (k) LEFT JOIN few USING (k)');

-- a join without a filter has the server's own cost, also if another join of the query has one, and if the merge join below, which ends early, costs less than its inputs
CREATE TABLE early AS SELECT g AS k, g % 50 AS v FROM generate_series(1, 2000) g;
CREATE TABLE late AS SELECT g AS k, repeat('x', 100) AS t FROM generate_series(1, 60000) g;
CREATE INDEX ON early (k);
CREATE INDEX ON late (k);
VACUUM ANALYZE early, late;
\set beside 'SELECT count(*) FROM (SELECT count(*) AS c FROM fact JOIN few ON few.k = fact.id) x, early JOIN late USING (k) JOIN bits USING (v) WHERE c >= 0'
WITH RECURSIVE nodes (node) AS (SELECT plan_of(:'beside') UNION ALL SELECT json_array_elements(node -> 'Plans') FROM nodes)
SELECT (node ->> 'Total Cost')::float >= (node #>> '{Plans,0,Total Cost}')::float AS no_less_than_its_input
FROM nodes WHERE node ->> 'Node Type' = 'Hash Join' AND node ->> 'Hash Cond' ~ 'early';

-- a key that is a subquery: the server counts its cost for a part of the rows that match none, and would rather build its hash table of them all
\set dear 'SELECT sum(fact.id) FROM fact JOIN picks ON picks.k = fact.id AND fact.v = (SELECT max(d) FROM days WHERE days.d <= picks.v)'
SELECT joins(:'dear');
SET bloomfam.join_filter_plans = off;
SELECT joins(:'dear');
:dear;
SET bloomfam.join_filter_plans = on;
:dear;

-- other kinds: semi-joins, partitions, keys of several columns and of several tables, above another join
CREATE TABLE queries AS SELECT q FROM (VALUES
	('SELECT id FROM fact WHERE EXISTS (SELECT FROM picks WHERE picks.k = fact.k)'),
	('SELECT id FROM fact WHERE k IN (SELECT k FROM picks UNION ALL SELECT k FROM few)'),
	('SELECT parts.v FROM parts JOIN picks USING (k)'),
	('SELECT id FROM fact JOIN picks USING (k, v)'),
	('SELECT id FROM fact JOIN picks USING (k) JOIN days USING (d)'),
	('SELECT id FROM fact JOIN days USING (d) JOIN picks ON picks.k = fact.k AND picks.w = days.d'),
	('SELECT id FROM fact JOIN picks ON picks.k::text = fact.id::text'),
	('SELECT f.id FROM (SELECT k FROM few WHERE k <= 2000) few, LATERAL (SELECT id FROM fact JOIN picks USING (k) WHERE fact.d <> few.k OFFSET 0) f')
) v(q);
SELECT q, joins(q) FROM queries;
SET bloomfam.join_filter_plans = off;
SELECT q, joins(q) FROM queries;
SET bloomfam.join_filter_plans = on;
SELECT r.* FROM queries, join_compare(q) r;

-- what is not read: the joins from the top down, where partitions and pages are read all, and where those without a match are not
CREATE FUNCTION methods(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found || substring(line FROM '(?:Hash|Merge) Join|Nested Loop|Hash Cond: .*');
	END LOOP;
	RETURN array_to_string(found, ', ');
END $$;
-- the cost that is left of a query, in percent
CREATE FUNCTION left_of(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
	off float;
BEGIN
	SET LOCAL bloomfam.join_filter_skip = off;
	off := total_cost(query);
	SET LOCAL bloomfam.join_filter_skip = on;
	RETURN round(100 * total_cost(query) / off);
END $$;
CREATE FUNCTION partition(parent text, bounds text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 0 .. n - 1 LOOP
		EXECUTE format('CREATE TABLE %1$s_%2$s PARTITION OF %1$s FOR VALUES ' || bounds, parent, i, i + 1);
	END LOOP;
END $$;
CREATE TABLE sales (day int, store int, v int, t text) PARTITION BY RANGE (day);
SELECT partition('sales', 'FROM (%2$s) TO (%3$s)', 50);
INSERT INTO sales SELECT g / 2400, g * 7919::bigint % 3000, g % 100, repeat('x', 60) FROM generate_series(0, 119999) g;
CREATE TABLE in_order AS SELECT * FROM sales ORDER BY day;
CREATE TABLE in_none AS SELECT day, store, v FROM sales ORDER BY store, v, day;
CREATE TABLE by_hash (day int, store int, v int) PARTITION BY HASH (day);
CREATE TABLE by_both (day int, store int, v int) PARTITION BY HASH (day, store);
SELECT partition(name, 'WITH (MODULUS 20, REMAINDER %2$s)', 20) FROM unnest('{by_hash,by_both}'::text[]) name;
INSERT INTO by_hash SELECT day, store, v FROM sales;
INSERT INTO by_both SELECT day, store, v FROM sales;
-- one partition has nearly all
CREATE TABLE uneven (day int, store int, v int) PARTITION BY LIST (day);
SELECT partition('uneven', 'IN (%2$s)', 10);
CREATE TABLE uneven_rest PARTITION OF uneven DEFAULT;
INSERT INTO uneven SELECT day, store, v FROM sales;
CREATE TABLE nested (day int, store int, v int) PARTITION BY RANGE (day);
CREATE TABLE nested_low PARTITION OF nested FOR VALUES FROM (0) TO (25) PARTITION BY HASH (store);
CREATE TABLE nested_low_0 PARTITION OF nested_low FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE nested_low_1 PARTITION OF nested_low FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE nested_high PARTITION OF nested FOR VALUES FROM (25) TO (50);
INSERT INTO nested SELECT day, store, v FROM sales;
CREATE TABLE by_five (day int, store int, v int) PARTITION BY RANGE (day);
SELECT partition('by_five', 'FROM (%2$s * 5) TO (%3$s * 5)', 10);
INSERT INTO by_five SELECT day, store, v FROM sales;
CREATE INDEX ON sales (store);
CREATE INDEX ON in_order (store);
CREATE INDEX ON in_order USING brin (day) WITH (pages_per_range = 16);
CREATE INDEX ON in_none USING brin (day) WITH (pages_per_range = 16);
CREATE TABLE dates AS SELECT g AS day, g / 3 AS w, g * 7 % 50 / 3 AS u, g % 10 AS x FROM generate_series(0, 49) g;
CREATE TABLE pairs AS SELECT g AS day, g AS store FROM generate_series(1, 2) g;
CREATE TABLE stores AS SELECT g AS store, g % 100 AS kind FROM generate_series(0, 2999) g;
-- (all rows are looked at, so that costs are the same each time)
SET default_statistics_target = 400;
VACUUM ANALYZE sales, in_order, in_none, by_hash, by_both, by_five, uneven, nested, dates, pairs, stores;
\set star 'JOIN dates USING (day) JOIN stores USING (store) WHERE w = 4 AND kind = 3'
\set partitions 'SELECT sum(v) FROM sales ' :star
\set pages 'SELECT sum(v) FROM in_order ' :star
SET bloomfam.join_filter_skip = off;
SELECT methods(:'partitions');
SELECT methods(:'pages');
:partitions;
:pages;
SET bloomfam.join_filter_skip = on;
SELECT methods(:'partitions');
SELECT methods(:'pages');
:partitions;
:pages;
SET bloomfam.join_filter_plans = off;
SELECT methods(:'partitions');
SELECT methods(:'pages');
SET bloomfam.join_filter_plans = on;
SET enable_nestloop = off;
-- three keys side by side, and apart; one, expected of two conditions; many; in another column; in two; below another join
SELECT table_name, left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) WHERE w = 4', table_name)) AS three,
	left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) WHERE u = 4', table_name)) AS apart,
	left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) WHERE w = 4 AND x = 3', table_name)) AS one,
	left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) WHERE w < 6', table_name)) AS range,
	left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) WHERE x < 4', table_name)) AS many,
	left_of(format('SELECT sum(v) FROM %s JOIN dates ON dates.day = store WHERE w = 4', table_name)) AS other,
	left_of(format('SELECT sum(v) FROM %s JOIN pairs USING (day, store)', table_name)) AS two,
	left_of(format('SELECT sum(v) FROM %s JOIN dates USING (day) JOIN stores USING (store) WHERE w = 4 AND kind = 3', table_name)) AS star
FROM unnest('{sales,in_order,in_none,by_hash,by_both,by_five,uneven,nested}'::text[]) table_name;
RESET enable_nestloop;

-- with workers, which share what a nested loop costs, but not the pages of a scan
SET random_page_cost = 2.5;
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

-- joins that return rows of the filter's build side, by whatever join the major has for that: what is expected to match is counted on the probe side
RESET ALL;
SET search_path = join_cost, public;
SET bloomfam.join_filter = on;
SET bloomfam.join_samples = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE asked AS SELECT g * 5 AS id FROM generate_series(1, 2000) g;
CREATE TABLE tenfold AS SELECT g % 10000 + 1 AS id, repeat('x', 50) AS t FROM generate_series(1, 200000) g;
VACUUM ANALYZE asked, tenfold;
CREATE FUNCTION expected_to_pass(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	line text;
	rows text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		rows := regexp_match(line, 'Expected Rows Probed: (\d+)  Expected Rows Removed: (\d+)');
		IF rows IS NOT NULL THEN
			RETURN round(1 - rows[2]::numeric / rows[1]::numeric, 1);
		END IF;
	END LOOP;
	RETURN NULL;
END $$;
SELECT expected_to_pass('SELECT id FROM asked WHERE NOT EXISTS (SELECT FROM tenfold WHERE tenfold.id = asked.id)') AS anti,
	expected_to_pass('SELECT id FROM asked WHERE EXISTS (SELECT FROM tenfold WHERE tenfold.id = asked.id)') AS semi;

\c -
SET client_min_messages = warning;
DROP SCHEMA join_cost CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
