# SPDX-License-Identifier: PostgreSQL
# Property: no value from outside, whoever computed its checksum, crashes the server: it is refused by every way in with the same verdict
# and a documented SQLSTATE, or it is safe in everything that can be done with it, and so is all that comes of it.

use strict;
use warnings;

use BloomfamTest;
use Cwd qw(getcwd);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();
use Wire;

my $compiler = $ENV{CC} // 'gcc';
my $dir = PostgreSQL::Test::Utils::tempdir();
my $tree = getcwd();

# ---- the values, tried on the core under ASan and UBSan on their way ----

# test/run has the program already
my $generate = $ENV{HOSTILE_GENERATE} // '';
my $built = -x $generate;
$generate = "$dir/generate" unless $built;
$built ||= run_log([ $compiler, '-std=gnu11', '-O1', '-g1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all', "-I$tree/src/core",
		'-o' => $generate, "$tree/test/hostile/generate.c", glob("$tree/src/core/*.c"), '-lm' ]);
plan skip_all => "no $compiler, or no sanitizers" unless $built;
ok(run_log([ $generate ], '>', "$dir/values", '2>', "$dir/summary"), 'the core takes every value in safety');
diag(slurp_file("$dir/summary")) unless slurp_file("$dir/summary") =~ /^\d+ values, \d+ of them accepted, \d+ pairs of those$/;
note(slurp_file("$dir/summary"));

my $node = start_node('main', "work_mem = '4MB'\n");
my $pid = $node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)});

