# SPDX-License-Identifier: PostgreSQL
# Property: COPY BINARY carries filters and hashed keys byte for byte; a damaged file is an error, never a crash and never a value.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main');
my $pid = $node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)});
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE TABLE t (id int, f bloomfilter, h bloomkey, fs bloomfilter[], hs bloomkey[]);
	INSERT INTO t SELECT g, bloom_agg(k, 0.01, CASE g % 2 WHEN 0 THEN 'standard' ELSE 'blocked' END), bloom_key(g)
		FROM generate_series(1, 40) g, generate_series(1, g * g * g) k GROUP BY g;
	INSERT INTO t SELECT 0, bloom_agg(k), NULL FROM generate_series(1, 0) k;
	INSERT INTO t VALUES (-1, bloom_create(10), bloom_key('x'::text)), (-2, NULL, NULL);
	UPDATE t SET fs = ARRAY[f, NULL, f], hs = ARRAY[h, h];
	CREATE TABLE u (LIKE t);
});

# ---- out and in ----

$node->safe_psql('postgres', qq{
	COPY t TO '$dir/out' (FORMAT binary);
	COPY u FROM '$dir/out' (FORMAT binary);
	COPY u TO '$dir/again' (FORMAT binary);
});
ok(slurp_file("$dir/out") eq slurp_file("$dir/again"), 'out, in and out again: the same file');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM t JOIN u USING (id) WHERE bytea(t.f) IS NOT DISTINCT FROM bytea(u.f) AND t.h IS NOT DISTINCT FROM u.h
			AND t.fs IS NOT DISTINCT FROM u.fs AND t.hs IS NOT DISTINCT FROM u.hs}),
	'43', 'every row is the same');
is($node->safe_psql('postgres', q{SELECT count(*) FROM u, LATERAL generate_series(1, id * id * id) k WHERE id > 0 AND NOT f @~ k}),
	'0', 'every key is found');
is($node->safe_psql('postgres', q{SELECT bool_and(f @~ id AND f @~ h) FROM u WHERE id > 0}), 't', 'hashed keys are found');

# by way of the client, and of text
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--command' => 'TRUNCATE u',
		'--command' => "\\copy t TO '$dir/client' (FORMAT binary)", '--command' => "\\copy u FROM '$dir/client' (FORMAT binary)", 'postgres' ],
	'through the client');
$node->safe_psql('postgres', qq{COPY u TO '$dir/again' (FORMAT binary)});
ok(slurp_file("$dir/out") eq slurp_file("$dir/again"), '... the same file');

# ---- damaged files ----

my $header = "PGCOPY\n\377\r\n\0" . pack('NN', 0, 0);

sub write_file
{
	my ($name, @fields) = @_;
	my $file = $header;

	open my $out, '>:raw', "$dir/$name" or die "$dir/$name: $!";
	$file .= pack('n', 1) . pack('N', length $_) . $_ foreach @fields;
	print $out $file . pack('n', 0xffff);
	close $out;
	return;
}

# Every truncation, a byte too many, and every byte changed in ten ways.
sub write_damaged
{
	my ($name, $value) = @_;
	my $n = 0;

	write_file($name . '_' . ++$n, substr($value, 0, $_)) foreach (0 .. length($value) - 1);
	write_file($name . '_' . ++$n, $value . $_) foreach ("\0", "\377", "\0" x 8, $value);
	my $lengths = $n;
	foreach my $at (0 .. length($value) - 1)
	{
		foreach my $change (1, 2, 4, 8, 16, 32, 64, 128, 255, 0x55)
		{
			my $changed = $value;

			substr($changed, $at, 1) = chr(ord(substr($value, $at, 1)) ^ $change);
			write_file($name . '_' . ++$n, $changed);
		}
	}
	return ($lengths, $n);
}

$node->safe_psql('postgres', q{
	CREATE TABLE filter (f bloomfilter);
	CREATE TABLE key (h bloomkey);
	CREATE FUNCTION load_all(target text, path text, first int, last int, OUT state text, OUT n int) RETURNS SETOF record LANGUAGE plpgsql AS $$
	BEGIN
		CREATE TEMP TABLE states (state text) ON COMMIT DROP;
		FOR i IN first..last LOOP
			BEGIN
				EXECUTE format('COPY %I FROM %L (FORMAT binary)', target, path || '_' || i);
				INSERT INTO states VALUES ('accepted');
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO states VALUES (SQLSTATE);
			END;
		END LOOP;
		RETURN QUERY SELECT s.state, count(*)::int FROM states s GROUP BY 1 ORDER BY 1;
		DROP TABLE states;
	END $$;
});

