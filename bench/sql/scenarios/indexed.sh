# SPDX-License-Identifier: PostgreSQL
# Is any query slower with automatic join filters?  Those of the Star Schema Benchmark and of TPC-H, with an index on each foreign key, so that lookups by
# index stand against hash joins, at several costs of a random page.  A query whose plan is the same but for its filters may not be slower; where
# the planner chose another plan, that is told.  What is beyond its bound is measured again, in three times as many rounds, as another program on the
# machine moves the median of few.
#
# SCALE (1), SUITES (ssb tpch), RANDOM_PAGE_COSTS (1.1 1.5 4), WORK_MEM (the server's), ROUNDS (9), ON (on); a C compiler.
. ./join_filter.sh

# queries_at NAME COST: each query of the suite by turns, at this cost of a random page
queries_at()
{
	local name=$1 cost=$2 query table bound note
	local queries=() statements=() beyond=()
	local -A bounds notes

	printf '%s\n' "\\set scale ${SCALE:-1}" "SET work_mem = '${WORK_MEM:-$(sql -c "SHOW work_mem")}';" \
		"SET max_parallel_workers_per_gather = 0;" "SET random_page_cost = $cost;" > "$work/setup.sql"
	for query in "../$name"/q*.sql; do
		table=$(basename "$query" .sql)
		queries+=("$table")
		statements+=("${table}_off" "${table}_on")
		both "$table" "" "$(cat "$query")"
		bound="<= 1.05 x"
		note=$(plan_note "$query")
		if ! cmp -s <(bare_plan "$query" off) <(bare_plan "$query" "$on"); then
			bound="<= 1.25 x"
			note=" (another plan)"
		fi
		bounds[$table]=$bound
		notes[$table]=$note
	done
	heading "$name, scale factor ${SCALE:-1}, indexes on foreign keys, random_page_cost = $cost: how many times slower" "$on" off
	compare_rows "${queries[@]}"
	echo '\o /dev/null' >> "$work/setup.sql"
	measure "${ROUNDS:-9}" "${statements[@]}"
	for query in "${queries[@]}"; do
		slower "${query}_on" "${query}_off" "${bounds[$query]}" "$query at $cost${notes[$query]}"
		if tail -n 1 "$csv" | grep -q 'missed$'; then
			beyond+=("$query")
		fi
	done
	sum total "on off" "${queries[@]}"
	slower total_on total_off "" "$name at $cost: total"
	if [ ${#beyond[@]} -gt 0 ]; then
		statements=()
		for query in "${beyond[@]}"; do
			statements+=("${query}_off" "${query}_on")
		done
		measure $((3 * ${ROUNDS:-9})) "${statements[@]}"
		for query in "${beyond[@]}"; do
			slower "${query}_on" "${query}_off" "${bounds[$query]}" "... again: $query at $cost${notes[$query]}"
		done
	fi
	report_rows
}

for suite in ${SUITES:-ssb tpch}; do
	case $suite in
		ssb) load_suite ssb "${SCALE:-1}" date customer supplier part lineorder ;;
		tpch) load_suite tpch "${SCALE:-1}" region nation supplier part partsupp customer orders lineitem ;;
	esac
	sql -f "../$suite/foreign_keys.sql"
	for cost in ${RANDOM_PAGE_COSTS:-1.1 1.5 4}; do
		queries_at "$suite" "$cost"
	done
	new_database
done
