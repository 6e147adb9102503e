-- Text is hashed as UTF-8 whatever the database's encoding: characters and labels, and the names in families.
\set original :DBNAME
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'

\set database regression_bloomfam_latin1
\set encoding LATIN1
\i :file
SET client_encoding = 'UTF8';
CREATE TYPE café AS ENUM ('thé');
SELECT bloom_key(chr(233)::text) AS text, bloom_key((chr(233) || '  ')::char(4)) AS bpchar, bloom_key(chr(233)::name) AS name;
SELECT octet_length(chr(233)) AS bytes, bloom_key('thé'::café) AS label, (bloom_info(bloom_agg('thé'::café))).key_type;

\set database regression_bloomfam_ascii
\set encoding SQL_ASCII
\i :file
-- what these bytes mean is not known; they are hashed as they are
SELECT bloom_key(E'\xc3\xa9'::text) AS utf8, bloom_key(E'\xe9'::text) AS latin1;

\set database regression_bloomfam_utf8
\set encoding UTF8
\i :file
SET client_encoding = 'UTF8';
CREATE TYPE café AS ENUM ('thé');
SELECT bloom_key(chr(233)::text) AS text, bloom_key((chr(233) || '  ')::char(4)) AS bpchar, bloom_key(chr(233)::name) AS name;
SELECT octet_length(chr(233)) AS bytes, bloom_key('thé'::café) AS label, (bloom_info(bloom_agg('thé'::café))).key_type;

-- Characters that have no form in UTF-8: an error that does not show them, and a way round.
\set database regression_bloomfam_euc_jp
\set encoding EUC_JP
\i :file
CREATE TABLE texts (ok bool, x text);
INSERT INTO texts VALUES (true, convert_from('\x666f6f', 'EUC_JP')), (true, convert_from('\xc6fccbdc', 'EUC_JP')),
						 (false, convert_from('\x666f6fa9a1', 'EUC_JP'));
SELECT encode(convert(convert_to(x, 'EUC_JP'), 'EUC_JP', 'UTF8'), 'hex') AS utf8, bloom_key(x), bloom_key(x::char(9)) = bloom_key(x) AS bpchar FROM texts WHERE ok;
SELECT bloom_agg(x) FROM texts;
SELECT bloom_key(x::char(9)) FROM texts WHERE NOT ok;
SELECT bloom_key(x::name) FROM texts WHERE NOT ok;
SELECT bloom_agg(x, 0.01, 'parquet') FROM texts;
SELECT bloom_agg(convert_to(x, 'EUC_JP')) @~ convert_to(convert_from('\x666f6fa9a1', 'EUC_JP'), 'EUC_JP') AS way_round FROM texts;

\c :original
DROP DATABASE regression_bloomfam_euc_jp;
DROP DATABASE regression_bloomfam_utf8;
DROP DATABASE regression_bloomfam_latin1;
DROP DATABASE regression_bloomfam_ascii;
