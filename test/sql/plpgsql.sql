-- Filters in PL/pgSQL: loops, triggers, exceptions, cursors.
CREATE SCHEMA plpgsql;
SET search_path = plpgsql, public;

-- a loop of bloom_add gives what the aggregate does
CREATE FUNCTION built(n int, kind text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter := bloom_create(n, 0.01, kind, 'int4');
BEGIN
	FOR i IN 1 .. n LOOP
		f := bloom_add(f, i);
		IF NOT bloom_may_contain(f, i) OR NOT f @~ 1 THEN
			RAISE EXCEPTION 'lost key %', i;
		END IF;
	END LOOP;
	RETURN f;
END $$;
SELECT kind, built(3000, kind) = (SELECT bloom_agg(x, 0.01, kind, 3000) FROM generate_series(1, 3000) x) AS same FROM unnest('{standard,blocked}'::text[]) kind ORDER BY 1;

-- a variable that changes between probes at one and the same place of the code, several filters taking turns, sizes and kinds changing
CREATE FUNCTION taking_turns() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	filters bloomfilter[];
	f bloomfilter;
	wrong int := 0;
	asked int := 0;
BEGIN
	FOR i IN 0 .. 19 LOOP
		filters[i] := bloom_add_all(bloom_create(50, 0.000001, 'standard'), array(SELECT generate_series(i * 50, i * 50 + 49)));
	END LOOP;
	FOR round IN 1 .. 3 LOOP
		FOR k IN 0 .. 999 LOOP
			FOR i IN 0 .. 19 LOOP
				f := filters[(i + round) % 20];
				asked := asked + 1;
				IF (f @~ k) <> (k / 50 = (i + round) % 20) THEN
					wrong := wrong + 1;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN format('%s asked, %s wrong', asked, wrong);
END $$;
SELECT taking_turns();

-- a variable that is changed in place by assignment: the probe sees the new value at once
DO $$
DECLARE
	f bloomfilter := bloom_create(1000, 0.0001);
	wrong int := 0;
BEGIN
	FOR i IN 1 .. 500 LOOP
		IF f @~ i THEN wrong := wrong + 1; END IF;
		f := bloom_add(f, i);
		IF NOT f @~ i THEN wrong := wrong + 1; END IF;
		IF i % 100 = 0 THEN f := bloom_create(1000, 0.0001); END IF;
	END LOOP;
	RAISE NOTICE 'wrong: %', wrong;
END $$;
-- filters read into a variable from a table: out of line, inline, NULL
CREATE TABLE segment (id int PRIMARY KEY, f bloomfilter);
INSERT INTO segment SELECT s, bloom_agg(x, 0.0001, 'blocked', CASE s % 3 WHEN 0 THEN 10 ELSE 10000 END) FROM generate_series(1, 30) s, generate_series(s * 10, s * 10 + 9) x GROUP BY s;
INSERT INTO segment VALUES (31, NULL);
DO $$
DECLARE
	r record;
	k int;
	hits int := 0;
	lost int := 0;
BEGIN
	FOR round IN 1 .. 5 LOOP
		FOR r IN SELECT * FROM segment ORDER BY id * 7 % 31 LOOP
			FOREACH k IN ARRAY ARRAY[r.id * 10, r.id * 10 + 9, r.id * 10 + 500] LOOP
				IF r.f @~ k THEN hits := hits + 1; ELSIF k < r.id * 10 + 10 THEN lost := lost + 1; END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	-- the NULL filter may contain all three
	RAISE NOTICE 'hits: %, lost: %', hits, lost;
END $$;

-- a filter that a trigger maintains
CREATE TABLE visit (id int, who text);
CREATE TABLE seen (one bool PRIMARY KEY DEFAULT true CHECK (one), f bloomfilter NOT NULL);
INSERT INTO seen VALUES (true, bloom_create(2000, 0.001, 'blocked', 'text'));
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE seen SET f = bloom_add(f, NEW.who);
	RETURN NEW;
END $$;
CREATE TRIGGER remember AFTER INSERT ON visit FOR EACH ROW EXECUTE FUNCTION remember();
CREATE FUNCTION remember_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE seen SET f = f | (SELECT bloom_agg(who, 0.001, 'blocked', 2000) FROM new_rows);
	RETURN NULL;
END $$;
INSERT INTO visit SELECT x, 'user ' || x FROM generate_series(1, 300) x;
ALTER TABLE visit DISABLE TRIGGER remember;
CREATE TRIGGER remember_all AFTER INSERT ON visit REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION remember_all();
INSERT INTO visit SELECT x, 'user ' || x FROM generate_series(301, 1000) x;
INSERT INTO visit SELECT x, NULL FROM generate_series(1, 3) x;
INSERT INTO visit SELECT 0, 'x' WHERE false;
SELECT count(*) FILTER (WHERE NOT f @~ who) AS lost, count(*) FILTER (WHERE f @~ ('other ' || who)) < 15 AS few, min((bloom_info(f)).keys_added) AS added FROM visit, seen;
-- a trigger's WHEN, and a CHECK
CREATE TABLE refused (id int, who text, CHECK (NOT bloom_add_all(bloom_create(10, 0.0001), '{mallory,eve}'::text[]) @~ who));
INSERT INTO refused VALUES (1, 'alice'), (2, NULL);
INSERT INTO refused VALUES (3, 'eve');
-- rolled back with its transaction
BEGIN;
INSERT INTO visit VALUES (2000, 'user 2000');
SELECT f @~ 'user 2000' AS seen FROM seen;
SAVEPOINT s;
INSERT INTO visit VALUES (2001, 'user 2001');
SELECT f @~ 'user 2000' AS seen, f @~ 'user 2001' AS also FROM seen;
ROLLBACK TO s;
SELECT f @~ 'user 2000' AS seen, f @~ 'user 2001' AS also FROM seen;
ROLLBACK;
SELECT f @~ 'user 2000' AS seen FROM seen;

-- exceptions: what a failed block did is gone, and what comes after still works, at the same place of the code
CREATE FUNCTION ask(f bloomfilter, key anyelement) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN f @~ key;
EXCEPTION
	WHEN datatype_mismatch THEN RETURN 'another type';
	WHEN undefined_function THEN RETURN 'no hash';
END $$;
SELECT ask(f, 5), ask(f, 'a'::text), ask(f, 5::bigint), ask(f, 50), ask(f, 1.5), ask(f, 6), ask(f, '{}'::json), ask(f, bloom_key(7)), ask(f, bloom_key('a'::text)), ask(f, NULL::int), ask(NULL, 1)
FROM bloom_add_all(bloom_create(10, 0.0001), '{5,6,7}'::int[]) f;
DO $$
DECLARE
	f bloomfilter := bloom_create(100, 0.0001);
	failed int := 0;
	lost int := 0;
BEGIN
	FOR i IN 1 .. 100 LOOP
		BEGIN
			f := bloom_add(f, i);
			IF i % 2 = 0 THEN
				f := bloom_add(f, 'wrong'::text);
			END IF;
		EXCEPTION WHEN datatype_mismatch THEN
			failed := failed + 1;
		END;
	END LOOP;
	FOR i IN 1 .. 100 LOOP
		IF NOT f @~ i THEN lost := lost + 1; END IF;
	END LOOP;
	RAISE NOTICE 'failed: %, lost: %', failed, lost;
END $$;
-- a filter that is out of line, in a function that is called again in later transactions, after it was changed
CREATE TABLE current (f bloomfilter);
INSERT INTO current SELECT bloom_agg(x, 0.0001, 'standard', 100000) FROM generate_series(1, 10) x;
CREATE FUNCTION in_current(k int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter;
BEGIN
	SELECT c.f INTO f FROM current c;
	RETURN f @~ k;
END $$;
SELECT in_current(5), in_current(15);
UPDATE current SET f = bloom_add(f, 15);
SELECT in_current(5), in_current(15);
TRUNCATE current;
INSERT INTO current SELECT bloom_agg(x, 0.0001, 'standard', 100000) FROM generate_series(11, 20) x;
SELECT in_current(5), in_current(15);
BEGIN;
UPDATE current SET f = bloom_add(f, 5);
SELECT in_current(5);
ROLLBACK;
SELECT in_current(5);
-- COMMIT inside of a loop
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
DECLARE
	f bloomfilter;
	wrong int := 0;
BEGIN
	FOR i IN 100 .. 120 LOOP
		UPDATE current c SET f = bloom_add(c.f, i);
		COMMIT;
		SELECT c.f INTO f FROM current c;
		IF NOT f @~ i OR f @~ (i + 1) THEN wrong := wrong + 1; END IF;
	END LOOP;
	RAISE NOTICE 'wrong: %', wrong;
END $$;
CALL commits();
-- SQL functions, inlined and not
CREATE FUNCTION inlined(f bloomfilter, k int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT f @~ k';
CREATE FUNCTION not_inlined(f bloomfilter, k int) RETURNS boolean LANGUAGE sql VOLATILE STRICT AS 'SELECT f @~ k';
SELECT count(*) FILTER (WHERE inlined(f, x)) AS inlined, count(*) FILTER (WHERE not_inlined(f, x)) AS not_inlined, count(*) FILTER (WHERE inlined(NULL, x)) AS null_filter
FROM current, generate_series(11, 20) x;
