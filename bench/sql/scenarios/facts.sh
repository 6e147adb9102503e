# SPDX-License-Identifier: PostgreSQL
# Three large tables on a key of which a small share is asked for: in the planner's own order, and in one where the dimension comes last, as in a query
# of more tables than join_collapse_limit.  Then lower joins build on tables that its filter has to reach through them: what could be had is shown by
# conditions with a stored filter on each.
#
# ROWS (3000000) of each, WORK_MEM (the server's), ROUNDS (5), DROP_CACHES
. ./join_filter.sh

rows=${ROWS:-3000000}
memory=${WORK_MEM:-$(sql -c "SHOW work_mem")}

sql <<SQL
CREATE UNLOGGED TABLE orders AS SELECT (g::bigint * 7919 % ($rows / 3))::int AS customer, g AS n FROM generate_series(1, $rows) g;
CREATE UNLOGGED TABLE payments AS SELECT (g::bigint * 104729 % ($rows / 3))::int AS customer, g AS n FROM generate_series(1, $rows) g;
CREATE UNLOGGED TABLE visits AS SELECT (g::bigint * 15485863 % ($rows / 3))::int AS customer, g AS n FROM generate_series(1, $rows) g;
CREATE TABLE customers AS SELECT g AS customer, g % 100 AS class, g % 7 AS c1, g % 11 AS c2, g % 13 AS c3 FROM generate_series(0, $rows / 3 - 1) g;
CREATE TABLE wanted AS SELECT bloom_agg(customer) AS filter FROM customers WHERE class = 42;
CREATE TABLE small (id int, name text);
INSERT INTO small SELECT g, 'name ' || g FROM generate_series(0, 99) g;
VACUUM ANALYZE;
SQL
preload

# the last tables of ten, and so the dimension, are not for the planner to move
facts="orders o JOIN payments p USING (customer) JOIN visits v USING (customer)"
few="$facts JOIN customers c USING (customer)"
many="$facts JOIN small s1 ON s1.id = o.n % 100 JOIN small s2 ON s2.id = p.n % 100 JOIN small s3 ON s3.id = v.n % 100
	JOIN small s4 ON s4.id = o.n % 99 JOIN small s5 ON s5.id = p.n % 99 JOIN customers c USING (customer)"
sums="sum(o.n), sum(p.n), sum(v.n), count(*)"
asked="bloom_may_contain((SELECT filter FROM wanted), "
set=$(settings "$memory")

three natural "$set; SET join_collapse_limit = 8" "SELECT $sums FROM $few WHERE class = 42;"
three last "$set; SET join_collapse_limit = 1" "SELECT $sums FROM $few WHERE class = 42;"
three of_ten "$set; SET join_collapse_limit = 8" "SELECT $sums, count(s1.name), count(s2.name), count(s3.name), count(s4.name), count(s5.name) FROM $many WHERE class = 42;"
statement last_each "$on" "$set; SET join_collapse_limit = 1" "SELECT $sums FROM $few WHERE class = 42 AND $asked p.customer) AND $asked v.customer);"
statement of_ten_each "$on" "$set; SET join_collapse_limit = 8" "SELECT $sums, count(s1.name), count(s2.name), count(s3.name), count(s4.name), count(s5.name) FROM $many
	WHERE class = 42 AND $asked p.customer) AND $asked v.customer);"

heading "Three tables of $(thousands "$rows") rows, 1 % of the keys, work_mem = $memory$(temperature): how many times faster" "$on" off
compare_rows natural last of_ten
for name in last of_ten; do
	[ "$(rows_of "${name}_each")" = "$(rows_of "${name}_off")" ] || different="$different ${name}_each"
done
echo '\o /dev/null' >> "$work/setup.sql"
measure "${ROUNDS:-5}" {natural,last,of_ten}_{off,on} {last,of_ten}_each
faster natural_on natural_off ">= 1 x" "in the planner's order"
faster last_on last_off ">= 10 x" "the dimension last"
slower last_on last_each "<= 1.25 x" "... beside a stored filter on each table, too"
faster of_ten_on of_ten_off ">= 10 x" "nine tables, the dimension last"
slower of_ten_on of_ten_each "<= 1.25 x" "... beside a stored filter on each table, too"
report_rows
