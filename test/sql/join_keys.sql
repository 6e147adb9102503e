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

-- containers, some of whose parts have no hash function: a merge join does without, and has no filter then; beside them, containers that can be hashed
CREATE TYPE priced AS (n int, m money);
CREATE TYPE counted AS (n int, m int8);
CREATE TYPE nested AS (n int, p priced[]);
CREATE TYPE moneyrange AS RANGE (subtype = money, multirange_type_name = moneymultirange);
CREATE TYPE bitrange AS RANGE (subtype = varbit);
CREATE TYPE pairrange AS RANGE (subtype = counted);
CREATE DOMAIN price AS money;
CREATE DOMAIN prices AS money[];
CREATE DOMAIN counts AS int[];
CREATE DOMAIN priced_too AS priced;
CREATE DOMAIN span AS int4range;
CREATE DOMAIN moneyspan AS moneyrange;
CREATE TABLE boxed AS SELECT g AS v, ARRAY[g::money] AS a, ARRAY[g::money]::prices AS ad, ARRAY[g::money::price] AS da, ARRAY[g::bit(16)] AS ba, ROW(g, g::money)::priced AS c,
	ROW(g, g::money)::priced_too AS cd, ARRAY[ROW(g, g)::priced] AS ca, ROW(g, ARRAY[ROW(g, g)::priced])::nested AS n, moneyrange(g::money, (g + 3)::money) AS r,
	moneyrange(g::money, NULL)::moneyspan AS rd, moneymultirange(moneyrange(g::money, (g + 1)::money)) AS mr, ARRAY[moneyrange(NULL, g::money)] AS ra, bitrange(g::bit(16), NULL) AS br,
	g::money AS m, ARRAY[g] AS ia, ARRAY[g]::counts AS id, ARRAY[g::text] AS ta, ROW(g, g)::counted AS ic, ARRAY[ROW(g, g)::counted] AS ica, int4range(g, g + 5) AS ir, int4range(g, g + 5)::span AS ird,
	int4multirange(int4range(g, g + 5)) AS imr, pairrange(ROW(g, g)::counted, NULL) AS pr
	FROM (SELECT g * 7919 % 1000 AS g FROM generate_series(1, 1000) g) x;
CREATE TABLE picked AS SELECT * FROM boxed WHERE v % 20 = 0;
ANALYZE boxed, picked;
CREATE TABLE columns AS SELECT attnum AS i, attname AS c, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'boxed'::regclass AND attnum > 1;
SET max_parallel_workers_per_gather = 0;
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT c, type, r.* FROM columns, join_compare(format('SELECT d.v FROM picked d WHERE EXISTS (SELECT FROM boxed f WHERE d.%1$I = f.%1$I)', c)) r ORDER BY i;
SELECT kind, sum(r.rows) AS rows, bool_and(r.same) AS same, count(*) FILTER (WHERE r.filtered) AS filtered FROM columns, (VALUES
	(1, 'not exists', 'SELECT d.v FROM picked d WHERE NOT EXISTS (SELECT FROM boxed f WHERE d.%1$I = f.%1$I AND f.v > 300)'),
	(2, 'distinct', 'SELECT d.v FROM picked d JOIN (SELECT DISTINCT %1$I FROM boxed) f USING (%1$I)'),
	(3, 'inner', 'SELECT d.v, f.v AS w FROM boxed f JOIN picked d USING (%1$I)'),
	(4, 'left', 'SELECT d.v, f.v AS w FROM picked d LEFT JOIN boxed f USING (%1$I)'),
	(5, 'right', 'SELECT d.v, f.v AS w FROM boxed f RIGHT JOIN picked d USING (%1$I)'),
	(6, 'full', 'SELECT d.v, f.v AS w FROM picked d FULL JOIN boxed f USING (%1$I)'),
	(7, 'union', 'SELECT d.v FROM picked d JOIN (SELECT %1$I FROM boxed UNION ALL SELECT %1$I FROM picked) f USING (%1$I)'),
	(8, 'window', 'SELECT d.v, f.k FROM picked d JOIN (SELECT %1$I, count(*) OVER (PARTITION BY %1$I) AS k FROM boxed) f USING (%1$I)'),
	(9, 'cte', 'WITH f AS MATERIALIZED (SELECT * FROM boxed) SELECT d.v FROM picked d JOIN f USING (%1$I) WHERE EXISTS (SELECT FROM f WHERE f.%1$I = d.%1$I)'),
	(10, 'two', 'SELECT d.v, e.v AS w FROM picked d JOIN (boxed f JOIN boxed e USING (%1$I)) USING (%1$I)')
	) k(n, kind, q), join_compare(format(q, c)) r WHERE i % 3 = 2 GROUP BY n, kind ORDER BY n;
