-- Every kind through SQL: what each can do, and what is said where it cannot.
CREATE SCHEMA kinds;
SET search_path = kinds, public;

--
-- bloom_kinds: what each takes and can do
--
SELECT kind, can_add, can_remove, can_count, can_union, can_intersect, can_fold, choose_when IS NOT NULL AS advised FROM bloom_kinds(1000);
SELECT kind, bytes > 0 AND abs(bytes * 8 / 1e6 / bits_per_key - 1) < 0.01 AS bytes, expected_fpr <= 0.001 AS met,
	round(bits_per_key::numeric, 1) AS bits_per_key, abs((1 + overhead) * -ln(expected_fpr) / ln(2) / bits_per_key - 1) < 1e-9 AS overhead
FROM bloom_kinds(1000000, 0.001);
-- what so many bits per key buy: never more bits than that, and hardly fewer
SELECT kind, max_bits, bits_per_key <= max_bits AS kept, bits_per_key > max_bits * CASE WHEN kind = 'parquet' THEN 0.45 ELSE 0.85 END AS used, expected_fpr < 1 AS bought
FROM unnest('{8,12.5}'::float8[]) max_bits, bloom_kinds(1000000, max_bits_per_key => max_bits);
-- what a kind cannot meet is NULL
SELECT kind, bytes IS NULL AS cannot FROM bloom_kinds(1000, 1e-14) ORDER BY kind;
SELECT count(*) FILTER (WHERE bytes IS NULL) AS too_large FROM bloom_kinds(9000000000);
SELECT * FROM bloom_kinds(0);
SELECT * FROM bloom_kinds(NULL);
SELECT * FROM bloom_kinds(10, NULL);
SELECT * FROM bloom_kinds(10, 1);
SELECT * FROM bloom_kinds(10, 0.01, 0);
SELECT * FROM bloom_kinds(10, 0.01, 'NaN');
-- and it is what bloom_create makes (counting packs what is not there yet)
SELECT kind, (bloom_info(bloom_create(5000, 0.002, kind))).bytes = bytes AS same FROM bloom_kinds(5000, 0.002) WHERE can_add AND kind <> 'counting' ORDER BY kind;

--
-- Built, stored, asked: no key is lost, and the rate is kept
--
CREATE TABLE filter AS SELECT kind, bloom_agg(x, 0.01, kind) AS f FROM bloom_kinds(1), generate_series(1, 5000) x GROUP BY kind;
ALTER TABLE filter ADD PRIMARY KEY (kind);
SELECT kind, (i).keys_added, abs((i).keys_estimated - 5000) < 150 AS keys_estimated, (i).capacity, (i).target_fpr, (i).estimated_fpr < 0.0112 AS fpr,
	(i).fill_ratio BETWEEN 0.2 AND 0.98 AS fill, (i).stages, (i).saturated
FROM (SELECT kind, bloom_info(f) AS i FROM filter) s ORDER BY kind;
SELECT kind, count(*) FILTER (WHERE x > 0 AND NOT f @~ x) AS lost, count(*) FILTER (WHERE x <= 0 AND f @~ x) <= 500 + 5 * sqrt(500) AS rate_kept
FROM filter, generate_series(-49999, 5000) x GROUP BY kind ORDER BY kind;
SELECT kind, f::text::bloomfilter = f AS text, f::bytea::bloomfilter = f AS bytea, bloom_may_contain_all(f, ARRAY(SELECT generate_series(1, 5000))) AS all,
	bloom_cardinality(f) BETWEEN 4850 AND 5150 AS cardinality, bloom_fpr(f) < 0.0112 AS fpr
FROM filter ORDER BY kind;
SELECT bloom_which(array_agg(f ORDER BY kind), 77) FROM filter;
-- each asked once, as stored
SELECT array_agg(kind ORDER BY kind) FROM filter WHERE f @~ 4999;

