-- Written by test/docs-examples --write from the examples of README.md and docs/*.md: change those.
\set original :DBNAME

-- ==================== README.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;

-- README.md, example 1
CREATE EXTENSION bloomfam;

CREATE TABLE customers AS
SELECT id, CASE WHEN id % 100 = 0 THEN 'IS' ELSE 'DE' END AS country
FROM generate_series(1::bigint, 20000) id;

CREATE TABLE orders AS
SELECT id, 1 + id * 7919 % 20000 AS customer_id, id % 500 AS amount
FROM generate_series(1::bigint, 100000) id;

ANALYZE customers, orders;

-- README.md, example 2
CREATE TABLE filters (name text PRIMARY KEY, filter bloomfilter);

INSERT INTO filters
SELECT 'customers in Iceland', bloom_agg(id) FROM customers WHERE country = 'IS';

SELECT bloom_may_contain(filter, 100) AS customer_100,
       bloom_may_contain(filter, 101) AS customer_101
FROM filters;

-- README.md, example 3
SELECT count(*), sum(o.amount)
FROM orders o
JOIN customers c ON c.id = o.customer_id
WHERE c.country = 'IS'
  AND bloom_may_contain((SELECT bloom_agg(id) FROM customers WHERE country = 'IS'), o.customer_id);

-- README.md, example 4
CREATE TABLE visits AS
SELECT date '2024-01-01' + (i % 30)::int AS day, i * i % 20011 AS user_id
FROM generate_series(1::bigint, 60000) i;

CREATE TABLE segments AS
SELECT day, bloom_agg(user_id, 0.01, 'blocked', 2000) AS users FROM visits GROUP BY day;

SELECT day FROM segments WHERE users @~ 3702 ORDER BY day;

-- README.md, example 5
CREATE TABLE log (trace_id uuid, line text);
CREATE INDEX log_trace ON log USING maplet (trace_id);
INSERT INTO log SELECT md5(i::text)::uuid, 'line ' || i FROM generate_series(1, 20000) i;

SELECT line FROM log WHERE trace_id = md5('4711')::uuid;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/cookbook.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/cookbook.md, example 1
CREATE TABLE watched AS SELECT 'device-' || i * 199 AS device FROM generate_series(1, 500) i;
CREATE TABLE feed AS SELECT i AS id, 'device-' || i * 7919 % 100000 AS device, i % 97 AS value FROM generate_series(1, 100000) i;
CREATE TABLE kept (id int, device text, value int);

INSERT INTO kept
SELECT f.* FROM feed f JOIN watched USING (device)
WHERE bloom_may_contain((SELECT bloom_agg(device) FROM watched), f.device);

SELECT count(*) AS kept, (SELECT count(*) FROM feed WHERE device IN (SELECT device FROM watched)) AS wanted FROM kept;

-- docs/cookbook.md, example 2
CREATE TABLE log_file AS
SELECT 'app-' || n || '.log' AS file, bloom_agg('req-' || (n * 1000 + i), 0.001) AS requests
FROM generate_series(1, 200) n, generate_series(0, 999) i GROUP BY n;

SELECT file FROM log_file WHERE requests @~ 'req-77077' ORDER BY file;

-- docs/cookbook.md, example 3
SELECT file, bloom_filter_keys(requests, ARRAY['req-77077', 'req-150001', 'req-77999', 'req-9']) AS keys FROM log_file
WHERE bloom_may_contain_any(requests, ARRAY['req-77077', 'req-150001', 'req-77999', 'req-9']) ORDER BY file;

-- docs/cookbook.md, example 4
CREATE TABLE price AS SELECT i % 50 AS shop, i AS article FROM generate_series(1, 5000) i;

SELECT bloom_may_contain(f, (7, 57)) AS shop_7_has_57, bloom_may_contain(f, (8, 57)) AS shop_8_has_57
FROM (SELECT bloom_agg((shop, article), 0.001) FROM price) s(f);

-- docs/cookbook.md, example 5
CREATE TABLE app_log (at timestamptz, line text);
CREATE INDEX app_log_line ON app_log USING signature (line);
CREATE INDEX app_log_at ON app_log USING brin (at);
INSERT INTO app_log SELECT '2026-01-01 UTC'::timestamptz + g * interval '1 second', format('request %s took %s ms', md5(g::text), g % 977)
FROM generate_series(1, 30000) g;

SELECT at FROM app_log WHERE line ILIKE '%C4CA4238A0%' AND at < '2026-01-02 UTC';

-- docs/cookbook.md, example 6
CREATE TABLE app_event (doc jsonb);
CREATE INDEX app_event_doc ON app_event USING signature (doc jsonb_path_ops);
INSERT INTO app_event SELECT jsonb_build_object('user', jsonb_build_object('id', g % 3000), 'action', 'a' || g % 7, 'n', g)
FROM generate_series(1, 30000) g;

SELECT doc -> 'n' AS n FROM app_event WHERE doc @> '{"user": {"id": 7}, "action": "a0"}' ORDER BY n;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/format.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/format.md, example 1
CREATE FUNCTION dump(filter bloomfilter) RETURNS TABLE (at int, bytes text) LANGUAGE sql AS
$$
SELECT i, regexp_replace(encode(substr(filter::bytea, i + 1, 16), 'hex'), '(..)(?!$)', '\1 ', 'g')
FROM generate_series(0, length(filter::bytea) - 1, 16) i
$$;

SELECT * FROM dump((SELECT bloom_agg(x, 0.01, 'standard') FROM generate_series(1, 3) x));
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/join_filter.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE regression_bloomfam_docs SET session_preload_libraries = 'bloomfam';
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/join_filter.md, example 1
CREATE TABLE sales AS SELECT g AS id, g % 5000 AS shop, g % 90 AS day, g * 7 % 1000 AS amount FROM generate_series(1, 200000) g;
CREATE TABLE shops AS SELECT g AS shop, 'town ' || g % 400 AS town FROM generate_series(1, 5000) g;
CREATE TABLE days AS SELECT g AS day, g % 7 = 0 AS sunday FROM generate_series(0, 89) g;
VACUUM ANALYZE sales, shops, days;

-- docs/join_filter.md, example 2
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF)
SELECT town, sum(amount) FROM sales s JOIN shops USING (shop) WHERE town IN ('town 7', 'town 8') GROUP BY town;

-- docs/join_filter.md, example 3
\o /dev/null
\set VERBOSITY terse
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)
SELECT town, sum(amount)
FROM sales s JOIN shops USING (shop) JOIN days d USING (day)
WHERE town IN ('town 7', 'town 8') AND sunday GROUP BY town;
\o
\set VERBOSITY default

-- docs/join_filter.md, example 4
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM shops JOIN days ON days.day = shops.shop WHERE sunday;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/join_filter_reference.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE regression_bloomfam_docs SET session_preload_libraries = 'bloomfam';
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/join_filter_reference.md, example 1
\o /dev/null
\set VERBOSITY terse
CREATE TABLE days AS SELECT g AS day, g % 7 = 0 AS sunday FROM generate_series(0, 89) g;
CREATE TABLE readings AS SELECT g AS id, g / 2000 AS day, g % 1000 AS value FROM generate_series(1, 179999) g;
CREATE INDEX ON readings USING brin (day) WITH (pages_per_range = 32);
VACUUM ANALYZE readings, days;

EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)
SELECT sum(value) FROM readings JOIN days USING (day) WHERE sunday AND days.day > 60;
\o
\set VERBOSITY default
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/join_sizes.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE regression_bloomfam_docs SET session_preload_libraries = 'bloomfam';
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/join_sizes.md, example 1
CREATE TABLE days AS SELECT g AS day, extract(year FROM date '1900-01-01' + g)::int AS year, repeat('.', 30) AS note FROM generate_series(0, 73048) g;
ALTER TABLE days ADD PRIMARY KEY (day);
CREATE TABLE shops AS SELECT g AS shop, (hashint4(g) & 1023) % 20 AS region FROM generate_series(1, 2000) g;
CREATE TABLE orders AS SELECT g AS id, 36159 + (hashint8(g) & 1073741823) % 1826 AS day, 1 + (hashint8(-g) & 1073741823) % 2000 AS shop, g % 100 AS amount
	FROM generate_series(1, 200000::bigint) g;
VACUUM ANALYZE days, shops, orders;
SET max_parallel_workers_per_gather = 0;

-- docs/join_sizes.md, example 2
\o /dev/null
\set VERBOSITY terse
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(amount) FROM orders o JOIN days d USING (day) JOIN shops s USING (shop) WHERE year = 2001 AND region = 7;
\o
\set VERBOSITY default
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/kinds.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/kinds.md, example 1
SELECT fpr, round(-log(2, fpr::numeric), 2) AS bound,
       max(bits) FILTER (WHERE kind = 'ribbon') AS ribbon, max(bits) FILTER (WHERE kind = 'binary_fuse') AS fuse,
       max(bits) FILTER (WHERE kind = 'standard') AS standard, max(bits) FILTER (WHERE kind = 'blocked') AS blocked,
       max(bits) FILTER (WHERE kind = 'cuckoo') AS cuckoo, max(bits) FILTER (WHERE kind = 'scalable') AS scalable,
       max(bits) FILTER (WHERE kind = 'counting') AS counting, max(bits) FILTER (WHERE kind = 'parquet') AS parquet
FROM unnest('{0.1,0.01,0.001,0.00001,1e-9}'::float8[]) fpr,
     LATERAL (SELECT kind, round(bits_per_key::numeric, 2) AS bits FROM bloom_kinds(10000000, fpr)) k
GROUP BY fpr ORDER BY fpr DESC;

-- docs/kinds.md, example 2
CREATE TABLE segments AS
SELECT g AS id, bloom_add_all(bloom_create(1000), array_agg(x)) AS keys
FROM generate_series(1, 3) g, generate_series(1, g * 900) x GROUP BY g;

SELECT id, i.keys_estimated, i.capacity, i.target_fpr, i.estimated_fpr
FROM segments, bloom_info(keys) i
WHERE i.estimated_fpr > 1.2 * i.target_fpr
ORDER BY id;

-- docs/kinds.md, example 3
CREATE TABLE sets AS
SELECT g, x FROM generate_series(1, 7) g, generate_series(g * 100, g * 100 + 2000 - g * 50) x;

WITH filters AS (
    SELECT bloom_agg(x, 0.01, 'blocked', 3000) AS one_size, bloom_agg(x) AS own_size FROM sets GROUP BY g)
SELECT 'the truth' AS union_of, count(DISTINCT x) AS keys, NULL AS fpr FROM sets
UNION ALL
SELECT 'filters of one size', i.keys_estimated, i.estimated_fpr
FROM (SELECT bloom_union_agg(one_size) AS f FROM filters) u, bloom_info(f) i
UNION ALL
SELECT 'filters of each its own size', i.keys_estimated, i.estimated_fpr
FROM (SELECT bloom_union_agg(own_size) AS f FROM filters) u, bloom_info(f) i;

-- docs/kinds.md, example 4
CREATE TABLE cart (filter bloomfilter);
INSERT INTO cart SELECT bloom_agg(item, 0.01, 'counting') FROM unnest('{pen,pen,pen,ink}'::text[]) item;

UPDATE cart SET filter = bloom_remove(bloom_remove(filter, 'pen'), 'ink');
SELECT bloom_count(filter, 'pen') AS pens, filter @~ 'ink' AS ink FROM cart;

SELECT bloom_remove(filter, 'ink') FROM cart;

-- docs/kinds.md, example 5
CREATE TABLE seen AS SELECT bloom_create(1000, 0.01, 'scalable') AS ids;
UPDATE seen SET ids = bloom_add_all(ids, (SELECT array_agg(x) FROM generate_series(1, 7000) x));

SELECT i.stages, i.keys_estimated, i.capacity, i.estimated_fpr, i.bits_per_key FROM seen, bloom_info(ids) i;

-- docs/kinds.md, example 6
SELECT f @~ 'a0' AS a0, f @~ 'b0' AS b0, bloom_to_parquet(f) = data AS same_bytes, (bloom_info(f)).key_type
FROM (VALUES ('\x15401c1c00001c1c00001c1c000000c80150144044086d062504439050602008842b21000563410200e02c404e6004'::bytea)) v(data),
     bloom_from_parquet(data, 'text') f;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/load.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/load.md, example 1
CREATE TABLE article (id bigint UNIQUE, title text);
INSERT INTO article SELECT g, 'article ' || g FROM generate_series(1, 10000) g;
CREATE TABLE article_filter AS SELECT bloom_agg(id) AS keys FROM article;
CREATE TABLE article_staging (LIKE article);
INSERT INTO article_staging SELECT g, 'article ' || g FROM generate_series(9001, 12000) g UNION ALL SELECT NULL, 'no id';

INSERT INTO article SELECT * FROM article_staging s
WHERE ((SELECT keys FROM article_filter) @~ id) IS NOT TRUE OR NOT EXISTS (SELECT FROM article a WHERE a.id = s.id)
ON CONFLICT DO NOTHING;

SELECT count(*), count(id) AS with_an_id FROM article;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/maplet.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/maplet.md, example 1
CREATE TABLE trace (id uuid, span int, at timestamptz);
CREATE INDEX trace_id ON trace USING maplet (id);
INSERT INTO trace SELECT md5(g::text)::uuid, g, '2026-01-01' FROM generate_series(1, 20000) g;

SELECT span FROM trace WHERE id = md5('4711')::uuid;

-- docs/maplet.md, example 2
\o /dev/null
\set VERBOSITY terse
SELECT i.indexrelid::regclass AS index, c.size / 1024 AS kb, (c.reltuples * 7)::bigint / 1024 AS maplet_kb,
    CASE WHEN EXISTS (SELECT FROM pg_constraint f WHERE f.conindid = i.indexrelid AND f.contype = 'f') THEN 'no: foreign keys refer to it'
         WHEN i.indisprimary THEN 'no: a primary key' WHEN i.indisunique THEN 'UNIQUE from 18 on' ELSE 'yes' END AS could_be_one
FROM pg_index i
CROSS JOIN LATERAL (SELECT relam, reltuples, pg_relation_size(oid) AS size FROM pg_class WHERE oid = i.indexrelid) c
JOIN pg_am am ON am.oid = c.relam AND am.amname = 'btree'
JOIN pg_class t ON t.oid = i.indrelid AND t.reltuples > 10000
JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname NOT LIKE 'pg\_%'
CROSS JOIN LATERAL (
    SELECT count(*) AS columns, min(abs(s.correlation)) AS order, -- how many different keys: the product of the columns'
        exp(sum(ln(CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * t.reltuples WHEN s.n_distinct > 0 THEN s.n_distinct ELSE 1 END))) AS keys
    FROM unnest(i.indkey::int2[], i.indclass::oid[]) k (attnum, opclass)
    JOIN pg_attribute a ON (a.attrelid, a.attnum) = (i.indrelid, k.attnum)
    JOIN pg_stats s ON (s.schemaname, s.tablename, s.attname) = (n.nspname, t.relname, a.attname)
    JOIN pg_opclass o ON o.oid = k.opclass
    WHERE EXISTS (SELECT FROM pg_opclass m JOIN pg_am mam ON mam.oid = m.opcmethod AND mam.amname = 'maplet' WHERE m.opcintype = o.opcintype)) k
WHERE k.columns = i.indnatts AND k.order < 0.1 AND (i.indisunique OR k.keys > t.reltuples / 2)
ORDER BY c.size DESC;
\o
\set VERBOSITY default

-- docs/maplet.md, example 3
CREATE TABLE price (shop int, article bigint, cents int);
CREATE INDEX price_key ON price USING maplet (shop, article);
INSERT INTO price SELECT g % 300, g / 300, g FROM generate_series(1, 90000) g;

SELECT cents FROM price WHERE shop = 7 AND article = 100;

-- docs/maplet.md, example 4
CREATE TABLE event (id text, payload text, EXCLUDE USING maplet (id WITH =));
INSERT INTO event VALUES ('a', 'first'), ('b', 'second') ON CONFLICT DO NOTHING;
INSERT INTO event VALUES ('a', 'again'), ('c', 'third') ON CONFLICT DO NOTHING;

SELECT id, payload FROM event ORDER BY id;

-- docs/maplet.md, example 5
SELECT maplet_may_contain('trace_id', md5('4711')::uuid) AS there, maplet_may_contain('trace_id', md5('nobody')::uuid) AS not_there;

-- docs/maplet.md, example 6
MERGE INTO event e USING (VALUES ('a', 'changed'), ('d', 'new')) AS v (id, payload) ON e.id = v.id
WHEN MATCHED THEN UPDATE SET payload = v.payload
WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.payload);

-- docs/maplet.md, example 7
CREATE TABLE visit (id uuid, day int) PARTITION BY LIST (day);
CREATE TABLE visit_0 PARTITION OF visit FOR VALUES IN (0);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES IN (1);
CREATE TABLE visit_id (id uuid, EXCLUDE USING maplet (id WITH =));

WITH incoming AS MATERIALIZED (SELECT md5((g % 50)::text)::uuid AS id, g / 51 AS day FROM generate_series(1, 100) g ORDER BY id),
     new AS (INSERT INTO visit_id SELECT id FROM incoming ON CONFLICT DO NOTHING RETURNING id)
INSERT INTO visit SELECT DISTINCT ON (id) id, day FROM incoming JOIN new USING (id) ORDER BY id, day;

SELECT count(*) FROM visit;

-- docs/maplet.md, example 8
CREATE INDEX visit_by_id ON visit USING maplet (id);

CREATE FUNCTION visits_with(key uuid) RETURNS SETOF visit LANGUAGE plpgsql STABLE AS $$
DECLARE
    part regclass;
    part_index regclass;
BEGIN
    FOR part, part_index IN
        SELECT i.indrelid, i.indexrelid FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid WHERE h.inhparent = 'visit_by_id'::regclass
    LOOP
        IF maplet_may_contain(part_index, key) THEN
            RETURN QUERY EXECUTE format('SELECT id, day FROM %s WHERE id = $1', part) USING key;
        END IF;
    END LOOP;
END $$;

SELECT count(*) FROM visits_with(md5('7')::uuid);

-- docs/maplet.md, example 9
\o /dev/null
\set VERBOSITY terse
SELECT c.oid::regclass AS index, t.reltuples::bigint AS rows, i.entries, i.runs, i.pages, i.live_pages, i.bytes_per_entry::int AS bytes,
    CASE WHEN i.false_places > 0.05 OR i.pages > 2 * i.live_pages + 256
             THEN format('REINDEX INDEX %s%s', CASE WHEN NOT x.indisexclusion THEN 'CONCURRENTLY ' END, c.oid::regclass)
         WHEN i.runs > 30 OR i.entries > 1.5 * t.reltuples + 10000 AND t.reltuples >= 0
             THEN format('VACUUM (INDEX_CLEANUP ON) %s', t.oid::regclass) END AS remedy
FROM pg_class c JOIN pg_am a ON a.oid = c.relam JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class t ON t.oid = x.indrelid, maplet_info(c.oid) i
WHERE a.amname = 'maplet' AND c.relkind = 'i' AND x.indisvalid AND c.relpersistence <> 't'
ORDER BY i.runs DESC, c.relname LIMIT 1;
\o
\set VERBOSITY default
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/operate.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/operate.md, example 1
CREATE TABLE customers AS
SELECT id, CASE WHEN id % 100 = 0 THEN 'IS' ELSE 'DE' END AS country
FROM generate_series(1::bigint, 20000) id;

CREATE TABLE orders AS
SELECT id, 1 + id * 7919 % 20000 AS customer_id
FROM generate_series(1::bigint, 100000) id;

CREATE TABLE filters AS
SELECT 'customers in Iceland' AS name, bloom_agg(id) AS filter FROM customers WHERE country = 'IS';

-- docs/operate.md, example 2
SELECT info.*
FROM filters, bloom_info(filter) AS info \gx

-- docs/operate.md, example 3
SELECT count(*) AS absent_keys,
       count(*) FILTER (WHERE f.filter @~ k.customer_id) AS passed,
       avg((f.filter @~ k.customer_id)::int)::float8 AS measured_fpr,
       (SELECT bloom_fpr(filter) FROM filters) AS predicted_fpr
FROM filters f,
     (SELECT DISTINCT customer_id FROM orders
      EXCEPT
      SELECT id FROM customers WHERE country = 'IS') k;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/semantics.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/semantics.md, example 1
CREATE TABLE customers AS
SELECT id, CASE WHEN id % 100 = 0 THEN 'IS' ELSE 'DE' END AS country
FROM generate_series(1::bigint, 20000) id;

CREATE TABLE filters (name text PRIMARY KEY, filter bloomfilter);

INSERT INTO filters
SELECT 'customers in Iceland', bloom_agg(id) FROM customers WHERE country = 'IS';

-- docs/semantics.md, example 2
SELECT bloom_may_contain(filter, 100.0) FROM filters;

-- docs/semantics.md, example 3
SELECT bloom_may_contain(filter, '100') AS in_quotes, bloom_may_contain_any(filter, '{100,101}') AS an_array FROM filters;
SELECT bloom_may_contain(filter, 'one hundred') FROM filters;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/signature.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/signature.md, example 1
CREATE TABLE event (line text, doc jsonb, tags text[], host inet);
INSERT INTO event SELECT format('GET /item/%s by user%s', md5(g::text), g % 1000), jsonb_build_object('user', 'user' || g % 1000, 'item', g),
    ARRAY['tag' || g, 'all'], '10.0.0.0'::inet + g % 5000 FROM generate_series(1, 30000) g;

CREATE INDEX event_line ON event USING signature (line);                              -- LIKE, ILIKE, ^@, =
CREATE INDEX event_rest ON event USING signature (doc jsonb_path_ops, tags, host);    -- @>, @?, @@, &&, =: several columns in one

SELECT line FROM event WHERE line LIKE '%c4ca4238a0b9%';

-- docs/signature.md, example 2
SELECT count(*) FROM event WHERE doc @> '{"user": "user77"}' AND tags @> '{tag3077}';

-- docs/signature.md, example 3
\o /dev/null
\set VERBOSITY terse
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT FROM event WHERE line LIKE '%c4ca4238a0b9%';
\o
\set VERBOSITY default

-- docs/signature.md, example 4
SELECT ranges, summarized, dirty, open, round(false_key_rate::numeric, 1) AS false_key_rate FROM signature_info('event_line');

-- docs/signature.md, example 5
CREATE EXTENSION hstore;
CREATE OPERATOR CLASS hstore_ops DEFAULT FOR TYPE hstore USING signature AS
    OPERATOR 7 @>, OPERATOR 9 ? (hstore, text), OPERATOR 10 ?| (hstore, text[]), OPERATOR 11 ?& (hstore, text[]),
    FUNCTION 1 bttextcmp(text, text), FUNCTION 2 gin_extract_hstore(hstore, internal),
    FUNCTION 3 gin_extract_hstore_query(hstore, internal, int2, internal, internal),
    FUNCTION 4 gin_consistent_hstore(internal, int2, hstore, int4, internal, internal), STORAGE text;
CREATE TABLE shop (item hstore);
INSERT INTO shop SELECT hstore('sku', g::text) || hstore('colour', 'c' || g % 9) FROM generate_series(1, 20000) g;
CREATE INDEX ON shop USING signature (item);
SET enable_seqscan = off;
SELECT item FROM shop WHERE item @> 'sku=>4711';
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/sql.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/sql.md, example 1
CREATE TABLE colours (id int, name text);
INSERT INTO colours VALUES (1, 'red'), (2, 'green'), (3, 'blue'), (4, NULL);

-- docs/sql.md, example 2
SELECT i.kind, i.keys_added, i.capacity, i.target_fpr, i.bits
FROM (SELECT bloom_agg(name) AS f FROM colours UNION ALL SELECT bloom_agg(name, 0.001, 'standard', 1000) FROM colours) s, bloom_info(f) i
ORDER BY capacity;

-- docs/sql.md, example 3
SELECT bloom_add_all(bloom_create(100), ARRAY['red', 'green', NULL]) @~ 'green' AS green;

-- docs/sql.md, example 4
SELECT added, bloom_cardinality(filter)::int AS keys
FROM bloom_add_new((SELECT bloom_agg(id, 0.001, 'blocked', 100) FROM colours), ARRAY[3, 7, NULL, 7, 8]);

-- docs/sql.md, example 5
WITH f AS (SELECT bloom_agg(id) AS filter FROM colours)
SELECT bloom_may_contain(filter, 2) AS two, filter @~ 77 AS seventyseven, filter @~ NULL::int AS null_key,
       NULL::bloomfilter @~ 2 AS null_filter FROM f;

-- docs/sql.md, example 6
SELECT bloom_filter_keys(bloom_agg(id), ARRAY[77, 3, NULL, 1]) FROM colours;

-- docs/sql.md, example 7
SELECT bloom_which(ARRAY[bloom_agg(id), bloom_agg(id + 10), NULL], 3) FROM colours;

-- docs/sql.md, example 8
SELECT bloom_filter_keys(bloom_union_agg(f), ARRAY[1, 2, 3, 4, 5])
FROM (SELECT bloom_agg(id, 0.001, 'blocked', 100) AS f FROM colours GROUP BY id) s;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;

-- ==================== docs/stored.md
CREATE DATABASE regression_bloomfam_docs ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE regression_bloomfam_docs SET session_preload_libraries = 'bloomfam';
\c regression_bloomfam_docs
SET lc_messages = 'C';
SET compute_query_id = off;
SET auto_explain.log_min_duration = -1;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET default_statistics_target = 100;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
SET extra_float_digits = -9;
CREATE EXTENSION bloomfam;

-- docs/stored.md, example 1
CREATE TABLE segments (id int PRIMARY KEY, keys bloomfilter);
INSERT INTO segments
SELECT s, bloom_agg('user:' || s * 1000 + x) FROM generate_series(1, 50) s, generate_series(0, 999) x GROUP BY s;

SELECT id FROM segments WHERE bloom_may_contain(keys, 'user:42042') ORDER BY id;

-- docs/stored.md, example 2
CREATE TABLE event (day int, id bigint, what text) PARTITION BY LIST (day);
DO $$ BEGIN
    FOR d IN 1..20 LOOP EXECUTE format('CREATE TABLE event_%s PARTITION OF event FOR VALUES IN (%s)', d, d); END LOOP;
END $$;
CREATE INDEX ON event (id);

CREATE TABLE event_filter (day int PRIMARY KEY, ids bloomfilter);

-- docs/stored.md, example 3
WITH loaded AS (
    INSERT INTO event SELECT x % 20 + 1, x * 7919, 'click' FROM generate_series(1, 20000) x RETURNING day, id)
INSERT INTO event_filter SELECT day, bloom_agg(id) FROM loaded GROUP BY day;

-- docs/stored.md, example 4
CREATE FUNCTION events_of_days_with(key bigint) RETURNS SETOF event LANGUAGE plpgsql STABLE AS $$
DECLARE
    d int;
BEGIN
    FOR d IN SELECT day FROM event_filter WHERE bloom_may_contain(ids, key) LOOP
        RETURN QUERY EXECUTE format('SELECT * FROM event WHERE day = %L AND id = $1', d) USING key;
    END LOOP;
END $$;

SELECT * FROM events_of_days_with(7919 * 500);

-- docs/stored.md, example 5
CREATE TABLE session (token uuid, at timestamptz DEFAULT now());
CREATE TABLE session_filter (filter bloomfilter NOT NULL);
INSERT INTO session_filter VALUES (bloom_create(1000000, 0.01, 'blocked', 'uuid'));

CREATE FUNCTION session_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE session_filter SET filter = bloom_add_all(filter, keys)
    FROM (SELECT array_agg(token) AS keys FROM new_rows) s WHERE keys IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER follow_insert AFTER INSERT ON session REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION session_follow();
CREATE TRIGGER follow_update AFTER UPDATE ON session REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION session_follow();

INSERT INTO session SELECT gen_random_uuid() FROM generate_series(1, 1000) i;

SELECT bool_and(filter @~ token) AS all_are_there FROM session, session_filter;

-- docs/stored.md, example 6
CREATE TABLE mail (tenant int NOT NULL, address text);
CREATE TABLE mail_filter (tenant int PRIMARY KEY, addresses bloomfilter NOT NULL);

CREATE FUNCTION mail_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mail_filter AS f
    SELECT tenant, bloom_add_all(bloom_create(100, 0.01, 'scalable', 'text'), array_agg(DISTINCT address))
    FROM new_rows WHERE address IS NOT NULL GROUP BY tenant ORDER BY tenant
    ON CONFLICT (tenant) DO UPDATE SET addresses = (bloom_add_new(f.addresses,
        ARRAY(SELECT DISTINCT address FROM new_rows n WHERE n.tenant = f.tenant AND address IS NOT NULL))).filter;
    RETURN NULL;
END $$;
CREATE TRIGGER follow_insert AFTER INSERT ON mail REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION mail_follow();
CREATE TRIGGER follow_update AFTER UPDATE ON mail REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION mail_follow();

INSERT INTO mail SELECT i % 50, 'user' || i || '@example.com' FROM generate_series(1, 20000) i;

SELECT count(*) AS rows, count(*) FILTER (WHERE addresses @~ address) AS found FROM mail JOIN mail_filter USING (tenant);

-- docs/stored.md, example 7
CREATE TABLE payment (id bigint);
CREATE TABLE payment_pending (id bigint NOT NULL);
CREATE TABLE payment_filter (filter bloomfilter NOT NULL);
INSERT INTO payment_filter VALUES (bloom_create(1000000, 0.01, 'blocked', 'bigint'));

CREATE FUNCTION payment_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment_pending SELECT id FROM new_rows WHERE id IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER follow_insert AFTER INSERT ON payment REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION payment_follow();
CREATE TRIGGER follow_update AFTER UPDATE ON payment REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION payment_follow();

CREATE FUNCTION payment_fold() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    keys bigint[];
BEGIN
    PERFORM FROM payment_filter FOR UPDATE;     -- one at a time
    WITH taken AS (DELETE FROM payment_pending RETURNING id) SELECT array_agg(id) INTO keys FROM taken;
    UPDATE payment_filter SET filter = bloom_add_all(filter, keys) WHERE keys IS NOT NULL;
    RETURN coalesce(cardinality(keys), 0);
END $$;

CREATE FUNCTION payment_may_have(key bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (SELECT filter @~ key FROM payment_filter) OR EXISTS (SELECT FROM payment_pending WHERE id = key)
$$;

INSERT INTO payment SELECT generate_series(1, 500);
SELECT payment_fold();
INSERT INTO payment SELECT 501;
SELECT payment_may_have(7) AS folded, payment_may_have(501) AS pending;

-- docs/stored.md, example 8
CREATE TABLE seat (id bigint);
CREATE TABLE seat_filter (filter bloomfilter NOT NULL);
INSERT INTO seat_filter VALUES (bloom_create(100000, 0.01, 'counting', 'bigint'));

CREATE FUNCTION seat_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        UPDATE seat_filter SET filter = bloom_add_all(filter, ARRAY(SELECT id FROM new_rows)) WHERE EXISTS (SELECT FROM new_rows);
    END IF;
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        UPDATE seat_filter SET filter = bloom_remove_all(filter, ARRAY(SELECT id FROM old_rows WHERE id IS NOT NULL)) WHERE EXISTS (SELECT FROM old_rows);
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE seat_filter SET filter = bloom_create(100000, 0.01, 'counting', 'bigint');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER follow_insert AFTER INSERT ON seat REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION seat_follow();
CREATE TRIGGER follow_update AFTER UPDATE ON seat REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION seat_follow();
CREATE TRIGGER follow_delete AFTER DELETE ON seat REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION seat_follow();
CREATE TRIGGER follow_truncate AFTER TRUNCATE ON seat FOR EACH STATEMENT EXECUTE FUNCTION seat_follow();

INSERT INTO seat SELECT generate_series(1, 1000);
UPDATE seat SET id = id + 5000 WHERE id <= 500;
DELETE FROM seat WHERE id BETWEEN 501 AND 900;
SELECT count(*) AS rows, count(*) FILTER (WHERE filter @~ id) AS found, bloom_cardinality(filter)::int AS keys FROM seat, seat_filter GROUP BY filter;

-- docs/stored.md, example 9
CREATE FUNCTION visitor_shard(key bigint) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN bloom_shard(key, 8);

CREATE TABLE visit AS SELECT x AS visitor FROM generate_series(1, 40000) x;
CREATE STATISTICS visit_shards ON visitor_shard(visitor) FROM visit;
ANALYZE visit;

CREATE TABLE seen AS
SELECT visitor_shard(visitor) AS shard, bloom_agg(visitor, 0.001) AS keys FROM visit GROUP BY 1;

SELECT x, bloom_may_contain(keys, x) AS maybe
FROM unnest('{7,77777,39999}'::int[]) x JOIN seen ON shard = visitor_shard(x) ORDER BY x;
-- end
\c :original
DROP DATABASE regression_bloomfam_docs;
