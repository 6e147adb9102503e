--
-- Join filters where they could make a query slower: each of these is held to what it does without.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_harm;
SET search_path = join_harm, public;
SET bloomfam.join_filter = on;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_incremental_sort = off;
SET jit = off;
SET work_mem = '16MB';
SET compute_query_id = off;
SET default_statistics_target = 100;
SET default_toast_compression = 'pglz';

\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
\set file :folder '/sql/include/analyzed.sql'
\i :file
\set file :folder '/sql/include/related.sql'
\i :file

CREATE TABLE fact AS SELECT g AS k, g % 1000 AS v FROM generate_series(1, 60000) g;
CREATE INDEX ON fact (v);
CREATE TABLE dim AS SELECT g * 4 AS k FROM generate_series(1, 20000) g;
VACUUM ANALYZE fact, dim;

-- an outer side that turns out to be empty: the build side is not read
CREATE FUNCTION nothing() RETURNS SETOF int LANGUAGE plpgsql COST 1 ROWS 50000 AS 'BEGIN RETURN; END';
SELECT analyzed('SELECT count(*) FROM nothing() AS f (k) JOIN dim USING (k) WHERE dim.k % 3 = 0');
TRUNCATE fact;
SELECT analyzed('SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.k % 3 = 0');
SET bloomfam.join_filter = force;
SELECT analyzed('SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.k % 3 = 0');
SET bloomfam.join_filter = on;
INSERT INTO fact SELECT g AS k, g % 1000 AS v FROM generate_series(1, 60000) g;
VACUUM ANALYZE fact;
-- ... nor one that costs more than the scan, though that is expected to give few rows, each of them dear
SELECT analyzed('SELECT count(*) FROM fact JOIN (SELECT 3 * count(*) AS k FROM generate_series(1, 300000) x OFFSET 0) d USING (k) WHERE (v + 0) * (v + 1) = -10 AND v + 2 = -20');
-- the first row passes unseen, the others of its page do not
SELECT analyzed('SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.k % 3 = 0');
-- but for the first row that filters of joins above leave, which may be the last one of the table, a join does not wait
CREATE TABLE last AS SELECT g AS k FROM generate_series(59001, 60000) g;
CREATE TABLE tenth AS SELECT g * 10 AS v FROM generate_series(1, 99) g;
VACUUM ANALYZE last, tenth;
SET join_collapse_limit = 1;
SELECT related('SELECT count(*) FROM (fact JOIN tenth USING (v)) JOIN last USING (k)');
RESET join_collapse_limit;
-- a side that is sorted before its first row comes goes through the filter as a whole
SELECT analyzed('SELECT count(*) FROM (SELECT k, v FROM fact ORDER BY v, k OFFSET 0) f JOIN dim USING (k) WHERE dim.k % 3 = 0');
SELECT analyzed('SELECT count(*) FROM (SELECT k, count(*) FROM fact GROUP BY k) f JOIN dim USING (k) WHERE dim.k % 3 = 0');

-- keys that are compressed, or in the TOAST table, are not fetched before the scan's conditions
CREATE TABLE compressed AS SELECT g AS id, g % 4 AS v, repeat(md5((g % 5000)::text), 80) AS t FROM generate_series(1, 48000) g;
CREATE TABLE texts AS SELECT repeat(md5(g::text), 80) AS t FROM generate_series(1, 100) g;
CREATE TABLE short AS SELECT g AS id, g % 4 AS v, md5((g % 5000)::text) AS t FROM generate_series(1, 48000) g;
CREATE TABLE short_texts AS SELECT md5(g::text) AS t FROM generate_series(1, 100) g;
VACUUM ANALYZE compressed, texts, short, short_texts;
SELECT analyzed('SELECT count(*) FROM compressed JOIN texts USING (t) WHERE v = 3');
-- without conditions they are, as the join would
SELECT analyzed('SELECT count(*) FROM compressed JOIN texts USING (t)');
SELECT analyzed('SELECT count(*) FROM short JOIN short_texts USING (t) WHERE v = 3');
SET bloomfam.join_filter = off;
SELECT count(*) FROM compressed JOIN texts USING (t) WHERE v = 3;
SET bloomfam.join_filter = on;

-- what fetching them costs is counted, once for the filter and once for the join
CREATE TABLE many_texts AS SELECT repeat(md5(g::text), 80) AS t FROM generate_series(1, 5000) g;
VACUUM ANALYZE many_texts;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM compressed JOIN many_texts USING (t) \g | sed 's/Cost: [0-9]*/Cost: N/g'

