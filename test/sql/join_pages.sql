--
-- Join filters: pages in which an index finds none of the keys are not read, and rows are the same.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_pages;
SET search_path = join_pages, public;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_indexonlyscan = off;
SET compute_query_id = off;
SET jit = off;

\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/analyzed.sql'
\i :file
-- since 16 a BRIN index is not believed of pages that are not all-visible
\set file :folder '/sql/include/alone.sql'
\i :file

-- A query with filters off and in this mode: the rows, whether they are the same, and what EXPLAIN says of pages, filter by filter; the share of
-- those skipped in tens of percent.
CREATE FUNCTION pages(query text, mode text DEFAULT 'force', OUT rows bigint, OUT same boolean, OUT pages text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text[];
	plain text[];
	skipping text[];
BEGIN
	SET LOCAL bloomfam.join_filter = off;
	EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || query || ') x' INTO plain;
	PERFORM set_config('bloomfam.join_filter', mode, true);
	EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || query || ') x' INTO skipping;
	rows := coalesce(array_length(plain, 1), 0);
	same := plain IS NOT DISTINCT FROM skipping;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		found := regexp_match(line, 'Pages Skipped: (\d+) of (\d+)(.*)');
		IF found IS NOT NULL THEN
			line := format('Pages Skipped: %s0%%%s', found[1]::bigint * 10 / found[2]::bigint, found[3]);
		END IF;
		pages := nullif(concat_ws('; ', pages, substring(line FROM 'Pages (?:Not )?Skipped: .*')), '');
	END LOOP;
END $$;

-- about 500 pages
CREATE TABLE days (day int, month int, date date, at timestamptz, small int2, big int8, name text);
INSERT INTO days SELECT g, g / 30, date '2020-01-01' + g, timestamptz '2020-01-01 00:00+00' + g * interval '1 day', g, g, 'n' || g % 5
	FROM generate_series(0, 99) g;
INSERT INTO days (month) VALUES (0), (1), (2), (3);
CREATE DOMAIN whole AS int;
CREATE TABLE facts (id int, day int, date date, at timestamptz, big int8, small int2, kind whole, far int, name text, note text);
ALTER TABLE facts SET (autovacuum_enabled = off);
INSERT INTO facts SELECT g, CASE WHEN g % 11 > 0 THEN g / 500 END, date '2020-01-01' + g / 500, timestamptz '2020-01-01 00:00+00' + g / 500 * interval '1 day', g / 500,
	g / 500, g / 500, (g::bigint * 7919 % 50021)::int, 'n' || g % 5, repeat('x', g % 50)
	FROM generate_series(0, 49999) g;
CALL wait_until_alone();
VACUUM ANALYZE facts, days;
CREATE TABLE ids AS SELECT g * 1000 AS far, g::int8 * 1000 AS big, g AS v FROM generate_series(0, 49) g;
ANALYZE ids;

-- what is read, and what EXPLAIN says
CREATE INDEX facts_day ON facts USING brin (day) WITH (pages_per_range = 4);
SET bloomfam.join_filter = force;
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts JOIN days USING (day) WHERE days.day BETWEEN 45 AND 47;
SELECT regexp_replace(line, '\m[0-9]{2,}\M', 'N', 'g') AS line
	FROM analyzed('SELECT count(*) FROM facts JOIN days USING (day) WHERE days.day BETWEEN 45 AND 47') line WHERE line ~ 'Rows Probed|Pages';
CREATE FUNCTION in_yaml(query text, options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE format('EXPLAIN (%s COSTS OFF, FORMAT yaml) ', options) || query INTO plan;
	RETURN QUERY SELECT regexp_replace(trim(line), '[0-9]+', 'N') FROM regexp_split_to_table(plan, '\n') line WHERE line ~ 'Page|Index|facts_';
END $$;
SELECT in_yaml('SELECT count(*) FROM facts JOIN days USING (day) WHERE days.day BETWEEN 45 AND 47', '');
SELECT in_yaml('SELECT count(*) FROM facts JOIN days USING (day) WHERE days.day BETWEEN 45 AND 47', 'ANALYZE, TIMING OFF, SUMMARY OFF,');
SET bloomfam.join_filter_skip = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM facts JOIN days USING (day) WHERE days.day BETWEEN 45 AND 47;
RESET bloomfam.join_filter_skip;
-- below an aggregate, only if all rows of a group are dropped or none: by a bitmap
SELECT * FROM pages('SELECT f.day, n FROM (SELECT day, count(*) AS n FROM facts GROUP BY day) f JOIN days d USING (day) WHERE d.big BETWEEN 45 AND 47');
SELECT * FROM pages('SELECT f.day, n FROM (SELECT day, count(*) AS n FROM facts GROUP BY day) f WHERE day IN (SELECT day * 10000000 FROM days WHERE big < 3)');
-- no index is named, or asked, of a table that is too small for that: of rows in no order ten times as many are too few
CREATE TABLE little AS SELECT g AS k, g * 7919::bigint % 30000 AS far FROM generate_series(0, 29999) g;
CREATE INDEX little_k ON little (k);
CREATE INDEX little_far ON little (far);
CALL wait_until_alone();
VACUUM ANALYZE little;
SET bloomfam.join_filter = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM little JOIN ids ON ids.far = little.k;
EXPLAIN (COSTS OFF) SELECT count(*) FROM little JOIN ids ON ids.far = little.far;
SELECT * FROM pages('SELECT little.* FROM little JOIN ids ON ids.far = little.k', 'on');
SELECT * FROM pages('SELECT little.* FROM little JOIN ids ON ids.far = little.far', 'on');
SET bloomfam.join_filter = force;

-- BRIN indexes: which ones, and keys of which types
CREATE INDEX facts_date ON facts USING brin (date) WITH (pages_per_range = 4);
CREATE INDEX facts_multi ON facts USING brin (name, at timestamptz_minmax_multi_ops) WITH (pages_per_range = 4);
CREATE INDEX facts_big ON facts USING brin (big int8_bloom_ops, small) WITH (pages_per_range = 4);
CREATE INDEX facts_kind ON facts USING brin (kind int4_minmax_multi_ops) WITH (pages_per_range = 4);
SELECT n, p.*, q FROM (VALUES
	(1, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4, 99)'),
	(2, 'SELECT f.* FROM facts f JOIN days d ON f.day = d.big WHERE d.day = 70'),
	(3, 'SELECT f.* FROM facts f JOIN days d ON f.day = d.big * 100000000 WHERE d.day IN (0, 90)'),
	(4, 'SELECT f.* FROM facts f JOIN days d ON f.day = d.small WHERE d.big = 19'),
	(5, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.big < 0'),
	(6, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.month = 0'),
	(7, 'SELECT f.* FROM facts f JOIN days d USING (day, name) WHERE d.month = 0'),
	(8, 'SELECT f.* FROM facts f WHERE day IN (SELECT day FROM days WHERE month = 3)'),
	(9, 'SELECT f.*, d.month FROM facts f LEFT JOIN days d ON f.day = d.day AND d.month = 3'),
	(10, 'SELECT f.*, d.month FROM facts f RIGHT JOIN days d ON f.day = d.day AND d.month = 3'),
	(11, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day % 6 = 0'),
	(12, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day % 20 = 0'),
	(13, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.month = 1 AND f.id % 3 = 0'),
	(14, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.month = 1 AND f.id / (f.day - 1000) = 0'),
	(15, 'SELECT f.* FROM facts f JOIN days d USING (day)'),
	(20, 'SELECT f.* FROM facts f JOIN days d USING (date) WHERE d.day IN (20, 21)'),
	(21, $$SELECT f.* FROM facts f JOIN (VALUES (date 'infinity'), ('2020-02-01')) d (date) USING (date)$$),
	(22, 'SELECT f.* FROM facts f JOIN days d ON f.date = d.at WHERE d.day IN (20, 21)'),
	(23, 'SELECT f.* FROM facts f JOIN days d USING (at) WHERE d.day IN (20, 50, 51)'),
	(24, 'SELECT f.* FROM facts f JOIN days d USING (big) WHERE d.day IN (20, 21)'),
	(25, 'SELECT f.* FROM facts f JOIN days d USING (small) WHERE d.day IN (20, 21)'),
	(26, 'SELECT f.* FROM facts f JOIN days d ON f.kind = d.big WHERE d.day IN (20, 21)'),
	(27, 'SELECT f.* FROM facts f JOIN days d USING (name) WHERE d.day IN (20, 21)'),
	(28, 'SELECT f.* FROM facts f JOIN days d ON f.day + 0 = d.day WHERE d.day IN (20, 21)'),
	(30, 'SELECT f.* FROM facts f JOIN days d USING (day) JOIN days e ON f.date = e.date WHERE d.month = 1 AND e.day BETWEEN 50 AND 70'),
	(31, 'SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.month = 1 LIMIT 3'),
	(32, 'SELECT d.day, (SELECT count(*) FROM facts f JOIN days e USING (day) WHERE e.month = d.month) FROM days d WHERE d.day % 30 = 1'),
	(33, 'SELECT f.id, x.* FROM days d, LATERAL (SELECT * FROM facts f JOIN days e USING (day) WHERE e.day = d.day + 1 LIMIT 2) x JOIN facts f USING (id) WHERE d.day < 3'),
	(34, 'SELECT f.* FROM (SELECT * FROM facts UNION ALL SELECT * FROM facts WHERE id < 10) f JOIN days d USING (day) WHERE d.big = 70'),
	(36, 'SELECT count(*) FROM facts f JOIN days d USING (day) JOIN facts e ON e.id = f.id WHERE d.month = 1 AND f.id % 10 = 0'),
	(35, 'SELECT f.* FROM facts f TABLESAMPLE system (100) JOIN days d USING (day) WHERE d.day = 70')
) v (n, q), pages(q) p ORDER BY n;

-- others, key by key
DROP INDEX facts_day, facts_date, facts_multi, facts_big, facts_kind;
CREATE INDEX facts_far ON facts (far);
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5');
SELECT pages('SELECT f.* FROM facts f JOIN ids i ON f.far = i.big WHERE v < 5');
SELECT pages('SELECT f.* FROM facts f JOIN ids i ON f.far = i.big * 10000000 WHERE v < 5');
DROP INDEX facts_far;
CREATE INDEX facts_far ON facts (far DESC NULLS FIRST) INCLUDE (name);
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5 AND f.id % 2 = 0');
DROP INDEX facts_far;
CREATE INDEX facts_far ON facts USING hash (far);
SELECT pages('SELECT f.* FROM facts f JOIN ids i ON f.far = i.big WHERE v < 5');
DROP INDEX facts_far;
CREATE INDEX facts_far ON facts USING maplet (far);
SELECT pages('SELECT f.* FROM facts f JOIN ids i ON f.far = i.big WHERE v < 5');
DROP INDEX facts_far;
CREATE INDEX facts_far ON facts USING maplet (far, day);
SELECT pages('SELECT f.* FROM facts f JOIN ids i ON f.far = i.big WHERE v < 5');
DROP INDEX facts_far;
-- a maplet of several columns, by all of them
CREATE TABLE two AS SELECT far, day, big, id AS v FROM facts WHERE id % 9001 = 0 AND day IS NOT NULL;
INSERT INTO two VALUES (1, NULL, 1, 1), (NULL, 1, 1, 1);
VACUUM ANALYZE two;
CREATE INDEX facts_two ON facts USING maplet (day, far);
SELECT pages('SELECT f.* FROM facts f JOIN two t ON f.far = t.far AND f.day = t.day');
SELECT pages('SELECT f.* FROM facts f JOIN two t ON f.far = t.far AND f.day = t.big AND f.big = t.big');
SELECT pages('SELECT f.* FROM facts f JOIN two t ON f.far = t.far');
SELECT pages('SELECT f.* FROM facts f JOIN two t ON f.day = t.day AND f.big = t.big');
CREATE INDEX facts_three ON facts USING maplet (far, day, lower(name));
DROP INDEX facts_two;
SELECT pages('SELECT f.* FROM facts f JOIN two t ON f.far = t.far AND f.day = t.day');
DROP INDEX facts_three;
DROP TABLE two;
CREATE INDEX facts_far ON facts (far, day);
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5');
DROP INDEX facts_far;
-- those that say nothing of all rows, or nothing of the key, or something else
CREATE INDEX facts_part ON facts (far) WHERE id > 100;
CREATE INDEX facts_sum ON facts ((far + 0));
CREATE INDEX facts_second ON facts (day, far);
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5');
CREATE OPERATOR === (LEFTARG = int4, RIGHTARG = int4, FUNCTION = int4eq, COMMUTATOR = ===);
CREATE OPERATOR CLASS other_ops FOR TYPE int4 USING hash AS OPERATOR 1 ===, FUNCTION 1 hashint4(int4);
CREATE INDEX facts_other ON facts USING hash (far other_ops);
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5');
DROP INDEX facts_part, facts_sum, facts_second, facts_other;
-- one that is not valid, and one that came, and went, with a plan that was there
CREATE INDEX facts_far ON facts (far);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'facts_far'::regclass;
SELECT pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v < 5');
DROP INDEX facts_far;
PREPARE some_ids AS SELECT count(*) FROM facts f JOIN ids i USING (far) WHERE v < 5;
SET plan_cache_mode = force_generic_plan;
EXECUTE some_ids;
SELECT count(*) FROM analyzed('EXECUTE some_ids') line WHERE line ~ 'Pages Skipped';
CREATE INDEX facts_far ON facts (far);
SELECT count(*) FROM analyzed('EXECUTE some_ids') line WHERE line ~ 'Pages Skipped';
SET bloomfam.join_filter_skip = off;
SELECT count(*) FROM analyzed('EXECUTE some_ids') line WHERE line ~ 'Pages Skipped';
RESET bloomfam.join_filter_skip;
DROP INDEX facts_far;
EXECUTE some_ids;
RESET plan_cache_mode;

-- rows that come and go: pages at the end, within a command, in what is rolled back, by HOT, and where BRIN knows no summary
CREATE INDEX facts_far ON facts (far);
CREATE INDEX facts_day ON facts USING brin (day) WITH (pages_per_range = 4);
INSERT INTO facts (id, day, far, note) SELECT g, 3, 1000, repeat('y', 400) FROM generate_series(50000, 50099) g;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4)');
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v = 1');
SELECT brin_desummarize_range('facts_day', 0), brin_desummarize_range('facts_day', 40);
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4)');
BEGIN;
UPDATE facts SET note = 'hot' WHERE day IN (3, 70);
UPDATE facts SET day = 99 - day WHERE id % 100 = 7;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4)');
SAVEPOINT a;
DELETE FROM facts WHERE day = 3 AND id % 2 = 0;
INSERT INTO facts (id, day, far) SELECT g, 4, 2000 FROM generate_series(60000, 60999) g;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4)');
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v = 2');
ROLLBACK TO a;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4)');
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN ids i USING (far) WHERE v = 2');
-- what a command itself writes it does not read
INSERT INTO facts (id, day, far) SELECT f.id, 3, 1000 FROM facts f JOIN days d USING (day) WHERE d.big = 3;
UPDATE facts f SET day = 4 FROM days d WHERE f.day = d.day AND d.big = 3;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.big = 4');
DELETE FROM facts f USING days d WHERE f.day = d.day AND d.big = 4;
SELECT rows, same FROM pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (3, 4, 5)');
SELECT count(*) FROM (SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.big = 5 FOR UPDATE OF f) x;
-- a cursor, in both directions, while rows are changed
DECLARE c SCROLL CURSOR FOR SELECT f.id FROM facts f JOIN days d USING (day) WHERE d.day BETWEEN 5 AND 6;
FETCH 2 c;
FETCH BACKWARD 1 c;
UPDATE facts SET day = 6 WHERE day = 90;
MOVE FORWARD ALL c;
FETCH BACKWARD 2 c;
CLOSE c;
ROLLBACK;
-- each partition by an index of its own
CREATE TABLE parted (day int, id int) PARTITION BY HASH (id);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 (gone int, id int, day int);
ALTER TABLE parted_1 DROP gone;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT id / 500, id FROM facts;
CREATE INDEX ON parted USING brin (day) WITH (pages_per_range = 2);
CREATE INDEX ON parted_1 (day);
CALL wait_until_alone();
VACUUM ANALYZE parted;
SELECT pages('SELECT f.* FROM parted f JOIN days d USING (day) WHERE d.month = 1 AND d.big < 40');
CREATE TEMP TABLE temp_facts AS SELECT * FROM facts ORDER BY id LIMIT 20000;
CREATE INDEX ON temp_facts USING brin (day) WITH (pages_per_range = 2);
VACUUM ANALYZE temp_facts;
SELECT pages('SELECT f.* FROM temp_facts f JOIN days d USING (day) WHERE d.big = 20');
-- HOT chains that an index does not follow for older snapshots (indcheckxmin)
CREATE TABLE chains (k int, n int) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO chains SELECT g % 100, g FROM generate_series(1, 5000) g;
ANALYZE chains;
BEGIN;
UPDATE chains SET k = k + 1 WHERE n % 10 = 0;
CREATE INDEX chains_k ON chains (k);
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'chains_k'::regclass;
SELECT pages('SELECT f.* FROM chains f JOIN days d ON f.k = d.day WHERE d.big = 21');
COMMIT;
SELECT rows, same FROM pages('SELECT f.* FROM chains f JOIN days d ON f.k = d.day WHERE d.big = 21');

-- in parallel: the hash table of all, of each, and of the leader alone
CALL wait_until_alone();
VACUUM facts;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (70, 72)');
SET enable_parallel_hash = off;
SELECT pages('SELECT f.* FROM facts f JOIN days d USING (day) WHERE d.day IN (70, 72)');
SELECT pages('SELECT f.* FROM facts f JOIN (SELECT day FROM days WHERE day IN (70, 72) LIMIT 2) d USING (day)');
SELECT pages('SELECT count(*) FROM facts f JOIN ids i USING (far) JOIN days d USING (day) WHERE i.v < 9 AND d.month = 1');
RESET enable_parallel_hash;
SELECT pages('SELECT d.day, (SELECT count(*) FROM facts f JOIN days e USING (day) WHERE e.month = d.month) FROM days d WHERE d.day % 30 = 1');
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- where it pays, and where not
CREATE TABLE many AS SELECT g AS id, g / 2000 AS day, (g::bigint * 7919 % 200003)::int AS far, g % 7 AS few FROM generate_series(0, 199999) g;
CREATE INDEX many_day ON many USING brin (day) WITH (pages_per_range = 16);
CREATE INDEX many_far ON many (far);
CREATE INDEX many_few ON many (few);
CREATE TABLE fars AS SELECT g * 4 AS far, g AS v FROM generate_series(0, 9999) g;
CALL wait_until_alone();
VACUUM ANALYZE many, fars;
SELECT p.*, q FROM (VALUES
	(1, 'SELECT f.* FROM many f JOIN days d USING (day) WHERE d.big = 70'),
	(2, 'SELECT f.* FROM many f JOIN days d USING (day) WHERE d.day < 46 AND d.day % 2 = 0'),
	(3, 'SELECT f.* FROM many f JOIN fars USING (far) WHERE v = 3'),
	(4, 'SELECT f.* FROM many f JOIN fars USING (far) WHERE v < 3000'),
	(5, 'SELECT f.* FROM many f JOIN fars USING (far)'),
	(6, 'SELECT f.* FROM many f JOIN days d ON f.few = d.day WHERE d.big = 3')) v (n, q), pages(q, 'on') p ORDER BY n;
CREATE INDEX many_scattered ON many USING brin (far) WITH (pages_per_range = 16);
DROP INDEX many_far;
SELECT pages('SELECT f.* FROM many f JOIN fars USING (far) WHERE v = 5000', 'on');
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
\set VERBOSITY terse
SET client_min_messages = error;
DROP SCHEMA join_pages CASCADE;
