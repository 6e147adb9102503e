--
-- Conditions with a filter, on the scan of a heap: asked a page at a time, and the answers are the same.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
SET bloomfam.join_filter = force;
SET compute_query_id = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '4MB';

-- makes join_compare(): a plan with filters here asks pages
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file

CREATE TABLE js_fact AS
	SELECT CASE WHEN i % 10 <> 0 THEN i::bigint END AS k, i AS id, (i % 100)::smallint AS g, CASE WHEN i % 3 <> 0 THEN 'text ' || i END AS t
	FROM generate_series(1, 20000) i;
CREATE TABLE js_filter AS
	SELECT kind.name AS kind, (SELECT bloom_agg(i::bigint, 0.01, kind.name) FROM generate_series(1, 20000, 97) i) AS f
	FROM bloom_kinds(1000, 0.01) AS kind(name);
INSERT INTO js_filter VALUES
	('text', (SELECT bloom_agg('text ' || i) FROM generate_series(1, 20000, 97) i)),
	('smallint', (SELECT bloom_agg(i::smallint) FROM generate_series(1, 20) i)),
	('empty', bloom_create(100)), ('of no rows', (SELECT bloom_union_agg(f) FROM js_filter WHERE false)), ('null', NULL);
ANALYZE js_fact, js_filter;
CREATE FUNCTION js_volatile() RETURNS bloomfilter LANGUAGE sql VOLATILE AS 'SELECT f FROM js_filter WHERE kind = ''blocked'' LIMIT 1';
CREATE FUNCTION js_stable() RETURNS bloomfilter LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$BEGIN RETURN (SELECT f FROM js_filter WHERE kind = 'blocked'); END$$;

--
-- What it looks like.
--
SELECT f AS f FROM js_filter WHERE kind = 'blocked' \gset
EXPLAIN (COSTS OFF) SELECT count(*) FROM js_fact WHERE bloom_may_contain(js_stable(), k);
EXPLAIN (COSTS OFF, VERBOSE)
	SELECT t FROM js_fact WHERE k ~@ js_stable() AND g < 50 AND (js_stable() & js_stable()) @~ id;
-- which rows its counts are of: those that the scan would have looked at
CREATE FUNCTION js_counts(query text) RETURNS TABLE (node text, key text, value bigint) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN QUERY SELECT 'probe', 'Actual Rows', (plan ->> 'Actual Rows')::numeric::bigint;
	RETURN QUERY SELECT 'probe', v.key, v.value::numeric::bigint FROM json_each_text(plan -> 'Bloom Filters' -> 0) v
		WHERE v.key IN ('Rows Probed', 'Rows Removed');
	RETURN QUERY SELECT 'scan', v.key, v.value::numeric::bigint FROM json_each_text(plan -> 'Plans' -> 0) v
		WHERE v.key IN ('Actual Rows', 'Rows Removed by Filter');
END
$$;
SELECT * FROM js_counts('SELECT t FROM js_fact WHERE k ~@ js_stable() AND g < 50');
-- the statistics of the table count the rows that were read, as ever
BEGIN;
SELECT pg_stat_get_xact_tuples_returned('js_fact'::regclass) AS before \gset
SELECT count(*) FROM js_fact WHERE k ~@ js_stable();
SELECT pg_stat_get_xact_tuples_returned('js_fact'::regclass) - :before AS read;
ROLLBACK;

