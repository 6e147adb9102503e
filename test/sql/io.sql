-- Ways in and out of the types: text, binary, bytea.
CREATE SCHEMA io;
SET search_path = io, public;
-- errors of a parallel worker say whose they are
SET max_parallel_workers_per_gather = 0;

CREATE TABLE sample (id int, what text, f bloomfilter);
INSERT INTO sample VALUES
(1, 'blocked', bloom_add(bloom_create(1, 0.1, 'blocked', 'int8'), 42)),
(2, 'standard', bloom_add(bloom_create(1, 0.25, 'standard', 'int8'), 42)),
(3, 'standard, text', bloom_add_all(bloom_create(3, 0.25, 'standard'), '{a,bc,def}'::text[])),
(4, 'empty', bloom_create(2, 0.25, 'standard', 'text')),
(5, 'empty, no type', bloom_create(2, 0.25, 'standard')),
(6, 'no rows', (SELECT bloom_agg(x) FROM generate_series(1, 0) x)),
(7, 'no rows of bloomkey', (SELECT bloom_agg(bloom_key(x)) FROM generate_series(1, 0) x));

--
-- Text: hex digits, whatever bytea's form is
--
SELECT what, f FROM sample WHERE id <> 1 ORDER BY id;
SELECT what, left(f::text, 30), length(f::text) FROM sample WHERE id = 1;
SET bytea_output = escape;
SELECT what, left(f::text, 30) FROM sample WHERE id = 2;
RESET bytea_output;
SELECT what FROM sample
WHERE f::text::bloomfilter IS DISTINCT FROM f OR f::text::bloomfilter::text <> f::text
	OR upper(substr(f::text, 3))::text IS NULL OR ('\x' || upper(substr(f::text, 3)))::bloomfilter IS DISTINCT FROM f;
-- what bytea's hex form allows between bytes, so does this
SELECT ('\x ' || substr(f::text, 3, 4) || E' \n\t' || substr(f::text, 7) || ' ')::bloomfilter = f AS spaces FROM sample WHERE id = 2;

-- a text that is read in several pieces, with blanks wherever a piece may end
CREATE TABLE long (f bloomfilter, t text);
INSERT INTO long SELECT f, f::text FROM bloom_create(3000000) f;
SELECT length(t) > 6000000 AS long, t::bloomfilter = f AS plain FROM long;
SELECT count(*) AS blanks, bool_and((left(t, n) || repeat(' ', blanks) || substr(t, n + 1))::bloomfilter = f) AS same
FROM long, unnest(ARRAY[2, 4, 2097150, 2097152, 2097154, 2097156, 4194304, 4194306, 4194308]) n, generate_series(1, 3) blanks;
SELECT (left(t, 2097154) || 'x' || substr(t, 2097155))::bloomfilter FROM long;
SELECT (left(t, 2097153) || ' ' || substr(t, 2097154))::bloomfilter FROM long;
SELECT (t || '0')::bloomfilter FROM long;

-- These values are of format 1, and are read for ever: from its release on, they may not be changed.
SELECT f @~ 42::int8 AS yes, f @~ 43 AS no, kind, key_type, keys_added, keys_estimated, capacity, target_fpr, bytes, bits, hashes, format_version
FROM (SELECT '\x6266616d0101010002f04bc4030000000000000000000000473b9282601c219701000000000000000100000000000000000000000000d03f080000000000000002000000000000000000000000000000696e74000000000004008000'::bloomfilter) s(f), bloom_info(f);
SELECT f @~ 'a' AS a, f @~ 'bc' AS bc, f @~ 'def' AS def, f @~ 'no' AS no, (bloom_info(f)).keys_added
FROM (SELECT '\x6266616d01010100a2ec979704000000000000000000000011a6e8601cfd694703000000000000000300000000000000000000000000d03f080000000000000002000000000000000000000000000000746578742020010004400080'::bloomfilter) s(f);
SELECT f @~ 42 AS yes, f @~ 43 AS no, (bloom_info(f)).kind
FROM (SELECT '\x6266616d01030100afa7f9d7030000000000000000000000473b9282601c2197010000000000000001000000000000009a9999999999b93f400000000000000003000000000000000000000000000000696e740000000020000000000000000000000000000000000000000000000000000000040000004000000000000000000000000000000000000000000000000000000000'::bloomfilter) s(f);
SELECT f @~ 42 AS no, bloom_info(f) AS info
FROM (SELECT '\x6266616d014001006b69a27e030000000000000000000000473b9282601c2197000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000696e7400'::bloomfilter) s(f);

--
-- bytea: explicitly, or when it is assigned to a filter
--
SELECT what FROM sample
WHERE f::bytea::bloomfilter IS DISTINCT FROM f OR f::bytea::text <> f::text OR bloomfilter_send(f) <> f::bytea
	OR length(f::bytea) <> (bloom_info(f)).bytes - 4 OR NOT f::bytea::bloomfilter = f;