my %values = (
	standard => q{bytea(bloom_agg(g, 0.01, 'standard')) FROM generate_series(1, 20) g},
	blocked => q{bytea(bloom_agg(g, 0.01, 'blocked')) FROM generate_series(1, 20) g},
	identity => q{bytea(bloom_agg(g)) FROM generate_series(1, 0) g});
foreach my $name (sort keys %values)
{
	my $value = pack('H*', substr($node->safe_psql('postgres', "SELECT $values{$name}"), 2));

	write_file("good_$name", $value);
	$node->safe_psql('postgres', "COPY filter FROM '$dir/good_$name' (FORMAT binary)");
	is($node->safe_psql('postgres', qq{SELECT f = (SELECT $values{$name})::bloomfilter FROM filter}), 't', "$name: a good file is read");
	$node->safe_psql('postgres', 'TRUNCATE filter');

	my ($lengths, $n) = write_damaged($name, $value);
	is($node->safe_psql('postgres', "SELECT * FROM load_all('filter', '$dir/$name', 1, $lengths)"),
		"22P03|$lengths", "$name: every other length is an error");
	is( $node->safe_psql('postgres', "SELECT * FROM load_all('filter', '$dir/$name', $lengths + 1, $n)"),
		'22P03|' . ($n - $lengths),
		"$name: every changed byte is an error");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM filter'), '0', 'nothing damaged was stored');

# A hashed key has nothing to check but its length and that it has a family: what is accepted is a key.
my $key = pack('H*', substr($node->safe_psql('postgres', 'SELECT bloomkey_send(bloom_key(5))'), 2));
is(length $key, 16, 'a hashed key is 16 bytes');
my ($lengths, $n) = write_damaged('key', $key);
like($node->safe_psql('postgres', "SELECT * FROM load_all('key', '$dir/key', 1, $lengths)"),
	qr/^(08P01\|16\n22P03\|4)$/, 'key: every other length is an error');
is($node->safe_psql('postgres', "SELECT * FROM load_all('key', '$dir/key', $lengths + 1, $n)"), 'accepted|160', 'key: any 16 bytes are a key');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT h), bool_or(h = bloom_key(5)), bool_and(h::text::bloomkey = h) FROM key}),
	'160|f|t', '... but another one');
write_file('nokey_1', "\0" x 8 . 'anything');
is($node->safe_psql('postgres', "SELECT * FROM load_all('key', '$dir/nokey', 1, 1)"), '22P03|1', 'key: without a family it is an error');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM key k WHERE substr(bloomkey_send(h), 1, 8) <> substr(bloomkey_send(bloom_key(5)), 1, 8)}),
	'80', 'half of the changes hit the family');
my ($status, $out, $error) = $node->psql('postgres', q{\set VERBOSITY verbose
	SELECT bool_or(bloom_agg @~ h) FROM key, (SELECT bloom_agg(g) FROM generate_series(1, 20) g) f
	WHERE substr(bloomkey_send(h), 1, 8) <> substr(bloomkey_send(bloom_key(5)), 1, 8)});
like($error, qr/ERROR:  42804/, '... which a probe tells');

# Whole files, cut anywhere.
my $whole = slurp_file("$dir/good_blocked");
my $cuts = 0;
foreach my $cut (0 .. length($whole) - 1)
{
	open my $file, '>:raw', "$dir/cut_" . ++$cuts or die;
	print $file substr($whole, 0, $cut);
	close $file;
}
like($node->safe_psql('postgres', "SELECT state, n FROM load_all('filter', '$dir/cut', 1, $cuts)"),
	qr/^22P04\|\d+\naccepted\|4$/, 'a file that is cut off is an error, unless before or after the row');
is($node->safe_psql('postgres', q{
		SELECT count(*), bool_and(f @~ g) FROM filter, generate_series(1, 20) g}), '40|t', '... which is then whole');

is($node->safe_psql('postgres', q{SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)}), $pid, 'the same postmaster');
no_crash($node);
$node->stop;
done_testing();