--
-- Kinds, types, NULLs.
--
SELECT kind, r.* FROM js_filter, join_compare(format('SELECT id FROM js_fact WHERE bloom_may_contain((SELECT f FROM js_filter WHERE kind = %L), k)', kind)) r
WHERE kind NOT IN ('text') ORDER BY kind COLLATE "C";
SELECT left(q, 140) AS q, r.* FROM (VALUES
	('SELECT id FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = ''text'') @~ t'),
	('SELECT * FROM js_fact WHERE g ~@ (SELECT f FROM js_filter WHERE kind = ''smallint'')'),
	('SELECT g + 1, t FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = ''smallint'') @~ g AND id % 2 = 0 AND t IS NOT NULL'),
	('SELECT id FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = ''blocked'') @~ id AND id ~@ (SELECT f FROM js_filter WHERE kind = ''smallint'')'),
	('SELECT count(*) FROM js_fact WHERE bloom_create(10, key_type => ''bigint'') @~ k'),
	('SELECT count(*) FROM js_fact WHERE NULL::bloomfilter @~ k'),
	('SELECT count(*) FROM js_fact WHERE ''' || :'f' || '''::bloomfilter @~ k')
) v(q), join_compare(q) r;

-- keys of other types, and where they lie: behind NULLs, behind columns of varying length, out of line, compressed, not there at all
CREATE DOMAIN js_domain AS int;
CREATE TYPE js_enum AS ENUM ('a', 'b', 'c', 'd');
CREATE TABLE js_types AS
	SELECT i AS id, CASE WHEN i % 2 = 0 THEN i END AS n, repeat('x', i % 17) AS pad, i AS k4, i::bigint AS k8, i::js_domain AS dom, i::numeric / 4 AS num,
		date '2020-01-01' + i AS day, timestamptz '2020-01-01 UTC' + i * interval '1 hour' AS ts, md5(i::text)::uuid AS u,
		('k' || i)::varchar(20) AS v, ('k' || i)::char(10) AS c, ('k' || i)::name AS nam, i::text::bytea AS b, (i / 8)::float8 AS fl,
		ARRAY[i, NULL] AS arr, ROW(i, 'x')::text AS r, (ARRAY['a', 'b', 'c', 'd']::js_enum[])[1 + i % 4] AS e, i % 2 = 0 AS bo,
		bloom_key(i) AS bk, repeat('long ' || i % 50 || ' ', 800) AS compressed
	FROM generate_series(1, 3000) i;
ALTER TABLE js_types ADD COLUMN later int DEFAULT 7;
CREATE TABLE js_stored AS TABLE js_types;
ALTER TABLE js_stored DROP COLUMN pad, ADD COLUMN wide text, ADD COLUMN last bigint DEFAULT 8;
ALTER TABLE js_stored ALTER wide SET STORAGE EXTERNAL;
INSERT INTO js_stored (id, wide, later, k8) SELECT i, repeat(md5((i % 40)::text), 100), i, -i FROM generate_series(1, 1000) i;
VACUUM ANALYZE js_types, js_stored;
SELECT tab, col, r.* FROM (
	SELECT attrelid::regclass::text AS tab, attname AS col, attnum FROM pg_attribute
	WHERE attrelid IN ('js_types'::regclass, 'js_stored'::regclass) AND attnum > 0 AND NOT attisdropped) a,
	join_compare(format('SELECT id, n, later FROM %s WHERE (SELECT bloom_agg(%I) FROM (SELECT * FROM %1$s WHERE id %% 9 = 0) s) @~ %2$I', tab, col)) r
ORDER BY tab COLLATE "C" DESC, attnum;

-- such columns as the keys of joins
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT col, r.* FROM unnest('{n,k8,num,u,v,c,nam,b,fl,compressed,later,wide,last}'::text[]) col,
	join_compare(format('SELECT a.id FROM js_stored a JOIN (SELECT DISTINCT %I FROM js_stored WHERE id < 40) b USING (%1$I)', col)) r;
RESET enable_nestloop;
RESET enable_mergejoin;

--
-- Errors: of a filter of other keys, and only where a key is looked at.
--
SELECT count(*) FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
SET bloomfam.join_filter = off;
SELECT count(*) FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
SET bloomfam.join_filter = force;
CREATE TABLE js_empty (LIKE js_fact);
CREATE TABLE js_nulls AS SELECT NULL::bigint AS k, i FROM generate_series(1, 1000) i;
SELECT count(*) FROM js_empty WHERE (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
SELECT count(*) FROM js_nulls WHERE (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
-- without page batches, the filter is not asked of rows that do not pass what the planner asks first; in page batches it comes first, and may be an error
SET bloomfam.join_filter = off;
SELECT count(*) FROM js_fact WHERE g > 100 AND (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
SET bloomfam.join_filter = force;
SELECT count(*) FROM js_fact WHERE g > 100 AND (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
SELECT count(*) FROM js_fact WHERE g > 100 AND (SELECT f FROM js_filter WHERE kind >= '') @~ k;
SELECT count(*) FROM js_fact WHERE bloom_create(10, key_type => 'bigint') @~ k AND (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
-- ... but of a row that does, in the middle of the table
SELECT count(*) FROM js_fact WHERE id > 9000 AND (SELECT f FROM js_filter WHERE kind = 'text') @~ k;
-- asked before it, in page batches
SELECT * FROM join_compare('SELECT id FROM js_fact WHERE id > 3000 AND id < 18000 AND (SELECT f FROM js_filter WHERE kind = ''blocked'') @~ k');
SELECT * FROM js_counts('SELECT t FROM js_fact WHERE js_stable() @~ k AND id > 3000');
BEGIN;
DECLARE js_cursor SCROLL CURSOR FOR SELECT id FROM js_fact WHERE js_stable() @~ k AND id > 3000 AND id < 3900;
FETCH FORWARD ALL FROM js_cursor;
FETCH BACKWARD ALL FROM js_cursor;
FETCH FORWARD 3 FROM js_cursor;
ROLLBACK;
-- what comes after the filter is asked after it: a division by zero of rows that it denies is no error
CREATE TABLE js_zero AS SELECT i, CASE WHEN i % 1000 = 7 THEN i ELSE 0 END AS zero FROM generate_series(1, 10000) i;
CREATE TABLE js_sevens AS SELECT bloom_agg(i) AS f FROM js_zero WHERE zero > 0;
SELECT * FROM join_compare('SELECT i FROM js_zero WHERE i > 3 AND (SELECT f FROM js_sevens) @~ i AND 10 / zero >= 0');
SELECT * FROM js_counts('SELECT i FROM js_zero WHERE i > 3 AND (SELECT f FROM js_sevens) @~ i AND 10 / zero >= 0');
-- keys that bring their family along
CREATE TABLE js_keys AS SELECT bloom_key(i) AS bk, i FROM generate_series(1, 500) i;
SELECT * FROM join_compare('SELECT i FROM js_keys WHERE (SELECT f FROM js_filter WHERE kind = ''blocked'') @~ bk');
INSERT INTO js_keys SELECT bloom_key(i::text), i FROM generate_series(1, 5) i;
-- (a key of another one is never met where a condition comes first)
SELECT count(*) FROM js_keys WHERE i > 5 AND (SELECT f FROM js_filter WHERE kind = 'blocked') @~ bk;
SELECT count(*) FROM js_keys WHERE (SELECT f FROM js_filter WHERE kind = 'blocked') @~ bk;

--
-- The filter changes between scans: parameters, rescans, cached plans.
--
SELECT q, r.* FROM (VALUES
	('SELECT kind, (SELECT count(*) FROM js_fact WHERE f @~ k) FROM js_filter WHERE kind <> ''text'''),
	('SELECT kind, n FROM js_filter, LATERAL (SELECT count(*) AS n FROM js_fact WHERE k ~@ f AND g < id OFFSET 0) s WHERE kind <> ''text'''),
	('SELECT y, (SELECT sum(k) FROM js_fact WHERE (SELECT bloom_agg(y::bigint + i) FROM generate_series(1, 5) i) @~ k) FROM generate_series(1, 5) y'),
	('SELECT * FROM generate_series(1, 3) x LEFT JOIN js_fact ON (SELECT f FROM js_filter WHERE kind = ''xor'') @~ k AND id < x * 1000')
) v(q), join_compare(q) r;
SELECT max(f::text) FILTER (WHERE kind = 'binary_fuse') AS fuse, max(f::text) FILTER (WHERE kind = 'empty') AS empty,
	max(f::text) FILTER (WHERE kind = 'text') AS text
