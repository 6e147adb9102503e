# SPDX-License-Identifier: PostgreSQL
# Probing, in the forms in which a query gets its filter, against a cheap built-in condition: row by row, and in page batches, which is how a heap is
# scanned with bloomfam.join_filter on.
#
# ROWS (10000000).
. ./join_filter.sh
rows=${ROWS:-10000000}

sql <<-SQL
	CREATE UNLOGGED TABLE fact AS SELECT (random() * 10000000)::bigint AS k FROM generate_series(1, $rows);
	CREATE TABLE filters (id text, f bloomfilter);
	INSERT INTO filters SELECT '100 kB', bloom_agg(k, 0.001, 'blocked', 50000) FROM generate_series(0, 10000000, 200) k;
	INSERT INTO filters SELECT '1 MB', bloom_agg(k, 0.001, 'blocked', 530000) FROM generate_series(0, 10000000, 100) k;
	VACUUM ANALYZE fact;
SQL
preload
cat > "$work/setup.sql" <<-SQL
	SET plan_cache_mode = force_generic_plan;
	PREPARE by_parameter(bloomfilter) AS SELECT count(*) FROM fact WHERE bloom_may_contain(\$1, k);
	PREPARE by_selected(bloomfilter) AS SELECT count(*) FROM fact WHERE bloom_may_contain((SELECT \$1), k);
	SET bloomfam.join_filter = on;
	PREPARE paged_parameter(bloomfilter) AS SELECT count(*) FROM fact WHERE bloom_may_contain(\$1, k);
	EXPLAIN (COSTS OFF) EXECUTE paged_parameter(NULL);
	SET bloomfam.join_filter = off;
	PREPARE modulo_parameter(bigint) AS SELECT count(*) FROM fact WHERE k % 100 = \$1;
	SELECT quote_literal(f) AS small FROM filters WHERE id = '100 kB' \gset
	SELECT quote_literal(f) AS large FROM filters WHERE id = '1 MB' \gset
SQL
echo "SELECT count(*) FROM fact;" > "$work/count.sql"
echo "SELECT count(*) FROM fact WHERE k % 100 = 3;" > "$work/modulo.sql"
echo "EXECUTE modulo_parameter(3);" > "$work/modulo_parameter.sql"
echo "SELECT count(*) FROM fact WHERE k % 100 = (SELECT 3::bigint);" > "$work/modulo_subquery.sql"
echo "SELECT count(*) FROM fact WHERE bloom_may_contain(:small::bloomfilter, k);" > "$work/constant.sql"
echo "EXECUTE by_parameter(:small);" > "$work/parameter.sql"
echo "EXECUTE by_selected(:small);" > "$work/selected.sql"
echo "SELECT count(*) FROM fact WHERE bloom_may_contain((SELECT f FROM filters WHERE id = '100 kB'), k);" > "$work/subquery.sql"
echo "SELECT count(*) FROM filters, fact WHERE id = '100 kB' AND bloom_may_contain(f, k);" > "$work/lateral.sql"
echo "SELECT count(*) FROM filters, fact WHERE id = '100 kB' AND (k + length(id) - 6) % 100 = 3;" > "$work/cross.sql"
echo "SELECT count(*) FROM fact WHERE bloom_may_contain(:large::bloomfilter, k);" > "$work/constant_1mb.sql"
echo "SELECT count(*) FROM fact WHERE bloom_may_contain((SELECT f FROM filters WHERE id = '1 MB'), k);" > "$work/subquery_1mb.sql"
for form in constant subquery constant_1mb subquery_1mb; do
	statement "paged_$form" "$on" "" "$(cat "$work/$form.sql")"
	echo "SET bloomfam.join_filter = off;" >> "$work/paged_$form.sql"
done
echo "SET bloomfam.join_filter = on; EXECUTE paged_parameter(:small); SET bloomfam.join_filter = off;" > "$work/paged_parameter.sql"
measure "${ROUNDS:-7}" count modulo modulo_parameter modulo_subquery constant parameter selected subquery lateral cross constant_1mb subquery_1mb \
	paged_constant paged_parameter paged_subquery paged_constant_1mb paged_subquery_1mb

heading "Probes of $(thousands "$rows") bigint rows, ns a row; a bound of so many ns is one on the difference" "" against
more modulo count "" "k % 100 = 3, against count(*)" "$rows"
more modulo_parameter modulo "" "... k % 100 = \$1: what the server takes for a parameter" "$rows"
more modulo_subquery modulo "" "... k % 100 = (SELECT 3): what the server takes for a subquery" "$rows"
more constant modulo "<= 10 ns" "100 kB filter, a constant, against k % 100 = 3" "$rows"
more parameter modulo "<= 10 ns" "... a prepared statement's parameter" "$rows"
more selected modulo "<= 10 ns" "... such a parameter as (SELECT \$1)" "$rows"
more subquery modulo "<= 10 ns" "... a scalar subquery over a stored filter" "$rows"
slower parameter constant "<= 1.05 x" "parameter against constant"
slower selected constant "<= 1.05 x" "parameter as (SELECT \$1) against constant"
slower subquery constant "<= 1.05 x" "subquery against constant"
more lateral cross "<= 10 ns" "lateral column against a cross join with such a function" "$rows"
slower subquery_1mb constant_1mb "<= 1.05 x" "stored 1 MB filter against a constant one"

heading "... in page batches, bloomfam.join_filter = $on" "" against
more paged_constant modulo "<= 10 ns" "100 kB filter, a constant, against k % 100 = 3" "$rows"
more paged_parameter modulo "<= 10 ns" "... a prepared statement's parameter" "$rows"
more paged_subquery modulo "<= 10 ns" "... a scalar subquery over a stored filter" "$rows"
slower paged_parameter paged_constant "<= 1.05 x" "parameter against constant"
slower paged_subquery paged_constant "<= 1.05 x" "subquery against constant"
slower paged_subquery_1mb paged_constant_1mb "<= 1.05 x" "stored 1 MB filter against a constant one"
