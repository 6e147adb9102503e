# SPDX-License-Identifier: PostgreSQL
# What single mechanisms of the join filter win, each in a query that needs it: filters of one scan that are probed in another order than planned, a
# filter below an aggregate, a condition with a stored filter behind another one.
#
# ROWS (2000000), ROUNDS (21)
. ./join_filter.sh

rows=${ROWS:-2000000}
sql <<SQL
CREATE TABLE fact AS SELECT g AS id, md5((g::bigint * 7919 % 100000)::text) AS big, g::bigint * 104729 % 50000 * 6151 AS small, g % 1000 AS v, md5((g % 200000)::text) AS t
	FROM generate_series(1, $rows) g;
-- p, q and r are one condition, of which the planner expects a third of the rows, and two thirds come; few pass s, of which it expects a third
CREATE TABLE bigs AS SELECT md5(g::text) AS big, (g % 3 > 0)::int AS p, (g % 3 > 0)::int AS q, (g % 3 > 0)::int AS r FROM generate_series(0, 99999) g;
CREATE TABLE smalls AS SELECT g::bigint * 6151 AS small, g % 1000 AS s FROM generate_series(0, 49999) g;
CREATE TABLE filters AS SELECT bloom_agg(t) AS f FROM (SELECT DISTINCT t FROM fact ORDER BY t LIMIT 2000) t;
VACUUM ANALYZE;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off; SET work_mem = '256MB'"
star="SELECT count(*) FROM fact JOIN bigs USING (big) JOIN smalls USING (small) WHERE p = 1 AND q = 1 AND r = 1"
both order_wrong "$plain" "$star AND s + 0 > 997;"
both order_right "$plain" "$star AND s > 997;"
both aggregate "$plain" "SELECT count(*), sum(n) FROM (SELECT small, count(*) AS n, sum(v) FROM fact GROUP BY small) g JOIN smalls USING (small) WHERE s = 7;"
both behind "$plain" "SELECT count(*) FROM fact WHERE 10 / (v + 1) >= 0 AND (SELECT f FROM filters) @~ t;"

heading "Single mechanisms of the join filter, $(thousands "$rows") rows" "$on" off
compare_rows order_wrong order_right aggregate behind
measure "${ROUNDS:-21}" {order_wrong,order_right,aggregate,behind}_{off,on}
faster order_wrong_on order_wrong_off "" "two filters of a scan, planned in the wrong order"
faster order_right_on order_right_off "" "... in the right one"
slower order_wrong_on order_right_on "" "the wrong one beside the right one"
faster aggregate_on aggregate_off ">= 1.5 x" "a filter below an aggregate"
faster behind_on behind_off "" "a stored filter behind another condition"
report_rows