FROM js_filter \gset
PREPARE by_parameter(bloomfilter, int) AS SELECT count(*), min(k) FROM js_fact WHERE bloom_may_contain($1, k) AND id > $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_parameter(NULL, 0);
EXECUTE by_parameter(NULL, 100);
EXECUTE by_parameter(:'fuse', 100);
EXECUTE by_parameter(:'empty', 0);
EXECUTE by_parameter(:'text', 0);
-- it stays a condition of the query: a plan made with it does not forget it
SET bloomfam.join_filter = off;
EXECUTE by_parameter(:'fuse', 100);
RESET plan_cache_mode;
DEALLOCATE by_parameter;
SET bloomfam.join_filter = force;
DO $$
DECLARE
	f bloomfilter := bloom_create(100);
	n bigint;
	rec record;
BEGIN
	FOR i IN 1 .. 3 LOOP
		f := bloom_add(f, i::bigint * 111);
		SELECT count(*) INTO n FROM js_fact WHERE bloom_may_contain(f, k);
		RAISE NOTICE '% keys: % rows', i, n;
	END LOOP;
	FOR rec IN SELECT k FROM js_fact WHERE f @~ k LOOP
		f := bloom_add(f, rec.k + 1);
		RAISE NOTICE '%', rec.k;
	END LOOP;
END
$$;

