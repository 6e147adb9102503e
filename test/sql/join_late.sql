-- Where all sessions have the module, none loads it too late.
SELECT setting ~ '\mbloomfam\M' AS skip FROM pg_settings WHERE name = 'shared_preload_libraries' \gset
\if :skip
\quit
\endif

-- a session that loads the module too late is told so
\c -
SELECT bloom_create(10::bigint) IS NULL AS loaded;
SET bloomfam.join_filter = on;
SET bloomfam.join_filter = off;
\c -
SET bloomfam.join_filter = on;
SELECT bloom_create(10::bigint) IS NULL AS loaded;
