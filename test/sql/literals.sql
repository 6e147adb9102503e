-- Keys without a type: untyped literals and parameters, read as the filter's family would read them.
CREATE SCHEMA literals;
SET search_path = literals, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'quite "happy"');
CREATE DOMAIN code AS char(4);

-- An expression's value as text, or its error.
CREATE FUNCTION value_of(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT (' || expression || ')::text' INTO result;
	RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR: ' || SQLERRM;
END $$;

-- What the server says of column = literal, the column being of that type with this one value, and what a filter of the column does.
CREATE FUNCTION compare(type text, value text, literal text, OUT server text, OUT filter text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE c (v %s); INSERT INTO c VALUES (%L)', type, value);
	EXECUTE format('CREATE TEMP TABLE f AS SELECT bloom_agg(v, 1e-9, ''standard'') AS f FROM c');
	server := value_of(format('SELECT v = %L FROM c', literal));
	filter := value_of(format('SELECT f @~ %L FROM f', literal));
	IF value_of(format('SELECT %L ~@ f FROM f', literal)) <> filter OR value_of(format('SELECT bloom_may_contain(f, %L) FROM f', literal)) <> filter OR
		value_of(format('SELECT (bloom_which(ARRAY[f], %L) = ''{1}'')::boolean FROM f', literal)) <> filter OR
		value_of(format('SELECT bloom_may_contain_any(f, %L) FROM f', ARRAY[literal]::text)) <> filter OR
		value_of(format('SELECT bloom_may_contain_all(f, %L) FROM f', ARRAY[literal]::text)) <> filter OR
		value_of(format('SELECT bloom_filter_keys(f, %L) <> ''{}'' FROM f', ARRAY[literal]::text)) <> filter OR
		value_of(format('SELECT %L ~@ ANY (ARRAY[f, f]) FROM f', literal)) <> filter THEN
		filter := filter || ', but not by each function';
	END IF;
	DROP TABLE c, f;
END $$;

--
-- Each family: where the server says yes, so must the filter; where it says no, the filter may; errors are the server's own
--
CREATE TABLE asked (id serial, type text, value text, literal text);
INSERT INTO asked (type, value, literal) VALUES
	('int2', '-7', '-7'), ('int4', '42', ' 42 '), ('int8', '9223372036854775807', '9223372036854775807'), ('int8', '1', '2'), ('int4', '1', 'abc'), ('int4', '1', ''),
	('int8', '1', '99999999999999999999'), ('int2', '1', '70000'), ('int4', '1', '1.0'),
	('float4', '0.1', '0.1'), ('float8', '0.1', '0.1'), ('float8', '0.1', '1e-1'), ('float4', '0', '-0'), ('float8', '-0', '0'), ('float4', 'NaN', 'nan'), ('float8', 'Infinity', 'inf'),
	('float4', '3.4028235e38', '3.4028235e38'), ('float8', '1e300', '1e300'), ('float8', '1e-300', '1e-300'), ('float4', '1e-45', '1e-45'), ('float8', '1', '1e400'), ('float4', '1', 'x'),
	('float4', '16777216', '16777217'), ('float8', '16777216', '16777217'), ('float4', '340282356779733661637539395458142568447', '340282356779733661637539395458142568447'),
	('numeric', '1.0', '1.000'), ('numeric(10,2)', '1.5', '1.5'), ('numeric', 'NaN', 'nan'), ('numeric', '-Infinity', '-inf'), ('numeric', '1', '1e'), ('numeric', '1', '12345678901234567890.5'),
	('text', 'ab', 'ab'), ('text', 'ab  ', 'ab  '), ('varchar', 'ab  ', 'ab  '), ('char(6)', 'ab', 'ab'), ('char(6)', 'ab', 'ab    '), ('char(6)', 'ab', 'ab          '), ('code', 'ab', 'ab   '),
	('text', '', ''), ('char(6)', '', '   '), ('text', 'ab', 'ac '), ('name', 'ab', 'ab'), ('name', repeat('n', 70), repeat('n', 70)), ('text', repeat('n', 70), repeat('n', 70)), ('char(70)', repeat('n', 66), repeat('n', 66) || '  '),
	('name', repeat('n', 62) || ' ', repeat('n', 62) || '   '), ('bool', 'true', 'on'), ('bool', 'false', ' F '), ('bool', 'true', 'x'), ('bool', 'true', '0'),
	('bytea', '\x0102', '\x0102'), ('bytea', 'a\\b', 'a\\b'), ('bytea', '\x01', '\x0'), ('uuid', '00112233-4455-6677-8899-aabbccddeeff', '{00112233445566778899AABBCCDDEEFF}'), ('uuid', '00112233-4455-6677-8899-aabbccddeeff', '1'),
	('oid', '4294967295', '-1'), ('oid', '7', 'pg_class'),
	('inet', '10.0.0.1', '10.0.0.1/32'), ('cidr', '10.0.0.0/8', '10.0.0.0/8'), ('cidr', '10.0.0.0/8', '10'), ('inet', '::1', '0:0::1'), ('inet', '::1', 'x'),
	('macaddr', '08:00:2b:01:02:03', '08002b:010203'), ('macaddr8', '08:00:2b:01:02:03:04:05', '08002b0102030405'), ('macaddr8', '08:00:2b:01:02:03', '08:00:2b:01:02:03'), ('macaddr', '08:00:2b:01:02:03', 'x'),
	('pg_lsn', '1/2', '1/2'), ('pg_lsn', '1/2', '1'), ('bit(3)', '101', '101'), ('bit(3)', '101', '1010'), ('varbit', '1111', 'xF'), ('bit(3)', '101', '2'), ('"char"', 'a', 'abc'), ('"char"', 'a', ''),
	('mood', 'ok', 'ok'), ('mood', 'quite "happy"', 'quite "happy"'), ('mood', 'ok', 'sad'), ('mood', 'ok', 'OK');
SELECT type, left(value, 40) AS value, left(literal, 40) AS literal, server, filter, server LIKE 'ERROR%' <> (filter LIKE 'ERROR%') AS differ
FROM asked, compare(type, value, literal) ORDER BY id;
-- no key is denied
SELECT type, value, literal FROM asked, compare(type, value, literal) WHERE server = 'true' AND filter <> 'true' OR filter LIKE '%but not%';
-- families that are not read: their input depends on settings, or is somebody's function
INSERT INTO asked (id, type, value, literal) VALUES (1001, 'date', '2020-01-01', '2020-01-01'), (1002, 'time', '12:00', '12:00'), (1003, 'timetz', '12:00', '12:00'), (1004, 'timestamp', '2020-01-01', '2020-01-01'),
	(1005, 'timestamptz', '2020-01-01', '2020-01-01'), (1006, 'interval', '1 day', '1 day'), (1007, 'int[]', '{1}', '{1}'), (1008, 'int4range', '[1,2)', '[1,2)'), (1009, 'int4multirange', '{[1,2)}', '{[1,2)}'),
	(1010, 'oidvector', '1 2', '1 2'), (1011, 'xid8', '1', '1'), (1012, 'jsonb', '{}', '{}');
SELECT type, server, regexp_replace(filter, '@pg.*', '@pg...') AS filter FROM asked, compare(type, value, literal) WHERE id > 1000 ORDER BY id;
\set VERBOSITY sqlstate
SELECT bloom_agg(d) @~ '2020-01-01' FROM (VALUES (date '2020-01-01')) v(d);
\set VERBOSITY default
SELECT bloom_may_contain_any(bloom_agg(ROW(1, 2)), '{"(1,2)"}');

--
-- No filter at hand: an error, never text
--
SELECT bloom_key('5');
SELECT bloom_hash('5');
SELECT bloom_shard('5', 8);
-- 19 divides the server's hint
\set VERBOSITY terse
SELECT bloom_agg('5');
\set VERBOSITY default
SELECT bloom_agg('5'::bloomliteral);
SELECT bloom_agg(ARRAY['5'::bloomliteral]);
SELECT bloom_add(bloom_create(10), '5');
SELECT bloom_add_all(bloom_create(10), '{5}');
SELECT bloom_add_new(bloom_create(10), '{5}');
PREPARE shard AS SELECT bloom_shard($1, 8);
EXECUTE shard ('5');
PREPARE key AS SELECT bloom_key($1);
EXECUTE key (5);
SELECT bloom_key(NULL), bloom_shard(NULL, 8);

--
-- NULLs, filters without keys, and without a family
--
SELECT NULL::bloomfilter @~ 'x' AS null_filter, bloom_create(10) @~ 'x' AS no_family, bloom_create(10, key_type => 'int') @~ '5' AS no_keys, (SELECT bloom_agg(x) FROM generate_series(1, 0) x) @~ '5' AS identity,
	bloom_which(ARRAY[NULL, bloom_create(10), bloom_add(bloom_create(10), 5)], '5') AS which, bloom_count(bloom_create(10, 0.01, 'counting'), 'x') AS count,
	bloom_may_contain_any(NULL, '{1,x}') AS any_null, bloom_may_contain_all(bloom_create(10), '{1,x}') AS all_no_family, bloom_filter_keys(NULL, '{1,NULL,"a b"}') AS keys_null, bloom_filter_keys(bloom_create(10), '{1}') AS keys_no_family;
SELECT (SELECT bloom_agg(x) FROM generate_series(1, 0) x) @~ 'x';
SELECT bloom_may_contain_any(f, '{}') AS any, bloom_may_contain_all(f, '{}') AS all, bloom_filter_keys(f, '{}') AS keys, bloom_may_contain_any(f, NULL) AS any_null, bloom_may_contain_any(f, '{9,NULL}') AS any_unknown,
	bloom_may_contain_all(f, '{1,NULL}') AS all_unknown, bloom_filter_keys(f, '{3,9,NULL,2, 1}') AS keys, bloom_filter_keys(f, '[5:6][1:2]={{1,9},{8,2}}') AS two_dimensions, pg_typeof(bloom_filter_keys(f, '{1}')) AS type
FROM bloom_add_all(bloom_create(10, 0.0001), '{1,2,3}'::int[]) f;
SELECT bloom_may_contain_any(bloom_create(10), '1,2');
SELECT bloom_may_contain_any(bloom_create(10, key_type => 'int'), '{1,two}');
-- whether NULL is null does not depend on a setting
SET array_nulls = off;
SELECT bloom_filter_keys(bloom_add(bloom_create(10), 1), '{1,NULL}');
RESET array_nulls;

--
-- Adding, removing, counting: by each reading, or by none where they differ
--
SELECT (bloom_info(f)).keys_added, f @~ 7 AS seven, bloom_remove(f, ' 7') @~ 7 AS removed, bloom_count(f, '7') FROM bloom_add(bloom_add(bloom_create(10, 0.0001, 'counting'), 5), '7') f;
SELECT added, pg_typeof(added), filter @~ 6 AS six FROM bloom_add_new(bloom_add(bloom_create(10, 0.0001), 5), '{5,6,06,NULL}');
SELECT bloom_remove_all(f, '{1,2,2}') @~ 2 AS two, bloom_remove_all(f, '{1,2}') @~ 2 AS two_left, bloom_add_all(f, '{8,9,NULL}') @~ 9 AS nine FROM bloom_add_all(bloom_create(10, 0.0001, 'counting'), '{1,2,2}'::int[]) f;
SELECT f @~ 'ab '::text AS text, f @~ 'ab'::char(3) AS bpchar, (bloom_info(f)).keys_added FROM bloom_add(bloom_create(10, 0.0001, 'blocked', 'text'), 'ab ') f;
SELECT f @~ 'ab '::text AS text, f @~ 'ab'::char(3) AS bpchar, f @~ 'c' AS c, (bloom_info(f)).keys_added FROM bloom_add_all(bloom_create(10, 0.0001, 'blocked', 'text'), '{"ab ",c}') f;
SELECT f @~ 0.1::float4 AS float4, f @~ 0.1::float8 AS float8, bloom_count(f, '0.1') FROM bloom_add(bloom_create(10, 0.0001, 'counting', 'float4'), '0.1') f;
SELECT bloom_count(f, '0.1') AS most, bloom_count(f, '0.5') FROM bloom_add_all(bloom_create(10, 0.0001, 'counting'), '{0.1,0.1,0.5}'::float4[]) f;
SELECT bloom_remove(bloom_add(bloom_create(10, 0.01, 'counting', 'float4'), '0.1'), '0.1');
SELECT bloom_remove_all(bloom_create(10, 0.01, 'counting', 'text'), '{"ab "}');
SELECT added FROM bloom_add_new(bloom_create(10, key_type => 'text'), '{ab,"ab "}');
SELECT bloom_add(bloom_create(10, key_type => 'int'), 'x');
SELECT bloom_add(bloom_create(10, key_type => 'date'), '2020-01-01');
SELECT bloom_add(f, NULL) = f AS null_key, bloom_add(NULL, 'x') IS NULL AS null_filter, bloom_add_all(f, NULL) = f AS null_keys FROM bloom_create(10) f;

--
-- Parameters, by custom and generic plans; only what is untyped is read so
--
CREATE TABLE filters (id int, f bloomfilter);
INSERT INTO filters SELECT i, bloom_agg(x + 1000 * i) FROM generate_series(1, 5) i, generate_series(1, 100) x GROUP BY i;
INSERT INTO filters SELECT 6, bloom_agg(x::text) FROM generate_series(1, 100) x;
INSERT INTO filters VALUES (7, NULL), (8, bloom_create(10));
SET plan_cache_mode = force_generic_plan;
PREPARE ask AS SELECT array_agg(id ORDER BY id) FROM filters WHERE f @~ $1;
EXECUTE ask ('3001');
EXECUTE ask (' 0x');
EXECUTE ask ('50');
EXECUTE ask (3001);
EXECUTE ask (NULL);
PREPARE ask_any AS SELECT array_agg(id ORDER BY id) FROM filters WHERE bloom_may_contain_any(f, $1);
EXECUTE ask_any ('{3001,50}');
EXECUTE ask_any ('{}');
SET plan_cache_mode = force_custom_plan;
EXECUTE ask ('3001');
EXECUTE ask_any ('{3001,50}');
RESET plan_cache_mode;
SELECT name, parameter_types FROM pg_prepared_statements WHERE name LIKE 'ask%' ORDER BY 1;
DEALLOCATE ALL;
-- a text is no literal
SELECT count(*) FROM filters WHERE id = 1 AND f @~ '1001'::text;
SELECT count(*) FROM filters WHERE id = 1 AND f @~ '1001'::varchar;
-- other literals and other families row by row
SELECT l::text, array_agg(id ORDER BY id) FILTER (WHERE f @~ l) AS found FROM (VALUES ('1001'::bloomliteral), ('50'), ('2100'), ('02100'), (NULL)) v(l), filters GROUP BY l::text ORDER BY l::text;
SELECT id, bloom_filter_keys(f, l) FROM filters, (VALUES ('{1001,5050}'::bloomliteral), ('{2001,50}')) v(l) ORDER BY id, l::text;
CREATE TABLE literal_column AS SELECT x::text::bloomliteral AS l FROM generate_series(1001, 3000) x;
ANALYZE literal_column;
SELECT count(*) FILTER (WHERE l::text::int <= 1100) AS keys, count(*) < 200 AS few_others FROM literal_column WHERE (SELECT f FROM filters WHERE id = 1) @~ l;
SELECT set_config('literals.f', f::text, false) <> '' AS set FROM filters WHERE id = 1;
SELECT count(*) FILTER (WHERE l::text::int <= 1100) AS keys FROM literal_column WHERE current_setting('literals.f')::bloomfilter @~ l;
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
SET search_path = literals, public;
SET bloomfam.join_filter = force;
SELECT count(*) FILTER (WHERE l::text::int <= 1100) AS keys FROM literal_column WHERE (SELECT f FROM filters WHERE id = 1) @~ l;
RESET bloomfam.join_filter;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;

-- PL/pgSQL, views, an index
DO $$
DECLARE
	f bloomfilter := bloom_create(100, 0.0001, key_type => 'int');
	yes boolean;
BEGIN
	FOR i IN 1..3 LOOP
		f := bloom_add(f, '77');
		f := bloom_add(f, i);
	END LOOP;
	EXECUTE 'SELECT $1 @~ ''77''' INTO yes USING f;
	RAISE NOTICE '% % %', f @~ '77', f @~ '78', yes;
	BEGIN
		f := bloom_add(f, 'no number');
	EXCEPTION WHEN invalid_text_representation THEN
		RAISE NOTICE '%, and still %', SQLERRM, f @~ '3';
	END;
END $$;
CREATE VIEW view AS SELECT id, f @~ '1001' AS one, '1001' ~@ f AS left, bloom_may_contain_any(f, '{1001,7}') AS any, bloom_filter_keys(f, '{1001,x}') AS keys, bloom_add(f, '4') AS added FROM filters WHERE id = 1;
SELECT (SELECT count(*) FROM regexp_matches(pg_get_viewdef('view'), '::bloomliteral', 'g')) AS literals;
SELECT one, "left", "any" FROM view;
CREATE INDEX ON filters ((f @~ '1001')) WHERE id <= 5;
SELECT indexdef FROM pg_indexes WHERE tablename = 'filters' AND schemaname = 'literals';

--
-- Stored filters, out of line: by slices, and fetched
--
CREATE TABLE toasted (id int, what text, f bloomfilter);
INSERT INTO toasted SELECT 1, 'int', bloom_agg(x, 0.001, 'blocked', 20000) FROM generate_series(1, 1000) x;
INSERT INTO toasted SELECT 2, 'real', bloom_agg((x / 10.0)::float4, 0.001, 'standard', 20000) FROM generate_series(1, 1000) x;
INSERT INTO toasted SELECT 3, 'double', bloom_agg((x / 10.0)::float8, 0.001, 'partitioned', 20000) FROM generate_series(1, 1000) x;
INSERT INTO toasted SELECT 4, 'text', bloom_agg(x::text, 0.001, 'counting', 20000) FROM generate_series(1, 1000) x;
INSERT INTO toasted SELECT 5, 'char(n) as text', bloom_agg(x::char(6)::text, 0.001, 'parquet', 20000) FROM generate_series(1, 1000) x;
INSERT INTO toasted SELECT 6, 'ribbon', bloom_agg(x, 0.001, 'ribbon') FROM generate_series(1, 20000) x;
SELECT array_agg(id ORDER BY id) FROM toasted WHERE f @~ '7';
SELECT array_agg(id ORDER BY id) FROM toasted WHERE id NOT IN (1, 6) AND f @~ '0.1';
SELECT array_agg(id ORDER BY id) FROM toasted WHERE id IN (4, 5) AND f @~ '7     ';
SELECT what, count(*) FILTER (WHERE NOT f @~ l) AS denied FROM toasted, (SELECT x::text::bloomliteral AS l FROM generate_series(1, 100) x) v GROUP BY what ORDER BY what;
SELECT what, count(*) FILTER (WHERE NOT f @~ l) AS denied FROM toasted, (SELECT (x / 10.0)::float8::text::bloomliteral AS l FROM generate_series(1, 1000) x) v WHERE what IN ('real', 'double') GROUP BY what ORDER BY what;
SELECT f @~ 'x' FROM toasted WHERE id = 1;

--
-- Enums: by label, whatever the search path
--
CREATE SCHEMA "other ""schema""";
CREATE TYPE "other ""schema"""."a.""mood""" AS ENUM ('sad', 'ok');
CREATE TABLE moods AS SELECT bloom_agg(m) AS f FROM unnest('{ok}'::"other ""schema"""."a.""mood"""[]) m;
CREATE TEMP TABLE hashed AS SELECT bloom_agg(bloom_key(m)) AS f FROM unnest('{ok}'::mood[]) m;
SELECT key_type, f @~ 'ok' AS ok, f @~ 'sad' AS sad FROM moods, bloom_info(f);
SELECT f @~ 'none' FROM moods;
SELECT f @~ 'ok' FROM hashed;
CREATE ROLE regress_bloomfam_literals;
GRANT USAGE ON SCHEMA literals TO regress_bloomfam_literals;
GRANT SELECT ON moods TO regress_bloomfam_literals;
SET ROLE regress_bloomfam_literals;
SELECT f @~ 'ok' AS ok FROM moods;
RESET ROLE;
ALTER TYPE "other ""schema"""."a.""mood""" RENAME TO moved;
SELECT f @~ 'ok' FROM moods;
CREATE TYPE "other ""schema"""."a.""mood""" AS (no int);
SELECT f @~ 'ok' FROM moods;
CREATE TYPE pg_temp.passing AS ENUM ('here');
SELECT bloom_agg('here'::pg_temp.passing) @~ 'here' AS temporary;

-- text under another equality than that of bytes: the key has to say so
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT regexp_replace(value_of($$SELECT bloom_agg('a'::text COLLATE ci) @~ 'A'$$), '@pg.*', '@pg...') AS untyped, bloom_agg('a'::text COLLATE ci) @~ 'A' COLLATE ci AS collated;
SELECT value_of($$SELECT bloom_agg('a'::text) @~ 'A' COLLATE ci$$) LIKE 'ERROR: key does not have%' AS other;
SELECT bloom_may_contain_any(bloom_agg('a '::char(2) COLLATE ci), '{b,"A    "}' COLLATE ci), bloom_agg(5) @~ '5' COLLATE ci AS number;

-- literals within a row are text, unless it matters which
SELECT f @~ ROW(1, 'ab') AS yes, f @~ ROW(1, 'ac') AS no, value_of($$SELECT bloom_agg(ROW(1, 'ab'::char(4))) @~ ROW(1, 'ab  ')$$) AS blank, f @~ ROW(1, 'ab  '::char(4)) AS cast
FROM (SELECT bloom_agg(ROW(1, 'ab'::char(4)), 1e-6, 'standard')) s(f);
SELECT bloom_agg(ROW(1, 'a'::text)) @~ ROW(1, repeat('n', 70)::name) AS no, value_of(format('SELECT bloom_agg(ROW(1, %L::name)) @~ ROW(1, %1$L)', repeat('n', 70))) AS too_long;

--
-- Kind parquet: as the column in the file is
--
SELECT what, f @~ l::bloomliteral AS yes, f @~ n::bloomliteral AS no FROM (VALUES ('int', bloom_add(bloom_create(10, 0.0001, 'parquet'), 5), '5', '6'), ('big', bloom_add(bloom_create(10, 0.0001, 'parquet'), 5), '5', '5000000000'),
	('real', bloom_add(bloom_create(10, 0.0001, 'parquet'), 0.1::float4), '0.1', '0.2'), ('double', bloom_add(bloom_create(10, 0.0001, 'parquet'), 0.1::float8), '0.1', '0.2'),
	('decimal', bloom_add(bloom_create(10, 0.0001, 'parquet'), 1.5::numeric(9,2)), '1.500', '1.505'), ('text', bloom_add(bloom_create(10, 0.0001, 'parquet'), 'ab'::text), 'ab', 'ac'),
	('uuid', bloom_add(bloom_create(10, 0.0001, 'parquet'), '00112233-4455-6677-8899-aabbccddeeff'::uuid), '00112233445566778899aabbccddeeff', '00000000-0000-0000-0000-000000000000')) v(what, f, l, n);
SELECT bloom_add(bloom_add(bloom_create(10, 0.01, 'parquet'), 5), '5000000000');
SELECT f @~ 0.1::float4 AS added FROM bloom_add(bloom_create(10, 0.01, 'parquet', 'float4'), '0.1') f;
SELECT bloom_create(10, 0.01, 'parquet', 'date') @~ '2020-01-01';

-- bytes are assigned to a column of filters, all of them checked
CREATE TABLE stored (f bloomfilter);
INSERT INTO stored SELECT f::bytea FROM filters WHERE id = 1;
UPDATE stored SET f = f::bytea || '\x00';
SELECT count(*) FROM stored JOIN filters USING (f);

SET client_min_messages = warning;
DROP OWNED BY regress_bloomfam_literals;
DROP ROLE regress_bloomfam_literals;
DROP SCHEMA literals, "other ""schema""" CASCADE;
