--
-- Join filters of integers: a bitmap where they lie close together, a range where there are too many; the same rows whatever the numbers.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_bitmap;
SET search_path = join_bitmap, public;
SET bloomfam.join_filter = force;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET compute_query_id = off;

-- makes analyzed()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/analyzed.sql'
\i :file

-- How many rows a query has, and whether they are the same with filters and without; temporary tables, as in other tests, would take longer than it does.
CREATE FUNCTION compare(query text, OUT rows bigint, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
	plain text;
	filtered text;
BEGIN
	query := format('SELECT count(*), sum(hashtextextended(x::text, 0)) FROM (%s) x', query);
	SET LOCAL bloomfam.join_filter = off;
	EXECUTE query INTO rows, plain;
	SET LOCAL bloomfam.join_filter = force;
	EXECUTE query INTO rows, filtered;
	same := plain IS NOT DISTINCT FROM filtered;
END $$;

-- The form of a query's one filter, and how many rows it lets pass that match none.
CREATE FUNCTION form(query text, OUT form text, OUT rows bigint, OUT same boolean, OUT in_vain bigint) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	line text;
	forms text[];
BEGIN
	SELECT c.rows, c.same INTO form.rows, form.same FROM compare(query) c;
	SET LOCAL bloomfam.join_filter = force;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	FOREACH line IN ARRAY string_to_array(plan::text, E'\n')
	LOOP
		line := substring(line FROM '"(Discarded|Bitmaps|Ranges)": [1-9]');
		IF line IS NOT NULL THEN
			forms := forms || line;
		END IF;
	END LOOP;
	form := coalesce(array_to_string(forms, ', '), 'Bloom filter');
	SELECT sum((node->>'Actual Rows')::numeric * (node->>'Actual Loops')::numeric) - form.rows INTO in_vain
	FROM json_array_elements(plan) p, LATERAL (
		WITH RECURSIVE nodes AS (SELECT p->'Plan' AS node UNION ALL SELECT json_array_elements(node->'Plans') FROM nodes) SELECT node FROM nodes) n
	WHERE node->>'Custom Plan Provider' = 'Bloom Filter Probe';
END $$;

-- n: 1 .. 2000, and what each type makes of it; a NULL before the keys, and one key in eleven is one
CREATE TABLE fact AS SELECT g AS n, CASE WHEN g % 5 = 0 THEN 'x' END AS t, g::int2 AS i2, g AS i4, g::int8 AS i8, -g::int2 AS m2, -g AS m4, -g::int8 AS m8,
	-9223372036854775807 - 1 + g AS low, 9223372036854775807 - g AS high, g * 1000003::int8 AS sparse, date '1999-12-31' + g AS d,
	CASE WHEN g % 11 > 0 THEN g END AS holes, g::oid AS o, (4294967295 - g)::oid AS o_high, (g % 200 - 100)::"char" AS c, g % 2 = 0 AS b,
	timestamp '2000-01-01' + g * interval '1 microsecond' AS ts, timestamp '2000-01-01' + g * interval '1 hour' AS hours,
	CASE g WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN 9223372036854775807 ELSE g END AS both_ends,
	CASE g WHEN 1 THEN -2147483647 - 1 WHEN 2 THEN 2147483647 ELSE g END AS both4, CASE g WHEN 1 THEN -32768 WHEN 2 THEN 32767 ELSE g END::int2 AS both2
	FROM generate_series(1, 2000) g;
CREATE TABLE dim AS TABLE fact;
-- a column that rows from before lack
ALTER TABLE fact ADD later int DEFAULT 7;
INSERT INTO fact (n, later) VALUES (5000, 22), (5001, NULL), (5002, 23);
ANALYZE fact, dim;

-- each column as the key of few rows, and of many; of one, and of none
SELECT k, w, f.* FROM unnest(ARRAY['i2', 'i4', 'i8', 'm2', 'm4', 'm8', 'low', 'high', 'sparse', 'd', 'holes', 'o', 'o_high', 'ts', 'hours',
		'both_ends', 'both4', 'both2']) WITH ORDINALITY k (k, i),
	unnest(ARRAY['d.n IN (1, 2, 3, 7, 1999)', 'd.n % 3 = 1']) WITH ORDINALITY w (w, j),
	LATERAL form(format('SELECT f.n, d.n AS m FROM fact f JOIN dim d USING (%I) WHERE %s', k, w)) f ORDER BY i, j;
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d USING (i4) WHERE d.n = 22');
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d USING (low) WHERE d.n < 0');
SELECT k, f.form, f.rows, f.same FROM unnest(ARRAY['c', 'b']) k, LATERAL form(format('SELECT f.n, d.n AS m FROM fact f JOIN dim d USING (%I) WHERE d.n < 100', k)) f;
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d ON f.later = d.i4 WHERE d.n IN (7, 22)');
-- two types
SELECT a, b, f.* FROM unnest(ARRAY['i2', 'i4', 'i8', 'both_ends', 'both2']) WITH ORDINALITY a (a, i),
	unnest(ARRAY['i2', 'i4', 'i8', 'both_ends', 'both2']) WITH ORDINALITY b (b, j),
	LATERAL form(format('SELECT f.n, d.n AS m FROM fact f JOIN dim d ON f.%I = d.%I WHERE d.n < 40', a, b)) f WHERE a <> b ORDER BY i, j;
-- what has no number, and what has two
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d ON f.i4 = d.i4::numeric WHERE d.n < 40');
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d ON f.i4::text = d.i4::text WHERE d.n < 40');
SELECT form('SELECT f.n, d.n AS m FROM fact f JOIN dim d ON (f.i4, f.m4) = (d.i4, d.m4) WHERE d.n < 40');
CREATE TYPE colour AS ENUM ('red', 'green', 'blue', 'grey');
CREATE TABLE coloured AS SELECT g AS n, enum_range(NULL::colour) AS r, (enum_range(NULL::colour))[1 + g % 4] AS k FROM generate_series(1, 1000) g;
ANALYZE coloured;
SELECT form('SELECT f.n, d.n AS m FROM coloured f JOIN coloured d USING (k) WHERE d.n IN (1, 2)');

-- row by row: a function, an index, a key that the scan computes
SELECT form('SELECT f, d.n FROM generate_series(-10, 4000) f JOIN dim d ON d.i4 = f WHERE d.n % 7 = 0');
SELECT form('SELECT f, d.n FROM generate_series(-9223372036854775807, -9223372036854775000) f JOIN dim d ON d.low = f WHERE d.n % 7 = 0');
SELECT form('SELECT f.n, d.n AS m FROM (SELECT n, holes + 1 AS k FROM fact OFFSET 0) f JOIN dim d ON d.i8 = f.k WHERE d.n < 10');

-- how far apart they may lie, of a few and of many: 32 kB, or twice a Bloom filter
CREATE TABLE apart AS SELECT g AS i, (g * 256)::int8 AS k FROM generate_series(0, 1024) g;
CREATE TABLE many AS SELECT g AS i, g * 21::int8 AS k, g * 1000003::int8 AS s FROM generate_series(0, 20000) g;
ANALYZE apart, many;
SELECT form('SELECT f.i, d.i AS m FROM apart f JOIN apart d USING (k) WHERE d.i IN (0, 1023)');
SELECT form('SELECT f.i, d.i AS m FROM apart f JOIN apart d USING (k) WHERE d.i IN (0, 1024)');
SELECT form('SELECT f.i, d.i AS m FROM many f JOIN many d USING (k) WHERE d.i > 0');
SELECT form('SELECT f.i, d.i AS m FROM many f JOIN many d USING (k) WHERE d.i % 20 > 0');
SELECT (form('SELECT f.i, d.i AS m FROM many f JOIN many d USING (k) WHERE d.i % 3 > 0')).form;
-- said by EXPLAIN
SELECT analyzed('SELECT count(*) FROM fact f JOIN dim d USING (i4) WHERE d.n BETWEEN 100 AND 163');

-- too many keys to collect them, but close together, in whatever order they come: each has its bit
SET bloomfam.join_filter_max_size = '1kB';
CREATE TABLE close AS SELECT g AS i, g::int8 AS up, 4000 - g::int8 AS down, g::int8 * 7919 % 8100 - 4000 AS shuffled, -9223372036854775807 - 1 + g AS low,
	9223372036854775807 - g AS high, g::int8 / 4 * 7 AS repeated, (g::int8 - 4000) * 2 AS apart FROM generate_series(0, 8099) g;
ANALYZE close;
SELECT key, size, f.* FROM unnest('{up,down,shuffled,low,high,repeated,apart}'::text[]) key, unnest('{3000,8100}'::int[]) size,
	LATERAL form(format('SELECT f.i, d.i AS m FROM close f JOIN close d USING (%I) WHERE d.i < %s', key, size)) f;
-- ... with a bit for the one, but not for the other
CREATE TABLE ends AS SELECT up AS k FROM close WHERE i < 3000 UNION ALL SELECT unnest('{8191,8192}'::int[]);
ANALYZE ends;
SELECT key, f.* FROM unnest('{8191,8192}'::text[]) key,
	LATERAL form(format('SELECT f.i FROM many f JOIN ends d USING (k) WHERE d.k + 0 <= %s', key)) f;

-- too many keys, and further apart: their bounds are left
SELECT form('SELECT f.i, d.i AS m FROM many f JOIN many d USING (k) WHERE d.i BETWEEN 5000 AND 9999');
SELECT form('SELECT f.i, d.i AS m FROM many f JOIN many d USING (k) WHERE -d.i BETWEEN -15000 AND 0');
SELECT form('SELECT f.i, d.i AS m FROM many f JOIN many d ON f.k::text = d.k::text WHERE d.i BETWEEN 5000 AND 9999');
SELECT analyzed('SELECT count(*) FROM many f JOIN many d USING (k) WHERE d.i BETWEEN 5000 AND 9999');
-- those of each build
SELECT f.form, f.rows, f.same FROM form('SELECT g, x.n FROM generate_series(0, 4) g,
	LATERAL (SELECT count(*) AS n, sum(f.i) FROM many f JOIN many d USING (k) WHERE d.i / 4000 = g OFFSET 0) x') f;
RESET bloomfam.join_filter_max_size;
SELECT r.* FROM compare('SELECT g, x.n FROM generate_series(0, 4) g,
	LATERAL (SELECT count(*) AS n, sum(f.i) FROM many f JOIN many d USING (k) WHERE d.i / 4000 = g OFFSET 0) x') r;
SELECT r.* FROM compare('SELECT g, x.n FROM unnest(ARRAY[1, 1000003, 77]) g,
	LATERAL (SELECT count(*) AS n, sum(f.i) FROM many f JOIN (SELECT k * g AS k FROM many WHERE i % 50 = 0 OFFSET 0) d USING (k) OFFSET 0) x') r;

-- workers: each its own, one of all, the leader's
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION alone(k int8) RETURNS int8 PARALLEL RESTRICTED LANGUAGE plpgsql AS 'BEGIN RETURN k; END';
CREATE FUNCTION in_parallel(hash text, size text, key text, OUT rows bigint, OUT same boolean, OUT above_gather boolean, OUT form text)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT f.i, d.i AS m FROM many f JOIN (SELECT %s AS k, i FROM many) d ON f.%I = d.k WHERE d.i BETWEEN 5000 AND 9999',
		key, substring(key FROM '[ks]'));
	plan text;
BEGIN
	PERFORM set_config('enable_parallel_hash', hash, true), set_config('bloomfam.join_filter_max_size', size, true);
	SELECT c.rows, c.same INTO in_parallel.rows, in_parallel.same FROM compare(query) c;
	SET LOCAL bloomfam.join_filter = force;
	SELECT string_agg(line, E'\n') INTO plan FROM analyzed(query) line;
	above_gather := plan ~ '^\s*Hash Join';
	form := concat_ws(', ', substring(plan FROM 'Discarded'), substring(plan FROM 'Bitmaps|Ranges'));
END $$;
SELECT * FROM (VALUES (1, 'on', 'k'), (2, 'on', 's'), (3, 'off', 'k'), (4, 'off', 's'), (5, 'on', 'alone(k)'), (6, 'on', 'alone(s)')) h (i, hash, key),
	unnest(ARRAY['64MB', '1kB']) WITH ORDINALITY s (size, j), LATERAL in_parallel(hash, size, key) r ORDER BY i, j;

SET client_min_messages = warning;
DROP SCHEMA join_bitmap CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
