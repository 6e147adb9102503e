# SPDX-License-Identifier: PostgreSQL
# What filters cost where they have little to drop: many partitions of few rows each, of which none is skipped, joined to one dimension and to three.
# Each execution begins a node for every partition and ends it again, so what that takes is seen here, and nowhere else.
#
# PARTITIONS (400), ROWS (14000) in all of them, EXECUTIONS (200) in a statement, ROUNDS (9), ON (on); with ON=force the filters of "... of all rows" are
# made, too, which drop nothing
. ./join_filter.sh

partitions=${PARTITIONS:-400}
rows=${ROWS:-14000}
executions=${EXECUTIONS:-200}

sql <<SQL
CREATE TABLE fact (id int, part int, a int, b int, c int, amount int) PARTITION BY RANGE (part);
SELECT format('CREATE TABLE fact_%1\$s PARTITION OF fact FOR VALUES FROM (%1\$s) TO (%1\$s + 1)', i) FROM generate_series(0, $partitions - 1) i \gexec
INSERT INTO fact SELECT g, g % $partitions, g * 7 % 1000, g * 11 % 1000, g * 13 % 1000, g FROM generate_series(1, $rows) g;
CREATE TABLE dim_a AS SELECT g AS a, g % 10 AS v FROM generate_series(0, 999) g;
CREATE TABLE dim_b AS SELECT g AS b, g % 10 AS v FROM generate_series(0, 999) g;
CREATE TABLE dim_c AS SELECT g AS c, g % 10 AS v FROM generate_series(0, 999) g;
VACUUM ANALYZE;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan"

# statements NAME FROM: the query itself, and executed many times: prepared, and planned each time
statements()
{
	both "$1" "$plain" "SELECT sum(amount) FROM $2;"
	both "$1_prepared" "$plain" "$(repeat "$executions" "SELECT sum(amount) INTO x FROM $2")"
	both "$1_planned" "$plain" "$(repeat "$executions" "EXECUTE 'SELECT sum(amount) FROM $2' INTO x")"
}
statements one "fact JOIN dim_a a USING (a) WHERE a.v < 7"
statements three "fact JOIN dim_a a USING (a) JOIN dim_b b USING (b) JOIN dim_c c USING (c) WHERE a.v < 7 AND b.v < 7 AND c.v < 7"
statements one_all "fact JOIN dim_a a USING (a)"
statements three_all "fact JOIN dim_a a USING (a) JOIN dim_b b USING (b) JOIN dim_c c USING (c)"

heading "$(thousands "$rows") rows in $partitions partitions: how many times slower" "$on" off
compare_rows one three one_all three_all
measure "${ROUNDS:-9}" {one,three,one_all,three_all}_{prepared,planned}_{off,on}
slower one_prepared_on one_prepared_off "<= 1.1 x" "one join of 70 % of the rows, prepared, $executions times"
slower one_planned_on one_planned_off "<= 1.1 x" "... planned each time"
slower three_prepared_on three_prepared_off "<= 1.15 x" "three joins of 34 %, prepared"
slower three_planned_on three_planned_off "<= 1.15 x" "... planned each time"
slower one_all_prepared_on one_all_prepared_off "" "one join of all rows, prepared"
slower one_all_planned_on one_all_planned_off "" "... planned each time"
slower three_all_prepared_on three_all_prepared_off "" "three joins of all rows, prepared"
slower three_all_planned_on three_all_planned_off "" "... planned each time"
report_rows