# Runs in a database of any encoding.
my $setup = qq{
	CREATE TABLE hostile (id serial, kind text, what text, ok int, hex text);
	COPY hostile (kind, what, ok, hex) FROM '$dir/values';
} . q{
	CREATE TABLE filters (id int, kind text, what text, f bloomfilter);
	-- each beside another one that was changed, of its kind: not the next one, in which the same byte may be changed
	CREATE VIEW pairs AS SELECT *, coalesce(lead(f, 5) OVER sort, first_value(f) OVER sort) AS p FROM filters
		WINDOW sort AS (PARTITION BY kind, what ORDER BY hashint4(id));
	CREATE TABLE verdicts (id int, way text, state text);
	CREATE TABLE results (id int, op text, state text, message text);

	CREATE FUNCTION way_in(way text, hex text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
	BEGIN
		RETURN CASE way WHEN 'text' THEN ('\x' || hex)::bloomfilter ELSE decode(hex, 'hex')::bloomfilter END;
	END $$;

	CREATE PROCEDURE read_all() LANGUAGE plpgsql AS $$
	DECLARE
		h record;
		w text;
		value bloomfilter;
		state text;
	BEGIN
		FOR h IN SELECT * FROM hostile LOOP
			FOREACH w IN ARRAY ARRAY['text', 'bytea'] LOOP
				BEGIN
					value := way_in(w, h.hex);
					state := 'ok';
				EXCEPTION WHEN OTHERS THEN
					state := SQLSTATE;
				END;
				INSERT INTO verdicts VALUES (h.id, w, state);
			END LOOP;
			IF state = 'ok' THEN
				INSERT INTO filters VALUES (h.id, h.kind, h.what, value);
			END IF;
		END LOOP;
	END $$;

	-- What the aggregates do between processes and nodes anybody may call, by an aggregate of his own.
	CREATE AGGREGATE any_combine(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
	CREATE AGGREGATE any_state(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter);
	CREATE AGGREGATE any_union(bloomfilter) (SFUNC = bloom_union_combine, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
	CREATE AGGREGATE any_union_state(bloomfilter) (SFUNC = bloom_union_combine, STYPE = bloomfilter);
	CREATE AGGREGATE any_intersection(bloomfilter) (SFUNC = bloom_intersect_trans, STYPE = bloomfilter);
	CREATE AGGREGATE mixed_1(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
	CREATE AGGREGATE mixed_2(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
	CREATE AGGREGATE mixed_3(bloomfilter) (SFUNC = bloom_intersect_trans, STYPE = bloomfilter, FINALFUNC = bloom_union_final);

	CREATE TABLE others AS
		SELECT bloom_agg(g, 0.01, 'blocked') b, bloom_agg(g, 0.01, 'standard') s, bloom_agg(g) FILTER (WHERE g < 0) i FROM generate_series(1, 300) g;
	CREATE TABLE ops (op text, expression text);
	INSERT INTO ops VALUES
		('probe int', 'f @~ 3'), ('probe text', 'f @~ ''x''::text'), ('probe bigint', 'bloom_may_contain(f, 3::bigint)'),
		('commutator', '3 ~@ f'), ('hashed key', 'f @~ bloom_key(3)'),
		('any', 'bloom_may_contain_any(f, ARRAY[1, 2, NULL])'), ('all', 'bloom_may_contain_all(f, ARRAY[1, 2, 1000])'),
		('filter keys', 'bloom_filter_keys(f, ARRAY[1, 2, 77, 3])'),
		('self union', 'f | f'), ('self intersection', 'f & f'), ('union', 'f | b'), ('union 2', 's | f'), ('intersection', 'b & f'),
		('intersection 2', 'f & s'), ('union with none', 'f | i'), ('intersection with none', 'i & f'),
		('union of two', 'f | p'), ('union of two 2', 'p | f'), ('intersection of two', 'f & p'), ('intersection of two 2', 'p & f'),
		('fold of two', 'bloom_fold(f | p, 0.5)'), ('union aggregate of two', '(SELECT bloom_union_agg(x) FROM unnest(ARRAY[f, p]) x)'),
		('intersection aggregate of two', '(SELECT bloom_intersect_agg(x) FROM unnest(ARRAY[f, p]) x)'),
		('combine two', '(SELECT any_combine(x) FROM unnest(ARRAY[f, p]) x)'), ('combined state of two', '(SELECT any_state(x) FROM unnest(ARRAY[f, p]) x)'),
		('combine union of two', '(SELECT any_union(x) FROM unnest(ARRAY[p, f]) x)'), ('union state of two', '(SELECT any_union_state(x) FROM unnest(ARRAY[p, f]) x)'),
		('union of its kind', 'f | o'), ('union of its kind 2', 'o | f'), ('intersection of its kind', 'f & o'), ('intersection of its kind 2', 'o & f'),
		('remove', 'bloom_remove(f, 3)'), ('remove all', 'bloom_remove_all(f, ARRAY[1, 2, 2])'), ('count', 'bloom_count(f, 3)'),
		('add and remove', 'bloom_remove(bloom_add(f, 99), 99)'), ('add many', 'bloom_add_all(f, ARRAY(SELECT generate_series(1, 300)))'),
		('fold', 'bloom_fold(f, 0.5)'), ('fold 2', 'bloom_fold(f, 1e-9)'), ('fold 3', 'bloom_fold(f | b, 0.9)'),
		('info', 'bloom_info(f)'), ('cardinality', 'bloom_cardinality(f)'), ('fpr', 'bloom_fpr(f)'),
		('add', 'bloom_add(f, 3)'), ('add text', 'bloom_add(f, ''x''::text)'), ('add all', 'bloom_add_all(f, ARRAY[7, NULL, 8])'),
		('equal', 'f = f AND f <> b'), ('order', 'f < b'), ('hash', 'bloomfilter_hash_extended(f, 1)'),
		('union aggregate', '(SELECT bloom_union_agg(x) FROM unnest(ARRAY[f, f]) x)'),
		('union aggregate 2', '(SELECT bloom_union_agg(x) FROM unnest(ARRAY[f, b, f, i]) x)'),
		('union aggregate 3', '(SELECT bloom_union_agg(x) FROM unnest(ARRAY[s, f]) x)'),
		('intersection aggregate', '(SELECT bloom_intersect_agg(x) FROM unnest(ARRAY[f, f]) x)'),
		('intersection aggregate 2', '(SELECT bloom_intersect_agg(x) FROM unnest(ARRAY[b, f, f]) x)'),
		('combine', '(SELECT any_combine(x) FROM unnest(ARRAY[f, f, NULL]) x)'), ('combine 2', '(SELECT any_combine(x) FROM unnest(ARRAY[i, b, f]) x)'),
		('combine 3', '(SELECT any_combine(x) FROM unnest(ARRAY[f, i, s]) x)'), ('combined state', '(SELECT any_state(x) FROM unnest(ARRAY[f, f]) x)'),
		('combined state 2', '(SELECT any_state(x) FROM (SELECT any_state(x) x FROM unnest(ARRAY[f, f]) x UNION ALL SELECT f) y)'),
		('combine union', '(SELECT any_union(x) FROM unnest(ARRAY[f, f, b]) x)'), ('union state', '(SELECT any_union_state(x) FROM unnest(ARRAY[f, NULL, f]) x)'),
		('intersection state', '(SELECT any_intersection(x) FROM unnest(ARRAY[f, f]) x)'),
		('mixed 1', '(SELECT mixed_1(x) FROM unnest(ARRAY[f, f]) x)'), ('mixed 2', '(SELECT mixed_2(x) FROM unnest(ARRAY[f, f]) x)'),
		('mixed 2 with null', '(SELECT mixed_2(x) FROM unnest(ARRAY[f, NULL]) x)'),
		('mixed 3', '(SELECT mixed_3(x) FROM unnest(ARRAY[f, f]) x)'),
		('window', '(SELECT any_combine(x) OVER (ORDER BY n) FROM unnest(ARRAY[f, f]) WITH ORDINALITY u(x, n) LIMIT 1)');

	-- a filter that comes of a filter must be one, by its own rules
	CREATE FUNCTION recheck(v anyelement) RETURNS anyelement LANGUAGE plpgsql AS $$
	BEGIN
		IF pg_typeof(v) = 'bloomfilter'::regtype AND v IS NOT NULL THEN
			BEGIN
				PERFORM decode(substr(v::text, 3), 'hex')::bloomfilter;
			EXCEPTION WHEN OTHERS THEN
				RAISE 'made an invalid value: %', SQLERRM USING ERRCODE = 'XX001';
			END;
		END IF;
		RETURN v;
	END $$;

	-- A state on its way may ask for a filter of up to 500 MB, which takes its time: a few of those will do.
	CREATE PROCEDURE use_all(chosen text) LANGUAGE plpgsql AS $$
	DECLARE
		o record;
		r record;
	BEGIN
		FOR o IN SELECT * FROM ops LOOP
			EXECUTE format($f$CREATE OR REPLACE FUNCTION use_one(f bloomfilter, o bloomfilter, p bloomfilter, b bloomfilter, s bloomfilter, i bloomfilter) RETURNS text
				LANGUAGE sql AS $q$ SELECT recheck(v)::text FROM (SELECT %s AS v OFFSET 0) op $q$ $f$, o.expression);
			FOR r IN SELECT * FROM pairs LEFT JOIN (SELECT kind, f AS o FROM filters WHERE what = 'other') same USING (kind), others WHERE what = ANY (string_to_array(chosen, ' ')) AND
					CASE WHEN kind = 'partial' AND what IN ('byte', 'fields') AND o.op IN ('combine', 'mixed 1', 'window', 'combine two') THEN
						id % 64 = 0 OR coalesce((bloom_info(f)).capacity, 0) NOT BETWEEN 1e6 AND 1e10
					ELSE true END LOOP
				BEGIN
					PERFORM use_one(r.f, r.o, r.p, r.b, r.s, r.i);
				EXCEPTION WHEN OTHERS THEN
					INSERT INTO results VALUES (r.id, o.op, SQLSTATE, SQLERRM);
				END;
			END LOOP;
		END LOOP;
	END $$;
};

# What may come of using a value that was accepted.
my $documented = q{('42804', '22023', '0A000', '54000')};
my $undocumented = qq{SELECT op, state, count(*), min(id), min(message) FROM results WHERE state NOT IN $documented GROUP BY 1, 2 ORDER BY 1, 2};

$node->safe_psql('postgres', $setup);
my $total = $node->safe_psql('postgres', 'SELECT count(*) FROM hostile');
cmp_ok($total, '>', 10000, "$total values are for the server");

# ---- every way in ----

$node->safe_psql('postgres', 'CALL read_all()');
is($node->safe_psql('postgres', q{SELECT way, state, count(*) > 1000 FROM verdicts GROUP BY 1, 2 ORDER BY 1, 2}),
	"bytea|22P03|t\nbytea|ok|t\ntext|22P02|t\ntext|ok|t", 'text and bytea: refused as such, or accepted');
is($node->safe_psql('postgres', q{SELECT count(*) FROM verdicts JOIN hostile USING (id) WHERE (state = 'ok') <> (ok = 1)}),
	'0', '... where the core does');

my $wire = Wire->new($node, 'postgres');
my %states;
my $different = 0;
$wire->prepare('recv', 'SELECT $1::bloomfilter IS NOT NULL');
open my $values, '<', "$dir/values" or die;
while (my $line = <$values>)
{
	my ($kind, $what, $ok, $hex) = split /\t/, $line;
	my $data = pack('H*', $hex =~ s/\n//r);
	my $answer = $wire->execute_prepared('recv', [ \$data ]);
	my $state = defined $answer ? 'ok' : $wire->{sqlstate};

	$states{$state}++;
	$different++ if ($state eq 'ok') != $ok;
}
close $values;
$wire->close;
is(join(' ', sort keys %states), '22P03 ok', 'binary parameters: refused as such, or accepted');
is($different, 0, '... where the core does');

is( $node->safe_psql('postgres', qq{
		COPY (SELECT f FROM filters ORDER BY id) TO '$dir/binary' (FORMAT binary);
		CREATE TABLE again (n serial, f bloomfilter);
		COPY again (f) FROM '$dir/binary' (FORMAT binary);
		SELECT count(*) = (SELECT count(*) FROM filters), bool_and(bytea(a.f) = bytea(b.f)) FROM again a
			JOIN (SELECT row_number() OVER (ORDER BY id) n, f FROM filters) b USING (n)}),
	't|t', 'COPY BINARY: what was accepted goes out and in');

# ---- all that can be done with those that were accepted ----

foreach my $what ('nothing other byte length payload', 'grown', 'fields', 'family unknown')
{
	my ($status, $out, $error) = $node->psql('postgres', "CALL use_all('$what')");

	is($status, 0, "used: $what") or diag($error);
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) * (SELECT count(*) FROM ops) FROM filters'), '>', 100000, 'many values, many operations');
is($node->safe_psql('postgres', $undocumented), '', 'none had another end than a result or a documented error');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM results JOIN filters USING (id) WHERE what IN ('nothing', 'other') AND kind NOT IN ('identity', 'partial')
		AND (op = 'info' OR op = 'probe int' AND kind <> 'parquet' OR kind IN ('standard', 'blocked') AND op IN ('self union', 'union of its kind', 'add', 'fold', 'combine',
			'union aggregate'))}),
	'0', 'an unchanged value had no error');

# The initial value of an aggregate is a state, too.
my $initial = $node->safe_psql('postgres', q{
	CREATE TABLE initial_results (state text, message text);
	DO $$
	DECLARE
		r record;
		call text;
	BEGIN
		FOR r IN SELECT DISTINCT ON (kind, what) * FROM filters UNION ALL SELECT * FROM filters WHERE what = 'unknown' LOOP
			FOREACH call IN ARRAY ARRAY['bloom_agg_key_trans', 'bloom_agg_key_combine', 'bloom_union_trans', 'bloom_intersect_trans'] LOOP
				EXECUTE format('CREATE OR REPLACE AGGREGATE with_initial(%s) (SFUNC = %s, STYPE = bloomfilter, INITCOND = %L, FINALFUNC = %s)',
					CASE call WHEN 'bloom_agg_key_trans' THEN 'bloomkey' ELSE 'bloomfilter' END, call, r.f,
					CASE call WHEN 'bloom_union_trans' THEN 'bloom_union_final' ELSE 'bloom_agg_key_final' END);
				BEGIN
					IF call = 'bloom_agg_key_trans' THEN
						PERFORM recheck(with_initial(bloom_key(g))) FROM generate_series(1, 5000) g;
					ELSE
						PERFORM recheck(with_initial(f)) FROM (SELECT b f FROM others UNION ALL SELECT r.f) x;
					END IF;
					PERFORM recheck(with_initial(r.f)) FROM generate_series(1, 0) WHERE call <> 'bloom_agg_key_trans';
				EXCEPTION WHEN OTHERS THEN
					INSERT INTO initial_results VALUES (SQLSTATE, SQLERRM);
				END;
			END LOOP;
		END LOOP;
	END $$;
	SELECT state, message, count(*) FROM initial_results WHERE state NOT IN } . $documented . q{ GROUP BY 1, 2});
is($initial, '', 'aggregates that begin with a hostile state');

# ---- families that this database cannot write ----

$node->safe_psql('postgres', q{CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'});
$node->safe_psql('latin', 'CREATE EXTENSION bloomfam');
$node->safe_psql('latin', $setup);
$node->safe_psql('latin', q{DELETE FROM hostile WHERE what <> 'family'; CALL read_all(); CALL use_all('family')});
is($node->safe_psql('latin', 'SELECT count(*) FROM filters'), $node->safe_psql('postgres', q{SELECT count(*) FROM filters WHERE what = 'family'}),
	'LATIN1: the same are accepted');
is($node->safe_psql('latin', $undocumented), '', 'LATIN1: a family that cannot be written here is no other error');

is($node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)}), $pid, 'the same postmaster');
no_crash($node);
$node->stop;
done_testing();
