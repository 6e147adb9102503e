# SPDX-License-Identifier: PostgreSQL
# The index signature beside GIN and a sequential scan: size, build, COPY, single inserts, WAL, and searches for what 0 to 1,000 rows contain.
#
# Three tables: real lines, if LINES_FILE names a file of them (such as the index of files that Debian's apt-file has), else words at random; log lines
# with a time, a service, a request id and a message made of the words of an English list; JSON events with a user, an action and some attributes.
# The ids that are searched for stand in 1, 10 or 1,000 rows.  GIN is built on the first GIN_ROWS rows of each table only, as that takes longest, and is
# compared with a signature index of the same rows.
#
# ROWS (2000000) of each table, GIN_ROWS (200000), ROUNDS (5), PARTS (size insert search cold).  DROP_CACHES: a command that empties the system's
# cache, for part cold, which needs RESTART, a command that starts the server again, too.
rows=${ROWS:-2000000}
gin_rows=${GIN_ROWS:-200000}
rounds=${ROUNDS:-5}
parts=" ${PARTS:-size insert search cold} "

has() { [[ $parts == *" $1 "* ]]; }
now() { date +%s.%N; }
wal_at() { sql -c "SELECT pg_current_wal_insert_lsn()"; }
wal_since() { sql -c "SELECT pg_current_wal_insert_lsn() - '$1'"; }
# timed STATEMENT: $took seconds
timed()
{
	local began

	began=$(now)
	sql -c "SET maintenance_work_mem = '256MB'" -c "$1"
	took=$(calc "$(now) - $began")
}

