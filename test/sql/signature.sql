-- The index signature: classes, plans, states of ranges, errors.  test/t/049_signature.pl has writers, crashes and standbys.
\set VERBOSITY default
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET bloomfam.join_filter = off;
CREATE TABLE signature_log (n int, line text, varied varchar, code char(9), words tsvector, tags text[], numbers int[], doc jsonb, host inet, id bigint, at timestamptz);
INSERT INTO signature_log
	SELECT g, format('request %s of User%s: %s', md5(g::text), g % 500, repeat('long ', g % 7)), md5(g::text), 'c' || g, to_tsvector('simple', 'word' || g || ' of all'),
		CASE WHEN g % 5 > 0 THEN ARRAY['tag' || g, 'all'] END, ARRAY[g, NULL, g % 3],
		jsonb_build_object('id', g, 'user', jsonb_build_object('name', 'user' || g % 500), 'list', jsonb_build_array(g, 'x' || g)), ('10.0.' || g % 250 || '.' || g % 99)::inet, g * 7,
		'2026-01-01 UTC'::timestamptz + g * interval '1 minute'
	FROM generate_series(1, 20000) g;
CREATE INDEX signature_line ON signature_log USING signature (line) WITH (pages_per_range = 1);
CREATE INDEX signature_varied ON signature_log USING signature (varied, code);
CREATE INDEX signature_words ON signature_log USING signature (words) WITH (pages_per_range = 2, bits_per_key = 16);
CREATE INDEX signature_rest ON signature_log USING signature (tags, numbers, doc jsonb_path_ops, host, id, at);
CREATE INDEX signature_doc ON signature_log USING signature (doc) WITH (pages_per_range = 4);
ANALYZE signature_log;

