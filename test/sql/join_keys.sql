--
-- Join filters: both sides of a join hash alike wherever its operator says "equal", whatever types have joined its family.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_keys;
SET search_path = join_keys, public;
SET bloomfam.join_filter = force;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;

-- makes join_compare()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
-- an unsigned integer of 4 bytes in the hash family of the server's integers, as extensions have it
\set file :folder '/sql/include/uint4.sql'
\i :file

CREATE TABLE big AS SELECT (4294960000 + g)::text::uint4 AS u, 4294960000 + g AS b, g AS v FROM generate_series(1, 4000) g;
CREATE TABLE few8 AS SELECT 4294960000 + g * 20 AS b, (4294960000 + g * 20)::text::uint4 AS u, g AS v FROM generate_series(1, 200) g;
CREATE DOMAIN small_uint4 AS uint4;
CREATE TABLE big_domain AS SELECT u::small_uint4, v FROM big;
CREATE TABLE low AS SELECT g AS i, g::int2 AS s, g::text::uint4 AS u, g AS v FROM generate_series(1, 1000) g;
-- the same bytes, called a signed number
CREATE TABLE signed AS SELECT u::int4 AS i, v FROM big;
ANALYZE big, few8, big_domain, low, signed;

SELECT q, r.rows, r.same, r.filtered FROM (VALUES
	('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.u = d.b'),
	('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.b = d.u'),
	('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.u = d.u'),
	('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.b = d.b'),
	('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.u = d.b AND f.b = d.u'),
	('SELECT f.v, d.v AS w FROM big_domain f JOIN few8 d ON f.u = d.b'),
	('SELECT f.v, d.v AS w FROM signed f JOIN few8 d ON f.i::uint4 = d.b'),
	('SELECT f.v, d.v AS w FROM low f JOIN few8 d ON f.u = d.b'),
	('SELECT f.v, d.v AS w FROM low f JOIN low d ON f.u = d.i WHERE d.v < 100'),
	('SELECT f.v, d.v AS w FROM low f JOIN low d ON f.s = d.u WHERE d.v < 100'),
	('SELECT f.v, d.v AS w FROM (SELECT u, v FROM big UNION ALL SELECT u, v FROM low) f JOIN few8 d ON f.u = d.b')
	) AS t(q), LATERAL join_compare(q) r;
-- hashed by the functions that the join itself calls
SET compute_query_id = off;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM big f JOIN few8 d ON f.u = d.b;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM big f JOIN few8 d ON f.b = d.b;

-- workers read it from the plan
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT r.rows, r.same, r.filtered FROM join_compare('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.u = d.b') r;
SET enable_parallel_hash = off;
SELECT r.rows, r.same, r.filtered FROM join_compare('SELECT f.v, d.v AS w FROM big f JOIN few8 d ON f.b = d.u') r;
RESET max_parallel_workers_per_gather;

-- keys behind columns that may be NULL, in 64 patterns of these, of several lengths; with one that is no number, and beyond 64 columns
SELECT format('CREATE TABLE nulls AS SELECT CASE WHEN g & 1 = 0 THEN 1::int2 END AS a, CASE WHEN g & 2 = 0 THEN 1::int8 END AS b, CASE WHEN g & 4 = 0 THEN true END AS c,
	CASE WHEN g & 8 = 0 THEN 1 END AS d, g %% 3000 AS k1, CASE WHEN g & 16 = 0 THEN 1::int2 END AS e, CASE WHEN g & 32 = 0 THEN g %% 3000 END AS k2,
	(g %% 3000)::int2 AS k3, (g %% 3000)::text AS t, (g %% 3000)::int8 AS k4, %s, g %% 3000 AS k5, g AS v FROM generate_series(1, 20000) g',
	(SELECT string_agg(format('CASE WHEN g %% %s > 0 THEN g END AS x%s', n + 2, n), E',\n\t') FROM generate_series(1, 60) n)) \gexec
CREATE TABLE wanted AS SELECT g * 7 AS i, (g * 7)::text AS t FROM generate_series(1, 100) g;
ANALYZE nulls, wanted;
SELECT k, r.rows, r.same, r.filtered FROM unnest('{k1,k2,k3,k4,k5}'::text[]) k, join_compare(format('SELECT f.v, d.i AS w FROM nulls f JOIN wanted d ON f.%I = d.i', k)) r;
SELECT r.rows, r.same, r.filtered FROM join_compare('SELECT f.v, d.i AS w FROM nulls f JOIN wanted d ON f.t = d.t') r;

SET client_min_messages = warning;
DROP SCHEMA join_keys CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
