-- The access method maplet: what its indexes find, and what they refuse.
\set VERBOSITY default
SET enable_seqscan = off;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET bloomfam.join_filter = off;

CREATE TABLE maplet_log (n int, id uuid);
INSERT INTO maplet_log SELECT g, md5(g::text)::uuid FROM generate_series(1, 1000) g;
CREATE INDEX maplet_log_id ON maplet_log USING maplet (id);

--
-- Plans and rows
--
EXPLAIN (COSTS OFF) SELECT n FROM maplet_log WHERE id = md5('7')::uuid;
SELECT n FROM maplet_log WHERE id = md5('7')::uuid;
SELECT n FROM maplet_log WHERE id = md5('x')::uuid;
SELECT n FROM maplet_log WHERE id = NULL::uuid;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM maplet_log WHERE id = ANY (ARRAY[md5('7')::uuid, md5('8')::uuid, NULL]);
SELECT n FROM maplet_log WHERE id = ANY (ARRAY[md5('7')::uuid, md5('8')::uuid, NULL]) ORDER BY n;
RESET enable_indexscan;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM maplet_log WHERE id = ANY (ARRAY[md5('7')::uuid, md5('8')::uuid, NULL]);
SELECT n FROM maplet_log WHERE id = ANY (ARRAY[md5('7')::uuid, md5('8')::uuid, md5('7')::uuid, NULL]) ORDER BY n;
SELECT n FROM maplet_log WHERE id = ANY ('{}');
SELECT n FROM maplet_log WHERE id = ANY (ARRAY[md5('7')::uuid, md5('8')::uuid]) AND id = md5('8')::uuid;

-- every row, by a nested loop
SELECT count(*) FROM (SELECT id FROM maplet_log OFFSET 0) a, LATERAL (SELECT FROM maplet_log b WHERE b.id = a.id OFFSET 0) c;

-- a cursor goes forwards; one that scrolls has its rows kept
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT n FROM maplet_log WHERE id IN (md5('7')::uuid, md5('8')::uuid, md5('9')::uuid);
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

--
-- Many more rows: through tails and runs
--
INSERT INTO maplet_log SELECT g, md5(g::text)::uuid FROM generate_series(1001, 50000) g;
SELECT entries, runs > 0 AS runs, live_pages < 400 AS small, false_places < 0.01 AS few_false, outgrown, key_type FROM maplet_info('maplet_log_id');
SELECT sum(r.entries) + max(i.tail_entries) = max(i.entries) AS counts_agree, bool_and(r.bits = 28) AS bits
FROM maplet_runs('maplet_log_id') r, maplet_info('maplet_log_id') i;
SELECT maplet_check('maplet_log_id', true);
SELECT count(*) FROM (SELECT id FROM maplet_log OFFSET 0) a, LATERAL (SELECT FROM maplet_log b WHERE b.id = a.id OFFSET 0) c;
SELECT maplet_merge('maplet_log_id');
SELECT entries, tail_entries, runs, merges FROM maplet_info('maplet_log_id');
SELECT maplet_check('maplet_log_id', true);

-- deleted, updated, rolled back
DELETE FROM maplet_log WHERE n % 2 = 0;
UPDATE maplet_log SET id = md5('updated' || n)::uuid WHERE n % 10 = 1;
BEGIN;
INSERT INTO maplet_log SELECT g, md5(g::text)::uuid FROM generate_series(50001, 60000) g;
ROLLBACK;
VACUUM maplet_log;
SELECT entries FROM maplet_info('maplet_log_id');
SELECT maplet_check('maplet_log_id', true);
SELECT count(*) FROM (SELECT id FROM maplet_log OFFSET 0) a, LATERAL (SELECT FROM maplet_log b WHERE b.id = a.id OFFSET 0) c;
DELETE FROM maplet_log;
VACUUM maplet_log;
SELECT entries, runs FROM maplet_info('maplet_log_id');

