# SPDX-License-Identifier: PostgreSQL
# Is a query slower with automatic join filters where they can only lose?  An outer side without rows, with a build side that costs more, long keys behind a selective condition, a filter
# that is sure to be given up, a near tie of plans that are not alike where estimates are wrong.
#
# ROWS (2000000), ROUNDS (9), ON (on)
. ./join_filter.sh

rows=${ROWS:-2000000}
sql <<SQL
CREATE TABLE fact AS SELECT g AS k, g % 1000 AS v FROM generate_series(1, $rows) g;
CREATE TABLE dim AS SELECT g * 3 AS k, g % 10 AS v FROM generate_series(1, $rows) g;
CREATE TABLE emptied AS TABLE fact;
CREATE TABLE compressed AS SELECT g % 5 AS v, repeat(md5((g % 5000)::text), 100) AS t FROM generate_series(1, $rows / 10) g;
CREATE TABLE outside (v int, t text);
ALTER TABLE outside ALTER t SET STORAGE external;
INSERT INTO outside SELECT * FROM compressed LIMIT $rows / 20;
CREATE TABLE texts AS SELECT repeat(md5(g::text), 100) AS t FROM generate_series(1, 100) g;
CREATE TABLE star AS SELECT g, g::bigint * 7919 % 18000 AS store, g::bigint * 104729 % 73000 AS good, repeat('x', 90) AS t FROM generate_series(1, 600000) g;
CREATE INDEX ON star (store);
CREATE TABLE stores AS SELECT g AS store, g % 56 AS kind FROM generate_series(0, 17999) g;
ALTER TABLE stores ADD PRIMARY KEY (store);
CREATE TABLE goods AS SELECT g AS good, g % 30 AS p, g % 30 AS q, repeat('y', 30) AS t FROM generate_series(0, 72999) g;
ALTER TABLE goods ADD PRIMARY KEY (good);
VACUUM ANALYZE;
ALTER TABLE emptied SET (autovacuum_enabled = off);
DELETE FROM emptied;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off"

empty="count(*) FROM (SELECT k FROM fact WHERE k > 0 LIMIT 0) f JOIN dim USING (k)"
both empty "$plain" "SELECT $empty;"
both empty_prepared "$plain" "$(repeat 500 "SELECT $empty INTO x")"
both empty_planned "$plain" "$(repeat 500 "EXECUTE 'SELECT $empty' INTO x")"
both emptied "$plain; SET work_mem = '64MB'" "SELECT count(*) FROM emptied JOIN dim USING (k) WHERE dim.v < 5;"
both dear "$plain; SET work_mem = '64MB'" \
	"SELECT count(*) FROM fact JOIN (SELECT k % 3 AS k, sum(v) FROM dim GROUP BY 1 OFFSET 0) d USING (k) WHERE (v + 0) * (v + 1) = -10 AND v + 2 = -20;"
both compressed "$plain" "SELECT count(*) FROM compressed JOIN texts USING (t) WHERE v = 3;"
both outside "$plain" "SELECT count(*) FROM outside JOIN texts USING (t) WHERE v = 3;"
both many "$plain; SET work_mem = '1MB'; RESET bloomfam.join_filter_max_size" "SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.v < 5;"
both given_up "$plain; SET work_mem = '1MB'; SET bloomfam.join_filter_max_size = '256kB'" "SELECT count(*) FROM fact JOIN dim USING (k);"
both near_tie "RESET enable_nestloop; RESET enable_mergejoin; RESET work_mem; RESET bloomfam.join_filter_max_size; SET random_page_cost = 1.5" \
	"SELECT sum(length(star.t)) FROM star JOIN stores USING (store) JOIN goods USING (good) WHERE kind = 3 AND p = 7 AND q = 7;"

heading "Where filters can only lose: how many times slower" "$on" off
compare_rows empty emptied dear compressed outside many given_up near_tie
measure "${ROUNDS:-9}" {empty_prepared,empty_planned,emptied,dear,compressed,outside,many,given_up,near_tie}_{off,on}
slower empty_prepared_on empty_prepared_off "<= 1.05 x" "no rows by a limit, prepared, 500 times"
slower empty_planned_on empty_planned_off "" "... planned each time"
slower emptied_on emptied_off "<= 1.05 x" "a table that was emptied since it was analysed"
slower dear_on dear_off "<= 2 x" "a probe side without rows, where a few are expected, and a build side that costs more"
slower compressed_on compressed_off "<= 1.05 x" "compressed keys behind a condition"
slower outside_on outside_off "<= 1.05 x" "keys in the TOAST table behind a condition"
slower many_on many_off "<= 1.05 x" "a bitmap of more keys than can be collected"
slower given_up_on given_up_off "<= 1.05 x" "more keys than a filter may have"
slower near_tie_on near_tie_off "<= 1.05 x" "a near tie, with many more rows than estimated"
report_rows
