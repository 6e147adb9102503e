# SPDX-License-Identifier: PostgreSQL
# Sizes of joins by a sample of their rows (bloomfam.join_samples): two stars whose dates are wider than their facts; then random joins of facts and one
# dimension, and of three to nine relations, over a schema that is hard to size (bench/data/sizes.pl): how far expected rows are from those that come
# (max(expected / seen, seen / expected)), with samples and without; and times in four ways: join filters off and on, samples off and on.
#
# Between them come three more kinds of random joins, of which only the sizes are measured:
# own: facts that have a condition of their own, which goes with the key or does not, are joined to one dimension; many conditions on days are ranges of dates.
# together: facts are joined to two dimensions whose conditions mostly select the same rows, such as a province and its stores, a brand and its category, a day and its rates.
# parts: the facts lie in eight partitions by day, and are joined to one dimension as in pairs and own; half of the queries have a condition by which most of them need not read all partitions.
# Fewer ROWS show less there: facts of which fewer than 100,000 meet their own conditions are not sampled, and count with what the server expects.
#
# Last, which plans of the Star Schema Benchmark and of TPC-H are others with samples than with filters alone, and what that gives.
#
# ROWS (1000000), STAR_ROWS (3000000), SEED (1), PAIRS (1000, of each of pairs, own, together and parts), CHAINS (200), ROUNDS (5), RANDOM_PAGE_COST (4),
# KEYS (off): declares foreign keys
# SCALE (0.3) of the two suites; PARTS (star pairs own together parts chains suites): which of them
. ./join_filter.sh

rows=${ROWS:-1000000}
seed=${SEED:-1}
rounds=${ROUNDS:-5}
parts=" ${PARTS:-star pairs own together parts chains suites} "
settings="$(settings 64MB "${RANDOM_PAGE_COST:-4}") SET statement_timeout = '60s';"
ways="off,off on,off off,on on,on"

sql <<'SQL'
CREATE TABLE sizes (query int, form text, samples boolean, expected float8, seen float8, relations int);
-- how many rows of the facts meet the facts' own conditions, where a query has any
CREATE TABLE own_rows (query int, facts float8);
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
CREATE VIEW errors AS SELECT *, greatest(greatest(expected, 1) / greatest(seen, 1), greatest(seen, 1) / greatest(expected, 1)) AS q FROM sizes LEFT JOIN own_rows USING (query);
CREATE VIEW medians AS SELECT n.query, n.form, w.way, coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms), 60000) AS ms
	FROM (SELECT DISTINCT query, form FROM times) n CROSS JOIN unnest('{"off,off","on,off","off,on","on,on"}'::text[]) w(way)
	LEFT JOIN times t ON t.query = n.query AND t.way = w.way GROUP BY n.query, n.form, w.way;
-- with filters, is the plan another with samples?  Where it is not, only planning differs, and what else the machine has to do.
CREATE VIEW replanned AS SELECT query, (array_agg(plan) FILTER (WHERE way = 'on,off')) <> (array_agg(plan) FILTER (WHERE way = 'on,on')) AS other
	FROM plans GROUP BY query;
SQL
preload

