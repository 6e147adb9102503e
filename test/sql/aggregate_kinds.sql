-- bloom_agg: what holds for every kind; kinds that are built from a set; kinds that count.
CREATE SCHEMA aggregate_kinds;
SET search_path = aggregate_kinds, public;
SET max_parallel_workers_per_gather = 0;

-- Queries below list what is wrong.  Which kinds there are, and what each can do, is for others to test (inspect.sql).
CREATE TABLE kinds AS SELECT kind, can_add, can_count, can_union, kind IN ('cuckoo', 'scalable') AS adds_set, kind <> 'parquet' AS hashed FROM bloom_kinds(1000);
-- 20011 different keys, half of them twice
CREATE TABLE t WITH (parallel_workers = 3) AS SELECT x AS id, (x::bigint * 7919) % 20011 AS k FROM generate_series(1, 30000) x;
CREATE TABLE large WITH (parallel_workers = 3) AS SELECT (x::bigint * 7919) % 150001 AS k FROM generate_series(1, 200000) x;
ANALYZE t, large;

--
-- Sized by the distinct keys, whatever their order and however often each comes
--
CREATE TABLE sized AS SELECT kind, n, hashed, bloom_agg(x % n, 0.01, kind) AS f, bloom_agg(x % n, 0.01, kind ORDER BY x DESC) AS back, bloom_agg(CASE WHEN hashed THEN bloom_key(x % n) END, 0.01, kind) AS fk
FROM kinds, unnest('{1,2,64,19999}'::int[]) n, generate_series(0, 19999) x GROUP BY 1, 2, 3;
SELECT count(*) > 7 AS some, count(*) = 4 * (SELECT count(*) FROM kinds) AS all FROM sized;
SELECT kind, n, (bloom_info(f)).capacity, (bloom_info(f)).keys_added, f = back AS same, fk = f AS same_hashed FROM sized
WHERE (bloom_info(f)).kind <> kind OR (bloom_info(f)).capacity <> n OR (bloom_info(f)).keys_added <> 20000 OR f <> back OR (hashed AND fk <> f) ORDER BY 1, 2;
SELECT kind, n, lost, wrong FROM (SELECT kind, n, (SELECT count(*) FROM generate_series(0, n - 1) x WHERE NOT f @~ x) AS lost, (SELECT count(*) FROM generate_series(20000, 39999) x WHERE f @~ x) AS wrong FROM sized) y
WHERE lost > 0 OR wrong > 20000 * 0.015 ORDER BY 1, 2;
-- as values, they are what they seem
SELECT kind, n FROM sized WHERE f::text::bloomfilter <> f OR f::bytea::bloomfilter <> f;
-- a key more or less often is another multiset, but no other set; of the header, but for keys_added and the checksum, nothing differs
SELECT kind FROM kinds, LATERAL (SELECT bloom_agg(x % 100, 0.01, kind)::bytea AS twice, bloom_agg(x % 100, 0.01, kind) FILTER (WHERE x < 100)::bytea AS once FROM generate_series(0, 199) x) y
WHERE (overlay(overlay(once placing '\x0000000000000000' from 41) placing '\x00000000' from 9) = overlay(overlay(twice placing '\x0000000000000000' from 41) placing '\x00000000' from 9)) = can_count;

--
-- expected: for kinds that are built at once, nothing; the least number for those that want the set; for others, the number
--
CREATE FUNCTION made(kind text, expected bigint) RETURNS bloomfilter LANGUAGE sql AS $$ SELECT bloom_agg(k, 0.01, kind, expected) FROM aggregate_kinds.t $$;
SELECT kind, expected, (bloom_info(made(kind, expected))).capacity FROM kinds, unnest('{10,20011,50000}'::int[]) expected
WHERE (bloom_info(made(kind, expected))).capacity <> CASE WHEN NOT can_add THEN 20011 WHEN adds_set THEN greatest(20011, expected) ELSE expected END;
SELECT kind FROM kinds WHERE made(kind, 20011) <> made(kind, NULL) OR NOT can_add AND made(kind, 5) <> made(kind, NULL);
SELECT kind, expected FROM kinds, unnest('{10,20011,50000}'::int[]) expected, made(kind, expected) f WHERE EXISTS (SELECT FROM t WHERE NOT f @~ k);
-- few keys do not make a small filter of one that was asked to be large
SELECT kind FROM kinds, LATERAL (SELECT bloom_agg(x, 0.01, kind, 100000) AS f FROM generate_series(1, 10) x) y WHERE can_add <> ((bloom_info(f)).bytes > 60000);
SELECT kind FROM kinds, LATERAL (SELECT bloom_agg(x, 0.01, kind, 1000000000000) AS f FROM generate_series(1, 1) x WHERE NOT can_add) y WHERE NOT can_add AND NOT f @~ 1;

