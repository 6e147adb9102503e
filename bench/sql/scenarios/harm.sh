# Is a query slower with automatic join filters where they can only lose?  An outer side without rows, long keys behind a selective condition, a filter
# that is sure to be given up.
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
VACUUM ANALYZE;
ALTER TABLE emptied SET (autovacuum_enabled = off);
DELETE FROM emptied;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off"

both empty "$plain" "SELECT count(*) FROM (SELECT k FROM fact WHERE k > 0 LIMIT 0) f JOIN dim USING (k);"
both emptied "$plain; SET work_mem = '64MB'" "SELECT count(*) FROM emptied JOIN dim USING (k) WHERE dim.v < 5;"
both compressed "$plain" "SELECT count(*) FROM compressed JOIN texts USING (t) WHERE v = 3;"
both outside "$plain" "SELECT count(*) FROM outside JOIN texts USING (t) WHERE v = 3;"
both given_up "$plain; SET work_mem = '1MB'" "SELECT count(*) FROM fact JOIN dim USING (k);"

heading "Where filters can only lose: how many times slower" "$on" off
compare_rows empty emptied compressed outside given_up
measure "${ROUNDS:-9}" {empty,emptied,compressed,outside,given_up}_{off,on}
slower empty_on empty_off "<= 1.05 x" "no rows by a limit"
slower emptied_on emptied_off "<= 1.05 x" "a table that was emptied since it was analysed"
slower compressed_on compressed_off "<= 1.05 x" "compressed keys behind a condition"
slower outside_on outside_off "<= 1.05 x" "keys in the TOAST table behind a condition"
slower given_up_on given_up_off "<= 1.05 x" "more keys than a filter may have"
report_rows