-- in page batches, the rows that a filter is asked for are those before the scan's conditions; row by row, those after them
CREATE TABLE scanned AS SELECT g AS k, g % 1000 AS v, g % 700 AS w FROM generate_series(1, 24000) g;
CREATE TABLE units AS SELECT g AS u FROM generate_series(1, 70) g;
CREATE TABLE picks AS SELECT g * 40 AS k FROM generate_series(1, 600) g;
VACUUM ANALYZE scanned, units, picks;
\set selective 'SELECT count(*) FROM scanned JOIN units ON u = w WHERE v < 5'
EXPLAIN (VERBOSE, COSTS OFF) :selective;
SELECT analyzed(:'selective');
EXPLAIN (VERBOSE, COSTS OFF)
SELECT count(*) FROM (SELECT k, w + 0 AS u FROM scanned WHERE v < 5 OFFSET 0) f JOIN units USING (u);
-- of the filters of one scan, each goes in page batches if it can
\set both 'SELECT count(*) FROM (SELECT k, w + 0 AS u FROM scanned WHERE v < 900 OFFSET 0) f JOIN picks USING (k) JOIN units USING (u)'
SELECT analyzed(:'both');
SET bloomfam.join_filter = off;
:selective;
:both;
SET bloomfam.join_filter = on;

-- a filter that is sure to be discarded is not begun
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE wide_fact AS SELECT k * 100 AS k, v FROM fact;
CREATE TABLE wide_dim AS SELECT k * 100 AS k FROM dim;
ANALYZE wide_fact, wide_dim;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM wide_fact JOIN wide_dim USING (k);
-- nor one that almost surely is
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM wide_fact JOIN wide_dim USING (k) WHERE wide_dim.k > 800000;
-- the estimate may be wrong
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM wide_fact JOIN wide_dim USING (k) WHERE wide_dim.k > 4000000;
-- of numbers that lie closer together there is a bitmap, however many they are: as far as statistics tell, with twice the distance
SELECT analyzed('SELECT count(*) FROM fact JOIN dim USING (k)');
-- (but an index that is read in place of a table)
CREATE INDEX ON dim (k);
SET seq_page_cost = 1000;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM fact JOIN dim USING (k);
RESET seq_page_cost;
DROP INDEX dim_k_idx;
RESET hash_mem_multiplier;

-- a near tie, of which one plan is safe where there are many more rows than expected: a nested loop that looks up each row
-- above the filter is not
RESET enable_nestloop;
RESET enable_mergejoin;
RESET work_mem;
SET random_page_cost = 1.6;
CREATE TABLE star AS SELECT g * 7919::bigint % 6000 AS store, g * 104729::bigint % 24000 AS good, g % 9 AS v, repeat('x', 90) AS t FROM generate_series(1, 200000) g;
CREATE INDEX ON star (store);
CREATE TABLE stores AS SELECT g AS store, g % 56 AS kind, g % 20 AS region FROM generate_series(0, 5999) g;
ALTER TABLE stores ADD PRIMARY KEY (store);
CREATE TABLE goods AS SELECT g AS good, g % 30 AS p, g % 30 AS q FROM generate_series(0, 23999) g;
ALTER TABLE goods ADD PRIMARY KEY (good);
VACUUM ANALYZE star, stores, goods;
\set query 'SELECT sum(v) FROM star JOIN stores USING (store) JOIN goods USING (good) WHERE kind = 3 AND p = 7 AND q = 7'
EXPLAIN (COSTS OFF) :query;
:query;
SET bloomfam.join_filter = off;
EXPLAIN (COSTS OFF) :query;
:query;
SET bloomfam.join_filter = on;
-- where it is none, filters are counted on below other joins as well (a nested loop costs as much, within what ANALYZE's sample changes)
SET enable_nestloop = off;
EXPLAIN (COSTS OFF)
SELECT sum(v) FROM star JOIN stores USING (store) JOIN goods USING (good) WHERE region = 3 AND p = 7 AND q = 7;
RESET enable_nestloop;

-- few lookups by index, of whose rows each join would ask a condition that costs far more than they do
SET random_page_cost = 1.1;
-- (19 names subplans anew)
EXPLAIN (COSTS OFF)
SELECT sum(v) FROM star JOIN stores USING (store)
WHERE stores.store < 4 AND v < (SELECT avg(v) FROM star s WHERE s.store = stores.store)
\g (format=unaligned) | sed 's/SubPlan expr_/SubPlan /'
RESET random_page_cost;

SET client_min_messages = warning;
DROP SCHEMA join_harm CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
