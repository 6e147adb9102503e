-- The same query with filters off and forced: the rows, as multisets, and whether the plan had filters.
CREATE FUNCTION join_compare(query text, OUT rows bigint, OUT same boolean, OUT filtered boolean)
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET LOCAL client_min_messages = warning;
	DROP TABLE IF EXISTS compare_off, compare_force;
	query := 'SELECT x::text AS r FROM (' || query || ') x';
	SET LOCAL bloomfam.join_filter = off;
	EXECUTE 'CREATE TEMP TABLE compare_off AS ' || query;
	SET LOCAL bloomfam.join_filter = force;
	EXECUTE 'CREATE TEMP TABLE compare_force AS ' || query;
	filtered := false;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		filtered := filtered OR line LIKE '%Bloom Filter Probe%';
	END LOOP;
	SET LOCAL bloomfam.join_filter = off;
	SELECT count(*) INTO rows FROM compare_off;
	SELECT NOT EXISTS (SELECT r FROM compare_off EXCEPT ALL SELECT r FROM compare_force) AND
		NOT EXISTS (SELECT r FROM compare_force EXCEPT ALL SELECT r FROM compare_off) INTO same;
END
$$;
