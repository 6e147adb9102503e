-- May a filter contain a key?  From every source that a filter can have.
CREATE SCHEMA probe;
SET search_path = probe, public;

--
-- NULLs: of a NULL key nothing is known; a NULL filter may contain every key
--
SELECT f.what AS filter, k.what AS key, f @~ k AS operator, k ~@ f AS commutator, bloom_may_contain(f, k) AS function, bloom_may_be_in(k, f) AS other
FROM (VALUES ('filter', bloom_add(bloom_create(10), 1)), ('empty', bloom_create(10)), ('null', NULL)) f(what, f), (VALUES ('in', 1), ('not in', 2), ('null', NULL)) k(what, k);
SELECT NULL::bloomfilter @~ 1 AS constant, bloom_create(10) @~ NULL::int AS null_key, NULL::bloomfilter @~ NULL::int AS both, bloom_create(10) @~ NULL AS untyped, NULL ~@ bloom_create(10) AS untyped_left,
	bloom_may_contain(NULL, 1) AS function, bloom_may_contain(NULL, NULL) AS nothing, bloom_may_contain(NULL, 'a') AS literal;
-- in WHERE: a segment without a filter is not dropped, a row without a key is; NOT drops neither more nor less than it should
SELECT count(*) FILTER (WHERE f @~ 1) AS where_true, count(*) FILTER (WHERE NOT f @~ 1) AS where_not FROM (VALUES (bloom_add(bloom_create(10), 1)), (bloom_create(10)), (NULL)) v(f);
SELECT count(*) FROM generate_series(1, 10) x WHERE x ~@ (SELECT bloom_create(10) WHERE false);
-- NOT cannot turn the operator into another
SELECT oprnegate = 0 AS no_negator FROM pg_operator WHERE oid = '@~(bloomfilter,anyelement)'::regoperator;

--
-- Many keys at once
--
SELECT keys, bloom_may_contain_any(f, keys) AS any, bloom_may_contain_all(f, keys) AS all, bloom_filter_keys(f, keys) AS keys,
	bloom_may_contain_any(NULL, keys) AS any_null, bloom_may_contain_all(NULL, keys) AS all_null, bloom_filter_keys(NULL, keys) AS keys_null
FROM bloom_add_all(bloom_create(10, 0.0001), '{1,2,3}'::int[]) f,
	unnest(ARRAY['{}', '{1,2}', '{1,9}', '{8,9}', '{1,NULL}', '{9,NULL}', '{NULL}', '{3,2,1,2,3}', '{{1,9},{8,2}}', '[5:7]={9,1,3}', '{{{NULL,9}}}', NULL]) WITH ORDINALITY u(text, o), LATERAL (SELECT text::int[]) k(keys) ORDER BY o;
-- as the operators joined by OR and AND would answer
SELECT count(*) FROM (SELECT bloom_add_all(bloom_create(10, 0.0001), '{1,2,3}'::int[]) UNION ALL SELECT NULL UNION ALL SELECT bloom_create(10)) s(f), unnest('{1,9,NULL}'::int[]) a, unnest('{2,8,NULL}'::int[]) b, unnest('{3,7,NULL}'::int[]) c
WHERE bloom_may_contain_any(f, ARRAY[a, b, c]) IS DISTINCT FROM (f @~ a OR f @~ b OR f @~ c) OR bloom_may_contain_all(f, ARRAY[a, b, c]) IS DISTINCT FROM (f @~ a AND f @~ b AND f @~ c);
-- long arrays, both kinds, in their order
SELECT kind, array_length(kept, 1) BETWEEN 1000 AND 1200 AS length, kept[1:3] AS first, kept = array(SELECT x FROM generate_series(20000, 1, -1) x WHERE f @~ x) AS same_as_one_by_one,
	kept = bloom_filter_keys(f, array(SELECT x::int2 FROM generate_series(20000, 1, -1) x))::int[] AS widths
