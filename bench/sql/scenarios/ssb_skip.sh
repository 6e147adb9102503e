# SPDX-License-Identifier: PostgreSQL
# The thirteen queries of the Star Schema Benchmark where lineorder lies in the order of its dates: in a partition for each year, and, apart, in one
# table with a BRIN index.  Join filters that read less, those that skip nothing (bloomfam.join_filter_skip off), and none at all.
#
# SCALE (1), WORK_MEM (the server's), WORKERS (0) of a query, ROUNDS (3), ON (on), DROP_CACHES, LAYOUTS (years brin); a C compiler.
. ./join_filter.sh

# the same queries find one lineorder or the other by search_path
load_suite ssb "${SCALE:-1}" date customer supplier part lineorder
sql <<SQL
CREATE SCHEMA years;
CREATE TABLE years.lineorder (LIKE lineorder) PARTITION BY RANGE (lo_orderdate);
SELECT format('CREATE UNLOGGED TABLE years.lineorder_%1\$s PARTITION OF years.lineorder FOR VALUES FROM (%1\$s0101) TO (%2\$s0101)', y, y + 1)
	FROM generate_series(1992, 1998) y \gexec
INSERT INTO years.lineorder SELECT * FROM lineorder;
ALTER TABLE years.lineorder ADD PRIMARY KEY (lo_orderkey, lo_linenumber, lo_orderdate);
CREATE SCHEMA brin;
CREATE UNLOGGED TABLE brin.lineorder AS SELECT * FROM lineorder ORDER BY lo_orderdate;
ALTER TABLE brin.lineorder ADD PRIMARY KEY (lo_orderkey, lo_linenumber);
CREATE INDEX ON brin.lineorder USING brin (lo_orderdate);
DROP TABLE lineorder;
VACUUM ANALYZE;
SQL

declare -A titles=([years]="a partition for each year" [brin]="in the order of dates, with a BRIN index")
declare -A bounds=([years]=">= 4.5 x" [brin]="")
for layout in ${LAYOUTS:-years brin}; do
	run_queries ssb "Star Schema Benchmark, ${titles[$layout]}" "${bounds[$layout]}" three "SET search_path = $layout, public;" "$layout: "
	sum total "read" "${queries[@]}"
	faster total_on total_read "" "$layout: total, beside filters that skip nothing"
	for query in "${queries[@]}"; do
		bound=">= 0.952 x"
		case $layout$query in
			yearsq1.* | yearsq3.4 | yearsq4.[23]) bound=">= 1.5 x" ;;
		esac
		faster "${query}_on" "${query}_read" "$bound" "$layout: $query, beside filters that skip nothing"
	done
	report_rows
done