-- one key with very many rows
INSERT INTO maplet_log SELECT g, md5('hot')::uuid FROM generate_series(1, 20000) g;
INSERT INTO maplet_log SELECT g, md5(g::text)::uuid FROM generate_series(1, 1000) g;
SELECT count(*), count(DISTINCT n) FROM maplet_log WHERE id = md5('hot')::uuid;
SELECT maplet_merge('maplet_log_id');
SELECT count(*), count(DISTINCT n) FROM maplet_log WHERE id = md5('hot')::uuid;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT n) FROM maplet_log WHERE id = ANY (ARRAY[md5('hot')::uuid, md5('1')::uuid]);
RESET work_mem;
SELECT maplet_check('maplet_log_id', true);
REINDEX INDEX maplet_log_id;
SELECT count(*), count(DISTINCT n) FROM maplet_log WHERE id = md5('hot')::uuid;
SELECT maplet_check('maplet_log_id', true);

-- built anew where it was
BEGIN;
TRUNCATE maplet_log;
INSERT INTO maplet_log VALUES (1, md5('1')::uuid);
TRUNCATE maplet_log;
INSERT INTO maplet_log VALUES (2, md5('2')::uuid);
SELECT n FROM maplet_log WHERE id IN (md5('1')::uuid, md5('2')::uuid);
COMMIT;
SELECT maplet_check('maplet_log_id', true);
DROP TABLE maplet_log;

--
-- An empty index, a partial one, one of an expression, NULLs
--
CREATE TABLE maplet_part (n int, t text);
CREATE INDEX maplet_part_n ON maplet_part USING maplet (n);
SELECT pg_relation_size('maplet_part_n') <= 8 * 8192 AS small;
SELECT n FROM maplet_part WHERE n = 1;
CREATE INDEX maplet_part_even ON maplet_part USING maplet (n) WHERE n % 2 = 0;
CREATE INDEX maplet_part_lower ON maplet_part USING maplet (lower(t));
INSERT INTO maplet_part SELECT g, 'T' || g FROM generate_series(1, 3000) g;
INSERT INTO maplet_part VALUES (NULL, NULL), (NULL, 'nobody');
SELECT entries FROM maplet_info('maplet_part_n');
SELECT entries FROM maplet_info('maplet_part_even');
EXPLAIN (COSTS OFF) SELECT n FROM maplet_part WHERE lower(t) = 't17';
SELECT n FROM maplet_part WHERE lower(t) = 't17';
SELECT maplet_check(i, true) FROM unnest('{maplet_part_n,maplet_part_even,maplet_part_lower}'::regclass[]) i;
CREATE INDEX maplet_part_two ON maplet_part USING maplet (n, t);
SELECT entries FROM maplet_info('maplet_part_two');
-- unique ones from 18 on
SELECT pg_indexam_has_property(oid, 'can_unique') = (current_setting('server_version_num')::int >= 180000) AS as_told FROM pg_am WHERE amname = 'maplet';
-- (19 says where)
DO $$ BEGIN CREATE INDEX ON maplet_part USING maplet (n DESC); EXCEPTION WHEN feature_not_supported THEN RAISE NOTICE '%', SQLERRM; END $$;

--
-- Options
--
CREATE INDEX maplet_part_rows ON maplet_part USING maplet (n) WITH (rows = 1e9, remainder_bits = 5);
SELECT bits, outgrown FROM maplet_info('maplet_part_rows');
SELECT maplet_check('maplet_part_rows', true);
CREATE INDEX maplet_part_few ON maplet_part USING maplet (n) WITH (rows = 100, remainder_bits = 2);
SELECT bits, outgrown, runs FROM maplet_info('maplet_part_few');
SELECT maplet_check('maplet_part_few', true);
CREATE INDEX ON maplet_part USING maplet (n) WITH (rows = -1);
CREATE INDEX ON maplet_part USING maplet (n) WITH (remainder_bits = 17);
CREATE INDEX ON maplet_part USING maplet (n) WITH (fillfactor = 70);

