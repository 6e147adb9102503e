# SPDX-License-Identifier: PostgreSQL
# Sizes of joins by a sample of their keys (bloomfam.join_samples): two stars whose dates are wider than their facts; then random joins of facts and one
# dimension, and of three to nine relations, over a schema that is hard to size (bench/data/sizes.pl): how far expected rows are from those that come
# (max(expected / seen, seen / expected)), with samples and without; and times in four ways: join filters off and on, samples off and on.
#
# Last, which plans of the Star Schema Benchmark and of TPC-H are others with samples than with filters alone, and what that gives.
#
# ROWS (1000000), STAR_ROWS (3000000), SEED (1), PAIRS (1000), CHAINS (200), ROUNDS (5), RANDOM_PAGE_COST (4), KEYS (off): declares foreign keys
# SCALE (0.3) of the two suites; PARTS (star pairs chains suites): which of them
. ./join_filter.sh

rows=${ROWS:-1000000}
seed=${SEED:-1}
rounds=${ROUNDS:-5}
parts=" ${PARTS:-star pairs chains suites} "
settings="SET jit = off; SET max_parallel_workers_per_gather = 0; SET work_mem = '64MB'; SET random_page_cost = ${RANDOM_PAGE_COST:-4}; SET statement_timeout = '60s';"
ways="off,off on,off off,on on,on"

sql <<'SQL'
CREATE TABLE sizes (query int, form text, samples boolean, expected float8, seen float8, relations int);
CREATE TABLE times (query int, form text, way text, ms float8);
CREATE TABLE plans (query int, way text, plan text);
-- joins of a plan that run once: expected and seen
CREATE FUNCTION joins_of(plan json) RETURNS TABLE (expected float8, seen float8, relations int) LANGUAGE plpgsql AS $$
DECLARE
	child json;
	found int := 0;
	r record;
BEGIN
	FOR child IN SELECT json_array_elements(plan -> 'Plans') LOOP
		FOR r IN SELECT * FROM joins_of(child) LOOP
			IF r.expected IS NOT NULL THEN
				expected := r.expected; seen := r.seen; relations := r.relations;
				RETURN NEXT;
			ELSE
				found := found + r.relations;
			END IF;
		END LOOP;
	END LOOP;
	IF plan ->> 'Node Type' IN ('Hash Join', 'Merge Join', 'Nested Loop') AND (plan ->> 'Actual Loops')::int = 1 THEN
		expected := plan ->> 'Plan Rows'; seen := plan ->> 'Actual Rows'; relations := found;
		RETURN NEXT;
	END IF;
	expected := NULL; seen := NULL; relations := greatest(found, (plan ->> 'Relation Name' IS NOT NULL)::int);
	RETURN NEXT;
END $$;
CREATE FUNCTION size(n int, form text, query text, with_samples boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	PERFORM set_config('bloomfam.join_samples', with_samples::text, true);
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	INSERT INTO sizes SELECT n, form, with_samples, j.expected, j.seen, j.relations FROM joins_of(plan -> 0 -> 'Plan') j WHERE j.expected IS NOT NULL;
END $$;
-- runs a query in one of the ways; warms up if told so, and keeps how it is planned
CREATE FUNCTION run(n int, form text, query text, way text, warm boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	line text;
BEGIN
	PERFORM set_config('bloomfam.join_filter', split_part(way, ',', 1), true), set_config('bloomfam.join_samples', split_part(way, ',', 2), true);
	IF warm THEN
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
			INSERT INTO plans VALUES (n, way, line);
		END LOOP;
	END IF;
	started := clock_timestamp();
	EXECUTE query;
	IF NOT warm THEN
		INSERT INTO times VALUES (n, form, way, 1000 * extract(epoch FROM clock_timestamp() - started));
	END IF;
END $$;
CREATE VIEW errors AS SELECT *, greatest(greatest(expected, 1) / greatest(seen, 1), greatest(seen, 1) / greatest(expected, 1)) AS q FROM sizes;
CREATE VIEW medians AS SELECT n.query, n.form, w.way, coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms), 60000) AS ms
	FROM (SELECT DISTINCT query, form FROM times) n CROSS JOIN unnest('{"off,off","on,off","off,on","on,on"}'::text[]) w(way)
	LEFT JOIN times t ON t.query = n.query AND t.way = w.way GROUP BY n.query, n.form, w.way;
