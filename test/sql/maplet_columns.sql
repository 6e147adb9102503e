--
-- Maplet indexes of several columns: what they find, and what they are not asked for.
--
\set VERBOSITY default
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET bloomfam.join_filter = off;
SET enable_seqscan = off;

CREATE TABLE mc (tenant int, id text, n int);
INSERT INTO mc SELECT g % 50, 'id ' || g / 50, g FROM generate_series(0, 9999) g;
CREATE INDEX mc_both ON mc USING maplet (tenant, id);
INSERT INTO mc SELECT g % 50, 'id ' || g / 50, g FROM generate_series(10000, 29999) g;
INSERT INTO mc VALUES (NULL, 'id 1', -1), (7, NULL, -2), (NULL, NULL, -3);

--
-- Plans and rows
--
EXPLAIN (COSTS OFF) SELECT n FROM mc WHERE tenant = 7 AND id = 'id 100';
SELECT n FROM mc WHERE tenant = 7 AND id = 'id 100';
SELECT n FROM mc WHERE id = 'id 100' AND tenant = 7::int8;
SELECT n FROM mc WHERE tenant = 7 AND id = 'id 1000000';
SELECT n FROM mc WHERE (tenant, id) = (8, 'id 100');
SELECT n FROM mc WHERE (tenant, id) IN ((8, 'id 100'), (9, 'id 101'), (9, 'none'), (NULL, 'id 1')) ORDER BY n;
SELECT n FROM mc WHERE tenant = 7 AND id = NULL;
-- the order of the columns matters
CREATE TABLE mc_turned (a int, b int);
CREATE INDEX mc_turned_ab ON mc_turned USING maplet (a, b) WITH (rows = 100, remainder_bits = 1);
INSERT INTO mc_turned SELECT x, y FROM generate_series(1, 60) x, generate_series(1, 60) y WHERE x < y;
SELECT * FROM mc_turned WHERE a = 17 AND b = 18;
SELECT * FROM mc_turned WHERE a = 18 AND b = 17;
SELECT count(*) FILTER (WHERE maplet_may_contain('mc_turned_ab', x, y)) < 900 AS few FROM generate_series(1, 60) x, generate_series(1, 60) y WHERE x > y;
-- arrays multiply
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM mc WHERE tenant = ANY ('{7,8,NULL,8}') AND id = ANY ('{id 1,id 2,id 2,NULL,none}');
SELECT n FROM mc WHERE tenant = ANY ('{7,8,NULL,8}') AND id = ANY ('{id 1,id 2,id 2,NULL,none}') ORDER BY n;
SELECT n FROM mc WHERE tenant = ANY ('{7,8}') AND id = ANY ('{}');
SELECT n FROM mc WHERE tenant = 7 AND id = ANY ('{id 1,id 2}') AND id = 'id 2';
SELECT n FROM mc WHERE tenant = 7 AND tenant = 8 AND id = 'id 2';
SET enable_bitmapscan = on;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM mc WHERE tenant = ANY ('{7,8,NULL,8}') AND id = ANY ('{id 1,id 2,id 2,NULL,none}');
SELECT n FROM mc WHERE tenant = ANY ('{7,8,NULL,8}') AND id = ANY ('{id 1,id 2,id 2,NULL,none}') ORDER BY n;
SET enable_indexscan = on;
-- many elements, which the scan rechecks itself
CREATE FUNCTION mc_many(tenants int[], ids text[]) RETURNS TABLE (n bigint, sum bigint) LANGUAGE sql STABLE SET plan_cache_mode = force_generic_plan AS
$$ SELECT count(*), sum(n) FROM mc WHERE tenant = ANY (tenants) AND id = ANY (ids) $$;
CREATE FUNCTION mc_ids(tenant_wanted int, ids text[]) RETURNS TABLE (n bigint, sum bigint) LANGUAGE sql STABLE SET plan_cache_mode = force_generic_plan AS
$$ SELECT count(*), sum(n) FROM mc WHERE tenant = tenant_wanted AND id = ANY (ids) $$;
SELECT * FROM mc_many(ARRAY(SELECT generate_series(-10, 30)), ARRAY(SELECT 'id ' || g FROM generate_series(500, 700) g));
SELECT count(*), sum(n) FROM mc WHERE tenant BETWEEN -10 AND 30 AND substr(id, 4)::int BETWEEN 500 AND 700;
SELECT * FROM mc_ids(7, ARRAY(SELECT 'id ' || g FROM generate_series(1, 5000) g));
SELECT count(*), sum(n) FROM mc WHERE tenant = 7 AND substr(id, 4)::int BETWEEN 1 AND 5000;
-- more combinations than are looked up: the table is read
SELECT * FROM mc_many(ARRAY(SELECT generate_series(1, 2000)), ARRAY(SELECT 'id ' || g FROM generate_series(590, 1200) g));
SELECT count(*), sum(n) FROM mc WHERE tenant BETWEEN 1 AND 2000 AND substr(id, 4)::int BETWEEN 590 AND 1200;
-- every row, by a nested loop
SELECT count(*) FROM (SELECT tenant, id FROM mc OFFSET 0) a, LATERAL (SELECT FROM mc b WHERE b.tenant = a.tenant AND b.id = a.id OFFSET 0) c;
SELECT entries, key_type FROM maplet_info('mc_both');
SELECT maplet_check('mc_both', true);
UPDATE mc SET n = -n WHERE n % 7 = 0;
UPDATE mc SET id = id || '!' WHERE n % 5 = 0;
DELETE FROM mc WHERE n % 3 = 0;
VACUUM mc;
SELECT entries FROM maplet_info('mc_both');
SELECT maplet_check('mc_both', true);
REINDEX INDEX CONCURRENTLY mc_both;
SELECT maplet_merge('mc_both');
SELECT maplet_check('mc_both', true);
SELECT count(*) FROM (SELECT tenant, id FROM mc OFFSET 0) a, LATERAL (SELECT FROM mc b WHERE b.tenant = a.tenant AND b.id = a.id OFFSET 0) c;

