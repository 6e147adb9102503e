-- bloom_agg: one filter of the keys, over keys and over hashed keys.
CREATE SCHEMA aggregate;
SET search_path = aggregate, public;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE t (id int, g int, k bigint, s text);
INSERT INTO t SELECT x, x % 7, x * 3, CASE WHEN x % 10 = 0 THEN NULL ELSE 'key ' || x % 500 END FROM generate_series(1, 5000) x;
ANALYZE t;

--
-- The forms with a rate, of keys and of hashed keys: the same filters
--
SELECT a = b AS defaults, b = c AS kind, a = ak AND b = bk AND c = ck AND d = dk AS hashed, c <> d AS other_kind, (bloom_info(d)).capacity, (bloom_info(a)).keys_added, (bloom_info(a)).capacity AS distinct_keys
FROM (SELECT bloom_agg(s), bloom_agg(s, 0.01), bloom_agg(s, 0.01, 'blocked'), bloom_agg(s, 0.001, 'standard', 1000),
		bloom_agg(bloom_key(s)), bloom_agg(bloom_key(s), 0.01), bloom_agg(bloom_key(s), 0.01, 'blocked'), bloom_agg(bloom_key(s), 0.001, 'standard', 1000)
	FROM t) x(a, b, c, d, ak, bk, ck, dk);
SELECT count(*) FILTER (WHERE s IS NULL) AS nulls, count(*) FILTER (WHERE NOT f @~ s) AS lost, count(*) FILTER (WHERE f @~ ('no ' || s)) < 150 AS few_wrong FROM t, (SELECT bloom_agg(s) AS f FROM t) x;
SELECT count(*) FILTER (WHERE NOT f @~ k) AS lost, count(*) FILTER (WHERE NOT f @~ bloom_key(k)) AS lost_hashed, count(*) FILTER (WHERE f @~ k + 1) < 100 AS few_wrong FROM t, (SELECT bloom_agg(bloom_key(k)) AS f FROM t) x;
-- NULL options are as good as left out
SELECT bloom_agg(k) = bloom_agg(k, NULL, NULL, NULL) AS keys, bloom_agg(k) = bloom_agg(bloom_key(k), NULL, NULL, NULL) AS hashed, bloom_agg(k, NULL) = bloom_agg(k, 0.01, NULL) AS some FROM t;

--
-- The kind without a rate: the second argument as text, which is the rate if it reads as a number
--
CREATE FUNCTION what(f bloomfilter) RETURNS text LANGUAGE sql AS $$ SELECT format('%s %s', kind, target_fpr) FROM bloom_info(f) $$;
-- literals, and every type that becomes text by itself
SELECT what(bloom_agg(k, 'ribbon')) AS literal, what(bloom_agg(k, 'ribbon'::text)) AS text, what(bloom_agg(k, 'ribbon'::varchar)) AS varchar,
	what(bloom_agg(k, 'ribbon'::name)) AS name, what(bloom_agg(k, 'ribbon'::char(9))) AS char, what(bloom_agg(k, NULL)) AS "null", what(bloom_agg(k, NULL::text)) AS null_text FROM t;
SELECT what(bloom_agg(bloom_key(k), 'ribbon')) AS literal, what(bloom_agg(bloom_key(k), 'ribbon'::text)) AS text, what(bloom_agg(bloom_key(k), 'ribbon'::varchar)) AS varchar,
	what(bloom_agg(bloom_key(k), 'ribbon'::name)) AS name, what(bloom_agg(bloom_key(k), 'ribbon'::char(9))) AS char, what(bloom_agg(bloom_key(k), NULL)) AS "null",
	what(bloom_agg(bloom_key(k), NULL::text)) AS null_text FROM t;
-- rates, in every form; numbers are no text
SELECT what(bloom_agg(k, '0.002')) AS literal, what(bloom_agg(k, '0.002'::text)) AS text, what(bloom_agg(k, '  2e-3 ')) AS blanks, what(bloom_agg(k, E'\n.002\t'::varchar)) AS varchar,
	what(bloom_agg(bloom_key(k), '0.002')) AS hashed, what(bloom_agg(k, repeat('0', 500) || '.002')) AS long FROM t;
