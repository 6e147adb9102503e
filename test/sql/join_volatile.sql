--
-- Join filters and what can be counted: volatile functions are called, and rows locked, as often as without.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_volatile;
SET search_path = join_volatile, public;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET bloomfam.join_filter_plans = off;
SET compute_query_id = off;
SET jit = off;
SET work_mem = '16MB';

CREATE TABLE f AS SELECT g AS k, g AS v, (g % 2 + 1)::int AS half FROM generate_series(1, 20000) g;
CREATE TABLE d AS SELECT g * 7 AS k, g * 7 AS v FROM generate_series(1, 21) g;
CREATE TABLE none (k int, v int);
VACUUM ANALYZE f, d, none;

CREATE SEQUENCE calls;
CREATE FUNCTION vf(x anyelement) RETURNS anyelement LANGUAGE plpgsql VOLATILE COST 1 AS 'BEGIN PERFORM nextval(''calls''); RETURN x; END';
CREATE FUNCTION sf(x int) RETURNS int LANGUAGE plpgsql STABLE COST 1 AS 'BEGIN RETURN x; END';
CREATE DOMAIN checked AS int CHECK (vf(VALUE) IS NOT NULL);
CREATE DOMAIN harmless AS int CHECK (VALUE > -100);
CREATE TYPE pair AS (a checked, b int);
CREATE FUNCTION add_up(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''calls''); RETURN $1 + $2; END';
CREATE AGGREGATE added(int) (SFUNC = add_up, STYPE = int, INITCOND = '0');

-- Does a query call and lock as often with filters on and forced as with them off?  And is there one, where they are forced?
CREATE FUNCTION counts(query text, OUT same boolean, OUT filtered boolean) LANGUAGE plpgsql AS $$
DECLARE
	off text;
	mode text;
	found text;
	line text;
BEGIN
	FOREACH mode IN ARRAY ARRAY['off', 'on', 'force'] LOOP
		PERFORM set_config('bloomfam.join_filter', mode, true), setval('calls', 1, false);
		BEGIN
			EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO found;
			SELECT format('%s rows, %s calls, %s locks', found, (SELECT last_value - 1 + is_called::int FROM calls), count(*)) INTO found
				FROM (SELECT xmax FROM d UNION ALL SELECT xmax FROM f) x WHERE xmax::text <> '0';
			RAISE EXCEPTION 'undone' USING ERRCODE = 'P0099';
		EXCEPTION WHEN SQLSTATE 'P0099' THEN
			NULL;
		END;
		off := coalesce(off, found);
		-- how often depends on the plan, so on the server's version
		same := coalesce(same, true) AND found = off;
		IF found <> off THEN
			RAISE NOTICE 'off: %; %: %', off, mode, found;
		END IF;
	END LOOP;
	filtered := false;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT count(*) FROM (' || query || ') q' LOOP
		filtered := filtered OR line ~ 'Bloom Filter Probe';
	END LOOP;
END $$;

CREATE FUNCTION plan_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;

-- the build side, and a probe side that is empty: without something volatile there are filters
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT sf(k) AS k FROM d OFFSET 0) d USING (k) WHERE f.v + 0 = -10');
SELECT * FROM counts('SELECT f.v FROM f WHERE f.v + 0 = -10 AND f.k IN (SELECT vf(k) FROM d)');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d FOR UPDATE) d USING (k) WHERE f.v + 0 = -10');
-- the probe side, and an empty build side
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k, sum(v) FROM d WHERE v + 0 < 0 GROUP BY k) d USING (k) WHERE vf(f.v) + 0 > -10');
-- a merge join is not taken for the sake of a filter that cannot be pushed through its sort: the limit ends the other join early
SET enable_mergejoin = on;
SET bloomfam.join_filter_plans = on;
SELECT (counts('SELECT o.k FROM (SELECT vf(k) + 100000 AS k FROM d OFFSET 0) o WHERE NOT EXISTS (SELECT FROM f WHERE f.k = o.k) LIMIT 2')).same;
SELECT (counts('SELECT o.k FROM vf(30000) o (k) WHERE NOT EXISTS (SELECT FROM f WHERE f.k = o.k)')).same;
SET bloomfam.join_filter_plans = off;
SET enable_mergejoin = off;
-- a branch of an Append
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000);
CREATE TABLE q (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (1000);
CREATE TABLE q2 PARTITION OF q FOR VALUES FROM (1000) TO (2000);
INSERT INTO p SELECT g, g FROM generate_series(0, 1999) g;
INSERT INTO q SELECT g * 40, g FROM generate_series(0, 49) g;
CREATE INDEX ON p (k);
VACUUM ANALYZE p, q;
SET enable_partitionwise_join = on;
SET enable_nestloop = on;
SET enable_hashjoin = off;
SET enable_hashjoin = on;
SELECT * FROM counts('SELECT j.v FROM (SELECT p.v, p.k FROM p JOIN q ON p.k = q.k WHERE vf(q.v) >= 0) j JOIN (SELECT k FROM d OFFSET 0) d ON j.k = d.k');
SELECT * FROM counts('SELECT j.v FROM (SELECT p.v, p.k FROM p JOIN q ON p.k = q.k WHERE sf(q.v) >= 0) j JOIN (SELECT k FROM d OFFSET 0) d ON j.k = d.k');
RESET enable_partitionwise_join;
SET enable_nestloop = off;
-- subqueries that run when they are first needed: in another key of the join, in conditions of every sort
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k + 100000 AS k, v FROM d OFFSET 0) d ON f.k = d.k AND f.v + (SELECT vf(0)) = d.v');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k + 100000 AS k, v FROM d OFFSET 0) d ON f.k = d.k AND f.v + (SELECT sf(0)) = d.v');
SET enable_nestloop = on;
SELECT * FROM counts($$SELECT f.v FROM (SELECT f.k, f.v, e.v AS w FROM f LEFT JOIN d e ON e.ctid = (SELECT vf('(0,1)'::tid)) AND e.v + f.v > 0 OFFSET 0) f JOIN (SELECT k + 100000 AS k FROM d OFFSET 0) d USING (k)$$);
SELECT * FROM counts($$SELECT f.v FROM (SELECT f.k, f.v, e.v AS w FROM f LEFT JOIN d e ON e.ctid < (SELECT vf('(0,9)'::tid)) AND e.v + f.v > 0 OFFSET 0) f JOIN (SELECT k + 100000 AS k FROM d OFFSET 0) d USING (k)$$);
SELECT * FROM counts($$SELECT f.v FROM (SELECT f.k, f.v, e.r FROM f LEFT JOIN (SELECT * FROM (SELECT row_number() OVER (ORDER BY v) AS r FROM d OFFSET 0) w WHERE r <= (SELECT vf(2))) e ON e.r + f.v > 0 OFFSET 0) f
	JOIN (SELECT k + 100000 AS k FROM d OFFSET 0) d USING (k)$$);