--
-- Conditions on some of the columns: the index is not chosen, and forced to it gives the right rows, those with NULLs among them
--
CREATE TABLE mc_some (a int, b text, c numeric, d int, e int DEFAULT 0);
INSERT INTO mc_some SELECT g % 40, CASE WHEN g % 11 > 0 THEN 'b' || g % 30 END, CASE WHEN g % 13 > 0 THEN g % 20 END, g FROM generate_series(1, 5000) g;
CREATE INDEX mc_some_abc ON mc_some USING maplet (a, b, c);
CREATE INDEX mc_some_part ON mc_some USING maplet (a, b) WHERE d % 2 = 0;
CREATE INDEX mc_some_expr ON mc_some USING maplet ((a + 1), lower(b));
UPDATE mc_some SET e = d WHERE d % 3 = 0;
UPDATE mc_some SET d = d + 100000 WHERE d % 10 = 0;
UPDATE mc_some SET e = e + 1 WHERE d % 9 = 0;
DELETE FROM mc_some WHERE d % 17 = 0;
ANALYZE mc_some;
CREATE TABLE mc_query (q text);
INSERT INTO mc_query VALUES
	('a = 7'), ('a = 7 AND b = ''b7'''), ('a = 7 AND c = 7'), ('a = ANY (''{7,8,9}'')'), ('a = ANY (''{7,8}'') AND b = ANY (''{b7,b8}'')'),
	('a = 7 AND b IS NULL'), ('a = 7 AND c IS NULL AND b = ''b7'''), ('a = 7 AND c IS NOT NULL'), ('a = 7 AND c > 5'), ('a = 7 AND b LIKE ''b%'''),
	('(a, b) = (7, ''b17'')'), ('(a, b) > (35, ''b1'') AND a = 36'), ('a = 7 OR a = 9'), ('a = 8 AND d % 2 = 0'), ('a = ANY (''{1,2}'') AND d % 2 = 0'),
	('a + 1 = 7'), ('a + 1 = 7 AND b = ''b6'''), ('a + 1 = ANY (''{3,4}'')'), ('a = 7 AND a = 8'), ('a = NULL'), ('a = 7::int8 AND c = 7::numeric'),
	('a = (SELECT 7)'), ('a = 7 AND b <> ''b7'' AND c = ANY (''{7,NULL}'')');
CREATE FUNCTION mc_rows(query text, OUT rows text, OUT by_maplet boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT JSON) SELECT count(*), sum(d) FROM mc_some WHERE %s', query) INTO plan;
	by_maplet := plan ~ 'mc_some_(abc|part|expr)';
	EXECUTE format('SELECT (count(*), sum(d), sum(e))::text FROM mc_some WHERE %s', query) INTO rows;
