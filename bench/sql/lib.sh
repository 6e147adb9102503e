# SPDX-License-Identifier: PostgreSQL
# What the scenarios of bench/sql/run and bench/sql/turns share: a database, statements that take turns, and rows of the table.  Sourced, never run.
#
# A scenario is sourced in a database of its own, $DB, with the extension, and writes what it needs into the folder $work.

DB=bloomfam_bench_$$
work=$(mktemp -d)
chmod 755 "$work"			# the server reads and writes here, too

sql() { PGOPTIONS="${PGOPTIONS-} -c client_min_messages=warning" psql -XAtq -v ON_ERROR_STOP=1 -d "$DB" "$@"; }

drop_databases()
{
	psql -XAtq -d postgres -c "DROP DATABASE IF EXISTS $DB WITH (FORCE)" -c "DROP DATABASE IF EXISTS ${DB}_far WITH (FORCE)" -c "DROP DATABASE IF EXISTS ${DB}_run WITH (FORCE)" 2>/dev/null || true
}

new_database()
{
	drop_databases
	psql -XAtq -d postgres -c "CREATE DATABASE $DB TEMPLATE template0"
	sql -c "CREATE EXTENSION bloomfam"
	: > "$work/setup.sql"
}

cleanup()
{
	[ -z "${sampler-}" ] || kill "$sampler" 2>/dev/null || true
	drop_databases
	rm -rf "$work"
}

# settings [WORK_MEM [RANDOM_PAGE_COST]]: SQL that makes those that the scenario is measured at; without workers, work_mem and random_page_cost are these, or the server's
at=serial
settings()
{
	case $at in
		serial) echo "SET max_parallel_workers_per_gather = ${WORKERS:-0}; SET jit = off;${1:+ SET work_mem = '$1';}${2:+ SET random_page_cost = $2;}" ;;
		defaults) echo "SET max_parallel_workers_per_gather = 2; SET jit = on; SET work_mem = '4MB'; SET random_page_cost = 4;" ;;
		ssd) echo "SET max_parallel_workers_per_gather = 2; SET jit = off; SET work_mem = '64MB'; SET random_page_cost = 1.1;" ;;
		*) echo "no such settings: $at" >&2; exit 2 ;;
	esac
}

# how many times a statement runs in each round, where that is not once
declare -A repeats=()