FROM unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg(x, 0.001, kind) FROM generate_series(1000, 1999) x) s(f), LATERAL (SELECT bloom_filter_keys(f, array(SELECT generate_series(20000, 1, -1)))) r(kept) ORDER BY 1;
SELECT bloom_filter_keys(f, '{a,bb,NULL,"",x}'::text[]) AS texts, bloom_filter_keys(f, ARRAY[bloom_key('bb'::text), bloom_key('no'::text)]) = ARRAY[bloom_key('bb'::text)] AS hashed, bloom_filter_keys(f, '{"bb   ",no}'::char(5)[]) AS blanks
FROM bloom_add_all(bloom_create(10, 0.0001), '{a,bb,""}'::text[]) f;
SELECT bloom_filter_keys(f, '{}'::text[]) AS empty, bloom_may_contain_any(f, '{}'::text[]) AS any, bloom_may_contain_all(f, '{}'::text[]) AS all FROM bloom_create(10, key_type => 'int4') f;
SELECT bloom_may_contain_any(bloom_create(10, key_type => 'int4'), '{a}'::text[]);
SELECT bloom_may_contain_all(bloom_create(10, key_type => 'text'), '{1}'::int[]);
SELECT bloom_filter_keys(bloom_create(10, key_type => 'text'), ARRAY[now()]);
SELECT bloom_filter_keys(bloom_create(10), ARRAY['{}'::json]);
SELECT bloom_filter_keys(bloom_create(10), ARRAY[bloom_key(1), bloom_key('a'::text)]) AS no_family;
SELECT bloom_filter_keys(bloom_create(10, key_type => 'int4'), ARRAY[bloom_key(1), bloom_key('a'::text)]);

--
-- Families: never a silent no
--
CREATE TABLE ints (f bloomfilter);
INSERT INTO ints VALUES (bloom_add_all(bloom_create(10), '{1,2,3}'::int[]));
SELECT f @~ 1::int2, f @~ 1::int8, f @~ bloom_key(1) FROM ints;
SELECT f @~ '1'::text FROM ints;
SELECT f @~ 1.0 FROM ints;
SELECT f @~ 1.0::float8 FROM ints;
SELECT f @~ bloom_key('1'::text) FROM ints;
SELECT f @~ ARRAY[1] FROM ints;
SELECT f @~ '{}'::json FROM ints;
SELECT f @~ ROW(1) FROM ints;
SELECT f @~ 'c'::"char" FROM ints;
SELECT f @~ '2020-01-01'::date FROM ints;
-- a filter as a literal is one
SELECT bloom_may_contain('\x6266616d01010100a2ec979704000000000000000000000011a6e8601cfd694703000000000000000300000000000000000000000000d03f080000000000000002000000000000000000000000000000746578742020010004400080', 'bc') AS yes,
	'\x6266616d01010100a2ec979704000000000000000000000011a6e8601cfd694703000000000000000300000000000000000000000000d03f080000000000000002000000000000000000000000000000746578742020010004400080' @~ 'bc' AS literal;