END $$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = on;
CREATE TABLE mc_right AS SELECT q, (mc_rows(q)).rows FROM mc_query;
SET enable_seqscan = off;
SET enable_indexscan = on;
SELECT q, (r).rows, (r).rows = mc_right.rows AS as_it_is FROM mc_right, mc_rows(q) r ORDER BY q COLLATE "C";
SELECT count(*) >= 20 AS by_maplet FROM mc_query, mc_rows(q) r WHERE (r).by_maplet;
SET enable_indexscan = off;
SET enable_bitmapscan = on;
SELECT count(*) FILTER (WHERE (r).by_maplet) >= 20 AS by_maplet, count(*) FILTER (WHERE (r).rows = mc_right.rows) AS as_it_is FROM mc_right, mc_rows(q) r;
SET enable_indexscan = on;
SET enable_seqscan = on;
SELECT count(*) AS queries, count(*) FILTER (WHERE (r).by_maplet) AS chosen, count(*) FILTER (WHERE (r).rows = mc_right.rows) AS as_it_is FROM mc_right, mc_rows(q) r;
SELECT q FROM mc_query, mc_rows(q) r WHERE (r).by_maplet;
-- nor in a join
EXPLAIN (COSTS OFF) SELECT count(*) FROM mc_query, mc_some WHERE a = length(q);
SET enable_seqscan = off;
-- a cursor's rows are those of its snapshot
SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT d FROM mc_some WHERE a = 8 AND d % 2 = 0;
FETCH 1 FROM c;
DELETE FROM mc_some WHERE a = 8 AND d > 500;
SAVEPOINT s;
FETCH 2 FROM c;
ROLLBACK TO s;
SELECT count(*) FROM mc_some WHERE a = 8 AND d % 2 = 0;
FETCH 2 FROM c;
ROLLBACK;
SET enable_bitmapscan = on;

--
-- Types, collations, as many columns as there can be
--
CREATE COLLATION mc_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE mc_types (t text COLLATE mc_ci, c char(5), f float8, m numeric, u uuid, d date, k int2, n int);
CREATE INDEX mc_types_all ON mc_types USING maplet (t, c, f, m, u, d, k);
INSERT INTO mc_types SELECT 'Name ' || g, 'c' || g, g / 4.0, g, md5(g::text)::uuid, '2026-01-01'::date + g, g, g FROM generate_series(0, 2000) g;
SELECT n FROM mc_types WHERE t = 'NAME 17' AND c = 'c17  ' AND f = 4.25::float4 AND m = 17.00 AND u = md5('17')::uuid AND d = '2026-01-18' AND k = 17::int8;
SELECT n FROM mc_types WHERE t = 'NAME 17' AND c = 'c17' AND f = 4.25 AND m = 17.00 AND u = md5('17')::uuid AND d = '2026-01-19' AND k = 17;
SELECT n FROM mc_types WHERE t = 'NAME 0' AND c = 'c0' AND f = '-0' AND m = 0.0 AND u = md5('0')::uuid AND d = '2026-01-01' AND k = ANY ('{0,1}'::int[]);
SELECT maplet_check('mc_types_all', true);
SELECT maplet_may_contain('mc_types_all', 'naMe 17', 'c17', 4.25::float4, '17', md5('17')::uuid, '2026-01-18', 17),
	maplet_may_contain('mc_types_all', 'naMe 17', 'c17', 4.5::float8, '17', md5('17')::uuid, '2026-01-18', 17);
-- a condition of another collation is not the index's
EXPLAIN (COSTS OFF) SELECT n FROM mc_types WHERE t = 'NAME 17' COLLATE "C" AND c = 'c17' AND f = 4.25 AND m = 17 AND u = md5('17')::uuid AND d = '2026-01-18' AND k = 17
\g (footer=off) | grep -v Disabled:
SELECT format('CREATE TABLE mc_wide (%s, n int)', string_agg('c' || g || ' int', ', ')) FROM generate_series(1, 33) g \gexec
SELECT format('INSERT INTO mc_wide SELECT %s, g FROM generate_series(1, 2000) g', string_agg('g % ' || x + 50, ', ')) FROM generate_series(1, 33) x \gexec
SELECT format('CREATE INDEX mc_wide_all ON mc_wide USING maplet (%s)', string_agg('c' || g, ', ')) FROM generate_series(1, 32) g \gexec
SELECT format('SELECT n FROM mc_wide WHERE %s', string_agg('c' || x || ' = ' || 1777 % (x + 50), ' AND ')) FROM generate_series(1, 32) x \gexec
SELECT maplet_check('mc_wide_all', true);
SELECT format('CREATE INDEX ON mc_wide USING maplet (%s)', string_agg('c' || g, ', ')) FROM generate_series(1, 33) g \gexec
CREATE INDEX ON mc_wide USING maplet (c1, c2) INCLUDE (c3);

