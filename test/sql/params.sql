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
SELECT bloom_create(1000, 0.01, 'Blocked');
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
-- all of it is looked at, whether there is a key or not?  No: a group without keys asks for nothing.
SELECT (bloom_info(bloom_agg(x, 0.01, 'blocked', 1000000000))).kind FROM generate_series(1, 0) x;

-- the largest value: 500 MB are the limit, and the largest filter is just below it
DO $$
DECLARE
	kind text;
	low int8;
	high int8;
	middle int8;
	bytes int8;
BEGIN
	FOREACH kind IN ARRAY '{standard,blocked}'::text[] LOOP
		low := 1000000;
		high := 1000000000;
		WHILE high - low > 1000000 LOOP
			middle := (low + high) / 2;
			BEGIN
				bytes := octet_length(bloom_create(middle, 0.01, kind)::bytea);
				low := middle;
			EXCEPTION WHEN program_limit_exceeded THEN
				high := middle;
			END;
			IF low > 100000000 THEN
				EXIT;
			END IF;
		END LOOP;
		RAISE NOTICE '%: more than 100 million keys in one filter: %', kind, low > 100000000;
	END LOOP;
END $$;

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
SELECT bloom_create(10, key_type => 0::oid);
SELECT bloom_create(10, key_type => 'no_such_type');
