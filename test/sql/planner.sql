-- What the planner makes of probes: rows and cost.
CREATE SCHEMA planner;
SET search_path = planner, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- a scan with a large filter would be a node of its own
SET bloomfam.join_filter = off;

CREATE TABLE fact (u int, s int, t text, n int);
INSERT INTO fact SELECT x, floor(power(abs(hashint4(x)) / 2147483648.0, 4) * 1000)::int, 'k' || x, CASE WHEN x % 2 = 0 THEN x END
FROM generate_series(1, 20000) x;
ANALYZE fact;

-- makes plan_of()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/plan.sql'
\i :file

-- estimated and actual rows of a query
CREATE FUNCTION rows_of(query text, OUT estimated float8, OUT actual float8) LANGUAGE sql AS $$
SELECT (plan ->> 'Plan Rows')::float8, (plan ->> 'Actual Rows')::float8 FROM plan_of(query, 'ANALYZE, TIMING OFF') plan $$;
CREATE FUNCTION quals(query text) RETURNS text LANGUAGE sql AS $$
SELECT regexp_replace(plan_of(query) ->> 'Filter', '''\\x[0-9a-f]*''', '...', 'g') $$;
CREATE FUNCTION within(query text, factor float8 = 1.5) RETURNS boolean LANGUAGE sql AS $$
SELECT estimated <= actual * factor AND actual <= estimated * factor FROM rows_of(query) $$;

--
-- A known filter: unique, skewed, text and half-empty columns; 0.1 to 100 per cent of the values; operator, commutator and function
--
CREATE TABLE filters AS
SELECT share, (SELECT bloom_agg(x) FROM generate_series(1, 20000) x WHERE abs(hashint4(-x) % 1000) < share * 10) AS u,
	(SELECT bloom_agg(x) FROM generate_series(0, 999) x WHERE abs(hashint4(-x) % 1000) < share * 10) AS s,
	(SELECT bloom_agg('k' || x) FROM generate_series(1, 20000) x WHERE abs(hashint4(-x) % 1000) < share * 10) AS t,
	(SELECT bloom_agg(x) FROM generate_series(2, 20000, 2) x WHERE abs(hashint4(-x) % 1000) < share * 10) AS n
FROM unnest('{0.1,1,10,50,100}'::numeric[]) share;
SELECT share, within(format('SELECT FROM fact WHERE bloom_may_contain(%L, u)', u)) AS "unique",
	within(format('SELECT FROM fact WHERE %L::bloomfilter @~ s', s)) AS skewed,
	within(format('SELECT FROM fact WHERE t ~@ %L::bloomfilter', t)) AS text,
	within(format('SELECT FROM fact WHERE bloom_may_contain(%L, n)', n)) AS "half null"
FROM filters ORDER BY share;
-- in a prepared statement planned for its parameter, and in PL/pgSQL
PREPARE probe(bloomfilter) AS SELECT FROM fact WHERE $1 @~ u;
SELECT share, within(format('EXECUTE probe(%L)', u)) AS prepared FROM filters ORDER BY share;

-- where values are frequent and where they are rare; up to the ends of a type
CREATE TABLE numbers AS SELECT s::smallint AS small, s, s + 9223372036854774808 AS large, '2000-01-01'::date + s AS day FROM fact;
ANALYZE numbers;
SELECT first, last, within(format('SELECT FROM numbers WHERE bloom_may_contain(%L, small)', bloom_agg(x::smallint, 0.001))) AS small,
	within(format('SELECT FROM numbers WHERE bloom_may_contain(%L, s)', bloom_agg(x, 0.001))) AS int,
	within(format('SELECT FROM numbers WHERE bloom_may_contain(%L, large)', bloom_agg(x + 9223372036854774808, 0.001))) AS large,
	within(format('SELECT FROM numbers WHERE bloom_may_contain(%L, day)', bloom_agg('2000-01-01'::date + x, 0.001))) AS day,
	within(format('SELECT FROM numbers WHERE bloom_may_contain(%L, s)', bloom_agg(x, 0.1)), 2) AS "err 0.1"
