-- Arrays of type anyarray, as pg_stats has them: each says itself what its elements are.
CREATE SCHEMA anyarray;
SET search_path = anyarray, public;
-- errors of a parallel worker say whose they are
SET max_parallel_workers_per_gather = 0;
SET DateStyle = 'ISO, YMD';

CREATE TABLE told AS SELECT x % 5 AS i, (x % 3)::numeric AS n, 'k' || x % 7 AS t, date '2026-01-01' + x % 2 AS d, ARRAY[x % 4] AS a, (x % 2)::text::char(5) AS c,
	(x % 3)::text::money AS m
FROM generate_series(1, 1000) x;
ANALYZE told;
-- no view may have such a column
\set common '(SELECT attname, most_common_vals AS keys FROM pg_stats WHERE schemaname = ''anyarray'' AND tablename = ''told'') common'
SELECT count(*), pg_typeof(keys) FROM :common GROUP BY 2;

-- what is there to be found
CREATE TABLE filters (attname name, f bloomfilter);
INSERT INTO filters
SELECT 'i', bloom_agg(x) FROM generate_series(2, 90) x
UNION ALL SELECT 'n', bloom_agg(x::numeric) FROM generate_series(0, 90) x
UNION ALL SELECT 't', bloom_agg('k' || x) FROM generate_series(1, 5) x
UNION ALL SELECT 'd', bloom_agg(date '2026-01-02' + x) FROM generate_series(0, 9) x
UNION ALL SELECT 'a', bloom_agg(ARRAY[x]) FROM generate_series(4, 9) x
UNION ALL SELECT 'c', bloom_agg(x::text::char(5)) FROM generate_series(1, 9) x;

-- another type in each row, and back
SELECT attname, bloom_may_contain_any(f, keys) AS any, bloom_may_contain_all(f, keys) AS all,
	(SELECT string_agg(rtrim(x), ' ' ORDER BY x) FROM unnest(bloom_filter_keys(f, keys)::text::text[]) x) AS kept
FROM generate_series(1, 2) again, :common JOIN filters USING (attname) ORDER BY again, attname;
SELECT attname, bloom_may_contain_all(bloom_add_all(bloom_create(20), keys), keys) AS added, bloom_may_contain_all(filter, keys) AS added_new,
	array_length(added::text::text[], 1) AS new
FROM generate_series(1, 2) again, :common CROSS JOIN LATERAL bloom_add_new(bloom_create(20), keys) WHERE attname <> 'm' ORDER BY again, attname;
SELECT attname, (bloom_info(added)).keys_added, (bloom_info(bloom_remove_all(added, keys))).keys_added AS left
FROM :common, LATERAL (SELECT bloom_add_all(bloom_create(20, 0.01, 'counting'), keys) AS added) c WHERE attname <> 'm' ORDER BY attname;
-- the hash of another kind
SELECT attname, bloom_may_contain_all(bloom_add_all(bloom_create(20, 0.01, 'parquet'), keys), keys) AS parquet FROM :common WHERE attname IN ('i', 't', 'd') ORDER BY attname;
-- the same as the array with its type
SELECT bloom_add_all(bloom_create(20), keys) = bloom_add_all(bloom_create(20), keys::text::int[]) AS same FROM :common WHERE attname = 'i';
-- as an argument that is handed on, and of an aggregate of a user's own
CREATE FUNCTION handed_on(f bloomfilter, keys anyarray) RETURNS boolean LANGUAGE sql AS 'SELECT bloom_may_contain_any(f, keys)';
SELECT attname, handed_on(f, keys) FROM :common JOIN filters USING (attname) ORDER BY attname;
SELECT bloom_create(10) AS empty \gset
CREATE AGGREGATE add_arrays(anyarray) (SFUNC = bloom_add_all, STYPE = bloomfilter, INITCOND = :'empty');
SELECT add_arrays(keys) @~ 3 AS there FROM :common WHERE attname = 'i';

-- of another type than the filter's keys, and of one that has no hash
SELECT bloom_may_contain_any(f, keys) FROM filters f, :common WHERE f.attname = 'i' AND common.attname = 't';
SELECT bloom_may_contain_any(bloom_create(10), keys) FROM :common WHERE attname = 'm';
-- an error does not leave half of a hasher behind
DO $$
DECLARE
	r record;
	name name;
BEGIN
	FOREACH name IN ARRAY ARRAY['i', 'm', 'm', 'i', 'm', 't', 'm', 'i'] LOOP
		FOR r IN SELECT most_common_vals AS keys FROM pg_stats WHERE schemaname = 'anyarray' AND tablename = 'told' AND attname = name LOOP
			BEGIN
				RAISE NOTICE '%: %', name, bloom_may_contain_any(bloom_create(10), r.keys);
			EXCEPTION WHEN undefined_function THEN
				RAISE NOTICE '%: %', name, SQLERRM;
			END;
			BEGIN
				PERFORM bloom_add_all(bloom_create(10), r.keys);
			EXCEPTION WHEN undefined_function THEN
				RAISE NOTICE '%: %', name, SQLERRM;
			END;
		END LOOP;
	END LOOP;
END $$;

-- an array that is a key itself would have another type in each row: it is cast
SELECT bloom_agg(keys) FROM :common WHERE attname = 'i';
SELECT bloom_key(keys) FROM :common WHERE attname = 'i';
SELECT bloom_shard(keys, 4) FROM :common WHERE attname = 'i';
SELECT bloom_create(10) @~ keys FROM :common WHERE attname = 'i';
SELECT bloom_create(10, 0.01, 'parquet') @~ keys FROM :common WHERE attname = 'i';
SELECT bloom_count(bloom_create(10, 0.01, 'counting'), keys) FROM :common WHERE attname = 'i';
SELECT bloom_which(ARRAY[bloom_create(10)], keys) FROM :common WHERE attname = 'i';
SELECT bloom_key(common) FROM :common WHERE attname = 'i';
SELECT bloom_agg(keys::text::int[]) @~ '{1,2,3,0,4}'::int[] AS there FROM :common WHERE attname = 'nothing';
-- other arrays of pseudo-types
SELECT bloom_may_contain_all(bloom_add_all(bloom_create(10), a), a) AS rows FROM (SELECT ARRAY[ROW(1, 'a'), ROW(2, 'b')] AS a) r;
SELECT bloom_may_contain_any(bloom_create(10), '{a,b}'::cstring[]);

SET client_min_messages = warning;
DROP SCHEMA anyarray CASCADE;
