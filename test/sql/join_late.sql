-- What sessions say of the filters where they do nothing, and where they do; docs/troubleshooting.md has this as a table.
-- (a library that changes nothing here, in place of what the server sets)
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" SET session_preload_libraries = 'plpgsql';
\c -
-- Where all sessions have the module, none loads it too late.
SELECT count(*) > 0 AS skip FROM pg_settings WHERE name = 'bloomfam.join_filter_max_size' \gset
\if :skip
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" RESET session_preload_libraries;
\quit
\endif

-- not loaded: a setting is a name that nobody looks at
SET bloomfam.join_filter = on;
SHOW bloomfam.join_filter_max_size;
-- a session that loads the module too late is told so
\c -
SELECT bloom_create(10::bigint) IS NULL AS loaded;
SET bloomfam.join_filter = on;
SHOW bloomfam.join_filter_max_size;
SHOW bloomfam.join_filter;
SELECT boot_val FROM pg_settings WHERE name = 'bloomfam.join_filter';
SET bloomfam.join_filter = off;
\c -
SET bloomfam.join_filter = on;
SELECT bloom_create(10::bigint) IS NULL AS loaded;
-- ... and a session for which somebody has switched them on
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" SET bloomfam.join_filter = on;
\c -
SELECT bloom_create(10::bigint) IS NULL AS loaded;
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" RESET bloomfam.join_filter;
-- nothing is said where filters are in time
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
SHOW bloomfam.join_filter_max_size;
SELECT boot_val, reset_val, enumvals FROM pg_settings WHERE name = 'bloomfam.join_filter';
-- what a boolean setting takes is taken here, too
SET bloomfam.join_filter = off;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = true;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = 0;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = 'yes';
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = no;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = 1;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = false;
SHOW bloomfam.join_filter;
SET bloomfam.join_filter = maybe;
ALTER ROLE CURRENT_USER IN DATABASE :"DBNAME" RESET session_preload_libraries;