SELECT what(bloom_agg(k, 0.002)) AS numeric, what(bloom_agg(k, 0.25::real)) AS real, what(bloom_agg(k, 0.002::float8)) AS double, what(bloom_agg(bloom_key(k), 0.002)) AS hashed FROM t;
SELECT bloom_agg(k, 2) FROM t;
SELECT bloom_agg(bloom_key(k), 2::smallint) FROM t;
-- all kinds, keys of all sorts: as with the rate left out
SELECT kind, bloom_agg(k, kind) = bloom_agg(k, NULL, kind) AS keys, bloom_agg(s, kind) = bloom_agg(s, NULL, kind) AS texts,
	bloom_agg((k, s), kind) FILTER (WHERE kind <> 'parquet') = bloom_agg((k, s), NULL, kind) FILTER (WHERE kind <> 'parquet') AS rows,
	bloom_agg(bloom_key(k), kind) FILTER (WHERE kind <> 'parquet') = bloom_agg(k, NULL, kind) FILTER (WHERE kind <> 'parquet') AS hashed
FROM t, (SELECT kind FROM bloom_kinds(1000)) x GROUP BY kind ORDER BY kind COLLATE "C";
SELECT what(bloom_agg(bloom_key(k), 'parquet')) FROM t;
-- neither
SELECT bloom_agg(k, 'ribbons') FROM t;
SELECT bloom_agg(k, '') FROM t;
SELECT bloom_agg(k, '0.01 blocked') FROM t;
SELECT bloom_agg(k, '0,01'::text) FROM t;
SELECT bloom_agg(bloom_key(k), 'partial') FROM t;
SELECT bloom_agg(bloom_key(k), ' ribbon'::varchar) FROM t;
-- numbers that are no rates
SELECT bloom_agg(k, '0') FROM t;
SELECT bloom_agg(k, 'NaN'::text) FROM t;
SELECT bloom_agg(bloom_key(k), '-Infinity') FROM t;
SELECT bloom_agg(k, '1e-400') FROM t;
-- no number, and no text
\set VERBOSITY terse
SELECT bloom_agg(k, true) FROM t;
\set VERBOSITY default
-- no rows, none but NULLs, FILTER, DISTINCT, ORDER BY, windows, groups
SELECT bloom_agg(k, 'ribbon') = bloom_agg(k) AS no_rows, bloom_agg(bloom_key(k), 'ribbon') = bloom_agg(bloom_key(k)) AS hashed, bloom_agg(NULL::int, 'ribbon') = bloom_agg(1) AS nulls FROM t WHERE false;
SELECT bloom_agg(k, 'ribbon') FILTER (WHERE id < 100) = bloom_agg(CASE WHEN id < 100 THEN k END, NULL, 'ribbon') AS filter,
	bloom_agg(DISTINCT s, 'standard') = bloom_agg(DISTINCT s, NULL, 'standard') AS distinct, bloom_agg(s, '0.5' ORDER BY id DESC) = bloom_agg(s, 0.5) AS ordered,
	bloom_agg(bloom_key(s), 'standard' ORDER BY id) = bloom_agg(s, NULL, 'standard') AS hashed_ordered FROM t;
