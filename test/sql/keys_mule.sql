-- Text of an encoding that has no way to UTF-8: the bytes are hashed, under a name of their own.  A server without the encoding (19) has nothing to show.
\set original :DBNAME
SELECT pg_char_to_encoding('MULE_INTERNAL') < 0 AS skip \gset
-- nor has one that psql reaches with another only, as pg_regress's --encoding asks for: there is no way to that either
\getenv asked PGCLIENTENCODING
\if :{?asked}
\set skip t
\endif
\if :skip
\quit
\endif
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'
\set database regression_bloomfam_utf8
\set encoding UTF8
\i :file

\set database regression_bloomfam_mule
\set encoding MULE_INTERNAL
\i :file
CREATE TABLE texts (x text);
INSERT INTO texts VALUES ('foo'), (convert_from('\x81e9', 'MULE_INTERNAL'));
SELECT (bloom_info(f)).key_type, f @~ 'foo' AS ascii, f @~ convert_from('\x81e9', 'MULE_INTERNAL') AS latin1,
	   f @~ convert_from('\x81e9', 'MULE_INTERNAL')::char(4) AS bpchar, f @~ convert_from('\x81e9', 'MULE_INTERNAL')::name AS name,
	   f @~ convert_from('\x81e8', 'MULE_INTERNAL') AS another
FROM (SELECT bloom_agg(x) AS f FROM texts) s;
SELECT bloom_agg(x) AS mule FROM texts \gset
CREATE TYPE mood AS ENUM ('ok');
SELECT bloom_key('ok'::mood) IS NOT NULL AS enum;
SELECT bloom_agg(x, 0.01, 'parquet') FROM texts;
\c regression_bloomfam_utf8
SELECT bloom_may_contain(:'mule', 'foo'::text);

\c :original
DROP DATABASE regression_bloomfam_mule;
DROP DATABASE regression_bloomfam_utf8;
