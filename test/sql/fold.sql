-- Folding: the smallest filter that still meets a false positive rate.
CREATE SCHEMA fold;
SET search_path = fold, public;

CREATE TABLE sample AS
SELECT kind, expected, n, (SELECT bloom_agg(x, 0.01, kind, expected) FROM generate_series(1, n) x) AS f
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{1000,100000,123457}'::int[]) expected, unnest('{1,100,1000,10000}'::int[]) n;

-- no key is lost, no filter grows, and what was asked for is met wherever the filter itself met it
SELECT fpr, count(*), sum((SELECT count(*) FROM generate_series(1, n) x WHERE NOT g @~ x)) AS lost,
	bool_and((bloom_info(g)).bytes <= (bloom_info(f)).bytes) AS no_larger, bool_and(bloom_fpr(g) <= fpr OR (bloom_fpr(f) > fpr AND (bloom_info(f)).bytes = (bloom_info(g)).bytes)) AS met
FROM sample, unnest('{0.5,0.1,0.01,0.0001}'::float8[]) fpr, bloom_fold(f, fpr) g GROUP BY 1 ORDER BY 1;
-- far too large filters become about as small as those of the right size
SELECT kind, expected, n, (bloom_info(f)).bytes > 5 * (bloom_info(g)).bytes AS smaller, (bloom_info(g)).bits < 3 * (bloom_info(fit)).bits AS fits
FROM sample, bloom_fold(f, 0.01) g, LATERAL (SELECT bloom_agg(x, 0.01, kind) FROM generate_series(1, n) x) s(fit) WHERE expected >= 100000 AND n BETWEEN 100 AND 1000 ORDER BY 1, 2, 3;
-- what may not be folded stays as it is: what was folded already, and what is full
SELECT count(*), count(*) FILTER (WHERE substr(bloom_fold(g, 0.01)::bytea, 85) = substr(g::bytea, 85)) AS idempotent FROM sample, bloom_fold(f, 0.01) g;
SELECT count(*), count(*) FILTER (WHERE bloom_fold(f, 0.001) = f) AS as_it_was FROM sample WHERE n >= expected;
-- header: the rate that was asked for is the target, and the capacity what is in it
SELECT (bloom_info(g)).target_fpr, (bloom_info(g)).keys_added, abs((bloom_info(g)).capacity - 10000) < 300 AS capacity, (bloom_info(g)).key_type
FROM sample, bloom_fold(f, 0.05) g WHERE expected = 100000 AND n = 10000;
-- false positives are as predicted
SELECT kind, count(*) FILTER (WHERE g @~ x) BETWEEN 1 AND 1000 + 5 * 32 AS measured
FROM sample, bloom_fold(f, 0.01) g, generate_series(1000001, 1100000) x WHERE expected = 100000 AND n = 1000 GROUP BY kind ORDER BY kind;
-- a folded filter is one like any other: keys can be added, and it unites with its origin
SELECT count(*) FILTER (WHERE NOT h @~ x OR NOT (g | f) @~ x OR NOT (f & h) @~ x AND x <= 100) AS lost
FROM sample, bloom_fold(f, 0.01) g, bloom_add_all(g, array(SELECT generate_series(1, 100))) h, generate_series(1, 100) x WHERE n = 100;
-- empty filters: the smallest there is, and the filter of no rows
SELECT (bloom_info(bloom_fold(f, 0.01))).bits, bloom_fold(f, 0.01) @~ 1 AS contains FROM unnest(ARRAY[bloom_create(100000), bloom_create(100000, 0.01, 'standard')]) f;
SELECT bloom_fold(bloom_agg(x), 0.01) = bloom_agg(x) AS identity FROM generate_series(1, 0) x;
SELECT bloom_fold(NULL, 0.01) IS NULL AS no_filter, bloom_fold(f, NULL) IS NULL AS no_fpr FROM sample LIMIT 1;
-- the argument is not changed
CREATE TABLE before AS SELECT *, f::text AS was FROM sample;
SELECT count(bloom_fold(f, 0.1)) FROM before;
SELECT count(*) FROM before WHERE f::text <> was;
