# SPDX-License-Identifier: PostgreSQL
# Joins of a fact table with automatic filters, against the same without: where they should help, where they must not harm, and on another server.
#
# ROWS (10000000) of each fact table and of the far one, ROUNDS (5), ON (on), FETCH (10000), the far server's fetch_size.
. ./join_filter.sh
rows=${ROWS:-10000000}
rounds=${ROUNDS:-5}
million=$((rows / 10))			# a million keys, if there are ten million rows
small="SET work_mem = '4MB'; SET max_parallel_workers_per_gather = 0"
large="SET work_mem = '1GB'; SET max_parallel_workers_per_gather = 0"
workers="SET work_mem = '1GB'; SET max_parallel_workers_per_gather = 2"

# fact COLUMN RANGE [COLUMN RANGE]...: a fact table with keys drawn from so many
fact()
{
	local columns=
	while [ $# -gt 0 ]; do
		columns="${columns}floor(random() * $2)::bigint AS $1, "
		shift 2
	done
	sql -c "DROP TABLE IF EXISTS fact" \
		-c "CREATE UNLOGGED TABLE fact AS SELECT $columns (random() * 100)::int AS v FROM generate_series(1, $rows)" -c "VACUUM ANALYZE fact"
}

# dim NAME KEYS [COLUMN]
dim()
{
	sql -c "CREATE UNLOGGED TABLE $1 AS SELECT x AS ${3:-k}, x % 1000 AS v FROM generate_series(0::bigint, $2 - 1) x" \
		-c "ALTER TABLE $1 ADD PRIMARY KEY (${3:-k})" -c "VACUUM ANALYZE $1"
}

# with_workers NAME BOUND TEXT: with two workers, against the better of the planner's choice and the plan without Parallel Hash
with_workers()
{
	local best=$1_off

	[ "$(calc "$(median "$1_each") < $(median "$1_off")")" = 0 ] || best=$1_each
	faster "$1_on" "$best" "$2" "$3"
}

# parallel NAME QUERY: makes its statements NAME_off, NAME_each and NAME_on
parallel()
{
	both "$1" "$workers; SET enable_parallel_hash = on" "$2"
	statement "$1_each" off "$workers; SET enable_parallel_hash = off" "$2"
}

preload
query="SELECT count(*), sum(fact.v) FROM fact JOIN dim USING (k);"

heading "Joins with $(thousands "$rows") rows: how many times faster" "$on" off
dim dim 10000
fact k 1000000
both thousands "$large" "$query"
parallel thousands_2 "$query"
statement count off "$large" "SELECT count(*) FROM fact;"
compare_rows thousands thousands_2
measure "$rounds" thousands_off thousands_on count thousands_2_off thousands_2_each thousands_2_on
faster thousands_on thousands_off ">= 3 x" "10,000 keys, 1 % of the rows matching"
slower thousands_on count "<= 0.65 x" "... the join against count(*) of the fact table (times slower)"
with_workers thousands_2 ">= 2.5 x" "... two workers, against the best plan without"

sql -c "DROP TABLE dim"
dim dim "$million"
fact k "$((million * 100))"
both memory "$large" "$query"
both spilling "$small" "$query"
parallel memory_2 "$query"
compare_rows memory spilling memory_2
measure "$rounds" memory_off memory_on spilling_off spilling_on memory_2_off memory_2_each memory_2_on
faster memory_on memory_off ">= 6 x" "$(thousands "$million") keys in memory, 1 % matching"
faster spilling_on spilling_off ">= 5 x" "... spilling, work_mem = 4MB"
with_workers memory_2 ">= 2.5 x" "... two workers, against the best plan without"

sql -c "DROP TABLE dim"
for i in 1 2 3; do
	dim "dim$i" 100000 "k$i"
done
fact k1 1000000 k2 1000000 k3 1000000
query="SELECT count(*), sum(fact.v) FROM fact JOIN dim1 USING (k1) JOIN dim2 USING (k2) JOIN dim3 USING (k3);"
both star "$large" "$query"
parallel star_2 "$query"
compare_rows star star_2
measure "$rounds" star_off star_on star_2_off star_2_each star_2_on
faster star_on star_off ">= 5 x" "star of three dimensions, 10 % matching each"
with_workers star_2 ">= 2.5 x" "... two workers, against the best plan without"
report_rows
sql -c "DROP TABLE dim1, dim2, dim3"

heading "Where filters cannot help: how many times slower" "$on" off
dim half 10000
dim whole 20000
sql <<-SQL
	CREATE TABLE keyless AS TABLE half;
	CREATE TABLE one AS SELECT 4711::bigint AS k;
	VACUUM ANALYZE keyless, one;
	CREATE TABLE ten AS SELECT $(printf 'x %% 1000 AS k%d, ' {1..9}) x AS v FROM generate_series(1, 100000) x;
	VACUUM ANALYZE ten;
	CREATE FUNCTION planning_time(query text) RETURNS float8 LANGUAGE plpgsql AS \$\$
	DECLARE
		plan json;
	BEGIN
		EXECUTE 'EXPLAIN (SUMMARY, FORMAT json) ' || query INTO plan;
		RETURN plan->0->'Planning Time';
	END \$\$;
SQL
fact k 20000
query="SELECT count(*), sum(fact.v) FROM fact JOIN"
ten="SELECT sum(ten.v) FROM ten"
for i in {1..9}; do
	ten="$ten JOIN half d$i ON d$i.k = k$i AND d$i.v < 500"
done
both whole "$large" "$query whole USING (k);"
both half "$large" "$query half USING (k);"
both lookup "$large" "$(repeat 50000 "SELECT v INTO x FROM one JOIN half USING (k)")"
both scan "$large" "$(repeat 500 "SELECT v INTO x FROM one JOIN keyless USING (k)")"
both planned "$large" "$(repeat 5000 "EXECUTE 'SELECT v FROM one JOIN keyless USING (k)' INTO x")"
# the time is what EXPLAIN says of it
both planning "$large; SET join_collapse_limit = 10" "\\timing off
	SELECT 'Time: ' || sum(planning_time('$ten')) FROM generate_series(1, 20);"
both explaining "$large; SET join_collapse_limit = 10" "$(repeat 20 "EXECUTE 'EXPLAIN $ten' INTO x")"
compare_rows whole half
measure "$((2 * rounds + 1))" whole_off whole_on half_off half_on lookup_off lookup_on scan_off scan_on planned_off planned_on \
	planning_off planning_on explaining_off explaining_on
slower whole_on whole_off "<= 1.03 x" "100 % of the rows matching, 20,000 keys"
slower half_on half_off "<= 1.02 x" "50 % matching, 10,000 keys"
slower lookup_on lookup_off "<= 1.02 x" "one row and an index of 10,000 keys, prepared, 50,000 times"
slower scan_on scan_off "<= 1.02 x" "one row and 10,000 keys without an index, prepared, 500 times"
slower planned_on planned_off "" "... planned each time, 5,000 times"
slower planning_on planning_off "<= 1.05 x" "planning a join of ten tables, 20 times"
slower explaining_on explaining_off "" "... and to EXPLAIN it, with 19 more nodes"
report_rows
sql -c "DROP TABLE fact, half, whole, keyless, one, ten" -c "DROP FUNCTION planning_time"

heading "Foreign join, $(thousands "$rows") rows there, 100,000 keys here, 1 % matching, fetch_size ${FETCH:-10000}" "$on" off
if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'")" = 0 ]; then
	echo "postgres_fdw is not installed"
	return 0
fi
far_fact "$rows" 10000000
dim dim 100000
both far "$large" "SELECT count(*), sum(fact.v) FROM fact JOIN dim USING (k);"
compare_rows far
measure "$rounds" far_off far_on

# fetched NAME: the rows that came over
fetched()
{
	{ sed 's/^SELECT/EXPLAIN (ANALYZE, TIMING OFF) &/' "$work/$1.sql"; } | sql | sed -nE 's/.*Foreign Scan on .*actual rows=([0-9]+)[. ].*/\1/p'
}
matching=$(sql -c "SELECT count(*) FROM fact JOIN dim USING (k)")
all=$(fetched far_off)
some=$(fetched far_on)
row "rows fetched" "$some" "" "$all" "$(calc "$some / $all")"
row "... that do not match, of all" "$(calc "100 * ($some - $matching) / $all")" % "" "" "<= 0.5 %" "$(calc "100 * ($some - $matching) / $all")"
faster far_on far_off ">= 5 x" "time of the join with a table on another server"
report_rows