-- the same rows by an index and without
CREATE FUNCTION signature_compare(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	by_index text;
	by_table text;
	used text := 'no index';
BEGIN
	SET LOCAL enable_seqscan = off;
	FOR plan IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT FROM signature_log WHERE ' || condition LOOP
		used := coalesce(substring(plan FROM 'Scan on (signature_(?!log)\w+)'), used);
	END LOOP;
	EXECUTE 'SELECT (count(*), sum(n)) FROM signature_log WHERE ' || condition INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'SELECT (count(*), sum(n)) FROM signature_log WHERE ' || condition INTO by_table;
	SET LOCAL enable_bitmapscan = on;
	IF by_index <> by_table THEN
		RETURN format('%s finds %s of %s', used, by_index, by_table);
	END IF;
	RETURN used || ' ' || by_index;
END $$;

-- texts
SELECT condition, signature_compare(condition) FROM (VALUES
	($q$line LIKE '%c4ca4238a0b923820dcc509a6f75849b%'$q$), ($q$line LIKE 'request c4ca%User1:%'$q$), ($q$line LIKE '%no such text%'$q$),
	($q$line NOT LIKE '%request%'$q$), ($q$line LIKE '%lon%'$q$), ($q$line LIKE '%user1:%'$q$), ($q$line ILIKE '%USER1:%'$q$), ($q$line LIKE '%r1_\: %'$q$),
	($q$line LIKE '%c4ca4238\a0b9%'$q$), ($q$line LIKE '%c4ca#4238%' ESCAPE '#'$q$), ($q$line LIKE '%'$q$), ($q$line LIKE ''$q$), ($q$line LIKE NULL$q$),
	($q$line LIKE ANY (ARRAY['%c4ca4238a%', '%c81e728d%', NULL])$q$), ($q$line LIKE ANY ('{}'::text[])$q$), ($q$line LIKE ALL (ARRAY['%c4ca4238a%', '%User1%'])$q$),
	($q$line ^@ 'request c4ca4238'$q$), ($q$line ^@ 'req'$q$),
	($q$line = 'request c4ca4238a0b923820dcc509a6f75849b of User1: long '$q$), ($q$line = ''$q$), ($q$line = ANY (ARRAY['x', 'request c81e728d9d4c2f636f067f89cc14862c of User2: long long '])$q$),
	($q$varied = 'c4ca4238a0b923820dcc509a6f75849b'$q$), ($q$varied LIKE '%4238a0b%'$q$), ($q$varied = 'c4ca4238a0b923820dcc509a6f75849b' AND code = 'c1'$q$), ($q$code = 'c77 '$q$), ($q$code = 'c77'::bpchar$q$),
	($q$line ~~ ('%c4ca4238a' || '0b9%')$q$), ($q$line ~ 'c4ca4238a0b9'$q$), ($q$lower(line) LIKE '%c4ca4238a%'$q$)) c(condition);
SELECT signature_compare($q$line LIKE 'request c4ca4238a\'$q$);

-- what GIN's functions decide
SELECT condition, signature_compare(condition) FROM (VALUES
	($q$words @@ 'word77'$q$), ($q$words @@ 'word77 & all'$q$), ($q$words @@ 'word77 | word78'$q$), ($q$words @@ 'word77 & !all'$q$), ($q$words @@ '!all'$q$), ($q$words @@ 'word77 & word78'$q$),
	($q$words @@ 'wor:*'$q$), ($q$words @@ 'word77:* & all'$q$), ($q$words @@ 'word77 <-> of'$q$), ($q$words @@ ''::tsquery$q$), ($q$words @@@ 'nothing'$q$), ($q$words @@ 'word5:B'$q$),
	($q$tags @> '{tag7}'$q$), ($q$tags @> '{tag7,all}'$q$), ($q$tags @> '{}'$q$), ($q$tags @> '{NULL}'$q$), ($q$tags && '{tag7,tag8}'$q$), ($q$tags && '{}'$q$), ($q$tags = '{tag7,all}'$q$), ($q$tags <@ '{tag7,all}'$q$),
	($q$numbers @> '{77}'$q$), ($q$numbers && '{77,78,NULL}'$q$), ($q$numbers @> '{77}' AND tags @> '{tag77}'$q$),
	($q$doc @> '{"id": 77}'$q$), ($q$doc @> '{"user": {"name": "user77"}}' AND id = 539$q$), ($q$doc @> '{}'$q$), ($q$doc @> '{"list": ["x77"]}'$q$), ($q$doc ? 'id'$q$), ($q$doc ? 'none'$q$), ($q$doc ?| '{none,nor}'$q$),
	($q$doc ?& '{id,user}'$q$), ($q$doc ?& '{}'$q$), ($q$doc @? '$.user.name ? (@ == "user77")'$q$), ($q$doc @@ '$.id == 77'$q$), ($q$doc @@ '$.id > 19990'$q$), ($q$doc @? '$.list[*] ? (@ == "x77" || @ == "x78")'$q$)) c(condition);

-- scalars
SELECT condition, signature_compare(condition) FROM (VALUES
	($q$id = 539$q$), ($q$id = 539::int2$q$), ($q$id = 539::int4$q$), ($q$id = 9223372036854775807$q$), ($q$id = ANY ('{539,546,-1,NULL}')$q$), ($q$id = ANY ('{}')$q$), ($q$id = NULL$q$), ($q$id = 539.0$q$), ($q$id > 139990$q$),
	($q$host = '10.0.7.7' AND id = 49$q$), ($q$at = '2026-01-01 00:07:00 UTC'$q$), ($q$at = '2026-01-01 00:07:00 UTC' OR id = 539$q$), ($q$id IS NULL$q$)) c(condition);

-- prepared statements, parameters of nested loops, cursors that go back
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE signature_find (text) AS SELECT n FROM signature_log WHERE line LIKE $1 ORDER BY n;
EXPLAIN (COSTS OFF) EXECUTE signature_find ('%c4ca4238a%');
EXECUTE signature_find ('%c4ca4238a%');
EXECUTE signature_find (NULL);
EXECUTE signature_find ('c81e%');
SELECT k, (SELECT count(*) FROM signature_log WHERE line LIKE '%' || md5(k::text) || '%') FROM generate_series(1, 3) k;
RESET plan_cache_mode;
BEGIN;
DECLARE signature_cursor SCROLL CURSOR FOR SELECT n FROM signature_log WHERE tags @> '{tag77}';
FETCH ALL signature_cursor;
FETCH BACKWARD ALL signature_cursor;
COMMIT;
RESET enable_seqscan;

-- the states of ranges: full ranges have signatures, and are dirty when a row comes into one of a slab
CREATE TABLE signature_state (line text, filler text DEFAULT repeat('f', 1900)) WITH (autovacuum_enabled = off);
ALTER TABLE signature_state ALTER filler SET STORAGE plain;
CREATE INDEX signature_state_line ON signature_state USING signature (line) WITH (pages_per_range = 1);
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
INSERT INTO signature_state SELECT md5(g::text) FROM generate_series(1, 400) g;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
INSERT INTO signature_state SELECT md5(g::text) FROM generate_series(401, 1000) g;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
DELETE FROM signature_state WHERE ctid < '(10,0)' OR ctid > '(200,0)' AND ctid < '(210,0)';
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/alone.sql'
\i :file
CALL wait_until_alone();
VACUUM signature_state;
INSERT INTO signature_state SELECT 'again' || md5(g::text) FROM generate_series(1, 60) g;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
SELECT signature_check('signature_state_line');
SET enable_seqscan = off;
SELECT count(*) FROM signature_state WHERE line LIKE 'again%';
VACUUM signature_state;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
SELECT signature_check('signature_state_line');
SELECT count(*) FROM signature_state WHERE line LIKE 'again%';
REINDEX INDEX signature_state_line;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
DROP INDEX signature_state_line;
CREATE INDEX CONCURRENTLY signature_state_line ON signature_state USING signature (line) WITH (pages_per_range = 1);
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');
REINDEX INDEX CONCURRENTLY signature_state_line;
SELECT count(*) FROM signature_state WHERE line LIKE 'again%';
SELECT signature_check('signature_state_line');
BEGIN;
TRUNCATE signature_state;
INSERT INTO signature_state SELECT md5(g::text) FROM generate_series(1, 100) g;
SELECT count(*) FROM signature_state WHERE line LIKE '%c4ca4238%';
ROLLBACK;
SELECT count(*) FROM signature_state WHERE line LIKE '%c4ca4238%' OR line LIKE 'againc4ca4238%';
TRUNCATE signature_state;
SELECT ranges, summarized, dirty, open FROM signature_info('signature_state_line');

-- rows that must be read by VACUUM although they are dead or in TOAST tables, and an expression that fails for a row which was not inserted
CREATE TABLE signature_toast (n int, line text) WITH (autovacuum_enabled = off);
ALTER TABLE signature_toast ALTER line SET STORAGE EXTERNAL;
CREATE INDEX signature_toast_line ON signature_toast USING signature (line) WITH (pages_per_range = 1);
CREATE INDEX signature_toast_part ON signature_toast USING signature ((1000 / n)) WITH (pages_per_range = 1);
INSERT INTO signature_toast SELECT g, repeat(md5(g::text), 100) FROM generate_series(1, 1000) g;
INSERT INTO signature_toast VALUES (0, 'nothing');
DELETE FROM signature_toast WHERE n % 3 = 0;
VACUUM signature_toast;
SELECT signature_check('signature_toast_line'), signature_check('signature_toast_part');
SELECT count(*) FROM signature_toast WHERE line LIKE '%' || md5('77') || '%';
SELECT count(*) FROM signature_toast WHERE 1000 / n = 500;
DROP TABLE signature_toast;

-- columns that were added with a default, which old rows do not store; options that are changed later
CREATE TABLE signature_added AS SELECT g AS n FROM generate_series(1, 20000) g;
ALTER TABLE signature_added ADD tag text DEFAULT 'by default', ADD k int DEFAULT 77, DROP n;
CREATE INDEX signature_added_tag ON signature_added USING signature (tag, k);
ALTER INDEX signature_added_tag SET (ngram = 3, pages_per_range = 3);
INSERT INTO signature_added SELECT 'other', g FROM generate_series(1, 20000) g;
SELECT count(*) FROM signature_added WHERE tag LIKE '%defau%';
SELECT count(*) FROM signature_added WHERE k = 77;
SELECT count(*) FROM signature_added WHERE tag LIKE '%oth%' AND k = 78;
SELECT signature_check('signature_added_tag');
DROP TABLE signature_added;

-- costs do not tell of rows that a policy hides
CREATE ROLE regress_bloomfam_signature;
CREATE TABLE signature_secret AS SELECT g AS n FROM generate_series(1, 40000) g;
CREATE INDEX signature_secret_n ON signature_secret USING signature (n);
CREATE POLICY signature_even ON signature_secret USING (n % 2 = 0);
ALTER TABLE signature_secret ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON signature_secret TO regress_bloomfam_signature;
CREATE FUNCTION signature_cost(key int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM signature_secret WHERE n = ' || key INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SET enable_seqscan = off;
SELECT bool_and(signature_cost(77) = signature_cost(-k)) AS same FROM generate_series(1, 10) k;
SET ROLE regress_bloomfam_signature;
SELECT bool_and(signature_cost(77) = signature_cost(-k)) AS same FROM generate_series(1, 10) k;
SELECT n FROM signature_secret WHERE n IN (76, 77);
RESET ROLE;
RESET enable_seqscan;
DROP TABLE signature_secret;
DROP FUNCTION signature_cost;
DROP ROLE regress_bloomfam_signature;

-- other tables: unlogged, temporary, partitioned, of partial indexes
CREATE UNLOGGED TABLE signature_unlogged AS SELECT n, line FROM signature_log;
CREATE INDEX ON signature_unlogged USING signature (line);
SELECT count(*) FROM signature_unlogged WHERE line LIKE '%c4ca4238a%';
CREATE TEMP TABLE signature_temp AS SELECT n, line FROM signature_log;
CREATE INDEX ON signature_temp USING signature (line) WHERE n % 2 = 1;
SELECT count(*) FROM signature_temp WHERE line LIKE '%c4ca4238a%' AND n % 2 = 1;
CREATE TABLE signature_parts (n int, line text) PARTITION BY RANGE (n);
CREATE TABLE signature_parts_1 PARTITION OF signature_parts FOR VALUES FROM (0) TO (10000);
CREATE TABLE signature_parts_2 PARTITION OF signature_parts FOR VALUES FROM (10000) TO (30000);
CREATE INDEX signature_parts_line ON signature_parts USING signature (line);
INSERT INTO signature_parts SELECT n, line FROM signature_log;
SELECT count(*) FROM signature_parts WHERE line LIKE '%c4ca4238a%';
SELECT signature_info('signature_parts_line');
RESET enable_seqscan;
DROP TABLE signature_unlogged, signature_parts;

-- classes of one's own: the definition is GIN's; one that compares keys otherwise is refused
CREATE OPERATOR CLASS signature_int_ops FOR TYPE int[] USING signature AS OPERATOR 7 @> (anyarray, anyarray), FUNCTION 1 btint4cmp(int, int),
	FUNCTION 2 ginarrayextract(anyarray, internal, internal), FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, integer, internal, internal, internal, internal), STORAGE int;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'signature_int_ops';
-- (its consistent knows no "maybe": of more keys than it is asked about in all combinations, no row is missed)
CREATE OPERATOR CLASS signature_contains_ops FOR TYPE int[] USING signature AS OPERATOR 2 @> (anyarray, anyarray), FUNCTION 1 btint4cmp(int, int),
	FUNCTION 2 ginarrayextract(anyarray, internal, internal), FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, integer, internal, internal, internal, internal), STORAGE int;
CREATE TABLE signature_arrays AS SELECT ARRAY(SELECT i FROM generate_series(g, g + 7) i) AS numbers FROM generate_series(1, 5000) g;
CREATE INDEX ON signature_arrays USING signature (numbers signature_contains_ops) WITH (pages_per_range = 1);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM signature_arrays WHERE numbers @> '{4000,4001,4002,4003,4004,4005}';
SELECT n, (SELECT count(*) FROM signature_arrays WHERE numbers @> ARRAY(SELECT i FROM generate_series(4000, 3999 + n) i)) FROM generate_series(3, 9) n;
RESET enable_seqscan;
DROP TABLE signature_arrays;
DROP OPERATOR FAMILY signature_contains_ops USING signature;
CREATE FUNCTION signature_backwards(a int, b int) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT btint4cmp(b, a)';
CREATE OPERATOR CLASS signature_backwards_ops FOR TYPE int[] USING signature AS OPERATOR 1 @> (anyarray, anyarray), FUNCTION 1 signature_backwards(int, int),
	FUNCTION 2 ginarrayextract(anyarray, internal, internal), FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, integer, internal, internal, internal, internal), STORAGE int;
