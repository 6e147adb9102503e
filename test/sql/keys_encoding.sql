-- Text is hashed as UTF-8 whatever the database's encoding: characters and labels, and the names in families.
\set original :DBNAME
CREATE DATABASE keys_utf8 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
CREATE DATABASE keys_latin1 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
CREATE DATABASE keys_euc_jp ENCODING 'EUC_JP' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;
CREATE DATABASE keys_ascii ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0;

\c keys_latin1
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE EXTENSION bloomfam;
CREATE TYPE café AS ENUM ('thé');
SELECT bloom_key(chr(233)::text) AS text, bloom_key((chr(233) || '  ')::char(4)) AS bpchar, bloom_key(chr(233)::name) AS name;
SELECT octet_length(chr(233)) AS bytes, bloom_key('thé'::café) AS label, (bloom_info(bloom_agg('thé'::café))).key_type;

\c keys_ascii
SET client_min_messages = warning;
CREATE EXTENSION bloomfam;
-- what these bytes mean is not known; they are hashed as they are
SELECT bloom_key(E'\xc3\xa9'::text) AS utf8, bloom_key(E'\xe9'::text) AS latin1;

\c keys_utf8
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE EXTENSION bloomfam;
CREATE TYPE café AS ENUM ('thé');
SELECT bloom_key(chr(233)::text) AS text, bloom_key((chr(233) || '  ')::char(4)) AS bpchar, bloom_key(chr(233)::name) AS name;
SELECT octet_length(chr(233)) AS bytes, bloom_key('thé'::café) AS label, (bloom_info(bloom_agg('thé'::café))).key_type;

-- Characters that have no form in UTF-8: an error that does not show them, and a way round.
\c keys_euc_jp
SET client_min_messages = warning;
CREATE EXTENSION bloomfam;
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
DROP DATABASE keys_euc_jp;
DROP DATABASE keys_utf8;
DROP DATABASE keys_latin1;
DROP DATABASE keys_ascii;
