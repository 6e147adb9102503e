# SPDX-License-Identifier: PostgreSQL
# A file of events goes into a table that has some of them already: with a filter of the table's keys, which the program bloomfam asks where the file is,
# against COPY into a staging table and what SQL has to find the new rows there.
#
# ROWS (300000) in the file; TABLE (20000000 for 3000000 rows, and in proportion) in the table; KNOWN ("10 50 90 99"), how many of a hundred rows are
# in the table; ROUNDS (3); WAYS ("not_exists temporary split drop"), beside COPY and ON CONFLICT; BLOOMFAM, the program: that of `make client`, or in the path. docs/outside.md has ROWS=3000000.
#
# The filter is older than the table: a hundredth of the rows came since. A hundredth of the file's rows are there twice, and a tenth have quotes,
# commas and newlines in them. Each way begins with a copy of the same database, and all must end with the same table.
#
# Work is the time of processors that the server's processes, psql and bloomfam took together; a server that is elsewhere is not seen. It is much the same
# on a machine that is busy, where the time on the wall says little.
rows=${ROWS:-300000}
table=${TABLE:-$((rows / 3 * 20))}
rounds=${ROUNDS:-3}
ways=${WAYS-not_exists temporary split drop}
run=${DB}_run
program=${BLOOMFAM:-$(realpath ../../build/client/bloomfam)}
if ! [ -x "$program" ] && ! program=$(command -v bloomfam); then
	echo "etl: there is no program bloomfam; make client"
	return 0
fi

into() { PGOPTIONS='-c client_min_messages=warning' psql -XAtq -v ON_ERROR_STOP=1 -d "$run" "$@"; }
# now: in seconds
now() { date +%s.%N; }
# take_work: sets $spent, seconds of processors so far: the postmaster's, with those of its children that have ended; its living children's; this script's
take_work()
{
	sleep 0.3				# until a backend whose psql has ended is waited for
	times > "$work/times_of_script"
	spent=$({ cat "/proc/$postmaster/stat"; cat $(pgrep -P "$postmaster" | sed 's,.*,/proc/&/stat,') || true; } 2>/dev/null | sed 's/.*) //' |
		awk -v hz="$(getconf CLK_TCK)" -v mine="$(awk 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4 }' "$work/times_of_script")" '
			{ sum += $12 + $13; if (NR == 1) sum += $14 + $15 }
			END { print sum / hz + mine }')
}
postmaster=$(sql -c "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)")

# event NUMBERS: the rows of those numbers
event()
{
	echo "SELECT hashint8extended(g, 0) & 9223372036854775807 AS id, g % 10000 AS device, timestamptz '2026-01-01Z' + g * interval '10 ms' AS at,
		(g % 1000) / 8.0::float8 AS reading,
		CASE WHEN g % 10 = 0 THEN format(E'\"%s\" said: high,\nthen low', g % 100) ELSE 'all is well at station ' || g % 1000 END AS note FROM $1"
}

# ---- ways to load $work/in.csv into $run ----

declare -A names=([not_exists]="COPY, NOT EXISTS" [temporary]="COPY into a temporary table, ON CONFLICT" [split]="split, in two stages" [drop]="drop, FPR 1e-9")

# COPY into a staging table, and ON CONFLICT
way_conflict()
{
	into <<-SQL
		CREATE TABLE staging (LIKE events);
		\\copy staging FROM '$work/in.csv' (FORMAT csv, HEADER)
		INSERT INTO events SELECT * FROM staging ON CONFLICT DO NOTHING;
		DROP TABLE staging;
	SQL
}

way_not_exists()
{
	into <<-SQL
		CREATE TABLE staging (LIKE events);
		\\copy staging FROM '$work/in.csv' (FORMAT csv, HEADER)
		ANALYZE staging;
		INSERT INTO events SELECT DISTINCT ON (id) * FROM staging s WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = s.id);
		DROP TABLE staging;
	SQL
}

# load FILE: rows of which most are new
load()
{
	into <<-SQL
		CREATE TEMP TABLE staging (LIKE events);
		\\copy staging FROM '$1' (FORMAT csv, HEADER)
		ANALYZE staging;
		INSERT INTO events SELECT * FROM staging ON CONFLICT DO NOTHING;
	SQL
}

way_temporary() { load "$work/in.csv"; }

# fetch NAME: a filter, from the table where it is kept
fetch() { into -c "COPY (SELECT ids FROM filters WHERE name = '$1') TO STDOUT (FORMAT binary)" > "$work/ids.filter"; }