SELECT count(*), count(*) FILTER (WHERE a = b AND ak = b) AS same
FROM (SELECT bloom_agg(k, 'xor') OVER w, bloom_agg(bloom_key(k), 'xor') OVER w, bloom_agg(k, NULL, 'xor') OVER w FROM t WHERE id <= 100 WINDOW w AS (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING)) x(a, ak, b);
SELECT g, what(bloom_agg(k, CASE g % 3 WHEN 0 THEN 'ribbon' WHEN 1 THEN '0.3' END)), what(bloom_agg(bloom_key(k), CASE g % 3 WHEN 0 THEN 'ribbon' WHEN 1 THEN '0.3' END)) AS hashed FROM t GROUP BY g ORDER BY g;
-- within a group it cannot change, however it is written
SELECT bloom_agg(k, CASE WHEN id < 50 THEN 'blocked' ELSE 'standard' END) FROM t;
SELECT bloom_agg(bloom_key(k), CASE WHEN id < 50 THEN 'blocked' ELSE '0.02' END) FROM t;
SELECT what(bloom_agg(k, CASE id % 4 WHEN 1 THEN '0.01' WHEN 2 THEN 'blocked' WHEN 3 THEN '1e-2' END)), what(bloom_agg(bloom_key(k), CASE id % 4 WHEN 1 THEN '0.01' WHEN 2 THEN 'blocked' WHEN 3 THEN '1e-2' END)) AS hashed FROM t;
-- a parameter of no type is text: a kind or a rate, planned with its value and without
PREPARE untyped AS SELECT what(bloom_agg(k, $1)), what(bloom_agg(bloom_key(k), $1)) AS hashed FROM t;
PREPARE both_untyped AS SELECT what(bloom_agg(k, $1, $2)) FROM t;
PREPARE rate(numeric) AS SELECT what(bloom_agg(k, $1)) FROM t;
PREPARE by_varchar(varchar) AS SELECT what(bloom_agg(k, $1)) FROM t;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY 1;
SET plan_cache_mode = force_custom_plan;
EXECUTE untyped('0.002');
EXECUTE untyped('ribbon');
SET plan_cache_mode = force_generic_plan;
EXECUTE untyped('0.002');
EXECUTE untyped('ribbon');
EXECUTE untyped(NULL);
EXECUTE untyped('ribbons');
EXECUTE both_untyped('0.002', 'ribbon');
EXECUTE rate(0.002);
EXECUTE by_varchar('0.002');
EXECUTE by_varchar('ribbon');
RESET plan_cache_mode;
DEALLOCATE ALL;
-- a parameter that changes between runs of a subquery
SELECT kind, (SELECT what(bloom_agg(x, kind)) FROM generate_series(1, 9) x) AS keys, (SELECT what(bloom_agg(bloom_key(x), kind)) FROM generate_series(1, 9) x) AS hashed
FROM unnest('{xor,0.3,NULL,blocked}'::text[]) kind;
-- keys of no type stay an error
\set VERBOSITY terse
SELECT bloom_agg('a', 'ribbon');
\set VERBOSITY default

--
-- Without expected: sized by the distinct keys, as if their number had been known
--
SELECT n, kind, bloom_agg(x % n, 0.01, kind) = bloom_agg(x % n, 0.01, kind, n) AS same
FROM unnest('{1,2,10,63,64,1000,20000}'::int[]) n, unnest('{standard,blocked}'::text[]) kind, generate_series(0, 19999) x GROUP BY n, kind ORDER BY 1, 2;
-- repeated keys do not make it larger, whenever they come
SELECT count(DISTINCT (bloom_info(f)).bytes) AS sizes, count(DISTINCT substr(f::bytea, 85)) AS payloads, array_agg((bloom_info(f)).keys_added ORDER BY (bloom_info(f)).keys_added) AS added
FROM (SELECT bloom_agg(x) FROM generate_series(1, 1000) x UNION ALL SELECT bloom_agg(x % 1000 + 1) FROM generate_series(1, 10000) x UNION ALL SELECT bloom_agg(x / 30 + 1) FROM generate_series(0, 29999) x
	UNION ALL SELECT bloom_agg(x) FROM (SELECT x FROM generate_series(1, 1000) x UNION ALL SELECT 1 FROM generate_series(1, 5000)) y) s(f);
-- nor does the order of keys matter
SELECT bloom_agg(k ORDER BY id) = bloom_agg(k ORDER BY id DESC) AND bloom_agg(k ORDER BY id) = bloom_agg(k ORDER BY md5(id::text)) AS keys,
	bloom_agg(bloom_key(k) ORDER BY bloom_key(k)) = bloom_agg(bloom_key(k) ORDER BY id) AND bloom_agg(bloom_key(k) ORDER BY bloom_key(k) DESC) = bloom_agg(bloom_key(k)) AS by_hash FROM t;
-- expected more or fewer than there are
SELECT expected, kind, (bloom_info(f)).capacity, (SELECT count(*) FROM t WHERE NOT f @~ k) AS lost
FROM unnest('{1,10,5000,1000000}'::int[]) expected, unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg(k, 0.01, kind, expected) AS f FROM t) x ORDER BY 1, 2;