# session ROUNDS NAME...: runs the statements in $work/NAME.sql by turns, after $work/setup.sql, in a session of their own; $work/times gets the name
# and the time, in ms, of each in each round but the first, which warms up.  Every second round goes backwards: a statement leaves caches and memory to
# the next one, as a small one that came before it would not
session()
{
	local rounds=$1 name round i repeat
	shift
	local names=("$@")

	{
		settings
		cat "$work/setup.sql"
		echo "\\timing on"
		for ((round = 0; round <= rounds; round++)); do
			for ((i = 0; i < $#; i++)); do
				name=${names[round % 2 ? $# - 1 - i : i]}
				echo "\\echo round $round $name ${repeats[$name]:-1}"
				for ((repeat = 0; repeat < ${repeats[$name]:-1}; repeat++)); do
					cat "$work/$name.sql"
				done
			done
		done
	} > "$work/script.sql"
	psql -Xq -v ON_ERROR_STOP=1 -d "$DB" -f "$work/script.sql" > "$work/log"
	# a statement's time is the sum of those printed after its name
	awk '$1 == "round" { key = $2 " " $3; repeats = $4; next }
		 $1 == "Time:" { time[key] += $2 / repeats }
		 END { for (k in time) { split(k, a, " "); if (a[1] > 0) print a[2], time[k] } }' "$work/log" > "$work/times"
}

# medians NAME...: the medians of the statements in $work/times, in ms, go to $work/medians
medians()
{
	local name

	for name in "$@"; do
		echo "$name $(awk -v name="$name" '$1 == name { print $2 }' "$work/times" | middle)"
	done > "$work/medians"
}

# measure ROUNDS NAME...: runs the statements in a session, and leaves their medians.  As many rounds go forward as backward, so one more of an odd number
measure()
{
	local rounds=$(($1 + $1 % 2))
	shift

	session "$rounds" "$@"
	medians "$@"
}

# middle: the median of the numbers in its input, one a line
middle() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# median NAME: that of a statement, as they were left
median() { awk -v name="$1" '$1 == name { print $2 }' "$work/medians"; }

heading() { printf '\n%s\n%-66s %12s %12s %9s  %s\n' "$1" "" "${2:-this}" "${3:-that}" "ratio" "bound"; }

# row TEXT VALUE UNIT [BASE [RATIO [BOUND [TESTED]]]]: prints a line of the table and appends it to the CSV.  The bound is "<= 1.5 x" or the
# like, and holds for the ratio, or for TESTED
row()
{
	awk -v scenario="$scenario" -v text="$1" -v value="$2" -v unit="$3" -v base="${4-}" -v ratio="${5-}" -v bound="${6-}" \
		-v tested="${7-${5-}}" -v csv="$csv" '
		function short(x) { return x == "" ? "" : x >= 100 || x == int(x) ? sprintf("%.0f", x) : x >= 1 ? sprintf("%.1f", x) : sprintf("%.3g", x) }
		BEGIN {
			split(bound, b, " ")
			limit = b[2] + 0
			verdict = bound == "" ? "" : tested == "" ? "not measured" : (b[1] == "<=" ? tested + 0 <= limit : tested + 0 >= limit) ? "holds" : "missed"
			printf "%-66s %9s %-2s %9s %-2s %9s  %s\n", text, short(value), unit, short(base), base == "" ? "" : unit,
				ratio == "" ? "" : sprintf("%.2f x", ratio), bound == "" ? "" : bound ": " verdict
			gsub(/"/, "\"\"", text)
			printf "%s,\"%s\",%s,%s,%s,%s,%s,%s\n", scenario, text, value, unit, base, ratio, bound, verdict >> csv
		}'
}

# slower NAME BASE BOUND TEXT: how many times the time of BASE does NAME take?
slower()
{
	row "$4" "$(median "$1")" ms "$(median "$2")" "$(calc "$(median "$1") / $(median "$2")")" "$3"
}

# faster NAME BASE BOUND TEXT: how many times faster is it?
faster()
{
	row "$4" "$(median "$1")" ms "$(median "$2")" "$(calc "$(median "$2") / $(median "$1")")" "$3"
}

# more NAME BASE BOUND TEXT ROWS: how many ns per row does it take more, and what is the ratio?
more()
{
	row "$4" "$(calc "$(median "$1") * 1e6 / $5")" ns "$(calc "$(median "$2") * 1e6 / $5")" "$(calc "$(median "$1") / $(median "$2")")" "$3" \
		"$(calc "($(median "$1") - $(median "$2")) * 1e6 / $5")"
}

calc() { awk "BEGIN { printf \"%.6g\", $1 }"; }

# thousands N: with commas
thousands() { printf '%d' "$1" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta'; }

# watch_memory / memory_peak: what the processes of $DB have of memory of their own, sampled five times a second; the peak of all together,
# in MB, and of the largest
watch_memory()
{
	{
		echo "SELECT 'kB', sum(kb), max(kb) FROM (SELECT substring(pg_read_file('/proc/' || pid || '/status', 0, 10000, true)
			FROM 'RssAnon:\s+(\d+) kB')::bigint FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND application_name <> 'sampler' AND backend_type IN ('client backend', 'parallel worker')) s(kb) \\watch 0.2"
	} > "$work/sampler.sql"
	PGAPPNAME=sampler sql -f "$work/sampler.sql" > "$work/samples" 2>/dev/null &
	sampler=$!
}

memory_peak()
{
	kill "$sampler"
	wait "$sampler" 2>/dev/null || true
	sampler=
	awk -F '|' '$1 == "kB" { if ($2 > all) all = $2; if ($3 > one) one = $3 } END { printf "%.0f %.0f\n", all / 1024, one / 1024 }' "$work/samples"
}

# far_server NAME [OPTIONS]: the other database of the same server as a foreign server of $DB; OPTIONS are more of postgres_fdw's
far_server()
{
	sql -v password="${PGPASSWORD-}" <<-SQL
		CREATE EXTENSION IF NOT EXISTS postgres_fdw;
		SELECT coalesce(host(inet_server_addr()), split_part(current_setting('unix_socket_directories'), ',', 1)) AS host,
			current_setting('port') AS port \gset
		CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host :'host', port :'port', dbname '${DB}_far', fetch_size '${FETCH:-10000}'${2:+, $2});
		CREATE USER MAPPING FOR CURRENT_USER SERVER $1 OPTIONS (password :'password');
	SQL
}

# far_sql: runs its input there
far_sql() { PGOPTIONS='-c client_min_messages=warning' psql -XAtq -v ON_ERROR_STOP=1 -d "${DB}_far" "$@"; }

# far_fact ROWS RANGE: a fact table in another database of the same server, as the foreign table fact of $DB.  FETCH (10000): its fetch_size
far_fact()
{
	psql -XAtq -d postgres -c "CREATE DATABASE ${DB}_far TEMPLATE template0"
	far_sql <<-SQL
		CREATE EXTENSION bloomfam;
		CREATE UNLOGGED TABLE fact AS SELECT floor(random() * $2)::bigint AS k, (random() * 100)::int AS v FROM generate_series(1, $1);
		VACUUM ANALYZE fact;
	SQL
	far_server far "extensions 'bloomfam'"
	sql -c "CREATE FOREIGN TABLE fact (k bigint, v int) SERVER far" -c "ANALYZE fact"
}
