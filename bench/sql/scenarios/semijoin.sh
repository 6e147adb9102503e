# SPDX-License-Identifier: PostgreSQL
# A fact table joined to the keys of a dimension, with the dimension's filter before the join, against the ways of plain SQL.  Of the fact's keys a
# given share is in the dimension.  Row by row; and with bloomfam.join_filter on, in page batches, or without naming a filter at all.  The plot shows the speed-up over the share (bench/sql/plot).
#
# ROWS (10000000) of the fact, KEYS (1000000) of the dimension, SHARES (0.001 0.01 0.1 0.5), TYPES (bigint uuid text).
. ./join_filter.sh
rows=${ROWS:-10000000}
keys=${KEYS:-1000000}

# key_of TYPE EXPRESSION
key_of()
{
	case $1 in
		bigint) echo "($2)" ;;
		uuid) echo "md5(($2)::text)::uuid" ;;
		text) echo "md5(($2)::text)" ;;
	esac
}

preload
large="SET work_mem = '1GB';"
small="SET work_mem = '4MB';"
what="SELECT count(*), sum(v) FROM fact"
built="bloom_may_contain((SELECT bloom_agg(k) FROM dim), k)"
stored="bloom_may_contain((SELECT f FROM filters), k)"

for type in ${TYPES:-bigint uuid text}; do
	sql <<-SQL
		CREATE UNLOGGED TABLE dim AS SELECT $(key_of "$type" x) AS k, x % 1000 AS v FROM generate_series(0::bigint, $keys - 1) x;
		CREATE TABLE filters AS SELECT bloom_agg(k) AS f FROM dim;
		VACUUM ANALYZE dim;
	SQL
	# an array of a million longer keys is no statement that anybody would send
	forms="in exists join bloom_in bloom_join stored_in stored in_spilling bloom_in_spilling paged_bloom_in paged_stored_in automatic"
	[ "$type" != bigint ] || forms="$forms any"
	for share in ${SHARES:-0.001 0.01 0.1 0.5}; do
		sql <<-SQL
			DROP TABLE IF EXISTS fact;
			CREATE UNLOGGED TABLE fact AS SELECT $(key_of "$type" "floor(random() * $keys / $share)::bigint") AS k, (random() * 100)::int AS v
				FROM generate_series(1, $rows);
			VACUUM ANALYZE fact;
		SQL
		echo "$large" > "$work/setup.sql"
		[ "$type" != bigint ] || echo "SELECT quote_literal(array_agg(k)) AS keys FROM dim \gset" >> "$work/setup.sql"
		echo "$what WHERE k IN (SELECT k FROM dim);" > "$work/in.sql"
		echo "$what WHERE EXISTS (SELECT FROM dim WHERE dim.k = fact.k);" > "$work/exists.sql"
		echo "SELECT count(*), sum(fact.v) FROM fact JOIN dim USING (k);" > "$work/join.sql"
		echo "$what WHERE k = ANY (:keys::bigint[]);" > "$work/any.sql"
		echo "$what WHERE $built AND k IN (SELECT k FROM dim);" > "$work/bloom_in.sql"
		echo "SELECT count(*), sum(fact.v) FROM fact JOIN dim USING (k) WHERE $built;" > "$work/bloom_join.sql"
		echo "$what WHERE $stored AND k IN (SELECT k FROM dim);" > "$work/stored_in.sql"
		echo "$what WHERE $stored;" > "$work/stored.sql"
		echo "$small $what WHERE k IN (SELECT k FROM dim); $large" > "$work/in_spilling.sql"
		echo "$small $what WHERE $built AND k IN (SELECT k FROM dim); $large" > "$work/bloom_in_spilling.sql"
		for form in bloom_in stored_in in; do
			statement "paged_$form" "$on" "" "$(cat "$work/$form.sql") SET bloomfam.join_filter = off;"
		done
		mv "$work/paged_in.sql" "$work/automatic.sql"
		# shellcheck disable=SC2086 # a list
		measure "${ROUNDS:-3}" $forms

		percent=$(calc "100 * $share")
		bound=
		[ "$share" != 0.01 ] || bound=">= 3 x"
		[ "$share" != 0.5 ] || bound=">= 0.952 x"
		heading "Semi-join, $(thousands "$rows") rows, $(thousands "$keys") $type keys, $percent % matching: how many times faster" filter plain
		faster bloom_in in "$bound" "$type $percent %: filter built in the query and IN, against IN"
		faster bloom_in exists "" "... against EXISTS"
		faster bloom_join join "" "... and join, against join"
		[ "$type" != bigint ] || faster bloom_in any "" "... and IN, against = ANY (constant array)"
		faster stored_in in "" "$type $percent %: stored filter and IN, against IN"
		faster stored in "" "... stored filter alone (1 % of the others pass), against IN"
		faster paged_bloom_in in "$bound" "... in page batches (join_filter = $on), filter built in the query and IN"
		faster paged_stored_in in "" "... in page batches, stored filter and IN"
		faster automatic in "$bound" "$type $percent %: automatic filter (join_filter = $on), against IN"
		faster bloom_in_spilling in_spilling "" "$type $percent %: filter and IN, against IN, work_mem = 4MB"
	done
	sql -c "DROP TABLE dim, filters, fact"
done
