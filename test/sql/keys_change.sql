-- What a key's type is made of changes between build and probe: the answer is "yes" or an error, never "no".
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfam;
CREATE EXTENSION IF NOT EXISTS citext;
CREATE SCHEMA keys_change;
CREATE SCHEMA keys_elsewhere;
SET search_path = keys_change, public, keys_elsewhere;

CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE hashed_pair AS (k bloomkey, n int);
CREATE DOMAIN pair_domain AS pair;
CREATE DOMAIN moods AS mood[];
CREATE TYPE citext_range AS RANGE (subtype = citext);
CREATE TYPE mood_range AS RANGE (subtype = mood);
CREATE TABLE parts (id int, c citext, m mood, p pair, ps pair[], pd pair_domain, ms moods, cr citext_range, mr mood_range);
INSERT INTO parts VALUES (7, 'A', 'ok', (1, 'a'), ARRAY[(1, 'a')::pair, NULL], (1, 'a'), '{ok,NULL}', '[a,b)', '[sad,ok]');

CREATE TABLE cases (expression text, f bloomfilter);
INSERT INTO cases VALUES
('c'), ('ARRAY[c]'), ('ROW(1, c)'), ('ROW(1, ROW(c))'), ('ARRAY[ROW(1, c)]'), ('ARRAY[NULL, ROW(1, c)]'), ('ROW(1, ARRAY[ROW(ROW(c))])'),
('m'), ('ms'), ('ROW(1, ROW(m))'), ('ROW(1, ROW(ms))'), ('ARRAY[ROW(ARRAY[m])]'),
('p'), ('ps'), ('pd'), ('ROW(id, p)'), ('ROW(id, ROW(p, 2))'), ('ARRAY[ROW(p)]'), ('ROW(1, ROW(pd))'), ('ARRAY[ROW(ps)]'),
('cr'), ('ROW(1, ROW(cr))'), ('ARRAY[ROW(multirange(cr))]'), ('ROW(1, ROW(mr))'),
('ROW(1, ROW(''A''::text COLLATE ci))'), ('ARRAY[ROW(''A''::text COLLATE ci)]'),
('bloom_key(c)'), ('ARRAY[bloom_key(c)]'), ('ROW(bloom_key(ROW(m)), 2)'), ('ARRAY[ROW(bloom_key(p))]'), ('ROW(bloom_key(p), 1)::hashed_pair');

CREATE FUNCTION build(expression text) RETURNS bloomfilter LANGUAGE plpgsql AS
$$
DECLARE
	f bloomfilter;
BEGIN
	EXECUTE format('SELECT bloom_agg(%s) FROM parts', expression) INTO f;
	RETURN f;
END
$$;
CREATE FUNCTION ask(expression text, f bloomfilter) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	answer bool;
BEGIN
	EXECUTE format('SELECT bloom_may_contain($1, %s) FROM parts', expression) INTO answer USING f;
	RETURN CASE WHEN answer THEN 'yes' ELSE 'DENIED' END;
EXCEPTION WHEN datatype_mismatch THEN
	RETURN 'error';
END
$$;
-- Which expressions were answered how; how many, if it is yes.
CREATE FUNCTION ask_all() RETURNS TABLE (answer text, expressions text) LANGUAGE sql AS
$$
	SELECT answer, CASE answer WHEN 'yes' THEN count(*)::text ELSE string_agg(expression, '; ' ORDER BY number) END
	FROM (SELECT *, row_number() OVER () AS number FROM cases) c, ask(expression, f) answer GROUP BY answer ORDER BY answer
$$;

UPDATE cases SET f = build(expression);
SELECT expression, regexp_replace(regexp_replace((bloom_info(f)).key_type, '@pg\d+:(le|be)[^][(),]*', '@...', 'g'), '[0-9a-f]{16}', '...', 'g') AS family
FROM cases;
SELECT * FROM ask_all();

BEGIN;
ALTER EXTENSION citext SET SCHEMA keys_elsewhere;
SELECT * FROM ask_all();
ROLLBACK;

BEGIN;
ALTER TYPE mood RENAME TO humour;
SELECT * FROM ask_all();
ROLLBACK;

