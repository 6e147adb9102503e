-- A key or a filter under another collation: the hint speaks of COLLATE, and of types where those differ.
SELECT getdatabaseencoding() <> 'UTF8' AS skip \gset
\if :skip
\quit
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE SCHEMA collation_hint;
SET search_path = collation_hint, public;
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);

-- The details name versions of libraries: they are not shown.
CREATE FUNCTION hint_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	state text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE;
	RETURN state || ' ' || hint;
END $$;
SELECT what, key, hint_of(format('SELECT bloom_agg(%s) @~ %s', what, key)) FROM (VALUES
	($$'a'::text COLLATE ci$$, $$'a'::text$$), ($$'a'::text$$, $$'a'::text COLLATE ci$$), ($$'a'::text COLLATE ci$$, $$'a'::text COLLATE ai$$),
	($$ARRAY['a'] COLLATE ci$$, $$ARRAY['a']$$), ($$ROW(1, 'a'::text COLLATE ci)$$, $$ROW(1, 'a'::text)$$),
	($$'a'::citext COLLATE "C"$$, $$'a'::citext COLLATE "POSIX"$$), ($$'a'::citext$$, $$'a'::citext COLLATE ci$$),
	-- types that differ
	($$'a'::text COLLATE ci$$, '5'), ('5', $$'a'::text COLLATE ci$$), ($$'a'::text COLLATE ci$$, $$'a'::char(2) COLLATE ci$$),
	($$'a'::text COLLATE ci$$, $$ARRAY['a']$$), ($$ROW(1, 'a'::text COLLATE ci)$$, $$ROW('a'::text, 1)$$), ($$'a'::text COLLATE ci$$, $$'a'::citext$$),
	-- no names
	($$bloom_key('a'::text COLLATE ci)$$, $$bloom_key('a'::text)$$), ($$'a'::text COLLATE ci$$, $$bloom_key('a'::text)$$), ($$'a'::text$$, $$bloom_key('a'::text COLLATE ci)$$)) v(what, key);
SELECT hint_of($$SELECT bloom_agg('a'::text COLLATE ci) | bloom_agg('a'::text)$$), hint_of($$SELECT bloom_agg('a'::text COLLATE ci) & bloom_agg(5)$$);
SELECT hint_of($$SELECT bloom_add(bloom_agg('a'::text), 'b'::text COLLATE ci)$$), hint_of($$SELECT bloom_may_contain_any(bloom_agg('a'::text), ARRAY['b'::text COLLATE ci])$$);
-- A filter of another major version: the same bytes, under a name that is as long.  The name's hash is in the header, and the header's
-- in the checksum: both are those of keys of type text and bytea.
CREATE FUNCTION of_another_server(f bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
	b bytea := f::bytea;
	name text := replace((bloom_info(f)).key_type, '@pg', '@og');
	hash bytea := int8send(bloom_hash(bloom_key(name)));
BEGIN
	b := overlay(b PLACING name::bytea FROM 81);
	FOR i IN 0 .. 7 LOOP
		b := set_byte(b, 24 + i, get_byte(hash, 7 - i));
	END LOOP;
	b := overlay(b PLACING '\x00000000'::bytea FROM 9);
	hash := int8send(bloom_hash(bloom_key(b)));
	FOR i IN 0 .. 3 LOOP
		b := set_byte(b, 8 + i, get_byte(hash, 7 - i));
	END LOOP;
	RETURN b::bloomfilter;
END $$;
SELECT what, hint_of(format('SELECT of_another_server(bloom_agg(%1$s)) @~ %1$s', what)) AS probe,
	hint_of(format('SELECT of_another_server(bloom_agg(%1$s)) | bloom_agg(%1$s)', what)) AS union
FROM (VALUES ($$'a'::citext$$), ('to_jsonb(5)'), ($$'a'::text COLLATE ci$$), ($$ROW(1, 'a'::citext)$$)) v(what);
SELECT hint_of($$SELECT of_another_server(bloom_agg(to_jsonb(5))) @~ 'a'::citext$$) AS of_another_type;
-- A bloomkey does not say what it is of: it, or the filter that was built from such, may be of another server.
SELECT f, key, hint_of(format('SELECT %s @~ %s', f, key)) AS probe FROM (VALUES
	('of_another_server(bloom_agg(to_jsonb(5)))', 'bloom_key(to_jsonb(5))'), ('bloom_agg(to_jsonb(5))', $$'0000000000000bad:0000000000000001'::bloomkey$$),
	($$bloom_agg('0000000000000bad:0000000000000001'::bloomkey)$$, 'to_jsonb(5)'), ('bloom_agg(5)', $$'0000000000000bad:0000000000000001'::bloomkey$$)) v(f, key);
SELECT hint_of($$SELECT bloom_agg(to_jsonb(5)) | bloom_agg('0000000000000bad:0000000000000001'::bloomkey)$$) AS union;
-- what the hint says helps
SELECT hint_of($$SELECT bloom_agg('a'::text COLLATE ci) @~ ('a'::text COLLATE ci)$$);

SET client_min_messages = warning;
DROP SCHEMA collation_hint CASCADE;