-- with filters, is the plan another with samples?  Where it is not, only planning differs, and what else the machine has to do.
CREATE VIEW replanned AS SELECT query, (array_agg(plan) FILTER (WHERE way = 'on,off')) <> (array_agg(plan) FILTER (WHERE way = 'on,on')) AS other
	FROM plans GROUP BY query;
SQL
preload

# statements FILE WHAT: a call for each line of the file, a form, a tab, and a query
statements()
{
	perl -e '
		my ($what, $rounds, @ways) = @ARGV;
		my $n = 0;
		while (<STDIN>)
		{
			chomp;
			my ($form, $query) = split /\t/;
			$n++;
			($form) = split / /, $form;
			if ($what eq "size") { print "SELECT size($n, \x27$form\x27, \$q\$$query\$q\$, $_);\n" foreach "false", "true"; next; }
			foreach my $round (0 .. $rounds)
			{
				print "SELECT run($n, \x27$form\x27, \$q\$$query\$q\$, \x27$_\x27, " . ($round ? "false" : "true") . ");\n" foreach $round % 2 ? reverse @ways : @ways;
			}
		}' "$2" "$rounds" $ways < "$1" > "$work/calls.sql"
	{ echo "$settings"; cat "$work/calls.sql"; } | PGOPTIONS='-c client_min_messages=error' psql -XAtq -d "$DB" -o /dev/null 2>> "$work/errors"
}

# tell NAME QUERY: prints what SQL says, a line each
tell() { sql -F '  ' -c "$1" | sed 's/^/    /'; }

# error TEXT WHERE BOUND QUANTILE: that of samples beside the server's
error()
{
	local with without
	with=$(sql -c "SELECT coalesce(percentile_cont($4) WITHIN GROUP (ORDER BY q), 0) FROM errors WHERE samples AND $2")
	without=$(sql -c "SELECT coalesce(percentile_cont($4) WITHIN GROUP (ORDER BY q), 0) FROM errors WHERE NOT samples AND $2")
	row "$1" "$with" "" "$without" "$with" "$3"
}

# four_ways TITLE: what each way takes beside all off, and beside filters alone
four_ways()
{
	heading "$1: how many times faster" "this" "off"
	for way in $ways; do
		row "filters,samples = $way: sum" "$(sql -c "SELECT sum(ms) FROM medians WHERE way = '$way'")" ms "$(sql -c "SELECT sum(ms) FROM medians WHERE way = 'off,off'")" \
			"$(sql -c "SELECT sum(ms) FILTER (WHERE way = 'off,off') / sum(ms) FILTER (WHERE way = '$way') FROM medians")"
	done
	for base in "on,off" "off,off" "off,on"; do
		row "geometric mean of both, beside filters,samples = $base" "" "" "" \
			"$(sql -c "SELECT exp(avg(ln(b.ms / a.ms))) FROM medians a JOIN medians b USING (query) WHERE a.way = 'on,on' AND b.way = '$base'")" "$([ "$base" != on,off ] || echo "${2-}")"
	done
	row "the worst of both, beside filters alone" "" "" "" "$(sql -c "SELECT min(b.ms / a.ms) FROM medians a JOIN medians b USING (query) WHERE a.way = 'on,on' AND b.way = 'on,off'")" ">= 0.7 x"
	row "... of those with another plan" "" "" "" "$(sql -c "SELECT coalesce(min(b.ms / a.ms), 1) FROM medians a JOIN medians b USING (query) JOIN replanned USING (query) WHERE other AND a.way = 'on,on' AND b.way = 'on,off'")" ""
	row "queries with another plan" "$(sql -c "SELECT count(*) FROM replanned WHERE other")" ""
	row "the worst of samples, beside all off" "" "" "" "$(sql -c "SELECT min(b.ms / a.ms) FROM medians a JOIN medians b USING (query) WHERE a.way = 'off,on' AND b.way = 'off,off'")" ">= 0.7 x"
	echo "  Slower than 0.9 of filters alone (query, form, then ms: off, filters, samples, both; is the plan another than with filters alone?):"
	tell "SELECT query, form, string_agg(round(ms::numeric, 1)::text, ' ' ORDER BY CASE way WHEN 'off,off' THEN 1 WHEN 'on,off' THEN 2 WHEN 'off,on' THEN 3 ELSE 4 END),
		CASE WHEN bool_or(other) THEN 'another plan' ELSE 'the same plan' END FROM medians JOIN replanned USING (query)
		GROUP BY 1, 2 HAVING max(ms) FILTER (WHERE way = 'on,off') / max(ms) FILTER (WHERE way = 'on,on') < 0.9 ORDER BY 1"
}