--
-- Cursors: back and forth, and their row.
--
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM js_fact WHERE :'f'::bloomfilter @~ k AND id < 12000;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FORWARD 3 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 3 FROM c;
FETCH FORWARD 2 FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 50 FROM c;
FETCH RELATIVE -40 FROM c;
MOVE FORWARD ALL IN c;
MOVE BACKWARD ALL IN c;
FETCH NEXT FROM c;
CLOSE c;
-- not said to scroll: it may, as without
DECLARE c CURSOR FOR SELECT id FROM js_fact WHERE :'f'::bloomfilter @~ k;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH FORWARD 2 FROM c;
UPDATE js_fact SET t = 'found' WHERE CURRENT OF c RETURNING id;
CLOSE c;
ROLLBACK;

--
-- Where not.
--
CREATE FUNCTION js_paged(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Stored Filter:%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
CREATE TABLE js_other AS SELECT f FROM js_filter WHERE kind = 'blocked';
CREATE INDEX ON js_fact (id);
SELECT js_paged(q) AS paged, q FROM (VALUES
	('SELECT 1 FROM js_fact WHERE js_stable() @~ k'),
	('SELECT 1 FROM js_fact WHERE js_volatile() @~ k'),
	('SELECT 1 FROM js_fact WHERE js_stable() @~ k AND random() < 2'),
	('SELECT random() FROM js_fact WHERE js_stable() @~ k'),
	('SELECT 1 FROM js_fact WHERE js_stable() @~ k OR id = 5'),
	('SELECT 1 FROM js_fact WHERE NOT js_stable() @~ k'),
	('SELECT 1 FROM js_fact WHERE js_stable() @~ (k + 1)'),
	('SELECT 1 FROM js_fact, js_other WHERE f @~ k'),
	('SELECT 1 FROM js_fact WHERE js_stable() @~ k AND id = 5'),
	('SELECT 1 FROM js_fact WHERE js_stable() @~ k FOR UPDATE'),
	('SELECT 1 FROM (SELECT k FROM js_fact WHERE js_stable() @~ k FOR SHARE) s'),
	('UPDATE js_fact SET g = 1 WHERE js_stable() @~ k'),
	('DELETE FROM js_fact WHERE js_stable() @~ k'),
	('DELETE FROM js_other USING js_fact WHERE js_stable() @~ k'),
	('WITH d AS (DELETE FROM js_other RETURNING 1) SELECT 1 FROM js_fact WHERE js_stable() @~ k'),
	('INSERT INTO js_empty SELECT * FROM js_fact WHERE js_stable() @~ k'),
	('MERGE INTO js_empty e USING (SELECT * FROM js_fact WHERE js_stable() @~ k) s ON e.k = s.k WHEN NOT MATCHED THEN DO NOTHING')
) v(q);
INSERT INTO js_empty SELECT * FROM js_fact WHERE js_stable() @~ k AND g < 50;
SELECT count(*), count(*) FILTER (WHERE js_stable() @~ k) FROM js_empty;
-- few rows are not worth fetching a filter for
ANALYZE js_keys;
SET bloomfam.join_filter = on;
SELECT js_paged('SELECT 1 FROM js_fact WHERE js_stable() @~ k'), js_paged('SELECT 1 FROM js_keys WHERE js_stable() @~ i');
SET bloomfam.join_filter = off;
SELECT js_paged('SELECT 1 FROM js_fact WHERE js_stable() @~ k');
SET bloomfam.join_filter = force;

--
-- Row security: the policy comes first, whatever is said of the cost.
--
CREATE ROLE regress_bloomfam_js_reader;
GRANT SELECT ON js_fact, js_filter TO regress_bloomfam_js_reader;
CREATE FUNCTION js_policy(g smallint) RETURNS boolean LANGUAGE plpgsql STABLE COST 10000 AS 'BEGIN RETURN g < 50; END';
ALTER TABLE js_fact ENABLE ROW LEVEL SECURITY;
CREATE POLICY js_half ON js_fact FOR SELECT TO regress_bloomfam_js_reader USING (js_policy(g));
CREATE POLICY js_all ON js_filter FOR SELECT TO regress_bloomfam_js_reader USING (true);
CREATE VIEW js_barrier WITH (security_barrier) AS SELECT * FROM js_fact WHERE js_policy(g);
GRANT SELECT ON js_barrier TO regress_bloomfam_js_reader;
SET ROLE regress_bloomfam_js_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM js_fact WHERE js_stable() @~ k;
EXPLAIN (COSTS OFF) SELECT count(*) FROM js_filter, js_fact WHERE js_stable() @~ k;
SELECT count(*), max(g) FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = 'blocked') @~ k;
RESET ROLE;
EXPLAIN (COSTS OFF) SELECT count(*) FROM js_fact WHERE js_stable() @~ k;
EXPLAIN (COSTS OFF) SELECT count(*) FROM js_barrier WHERE js_stable() @~ k;
ALTER TABLE js_fact DISABLE ROW LEVEL SECURITY;

