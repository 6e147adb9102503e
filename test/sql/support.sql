-- The planner's functions where they do not belong: attached to operators and functions of other types, with other numbers of arguments.
CREATE SCHEMA support;
SET search_path = support, public;

CREATE TABLE t AS SELECT x AS i, x::bigint AS b, x::text AS s, bloom_agg(x) AS f FROM generate_series(1, 100) x GROUP BY x;
ANALYZE t;
-- how many rows the planner expects of a query
CREATE FUNCTION expected(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	EXECUTE 'EXPLAIN ' || query INTO line;
	RETURN substring(line FROM 'rows=(\d+)');
END $$;

--
-- Operators of other types than a filter and a key: nothing is known
--
CREATE FUNCTION yes(int, int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION yes(bigint, bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION yes(text, text) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION yes(bytea, int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION yes(anyarray, int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION yes(int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE OPERATOR @@~ (LEFTARG = int, RIGHTARG = int, FUNCTION = yes, RESTRICT = bloom_may_contain_sel, JOIN = bloom_joinsel);
CREATE OPERATOR ~@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = yes, RESTRICT = bloom_may_be_in_sel, JOIN = bloom_joinsel);
CREATE OPERATOR @@~ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = yes, RESTRICT = bloom_may_contain_sel);
CREATE OPERATOR @@~ (LEFTARG = text, RIGHTARG = text, FUNCTION = yes, RESTRICT = bloom_may_contain_sel);
CREATE OPERATOR @@~ (LEFTARG = bytea, RIGHTARG = int, FUNCTION = yes, RESTRICT = bloom_may_contain_sel);
CREATE OPERATOR @@~ (LEFTARG = anyarray, RIGHTARG = int, FUNCTION = yes, RESTRICT = bloom_may_contain_sel);
CREATE OPERATOR @@~ (RIGHTARG = int, FUNCTION = yes, RESTRICT = bloom_may_contain_sel);
SELECT query, expected('SELECT FROM t WHERE ' || query) FROM unnest('{3 @@~ i,i @@~ 3,3 ~@@ i,i ~@@ 3,5 @@~ b,b @@~ 5,@@~ i}'::text[] ||
	ARRAY[$$'abc'::text @@~ s$$, $$s @@~ 'abc'::text$$, $$'\x6266616d'::bytea @@~ i$$, $$ARRAY[1] @@~ i$$, $$NULL::int @@~ i$$, '2147483647::bigint @@~ b']) query;
SELECT expected('SELECT FROM t a JOIN t b ON a.i @@~ b.i'), count(*) FROM t WHERE 3 @@~ i AND i ~@@ 5;

--
-- The same as support functions
--
CREATE FUNCTION without() RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION three(int, int, int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION many(VARIADIC int[]) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END';
DO $$
DECLARE
	f text;
	s text;
	q text;
BEGIN
	FOREACH s IN ARRAY ARRAY['bloom_may_contain_support', 'bloom_may_be_in_support', 'bloom_add_support'] LOOP
		FOREACH f IN ARRAY ARRAY['without()', 'yes(int)', 'yes(int, int)', 'yes(text, text)', 'three(int, int, int)', 'many(int[])'] LOOP
			EXECUTE format('ALTER FUNCTION %s SUPPORT %s', f, s);
		END LOOP;
		FOREACH q IN ARRAY ARRAY['without()', 'yes(i)', 'yes(7)', 'yes(7, i)', 'yes(i, 7)', $q$yes('abc'::text, s)$q$, $q$yes(s, 'abc'::text)$q$, 'three(1, 2, i)', 'three(i, 2, 3)', 'many(1, 2, i)'] LOOP
			PERFORM expected('SELECT FROM t WHERE ' || q), expected('SELECT ' || q || ' FROM t');
		END LOOP;
	END LOOP;
END $$;
-- an array of constants asks for the cost of each
SELECT expected('SELECT FROM t WHERE i @@~ ANY (ARRAY[1, 2, 3])'), expected('SELECT FROM t WHERE i = ANY (ARRAY[1, 2]) AND yes(i, 3)');
-- in PL/pgSQL, where a variable may be changed in place
CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
ALTER FUNCTION plus(int, int) SUPPORT bloom_add_support;
DO $$
DECLARE
	n int := 1;
	f bloomfilter := bloom_create(10);
BEGIN
	FOR i IN 1 .. 5 LOOP
		n := plus(n, i);
		f := bloom_add(f, i);
	END LOOP;
	RAISE NOTICE '% %', n, bloom_may_contain_all(f, ARRAY[1, 2, 3, 4, 5]);
END $$;

--
-- A constant that is the state of an aggregate: an error when the probe runs, and only then; a domain over filters is a filter
--
CREATE AGGREGATE state_of(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
SELECT state_of(bloom_key(x)) AS state FROM generate_series(1, 3) x \gset
SELECT expected(format('SELECT FROM t WHERE bloom_may_contain(%L, i)', :'state'));
SELECT count(*) FROM t WHERE bloom_may_contain(:'state', i);
SELECT count(*) FROM (SELECT i FROM t WHERE i < 0 OFFSET 0) s WHERE bloom_may_contain(:'state', i);
CREATE DOMAIN some_filter AS bloomfilter;
SELECT expected(format('SELECT FROM t WHERE bloom_may_contain(%L::some_filter, i)', bloom_agg(x)))::int BETWEEN 40 AND 60 AS half FROM generate_series(1, 50) x;

SET client_min_messages = warning;
DROP SCHEMA support CASCADE;
