-- Filters in PL/pgSQL variables, which PostgreSQL 18 modifies in place: nothing but the variable assigned to may change.
CREATE SCHEMA inplace;
SET search_path = inplace, public;

--
-- A loop gives the bytes that the aggregate gives, and the filter may be asked at every step
--
CREATE FUNCTION loop(kind text, n int) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter := bloom_create(1000, 0.01, kind);
	missed int := 0;
BEGIN
	FOR i IN 1 .. n LOOP
		f := bloom_add(f, i);
		IF NOT f @~ i OR NOT bloom_may_contain(f, (i + 1) / 2) THEN
			missed := missed + 1;
		END IF;
	END LOOP;
	IF missed > 0 THEN
		RAISE 'missed %', missed;
	END IF;
	RETURN f;
END $$;
SELECT kind, loop(kind, 500) = (SELECT bloom_agg(i, 0.01, kind, 1000) FROM generate_series(1, 500) i) AS same
FROM unnest('{standard,blocked}'::text[]) kind;

--
-- A copy of the variable stays what it was
--
CREATE FUNCTION copies() RETURNS TABLE (what text, f_keys bigint, g_keys bigint, row_keys bigint, array_keys bigint) LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter := bloom_create(100, 0.01, 'blocked', 'int');
	g bloomfilter;
	r record;
	a bloomfilter[];
BEGIN
	FOR i IN 1 .. 3 LOOP
		f := bloom_add(f, i);
	END LOOP;
	g := f;
	r := row(f);
	a := ARRAY[f];
	f := bloom_add(f, 4);
	g := bloom_add(bloom_add(g, 5), 6);
	RETURN QUERY SELECT 'one went on', (bloom_info(f)).keys_added, (bloom_info(g)).keys_added, (bloom_info(r.f1)).keys_added,
		(bloom_info(a[1])).keys_added;
	-- the same variable twice in one expression, and in another function's hands
	f := bloom_add(f, (bloom_info(bloom_add(f, 100))).keys_added);
	g := bloom_union(bloom_add(g, 7), g);
	RETURN QUERY SELECT 'twice', (bloom_info(f)).keys_added, (bloom_info(g)).keys_added, (bloom_info(r.f1)).keys_added,
		(bloom_info(a[1])).keys_added;
	f := bloom_add(a[1], 8);
	f := bloom_add(f, 9);
	RETURN QUERY SELECT 'from an array', (bloom_info(f)).keys_added, (bloom_info(g)).keys_added, (bloom_info(r.f1)).keys_added,
		(bloom_info(a[1])).keys_added;
END $$;
SELECT * FROM copies();

--
-- Called with a variable, a function has one of its own
--
CREATE FUNCTION with_one_more(f bloomfilter, key int) RETURNS bloomfilter LANGUAGE plpgsql AS $$
BEGIN
	f := bloom_add(f, key);
	RETURN f;
END $$;
DO $$
DECLARE
	f bloomfilter := bloom_add(bloom_create(100), 1);
	g bloomfilter;
BEGIN
	f := bloom_add(f, 2);
	g := with_one_more(f, 3);
	RAISE NOTICE 'f %, g %', (bloom_info(f)).keys_added, (bloom_info(g)).keys_added;
	PERFORM bloom_add(f, 4), bloom_add(f, 5);
	RAISE NOTICE 'f %', (bloom_info(f)).keys_added;
END $$;

--
-- What fails changes nothing
--
DO $$
DECLARE
	f bloomfilter := bloom_create(100);
BEGIN
	f := bloom_add(f, 1);
	f := bloom_add(f, 2);
	BEGIN
		f := bloom_add(f, 'a text'::text);
	EXCEPTION WHEN datatype_mismatch THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	BEGIN
		f := bloom_add(f, 3);
		RAISE EXCEPTION 'rolled back, but for variables';
	EXCEPTION WHEN raise_exception THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	RAISE NOTICE '%', (bloom_info(f)).keys_added;
	f := bloom_add(f, NULL::int);
	RAISE NOTICE '%', (bloom_info(f)).keys_added;
	f := NULL;
	f := bloom_add(f, 1);
	RAISE NOTICE '%', f IS NULL;
END $$;

--
-- Stored along the way, each row is what it was then
--
CREATE TABLE steps (i int, f bloomfilter);
DO $$
DECLARE
	f bloomfilter := bloom_create(5000);
BEGIN
	FOR i IN 1 .. 6 LOOP
		f := bloom_add(f, i);
		INSERT INTO steps VALUES (i, f);
		IF i % 2 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
SELECT i, (bloom_info(f)).keys_added, f = (SELECT bloom_agg(x, 0.01, 'blocked', 5000) FROM generate_series(1, i) x) AS same FROM steps ORDER BY i;
-- and read back, and gone on with
DO $$
DECLARE
	f bloomfilter;
BEGIN
	SELECT s.f INTO f FROM steps s WHERE i = 4;
	FOR i IN 5 .. 6 LOOP
		f := bloom_add(f, i);
	END LOOP;
	RAISE NOTICE '%', f = (SELECT s.f FROM steps s WHERE i = 6);
END $$;

-- a nest of calls in SQL
SELECT (bloom_info(a)).keys_added AS a, (bloom_info(b)).keys_added AS b, (bloom_info(f)).keys_added AS f
FROM (SELECT f, bloom_add(f, 4) AS a, bloom_add(bloom_add(f, 5), 6) AS b
	FROM (SELECT bloom_add(bloom_create(10), x) AS f FROM generate_series(1, 1) x OFFSET 0) s) s;

SET client_min_messages = warning;
DROP SCHEMA inplace CASCADE;
