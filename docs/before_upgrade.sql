-- SPDX-License-Identifier: PostgreSQL
-- What another major version of PostgreSQL will refuse; upgrade.md explains each list.  In each database, as a superuser:
--
--     psql -X -d DATABASE -f before_upgrade.sql
--
-- It changes nothing, reads every stored filter, and does nothing in a database without the extension.
SELECT count(*) > 0 AS bloomfam FROM pg_extension WHERE extname = 'bloomfam' \gset
\if :bloomfam
SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), quote_ident(n.nspname)), false) AS search_path
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'bloomfam' \gset

\echo '== Filters'
SELECT string_agg(format($$SELECT %L AS "table", %L AS "column", i.key_type, count(*) AS filters
  FROM %1$s t, bloom_info(t.%2$I) i WHERE i.key_type LIKE '%%@%%' GROUP BY i.key_type$$, a.attrelid::regclass, a.attname), ' UNION ALL ')
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid
WHERE 'bloomfilter'::regtype IN (y.oid, y.typbasetype) AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND NOT a.attisdropped \gexec

\echo '== Maplet indexes'
SELECT c.oid::regclass AS index, i.key_type
FROM pg_class c JOIN pg_am a ON a.oid = c.relam, maplet_info(c.oid) i
WHERE a.amname = 'maplet' AND c.relkind = 'i' AND c.relpersistence <> 't' AND i.key_type LIKE '%@%';

\echo '== Indexes on hashed keys'
SELECT indexrelid::regclass AS index FROM pg_index WHERE pg_get_indexdef(indexrelid) ~ '\mbloom_(key|hash|shard)\(';

\echo '== Columns of bloomkey'
SELECT string_agg(format($$SELECT %L AS "table", %L AS "column", left(t.%2$I::text, 16) AS family, count(*) AS keys
  FROM %1$s t WHERE t.%2$I IS NOT NULL GROUP BY 3$$, a.attrelid::regclass, a.attname), ' UNION ALL ')
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid
WHERE 'bloomkey'::regtype IN (y.oid, y.typbasetype) AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND NOT a.attisdropped \gexec

\echo '== Families of keys that a server makes now: the first number depends on it, the second does not'
SELECT left(bloom_key(to_jsonb(1))::text, 16) AS jsonb, left(bloom_key(1)::text, 16) AS numbers;

\endif
