# SPDX-License-Identifier: PostgreSQL
# The index maplet beside a B-tree on the same keys: size, build, inserts, look-ups, = ANY, cold reads, and streams without repeats.
#
# Two tables with the same rows, each with one of the indexes, go through the same.  PARTS says which parts are measured, in this order; what a part
# needs of the ones before is done anyway, and not told:
#
#	size	bytes a row, fresh; empty.  After part insert also grown
#	build	time and WAL, without workers and with two
#	lookup	single look-ups by a prepared statement, a join of a million, pages and false places; once more after part insert
#	any		= ANY of 100,000 keys, which the plan knows or not
#	insert	WAL, and how long a call can take; half as many rows again by WRITERS, 100 rows a transaction; one row a transaction
#	cold	pages that a look-up reads when none is in memory
#	dedup	a table that is the set of the ids so far: EXCLUDE against UNIQUE, ON CONFLICT DO NOTHING, 30 % repeats
#
# ROWS (10000000), WRITERS (8), LOOKUPS (100000; joins are ten times as many), SINGLES (400000) rows one a transaction, EVENTS (10000000) in batches of
# BATCH (100) ids, EVENTS_SINGLE (a tenth of them) one a transaction, ROUNDS (5), PARTS (all but dedup, which takes as long as the others together).
# DROP_CACHES: a command that empties the system's cache, for times of part cold.
# RESTART: a command that shuts the server down at once (immediate) and starts it again, in the middle of part dedup.
rows=${ROWS:-10000000}
writers=${WRITERS:-8}
lookups=${LOOKUPS:-100000}
singles=${SINGLES:-400000}
events=${EVENTS:-10000000}
events_single=${EVENTS_SINGLE:-$((events / 10))}
batch=${BATCH:-100}
rounds=${ROUNDS:-5}
parts=" ${PARTS:-size build lookup any insert cold} "

has() { [[ $parts == *" $1 "* ]]; }
now() { date +%s.%N; }
wal_at() { sql -c "SELECT pg_current_wal_insert_lsn()"; }
wal_since() { sql -c "SELECT pg_current_wal_insert_lsn() - '$1'"; }