SET enable_nestloop = off;
-- a domain's CHECK, in every way that a value comes to it, and an aggregate's functions
SELECT * FROM counts('SELECT f.v FROM (SELECT k, v::checked AS c, v FROM f OFFSET 0) f JOIN (SELECT k FROM d) d USING (k) WHERE c > 0');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE f.v::checked > 0');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE f.v::harmless > 0');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE (ARRAY[f.v]::checked[])[1] > 0');
SELECT * FROM counts($$SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE ('(' || f.v || ',1)')::pair IS NOT NULL$$);
SELECT * FROM counts($$SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE jsonb_populate_record(NULL::pair, jsonb_build_object('a', f.v)) IS NOT NULL$$);
SELECT * FROM counts($$SELECT f.k FROM (SELECT k, added(v) AS a FROM f GROUP BY k HAVING added(v) > 0) f JOIN (SELECT k FROM d) d USING (k)$$);
SELECT * FROM counts($$SELECT f.k FROM (SELECT k, sum(v) AS a FROM f GROUP BY k HAVING sum(v) > 0) f JOIN (SELECT k FROM d) d USING (k)$$);

-- functions, operators, aggregates and rows that make values of a domain
CREATE FUNCTION made(int, int) RETURNS checked LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 + $2; END';
CREATE OPERATOR <~> (LEFTARG = int, RIGHTARG = int, FUNCTION = made);
CREATE FUNCTION made_out(int, OUT a checked, OUT b int) LANGUAGE plpgsql STABLE AS 'BEGIN a := $1; b := 0; END';
CREATE FUNCTION larger(checked, int) RETURNS checked LANGUAGE plpgsql STABLE AS 'BEGIN RETURN greatest($1, $2); END';
CREATE AGGREGATE largest(int) (SFUNC = larger, STYPE = checked);
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE (f.v <~> 0) > 0');
SELECT * FROM counts('SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE (made_out(f.v)).a > 0');
SELECT * FROM counts('SELECT f.k FROM (SELECT k, largest(v) AS a FROM f GROUP BY k HAVING largest(v) > 0) f JOIN (SELECT k FROM d) d USING (k)');
SELECT * FROM counts($$SELECT f.v FROM (SELECT f.k, f.v, e.v AS w FROM f LEFT JOIN (SELECT v FROM (SELECT v, v::checked AS dv FROM d OFFSET 0) d
	WHERE jsonb_populate_record(row(dv, 1), '{"f1": 7}') IS NOT NULL) e ON e.v = f.v OFFSET 0) f JOIN (SELECT k + 100000 AS k FROM d OFFSET 0) d USING (k)$$);
-- what an aggregate sorts by, or compares, is harmless: filters go below it
SET bloomfam.join_filter = force;
SELECT count(*) FROM plan_lines($$SELECT * FROM (SELECT k, string_agg(v::text, ',' ORDER BY v), sum(DISTINCT v) FROM f GROUP BY k) f JOIN (SELECT k FROM d) d USING (k)$$) WITH ORDINALITY p (line, i)
	WHERE line ~ 'Aggregate' AND (SELECT min(i) FROM plan_lines($$SELECT * FROM (SELECT k, string_agg(v::text, ',' ORDER BY v), sum(DISTINCT v) FROM f GROUP BY k) f JOIN (SELECT k FROM d) d USING (k)$$) WITH ORDINALITY q (line, i)
		WHERE line ~ 'Bloom Filter Probe') > p.i;
