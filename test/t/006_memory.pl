# SPDX-License-Identifier: PostgreSQL
# Property: a filter that sizes itself is built in work_mem * hash_mem_multiplier, the filter, and a constant; what does not fit goes
# to temporary files, which are gone afterwards, however the query ended; and nothing stays behind in the session.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

# What a backend has besides: catalog caches, the executor, buffers of files, malloc's slack.
my $constant_mb = 16;

my $node = start_node('main', q{
	work_mem = '4MB'
	hash_mem_multiplier = 2
	max_parallel_workers_per_gather = 0
});
backend_memory($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE FUNCTION temp_count() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM pg_ls_tmpdir()';
	CREATE FUNCTION private_growth(before bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT (private_now() - before) / 1024';
});

# Megabytes of private memory at most, in a session of its own; and the value of the query.
sub peak
{
	my ($query, $settings) = @_;
	my @lines = split /\n/, $node->safe_psql('postgres', ($settings // '') . ";\n$query;\nSELECT private_peak() / 1024");
	my $mb = pop @lines;

	return ($mb, join("\n", @lines));
}

sub no_files
{
	my ($name) = @_;
	my @files = temp_files($node);

	is("@files", '', "$name: no temporary file is left");
	return;
}

# ---- serial, many distinct keys ----

# in the target list, so that no tuplestore takes part
my $idle = (peak('SELECT 1'))[0];
cmp_ok($idle, '<', $constant_mb, "an idle session: $idle MB");

# What a kind needs besides the filter: what it solves a shard of a million keys with; a counting filter's loose form, of four bits for
# each counter, of which there are 9.6 a key.
my %besides = map { $_ => 64 } ('xor', 'xor_plus', 'binary_fuse', 'ribbon');
# The table of so many hashes has 64 MB, or 128 where more is needed besides.
my ($few, $many) = (3000000, 6000000);
$besides{counting} = $many * 9.6 / 2 / 1048576;
foreach my $case (
	[ 'hashed keys', "bloom_agg(bloom_key(k), 0.01, 'standard')" ],
	map { [ $_, "bloom_agg(k, 0.01, '$_')" ] } split /\n/, $node->safe_psql('postgres', 'SELECT kind FROM bloom_kinds(1000)'))
{
	my ($name, $call) = @$case;
	my $n = $besides{$name} ? $many : $few;
	my $keys = "(SELECT generate_series(1, $n) k) s";
	my ($mb, $answer) = peak("SELECT (bloom_info(f)).bytes / 1048576, (bloom_info(f)).capacity, f @~ 5 FROM (SELECT $call f FROM $keys OFFSET 0) q");
	my ($filter_mb, $capacity, $found) = split /\|/, $answer;

	is($capacity, $n, "$name: the filter is of the right size");
	is($found, 't', "$name: and has its keys");
	my $limit = int(4 * 2 + $filter_mb + ($besides{$name} // 0) + $constant_mb);
	cmp_ok($mb, '<', $limit, "$name: at most $limit MB (it was $mb, the filter $filter_mb)");
	no_files($name);
}
# the statistics of a session that has ended may take a moment
my $counted = '';
for (1 .. 100)
{
	last if ($counted = $node->safe_psql('postgres', q{SELECT temp_bytes > 150e6 FROM pg_stat_database WHERE datname = 'postgres'})) eq 't';
	select(undef, undef, undef, 0.1);
}
my $temp = $node->safe_psql('postgres', q{SELECT temp_files || ' files, ' || temp_bytes / 1048576 || ' MB' FROM pg_stat_database WHERE datname = 'postgres'});
is($counted, 't', "temporary files were used: $temp");

# ---- groups ----

my $groups = 'SELECT count(*), sum(length(bytea(f))) FROM (SELECT bloom_agg(k) f FROM %s GROUP BY g OFFSET 0) q';
my $large = '(SELECT generate_series(1, 3000000) k, generate_series(1, 3000000) % 30 g) s';
my ($mb, $answer) = peak(sprintf($groups, $large), q{SET work_mem = '64kB'; SET enable_sort = off});
my ($count, $bytes) = split /\|/, $answer;
is($count, 30, 'groups that are large, little memory: all of them');
cmp_ok($mb, '<', 1 + $bytes / 1048576 + $constant_mb, sprintf 'groups that are large, little memory: %d MB, and %d of filters', $mb, $bytes / 1048576);
is( $node->safe_psql('postgres', q{
		CREATE TABLE expected AS SELECT g, bloom_agg(k) f FROM generate_series(0, 29) g, LATERAL (SELECT generate_series(1, 20000) * 30 + g k) k GROUP BY g;
		SET work_mem = '64kB';
		SELECT count(*), bool_and(f = other) FROM expected JOIN
			(SELECT k % 30 g, bloom_agg(k) other FROM (SELECT generate_series(30, 600029) k) s GROUP BY 1) o USING (g)}),
	'30|t', '... each as it is with much memory');

# many small groups: 20,000 of them, each a hash table
($mb, $answer) = peak(sprintf($groups, '(SELECT generate_series(1, 200000) k, generate_series(1, 200000) % 20000 g) s'));
is((split /\|/, $answer)[0], 20000, 'many groups: all of them');
cmp_ok($mb, '<', 20000 * 4 / 1024 + 8 + $constant_mb, "many groups: $mb MB");
no_files('groups');

# ---- however it ends ----

# 2 million keys spill; then one divides by zero
my $dying = 'SELECT bloom_agg(1000000 / (2000000 - k) + k) FROM (SELECT generate_series(1, 2000001) k) s';
my $spills = 'SELECT bloom_agg(k) IS NULL FROM (SELECT generate_series(1, 2000000) k) s';
my $ever = 'SELECT bloom_agg(k) IS NULL FROM (SELECT generate_series(1, 2000000000) k) s';

my ($status, $out, $error) = $node->psql('postgres', $dying);
like($error, qr/division by zero/, 'an error in the middle');
no_files('error');

# a filter that cannot be made, after all its keys have come
($status, $out, $error) = $node->psql('postgres', q{SELECT bloom_agg(k, 1e-15, 'standard', 100000000000) FROM generate_series(1, 10) k});
like($error, qr/would be too large/, 'too large, from the start');
foreach my $kind ('counting', 'xor')
{
	($status, $out, $error) = $node->psql('postgres', "SELECT 1 / (length(bytea(bloom_agg(k, 0.01, '$kind'))) * 0) FROM (SELECT generate_series(1, 2000000) k) s");
	like($error, qr/division by zero/, "$kind: an error after the end");
	no_files("$kind: an error after the end");
}

foreach my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $backend = $session->query('SELECT pg_backend_pid()');

	$session->query_until(qr/begun/, "\\echo begun\n$ever;\n\\echo ended\n");
	ok(poll_temp_files(), "$end: it had temporary files");
	is($node->safe_psql('postgres', "SELECT $end($backend)"), 't', $end);
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $backend AND state = 'active'"), "$end: it ended");
	eval { $session->quit };	# psql has gone with its connection
	no_files($end);
}

sub poll_temp_files
{
	foreach (1 .. 100)
	{
		return 1 if temp_files($node);
		select(undef, undef, undef, 0.1);
	}
	return 0;
}

($status, $out, $error) = $node->psql('postgres', "SET statement_timeout = '900ms'; $ever");
like($error, qr/canceling statement due to statement timeout/, 'a timeout');
no_files('timeout');

# a large value that is written as text: the timeout is answered before the end
($status, $out, $error) = $node->psql('postgres', q{
		CREATE TEMP TABLE large AS SELECT bloom_create(100000000) AS f;
		\timing on
		SELECT length(f::text) FROM large;
		SET statement_timeout = '50ms';
		SELECT length(f::text) FROM large}, on_error_stop => 0);
my ($whole, undef, $cut) = $out =~ /^Time: ([\d.]+) ms/mg;
like($error, qr/canceling statement due to statement timeout/, 'a timeout while a value is written as text');
cmp_ok($cut, '<', $whole / 2, '... which does not wait until all is written');

is( $node->safe_psql('postgres', qq{
		BEGIN;
		DO \$\$
		BEGIN
			FOR i IN 1..3 LOOP
				BEGIN
					PERFORM ($dying);
				EXCEPTION WHEN division_by_zero THEN
					IF temp_count() > 0 THEN
						RAISE 'a file is left after an exception';
					END IF;
				END;
				PERFORM ($spills);
				IF temp_count() > 0 THEN
					RAISE 'a file is left after success';
				END IF;
			END LOOP;
		END \$\$;
		DECLARE c CURSOR FOR SELECT bloom_agg(k) IS NULL FROM (SELECT generate_series(1, 2000000) k) s GROUP BY k < 1999000;
		FETCH 1 FROM c;
		SELECT temp_count() > 0;
		CLOSE c;
		SELECT temp_count();
		SAVEPOINT s;
		DECLARE c CURSOR FOR SELECT bloom_agg(k) IS NULL FROM (SELECT generate_series(1, 2000000) k) s GROUP BY k < 1999000;
		FETCH 1 FROM c;
		SELECT temp_count() > 0;
		ROLLBACK TO s;
		SELECT temp_count();
		SELECT bloom_agg(k) @~ 1 FROM (SELECT generate_series(1, 2000000) k) s;
		SELECT temp_count();
		COMMIT}),
	"f\nt\n0\nf\nt\n0\nt\n0",
	'subtransactions and cursors: a file lives as long as its aggregate');
no_files('subtransactions');

# a crash leaves files to the postmaster that starts next
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_until(qr/begun/, "\\echo begun\n$ever;\n");
ok(poll_temp_files(), 'crash: it had temporary files');
$node->stop('immediate');
eval { $session->quit };
$node->start;
no_files('crash');

# ---- again and again in one session ----

# name => [settings, query, times]
my %repeated = (
	small => [ '', 'SELECT bloom_agg(k) @~ 7 FROM (SELECT generate_series(1, 20000) k) s', 200 ],
	'that spills' => [ q{SET work_mem = '64kB'}, 'SELECT bloom_agg(k) @~ 7 FROM (SELECT generate_series(1, 120000) k) s', 100 ],
	groups => [ '', q{SELECT bool_and(f @~ g) FROM (SELECT k % 2000 g, bloom_agg(k % 2000, 0.001, 'standard', 10) f FROM (SELECT generate_series(1, 10000) k) s GROUP BY 1) q}, 60 ],
	'groups that spill' => [ q{SET work_mem = '64kB'; SET enable_sort = off},
		'SELECT count(*) = 5 FROM (SELECT k % 5 g, bloom_agg(k) f FROM (SELECT generate_series(1, 200000) k) s GROUP BY 1 OFFSET 0) q', 40 ],
	'rescans' => [ '', 'SELECT bool_and((SELECT bloom_agg(k) FROM generate_series(1, g * 100) k) @~ g) FROM generate_series(1, 50) g', 40 ],
	counts => [ q{SET work_mem = '64kB'}, q{SELECT bloom_count(bloom_agg(k % 60000, 0.0001, 'counting'), 7) >= 2 FROM (SELECT generate_series(1, 120000) k) s}, 60 ],
	'sets that are built at once' => [ q{SET work_mem = '64kB'}, q{SELECT bloom_agg(k, 0.01, 'xor') @~ 7 AND bloom_agg(k, 0.01, 'cuckoo') @~ 7 FROM (SELECT generate_series(1, 120000) k) s}, 40 ],
	'groups that are built at once' => [ '', q{SELECT bool_and(f @~ g) FROM (SELECT k % 2000 g, bloom_agg(k % 2000, 0.001, 'xor', 10) f FROM (SELECT generate_series(1, 10000) k) s GROUP BY 1) q}, 60 ],
	windows => [ '', 'SELECT bool_and(f @~ k) FROM (SELECT k, bloom_agg(k) OVER (PARTITION BY k % 10) f FROM (SELECT generate_series(1, 1000) k) s) q', 40 ],
	unions => [ '', q{SELECT (bloom_union_agg(f) | bloom_intersect_agg(f)) @~ 7 FROM (SELECT k % 100, bloom_agg(k % 50) f FROM (SELECT generate_series(1, 5000) k) s GROUP BY 1) q}, 60 ],
	'keys of variable length' => [ '', q{SELECT bool_and(bloom_agg @~ ARRAY[k::text, 'x']) FROM generate_series(1, 10) k,
		(SELECT bloom_agg(ARRAY[k::text, 'x']) FROM generate_series(1, 20000) k) f}, 40 ]);
foreach my $name (sort keys %repeated)
{
	my ($settings, $query, $most) = @{ $repeated{$name} };
	my $times = $most / share(2, 1);
	my $result = $node->safe_psql('postgres', qq{
		$settings;
		DO \$\$
		DECLARE
			start bigint;
		BEGIN
			FOR i IN 1..$times + 10 LOOP
				IF i = 10 THEN
					start := private_now();
				END IF;
				IF ($query) IS NOT TRUE THEN
					RAISE 'wrong';
				END IF;
				-- and by a way out that frees nothing by itself
				BEGIN
					PERFORM bloom_agg(10 / (100 - k)) FROM generate_series(1, 200) k;
				EXCEPTION WHEN division_by_zero THEN
				END;
			END LOOP;
			PERFORM set_config('test.growth', private_growth(start)::text, false);
		END \$\$;
		SELECT current_setting('test.growth')});

	cmp_ok($result, '<=', 2, "$times times, $name: the session grew by $result MB");
}

# Probes of many filters by one expression: one is open at a time.
is( $node->safe_psql('postgres', q{
		CREATE TABLE filters AS SELECT g, bloom_agg(g, 0.01, 'blocked', 200000) f FROM generate_series(1, 60) g GROUP BY g;
		DO $$
		DECLARE
			start bigint := private_now();
		BEGIN
			FOR i IN 1..5 LOOP
				PERFORM count(*) FROM filters WHERE f @~ g;
			END LOOP;
			PERFORM set_config('test.growth', private_growth(start)::text, false);
		END $$;
		SELECT current_setting('test.growth')::int < 4}),
	't', 'probes of many stored filters do not pile up');

# A statement that looks each of its rows up in a maplet keeps nothing of the look-ups.
foreach my $where ('', ' WHERE (id >= 0)')
{
	$node->safe_psql('postgres', "CREATE TABLE looked_up (id bigint, EXCLUDE USING maplet (id WITH =)$where)");
	my ($mb) = peak('INSERT INTO looked_up SELECT g % 150000 FROM generate_series(1, 300000) g ON CONFLICT DO NOTHING');

	cmp_ok($mb, '<', $idle + 12, "300,000 rows looked up in a maplet$where: $mb MB, where an idle session has $idle");
	is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM looked_up'), '150000|150000', '... each id is there once');
	$node->safe_psql('postgres', 'DROP TABLE looked_up');
}

# Nor does the insert of a long text into a range that has a signature take more for its n-grams.
$node->safe_psql('postgres', q{
	CREATE TABLE texts (line text);
	ALTER TABLE texts ALTER line SET STORAGE external;
	INSERT INTO texts SELECT md5(g::text) FROM generate_series(1, 3050) g;
});
my $insert = q{INSERT INTO texts SELECT repeat(string_agg(md5(g::text), ''), 4) FROM generate_series(1, 50000) g};
my ($plain) = peak($insert);
$node->safe_psql('postgres', 'TRUNCATE texts; INSERT INTO texts SELECT md5(g::text) FROM generate_series(1, 3050) g; CREATE INDEX ON texts USING signature (line) WITH (pages_per_range = 1)');
my ($indexed) = peak($insert);
cmp_ok($indexed, '<', $plain + 16, "a text of 6 MB inserted beside a signature index: $indexed MB, and $plain MB without");

no_crash($node);
$node->stop;
done_testing();
