-- What came of each pair of relations when a statement was planned with samples: how its keys were looked up, or why they were not.
CREATE FUNCTION sampled_of(statement text, OUT how text, OUT fraction float8, OUT blocks int, OUT expected float8) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	pair json;
BEGIN
	SET LOCAL bloomfam.join_samples = on;
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || statement INTO plan;
	FOR pair IN SELECT json_array_elements(plan -> 0 -> 'Join Samples')
	LOOP
		IF (pair ->> 'Fraction')::float8 NOT BETWEEN (pair ->> 'Fraction From')::float8 AND (pair ->> 'Fraction To')::float8 THEN
			RAISE EXCEPTION '%', pair;
		END IF;
		how := (pair ->> 'Join') || ': ' || coalesce('not sampled: ' || (pair ->> 'Not Sampled'), 'index ' || (pair ->> 'Index'), 'read') || coalesce(', given ' || (pair ->> 'Given Relation'), '');
		fraction := pair ->> 'Fraction';
		blocks := (pair ->> 'Blocks Read')::int;
		expected := pair ->> 'Expected Fraction';
		RETURN NEXT;
	END LOOP;
END $$;
CREATE FUNCTION sampled(query text, OUT how text, OUT fraction float8, OUT blocks int, OUT expected float8) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT * FROM sampled_of('SELECT 1 FROM ' || query)
$$;
-- The rows that the planner expects of a query, and those that come.
CREATE FUNCTION rows_of(statement text, samples text, OUT expected float8, OUT seen float8) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	PERFORM set_config('bloomfam.join_samples', samples, true);
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
	expected := plan -> 0 -> 'Plan' ->> 'Plan Rows';
	seen := plan -> 0 -> 'Plan' ->> 'Actual Rows';
END $$;
-- Are the expected rows near those that come: within a factor of 2.5, or at most so many?  Were they without samples, within 10?  Do the same come?
CREATE FUNCTION sized(query text, at_most int DEFAULT 0, OUT near boolean, OUT server_near boolean, OUT same_rows boolean) LANGUAGE sql AS $$
	SELECT a.expected BETWEEN a.seen / 2.5 AND a.seen * 2.5 OR a.expected <= at_most, b.expected BETWEEN b.seen / 10 AND b.seen * 10, a.seen = b.seen
	FROM rows_of('SELECT 1 FROM ' || query, 'on') a, rows_of('SELECT 1 FROM ' || query, 'off') b
$$;
-- Statistics of all rows, so that they are the same in each run: ANALYZE reads 300 rows for each value that some column's may have.  No autovacuum changes them, nor
-- which rows are dead, nor ends what is kept of a table.
CREATE PROCEDURE analyze_all_rows(VARIADIC tables regclass[]) LANGUAGE plpgsql AS $$
DECLARE
	t regclass;
BEGIN
	FOREACH t IN ARRAY tables LOOP
		IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = t AND attname = 'all_rows') THEN
			EXECUTE format('ALTER TABLE %s ADD all_rows boolean', t);
		END IF;
		IF (SELECT relkind = 'r' FROM pg_class WHERE oid = t) THEN
			EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', t);
		END IF;
		EXECUTE format('ALTER TABLE %s ALTER all_rows SET STATISTICS 1000', t);
		EXECUTE format('ANALYZE %s', t);
	END LOOP;
END $$;
