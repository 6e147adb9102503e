# SPDX-License-Identifier: PostgreSQL
# Two columns; what docs/maplet.md says to do where a maplet index cannot: an upsert, ids that are unique over partitions, one key in many partitions; and from 18
# on what unique indexes cost.  Each beside what a B-tree does.  Times are the processor's, but those of the part unique, which may wait for pages: with
# pg_virtualenv -o shared_buffers=16MB their B-tree is several times as large.
#
# ROWS (1000000), PARTS (columns upsert ids partitions unique), LOOKUPS (10000), PARTITIONS (200), BATCHES (100) of 1,000 ids, ROUNDS (5)
rows=${ROWS:-1000000}
lookups=${LOOKUPS:-10000}
parts=${PARTITIONS:-200}
batches=${BATCHES:-100}
rounds=${ROUNDS:-5}
wanted=" ${PARTS:-columns upsert ids partitions unique} "

# measure_processor ROUNDS NAME...: as measure does, but of the processor time of the server's process, which other work on the machine does not lengthen
measure_processor()
{
	local rounds=$1 clock="split_part(pg_read_file('/proc/self/schedstat', 0, 100, true), ' ', 1)" round name
	shift

	{
		echo "SET max_parallel_workers_per_gather = 0; SET jit = off;"
		cat "$work/setup.sql"
		for ((round = 0; round <= rounds; round++)); do
			for name; do
				echo "SELECT 'began', $round, '$name', $clock;"
				cat "$work/$name.sql"
				echo "SELECT 'ended', $round, '$name', $clock;"
			done
		done
	} > "$work/script.sql"
	# the first round warms up
	sql -f "$work/script.sql" |
		awk -F '|' '$1 == "began" { t = $4 } $1 == "ended" && $2 > 0 { print $3, ($4 - t) / 1e6 }' > "$work/times"
	medians "$@"
}

size_of() { calc "$(sql -c "SELECT $1") / $2"; }

sql -c "CREATE FUNCTION key(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT md5(n::text)::uuid'"

