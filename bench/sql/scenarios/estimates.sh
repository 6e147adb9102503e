# SPDX-License-Identifier: PostgreSQL
# The planner's rows against the truth, for probes of a constant filter at several shares of matching rows, of a unique and of a skewed column; and for
# a join of three tables, with what the planner knows of probes and without.
#
# ROWS (1000000).
rows=${ROWS:-1000000}

sql <<-SQL
	CREATE UNLOGGED TABLE fact AS SELECT x AS k, floor(power(random(), 4) * 10000)::bigint AS skewed,
		floor(power(random(), 4) * 100000)::bigint AS long, (random() * 1000)::int AS c, (random() * 100)::int AS v
		FROM generate_series(1::bigint, $rows) x;
	CREATE UNLOGGED TABLE customer AS SELECT x AS c, x % 10 AS region FROM generate_series(0, 1000) x;
	CREATE UNLOGGED TABLE detail AS SELECT x AS k, x % 3 AS part FROM generate_series(1::bigint, $rows) x;
	CREATE INDEX ON detail (k);
	ANALYZE;
	CREATE FUNCTION plan_of(query text) RETURNS json LANGUAGE plpgsql AS \$\$
	DECLARE
		plan json;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
		RETURN plan -> 0 -> 'Plan';
	END \$\$;
	-- values, taken at random, that have a share of the rows together; and their filter, which few others pass
	CREATE FUNCTION keys_of(col text, share float8) RETURNS bigint[] LANGUAGE plpgsql AS \$\$
	DECLARE
		keys bigint[];
	BEGIN
		EXECUTE format('SELECT array_agg(key) FROM (SELECT %I, sum(count(*)) OVER (ORDER BY hashint8(%1\$I), %1\$I) FROM fact GROUP BY 1) s(key, rows_so_far)
			WHERE rows_so_far <= %s', col, share * $rows) INTO keys;
		RETURN keys;
	END \$\$;
	CREATE FUNCTION filter_of(col text, share float8) RETURNS bloomfilter LANGUAGE sql AS 'SELECT bloom_agg(k, 0.0001) FROM unnest(keys_of(col, share)) k';
	-- the same probe, of which the planner knows nothing
	CREATE FUNCTION unknown_may_contain(bloomfilter, "any") RETURNS boolean AS '\$libdir/bloomfam', 'bloomfam_may_contain' LANGUAGE C IMMUTABLE PARALLEL SAFE;
SQL

# estimate TEXT BOUND QUERY: rows estimated and actual of a query, which stands in SQL as an expression; the ratio is that of the larger to the smaller
estimate()
{
	local estimated actual

	IFS='|' read -r estimated actual <<< "$(sql -c "SET max_parallel_workers_per_gather = 0" -c "SET jit = off" -c "SET work_mem = '64MB'" \
		-c "SELECT p ->> 'Plan Rows', p ->> 'Actual Rows' FROM plan_of($3) p")"
	row "$1" "$estimated" "" "$actual" "$(awk -v a="$estimated" -v b="$actual" 'BEGIN { print (a + 0 > b + 0 ? a / (b > 0 ? b : 1) : b / a) }')" "$2"
}

heading "Rows, of $(thousands "$rows"); the ratio is that of the larger to the smaller" estimated actual
# probe COLUMN SHARE BOUND TEXT
probe()
{
	estimate "$4, $(calc "100 * $2") % of the rows match" "$3" "format('SELECT FROM fact WHERE bloom_may_contain(%L, $1)', filter_of('$1', $2))"
}
# Statistics say how many rows a value has on average, not which values a filter has; and ANALYZE finds a fraction of the distinct values of a long
# tail.  An estimate cannot be better than that of the same keys in an array.
any() { estimate "... = ANY (array of the same keys)" "" "format('SELECT FROM fact WHERE $1 = ANY (%L)', keys_of('$1', $2))"; }

for share in 0.001 0.01 0.1 0.5 1; do
	probe k $share "<= 1.5 x" "unique column"
done
for share in 0.001 0.01 0.1 0.5 1; do
	probe skewed $share "<= 1.5 x" "skewed column"
	any skewed $share
done
for share in 0.001 0.01 0.1 0.5; do
	probe long $share "" "skewed column with a long tail"
	any long $share
done
for form in unknown_may_contain bloom_may_contain; do
	estimate "join of three tables, 1 % match, $([ $form = bloom_may_contain ] && echo as it is || echo 'if the planner knew nothing')" \
		"$([ $form = bloom_may_contain ] && echo '<= 1.5 x' || true)" \
		"format('SELECT FROM fact JOIN detail USING (k) JOIN customer USING (c) WHERE $form(%L, k) AND region = 3', filter_of('k', 0.01))"
done
for form in unknown_may_contain bloom_may_contain; do
	echo "SELECT format('SELECT sum(part) FROM fact JOIN detail USING (k) JOIN customer USING (c) WHERE $form(%L, k) AND region = 3', filter_of('k', 0.01)) AS $form \gset" >> "$work/setup.sql"
	echo ":$form;" > "$work/$form.sql"
done
measure "${ROUNDS:-5}" unknown_may_contain bloom_may_contain
slower bloom_may_contain unknown_may_contain "" "... time, against the plan of not knowing"
