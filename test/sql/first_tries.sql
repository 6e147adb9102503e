-- What people try first who know pgvector, hll or roaringbitmap: it works, or our hint has the line to type, or the server's parser knows no
-- such function, operator or cast.  After a try that fails comes what was meant.
CREATE SCHEMA first_tries;
SET search_path = first_tries, public;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
CREATE TABLE visit AS SELECT g AS id, 'user ' || g AS name, g % 7 AS day, timestamptz '2024-01-01' + g * interval '1 hour' AS at FROM generate_series(1, 1000) g;

-- errors of the server's own are shown without its hints, which differ between versions
\set parser '\\set VERBOSITY terse'
\set ours '\\set VERBOSITY default'

-- 1: a column with a size, as vector(3)
:parser
CREATE TABLE item (id bigint, tags int[], f bloomfilter(1000));
:ours
CREATE TABLE item (id bigint PRIMARY KEY, tags int[], f bloomfilter);
\d item

-- 2: a value as text
INSERT INTO item VALUES (1, '{1,2,3}', '[1,2,3]');
INSERT INTO item VALUES (1, '{1,2,3}', '{1,2,3}');

-- 3: a cast of an array
:parser
INSERT INTO item VALUES (1, '{1,2,3}', ARRAY[1,2,3]::bloomfilter);
-- 4: no cast
INSERT INTO item VALUES (1, '{1,2,3}', ARRAY[1,2,3]);
:ours
INSERT INTO item VALUES (1, '{1,2,3}', bloom_add_all(bloom_create(100), ARRAY[1,2,3])), (2, '{3,4}', (SELECT bloom_agg(x) FROM unnest(ARRAY[3,4]) x));

-- 5: an array as the key: the filter is one of arrays
SELECT bloom_agg(ARRAY[1,2,3]) @~ 1;
SELECT f @~ ARRAY[1,2] FROM item WHERE id = 1;
SELECT f @~ ANY (ARRAY[1,7]) AS any, f @~ ALL (ARRAY[1,7]) AS all FROM item WHERE id = 1;

-- 6: update of a column, from rows and from the column itself
UPDATE item SET f = (SELECT bloom_agg(x) FROM unnest(tags) x);
UPDATE item SET f = bloom_add(bloom_create(100) | f, 5) WHERE id = 2;
-- 7: upsert
INSERT INTO item VALUES (2, '{9}', bloom_add(bloom_create(100), 9)) ON CONFLICT (id) DO UPDATE SET f = item.f | EXCLUDED.f;
SELECT id, bloom_filter_keys(f, ARRAY[1,2,3,4,5,9]) FROM item ORDER BY id;

-- 8: nearest, contains, size and other operators
:parser
SELECT id FROM item ORDER BY f <-> (SELECT f FROM item WHERE id = 1);
SELECT id FROM item WHERE f @> 3;
SELECT id FROM item WHERE 3 <@ f;
SELECT id FROM item WHERE 3 @~ f;
SELECT # f FROM item;
SELECT f || f FROM item;
SELECT f || 7 FROM item;
SELECT f - 3 FROM item;
SELECT id FROM item WHERE 3 = ANY (f);
SELECT id FROM item WHERE 3 IN (f);
:ours
SELECT id, 3 ~@ f AS three, bloom_cardinality(f)::int AS keys, (bloom_info(f)).bytes < 500 AS small FROM item WHERE f @~ 3 ORDER BY id;
SELECT bloom_filter_keys(a.f | b.f, ARRAY[1,2,3,4,5]) AS "union", bloom_filter_keys(a.f & b.f, ARRAY[1,2,3,4,5]) AS "intersection", a.f = b.f AS equal, a.f <> b.f AS different FROM item a, item b WHERE a.id = 1 AND b.id = 2;

-- 9: the keys of a filter
:parser
SELECT f::int[] FROM item;
SELECT f::json FROM item;
:ours
SELECT bloom_filter_keys(f, ARRAY(SELECT generate_series(1, 100))) FROM item WHERE id = 1;

