-- Keys at random: whatever = calls equal has the same key, or keys of two families, which is an error where it matters.
-- Its texts are of many languages, which the database's encoding may not have; keys_encoding is about those.
\set original :DBNAME
\set database regression_bloomfam_utf8
\set encoding UTF8
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'
\i :file
CREATE EXTENSION citext;
SET TimeZone = 'America/St_Johns';
SET client_encoding = 'UTF8';
CREATE SCHEMA keys_random;
SET search_path = keys_random, public;

CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE COLLATION shifted (provider = icu, locale = 'und-u-ka-shifted', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE triple AS (n numeric, t bpchar, i interval);
CREATE DOMAIN numbers AS numeric[];
CREATE DOMAIN triple_domain AS triple;
CREATE TYPE ci_range AS RANGE (subtype = text, collation = ci);
CREATE TYPE float_range AS RANGE (subtype = float8, subtype_diff = float8mi);

-- One of some texts, and a number from a to b.
CREATE FUNCTION pick(VARIADIC texts text[]) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT texts[1 + floor(random() * cardinality(texts))::int] $$;
CREATE FUNCTION pick(a int, b int) RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT a + floor(random() * (b - a + 1))::int $$;
CREATE FUNCTION some_number() RETURNS text LANGUAGE sql VOLATILE AS
$$
	SELECT CASE pick(0, 9)
		WHEN 0 THEN pick('NaN', 'Infinity', '-Infinity', '0', '-0', '0.000', '0e50')
		WHEN 1 THEN pick('1e400', '1.0e400', '10e399', '-1e-400', '-0.1e-399', '1e1000', repeat('9', 300), repeat('9', 300) || '.00')
		ELSE pick('', '-') || pick('1', '10', '9999', '10000', '1.5', '0.0001', '1000000000000') || pick('', '', 'e1', 'e-1', 'e4', 'e-4')
	END
$$;
CREATE FUNCTION padded(number text) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT number || CASE WHEN number LIKE '%.%' AND number NOT LIKE '%e%' THEN repeat('0', pick(0, 9)) ELSE '' END $$;
CREATE FUNCTION some_text() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT pick('', 'a', 'A', U&'\00e1', U&'a\0301', U&'\00c1', 'ss', U&'\00df', U&'\fb01', 'fi', 'b', U&'\00a0', 'a-b', 'ab', '-')
		  || pick('', '', ' ', '  ', E'\t') $$;
CREATE FUNCTION some_interval() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT format('%s mon %s days %s hours %s', pick(-2, 2), 30 * pick(-2, 2) + pick(0, 1), 24 * pick(-30, 30) * pick(0, 1),
				 pick('', '', '1 microsecond', '24:00:00', '178000000 years', '-178000000 years')) $$;
CREATE FUNCTION some_array(a text, b text, c text) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT CASE pick(0, 5) WHEN 0 THEN '{}' WHEN 1 THEN format('{{%s,%s},{%s,NULL}}', a, b, c) WHEN 2 THEN format('[0:1]={%s,%s}', a, b)
		  WHEN 3 THEN format('[1:2]={%s,%s}', a, b) WHEN 4 THEN format('{%s,%s}', a, b) ELSE format('{%s}', a) END $$;
CREATE FUNCTION some_range(a text, b text) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT CASE pick(0, 4) WHEN 0 THEN 'empty' ELSE pick('[', '(') || pick(a, a, '') || ',' || pick(b, b, '') || pick(']', ')') END $$;

-- The types that compare with each other, and what makes a random text of them.
CREATE TABLE kinds (types text[], value text);
INSERT INTO kinds VALUES
('{int2,int4,int8}', 'pick(''0'', ''-0'', ''1'', ''-1'', ''32767'', ''-32768'')'),
('{int4,int8}', 'pick(''2147483647'', ''-2147483648'', ''1'')'),
('{numeric,"numeric(40,9)"}', 'padded(pick(''1.5'', ''-1.5'', ''10000.0'', ''0.0'', ''-0.0001'', ''9999.9999'', ''100000000.5'', ''NaN''))'),
('{numeric}', 'padded(some_number())'),
('{float4,float8}', 'pick(''0'', ''-0'', ''NaN'', ''-NaN'', ''Infinity'', ''-Infinity'', ''1.5'', ''0.1'', ''1e-45'', ''2e-45'', ''1.17549435e-38'', ''3e38'')'),
('{float8}', 'pick(''5e-324'', ''3e-324'', ''-5e-324'', ''2.2250738585072014e-308'', ''1e308'', ''-0.0'', ''0'', ''NaN'')'),
('{text,varchar,bpchar,char(4),name}', 'some_text()'),
('{text COLLATE ci,varchar COLLATE ci,bpchar COLLATE ci,char(4) COLLATE ci,name COLLATE ci}', 'some_text()'),
('{text COLLATE ai,bpchar COLLATE ai,name COLLATE ai}', 'some_text()'),
('{text COLLATE shifted,bpchar COLLATE shifted,name COLLATE shifted}', 'some_text()'),
('{citext}', 'some_text()'),
('{"\"char\""}', 'pick('''', ''a'', ''A'', ''\\377'')'),
('{bool}', 'pick(''t'', ''yes'', ''on'', ''f'', ''0'')'),
('{bytea}', 'pick('''', ''\x'', ''\x00'', ''\x0000'', ''a'', ''\x61'')'),
('{uuid}', 'pick(''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'', ''A0EEBC999C0B4EF8BB6D6BB9BD380A11'', ''{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a12}'')'),
('{date}', 'pick(''infinity'', ''-infinity'', ''2000-01-01'', ''J2451545'', ''4713-01-01 BC'', ''5874897-12-31'')'),
('{time}', 'pick(''00:00'', ''24:00'', ''23:59:60'', ''12:00'', ''12:00 PM'', ''11:59:59.9999999'')'),
('{timetz}', 'pick(''00:00'', ''24:00'', ''12:00'', ''13:00'', ''11:00'') || pick(''+00'', ''+01'', ''-01'', ''+15:59'')'),
('{timestamp}', 'pick(''infinity'', ''-infinity'', ''2000-01-01'', ''1999-12-31 24:00'', ''2000-01-01 00:00:00.0000004'', ''294276-12-31'')'),
('{timestamptz}', 'pick(''infinity'', ''-infinity'', ''2000-01-01 12:00+00'', ''2000-01-01 13:00+01'', ''2000-01-01 08:30'', ''2000-01-01 12:00 UTC'')'),
('{interval}', 'some_interval()'),
('{oid}', 'pick(''0'', ''1'', ''10'', ''11'', ''4294967295'')'),
('{xid}', 'pick(''0'', ''1'', ''4294967295'')'),
('{cid}', 'pick(''0'', ''1'', ''4294967295'')'),
('{xid8}', 'pick(''0'', ''1'', ''18446744073709551615'')'),
('{tid}', 'pick(''(0,0)'', ''(0,1)'', ''(1,0)'')'),
('{pg_lsn}', 'pick(''0/0'', ''0/1'', ''00000000/00000001'', ''FFFFFFFF/FFFFFFFF'')'),
('{inet,cidr}', 'pick(''10.0.0.0'', ''10.0.0.0/32'', ''10.0.0.0/8'', ''10.0.0.0/24'', ''::/0'', ''::'', ''::/128'', ''::a00:0'', ''::10.0.0.0'', ''0.0.0.0/0'')'),
('{inet}', 'pick(''10.1.2.3/8'', ''10.1.2.3'', ''10.0.0.0/8'', ''::1/64'', ''::1'')'),
('{macaddr,macaddr8}', 'pick(''08:00:2b:01:02:03'', ''08002b:010203'', ''08:00:2b:01:02:04'')'),
('{macaddr8}', 'pick(''08:00:2b:01:02:03'', ''08:00:2b:ff:fe:01:02:03'', ''08:00:2b:01:02:03:04:05'')'),
('{bit(9),varbit}', 'repeat(pick(''0'', ''1''), pick(0, 9)) || repeat(pick(''0'', ''1''), pick(0, 8))'),
('{jsonb}', 'pick(''1'', ''1.0'', ''10e-1'', ''[1]'', ''[1.00]'', ''{}'', ''[]'', ''"1"'', ''null'', ''[null]'', ''{"a": 1, "bb": [2.0]}'', ''{"bb": [2], "a": 1.0}'',
  ''{"a": 0, "a": 1, "bb": [2e0]}'', ''-0'', ''0'', ''0.0'', ''[-0.0]'', ''[0]'', ''""'', ''"\u00e9"'', ''"é"'')'),
('{mood}', 'pick(''sad'', ''ok'', ''happy'')'),
('{int2[],int4[],int8[]}', 'some_array(pick(''1'', ''01'', ''NULL''), pick(''2'', ''+2''), ''3'')'),
('{int2vector,int2[]}', 'pick(''1 2'', ''1'', ''1  2'')'),
('{oidvector}', 'pick('''', ''1 2'', ''1'', ''1  2'')'),
('{numeric[],numbers}', 'some_array(pick(''1'', ''1.0'', ''NULL'', ''NaN''), pick(''2'', ''2.00''), ''-0'')'),
('{float4[],float8[]}', 'some_array(pick(''0'', ''-0'', ''NULL'', ''NaN''), pick(''-NaN'', ''NaN''), ''-0'')'),
('{text[],varchar[],bpchar[],name[]}', 'some_array(pick(''a'', ''"a "'', ''NULL'', ''"NULL"'', ''""''), pick(''b'', ''"b"''), ''"  "'')'),
('{text[] COLLATE ci,bpchar[] COLLATE ci}', 'some_array(pick(''a'', ''"A "'', ''NULL'', ''A''), pick(''b'', ''B''), ''"  "'')'),
('{citext[]}', 'some_array(pick(''a'', ''A'', ''NULL''), pick(''b'', ''"B"''), ''É'')'),
('{interval[]}', 'some_array(quote_ident(some_interval()), ''"1 mon"'', pick(''"30 days"'', ''"720 hours"''))'),
('{numrange}', 'some_range(pick(''1'', ''1.0'', ''-Infinity''), pick(''2'', ''2.000'', ''1'', ''Infinity''))'),
('{int4range}', 'some_range(pick(''1'', ''2''), pick(''4'', ''5'', ''2''))'),
('{int8range}', 'some_range(pick(''1'', ''2''), pick(''4'', ''5'', ''2''))'),
('{daterange}', 'some_range(pick(''2000-01-01'', ''2000-01-02'', ''-infinity''), pick(''2000-01-31'', ''2000-02-01'', ''infinity''))'),
('{tstzrange}', 'some_range(pick(''"2000-01-01 12:00+00"'', ''"2000-01-01 13:00+01"'', ''-infinity''), pick(''"2000-01-02 12:00+00"'', ''infinity''))'),
('{ci_range}', 'some_range(pick(''a'', ''A''), pick(''b'', ''B'', ''"b "''))'),
('{float_range}', 'some_range(pick(''0'', ''-0'', ''-1''), pick(''0'', ''-0'', ''NaN'', ''-NaN''))'),
('{nummultirange}', 'format(''{%s,%s}'', some_range(pick(''1'', ''1.0''), pick(''2'', ''2.000'')), some_range(pick(''2'', ''2.0'', ''3''), pick(''4'', ''4.000'')))'),
('{int4multirange}', 'format(''{%s,%s}'', some_range(pick(''1'', ''2''), pick(''4'', ''5'')), some_range(pick(''5'', ''6''), pick(''8'', ''9'')))'),
('{triple,triple_domain}', 'format(''(%s,%s,"%s")'', pick(''1'', ''1.0'', ''''), pick(''a'', ''"a "'', '''', ''""''), pick(''1 mon'', ''30 days''))'),
('{triple[]}', 'some_array(format(''"(%s,,)"'', pick(''1'', ''1.0'', '''')), pick(''"(2,a,)"'', ''"(2,a ,)"''), ''"(,,)"'')'),
('{bloomkey}', 'pick(''000000000000000a:00000000000000ff'', ''000000000000000A:00000000000000FF'', ''000000000000000b:00000000000000ff'')');

/*
 * What pairs of values break the rule: the types of a kind by two and two, so many values of each.  A value that a type does not take
 * is left out (int2vector's forms for int2[], say).  equal counts the pairs of equal values, lest none were looked at; apart those
 * whose families differ.
 */
CREATE FUNCTION make(type text, vals text[]) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
	plain text := split_part(type, ' COLLATE ', 1);
	coll text := CASE WHEN type LIKE '% COLLATE %' THEN 'COLLATE ' || split_part(type, ' COLLATE ', 2) ELSE '' END;
	val text;
BEGIN
	EXECUTE format('CREATE TEMP TABLE made (x %s %s)', plain, coll);
	EXECUTE (SELECT 'INSERT INTO made VALUES ' || string_agg(format('(%L)', v), ',') FROM unnest(vals) v);
EXCEPTION WHEN data_exception THEN
	EXECUTE format('CREATE TEMP TABLE made (x %s %s)', plain, coll);
	FOREACH val IN ARRAY vals LOOP
		BEGIN
			EXECUTE format('INSERT INTO made VALUES (%L)', val);
		EXCEPTION WHEN data_exception THEN
			NULL;
		END;
	END LOOP;
END
$$;
CREATE FUNCTION compare(types text[], value text, n int)
RETURNS TABLE (a text, b text, pairs bigint, equal bigint, apart bigint, broken text) LANGUAGE plpgsql AS
$$
DECLARE
	i int;
	j int;
	vals text[];
BEGIN
	EXECUTE format('SELECT array_agg(%s) FROM generate_series(1, %s)', value, n) INTO vals;
	FOR i IN 1..cardinality(types) LOOP
		PERFORM make(types[i], vals);
		EXECUTE format('CREATE TEMP TABLE made_%s AS SELECT x, x::text AS t, left(k, 16) AS family, k FROM (SELECT x, bloom_key(x)::text AS k FROM made) s', i);
		DROP TABLE made;
	END LOOP;
	FOR i IN 1..cardinality(types) LOOP
		FOR j IN i..cardinality(types) LOOP
			BEGIN
				EXECUTE format(
					'SELECT count(*), count(*) FILTER (WHERE a.x = b.x), count(*) FILTER (WHERE a.x = b.x AND a.family <> b.family),
							min(a.t || '' | '' || b.t) FILTER (WHERE a.x = b.x AND a.family = b.family AND a.k <> b.k)
					 FROM made_%s a, made_%s b', i, j)
				INTO pairs, equal, apart, broken;
				a := types[i];
				b := types[j];
				RETURN NEXT;
			EXCEPTION WHEN ambiguous_function OR undefined_function THEN
				NULL;			/* no = for these two */
			END;
		END LOOP;
	END LOOP;
	FOR i IN 1..cardinality(types) LOOP
		EXECUTE format('DROP TABLE made_%s', i);
	END LOOP;
END
$$;
SELECT setseed(0.25);
CREATE TABLE compared AS SELECT c.* FROM kinds, LATERAL compare(types, value, 30) c;
-- none
SELECT a, b, broken FROM compared WHERE broken IS NOT NULL;
-- Equal values were met everywhere, and two families only where types compare that are not of one.
SELECT a, b FROM compared WHERE equal = 0 AND pairs > 0;
SELECT a, b FROM compared WHERE apart > 0 GROUP BY a, b ORDER BY a COLLATE "C", b COLLATE "C";
SELECT count(*) > 90 AS compared, sum(pairs) > 100000 AS pairs, sum(equal) > 15000 AS equal FROM compared;

\c :original
DROP DATABASE regression_bloomfam_utf8;