--
-- Nothing to aggregate; groups; windows
--
SELECT kind FROM kinds, LATERAL (SELECT bloom_agg(k, 0.01, kind) FILTER (WHERE k < 0) AS none, bloom_agg(CASE WHEN k < 0 THEN k END, 0.01, kind, 10) AS nulls FROM t) x WHERE none <> (SELECT bloom_agg(k) FROM t WHERE k < 0) OR none <> nulls;
SELECT kind, g FROM (SELECT kind, k % 50 AS g, bloom_agg(k, 0.01, kind) AS f, bloom_agg(k, 0.01, kind, 1000) AS fe FROM kinds, t GROUP BY 1, 2) x,
	LATERAL (SELECT bloom_agg(k, 0.01, kind) AS f, bloom_agg(k, 0.01, kind, 1000) AS fe FROM t WHERE k % 50 = g AND g % 10 = 3) y WHERE g % 10 = 3 AND (x.f <> y.f OR x.fe <> y.fe);
SELECT kind, id FROM (SELECT kind, id, bloom_agg(k % 17, 0.01, kind) OVER w AS f, bloom_agg(k % 17, 0.01, kind, 8) OVER w AS fe FROM kinds, t WHERE id <= 30 WINDOW w AS (PARTITION BY kind ORDER BY id)) x,
	LATERAL (SELECT bloom_agg(k % 17, 0.01, kind) AS f, bloom_agg(k % 17, 0.01, kind, 8) AS fe FROM t WHERE t.id <= x.id) y WHERE x.f <> y.f OR x.fe <> y.fe;
-- the kind, and with it the hash of keys, may change from group to group, and groups may take turns
SELECT id, kind FROM (SELECT id % 100 AS id, kind, bloom_agg(k, 0.01, kind) AS f FROM t, kinds GROUP BY 1, 2) x WHERE id = 7 AND f <> (SELECT bloom_agg(k, 0.01, x.kind) FROM t WHERE t.id % 100 = 7);

--
-- With the least memory there is, the same bytes; and in parallel, with much and with little
--
CREATE FUNCTION made_all(query text) RETURNS TABLE (kind text, form text, f bloomfilter) LANGUAGE plpgsql AS $$
DECLARE
	hashed boolean;
BEGIN
	FOR kind, hashed IN SELECT k.kind, k.hashed FROM aggregate_kinds.kinds k LOOP
		form := 'self-sized'; EXECUTE format(query, format('k, 0.01, %L', kind)) INTO f; RETURN NEXT;
		form := 'expected'; EXECUTE format(query, format('k, 0.01, %L, 100', kind)) INTO f; RETURN NEXT;
		form := 'expected more'; EXECUTE format(query, format('k, 0.01, %L, 1000000', kind)) INTO f; RETURN NEXT;
		CONTINUE WHEN NOT hashed;
		form := 'hashed'; EXECUTE format(query, format('bloom_key(k), 0.01, %L', kind)) INTO f; RETURN NEXT;
		form := 'hashed, expected'; EXECUTE format(query, format('bloom_key(k), 0.01, %L, 1000000', kind)) INTO f; RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE serial AS SELECT 't' AS what, * FROM made_all('SELECT bloom_agg(%s) FROM t') UNION ALL SELECT 'large', * FROM made_all('SELECT bloom_agg(%s) FROM large');
SELECT what, kind, form FROM serial WHERE (bloom_info(f)).keys_added <> CASE what WHEN 't' THEN 30000 ELSE 200000 END;
SELECT kind, form FROM serial WHERE what = 'large' AND form NOT LIKE 'expected%' AND EXISTS (SELECT FROM large WHERE NOT f @~ k);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT kind, form FROM serial s LEFT JOIN made_all('SELECT bloom_agg(%s) FROM large') x USING (kind, form) WHERE s.what = 'large' AND x.f IS DISTINCT FROM s.f;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers = 8;
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS OFF) SELECT bloom_agg(k, 0.01, 'counting') FROM large;
SELECT kind, form FROM serial s LEFT JOIN made_all('SELECT bloom_agg(%s) FROM large') x USING (kind, form) WHERE s.what = 'large' AND x.f IS DISTINCT FROM s.f;
RESET work_mem;
RESET hash_mem_multiplier;
SET parallel_leader_participation = off;
SET max_parallel_workers_per_gather = 1;
SELECT kind, form FROM serial s LEFT JOIN made_all('SELECT bloom_agg(%s) FROM t') x USING (kind, form) WHERE s.what = 't' AND x.f IS DISTINCT FROM s.f;
SET max_parallel_workers_per_gather = 2;
SELECT kind, form FROM serial s LEFT JOIN made_all('SELECT bloom_agg(%s) FROM t') x USING (kind, form) WHERE s.what = 't' AND x.f IS DISTINCT FROM s.f;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;