--
-- Where the filter comes from.  Each table has filters with the keys 100 * id .. 100 * id + 99, of many sizes and both kinds: out of
-- line, and in the row, plain, with a short header, and compressed.
--
CREATE TABLE toasted (id int PRIMARY KEY, f bloomfilter);
INSERT INTO toasted SELECT i, bloom_agg(x, 0.0000001, 'standard', CASE i % 3 WHEN 0 THEN 100 WHEN 1 THEN 1000 ELSE 5000 END) FROM generate_series(1, 20) i, generate_series(i * 100, i * 100 + 99) x GROUP BY i;
CREATE TABLE main (LIKE toasted);
ALTER TABLE main ALTER f SET STORAGE MAIN;
INSERT INTO main SELECT i, bloom_agg(x, 0.0001, 'blocked', 4000) FROM generate_series(1, 20) i, generate_series(i * 100, i * 100 + 99) x GROUP BY i;
CREATE TABLE compressed (LIKE toasted);
ALTER TABLE compressed ALTER f SET STORAGE EXTENDED;
INSERT INTO compressed SELECT i, bloom_agg(x, 0.0000001, 'standard', CASE i % 2 WHEN 0 THEN 2000 ELSE 12000 END) FROM generate_series(1, 20) i, generate_series(i * 100, i * 100 + 99) x GROUP BY i;
CREATE TABLE short (id int, f bloomfilter);
INSERT INTO short SELECT i, bloom_agg(x, 0.1, 'standard') FROM generate_series(1, 20) i, generate_series(i * 100, i * 100 + 1) x GROUP BY i;
CREATE TABLE plain (LIKE toasted);
ALTER TABLE plain ALTER f SET STORAGE PLAIN;
INSERT INTO plain SELECT i, bloom_agg(x, 0.0000001, 'standard', 300) FROM generate_series(1, 20) i, generate_series(i * 100, i * 100 + 99) x GROUP BY i;
SELECT 'toasted' AS what, sum((pg_column_size(f) < octet_length(f::bytea))::int) AS compressed, pg_relation_size(reltoastrelid) > 0 AS out_of_line FROM toasted, pg_class c WHERE c.oid = 'toasted'::regclass GROUP BY reltoastrelid
UNION ALL SELECT 'main', sum((pg_column_size(f) < octet_length(f::bytea))::int), pg_relation_size(reltoastrelid) > 0 FROM main, pg_class c WHERE c.oid = 'main'::regclass GROUP BY reltoastrelid
UNION ALL SELECT 'compressed', sum((pg_column_size(f) < octet_length(f::bytea))::int), pg_relation_size(reltoastrelid) > 0 FROM compressed, pg_class c WHERE c.oid = 'compressed'::regclass GROUP BY reltoastrelid
UNION ALL SELECT 'short', sum((pg_column_size(f) = octet_length(f::bytea) + 1)::int), false FROM short ORDER BY 1;

CREATE TABLE keys AS SELECT x AS k FROM generate_series(1, 2400) x;
ANALYZE keys, toasted, main, compressed, short, plain;

-- Every filter against every key, in both orders of the loops: each row must get its own filter's answer, though the call is one.
SELECT what, count(*) FILTER (WHERE f @~ k) AS hits, count(*) FILTER (WHERE k / 100 = id AND NOT f @~ k AND (what <> 'short' OR k % 100 < 2)) AS lost,
	count(*) FILTER (WHERE k / 100 <> id AND f @~ k AND what <> 'short') < 10 AS few_wrong
