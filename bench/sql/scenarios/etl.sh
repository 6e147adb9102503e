# SPDX-License-Identifier: PostgreSQL
# A file of events goes into a table that has some of them already: with a filter of the table's keys, which the program bloomfam asks where the file is,
# against COPY into a staging table and what SQL has to find the new rows there.
#
# ROWS (300000) in the file; TABLE (20000000 for 3000000 rows, and in proportion) in the table; KNOWN ("10 33 90 99"), how many of a hundred rows are
# in the table; KEY (id), or "id,device", a key of two columns; ROUNDS (3); WAYS ("not_exists temporary filter stages split drop"), beside COPY and ON
# CONFLICT; BLOOMFAM, the program: that of `make client`, or in the path.
#
# A hundredth of the file's rows are there twice, a hundredth have no key, and a tenth have quotes, commas and newlines in them.  What copies into the
# table directly has a filter of all its keys; that of "stages" is older, and a hundredth of the rows came since.  Each way begins with a copy of the same
# database, and all must end with the same table.
#
# Work is the time of processors that the server's processes, psql and bloomfam took together; a server that is elsewhere is not seen. It is much the same
# on a machine that is busy, where the time on the wall says little.
rows=${ROWS:-300000}
table=${TABLE:-$((rows / 3 * 20))}
rounds=${ROUNDS:-3}
ways=${WAYS-not_exists temporary filter stages split drop}
key=${KEY:-id}
run=${DB}_run
case $key in
	*,*) types=bigint,int; one="($key)"; match="e.id = a.id AND e.device = a.device" ;;
	*) types=bigint; one=id; match="e.id = a.id" ;;
esac
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

declare -A names=([not_exists]="COPY, NOT EXISTS" [temporary]="COPY into a temporary table, ON CONFLICT" [filter]="the same, with a stored filter in SQL"
	[stages]="split, an older filter, all staged" [split]="split --once, new rows by COPY" [drop]="drop --once, FPR 1e-9, by COPY")

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
		INSERT INTO events SELECT * FROM staging a WHERE NOT EXISTS (SELECT FROM events e WHERE $match) ON CONFLICT DO NOTHING;
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

# what the filter denies goes in without a look at the index for it; the rest is looked up by a join
way_filter()
{
	into <<-SQL
		CREATE TEMP TABLE staging (LIKE events);
		\\copy staging FROM '$work/in.csv' (FORMAT csv, HEADER)
		ANALYZE staging;
		INSERT INTO events SELECT * FROM staging a
		WHERE (NOT (SELECT keys FROM filters WHERE name = 'small') @~ $one) IS NOT FALSE OR NOT EXISTS (SELECT FROM events e WHERE $match)
		ON CONFLICT DO NOTHING;
	SQL
}

# fetch NAME: a filter, from the table where it is kept
fetch() { into -c "COPY (SELECT keys FROM filters WHERE name = '$1') TO STDOUT (FORMAT binary)" > "$work/keys.filter"; }

# load_rest: of the rows that may be known, those whose keys the server lacks
load_rest()
{
	into <<-SQL
		CREATE TEMP TABLE asked AS SELECT $key FROM events WHERE false;
		\\copy asked FROM '$work/keys.csv' (FORMAT csv, HEADER)
		ANALYZE asked;
		\\copy (SELECT $key FROM (SELECT $key FROM asked ORDER BY $key) a WHERE NOT EXISTS (SELECT FROM events e WHERE $match)) TO '$work/lacking.csv' (FORMAT csv, HEADER)
	SQL
	"$program" build -c "$key" -t "$types" --fpr 0.001 -o "$work/lacking.filter" < "$work/lacking.csv" 2>> "$work/said"
	"$program" keep -f "$work/lacking.filter" -c "$key" -o "$work/rest.csv" < "$work/maybe.csv" 2>> "$work/said"
	load "$work/rest.csv"
}

# split ARGUMENT...: the file, with the keys of rows that may be known
split() { "$program" split "$@" -f "$work/keys.filter" -c "$key" --new "$work/new.csv" --maybe "$work/maybe.csv" --keys "$work/keys.csv" < "$work/in.csv" 2> "$work/said"; }

way_stages()
{
	fetch old
	split
	load "$work/new.csv"
	load_rest
}

# copy FILE: rows that are all new, directly
copy() { into -c "\copy events FROM '$1' (FORMAT csv, HEADER)"; }

way_split()
{
	fetch small
	split --once
	copy "$work/new.csv"
	load_rest
}

# rows that are certainly new, by a filter that is seldom wrong; all others are dropped
way_drop()
{
	fetch sure
	"$program" drop --once -f "$work/keys.filter" -c "$key" --accept-loss -o "$work/new.csv" < "$work/in.csv" 2> "$work/said"
	copy "$work/new.csv"
}

# ---- the table, its filters ----

heading "A table of $(thousands "$table") rows, and its filters" this
sql <<-SQL
	CREATE TABLE events (id bigint, device int, at timestamptz, reading float8, note text);
	INSERT INTO events $(event "generate_series(1::bigint, $table - $table / 100) g");
	CREATE TABLE filters (name text PRIMARY KEY, keys bloomfilter);
	INSERT INTO filters SELECT 'old', bloom_agg($one) FROM events;
	INSERT INTO events $(event "generate_series($table - $table / 100 + 1::bigint, $table) g");
	ALTER TABLE events ADD UNIQUE ($key);
SQL
for filter in "small 0.01 blocked" "sure 1e-9 ribbon"; do
	read -r name fpr kind <<< "$filter"
	start=$(now)
	sql -c "INSERT INTO filters SELECT '$name', bloom_agg($one, $fpr, '$kind') FROM events"
	row "a filter of kind $kind, FPR $fpr, built and stored" "$(calc "$(now) - $start")" s
	row "... its size" "$(sql -c "SELECT octet_length(keys::bytea) / 1e6 FROM filters WHERE name = '$name'")" MB
done
sql -c "VACUUM ANALYZE events"

# ---- the runs ----

for known in ${KNOWN:-10 33 90 99}; do
	# of a hundred rows, one is there twice, and one has no key
	sql -c "COPY (SELECT CASE WHEN n.i % 100 = 57 THEN NULL ELSE e.id END AS id, e.device, e.at, e.reading, e.note
		FROM (SELECT i, CASE WHEN i % 100 < $known THEN 1 + i * 7919 % $table ELSE $table + i END AS g
			FROM (SELECT generate_series(1::bigint, $rows - $rows / 100) UNION ALL SELECT generate_series(1::bigint, $rows / 100)) r (i)) n,
		LATERAL ($(event "(SELECT n.g) s")) e ORDER BY hashint8(e.id)) TO STDOUT (FORMAT csv, HEADER)" > "$work/in.csv"
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
