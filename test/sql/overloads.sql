-- Functions of one name: which of them a call means, whatever its arguments are; and the arrays behind @~ ANY and @~ ALL.
CREATE SCHEMA overloads;
SET search_path = overloads, public;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE DOMAIN word AS text;
CREATE DOMAIN short_word AS varchar(8);
CREATE DOMAIN share AS float8 CHECK (value < 1);
CREATE DOMAIN number AS int;
CREATE DOMAIN hashed AS bloomkey;
CREATE DOMAIN numbers AS int[];
CREATE DOMAIN a_filter AS bloomfilter;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);

-- What an expression of a filter was made for, or its error.
CREATE FUNCTION made(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT format(''%%s %%s for %%s, %%s'', target_fpr, kind, capacity, key_type) FROM bloom_info((%s))', expression) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN format('%s: %s', SQLSTATE, SQLERRM);
END $$;
-- An expression's value as text, or its error.
CREATE FUNCTION value_of(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT (' || expression || ')::text' INTO result;
	RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
	RETURN format('%s: %s', SQLSTATE, SQLERRM);
END $$;

--
-- bloom_create: what the second argument is
--
SELECT argument, made('bloom_create(1000, ' || argument || ')') FROM unnest(ARRAY[
	$$'standard'$$, $$'Standard'$$, $$'BINARY_FUSE'$$, $$'0.02'$$, $$' 2e-2 '$$, $$'0x1p-3'$$, $$'nan'$$, $$'inf'$$, $$''$$, $$'2 %'$$, $$'bigint'$$, 'NULL',
	$$'counting'::text$$, $$'0.02'::text$$, $$'counting'::varchar$$, $$'counting'::char(20)$$, $$'counting'::name$$, $$'counting'::citext$$, $$'counting'::word$$, $$'counting'::short_word$$,
	'NULL::text', 'NULL::float8', 'NULL::word', '0.02', '0.02::real', '0.02::numeric', '0.02::share', '1', '0', '1::bigint', '1::smallint', '1::number', '2e-2::float8',
	'true', $$'x'::bytea$$, $$'sad'::mood$$, 'ARRAY[0.02]', 'ARRAY[''standard'']', $$'{}'::json$$, $$'"standard"'::jsonb$$, $$'int'::regtype$$, 'ROW(0.02)', '''0.02''::unknown', '(SELECT ''standard'')', '(SELECT 0.02)']) argument;
-- as bloom_agg reads it
SELECT argument FROM unnest(ARRAY[$$'standard'$$, $$'SCALABLE'$$, $$'0.02'$$, $$'counting'::word$$, $$'counting'::citext$$, '0.02', '0.02::real', '0.02::share', $$''$$, $$'2 %'$$, 'true', $$'1e400'$$]) argument
WHERE regexp_replace(made('bloom_create(1, ' || argument || ')'), ', .*|"any".*|\(.*', '') <> regexp_replace(made('SELECT bloom_agg(1, ' || argument || ', 1)'), ', .*|"any".*|\(.*', '')
	AND regexp_replace(made('bloom_create(1, ' || argument || ')'), ' for .*|bloom_\w+\(.*', '') <> regexp_replace(made('SELECT bloom_agg(1, ' || argument || ')'), ' for .*|bloom_\w+\(.*', '');
-- by position and by name: the calls that were there before
SELECT call, made(call) FROM unnest(ARRAY['bloom_create(1000)', $$bloom_create('1000')$$, 'bloom_create(1000::smallint)', $$bloom_create('1000', '0.02')$$, $$bloom_create(1000, '0.02', 'standard')$$, $$bloom_create('1000', '0.02', 'standard', 'int')$$,
	$$bloom_create(1000, 0.02, 'Standard', 'int')$$, $$bloom_create(1000, 0.02, NULL)$$, $$bloom_create(1000, 0.02, 'standard', NULL)$$, $$bloom_create(expected => 1000)$$, $$bloom_create(expected => 1000, kind => 'standard')$$,
	$$bloom_create(1000, kind => 'standard')$$, $$bloom_create(1000, fpr => '0.02')$$, $$bloom_create(1000, fpr => 0.02, key_type => 'text')$$, $$bloom_create(kind => 'standard', expected => 1000, key_type => 'text', fpr => 0.02)$$,
	$$bloom_create(1000, key_type => 'text')$$, $$bloom_create(1000, 0.02, key_type => 'text')$$, $$bloom_create(1000, kind => 'standard', key_type => 'text'::regtype)$$, $$bloom_create(VARIADIC ARRAY[1000])$$]) call;
-- those that are errors of the parser's
SELECT call, made(call) FROM unnest(ARRAY[$$bloom_create(1000, 'standard', 'int')$$, $$bloom_create(1000, 'standard', key_type => 'int')$$, $$bloom_create(1000, 'standard'::text, 'int')$$, 'bloom_create(1e6)', 'bloom_create(0.02, 1000)', 'bloom_create()', $$bloom_create('standard', 1000)$$]) call;

--
-- bloom_hash: of a bloomkey; others are told to hash first
--
SELECT argument, value_of('bloom_hash(' || argument || ') = bloom_hash(bloom_key(1))') FROM unnest(ARRAY['bloom_key(1)', 'bloom_key(1)::hashed', '''' || bloom_key(1)::text || '''', '''' || bloom_key(1)::text || '''::bloomkey', '''' || bloom_key(1)::text || '''::text',
	'1', '1::number', $$'1'$$, $$'red'::text$$, $$'red'::citext$$, 'NULL', 'NULL::bloomkey', 'NULL::int', 'ARRAY[bloom_key(1)]', 'ROW(1, 2)', $$'{}'::json$$, '(SELECT bloom_key(1))']) argument;
SELECT bloom_hash(1);
SELECT bloom_hash('1');

--
-- bloom_agg of keys without a type: one error, with rows and without
--
SELECT call, value_of('SELECT ' || call || ' FROM generate_series(1, 0)') AS no_rows, value_of('SELECT ' || call || ' FROM generate_series(1, 3)') AS rows FROM unnest(ARRAY[$$bloom_agg('a')$$, 'bloom_agg(NULL)', $$bloom_agg('a', 0.01)$$, $$bloom_agg('a', '0.01')$$, $$bloom_agg('a', 'ribbon')$$,
	$$bloom_agg(NULL, NULL)$$, $$bloom_agg('a', 0.01, 'ribbon')$$, $$bloom_agg('a', 0.01, 'ribbon', 10)$$, $$bloom_agg('a', NULL, NULL, NULL)$$, $$bloom_agg(DISTINCT 'a')$$, $$bloom_agg('a') FILTER (WHERE false)$$, $$bloom_agg('a') OVER ()$$, $$bloom_agg('0000000000000001:0000000000000001')$$]) call;
-- with a type they are what they were
SELECT value_of('SELECT bloom_agg(x) @~ 1 FROM unnest(ARRAY[1]) x') AS int, value_of('SELECT bloom_agg(x) @~ 1 FROM unnest(ARRAY[1::number]) x') AS domain, value_of('SELECT bloom_agg(''a''::citext) @~ ''A''::citext') AS citext,
	value_of('SELECT bloom_agg(''a''::word) @~ ''a''') AS word, value_of('SELECT bloom_agg(bloom_key(1)::hashed) @~ 1') AS hashed, value_of('SELECT bloom_agg(x) @~ ''b'' FROM (VALUES (''a''), (''b'')) v(x)') AS values,
	value_of('SELECT bloom_agg(x) @~ ''b'' FROM (SELECT ''b'' AS x) v') AS subquery, value_of('SELECT bloom_agg((1, ''a'')) @~ (1, ''a'')') AS row, value_of('SELECT bloom_agg(ARRAY[1]) @~ ARRAY[1]') AS array;

--
-- What parameters without a type are taken for
--
CREATE TABLE f AS SELECT bloom_agg(x, 1e-9, 'standard') AS f, bloom_agg('k' || x, 1e-9, 'standard') AS t FROM generate_series(1, 100) x;
PREPARE create_1 AS SELECT bloom_create($1) IS NULL;
PREPARE create_2 AS SELECT bloom_create($1, $2) IS NULL;
PREPARE create_3 AS SELECT bloom_create($1, $2, $3) IS NULL;
PREPARE create_4 AS SELECT bloom_create($1, $2, $3, $4) IS NULL;
PREPARE create_named AS SELECT bloom_create($1, kind => $2, key_type => $3) IS NULL;
PREPARE hash_1 AS SELECT bloom_hash($1);
PREPARE agg_1 AS SELECT bloom_agg($1) IS NULL;
PREPARE agg_2 AS SELECT bloom_agg($1, $2) IS NULL;
PREPARE agg_3 AS SELECT bloom_agg($1, $2, $3) IS NULL;
PREPARE ask AS SELECT f @~ $1, $1 ~@ f, bloom_may_contain(f, $2) FROM f;
PREPARE ask_all AS SELECT bloom_may_contain($1, $2), $3 @~ $4 FROM f;
PREPARE ask_any AS SELECT f @~ ANY ($1), f @~ ALL ($2), bloom_may_contain_any(f, $3) FROM f;
PREPARE in_any AS SELECT $1 ~@ ANY ($2);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
EXECUTE create_2(1000, 'standard');
EXECUTE create_2(1000, '0.02');
EXECUTE create_3(1000, 0.02, 'Standard');
EXECUTE create_named(1000, 'standard', 'int');
EXECUTE hash_1('1');
EXECUTE agg_1('1');
EXECUTE ask('7', '700');
EXECUTE ask_any('{7,700}', '{7,700}', '{7,700}');
EXECUTE ask_any(NULL, '{}', '{NULL}');
DEALLOCATE ALL;

--
-- f @~ ANY (keys) and ALL: what bloom_may_contain_any and _all say, whatever the array is
--
CREATE TABLE asked (keys text, kind text);
INSERT INTO asked VALUES ('ARRAY[7,700]', 'f'), ('ARRAY[700,800]', 'f'), ('ARRAY[7,NULL]', 'f'), ('ARRAY[700,NULL]', 'f'), ('ARRAY[]::int[]', 'f'), ('NULL::int[]', 'f'), ('''{1,2}''::numbers', 'f'), ('ARRAY[1,700]::number[]', 'f'), ('ARRAY[[1,2],[3,700]]', 'f'),
	('ARRAY[1,2]::bigint[]', 'f'), ('ARRAY[1,2]::smallint[]', 'f'), ('''{1,700}''', 'f'), ('''{}''', 'f'), ('ARRAY[bloom_key(7), bloom_key(700)]', 'f'), ('ARRAY(SELECT generate_series(1, 100))', 'f'), ('(SELECT array_agg(x) FROM generate_series(90, 110) x)', 'f'),
	('ARRAY[''k7'',''x'']', 't'), ('ARRAY[''k7'',''k8'']::varchar[]', 't'), ('ARRAY[''k7  '',''k8'']::char(6)[]', 't'), ('ARRAY[''k7'',''k8'']::word[]', 't'), ('ARRAY[''k7'',''k8'']::name[]', 't'), ('string_to_array(''k1,k2'', '','')', 't'), ('''{k7,x}''', 't'),
	('ARRAY[1,2]', 't'), ('ARRAY[1.5]', 'f'), ('ARRAY[''k7'']::citext[]', 't'), ('ARRAY[now()]', 'f'), ('ARRAY[''{}''::json]', 'f'), ('ARRAY[(1,2)]', 'f'), ('1', 'f');
SELECT keys, value_of(format('SELECT %s @~ ANY (%s) FROM f', kind, keys)) AS any, value_of(format('SELECT %s @~ ALL (%s) FROM f', kind, keys)) AS all FROM asked;
SELECT keys FROM asked WHERE keys NOT LIKE '(SELECT%' AND keys <> '1' AND
	(value_of(format('SELECT %s @~ ANY (%s) FROM f', kind, keys)) <> value_of(format('SELECT bloom_may_contain_any(%s, %s) FROM f', kind, keys)) OR
	 value_of(format('SELECT %s @~ ALL (%s) FROM f', kind, keys)) <> value_of(format('SELECT bloom_may_contain_all(%s, %s) FROM f', kind, keys)));
-- a subquery; a NULL filter; a filter of no keys; a domain over filters; NOT
SELECT f @~ ANY (SELECT 7) AS one, f @~ ANY (SELECT generate_series(200, 210)) AS none, f @~ ALL (SELECT generate_series(1, 100)) AS all, NULL::bloomfilter @~ ANY (ARRAY[1, NULL]) AS of_null, bloom_create(10) @~ ANY (ARRAY[1]) AS empty,
	f::a_filter @~ ANY (ARRAY[7]) AS domain, NOT f @~ ANY (ARRAY[7, 8]) AS negated FROM f;
-- keys that are rows, enums, arrays within rows; an array of arrays has no array as element
SELECT bloom_agg(x) @~ ANY (ARRAY[(1, 'a')::pair, (2, 'b')::pair]) AS pair, bloom_agg(ROW(1, 2)) @~ ANY (ARRAY[ROW(1, 2), ROW(3, 4)]) AS row FROM (VALUES ((2, 'b')::pair)) v(x);
SELECT bloom_agg(m) @~ ANY (ARRAY['ok', 'sad']::mood[]) AS enum, bloom_agg(m) @~ ANY ('{sad}') AS literal FROM (VALUES ('ok'::mood)) v(m);
SELECT bloom_agg(ARRAY[1, 2]) @~ ANY (ARRAY[ARRAY[1, 2]]);
SELECT bloom_agg(ARRAY[1, 2]) @~ ANY (ARRAY[ROW(ARRAY[1, 2])]);
-- arrays of constants, parameters and columns; custom and generic plans; many elements
CREATE TABLE wanted (id int, keys int[], texts text[]);
INSERT INTO wanted VALUES (1, '{7,700}', '{k7}'), (2, '{700}', '{x}'), (3, '{}', '{}'), (4, NULL, NULL), (5, '{NULL,1}', '{NULL}');
SELECT id, f @~ ANY (keys) AS any, t @~ ANY (texts) AS texts, f @~ ALL (keys) AS all FROM wanted, f ORDER BY id;
PREPARE typed(int[]) AS SELECT f @~ ANY ($1), f @~ ALL ($1) FROM f;
PREPARE filter(bloomfilter) AS SELECT array_agg(id ORDER BY id) FROM wanted WHERE $1 @~ ANY (keys);
SELECT f AS f FROM f \gset
SELECT array_agg(x) AS hundred FROM generate_series(1, 100) x \gset
SET plan_cache_mode = force_custom_plan;
EXECUTE typed('{7,700}');
EXECUTE typed(:'hundred');
EXECUTE filter(:'f');
SET plan_cache_mode = force_generic_plan;
EXECUTE typed('{7,700}');
EXECUTE typed(:'hundred');
EXECUTE typed(NULL);
EXECUTE filter(:'f');
EXECUTE filter(NULL);
RESET plan_cache_mode;
DEALLOCATE ALL;
-- stored filters, out of line: of each all its keys are found
CREATE TABLE stored AS SELECT g, bloom_agg(x, 0.001, 'standard', 20000) AS f FROM generate_series(1, 20) g, LATERAL (SELECT g * 100 + i AS x FROM generate_series(1, 50) i) k GROUP BY g;
SELECT array_agg(g ORDER BY g) FROM stored WHERE f @~ ANY (ARRAY[301, 302, 517, 100000]);
SELECT bool_and(f @~ ALL (ARRAY(SELECT g * 100 + i FROM generate_series(1, 50) i))) AS all FROM stored;
-- workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM stored WHERE f @~ ANY (ARRAY[301, 302, 517]);
SELECT count(*) FROM stored WHERE f @~ ANY (ARRAY[301, 302, 517]);
RESET max_parallel_workers_per_gather;
-- kept in views, indexes, constraints and generated columns
CREATE VIEW kept AS SELECT f @~ ANY (ARRAY[7, 700]) AS typed, f @~ ANY ('{7,700}') AS untyped, bloom_create(10, 'standard') IS NULL AS made FROM f;
SELECT * FROM kept;
SELECT replace(pg_get_viewdef('kept'), 'f.f', 'f') AS definition;
CREATE INDEX ON stored (g) WHERE f @~ ANY (ARRAY[301, 517]);
CREATE TABLE item (tags int[], seen boolean GENERATED ALWAYS AS (bloom_add_all(bloom_create(10, '0.0001'), '{5,6,7}'::int[]) @~ ANY (tags)) STORED, CHECK (NOT bloom_add(bloom_create(10, '0.0001'), 666) @~ ANY (tags)));
INSERT INTO item VALUES ('{1,2,5}'), ('{1,2}'), ('{}'), (NULL);
SELECT * FROM item;
INSERT INTO item VALUES ('{1,666}');

--
-- Who has no rights and another search path: the functions need neither
--
CREATE ROLE regress_bloomfam_overloads;
GRANT USAGE ON SCHEMA overloads TO regress_bloomfam_overloads;
GRANT SELECT ON f TO regress_bloomfam_overloads;
CREATE FUNCTION text(float8) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
CREATE FUNCTION float8in(cstring) RETURNS float8 LANGUAGE internal AS 'float8in';
SET ROLE regress_bloomfam_overloads;
SET search_path = overloads, pg_catalog;
SELECT kind, target_fpr FROM public.bloom_info(public.bloom_create(10, 'Counting'));
SELECT kind, target_fpr FROM public.bloom_info(public.bloom_create(10, '0.25'));
SELECT f OPERATOR(public.@~) ANY (ARRAY[7, 700]) AS any FROM f;
RESET ROLE;
SET search_path = '';
SELECT kind FROM public.bloom_info(public.bloom_create(10, 'Counting'));
SELECT f OPERATOR(public.@~) ALL (ARRAY[7, 700]) AS all FROM overloads.f;
SET client_min_messages = warning;
RESET search_path;
DROP OWNED BY regress_bloomfam_overloads;
DROP ROLE regress_bloomfam_overloads;
DROP SCHEMA overloads CASCADE;
