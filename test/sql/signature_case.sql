-- The n-grams of a signature index are of folded characters: LIKE and ILIKE miss nothing, whatever a collation makes of case and of neighbours.
\set original :DBNAME
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'

\set database regression_bloomfam_case
\set encoding UTF8
\i :file
SET client_encoding = 'UTF8';
SET jit = off;

-- Characters whose lower case is another length, depends on the language, or on what stands beside them, and some plain ones.  A row has a page, and so a
-- range, of its own, so that no other row has its n-grams.
CREATE TABLE letter AS SELECT chr(c) AS c FROM unnest(ARRAY[65, 73, 74, 75, 83, 105, 106, 107, 115, 192, 204, 205, 223, 296, 297, 302, 303, 304, 305, 329, 382, 383, 453, 496, 837,
	902, 921, 931, 953, 962, 963, 1046, 1078, 1415, 7838, 8064, 8490, 8491, 64258, 66560, 66600, 125184, 20013]) c;
-- by another name, so that it has no collation of its own
CREATE FUNCTION plain(bytea) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT convert_from($1, 'UTF8') $$;
CREATE FUNCTION missed(coll text) RETURNS TABLE (text_collation text, "like" text, "ilike" text) LANGUAGE plpgsql AS $$
DECLARE
	op text;
	found_rows bigint;
	lost bigint;
	result text[] := '{}';
BEGIN
	EXECUTE format('CREATE TEMP TABLE body (line text COLLATE %s, filler text) ON COMMIT DROP', coll);
	ALTER TABLE body ALTER line SET STORAGE plain, ALTER filler SET STORAGE plain;
	INSERT INTO body SELECT x, repeat('f', 4500) FROM letter, LATERAL (VALUES ('abc' || c || 'def'), ('K' || c || c || 'Z' || c), (c || chr(775) || 'i' || c || chr(768) || 'xy'),
		('Q' || c || chr(931) || c || ' ' || chr(931)), ('I' || c || chr(775) || 'J' || chr(769) || c || 'x'),
		(c || 'AB' || chr(931))) v(x);
	CREATE INDEX ON body USING signature (line) WITH (pages_per_range = 1, ngram = 3, bits_per_key = 20);
	EXECUTE format('CREATE TEMP TABLE pattern ON COMMIT DROP AS SELECT DISTINCT x COLLATE %1$s AS p FROM letter, LATERAL (VALUES (c), (plain(convert_to(upper(c COLLATE %1$s), ''UTF8''))), (plain(convert_to(lower(c COLLATE %1$s), ''UTF8''))),
		(plain(convert_to(upper(c COLLATE "en-x-icu"), ''UTF8''))), (plain(convert_to(lower(c COLLATE "tr-x-icu"), ''UTF8'')))) u(d),
		LATERAL (VALUES (''%%abc'' || d || ''d%%''), (''%%'' || d || d || ''z'' || d || ''%%''), (''k'' || d || d || ''Z%%''), (''%%'' || d || chr(775) || ''i'' || d || ''%%''), (''%%i'' || d || chr(768) || ''X%%''),
		(''%%q'' || d || chr(963) || ''%%''), (''%%'' || d || chr(931) || d || '' '' || chr(962)), (''%%c'' || d || ''de%%''), (''%%i'' || d || ''j%%''), (''%%j'' || chr(769) || d || ''x''), (''%%I'' || d || chr(775) || ''J%%''),
		(d || ''ab'' || chr(962)), (d || ''ab'' || chr(963) || ''%%'')) v(x)', coll);
	ANALYZE body, pattern;
	FOREACH op IN ARRAY ARRAY['LIKE', 'ILIKE'] LOOP
		SET LOCAL enable_bitmapscan = off;
		EXECUTE format('CREATE TEMP TABLE by_table ON COMMIT DROP AS SELECT p, body.ctid AS row FROM pattern JOIN body ON line %s p', op);
		SET LOCAL enable_bitmapscan = on;
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_material = off;
		EXECUTE format('CREATE TEMP TABLE by_index ON COMMIT DROP AS SELECT p, body.ctid AS row FROM pattern JOIN body ON line %s p', op);
		SET LOCAL enable_seqscan = on;
		SELECT count(*) INTO found_rows FROM by_table;
		SELECT count(*) INTO lost FROM (TABLE by_table EXCEPT ALL TABLE by_index) s;
		result := result || CASE WHEN found_rows = 0 THEN 'nothing to find' ELSE lost || ' missed' END;
		DROP TABLE by_table, by_index;
	END LOOP;
	DROP TABLE body, pattern;
	RETURN QUERY SELECT coll, result[1], result[2];
END $$;
SELECT (missed(c)).* FROM unnest(ARRAY['"C"', '"und-x-icu"', '"tr-x-icu"', '"az-x-icu"', '"el-x-icu"', '"lt-x-icu"', '"de-x-icu"']) c;

-- a nondeterministic collation is refused
CREATE COLLATION ignores_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE INDEX ON letter USING signature (c COLLATE ignores_case);

-- an encoding of one byte
\set database regression_bloomfam_case_latin1
\set encoding LATIN1
\i :file
SET client_encoding = 'UTF8';
CREATE TABLE body AS SELECT 'caf' || chr(c) || ' au lait' AS line, repeat('f', 4500) AS filler FROM generate_series(192, 255) c;
ALTER TABLE body ALTER filler SET STORAGE plain;
CREATE INDEX ON body USING signature (line) WITH (pages_per_range = 1);
SET enable_seqscan = off;
SELECT line FROM body WHERE line LIKE '%café%';
SELECT line FROM body WHERE line ILIKE '%CAFé AU%';

\c :original
DROP DATABASE regression_bloomfam_case;
DROP DATABASE regression_bloomfam_case_latin1;