# ---- two columns: an id that is unique within its tenant ----
two_columns()
{
	local unique="" kind what list=() batch=$((batches * 1000)) base size

	[ "$(sql -c 'SHOW server_version_num')" -lt 180000 ] || unique=UNIQUE
	sql <<-SQL
		CREATE FUNCTION tenant_of(n bigint) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN n % 1000;
		DO \$\$ DECLARE kind text; BEGIN
			FOR kind IN SELECT unnest('{btree,maplet}'::text[]) LOOP
				EXECUTE format('CREATE TABLE pair_%s (tenant int, id uuid, n int) WITH (fillfactor = 70)', kind);
				EXECUTE format('INSERT INTO pair_%s SELECT tenant_of(2 * g), key(2 * g), 1 FROM generate_series(1, $rows / 2) g', kind);
				EXECUTE format('CREATE $unique INDEX pair_%1\$s_key ON pair_%1\$s USING %1\$s (tenant, id)', kind);
				EXECUTE format('INSERT INTO pair_%s SELECT tenant_of(2 * g), key(2 * g), 1 FROM generate_series($rows / 2 + 1, $rows) g', kind);
				EXECUTE format('CREATE SEQUENCE pair_round_%s_new', kind);
				EXECUTE format('CREATE SEQUENCE pair_round_%s_half', kind);
			END LOOP;
		END \$\$;
		VACUUM ANALYZE pair_btree, pair_maplet;
		-- new: ids that are in none; half: every second one is there
		CREATE PROCEDURE pair_more(kind text, what text) LANGUAGE plpgsql AS \$\$
		DECLARE
			round bigint := nextval(format('pair_round_%s_%s', kind, what)) - 1;
			first bigint := CASE what WHEN 'new' THEN 10 * $rows::bigint ELSE 0 END + round * $batch;
		BEGIN
			FOR batch IN 0..$batches - 1 LOOP
				EXECUTE format('INSERT INTO pair_%s AS c SELECT tenant_of(x), key(x), 1 FROM generate_series(\$1, \$1 + 999) x%s', kind,
					CASE what WHEN 'half' THEN ' ON CONFLICT (tenant, id) DO UPDATE SET n = c.n + 1' ELSE '' END) USING first + batch * 1000;
				COMMIT;
			END LOOP;
		END \$\$;
		CREATE TABLE pair_asked AS SELECT tenant_of(g) AS tenant, key(g) AS id, g % 2 = 0 AS there
			FROM (SELECT (x * 7919::bigint) % $rows * 2 + y AS g FROM generate_series(1, $lookups) x, generate_series(0, 1) y) s;
	SQL
	echo "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off;" > "$work/setup.sql"
	for kind in btree maplet; do
		for what in new ${unique:+half}; do
			echo "CALL pair_more('$kind', '$what');" > "$work/${what}_$kind.sql"
			list+=("${what}_$kind")
		done
		for what in there absent; do
			[ $what = there ] && condition=there || condition="NOT there"
			echo "DO 'DECLARE k record; BEGIN FOR k IN SELECT tenant, id FROM pair_asked WHERE $condition LOOP
				PERFORM n FROM pair_$kind WHERE tenant = k.tenant AND id = k.id; END LOOP; END';" > "$work/${what}_$kind.sql"
			list+=("${what}_$kind")
		done
	done
	measure_processor "$rounds" "${list[@]}"
	heading "$(thousands "$rows") rows and more by two columns, shared_buffers = $(sql -c 'SHOW shared_buffers')" maplet B-tree
	faster new_maplet new_btree "${unique:+>= 0.85 x}" "$(thousands "$batch") new ids, 1,000 a statement: times faster"
	[ -z "$unique" ] || faster half_maplet half_btree ">= 0.75 x" "$(thousands "$batch") ids by DO UPDATE, half of them there: times faster"
	slower there_maplet there_btree "<= 1.3 x" "$(thousands "$lookups") look-ups, after these inserts: times slower"
	slower absent_maplet absent_btree "<= 0.8 x" "$(thousands "$lookups") look-ups of absent keys: times slower"
	sql -c "CREATE INDEX pair_one ON pair_maplet USING maplet (id)" -c "REINDEX TABLE pair_btree" -c "REINDEX INDEX pair_maplet_key"
	base=$(sql -c "SELECT count(*) FROM pair_maplet")
	size=$(size_of "pg_relation_size('pair_maplet_key')" "$base")
	row "bytes a row, built anew" "$size" B "$(size_of "pg_relation_size('pair_btree_key')" "$base")"
	row "... beside one of the id alone" "$size" B "$(size_of "pg_relation_size('pair_one')" "$base")" \
		"$(calc "$size / $(size_of "pg_relation_size('pair_one')" "$base")")" "<= 1.03 x"
}

# ---- insert or update: of each batch half of the ids are there ----
upsert()
{
	sql <<-SQL
		CREATE TABLE count_btree (id uuid PRIMARY KEY, n int) WITH (fillfactor = 70);
		CREATE TABLE count_maplet (id uuid, n int, EXCLUDE USING maplet (id WITH =)) WITH (fillfactor = 70);
		INSERT INTO count_btree SELECT key(2 * g), 1 FROM generate_series(1, $rows) g;
		INSERT INTO count_maplet TABLE count_btree;
		VACUUM ANALYZE count_btree, count_maplet;
		CREATE SEQUENCE count_round_btree;
		CREATE SEQUENCE count_round_maplet;
		CREATE PROCEDURE count_ids(kind text) LANGUAGE plpgsql AS \$\$
		DECLARE
			first bigint := (nextval('count_round_' || kind) - 1) * $batches * 1000;
		BEGIN
			FOR batch IN 0..$batches - 1 LOOP
				IF kind = 'btree' THEN
					INSERT INTO count_btree AS c SELECT key(x), 1 FROM generate_series(first + batch * 1000, first + batch * 1000 + 999) x
					ON CONFLICT (id) DO UPDATE SET n = c.n + 1;
				ELSE
					MERGE INTO count_maplet c USING (SELECT key(x) AS id FROM generate_series(first + batch * 1000, first + batch * 1000 + 999) x) s ON c.id = s.id
					WHEN MATCHED THEN UPDATE SET n = c.n + 1
					WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1);
				END IF;
			END LOOP;
		END \$\$;
	SQL
	: > "$work/setup.sql"
	for kind in btree maplet; do
		echo "CALL count_ids('$kind');" > "$work/$kind.sql"
	done
	measure_processor "$rounds" btree maplet
	heading "$(thousands $((batches * 1000))) ids inserted or updated, 1,000 a statement, half of them there" MERGE "DO UPDATE"
	slower maplet btree "" "time"
}