CREATE INDEX ON signature_log USING signature (numbers signature_backwards_ops);
CREATE OPERATOR CLASS signature_less_ops FOR TYPE int USING signature AS OPERATOR 1 <;
CREATE INDEX ON signature_log USING signature (n signature_less_ops);
RESET client_min_messages;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname IN ('signature_less_ops', 'signature_backwards_ops') ORDER BY opcname;
CREATE OPERATOR CLASS signature_half_ops FOR TYPE int[] USING signature AS OPERATOR 1 @> (anyarray, anyarray), FUNCTION 2 ginarrayextract(anyarray, internal, internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'signature_half_ops';
CREATE INDEX ON signature_log USING signature (numbers signature_half_ops);
SELECT opcname FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'signature' AND opcname NOT LIKE 'signature%' AND NOT amvalidate(c.oid);
DROP OPERATOR FAMILY signature_int_ops USING signature;
DROP OPERATOR FAMILY signature_backwards_ops USING signature;
DROP OPERATOR FAMILY signature_less_ops USING signature;
DROP OPERATOR FAMILY signature_half_ops USING signature;

-- errors
CREATE UNIQUE INDEX ON signature_log USING signature (id);
CREATE INDEX ON signature_log USING signature (id) INCLUDE (n);
CREATE INDEX ON signature_log USING signature (id) WITH (pages_per_range = 2000);
CREATE INDEX ON signature_log USING signature (line) WITH (ngram = 1);
CREATE INDEX ON signature_log USING signature (line) WITH (bits_per_key = 30);
CREATE INDEX ON signature_log USING signature ((ROW(n, id)));
CREATE TYPE signature_pair AS (a int, b int);
CREATE TABLE signature_pairs (pairs signature_pair[], moods xml[]);
CREATE INDEX ON signature_pairs USING signature (pairs);
CREATE INDEX ON signature_pairs USING signature (moods);
SELECT signature_info('signature_log'), signature_check('signature_log');
SELECT signature_info(0);

-- labels may be renamed
CREATE TYPE signature_mood AS ENUM ('sad', 'happy', 'other');
CREATE TABLE signature_moods AS SELECT 'happy'::signature_mood AS mood, ARRAY['happy', 'sad']::signature_mood[] AS moods FROM generate_series(1, 10000);
CREATE INDEX signature_moods_all ON signature_moods USING signature (mood, moods) WITH (pages_per_range = 4);
ALTER TYPE signature_mood RENAME VALUE 'happy' TO 'glad';
SET enable_seqscan = off;
SELECT count(*) FROM signature_moods WHERE mood = 'glad';
SELECT count(*) FROM signature_moods WHERE moods @> '{glad}';
SELECT count(*) FROM signature_moods WHERE moods && '{other}';
RESET enable_seqscan;
DROP TABLE signature_moods, signature_pairs;
DROP TYPE signature_mood, signature_pair;
SELECT signature_info('signature_log'), signature_check('signature_log');
CREATE ROLE regress_bloomfam_signature;
SET ROLE regress_bloomfam_signature;
SELECT signature_info('signature_line');
SELECT signature_check('signature_line');
RESET ROLE;
DROP ROLE regress_bloomfam_signature;
DROP TABLE signature_log, signature_state, signature_temp;
DROP FUNCTION signature_compare, signature_backwards;