-- 10: casts and their way back
SELECT f::text::bloomfilter = f AS text, f::bytea::bloomfilter = f AS bytea, f::text LIKE '\\x%' AS hex, octet_length(f::bytea) = (bloom_info(f)).bytes - 4 AS bytes, to_jsonb(f) ->> 0 = f::text AS json FROM item WHERE id = 1;
-- 11: functions that other types have
:parser
SELECT length(f) FROM item;
SELECT sum(f) FROM item;
SELECT max(f) FROM item;
:ours
SELECT pg_column_size(f) > 100 AS size, count(f) OVER () AS filters FROM item WHERE id = 1;

-- 12: indexes on filters
:parser
CREATE INDEX ON item USING hnsw (f);
CREATE INDEX ON item USING gin (f);
CREATE INDEX ON item USING maplet (f);
CREATE INDEX ON item USING bloom (f);
CREATE INDEX large_f ON item (f);
INSERT INTO item VALUES (3, NULL, (SELECT bloom_agg(md5(x::text)) FROM generate_series(1, 9000) x));
:ours
DROP INDEX large_f;
CREATE INDEX ON item USING hash (f);
CREATE INDEX ON item (id) WHERE f @~ 3;
-- 13: and on ids
CREATE INDEX ON visit USING maplet (name);

-- 14: generated columns, defaults, checks
:parser
CREATE TABLE post (tags text[], f bloomfilter GENERATED ALWAYS AS (bloom_agg(tags)) STORED);
:ours
CREATE TABLE post (tags text[], f bloomfilter GENERATED ALWAYS AS (bloom_add_all(bloom_create(100), tags)) STORED, seen bloomfilter DEFAULT bloom_create(100, 'counting'), CHECK (NOT f @~ 'forbidden'));
INSERT INTO post VALUES ('{a,b}'), ('{}'), (NULL);
SELECT tags, f @~ 'a' AS a, f @~ 'x' AS x, (bloom_info(seen)).kind FROM post;

-- 15: tables, views and copies made of filters
CREATE TABLE per_day AS SELECT day, bloom_agg(id, 0.001, 'blocked', 200) AS f FROM visit GROUP BY day;
CREATE MATERIALIZED VIEW kept AS SELECT bloom_agg(id) AS f FROM visit;
REFRESH MATERIALIZED VIEW kept;
CREATE TEMP TABLE copied (LIKE per_day INCLUDING ALL);
COPY (SELECT 1, bloom_create(1)) TO STDOUT;
COPY copied FROM STDIN;
1	\\x6266616d01030100a9bef63c0000000000000000000000000000000000000000010000000000000000000000000000007b14ae47e17a843f4000000000000000060000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.
INSERT INTO copied SELECT * FROM per_day;
SELECT count(DISTINCT f) AS filters, count(*) AS rows FROM copied;
-- 16: joins, windows, groups
SELECT count(*) AS rows, count(*) FILTER (WHERE p.day <> v.day) < 20 AS few FROM per_day p JOIN visit v ON p.f @~ v.id;
SELECT day, bloom_cardinality(bloom_union_agg(f) OVER (ORDER BY day ROWS 2 PRECEDING))::int / 100 AS hundreds FROM per_day ORDER BY day;
SELECT bloom_agg(DISTINCT id ORDER BY id) = bloom_agg(id) AS same FROM visit;
SELECT bloom_cardinality(bloom_union_agg(f))::int / 100 AS hundreds, bloom_cardinality(bloom_intersect_agg(f))::int < 10 AS few FROM per_day;

-- 17: hashes made first, as hll wants them
SELECT bloom_agg(bloom_hash(id)) FROM visit;
SELECT bloom_add(f, bloom_hash('user 1'::text)) FROM item;
SELECT bloom_hash('user 1');
SELECT bloom_agg(id) = bloom_agg(bloom_key(id)) AS hashed_inside, bloom_hash(bloom_key(1)) AS hash FROM visit;

-- 18: an empty filter
:parser
SELECT bloom_create();
SELECT bloom_create(1e6);
SELECT bloom_create(0.01, 1000);
SELECT bloom_create(1000, 'standard', 'int');
SELECT bloom_kinds(1e6);
:ours
SELECT bloom_create(1000, 1000);
SELECT bloom_create(1000, 'bigint');
SELECT bloom_create(1000, 'Ribbon');
SELECT kind, key_type, target_fpr FROM bloom_info(bloom_create(1000, 'Standard')) UNION ALL SELECT kind, key_type, target_fpr FROM bloom_info(bloom_create(1000000, kind => 'standard', key_type => 'int'));

