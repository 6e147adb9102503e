# SPDX-License-Identifier: PostgreSQL
# What the scenarios about automatic join filters share: statements with the filters off and on, and suites of queries.  Sourced, never run.
#
# In the environment: ON (on), what bloomfam.join_filter is set to; force, for instance; and OFF (off), beside which.  More settings may follow:
# OFF='on; SET bloomfam.join_samples = off' ON='on; SET bloomfam.join_samples = on' says what samples give beside filters alone.
# DROP_CACHES: a command that empties the system's cache, before each statement; on a server with small shared_buffers, what follows is then read from disk.
on=${ON:-on}
off=${OFF:-off}

# sessions of $DB have the module's hooks from now on
preload() { sql -c "ALTER DATABASE $DB SET session_preload_libraries = bloomfam"; }

# statement NAME MODE SETTINGS QUERY: the settings take no part in the time
statement() { printf '%s\n' '\timing off' ${DROP_CACHES:+"\! $DROP_CACHES"} "$3; SET bloomfam.join_filter = $2;" '\timing on' "$4" > "$work/$1.sql"; }

# temperature: of the figures, for a heading
temperature() { printf '%s' "${DROP_CACHES:+, caches dropped}"; }

# both NAME SETTINGS QUERY: makes the statements NAME_off and NAME_on
both()
{
	statement "$1_off" "$off" "$2" "$3"
	statement "$1_on" "$on" "$2" "$3"
}

# repeat N STATEMENT: in one statement, and planned once where PL/pgSQL prepares it
repeat() { echo "DO \$\$ DECLARE x text; BEGIN FOR i IN 1..$1 LOOP $2; END LOOP; END \$\$;"; }

# three NAME SETTINGS QUERY: NAME_off without filters, NAME_read with filters that skip nothing, NAME_on
three()
{
	statement "$1_off" "$off" "$2; SET bloomfam.join_filter_skip = on" "$3"
	statement "$1_read" "$on" "$2; SET bloomfam.join_filter_skip = off" "$3"
	statement "$1_on" "$on" "$2; SET bloomfam.join_filter_skip = on" "$3"
}

# rows_of NAME: a hash of the rows, in whatever order
rows_of() { { settings; cat "$work/setup.sql" "$work/$1.sql"; } | sql | grep -v '^Time: ' | LC_ALL=C sort | md5sum; }

# compare_rows NAME...: are the rows of NAME_off those of NAME_on?
compare_rows()
{
	local name
	for name in "$@"; do
		[ "$(rows_of "${name}_off")" = "$(rows_of "${name}_on")" ] || different="$different $name"
	done
}

# report_rows: what was found so far, as a line of the table
different=
report_rows()
{
	row "queries with other rows than without filters${different:+:$different}" "$(wc -w <<< "$different")" "" "" "" "<= 0" "$(wc -w <<< "$different")"
	different=
}

# plan_of QUERY [MODE]: its plan with the filters on, or in that mode
plan_of() { { settings; cat "$work/setup.sql"; printf '%s\n' '\o' "SET bloomfam.join_filter = ${2:-$on};" "EXPLAIN (COSTS OFF)"; cat "$1"; } | sql; }

# bare_plan QUERY MODE: its nodes without those of the filters, as they follow each other
bare_plan() { plan_of "$1" "$2" | grep -v 'Bloom Filter' | sed -E 's/^ *(-> *)?//'; }

# plan_note QUERY: says so if both plans are the same, as where no join gets a filter; then their ratio is the measurement's own error
plan_note() { ! cmp -s <(plan_of "$1" "$off") <(plan_of "$1") || echo " (the same plan)"; }

# load_suite NAME SCALE TABLE...: makes the tables by ../data/NAME.c, and the keys of ../NAME
load_suite()
{
	local name=$1 scale=$2 table
	shift 2

	"${CC:-cc}" -O2 -o "$work/$name" ../data/data.c "../data/$name.c" -lm
	sql -f "../$name/schema.sql"
	for table in "$@"; do
		"$work/$name" "$table" "$scale" | sql -c "COPY $table FROM STDIN"
	done
	sql -f "../$name/keys.sql"
	preload
}