SELECT NULL::bytea::bloomfilter IS NULL AS into_null, NULL::bloomfilter::bytea IS NULL AS from_null, NULL::bloomfilter::text IS NULL AS text_null;
CREATE TABLE strict_bytes (b bytea);
INSERT INTO strict_bytes SELECT f FROM sample;
CREATE TABLE assigned (f bloomfilter);
INSERT INTO assigned SELECT f::bytea FROM sample;
UPDATE assigned SET f = f::bytea;
UPDATE assigned SET f = f::bytea || '\x00';
SELECT count(*) FROM sample JOIN assigned USING (f);
SELECT f FROM sample UNION ALL SELECT f::bytea FROM sample;
-- the form with a short header, and that of a column
CREATE TABLE packed (b bytea);
INSERT INTO packed SELECT f::bytea FROM sample WHERE id <> 1;
SELECT count(*) FROM packed JOIN sample ON b::bloomfilter = f;
-- the cast makes a copy: neither it nor its origin changes with the other
SELECT get_byte(b, 90) AS before, get_byte(set_byte(b, 90, 255), 90) AS after, get_byte(f::bytea, 90) AS still, b::bloomfilter = f AS same
FROM (SELECT f, f::bytea FROM sample WHERE id = 4) s(f, b);

--
-- Binary: as COPY reads it.  A COPY file of one column, made by a shell.
--
CREATE FUNCTION copy_binary(target text, value bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	stream bytea := '\x5047434f50590aff0d0a00' || decode(repeat('00', 8), 'hex') || '\x0001' || int4send(length(value)) || value || '\xffff';
	octal text;
BEGIN
	SELECT string_agg('\' || lpad((get_byte(stream, i) / 64)::text || (get_byte(stream, i) / 8 % 8)::text || (get_byte(stream, i) % 8)::text, 3, '0'), '' ORDER BY i)
	INTO octal FROM generate_series(0, length(stream) - 1) i;
	EXECUTE format('COPY %s FROM PROGRAM %L (FORMAT binary)', target, 'printf ''' || octal || '''');
END $$;
CREATE TABLE received (f bloomfilter);
\set SHOW_CONTEXT never
SELECT copy_binary('received', bloomfilter_send(f)) FROM sample;
SELECT count(*) FROM received r JOIN sample s ON r.f = s.f;
SELECT copy_binary('received', '');
SELECT copy_binary('received', '\x6266616d');
SELECT copy_binary('received', set_byte(f::bytea, 90, 1)) FROM sample WHERE id = 2;
SELECT copy_binary('received', f::bytea || '\x00') FROM sample WHERE id = 2;
-- as a field of a row or an array, whose lengths are checked by others
SELECT bool_and((ARRAY[f, NULL, f]::text)::bloomfilter[] = ARRAY[f, NULL, f]) AS arrays FROM sample;
CREATE TYPE sample_row AS (i int, f bloomfilter, k bloomkey);
SELECT bool_and((ROW(1, f, bloom_key(1))::text)::sample_row = ROW(1, f, bloom_key(1))::sample_row) AS rows FROM sample;

--
-- What is not one
--
SELECT ''::bloomfilter;
SELECT 'abc'::bloomfilter;
SELECT '\'::bloomfilter;
SELECT 'x00'::bloomfilter;
SELECT '\X00'::bloomfilter;
SELECT ' \x00'::bloomfilter;
SELECT '\x'::bloomfilter;
SELECT '\x0'::bloomfilter;
SELECT '\x0g'::bloomfilter;
SELECT '\x0 0'::bloomfilter;
SELECT '\x00'::bloomfilter;
SELECT '\x6266616d'::bloomfilter;
SELECT ''::bytea::bloomfilter;
SELECT '\x6266616d'::bytea::bloomfilter;
SELECT 'no filter'::text::bloomfilter;
SELECT bloom_may_contain('', 1);
SELECT bloom_may_contain('\x', 1);

--
-- bloomkey
--
SELECT bloom_key(42) = bloom_key(42)::text::bloomkey AS text, length(bloom_key(42)::text), bloomkey_send(bloom_key(42)) AS sent, bloom_key(42);
SELECT upper(bloom_key(42)::text)::bloomkey = bloom_key(42) AS upper;
CREATE TABLE received_key (k bloomkey);
SELECT copy_binary('received_key', bloomkey_send(bloom_key(42)));
SELECT k = bloom_key(42) AS same, k FROM received_key;
SELECT copy_binary('received_key', '\x0000000000000000' || substr(bloomkey_send(bloom_key(42)), 9));
SELECT copy_binary('received_key', '\x01');
SELECT copy_binary('received_key', bloomkey_send(bloom_key(42)) || '\x00');
SELECT ''::bloomkey;
SELECT '1:2'::bloomkey;
SELECT '0000000000000000:0000000000000001'::bloomkey;
SELECT '0000000000000001:000000000000000g'::bloomkey;
SELECT '0000000000000001 0000000000000001'::bloomkey;
SELECT '0000000000000001:00000000000000011'::bloomkey;
SELECT ' 000000000000001:0000000000000001'::bloomkey;
SELECT '+000000000000001:-000000000000001'::bloomkey;
SELECT '0000000000000001:0000000000000000'::bloomkey AS lowest, 'ffffffffffffffff:FFFFFFFFFFFFFFFF'::bloomkey AS highest;

--
-- bloomliteral is a text, but for its binary form, of which nobody could say what it is
--
SELECT 'abc'::bloomliteral, 'abc'::bloomliteral::text = 'abc' AS equal, bloomliteral_send('abc') AS sent, NULL::bloomliteral IS NULL AS null;
CREATE TABLE received_literal (l bloomliteral);
SELECT copy_binary('received_literal', 'abc');
