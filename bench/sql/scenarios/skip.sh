# SPDX-License-Identifier: PostgreSQL
# What is gained where partitions of the probe side are not read, and what the search for them costs where all are: bloomfam.join_filter_skip on and
# off, and no filters at all.
#
# ROWS (10000000), PARTITIONS (100), MANY (1000), ROUNDS (21), DROP_CACHES
. ./join_filter.sh

rows=${ROWS:-10000000}
partitions=${PARTITIONS:-100}
many=${MANY:-1000}

# partitioned NAME BY COUNT BOUNDS: makes a table and its partitions, the i-th of them with BOUNDS, in which %s is i and %2$s the next one
partitioned()
{
	sql <<SQL
CREATE TABLE $1 (id int, day int, other int, amount int) PARTITION BY $2 (day);
SELECT format('CREATE TABLE $1_%1\$s PARTITION OF $1 FOR VALUES $4', i, i + 1) FROM generate_series(0, $3 - 1) i \gexec
INSERT INTO $1 SELECT * FROM fact;
SQL
}

sql <<SQL
CREATE TABLE fact AS SELECT g AS id, (g::bigint * 7919 % $partitions)::int AS day, (g::bigint * 104729 % $partitions)::int AS other, g % 1000 AS amount
	FROM generate_series(1, $rows) g;
CREATE TABLE days AS SELECT g AS day, g / 3 AS w, g AS v FROM generate_series(0, $partitions - 1) g;
CREATE TABLE many_days AS SELECT g AS day, g % 20 AS w FROM generate_series(0, 19999) g;
SQL
partitioned by_range RANGE "$partitions" 'FROM (%1$s) TO (%2$s)'
partitioned by_list LIST "$partitions" 'IN (%1$s)'
partitioned by_hash HASH "$partitions" "WITH (MODULUS $partitions, REMAINDER %1\$s)"
sql <<SQL
CREATE TABLE many (id int, day int, amount int) PARTITION BY RANGE (day);
SELECT format('CREATE TABLE many_%1\$s PARTITION OF many FOR VALUES FROM (%1\$s * 20) TO (%2\$s * 20)', i, i + 1) FROM generate_series(0, $many - 1) i \gexec
INSERT INTO many SELECT id, (id::bigint * 7919 % ($many * 20))::int, amount FROM fact WHERE id <= $rows / 5;
DROP TABLE fact;
VACUUM ANALYZE;
SQL
preload
plain="SET max_parallel_workers_per_gather = 0; SET plan_cache_mode = force_custom_plan"

three range "$plain" "SELECT sum(amount) FROM by_range JOIN days USING (day) WHERE w = 4;"
three list "$plain" "SELECT sum(amount) FROM by_list JOIN days USING (day) WHERE w = 4;"
three hash "$plain" "SELECT sum(amount) FROM by_hash JOIN days USING (day) WHERE w = 4;"
three other "$plain" "SELECT sum(amount) FROM by_range f JOIN days d ON f.other = d.day WHERE w = 4;"
three none "$plain" "SELECT sum(amount) FROM many JOIN many_days USING (day) WHERE w = 4;"
three planned "$plain" "EXPLAIN SELECT sum(amount) FROM many JOIN many_days USING (day) WHERE w = 4;"
three few "$plain" "SELECT sum(amount) FROM many JOIN many_days USING (day) WHERE many_days.day BETWEEN 40 AND 50 AND w < 20;"

heading "Partitions that are not read, $(thousands "$rows") rows$(temperature)" "$on" off
compare_rows range list hash other none few
echo '\o /dev/null' >> "$work/setup.sql"
measure "${ROUNDS:-21}" {range,list,hash,other,none,planned,few}_{off,read,on}
of="3 of $partitions partitions"
faster range_on range_off ">= 12 x" "$of by range"
faster list_on list_off ">= 8 x" "$of by list"
faster hash_on hash_off ">= 8 x" "$of by hash"
faster few_on few_off "" "1 of $many partitions"
faster range_on range_read "" "$of by range, beside filters that skip nothing"
faster list_on list_read "" "$of by list, beside filters that skip nothing"
faster hash_on hash_read "" "$of by hash, beside filters that skip nothing"
faster few_on few_read "" "1 of $many partitions, beside filters that skip nothing"
slower other_on other_read "<= 1.02 x" "a key that is not the partitions', beside filters that skip nothing"
slower none_on none_read "<= 1.03 x" "$many partitions, all with keys"
slower planned_on planned_read "<= 1.05 x" "planning it"
report_rows