--
-- States that travel by their text
--
CREATE AGGREGATE state_of(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, COMBINEFUNC = bloom_agg_key_combine);
CREATE AGGREGATE filter_of(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
CREATE TABLE states AS SELECT kind, expected, id % 7 AS part, state_of(bloom_key(k), 0.01, kind, expected)::text AS state FROM kinds, t, unnest('{NULL,10,20000}'::int[]) expected WHERE hashed GROUP BY 1, 2, 3;
SELECT kind, expected FROM (SELECT kind, expected, filter_of(state::bloomfilter ORDER BY part) AS f, filter_of(state::bloomfilter ORDER BY part DESC) AS back FROM states GROUP BY 1, 2) x
WHERE f IS DISTINCT FROM made(kind, expected) OR back IS DISTINCT FROM f;
-- a filter is no such state, where the keys must be known
DO $$
DECLARE
	of_kind text;
BEGIN
	FOR of_kind IN SELECT kind FROM aggregate_kinds.kinds WHERE NOT can_add OR adds_set LOOP
		BEGIN
			PERFORM aggregate_kinds.filter_of(f) FROM (SELECT bloom_agg(x, 0.01, of_kind) AS f FROM generate_series(1, 10) x) y;
			RAISE NOTICE 'not refused: %', of_kind;
		EXCEPTION WHEN feature_not_supported THEN
		END;
	END LOOP;
END $$;
-- hashed keys are no use for another hash
SELECT bloom_agg(bloom_key(k), 0.01, 'parquet') FROM t;
SELECT bloom_agg(CASE WHEN k < 0 THEN bloom_key(k) END, 0.01, 'parquet') = bloom_agg(NULL::bloomkey) AS no_keys FROM t;
-- hashes that somebody made up, all of them for the same two buckets: an error, not a filter without them; others take what comes
CREATE FUNCTION made_up(hash bigint) RETURNS bloomkey IMMUTABLE LANGUAGE sql AS $$ SELECT (split_part(bloom_key(1)::text, ':', 1) || ':' || lpad(to_hex(hash), 16, '0'))::bloomkey $$;
SELECT bloom_agg(made_up(i), 0.01, 'cuckoo') FROM generate_series(1, 9) i;
SELECT kind FROM kinds, LATERAL (SELECT bloom_agg(made_up(i), 0.01, kind) AS f FROM generate_series(1, 20000) i WHERE hashed AND kind <> 'cuckoo') x WHERE EXISTS (SELECT FROM generate_series(1, 20000) i WHERE hashed AND kind <> 'cuckoo' AND NOT f @~ made_up(i));

--
-- Multisets: how often each key came
--
CREATE TABLE often AS SELECT x AS k, least(x, 40) AS times FROM generate_series(1, 60) x;
CREATE TABLE rows_of WITH (parallel_workers = 3) AS SELECT k FROM often, generate_series(1, times);
ANALYZE rows_of;
CREATE VIEW counted AS SELECT k, times, bloom_count(f, k) AS counted, bloom_count(fe, k) AS counted_sized, bloom_count(fk, k) AS counted_hashed
FROM often, (SELECT bloom_agg(k, 1e-6, 'counting') AS f, bloom_agg(k, 1e-6, 'counting', 60) AS fe, bloom_agg(bloom_key(k), 1e-6, 'counting') AS fk FROM rows_of) x;
SELECT count(*), count(*) FILTER (WHERE times < 15 AND (counted, counted_sized, counted_hashed) = (times, times, times)) AS right,
	count(*) FILTER (WHERE times >= 15 AND counted IS NULL AND counted_sized IS NULL AND counted_hashed IS NULL) AS saturated FROM counted;
SET max_parallel_workers_per_gather = 3;
SELECT count(*), count(*) FILTER (WHERE times < 15 AND (counted, counted_sized, counted_hashed) = (times, times, times)) AS right,
	count(*) FILTER (WHERE times >= 15 AND counted IS NULL AND counted_sized IS NULL AND counted_hashed IS NULL) AS saturated FROM counted;
SET max_parallel_workers_per_gather = 0;
-- also of the hash 0, whose place in a table is taken for a free one
CREATE FUNCTION zero() RETURNS bloomkey IMMUTABLE LANGUAGE sql AS $$ SELECT (split_part(bloom_key(1)::text, ':', 1) || ':0000000000000000')::bloomkey $$;
SELECT i, bloom_count(bloom_agg(zero(), 1e-6, 'counting'), zero()) AS self_sized, bloom_count(bloom_agg(zero(), 1e-6, 'counting', 1), zero()) AS sized
FROM unnest('{1,2,14,15,20}'::int[]) i, generate_series(1, i) GROUP BY i ORDER BY i;
-- also where a table does not hold them
CREATE TABLE thrice AS SELECT x, CASE WHEN x = 0 THEN zero() ELSE bloom_key(x) END AS h FROM generate_series(0, 199999) x, generate_series(1, 3);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT (bloom_info(f)).keys_added, (bloom_info(f)).capacity, bloom_count(f, zero()) AS zero, (SELECT count(*) FROM generate_series(1, 199999) x WHERE bloom_count(f, x) = 3) > 199990 AS right,
	(SELECT count(*) FROM generate_series(1, 199999) x WHERE bloom_count(f, x) < 3) AS too_few FROM (SELECT bloom_agg(h, 1e-6, 'counting') AS f FROM thrice) y;
RESET work_mem;
RESET hash_mem_multiplier;
-- unions add up, once each; a union of one is itself; the packed form does not matter
SELECT bloom_union_agg(f) = (SELECT bloom_agg(k, 0.01, 'counting', 20000) FROM t) AS sum, bloom_union_agg(f ORDER BY g) = bloom_union_agg(f ORDER BY g DESC) AS any_order FROM (SELECT id % 7 AS g, bloom_agg(k, 0.01, 'counting', 20000) AS f FROM t GROUP BY 1) x;
SELECT bloom_union_agg(f) = f AS one, bloom_intersect_agg(f) = f AS one_intersected, bloom_union_agg(f) FILTER (WHERE false) <> f AS none FROM made('counting', NULL) f GROUP BY f;
SELECT bloom_count(bloom_union_agg(f), 5) AS sum, bloom_count(bloom_intersect_agg(f), 5) AS least, (bloom_info(bloom_union_agg(f))).keys_added FROM
	(SELECT bloom_agg(5, 1e-6, 'counting', 10) FROM generate_series(1, 3) UNION ALL SELECT bloom_agg(5, 1e-6, 'counting', 10) FROM generate_series(1, 2)) x(f);
SELECT bloom_count(bloom_union_agg(f), 5) AS sum, (bloom_info(bloom_union_agg(f))).keys_added FROM
	(SELECT bloom_agg(5, 1e-6, 'counting', 10) FROM generate_series(1, 3) UNION ALL SELECT bloom_agg(5, 1e-6, 'counting') FROM generate_series(1, 2) UNION ALL SELECT bloom_agg(1) FROM t WHERE k < 0) x(f);
CREATE TABLE counting_filters WITH (parallel_workers = 3) AS SELECT i, (SELECT bloom_agg(x, 0.01, 'counting', 100) AS f FROM generate_series(i, i + 5) x) AS f FROM generate_series(1, 500) i;
ALTER TABLE counting_filters ALTER f SET STORAGE MAIN;
ANALYZE counting_filters;
CREATE TABLE union_serial AS SELECT bloom_union_agg(f) AS f, bloom_intersect_agg(f) FILTER (WHERE i < 4) AS i FROM counting_filters;
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS OFF) SELECT bloom_union_agg(f) FROM counting_filters;
SELECT bloom_union_agg(c.f) = (SELECT f FROM union_serial) AS united, bloom_intersect_agg(c.f) FILTER (WHERE i < 4) = (SELECT i FROM union_serial) AS intersected FROM counting_filters c;
SET max_parallel_workers_per_gather = 0;
SELECT bloom_count(i, 4) AS common, bloom_count(i, 2) AS not_common FROM union_serial;

--
-- Unions of what does not unite
--
DO $$
DECLARE
	of_kind text;
BEGIN
	FOR of_kind IN SELECT kind FROM aggregate_kinds.kinds WHERE NOT can_union LOOP
		BEGIN
			PERFORM bloom_union_agg(f) FROM (SELECT bloom_agg(x, 0.01, of_kind) AS f FROM generate_series(1, 10) x GROUP BY x % 2) y;
			RAISE NOTICE 'united: %', of_kind;
		EXCEPTION WHEN feature_not_supported THEN
		END;
	END LOOP;
END $$;