sql <<-'SQL'
	CREATE EXTENSION IF NOT EXISTS pg_trgm;
	-- a number that looks random
	CREATE FUNCTION noise(n bigint, salt bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashint8extended(n, salt) & 9223372036854775807 $$;
	-- the id of row n: every 1,000th row from 500 on has one of those that 10 or 1,000 rows have
	CREATE FUNCTION id_of(n bigint, all_rows bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT CASE WHEN n % (all_rows / 1000) = 77 THEN 'thousand' || md5('thousand') WHEN n % (all_rows / 10) = 99 THEN 'ten' || md5('ten') ELSE md5(n::text) END $$;
SQL
if [ -n "${LINES_FILE-}" ]; then
	sql -c "CREATE TABLE lines (line text)" -c "COPY lines FROM PROGRAM 'head -n $rows $LINES_FILE' (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')"
else
	sql -c "CREATE TABLE lines AS SELECT string_agg(substr(md5((noise(n, w) % 20000)::text), 1, 3 + (noise(n, w) % 7)::int), ' ') AS line FROM generate_series(1, $rows) n, generate_series(1, 8) w GROUP BY n"
fi
sql -c "CREATE TABLE log AS SELECT format('%s host-%s svc-%s[%s]: %s request %s %s %s in %s ms', '2026-01-01'::timestamp + n * interval '20 milliseconds', noise(n, 1) % 40, noise(n, 2) % 12,
		noise(n, 3) % 30000, (ARRAY['INFO', 'INFO', 'INFO', 'WARN', 'ERROR'])[1 + noise(n, 4) % 5], id_of(n, $rows), (ARRAY['GET', 'PUT', 'POST'])[1 + noise(n, 5) % 3],
		'/api/v1/' || (ARRAY['users', 'orders', 'items', 'carts'])[1 + noise(n, 6) % 4] || '/' || noise(n, 7) % 1000000, noise(n, 8) % 2000) AS line FROM generate_series(1, $rows) n" \
	-c "CREATE TABLE event AS SELECT jsonb_build_object('id', id_of(n, $rows), 'user', jsonb_build_object('id', noise(n, 1) % 100000, 'name', 'user' || noise(n, 1) % 100000), 'action',
		(ARRAY['view', 'buy', 'return'])[1 + noise(n, 2) % 3], 'item', noise(n, 3) % 50000, 'price', noise(n, 4) % 10000 / 100.0, 'at', '2026-01-01'::timestamp + n * interval '20 milliseconds',
		'tags', jsonb_build_array('t' || noise(n, 5) % 300, 't' || noise(n, 6) % 300)) AS doc FROM generate_series(1, $rows) n" \
	-c "CREATE TABLE words AS SELECT to_tsvector('simple', line) AS words FROM log LIMIT $((rows / 2))" -c "VACUUM ANALYZE"

# index TABLE COLUMN CLASS GIN-CLASS: sizes and builds
index()
{
	local table=$1 column=$2 size gin_size sample=$1_sample

	timed "CREATE INDEX ${table}_signature ON $table USING signature ($column $3)"
	size=$(sql -c "SELECT pg_relation_size('${table}_signature')")
	row "$table: index size, % of the table" "$(calc "100.0 * $size / $(sql -c "SELECT pg_table_size('$table')")")" %
	row "$table: build of all rows" "$took" s
	sql -c "CREATE TABLE $sample AS TABLE $table LIMIT $gin_rows" -c "VACUUM ANALYZE $sample"
	timed "CREATE INDEX ${sample}_signature ON $sample USING signature ($column $3)"
	size=$(sql -c "SELECT pg_relation_size('${sample}_signature')")
	local signature_took=$took
	timed "CREATE INDEX ${sample}_gin ON $sample USING gin ($column $4)"
	gin_size=$(sql -c "SELECT pg_relation_size('${sample}_gin')")
	row "$table: size beside GIN's, of $(thousands "$gin_rows") rows" "$(calc "$size / 1048576")" MB "$(calc "$gin_size / 1048576")" "$(calc "$size / $gin_size")" "<= 0.1 x"
	row "$table: build beside GIN's" "$signature_took" s "$took" "$(calc "$signature_took / $took")" "<= 0.2 x"
	sql -c "DROP TABLE $sample"
}
heading "Indexes of $(thousands "$rows") rows each" signature GIN
index lines line text_ops gin_trgm_ops
index log line text_ops gin_trgm_ops
index words words tsvector_ops tsvector_ops
index event doc jsonb_path_ops jsonb_path_ops

if has insert; then
	heading "Writing" signature none
	for table in log event; do
		column=line class=text_ops
		[ $table = log ] || { column=doc class=jsonb_path_ops; }
		sql -c "\\copy (SELECT $column FROM $table LIMIT 500000) TO '$work/rows'"
		: > "$work/copies"
		for round in $(seq "$rounds"); do
			for kind in none signature; do
				sql -c "DROP TABLE IF EXISTS target" -c "CREATE TABLE target ($column $(sql -c "SELECT pg_typeof($column) FROM $table LIMIT 1"))"
				[ $kind = none ] || sql -c "CREATE INDEX target_i ON target USING signature ($column $class)"
				sql -c CHECKPOINT
				lsn=$(wal_at)
				timed "COPY target FROM '$work/rows'"
				echo "$kind $took $(wal_since "$lsn")" >> "$work/copies"
			done
		done
		for kind in none signature; do
			eval "copy_$kind=$(awk -v k=$kind '$1 == k { print $2 }' "$work/copies" | middle) wal_$kind=$(awk -v k=$kind '$1 == k { print $3 }' "$work/copies" | middle)"
		done
		row "$table: COPY of 500,000 rows, rate beside none" "$copy_signature" s "$copy_none" "$(calc "$copy_none / $copy_signature")" ">= 0.85 x"
		row "$table: WAL of COPY" "$(calc "$wal_signature / 1048576")" MB "$(calc "$wal_none / 1048576")" "$(calc "$wal_signature / $wal_none")" "<= 1.15 x"
		printf '\\set n random(1, 20000)\nINSERT INTO target SELECT %s FROM numbered WHERE n = :n;\n' "$column" > "$work/single.sql"
		sql -c "DROP TABLE IF EXISTS numbered" -c "CREATE TABLE numbered AS SELECT row_number() OVER () AS n, $column FROM $table LIMIT 20000" -c "ALTER TABLE numbered ADD PRIMARY KEY (n)"
		: > "$work/singles"
		for round in $(seq "$rounds"); do
			for kind in none signature; do
				sql -c "DROP TABLE IF EXISTS target" -c "CREATE TABLE target ($column $(sql -c "SELECT pg_typeof($column) FROM $table LIMIT 1"))"
				[ $kind = none ] || sql -c "CREATE INDEX target_i ON target USING signature ($column $class)"
				pgbench -n -M prepared -c 1 -t 20000 -f "$work/single.sql" "$DB" 2>/dev/null | sed -n "s/^tps = \([0-9.]*\).*/$kind \1/p" >> "$work/singles"
			done
		done
		none=$(awk '$1 == "none" { print $2 }' "$work/singles" | middle) signature=$(awk '$1 == "signature" { print $2 }' "$work/singles" | middle)
		row "$table: single inserts a second" "$signature" 1/s "$none" "$(calc "$signature / $none")" ">= 0.85 x"
		sql -c "DROP TABLE target"
	done
fi

# search NAME TABLE CONDITION BOUND: by the index and by a sequential scan
search()
{
	printf 'SELECT count(*) FROM %s WHERE %s;\n' "$2" "$3" | tee "$work/by_index.sql" > "$work/by_scan.sql"
	sed -i '1i SET enable_seqscan = off;' "$work/by_index.sql"
	sed -i '1i SET enable_bitmapscan = off; SET enable_seqscan = on;' "$work/by_scan.sql"
	settings > "$work/setup.sql"
	echo 'SET max_parallel_workers_per_gather = 0;' >> "$work/setup.sql"
	measure "$rounds" by_index by_scan
	faster by_index by_scan "$4" "$1: $(sql -c "SELECT count(*) FROM $2 WHERE $3") rows"
}
if has search; then
	heading "Searches in memory, ms" signature scan
	for id in "$(md5sum <<< none | cut -c 1-32)" "$(sql -c "SELECT md5('77000')")" "ten$(sql -c "SELECT md5('ten')")" "thousand$(sql -c "SELECT md5('thousand')")"; do
		bound=">= 15 x"
		[[ $id != thousand* ]] || bound=
		search "log, LIKE" log "line LIKE '%$id%'" "$bound"
		search "log, ILIKE" log "line ILIKE '%${id^^}%'" "${bound/15/20}"
		search "words, @@" words "words @@ '$id'" "$bound"
		search "event, @>" event "doc @> '{\"id\": \"$id\"}'" "$bound"
	done
	search "lines, LIKE of a word" lines "line LIKE '%libzypp%'" ">= 15 x"
	search "lines, ILIKE of a word" lines "line ILIKE '%LIBZYPP%'" ">= 20 x"
fi
if has cold && [ -n "${DROP_CACHES-}" ] && [ -n "${RESTART-}" ]; then
	heading "Searches from disk, ms" signature scan
	for kind in on off; do
		eval "$RESTART" > /dev/null 2>&1
		eval "$DROP_CACHES"
		began=$(now)
		sql -c "SET enable_bitmapscan = $kind; SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM log WHERE line LIKE '%ten$(sql -c "SELECT md5('ten')")%'" > /dev/null
		eval "cold_$kind=$(calc "($(now) - $began) * 1000")"
	done
	row "log, LIKE: 10 rows" "$cold_on" ms "$cold_off" "$(calc "$cold_off / $cold_on")" ">= 10 x"
fi