-- whole rows of such tables, and rows without a type
SELECT r.* FROM (VALUES
	('SELECT d.v FROM picked d JOIN boxed f ON d = f'),
	('SELECT d.v FROM (SELECT d, v FROM picked d OFFSET 0) d JOIN (SELECT f FROM boxed f OFFSET 0) f ON d = f'),
	('SELECT d.v FROM (SELECT ROW(v, m) AS x, v FROM picked OFFSET 0) d JOIN (SELECT ROW(v, m) AS x FROM boxed OFFSET 0) f USING (x)'),
	('SELECT d.v FROM (SELECT ARRAY[ROW(v, m)] AS x, v FROM picked OFFSET 0) d JOIN (SELECT ARRAY[ROW(v, m)] AS x FROM boxed OFFSET 0) f USING (x)'),
	('SELECT d.v FROM (SELECT ROW(v, c) AS x, v FROM picked OFFSET 0) d JOIN (SELECT ROW(v, c) AS x FROM boxed OFFSET 0) f USING (x)'),
	('SELECT d.v FROM (SELECT ROW(v, ia) AS x, v FROM picked OFFSET 0) d JOIN (SELECT ROW(v, ia) AS x FROM boxed OFFSET 0) f USING (x)')
	) AS t(q), join_compare(q) r;
-- rows of different types, of one of which there is none that could be compared
CREATE TYPE counted_too AS (n int, m int8);
CREATE TABLE counted_rows AS SELECT ic AS k, v FROM boxed LIMIT 500;
CREATE TABLE priced_rows AS SELECT c AS k, v FROM boxed LIMIT 500;
SELECT r.* FROM (VALUES
	('SELECT d.v FROM picked d JOIN boxed f ON d.ic = ROW((f.ic).n, (f.ic).m)::counted_too'),
	('SELECT d.v FROM priced_rows d JOIN counted_rows f ON d.k = f.k WHERE f.v < 0'),
	('SELECT d.v FROM counted_rows d JOIN priced_rows f ON d.k = f.k WHERE d.v < 0')
	) AS t(q), join_compare(q) r;
-- a row's type gets another column later
SET plan_cache_mode = force_generic_plan;
PREPARE p AS SELECT count(*) FROM picked d JOIN boxed f ON d.ica = f.ica;
EXECUTE p;
ALTER TYPE counted ADD ATTRIBUTE more money;
EXECUTE p;
ALTER TYPE counted DROP ATTRIBUTE more;
EXECUTE p;
DEALLOCATE p;
RESET plan_cache_mode;
-- one of two columns can be hashed
SELECT r.* FROM join_compare('SELECT d.v, f.v AS w FROM boxed f JOIN picked d ON f.a = d.a AND f.ia = d.ia') r;
-- the planner's own choice, filters or not
RESET bloomfam.join_filter;
SET enable_hashjoin = on;
SET enable_nestloop = on;
CREATE TABLE large AS SELECT g AS id, ARRAY[(g % 50000)::money] AS a, ROW(g, g % 50000)::priced AS c, moneyrange(g::money, NULL) AS r FROM generate_series(1, 120000) g;
CREATE TABLE small AS SELECT ARRAY[(g * 7)::money] AS a, ROW(g * 7, g * 7 % 50000)::priced AS c, moneyrange((g * 7)::money, NULL) AS r FROM generate_series(1, 300) g;
ANALYZE large, small;
SELECT count(*) FROM small s WHERE EXISTS (SELECT FROM large b WHERE s.a = b.a);
SELECT count(*) FROM small s WHERE NOT EXISTS (SELECT FROM large b WHERE s.a = b.a);
SELECT count(*) FROM small s JOIN (SELECT DISTINCT a FROM large) b USING (a);
SELECT count(*) FROM small s WHERE EXISTS (SELECT FROM large b WHERE s.c = b.c);
-- older minor releases plan hash joins of ranges whatever they are of, and these fail
SET enable_hashjoin = off;
SELECT count(*) FROM small s WHERE EXISTS (SELECT FROM large b WHERE s.r = b.r);
RESET enable_hashjoin;
-- the server's hash joins lose equal names, as they hash them by their bytes; the planner is not led to one for the sake of another key's filter
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE indexed AS SELECT id, ('X' || id)::name COLLATE ignore_case AS m FROM large;
CREATE TABLE more AS SELECT id, ('x' || id)::name COLLATE ignore_case AS m FROM large WHERE id % 7 = 0 AND id < 60000;
CREATE INDEX ON indexed (id);
CREATE INDEX ON more (id);
VACUUM ANALYZE indexed, more;
SET work_mem = '64kB';
SET random_page_cost = 1.1;
SELECT count(*) FROM more s JOIN indexed b ON s.id = b.id AND s.m = b.m;
RESET work_mem;
RESET random_page_cost;
-- char(n) under such a collation: 15's function for 64 bits hashes the blanks, too
CREATE TABLE wide AS SELECT id, ('x' || id)::char(9) COLLATE ignore_case AS m, ('x' || id)::varchar COLLATE ignore_case AS n FROM large;
CREATE TABLE narrow AS SELECT id, ('X' || id)::char(7) COLLATE ignore_case AS m FROM large WHERE id % 100 = 0;
ANALYZE wide, narrow;
SELECT count(*) FROM narrow s JOIN wide b ON s.m = b.m;
SET bloomfam.join_filter = force;
SELECT count(*) FROM narrow s JOIN wide b ON s.m = b.m;
SELECT count(*) FROM narrow s JOIN wide b ON s.m = b.n;
SELECT count(*) FROM narrow s JOIN wide b ON ARRAY[s.m] = ARRAY[b.m];
-- a merge join finds rows by an order that the hash functions know nothing of: of a range's operator class, of a collation
SET enable_hashjoin = off;
SET enable_nestloop = off;
CREATE FUNCTION alike(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) = lower($2)';
CREATE FUNCTION less(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) < lower($2)';
CREATE FUNCTION greater(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) > lower($2)';
CREATE FUNCTION compared(text, text) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT bttextcmp(lower($1), lower($2))';
CREATE OPERATOR =~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = alike, COMMUTATOR = =~~, MERGES);
CREATE OPERATOR <~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = less);
CREATE OPERATOR >~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = greater);
CREATE OPERATOR CLASS alike_ops FOR TYPE text USING btree AS
	OPERATOR 1 <~~, OPERATOR 3 =~~, OPERATOR 5 >~~, FUNCTION 1 compared(text, text);
