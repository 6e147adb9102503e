# SPDX-License-Identifier: PostgreSQL
# A set whose filters together are larger than 1 GB, the most that a value can hold: divided by bloom_shard, built by GROUP BY from a table, by one
# process and in parallel, stored, and probed; and the memory that takes.
#
# KEYS (210000000) at an FPR of 1e-9, which is 43 bits a key; SHARDS (64); WORK_MEM (64MB).
keys=${KEYS:-210000000}
shards=${SHARDS:-64}
work_mem=${WORK_MEM:-64MB}

sql <<-SQL
	CREATE UNLOGGED TABLE source AS SELECT x AS k FROM (SELECT generate_series(1::bigint, $keys) AS x OFFSET 0) s;
	-- without, each key is taken for a group of its own, and workers hand on rows, not filters
	CREATE STATISTICS source_shard ON bloom_shard(k, $shards) FROM source;
	VACUUM ANALYZE source;
SQL
# build WORKERS
build()
{
	local start peak one all

	sql -c "DROP TABLE IF EXISTS seen"
	start=$(date +%s.%N)
	watch_memory
	sql <<-SQL
		SET jit = off; SET work_mem = '$work_mem'; SET max_parallel_workers_per_gather = $1; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		CREATE TABLE seen AS SELECT bloom_shard(k, $shards) AS shard, bloom_agg(k, 1e-9, 'standard') AS keys FROM source GROUP BY 1;
	SQL
	read -r all one <<< "$(memory_peak)"
	seconds=$(calc "$(date +%s.%N) - $start")
	total=$(sql -c "SELECT sum(octet_length(bytea(keys))) / 1048576 FROM seen")
	row "$2: ns a key" "$(calc "$seconds * 1e9 / $keys")" ns
	row "$2: filters together, and memory of all processes at its peak" "$all" MB "$total" "$(calc "$all / $total")"
	row "$2: ... of the largest process" "$one" MB "$total" "$(calc "$one / $total")"
}
heading "$(thousands "$keys") keys in $shards filters, work_mem = $work_mem" this filters
build 0 "one process"
[ "${PARALLEL-1}" = 0 ] || build 2 "two workers"
row "filters together are larger than 1 GB" "$total" MB "" "" ">= 1024 MB" "$total"

sql -c "ANALYZE seen"
cat > "$work/setup.sql" <<-SQL
	SET work_mem = '$work_mem';
SQL
# as many keys as are in the set, and as many that are not
echo "SELECT count(*) FILTER (WHERE x > 0 AND found) AS there, count(*) FILTER (WHERE x <= 0 AND found) AS wrong
	FROM (SELECT x, bloom_may_contain(keys, x) AS found FROM (SELECT x, bloom_shard(x, $shards) AS shard FROM generate_series(-499999::bigint, 500000) x ORDER BY 2) k
	JOIN seen USING (shard) OFFSET 0) s;" > "$work/many.sql"
echo "SELECT count(bloom_may_contain(keys, x)) FROM generate_series(1::bigint, 100) x JOIN seen ON shard = bloom_shard(x, $shards);" > "$work/few.sql"
watch_memory
measure "${ROUNDS:-3}" many few
read -r all one <<< "$(memory_peak)"
awk -F '|' '$1 + 0 == 500000 { ok = 1 } END { if (!ok) { print "lost keys"; exit 1 } }' <(sql -f "$work/many.sql")
row "a million probes, in the order of the shards: ns a key" "$(median many)" ns
row "a hundred probes, each by slices: us a key" "$(calc "$(median few) * 10")" us
row "memory while probing" "$all" MB "$total" "$(calc "$all / $total")"
