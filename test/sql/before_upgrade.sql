-- docs/before_upgrade.sql: what another major version of PostgreSQL will refuse.
\set original :DBNAME
CREATE DATABASE regression_bloomfam_before ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
ALTER DATABASE regression_bloomfam_before SET lc_messages = 'C';
\c regression_bloomfam_before
\getenv folder PG_ABS_SRCDIR
\set file :folder '/../docs/before_upgrade.sql'

-- nothing, without the extension
\set ECHO none
\i :file
\set ECHO all

-- with it, in a schema of its own
CREATE SCHEMA "of its own";
CREATE EXTENSION bloomfam SCHEMA "of its own";
CREATE TABLE kept AS SELECT "of its own".bloom_agg(g) AS filter, "of its own".bloom_agg('k' || g) AS texts FROM generate_series(1, 100) g;
CREATE TABLE lost AS SELECT "of its own".bloom_agg(to_jsonb(g)) AS filter, "of its own".bloom_key(to_jsonb(1)) AS key FROM generate_series(1, 100) g;
CREATE TABLE looked_up (id text, j jsonb);
CREATE INDEX looked_up_id ON looked_up USING maplet (id);
CREATE INDEX looked_up_j ON looked_up ("of its own".bloom_hash(j));

-- (a major has names and numbers of its own for what depends on it, and so has the other order of bytes)
\a
\o | sed -E 's/@pg[0-9]+:[bl]e:/@pg...:/; s/[0-9a-f]{16}\|/...|/'
\set ECHO none
\i :file
\set ECHO all
\o
\a

\c :original
DROP DATABASE regression_bloomfam_before;
