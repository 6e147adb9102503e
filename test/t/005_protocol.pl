# SPDX-License-Identifier: PostgreSQL
# Property: however a client asks - prepared or not, generic plans, text or binary parameters, cursors, PL/pgSQL, triggers - the answer is
# the same, and never that of another filter, nor of an older state of the same one.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Wire;

my $node = start_node('main');

# own says what the filter of that id was made of
$node->safe_psql('postgres', q{
	CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
	INSERT INTO filters SELECT g % 20, bloom_agg(g, 1e-5, CASE g % 2 WHEN 0 THEN 'standard' ELSE 'blocked' END, 2000)
		FROM generate_series(1, 20000) g GROUP BY g % 20, g % 2;
	CREATE TABLE keys AS SELECT g AS k FROM generate_series(1, 20000) g;
	CREATE FUNCTION must(answer boolean, truth boolean, what text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF answer IS DISTINCT FROM truth THEN
			RAISE EXCEPTION 'wrong answer % to %', answer, what;
		END IF;
		RETURN true;
	END $$;
	ANALYZE;
});
is($node->safe_psql('postgres', 'SELECT sum((SELECT count(*) FROM keys WHERE f @~ k)), sum((SELECT count(*) FROM keys WHERE f @~ k AND k % 20 = id)) FROM filters'),
	'20000|20000', 'each key is in one filter, and no other');

# ---- pgbench: simple, extended, prepared (whose plans become generic) ----

my $script = q{
\set i random(0, 19)
\set k random(1, 20000)
SELECT must(bloom_may_contain(f, :k::int), :k::int % 20 = :i::int, 'a column') FROM filters WHERE id = :i;
SELECT must(:k::int ~@ (SELECT f FROM filters WHERE id = :i), :k::int % 20 = :i::int, 'a scalar subquery');
SELECT f AS filter FROM filters WHERE id = :i \gset
SELECT must(bloom_may_contain(:filter::bloomfilter, :k::bigint), :k::int % 20 = :i::int, 'a parameter');
SELECT must(count(*) = 1000, true, 'all keys') FROM keys WHERE bloom_may_contain(:filter::bloomfilter, k);
};
foreach my $mode ('simple', 'extended', 'prepared')
{
	# only a simple query has the value in its text
	my $text = $mode eq 'simple' ? $script =~ s/:filter\b/':filter'/gr : $script;

	$node->pgbench("--no-vacuum --client=2 --transactions=100 --protocol=$mode", 0, [qr{processed: 200/200}], [qr{^$}], "pgbench, $mode",
		{ "005_$mode" => $text });
}

# ---- untyped parameters are read as the filter would read them ----

my ($status, $out, $error) = $node->psql('postgres', q{
\set VERBOSITY verbose
PREPARE of_text AS SELECT bloom_agg(k::text) @~ $1 FROM keys WHERE k <= 10;
EXECUTE of_text('7');
EXECUTE of_text('07');
PREPARE of_int AS SELECT f @~ $1 FROM filters WHERE id = 1;
EXECUTE of_int('01');
EXECUTE of_int('one')}, on_error_stop => 0);
is($out, "t\nf\nt", 'an untyped parameter is text for a filter of texts, and a number for one of integers');
like($error, qr/^psql:<stdin>:\d+: ERROR:  22P02: invalid input syntax for type bigint: "one"$/m, '... or an error');

# ---- PREPARE with generic and custom plans ----

foreach my $mode ('force_generic_plan', 'force_custom_plan', 'auto')
{
	is( $node->safe_psql('postgres', qq{
			SET plan_cache_mode = $mode;
			PREPARE by_value(bloomfilter, int) AS SELECT bloom_may_contain(\$1, \$2);
			PREPARE by_id(int, int) AS SELECT f @~ \$2 FROM filters WHERE id = \$1;
			PREPARE rows(bloomfilter) AS SELECT count(*), sum(k) FROM keys WHERE k ~@ \$1;
			CREATE FUNCTION pg_temp.check_all() RETURNS int LANGUAGE plpgsql AS \$\$
			DECLARE
				r record;
				a boolean;
				n int := 0;
			BEGIN
				FOR r IN SELECT id, f, k FROM filters, generate_series(1, 40) k ORDER BY k, id LOOP
					EXECUTE format('EXECUTE by_value(%L, %s)', r.f, r.k) INTO a;
					PERFORM must(a, r.k % 20 = r.id, 'by value');
					EXECUTE format('EXECUTE by_id(%s, %s)', r.id, r.k) INTO a;
					PERFORM must(a, r.k % 20 = r.id, 'by id');
					n := n + 1;
				END LOOP;
				RETURN n;
			END \$\$;
			SELECT pg_temp.check_all()}),
		'800', "PREPARE, $mode");
}

# ---- the extended protocol: binary parameters and results, portals read in pieces ----

my $wire = Wire->new($node, 'postgres');
my $file = $wire->query('SELECT id, f FROM filters ORDER BY id');
my %binary;
foreach my $id (0 .. 19)
{
	my $text = $wire->execute('SELECT f FROM filters WHERE id = $1::int', [$id]);
	my $data = $wire->execute('SELECT f FROM filters WHERE id = $1::int', [ \pack('N', $id) ], binary => 1);

	$binary{$id} = $data->[0][0];
	is('\x' . unpack('H*', $binary{$id}), $text->[0][0], "filter $id: binary is what text says") if $id < 4;
}
$wire->prepare('probe', 'SELECT bloom_may_contain($1, $2::int), bloom_key($2::int)');
my $wrong = 0;
foreach my $k (1 .. 60)
{
	foreach my $id (0 .. 19)
	{
		my $row = $wire->execute_prepared('probe', [ \$binary{$id}, \pack('N', $k) ], binary => 1)->[0];

		$wrong++ if ord($row->[0]) != ($k % 20 == $id ? 1 : 0) || length $row->[1] != 16;
	}
}
is($wrong, 0, 'binary parameters: every answer is right');
my $damaged = $binary{0};
substr($damaged, 100, 1) ^= "\1";
ok(!defined $wire->execute_prepared('probe', [ \$damaged, \pack('N', 1) ]), 'a damaged binary parameter is refused');
is($wire->{sqlstate}, '22P03', '... as such');
is($wire->execute_prepared('probe', [ \$binary{0}, \pack('N', 20) ])->[0][0], 't', '... and the session goes on');
$wire->query('BEGIN');
is(scalar @{ $wire->execute('SELECT k FROM keys, filters WHERE id = $1::int AND f @~ k', [7], fetch => 33) }, 1000, 'a portal that is read in pieces');
$wire->query('COMMIT');
$wire->close;

# ---- cursors ----

is( $node->safe_psql('postgres', q{
		CREATE FUNCTION read_cursor(c refcursor, OUT forward bigint, OUT backward bigint, OUT middle boolean) LANGUAGE plpgsql AS $$
		DECLARE
			key int;
			answer boolean;
		BEGIN
			MOVE ABSOLUTE 0 FROM c;
			forward := 0;
			backward := 0;
			LOOP
				FETCH NEXT FROM c INTO key, answer;
				EXIT WHEN NOT FOUND;
				PERFORM must(answer, key % 20 = 3, 'cursor, forward');
				forward := forward + 1;
			END LOOP;
			LOOP
				FETCH PRIOR FROM c INTO key, answer;
				EXIT WHEN NOT FOUND;
				PERFORM must(answer, key % 20 = 3, 'cursor, backward');
				backward := backward + 1;
			END LOOP;
			FETCH ABSOLUTE 123 FROM c INTO key, answer;
			middle := key % 20 = 3 IS NOT DISTINCT FROM answer;
		END $$;
		BEGIN;
		DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT k, f @~ k FROM filters, keys WHERE id = 3 AND k <= 5000;
		DECLARE plain SCROLL CURSOR FOR SELECT k, bloom_may_contain((SELECT f FROM filters WHERE id = 3), k) FROM keys WHERE k <= 5000;
		SELECT * FROM read_cursor('plain');
		SAVEPOINT s;
		UPDATE filters SET f = bloom_create(10) WHERE id = 3;
		SELECT * FROM read_cursor('plain');
		ROLLBACK TO s;
		SELECT * FROM read_cursor('plain');
		COMMIT;
		BEGIN;
		UPDATE filters SET f = bloom_create(10) WHERE id = 3;
		SELECT * FROM read_cursor('held');
		ROLLBACK;
		SELECT * FROM read_cursor('held')}),
	join("\n", ('5000|5000|t') x 5),
	'cursors: forward, backward, across savepoints and with hold');

# ---- one expression, many filters: what is kept open must be what is asked ----

# PL/pgSQL's simple expressions, and prepared plans, live as long as the session.  Each round replaces a TOASTed filter by another of the
# same shape and size, vacuums so that its TOAST values and pages are free again, and asks by expressions that have seen the old one.
$node->safe_psql('postgres', q{
	CREATE TABLE slot (id int PRIMARY KEY, f bloomfilter, made int);
	CREATE FUNCTION answer(key int) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		filter bloomfilter;
	BEGIN
		SELECT f INTO filter FROM slot WHERE id = 1;
		RETURN bloom_may_contain(filter, key);
	END $$;
	CREATE FUNCTION filter_of(round int) RETURNS bloomfilter LANGUAGE sql AS $$
		SELECT bloom_agg(round * 10000 + k, 1e-6, 'standard', 2000) FROM generate_series(1, 2000) k $$;
	INSERT INTO slot VALUES (1, filter_of(0), 0);
	CREATE FUNCTION check_slot(round int) RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		filter bloomfilter;
		n int := 0;
	BEGIN
		FOR r IN greatest(round - 2, 0)..round + 1 LOOP
			FOR k IN 1..5 LOOP
				PERFORM must(answer(r * 10000 + k), r = round, format('round %s, answer(), key of %s', round, r));
				PERFORM must((SELECT f @~ (r * 10000 + k) FROM slot WHERE id = 1), r = round, format('round %s, subquery, key of %s', round, r));
				SELECT f INTO filter FROM slot WHERE id = 1;
				PERFORM must((r * 10000 + k) ~@ filter, r = round, format('round %s, variable, key of %s', round, r));
				n := n + 3;
			END LOOP;
		END LOOP;
		RETURN n;
	END $$;
	ALTER TABLE slot ALTER f SET STORAGE external;
});
my $session = $node->background_psql('postgres');
my $checked = 0;
$session->query_safe('PREPARE ask(int) AS SELECT f @~ $1 FROM slot WHERE id = 1');
$session->query_safe('SET plan_cache_mode = force_generic_plan');
my @ways = (
	'UPDATE slot SET f = filter_of(%d), made = %d',
	'DELETE FROM slot; VACUUM slot; INSERT INTO slot VALUES (1, filter_of(%d), %d)',
	'TRUNCATE slot; INSERT INTO slot VALUES (1, filter_of(%d), %d)',
	'UPDATE slot SET f = filter_of(%d), made = %d; VACUUM FULL slot',
	# rolled back, then done
	'BEGIN; UPDATE slot SET f = filter_of(999); SELECT check_slot(999); ROLLBACK; VACUUM slot; UPDATE slot SET f = filter_of(%d), made = %d',
	'BEGIN; SAVEPOINT a; UPDATE slot SET f = filter_of(999); SELECT check_slot(999); ROLLBACK TO a; UPDATE slot SET f = filter_of(%d), made = %d; COMMIT');
foreach my $round (1 .. 48)
{
	my $way = sprintf $ways[ $round % @ways ], $round, $round;

	# now by the session that asks, now by another
	if ($round % 4 < 2)
	{
		$session->query_safe("$_;") foreach split /; /, $way;
	}
	else
	{
		$node->safe_psql('postgres', "VACUUM slot");
		$node->safe_psql('postgres', join("\n", map { "$_;" } split /; /, $way));
	}
	$checked += $session->query_safe("SELECT check_slot($round)");
	$checked++ if $session->query_safe(sprintf 'EXECUTE ask(%d)', $round * 10000 + 1) eq 't';
	$checked++ if $session->query_safe(sprintf 'EXECUTE ask(%d)', ($round - 1) * 10000 + 1) eq 'f';
}
is($checked, 45 + 47 * 60 + 96, 'a session that lives long: every answer is that of the filter as it is now') or diag($checked);
$session->quit;

# In one call: a loop over filters of the same and of other shapes, with commits.
is( $node->safe_psql('postgres', q{
		CREATE PROCEDURE walk(INOUT n int) LANGUAGE plpgsql AS $$
		DECLARE
			r record;
			filter bloomfilter;
		BEGIN
			FOR round IN 100..160 LOOP
				UPDATE slot SET f = filter_of(round);
				IF round % 3 = 0 THEN
					COMMIT;
				END IF;
				PERFORM must(answer(round * 10000 + 1), true, 'this round');
				PERFORM must(answer((round - 1) * 10000 + 1), false, 'the last one');
				n := n + 2;
				IF round % 7 = 0 THEN
					ROLLBACK;
					PERFORM must(answer(round * 10000 + 1), round % 3 = 0, 'this round, rolled back');
					PERFORM must(answer((round - round % 3) * 10000 + 1), true, 'the last one that was committed');
					n := n + 2;
				END IF;
				FOR r IN SELECT * FROM filters WHERE id % 4 = round % 4 ORDER BY random() LOOP
					filter := r.f;
					PERFORM must(filter @~ 24, r.id = 4, 'a variable');
					PERFORM must(bloom_may_contain(r.f, 24), r.id = 4, 'a field of a record');
					filter := filter | bloom_create(1000, 1e-5, CASE r.id % 2 WHEN 0 THEN 'standard' ELSE 'blocked' END);
					PERFORM must(filter @~ 24, r.id = 4, 'a union');
					n := n + 3;
				END LOOP;
			END LOOP;
		END $$;
		CALL walk(0)}),
	61 * 2 + 8 * 2 + 61 * 15,
	'PL/pgSQL: loops, commits and rollbacks');

# ---- triggers that maintain filters, in concurrent sessions ----

$node->safe_psql('postgres', q{
	CREATE TABLE segment (id int PRIMARY KEY, f bloomfilter NOT NULL);
	INSERT INTO segment SELECT g, bloom_create(5000, 0.001, CASE g % 2 WHEN 0 THEN 'standard' ELSE 'blocked' END, 'int') FROM generate_series(0, 3) g;
	CREATE TABLE event (seg int, k int);
	CREATE SEQUENCE key_source;
	CREATE FUNCTION add_key() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE segment SET f = bloom_add(f, NEW.k) WHERE id = NEW.seg;
		PERFORM must((SELECT f @~ NEW.k FROM segment WHERE id = NEW.seg), true, 'what was just added');
		RETURN NULL;
	END $$;
	CREATE TRIGGER add_key AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION add_key();
	CREATE FUNCTION add_keys() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE segment SET f = bloom_add_all(f, added.ks) FROM (SELECT seg, array_agg(k) ks FROM new GROUP BY seg) added WHERE id = seg;
		RETURN NULL;
	END $$;
});
$script = q{
\set s random(0, 3)
BEGIN;
INSERT INTO event VALUES (:s, nextval('key_source'));
SAVEPOINT a;
INSERT INTO event VALUES (:s, nextval('key_source'));
ROLLBACK TO a;
INSERT INTO event SELECT :s, nextval('key_source') FROM generate_series(1, 2);
COMMIT;
BEGIN;
INSERT INTO event VALUES (:s, nextval('key_source'));
ROLLBACK;
};
$node->pgbench('--no-vacuum --client=4 --transactions=60 --protocol=prepared', 0, [qr{processed: 240/240}], [qr{^$}], 'triggers in four sessions',
	{ '005_triggers' => $script });
my $kept = q{SELECT count(*), bool_and(f @~ k) FROM event JOIN segment ON id = seg};
is($node->safe_psql('postgres', $kept), '720|t', 'every key that was committed is in its filter');
is( $node->safe_psql('postgres', q{
		SELECT bool_and(f = (SELECT bloom_agg(k, 0.001, (bloom_info(f)).kind, 5000) FROM event WHERE seg = id)) FROM segment}),
	't', '... and nothing else is: it equals the filter built of them');
$node->safe_psql('postgres', q{
	DROP TRIGGER add_key ON event;
	CREATE TRIGGER add_keys AFTER INSERT ON event REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION add_keys();
	INSERT INTO event SELECT g % 4, nextval('key_source') FROM generate_series(1, 2000) g;
});
is($node->safe_psql('postgres', $kept), '2720|t', 'a trigger per statement does it, too');

no_crash($node);
$node->stop;
done_testing();