# explain TABLE KEYS FIELD: of a join that looks up each of the keys, a field of the index scan's, for each look-up
sql <<-'SQL'
	CREATE FUNCTION explain(tab text, keys text, VARIADIC fields text[]) RETURNS numeric LANGUAGE plpgsql
	SET enable_hashjoin = off SET enable_mergejoin = off SET enable_memoize = off SET enable_seqscan = on SET enable_bitmapscan = off
	SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
	DECLARE
		plan jsonb;
		node jsonb;
		sum numeric := 0;
		field text;
	BEGIN
		EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT count(l.v) FROM %I k JOIN %I l USING (id)', keys, tab) INTO plan;
		node := jsonb_path_query_first(plan, '$.** ? (@."Node Type" == "Index Scan")');
		FOREACH field IN ARRAY fields LOOP
			sum := sum + (node->>field)::numeric;
		END LOOP;
		RETURN sum / (node->>'Actual Loops')::numeric;
	END $$;
	-- key n
	CREATE FUNCTION key(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT md5(n::text)::uuid $$;
SQL

# tables NAME...: with one function to look up many keys by a prepared statement, and one that says how long the longest of n inserts took
for kind in maplet btree; do
	sql <<-SQL
		CREATE TABLE log_$kind (id uuid, v int);
		CREATE FUNCTION look_$kind(keys uuid[]) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS \$\$
		DECLARE
			k uuid;
			r int;
			found_rows bigint := 0;
		BEGIN
			FOREACH k IN ARRAY keys LOOP
				SELECT v INTO r FROM log_$kind WHERE id = k;
				found_rows := found_rows + FOUND::int;
			END LOOP;
			RETURN found_rows;
		END \$\$;
		CREATE FUNCTION any_$kind(keys uuid[]) RETURNS bigint LANGUAGE plpgsql AS
			\$\$ BEGIN RETURN (SELECT count(v) FROM log_$kind WHERE id = ANY (keys)); END \$\$;
		CREATE FUNCTION insert_$kind(first bigint, n int) RETURNS double precision LANGUAGE plpgsql AS \$\$
		DECLARE
			began timestamptz;
			longest interval := '0';
		BEGIN
			FOR i IN first .. first + n - 1 LOOP
				began := clock_timestamp();
				INSERT INTO log_$kind VALUES (key(i), i);
				longest := greatest(longest, clock_timestamp() - began);
			END LOOP;
			RETURN extract(epoch FROM longest) * 1000;
		END \$\$;
	SQL
done

# build KIND [WORKERS]: makes the index; $took seconds, $wal bytes
build()
{
	local began lsn

	sql -c "DROP INDEX IF EXISTS log_$1_id" -c "CHECKPOINT"
	lsn=$(wal_at)
	began=$(now)
	sql -c "SET max_parallel_maintenance_workers = ${2:-0}; SET maintenance_work_mem = '${MAINTENANCE_WORK_MEM:-1GB}'" -c "CREATE INDEX log_$1_id ON log_$1 USING $1 (id)"
	took=$(calc "$(now) - $began")
	wal=$(wal_since "$lsn")
}
index_size() { sql -c "SELECT pg_relation_size('log_$1_id')"; }
info() { sql -c "SELECT $1 FROM maplet_info('log_maplet_id')"; }

if has size; then
	sql -c "CREATE INDEX log_maplet_id ON log_maplet USING maplet (id)"
	empty=$(calc "$(index_size maplet) / 8192")
	sql -c "DROP INDEX log_maplet_id"
fi
total=$rows
sql -c "INSERT INTO log_maplet SELECT key(n), n FROM generate_series(1, $rows) n" -c "INSERT INTO log_btree TABLE log_maplet" -c "VACUUM ANALYZE"
if has build; then
	build btree 2
	btree_parallel=$took
	build maplet 2
	maplet_parallel=$took
fi
build btree
btree_took=$took
btree_wal=$wal
build maplet
sql -c "VACUUM ANALYZE"

heading "$(thousands "$rows") uuids" maplet B-tree
if has size; then
	row "empty: pages" "$empty" "" "" "" "<= 8" "$empty"
	limit=4.7
	[ "$rows" -le 10000000 ] || limit=5.0
	value=$(calc "$(index_size maplet) / $rows")
	base=$(calc "$(index_size btree) / $rows")
	row "bytes a row, fresh" "$value" B "$base" "$(calc "$value / $base")" "<= $limit" "$value"
fi
if has build; then
	row "build, without workers" "$took" s "$btree_took" "$(calc "$took / $btree_took")" "<= 0.5 x"
	row "... with 2 workers" "$maplet_parallel" s "$btree_parallel" "$(calc "$maplet_parallel / $btree_parallel")" "<= 0.5 x"
	row "... its WAL, a row" "$(calc "$wal / $rows")" B "$(calc "$btree_wal / $rows")" "$(calc "$wal / $btree_wal")" "<= 0.2 x"
fi

# keys_of: a million keys that are there, in no order, and as many that are not
keys_of()
{
	sql <<-SQL
		DROP TABLE IF EXISTS present, absent, present_few, absent_few;
		SELECT setseed(0.5);
		CREATE TABLE present AS SELECT key(1 + floor(random() * $total)::bigint) AS id FROM generate_series(1, $lookups * 10);
		CREATE TABLE absent AS SELECT key(-n) AS id FROM generate_series(1, $lookups * 10) n;
		CREATE TABLE present_few AS SELECT array_agg(id) AS ids FROM (SELECT id FROM present LIMIT $lookups) p;
		CREATE TABLE absent_few AS SELECT array_agg(id) AS ids FROM (SELECT id FROM absent LIMIT $lookups) p;
		VACUUM ANALYZE present, absent;
	SQL
}

# look_up AGE SINGLE_BOUND JOIN_BOUND
look_up()
{
	local kind keys value expected

	cat > "$work/setup.sql" <<-SQL
		SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off;
	SQL
	for kind in maplet btree; do
		for keys in present absent; do
			echo "SELECT look_$kind(ids) FROM ${keys}_few;" > "$work/${keys}_$kind.sql"
			echo "SELECT count(l.v) FROM $keys k JOIN log_$kind l USING (id);" > "$work/join_${keys}_$kind.sql"
		done
	done
	measure "$rounds" present_{maplet,btree} absent_{maplet,btree} join_present_{maplet,btree} join_absent_{maplet,btree}
	heading "Look-ups, $1, warm: $(info runs) runs" maplet B-tree
	for keys in present absent; do
		row "prepared, keys $keys" "$(calc "$(median "${keys}_maplet") * 1000 / $lookups")" us "$(calc "$(median "${keys}_btree") * 1000 / $lookups")" \
			"$(calc "$(median "${keys}_maplet") / $(median "${keys}_btree")")" "<= $2 x"
	done
	for keys in present absent; do
		slower "join_${keys}_maplet" "join_${keys}_btree" "<= $3 x" "join of $(thousands $((lookups * 10))), keys $keys"
	done
	# metapage, tail, runs; a page in some tens of the tail and in a hundred of a run has sent entries on
	value=$(sql -c "SELECT explain('log_maplet', 'absent', 'Shared Hit Blocks', 'Shared Read Blocks')")
	expected=$(calc "2 + $(info runs) * 1.01 + 0.2")
	row "pages of a look-up, keys absent" "$value" "" "$(sql -c "SELECT explain('log_btree', 'absent', 'Shared Hit Blocks', 'Shared Read Blocks')")" "" \
		"<= $expected" "$value"
	value=$(sql <<-SQL
		SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0;
		SET jit = off;
		BEGIN;
		DO \$\$ BEGIN PERFORM count(l.v) FROM absent k JOIN log_maplet l USING (id); END \$\$;
		SELECT pg_stat_get_xact_tuples_returned('log_maplet_id'::regclass);
		COMMIT;
	SQL
	)
	expected=$(calc "$(info false_places) * 10 * $lookups")
	row "false places of $(thousands $((lookups * 10))) look-ups, against the sum of n / 2^p" "$value" "" "$expected" "$(calc "$value / $expected")" "<= 1.1 x"
}

find_any()
{
	local kind keys plan

	: > "$work/setup.sql"
	for kind in maplet btree; do
		for keys in present absent; do
			for plan in custom generic; do
				echo "SET plan_cache_mode = force_${plan}_plan; SELECT any_$kind(ids) FROM ${keys}_few;" > "$work/any_${keys}_${plan}_$kind.sql"
			done
		done
	done
	measure "$rounds" any_{present,absent}_{custom,generic}_{maplet,btree}
	heading "= ANY of $(thousands "$lookups") keys, $1" maplet B-tree
	slower any_absent_custom_{maplet,btree} "<= 0.5 x" "absent, as a constant"
	slower any_absent_generic_{maplet,btree} "<= 0.5 x" "absent, as a parameter"
	slower any_present_custom_{maplet,btree} "<= 0.9 x" "present, as a constant"
	slower any_present_generic_{maplet,btree} "<= 0.9 x" "present, as a parameter"
}

! has lookup && ! has any && ! has cold || keys_of
! has lookup || look_up fresh 1.2 1.3
! has any || find_any fresh

# write_rows KIND FIRST ROWS EACH: rows from FIRST on by all writers, EACH a transaction; $took seconds, $wal bytes, $longest ms of a transaction but for the
# first ten of each session, which load libraries and catalogs
write_rows()
{
	local began lsn of_each=$(($3 / $4 / writers))

	cat > "$work/write.sql" <<-SQL
		\\set n :n + $4
		INSERT INTO log_$1 SELECT key(g), g FROM generate_series($2 + :client_id * $((of_each * $4)) + :n - $4, $2 + :client_id * $((of_each * $4)) + :n - 1) g;
	SQL
	[ "$4" != 1 ] || cat > "$work/write.sql" <<-SQL
		\\set n :n + 1
		\\set g $2 + :client_id * $of_each + :n - 1
		INSERT INTO log_$1 VALUES (key(:g), :g);
	SQL
	rm -f "$work"/transactions.*
	lsn=$(wal_at)
	began=$(now)
	pgbench -n -M prepared -c "$writers" -j 2 -D n=0 -t "$of_each" -f "$work/write.sql" -l --log-prefix="$work/transactions" "$DB" > "$work/pgbench" 2>&1 ||
		{ cat "$work/pgbench" >&2; exit 1; }
	took=$(calc "$(now) - $began")
	wal=$(wal_since "$lsn")
	longest=$(cat "$work"/transactions.* | awk '$2 > 10 && $3 > max { max = $3 } END { print max / 1000 }')
}

# wal_of TABLE FIRST ROWS: bytes a row, of one session's inserts
wal_of()
{
	local lsn

	sql -c CHECKPOINT
	lsn=$(wal_at)
	sql -c "INSERT INTO $1 SELECT key(n), n FROM generate_series($2, $2 + $3 - 1) n"
	calc "$(wal_since "$lsn") / $3"
}

# vacuumed TABLE: seconds
vacuumed()
{
	local began

	began=$(now)
	sql -c "VACUUM (TRUNCATE off) $1"
	calc "$(now) - $began"
}

# both_write ROWS EACH: B-tree's and maplet's, by turns; of the longest transactions the median of the turns counts, as one maximum says little.  The VACUUM that
# ends all merges is part of the maplet's time, and so that of the B-tree's table, of its.
both_write()
{
	local merged base turn turns=5 part kind

	part=$(($1 / turns))
	sql -c "CREATE TABLE IF NOT EXISTS log_bare (id uuid, v int)" -c CHECKPOINT
	write_rows bare $((total + 1)) $(($1 / 4)) "$2"
	bare=$(calc "$wal / ($1 / 4)")
	sql -c CHECKPOINT
	local -A sum_took=([btree]=0 [maplet]=0) sum_wal=([btree]=0 [maplet]=0) all_longest=()
	for ((turn = 0; turn < turns; turn++)); do
		for kind in btree maplet; do
			write_rows $kind $((total + 1)) $part "$2"
			sum_took[$kind]=$(calc "${sum_took[$kind]} + $took")
			sum_wal[$kind]=$(calc "${sum_wal[$kind]} + $wal")
			all_longest[$kind]+="$longest "
		done
		total=$((total + part / $2 / writers * writers * $2))
	done
	btree_took=${sum_took[btree]}
	btree_wal=$(calc "${sum_wal[btree]} / $1 - $bare")
	# shellcheck disable=SC2086 # lists
	btree_longest=$(printf '%s\n' ${all_longest[btree]} | middle)
	base=$(calc "$btree_took + $(vacuumed log_btree)")
	maplet_took=${sum_took[maplet]}
	maplet_wal=$(calc "${sum_wal[maplet]} / $1 - $bare")
	# shellcheck disable=SC2086
	longest=$(printf '%s\n' ${all_longest[maplet]} | middle)
	merged=$(vacuumed log_maplet)
	row "rows a second, VACUUM after it included" "$(calc "$1 / ($maplet_took + $merged)")" "" "$(calc "$1 / $base")" \
		"$(calc "$base / ($maplet_took + $merged)")" ">= $3 x"
	row "... without it" "$(calc "$1 / $maplet_took")" "" "$(calc "$1 / $btree_took")" "$(calc "$btree_took / $maplet_took")"
	row "WAL of a row beyond the bare table's $(calc "$bare")" "$maplet_wal" B "$btree_wal" "$(calc "$maplet_wal / $btree_wal")" "<= 90" "$maplet_wal"
	row "the longest transaction, median of $turns turns" "$longest" ms "$btree_longest" "$(calc "$longest / $btree_longest")" "<= 1 x"
}

if has insert; then
	heading "Inserts, one session" maplet B-tree
	some=$((rows / 50))
	sql -c "CREATE TABLE log_bare (id uuid, v int)"
	bare=$(wal_of log_bare 1 "$some")
	base=$(calc "$(wal_of log_btree $((total + 1)) "$some") - $bare")
	value=$(calc "$(wal_of log_maplet $((total + 1)) "$some") - $bare")
	total=$((total + some))
	row "WAL of a row beyond the bare table's $(calc "$bare"), after a checkpoint" "$value" B "$base" "$(calc "$value / $base")" "<= 90" "$value"
	base=$(sql -c "SELECT insert_btree($total + 1, $((rows / 20)))")
	value=$(sql -c "SELECT insert_maplet($total + 1, $((rows / 20)))")
	total=$((total + rows / 20))
	row "the longest of $(thousands $((rows / 20))) inserts of a row" "$value" ms "$base" "" "<= 200" "$value"
	heading "Inserts, $writers writers, 100 rows a transaction: $(thousands $((rows / 2)))" maplet B-tree
	both_write $((rows / 2)) 100 2
	if has size; then
		heading "$(thousands "$total") uuids, grown" maplet B-tree
		base=$(calc "$(index_size btree) / $total")
		value=$(calc "$(index_size maplet) / $total")
		row "bytes a row, of the file" "$value" B "$base" "$(calc "$value / $base")" "<= 6.0" "$value"
		value=$(info bytes_per_entry)
		row "... of pages in use" "$value" B "" "" "<= 5.2" "$value"
	fi
	! has lookup && ! has any && ! has cold || { sql -c "VACUUM ANALYZE log_maplet, log_btree"; keys_of; }
	! has lookup || look_up "grown" 1.5 4
	! has any || find_any grown
	heading "Inserts, $writers writers, one row a transaction: $(thousands "$singles")" maplet B-tree
	both_write "$singles" 1 0.95
fi

if has cold; then
	# in another tablespace a relation has other pages, none of which is in memory
	space=${DB}_cold
	sql -c "SET allow_in_place_tablespaces = on" -c "CREATE TABLESPACE $space LOCATION ''"
	sql -c "CREATE TABLE cold AS SELECT id FROM absent LIMIT 1000" -c "VACUUM ANALYZE cold"
	for kind in maplet btree; do
		sql -c "ALTER INDEX log_${kind}_id SET TABLESPACE $space" -c CHECKPOINT
		[ -z "${DROP_CACHES-}" ] || eval "$DROP_CACHES"
		declare "cold_$kind=$(sql -c "SELECT explain('log_$kind', 'cold', 'Shared Read Blocks')")"
		sql -c "ALTER INDEX log_${kind}_id SET TABLESPACE pg_default" -c CHECKPOINT
		[ -z "${DROP_CACHES-}" ] || eval "$DROP_CACHES"
		took=$(now)
		sql -c "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off" -c "SELECT count(l.v) FROM cold k JOIN log_$kind l USING (id)" > /dev/null
		declare "cold_${kind}_took=$(calc "($(now) - $took) * 1000 / 1000")"
	done
	sql -c "DROP TABLESPACE $space"
	heading "Cold, 1,000 look-ups of keys that are absent, $(info runs) runs" maplet B-tree
	row "pages read by a look-up" "$cold_maplet" "" "$cold_btree"
	row "... time of one${DROP_CACHES:+, caches dropped}" "$cold_maplet_took" ms "$cold_btree_took" "$(calc "$cold_maplet_took / $cold_btree_took")"
fi

# dedup KIND CONSTRAINT EVENTS EACH: $took seconds; the set must be that of the events, and hold all that were acknowledged
dedup()
{
	local of_each=$(($3 / $4 / writers)) began middle pid

	sql -c "DROP TABLE IF EXISTS seen, acknowledged, truth" -c "CREATE TABLE seen (id uuid, $2)" -c "CREATE TABLE acknowledged (client int, transactions int)"
	cat > "$work/dedup.sql" <<-SQL
		\\set n :n + 1
		\\set first (:n - 1) * $writers + :client_id
		INSERT INTO seen SELECT DISTINCT event(g) FROM generate_series(:first * $4, :first * $4 + $4 - 1) g ORDER BY 1 ON CONFLICT DO NOTHING;
	SQL
	rm -f "$work"/transactions.*
	began=$(now)
	down=0
	pgbench -n -M prepared -c "$writers" -j 2 -D n=0 -t "$of_each" -f "$work/dedup.sql" --max-tries=1000 -l --log-prefix="$work/transactions" "$DB" \
		> "$work/pgbench" 2>&1 &
	pid=$!
	if [ -n "${RESTART-}" ]; then
		sleep "$(calc "${RESTART_AFTER:-10}")"
		middle=$(now)
		eval "$RESTART" > /dev/null
		until sql -c "SELECT 1" > /dev/null 2>&1; do sleep 0.1; done
		wait "$pid" || true
		down=$(calc "$(now) - $middle")
		# transaction numbers are counted by each client from 0
		cat "$work"/transactions.* | awk '{ n[$1]++ } END { for (c in n) print c "," n[c] }' > "$work/acknowledged"
		sql -c "COPY acknowledged FROM STDIN (FORMAT csv)" < "$work/acknowledged"
		lost=$(sql -c "SELECT count(*) FROM (SELECT event(g) FROM acknowledged a, generate_series(1, a.transactions) n,
			generate_series(((n - 1) * $writers + a.client) * $4, ((n - 1) * $writers + a.client) * $4 + $4 - 1) g EXCEPT SELECT id FROM seen) s")
		# and once more, all
		pgbench -n -M prepared -c "$writers" -j 2 -D n=0 -t "$of_each" -f "$work/dedup.sql" --max-tries=1000 "$DB" > "$work/pgbench" 2>&1 ||
			{ cat "$work/pgbench" >&2; exit 1; }
	else
		wait "$pid" || { cat "$work/pgbench" >&2; exit 1; }
		lost=0
	fi
	took=$(calc "$(now) - $began - $down")
	sql -c "CREATE TABLE truth AS SELECT DISTINCT event(g) AS id FROM generate_series(0, $((of_each * writers * $4)) - 1) g"
	wrong=$(sql -c "SELECT (SELECT count(*) - count(DISTINCT id) FROM seen) + (SELECT count(*) FROM (SELECT id FROM truth EXCEPT SELECT id FROM seen) s)
		+ (SELECT count(*) FROM (SELECT id FROM seen EXCEPT SELECT id FROM truth) s)")
	tries=$(sed -n 's/^total number of retries: //p' "$work/pgbench")
}

if has dedup; then
	sql <<-'SQL'
		-- an event is a new id, or (three in ten) one of up to a million events before
		CREATE FUNCTION event(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
			SELECT key(CASE WHEN h % 10 < 3 AND n > 0 THEN n - 1 - h / 16 % least(n, 1000000) ELSE n END)
			FROM (VALUES (hashint8extended(n, 0) & 9223372036854775807)) v(h) $$;
	SQL
	for each in "$batch" 1; do
		count=$events
		[ "$each" != 1 ] || count=$events_single
		dedup btree "UNIQUE (id)" "$count" "$each"
		base=$took
		dedup maplet "EXCLUDE USING maplet (id WITH =)" "$count" "$each"
		heading "Without repeats: $(thousands "$count") events, $each a transaction, $writers writers${RESTART:+, a crash in the middle}" EXCLUDE UNIQUE
		row "events a second" "$(calc "$count / $took")" "" "$(calc "$count / $base")" "$(calc "$base / $took")"
		row "... transactions tried again" "${tries:-0}" ""
		row "ids twice, missing, or none of the stream's" "$wrong" "" "" "" "<= 0" "$wrong"
		[ -z "${RESTART-}" ] || row "acknowledged and lost" "$lost" "" "" "" "<= 0" "$lost"
	done
fi