# suite NAME TITLE BOUND TABLE...: loads the tables by ../data/NAME.c, then runs the queries of ../NAME with the filters off and on.  SCALE and what
# run_queries takes come from the environment
suite()
{
	local name=$1 title=$2 bound=$3
	shift 3

	load_suite "$name" "${SCALE:-1}" "$@"
	run_queries "$name" "$title" "$bound" both
	report_rows
}

# run_queries NAME TITLE BOUND FORMS [SETTINGS [PREFIX]]: runs the queries of ../NAME in the forms of both or three, and leaves their names in queries,
# and their times where median finds them.  The rows of the table begin with the prefix.  WORK_MEM (the server's, if it is not set), WORKERS and ROUNDS come from the environment
run_queries()
{
	local name=$1 title=$2 bound=$3 forms=$4 settings=${5-} prefix=${6-} memory=${WORK_MEM-} query file
	local filtered=() statements=()
	local -A notes
	queries=()
	[ -n "$memory" ] || memory=$(sql -c "SHOW work_mem")

	printf '%s\n' "\\set scale ${SCALE:-1}" "$(settings "$memory")" "$settings" > "$work/setup.sql"
	for file in "../$name"/q*.sql; do
		query=$(basename "$file" .sql)
		queries+=("$query")
		statements+=("${query}_off")
		[ "$forms" = both ] || statements+=("${query}_read")
		statements+=("${query}_on")
		"$forms" "$query" "" "$(cat "$file")"
		notes[$query]=$(plan_note "$file")
		[ -n "${notes[$query]}" ] || filtered+=("$query")
	done
	heading "$title, scale factor ${SCALE:-1}, at $at$(temperature): how many times faster" "$on" "$off"
	compare_rows "${queries[@]}"
	echo '\o /dev/null' >> "$work/setup.sql"
	measure "${ROUNDS:-3}" "${statements[@]}"
	for query in "${queries[@]}"; do
		faster "${query}_on" "${query}_off" ">= 0.952 x" "$prefix$query${notes[$query]}"
	done
	suite_totals "$bound" "${queries[@]}"
	if [ ${#filtered[@]} -gt 0 ]; then
		sum filtered "on off" "${filtered[@]}"
		faster filtered_on filtered_off "" "total of the queries whose plans differ"
	fi
}

# sum NAME MODES QUERY...: the sum of the queries' medians is that of NAME_MODE
sum()
{
	local name=$1 modes=$2 mode query
	shift 2

	for mode in $modes; do
		for query in "$@"; do
			median "${query}_$mode"
		done | awk -v name="${name}_$mode" '{ sum += $1 } END { print name, sum + 0 }' > "$work/sum"
		cat "$work/sum" >> "$work/medians"
	done
}

# suite_totals BOUND QUERY...: the sum of the medians, the mean of the ratios, the best and the worst
suite_totals()
{
	local bound=$1 query mean best worst
	shift

	for query in "$@"; do
		echo "$query $(calc "$(median "${query}_off") / $(median "${query}_on")")"
	done | sort -k2,2g > "$work/ratios"
	worst=$(head -n 1 "$work/ratios")
	best=$(tail -n 1 "$work/ratios")
	mean=$(awk '{ sum += log($2) } END { printf "%.6g", exp(sum / NR) }' "$work/ratios")
	sum total "on off" "$@"
	faster total_on total_off "$bound" "total"
	row "geometric mean of the ratios" "" "" "" "$mean"
	faster "${best%% *}_on" "${best%% *}_off" "" "best: ${best%% *}"
	faster "${worst%% *}_on" "${worst%% *}_off" ">= 0.952 x" "worst: ${worst%% *}"
}
