-- Text is hashed as UTF-8 whatever the database's encoding: characters and labels, and the names in families.
\set original :DBNAME
CREATE DATABASE keys_utf8 ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;
CREATE DATABASE keys_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
CREATE DATABASE keys_ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0;

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

\c :original
DROP DATABASE keys_utf8;
DROP DATABASE keys_latin1;
DROP DATABASE keys_ascii;
