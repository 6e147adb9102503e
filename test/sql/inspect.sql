-- What can be known of a filter.
CREATE SCHEMA inspect;
SET search_path = inspect, public;

CREATE TABLE sample AS
SELECT kind, n, bloom_agg(x, 0.01, kind) AS f
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{1,10,1000,100000}'::int[]) n, generate_series(1, n) x GROUP BY kind, n;

\x
SELECT kind, key_type, keys_added, abs(keys_estimated::float8 / n - 1) < 0.02 AS keys_estimated, capacity, target_fpr, round(estimated_fpr::numeric, 3) AS estimated_fpr,
	fill_ratio BETWEEN 0.3 AND 0.55 AS fill_ratio, bytes - 4 = octet_length(f::bytea) AS bytes, bits = 8 * (bytes - 88) AS bits,
	abs(bits_per_key / (bits / keys_estimated::float8) - 1) < 0.001 AS bits_per_key, hashes BETWEEN 5 AND 8 AS hashes, stages, format_version
FROM (SELECT kind AS k, n, f FROM sample WHERE n = 100000) s, bloom_info(f) ORDER BY kind;
\x
-- the columns, in their order
SELECT pg_get_function_result('bloom_info(bloomfilter)'::regprocedure), pg_get_function_arguments('bloom_info(bloomfilter)'::regprocedure);
-- what a filter does not have is NULL
SELECT i.* FROM (SELECT bloom_agg(x) FROM generate_series(1, 0) x) s(f), bloom_info(f) i;
SELECT kind, key_type, keys_added, keys_estimated, capacity, target_fpr, estimated_fpr, fill_ratio, bits_per_key FROM bloom_info(bloom_create(1000)) i;
SELECT bloom_info(NULL) IS NULL AS info, bloom_cardinality(NULL) IS NULL AS cardinality, bloom_fpr(NULL) IS NULL AS fpr;
SELECT bloom_cardinality(bloom_agg(x)), bloom_fpr(bloom_agg(x)) FROM generate_series(1, 0) x;
-- bits per key, as the design promises from 100,000 keys on: standard 2 % over the formula's, blocked at most 10.2 at 1 %, and 15.8 at 0.1 %
SELECT kind, fpr, (bloom_info(f)).bits / 100000.0 <= CASE kind WHEN 'standard' THEN 1.02 * -ln(fpr) / ln(2) ^ 2 ELSE CASE fpr WHEN 0.01 THEN 10.2 ELSE 15.8 END END AS small
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.01,0.001}'::float8[]) fpr, bloom_create(100000, fpr, kind) f ORDER BY 1, 2;

--
-- Estimates
--
-- cardinality within 2 %, at every fill that the capacity allows, and beyond it
SELECT kind, load, abs(bloom_cardinality(f) / (load * 20000) - 1) < 0.02 AS cardinality, (bloom_info(f)).keys_estimated = round(bloom_cardinality(f)) AS rounded
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.1,0.5,1,2}'::numeric[]) load,
	LATERAL (SELECT bloom_agg(x, 0.01, kind, 20000) FROM generate_series(1, (load * 20000)::int) x) s(f) ORDER BY 1, 2;
-- small numbers are exact once rounded
SELECT count(*), count(*) FILTER (WHERE round(bloom_cardinality(f)) = n) AS exact
FROM unnest('{standard,blocked}'::text[]) kind, generate_series(1, 10) n, bloom_add_all(bloom_create(1000, 0.01, kind), array(SELECT generate_series(1, n))) f;
-- repeated keys count once, added ones each time
SELECT kind, bloom_cardinality(f) = bloom_cardinality(g) AS once, (bloom_info(f)).keys_added AS added, (bloom_info(f)).capacity
FROM unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg(x % 1000, 0.01, kind), bloom_agg(x, 0.01, kind) FILTER (WHERE x < 1000) FROM generate_series(0, 4999) x) s(f, g) ORDER BY 1;
-- the false positive rate within 5 % of what is measured on keys that were never added
SELECT kind, load, abs((SELECT count(*) FILTER (WHERE f @~ x) FROM generate_series(1000001, 1300000) x) / (300000 * bloom_fpr(f)) - 1) < 0.05 AS predicted
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.7,1,2}'::float8[]) load,
	LATERAL (SELECT bloom_agg(x, 0.02, kind, 10000) FROM generate_series(1, (load * 10000)::int) x) s(f)
ORDER BY 1, 2;
-- unions, too
SELECT kind, abs(bloom_cardinality(f | g) / 15000 - 1) < 0.02 AS cardinality
FROM unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg(x, 0.01, kind, 20000) FILTER (WHERE x <= 10000), bloom_agg(x, 0.01, kind, 20000) FILTER (WHERE x > 5000) FROM generate_series(1, 15000) x) s(f, g) ORDER BY 1;
-- families, by their names
SELECT (bloom_info(bloom_agg(x::numeric))).key_type, (bloom_info(bloom_agg(x::text))).key_type, (bloom_info(bloom_agg(ARRAY[x]))).key_type, (bloom_info(bloom_agg(bloom_key(x)))).key_type
FROM generate_series(1, 3) x;
-- a number stands for a family that has no well-known name
SELECT key_type FROM bloom_info(bloom_add(bloom_create(10), '0000000000000001:0000000000000007'::bloomkey));
SELECT bloom_add(bloom_create(10), '0000000000000001:0000000000000007'::bloomkey) @~ 7;