BEGIN;
ALTER TYPE mood SET SCHEMA keys_elsewhere;
SELECT * FROM ask_all();
ROLLBACK;

BEGIN;
ALTER TYPE pair ADD ATTRIBUTE c int;
SELECT * FROM ask_all();
ROLLBACK;

BEGIN;
ALTER TYPE pair DROP ATTRIBUTE b;
SELECT * FROM ask_all();
ROLLBACK;

-- No family has these names in it.
BEGIN;
ALTER TYPE pair RENAME ATTRIBUTE b TO c;
ALTER TYPE pair RENAME TO couple;
ALTER TYPE citext_range SET SCHEMA keys_elsewhere;
ALTER TYPE moods RENAME TO humours;
ALTER TYPE hashed_pair SET SCHEMA keys_elsewhere;
SELECT * FROM ask_all();
ROLLBACK;

-- The same name, and another locale: what the version of a collation changes is told in the same way.
BEGIN;
DROP COLLATION ci;
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
SELECT * FROM ask_all();
ROLLBACK;
SELECT * FROM ask_all();

-- An anonymous row is what a row of a named type with such columns is, as = has it.
SELECT bloom_key(ROW(1, ROW(1, 'a'::text))) = bloom_key(ROW(1, (1, 'a')::pair)) AS row,
	   bloom_key(ARRAY[ROW(1, 'a'::text)]) = bloom_key(ARRAY[(1, 'a')::pair]) AS array;
-- Rows whose columns are not of one family are different keys, which is told.
SELECT bloom_agg(ROW(1, ROW(2))) @~ ROW(1, ROW(2.0)) FROM parts;
SELECT bloom_agg(k) FROM (VALUES (ROW(1, ROW(2))), (ROW(1, ROW('a'::text)))) v(k);
-- Nothing says what these would be.
SELECT bloom_key(ROW(1, NULL::record));
SELECT bloom_key('{}'::record[]);
SELECT bloom_key(ARRAY[NULL::record]);
SELECT bloom_key(ROW(1, ARRAY[ROW(ARRAY[NULL::record])]));
SELECT bloom_key(ROW(NULL::bloomkey, 1));
SELECT bloom_key('{}'::bloomkey[]);
SELECT bloom_create(10, key_type => 'record[]');
SELECT bloom_create(10, key_type => 'hashed_pair');
-- One key, rows of two types; next to what may be NULL.
SELECT bloom_key(ARRAY[ROW(1), ROW('a'::text)]);
SELECT bloom_key(ARRAY[ROW(1, ROW(2)), ROW(1, ROW('a'::text))]);
SELECT bloom_key(ARRAY[bloom_key(1), bloom_key('a'::text)]);
SELECT bloom_key(ARRAY[ROW(1), NULL, ROW(2::int8)]) = bloom_key(ARRAY[ROW(1::int8), NULL, ROW(2)]) AS same,
	   bloom_key(ROW(1, ROW(NULL::int))) = bloom_key(ROW(1, ROW(NULL::int8))) AS same;
CREATE TYPE bloomkey_range AS RANGE (subtype = bloomkey);
SELECT bloom_key('empty'::bloomkey_range);

-- Keys take turns, and an error between them leaves nothing behind.
CREATE FUNCTION turns() RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE
	r record;
	inner_row record;
	i int;
BEGIN
	FOR i IN 1..6 LOOP
		inner_row := CASE i % 3 WHEN 0 THEN ROW(1) WHEN 1 THEN ROW('a'::text) ELSE NULL END;
		r := ROW(1, inner_row);
		BEGIN
			RETURN NEXT (bloom_key(r) = bloom_key(ROW(1, ROW(1)))) || ' ' || (bloom_key(r) = bloom_key(ROW(1, ROW('a'::text))));
		EXCEPTION WHEN indeterminate_datatype THEN
			RETURN NEXT 'error';
		END;
	END LOOP;
END
$$;
SELECT turns();

SET client_min_messages = warning;
DROP SCHEMA keys_change, keys_elsewhere CASCADE;