-- 19: a filter of a table
:parser
SELECT bloom_agg(*) FROM visit;
SELECT bloom_agg(id, 0.01, 1000) FROM visit;
SELECT bloom_agg(id, kind => 'ribbon') FROM visit;
:ours
SELECT bloom_agg(id, 1000) FROM visit;
SELECT bloom_agg(id, 1) FROM visit;
SELECT bloom_agg(id, name) FROM visit;
SELECT bloom_agg((id, name)) @~ (7, 'user 7'::text) AS both, (bloom_info(bloom_agg(id, 'Ribbon'))).kind, (bloom_info(bloom_agg(id, 0.01, 'blocked', 5000))).capacity FROM visit;
-- 20: of keys without a type
SELECT bloom_agg('a');
SELECT bloom_agg(NULL);
SELECT bloom_agg('a'::text) @~ 'a' AS a, bloom_agg(x) @~ 'b' AS b FROM (VALUES ('a'), ('b')) v(x);

-- 21: asking, with arguments in the other order, of other types, and of a day
:parser
SELECT bloom_may_contain(7, f) FROM kept;
SELECT bloom_add(7, f) FROM kept;
:ours
SELECT f @~ 7.0 FROM kept;
SELECT f @~ 'seven' FROM kept;
SELECT bloom_agg(at) @~ '2024-01-02' FROM visit;
SELECT bloom_may_contain_any(bloom_agg(at), '{2024-01-02,2024-01-03}') FROM visit;
SELECT bloom_agg(at) @~ timestamptz '2024-01-02' AS day, bloom_may_contain_any(bloom_agg(at), '{2024-01-02,2024-01-03}'::timestamptz[]) AS days, f @~ 7 AS seven, f @~ '7' AS untyped, f @~ 7::bigint AS bigint FROM visit, kept GROUP BY f;

-- 22: unions of what cannot be united
SELECT bloom_agg(id, 'ribbon') | bloom_agg(id, 'ribbon') FROM visit;
SELECT bloom_union_agg(f) FROM (SELECT bloom_agg(id, 'xor') AS f FROM visit WHERE day > 0 GROUP BY day) s;
SELECT bloom_agg(id, 'cuckoo') | bloom_agg(id, 'cuckoo') FROM visit;
SELECT bloom_agg(id, 'ribbon') & bloom_agg(id, 'ribbon') FROM visit;
SELECT bloom_agg(id) | bloom_agg(name) FROM visit;
SELECT bloom_agg(id) | bloom_agg(id, 'standard') FROM visit;
SELECT count(*) FROM (SELECT array_agg(f) AS a FROM (SELECT bloom_agg(id, 'ribbon') AS f FROM visit GROUP BY day) s) t WHERE 7 ~@ ANY (a);

-- 23: removing and counting
SELECT bloom_remove(f, 7) FROM kept;
SELECT bloom_count(f, 7) FROM kept;
SELECT bloom_add(bloom_agg(id, 'ribbon'), 7) FROM visit;
SELECT bloom_remove(f, 7) @~ 7 AS removed, bloom_count(f, 7) AS times FROM (SELECT bloom_agg(id, 'counting') AS f FROM visit) s;

-- 24: a field of bloom_info
:parser
SELECT bloom_info(f).kind FROM kept;
:ours
SELECT (bloom_info(f)).kind FROM kept;
SELECT i.kind, i.keys_added FROM kept, bloom_info(f) i;

-- 25: a key of two columns
:parser
SELECT bloom_agg(day, at::date) FROM visit;
:ours
SELECT bloom_agg(id, day) FROM visit;
SELECT bloom_agg((day, at::date)) @~ (1, date '2024-01-01') AS one_of_them, bloom_agg((day, at::date)) @~ (9, date '2024-01-01') AS none FROM visit;

SET client_min_messages = warning;
DROP SCHEMA first_tries CASCADE;
