-- Keys: what = calls equal hashes equally, whatever the type.
-- Its texts are of many languages, which the database's encoding may not have; keys_encoding is about those.
\set original :DBNAME
\set database regression_bloomfam_utf8
\set encoding UTF8
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'
\i :file
CREATE EXTENSION citext;
RESET client_min_messages;
SET TimeZone = 'UTC';
SET client_encoding = 'UTF8';

CREATE SCHEMA keys;
SET search_path = keys, public;

CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ci_again (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ci_ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE "odd""name" AS ENUM ('a');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN moods AS mood[];
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN pair_domain AS pair;
CREATE TYPE nested AS (p pair, r int4range, l positive[]);
CREATE TYPE ci_pair AS (a int, b text COLLATE ci);
CREATE TYPE ci_range AS RANGE (subtype = text, collation = ci);

-- A value's family, without what a family that the server's hash functions have a part in depends on.
CREATE FUNCTION masked(family text) RETURNS text IMMUTABLE LANGUAGE sql
AS $$ SELECT regexp_replace(family, '@pg\d+:(le|be)[^][(),]*', '@...', 'g') $$;

/*
 * Each type's values, all against all: two keys are the same exactly where the values are equal.  (That equal values have the same
 * key is a promise; that these few others have not is a fact, but for texts
 * that differ in trailing blanks.)  One side is stored, and so has packed headers, the other computed.
 */
CREATE TABLE type_values (type text, vals text[]);
INSERT INTO type_values VALUES
('bool', '{t,f,true,0}'),
('int2', '{0,1,-1,32767,-32768}'),
('int4', '{0,1,-1,2147483647,-2147483648}'),
('int8', '{0,1,-1,9223372036854775807,-9223372036854775808}'),
('float4', '{0,-0,1,1.0,NaN,-NaN,Infinity,-Infinity,1e-45,0.1}'),
('float8', '{0,-0,1,1.0,NaN,-NaN,Infinity,-Infinity,5e-324,0.1,1e308}'),
('numeric', '{0,-0,0.00,0e10,1,1.0,1.00000,-1,-1.0,10,100,1000,10000,10000.0,1e4,1e8,100000000,0.1,0.10,0.0001,0.00010,0.00001,
  NaN,Infinity,-Infinity,1234567890.0987654321,1234567890.09876543210000,12345678901234567890123456789012345678901234567890,
  1e400,1.0e400,-1e400,1e-400,1.000e-400,99999999999999999999,1e20}'),
('numeric(10,3)', '{1,1.5,1.500,10000}'),
('text', '{"",a,A,"a ","a  "," a",é,"é",日本}'),
('varchar(20)', '{"",a,A,"a ","a  "}'),
('bpchar', '{"",a,A,"a ","a  "," a"," "}'),
('char(4)', '{"",a,A,"a ","a  "," a"}'),
('name', '{"",a,A,"a "}'),
('"char"', '{"",a,A,z}'),
('citext', '{"",a,A,"a ",b,B,é,É}'),
('text COLLATE ci', '{"",a,A,"a ",b,B,é,É}'),
('text COLLATE ci_ai', '{"",a,A,"a ",b,B,é,É}'),
('name COLLATE ci', '{"",a,A,"a ",b,B,é,É}'),
('varchar COLLATE ci', '{"",a,A,"a ",b,B,é,É}'),
('bpchar COLLATE ci', '{"",a,A,"a ","A   ",b,B,"B "}'),
('char(4) COLLATE ci', '{"",a,A,"a ","A  ",b,B}'),
('bytea', '{"","\\x00","\\x0000","\\x01",abc}'),
('uuid', '{00000000-0000-0000-0000-000000000001,00000000000000000000000000000001,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11,
  a0eebc999c0b4ef8bb6d6bb9bd380a11}'),
('date', '{2000-01-01,"Jan 1 2000",2000-01-02,1999-12-31,infinity,-infinity,"0044-03-15 BC"}'),
('time', '{00:00,24:00,12:00,"12:00 PM",12:00:00.000001}'),
('timetz', '{12:00+00,13:00+01,12:00+01,12:00:00.0+00}'),
('timestamp', '{2000-01-01,"2000-01-01 00:00:00",infinity,-infinity,"2000-01-01 00:00:00.000001"}'),
('timestamptz', '{"2000-01-01 12:00+00","2000-01-01 13:00+01","2000-01-01 04:00 America/Los_Angeles","2000-01-01 12:00+01",infinity}'),
('interval', '{"1 month","30 days","720 hours","1 mon -1 day","29 days",0,"1 day -24 hours",-720:00,"-1 month","1 year","12 months",
  "360 days","365 days","178000000 years","-178000000 years","1 microsecond"}'),
('oid', '{0,1,4294967295}'),
('inet', '{10.0.0.0,10.0.0.0/32,10.0.0.0/8,10.1.2.3/8,::,::/128,::/64,::10.0.0.0,::a00:0}'),
('cidr', '{10.0.0.0,10.0.0.0/32,10.0.0.0/8,10,::,::/128,::/64}'),
('macaddr', '{08:00:2b:01:02:03,08-00-2B-01-02-03,08002b010203,08:00:2b:01:02:04}'),
('macaddr8', '{08:00:2b:01:02:03,08:00:2b:ff:fe:01:02:03,08:00:2b:01:02:03:04:05}'),
('pg_lsn', '{0/0,0/1,1/0,00000001/0}'),
('bit(4)', '{0000,1000,0001}'),
('varbit', '{"",0,00,000,1,10,0001,00000000,000000000}'),
('xid8', '{0,1,18446744073709551615}'),
('tid', '{"(0,1)","(1,0)","(0,1)"}'),
('jsonb', '{"{\"a\": 1, \"b\": 2}","{\"b\": 2, \"a\": 1.0}","{\"b\": 2, \"a\": 1, \"a\": 1}","[1, 2]","[2, 1]","1","1.00","\"1\"","null"}'),
('mood', '{sad,ok,happy}'),
('positive', '{1,2,01}'),
('int[]', '{"{}","{1}","{1,2}","[0:1]={1,2}","[1:2]={1,2}","{{1,2}}","{{1},{2}}","{NULL}","{1,NULL}","{NULL,1}","{0}"}'),
('int2[]', '{"{}","{1}","{1,2}","[0:1]={1,2}"}'),
('text[]', '{"{}","{a}","{A}","{NULL}","{\"NULL\"}","{\"\"}","{a,b}","{ab}"}'),
('numeric[]', '{"{1}","{1.0}","{1.00,2}","{1,2.0}"}'),
('bpchar[]', '{"{a}","{\"a  \"}","{b}"}'),
('citext[]', '{"{a}","{A}","{a,b}","{A,B}"}'),
('text[] COLLATE ci', '{"{a}","{A}","{a,b}","{A,B}"}'),
('int2vector', '{"","1","1 2","2 1"}'),
('oidvector', '{"","1","1 2","2 1"}'),
('moods', '{"{}","{sad}","{sad,ok}"}'),
('pair[]', '{"{}","{\"(1,a)\"}","{\"(1,b)\"}","{NULL}","{\"(,)\"}"}'),
('int4range', '{empty,"[1,1)","[1,4]","[1,5)","(0,5)","(,5)","[,5)","[1,)","(,)","(0,4]"}'),
('numrange', '{empty,"[1,2)","[1.0,2.00)","[1,2]","(1,2]","(,)","(,2)"}'),
('daterange', '{empty,"[2000-01-01,2000-01-31]","[2000-01-01,2000-02-01)"}'),
('tstzrange', '{"[\"2000-01-01 12:00+00\",)","[\"2000-01-01 13:00+01\",)"}'),
('ci_range', '{"[a,b)","[A,B)","[a,c)"}'),
('int4multirange', '{"{}","{[1,2)}","{[1,1]}","{[1,2),[5,6)}","{[5,6),[1,2)}","{[1,2),[2,3)}","{[1,3)}","{(,)}"}'),
('nummultirange', '{"{[1,2)}","{[1.0,2.0)}","{[1,2]}"}'),
('pair', '{"(1,a)","(1,\"a\")","(1,)","(1,\"\")","(,)","(2,a)"}'),
('pair_domain', '{"(1,a)","(1,)"}'),
('ci_pair', '{"(1,a)","(1,A)","(2,a)"}'),
('nested', '{"(\"(1,a)\",\"[1,3]\",\"{1,2}\")","(\"(1,a)\",\"[1,4)\",\"{1,2}\")","(,,)","(\"(,)\",,)"}'),
('bloomkey', '{000000000000000a:00000000000000ff,000000000000000A:00000000000000FF,000000000000000a:00000000000000fe}'),
('bloomkey[]', '{"{000000000000000a:00000000000000ff}","{000000000000000a:00000000000000fe}"}');

CREATE FUNCTION violations(type text, vals text[]) RETURNS TABLE (of_type text, a text, b text, equal bool, same_key bool)
LANGUAGE plpgsql AS
$$
DECLARE
	plain text := split_part(type, ' COLLATE ', 1);
	coll text := CASE WHEN type LIKE '% COLLATE %' THEN 'COLLATE ' || split_part(type, ' COLLATE ', 2) ELSE '' END;
BEGIN
	EXECUTE format('CREATE TEMP TABLE stored (x %s %s)', plain, coll);
	EXECUTE format('INSERT INTO stored SELECT v::%s FROM unnest($1) v', plain) USING vals;
	RETURN QUERY EXECUTE format(
		'SELECT %L, s.x::text, c.x::text, s.x = c.x, bloom_key(s.x) = bloom_key(c.x)
		 FROM stored s, (SELECT v::%s %s AS x FROM unnest($1) v OFFSET 0) c
		 WHERE (s.x = c.x) IS DISTINCT FROM (bloom_key(s.x) = bloom_key(c.x))
		   AND NOT (s.x <> c.x AND rtrim(s.x::text, '' '') = rtrim(c.x::text, '' ''))', type, plain, coll) USING vals;
	DROP TABLE stored;
END
$$;
SELECT v.* FROM type_values, violations(type, vals) v;

-- All of them were looked at, each with more than one value.
SELECT count(*) > 60 AS types, min(cardinality(vals)) >= 2 AS values FROM type_values;

-- Their families.
CREATE FUNCTION family_of(type text, val text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	plain text := split_part(type, ' COLLATE ', 1);
	coll text := CASE WHEN type LIKE '% COLLATE %' THEN 'COLLATE ' || split_part(type, ' COLLATE ', 2) ELSE '' END;
	result text;
BEGIN
	EXECUTE format('SELECT (bloom_info(bloom_agg($1::%s %s))).key_type', plain, coll) INTO result USING val;
	RETURN result;
END
$$;
SELECT type, masked(family_of(type, vals[1])) AS family FROM type_values WHERE type <> 'bloomkey';

/*
 * Pairs of equal values of different types, or of rows.
 */
CREATE TABLE equal_pairs (a text, b text);
INSERT INTO equal_pairs VALUES
('1::int2', '1::int4'), ('(-1)::int2', '(-1)::int8'), ('1::int4', '1::int8'), ('1::positive', '1::int8'),
('1.5::float4', '1.5::float8'), ('''NaN''::float4', '''-NaN''::float8'), ('''-0''::float4', '0::float8'),
('''a''::name', '''a''::varchar(4)'), ('''a  ''::char(4)', '''a''::text'), ('''a''::varchar', '''a''::char(2)'),
('''a''::char(2)', '''a''::char(4)'), ('''a''::name', '''a''::text'),
('''a''::text COLLATE "C"', '''a''::text'),
('''a''::text COLLATE ci', '''A''::text COLLATE ci'), ('''a''::name COLLATE ci', '''A''::text COLLATE ci'),
('''a ''::char(2) COLLATE ci', '''A''::char(4) COLLATE ci'),
('ARRAY[''a'', ''B''] COLLATE ci', 'ARRAY[''A'', ''b''] COLLATE ci'),
('''10.0.0.0/8''::cidr', '''10.0.0.0/8''::inet'),
('(1, ''a''::text)', '(1::int8, ''a''::varchar)'), ('(1, ''a'')', '(1, ''a''::text)'), ('(1, ''a''::text)', '(1, ''a'')::pair'),
('(1.0, ''1 month''::interval)', '(1.00, ''30 days''::interval)'),
('(1, ''a''::text COLLATE ci)', '(1, ''A''::text COLLATE ci)'), ('(1, ''a'')::ci_pair', '(1, ''A''::text COLLATE ci)'),
('ROW(1)', 'ROW(1::int8)'), ('((1.0, 2), 3)', '((1.00, 2), 3)'),
('ARRAY[(1.0, ''a''::text), (2.0, ''b''::text)]', 'ARRAY[(1.00, ''a''::text), (2.00, ''b''::text)]'),
('repeat(''x'', 100000)::text', '(SELECT big FROM big)'), ('repeat(''1'', 20000)::numeric', '(SELECT num FROM big)'),
('(SELECT array_agg(i) FROM generate_series(1, 20000) i)', '(SELECT arr FROM big)'),
('ROW(repeat(''x'', 100000), 1)', 'COALESCE((SELECT r FROM (SELECT big, 1 FROM big) r))');

CREATE TABLE big AS
SELECT repeat('x', 100000) AS big, repeat('1', 20000)::numeric AS num, (SELECT array_agg(i) FROM generate_series(1, 20000) i) AS arr;

CREATE FUNCTION evaluate(expression text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT (%s)::text', expression) INTO result;
	RETURN result;
END
$$;
SELECT a, b, equal, same_key
FROM equal_pairs,
	 LATERAL evaluate(format('(%s) = (%s)', a, b)) AS equal,
	 LATERAL evaluate(format('bloom_key(%s) = bloom_key(%s)', a, b)) AS same_key
WHERE equal IS DISTINCT FROM 'true' OR same_key IS DISTINCT FROM 'true';

-- What a row holds is not confused with its neighbours: nulls, columns, and rows within rows.
SELECT count(DISTINCT k) = count(*) AS all_differ
FROM (VALUES (bloom_key(ROW(1, NULL::int))), (bloom_key(ROW(NULL::int, 1))), (bloom_key(ROW(NULL::int, NULL::int))),
			 (bloom_key(ROW(1, 0))), (bloom_key(ROW(1))), (bloom_key(ROW(1, 2, 3))), (bloom_key(((1, 2), 3))),
			 (bloom_key((1, (2, 3)))), (bloom_key(ROW(ROW(1::int, 2::text), 3))), (bloom_key(ARRAY[1, 2, 3])),
			 (bloom_key(ARRAY[(1, 2), (3, 4)])), (bloom_key(ARRAY[(1, 2, 3, 4)])),
			 (bloom_key(ARRAY[ROW('a'::text)])), (bloom_key(ARRAY[ROW('a'::"char")]))) v(k);

-- A variable may hold rows of different types.
CREATE FUNCTION row_keys() RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE
	r record;
	i int;
BEGIN
	FOR i IN 1..4 LOOP
		IF i % 2 = 1 THEN
			r := ROW(1, 'a'::text);
		ELSE
			r := ROW(1::numeric);
		END IF;
		RETURN NEXT (bloom_key(r) = bloom_key(ROW(1, 'a'::text))) || ' ' || (bloom_key(r) = bloom_key(ROW(1.0)));
	END LOOP;
END
$$;
SELECT row_keys();
-- but not the elements of an array
SELECT bloom_key(ARRAY[ROW(1, 2), ROW('a'::text)]);

-- A composite type and an enum that change while a query runs.
CREATE TABLE changing AS SELECT (1, 'a')::pair AS p, ARRAY[(1, 'a')::pair] AS ps, 'sad'::mood AS m;
CREATE FUNCTION change() RETURNS TABLE (row_changes bool, array_changes bool, row_is_new bool, array_is_new bool, enum_changes bool)
LANGUAGE plpgsql AS
$$
DECLARE
	r record;
	keys bloomkey[];
BEGIN
	FOR r IN SELECT bloom_key(p) AS p, bloom_key(ps) AS ps, bloom_key(m) AS m FROM changing, generate_series(1, 100) LOOP
		IF keys IS NULL THEN
			keys := ARRAY[r.p, r.ps, r.m];
			ALTER TYPE pair ADD ATTRIBUTE c int;
			ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
		END IF;
	END LOOP;
	RETURN QUERY SELECT r.p <> keys[1], r.ps <> keys[2], r.p = bloom_key((1, 'a', NULL)::pair),
						r.ps = bloom_key(ARRAY[(1, 'a', NULL)::pair]), r.m <> keys[3];
END
$$;
SELECT * FROM change();
SELECT family_of('pair', '(1,a,)');

-- The database's own names are quoted in families; too long a family is cut, and still tells types apart.
SELECT family_of('"odd""name"', 'a');
CREATE FUNCTION wide(columns int, last text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT (bloom_info(bloom_agg(ROW(%s 1::%s)))).key_type', repeat('1::int2, ', columns), last) INTO result;
	RETURN result;
END
$$;
SELECT length(wide(60, 'int')) AS whole, length(wide(200, 'int')) AS cut, wide(200, 'int') = wide(200, 'int8') AS same,
	   wide(200, 'int') = wide(200, 'numeric') AS not_same;

-- Collations: one family where provider, locale, rules and version are the same, else not.
SELECT bloom_key('a'::text COLLATE ci) = bloom_key('A'::text COLLATE ci_again) AS same,
	   bloom_key('a'::text COLLATE ci) = bloom_key('a'::text COLLATE ci_ai) AS other_collation,
	   bloom_key('a'::text COLLATE ci) = bloom_key('a'::text) AS bytes;
CREATE TABLE collated (a text COLLATE ci, b text COLLATE ci_ai, d text);
INSERT INTO collated VALUES ('A', 'B', 'D');
SELECT bloom_key(a || b) FROM collated;
SELECT bloom_key(ARRAY[a, b]) FROM collated;
SELECT bloom_key(a || d) = bloom_key('ad'::text COLLATE ci) AS same FROM collated;

-- citext is not text.
SELECT bloom_key('A'::citext) = bloom_key('a'::citext) AS same, bloom_key('A'::citext) = bloom_key('A'::text) AS text;

-- What has no 64-bit hash function.
SELECT bloom_key('(1,2)'::point);
SELECT bloom_key('{}'::json);
SELECT bloom_key('1'::money);
SELECT bloom_key('$.a'::jsonpath);
SELECT bloom_key(ARRAY['(1,2)'::point]);
SELECT bloom_key(ROW(1, '{}'::json));
ANALYZE type_values;
SELECT bloom_key(histogram_bounds) FROM pg_stats WHERE tablename = 'type_values' AND attname = 'type';

-- A type whose hash operator class has a 32-bit function only; one that has another's operator class and an = of its own; and a
-- range whose equality is not its subtype's.
SET client_min_messages = warning;
CREATE TYPE twin;
CREATE FUNCTION twin_in(cstring) RETURNS twin AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION twin_out(twin) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
RESET client_min_messages;
CREATE TYPE twin (INPUT = twin_in, OUTPUT = twin_out, LIKE = text, COLLATABLE = true);
CREATE CAST (twin AS text) WITHOUT FUNCTION AS IMPLICIT;
SELECT family_of('twin', 'a'), bloom_key('a'::twin) = bloom_key('a'::text) AS same;
CREATE FUNCTION twin_eq(twin, twin) RETURNS bool AS $$ SELECT lower($1::text) = lower($2::text) $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE OPERATOR = (LEFTARG = twin, RIGHTARG = twin, FUNCTION = twin_eq);
SELECT bloom_key('a'::twin);
SET search_path = public;
SELECT bloom_key('a'::keys.twin);
SET search_path = keys, public;
DROP CAST (twin AS text);
CREATE FUNCTION twin_hash(twin) RETURNS int AS $$ SELECT hashtext(lower($1::text)) $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE OPERATOR CLASS twin_ops DEFAULT FOR TYPE twin USING hash AS OPERATOR 1 =, FUNCTION 1 twin_hash(twin);
\c -
SET search_path = keys, public;
SELECT bloom_key('a'::twin);
CREATE FUNCTION twin_hash(twin, int8) RETURNS int8 AS $$ SELECT hashtextextended(lower($1::text), $2) $$ LANGUAGE sql IMMUTABLE STRICT;
ALTER OPERATOR FAMILY twin_ops USING hash ADD FUNCTION 2 (twin, twin) twin_hash(twin, int8);
\c -
SET search_path = keys, public;
SELECT masked(family_of('twin', 'a')), bloom_key('a'::twin) = bloom_key('A'::twin) AS same;

CREATE FUNCTION modulo_eq(int, int) RETURNS bool AS $$ SELECT $1 % 10 = $2 % 10 $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE FUNCTION modulo_lt(int, int) RETURNS bool AS $$ SELECT $1 % 10 < $2 % 10 $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE FUNCTION modulo_le(int, int) RETURNS bool AS $$ SELECT $1 % 10 <= $2 % 10 $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE FUNCTION modulo_gt(int, int) RETURNS bool AS $$ SELECT $1 % 10 > $2 % 10 $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE FUNCTION modulo_ge(int, int) RETURNS bool AS $$ SELECT $1 % 10 >= $2 % 10 $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE FUNCTION modulo_cmp(int, int) RETURNS int AS $$ SELECT sign($1 % 10 - $2 % 10)::int $$ LANGUAGE sql IMMUTABLE STRICT;
CREATE OPERATOR %= (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_eq);
CREATE OPERATOR %< (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_lt);
CREATE OPERATOR %<= (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_le);
CREATE OPERATOR %> (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_gt);
CREATE OPERATOR %>= (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_ge);
CREATE OPERATOR CLASS modulo_ops FOR TYPE int USING btree
AS OPERATOR 1 %<, OPERATOR 2 %<=, OPERATOR 3 %=, OPERATOR 4 %>=, OPERATOR 5 %>, FUNCTION 1 modulo_cmp(int, int);
CREATE TYPE modulo_range AS RANGE (subtype = int, subtype_opclass = modulo_ops);
SELECT '[1,2)'::modulo_range = '[11,12)'::modulo_range AS equal;
SELECT bloom_key('[1,2)'::modulo_range);
SELECT bloom_key('{[1,2)}'::modulo_multirange);
-- text by its bytes has the same = as text
CREATE TYPE pattern_range AS RANGE (subtype = text, subtype_opclass = text_pattern_ops);
SELECT family_of('pattern_range', '[a,b)');

-- NULL keys have no bloomkey.
SELECT bloom_key(NULL) IS NULL AS unknown, bloom_key(NULL::int) IS NULL AS int;

-- The type bloomkey.
SELECT k, bloom_hash(k), k = bloom_key(k) AS same FROM bloom_key(1) k;
SELECT '0000000000000001:ffffffffffffffff'::bloomkey > '0000000000000001:0000000000000000' AS unsigned,
	   '8000000000000000:0000000000000000'::bloomkey > '7fffffffffffffff:ffffffffffffffff' AS family_first,
	   bloom_hash('0000000000000001:ffffffffffffffff');
SELECT ''::bloomkey;
SELECT '0000000000000000:0000000000000000'::bloomkey;
SELECT '0000000000000001 0000000000000000'::bloomkey;
SELECT '0000000000000001:000000000000000g'::bloomkey;
SELECT '0000000000000001:0000000000000000 '::bloomkey;
SELECT count(*), count(DISTINCT k), min(k::text) = (array_agg(k ORDER BY k))[1]::text AS ordered
FROM (SELECT bloom_key(i % 100) AS k FROM generate_series(1, 1000) i) s;
SELECT count(*) FROM (SELECT bloom_key(i) AS k FROM generate_series(1, 100) i INTERSECT SELECT bloom_key(i::int8) FROM generate_series(51, 150) i) s;
CREATE TABLE hashed (k bloomkey) PARTITION BY HASH (k);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT bloom_key(i) FROM generate_series(1, 1000) i;
SELECT count(*) BETWEEN 400 AND 600 AS balanced FROM hashed_0;
SELECT amname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod WHERE opcintype = 'bloomkey'::regtype ORDER BY 1;

\c :original
DROP DATABASE regression_bloomfam_utf8;
