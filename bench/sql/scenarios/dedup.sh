# SPDX-License-Identifier: PostgreSQL
# A stream of events, of which no id may count twice, written by many at once, by the recipe of test/sql/include/take_new.sql: sustained rate, WAL a key, and what a
# crash in the middle does to it.  Sized like a billion ids a day at an FPR of 1e-9: 11,600 a second, in windows of five minutes.
#
# EVENTS (10000000), 30 % of them repeats; WRITERS (8), BATCH (100000) events, SHARDS (64), WINDOW (5 minutes).
# RESTART: a command that shuts the server down at once (immediate) and starts it again, when half of the batches are through; "kill" is to kill a
# writer's backend, whereupon the server does that by itself.  That ends every session of the server and empties its unlogged tables, so it does not
# happen unasked.
events=${EVENTS:-10000000}
writers=${WRITERS:-8}
batch=${BATCH:-100000}
shards=${SHARDS:-64}
window=${WINDOW:-5 minutes}
rate=11600

# the recipe, with this size and these windows: a filter takes the ids of a shard that come within one
recipe=$(sed -n '/^CREATE TABLE shard (shard/,/^END \$\$;/p' ../../test/sql/include/take_new.sql |
	sed -e "s/generate_series(0, 15)/generate_series(0, $shards - 1)/" -e "s/bloom_shard(id, 16)/bloom_shard(id, $shards)/" \
		-e "s/date_trunc('hour', at)/date_bin('$window', at, '2000-01-01')/" \
		-e "s/bloom_create(10000,/bloom_create((extract(epoch FROM interval '$window') * $rate * 0.8 \/ $shards)::bigint,/")
[ "$(grep -cE "date_bin|bloom_create\(\(|bloom_shard\(id, $shards\)|$shards - 1" <<< "$recipe")" = 4 ] || { echo "test/sql/include/take_new.sql has another recipe" >&2; exit 1; }
sql -c "$recipe"
sql <<-SQL
	CREATE TABLE click (id bigint, batch int);
	-- an event is a new id, or (three in ten) one of up to a million events before
	CREATE FUNCTION event(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS \$\$
		SELECT CASE WHEN h % 10 < 3 AND n > 0 THEN n - 1 - h / 16 % least(n, 1000000) ELSE n END * 1000003
		FROM (VALUES (hashint8extended(n, 0) & 9223372036854775807)) v(h) \$\$;
	CREATE TABLE queue AS
	SELECT b AS batch, '2026-11-21 10:00'::timestamptz + b * $batch / $rate.0 * interval '1 s' AS at,
		(SELECT array_agg(event(n)) FROM generate_series(b * $batch, least((b + 1) * $batch, $events) - 1) n) AS ids
	FROM generate_series(0::bigint, ($events - 1) / $batch) b;
	ALTER TABLE queue ADD PRIMARY KEY (batch);
	CREATE TABLE truth AS SELECT DISTINCT id FROM queue, unnest(ids) id;
	ANALYZE;
	CREATE FUNCTION work() RETURNS int LANGUAGE plpgsql AS \$\$
	DECLARE
		q record;
	BEGIN
		SELECT * INTO q FROM queue ORDER BY batch FOR UPDATE SKIP LOCKED LIMIT 1;
		IF NOT FOUND THEN
			RETURN 0;
		END IF;
		INSERT INTO click SELECT id, q.batch FROM unnest(take_new(q.at, q.ids)) id;
		DELETE FROM queue WHERE batch = q.batch;
		RETURN 1;
	END \$\$;
	CHECKPOINT;
SQL
total=$(sql -c "SELECT count(*) FROM queue")
left() { sql -c "SELECT count(*) FROM queue"; }
start_writers()
{
	local i

	pids=()
	for ((i = 0; i < writers; i++)); do
		PGAPPNAME=writer sql -c 'DO $$ BEGIN WHILE work() > 0 LOOP COMMIT; END LOOP; END $$' > /dev/null 2>> "$work/writer$i" &
		pids+=($!)
	done
}
now() { date +%s.%N; }

lsn=$(sql -c "SELECT pg_current_wal_insert_lsn()")
began=$(now)
start_writers
middle=
down=0
if [ -n "${RESTART-}" ]; then
	while [ "$(left)" -gt $((total / 2)) ]; do sleep 0.2; done
	crashed=$(now)
	if [ "$RESTART" = kill ]; then
		sql -c "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; kill -9 $(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' LIMIT 1")'" \
			2> /dev/null || true
	else
		eval "$RESTART" > /dev/null
	fi
	for pid in "${pids[@]}"; do wait "$pid" || true; done
	until sql -c "SELECT 1" > /dev/null 2>&1; do sleep 0.1; done
	down=$(calc "$(now) - $crashed")
	middle=$(left)
	start_writers
fi
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
ended=$(now)
[ "$failed" = 0 ] || cat "$work"/writer*
wal=$(sql -c "SELECT pg_current_wal_insert_lsn() - '$lsn'")
deadlocks=$(cat "$work"/writer* | grep -c "deadlock detected" || true)

heading "Stream without repeats: $(thousands "$events") events, $writers writers, batches of $(thousands "$batch"), $shards shards, windows of $window" this ""
row "events a second, crash and recovery included" "$(calc "$events / ($ended - $began)")" "" "" "" ">= 12000" "$(calc "$events / ($ended - $began)")"
row "... without them" "$(calc "$events / ($ended - $began - $down)")" ""
row "time of an event" "$(calc "($ended - $began - $down) * 1e6 / $events")" us
row "WAL of an event, the counted rows included" "$(calc "$wal / $events")" B
row "... that of the filters alone, by their size" "$(sql -c "SELECT avg(octet_length(bytea(ids))) * $shards / $batch FROM seen_hour")" B
row "batches left when it crashed" "$middle" "" "" "" ">= 1" "$middle"
new=$(sql -c "SELECT count(*) FROM truth")
row "distinct ids" "$new" ""
twice=$(sql -c "SELECT count(*) - count(DISTINCT id) FROM click")
row "... counted twice" "$twice" "" "" "" "<= 0" "$twice"
lost=$(sql -c "SELECT count(*) FROM (SELECT id FROM truth EXCEPT SELECT id FROM click) l")
# as many as the FPR of all windows together makes, and five deviations
windows=$(sql -c "SELECT count(DISTINCT hour) FROM seen_hour")
bound=$(awk "BEGIN { m = $new * 1e-9 * $windows; printf \"%d\", m + 5 * sqrt(m) + 1 }")
row "... taken for repeats ($windows windows)" "$lost" "" "" "" "<= $bound" "$lost"
strange=$(sql -c "SELECT count(*) FROM (SELECT id FROM click EXCEPT SELECT id FROM truth) l")
row "ids that are none of the stream" "$strange" "" "" "" "<= 0" "$strange"
row "deadlocks" "$deadlocks" "" "" "" "<= 0" "$deadlocks"
