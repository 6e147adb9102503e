-- A new database of this name and encoding, with the settings that pg_regress gives its own, and the extension.  The session goes on in it.
CREATE DATABASE :"database" ENCODING :'encoding' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE :"database" SET lc_messages = 'C';
ALTER DATABASE :"database" SET bytea_output = 'hex';
ALTER DATABASE :"database" SET max_parallel_workers_per_gather = 0;
\c :"database"
SET client_min_messages = warning;
CREATE EXTENSION bloomfam;