CREATE TYPE alike_range AS RANGE (subtype = text, subtype_opclass = alike_ops);
CREATE TABLE lower_ranges AS SELECT alike_range('x' || id, NULL) AS r FROM large WHERE id % 40 = 0;
CREATE TABLE upper_ranges AS SELECT alike_range('X' || id, NULL) AS r FROM large WHERE id % 4000 = 0;
ANALYZE lower_ranges, upper_ranges;
SELECT count(*) FROM upper_ranges s JOIN lower_ranges b ON s.r = b.r;
SELECT count(*) FROM upper_ranges s JOIN lower_ranges b ON ARRAY[s.r] = ARRAY[b.r];
SELECT count(*) FROM upper_ranges s JOIN lower_ranges b ON ROW(s.r) = ROW(b.r);
CREATE FUNCTION hash_of_bytes(text) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashtext($1 COLLATE "C")';
CREATE FUNCTION equal(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE internal AS 'texteq';
CREATE OPERATOR =~= (LEFTARG = text, RIGHTARG = text, FUNCTION = equal, COMMUTATOR = =~=, MERGES, HASHES);
CREATE OPERATOR CLASS bytes_ops FOR TYPE text USING btree AS
	OPERATOR 1 <, OPERATOR 3 =~=, OPERATOR 5 >, FUNCTION 1 bttextcmp(text, text);
CREATE OPERATOR FAMILY bytes_hash USING hash;
ALTER OPERATOR FAMILY bytes_hash USING hash ADD OPERATOR 1 =~= (text, text), FUNCTION 1 hash_of_bytes(text);
CREATE TABLE lower_texts AS SELECT ('x' || id) COLLATE ignore_case AS t, ('x' || id) COLLATE "C" AS c FROM large WHERE id % 40 = 0;
CREATE TABLE upper_texts AS SELECT ('X' || id) COLLATE ignore_case AS t, ('x' || id) COLLATE "C" AS c FROM large WHERE id % 4000 = 0;
ANALYZE lower_texts, upper_texts;
SELECT count(*) FROM upper_texts s JOIN lower_texts b ON s.t =~= b.t;
-- a hash function that is taken out of its family
SET plan_cache_mode = force_generic_plan;
PREPARE p AS SELECT count(*) FROM upper_texts s JOIN lower_texts b ON s.c =~= b.c;
EXECUTE p;
ALTER OPERATOR FAMILY bytes_hash USING hash DROP FUNCTION 1 (text);
DROP FUNCTION hash_of_bytes;
EXECUTE p;
DEALLOCATE p;
RESET plan_cache_mode;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET bloomfam.join_filter;

SET client_min_messages = warning;
DROP SCHEMA join_keys CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
