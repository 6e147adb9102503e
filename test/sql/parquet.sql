-- Filters of Parquet files: what they look like, what comes in, what goes out, and what their keys are.
-- (DuckDB's own files are a test apart: test/duckdb.)
CREATE SCHEMA parquet;
SET search_path = parquet, public;
SET TimeZone = 'UTC';

--
-- The bytes
--
-- what parquet-mr makes of these keys in 32 bytes, as parquet-rs tests it
SELECT bloom_to_parquet(bloom_add_all(bloom_create(10, 0.01, 'parquet'), (SELECT array_agg('a' || i) FROM generate_series(0, 9) i)))
	= '\x15401c1c00001c1c00001c1c000000'::bytea || '\xc8015014404408' || '\x6d062504439050602008842b210005634102' || '\x00e02c404e6004' AS same;
-- and back
SELECT f @~ 'a0' AS a0, f @~ 'a9' AS a9, f @~ 'b' AS b, bloom_to_parquet(f) = data AS same,
	i.kind, i.key_type, i.keys_added, i.capacity, i.target_fpr, i.bits, i.hashes
FROM (VALUES ('\x15401c1c00001c1c00001c1c000000c80150144044086d062504439050602008842b21000563410200e02c404e6004'::bytea)) v(data),
	bloom_from_parquet(data, 'text') f, bloom_info(f) i;
-- any number of blocks comes in; ours are powers of two
SELECT n, (bloom_info(bloom_create(n, 0.01, 'parquet'))).bits / 8 AS bytes FROM unnest('{1,24,25,1000,1000000}'::int[]) n;
SELECT (i).bits / 8 AS bytes, (i).capacity, (i).target_fpr, (i).keys_added
FROM bloom_info(bloom_from_parquet(('\x15c0011c1c00001c1c00001c1c000000' || repeat('00', 96))::bytea, 'int4')) i;

--
-- What is no filter of Parquet's
--
DO $$
DECLARE
	good bytea := '\x15401c1c00001c1c00001c1c000000' || decode(repeat('00', 32), 'hex');
	bad bytea;
	what text;
	reason text;
BEGIN
	PERFORM bloom_from_parquet(good, 'int4');
	FOR what, bad IN VALUES
		('nothing', ''::bytea),
		('one byte', '\x15'),
		('the header alone', substr(good, 1, 15)),
		('cut short', substr(good, 1, 46)),
		('a byte more', good || '\x00'),
		('a block more', good || decode(repeat('00', 32), 'hex')),
		('no length', set_byte(good, 1, 0)),
		('31 bytes', set_byte(good, 1, 62)),
		('-32 bytes', set_byte(good, 1, 63)),
		('a text', 'PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1PAR1'),
		('another algorithm', set_byte(good, 3, 44)),
		('another hash', set_byte(good, 7, 44)),
		('compressed', set_byte(good, 11, 44)),
		('an unknown field', set_byte(good, 14, 28)),
		('one of our values', bloom_create(10, 0.01, 'parquet')::bytea)
	LOOP
		BEGIN
			PERFORM bloom_from_parquet(bad, 'int4');
			RAISE NOTICE '%: accepted', what;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
			RAISE NOTICE '%: % % %', what, SQLSTATE, SQLERRM, reason;
		END;
	END LOOP;
END $$;

-- NULLs
SELECT bloom_from_parquet(NULL, 'int4') IS NULL AS data, bloom_from_parquet('\x', NULL) IS NULL AS type,
	bloom_from_parquet('\x', 'numeric', NULL) IS NULL AS "column", bloom_to_parquet(NULL) IS NULL AS filter;
-- other kinds have nothing that Parquet could read
SELECT bloom_to_parquet(bloom_create(10));
SELECT bloom_to_parquet(bloom_create(10, 0.01, 'standard'));
SELECT bloom_to_parquet(bloom_agg(x)) FROM generate_series(1, 0) x;
-- a filter without keys has no type yet
SELECT bloom_to_parquet(bloom_create(10, 0.01, 'parquet'));

--
-- The type of the keys
--
CREATE FUNCTION empty() RETURNS bytea IMMUTABLE
RETURN '\x15401c1c00001c1c00001c1c000000' || decode(repeat('00', 32), 'hex');
SELECT t AS key_type, (bloom_info(bloom_from_parquet(empty(), t))).key_type AS family
FROM unnest('{int2,int4,int8,float4,float8,date,time,timestamp,timestamptz,uuid,text,varchar,name,bytea}'::regtype[]) t;
SELECT t AS key_type, c AS column_type, (bloom_info(bloom_from_parquet(empty(), t, c))).key_type AS family
FROM (VALUES ('int2'::regtype, 'int64'), ('int8', 'int32'), ('float4', 'double'), ('float8', 'float'), ('time', 'time(3)'), ('time', 'time(9)'),
	('timestamp', 'timestamp(3)'), ('timestamp', 'timestamp(6)'), ('timestamptz', 'timestamptz(9)'),
	('numeric', 'decimal(9,2)'), ('numeric', ' decimal( 9 , 2 ) '), ('numeric', 'decimal(18,18)'), ('numeric', 'decimal(38,0)'),
	('numeric', 'decimal(9,2) int64'), ('numeric', 'decimal(9,2) fixed(4)'), ('numeric', 'decimal(10,2) int64'),
	('numeric', 'decimal(19,2) fixed(9)'), ('numeric', 'decimal(19,2) fixed(16)'), ('numeric', 'decimal(38,38)fixed(16)'), ('text', 'text')) v(t, c);
-- columns that there are not
DO $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['', ' ', 'int', 'int32x', 'INT32', 'decimal', 'decimal()', 'decimal(0,0)', 'decimal(39,0)', 'decimal(5,6)', 'decimal(5,-1)',
		'decimal(5)', 'decimal(5,2) int32', 'decimal(5,2) x', 'decimal(19,2) int64', 'decimal(9,2) fixed(3)', 'decimal(9,2) fixed(17)',
		'decimal(9,2) fixed(99999999999)', 'decimal(99999999999,2)', 'decimal(9,2', 'time', 'time(0)', 'time(4)', 'timestamp(6', 'timestamp(6)z', 'text(3)']
	LOOP
		BEGIN
			PERFORM bloom_from_parquet(empty(), 'numeric', name);
			RAISE NOTICE '"%": accepted', name;
		EXCEPTION WHEN invalid_parameter_value THEN
			RAISE NOTICE '%', SQLERRM;
		END;
	END LOOP;
END $$;
SELECT bloom_from_parquet(empty(), 'numeric', 'float16');
-- and those that do not go with the key
SELECT bloom_from_parquet(empty(), 'text', 'bytea');
SELECT bloom_from_parquet(empty(), 'timestamp', 'timestamptz(6)');
SELECT bloom_from_parquet(empty(), 'int4', 'float');
SELECT bloom_from_parquet(empty(), 'numeric');
-- types that Parquet has not
SELECT bloom_from_parquet(empty(), 'bool');
SELECT bloom_from_parquet(empty(), 'interval');
SELECT bloom_from_parquet(empty(), 'int4[]');
SELECT bloom_from_parquet(empty(), 'record');
SELECT bloom_from_parquet(empty(), 'jsonb');
SELECT bloom_from_parquet(empty(), 'bloomkey');
SELECT bloom_from_parquet(empty(), 'char(3)');
SELECT bloom_from_parquet(empty(), '-');
SELECT bloom_create(10, 0.01, 'parquet', 'bool');
SELECT bloom_create(10, 0.01, 'parquet', 'numeric');
SELECT (bloom_info(bloom_create(10, 0.01, 'parquet', 'timestamp'))).key_type;
CREATE TYPE mood AS ENUM ('good');
SELECT bloom_add(bloom_create(10, 0.01, 'parquet'), 'good'::mood);
SELECT bloom_add(bloom_create(10, 0.01, 'parquet'), row(1, 2));
SELECT bloom_add(bloom_create(10, 0.01, 'parquet'), bloom_key(1));
SELECT bloom_may_contain(bloom_from_parquet(empty(), 'int4'), bloom_key(1));
-- collations: bytes are all that Parquet looks at
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT bloom_add(bloom_create(10, 0.01, 'parquet'), 'a'::text COLLATE ignore_case);
SELECT f @~ ('A' COLLATE ignore_case) FROM bloom_from_parquet(empty(), 'text') f;
SELECT f @~ ('A' COLLATE "C") AS no FROM bloom_from_parquet(empty(), 'text') f;
SELECT f @~ x FROM bloom_from_parquet(empty(), 'text') f, (SELECT a || b FROM (VALUES ('A' COLLATE "C", 'b' COLLATE "POSIX")) v(a, b)) w(x);

--
-- The hash of each type: that of a bytea, which is its key's bytes as they are, and which are written out here
--
CREATE FUNCTION plain(bytes bytea) RETURNS bytea IMMUTABLE RETURN bloom_to_parquet(bloom_add(bloom_create(1, 0.01, 'parquet'), bytes));
CREATE TABLE hashes (what text, f bloomfilter, bytes bytea);
\set new 'bloom_create(1, 0.01, \'parquet\')'
INSERT INTO hashes VALUES
	('smallint', bloom_add(:new, (-2)::int2), '\xfeffffff'),
	('integer', bloom_add(:new, 258), '\x02010000'),
	('bigint', bloom_add(:new, (-2)::int8), '\xfeffffffffffffff'),
	('real', bloom_add(:new, 1.5::float4), '\x0000c03f'),
	('double precision', bloom_add(:new, 1.5::float8), '\x000000000000f83f'),
	('date', bloom_add(:new, '1970-01-03'::date), '\x02000000'),
	('date before', bloom_add(:new, '1969-12-30'::date), '\xfeffffff'),
	('last date', bloom_add(:new, '5874897-12-31'::date), '\xd9c1da7f'),
	('date infinity', bloom_add(:new, 'infinity'::date), '\xffffff7f'),
	('date -infinity', bloom_add(:new, '-infinity'::date), '\x01000080'),
	('time', bloom_add(:new, '00:00:00.000258'::time), '\x0201000000000000'),
	('timestamp', bloom_add(:new, '1970-01-01 00:00:00.000258'::timestamp), '\x0201000000000000'),
	('timestamp before', bloom_add(:new, '1969-12-31 23:59:59.999998'::timestamp), '\xfeffffffffffffff'),
	('timestamp infinity', bloom_add(:new, 'infinity'::timestamp), '\xffffffffffffff7f'),
	('timestamp -infinity', bloom_add(:new, '-infinity'::timestamp), '\x0100000000000080'),
	('timestamptz', bloom_add(:new, '1970-01-01 01:00:00.000258+01'::timestamptz), '\x0201000000000000'),
	('uuid', bloom_add(:new, '00112233-4455-6677-8899-aabbccddeeff'::uuid), '\x00112233445566778899aabbccddeeff'),
	('text', bloom_add(:new, 'ab'::text), '\x6162'),
	('untyped', bloom_add(bloom_create(1, 0.01, 'parquet', 'text'), 'ab'), '\x6162'),
	('empty text', bloom_add(:new, ''::text), ''),
	('varchar', bloom_add(:new, 'ab '::varchar), '\x616220'),
	('name', bloom_add(:new, 'ab'::name), '\x6162'),
	('decimal(4,1)', bloom_add(:new, (-0.2)::numeric(4,1)), '\xfeffffff'),
	('decimal(9,0)', bloom_add(:new, 999999999::numeric(9,0)), '\xffc99a3b'),
	('decimal(10,3)', bloom_add(:new, 0.258::numeric(10,3)), '\x0201000000000000'),
	('decimal(18,2)', bloom_add(:new, (-9999999999999999.99)::numeric(18,2)), '\x01009c584c491ff2'),
	('decimal(19,0)', bloom_add(:new, (-2)::numeric(19,0)), '\xfffffffffffffffffe'),
	('decimal(20,4)', bloom_add(:new, 0.0258::numeric(20,4)), '\x000000000000000102'),
	('decimal(38,0)', bloom_add(:new, 99999999999999999999999999999999999999::numeric(38,0)), '\x4b3b4ca85a86c47a098a223fffffffff'),
	('decimal(38,38)', bloom_add(:new, (-0.00000000000000000000000000000000000002)::numeric(38,38)), '\xfffffffffffffffffffffffffffffffe'),
	('decimal zero', bloom_add(:new, 0::numeric(18,2)), '\x0000000000000000'),
	('decimal(9,2) int64', bloom_add(bloom_from_parquet(empty(), 'numeric', 'decimal(9,2) int64'), 2.58), '\x0201000000000000'),
	('decimal(9,2) fixed(5)', bloom_add(bloom_from_parquet(empty(), 'numeric', 'decimal(9,2) fixed(5)'), -2.58), '\xfffffffefe'),
	('decimal(20,2) fixed(16)', bloom_add(bloom_from_parquet(empty(), 'numeric', 'decimal(20,2) fixed(16)'), 2.58), '\x00000000000000000000000000000102'),
	('time(3)', bloom_add(bloom_from_parquet(empty(), 'time', 'time(3)'), '00:00:00.258'::time), '\x02010000'),
	('time(9)', bloom_add(bloom_from_parquet(empty(), 'time', 'time(9)'), '00:00:00.000258'::time), '\xd0ef030000000000'),
	('timestamp(3)', bloom_add(bloom_from_parquet(empty(), 'timestamp', 'timestamp(3)'), '1969-12-31 23:59:59.998'::timestamp), '\xfeffffffffffffff'),
	('timestamp(9)', bloom_add(bloom_from_parquet(empty(), 'timestamp', 'timestamp(9)'), '1970-01-01 00:00:00.000258'::timestamp), '\xd0ef030000000000'),
	('domain', bloom_add(:new, 1::information_schema.cardinal_number), '\x01000000');
SELECT what, (bloom_info(f)).key_type, bloom_to_parquet(f) = plain(bytes) AS as_written FROM hashes;

--
-- Floats: one zero, one NaN
--
SELECT t AS type, what, z.zero, z.minus_zero, z.nan, z.one
FROM (VALUES ('float4'::regtype, '0', '\x00000000'::bytea), ('float4', '-0', '\x00000080'), ('float4', 'NaN', '\x0000c07f'), ('float4', '-NaN', '\x0000c0ff'),
		('float4', 'another NaN', '\x0100807f'), ('float8', '0', '\x0000000000000000'), ('float8', '-0', '\x0000000000000080'),
		('float8', 'NaN', '\x000000000000f87f'), ('float8', '-NaN', '\x000000000000f8ff'), ('float8', 'another NaN', '\x010000000000f07f')) v(t, what, bytes),
	LATERAL (SELECT f @~ '0'::float8 AS zero, f @~ '-0'::float4 AS minus_zero, f @~ 'NaN'::float4 AND f @~ 'NaN'::float8 AS nan, f @~ 1::float8 AS one
		FROM bloom_from_parquet(plain(bytes), t) f) z;
-- on the way out a zero is both, and NaN those two that are common
SELECT t, bloom_to_parquet(f) = (SELECT bloom_to_parquet(bloom_union_agg(bloom_from_parquet(plain(b), 'bytea'))) FROM unnest(bytes) b) AS both
FROM (VALUES ('-0'::float4::text, bloom_add(:new, '-0'::float4), '{"\\x00000000","\\x00000080"}'::bytea[]),
		('0', bloom_add(:new, '0'::float4), '{"\\x00000000","\\x00000080"}'),
		('NaN', bloom_add(:new, 'NaN'::float4), '{"\\x0000c07f","\\x0000c0ff"}'),
		('0 (double)', bloom_add(:new, '-0'::float8), '{"\\x0000000000000000","\\x0000000000000080"}'),
		('NaN (double)', bloom_add(:new, 'NaN'::float8), '{"\\x000000000000f87f","\\x000000000000f8ff"}'),
		('1 (double)', bloom_add(:new, 1::float8), '{"\\x000000000000f03f"}')) v(t, f, bytes);

--
-- One column, keys of several types
--
SELECT f @~ 7 AS int4, f @~ 7::int2 AS int2, f @~ 7::int8 AS int8, f @~ 4294967303 AS too_large, f @~ 8 AS no FROM bloom_add(:new, 7) f;
SELECT f @~ 7 AS int4, f @~ 7::int2 AS int2, f @~ 7::int8 AS int8, f @~ 4294967303 AS no FROM bloom_add(:new, 7::int8) f;
SELECT f @~ 0.1::float4 AS float4, f @~ 0.1::float4::float8 AS float8, f @~ 0.1::float8 AS not_representable, f @~ 1e300::float8 AS too_large
FROM bloom_add(:new, 0.1::float4) f;
SELECT f @~ 0.25::float4 AS float4, f @~ 0.25::float8 AS float8, f @~ 0.1::float4 AS no FROM bloom_add(:new, 0.25::float8) f;
SELECT f @~ 1.5 AS plain, f @~ 1.500000 AS zeros, f @~ 1.5::numeric(30,20) AS other, f @~ 1.501 AS too_fine, f @~ 1e40 AS too_large,
	f @~ 'NaN'::numeric AS nan, f @~ 'Infinity'::numeric AS infinity, f @~ 0.0000000000000001 AS tiny
FROM bloom_add(:new, 1.5::numeric(18,2)) f;
SELECT f @~ '12:00:00.250'::time AS yes, f @~ '12:00:00.2501'::time AS too_fine FROM bloom_add(bloom_from_parquet(empty(), 'time', 'time(3)'), '12:00:00.25'::time) f;
SELECT f @~ '2020-01-01'::timestamp AS yes, f @~ '294276-12-31 23:59:59.999999'::timestamp AS too_late
FROM bloom_add(bloom_from_parquet(empty(), 'timestamp', 'timestamp(9)'), '2020-01-01'::timestamp) f;
SELECT f @~ '294276-12-31 23:59:59.999999'::timestamp AS too_late FROM bloom_add(:new, '2020-01-01'::timestamp) f;
SELECT f @~ 'ab'::varchar AS varchar, f @~ 'ab'::name AS name, f @~ 'ab' AS literal, f @~ 'ab '::text AS no, f @~ 'ab ' AS literal_blank, f @~ 'ab'::char(9)::text AS bpchar
FROM bloom_add(:new, 'ab'::text) f;
-- a char(n) equals varchars that are not the same bytes
SELECT 'ab'::char(9) = 'ab '::varchar AS equal;
SELECT bloom_add(:new, 'ab '::varchar) @~ 'ab'::char(9);
SELECT bloom_filter_keys(bloom_add(:new, 'ab '::varchar), ARRAY['ab'::char(9)]);
CREATE DOMAIN code AS char(3);
SELECT bloom_add(:new, 'ab'::code);
SELECT bloom_agg('ab'::char(3), 0.01, 'parquet');
SELECT bloom_create(10, 0.01, 'parquet', 'bpchar');
-- many filters, of one type and of another
CREATE TABLE segments (id int, f bloomfilter);
INSERT INTO segments VALUES (1, bloom_add(:new, 7)), (2, bloom_add(:new, 7::int8)), (3, bloom_add(bloom_create(10), 7)), (4, bloom_add(:new, 8)), (5, :new),
	(6, bloom_create(10)), (7, (SELECT bloom_agg(x) FROM generate_series(1, 0) x)), (8, NULL);
SELECT id, f @~ 7 AS int4, f @~ 7::int8 AS int8, f @~ 7::int2 AS int2, bloom_may_contain_any(f, '{6,7}'::int[]) AS any,
	bloom_filter_keys(f, '{7,8,7000000000}'::int8[]) AS keys FROM segments ORDER BY id;
SELECT id, f @~ 7 AS int4 FROM segments ORDER BY id DESC;
-- the same with filters that are probed where they are stored
CREATE TABLE stored AS
SELECT id, bloom_add_all(CASE id % 3 WHEN 0 THEN bloom_create(20000, 0.01, 'blocked', 'int8') WHEN 1 THEN bloom_create(20000, 0.01, 'parquet', 'int8')
	ELSE bloom_create(20000, 0.01, 'parquet', 'int4') END, (SELECT array_agg(id * 1000 + x) FROM generate_series(1, 900) x)) AS f
FROM generate_series(1, 12) id;
SELECT min(pg_column_size(f)) > 20000 AS toasted FROM stored;
SELECT array_agg(id ORDER BY id) FROM stored WHERE f @~ 7001;
SELECT array_agg(id ORDER BY id) FROM stored WHERE f @~ 7001::int8;
SELECT array_agg(id ORDER BY id) FROM stored WHERE f @~ 8001::int2;
SELECT bloom_which(array_agg(f ORDER BY id), 8001) FROM stored;
SELECT count(*) FILTER (WHERE NOT f @~ k) AS lost FROM stored, LATERAL (SELECT id * 1000 + x AS k FROM generate_series(1, 900) x) k;

-- what cannot be there cannot be added either
SELECT bloom_add(bloom_add(:new, 7), 4294967303);
SELECT bloom_add_all(bloom_add(:new, 7), '{1,2,4294967303}'::int8[]);
SELECT bloom_add(bloom_add(:new, 0.5::float4), 0.1::float8);
SELECT bloom_add(bloom_add(:new, 1.5::numeric(4,1)), 1.51);
SELECT bloom_add(bloom_add(:new, 1.5::numeric(4,1)), 1000.0);
SELECT bloom_add(bloom_add(:new, 1.5::numeric(4,1)), 'NaN'::numeric);
SELECT bloom_add(bloom_from_parquet(empty(), 'time', 'time(3)'), '00:00:00.0001'::time);
SELECT bloom_add(:new, '294276-12-31 23:59:59.999999'::timestamp);
-- a numeric without digits to go by
SELECT bloom_add(:new, 1.5);
SELECT bloom_add(:new, 1.5::numeric(40,2));
SELECT bloom_add_all(:new, '{1.5}'::numeric[]);
SELECT (bloom_info(bloom_add_all(:new, '{1.5}'::numeric(5,2)[]))).key_type;
SELECT :new @~ 1.5 AS no;
-- other types are errors, never "no"
SELECT bloom_add(:new, 7) @~ 7.0;
SELECT bloom_add(:new, 7) @~ 7::float8;
SELECT bloom_add(:new, 7) @~ '7'::text;
SELECT bloom_add(:new, 7) @~ '1970-01-08'::date;
SELECT bloom_add(:new, 'ab'::text) @~ 'ab'::bytea;
SELECT bloom_add(:new, '2020-01-01'::timestamp) @~ '2020-01-01'::timestamptz;
SELECT bloom_add(:new, '2020-01-01'::timestamp) @~ '2020-01-01'::date;
SELECT bloom_add(bloom_add(:new, 7), 'ab'::text);

--
-- From filters to filters
--
SELECT f @~ 1 AND f @~ 2 AS both, (bloom_info(f)).key_type FROM bloom_union(bloom_add(:new, 1), bloom_add(:new, 2)) f;
SELECT bloom_add(:new, 1) | bloom_add(:new, 2::int8);
SELECT bloom_add(:new, 1) | bloom_add(bloom_create(10), 1);
SELECT bloom_add(:new, 1.5::numeric(4,1)) | bloom_add(:new, 1.5::numeric(5,1));
-- the aggregate of no rows has a family of the other hash, and gives and takes nothing
SELECT (f | none) = f AS one_way, (none | f) = f AS other_way, ((f & none) = none) AS nothing
FROM bloom_add(:new, 1) f, (SELECT bloom_agg(x) AS none FROM generate_series(1, 0) x) n;
SELECT bloom_union_agg(f) = (SELECT f FROM segments WHERE id = 2) AS same FROM segments WHERE id IN (2, 7);
-- sizes of others: 3 blocks with 4, and what is folded is what was built
SELECT (i).bits / 8 AS bytes, f @~ 1 AND f @~ 2 AS both
FROM bloom_union(bloom_add(bloom_from_parquet(('\x15c0011c1c00001c1c00001c1c000000' || repeat('00', 96))::bytea, 'int4'), 1),
	bloom_add(bloom_create(80, 0.01, 'parquet'), 2)) f, bloom_info(f) i;
SELECT (bloom_info(f)).bits AS bits, bloom_to_parquet(f) = bloom_to_parquet(bloom_add_all(bloom_create(10, 0.01, 'parquet'), '{1,2,3}'::int[])) AS same
FROM bloom_fold(bloom_add_all(bloom_create(10000, 0.01, 'parquet'), '{1,2,3}'::int[]), 0.01) f;

--
-- Text is UTF-8 whatever the database's encoding
--
\set original :DBNAME
\set database regression_bloomfam_latin1
\set encoding LATIN1
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'
\i :file
SELECT f @~ chr(233) AS text, f @~ chr(233)::name AS name, f @~ chr(232) AS no,
	bloom_to_parquet(f) = bloom_to_parquet(bloom_add(bloom_create(1, 0.01, 'parquet'), '\xc3a9'::bytea)) AS utf8
FROM bloom_add(bloom_create(1, 0.01, 'parquet'), chr(233)) f;
\c :original
DROP DATABASE regression_bloomfam_latin1;
