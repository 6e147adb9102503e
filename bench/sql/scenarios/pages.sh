# SPDX-License-Identifier: PostgreSQL
# What is gained where pages of the probe side are not read, as an index tells where the build side's keys are, and what asking it costs where that
# gains nothing: bloomfam.join_filter_skip on and off, and no filters at all.  One table in the order of its days, and an index of each sort.
#
# ROWS (10000000), ROUNDS (21), DROP_CACHES
. ./join_filter.sh

rows=${ROWS:-10000000}

sql <<SQL
CREATE UNLOGGED TABLE fact AS SELECT g AS id, (g::bigint * 1000 / ($rows + 1))::int AS day, (g::bigint * 7919 % ($rows / 10))::int AS far,
	(g::bigint * 104729 % 1000)::int AS other, g % 1000 AS amount FROM generate_series(1, $rows) g;
CREATE INDEX fact_day ON fact USING brin (day);
CREATE INDEX fact_far ON fact (far);
CREATE INDEX fact_other ON fact (other);
CREATE INDEX fact_other_brin ON fact USING brin (other);
CREATE TABLE days AS SELECT g AS day, g / 10 AS decade, g % 97 AS v FROM generate_series(0, 999) g;
CREATE TABLE picks AS SELECT g * 97 AS far, g AS v FROM generate_series(0, $rows / 1000 - 1) g;
CREATE TABLE others AS SELECT g AS other, g % 50 AS v FROM generate_series(0, 999) g;
VACUUM ANALYZE;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off"

three days "$plain" "SELECT sum(amount) FROM fact JOIN days USING (day) WHERE decade = 37;"
three scattered_days "$plain" "SELECT sum(amount) FROM fact JOIN days USING (day) WHERE v = 37;"
three parallel "${plain/gather = 0/gather = 2}; SET parallel_setup_cost = 0" "SELECT sum(amount) FROM fact JOIN days USING (day) WHERE decade = 37;"
three keys "$plain" "SELECT sum(amount) FROM fact JOIN picks USING (far) WHERE v < 100;"
three many_keys "$plain" "SELECT sum(amount) FROM fact JOIN picks USING (far);"
three other "$plain" "SELECT sum(amount) FROM fact JOIN others USING (other) WHERE v = 7;"

heading "Pages that are not read, $(thousands "$rows") rows$(temperature)" "$on" off
compare_rows days scattered_days parallel keys many_keys other
# what is read for contiguous days, beside the pages that they are on and two ranges of a BRIN index
read -r pages read < <({ echo "$plain; SET bloomfam.join_filter = $on;"
	echo "SELECT count(DISTINCT (f.ctid::text::point)[0]) FROM fact f JOIN days USING (day) WHERE decade = 37;"
	echo "EXPLAIN (ANALYZE, COSTS OFF) SELECT sum(amount) FROM fact JOIN days USING (day) WHERE decade = 37;"; } | sql |
	sed -nE 's/^([0-9]+)$/\1/p; s/.*Pages Skipped: ([0-9]+) of ([0-9]+).*/\1 \2/p' | awk 'NR == 1 { pages = $1 } NR == 2 { print pages, $2 - $1 }')
echo '\o /dev/null' >> "$work/setup.sql"
measure "${ROUNDS:-21}" {days,scattered_days,parallel,keys,many_keys,other}_{off,read,on}
days="10 of 1,000 contiguous days by BRIN"
scattered="10 scattered days by BRIN"
parallel="contiguous days by BRIN, 2 workers"
keys="100 keys of 10 rows each by B-tree"
faster days_on days_off ">= 12 x" "$days"
faster scattered_days_on scattered_days_off "" "$scattered"
faster parallel_on parallel_off "" "$parallel"
faster keys_on keys_off ">= 20 x" "$keys"
faster days_on days_read "" "$days, beside filters that skip nothing"
faster scattered_days_on scattered_days_read "" "$scattered, beside filters that skip nothing"
faster parallel_on parallel_read "" "$parallel, beside filters that skip nothing"
faster keys_on keys_read "" "$keys, beside filters that skip nothing"
row "pages read, beside those with matches and two ranges" "$read" "" "$((pages + 256))" "$(calc "$read / ($pages + 256)")" "<= 1 x"
slower many_keys_on many_keys_read "<= 1.02 x" "$(thousands $((rows / 1000))) keys of 10 rows each, beside filters that skip nothing"
slower other_on other_read "<= 1.02 x" "a column without correlation, by B-tree or BRIN, beside filters that skip nothing"
report_rows