# statements FILE WHAT: a call for each line of the file, a form, a tab, and a query; to know sizes, what follows another tab is counted, the facts under their own conditions
statements()
{
	perl -e '
		my ($what, $rounds, @ways) = @ARGV;
		my $n = 0;
		while (<STDIN>)
		{
			chomp;
			my ($form, $query, $facts) = split /\t/;
			$n++;
			($form) = split / /, $form;
			print "INSERT INTO own_rows SELECT $n, count(*) $facts;\n" if $what eq "size" && defined $facts;
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
	row "the worst of both, of more than 20 ms, beside filters alone" "" "" "" \
		"$(sql -c "SELECT coalesce(min(b.ms / a.ms), 1) FROM medians a JOIN medians b USING (query) WHERE a.way = 'on,on' AND b.way = 'on,off' AND a.ms > 20")" ">= 0.85 x"
	row "the worst of both, beside filters alone" "" "" "" "$(sql -c "SELECT min(b.ms / a.ms) FROM medians a JOIN medians b USING (query) WHERE a.way = 'on,on' AND b.way = 'on,off'")" ""
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
				"$(sql -c "SELECT max(ms) FILTER (WHERE way = 'off,off') / max(ms) FILTER (WHERE way = '$way') FROM medians WHERE query = $n")" "$([ "$way" != on,on ] || echo ">= 16 x")"
		done
		row "both, beside the better one alone" "" "" "" "$(sql -c "SELECT min(ms) FILTER (WHERE way IN ('on,off', 'off,on')) / max(ms) FILTER (WHERE way = 'on,on') FROM medians WHERE query = $n")" ">= 0.9 x"
	done
	sql -c "TRUNCATE sizes, times, plans; DROP TABLE days, people, goods, orders"
fi

# size_of MODE TITLE: the sizes of random joins, with samples and without, and a heading
size_of()
{
	../data/sizes.pl "$1" "$seed" "$rows" "${PAIRS:-1000}" | sed 's/\t/\tSELECT 1 /' > "$work/$1"
	statements "$work/$1" size
	heading "$(sql -c "SELECT count(DISTINCT query) FROM sizes") $2, seed $seed: expected beside seen" "samples" "server"
}

# end_of_sizes PREFIX: statements that failed, whose sizes are not known; then all is empty for the next kind
end_of_sizes()
{
	row "$1statements that failed" "$(grep -c ERROR "$work/errors" || true)" ""
	grep ERROR "$work/errors" | sort | uniq -c | head -n 5 || true
	: > "$work/errors"
	sql -c "TRUNCATE sizes, own_rows, times, plans"
}

# joins of which more than 2 % of the facts match that meet the facts' own conditions
matching="seen > 0.02 * coalesce(facts, $rows)"

# errors_of_pairs PREFIX BOUND [FORM TEXT]...: those of joins of facts and one dimension, in all and of some forms; the bound is that of how much worse than the server one may be
errors_of_pairs()
{
	local prefix=$1 bound=$2 worse="FROM errors a JOIN errors b USING (query) WHERE a.samples AND NOT b.samples"
	shift 2

	error "${prefix}median, all" "true" "" 0.5
	error "${prefix}95th percentile, all" "true" "" 0.95
	error "${prefix}median, where more than 2 % match" "$matching" "<= 1.2 x" 0.5
	error "${prefix}95th percentile, where more than 2 % match" "$matching" "<= 2.5 x" 0.95
	error "${prefix}worst, where more than 2 % match" "$matching" "" 1
	while [ $# -gt 0 ]; do
		error "${prefix}95th percentile, more than 2 %, $2" "$matching AND form = '$1'" "" 0.95
		shift 2
	done
	row "${prefix}joins of which more than 2 % match" "$(sql -c "SELECT count(*) FROM errors WHERE samples AND $matching")" ""
	row "${prefix}the most that samples are worse than the server" "" "" "" "$(sql -c "SELECT max(a.q / b.q) $worse")" "$bound"
	row "${prefix}... so many by more than 1.5" "$(sql -c "SELECT count(*) $worse AND a.q > 1.5 * b.q")" ""
}

if [[ $parts =~ " "(pairs|own|together|parts|chains)" " ]]; then
	../data/sizes.pl schema "$seed" "$rows" | sql
	[ -z "${KEYS-}" ] || ../data/sizes.pl keys "$seed" "$rows" | sql
fi
if [[ $parts == *" pairs "* ]]; then
	size_of pairs "joins of facts and a dimension"
	errors_of_pairs "" "<= 1.5 x"
	# for bench/sql/plot: rows that come, that are expected with samples, and by the server
	sql -c "SELECT format('sizes,point,%s,rows,%s,%s,,', a.seen, a.expected, b.expected) FROM errors a JOIN errors b USING (query) WHERE a.samples AND NOT b.samples" >> "$csv"
	end_of_sizes ""
fi
if [[ $parts == *" own "* ]]; then
	size_of own "joins of facts with conditions of their own and a dimension"
	errors_of_pairs "own: " "" with "conditions of the key" apart "others"
	end_of_sizes "own: "
fi
if [[ $parts == *" together "* ]]; then
	size_of together "joins of facts and two dimensions whose conditions go together, or do not: all three"
	error "together: median, of 100 rows and more" "relations = 3 AND seen >= 100" "" 0.5
	error "together: 95th percentile, of 100 rows and more" "relations = 3 AND seen >= 100" "" 0.95
	error "together: worst, of 100 rows and more" "relations = 3 AND seen >= 100" "" 1
	error "together: 95th percentile, where more than 2 % match" "relations = 3 AND $matching" "<= 3 x" 0.95
	error "together: 95th percentile, of 100 rows, conditions that go together" "relations = 3 AND seen >= 100 AND form = 'alike'" "" 0.95
	error "together: 95th percentile, of 100 rows, others" "relations = 3 AND seen >= 100 AND form = 'apart'" "" 0.95
	row "together: joins of 100 rows and more" "$(sql -c "SELECT count(*) FROM errors WHERE samples AND relations = 3 AND seen >= 100")" ""
	row "together: joins of which more than 2 % match" "$(sql -c "SELECT count(*) FROM errors WHERE samples AND relations = 3 AND $matching")" ""
	end_of_sizes "together: "
fi
if [[ $parts == *" parts "* ]]; then
	size_of parts "joins of facts in partitions and a dimension"
	errors_of_pairs "parts: " "" pruned "partitions pruned" whole "all partitions"
	end_of_sizes "parts: "
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
	four_ways "$(sql -c "SELECT count(DISTINCT query) FROM times") queries, random_page_cost ${RANDOM_PAGE_COST:-4}${KEYS:+, foreign keys}" ">= 1.09 x"
	row "queries that were cancelled after a minute" "$(grep -c 'canceling statement' "$work/errors" || true)" ""
	grep -v 'canceling statement' "$work/errors" | grep ERROR | sort | uniq -c | head -n 5 || true
fi

# other_plans SUITE TITLE: the queries of ../SUITE whose plans are others with samples, by turns with filters alone
other_plans()
{
	local name=$1 title=$2 file query queries=() statements=()

	printf '%s\n' "\\set scale ${SCALE:-0.3}" "$(settings "" "${RANDOM_PAGE_COST:-4}")" > "$work/setup.sql"
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
