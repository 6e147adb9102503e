# SPDX-License-Identifier: PostgreSQL
# Keys that are nowhere in a table of 100 partitions, each with an index, and with and without a filter in front of each (docs/stored.md): partitions
# that are read, pages that are touched, and time, with indexes cold and warm.
#
# ROWS (10000000), KEYS (1000) asked for.  Cold means that the indexes are in no cache of the server, and in none of the system's where the server
# may run dd.
rows=${ROWS:-10000000}
keys=${KEYS:-1000}
parts=100

sql <<-SQL
	CREATE TABLE event (day int, id bigint, what text) PARTITION BY LIST (day);
	DO \$\$ BEGIN
		FOR d IN 1..$parts LOOP EXECUTE format('CREATE UNLOGGED TABLE event_%s PARTITION OF event FOR VALUES IN (%s)', d, d); END LOOP;
	END \$\$;
	INSERT INTO event SELECT x % $parts + 1, x * 7919, 'click' FROM generate_series(1::bigint, $rows) x;
	CREATE INDEX ON event (id);
	CREATE TABLE event_filter (day int PRIMARY KEY, ids bloomfilter);
	INSERT INTO event_filter SELECT day, bloom_agg(id) FROM event GROUP BY day;
	VACUUM ANALYZE event;
	VACUUM ANALYZE event_filter;

	-- what a statement reads: how many partitions' scans it begins, how many pages it touches, and how many of them were not in the server's cache
	CREATE TABLE seen (form text, key bigint, partitions float8, pages float8, reads float8, ms float8);
	CREATE FUNCTION scans(plan jsonb) RETURNS float8 LANGUAGE sql AS \$\$
		SELECT coalesce(sum((n ->> 'Actual Loops')::float8), 0) FROM jsonb_path_query(plan, '\$.**') n
		WHERE jsonb_typeof(n) = 'object' AND n ->> 'Relation Name' ~ '^event_[0-9]+\$' AND n ->> 'Node Type' ~ 'Index|Seq|Heap'
	\$\$;
	CREATE PROCEDURE ask(form text, key bigint) LANGUAGE plpgsql AS \$\$
	DECLARE
		result jsonb;
	BEGIN
		EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE %I(%s)', form, key) INTO result;
		INSERT INTO seen SELECT form, key, scans(result), (result -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::float8 +
			(result -> 0 -> 'Plan' ->> 'Shared Read Blocks')::float8, (result -> 0 -> 'Plan' ->> 'Shared Read Blocks')::float8,
			(result -> 0 ->> 'Execution Time')::float8;
	END \$\$;
SQL
cat > "$work/session.sql" <<-SQL
	SET max_parallel_workers_per_gather = 0; SET jit = off; SET plan_cache_mode = force_generic_plan;
	PREPARE filtered(bigint) AS
	SELECT e.* FROM event_filter f, LATERAL (SELECT * FROM event WHERE day = f.day AND id = \$1 OFFSET 0) e WHERE bloom_may_contain(f.ids, \$1);
	PREPARE plain(bigint) AS SELECT * FROM event WHERE id = \$1;
SQL

# ask FORM FIRST KEYS: asks for absent keys (one more than a multiple of 7919) from FIRST on
ask()
{
	{
		cat "$work/session.sql"
		echo "EXPLAIN EXECUTE $1(0);"	# opens the tables
		echo "DO \$\$ BEGIN FOR i IN $2..$2 + $3 - 1 LOOP CALL ask('$1', i::bigint * 104729 % ($rows) * 7919 + 1); END LOOP; END \$\$;"
	} > "$work/ask.sql"
	sql -f "$work/ask.sql" > /dev/null
}

# chill: new files for the indexes, which the server has not read yet, and out of the system's cache with them
chill()
{
	sql <<-SQL
		REINDEX TABLE event;
		CHECKPOINT;
		DO \$\$
		DECLARE
			file text;
		BEGIN
			FOR file IN SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) FROM pg_class WHERE relname ~ '^event_[0-9]' AND relkind = 'i'
			LOOP
				EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat > /dev/null; dd if=' || file || ' iflag=nocache count=0 status=none');
			END LOOP;
		END \$\$;
	SQL
}

ask filtered 1 50; ask plain 1 50
sql -c "TRUNCATE seen"
ask filtered 100 "$keys"
ask plain 100 "$keys"
heading "Absent keys in $parts partitions of $(thousands $((rows / parts))) rows" filters plain
means() { sql -F ' ' -c "SELECT avg(partitions), avg(pages), avg(reads), percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), avg(ms) FROM seen WHERE form = '$1'"; }
read -r partitions pages reads ms mean <<< "$(means filtered)"
read -r partitions0 pages0 reads0 ms0 mean0 <<< "$(means plain)"
bound=$(calc "1 + 5 * sqrt($parts * 0.01 * 0.99 / $keys)")
row "partitions read for a key, mean of $keys keys" "$partitions" "" "$partitions0" "$(calc "$partitions / $partitions0")" "<= $bound" "$partitions"
row "pages touched, indexes warm" "$pages" "" "$pages0" "$(calc "$pages / $pages0")"
row "time, warm, median" "$ms" ms "$ms0" "$(calc "$ms / $ms0")"

# the first keys that are asked for after everything was cold
sql -c "TRUNCATE seen"
for round in $(seq "${ROUNDS:-3}"); do
	chill
	ask filtered $((2000 + round * 100)) 20
	chill
	ask plain $((2000 + round * 100)) 20
done
read -r partitions pages reads ms mean <<< "$(means filtered)"
read -r partitions0 pages0 reads0 ms0 mean0 <<< "$(means plain)"
row "pages read, indexes cold, mean of 20 keys one after the other" "$reads" "" "$reads0" "$(calc "$reads / $reads0")"
row "time, cold, mean of the same" "$mean" ms "$mean0" "$(calc "$mean / $mean0")"
