# SPDX-License-Identifier: PostgreSQL
# 22 queries derived from TPC-H with automatic join filters, against the same without.  Data and queries: ../data, ../tpch.  These are not results
# of TPC-H: the text of comments is simpler, and only the queries are run, one at a time.  Then: what could filters make of them at best?
#
# SCALE (1), WORK_MEM (the server's), WORKERS (0) of a query without --at, ROUNDS (3), ON (on); a C compiler.
. ./join_filter.sh

suite tpch "Derived from TPC-H" ">= 1.3 x" region nation supplier part partsupp customer orders lineitem

# The tables of ../tpch/limit.sql have the rows that perfect filters would leave.  A query's limit is its time over those, in the fastest of three
# plans, and what it takes to read the other rows: nothing, but where the plan with filters scans the whole table as much as to scan it in page batches
# under a filter that drops them.

# left_out QUERY TABLE: the share of the table's rows that perfect filters drop
left_out()
{
	sql -c "SELECT 1 - kept.reltuples / whole.reltuples FROM pg_class kept, pg_class whole
		WHERE kept.oid = '$1.$2'::regclass AND whole.oid = 'public.$2'::regclass"
}

# limit QUERY: in ms; that of a query of which limit.sql has no table is its time
limit()
{
	local table scanning=0

	for table in $(sql -c "SELECT tablename FROM pg_tables WHERE schemaname = '$1'"); do
		if grep -q "Seq Scan on $table" "$work/$1.plan"; then
			scanning=$(calc "$scanning + $(median "scan_$table") * $(left_out "$1" "$table")")
		fi
	done
	awk -v name="^$1_at_best" -v scanning="$scanning" '$1 ~ name && (!best || $2 < best) { best = $2 } END { print best + scanning }' "$work/medians"
}

limits()
{
	local query name table key variant schemas
	local queries=() statements=()
	local as_ever="SET search_path = public; RESET enable_nestloop; RESET enable_mergejoin; RESET enable_indexscan; RESET enable_bitmapscan;"

	sql -c "CREATE TABLE none AS SELECT -1 AS k" -c "ANALYZE none" -c "SET work_mem = '256MB'" -f ../tpch/limit.sql
	while IFS='|' read -r table key; do
		statement "scan_$table" force "$as_ever SET enable_indexscan = off; SET enable_bitmapscan = off;" \
			"SELECT count(*) FROM $table JOIN none ON $key = k;"
		statements+=("scan_$table")
	done < <(sql -c "SELECT DISTINCT table_name, column_name FROM information_schema.columns WHERE table_schema ~ '^q\d' AND ordinal_position = 1")
	schemas=$(sql -c "SELECT nspname FROM pg_namespace")
	for query in ../tpch/q*.sql; do
		name=$(basename "$query" .sql)
		queries+=("$name")
		both "$name" "$as_ever" "$(cat "$query")"
		for variant in "" nestloop mergejoin; do
			statement "${name}_at_best$variant" off "$as_ever SET search_path = $name, public; ${variant:+SET enable_$variant = off;}" "$(cat "$query")"
		done
		statements+=("$name"_{off,on,at_best})
		if grep -qx "$name" <<< "$schemas"; then
			statements+=("$name"_at_best{nestloop,mergejoin})
			plan_of "$query" > "$work/$name.plan"
		fi
	done
	measure "${ROUNDS:-3}" "${statements[@]}"

	heading "The same queries, if filters were free and perfect" "at best" off
	for name in "${queries[@]}"; do
		echo "${name}_limit $(limit "$name")" >> "$work/medians"
		faster "${name}_limit" "${name}_off" "" "at best: $name"
	done
	sum total "limit on off" "${queries[@]}"
	faster total_limit total_off "" "at best: total"
	faster total_on total_off "" "total of the filters that are, in this run"
}
limits
