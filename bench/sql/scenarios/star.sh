# SPDX-License-Identifier: PostgreSQL
# Stars of which one dimension selects a few days, which partitions or a BRIN index tell apart, and another some shops, which an index finds: what is
# gained where the planner knows what is not read, and what it costs where it is wrong about that.
#
# ROWS (2000000), ROUNDS (21), RANDOM_PAGE_COST (1.1)
. ./join_filter.sh

rows=${ROWS:-2000000}
sql <<SQL
CREATE TABLE in_order AS SELECT g AS id, (g::bigint * 100 / $rows)::int AS day, (g::bigint * 104729 % 3000)::int AS shop, g % 1000 AS amount, repeat('x', 20) AS line
	FROM generate_series(0, $rows - 1) g;
CREATE TABLE parts (LIKE in_order) PARTITION BY RANGE (day);
SELECT format('CREATE TABLE parts_%1\$s PARTITION OF parts FOR VALUES FROM (%1\$s) TO (%2\$s)', i, i + 1) FROM generate_series(0, 99) i \gexec
INSERT INTO parts SELECT * FROM in_order;
-- some rows came late
CREATE TABLE late AS SELECT id, CASE WHEN id % 500 = 0 THEN (id::bigint * 7919 % 100)::int ELSE day END AS day, shop, amount, line FROM in_order;
SELECT format('CREATE INDEX ON %s (shop)', name) FROM unnest('{in_order,parts,late}'::text[]) name \gexec
SELECT format('CREATE INDEX ON %s USING brin (day) WITH (pages_per_range = 32)', name) FROM unnest('{in_order,late}'::text[]) name \gexec
CREATE TABLE days AS SELECT g AS day, g / 3 AS w, g % 7 AS x, (g < 30)::int AS a, (g < 32)::int AS b, (g < 34)::int AS c, (g < 31)::int AS d FROM generate_series(0, 99) g;
CREATE TABLE shops AS SELECT g AS shop, g % 75 AS kind FROM generate_series(0, 2999) g;
VACUUM ANALYZE;
SQL
preload
plain=$(settings "" "${RANDOM_PAGE_COST:-1.1}")

# star NAME TABLE CONDITIONS
star() { three "$1" "$plain" "SELECT sum(amount) FROM $2 JOIN days USING (day) JOIN shops USING (shop) WHERE $3 AND kind = 3;"; }
wrong="a = 1 AND b = 1 AND c = 1 AND d = 1"
star parts parts "w = 4"
star ordered in_order "w = 4"
star parts_wrong parts "$wrong"
star ordered_wrong in_order "$wrong"
star late late "w = 4"
star late_one late "w = 4 AND x = 5"

heading "3 days of 40 shops, $(thousands "$rows") rows, beside filters that skip nothing" "$on" "no skip"
compare_rows parts ordered parts_wrong ordered_wrong late late_one
measure "${ROUNDS:-21}" {parts,ordered,parts_wrong,ordered_wrong,late,late_one}_{read,on}
faster parts_on parts_read ">= 3 x" "100 partitions by day"
faster ordered_on ordered_read ">= 3 x" "in the order of days, a BRIN index"
slower parts_wrong_on parts_wrong_read "<= 1.05 x" "partitions, 30 days where 1 is expected: how many times slower"
slower ordered_wrong_on ordered_wrong_read "<= 1.05 x" "BRIN, 30 days where 1 is expected: how many times slower"
slower late_on late_read "<= 1.05 x" "BRIN, a row of 500 elsewhere: how many times slower"
slower late_one_on late_one_read "<= 1.05 x" "... of one day: how many times slower"
report_rows
