-- A query's plan and what became of it; what varies between versions and machines is masked: rows of a node in 18, the memory of the server's sorts and hash tables.
CREATE FUNCTION analyzed(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF %s) %s', options, query)
	LOOP
		-- 18 has fractions of rows, and tells what is disabled
		CONTINUE WHEN line ~ 'Disabled: true';
		line := regexp_replace(line, 'rows=[0-9.]+ (loops=[2-9])', 'rows=... \1');
		line := regexp_replace(line, '(rows=[0-9]+)\.[0-9]+', '\1');
		line := regexp_replace(line, '(Sort Method: |Batches: )(.*Memory.*: )[0-9]+kB', '\1\2...');
		RETURN NEXT regexp_replace(line, 'Buckets: .*', 'Buckets: ...');
	END LOOP;
END $$;
