# SPDX-License-Identifier: PostgreSQL
# One key against many stored filters, against reading one slice of as many bytea values (the least that any look at a stored value can cost) and
# against fetching them whole.  The plot shows the time over the size of the filters (bench/sql/plot).
#
# FILTERS (2000) of 1 MB, SIZES (16384 65536 262144 1048576 4194304) of the FILTERS / 8 filters of the plot.
filters=${FILTERS:-2000}
rounds=${ROUNDS:-5}

# stored FILTERS BYTES: tables f and b of so many filters of this size, and of bytea values that are equal to them.  The filters hold few keys: that
# saves time here and makes none of the statements faster.
stored()
{
	sql <<-SQL
		DROP TABLE IF EXISTS f, b;
		CREATE UNLOGGED TABLE f (id int, f bloomfilter);
		CREATE UNLOGGED TABLE b (id int, b bytea);
		ALTER TABLE b ALTER b SET STORAGE EXTERNAL;
		INSERT INTO f SELECT s, bloom_agg('user:' || s * 1000 + x, 0.01, 'blocked', ($2 * 8 / 9.95)::bigint) FROM generate_series(1, $1) s, generate_series(1, 100) x GROUP BY s;
		INSERT INTO b SELECT id, bytea(f) FROM f;
		VACUUM ANALYZE f;
		VACUUM ANALYZE b;
		CHECKPOINT;
	SQL
	echo "SELECT count(*) FROM f WHERE bloom_may_contain(f, 'user:42');" > "$work/probe.sql"
	echo "SELECT count(*) FROM b WHERE substr(b, $2 / 2, 100) = 'x';" > "$work/slice.sql"
	echo "SELECT count(*) FROM b WHERE get_byte(b, $2 / 2) = 256;" > "$work/detoast.sql"
}

# measure_segments NAME...: these by turns, and then fetching whole values by itself, as that leaves nothing of the others in the caches
measure_segments()
{
	measure "$rounds" detoast
	mv "$work/medians" "$work/detoast_medians"
	measure "$((rounds * 3))" "$@"
	cat "$work/detoast_medians" >> "$work/medians"
}

# per_filter NAME BASE BOUND TEXT FILTERS: microseconds a filter
per_filter()
{
	local a b

	a=$(calc "$(median "$1") * 1000 / $5")
	b=$(calc "$(median "$2") * 1000 / $5")
	case $3 in
		'>='*) row "$4" "$a" us "$b" "$(calc "$b / $a")" "$3" ;;
		*) row "$4" "$a" us "$b" "$(calc "$a / $b")" "$3" ;;
	esac
}

stored "$filters" 1048576
long=$(head -c 10240 /dev/zero | tr '\0' x)
echo "SELECT count(*) FROM f WHERE bloom_may_contain(f, 'user:42_16_bytes');" > "$work/short_key.sql"
echo "SELECT count(*) FROM f WHERE bloom_may_contain(f, '$long');" > "$work/long_key.sql"
echo "SELECT count(*) FROM f WHERE id % 4 = 0 AND bloom_may_contain(f, 'user:42');" > "$work/quarter.sql"
measure_segments probe slice short_key long_key quarter
heading "One key, $(thousands "$filters") filters of $(sql -c "SELECT pg_size_pretty(octet_length(f::bytea)::bigint) FROM f LIMIT 1"): us a filter" probe against
per_filter probe slice "<= 1.5 x" "1 MB: against a slice of 100 bytes of bytea" "$filters"
per_filter probe detoast ">= 20 x" "1 MB: against fetching the value (times faster)" "$filters"
per_filter long_key short_key "<= 1.05 x" "a key of 10 kB against one of 16 bytes" "$filters"
row "a quarter of the filters, against all: time" "$(median quarter)" ms "$(median probe)" "$(calc "$(median quarter) / $(median probe)")" ""

stored $((filters * 5 / 2)) 16500
measure_segments probe slice
heading "One key, $(thousands $((filters * 5 / 2))) filters of $(sql -c "SELECT pg_size_pretty(octet_length(f::bytea)::bigint) FROM f LIMIT 1"): us a filter" probe against
per_filter probe slice "<= 1.5 x" "16 kB: against a slice of 100 bytes of bytea" $((filters * 5 / 2))
per_filter probe detoast "" "16 kB: against fetching the value (times slower)" $((filters * 5 / 2))

heading "One key, $(thousands $((filters / 8))) filters of a size: us a filter" probe against
for size in ${SIZES:-16384 65536 262144 1048576 4194304}; do
	stored $((filters / 8)) "$size"
	measure_segments probe slice
	per_filter probe slice "" "size $size: against a slice" $((filters / 8))
	per_filter probe detoast "" "size $size: against fetching the value" $((filters / 8))
done