# rows that are certainly new at once; of the others the keys, and then those rows that the server lacks
way_split()
{
	fetch small
	"$program" split -f "$work/ids.filter" -c id --new "$work/new.csv" --maybe "$work/maybe.csv" --keys "$work/keys.csv" < "$work/in.csv" 2> "$work/said"
	load "$work/new.csv"
	into <<-SQL
		CREATE TEMP TABLE asked (id bigint);
		\\copy asked FROM '$work/keys.csv' (FORMAT csv, HEADER)
		ANALYZE asked;
		\\copy (SELECT id FROM (SELECT id FROM asked ORDER BY id) a WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = a.id)) TO '$work/lacking.csv' (FORMAT csv, HEADER)
	SQL
	"$program" build -c id -t bigint --fpr 0.001 -o "$work/lacking.filter" < "$work/lacking.csv" 2>> "$work/said"
	"$program" keep -f "$work/lacking.filter" -c id -o "$work/rest.csv" < "$work/maybe.csv" 2>> "$work/said"
	load "$work/rest.csv"
}

# rows that are certainly new, by a filter that is seldom wrong; all others are dropped
way_drop()
{
	fetch sure
	"$program" drop -f "$work/ids.filter" -c id --accept-loss -o "$work/new.csv" < "$work/in.csv" 2> "$work/said"
	load "$work/new.csv"
}

# ---- the table, its filters ----

heading "A table of $(thousands "$table") rows, and its filters" this
sql <<-SQL
	CREATE TABLE events (id bigint, device int, at timestamptz, reading float8, note text);
	INSERT INTO events $(event "generate_series(1::bigint, $table - $table / 100) g");
	CREATE TABLE filters (name text PRIMARY KEY, ids bloomfilter);
SQL
for filter in "small 0.01 blocked" "sure 1e-9 ribbon"; do
	read -r name fpr kind <<< "$filter"
	start=$(now)
	sql -c "INSERT INTO filters SELECT '$name', bloom_agg(id, $fpr, '$kind') FROM events"
	row "a filter of kind $kind, FPR $fpr, built and stored" "$(calc "$(now) - $start")" s
	row "... its size" "$(sql -c "SELECT octet_length(ids::bytea) / 1e6 FROM filters WHERE name = '$name'")" MB
done
sql <<-SQL
	INSERT INTO events $(event "generate_series($table - $table / 100 + 1::bigint, $table) g");
	ALTER TABLE events ADD PRIMARY KEY (id);
	VACUUM ANALYZE events;
SQL

# ---- the runs ----

for known in ${KNOWN:-10 50 90 99}; do
	# of a hundred rows, one is there twice
	sql -c "COPY (SELECT e.* FROM (SELECT CASE WHEN i % 100 < $known THEN 1 + i * 7919 % $table ELSE $table + i END AS g
		FROM generate_series(1::bigint, $rows - $rows / 100) i UNION ALL
		SELECT CASE WHEN i % 100 < $known THEN 1 + i * 7919 % $table ELSE $table + i END FROM generate_series(1::bigint, $rows / 100) i) n,
		LATERAL ($(event "(SELECT n.g) s")) e ORDER BY hashint8(id)) TO STDOUT (FORMAT csv, HEADER)" > "$work/in.csv"
	heading "$(thousands "$rows") rows of CSV ($(($(stat -c %s "$work/in.csv") / 1000000)) MB), $known % known" this "ON CONFLICT"
	: > "$work/times"
	right=
	for ((round = 1; round <= rounds; round++)); do
		for way in conflict $ways; do
			psql -XAtq -d postgres -c "CREATE DATABASE $run TEMPLATE $DB STRATEGY file_copy"
			take_work
			before=$spent
			start=$(now)
			"way_$way"
			echo "$way $(calc "$(now) - $start")" >> "$work/times"
			take_work
			echo "work_$way $(calc "$spent - $before")" >> "$work/times"
			result=$(into -c "SELECT count(*), sum(hash_record_extended(e, 0)) FROM events e")
			[ $way != conflict ] || right=$result
			[ $way != drop ] || lost=$((${right%|*} - ${result%|*}))
			if [ "$result" != "$right" ]; then
				echo "way $way: the table is not that of COPY and ON CONFLICT: $result, not $right"
				[ $way = drop ] || exit 1
			fi
			psql -XAtq -d postgres -c "DROP DATABASE $run"
		done
	done
	medians conflict $ways work_conflict $(printf 'work_%s ' $ways)
	base=$(median conflict)
	work_base=$(median work_conflict)
	row "COPY, ON CONFLICT" "$base" s
	row "... work" "$work_base" s
	for way in $ways; do
		bound=
		[ $way != drop ] || [ "$known" != 90 ] || bound=">= 3 x"
		row "${names[$way]} (times faster)" "$(median $way)" s "$base" "$(calc "$base / $(median $way)")"
		row "... work (times less)" "$(median work_$way)" s "$work_base" "$(calc "$work_base / $(median work_$way)")" "$bound"
		if [ $way = drop ]; then
			row "... new rows lost" "$lost" "" "" "" "<= 0" "$lost"
			sed -n 's/^bloomfam: \(expected loss\)/    \1/p' "$work/said"
		fi
	done
done