if [[ $parts == *" star "* ]]; then
	sql <<-SQL
		CREATE TABLE days AS SELECT g AS id, extract(year FROM date '1900-01-01' + g)::int AS year, 'some text about a day'::text AS line FROM generate_series(0, 73048) g;
		CREATE TABLE people AS SELECT g AS id, (hashint4(g) & 1023) % 50 AS state, chr(97 + (hashint4(g + 7) & 1023) % 5) AS edu, repeat('x', 60) AS name FROM generate_series(1, 1000000) g;
		CREATE TABLE goods AS SELECT g AS id, (hashint4(g) & 1023) % 10 AS kind, repeat('y', 40) AS name FROM generate_series(1, 18000) g;
		CREATE TABLE orders AS SELECT g AS id, 36159 + ((hashint8(g) & 1048575) % 1826)::int AS day, (1 + (hashint8(g + 99) & 1073741823) % 1000000)::int AS person,
			(1 + (hashint8(g + 77) & 1048575) % 18000)::int AS good, g % 100 AS amount FROM generate_series(1, ${STAR_ROWS:-3000000}::bigint) g;
		ALTER TABLE days ADD PRIMARY KEY (id);
		ALTER TABLE people ADD PRIMARY KEY (id);
		ALTER TABLE goods ADD PRIMARY KEY (id);
		VACUUM ANALYZE;
	SQL
	printf '%s\n' "star	SELECT sum(amount) FROM orders o JOIN days d ON d.id = o.day JOIN people p ON p.id = o.person WHERE year = 2001 AND state = 7 AND edu = 'c'" \
		"star_goods	SELECT sum(amount) FROM orders o JOIN days d ON d.id = o.day JOIN people p ON p.id = o.person JOIN goods g ON g.id = o.good
			WHERE year = 2001 AND state = 7 AND edu = 'c'" | perl -0pe 's/\n\t+/ /g' > "$work/star"
	statements "$work/star" size
	statements "$work/star" run
	heading "A star of $(thousands "${STAR_ROWS:-3000000}") orders, days of two centuries: rows of the last join, expected beside seen" "samples" "server"
	error "star" "query = 1" "<= 1.5 x" 1
	error "star with goods" "query = 2" "<= 1.5 x" 1
	for n in 1 2; do
		heading "query $n: how many times faster" "this" "off"
		for way in $ways; do
			row "filters,samples = $way" "$(sql -c "SELECT ms FROM medians WHERE query = $n AND way = '$way'")" ms "$(sql -c "SELECT ms FROM medians WHERE query = $n AND way = 'off,off'")" \
				"$(sql -c "SELECT max(ms) FILTER (WHERE way = 'off,off') / max(ms) FILTER (WHERE way = '$way') FROM medians WHERE query = $n")" "$([ "$way" != on,on ] || echo ">= 8 x")"
		done
		row "both, beside the better one alone" "" "" "" "$(sql -c "SELECT min(ms) FILTER (WHERE way IN ('on,off', 'off,on')) / max(ms) FILTER (WHERE way = 'on,on') FROM medians WHERE query = $n")" ">= 0.9 x"
	done
	sql -c "TRUNCATE sizes, times, plans; DROP TABLE days, people, goods, orders"
fi

if [[ $parts == *" pairs "* || $parts == *" chains "* ]]; then
	../data/sizes.pl schema "$seed" "$rows" | sql
	[ -z "${KEYS-}" ] || ../data/sizes.pl keys "$seed" "$rows" | sql
fi
if [[ $parts == *" pairs "* ]]; then
	../data/sizes.pl pairs "$seed" "$rows" "${PAIRS:-1000}" | sed 's/\t/\tSELECT 1 /' > "$work/pairs"
	statements "$work/pairs" size
	heading "$(sql -c "SELECT count(DISTINCT query) FROM sizes") joins of facts and a dimension, seed $seed: expected beside seen" "samples" "server"
	error "median, all" "true" "" 0.5
	error "95th percentile, all" "true" "" 0.95
	error "median, where more than 2 % match" "seen > 0.02 * $rows" "<= 1.1 x" 0.5
	error "95th percentile, where more than 2 % match" "seen > 0.02 * $rows" "<= 2 x" 0.95
	error "worst, where more than 2 % match" "seen > 0.02 * $rows" "" 1
	worse="FROM errors a JOIN errors b USING (query) WHERE a.samples AND NOT b.samples"
	row "the most that samples are worse than the server" "" "" "" "$(sql -c "SELECT max(a.q / b.q) $worse")" "<= 1.5 x"
	row "... so many by more than 1.5" "$(sql -c "SELECT count(*) $worse AND a.q > 1.5 * b.q")" ""
	# for bench/sql/plot: rows that come, that are expected with samples, and by the server
	sql -c "SELECT format('sizes,point,%s,rows,%s,%s,,', a.seen, a.expected, b.expected) $worse" >> "$csv"
	sql -c "TRUNCATE sizes, times, plans"
