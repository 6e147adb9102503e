# SPDX-License-Identifier: PostgreSQL
# The backend's peak of memory that is its own, while it sizes a filter for many distinct keys with little work_mem.
#
# KEYS (100000000).
keys=${KEYS:-100000000}

watch_memory
size=$(sql <<-SQL
	SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '4MB';
	SELECT pg_column_size(bloom_agg(i)) / 1048576 FROM (SELECT generate_series(1, $keys) AS i OFFSET 0) s;
SQL
)
read -r peak _ <<< "$(memory_peak)"
heading "Memory to build a self-sized filter, work_mem = 4MB, hash_mem_multiplier = $(sql -c 'SHOW hash_mem_multiplier')" peak filter
row "$(thousands "$keys") distinct keys" "$peak" MB "$size" "$(calc "$peak / $size")" ""
