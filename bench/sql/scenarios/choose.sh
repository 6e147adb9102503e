# SPDX-License-Identifier: PostgreSQL
# The ways to ask whether a key is there, side by side: indexes that find a row by its id, and what drops rows that have no partner.  docs/choose.md has the
# table (bench/sql/table).
#
# ROWS (1000000) with ids of type uuid in no order, ROUNDS (5)
. ./join_filter.sh

rows=${ROWS:-1000000}
sql -c "CREATE EXTENSION bloom"
sql <<-SQL
	CREATE TABLE plain AS SELECT md5(g::text)::uuid AS id, g AS n, repeat('x', 50) AS line FROM generate_series(1, $rows) g;
	CREATE TABLE there AS SELECT id FROM plain WHERE n % ($rows / 2000) = 0;
	CREATE TABLE absent AS SELECT md5('no ' || g)::uuid AS id FROM generate_series(1, 2000) g;
	CREATE TABLE fact AS SELECT CASE WHEN g % 100 = 0 THEN md5((g / 100)::text) ELSE md5('no ' || g) END::uuid AS id FROM generate_series(1, $rows) g;
	CREATE TABLE dim AS SELECT md5(g::text)::uuid AS id FROM generate_series(1, $rows / 10) g;
	CREATE TABLE filter AS SELECT bloom_agg(id) AS f FROM plain;
	CREATE TABLE dim_filter AS SELECT bloom_agg(id) AS f FROM dim;
SQL
ways="btree hash maplet brin contrib"
declare -A title=([btree]=B-tree [hash]=hash [maplet]=maplet [brin]="BRIN with uuid_bloom_ops" [contrib]="contrib/bloom" [none]="no index" [filter]="a stored filter")
declare -A index=([btree]="btree (id)" [hash]="hash (id)" [maplet]="maplet (id)" [brin]="brin (id uuid_bloom_ops)" [contrib]="bloom ((id::text))")
for way in $ways; do
	sql -c "CREATE TABLE t_$way AS TABLE plain" -c "CREATE INDEX i_$way ON t_$way USING ${index[$way]}"
	echo "REINDEX INDEX i_$way;" > "$work/build_$way.sql"
done
sql -c "VACUUM ANALYZE"
preload
echo "SET maintenance_work_mem = '1GB'; SET enable_seqscan = off; SET work_mem = '256MB';" > "$work/setup.sql"
# a constant: the server hashes no other array
echo "SELECT quote_literal(array_agg(id)) AS keys FROM dim \gset" >> "$work/setup.sql"

# ask NAME TABLE KEYS CONDITION [NUMBER]: one look-up after the other; how many, the slow ways say
declare -A asked
ask()
{
	asked[$1]=${5:-2000}
	echo "DO 'DECLARE k uuid; BEGIN FOR k IN SELECT id FROM $3 LIMIT ${asked[$1]} LOOP PERFORM FROM $2 WHERE $4; END LOOP; END';" > "$work/$1.sql"
}
for side in there absent; do
	for way in btree hash maplet; do
		ask "${side}_$way" "t_$way" $side "id = k"
	done
	ask "${side}_filter" filter $side "f @~ k"
	ask "${side}_brin" t_brin $side "id = k" 50
	ask "${side}_contrib" t_contrib $side "id::text = k::text" 50
done
ask absent_none plain absent "id = k" 2
echo "SELECT bloom_agg(id) IS NULL FROM plain;" > "$work/build_filter.sql"
echo "SELECT count(*) FROM fact WHERE id IN (SELECT id FROM dim);" > "$work/in.sql"
echo "SELECT count(*) FROM fact WHERE EXISTS (SELECT FROM dim WHERE dim.id = fact.id);" > "$work/exists.sql"
echo "SELECT count(*) FROM fact WHERE id = ANY (:keys::uuid[]);" > "$work/any.sql"
echo "SELECT count(*) FROM fact WHERE id IN (SELECT id FROM dim) AND bloom_may_contain((SELECT bloom_agg(id) FROM dim), id);" > "$work/built.sql"
echo "SELECT count(*) FROM fact WHERE id IN (SELECT id FROM dim) AND bloom_may_contain((SELECT f FROM dim_filter), id);" > "$work/stored.sql"
echo "SELECT count(*) FROM fact WHERE bloom_may_contain((SELECT f FROM dim_filter), id);" > "$work/alone.sql"
statement automatic "$on" "" "$(cat "$work/in.sql") SET bloomfam.join_filter = off;"

# shellcheck disable=SC2046,SC2086 # lists
measure "${ROUNDS:-5}" $(printf 'build_%s there_%s absent_%s ' $(for way in $ways; do echo $way $way $way; done)) build_filter there_filter absent_filter \
	absent_none in exists any built stored alone automatic

bytes_of() { calc "$(sql -c "SELECT $1") / $rows"; }
# look_up WAY SIDE TEXT: how long does one take?
look_up()
{
	local one base

	one=$(calc "$(median "$2_$1") * 1000 / ${asked[$2_$1]}")
	base=$(calc "$(median "$2_btree") * 1000 / ${asked[$2_btree]}")
	row "find, ${title[$1]}: $3" "$one" us "$base" "$(calc "$one / $base")"
}

heading "A row of $(thousands "$rows") by its id, beside a B-tree" this B-tree
btree=$(bytes_of "pg_relation_size('i_btree')")
for way in $ways filter none; do
	case $way in
		none) bytes=0 ;;
		filter) bytes=$(bytes_of "(SELECT octet_length(f::bytea) FROM filter)") ;;
		*) bytes=$(bytes_of "pg_relation_size('i_$way')") ;;
	esac
	row "find, ${title[$way]}: bytes a row" "$bytes" B "$btree" "$(calc "$bytes / $btree")"
	[ "$way" = none ] || slower "build_$way" build_btree "" "find, ${title[$way]}: build"
	[ "$way" = none ] || look_up "$way" there "a key that is there"
	look_up "$way" absent "a key that is not"
done

heading "$(thousands "$rows") rows, of which 1 % are in a set of $(thousands $((rows / 10))) keys, beside IN" this IN
slower in in "" "drop, IN (SELECT ...)"
slower exists in "" "drop, EXISTS"
slower any in "" "drop, = ANY (constant array)"
slower automatic in "" "drop, IN with bloomfam.join_filter = $on"
slower built in "" "drop, IN and a filter built in the query"
slower stored in "" "drop, IN and a stored filter"
slower alone in "" "drop, a stored filter alone"
