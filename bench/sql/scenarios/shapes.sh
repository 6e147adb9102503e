# SPDX-License-Identifier: PostgreSQL
# The same question in other words: a few keys of a large table, by joins with subqueries that group, windows, set operations, CTEs, and by existence
# checks.  Some of the keys are in the table; then all of them, where a filter has nothing to drop.  The plot shows the first table (bench/sql/plot).
#
# ROWS (8000000) of the large table, WORK_MEM (64MB), ROUNDS (3)
. ./join_filter.sh

rows=${ROWS:-8000000}
few=$((rows / 592))
many=$((rows / 16))

# id N: a random bigint, the same for each number
id() { echo "('x' || substr(md5(($1)::text), 1, 16))::bit(64)::bigint"; }

# keys NAME COUNT: 40 % of the keys are in the table, or all
keys() { echo "CREATE UNLOGGED TABLE $1 AS SELECT CASE WHEN g % 10 < 4 THEN $(id "g * ($rows / $2)") ELSE g END AS id, g AS v FROM generate_series(1, $2) g;"; }

sql <<SQL
CREATE UNLOGGED TABLE target AS SELECT $(id g) AS id, g AS n, repeat('x', 20) AS pad FROM generate_series(1, $rows) g;
$(keys few "$few")
$(keys many "$many")
CREATE UNLOGGED TABLE every AS SELECT id, n AS v FROM target;
VACUUM ANALYZE;
SQL
preload

set=$(settings "${WORK_MEM:-64MB}")
grouped="SELECT id, max(n) AS n FROM target GROUP BY id"
names=()
titles=()

# shape NAME KEYS TITLE QUERY: __ in the query stands for the table of keys
shape()
{
	both "$1" "$set" "${4//__/$2};"
	both "$1_all" "$set" "${4//__/every};"
	names+=("$1")
	titles+=("$3")
}

shape inner few "inner join" "SELECT count(*), sum(t.n) FROM __ s JOIN target t USING (id)"
shape grouped few "GROUP BY" "SELECT count(*), sum(t.n) FROM __ s JOIN ($grouped) t USING (id)"
shape left many "GROUP BY, left join, many keys" "SELECT count(*), sum(t.n) FROM __ s LEFT JOIN ($grouped) t USING (id)"
shape window few "window" \
	"SELECT count(*), sum(t.n) FROM __ s JOIN (SELECT id, n, row_number() OVER (PARTITION BY id ORDER BY n) AS r FROM target) t USING (id) WHERE r = 1"
shape latest few "DISTINCT ON" "SELECT count(*), sum(t.n) FROM __ s JOIN (SELECT DISTINCT ON (id) id, n FROM target ORDER BY id, n DESC) t USING (id)"
shape union few "UNION" "SELECT count(*), sum(s.v) FROM __ s JOIN (SELECT id FROM target UNION SELECT id FROM many) t USING (id)"
shape except few "EXCEPT" "SELECT count(*), sum(s.v) FROM __ s JOIN (SELECT id FROM target EXCEPT SELECT v FROM many) t USING (id)"
shape cte few "CTE that is read twice" "WITH c AS ($grouped) SELECT count(*), sum(a.n) FROM __ s JOIN c a USING (id) JOIN c b USING (id)"
shape exists few "EXISTS" "SELECT count(*), sum(v) FROM __ s WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id)"
shape exists_many many "EXISTS, many keys" "SELECT count(*), sum(v) FROM __ s WHERE EXISTS (SELECT FROM target t WHERE t.id = s.id)"
shape not_exists few "NOT EXISTS" "SELECT count(*), sum(v) FROM __ s WHERE NOT EXISTS (SELECT FROM target t WHERE t.id = s.id)"
shape missing many "LEFT JOIN ... IS NULL, many keys" "SELECT count(*), sum(v) FROM __ s LEFT JOIN target t USING (id) WHERE t.id IS NULL"

bounds=("" 35 15 16 18 10 8 20 6 4 6 4)
heading "The same question in other words: $(thousands "$rows") rows, $(thousands "$few") keys, many: $(thousands "$many"): how many times faster" "$on" "$off"
compare_rows "${names[@]}"
# shellcheck disable=SC2046 # a list
measure "${ROUNDS:-3}" $(for name in "${names[@]}"; do echo "${name}_off ${name}_on"; done)
for i in "${!names[@]}"; do
	faster "${names[i]}_on" "${names[i]}_off" "${bounds[i]:+>= ${bounds[i]} x}" "${titles[i]}"
done
report_rows

heading "... where all keys match: how many times slower" "$on" "$off"
# shellcheck disable=SC2046 # a list
measure "${ROUNDS:-3}" $(for name in "${names[@]}"; do echo "${name}_all_off ${name}_all_on"; done)
for i in "${!names[@]}"; do
	slower "${names[i]}_all_on" "${names[i]}_all_off" "<= 1.05 x" "${titles[i]}, all match"
done