--
-- What a kind cannot do
--
CREATE FUNCTION attempt(statement text, f bloomfilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	detail text;
BEGIN
	EXECUTE statement USING f;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || CASE WHEN hint <> '' THEN E'\n' || hint ELSE '' END;
END $$;
SELECT kind, attempt(format('SELECT bloom_create(100, 0.01, %L)', kind), f) FROM filter WHERE kind IN (SELECT kind FROM bloom_kinds(1) WHERE NOT can_add) ORDER BY kind;
SELECT kind, attempt('SELECT bloom_add($1, 1)', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT bloom_remove($1, 1)', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT bloom_count($1, 1)', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT $1 | $1', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT $1 & $1', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT bloom_fold($1, 0.5)', f) FROM filter ORDER BY kind;
SELECT kind, attempt('SELECT bloom_union_agg(x) FROM unnest(ARRAY[$1, $1]) x', f) FROM filter WHERE kind IN ('xor', 'cuckoo', 'counting') ORDER BY kind;
-- (bloom_kinds says the same)
SELECT k.kind, k.can_add = (attempt('SELECT bloom_add($1, 1)', f) = 'done') AS can_add, k.can_remove = (attempt('SELECT bloom_remove($1, 1)', f) = 'done') AS can_remove,
	k.can_count = (attempt('SELECT bloom_count($1, 1)', f) = 'done') AS can_count, k.can_union = (attempt('SELECT $1 | $1', f) = 'done') AS can_union,
	k.can_intersect = (attempt('SELECT $1 & $1', f) = 'done') AS can_intersect, k.can_fold = (attempt('SELECT bloom_fold($1, 0.5)', f) = 'done') AS can_fold
FROM bloom_kinds(1) k JOIN filter USING (kind);
SELECT a.f | b.f FROM filter a, filter b WHERE a.kind = 'standard' AND b.kind = 'partitioned';
-- f | f is f, but for a kind that counts, whose counters add up
SELECT kind, f | f = f AS idempotent FROM filter WHERE kind IN (SELECT kind FROM bloom_kinds(1) WHERE can_union) ORDER BY kind;
SELECT kind, f & f = f AS idempotent FROM filter WHERE kind IN (SELECT kind FROM bloom_kinds(1) WHERE can_intersect) ORDER BY kind;

--
-- counting: how often, and back
--
CREATE TABLE multi AS SELECT bloom_agg(x % 10, 0.001, 'counting', 1000) AS f FROM generate_series(1, 25) x;
SELECT x, bloom_count(f, x) FROM multi, generate_series(-1, 10) x ORDER BY x;
SELECT bloom_count(bloom_remove(f, 3), 3) AS removed, bloom_count(bloom_remove_all(f, '{3,3,3}'::int[]), 3) AS all_removed, bloom_remove_all(f, '{3,3,3}'::int[]) @~ 3 AS no_more,
	bloom_count(bloom_add(f, 3), 3) AS added, bloom_remove(bloom_add(f, 77), 77) = bloom_remove(bloom_add(f, 78), 78) AS inverse FROM multi;
SELECT bloom_remove(f, 100) FROM multi;
SELECT bloom_remove_all(f, '{1,2,100}'::int[]) FROM multi;
SELECT bloom_remove_all(f, '{7,7,7}'::int[]) FROM multi;
SELECT bloom_remove(bloom_create(10, 0.01, 'counting'), 1);
SELECT bloom_remove(f, 'one'::text) FROM multi;
SELECT bloom_remove(f, NULL::int) = f AS unchanged, bloom_remove(NULL, 1) IS NULL AS null, bloom_count(f, NULL::int) IS NULL AS null_key, bloom_count(NULL, 1) IS NULL AS null_filter FROM multi;
SELECT bloom_count(f | f, 3) AS united, bloom_count(f & f, 3) AS intersected, (bloom_info(f | f)).keys_added FROM multi;
SELECT bloom_count(bloom_union_agg(f), 4) FROM multi, generate_series(1, 4);
-- without expected, in text and by hashed keys: multiplicity is kept
SELECT bloom_count(bloom_agg('k' || x % 3, 0.01, 'counting'), 'k1') AS text, bloom_count(bloom_agg(bloom_key(x % 3), 0.01, 'counting'), 1) AS hashed FROM generate_series(1, 20) x;
-- saturated counters stay: not known any more, never a false no
CREATE TABLE many AS SELECT bloom_agg(1, 0.01, 'counting', 10) AS f FROM generate_series(1, 40);
SELECT bloom_count(f, 1), (bloom_info(f)).saturated > 0 AS saturated FROM many;
SELECT bloom_remove_all(f, array_fill(1, ARRAY[40])) @~ 1 AS still FROM many;

--
-- cuckoo: eight of a key, then it is full, and stays as it was
--
SELECT bloom_add_all(bloom_create(100, 0.01, 'cuckoo'), array_fill(1, ARRAY[8])) @~ 1 AS eight;
DO $$
DECLARE
	f bloomfilter := bloom_create(10, 0.01, 'cuckoo');
	before bloomfilter;
	i int := 0;
BEGIN
	LOOP
		before := f;
		BEGIN
			f := bloom_add(f, 5);
		EXCEPTION WHEN program_limit_exceeded THEN
			RAISE NOTICE '%: % (unchanged: %)', i >= 8, SQLERRM, f = before;
			EXIT;
		END;
		i := i + 1;
	END LOOP;
	FOR j IN 1 .. i LOOP
		f := bloom_remove(f, 5);
	END LOOP;
	RAISE NOTICE 'there still: %', f @~ 5;
END $$;
SELECT bloom_add_all(bloom_create(10, 0.01, 'cuckoo'), ARRAY(SELECT generate_series(1, 1000)));
SELECT (bloom_info(f)).keys_estimated FROM bloom_remove_all((SELECT f FROM filter WHERE kind = 'cuckoo'), ARRAY(SELECT generate_series(1, 2500))) f;

--
-- scalable: it grows, and duplicates do not make it
--
SELECT n, (i).stages > 1 AS grown, (i).capacity >= n AS room, (i).estimated_fpr <= 0.01 AS rate, bloom_may_contain_all(f, keys) AS all
FROM unnest('{50,100,1000,20000}'::int[]) n, LATERAL (SELECT ARRAY(SELECT generate_series(1, n)) AS keys) k,
	LATERAL (SELECT bloom_add_all(bloom_create(100, 0.01, 'scalable'), keys) AS f) f, LATERAL (SELECT bloom_info(f) AS i) i ORDER BY n;
SELECT (bloom_info(bloom_add_all(bloom_create(100, 0.01, 'scalable'), ARRAY(SELECT x % 90 FROM generate_series(1, 20000) x)))).stages;
SELECT (bloom_info(bloom_fold(f, 0.01))).bytes < (bloom_info(f)).bytes AS smaller, bloom_may_contain_all(bloom_fold(f, 0.01), ARRAY(SELECT generate_series(1, 3000))) AS all
FROM bloom_add_all(bloom_create(100, 0.01, 'scalable'), ARRAY(SELECT generate_series(1, 3000))) f;

--
-- In PL/pgSQL loops, which change a variable in place on PostgreSQL 18
--
CREATE FUNCTION loop(kind text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter := bloom_create(200, 0.01, kind);
BEGIN
	FOR i IN 1 .. 180 LOOP
		f := bloom_add(f, i);
		IF kind IN ('counting', 'cuckoo') AND i % 3 = 0 THEN
			f := bloom_remove(f, i);
		END IF;
	END LOOP;
	RETURN f;
END $$;
SELECT kind, count(*) FILTER (WHERE (kind NOT IN ('counting', 'cuckoo') OR x % 3 > 0) AND NOT f @~ x) AS lost
FROM (SELECT kind, loop(kind) AS f FROM bloom_kinds(1) WHERE can_add) s, generate_series(1, 180) x GROUP BY kind ORDER BY kind;
-- the same bytes as one by one in SQL
SELECT kind, loop(kind) = bloom_add_all(bloom_create(200, 0.01, kind), ARRAY(SELECT generate_series(1, 180))) AS same
FROM bloom_kinds(1) WHERE can_add AND NOT can_remove ORDER BY kind;

SET client_min_messages = warning;
DROP SCHEMA kinds CASCADE;
