# SPDX-License-Identifier: PostgreSQL
# A join of a local dimension with a table on another server: with the dimension's filter shipped there, against the plain join, which fetches all; and
# with automatic join filters, which need nothing there: keys and bounds, against the filters off, against = ANY by hand, and use_remote_estimate.  The
# other server is another database of the same one.
#
# ROWS (10000000) there, KEYS (100000) here, of which 1 % of the rows has one; FETCH (10000), the server's fetch_size.
. ./join_filter.sh
rows=${ROWS:-10000000}
keys=${KEYS:-100000}

heading "Foreign join, $(thousands "$rows") rows there, $(thousands "$keys") keys here, 1 % matching, fetch_size ${FETCH:-10000}" filter plain
if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'")" = 0 ]; then
	echo "postgres_fdw is not installed"
	return 0
fi
far_fact "$rows" "$((keys * 100))"
sql <<-SQL
	CREATE TABLE dim AS SELECT x AS k FROM generate_series(0::bigint, $keys - 1) x;
	VACUUM ANALYZE dim;
SQL
echo "SET work_mem = '256MB';" > "$work/setup.sql"
echo "SELECT count(*), sum(v) FROM fact JOIN dim USING (k);" > "$work/plain.sql"
echo "SELECT count(*), sum(v) FROM fact JOIN dim USING (k) WHERE bloom_may_contain((SELECT bloom_agg(k) FROM dim), k);" > "$work/bloom.sql"
echo "SELECT count(*) FROM fact;" > "$work/count.sql"
measure "${ROUNDS:-2}" plain bloom count

# fetched NAME: the rows that came over, and whether the other server probes
fetched()
{
	sql -c "SET max_parallel_workers_per_gather = 0" -c "SET work_mem = '256MB'" -c "EXPLAIN (ANALYZE, VERBOSE, TIMING OFF) $(cat "$work/$1.sql")" > "$work/plan"
	sed -nE 's/.*Foreign Scan on .*actual rows=([0-9]+) .*/\1/p' "$work/plan"
}
matching=$(sql -c "SELECT count(*) FROM fact JOIN dim USING (k)")
all=$(fetched plain)
some=$(fetched bloom)
grep -q 'Remote SQL: .*bloom_may_contain' "$work/plan" && remote=1 || remote=0
row "the remote SQL contains the probe (1: yes)" "$remote" "" "" "" ">= 1" "$remote"
row "rows fetched" "$some" "" "$all" "$(calc "$some / $all")"
row "... of those that do not match" "$(calc "100 * ($some - $matching) / ($all - $matching)")" % "" "" "<= 1.05 %" "$(calc "100 * ($some - $matching) / ($all - $matching)")"
faster bloom plain ">= 5 x" "time of the join (times faster)"
slower bloom count "" "... against count(*) there"

# Automatic join filters.  The tables of the server bare are there as if it had no extension; k has a B-tree, b is in the order of the rows and has a BRIN
# index.  Few keys lie all over the range; those of near and of recent in 2 % of it.
heading "Automatic join filters, $(thousands "$rows") rows there" on off
preload
far_sql <<-SQL
	CREATE UNLOGGED TABLE bare AS SELECT floor(random() * $rows)::bigint AS k, x::bigint AS b, (random() * 100)::int AS v FROM generate_series(1, $rows) x;
	CREATE INDEX ON bare (k);
	CREATE INDEX ON bare USING brin (b);
	VACUUM ANALYZE bare;
SQL
far_server bare
far_server asking "use_remote_estimate 'true'"
sql <<-SQL
	CREATE FOREIGN TABLE bare (k bigint, b bigint, v int) SERVER bare;
	CREATE FOREIGN TABLE asking (k bigint, b bigint, v int) SERVER asking OPTIONS (table_name 'bare');
	CREATE FOREIGN TABLE never (k bigint, b bigint, v int) SERVER bare OPTIONS (table_name 'bare');
	CREATE FOREIGN TABLE never_fact (k bigint, v int) SERVER far OPTIONS (table_name 'fact');
	CREATE TABLE few AS SELECT x * ($rows / 1000) AS k FROM generate_series(0::bigint, 999) x;
	CREATE TABLE near AS SELECT $rows / 2 + x * ($rows / 50) / $keys AS k FROM generate_series(0::bigint, $keys - 1) x;
	ANALYZE bare;
	ANALYZE asking;
	VACUUM ANALYZE few, near;
SQL
big="SET work_mem = '256MB'"
both few "$big" "SELECT count(*), sum(v) FROM bare JOIN few USING (k);"
statement few_any off "$big" "SELECT count(*), sum(v) FROM bare JOIN few USING (k) WHERE k = ANY (ARRAY(SELECT k FROM few));"
statement few_asking off "$big" "SELECT count(*), sum(v) FROM asking JOIN few USING (k);"
statement few_asking_on "$on" "$big" "SELECT count(*), sum(v) FROM asking JOIN few USING (k);"
both near "$big" "SELECT count(*), sum(v) FROM bare JOIN near USING (k);"
both recent "$big" "SELECT count(*), sum(v) FROM bare JOIN near ON near.k = bare.b;"
statement never "$on" "$big" "SELECT count(*), sum(v) FROM never JOIN few USING (k);"
statement never_near "$on" "$big" "SELECT count(*), sum(v) FROM never JOIN near USING (k);"
both fact "$big" "SELECT count(*), sum(v) FROM fact JOIN dim USING (k);"
statement fact_filter "$on" "$big; SET bloomfam.join_foreign_keys = 0" "SELECT count(*), sum(v) FROM fact JOIN dim USING (k);"
statement never_fact "$on" "$big; SET bloomfam.join_foreign_keys = 0" "SELECT count(*), sum(v) FROM never_fact JOIN dim USING (k);"
for name in few near recent fact; do
	[ "$(rows_of ${name}_off)" = "$(rows_of ${name}_on)" ] && same=1 || same=0
	row "$name: the same rows (1: yes)" "$same" "" "" "" ">= 1" "$same"
done
# what takes no time is done often
repeats=([few_on]=20 [few_any]=20 [few_asking_on]=20 [few_asking]=2 [never]=20)
measure "${ROUNDS:-4}" few_off few_on few_any few_asking few_asking_on never
faster few_on few_off ">= 50 x" "1,000 keys, B-tree there (times faster)"
slower few_on few_any "<= 1.5 x" "... against = ANY by hand"
slower few_on few_asking "<= 1 x" "... against use_remote_estimate"
slower few_asking_on few_asking "<= 1 x" "... with both"
slower never few_on "<= 1.2 x" "... of a table that was never analyzed, against the same analyzed"
repeats=()
measure "${ROUNDS:-2}" near_off near_on recent_off recent_on never_near
faster near_on near_off ">= 5 x" "$(thousands "$keys") keys in 2 % of the range, B-tree there (times faster)"
faster recent_on recent_off ">= 5 x" "... BRIN there (times faster)"
slower never_near near_on "<= 1.2 x" "... of a table that was never analyzed, against the same analyzed"
measure "${ROUNDS:-2}" fact_off fact_on fact_filter never_fact
faster fact_filter fact_off ">= 5 x" "$(thousands "$keys") keys, a filter alone (times faster)"
slower fact_on fact_filter "<= 1.05 x" "... with bounds, against the filter alone"
slower never_fact fact_filter "<= 1.2 x" "... of a table that was never analyzed, against the same analyzed"