FROM (VALUES (110, 160), (900, 999)) f(first, last), generate_series(first, last) x GROUP BY first, last ORDER BY first;
INSERT INTO numbers (large, day) SELECT -9223372036854775808, unnest('{infinity,-infinity}'::date[]) FROM generate_series(1, 9000);
ANALYZE numbers;
SELECT (rows_of(format('SELECT FROM numbers WHERE bloom_may_contain(%L, large)', bloom_agg(x + 9223372036854774808)))).estimated > 0 AS large,
	(rows_of(format('SELECT FROM numbers WHERE bloom_may_contain(%L, day)', bloom_agg('2000-01-01'::date + x)))).estimated > 0 AS day
FROM generate_series(900, 999) x;

--
-- Larger than what is read of a filter, and made of repeated keys for many more
--
CREATE TABLE large_filters AS
SELECT bloom_agg(x % 1000 + 1, 0.01, 'blocked', 16000000) AS blocked, bloom_agg(x % 1000 + 1, 0.01, 'standard', 16000000) AS standard,
	bloom_agg(x % 1000 + 1, 0.01, 'cuckoo', 16000000) AS cuckoo, bloom_agg(x % 1000 + 1, 0.01, 'scalable', 16000000) AS scalable,
	bloom_agg(x % 1000 + 1, 0.01, 'counting', 16000000) AS counting FROM generate_series(1, 20000) x;
SELECT least(pg_column_size(blocked), pg_column_size(standard), pg_column_size(cuckoo), pg_column_size(scalable), pg_column_size(counting)) > 17000000 AS large
FROM large_filters;
-- (not immutable, lest plans show it in full)
CREATE FUNCTION large(kind text) RETURNS bloomfilter LANGUAGE plpgsql STABLE AS $$
DECLARE
	f bloomfilter;
BEGIN
	EXECUTE format('SELECT %I FROM large_filters', kind) INTO f;
	RETURN f;
END $$;
SELECT kind, (plan_of(format('SELECT FROM fact WHERE bloom_may_contain(large(%L), u)', kind)) ->> 'Plan Rows')::float8 BETWEEN 800 AND 1200 AS thousand
FROM unnest('{blocked,standard,cuckoo,scalable,counting}'::text[]) kind;

--
-- One that an InitPlan builds: by the distinct keys of its query
--
SELECT within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(u) FROM fact WHERE u <= 200), u)') AS "200",
	within('SELECT FROM fact WHERE (SELECT bloom_agg(u) FROM fact WHERE u <= 5000) @~ u') AS "5000";
CREATE TABLE visit AS SELECT x % 400 + 1 AS u, x % 20 + 1 AS v, x AS n FROM generate_series(1, 20000) x;
ANALYZE visit;
SELECT within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(u) FROM visit), u)') AS repeated,
	within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(bloom_key(u), ''ribbon'') FROM visit), u)') AS hashed,
	within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_fold(bloom_agg(u, 0.01, ''standard'', 20000), 0.01) FROM visit), u)') AS folded,
	within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(n) FILTER (WHERE v = 7) FROM visit), u)') AS filter,
	within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(n) FROM visit GROUP BY v HAVING v = 7), u)') AS one_group;
-- with workers, each of which has a share of the rows
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_of('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(n) FROM visit WHERE n <= 5000), u)')::text LIKE '%Partial%' AS parallel,
	within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(n) FROM visit WHERE n <= 5000), u)') AS rows;
SET parallel_leader_participation = off;
SELECT within('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_agg(n) FROM visit WHERE n <= 5000), u)') AS led_by_none;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 0;
-- of an aggregate of filters nothing is known
SELECT (rows_of('SELECT FROM fact WHERE bloom_may_contain((SELECT bloom_union_agg(u) FROM filters WHERE share < 5), u)')).estimated AS a_tenth,
	(rows_of('SELECT FROM fact WHERE bloom_may_contain((SELECT max(u::text)::bloomfilter FROM filters WHERE share < 5), u)')).estimated AS a_tenth_too;

--
-- Joins with it are estimated right, which they were not with a third of the rows
--
SELECT within(format('SELECT FROM fact a JOIN fact b USING (u) JOIN fact c USING (u) WHERE %L::bloomfilter @~ a.u', u)) AS three_way
FROM filters WHERE share = 1;