--
-- maplet_may_contain
--
SELECT maplet_may_contain('maplet_part_n', 17), maplet_may_contain('maplet_part_n', 17::int8), maplet_may_contain('maplet_part_n', '18'),
	maplet_may_contain('maplet_part_n', 100000), maplet_may_contain('maplet_part_n', NULL::int);
SELECT maplet_may_contain('maplet_part_lower', 't17'), maplet_may_contain('maplet_part_lower', 'T17'::text);
SELECT maplet_may_contain('maplet_part_n', 17::numeric);
SELECT maplet_may_contain('maplet_part_even', 17);
SELECT maplet_may_contain('maplet_part', 17);
CREATE INDEX maplet_part_btree ON maplet_part (n);
SELECT maplet_may_contain('maplet_part_btree', 17);
DROP INDEX maplet_part_btree;
CREATE ROLE regress_bloomfam_maplet;
SET ROLE regress_bloomfam_maplet;
SELECT maplet_may_contain('maplet_part_n', 17);
SELECT maplet_check('maplet_part_n');
SELECT maplet_merge('maplet_part_n');
SELECT entries FROM maplet_info('maplet_part_n');
SELECT entries FROM maplet_runs('maplet_part_n');
RESET ROLE;
GRANT pg_stat_scan_tables TO regress_bloomfam_maplet;
SET ROLE regress_bloomfam_maplet;
SELECT entries FROM maplet_info('maplet_part_n');
SELECT maplet_merge('maplet_part_n');
RESET ROLE;
REVOKE pg_stat_scan_tables FROM regress_bloomfam_maplet;
-- merging is maintenance, as VACUUM and REINDEX are
BEGIN READ ONLY;
SELECT maplet_merge('maplet_part_n');
SELECT entries FROM maplet_runs('maplet_part_n');
COMMIT;
GRANT SELECT (n) ON maplet_part TO regress_bloomfam_maplet;
SET ROLE regress_bloomfam_maplet;
SELECT maplet_may_contain('maplet_part_n', 17);
SELECT maplet_may_contain('maplet_part_lower', 't17');
RESET ROLE;
ALTER TABLE maplet_part ENABLE ROW LEVEL SECURITY;
SET ROLE regress_bloomfam_maplet;
SELECT maplet_may_contain('maplet_part_n', 17);
RESET ROLE;
DROP TABLE maplet_part;

-- an index lacks what rows were before updates within their page that came before it: transactions that may still see that get no certain answer
CREATE TABLE maplet_older (k int);
INSERT INTO maplet_older VALUES (1);
BEGIN;
UPDATE maplet_older SET k = 2;
CREATE INDEX maplet_older_k ON maplet_older USING maplet (k);
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'maplet_older_k'::regclass;
SELECT maplet_may_contain('maplet_older_k', 1) AS before, maplet_may_contain('maplet_older_k', 2) AS after;
COMMIT;
DROP TABLE maplet_older;

