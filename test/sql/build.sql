-- From keys to filters: bloom_create, bloom_add, bloom_add_all.
CREATE SCHEMA build;
SET search_path = build, public;

--
-- bloom_create
--
SELECT (bloom_info(f)).kind, (bloom_info(f)).key_type, (bloom_info(f)).keys_added, (bloom_info(f)).capacity, (bloom_info(f)).target_fpr,
	bloom_cardinality(f), bloom_fpr(f)
FROM bloom_create(1000) f;
SELECT bloom_create(1000) = bloom_create(1000, 0.01) AS fpr, bloom_create(1000) = bloom_create(1000, 0.01, 'blocked') AS kind,
	bloom_create(1000) = bloom_create(1000, 0.01, 'blocked', NULL) AS key_type, bloom_create(1000) = bloom_create(expected => 1000) AS named,
	bloom_create(1000, 0.01, 'blocked', 'int8') = bloom_create(1000, 0.01, 'blocked', 'int2') AS one_family,
	bloom_create(1000) = bloom_create(1000, 0.01, 'standard') AS other_kind, bloom_create(1000) = bloom_create(1001) AS other_size,
	bloom_create(1000) = bloom_create(1000, 0.01, 'blocked', 'int8') AS other_type;
-- an empty filter contains nothing, of whatever type if it has none
SELECT f @~ 1 AS int, f @~ 'a' AS text, f @~ now() AS timestamptz, bloom_may_contain_any(f, '{1,2}'::int[]) AS any,
	bloom_may_contain_all(f, '{a}'::text[]) AS all, bloom_filter_keys(f, '{1,2}'::int[]) AS keys
FROM unnest(ARRAY[bloom_create(10), bloom_create(10, 0.1, 'standard')]) f;
SELECT count(*) FROM generate_series(1, 10000) k WHERE bloom_create(10, 0.01, 'standard', 'int4') @~ k OR bloom_create(10, key_type => 'int4') @~ k;
-- but if it has one, keys of others are errors
SELECT bloom_create(10, key_type => 'int4') @~ 'a'::text;
SELECT bloom_create(10, key_type => 'text') @~ 1;

--
-- bloom_add
--
SELECT f @~ 42 AS yes, f @~ 43 AS no, (bloom_info(f)).keys_added, (bloom_info(f)).key_type FROM bloom_add(bloom_create(10), 42) f;
SELECT f @~ 'b' AS yes, f @~ 'a' AS no, (bloom_info(f)).key_type FROM bloom_add(bloom_create(10), 'b'::text) f;
-- the first key's family stays
SELECT bloom_add(bloom_add(bloom_create(10), 42), 43::int8) @~ 43::int2 AS yes;
SELECT bloom_add(bloom_add(bloom_create(10), 42), 'x'::text);
SELECT bloom_add(bloom_add(bloom_create(10), 42), 1.0);
SELECT bloom_add(bloom_create(10, key_type => 'uuid'), now());
SELECT bloom_add(bloom_create(10), '{}'::json);
-- hashed keys: of the same family, and they give the same
SELECT bloom_add(bloom_create(10), bloom_key(42)) = bloom_add(bloom_create(10), 42) AS same;
SELECT bloom_add(bloom_add(bloom_create(10), bloom_key(42)), bloom_key('x'::text));
SELECT bloom_add(bloom_add(bloom_create(10), 42), bloom_key('x'::text));
-- NULLs: a NULL key changes nothing, a NULL filter stays one
SELECT bloom_add(f, NULL::int) = f AS null_key, bloom_add(NULL, 1) IS NULL AS null_filter, bloom_add(NULL, NULL::int) IS NULL AS both,
	bloom_add(f, NULL) = f AS untyped, (bloom_info(bloom_add(bloom_create(5), NULL::int))).key_type IS NULL AS no_family
FROM bloom_add(bloom_create(10), 1) f;
-- the argument is not changed
CREATE TABLE kept (id int, f bloomfilter);
INSERT INTO kept VALUES (1, bloom_create(100000)), (2, bloom_add(bloom_create(5, 0.01, 'standard'), 1));
SELECT id, bloom_add(f, 7) @~ 7 AS added, f @~ 7 AS before, (bloom_info(f)).keys_added FROM kept ORDER BY id;
WITH f AS MATERIALIZED (SELECT bloom_create(10) AS f), g AS MATERIALIZED (SELECT bloom_add(f, 1) AS g, f FROM f)
SELECT g @~ 1 AS g, f @~ 1 AS f FROM g;
UPDATE kept SET f = bloom_add(f, 7);
SELECT id, f @~ 7 AS added, (bloom_info(f)).keys_added FROM kept ORDER BY id;
-- repeated keys change nothing but the count of additions
SELECT (bloom_info(twice)).keys_added, bloom_cardinality(twice) = bloom_cardinality(once) AS same_bits
FROM bloom_add(bloom_create(10), 42) once, bloom_add(once, 42) twice;
-- the order of keys does not matter
SELECT bloom_add(bloom_add(bloom_create(10), 1), 2) = bloom_add(bloom_add(bloom_create(10), 2), 1) AS same;

