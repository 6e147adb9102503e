-- What = stands for with a type's keys: the equality that is hashed, or the keys are an error.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfam;
DROP ROLE IF EXISTS regress_bloomfam_stranger;
RESET client_min_messages;
CREATE SCHEMA keys_equality;
CREATE SCHEMA keys_elsewhere;
SET search_path = keys_equality, public;

-- What a statement gives, or its error.
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	detail text;
BEGIN
	EXECUTE statement INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	-- what the server's own errors add is not the same in all majors
	RETURN concat_ws('; ', SQLERRM, CASE WHEN SQLERRM LIKE 'cannot hash keys %' THEN nullif(detail, '') END);
END $$;
-- Are two keys equal, and does a filter of the one, made and asked in several ways, find the other?
CREATE FUNCTION compared(a text, b text, OUT equal text, OUT answers text) LANGUAGE plpgsql AS $$
BEGIN
	equal := outcome(format('SELECT (%s) = (%s)', a, b));
	SELECT string_agg(o, ' / ' ORDER BY o COLLATE "C") INTO answers
	FROM (SELECT DISTINCT outcome(format(s, a, b)) FROM (VALUES ('SELECT bloom_agg(%1$s) @~ (%2$s)'), ('SELECT bloom_agg(%2$s) @~ (%1$s)'),
		('SELECT bloom_key(%1$s) = bloom_key(%2$s)'), ('SELECT bloom_shard(%1$s, 1000) = bloom_shard(%2$s, 1000)')) v(s)) x(o);
END $$;