--
-- Nothing to aggregate: the filter that contains nothing and has no size, never NULL
--
SELECT bloom_agg(k) IS NOT NULL AS not_null, bloom_agg(k) @~ 1 AS contains, bloom_agg(k) = bloom_agg(k, 0.5, 'standard', 7) AS no_parameters, (bloom_info(bloom_agg(k))).kind, (bloom_info(bloom_agg(k))).key_type,
	(bloom_info(bloom_agg(bloom_key(k)))).kind AS hashed, (bloom_info(bloom_agg(bloom_key(k)))).key_type IS NULL AS hashed_has_none FROM t WHERE false;
SELECT bloom_agg(NULL::bigint) = bloom_agg(k) FILTER (WHERE false) AS nulls, bloom_agg(NULL::bloomkey) = bloom_agg(bloom_key(k)) FILTER (WHERE false) AS hashed FROM t;
SELECT bloom_agg(k) @~ 'a'::text FROM t WHERE false;
SELECT count(*) FROM (SELECT bloom_agg(k) FROM t WHERE false GROUP BY g) x;
SELECT bloom_agg(NULL::int, 0.01, 'blocked', 1000000000) = bloom_agg(NULL::int) AS nulls_ask_for_nothing FROM t;

--
-- Modifiers
--
SELECT bloom_agg(k) FILTER (WHERE id <= 100) = (SELECT bloom_agg(k) FROM t WHERE id <= 100) AS filter, (bloom_info(bloom_agg(DISTINCT g))).keys_added AS distinct_added,
	substr(bloom_agg(DISTINCT s)::bytea, 85) = substr(bloom_agg(s)::bytea, 85) AS distinct_same, bloom_agg(DISTINCT bloom_key(s)) = bloom_agg(DISTINCT s) AS distinct_hashed FROM t;
SELECT g, count(DISTINCT s), (bloom_info(bloom_agg(s))).capacity, (bloom_info(bloom_agg(s))).keys_added, (bloom_info(bloom_agg(bloom_key(s), 0.01, 'standard'))).capacity AS hashed FROM t GROUP BY g HAVING bloom_agg(s) @~ 'key 1' ORDER BY g;
SELECT g, bloom_agg(k) = (SELECT bloom_agg(k) FROM t u WHERE u.g = t.g) AS same, bloom_agg(k) @~ min(k) AND bloom_agg(k) @~ max(k) AS contains FROM t GROUP BY g ORDER BY g;
-- grouping sets: each filter is the one of its rows
CREATE FUNCTION lost(of_g int, of_parity int, f bloomfilter) RETURNS bigint LANGUAGE sql AS
$$ SELECT count(*) FROM aggregate.t WHERE (of_g IS NULL OR g = of_g) AND (of_parity IS NULL OR id % 2 = of_parity) AND NOT f @~ k $$;
CREATE FUNCTION alone(of_g int, of_parity int) RETURNS bloomfilter LANGUAGE sql AS
$$ SELECT bloom_agg(k) FROM aggregate.t WHERE (of_g IS NULL OR g = of_g) AND (of_parity IS NULL OR id % 2 = of_parity) $$;
CREATE TEMP VIEW cubed AS SELECT g, parity, bloom_agg(k) AS f, bloom_agg(bloom_key(k)) AS fk FROM (SELECT g, id % 2 AS parity, k FROM t) x GROUP BY CUBE (g, parity);
CREATE TEMP VIEW rolled AS SELECT g, parity, bloom_agg(k) AS f, bloom_agg(bloom_key(k)) AS fk FROM (SELECT g, id % 2 AS parity, k FROM t) x GROUP BY ROLLUP (g, parity);
CREATE TEMP VIEW sets AS SELECT g, parity, bloom_agg(k) AS f, bloom_agg(bloom_key(k)) AS fk FROM (SELECT g, id % 2 AS parity, k FROM t) x GROUP BY GROUPING SETS ((g), (parity), ());
SELECT count(*), sum(lost(g, parity, f)) AS lost, count(*) FILTER (WHERE f = alone(g, parity) AND fk = f) AS same FROM cubed;
SELECT count(*), sum(lost(g, parity, f)) AS lost, count(*) FILTER (WHERE f = alone(g, parity) AND fk = f) AS same FROM rolled;
SET enable_hashagg = off;
SELECT count(*), sum(lost(g, parity, f)) AS lost, count(*) FILTER (WHERE f = alone(g, parity) AND fk = f) AS same FROM cubed;
SELECT count(*), sum(lost(g, parity, f)) AS lost, count(*) FILTER (WHERE f = alone(g, parity) AND fk = f) AS same FROM sets;
RESET enable_hashagg;