-- the owner's code runs as the owner, whoever asks for a check
GRANT CREATE ON SCHEMA public TO regress_bloomfam_maplet;
SET ROLE regress_bloomfam_maplet;
CREATE FUNCTION maplet_who(int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RAISE NOTICE 'run by %', current_user; RETURN $1; END $$;
CREATE TABLE maplet_owned (n int);
INSERT INTO maplet_owned VALUES (1);
CREATE INDEX maplet_owned_who ON maplet_owned USING maplet (maplet_who(n));
RESET ROLE;
SELECT maplet_check('maplet_owned_who', true), current_user <> 'regress_bloomfam_maplet' AS back;
DROP TABLE maplet_owned;
DROP FUNCTION maplet_who(int);
REVOKE CREATE ON SCHEMA public FROM regress_bloomfam_maplet;
DROP ROLE regress_bloomfam_maplet;

--
-- Exclusion constraints
--
CREATE TABLE maplet_event (id text, EXCLUDE USING maplet (id WITH =));
INSERT INTO maplet_event SELECT 'e' || g % 100 FROM generate_series(1, 1000) g ON CONFLICT DO NOTHING;
SELECT count(*), count(DISTINCT id) FROM maplet_event;
INSERT INTO maplet_event VALUES ('e1');
INSERT INTO maplet_event VALUES ('e1') ON CONFLICT ON CONSTRAINT maplet_event_id_excl DO NOTHING;
INSERT INTO maplet_event VALUES ('e1') ON CONFLICT (id) DO NOTHING;
UPDATE maplet_event SET id = 'e2' WHERE id = 'e3';
BEGIN;
SAVEPOINT a;
INSERT INTO maplet_event VALUES ('new');
ROLLBACK TO a;
INSERT INTO maplet_event VALUES ('new') ON CONFLICT DO NOTHING;
COMMIT;
SELECT count(*) FROM maplet_event WHERE id = 'new';
DROP TABLE maplet_event;

--
-- Unlogged, temporary and partitioned tables
--
CREATE UNLOGGED TABLE maplet_unlogged (n int);
CREATE INDEX maplet_unlogged_n ON maplet_unlogged USING maplet (n);
INSERT INTO maplet_unlogged SELECT generate_series(1, 20000);
SELECT maplet_check('maplet_unlogged_n', true);
ALTER TABLE maplet_unlogged SET LOGGED;
SELECT maplet_check('maplet_unlogged_n', true);
DROP TABLE maplet_unlogged;
CREATE TEMP TABLE maplet_temp (n int);
CREATE INDEX maplet_temp_n ON maplet_temp USING maplet (n);
INSERT INTO maplet_temp SELECT generate_series(1, 20000);
DELETE FROM maplet_temp WHERE n % 3 = 0;
VACUUM maplet_temp;
SELECT maplet_check('maplet_temp_n', true);
SELECT count(*) FROM maplet_temp WHERE n IN (1, 2, 3, 20000);
DROP TABLE maplet_temp;
CREATE ROLE regress_bloomfam_maplet_parts;
CREATE TABLE maplet_parts (n int, k int) PARTITION BY HASH (k);
CREATE TABLE maplet_parts_0 PARTITION OF maplet_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE maplet_parts_1 PARTITION OF maplet_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX maplet_parts_n ON maplet_parts USING maplet (n);
INSERT INTO maplet_parts SELECT g, g FROM generate_series(1, 1000) g;
EXPLAIN (COSTS OFF) SELECT * FROM maplet_parts WHERE n = 5;
SELECT * FROM maplet_parts WHERE n = 5;
-- the index over partitions has no pages
SELECT maplet_check('maplet_parts_n');
SELECT * FROM maplet_info('maplet_parts_n');
SELECT * FROM maplet_runs('maplet_parts_n');
SELECT maplet_merge('maplet_parts_n');
SELECT maplet_may_contain('maplet_parts_n', 5);
SELECT relid, maplet_check(relid), maplet_may_contain(relid, 5), (maplet_info(relid)).entries > 400 AS half
FROM pg_partition_tree('maplet_parts_n') WHERE isleaf ORDER BY relid::regclass::text;
CREATE INDEX maplet_parts_k ON maplet_parts (k);
SELECT maplet_check('maplet_parts_k');
SET ROLE regress_bloomfam_maplet_parts;
SELECT maplet_info('maplet_parts_n');
RESET ROLE;
DROP ROLE regress_bloomfam_maplet_parts;
DROP TABLE maplet_parts;

--
-- Concurrently
--
CREATE TABLE maplet_con (n int);
INSERT INTO maplet_con SELECT generate_series(1, 5000);
CREATE INDEX CONCURRENTLY maplet_con_n ON maplet_con USING maplet (n);
SELECT entries FROM maplet_info('maplet_con_n');
SELECT maplet_check('maplet_con_n', true);
REINDEX INDEX CONCURRENTLY maplet_con_n;
SELECT maplet_check('maplet_con_n', true);
ALTER EXTENSION bloomfam DROP ACCESS METHOD maplet;
ALTER EXTENSION bloomfam ADD ACCESS METHOD maplet;
DROP ACCESS METHOD maplet;
DROP TABLE maplet_con;

--
-- What the planner chooses
--
RESET enable_seqscan;
SET enable_memoize = off;
CREATE TABLE maplet_plan (id uuid, n int);
INSERT INTO maplet_plan SELECT md5(g::text)::uuid, g FROM generate_series(1, 100000) g;
CREATE INDEX maplet_plan_id ON maplet_plan USING maplet (id);
-- nothing is known of the column: the index knows that its keys differ
EXPLAIN (COSTS OFF) SELECT n FROM maplet_plan WHERE id = md5('7')::uuid;
VACUUM ANALYZE maplet_plan;
EXPLAIN (COSTS OFF) SELECT n FROM maplet_plan WHERE id = md5('7')::uuid;
CREATE TABLE maplet_few AS SELECT md5(g::text)::uuid AS id FROM generate_series(1, 100) g;
ANALYZE maplet_few;
EXPLAIN (COSTS OFF) SELECT n FROM maplet_plan JOIN maplet_few USING (id);
-- most of the table: not by an index
EXPLAIN (COSTS OFF) SELECT count(n) FROM maplet_plan a JOIN (SELECT id FROM maplet_plan) b USING (id);
-- EXPLAIN ANALYZE counts searches since 18: one for each look-up
CREATE FUNCTION maplet_searches(query text) RETURNS TABLE (node text, loops int, right_count boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT n->>'Node Type', (n->>'Actual Loops')::int,
		current_setting('server_version_num')::int < 180000 AND NOT n ? 'Index Searches' OR (n->'Index Searches' = n->'Actual Loops') IS TRUE
	FROM jsonb_path_query(plan, 'strict $.**?(@.type() == "object" && exists(@."Index Name"))') n;
END $$;
SET enable_bitmapscan = off;
SELECT * FROM maplet_searches('SELECT n FROM maplet_plan JOIN maplet_few USING (id)');
SELECT * FROM maplet_searches('SELECT n FROM maplet_plan WHERE id = md5(''7'')::uuid');
RESET enable_bitmapscan;
SELECT * FROM maplet_searches('SELECT n FROM maplet_plan WHERE id IN (md5(''7'')::uuid, md5(''8'')::uuid)');
-- ranges and orders are for a B-tree
CREATE INDEX maplet_plan_btree ON maplet_plan (id);
EXPLAIN (COSTS OFF) SELECT n FROM maplet_plan WHERE id > md5('7')::uuid ORDER BY id LIMIT 3;
-- how the costs of many keys at once stand to those of one by one, and to all of the table
CREATE FUNCTION maplet_cost(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Total Cost')::double precision;
END $$;
DROP INDEX maplet_plan_btree;
SET enable_seqscan = off;
WITH c AS (
	SELECT maplet_cost('SELECT n FROM maplet_plan WHERE id = md5(''7'')::uuid') AS one,
		maplet_cost(format('SELECT n FROM maplet_plan WHERE id = ANY (%L::uuid[])', (SELECT array_agg(id) FROM (SELECT id FROM maplet_plan LIMIT 1000) s))) AS array_1000,
		maplet_cost(format('SELECT n FROM maplet_plan WHERE id = ANY (%L::uuid[])', (SELECT array_agg(id) FROM maplet_plan))) AS array_all)
SELECT one < 10 AS one, array_1000 < 0.5 * 1000 * one AS some, array_all < 0.03 * 100000 * one AS "all" FROM c;
RESET enable_seqscan;
RESET enable_memoize;
DROP FUNCTION maplet_cost(text);
DROP TABLE maplet_plan, maplet_few;

--
-- = ANY of many keys, which rows are rechecked against by the index
--
SET enable_seqscan = off;
CREATE TABLE maplet_many (n int, k int, t text);
INSERT INTO maplet_many SELECT g, g % 3000, 't' || g % 3000 FROM generate_series(1, 6000) g;
INSERT INTO maplet_many VALUES (0, NULL, NULL);
CREATE INDEX maplet_many_k ON maplet_many USING maplet (k) WITH (rows = 1, remainder_bits = 1);
CREATE INDEX maplet_many_t ON maplet_many USING maplet (t) WITH (rows = 1, remainder_bits = 1);
CREATE INDEX maplet_many_upper ON maplet_many USING maplet (upper(t)) WITH (rows = 1, remainder_bits = 1);
-- so few bits are kept that a third of the places are false ones
SELECT bits, false_places > 0.3 AS many_false FROM maplet_info('maplet_many_k');
-- versions in a chain, moved, and dead
UPDATE maplet_many SET n = -n WHERE k % 7 = 0;
UPDATE maplet_many SET k = 3000 + k, t = 'u' || k WHERE k % 11 = 0;
DELETE FROM maplet_many WHERE k % 13 = 0;
CREATE FUNCTION maplet_any(OUT int4s text, OUT int8s text, OUT texts text, OUT uppers text, OUT both_keys text) LANGUAGE plpgsql AS $$
DECLARE
	four int[] := (SELECT array_agg(g) FROM generate_series(0, 3500, 2) g) || NULL::int || 2;
	eight int8[] := four || 5000000000;
	texts_wanted text[] := (SELECT array_agg('t' || g) FROM unnest(four) g);
	uppers_wanted text[] := (SELECT array_agg('T' || g) FROM unnest(four) g);
BEGIN
	int4s := (SELECT count(*) || ' ' || sum(n) FROM maplet_many WHERE k = ANY (four));
	int8s := (SELECT count(*) || ' ' || sum(n) FROM maplet_many WHERE k = ANY (eight));
	texts := (SELECT count(*) || ' ' || sum(n) FROM maplet_many WHERE t = ANY (texts_wanted));
	uppers := (SELECT count(*) || ' ' || sum(n) FROM maplet_many WHERE upper(t) = ANY (uppers_wanted));
	both_keys := (SELECT count(*) || ' ' || sum(n) FROM maplet_many WHERE k = ANY (four) AND k = ANY (eight[100:900]));
END $$;
SET plan_cache_mode = force_generic_plan;
SET enable_bitmapscan = off;
PREPARE maplet_of_many(int[]) AS SELECT count(*) FROM maplet_many WHERE k = ANY ($1);
EXPLAIN (COSTS OFF) EXECUTE maplet_of_many('{1}');
SELECT * FROM maplet_any();
SET enable_bitmapscan = on;
SET enable_indexscan = off;
DISCARD PLANS;
EXPLAIN (COSTS OFF) EXECUTE maplet_of_many('{1}');
SELECT * FROM maplet_any();
SET enable_seqscan = on;
SET enable_bitmapscan = off;
DISCARD PLANS;
SELECT * FROM maplet_any();
SET enable_seqscan = off;
SET enable_indexscan = on;
DISCARD PLANS;
-- a cursor's rows are those of its snapshot
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM maplet_many WHERE k = ANY (ARRAY(SELECT generate_series(1, 2999, 10)));
FETCH 3 FROM c;
DELETE FROM maplet_many WHERE k > 40;
SAVEPOINT a;
FETCH 3 FROM c;
ROLLBACK TO a;
SELECT count(*) FROM maplet_many WHERE k = ANY (ARRAY(SELECT generate_series(1, 2999, 10)));
FETCH 3 FROM c;
ROLLBACK;
-- once for each of several arrays
SELECT count(*) FROM generate_series(1, 3) f, LATERAL (SELECT FROM maplet_many WHERE k = ANY (ARRAY(SELECT g * f FROM generate_series(1, 400) g)) OFFSET 0) s;
SELECT count(*) FROM generate_series(1, 3) f, maplet_many WHERE k + 0 = ANY (ARRAY(SELECT g * f FROM generate_series(1, 400) g));
RESET enable_bitmapscan;
RESET plan_cache_mode;
RESET enable_seqscan;
DEALLOCATE maplet_of_many;
DROP FUNCTION maplet_any();
DROP TABLE maplet_many;
