--
-- Sizes of joins by samples of rows, and what a role may not see: nothing is read for it, and no function is called but the server's own.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_sizes_security;
SET search_path = join_sizes_security, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE ROLE regress_bloomfam_sizes_reader;
CREATE ROLE regress_bloomfam_sizes_owner;

-- makes sampled(), rows_of(), sized()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/sized.sql'
\i :file

CREATE TABLE facts AS SELECT g AS id, 1000 + g % 100 AS day, g % 50 AS secret FROM generate_series(1, 110000) g;
CREATE TABLE days AS SELECT g AS id, g / 100 AS year, g % 7 AS weekday, g AS secret FROM generate_series(0, 3000) g;
CREATE TABLE large AS SELECT g AS id, g / 100 AS year, g % 7 AS weekday, g AS secret FROM generate_series(0, 9000) g;
CREATE INDEX ON large (id);
ANALYZE facts, days, large;
-- what tells of each row that it sees, what fails, what is never the same, and what says that it is harmless: none of these is called
CREATE FUNCTION tells(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.1 AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE FUNCTION fails(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.1 AS $$ BEGIN RETURN 1 / ($1 - $1) > 0; END $$;
CREATE FUNCTION is_volatile(int) RETURNS boolean LANGUAGE plpgsql VOLATILE LEAKPROOF AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE FUNCTION is_stable(int) RETURNS boolean LANGUAGE plpgsql STABLE LEAKPROOF AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE FUNCTION harmless(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE LEAKPROOF AS $$ BEGIN RETURN true; END $$;
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq);
-- an operator of a listed name, by a function of the server that is not listed
CREATE OPERATOR + (LEFTARG = text, RIGHTARG = int, FUNCTION = repeat);

-- ---- conditions ----

-- of several those are evaluated that can be; the others keep what the server expects of them
SELECT c AS condition, how, fraction > 0.9 AS all_match FROM unnest('{d.year = 10, tells(d.secret), fails(d.secret), is_volatile(d.secret), is_stable(d.secret), harmless(d.secret),
	d.year = 10 AND tells(d.secret), d.year = 10 AND fails(d.secret), d.year = 10 AND is_volatile(d.secret), d.year = 10 AND is_stable(d.secret),
	d.year = 10 AND harmless(d.secret), d.year / d.weekday = 10, d.year % 10 = 0, d.year IN (10\, 11), d.year = 10 OR d.year IS NULL,
	NOT (d.year = 11), d.year = 10 OR tells(d.secret), d.year === 10, d.ctid < ''(5\,1)'', d IS NOT NULL, d.year = (SELECT 10), d.year BETWEEN 10 AND 12, d.year <> random(), ''x''::text OPERATOR(join_sizes_security.+) d.year = ''xx''}'::text[]) c
	LEFT JOIN LATERAL sampled('facts f JOIN days d ON d.id = f.day WHERE ' || c) ON true;
-- the same by an index
SELECT c AS condition, how, fraction > 0.9 AS all_match FROM unnest('{d.year = 10 AND tells(d.secret), d.year = 10 AND fails(d.secret), tells(d.secret)}'::text[]) c
	LEFT JOIN LATERAL sampled('facts f JOIN large d ON d.id = f.day WHERE ' || c) ON true;
-- LIKE fails where the pattern ends in a backslash, which is the query's own error alone; a regular expression may take long
CREATE TABLE named AS SELECT id, year, 'name ' || year AS name FROM days;
ANALYZE named;
SELECT c AS condition, regexp_replace(how, 'not sampled: it would access too many blocks', 'read') AS how FROM unnest(ARRAY['d.name LIKE ''name 1%''', 'd.name NOT LIKE ''name 1%''', 'd.name LIKE ''name\''', 'd.name LIKE d.name', 'd.name ~ ''1''', 'd.name LIKE NULL::text']) c
	LEFT JOIN LATERAL sampled('facts f JOIN named d ON d.id = f.day WHERE ' || c) ON true;
-- nor may a function be called that the user has no right to; the query's own error is its own
REVOKE EXECUTE ON FUNCTION int4mod(int, int) FROM PUBLIC;
GRANT USAGE ON SCHEMA join_sizes_security TO regress_bloomfam_sizes_reader, regress_bloomfam_sizes_owner;
GRANT SELECT ON facts, days TO regress_bloomfam_sizes_reader;
SET ROLE regress_bloomfam_sizes_reader;
PREPARE not_run AS SELECT 1 FROM facts f JOIN days d ON d.id = f.day WHERE d.year % 10 = 0;
EXPLAIN (COSTS OFF) EXECUTE not_run;
RESET ROLE;
GRANT EXECUTE ON FUNCTION int4mod(int, int) TO PUBLIC;
-- an equality that is not the server's own is left
CREATE FUNCTION my_cmp(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'compared'; RETURN btint4cmp($1, $2); END $$;
CREATE OPERATOR ==== (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, COMMUTATOR = ====, MERGES, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE OPERATOR <<<< (LEFTARG = int, RIGHTARG = int, FUNCTION = int4lt);
CREATE OPERATOR CLASS my_ops FOR TYPE int USING btree AS OPERATOR 1 <<<<, OPERATOR 3 ====, FUNCTION 1 my_cmp(int, int);
SELECT how FROM sampled('facts f JOIN days d ON d.id ==== f.day WHERE d.year = 10');

-- ---- rights ----

CREATE FUNCTION as_reader(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	SET LOCAL ROLE regress_bloomfam_sizes_reader;
	FOR said IN SELECT how FROM sampled(query) LOOP
		RETURN NEXT said;
	END LOOP;
	RESET ROLE;
END $$;
SELECT * FROM as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
REVOKE SELECT ON days, facts FROM regress_bloomfam_sizes_reader;
GRANT SELECT (id, year) ON days TO regress_bloomfam_sizes_reader;
GRANT SELECT (day) ON facts TO regress_bloomfam_sizes_reader;
SELECT * FROM as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
-- a column of a condition, or of either side's key, that may not be read: the query is planned, and fails when it runs
SELECT how FROM sampled_of($$SELECT 1 FROM facts f JOIN days d ON d.id = f.day WHERE d.year = 10$$);
CREATE FUNCTION planned_as_reader(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL ROLE regress_bloomfam_sizes_reader;
	SET LOCAL bloomfam.join_samples = on;
	EXECUTE 'PREPARE hidden AS SELECT 1 FROM ' || query;
	EXECUTE 'EXPLAIN (COSTS OFF) EXECUTE hidden';
	RETURN 'planned';
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM;
END $$;
SELECT planned_as_reader('facts f JOIN days d ON d.id = f.day WHERE d.secret = 10');
DEALLOCATE hidden;
SELECT planned_as_reader('facts f JOIN days d ON d.id = f.secret WHERE d.year = 10');
DEALLOCATE hidden;
-- who may write it, still may not read it
GRANT UPDATE, DELETE ON days TO regress_bloomfam_sizes_reader;
SELECT planned_as_reader('facts f JOIN days d ON d.id = f.day WHERE d.weekday = 1');
DEALLOCATE hidden;

-- a view's owner has the right; its user needs it, too, as conditions of the view may hide rows, and not be evaluated; a barrier hides rows
CREATE VIEW plain AS SELECT id, year FROM days WHERE weekday < 7;
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, year FROM days WHERE weekday < 3;
CREATE VIEW barrier_join WITH (security_barrier) AS SELECT f.id, d.year FROM facts f JOIN days d ON d.id = f.day WHERE d.year = 10 OFFSET 0;
CREATE VIEW of_owner AS SELECT id, year FROM days;
ALTER VIEW of_owner OWNER TO regress_bloomfam_sizes_owner;
GRANT SELECT ON plain, barrier, barrier_join, of_owner, facts TO regress_bloomfam_sizes_reader;
REVOKE ALL ON days FROM regress_bloomfam_sizes_reader;
REVOKE SELECT (id, year) ON days FROM regress_bloomfam_sizes_reader;
SELECT * FROM as_reader('facts f JOIN plain d ON d.id = f.day WHERE d.year = 10');
GRANT SELECT (id, year, weekday) ON days TO regress_bloomfam_sizes_reader;
SELECT * FROM as_reader('facts f JOIN plain d ON d.id = f.day WHERE d.year = 10');
REVOKE SELECT (id, year, weekday) ON days FROM regress_bloomfam_sizes_reader;
SELECT * FROM as_reader('facts f JOIN barrier d ON d.id = f.day WHERE d.year = 10');
SELECT * FROM as_reader('barrier_join');
SELECT planned_as_reader('facts f JOIN of_owner d ON d.id = f.day WHERE d.year = 10');
DEALLOCATE hidden;
-- policies, on either side
GRANT SELECT ON days TO regress_bloomfam_sizes_reader;
CREATE POLICY weekdays ON days USING (weekday < 3);
ALTER TABLE days ENABLE ROW LEVEL SECURITY;
SELECT * FROM as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
SELECT how FROM sampled('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
ALTER TABLE days DISABLE ROW LEVEL SECURITY;
CREATE POLICY weekdays ON facts USING (secret < 3 OR day > 0);
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
SELECT * FROM as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
ALTER TABLE facts DISABLE ROW LEVEL SECURITY;
-- a view of somebody who sees all rows is no way around a policy for one who does not
CREATE POLICY none ON days TO regress_bloomfam_sizes_reader USING (id < 0);
CREATE VIEW of_all AS SELECT id, year FROM days WHERE is_stable(weekday);
GRANT SELECT ON of_all TO regress_bloomfam_sizes_reader;
ALTER TABLE days ENABLE ROW LEVEL SECURITY;
SELECT * FROM as_reader('facts f JOIN of_all d ON d.id = f.day WHERE d.year = 10');
ALTER TABLE days DISABLE ROW LEVEL SECURITY;
-- asked each time
SELECT * FROM as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 12');
REVOKE ALL ON days FROM regress_bloomfam_sizes_reader;
SELECT planned_as_reader('facts f JOIN days d ON d.id = f.day WHERE d.year = 12');
DEALLOCATE hidden;

-- ---- what reading would leave behind, or must not be within ----

BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT how FROM sampled('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
SELECT count(*) AS predicate_locks FROM pg_locks WHERE mode = 'SIReadLock' AND relation IN ('facts'::regclass, 'days'::regclass);
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT how FROM sampled('facts f JOIN days d ON d.id = f.day WHERE d.year = 10');
ROLLBACK;
-- one's own temporary table, a materialized view, and one that was never filled
CREATE TEMP TABLE temporary AS SELECT * FROM days;
CREATE MATERIALIZED VIEW filled AS SELECT * FROM days;
CREATE MATERIALIZED VIEW empty AS SELECT * FROM days WITH NO DATA;
ANALYZE temporary, filled;
SELECT how FROM unnest('{temporary,filled}'::text[]) d, sampled(format('facts f JOIN %s d ON d.id = f.day WHERE d.year = 10', d));
-- no error but the query's own
PREPARE never AS SELECT 1 FROM facts f JOIN empty d ON d.id = f.day WHERE d.year = 10;
EXECUTE never;

-- ---- what happens meanwhile ----

-- the index is dropped before EXPLAIN tells of it
CREATE FUNCTION drops() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DROP INDEX large_id_idx; RETURN 1; END $$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT how FROM sampled_of('SELECT drops() FROM facts f JOIN large d ON d.id = f.day WHERE d.year = 10');
CREATE FUNCTION dropped_in(format text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT %s) SELECT drops() FROM facts f JOIN large d ON d.id = f.day WHERE d.year = 10 LIMIT 1', format) LOOP
		RETURN QUERY SELECT (regexp_match(line, 'Index: large_id_idx|"Index": "large_id_idx"'))[1] WHERE line ~ 'large_id_idx';
	END LOOP;
END $$;
BEGIN;
SELECT * FROM dropped_in('JSON');
ROLLBACK;
BEGIN;
SELECT * FROM dropped_in('TEXT');
ROLLBACK;
RESET enable_indexscan;
RESET enable_bitmapscan;
-- samples are off for a query that a function plans meanwhile, and on again before its joins are ordered: it is a query of its own
CREATE FUNCTION switches_on() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM set_config('bloomfam.join_samples', 'on', false); RETURN 10; END $$;
CREATE FUNCTION switches_off() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM set_config('bloomfam.join_samples', 'off', false);
	PERFORM 1 FROM facts f JOIN days d ON d.id = f.day WHERE d.year = switches_on() LIMIT 1;
	RETURN 10;
END $$;
SELECT how FROM sampled('facts f JOIN days d ON d.id = f.day WHERE d.year = switches_off()');

-- ---- what would fail, if it were evaluated ----

CREATE TABLE collated AS SELECT id, name COLLATE "C" AS c, name COLLATE "POSIX" AS p FROM named;
ANALYZE collated;
SELECT c AS condition, regexp_replace(how, 'not sampled: it would access too many blocks', 'read') AS how FROM unnest('{d.c = d.p, d.c < d.p, d.c = d.c, d.c ^@ ''name''}'::text[]) c
	LEFT JOIN LATERAL sampled('facts f JOIN collated d ON d.id = f.day WHERE ' || c) ON true;
-- rows as keys: their columns may have other types, and comparisons of their own
CREATE TYPE of_int AS (a int);
CREATE TYPE of_text AS (a text);
CREATE TABLE facts_of_int AS SELECT row(day)::of_int AS key FROM facts;
CREATE TABLE days_of_text AS SELECT row(id::text)::of_text AS key, year FROM days;
ANALYZE facts_of_int, days_of_text;
SET enable_mergejoin = off;
SELECT how FROM sampled('facts_of_int f JOIN days_of_text d ON d.key = f.key WHERE d.year = 10');
RESET enable_mergejoin;

SET client_min_messages = warning;
DROP SCHEMA join_sizes_security CASCADE;
DROP ROLE regress_bloomfam_sizes_reader;
DROP ROLE regress_bloomfam_sizes_owner;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