-- a domain whose CHECK leads to itself
CREATE DOMAIN endless AS int;
CREATE FUNCTION parent(x int) RETURNS endless LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x / 2; END';
ALTER DOMAIN endless ADD CHECK (CASE WHEN VALUE > 0 THEN parent(VALUE) IS NOT NULL ELSE true END);
SELECT count(*) FROM f JOIN d USING (k) WHERE f.v::endless >= 0;
-- joins below the filter's: either side may be left where it is, or be read further
SET join_collapse_limit = 1;
SET from_collapse_limit = 1;
CREATE TABLE away AS SELECT -g AS k FROM generate_series(1, 20) g;
CREATE TABLE twice AS SELECT k, v FROM f UNION ALL SELECT k, v FROM f;
ANALYZE away, twice;
SELECT * FROM counts('SELECT x.v FROM (f x JOIN twice y ON x.k = y.k) JOIN away d ON x.k = d.k WHERE vf(x.v) > 0');
SELECT * FROM counts('SELECT x.v FROM ((SELECT k, v FROM f WHERE vf(v) > 0) x JOIN twice y ON x.v = y.v AND y.v + 0 IN (-1, -2, -3, -4, -5, -6, -7)) JOIN away d ON x.k = d.k');
SELECT * FROM counts('SELECT x.v FROM ((SELECT * FROM d FOR UPDATE) x JOIN twice y ON x.k = y.k) JOIN away d ON y.k = d.k');
RESET join_collapse_limit;
RESET from_collapse_limit;
-- plans that are kept: what was looked into for them changes
CREATE DOMAIN quiet AS int;
CREATE TYPE quiet_pair AS (a quiet, b int);
CREATE FUNCTION quiet_add(int, int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM nextval(''calls''); RETURN $1 + $2; END';
CREATE AGGREGATE quiet_sum(int) (SFUNC = quiet_add, STYPE = int, INITCOND = '0');
SET plan_cache_mode = force_generic_plan;
SET bloomfam.join_filter = force;
PREPARE by_domain AS SELECT f.v FROM f JOIN (SELECT k FROM d) d USING (k) WHERE jsonb_populate_record(NULL::quiet_pair, jsonb_build_object('a', f.v)) IS NOT NULL;
PREPARE by_aggregate AS SELECT f.k FROM (SELECT k, quiet_sum(v) AS a FROM f GROUP BY k HAVING quiet_sum(v) > 0) f JOIN (SELECT k FROM d) d USING (k);
CREATE FUNCTION calls_of(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('calls', 1, false);
	EXECUTE 'EXECUTE ' || statement;
	RETURN (SELECT last_value - 1 + is_called::int FROM calls);
END $$;
SELECT calls_of('by_domain') < 20000 AS domain, calls_of('by_aggregate') < 20000 AS aggregate;
ALTER DOMAIN quiet ADD CHECK (vf(VALUE) IS NOT NULL);
ALTER FUNCTION quiet_add VOLATILE;
SELECT calls_of('by_domain') < 20000 AS domain, calls_of('by_aggregate') < 20000 AS aggregate;
DEALLOCATE by_domain;
DEALLOCATE by_aggregate;
RESET plan_cache_mode;

-- what EXPLAIN says
SET bloomfam.join_filter = force;
CREATE FUNCTION decisions(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	told boolean := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		told := told OR line ~ '^ *Join Filters:';
		IF told THEN
			-- majors name a subquery each in its own way, and expect a little more or less
			line := regexp_replace(line, '\$0|\(InitPlan \w+\)\.col1', '(subquery)');
			RETURN NEXT regexp_replace(line, 'Removed: [0-9]+', 'Removed: N');
		END IF;
	END LOOP;
END $$;
SELECT decisions('SELECT f.v FROM f JOIN d ON f.k = d.k AND f.v + (SELECT vf(0)) = d.v');
-- what must be told before rows are grouped is of no use later
CREATE INDEX ON f (k);
SET enable_hashagg = off;
SET enable_sort = off;
SELECT decisions('SELECT g.s FROM (SELECT k, sum(v) AS s FROM f GROUP BY k) g JOIN (SELECT vf(k) AS k FROM d OFFSET 0) d USING (k)');
SELECT decisions('SELECT g.s FROM (SELECT k, sum(v) AS s FROM f GROUP BY k) g JOIN (SELECT sf(k) AS k FROM d OFFSET 0) d USING (k)');
RESET enable_hashagg;
SET bloomfam.join_filter = on;
SELECT decisions('SELECT g.s FROM (SELECT k, sum(v) AS s FROM f GROUP BY k) g JOIN (SELECT d.k, count(*) FROM d, f GROUP BY d.k OFFSET 0) d USING (k)');

SET client_min_messages = warning;
DROP SCHEMA join_volatile CASCADE;
