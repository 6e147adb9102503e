# A join of a local dimension with a table on another server, with the dimension's filter shipped there, against the plain join, which fetches all.
# The other server is another database of the same one.
#
# ROWS (10000000) there, KEYS (100000) here, of which 1 % of the rows has one; FETCH (10000), the server's fetch_size.
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