--
-- Options that change within a group
--
SELECT bloom_agg(k, CASE WHEN id < 50 THEN 0.01 ELSE 0.02 END) FROM t;
SELECT bloom_agg(k, 0.01, CASE WHEN id < 50 THEN 'blocked' ELSE 'standard' END) FROM t;
SELECT bloom_agg(k, 0.01, 'blocked', id) FROM t;
SELECT bloom_agg(bloom_key(k), 0.01, 'blocked', id) FROM t;
SELECT bloom_agg(bloom_key(k), CASE WHEN id < 50 THEN 0.01 END) IS NULL AS null_is_the_default FROM t;
SELECT bloom_agg(k, CASE WHEN id < 5000 THEN 0.01 ELSE 0.5 END) FROM t;
-- a row without a key asks for nothing
SELECT bloom_agg(CASE WHEN id < 50 THEN k END, CASE WHEN id < 50 THEN 0.01 ELSE 77 END) @~ 3 AS yes FROM t;
-- between groups they may
SELECT g, (bloom_info(f)).kind, (bloom_info(f)).target_fpr, (bloom_info(f)).capacity, (SELECT count(*) FROM t WHERE g = x.g AND NOT f @~ k) AS lost
FROM (SELECT g, bloom_agg(k, (g + 1) / 10.0::float8, CASE WHEN g % 2 = 0 THEN 'standard' ELSE 'blocked' END, g * 1000 + 1000) AS f FROM t GROUP BY g) x ORDER BY g;

--
-- Keys of different types
--
SELECT bloom_agg(CASE WHEN id < 10 THEN bloom_key(k) ELSE bloom_key(s) END) FROM t;
SELECT bloom_agg(CASE WHEN id < 10 THEN bloom_key(k) ELSE bloom_key(s) END, 0.01, 'standard', 10) FROM t;
SELECT bloom_agg(CASE WHEN id < 10 THEN bloom_key(id) WHEN id < 20 THEN bloom_key(id::smallint) ELSE bloom_key(k) END) @~ 1::bigint AS one_family FROM t;
SELECT bloom_agg('{}'::json) FROM t;
SELECT bloom_agg(r) @~ ROW(1, 3::bigint) AS rows FROM (SELECT ROW(id, k) AS r FROM t) x;
-- an untyped literal could be of any type
\set VERBOSITY terse
SELECT bloom_agg('a') FROM t;
\set VERBOSITY default
SELECT bloom_agg('a'::text) @~ 'a' AS typed FROM t;

--
-- Windows: final functions are called again and again on states that go on
--
SELECT count(*), count(*) FILTER (WHERE f = expected AND fk = expected) AS growing
FROM (SELECT id, bloom_agg(k) OVER w AS f, bloom_agg(bloom_key(k)) OVER w AS fk FROM t WHERE id <= 300 WINDOW w AS (ORDER BY id)) x, LATERAL (SELECT bloom_agg(k) AS expected FROM t WHERE t.id <= x.id) y;
SELECT count(*), count(*) FILTER (WHERE f = expected AND fs = expected_sized) AS moving
FROM (SELECT id, bloom_agg(k) OVER w AS f, bloom_agg(bloom_key(k), 0.01, 'standard', 20) OVER w AS fs FROM t WHERE id <= 200 WINDOW w AS (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING)) x,
	LATERAL (SELECT bloom_agg(k) AS expected, bloom_agg(k, 0.01, 'standard', 20) AS expected_sized FROM t WHERE t.id <= 200 AND t.id BETWEEN x.id - 5 AND x.id + 5) y;
