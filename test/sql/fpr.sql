-- False positives: at its capacity no filter has more than were asked for.
CREATE SCHEMA fpr;
SET search_path = fpr, public;

-- For each combination: so many filters of n keys each, and so many probes of each, with keys that were never added.
CREATE TABLE trial AS
SELECT kind, fpr, n, sized, filters, probes,
	(SELECT sum(hits) FROM generate_series(1, filters) i,
		LATERAL (SELECT CASE WHEN sized THEN bloom_agg(i::bigint * 1000000000 + x, fpr, kind, n) ELSE bloom_agg(i::bigint * 1000000000 + x, fpr, kind) END AS f FROM generate_series(1, n) x) s,
		LATERAL (SELECT count(*) FILTER (WHERE bloom_may_contain(f, i::bigint * 1000000000 + 500000000 + y)) AS hits FROM generate_series(1, probes) y) p) AS hits
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.1,0.01,0.001,0.0001}'::float8[]) fpr,
	(VALUES (1, 1000, 100), (10, 1000, 100), (1000, 20, 5000), (100000, 1, 100000)) v(n, filters, probes), unnest('{true,false}'::bool[]) sized;

SELECT count(*) AS combinations, sum(filters) AS filters, sum(filters * probes) AS probes, bool_and(hits IS NOT NULL) AS all_measured FROM trial;
-- Violations: more than the target and 5 sigma, of the probes and of the filters' own rates, which vary the more, the fewer keys they have.
SELECT kind, fpr, n, sized, hits, round(filters * probes * fpr) AS allowed FROM trial
WHERE hits > filters * probes * fpr + 5 * sqrt(filters * probes * fpr * (1 + probes * fpr * least(0.5, 2.0 / n))) ORDER BY 1, 2, 3, 4;
-- nor are there far fewer, which would be wasted space: of large filters
SELECT kind, fpr, n, sized, hits FROM trial
WHERE n >= 1000 AND hits < 0.5 * filters * probes * fpr - 5 * sqrt(filters * probes * fpr * (1 + probes * fpr * least(0.5, 2.0 / n))) ORDER BY 1, 2, 3, 4;
-- what sizes itself is what was told the right number
SELECT count(*) AS pairs, count(*) FILTER (WHERE a.hits = b.hits) AS equal FROM trial a JOIN trial b USING (kind, fpr, n) WHERE a.sized AND NOT b.sized;
-- very low rates: no hit is to be expected among so many
SELECT fpr, count(*) FILTER (WHERE f @~ -x) AS hits, count(*) FILTER (WHERE x <= 10000 AND NOT f @~ x) AS lost
FROM unnest('{1e-9,1e-12,1e-15}'::float8[]) fpr, LATERAL (SELECT bloom_agg(x, fpr, 'standard') FROM generate_series(1, 10000) x) s(f), generate_series(1, 200000) x GROUP BY 1 ORDER BY 1;
-- keys that are near each other, and keys of text, spread as well
SELECT what, hits < 100000 * 0.01 + 5 * sqrt(100000 * 0.01) AS met
FROM (VALUES ('even', 2, 0), ('powers', 65536, 0), ('high', 1, 2147000000)) v(what, step, base),
	LATERAL (SELECT bloom_agg(base + x::bigint * step, 0.01) FROM generate_series(1, 10000) x) s(f),
	LATERAL (SELECT count(*) FILTER (WHERE f @~ base + x::bigint * step) FROM generate_series(10001, 110000) x) h(hits);
SELECT kind, hits < 100000 * 0.01 + 5 * sqrt(100000 * 0.01) AS met
FROM unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg('user-' || x, 0.01, kind) FROM generate_series(1, 10000) x) s(f),
	LATERAL (SELECT count(*) FILTER (WHERE f @~ ('user-' || x)) FROM generate_series(10001, 110000) x) h(hits);