--
-- Nothing known: a tenth; one key for many filters: a fiftieth; a NULL filter passes what is not NULL
--
SELECT (rows_of('SELECT FROM fact WHERE (SELECT u FROM filters WHERE share = 1) @~ u')).estimated AS a_tenth,
	(rows_of('SELECT FROM (SELECT bloom_create(10) AS f FROM generate_series(1, 1000) OFFSET 0) s WHERE f @~ 7')).estimated AS a_fiftieth,
	(rows_of('SELECT FROM fact WHERE NULL::bloomfilter @~ n')).estimated / 10000 BETWEEN 0.97 AND 1.03 AS about_half;
SET plan_cache_mode = force_generic_plan;
SELECT (rows_of(format('EXECUTE probe(%L)', u))).estimated AS a_tenth FROM filters WHERE share = 1;
RESET plan_cache_mode;

--
-- Statistics that lack or lie make no error
--
CREATE TABLE bare (u int);
INSERT INTO bare SELECT x FROM generate_series(1, 1000) x;
SELECT (rows_of(format('SELECT FROM bare WHERE bloom_may_contain(%L, u)', u))).estimated > 0 AS no_statistics FROM filters WHERE share = 1;
ALTER TABLE bare ALTER u TYPE bigint;
SELECT (rows_of(format('SELECT FROM bare WHERE bloom_may_contain(%L, u)', u))).estimated > 0 AS other_type FROM filters WHERE share = 1;
TRUNCATE bare;
ANALYZE bare;
SELECT (rows_of(format('SELECT FROM bare WHERE bloom_may_contain(%L, u)', u))).actual AS empty FROM filters WHERE share = 1;
INSERT INTO bare SELECT NULL FROM generate_series(1, 100);
ANALYZE bare;
SELECT (rows_of(format('SELECT FROM bare WHERE bloom_may_contain(%L, u)', u))).estimated AS all_null FROM filters WHERE share = 1;
-- a histogram in no order, which whoever owns the table can set in later versions
INSERT INTO bare SELECT x FROM generate_series(1, 1000) x;
ANALYZE bare;
UPDATE pg_statistic SET stavalues1 = array_in('{1,9000000000000000000,5000}', 'bigint'::regtype, -1) WHERE starelid = 'bare'::regclass AND stakind1 = 2;
SELECT (rows_of(format('SELECT FROM bare WHERE bloom_may_contain(%L, u)', u))).estimated > 0 AS lies FROM filters WHERE share = 1;
-- (the key's type is wrong: told when the query runs)
SELECT quals('SELECT FROM fact WHERE bloom_may_contain(bloom_create(10, 0.01, ''blocked'', ''text''), u)');
SELECT FROM fact WHERE bloom_may_contain(bloom_create(10, 0.01, 'blocked', 'text'), u);
-- of other expressions, and of tables that one may not read the statistics of
SELECT within(format('SELECT FROM fact WHERE bloom_may_contain(%L, u + 0)', u), 1e6) AS expression FROM filters WHERE share = 1;
CREATE ROLE regress_bloomfam_planner;
GRANT USAGE ON SCHEMA planner TO regress_bloomfam_planner;
CREATE VIEW some_facts WITH (security_barrier) AS SELECT * FROM fact WHERE u > 100;
GRANT SELECT ON some_facts, filters TO regress_bloomfam_planner;
SET ROLE regress_bloomfam_planner;
SELECT (rows_of(format('SELECT FROM some_facts WHERE bloom_may_contain(%L, u)', u))).actual > 190 AS works FROM filters WHERE share = 1;
RESET ROLE;

--
-- Cost: cheaper quals run first; and so do probes of small filters
--
SELECT quals(format('SELECT FROM fact WHERE bloom_may_contain(%L, u) AND n = 5', bloom_create(3000000))) AS large_last,
	quals(format('SELECT FROM fact WHERE bloom_may_contain(%L, u) AND bloom_may_contain(%L, u)', bloom_create(3000000), bloom_create(20))) IS NOT NULL AS both;
SELECT quals('SELECT FROM filters WHERE u @~ 7 AND share > 5') AS stored_last;

SET client_min_messages = warning;
DROP OWNED BY regress_bloomfam_planner;
DROP ROLE regress_bloomfam_planner;
DROP SCHEMA planner CASCADE;
