-- Stored filters that are probed without being fetched: the answers are those of the whole filter.
CREATE SCHEMA slices;
SET search_path = slices, public;

-- makes plan_of()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/plan.sql'
\i :file

CREATE TABLE segment (id int, kind text, f bloomfilter);
INSERT INTO segment
SELECT s, kind, (SELECT bloom_agg(s * 1000 + x, 0.01, kind, 20000 * s) FROM generate_series(1, 900) x)
FROM generate_series(1, 12) s, unnest('{standard,blocked}'::text[]) kind;
SELECT kind, min(pg_column_size(f)) > 20000 AS toasted, count(*) FROM segment GROUP BY kind ORDER BY kind;

--
-- One constant key, many filters; then many keys, with every filter in turn: no filter twice in a row
--
SELECT array_agg(id ORDER BY id) FROM segment WHERE kind = 'blocked' AND f @~ 7001;
SELECT array_agg(id ORDER BY id) FROM segment WHERE kind = 'standard' AND bloom_may_contain(f, 3900);
SELECT array_agg(id ORDER BY id) FROM segment WHERE kind = 'standard' AND 7001 ~@ f;

CREATE TABLE asked AS
SELECT s.id, s.kind, k, s.f @~ k AS answer
FROM (SELECT x AS k FROM generate_series(1, 14000, 37) x OFFSET 0) k, segment s;
SET enable_material = off;
CREATE FUNCTION whole(bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN bloom_union($1, $1); END $$;
-- (a union lies in memory)
SELECT kind, count(*) AS pairs, count(*) FILTER (WHERE answer) > 0 AS some,
	count(*) FILTER (WHERE answer <> (w @~ k)) AS differ,
	count(*) FILTER (WHERE k / 1000 = id AND k % 1000 BETWEEN 1 AND 900 AND NOT answer) AS lost
FROM asked JOIN (SELECT id, kind, whole(f) AS w FROM segment OFFSET 0) s USING (id, kind) GROUP BY kind ORDER BY kind;

--
-- One filter for many keys in a row: by slices at first, then fetched; and back again
--
SELECT kind, id, count(*) FILTER (WHERE f @~ k) >= 900 AS all_found, count(*) FILTER (WHERE f @~ k) < 1100 AS few_more
FROM (SELECT * FROM segment WHERE id IN (2, 11) ORDER BY id OFFSET 0) s, LATERAL (SELECT s.id * 1000 + x AS k FROM generate_series(1, 900) x
	UNION ALL SELECT -x FROM generate_series(1, 3000) x) k
GROUP BY kind, id ORDER BY kind, id;
SELECT count(*) FROM generate_series(5001, 5900) k WHERE (SELECT f FROM segment WHERE id = 5 AND kind = 'blocked') @~ k;
SELECT count(*) FROM generate_series(5001, 5900) k WHERE (SELECT f FROM segment WHERE id = 5 AND kind = 'standard') @~ k;

-- what a probe reads counts, not the probe: with 30 words a key slices would soon cost many times the whole
CREATE TABLE many_words AS SELECT bloom_agg(x, 1e-9, 'standard', 200000) AS f FROM generate_series(1, 2000) x;
CREATE FUNCTION pages(query text) RETURNS int LANGUAGE sql AS $$
SELECT (plan ->> 'Shared Hit Blocks')::int + (plan ->> 'Shared Read Blocks')::int FROM plan_of(query, 'ANALYZE, BUFFERS') plan $$;
SELECT pages('SELECT FROM many_words, generate_series(1, 2000) x WHERE f @~ x') < 2.5 * pages('SELECT octet_length(bytea(f)) FROM many_words') AS bounded;

--
-- Chunks lie in holes that others left: where one is says little of the next
--
CREATE TABLE hole (id int, kind text, f bloomfilter);
INSERT INTO hole SELECT s, 'filler', bloom_create(3000 + s * 5) FROM generate_series(1, 400) s;
DELETE FROM hole WHERE id % 3 = 0 OR id % 7 < 2;
VACUUM hole;
INSERT INTO hole
SELECT s, kind, (SELECT bloom_agg(s * 1000 + x, 0.01, kind, 20000 * s) FROM generate_series(1, 900) x)
FROM generate_series(1, 6) s, unnest('{standard,blocked}'::text[]) kind;
SELECT kind, count(*) AS pairs, count(*) FILTER (WHERE f @~ k <> (w @~ k)) AS differ,
	count(*) FILTER (WHERE k / 1000 = id AND k % 1000 BETWEEN 1 AND 900 AND NOT f @~ k) AS lost
FROM (SELECT x AS k FROM generate_series(1, 7000, 37) x OFFSET 0) k, (SELECT id, kind, f, whole(f) AS w FROM hole WHERE kind <> 'filler' OFFSET 0) s
GROUP BY kind ORDER BY kind;

--
-- The key's type is looked at in each filter, and so is what each filter is
--
SELECT count(*) FROM segment WHERE f @~ 'seven'::text;
INSERT INTO segment SELECT 100, 'text', bloom_agg(x::text, 0.01, 'blocked', 20000) FROM generate_series(1, 10) x;
SELECT count(*) FROM segment WHERE f @~ 7001;
DELETE FROM segment WHERE id = 100;
INSERT INTO segment VALUES (101, 'empty', bloom_create(20000)), (102, 'null', NULL), (103, 'small', bloom_add(bloom_create(10), 7001));
SELECT id FROM segment WHERE f @~ 7001 ORDER BY id, kind;
-- compressed, fetched as before
ALTER TABLE segment ALTER f SET STORAGE main;
INSERT INTO segment SELECT 104, 'compressed', bloom_add(bloom_create(500000), 7001);
SELECT id, pg_column_compression(f) IS NOT NULL AS compressed FROM segment WHERE id = 104 AND f @~ 7001;

--
-- Two hashes by turns, in filters that lie in their rows, all of one shape to a kind, and in such as are sliced
--
CREATE TABLE turns AS
SELECT s AS id, kind, (SELECT bloom_agg(s * 1000 + x, 0.01, kind, expected) FROM generate_series(1, 100) x) AS f
FROM generate_series(1, 24) s, LATERAL (SELECT (ARRAY['blocked', 'parquet', 'blocked', 'blocked', 'parquet', 'parquet'])[s % 6 + 1],
	(ARRAY[200, 40000])[s % 2 + 1]) t(kind, expected);
SELECT kind, pg_column_size(f) > 20000 AS toasted, count(*) FROM turns GROUP BY 1, 2 ORDER BY 1, 2;
SELECT x, count(*) FILTER (WHERE f @~ (id * 1000 + x)) AS found FROM generate_series(1, 100, 33) x, turns GROUP BY x ORDER BY x;
SELECT count(*) FROM turns WHERE f @~ 7001;

--
-- Through cursors, subtransactions and updates: a filter is known by more than its place
--
ALTER TABLE segment ALTER f SET STORAGE external;
DO $$
DECLARE
	hit int := 0;
	r record;
BEGIN
	FOR i IN 1 .. 40 LOOP
		UPDATE segment SET f = bloom_add(f, 900000 + i) WHERE id = 3 AND kind = 'blocked';
		SELECT s.f @~ (900000 + i) AS new, s.f @~ (900000 + i + 1) AS next INTO r FROM segment s WHERE id = 3 AND kind = 'blocked';
		hit := hit + r.new::int;
		IF i % 4 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
	RAISE NOTICE '% of 40', hit;
END $$;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM segment WHERE f @~ 7001 ORDER BY id, kind;
FETCH 1 FROM c;
SAVEPOINT s;
DELETE FROM segment WHERE id = 7;
SELECT id FROM segment WHERE f @~ 7001 ORDER BY id, kind;
ROLLBACK TO s;
FETCH ALL FROM c;
COMMIT;

-- a long key
SELECT count(*) FROM segment WHERE kind IN ('standard', 'blocked') AND f @~ length(repeat('x', 7001));
CREATE TABLE texts (f bloomfilter);
INSERT INTO texts SELECT (SELECT bloom_agg(repeat('x', 10000) || s || x, 0.01, 'blocked', 20000) FROM generate_series(1, 20) x) FROM generate_series(1, 9) s;
SELECT count(*) FROM texts WHERE f @~ (repeat('x', 10000) || '412');

SET client_min_messages = warning;
DROP SCHEMA slices CASCADE;
