# SPDX-License-Identifier: PostgreSQL
# What bloomfam_stat_join_filters costs: pgbench, whose queries have no filters, and a small join that has one, with the counters on and off.  Runs take turns;
# each is set beside its neighbour, and the median of these ratios counts.  "Off against off" is the measurement's own error.
#
# The server must have loaded the module: pg_virtualenv -t -o shared_preload_libraries=bloomfam bench/sql/run counters
#
# PAIRS (21), RUN (2: seconds of a run), CLIENTS (1), SCALE (10: 100,000 rows each)
. ./join_filter.sh

pairs=${PAIRS:-21}
heading "pgbench with and without counters, transactions a second" "on" "off"
if ! sql -c "SELECT FROM bloomfam_stat_join_filters" 2>/dev/null; then
	row "bloomfam is not in shared_preload_libraries" "" "" "" "" ">= 0.99 x"
	return
fi
pgbench -i -q -s "${SCALE:-10}" "$DB" 2>/dev/null
sql -c "CREATE TABLE small AS SELECT g AS aid, g % 10 AS v FROM generate_series(1, 1000) g" -c "CREATE TABLE few AS SELECT g * 100 AS aid FROM generate_series(1, 10) g" \
	-c "VACUUM ANALYZE"
echo "SELECT count(*) FROM small JOIN few USING (aid);" > "$work/join.sql"

# tps TRACK PGBENCH-ARGUMENT...
tps()
{
	PGOPTIONS="-c bloomfam.join_filter=force -c bloomfam.track=$1 -c enable_nestloop=off -c enable_mergejoin=off" \
		pgbench -n -M prepared -T "${RUN:-2}" -c "${CLIENTS:-1}" -j "${CLIENTS:-1}" "${@:2}" "$DB" 2>/dev/null | awk '/^tps/ { print $3 }'
}

# compare TEXT PGBENCH-ARGUMENT...: runs in turns, every other pair the other way round
compare()
{
	local text=$1 pair
	shift

	tps on "$@" > /dev/null
	for ((pair = 0; pair < pairs; pair++)); do
		if ((pair % 2)); then
			echo "$(tps on "$@") $(tps off "$@") $(tps off "$@")"
		else
			read -r again off < <(echo "$(tps off "$@") $(tps off "$@")")
			echo "$(tps on "$@") $off $again"
		fi
	done > "$work/pairs"
	# columns: on, off beside it, off beside that
	row "$text" "$(of_pairs '$1')" /s "$(of_pairs '$2')" "$(of_pairs '$1 / $2')" ">= 0.99 x"
	row "... off against off" "$(of_pairs '$3')" /s "$(of_pairs '$2')" "$(of_pairs '$3 / $2')"
}

# of_pairs EXPRESSION: its median
of_pairs() { awk "{ print $1 }" "$work/pairs" | middle; }

compare "pgbench -S, no filter" -S
compare "a join of 1,000 and 10 rows, one filter" -f "$work/join.sql"
counted=$(sql -c "SELECT coalesce(sum(executions), 0) FROM bloomfam_stat_join_filters")
row "executions that were counted" "$counted" "" "" "" ">= 1" "$counted"
