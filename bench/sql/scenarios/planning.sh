# SPDX-License-Identifier: PostgreSQL
# What planning takes with filters and with samples, beside none of both: a look-up by a primary key, a join of ten tables in a chain, and a star of five
# dimensions.  Milliseconds as EXPLAIN (SUMMARY) has them, in sessions whose caches are warm; and the instructions of the planner, which
# depend on nothing else that the machine does, as valgrind counts them in a server of its own.
#
# ROWS (1000000), ROUNDS (201), PARTS (times instructions)
. ./join_filter.sh

rows=${ROWS:-1000000}
planning_tables()
{
	cat <<-SQL
		CREATE TABLE fact AS SELECT g AS id, g % 1000 AS a, g * 7 % 2000 AS b, g * 11 % 5000 AS c, g * 13 % 10000 AS d, g * 17 % 50000 AS e, g % 97 AS v FROM generate_series(1, $rows) g;
		ALTER TABLE fact ADD PRIMARY KEY (id);
		SELECT format('CREATE TABLE dim_%s AS SELECT g AS %1\$s, g %% 50 AS x, repeat(''x'', 20) AS t FROM generate_series(0, %s) g; ALTER TABLE dim_%1\$s ADD PRIMARY KEY (%1\$s)', name, n - 1)
		FROM (VALUES ('a', 1000), ('b', 2000), ('c', 5000), ('d', 10000), ('e', 50000)) d(name, n) \gexec
		SELECT format('CREATE TABLE t%s AS SELECT g AS id, g * 7 %% $((rows / 10)) AS next, g %% 100 AS x FROM generate_series(0, $((rows / 10 - 1))) g; ALTER TABLE t%1\$s ADD PRIMARY KEY (id)', i)
		FROM generate_series(0, 9) i \gexec
		VACUUM ANALYZE;
	SQL
}
declare -A planned=(
	[point]="SELECT v FROM fact WHERE id = 4711"
	[ten]="SELECT count(*) FROM $(printf 't%d, ' {0..8})t9 WHERE $(printf 't%d.next = t%d.id AND ' 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9)t9.x = 3 AND t4.x < 50"
	[star]="SELECT sum(v) FROM fact JOIN dim_a USING (a) JOIN dim_b USING (b) JOIN dim_c USING (c) JOIN dim_d USING (d) JOIN dim_e USING (e) WHERE dim_a.x = 1 AND dim_c.x < 5 AND dim_e.x < 10")
declare -A modes=(
	[none]="SET bloomfam.join_filter = off; SET bloomfam.join_samples = off"
	[filters]="SET bloomfam.join_filter = on; SET bloomfam.join_samples = off"
	[both]="SET bloomfam.join_filter = on; SET bloomfam.join_samples = on")
declare -A planned_as=([point]="a look-up by primary key" [ten]="a join of ten tables" [star]="a star of five dimensions")

if [[ ${PARTS:-times} == *times* ]]; then
	planning_tables | sql >/dev/null
	preload
	# the planner's own times, all modes by turns; each query twice, of which the second one counts: another one came before the first
	{
		settings
		for ((round = 0; round <= ${ROUNDS:-201}; round++)); do
			for query in point ten star; do
				for mode in none filters both; do
					printf '%s;\nEXPLAIN %s;\n\\echo round %d %s_%s\nEXPLAIN (SUMMARY) %s;\n' "${modes[$mode]}" "${planned[$query]}" "$round" "$query" "$mode" "${planned[$query]}"
				done
			done
		done
	} > "$work/script.sql"
	psql -XAtq -v ON_ERROR_STOP=1 -d "$DB" -f "$work/script.sql" |
		awk '$1 == "round" { round = $2; name = $3 } /^Planning Time:/ && round > 0 { print name, $3 }' > "$work/times"
	medians {point,ten,star}_{none,filters,both}
	heading "Milliseconds of planning" "with" without
	for query in point ten star; do
		slower ${query}_filters ${query}_none "" "${planned_as[$query]}, filters"
		slower ${query}_both ${query}_none "" "${planned_as[$query]}, filters and samples"
	done
fi

if [[ ${PARTS:-times instructions} == *instructions* ]] && command -v valgrind >/dev/null; then
	bin=$("${PG_CONFIG:-pg_config}" --bindir)
	as() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
	chmod 777 "$work"
	as "$bin/initdb" -D "$work/data" -N -A trust >/dev/null
	as "$bin/pg_ctl" -D "$work/data" -w -l "$work/server.log" -o "-k $work -p 5499 -c listen_addresses= -c max_parallel_workers_per_gather=0 -c session_preload_libraries=bloomfam" start >/dev/null
	planning_tables | as env -u PGUSER psql -XAtq -h "$work" -p 5499 -d postgres -v ON_ERROR_STOP=1 >/dev/null
	as "$bin/pg_ctl" -D "$work/data" -w stop >/dev/null

	# planner_instructions MODE QUERY: of the tenth to the thirtieth time that it is planned, on average
	counted() { sed -n 's/^.*Collected : //p' "$1"; }
	planner_instructions()
	{
		local n
		for n in 10 30; do
			{
				echo "${modes[$1]}" | tr ';' '\n'
				for ((i = 0; i < n; i++)); do echo "EXPLAIN ${planned[$2]}"; done
			} | as valgrind --tool=callgrind --toggle-collect=pg_plan_query --callgrind-out-file=/dev/null --log-file="$work/callgrind$n" \
				"$bin/postgres" --single -D "$work/data" -c max_parallel_workers_per_gather=0 -c session_preload_libraries=bloomfam -c jit=off postgres >/dev/null 2>"$work/single$n"
		done
		calc "($(counted "$work/callgrind30") - $(counted "$work/callgrind10")) / 20e6"
	}
	heading "Millions of instructions of the planner" "with" without
	for query in point ten star; do
		none=$(planner_instructions none $query)
		for mode in filters both; do
			with=$(planner_instructions $mode $query)
			row "${planned_as[$query]}, filters$([ $mode = filters ] || echo " and samples")" "$with" M "$none" "$(calc "$with / $none")"
		done
	done
fi