--
-- maplet_may_contain
--
SELECT maplet_may_contain('mc_both', 7, 'id 101'), maplet_may_contain('mc_both', 7, 'id 100000'), maplet_may_contain('mc_both', 7, NULL::text);
SELECT maplet_may_contain('mc_both', 7);
SELECT maplet_may_contain('mc_both', 7, 'id 101', 3);
SELECT maplet_may_contain('mc_both', VARIADIC '{7,8}'::int[]);
SELECT maplet_may_contain('mc_both', 7, 8);
CREATE ROLE regress_bloomfam_columns;
GRANT SELECT (tenant) ON mc TO regress_bloomfam_columns;
SET ROLE regress_bloomfam_columns;
SELECT maplet_may_contain('mc_both', 7, 'id 101');
RESET ROLE;
GRANT SELECT (id) ON mc TO regress_bloomfam_columns;
SET ROLE regress_bloomfam_columns;
SELECT maplet_may_contain('mc_both', 7, 'id 101');
RESET ROLE;
REVOKE ALL ON mc FROM regress_bloomfam_columns;
DROP ROLE regress_bloomfam_columns;

--
-- Exclusion constraints
--
CREATE TABLE mc_event (source text COLLATE mc_ci, id int, note text, EXCLUDE USING maplet (source WITH =, id WITH =));
INSERT INTO mc_event VALUES ('a', 1, 'first'), ('a', 2, 'first'), ('b', 1, 'first'), ('A', 1, 'again'), (NULL, 1, 'null'), (NULL, 1, 'null'), ('a', NULL, 'null'),
	('a', NULL, 'null') ON CONFLICT DO NOTHING;
SELECT * FROM mc_event ORDER BY source, id, note;
INSERT INTO mc_event VALUES ('B', 1);
INSERT INTO mc_event VALUES ('b', 1) ON CONFLICT ON CONSTRAINT mc_event_source_id_excl DO NOTHING;
UPDATE mc_event SET id = 2 WHERE source = 'a' AND id = 1;
CREATE UNLOGGED TABLE mc_unlogged (a int, b int, EXCLUDE USING maplet (a WITH =, b WITH =) WHERE (a > 0));
INSERT INTO mc_unlogged VALUES (0, 0), (0, 0), (1, 0), (2, 0);
INSERT INTO mc_unlogged VALUES (2, 0);

--
-- The planner knows from the index how often pairs repeat, if it has no statistics
--
CREATE TABLE mc_plan (a int, b int, n int);
INSERT INTO mc_plan SELECT g % 1000, g / 1000, g FROM generate_series(0, 99999) g;
CREATE INDEX mc_plan_ab ON mc_plan USING maplet (a, b);
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT n FROM mc_plan WHERE a = 7 AND b = 7;
VACUUM ANALYZE mc_plan;
EXPLAIN (COSTS OFF) SELECT n FROM mc_plan WHERE a = 7 AND b = 7;
EXPLAIN (COSTS OFF) SELECT n FROM mc_plan WHERE a = 7;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT n FROM mc_turned JOIN mc_plan USING (a, b);
-- a B-tree serves what the maplet does not
CREATE INDEX mc_plan_btree ON mc_plan (a, b);
EXPLAIN (COSTS OFF) SELECT n FROM mc_plan WHERE a = 7 ORDER BY b;

SET client_min_messages = warning;
DROP TABLE mc, mc_turned, mc_some, mc_query, mc_right, mc_types, mc_wide, mc_event, mc_unlogged, mc_plan CASCADE;
DROP FUNCTION mc_many(int[], text[]), mc_ids(int, text[]), mc_rows(text);
DROP COLLATION mc_ci;