--
-- Together: partitions, joins, workers.
--
CREATE TABLE js_parts (LIKE js_fact) PARTITION BY RANGE (id);
CREATE TABLE js_parts_1 PARTITION OF js_parts FOR VALUES FROM (0) TO (7000);
CREATE TABLE js_parts_2 (gone text, t text, id int NOT NULL, k bigint, g smallint);
ALTER TABLE js_parts_2 DROP gone, ALTER id DROP NOT NULL;
ALTER TABLE js_parts ATTACH PARTITION js_parts_2 FOR VALUES FROM (7000) TO (30000);
INSERT INTO js_parts SELECT * FROM js_fact;
CREATE TABLE js_dim AS SELECT i AS id, i % 10 AS g FROM generate_series(1, 20000, 5) i;
ANALYZE js_parts, js_dim;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT q, r.* FROM (VALUES
	('SELECT * FROM js_parts WHERE js_stable() @~ k'),
	('SELECT * FROM js_parts p JOIN js_dim d USING (id) WHERE js_stable() @~ k AND d.g = 1'),
	('SELECT f.t, d.g FROM js_fact f JOIN js_dim d ON d.id = f.k WHERE js_stable() @~ k AND d.g < 5 AND f.g > 3'),
	('SELECT f.t, d.g FROM js_fact f JOIN js_dim d ON d.id = f.k + 1 WHERE js_stable() @~ k'),
	('SELECT f.t FROM js_fact f WHERE js_stable() @~ k AND id IN (SELECT id FROM js_dim WHERE g = 1)'),
	('SELECT s.id FROM (SELECT DISTINCT ON (g) g, id FROM js_fact WHERE js_stable() @~ k ORDER BY g, id) s JOIN js_dim USING (id)'),
	('WITH c AS MATERIALIZED (SELECT * FROM js_fact WHERE js_stable() @~ k) SELECT a.id FROM c a JOIN c b USING (id)'),
	('SELECT id FROM js_fact WHERE js_stable() @~ k UNION SELECT id FROM js_parts WHERE k ~@ js_stable()')
) v(q), join_compare(q) r;
EXPLAIN (COSTS OFF) SELECT f.t, d.g FROM js_fact f JOIN js_dim d ON d.id = f.k WHERE js_stable() @~ k AND d.g < 5 AND f.g > 3;
-- a filter of a join that must look at the scan's own rows
SET bloomfam.join_filter_plans = off;
EXPLAIN (COSTS OFF) SELECT f.t, d.g FROM (SELECT *, random() AS x FROM js_fact) f JOIN js_dim d ON d.id = f.k WHERE js_stable() @~ k;
SELECT count(*) FROM (SELECT *, random() AS x FROM js_fact) f JOIN js_dim d ON d.id = f.k WHERE js_stable() @~ k AND x >= 0;
SET bloomfam.join_filter = off;
SELECT count(*) FROM (SELECT *, random() AS x FROM js_fact) f JOIN js_dim d ON d.id = f.k WHERE js_stable() @~ k AND x >= 0;
SET bloomfam.join_filter = force;
RESET bloomfam.join_filter_plans;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM js_fact WHERE js_stable() @~ k;
SELECT q, r.* FROM (VALUES
	('SELECT count(*), sum(k) FROM js_fact WHERE (SELECT f FROM js_filter WHERE kind = ''blocked'') @~ k'),
	('SELECT count(*), sum(k) FROM js_parts WHERE (SELECT f FROM js_filter WHERE kind = ''ribbon'') @~ k AND g > 7')
) v(q), join_compare(q) r;

DROP TABLE js_fact, js_filter, js_types, js_stored, js_empty, js_nulls, js_keys, js_other, js_parts, js_dim CASCADE;
DROP FUNCTION join_compare, js_counts, js_paged, js_volatile, js_stable, js_policy;
DROP TYPE js_enum;
DROP DOMAIN js_domain;
DROP ROLE regress_bloomfam_js_reader;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
