# SPDX-License-Identifier: PostgreSQL
# Property: whoever makes an aggregate of the functions behind the aggregates, in any combination and over any stored value, gets the right
# filter, NULL or a documented error: never a crash, and no false "no".  By a role that may do nothing else.
#
# MATRIX in the environment: "all" tries every case, which takes many minutes; "sample" a tenth of those that are tried by default.
# MATRIX_MUTANTS: so many changed states of each sort; MATRIX_SEED, a number between 0 and 1: other changes.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $share = { all => 0, default => share(2, 1), sample => 10 }->{ $ENV{MATRIX} // 'default' };
my $node = start_node('main', "work_mem = '4MB'\nmax_parallel_workers_per_gather = 0\nenable_partitionwise_aggregate = on\n");
my $pid = $node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)});

$node->safe_psql('postgres', q{
	CREATE ROLE nobody LOGIN;
	CREATE SCHEMA nobody AUTHORIZATION nobody;
	ALTER ROLE nobody SET search_path = nobody, public;
});

my $setup = q{
	SET client_min_messages = warning;

	-- A state of each sort, as it would travel; keys is what the value holds, an int4 each.
	CREATE AGGREGATE state_of(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
	CREATE AGGREGATE state_of(bloomkey, float8, text, bigint) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
	CREATE AGGREGATE union_state(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter);
	CREATE TABLE stored (id serial PRIMARY KEY, what text, f bloomfilter, keys int[]);
	INSERT INTO stored (what, f, keys) SELECT kind, bloom_agg(x, 0.01, kind, 60), array_agg(x) FROM bloom_kinds(10), generate_series(1, 50) x GROUP BY kind;
	INSERT INTO stored (what, f, keys) SELECT kind || ', others', bloom_agg(x, 0.01, kind, 60), array_agg(x) FROM bloom_kinds(10), generate_series(40, 70) x GROUP BY kind;
	INSERT INTO stored (what, f, keys) SELECT 'blocked, larger', bloom_agg(x, 0.01, 'blocked', 5000), array_agg(x) FROM generate_series(1, 50) x;
	INSERT INTO stored (what, f, keys) SELECT 'text', bloom_agg(x::text, 0.01, 'blocked', 60), NULL FROM generate_series(1, 50) x;
	INSERT INTO stored (what, f, keys) SELECT 'no family', bloom_create(60), '{}';
	INSERT INTO stored (what, f, keys) SELECT 'identity', bloom_agg(x), '{}' FROM generate_series(1, 0) x;
	INSERT INTO stored (what, f, keys) SELECT 'identity, no family', bloom_agg(bloom_key(x)), '{}' FROM generate_series(1, 0) x;
	INSERT INTO stored (what, f, keys) SELECT 'partial', state_of(bloom_key(x)), array_agg(x) FROM generate_series(1, 50) x;
	INSERT INTO stored (what, f, keys) SELECT 'partial, expected', state_of(bloom_key(x), 0.01, 'blocked', 60), array_agg(x) FROM generate_series(1, 3) x;
	INSERT INTO stored (what, f, keys) SELECT 'partial of ' || kind, state_of(bloom_key(x), 0.01, kind, NULL), array_agg(x)
		FROM (VALUES ('counting'), ('xor'), ('scalable')) v(kind), generate_series(1, 50) x, generate_series(1, 2) GROUP BY kind;
	INSERT INTO stored (what, f, keys) SELECT 'partial, unknown', union_state(NULL), NULL;
	INSERT INTO stored (what, f, keys) VALUES ('NULL', NULL, NULL);

	-- Bytes with their checksum made right: XXH3 of all, the checksum taken as zero, which is what bloom_hash() gives of bytea.
	CREATE FUNCTION sealed(bytes bytea) RETURNS bytea LANGUAGE sql AS $$
		SELECT overlay(zeroed placing substr(decode(lpad(to_hex(h & 255), 2, '0') || lpad(to_hex((h >> 8) & 255), 2, '0') || lpad(to_hex((h >> 16) & 255), 2, '0')
			|| lpad(to_hex((h >> 24) & 255), 2, '0'), 'hex'), 1, 4) from 9)
		FROM (SELECT z AS zeroed, bloom_hash(bloom_key(z)) AS h FROM (SELECT overlay(bytes placing '\x00000000' from 9) AS z) y) x $$;

	-- a state that calls itself one of kind parquet, whose keys have another hash
	INSERT INTO stored (what, f, keys)
		SELECT 'partial of parquet', sealed(set_byte(set_byte(f::bytea, 6, 2), 64, 4))::bloomfilter, NULL FROM stored WHERE what = 'partial';

	CREATE TABLE functions (name text, is_strict boolean, verb text);
	INSERT INTO functions VALUES ('bloom_agg_key_combine', false, 'unite'), ('bloom_union_trans', false, 'unite'), ('bloom_union_combine', false, 'unite'),
		('bloom_intersect_trans', false, 'intersect'), ('bloom_union', true, 'unite'), ('bloom_intersect', true, 'intersect');
	CREATE TABLE finals (name text);
	INSERT INTO finals VALUES (NULL), ('bloom_agg_key_final'), ('bloom_union_final'), ('bloom_intersect_final');
	CREATE TABLE problems (test text, what text, problem text);
	CREATE TABLE counts (test text, results bigint, errors bigint);
	CREATE SEQUENCE cases;

	-- What is wrong with a result: it must be a value that can be read, and, if it is a filter, hold the keys of all that was united, or of what was
	-- in each that was intersected.  NULL: nothing.
	CREATE FUNCTION problem(result bloomfilter, verb text, inputs int[]) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		kind text;
	BEGIN
		IF result IS NULL THEN
			RETURN NULL;
		END IF;
		BEGIN
			kind := (bloom_info(result::text::bloomfilter)).kind;
		EXCEPTION WHEN OTHERS THEN
			RETURN 'not a value: ' || SQLERRM;
		END;
		IF kind = 'partial' OR EXISTS (SELECT FROM stored WHERE id = ANY (inputs) AND keys IS NULL) THEN
			RETURN NULL;
		END IF;
		IF verb = 'unite' AND EXISTS (SELECT FROM stored, unnest(keys) k WHERE id = ANY (inputs) AND NOT result @~ k) THEN
			RETURN 'lost a key';
		END IF;
		IF verb = 'intersect' AND EXISTS (SELECT k FROM stored, unnest(keys) k WHERE id = ANY (inputs) AND NOT result @~ k
				GROUP BY k HAVING count(DISTINCT id) = (SELECT count(DISTINCT id) FROM stored WHERE id = ANY (inputs))) THEN
			RETURN 'lost a common key';
		END IF;
		RETURN NULL;
	END $$;

	-- Runs a query for pairs of stored values, $1 and $2 their ids; it gives filters, which are checked for verb.  A plan is made once.
	CREATE PROCEDURE try(test text, name text, query text, verb text, thin int) LANGUAGE plpgsql AS $$
	DECLARE
		p record;
		r bloomfilter;
		found_problem text;
		nresults bigint := 0;
		nerrors bigint := 0;
	BEGIN
		EXECUTE 'PREPARE q(int, int) AS ' || query;
		FOR p IN SELECT a.id AS a, b.id AS b, a.what || ', then ' || b.what AS what FROM stored a, stored b LOOP
			CONTINUE WHEN nextval('cases') % thin <> 0;
			BEGIN
				FOR r IN EXECUTE format('EXECUTE q(%s, %s)', p.a, p.b) LOOP
					nresults := nresults + 1;
					found_problem := problem(r, verb, ARRAY[p.a, p.b]);
					IF found_problem IS NOT NULL THEN
						INSERT INTO problems VALUES (test, name || ': ' || p.what, found_problem);
					END IF;
				END LOOP;
			EXCEPTION WHEN OTHERS THEN
				nerrors := nerrors + 1;
				IF SQLSTATE NOT IN ('42804', '22023', '0A000', '54000', '22004') THEN
					INSERT INTO problems VALUES (test, name || ': ' || p.what, SQLSTATE || ' ' || SQLERRM);
				END IF;
			END;
		END LOOP;
		DEALLOCATE q;
		INSERT INTO counts VALUES (test, nresults, nerrors);
	END $$;

	-- Makes an aggregate, if there is one with these functions: both directions of a moving one are strict or not.
	CREATE FUNCTION make_aggregate(definition text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE 'CREATE OR REPLACE AGGREGATE tried(bloomfilter) (' || definition || ')';
		RETURN true;
	END $$;

	CREATE PROCEDURE plain(thin int) LANGUAGE plpgsql AS $$
	DECLARE
		s record;
		f text;
		rows text := $q$(VALUES (1, $1), (2, $2), (3, $1)) v(n, id) LEFT JOIN stored USING (id)$q$;
	BEGIN
		FOR s IN SELECT * FROM functions LOOP
			FOR f IN SELECT name FROM finals LOOP
				PERFORM make_aggregate(format('SFUNC = %s, STYPE = bloomfilter', s.name) || coalesce(', FINALFUNC = ' || f, ''));
				CALL try('plain', s.name || ' ' || coalesce(f, '-'), 'SELECT tried(f ORDER BY n) FROM ' || rows, s.verb, thin);
				CALL try('window', s.name || ' ' || coalesce(f, '-'), 'SELECT tried(f) OVER (ORDER BY n) FROM ' || rows, '', thin * 4);
			END LOOP;
		END LOOP;
	END $$;

	-- as one node combines what others send: two partitions, aggregated each for itself
	CREATE PROCEDURE combined(thin int) LANGUAGE plpgsql AS $$
	DECLARE
		s record;
		f text;
		c text;
	BEGIN
		FOR s IN SELECT * FROM functions LOOP
			FOR f IN SELECT name FROM finals LOOP
				FOR c IN SELECT name FROM functions LOOP
					PERFORM make_aggregate(format('SFUNC = %s, STYPE = bloomfilter, COMBINEFUNC = %s', s.name, c) || coalesce(', FINALFUNC = ' || f, ''));
					CALL try('combined', format('%s %s %s', s.name, c, coalesce(f, '-')), 'SELECT tried(f) FROM parted WHERE id IN ($1, $2)', '', thin);
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;
	CREATE TABLE parted (LIKE stored) PARTITION BY LIST (id);
	SELECT format('CREATE TABLE parted_%1$s PARTITION OF parted FOR VALUES IN (%1$s)', id) FROM stored \gexec
	INSERT INTO parted SELECT * FROM stored;
	ANALYZE parted;

	CREATE PROCEDURE moving(thin int) LANGUAGE plpgsql AS $$
	DECLARE
		s record;
		i record;
		f text;
	BEGIN
		FOR s IN SELECT * FROM functions LOOP
			FOR i IN SELECT * FROM functions WHERE is_strict = s.is_strict LOOP
				FOR f IN SELECT name FROM finals LOOP
					PERFORM make_aggregate(format('SFUNC = %1$s, STYPE = bloomfilter, MSFUNC = %1$s, MINVFUNC = %2$s, MSTYPE = bloomfilter', s.name, i.name)
						|| coalesce(', FINALFUNC = ' || f || ', MFINALFUNC = ' || f, ''));
					CALL try('moving', format('%s %s %s', s.name, i.name, coalesce(f, '-')),
						'SELECT tried(f) OVER (ORDER BY n ROWS 1 PRECEDING) FROM (VALUES (1, $1), (2, $2), (3, $1), (4, $2)) v(n, id) LEFT JOIN stored USING (id)', '', thin);
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;

	-- a state to begin with; and keys in place of filters, which both bloom_agg and bloom_add take
	CREATE PROCEDURE initial(thin int) LANGUAGE plpgsql AS $$
	DECLARE
		s record;
		f text;
		i record;
		args text;
	BEGIN
		FOR i IN SELECT * FROM stored WHERE what <> 'NULL' LOOP
			CONTINUE WHEN nextval('cases') % thin <> 0;
			FOR f IN SELECT name FROM finals LOOP
				FOR s IN SELECT * FROM functions LOOP
					PERFORM make_aggregate(format('SFUNC = %s, STYPE = bloomfilter, INITCOND = %L', s.name, i.f) || coalesce(', FINALFUNC = ' || f, ''));
					CALL try('initial', format('%s from %s', s.name, i.what), 'SELECT tried(f) FROM stored WHERE id IN ($1, $2)', '', 200);
					EXECUTE 'DROP AGGREGATE tried(bloomfilter)';
				END LOOP;
				FOREACH args IN ARRAY ARRAY['', ', float8', ', text', ', float8, text', ', float8, text, bigint'] LOOP
					EXECUTE format('CREATE OR REPLACE AGGREGATE tried_keys(bloomkey%s) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, INITCOND = %L', args, i.f)
						|| coalesce(', FINALFUNC = ' || f, '') || ')';
					CALL try('keys', format('%s from %s', args, i.what), format('SELECT tried_keys(bloom_key(x)%s) FROM generate_series($1, $1 + $2) x',
						CASE args WHEN '' THEN '' WHEN ', float8' THEN ', 0.01' WHEN ', text' THEN $q$, 'blocked'$q$ WHEN ', float8, text' THEN $q$, 0.01, 'blocked'$q$ ELSE $q$, 0.01, 'blocked', 60$q$ END), '', 300);
					EXECUTE format('DROP AGGREGATE tried_keys(bloomkey%s)', args);
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;

	-- The bytes of states, changed anywhere, their checksum made right: whatever still is a state is taken, or refused, by all that takes one.
	CREATE PROCEDURE mutated(n int, seed float8) LANGUAGE plpgsql AS $$
	DECLARE
		m record;
		v bloomfilter;
		other bloomfilter;
		partner bloomfilter;
		b bytea;
		i int;
		accepted bigint := 0;
		refused bigint := 0;
		agg text;
	BEGIN
		PERFORM setseed(seed);
		CREATE AGGREGATE t1(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
		CREATE AGGREGATE t2(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter);
		CREATE AGGREGATE t3(bloomfilter) (SFUNC = bloom_union_combine, STYPE = bloomfilter, FINALFUNC = bloom_union_final);
		CREATE AGGREGATE t4(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
		CREATE AGGREGATE t5(bloomfilter) (SFUNC = bloom_intersect_trans, STYPE = bloomfilter, FINALFUNC = bloom_intersect_final);
		FOR m IN SELECT s.*, g FROM stored s, generate_series(1, n) g WHERE what LIKE 'partial%' LOOP
			b := m.f::bytea;
			FOR i IN 1 .. 1 + floor(random() * 3)::int LOOP
				CASE floor(random() * 6)::int * (length(b) > 100)::int
					WHEN 0 THEN b := set_byte(b, floor(random() * length(b))::int, floor(random() * 256)::int);
					-- the fields of the header
					WHEN 1 THEN b := set_byte(b, 32 + floor(random() * 48)::int, floor(random() * 256)::int);
					WHEN 2 THEN b := set_byte(b, 64, 1 + floor(random() * 11)::int);
					-- hashes twice, swapped, zero or one fewer
					WHEN 3 THEN b := overlay(b placing substr(b, length(b) - 7, 8) from length(b) - 15);
					WHEN 4 THEN b := overlay(b placing '\x0000000000000000' from length(b) - 7 - 8 * floor(random() * 2)::int);
					ELSE b := overlay(substr(b, 1, length(b) - 8) placing set_byte(substr(b, 57, 8), 0, (get_byte(b, 56) + 248) % 256) from 57);
				END CASE;
			END LOOP;
			BEGIN
				v := sealed(b)::bloomfilter;
				accepted := accepted + 1;
			EXCEPTION WHEN invalid_binary_representation THEN
				refused := refused + 1;
				CONTINUE;
			END;
			-- one that asks for a filter of up to 500 MB takes its time
			CONTINUE WHEN coalesce((bloom_info(v)).capacity, 0) BETWEEN 100000 AND 1e10;
			-- with the state that it was made of, and with the last one that was changed
			FOREACH partner IN ARRAY ARRAY[m.f, other] LOOP
				FOREACH agg IN ARRAY ARRAY['t1', 't2', 't3', 't4', 't5'] LOOP
					BEGIN
						EXECUTE format('SELECT problem(%1$s(f), %2$L, %3$L) FROM (VALUES (1, $1), (2, $2), (3, $1)) x(n, f)', agg, '', '{}') INTO agg USING v, partner;
						IF agg IS NOT NULL THEN
							INSERT INTO problems VALUES ('mutated', m.what || ' ' || b::text, agg);
						END IF;
					EXCEPTION WHEN OTHERS THEN
						IF SQLSTATE NOT IN ('42804', '22023', '0A000', '54000', '22004') THEN
							INSERT INTO problems VALUES ('mutated', m.what || ' ' || b::text, SQLSTATE || ' ' || SQLERRM);
						END IF;
					END;
				END LOOP;
			END LOOP;
			other := v;
		END LOOP;
		INSERT INTO counts VALUES ('mutated', accepted, refused);
	END $$;
};

# As the role that may do nothing else.
sub by_nobody
{
	my ($query) = @_;
	my ($out, $error);
	my $status = $node->psql('postgres', $query, extra_params => [ '-U', 'nobody' ], stdout => \$out, stderr => \$error);

	diag($error) if $status != 0;
	return $status == 0 ? $out : "exit code $status";
}

is(by_nobody("\\set QUIET on\n$setup"), '', 'the role makes what it needs');
is(by_nobody('SELECT rolsuper, count(*) OVER () FROM pg_roles WHERE rolname = current_user'), 'f|1', '... and is no superuser');
is(by_nobody(q{SELECT count(*) FROM stored WHERE f IS NOT NULL AND sealed(f::bytea) <> f::bytea}), '0', 'checksums can be made right');
cmp_ok(by_nobody('SELECT count(*) FROM stored'), '>=', 34, 'every kind of value is stored');

# of so many cases, one is tried
my %thin = (plain => 6, combined => 80, moving => 60, initial => 1);
foreach my $test (sort keys %thin)
{
	my $thin = int($thin{$test} * $share) || 1;

	is(by_nobody("CALL $test($thin)"), '', "$test: all cases came to an end");
}
my $mutants = $ENV{MATRIX_MUTANTS} // ($share > 2 ? 30 : $share > 0 ? share(60, 300) : 5000);
my $seed = $ENV{MATRIX_SEED} // 0.13;
is(by_nobody("CALL mutated($mutants, $seed)"), '', "mutated, seed $seed: all cases came to an end");
is(by_nobody('SELECT test, what, problem FROM problems ORDER BY 1, 2, 3 LIMIT 20'), '', 'each gave a right filter, NULL, or a documented error');
is(by_nobody('SELECT string_agg(DISTINCT test, $$ $$ ORDER BY test) FROM counts WHERE errors > 0'), 'combined initial keys moving mutated plain window', '... errors in each');
is( by_nobody('SELECT string_agg(DISTINCT test, $$ $$ ORDER BY test) FROM counts WHERE results > 0 AND test <> $$keys$$'),
	'combined initial moving mutated plain window', '... and results');
note(by_nobody('SELECT test, count(*), sum(results), sum(errors) FROM counts GROUP BY 1 ORDER BY 1'));

# States of crafted hashes: all belong to one slot of the table that collects them, and come in descending order.  No input may take more than
# linear time, nor be deaf to a timeout.
sub crafted_hashes
{
	my ($n) = @_;
	no warnings 'portable';
	use integer;

	# the inverse of bf_order()'s multiplier
	return unpack('H*', pack('q<*', map { (0x1234567800000000 + $n - $_) * -1018231460777725123 } 1 .. $n));
}
# a sample is for sanitizers, which see as much in fewer
my $n = $share > 2 ? share(30_000, 150_000) : 150_000;
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/hashes", crafted_hashes($n));
$node->safe_psql('postgres', qq{
	CREATE TABLE nobody.hex (hashes text);
	COPY nobody.hex FROM '$dir/hashes';
	ALTER TABLE nobody.hex OWNER TO nobody});
my $length = unpack('H*', pack('q<', $n * 8));
my $count = unpack('H*', pack('q<', $n));
is( by_nobody(qq{
		CREATE TABLE crafted AS SELECT what, sealed(overlay(overlay(substr(f::bytea, 1, 84) placing '\\x$length' from 57) placing '\\x$count' from 41) || decode(hashes, 'hex'))::bloomfilter AS f
			FROM stored, hex WHERE what IN ('partial', 'partial of counting', 'partial of xor');
		CREATE AGGREGATE finished(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter, FINALFUNC = bloom_agg_key_final);
		CREATE AGGREGATE again(bloomfilter) (SFUNC = bloom_agg_key_combine, STYPE = bloomfilter);
		SELECT count(*) FROM crafted}) =~ /3$/ ? 1 : 0, 1, 'crafted states are values');
# What a query by nobody gives, and the seconds of the processor that it took: of the clock it may take more, where others work.
$node->safe_psql('postgres', 'ALTER ROLE nobody SET log_statement_stats = on');
my $most_seconds = $ENV{ASAN_OPTIONS} ? 60 : 10;	# of processor time; sanitizers take several times as much, and so does a busy machine
sub by_nobody_in_time
{
	my ($query) = @_;
	my ($out, $error);

	$node->psql('postgres', "SET statement_timeout = '170s';\n$query", extra_params => [ '-U', 'nobody' ], stdout => \$out, stderr => \$error,
		on_error_stop => 1);
	my @seconds = $error =~ /^!\s+([0-9.]+) s user, ([0-9.]+) s system/mg;
	my $seconds = 0;

	$seconds += $_ foreach @seconds;
	diag($error) unless @seconds;
	return !@seconds ? 'no statistics' : $seconds > $most_seconds ? "$seconds s" : $out;
}
foreach my $settings ('', "SET work_mem = '64kB'; SET hash_mem_multiplier = 1;")
{
	is( by_nobody_in_time(qq{
			$settings
			SET client_min_messages = log;
			SELECT bool_and((bloom_info(f)).capacity = $n) FROM (SELECT finished(f) AS f FROM crafted GROUP BY what) x}),
		't', "crafted hashes: no more than seconds, and each is counted once $settings");
	is( by_nobody_in_time(qq{
			$settings
			SET client_min_messages = log;
			SELECT bool_and(f2 = f1) FROM (SELECT what, again(f) AS f1 FROM crafted GROUP BY 1) x JOIN (SELECT what, again(f) AS f2 FROM (SELECT what, again(f) AS f FROM crafted GROUP BY 1) y GROUP BY 1) z USING (what)}),
		't', "... and a state of them is the same, sent again");
}
is($node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)}), $pid, 'the same postmaster');
no_crash($node);
$node->stop;
done_testing();