fi
if [[ $parts == *" chains "* ]]; then
	../data/sizes.pl chains "$seed" "$rows" "${CHAINS:-200}" | sed 's/\t/\tSELECT sum(f.amount) /' > "$work/chains"
	statements "$work/chains" size
	statements "$work/chains" run
	heading "$(sql -c "SELECT count(DISTINCT query) FROM sizes") queries of three to nine relations, seed $seed: all joins that ran once, expected beside seen" "samples" "server"
	error "median" "true" "" 0.5
	error "95th percentile" "true" "" 0.95
	error "95th percentile, of 100 rows and more" "seen >= 100" "" 0.95
	error "95th percentile of joins of up to five, no snowflakes, of 100 rows" "seen >= 100 AND relations <= 5 AND form NOT IN ('snowflake', 'back')" "<= 4 x" 0.95
	error "... nor OR of EXISTS, in which nothing is sampled" "seen >= 100 AND relations <= 5 AND form NOT IN ('snowflake', 'back', 'or_exists')" "<= 4 x" 0.95
	four_ways "$(sql -c "SELECT count(DISTINCT query) FROM times") queries, random_page_cost ${RANDOM_PAGE_COST:-4}${KEYS:+, foreign keys}" ">= 1.5 x"
	row "queries that were cancelled after a minute" "$(grep -c 'canceling statement' "$work/errors" || true)" ""
	grep -v 'canceling statement' "$work/errors" | grep ERROR | sort | uniq -c | head -n 5 || true
fi

# other_plans SUITE TITLE: the queries of ../SUITE whose plans are others with samples, by turns with filters alone
other_plans()
{
	local name=$1 title=$2 file query queries=() statements=()

	printf '%s\n' "\\set scale ${SCALE:-0.3}" "SET jit = off;" "SET max_parallel_workers_per_gather = 0;" "SET random_page_cost = ${RANDOM_PAGE_COST:-4};" > "$work/setup.sql"
	for file in "../$name"/q*.sql; do
		[ -z "$(plan_note "$file")" ] || continue
		query=$(basename "$file" .sql)
		queries+=("$query")
		statements+=("${query}_off" "${query}_on")
		both "$query" "" "$(cat "$file")"
	done
	heading "$title, scale factor ${SCALE:-0.3}: how many times faster with samples" "this" "filters"
	row "queries whose plan is another with samples, of $(printf '%s\n' "../$name"/q*.sql | wc -l)" "${#queries[@]}" ""
	[ ${#queries[@]} -gt 0 ] || return 0
	compare_rows "${queries[@]}"
	echo '\o /dev/null' >> "$work/setup.sql"
	measure "$rounds" "${statements[@]}"
	for query in "${queries[@]}"; do
		faster "${query}_on" "${query}_off" ">= 0.97 x" "$query"
	done
	report_rows
}

if [[ $parts == *" suites "* ]]; then
	off='on; SET bloomfam.join_samples = off'
	on='on; SET bloomfam.join_samples = on'
	new_database
	load_suite ssb "${SCALE:-0.3}" date customer supplier part lineorder
	other_plans ssb "Star Schema Benchmark"
	sql -f ../ssb/foreign_keys.sql
	other_plans ssb "Star Schema Benchmark, indexes on foreign keys"
	new_database
	load_suite tpch "${SCALE:-0.3}" region nation supplier part partsupp customer orders lineitem
	other_plans tpch "TPC-H, foreign keys declared"
	sql -f ../tpch/foreign_keys.sql
	other_plans tpch "TPC-H, indexes on them, too"
	sql -c "DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT conrelid::regclass AS t, conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.t, r.conname); END LOOP; END \$\$"
	other_plans tpch "TPC-H, indexes without declared foreign keys"
fi