SELECT count(*), count(*) FILTER (WHERE f = expected) AS partitions
FROM (SELECT g, bloom_agg(s) OVER (PARTITION BY g) AS f FROM t) x JOIN (SELECT g, bloom_agg(s) AS expected FROM t GROUP BY g) y USING (g);
SELECT count(*) FILTER (WHERE f @~ k) AS itself, count(*) FILTER (WHERE f IS NULL) AS nulls FROM (SELECT k, bloom_agg(k) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS f FROM t WHERE id <= 100) x;
-- frames that shrink to nothing
SELECT (bloom_info(f)).kind, count(*) FROM (SELECT bloom_agg(k, 0.01, 'standard') OVER (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) AS f FROM t WHERE id <= 10) x GROUP BY 1 ORDER BY 1;

--
-- Spilling: with the least memory there is, the same bytes
--
CREATE TEMP TABLE large AS
SELECT bloom_agg(x % 400000) AS f, bloom_agg(bloom_key(x % 400000), 0.001, 'standard') AS fk, bloom_agg(x, 0.01, 'blocked', 10000) AS sized FROM generate_series(1, 600000) x;
CREATE TEMP TABLE large_groups AS SELECT x % 1000 AS g, bloom_agg(x / 2) AS f, bloom_agg(bloom_key(x / 2), 0.001, 'standard') AS fk FROM generate_series(1, 600000) x GROUP BY 1;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT f = (SELECT bloom_agg(x % 400000) FROM generate_series(1, 600000) x) AS keys, fk = (SELECT bloom_agg(bloom_key(x % 400000), 0.001, 'standard') FROM generate_series(1, 600000) x) AS hashed,
	sized = (SELECT bloom_agg(x, 0.01, 'blocked', 10000) FROM generate_series(1, 600000) x) AS sized, (bloom_info(f)).capacity FROM large;
SELECT count(*), count(*) FILTER (WHERE a.f = b.f AND a.fk = b.fk) AS same
FROM large_groups a JOIN (SELECT x % 1000 AS g, bloom_agg(x / 2) AS f, bloom_agg(bloom_key(x / 2), 0.001, 'standard') AS fk FROM generate_series(1, 600000) x GROUP BY 1) b USING (g);
SET enable_hashagg = off;
SELECT count(*), count(*) FILTER (WHERE a.f = b.f) AS sorted
FROM large_groups a JOIN (SELECT x % 1000 AS g, bloom_agg(x / 2) AS f FROM generate_series(1, 600000) x GROUP BY 1) b USING (g);
-- groups one after the other, each of which spills, and grouping sets that are computed at a time
SELECT g, (bloom_info(f)).capacity, (SELECT count(*) FROM generate_series(0, 599999, 11) x WHERE (g IS NULL OR x % 3 = g) AND NOT f @~ x) AS lost
FROM (SELECT x % 3 AS g, bloom_agg(x) AS f FROM generate_series(0, 599999) x GROUP BY ROLLUP (1)) y ORDER BY 1;
RESET enable_hashagg;
RESET work_mem;
RESET hash_mem_multiplier;
-- the same groups many times over, one filter a row: thousands of small states
SELECT count(*), count(*) FILTER (WHERE f @~ g AND (bloom_info(f)).capacity = 1) AS right FROM (SELECT x AS g, bloom_agg(x) AS f FROM generate_series(1, 20000) x GROUP BY x) y;

--
-- Rescans
--
SELECT count(*), count(*) FILTER (WHERE f = expected) AS same
FROM generate_series(1, 50) n, LATERAL (SELECT bloom_agg(k) AS f FROM t WHERE id <= n) x, LATERAL (SELECT bloom_add_all(bloom_create(n), array(SELECT i::bigint * 3 FROM generate_series(1, n) i)) AS expected) y;
SET work_mem = '64kB';
SELECT n, (bloom_info(f)).capacity, lost FROM unnest('{300000,5,200000,0,300000}'::int[]) WITH ORDINALITY u(n, o), LATERAL (SELECT bloom_agg(x) AS f FROM generate_series(1, n) x) y,
	LATERAL (SELECT count(*) AS lost FROM generate_series(1, n, 7) x WHERE NOT f @~ x) z ORDER BY o;