-- one by one, all at once and by the aggregate: the same filter
SELECT kind, fpr, (SELECT bloom_agg(x, fpr, kind, 1000) FROM generate_series(1, 1000) x) = f AS aggregate,
	bloom_add_all(bloom_create(1000, fpr, kind), array(SELECT bloom_key(x) FROM generate_series(1, 1000) x)) = f AS hashed,
	(SELECT bool_and(f @~ x) FROM generate_series(1, 1000) x) AS no_false_negative
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.5,0.1,0.01,0.001,0.0001}'::float8[]) fpr,
	bloom_add_all(bloom_create(1000, fpr, kind), array(SELECT x FROM generate_series(1, 1000) x)) f
ORDER BY 1, 2;

-- past its capacity a filter goes on: more false positives, which can be seen, and never a false negative
SELECT kind, (bloom_info(f)).capacity, (bloom_info(f)).keys_added, bloom_fpr(f) > 0.5 AS bad, abs(bloom_cardinality(f) / 1000 - 1) < 0.25 AS estimated,
	(SELECT bool_and(f @~ x) FROM generate_series(1, 1000) x) AS no_false_negative
FROM unnest('{standard,blocked}'::text[]) kind, bloom_add_all(bloom_create(100, 0.01, kind), array(SELECT generate_series(1, 1000))) f ORDER BY 1;
SELECT kind, bloom_fpr(f) = 1 AS full, (bloom_info(f)).fill_ratio, (SELECT bool_and(f @~ x) FROM generate_series(1, 100000, 7) x) AS no_false_negative
FROM unnest('{standard,blocked}'::text[]) kind, bloom_add_all(bloom_create(1, 0.5, kind), array(SELECT generate_series(1, 100000))) f ORDER BY 1;

--
-- bloom_add_all
--
SELECT (bloom_info(f)).keys_added, f @~ 1 AS one, f @~ 4 AS four, f @~ 5 AS five FROM bloom_add_all(bloom_create(10), '{1,2,3,4}'::int[]) f;
-- arrays of any dimension, with any bounds
SELECT bloom_add_all(bloom_create(10), '{{1,2},{3,4}}'::int[]) = f AS two, bloom_add_all(bloom_create(10), '{{{4}},{{3}},{{2}},{{1}}}'::int[]) = f AS three,
	bloom_add_all(bloom_create(10), '[-3:0]={1,2,3,4}'::int[]) = f AS bounds
FROM bloom_add_all(bloom_create(10), '{1,2,3,4}'::int[]) f;
-- nothing to add: the filter as it is, and of no family still
SELECT bloom_add_all(f, '{}'::int[]) = f AS empty, bloom_add_all(f, '{NULL,NULL}'::int[]) = f AS nulls, bloom_add_all(f, NULL::int[]) = f AS no_array,
	bloom_add_all(NULL, '{1}'::int[]) IS NULL AS no_filter, bloom_add_all(f, '{1,NULL,2,NULL}'::int[]) = bloom_add_all(f, '{1,2}'::int[]) AS among
FROM bloom_create(10) f;
-- the keys are the elements: of int2 as of int8, of domains, arrays of rows and of ranges
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE pair AS (a int, b text);
SELECT bloom_add_all(bloom_create(10), '{1,2}'::int2[]) = bloom_add_all(bloom_create(10), '{1,2}'::int8[]) AS widths,
	bloom_add_all(bloom_create(10), '{1,2}'::positive[]) = bloom_add_all(bloom_create(10), '{1,2}'::int8[]) AS domain,
	bloom_add_all(bloom_create(10), ARRAY[(1, 'a'), (2, NULL)]::pair[]) @~ (2, NULL)::pair AS rows,
	bloom_add_all(bloom_create(10), '{"[1,3)"}'::int4range[]) @~ '[1,2]'::int4range AS ranges,
	bloom_add_all(bloom_create(10), '{a,"b  "}'::char(4)[]) @~ 'b'::text AS blanks;
SELECT bloom_add_all(bloom_create(10, key_type => 'text'), '{1,2}'::int[]);
SELECT bloom_add_all(bloom_add(bloom_create(10), 'a'::text), ARRAY[bloom_key('b'::text), bloom_key(2)]);
SELECT bloom_add_all(bloom_create(10), ARRAY[bloom_key('b'::text), bloom_key(2)]);
SELECT bloom_add_all(bloom_create(10), ARRAY['{}'::json]);
-- an error of a wrong family needs a key: none, no harm
SELECT bloom_add_all(bloom_create(10, key_type => 'text'), '{}'::int[]) = bloom_create(10, key_type => 'text') AS same;

--
-- What cannot be added to: the empty aggregate, which has no size
--
SELECT bloom_add(bloom_agg(x), 1) FROM generate_series(1, 0) x;
SELECT bloom_add_all(bloom_agg(x), '{1}'::int[]) FROM generate_series(1, 0) x;
SELECT bloom_add(bloom_agg(x), NULL::int) = bloom_agg(x) AS null_key FROM generate_series(1, 0) x;
