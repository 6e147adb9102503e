-- What reads or writes a whole value, which may have 500 MB, can be cancelled on the way: it answers interrupts by itself.
CREATE SCHEMA cancel;
SET search_path = cancel, public;
SET lc_messages = 'C';

-- The cancel comes while the last argument of a call is computed, so before the function begins: whoever answers it first is where it stops.
-- That is the statement with the call, if the function answers; else the next one.  Nothing here depends on time.
CREATE FUNCTION stopped_in(call text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stopped text;
BEGIN
	EXECUTE format($f$
		CREATE OR REPLACE FUNCTION cancelled(kind text) RETURNS text LANGUAGE plpgsql AS $q$
		DECLARE
			f bloomfilter := bloom_create(100000, 0.01, kind, 'int4');
			bytes bytea := f::bytea;
			digits text := f::text;
			parquet bytea := bloom_to_parquet(bloom_create(100000, 0.01, 'parquet', 'int4'));
			keys int[] := ARRAY(SELECT generate_series(1, 1000));
			untyped bloomfilter := bloom_create(100000, 0.01, kind);
			context text;
			result boolean;
		BEGIN
			result := (%s) IS NULL;
			PERFORM 'the next statement';
			RETURN 'nowhere';
		EXCEPTION WHEN query_canceled THEN
			GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
			RETURN CASE WHEN context ~ '^PL/pgSQL function cancelled[^\n]*at assignment' THEN 'the call' WHEN context ~ '^PL/pgSQL function cancelled[^\n]*at PERFORM' THEN 'the next' ELSE context END;
		END $q$ $f$, replace(call, 'cancel', '(CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN 1 END)'));
	EXECUTE 'SELECT cancelled($1)' INTO stopped USING kind;
	RETURN stopped;
END $$;

-- that the test can tell
SELECT stopped_in('1 + cancel', 'blocked');
SELECT call, stopped, string_agg(kind, ' ' ORDER BY kind) AS of
FROM (VALUES ('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}'::text[], 'bloom_create(100000 * cancel, 0.01, kind)'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'bloom_add(f, 5 * cancel)'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'bloom_add(untyped, 5 * cancel)'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'bloom_add_all(f, keys[cancel:])'),
	('{blocked}', 'bloom_add_new(f, keys[cancel:])'),
	('{blocked,standard,partitioned,counting,parquet}', 'CASE WHEN cancel = 1 THEN f END | f'),
	('{scalable}', 'CASE WHEN cancel = 1 THEN f END | f'),
	('{blocked,standard,partitioned,counting,parquet}', 'CASE WHEN cancel = 1 THEN f END & f'),
	('{blocked,standard,partitioned,counting,scalable,parquet}', 'bloom_fold(f, 0.5 * cancel)'),
	('{blocked,standard,cuckoo,scalable,parquet}', 'bloom_fpr(CASE WHEN cancel = 1 THEN f END)'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'CASE WHEN cancel = 1 THEN bytes END::bloomfilter'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'CASE WHEN cancel = 1 THEN digits END::bloomfilter'),
	('{blocked,standard,partitioned,counting,cuckoo,scalable,parquet}', 'CASE WHEN cancel = 1 THEN f END::text'),
	('{parquet}', 'bloom_to_parquet(CASE WHEN cancel = 1 THEN f END)'),
	('{parquet}', 'bloom_from_parquet(CASE WHEN cancel = 1 THEN parquet END, ''int4'')'),
	('{blocked}', 'CASE WHEN cancel = 1 THEN f END = f'),
	('{blocked}', 'CASE WHEN cancel = 1 THEN f END < f')) calls(kinds, call), unnest(kinds) AS kind, LATERAL (SELECT stopped_in(call, kind) AS stopped) s
GROUP BY call, stopped ORDER BY call COLLATE "C", stopped;

SET client_min_messages = warning;
DROP SCHEMA cancel CASCADE;
