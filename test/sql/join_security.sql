--
-- Join filters and what a role may not see: a row that a view or a policy hides is not hashed by a function that could tell.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_security;
SET search_path = join_security, public;
SET bloomfam.join_filter = force;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET max_parallel_workers_per_gather = 0;

-- makes join_compare()
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file

-- a number whose hash function tells of each odd value that it sees; the views and policies below hide those
CREATE TYPE loud;
SET client_min_messages = error;
CREATE FUNCTION loudin(cstring) RETURNS loud LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION loudout(loud) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE loud (INPUT = loudin, OUTPUT = loudout, LIKE = int4);
RESET client_min_messages;
CREATE CAST (loud AS int4) WITHOUT FUNCTION;
CREATE CAST (int4 AS loud) WITHOUT FUNCTION;
CREATE FUNCTION loud_eq(loud, loud) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION loud_hash(loud) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	IF $1::int4 % 2 = 1 THEN
		RAISE NOTICE 'hashed %', $1;
	END IF;
	RETURN hashint4($1::int4);
END $$;
CREATE OPERATOR = (LEFTARG = loud, RIGHTARG = loud, FUNCTION = loud_eq, COMMUTATOR = =, HASHES);
CREATE OPERATOR CLASS loud_ops DEFAULT FOR TYPE loud USING hash AS OPERATOR 1 =, FUNCTION 1 loud_hash(loud);

CREATE TABLE fact AS SELECT g::loud AS k, g % 10 AS section, g AS n FROM generate_series(1, 20) g;
CREATE TABLE sections AS SELECT g AS section FROM generate_series(0, 8, 2) g;
CREATE TABLE picks AS SELECT (g * 4)::loud AS k, g * 4 AS n FROM generate_series(1, 3) g;
ANALYZE fact, sections, picks;
-- a join hides rows here; the planner leaves no node of the view in its plan
CREATE VIEW plain AS SELECT f.k, f.n FROM fact f JOIN sections s ON f.section + 0 = s.section;
CREATE VIEW barrier WITH (security_barrier) AS SELECT f.k, f.n FROM fact f JOIN sections s ON f.section + 0 = s.section;
CREATE VIEW barrier_semi WITH (security_barrier) AS SELECT k, n FROM fact WHERE section + 0 IN (SELECT section FROM sections);
CREATE VIEW barrier_union WITH (security_barrier) AS SELECT k, n FROM barrier UNION ALL SELECT k, n FROM barrier_semi;
CREATE VIEW barrier_scan WITH (security_barrier) AS SELECT k, n FROM fact WHERE n % 2 = 0;

-- what nobody hides is asked at the scan
SELECT count(*) FROM plain JOIN picks USING (k);
EXPLAIN (COSTS OFF) SELECT count(*) FROM barrier JOIN picks USING (k);
SELECT count(*) FROM barrier JOIN picks USING (k);
SELECT count(*) FROM barrier_semi JOIN picks USING (k);
SELECT count(*) FROM barrier_union JOIN picks USING (k);
SELECT count(*) FROM barrier_scan JOIN picks USING (k);
SELECT count(*) FROM (SELECT * FROM barrier OFFSET 0) s JOIN picks USING (k);
SELECT count(*) FROM picks WHERE k IN (SELECT k FROM barrier);
-- a window hides rows by the condition that ends it, and a set operation by what it takes away
CREATE FUNCTION loud_lt(loud, loud) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4lt';
CREATE FUNCTION loud_le(loud, loud) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4le';
CREATE FUNCTION loud_gt(loud, loud) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4gt';
CREATE FUNCTION loud_ge(loud, loud) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4ge';
CREATE FUNCTION loud_cmp(loud, loud) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'btint4cmp';
CREATE OPERATOR < (LEFTARG = loud, RIGHTARG = loud, FUNCTION = loud_lt, COMMUTATOR = >);
CREATE OPERATOR <= (LEFTARG = loud, RIGHTARG = loud, FUNCTION = loud_le, COMMUTATOR = >=);
CREATE OPERATOR > (LEFTARG = loud, RIGHTARG = loud, FUNCTION = loud_gt, COMMUTATOR = <);
CREATE OPERATOR >= (LEFTARG = loud, RIGHTARG = loud, FUNCTION = loud_ge, COMMUTATOR = <=);
CREATE OPERATOR CLASS loud_order DEFAULT FOR TYPE loud USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 loud_cmp(loud, loud);
CREATE TABLE twice AS SELECT k, n FROM fact UNION ALL SELECT k, n FROM fact WHERE n % 2 = 0;
ANALYZE twice;
CREATE VIEW barrier_window WITH (security_barrier) AS SELECT k, n FROM (SELECT k, n, count(*) OVER (PARTITION BY k) AS c FROM twice) x WHERE c >= 2;
CREATE VIEW barrier_except WITH (security_barrier) AS SELECT k FROM fact EXCEPT SELECT k FROM fact WHERE n % 2 = 1;
SET enable_hashagg = off;
SELECT count(*) FROM barrier_window JOIN picks USING (k);
SELECT count(*) FROM barrier_except JOIN picks USING (k);
RESET enable_hashagg;
-- a hash that can neither tell nor fail may go there
EXPLAIN (COSTS OFF) SELECT count(*) FROM barrier JOIN picks USING (n);
SELECT count(*) FROM barrier JOIN picks USING (n);

-- nor is a row hashed that is not reached: hashing it might fail
CREATE FUNCTION loud_hash64(loud, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT loud_hash($1)::bigint';
ALTER OPERATOR FAMILY loud_ops USING hash ADD FUNCTION 2 (loud, loud) loud_hash64(loud, bigint);
SELECT f.n FROM fact f JOIN picks USING (k) LIMIT 1;
SELECT n FROM fact WHERE bloom_may_contain((SELECT bloom_agg(k, 0.001) FROM picks), k) LIMIT 1;

-- the same of policies
CREATE ROLE regress_bloomfam_reader;
GRANT USAGE ON SCHEMA join_security TO regress_bloomfam_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA join_security TO regress_bloomfam_reader;
ALTER TABLE fact ENABLE ROW LEVEL SECURITY;
CREATE POLICY sections ON fact USING (section IN (SELECT section FROM sections));
SET ROLE regress_bloomfam_reader;
-- (17 and 19 write subplans anew)
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN picks USING (k)
\g (format=unaligned) | sed -E 's/SubPlan any_/SubPlan /; s/[(]ANY [(]section = [(](hashed SubPlan 1)[)].col1[)][)]/(\1)/'
SELECT count(*) FROM fact JOIN picks USING (k);
SELECT count(*) FROM fact f JOIN sections USING (section) JOIN picks USING (k);
RESET ROLE;
DROP POLICY sections ON fact;
CREATE POLICY even ON fact USING (n % 2 = 0);
SET ROLE regress_bloomfam_reader;
SELECT count(*) FROM fact JOIN picks USING (k);
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA join_security CASCADE;
DROP ROLE regress_bloomfam_reader;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
