# SPDX-License-Identifier: PostgreSQL
# Building filters, against sum, count(DISTINCT), array_agg and, where it can be had, hll; and with two workers.
#
# ROWS (10000000), WORK_MEM (4MB).
rows=${ROWS:-10000000}
rounds=${ROUNDS:-7}

sql <<-SQL
	CREATE UNLOGGED TABLE source AS SELECT (random() * 10000000)::bigint AS k, (random() * 10000)::bigint AS few,
		(random() * 5000000)::bigint AS many FROM generate_series(1, $rows);
	VACUUM ANALYZE source;
SQL
cat > "$work/setup.sql" <<-SQL
	SET work_mem = '${WORK_MEM:-4MB}';
SQL
echo "SELECT sum(k) FROM source;" > "$work/sum.sql"
echo "SELECT pg_column_size(bloom_agg(k, 0.01, 'blocked', 840000)) FROM source;" > "$work/mb1.sql"
echo "SELECT pg_column_size(bloom_agg(k, 0.01, 'blocked', 107000000)) FROM source;" > "$work/mb128.sql"
echo "SELECT pg_column_size(bloom_agg(few)) FROM source;" > "$work/few.sql"
echo "SELECT pg_column_size(bloom_agg(many)) FROM source;" > "$work/many.sql"
echo "SELECT count(DISTINCT few) FROM source;" > "$work/distinct_few.sql"
echo "SELECT count(DISTINCT many) FROM source;" > "$work/distinct_many.sql"
echo "SELECT count(DISTINCT k) FROM source;" > "$work/distinct.sql"
echo "SELECT cardinality(array_agg(k)) FROM source;" > "$work/array.sql"
others=
if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'")" = 1 ]; then
	sql -c "CREATE EXTENSION hll"
	echo "SELECT hll_cardinality(hll_add_agg(hll_hash_bigint(k))) FROM source;" > "$work/hll.sql"
	others=hll
fi
measure "$rounds" sum mb1 mb128 few many distinct_few distinct_many distinct array $others

heading "Builds from $(thousands "$rows") bigint rows, work_mem = ${WORK_MEM:-4MB}" "" against
slower mb1 sum "<= 1.25 x" "1 MB filter, expected given, against sum(k)"
slower mb128 sum "<= 2.2 x" "128 MB filter, expected given"
slower few sum "<= 1.4 x" "self-sized, 10,000 distinct keys"
slower many sum "<= 2.5 x" "self-sized, 5 million values (4.3 million distinct keys)"
slower few distinct_few "<= 1 x" "... 10,000 against count(DISTINCT)"
slower many distinct_many "<= 1 x" "... 5 million against count(DISTINCT)"
slower mb1 distinct "<= 0.31 x" "1 MB filter against count(DISTINCT k)"
slower mb1 array "<= 0.85 x" "... against array_agg(k)"
[ -z "$others" ] || slower mb1 hll "" "... against hll_add_agg (16 kB)"

for form in mb1 mb128 few many; do
	{
		echo "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
		cat "$work/$form.sql"
		echo "SET max_parallel_workers_per_gather = 0;"
	} > "$work/parallel_$form.sql"
done
measure "$rounds" mb1 parallel_mb1 mb128 parallel_mb128 few parallel_few many parallel_many
heading "Two workers against none"
slower parallel_mb1 mb1 "<= 1.1 x" "1 MB filter, expected given"
slower parallel_mb128 mb128 "<= 1.1 x" "128 MB filter, expected given"
slower parallel_few few "<= 1.1 x" "self-sized, 10,000 distinct keys"
slower parallel_many many "<= 1.1 x" "self-sized, 5 million values"