-- Each type has an = of its own, to which all its values are equal.
CREATE TYPE pair AS (a int, b text);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE span AS RANGE (subtype = int, multirange_type_name = spans);
CREATE TYPE other_pair AS (a int, b text);
CREATE DOMAIN number AS int;
CREATE DOMAIN other_number AS int;
CREATE DOMAIN pair_domain AS pair;
CREATE DOMAIN mood_domain AS mood;
CREATE DOMAIN numbers AS int[];
CREATE DOMAIN mood_domain_2 AS mood_domain;
CREATE DOMAIN span_domain AS span;
CREATE DOMAIN plain_domain AS int;
CREATE FUNCTION own_eq(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(mood, mood) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(span, span) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(spans, spans) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(number, number) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(int[], int[]) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(varchar, varchar) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(numbers, numbers) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(other_number, int8) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(pair, other_pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(pair, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(plain_domain, text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(bpchar, name) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(int[], int8[]) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(mood_domain, mood_domain) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(span_domain, span_domain) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(float8[], float8[]) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(anyelement, pair_domain) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(anycompatible, anycompatible) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(anycompatiblearray, anycompatiblearray) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION own_eq(record, record) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';

CREATE TABLE cases (takes_left text, takes_right text, a text, b text);
INSERT INTO cases VALUES
	('pair', 'pair', '(1, ''a'')::pair', '(2, ''a'')::pair'),
	('pair', 'pair', '(1, ''a'')::pair_domain', '(2, ''a'')::pair_domain'),
	('mood', 'mood', '''sad''::mood', '''ok''::mood'),
	('mood', 'mood', '''sad''::mood_domain', '''ok''::mood'),
	('span', 'span', '''[1,2)''::span', '''[1,3)''::span'),
	('spans', 'spans', '''{[1,2)}''::spans', '''{[1,3)}''::spans'),
	('number', 'number', '1::number', '2::number'),
	('int[]', 'int[]', '''{1}''::int[]', '''{2}''::int[]'),
	('int[]', 'int[]', '''{1}''::numbers', '''{2}''::numbers'),
	('numbers', 'numbers', '''{1}''::numbers', '''{2}''::numbers'),
	('varchar', 'varchar', '''a''::varchar', '''b''::varchar'),
	-- of two types
	('other_number', 'int8', '1::other_number', '2::int8'),
	('pair', 'other_pair', '(1, ''a'')::pair', '(2, ''a'')::other_pair'),
	('pair', 'other_pair', '(1, ''a'')::pair_domain', '(2, ''a'')::other_pair'),
	('bpchar', 'name', '''a''::bpchar', '''b''::name'),
	('int[]', 'int8[]', '''{1}''::int[]', '''{2}''::int8[]'),
	-- columns of rows without a type, one by one
	('number', 'number', '(1::number, 3)', '(2::number, 3)'),
	('other_number', 'int8', '(1::other_number, 3)', '(2::int8, 3)'),
	('pair', 'pair', '((1, ''a'')::pair, 3)', '((2, ''a'')::pair, 3)'),
	-- that take neither key's type exactly
	('numbers', 'numbers', '''{1}''::int[]', '''{2}''::number[]'),
	('anycompatiblearray', 'anycompatiblearray', '''{1}''::int[]', '''{2}''::int8[]'),
	('anycompatible', 'anycompatible', '''{1}''::int[]', '''{2}''::number[]'),
	('mood_domain', 'mood_domain', '''sad''::mood', '''ok''::mood_domain_2'),
	('anycompatible', 'anycompatible', '''sad''::mood', '''ok''::mood_domain'),
	('anyelement', 'pair_domain', '(1, ''a'')::pair', '(2, ''a'')::pair_domain'),
	('span_domain', 'span_domain', '''[1,2)''::span', '''[1,3)''::int4range'),
	('float8[]', 'float8[]', '''{1}''::int[]', '''{2}''::int8[]'),
	-- pg_catalog's has precedence
	('number', 'number', '1', '2::number'),
	('anycompatible', 'anycompatible', '''a''::varchar', '''b''::text'),
	('int', 'int', '1', '2');

CREATE FUNCTION without_and_with(c cases, OUT before text, OUT equal text, OUT answers text) LANGUAGE plpgsql AS $$
BEGIN
	SELECT concat_ws(', ', o.equal, o.answers) INTO before FROM compared(c.a, c.b) o;
	EXECUTE format('CREATE OPERATOR = (LEFTARG = %s, RIGHTARG = %s, FUNCTION = own_eq)', c.takes_left, c.takes_right);
	SELECT o.equal, o.answers INTO equal, answers FROM compared(c.a, c.b) o;
	EXECUTE format('DROP OPERATOR keys_equality.= (%s, %s)', c.takes_left, c.takes_right);
END $$;
SELECT concat_ws(' = ', takes_left, takes_right) AS own, a, b, before, equal, answers FROM cases c, without_and_with(c);
-- where the path has pg_catalog last
BEGIN;
CREATE OPERATOR = (LEFTARG = record, RIGHTARG = record, FUNCTION = own_eq);
SET LOCAL search_path = keys_equality, public, pg_catalog;
SELECT (1, 'a')::other_pair = (2, 'a')::other_pair AS equal;
SELECT bloom_key((1, 'a')::other_pair);
ROLLBACK;
BEGIN;
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = int, FUNCTION = own_eq);
SET LOCAL search_path = keys_equality, public, pg_catalog;
SELECT 1 = 2 AS equal;
SELECT bloom_key(1);
ROLLBACK;
-- the errors as they are
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
CREATE OPERATOR = (LEFTARG = other_number, RIGHTARG = int8, FUNCTION = own_eq);
SELECT bloom_key('sad'::mood);
SELECT bloom_agg(m) FROM unnest('{sad}'::mood[]) m;
SELECT bloom_agg(m) FROM unnest('{}'::mood[]) m;
SELECT bloom_agg(m, 0.01, 'parquet') FROM unnest('{1}'::other_number[]) m;
SELECT bloom_create(10, key_type => 'mood');
SELECT bloom_add(bloom_create(10), 'sad'::mood);
SELECT bloom_add_all(bloom_create(10), '{sad}'::mood[]);
SELECT bloom_add_all(bloom_create(10, kind => 'parquet'), '{1}'::other_number[]);
SELECT bloom_from_parquet(bloom_to_parquet(bloom_agg(1, 0.01, 'parquet')), 'other_number');
-- the other type is not refused
SELECT outcome('SELECT bloom_key(1::int8) IS NOT NULL') AS int8, outcome('SELECT bloom_key(ARRAY[1::int8]) IS NOT NULL') AS ints;

-- Parts are compared by their type's default equality, which such an operator is not.
SELECT equal, answers FROM compared('ARRAY[''sad''::mood]', 'ARRAY[''ok''::mood]');
SELECT equal, answers FROM compared('ARRAY[''sad''::mood]', 'ARRAY[''sad''::mood]');
CREATE TYPE moody AS (m mood, n numeric);
SELECT equal, answers FROM compared('(''sad'', 1.0)::moody', '(''ok'', 1.0)::moody');
SELECT equal, answers FROM compared('(''sad'', 1.0)::moody', '(''sad'', 1.00)::moody');
SELECT equal, answers FROM compared('ARRAY[1::other_number]', 'ARRAY[2::other_number]');
DROP OPERATOR = (other_number, int8);
DROP OPERATOR = (mood, mood);

-- With an operator class, it is the default equality: arrays, rows and ranges of such are refused.
CREATE FUNCTION own_cmp(pair, pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($1.a, $2.a)';
CREATE FUNCTION own_lt(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.a < $2.a';
CREATE FUNCTION own_le(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.a <= $2.a';
CREATE FUNCTION own_ge(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.a >= $2.a';
CREATE FUNCTION own_gt(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.a > $2.a';
CREATE FUNCTION by_a(pair, pair) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.a = $2.a';
CREATE OPERATOR ~< (LEFTARG = pair, RIGHTARG = pair, FUNCTION = own_lt);
CREATE OPERATOR ~<= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = own_le);
CREATE OPERATOR ~= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = by_a);
CREATE OPERATOR ~>= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = own_ge);
CREATE OPERATOR ~> (LEFTARG = pair, RIGHTARG = pair, FUNCTION = own_gt);
CREATE TYPE holder AS (p pair);
CREATE TABLE held (p pair[]);
CREATE INDEX held_before ON held USING maplet (p);
INSERT INTO held VALUES (ARRAY[(1, 'a')::pair]);
DROP INDEX held_before;
SELECT equal, answers FROM compared('ARRAY[(1, ''a'')::pair]', 'ARRAY[(1, ''b'')::pair]');
CREATE OPERATOR CLASS pair_ops DEFAULT FOR TYPE pair USING btree
AS OPERATOR 1 ~<, OPERATOR 2 ~<=, OPERATOR 3 ~=, OPERATOR 4 ~>=, OPERATOR 5 ~>, FUNCTION 1 own_cmp(pair, pair);
CREATE TYPE pair_range AS RANGE (subtype = pair);
\c -
SET search_path = keys_equality, public;
SELECT equal, answers FROM compared('ARRAY[(1, ''a'')::pair]', 'ARRAY[(1, ''b'')::pair]');
SELECT equal, answers FROM compared('ROW((1, ''a''))::holder', 'ROW((1, ''b''))::holder');
SELECT equal, answers FROM compared('ARRAY[ROW((1, ''a''))::holder]', 'ARRAY[ROW((1, ''b''))::holder]');
SELECT equal, answers FROM compared('pair_range((1, ''a''), (2, ''a''))', 'pair_range((1, ''b''), (2, ''b''))');
-- nor does an index take what array_eq() does not compare as it hashes (17 makes indexes with a search_path of its own)
SET search_path = pg_catalog;
CREATE INDEX ON keys_equality.held USING maplet (p);
SET search_path = keys_equality, public;
DROP OPERATOR CLASS pair_ops USING btree CASCADE;
\c -
SET search_path = keys_equality, public;

-- Operators that the search path does not find: the owner's, a superuser's and one's own count, as views have paths of their own.
-- A stranger's do not.
CREATE ROLE regress_bloomfam_stranger;
GRANT USAGE ON SCHEMA keys_equality TO regress_bloomfam_stranger;
GRANT USAGE, CREATE ON SCHEMA keys_elsewhere TO regress_bloomfam_stranger;
CREATE OPERATOR keys_elsewhere.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
SELECT equal, answers FROM compared('''sad''::mood', '''ok''::mood');
DROP OPERATOR keys_elsewhere.= (mood, mood);
SET ROLE regress_bloomfam_stranger;
CREATE OPERATOR keys_elsewhere.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
CREATE OPERATOR keys_elsewhere.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = own_eq);
SELECT equal, answers FROM compared('''sad''::mood', '''ok''::mood');
RESET ROLE;
SELECT equal, answers FROM compared('''sad''::mood', '''ok''::mood');
SELECT equal, answers FROM compared('''a''::varchar', '''b''::varchar');
SET search_path = keys_equality, public, keys_elsewhere;
SELECT equal, answers FROM compared('''sad''::mood', '''ok''::mood');
SELECT equal, answers FROM compared('''a''::varchar', '''b''::varchar');
SET search_path = keys_equality, public;
ALTER TYPE mood OWNER TO regress_bloomfam_stranger;
SELECT equal, answers FROM compared('''sad''::mood', '''ok''::mood');
SET client_min_messages = warning;
DROP SCHEMA keys_elsewhere CASCADE;
RESET client_min_messages;
SELECT equal, answers FROM compared('''sad''::mood', '''sad''::mood');
-- where the type is, whatever the path
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
ALTER OPERATOR = (mood, mood) OWNER TO regress_bloomfam_stranger;
ALTER TYPE mood OWNER TO CURRENT_USER;
SET search_path = public;
SELECT bloom_key('sad'::keys_equality.mood);
SET search_path = keys_equality, public;
DROP OPERATOR = (mood, mood);

-- Nor do a stranger's with a type of theirs, and none in a temporary schema, where = is not looked for.
CREATE SCHEMA keys_elsewhere;
GRANT USAGE, CREATE ON SCHEMA keys_elsewhere TO regress_bloomfam_stranger;
SET ROLE regress_bloomfam_stranger;
CREATE DOMAIN keys_elsewhere.mine AS mood;
CREATE DOMAIN keys_elsewhere.my_numbers AS int[];
CREATE TYPE keys_elsewhere.my_pair AS (a int, b text);
CREATE DOMAIN pg_temp.temporary AS mood;
CREATE FUNCTION keys_elsewhere.own_eq(mood, keys_elsewhere.mine) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION keys_elsewhere.own_eq(int[], keys_elsewhere.my_numbers) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION keys_elsewhere.own_eq(pair, keys_elsewhere.my_pair) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION keys_elsewhere.own_eq(anycompatible, anycompatible) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION pg_temp.own_eq(mood, pg_temp.temporary) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR keys_elsewhere.= (LEFTARG = mood, RIGHTARG = keys_elsewhere.mine, FUNCTION = keys_elsewhere.own_eq);
CREATE OPERATOR keys_elsewhere.= (LEFTARG = int[], RIGHTARG = keys_elsewhere.my_numbers, FUNCTION = keys_elsewhere.own_eq);
CREATE OPERATOR keys_elsewhere.= (LEFTARG = pair, RIGHTARG = keys_elsewhere.my_pair, FUNCTION = keys_elsewhere.own_eq);
CREATE OPERATOR keys_elsewhere.= (LEFTARG = anycompatible, RIGHTARG = anycompatible, FUNCTION = keys_elsewhere.own_eq);
CREATE OPERATOR pg_temp.= (LEFTARG = mood, RIGHTARG = pg_temp.temporary, FUNCTION = pg_temp.own_eq);
RESET ROLE;
CREATE TABLE denied (k text);
INSERT INTO denied VALUES ('''sad''::mood'), ('''sad''::mood_domain'), ('''{sad}''::mood[]'), ('''{1}''::int[]'), ('''{1}''::numbers'),
	('(1, ''a'')::pair'), ('ROW(''sad''::mood, 1)'), ('''a''::varchar'), ('''[1,2)''::span'), ('''sad''::keys_elsewhere.mine'), ('''sad''::pg_temp.temporary');
SELECT k, answers FROM denied, compared(k, k);
-- a superuser's counts, wherever it is, for all that it may be meant for
ALTER OPERATOR keys_elsewhere.= (anycompatible, anycompatible) OWNER TO CURRENT_USER;
SELECT k, answers FROM denied, compared(k, k);
SET client_min_messages = warning;
DROP SCHEMA keys_elsewhere CASCADE;
DROP DOMAIN pg_temp.temporary CASCADE;
RESET client_min_messages;

-- An answer goes with the search path and the role, and lasts until something changes.
CREATE SCHEMA keys_elsewhere;
GRANT USAGE, CREATE ON SCHEMA keys_elsewhere TO regress_bloomfam_stranger;
SET ROLE regress_bloomfam_stranger;
CREATE OPERATOR keys_elsewhere.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
RESET ROLE;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
SET search_path = keys_elsewhere, keys_equality, public;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
SET search_path = keys_equality, public;
SET ROLE regress_bloomfam_stranger;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
RESET ROLE;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
ALTER ROLE regress_bloomfam_stranger SUPERUSER;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
ALTER ROLE regress_bloomfam_stranger NOSUPERUSER;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
ALTER TYPE mood SET SCHEMA keys_elsewhere;
SELECT outcome('SELECT bloom_key(''sad''::keys_elsewhere.mood) IS NOT NULL');
ALTER TYPE keys_elsewhere.mood SET SCHEMA keys_equality;
SET client_min_messages = warning;
DROP SCHEMA keys_elsewhere CASCADE;
RESET client_min_messages;
-- an operator of a row type is that of its heirs
CREATE TABLE parent (a int);
CREATE TABLE child (a int);
CREATE FUNCTION own_eq(parent, parent) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR = (LEFTARG = parent, RIGHTARG = parent, FUNCTION = own_eq);
SELECT outcome('SELECT bloom_key(ROW(1)::child) IS NOT NULL');
ALTER TABLE child INHERIT parent;
SELECT outcome('SELECT bloom_key(ROW(1)::child) IS NOT NULL');
DROP OPERATOR = (parent, parent);

-- with a long search path
BEGIN;
DO $$ BEGIN FOR i IN 1..20 LOOP EXECUTE format('CREATE SCHEMA keys_many_%s', i); END LOOP; END $$;
CREATE OPERATOR keys_many_20.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
ALTER OPERATOR keys_many_20.= (mood, mood) OWNER TO regress_bloomfam_stranger;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
SELECT set_config('search_path', string_agg('keys_many_' || i, ',' ORDER BY i) || ',keys_equality,public', true) IS NOT NULL AS set FROM generate_series(1, 19) i;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
SELECT set_config('search_path', string_agg('keys_many_' || i, ',' ORDER BY i) || ',keys_equality,public', true) IS NOT NULL AS set FROM generate_series(1, 20) i;
SELECT outcome('SELECT bloom_key(''sad''::mood) IS NOT NULL');
ROLLBACK;
-- of more types than answers are kept of
BEGIN;
DO $$ BEGIN FOR i IN 1..1100 LOOP EXECUTE format('CREATE DOMAIN many_%s AS mood', i); END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..1100 LOOP EXECUTE format('SELECT bloom_key(''sad''::many_%s)', i); END LOOP; END $$;
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
SELECT count(DISTINCT outcome(format('SELECT bloom_key(''sad''::many_%s) IS NOT NULL', i))) FROM generate_series(1, 1100) i;
ROLLBACK;

-- Literals are read as one type of the family, and are keys of all.
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = own_eq);
SELECT outcome('SELECT bloom_agg(''a''::text) @~ ''b''');
DROP OPERATOR = (varchar, varchar);
CREATE FUNCTION own_eq(cidr, cidr) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR = (LEFTARG = cidr, RIGHTARG = cidr, FUNCTION = own_eq);
SELECT outcome('SELECT bloom_agg(''10.0.0.1''::inet) @~ ''10.0.0.2''');
DROP OPERATOR = (cidr, cidr);
BEGIN;
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = int, FUNCTION = own_eq);
SET LOCAL search_path = keys_equality, public, pg_catalog;
SELECT outcome('SELECT bloom_agg(1::int8) @~ ''2''');
ROLLBACK;
SELECT bloom_agg('a'::text) @~ 'b' AS text, bloom_agg('10.0.0.1'::inet) @~ '10.0.0.2' AS inet, bloom_agg(1::int8) @~ '2' AS int;

-- What compares with keys of another family makes nothing an error.
CREATE OPERATOR = (LEFTARG = pair, RIGHTARG = int, FUNCTION = own_eq);
CREATE OPERATOR = (LEFTARG = plain_domain, RIGHTARG = text, FUNCTION = own_eq);
SELECT equal, answers FROM compared('(1, ''a'')::pair', '(1, ''a'')::pair');
SELECT equal, answers FROM compared('1::plain_domain', '1::int');
DROP OPERATOR = (pair, int);
DROP OPERATOR = (plain_domain, text);

-- An operator that is made later is seen by the next statement, prepared or not.
CREATE TABLE moods AS SELECT m, bloom_agg(m) AS f FROM unnest(enum_range(NULL::mood)) m GROUP BY m;
PREPARE probe AS SELECT count(*) FROM moods a, moods b WHERE a.f @~ b.m;
EXECUTE probe;
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
EXECUTE probe;
DROP OPERATOR = (mood, mood);
EXECUTE probe;

-- Joins and indexes have operators that they know, and go on.
CREATE TABLE facts AS SELECT CASE g % 2 WHEN 0 THEN 'sad' ELSE 'ok' END::mood AS m, g::number AS n, ARRAY[g % 10] AS l FROM generate_series(1, 100) g;
CREATE INDEX facts_m ON facts USING maplet (m);
CREATE INDEX facts_n ON facts USING maplet (n);
CREATE INDEX facts_l ON facts USING maplet (l);
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = own_eq);
CREATE OPERATOR = (LEFTARG = number, RIGHTARG = number, FUNCTION = own_eq);
CREATE OPERATOR = (LEFTARG = int[], RIGHTARG = int[], FUNCTION = own_eq);
INSERT INTO facts VALUES ('sad', 101, '{101}');
SET enable_seqscan = off;
SELECT count(*) FROM facts WHERE m OPERATOR(pg_catalog.=) 'sad';
SELECT count(*) FROM facts WHERE n OPERATOR(pg_catalog.=) 101::int;
SELECT count(*) FROM facts WHERE l OPERATOR(pg_catalog.=) '{7}'::int[];
RESET enable_seqscan;
SELECT count(*) FROM facts WHERE m = 'sad';
SELECT maplet_check(i, true) FROM unnest('{facts_m,facts_n,facts_l}'::regclass[]) i;
-- (the module has to be there when the session begins)
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
SET search_path = keys_equality, public;
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT r.* FROM join_compare($$SELECT a.n FROM facts a JOIN facts b ON a.l OPERATOR(pg_catalog.=) b.l WHERE b.m OPERATOR(pg_catalog.=) 'sad'$$) r;
SELECT r.* FROM join_compare($$SELECT a.n FROM facts a JOIN facts b ON a.n OPERATOR(pg_catalog.=) b.n::int WHERE b.m OPERATOR(pg_catalog.=) 'sad'$$) r;
SELECT r.* FROM join_compare($$SELECT a.n FROM facts a JOIN facts b ON a.m OPERATOR(pg_catalog.=) b.m WHERE b.n OPERATOR(pg_catalog.=) 2$$) r;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;

SET client_min_messages = warning;
DROP SCHEMA keys_equality CASCADE;
DROP ROLE regress_bloomfam_stranger;
