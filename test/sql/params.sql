-- What may be asked for, and what is said where it may not.
CREATE SCHEMA params;
SET search_path = params, public;

--
-- False positive rate
--
SELECT bloom_create(1000, 0);
SELECT bloom_create(1000, 1);
SELECT bloom_create(1000, -0.01);
SELECT bloom_create(1000, 1.01);
SELECT bloom_create(1000, 'NaN');
SELECT bloom_create(1000, 'Infinity');
SELECT bloom_create(1000, '-Infinity');
SELECT bloom_create(1000, '-0');
SELECT bloom_create(1000, NULL);
SELECT bloom_agg(x, 0) FROM generate_series(1, 3) x;
SELECT bloom_agg(x, 1) FROM generate_series(1, 3) x;
SELECT bloom_agg(x, 'NaN') FROM generate_series(1, 3) x;
SELECT bloom_agg(bloom_key(x), 2) FROM generate_series(1, 3) x;
SELECT bloom_fold(bloom_create(1000), 0);
SELECT bloom_fold(bloom_create(1000), 1);
SELECT bloom_fold(bloom_create(1000), 'NaN');
-- the extremes that do work
SELECT kind, fpr, f @~ 1 AS yes, (bloom_info(f)).target_fpr = fpr AS kept, (bloom_info(f)).hashes >= 1 AS hashes
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.999999999,0.5}'::float8[]) fpr, bloom_add(bloom_create(10, fpr, kind), 1) f;
-- too low for a kind: where there is another that can, the hint names it
SELECT bloom_create(1000, 1e-300, 'blocked');
SELECT bloom_agg(x, 1e-300, 'blocked') FROM generate_series(1, 3) x;
SELECT bloom_agg(bloom_key(x), 1e-300, 'blocked') FROM generate_series(1, 3) x;
SELECT bloom_create(1000, 1e-300, 'standard');
SELECT f @~ 1 AS yes, f @~ 2 AS no, (bloom_info(f)).target_fpr = 1e-9 AS kept FROM bloom_add(bloom_create(10, 1e-9, 'standard'), 1) f;

--
-- Kind
--
SELECT bloom_create(1000, 0.01, 'cuckoos');
SELECT bloom_create(1000, 0.01, '');
SELECT (bloom_info(bloom_create(1000, 0.01, 'BLOCKED'))).kind;
SELECT bloom_create(1000, 0.01, 'blocked ');
SELECT bloom_create(1000, 0.01, NULL);
-- kinds that no one asks for
SELECT bloom_create(1000, 0.01, 'identity');
SELECT bloom_create(1000, 0.01, 'partial');
SELECT bloom_agg(x, 0.01, 'partial') FROM generate_series(1, 3) x;
SELECT bloom_agg(bloom_key(x), 0.01, 'bloom') FROM generate_series(1, 3) x;

--
-- Expected number of keys
--
SELECT bloom_create(0);
SELECT bloom_create(-1);
SELECT bloom_create(NULL);
SELECT bloom_create('-9223372036854775808');
SELECT bloom_agg(x, 0.01, 'blocked', 0) FROM generate_series(1, 3) x;
SELECT bloom_agg(x, 0.01, 'standard', -5) FROM generate_series(1, 3) x;
SELECT bloom_agg(bloom_key(x), 0.01, 'blocked', 0) FROM generate_series(1, 3) x;
SELECT bloom_create(9223372036854775807);
SELECT bloom_create(9223372036854775807, 0.999999, 'standard');
SELECT bloom_create(1000000000, 0.01, 'blocked');
SELECT bloom_create(1000000000, 0.01, 'standard');
-- before the first row, and before any memory is taken
SELECT bloom_agg(x, 0.01, 'blocked', 1000000000) FROM generate_series(1, 3) x;
SELECT bloom_agg(bloom_key(x), 0.01, 'standard', 9223372036854775807) FROM generate_series(1, 3) x;
-- a group without keys asks for nothing
SELECT (bloom_info(bloom_agg(x, 0.01, 'blocked', 1000000000))).kind FROM generate_series(1, 0) x;

-- the limit is 500 MB for a value, and it can be reached
SELECT pg_column_size(bloom_create(400000000)) / 1048576.0 BETWEEN 450 AND 500 AS large;
SELECT bloom_create(450000000);

--
-- The type of the keys
--
SELECT (bloom_info(bloom_create(10, key_type => t))).key_type
FROM unnest('{int2,int4,bigint,text,varchar,name,numeric,uuid,int[],int4range}'::regtype[]) t;
SELECT (bloom_info(bloom_create(10))).key_type IS NULL AS none_yet;
SELECT bloom_create(10, key_type => 'json');
SELECT bloom_create(10, key_type => 'bloomkey');
SELECT bloom_create(10, key_type => 'record');
SELECT bloom_create(10, key_type => 'anyelement');
-- no type at all is an error that is meant, not an internal one
DO $$
BEGIN
	PERFORM bloom_create(10, key_type => '-');
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE 'internal error: %', SQLSTATE = 'XX000';
END $$;
SELECT bloom_create(10, key_type => 'no_such_type');
