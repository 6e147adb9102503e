-- Keys divided among several filters: bloom_which, bloom_shard, bloom_add_new.
CREATE SCHEMA stored;
SET search_path = stored, public;

--
-- bloom_which: the positions of the filters that may contain the key
--
SELECT bloom_which(ARRAY[bloom_agg(x), NULL, bloom_agg(x + 100), bloom_create(10)], 7) FROM generate_series(1, 10) x;
SELECT bloom_which(array_agg(f ORDER BY s), 3005), bloom_which(array_agg(f ORDER BY s), 3005::smallint) FROM
	(SELECT s, bloom_agg(s * 1000 + x, 1e-9, 'standard') FROM generate_series(1, 5) s, generate_series(1, 10) x GROUP BY s) f(s, f);
SELECT bloom_which(ARRAY[bloom_agg(x), bloom_agg(x || 'y')], 'a') FROM unnest('{a,b}'::text[]) x;
SELECT bloom_which(ARRAY[bloom_agg(x), bloom_agg(x)], bloom_key('b'::text)) FROM unnest('{a,b}'::text[]) x;
SELECT bloom_which('{}', 1), bloom_which(NULL, 1), bloom_which(ARRAY[NULL::bloomfilter], 1), bloom_which(ARRAY[bloom_create(10)], NULL::int);
SELECT bloom_which(ARRAY[[bloom_agg(x), bloom_agg(x + 3)], [bloom_agg(x + 6), bloom_agg(x + 9)]], 8) FROM generate_series(1, 3) x;
SELECT bloom_which(ARRAY[bloom_agg(x), bloom_agg(x::text)], 1) FROM generate_series(1, 3) x;
-- with other keys for each row
SELECT k, bloom_which(fs, k) FROM (SELECT array_agg(f ORDER BY s) FROM
	(SELECT s, bloom_agg(s * 10 + x, 1e-9, 'standard') FROM generate_series(0, 4) s, generate_series(0, 10) x GROUP BY s) f(s, f)) a(fs),
	generate_series(0, 50, 5) k;

--
-- bloom_shard: evenly, and by bits that filters do not use
--
SELECT shard, count(*) BETWEEN 9500 AND 10500 AS about_10000 FROM (SELECT bloom_shard(x, 5) AS shard FROM generate_series(1, 50000) x) s
GROUP BY 1 ORDER BY 1;
SELECT bloom_shard(1, 1), bloom_shard(7::int2, 99) = bloom_shard(7::int8, 99) AS family,
	bloom_shard(bloom_key(7), 99) = bloom_shard(7, 99) AS hashed, bloom_shard(NULL::int, 5), bloom_shard(1, NULL);
-- frozen: stored filters hang on it
SELECT array_agg(bloom_shard(x, 1000)) FROM generate_series(1, 10) x;
SELECT array_agg(bloom_shard(x, 2147483647)) FROM unnest('{a,b,c}'::text[]) x;
SELECT bloom_shard(1, 0);
SELECT bloom_shard(1, -5);
SELECT bloom_shard('(1,2)'::point, 5);
-- a set in shards errs as one filter does: were the bits shared, a shard's keys would crowd in a part of its filter
CREATE TABLE sharded AS
SELECT kind, bloom_shard(x, 8) AS shard, bloom_agg(x, 0.02, kind) AS f FROM generate_series(1, 40000) x, unnest('{standard,blocked}'::text[]) kind GROUP BY 1, 2;
SELECT kind, count(*) AS shards, sum((bloom_info(f)).keys_added) AS keys FROM sharded GROUP BY kind ORDER BY kind;
SELECT kind, count(*) FILTER (WHERE x > 0 AND NOT f @~ x) AS lost,
	count(*) FILTER (WHERE x <= 0 AND f @~ x) / 100000.0 < 0.02 + 5 * sqrt(0.02 * 0.98 / 100000) AS rate_kept
FROM (SELECT x, bloom_shard(x, 8) AS shard FROM generate_series(-99999, 40000) x) k JOIN sharded USING (shard) GROUP BY kind ORDER BY kind;

--
-- bloom_add_new: each key is new once
--
SELECT (n).added, (bloom_info((n).filter)).keys_added FROM (SELECT bloom_add_new(bloom_create(100), '{1,2,2,3,1,NULL,4}'::int[])) s(n);
SELECT added, filter @~ 'x' AS x, filter @~ 'y' AS y, filter @~ 'z' AS z FROM bloom_add_new(bloom_add(bloom_create(100), 'x'::text), '{x,y,y}'::text[]);
SELECT added FROM bloom_add_new(bloom_create(100), '{}'::int[]);
SELECT added, filter = bloom_create(100) AS unchanged FROM bloom_add_new(bloom_create(100), NULL::int[]);
SELECT added FROM bloom_add_new(bloom_create(100), '{NULL,NULL}'::int[]);
SELECT added FROM bloom_add_new(bloom_create(100), '{{1,2},{2,3}}'::int[]);
SELECT added FROM bloom_add_new(NULL, '{1}'::int[]);
SELECT added FROM bloom_add_new(bloom_add(bloom_create(10), 'a'::text), '{1}'::int[]);
-- what is returned is what was added, and the filter is that of all
SELECT kind, array_length(added, 1) BETWEEN 9900 AND 10000 AS nearly_all, (bloom_info(filter)).keys_added = array_length(added, 1) AS counted,
	(SELECT count(*) = count(DISTINCT a) FROM unnest(added) a) AS once, bloom_may_contain_all(filter, keys) AS all_there,
	bloom_add_all(bloom_create(10000, 0.001, kind), added) = filter AS same
FROM unnest('{standard,blocked}'::text[]) kind, (SELECT array_agg(x % 10000) AS keys FROM generate_series(1, 30000) x) k,
	bloom_add_new(bloom_create(10000, 0.001, kind), keys);
-- and none of it again
SELECT cardinality(added) FROM bloom_add_new((SELECT bloom_agg(x) FROM generate_series(1, 1000) x), (SELECT array_agg(x) FROM generate_series(1, 1000) x));

SET client_min_messages = warning;
DROP SCHEMA stored CASCADE;