RESET work_mem;
-- cut off before the end, and closed cursors
BEGIN;
DECLARE c CURSOR FOR SELECT g, bloom_agg(k) @~ g * 3::bigint AS yes FROM t WHERE g > 0 GROUP BY g ORDER BY g;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
SELECT EXISTS (SELECT bloom_agg(x) FROM generate_series(1, 10000) x GROUP BY x % 10);

--
-- Partitioned tables
--
CREATE TABLE parted (id int, k bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (2000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2000) TO (2001);
CREATE TABLE parted_3 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT id, k FROM t;
SET enable_partitionwise_aggregate = on;
SELECT bloom_agg(k) = (SELECT bloom_agg(k) FROM t) AS keys, bloom_agg(bloom_key(k), 0.001, 'standard', 10) = (SELECT bloom_agg(k, 0.001, 'standard', 10) FROM t) AS hashed FROM parted;
SELECT count(*) FILTER (WHERE f @~ id) AS one_each FROM (SELECT id, bloom_agg(id) AS f FROM parted GROUP BY id) x;
RESET enable_partitionwise_aggregate;

--
-- States that travel, as engines that split aggregates over nodes send them: by their text, in any order, empty ones among them
--
CREATE AGGREGATE state_of(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, COMBINEFUNC = bloom_agg_key_combine);
CREATE AGGREGATE state_of(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, COMBINEFUNC = bloom_agg_key_combine);
CREATE AGGREGATE filter_of(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
CREATE AGGREGATE union_of(bloomfilter) (SFUNC = bloom_union_combine, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
CREATE AGGREGATE union_state(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter);
CREATE TEMP TABLE state AS
SELECT g, state_of(bloom_key(k))::text AS s, state_of(bloom_key(k), 0.001, 'standard', 5000)::text AS sized, state_of(bloom_key(k), 0.001, 'standard', 10)::text AS small FROM t GROUP BY g
UNION ALL SELECT NULL, state_of(bloom_key(k))::text, state_of(bloom_key(k), 0.001, 'standard', 5000)::text, NULL FROM t WHERE false;
SELECT filter_of(s::bloomfilter) = (SELECT bloom_agg(k) FROM t) AS self_sizing, filter_of(sized::bloomfilter) = (SELECT bloom_agg(k, 0.001, 'standard', 5000) FROM t) AS sized,
	filter_of(small::bloomfilter) = (SELECT bloom_agg(k, 0.001, 'standard', 10) FROM t) AS small FROM state;
SELECT filter_of(s::bloomfilter ORDER BY g DESC NULLS FIRST) = (SELECT bloom_agg(k) FROM t) AS any_order FROM state;
SELECT (bloom_info(filter_of(NULL))).kind FROM state;
-- what was asked for must have been the same
SELECT filter_of(x) FROM (SELECT s::bloomfilter FROM state WHERE g = 1 UNION ALL SELECT sized::bloomfilter FROM state WHERE g = 2) y(x);
SELECT filter_of(x) FROM (SELECT small::bloomfilter FROM state WHERE g = 1 UNION ALL SELECT sized::bloomfilter FROM state WHERE g = 2) y(x);
SELECT filter_of(x) FROM (SELECT s::bloomfilter FROM state WHERE g = 1 UNION ALL SELECT state_of(bloom_key(s)) FROM t) y(x);
-- a union of states, one of which a NULL took part in
SELECT union_of(f) IS NULL AS unknown, union_of(f) FILTER (WHERE g <> 3) = (SELECT bloom_union_agg(a.f) FROM (SELECT bloom_agg(k) AS f FROM t WHERE g <> 3 GROUP BY g) a) AS known
FROM (SELECT g, union_state(f)::text::bloomfilter AS f FROM (SELECT g, CASE WHEN g <> 3 THEN bloom_agg(k) END AS f FROM t GROUP BY g) a GROUP BY g) b;

--
-- Functions of different aggregates in one: what one has made, another refuses
--
CREATE AGGREGATE mixed_1(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
CREATE AGGREGATE mixed_2(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
CREATE AGGREGATE mixed_3(bloomfilter) (SFUNC = bloom_intersect_trans, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
CREATE AGGREGATE mixed_4(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, MSFUNC = bloom_agg_key_combine, MINVFUNC = bloom_union_trans, MSTYPE = bloomfilter);
SELECT mixed_1(bloom_key(x)) FROM generate_series(1, 3) x;
SELECT mixed_2(bloom_agg) FROM (SELECT bloom_agg(x) FROM generate_series(1, 3) x) y;
SELECT mixed_3(bloom_agg) FROM (SELECT bloom_agg(x) FROM generate_series(1, 3) x) y;
SELECT mixed_4(s::bloomfilter) OVER (ORDER BY g ROWS 1 PRECEDING) FROM state WHERE g < 4;
-- so with states that have travelled
SELECT union_of(s::bloomfilter) FROM state WHERE g = 1;
SELECT filter_of(u) FROM (SELECT union_state(NULL)::text::bloomfilter AS u) x;
-- a state without keys asks for nothing, so that keys may follow
SELECT bloom_agg(x)::text AS empty FROM generate_series(1, 0) x \gset
CREATE AGGREGATE from_nothing(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final, INITCOND = :'empty');
SELECT from_nothing(bloom_key(x), 0.01, 'standard', 100) = bloom_agg(x, 0.01, 'standard', 100) AS same FROM generate_series(1, 50) x;
-- an empty filter is one of a known size, which what follows has to ask for
SELECT bloom_create(100, 0.01, 'standard')::text AS sized, bloom_create(100, 0.01, 'parquet')::text AS parquet \gset
CREATE AGGREGATE from_sized(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final, INITCOND = :'sized');
SELECT from_sized(bloom_key(x), 0.01, 'standard', 100) = bloom_agg(x, 0.01, 'standard', 100) AS same FROM generate_series(1, 50) x;
SELECT from_sized(bloom_key(x), 0.01, 'standard', 99) FROM generate_series(1, 50) x;
-- hashed keys do not go into a filter of another hash
CREATE AGGREGATE from_parquet(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final, INITCOND = :'parquet');
SELECT from_parquet(bloom_key(x), 0.01, 'parquet', 100) FROM generate_series(1, 50) x;

-- functions of a key in aggregates of one's own: the key may be the state, an argument, or both
CREATE AGGREGATE state_is_key(bloomfilter) (SFUNC = bloom_may_be_in, STYPE = boolean, INITCOND = 't');
SELECT state_is_key(bloom_agg) FROM (SELECT bloom_agg(true)) s;
CREATE AGGREGATE state_is_sharded(int) (SFUNC = bloom_shard, STYPE = int, INITCOND = '5');
SELECT state_is_sharded(16) = bloom_shard(5, 16) AS same;
CREATE AGGREGATE sum_key(int) (SFUNC = int4pl, STYPE = int, FINALFUNC = bloom_key, INITCOND = '5');
SELECT sum_key(7) = bloom_key(12) AS same;
SELECT bloom_create(10, 0.01, 'parquet')::text AS parquet \gset
CREATE AGGREGATE add_each(numeric) (SFUNC = bloom_add, STYPE = bloomfilter, INITCOND = :'parquet');
SELECT (bloom_info(add_each(x::numeric(9,2)))).key_type FROM generate_series(1, 3) x;
CREATE AGGREGATE add_last(numeric ORDER BY numeric) (SFUNC = bloom_add, STYPE = bloomfilter, FINALFUNC = bloom_add, INITCOND = :'parquet');
SELECT (bloom_info(f)).key_type, f @~ 1.00 AS one, f @~ 1.50 AS last
FROM (SELECT add_last(1.5) WITHIN GROUP (ORDER BY x::numeric(9,2)) AS f FROM generate_series(1, 3) x) s;

--
-- Not to be called like that
--
SELECT bloom_agg_key_trans(NULL, bloom_key(1));
SELECT bloom_agg_key_trans(bloom_create(10), bloom_key(1));
SELECT bloom_agg_key_combine(bloom_create(10), bloom_create(10));
SELECT bloom_agg_key_final(bloom_create(10));
SELECT bloom_union_trans(bloom_create(10), bloom_create(10));
SELECT bloom_union_combine(bloom_create(10), bloom_create(10));
SELECT bloom_union_final(bloom_create(10));
SELECT bloom_intersect_trans(bloom_create(10), bloom_create(10));
SELECT bloom_intersect_final(bloom_create(10));