FROM (SELECT 'toasted' AS what, * FROM toasted UNION ALL SELECT 'main', * FROM main UNION ALL SELECT 'compressed', * FROM compressed UNION ALL SELECT 'plain', * FROM plain) f, keys GROUP BY 1 ORDER BY 1;
CREATE FUNCTION check_all(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	source text;
	n bigint;
	lost bigint;
	wrong bigint;
	result text := '';
BEGIN
	FOREACH source IN ARRAY '{toasted,main,compressed,plain}'::text[] LOOP
		EXECUTE format('SELECT count(*), count(*) FILTER (WHERE NOT yes AND k / 100 = id), count(*) FILTER (WHERE yes AND k / 100 <> id) FROM (' || query || ') q(id, k, yes)', source) INTO n, lost, wrong;
		result := result || format('%s%s: %s rows, %s lost, %s', CASE WHEN result <> '' THEN '; ' END, source, n, lost, CASE WHEN wrong < 20 THEN 'few wrong' ELSE wrong || ' wrong' END);
	END LOOP;
	RETURN result;
END $$;
-- the key changes first
SELECT check_all('SELECT id, k, f @~ k FROM %I, keys ORDER BY id, k');
-- the filter changes with each row
SELECT check_all('SELECT id, k, f @~ k FROM keys CROSS JOIN LATERAL (SELECT * FROM %I ORDER BY id OFFSET 0) x WHERE k %% 10 = 3');
SELECT check_all('SELECT id, k, k ~@ f FROM keys CROSS JOIN LATERAL (SELECT * FROM %I WHERE id BETWEEN k %% 7 AND k %% 7 + 3 ORDER BY id DESC OFFSET 0) x');
-- two calls in a row, of the same and of different filters
SELECT check_all('SELECT a.id, k, a.f @~ k AND (b.f @~ k OR true) FROM keys, %1$I a JOIN %1$I b ON b.id = 21 - a.id WHERE k %% 8 = 0');
-- correlated subqueries, of one filter and of an aggregate's
SELECT check_all('SELECT k / 100, k, (SELECT f FROM %I WHERE id = k / 100) @~ k FROM keys WHERE k BETWEEN 100 AND 2099');
SELECT check_all('SELECT (k + 1) / 100, k, (SELECT f FROM %I WHERE id = (k + 1) / 100) @~ k FROM keys WHERE k BETWEEN 100 AND 2098');
SELECT check_all('SELECT k / 100, k, (SELECT bloom_union_agg(f) FROM %I WHERE id IN (k / 100, 1)) @~ k FROM keys WHERE k BETWEEN 200 AND 2099 AND k %% 20 = 7');
SELECT check_all('SELECT id, k, EXISTS (SELECT FROM %1$I y WHERE y.id = x.id AND y.f @~ k) FROM keys, %1$I x WHERE k %% 10 = 1');
-- initplans: a stored filter, an aggregate's, and one that there is not
SELECT check_all('SELECT 7, k, (SELECT f FROM %I WHERE id = 7) @~ k FROM keys');
SELECT check_all('SELECT 7, k, (SELECT bloom_union_agg(f) FROM %I WHERE id = 7) @~ k FROM keys');
SELECT count(*) FROM keys WHERE (SELECT f FROM toasted WHERE id = 77) @~ k;
-- CTEs, and filters in arrays, in records and in other expressions
SELECT check_all('WITH f AS MATERIALIZED (SELECT * FROM %I) SELECT id, k, f @~ k FROM keys, f WHERE k %% 12 = 0');
SELECT check_all('SELECT i, k, a[i] @~ k FROM keys, (SELECT array_agg(f ORDER BY id) FROM %I) x(a), generate_series(1, 20) i WHERE k %% 12 = 0');
SELECT check_all('SELECT (r).id, k, (r).f @~ k FROM keys, (SELECT x AS r FROM %I x OFFSET 0) y WHERE k %% 12 = 0');
SELECT check_all('SELECT id, k, CASE WHEN id %% 2 = 0 THEN f ELSE f | f END @~ k FROM keys, %I WHERE k %% 20 = 0');
SELECT check_all('SELECT id, k, COALESCE(CASE WHEN id %% 2 = 0 THEN f END, (SELECT y.f FROM %1$I y WHERE y.id = x.id)) @~ k FROM keys, %1$I x WHERE k %% 10 = 5');
-- one stored filter and, in turns, one of the same size that was just made
SELECT check_all('SELECT CASE WHEN k %% 2 = 0 THEN 4 ELSE 10 END, k, CASE WHEN k %% 2 = 0 THEN a.f ELSE b.f | b.f END @~ k FROM keys, %1$I a, %1$I b WHERE a.id = 4 AND b.id = 10');
-- sorted, hashed and grouped on the way
SELECT check_all('SELECT id, k, f @~ k FROM (SELECT DISTINCT ON (id) id, f FROM %I ORDER BY id) x, keys WHERE k %% 12 = 0');
SELECT check_all('SELECT id, min(k), bool_and(f @~ k) FROM %I, keys WHERE k / 100 = id GROUP BY id, f, k');
SELECT check_all('SELECT id, k, lag(f, 0) OVER (ORDER BY k) @~ k FROM %I, keys WHERE k %% 10 = 0');
-- many filters that may contain one key
SELECT array_agg(id ORDER BY id) FROM toasted WHERE f @~ 1234;
SELECT array_agg(id ORDER BY id) FROM toasted WHERE f @~ bloom_key(1234);
SELECT 1234 ~@ ANY (array_agg(f)) AS any, 34 ~@ ANY (array_agg(f)) AS none, 1234 ~@ ALL (array_agg(f)) AS all, 1234 ~@ ANY (array_agg(CASE WHEN id <> 12 THEN f END)) AS unknown, 1234 ~@ ANY ('{}'::bloomfilter[]) AS empty FROM toasted;
SELECT array_agg(k ORDER BY k) FROM keys, (SELECT array_agg(f) AS a FROM toasted WHERE id IN (3, 5)) x WHERE k ~@ ANY (a) AND k % 50 = 0;
SELECT array_agg(k ORDER BY k) FROM keys WHERE bloom_key(k) ~@ ANY (ARRAY(SELECT f FROM toasted WHERE id IN (3, 5))) AND k % 50 = 0;
SELECT array_agg(k ORDER BY k) FROM keys WHERE k ~@ ANY (ARRAY[bloom_add(bloom_create(2, 0.0001), 7), NULL, bloom_add(bloom_create(2, 0.0001), 9)]) AND k < 4;

--
-- Prepared statements: the plan's constant, and a parameter
--
CREATE FUNCTION f_of(i int) RETURNS bloomfilter STABLE LANGUAGE sql AS 'SELECT f FROM probe.toasted WHERE id = i';
PREPARE of_filter(bloomfilter) AS SELECT count(*), min(k), max(k) FROM keys WHERE $1 @~ k;
PREPARE of_key(int) AS SELECT array_agg(id ORDER BY id) FROM toasted WHERE f @~ $1;
PREPARE of_both(bloomfilter, int) AS SELECT $1 @~ $2, $2 ~@ $1;
SET plan_cache_mode = force_custom_plan;
EXECUTE of_filter (f_of(3));
EXECUTE of_filter (f_of(4));
EXECUTE of_filter (NULL);
EXECUTE of_key (1234);
EXECUTE of_both (f_of(3), 399);
SET plan_cache_mode = force_generic_plan;
EXECUTE of_filter (f_of(3));
EXECUTE of_filter (f_of(4));
EXECUTE of_filter (f_of(3) | f_of(4));
EXECUTE of_filter (NULL);
EXECUTE of_key (1234);
EXECUTE of_key (NULL);
EXECUTE of_key (567);
EXECUTE of_both (f_of(3), 399);
EXECUTE of_both (f_of(4), 399);
EXECUTE of_both (NULL, 399);
RESET plan_cache_mode;
DEALLOCATE ALL;
-- functions: arguments, defaults, and their results
CREATE FUNCTION hits(f bloomfilter DEFAULT bloom_create(10)) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM probe.keys WHERE $1 @~ k';
SELECT hits(), hits(NULL), hits(f_of(5)), hits(f_of(6) & f_of(7)), hits(f_of(5) | f_of(6));
SELECT id, hits(f) FROM toasted WHERE id < 4 ORDER BY id;
SELECT count(*) FROM keys WHERE f_of(9) @~ k;
SELECT count(*) FROM keys WHERE f_of(k / 100) @~ k AND k % 10 = 0;

--
-- Indexes and constraints
--
CREATE TABLE item (k int, seen boolean GENERATED ALWAYS AS (bloom_add_all(bloom_create(10, 0.0001), '{5,6,7}'::int[]) @~ k) STORED, CHECK (NOT bloom_add(bloom_create(10, 0.0001), 666) @~ k));
INSERT INTO item SELECT generate_series(1, 600);
INSERT INTO item VALUES (666);
SELECT array_agg(k ORDER BY k) FROM item WHERE seen;
CREATE INDEX item_partial ON item (k) WHERE bloom_add_all(bloom_create(10, 0.0001), '{15,16,17}'::int[]) @~ k;
CREATE INDEX item_expression ON item ((bloom_add_all(bloom_create(10, 0.0001), '{25,26,27}'::int[]) @~ k));
ANALYZE item;
SET enable_seqscan = off;
SELECT array_agg(k ORDER BY k) FROM item WHERE bloom_add_all(bloom_create(10, 0.0001), '{15,16,17}'::int[]) @~ k;
EXPLAIN (COSTS OFF) SELECT k FROM item WHERE bloom_add_all(bloom_create(10, 0.0001), '{15,16,17}'::int[]) @~ k AND k < 17;
SELECT array_agg(k ORDER BY k) FROM item WHERE bloom_add_all(bloom_create(10, 0.0001), '{25,26,27}'::int[]) @~ k;
INSERT INTO item SELECT k FROM item WHERE k BETWEEN 15 AND 26;
SELECT array_agg(k ORDER BY k) FROM item WHERE bloom_add_all(bloom_create(10, 0.0001), '{15,16,17}'::int[]) @~ k;
RESET enable_seqscan;
-- an index whose expression is a probe of a stored row's own filter
CREATE INDEX ON toasted ((f @~ 1234));
INSERT INTO toasted VALUES (1000, bloom_add(bloom_create(100000, 0.0001, 'standard'), 1234)), (1001, NULL);
SELECT array_agg(id ORDER BY id) FROM toasted WHERE f @~ 1234;
DELETE FROM toasted WHERE id >= 1000;

--
-- Changes: of the same filter in the same transaction, in subtransactions, and of a TOAST value's id
--
BEGIN;
SELECT f @~ 5000 AS before FROM toasted WHERE id = 2;
UPDATE toasted SET f = bloom_add(f, 5000) WHERE id = 2;
SELECT f @~ 5000 AS after FROM toasted WHERE id = 2;
SAVEPOINT a;
UPDATE toasted SET f = bloom_add(f, 5001) WHERE id = 2;
SELECT f @~ 5000 AS outer, f @~ 5001 AS inner FROM toasted WHERE id = 2;
ROLLBACK TO a;
SELECT f @~ 5000 AS outer, f @~ 5001 AS inner FROM toasted WHERE id = 2;
SAVEPOINT b;
SELECT f @~ 'wrong'::text FROM toasted WHERE id = 2;
ROLLBACK TO b;
SELECT f @~ 5000 AS after FROM toasted WHERE id = 2;
ROLLBACK;
SELECT f @~ 5000 AS rolled_back FROM toasted WHERE id = 2;
-- a statement sees the filter as it was, its own changes come after
UPDATE toasted SET f = bloom_add(f, id + 6000) WHERE NOT f @~ (id + 6000);
UPDATE toasted SET f = bloom_add(f, id + 6000) WHERE NOT f @~ (id + 6000);
SELECT count(*) FILTER (WHERE f @~ (id + 6000)) AS own, count(*) FILTER (WHERE f @~ (id + 6001)) AS other FROM toasted;
-- a prepared statement across changes and rewrites of the table
PREPARE again AS SELECT count(*) FILTER (WHERE f @~ k) FROM toasted, keys WHERE id = 2 AND k BETWEEN 200 AND 299;
EXECUTE again;
UPDATE toasted SET f = bloom_create(20000, 0.0001, 'standard', 'int4') WHERE id = 2;
EXECUTE again;
UPDATE toasted SET f = (SELECT bloom_agg(x, 0.0001, 'standard', 20000) FROM generate_series(200, 249) x) WHERE id = 2;
EXECUTE again;
CLUSTER toasted USING toasted_pkey;
EXECUTE again;
DEALLOCATE again;

--
-- Cursors, and scans that begin again
--
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, array_agg(k ORDER BY k) FROM toasted, keys WHERE f @~ k AND k % 50 = 0 AND id <> 2 GROUP BY id ORDER BY id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE FORWARD 5 IN c;
FETCH 1 FROM c;
DECLARE d CURSOR FOR SELECT id, f @~ 301 AS yes FROM toasted WHERE id IN (3, 4, 5) ORDER BY id;
FETCH 1 FROM d;
UPDATE toasted SET f = bloom_add(f, 301) WHERE id IN (4, 5);
-- a cursor sees what was there when it was opened
FETCH 2 FROM d;
ROLLBACK;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id, f FROM toasted WHERE id IN (3, 4) ORDER BY id;
COMMIT;
DELETE FROM toasted WHERE id = 4;
CREATE TEMP TABLE fetched (id int, f bloomfilter);
DO $$
DECLARE
	c refcursor := 'held';
	r record;
BEGIN
	FETCH c INTO r;
	RAISE NOTICE '%: %, %', r.id, r.f @~ 301, r.f @~ 401;
	FETCH c INTO r;
	RAISE NOTICE '%: %, %', r.id, r.f @~ 301, r.f @~ 401;
END $$;
CLOSE held;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*) FILTER (WHERE f @~ k AND k / 100 = id) AS found FROM keys, toasted WHERE k % 100 = 0 AND id NOT IN (2, 4);
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