# ---- an id once over all partitions: a table of the ids beside them ----
unique_ids()
{
	sql <<-SQL
		CREATE TABLE ids_btree (id uuid PRIMARY KEY);
		CREATE TABLE ids_maplet (id uuid, EXCLUDE USING maplet (id WITH =));
		CREATE TEMP TABLE kinds AS SELECT unnest('{bare,btree,maplet}'::text[]) AS kind;
		DO \$\$ DECLARE kind text; BEGIN
			FOR kind IN TABLE kinds LOOP
				EXECUTE format('CREATE SEQUENCE load_round_%s', kind);
				EXECUTE format('CREATE TABLE load_%s (day int, id uuid) PARTITION BY LIST (day)', kind);
				FOR d IN 0..9 LOOP EXECUTE format('CREATE TABLE load_%1\$s_%2\$s PARTITION OF load_%1\$s FOR VALUES IN (%2\$s)', kind, d); END LOOP;
			END LOOP;
		END \$\$;
		CREATE PROCEDURE load(kind text) LANGUAGE plpgsql AS \$\$
		DECLARE
			first bigint := (nextval('load_round_' || kind) - 1) * $batches * 1000;
			incoming text := 'SELECT x % 10 AS day, key(x) AS id FROM generate_series(\$1, \$1 + 999) x';
		BEGIN
			FOR batch IN 0..$batches - 1 LOOP
				IF kind = 'bare' THEN
					EXECUTE 'INSERT INTO load_bare ' || incoming USING first + batch * 1000;
				ELSE
					EXECUTE format('WITH incoming AS MATERIALIZED (%2\$s), new AS (INSERT INTO ids_%1\$s SELECT id FROM incoming ON CONFLICT DO NOTHING RETURNING id)
						INSERT INTO load_%1\$s SELECT i.* FROM incoming i JOIN new USING (id)', kind, incoming) USING first + batch * 1000;
				END IF;
			END LOOP;
		END \$\$;
	SQL
	for kind in bare btree maplet; do
		echo "CALL load('$kind');" > "$work/$kind.sql"
	done
	measure_processor "$rounds" bare btree maplet
	heading "$(thousands $((batches * 1000))) rows into ten partitions, 1,000 a statement, and their ids into a table" "" "no check"
	slower btree bare "" "ids with a primary key: time"
	slower maplet bare "" "ids with EXCLUDE USING maplet: time"
	loaded=$(sql -c "SELECT count(*) FROM ids_maplet")
	for kind in btree maplet; do
		row "a table of ids, $kind: bytes an id" "$(size_of "pg_total_relation_size('ids_$kind')" "$loaded")" B
	done
}

# ---- one key in many partitions ----
in_partitions()
{
	local lookups_each=50 way when i

	sql <<-SQL
		DO \$\$ DECLARE kind text; BEGIN
			FOR kind IN SELECT unnest('{btree,maplet}'::text[]) LOOP
				EXECUTE format('CREATE TABLE event_%s (day int, id uuid, v int) PARTITION BY LIST (day)', kind);
				FOR d IN 1..$parts LOOP EXECUTE format('CREATE TABLE event_%1\$s_%2\$s PARTITION OF event_%1\$s FOR VALUES IN (%2\$s)', kind, d); END LOOP;
				EXECUTE format('INSERT INTO event_%s SELECT x %% $parts + 1, key(x), x FROM generate_series(1, $rows) x', kind);
				EXECUTE format('CREATE INDEX event_%1\$s_by_id ON event_%1\$s USING %1\$s (id)', kind);
			END LOOP;
		END \$\$;
		CREATE TABLE event_filter (day int PRIMARY KEY, ids bloomfilter);
		INSERT INTO event_filter SELECT day, bloom_agg(id) FROM event_maplet GROUP BY day;
		VACUUM ANALYZE;
		CREATE FUNCTION events_with(key uuid) RETURNS SETOF event_maplet LANGUAGE sql STABLE AS \$\$
			SELECT e.* FROM event_filter f, LATERAL (SELECT * FROM event_maplet WHERE day = f.day AND id = key OFFSET 0) e WHERE bloom_may_contain(f.ids, key)
		\$\$;
		CREATE FUNCTION events_of_days(key uuid) RETURNS SETOF event_maplet LANGUAGE plpgsql STABLE AS \$\$
		DECLARE
			d int;
		BEGIN
			FOR d IN SELECT day FROM event_filter WHERE bloom_may_contain(ids, key) LOOP
				RETURN QUERY EXECUTE format('SELECT * FROM event_maplet WHERE day = %L AND id = \$1', d) USING key;
			END LOOP;
		END \$\$;
		CREATE FUNCTION events_of_indexes(key uuid) RETURNS SETOF event_maplet LANGUAGE plpgsql STABLE AS \$\$
		DECLARE
			part regclass;
			part_index regclass;
		BEGIN
			FOR part, part_index IN SELECT i.indrelid, i.indexrelid FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid WHERE h.inhparent = 'event_maplet_by_id'::regclass LOOP
				IF maplet_may_contain(part_index, key) THEN
					RETURN QUERY EXECUTE format('SELECT day, id, v FROM %s WHERE id = \$1', part) USING key;
				END IF;
			END LOOP;
		END \$\$;
	SQL
	declare -A from=([maplet]="event_maplet WHERE id = \$1" [btree]="event_btree WHERE id = \$1" [filter]="events_with(\$1)" [days]="events_of_days(\$1)" [indexes]="events_of_indexes(\$1)")
	declare -A planned=([custom]="planned each time" [generic]=prepared)
	declare -A named=([maplet]="maplet indexes" [filter]="a filter for each, and maplet indexes" [days]="the same, a statement for each that may" [indexes]="a statement for each whose index may")
	for way in maplet btree filter days indexes; do
		echo "PREPARE $way(uuid) AS SELECT * FROM ${from[$way]};"
	done > "$work/setup.sql"
	for when in custom generic; do
		for way in maplet btree filter days indexes; do
			{
				echo "SET plan_cache_mode = force_${when}_plan;"
				for i in $(seq $lookups_each); do
					echo "EXECUTE $way('$(printf '%s' $((i * 977 % rows + 1)) | md5sum | cut -c 1-32)');"
				done
			} > "$work/${when}_$way.sql"
		done
	done
	measure_processor "$rounds" {custom,generic}_{maplet,btree,filter,days,indexes}
	heading "A key that is in one of $parts partitions, $(thousands "$rows") rows in all" this B-trees
	for when in custom generic; do
		for way in maplet filter days indexes; do
			row "${named[$way]}, ${planned[$when]}" "$(calc "$(median "${when}_$way") / $lookups_each")" ms "$(calc "$(median "${when}_btree") / $lookups_each")" \
				"$(calc "$(median "${when}_$way") / $(median "${when}_btree")")"
		done
	done
}

# ---- unique indexes ----
unique_indexes()
{
	local kind what batch=$((batches * 1000)) shared wal=() bytes=()

	if [ "$(sql -c 'SHOW server_version_num')" -lt 180000 ]; then
		echo "unique: a maplet index is unique from PostgreSQL 18 on"
		return
	fi
	sql <<-SQL
		DO \$\$ DECLARE kind text; BEGIN
			FOR kind IN SELECT unnest('{btree,maplet}'::text[]) LOOP
				EXECUTE format('CREATE TABLE once_%s (id uuid, n int) WITH (fillfactor = 70)', kind);
				EXECUTE format('CREATE UNIQUE INDEX once_%1\$s_id ON once_%1\$s USING %1\$s (id)', kind);
				EXECUTE format('INSERT INTO once_%s SELECT key(2 * g), 1 FROM generate_series(1, $rows) g', kind);
				EXECUTE format('CREATE SEQUENCE once_round_%s_new', kind);
				EXECUTE format('CREATE SEQUENCE once_round_%s_half', kind);
			END LOOP;
		END \$\$;
		VACUUM ANALYZE once_btree, once_maplet;
		-- new: ids that are in none; half: every second one is there
		CREATE PROCEDURE once_more(kind text, what text) LANGUAGE plpgsql AS \$\$
		DECLARE
			round bigint := nextval(format('once_round_%s_%s', kind, what)) - 1;
			first bigint := CASE what WHEN 'new' THEN 10 * $rows::bigint ELSE 0 END + round * $batch;
		BEGIN
			FOR batch IN 0..$batches - 1 LOOP
				EXECUTE format('INSERT INTO once_%s AS c SELECT key(x), 1 FROM generate_series(\$1, \$1 + 999) x%s', kind,
					CASE what WHEN 'half' THEN ' ON CONFLICT (id) DO UPDATE SET n = c.n + 1' ELSE '' END) USING first + batch * 1000;
				COMMIT;
			END LOOP;
		END \$\$;
	SQL
	: > "$work/setup.sql"
	for kind in btree maplet; do
		for what in new half; do
			echo "CALL once_more('$kind', '$what');" > "$work/${what}_$kind.sql"
		done
		echo "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
			DO 'DECLARE k uuid; BEGIN FOR g IN 1..$lookups LOOP k := key((g * 7919::bigint) % $rows * 2); PERFORM n FROM once_$kind WHERE id = k; END LOOP; END';" > "$work/look_$kind.sql"
	done
	measure "$rounds" new_btree new_maplet half_btree half_maplet look_btree look_maplet
	shared=$(sql -c 'SHOW shared_buffers')
	heading "A unique index on $(thousands "$rows") uuids, shared_buffers = $shared, 1,000 ids a statement" maplet B-tree
	faster new_maplet new_btree "" "$(thousands "$batch") new ids: times faster"
	faster half_maplet half_btree "" "$(thousands "$batch") ids by DO UPDATE, half of them there: times faster"
	slower look_maplet look_btree "<= 1.4 x" "$(thousands "$lookups") look-ups, after these inserts: times slower"
	sql -c "CHECKPOINT" >/dev/null
	for kind in btree maplet; do
		wal+=("$(sql <<-SQL | tail -n 1
			SELECT pg_current_wal_insert_lsn() AS before \gset
			CALL once_more('$kind', 'new');
			SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'before') / $batch;
		SQL
		)")
	done
	row "bytes of WAL a new row, with its row, after a checkpoint" "${wal[1]}" B "${wal[0]}" "$(calc "${wal[1]} / ${wal[0]}")"
	for kind in btree maplet; do
		bytes+=("$(size_of "pg_relation_size('once_${kind}_id')" "$(sql -c "SELECT count(*) FROM once_$kind")")")
	done
	row "bytes of the index a row, after these inserts" "${bytes[1]}" B "${bytes[0]}" "$(calc "${bytes[1]} / ${bytes[0]}")"
}

for part in $wanted; do
	case $part in
		columns) two_columns ;;
		upsert) upsert ;;
		ids) unique_ids ;;
		partitions) in_partitions ;;
		unique) unique_indexes ;;
		*) echo "no such part: $part" >&2; exit 2 ;;
	esac
done
