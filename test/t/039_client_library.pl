# SPDX-License-Identifier: PostgreSQL
# Property: the client library, the program and the server agree.  Keys that the server writes are read as the same keys; a text that the library
# reads is the key that the server reads, whatever its settings; filters built by the one are asked by the other, and have the same bytes; a changed
# filter is accepted by both or by none.
#
# LONG=1: 100,000 random keys of each type in place of some thousand; a million changed filters in place of 20,000, and those under ASan and UBSan.
# PARTS: some of "keys program texts filters others changed", as all of them take long then.

use strict;
use warnings;

use BloomfamTest;
use IPC::Run;
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $keys = share(400, 3_000, 100_000);
my $texts = share(500, 4_000, 60_000);
my $seed = $ENV{LONG} ? time : 27;
my %wanted = map { $_ => 1 } split ' ', $ENV{PARTS} // 'keys program texts filters others changed';
my $mutants = share(1_000, 20_000, 1_000_000);
my $build = PostgreSQL::Test::Utils::tempdir();
my $library = "$build/library";
my $program;

note "seed $seed";
srand($seed);

# ---- the program on the library ----

my ($out, $err) = ('', '');

plan skip_all => 'no compiler' unless system('cc --version >/dev/null 2>&1') == 0;
{
	# of a tree that is built, what is there
	my $there = -f "$ENV{PWD}/build/client/libbloomfam.a" ? "$ENV{PWD}/build/client" : "$build/client";

	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	$program = "$there/bloomfam";
	IPC::Run::run([ 'make', '-s', '-C', "$ENV{PWD}/client", "BUILD=$there", 'all' ], '<', \undef, '>', \$out, '2>', \$err)
	  or $there ne "$build/client" or BAIL_OUT("the library does not build: $err");
	IPC::Run::run([ 'cc', '-std=gnu11', '-O1', "-I$ENV{PWD}", '-o', $library, "$ENV{PWD}/test/client/library.c", "$there/libbloomfam.a", '-lm' ], '2>', \$err)
	  or BAIL_OUT("the test's program does not build: $err");
}

# Runs it, and returns what it printed; the test ends if it failed, unless it is asked to fail.
sub library
{
	my ($input, @args) = @_;
	my ($result, $errors) = ('', '');
	my $ended = IPC::Run::run([ $library, @args ], '<', \$input, '>', \$result, '2>', \$errors);

	diag("library @args: $errors") if $errors ne '';
	chomp $result;
	return ($result, $ended);
}

my $node = start_node('main', "fsync = off\nextra_float_digits = 1\nbytea_output = hex\n", extra => [ '--encoding=UTF8', '--locale=C' ]);

# What COPY writes of a query, under some settings.
sub copied
{
	my ($query, $settings) = @_;
	my ($result, $errors) = ('', '');

	IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'postgres' ], '<', \(($settings // '') . "COPY ($query) TO STDOUT;\n"), '>', \$result, '2>', \$errors)
	  or BAIL_OUT("$query: $errors");
	return $result;
}

$node->safe_psql('postgres', <<'SQL');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'very, "happy"', 'glücklich');
CREATE FUNCTION digits(n int) RETURNS text LANGUAGE sql AS $$ SELECT coalesce(string_agg((random() * 9)::int::text, ''), '') FROM generate_series(1, n) $$;
CREATE FUNCTION hex(n int) RETURNS text LANGUAGE sql AS $$ SELECT coalesce(string_agg(to_hex((random() * 15)::int), ''), '') FROM generate_series(1, n) $$;
CREATE FUNCTION letters(n int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(CASE WHEN random() < 0.8 THEN chr(32 + (random() * 94)::int) WHEN random() < 0.1 THEN E'\n' ELSE chr(160 + (random() * 50000)::int) END, ''), '') FROM generate_series(1, n) $$;
CREATE FUNCTION few(n float8) RETURNS int LANGUAGE sql AS $$ SELECT (random() ^ 3 * n)::int $$;
SQL

# ---- keys: for each type edges, and an expression of a random one (i is the number of the row) ----

my $any_date = q{date '4714-11-24 BC' + (random() * 2147483493)::int};
my $near_date = q{date '2000-01-01' + ((random() - 0.5) * 800000)::int};
my $any_time = q{time '00:00' + make_interval(secs => (random() * 86399)::int) + (random() * 999999)::int * interval '1 microsecond'};
my $any_timestamp = qq{CASE WHEN random() < 0.2 THEN timestamp '2000-01-01' + (random() * 298000 - 6700) * interval '365 days' ELSE ($near_date) + ($any_time) END};
my %types = (
	smallint => [ [ '0', '-32768', '32767' ], '((random() - 0.5) * 65535)::int::int2' ],
	integer => [ [ '0', '-2147483648', '2147483647' ], '((random() - 0.5) * 4294967295)::bigint::int4' ],
	bigint => [ [ '0', '-9223372036854775808', '9223372036854775807', '-1' ], q{((random() - 0.5) * 2 ^ (1 + i % 63))::numeric::int8} ],
	real => [ [ '0', '-0', 'NaN', 'Infinity', '-Infinity', '1e-45', '3.4028235e38', '0.1', '16777217', '-1.17549435e-38', '1e-39' ], q{((random() - 0.5) * 10 ^ (random() * 70 - 38))::float4} ],
	'double precision' => [
		[ '0', '-0', 'NaN', 'Infinity', '-Infinity', '5e-324', '1.7976931348623157e308', '0.1', '9007199254740993', '2.2250738585072014e-308', '1e23', '123456789012345680000' ],
		q{CASE WHEN i % 3 = 0 THEN (random() * 1e6)::int / 100.0::float8 ELSE (random() - 0.5) * 10 ^ (random() * 600 - 300) END}
	],
	numeric => [
		[
			'0', '0.000', '-0.0', '1', '1.0', '1.00', '10', '10000', '100000000', '9999', '99999999', '0.0001', '0.00001', '0.00010000', '1e400', '1e-400', '-1e131071', '1e-16383', 'NaN', 'Infinity', '-Infinity',
			'123456789012345678901234567890.123456789012345678901234567890'
		],
		q{(CASE WHEN random() < 0.5 THEN '-' ELSE '' END || '0' || digits(few(CASE WHEN i % 100 = 0 THEN 3000 ELSE 40 END)) || CASE WHEN random() < 0.6 THEN '.' || digits(1 + few(30)) || repeat('0', few(8)) ELSE '' END)::numeric}
	],
	text => [ [ '', ' ', 'a', 'a ', 'a   ', ' a', "tab\\there", "\xc3\xa9" ], 'letters(few(100))' ],
	varchar => [ [ '', 'b ' ], 'letters(few(20))' ],
	'char(12)' => [ [ '', 'c', 'c  ' ], 'letters(few(12))' ],
	name => [ [ '', 'd', 'x' x 63 ], 'letters(few(60))' ],
	boolean => [ [ 't', 'f' ], 'random() < 0.5' ],
	'"char"' => [ [ 'a', ' ', '', '~' ], q{chr(32 + (random() * 94)::int)::"char"} ],
	bytea => [ [ '\x', '\x00', '\xff' ], q{decode(hex(2 * few(600)), 'hex')} ],
	uuid => [ [ '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff' ], 'gen_random_uuid()' ],
	date => [ [ 'infinity', '-infinity', '4714-11-24 BC', '5874897-12-31', '0001-01-01', '0001-12-31 BC', '2000-02-29', '1900-02-28', '10000-01-01' ], qq{CASE WHEN random() < 0.5 THEN $any_date ELSE $near_date END} ],
	time => [ [ '00:00', '24:00', '23:59:59.999999', '12:00:00.1', '00:00:00.000001' ], $any_time ],
	timetz => [ [ '24:00+15:59:59', '24:00:00-15:59:59', '00:00+00', '12:34:56.789+05:30' ], qq{(($any_time)::text || CASE WHEN random() < 0.5 THEN '+' ELSE '-' END || lpad((random() * 15)::int::text, 2, '0') || ':' || lpad((random() * 59)::int::text, 2, '0'))::timetz} ],
	timestamp => [ [ 'infinity', '-infinity', '4714-11-24 00:00:00 BC', '294276-12-31 23:59:59.999999', '0001-12-31 23:59:59 BC', '2000-01-01', '1999-12-31 23:59:59.999999', '2024-02-29 24:00:00' ], $any_timestamp ],
	timestamptz => [
		[ 'infinity', '-infinity', '4714-11-24 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00', '0001-12-31 23:59:59+00 BC', '2000-01-01 00:00+00', '1883-11-18 12:03:57+00', '2024-02-29 24:00:00+00', '1880-01-01 00:00:00+00' ],
		qq{(($any_timestamp)::text || '+00')::timestamptz}
	],
	interval => [
		[ '0', '1 mon', '30 days', '720:00', '-1 mon', '1 mon -30 days', '-178956970 years -8 mons', '178956970 years 7 mons', '2562047788:00:54.775807', '-2562047788:00:54.775807', '1 year -1 mon 1 day -00:00:00.000001', '-00:00:00.5', '-2147483648 days', '-1 days +00:00:01', '100000 years 2147483647 days' ],
		q{make_interval(((random() - 0.5) * 10 ^ (i % 5))::int, ((random() - 0.5) * 10 ^ (i % 7))::int, 0, ((random() - 0.5) * 10 ^ (i % 6))::int, ((random() - 0.5) * 10 ^ (i % 4))::int, 0, ((random() - 0.5) * 10 ^ (i % 8)))}
	],
	oid => [ [ '0', '1', '4294967295' ], q{(random() * 4294967295)::bigint::oid} ],
	inet => [
		[ '0.0.0.0', '0.0.0.0/0', '255.255.255.255', '10.1.2.3/8', '::', '::1', '::/0', '::ffff:1.2.3.4', '1:2:3:4:5:6:7:8/1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::1:0:0:1', '1::', '0:0:0:1::', '::1.2.3.4', '1:0:0:2:0:0:0:3' ],
		q{set_masklen(CASE WHEN i % 2 = 0 THEN (concat_ws('.', (random() * 255)::int, (random() * 255)::int, (random() * 255)::int, (random() * 255)::int))::inet ELSE (SELECT string_agg(CASE WHEN random() < 0.5 THEN '0' ELSE hex(1 + few(3)) END, ':') FROM generate_series(1, 8 + 0 * i))::inet END, (random() * CASE WHEN i % 2 = 0 THEN 32 ELSE 128 END)::int)}
	],
	cidr => [ [ '10.0.0.0/8', '0.0.0.0/0', '::/0', '2001:db8::/32', '1.2.3.4/32' ], q{network(set_masklen(concat_ws('.', (random() * 255)::int, (random() * 255)::int, (random() * 255)::int, (random() * 255)::int)::inet, (random() * 32)::int))} ],
	macaddr => [ [ '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff' ], 'hex(12 + 0 * i)::macaddr' ],
	macaddr8 => [ [ '00:00:00:00:00:00:00:00', '08:00:2b:01:02:03' ], 'hex(16 + 0 * i)::macaddr8' ],
	pg_lsn => [ [ '0/0', 'FFFFFFFF/FFFFFFFF', '16/B374D848', '0/1000000' ], q{(hex(1 + few(6)) || '/' || hex(1 + few(6)))::pg_lsn} ],
	'bit(11)' => [ [ '10101010101', '00000000000' ], q{(random() * 2047)::int::bit(11)} ],
	'bit varying' => [ [ '', '0', '1', '00000000', '000000001' ], q{substr(repeat(((random() * 2147483647)::int::bit(31))::text, 1 + i % 90), 1, few(2700))::varbit} ],
	'enum "public"."mood"' => [ [ 'sad', 'ok', 'very, "happy"', "gl\xc3\xbccklich" ], q{(enum_range(NULL::mood))[1 + i % 4]} ],
);

# A type's name to the server, and a table of its keys.
my %table;
my %sql_name;
my $number = 0;

foreach my $type (sort keys %types)
{
	my ($edges, $random) = @{ $types{$type} };
	my $table = 'keys_' . ++$number;
	my $name = $type =~ /^enum/ ? 'mood' : $type;

	$table{$type} = $table;
	$sql_name{$type} = $name;
	$node->safe_psql('postgres',
		"SET client_encoding = 'UTF8'; SELECT setseed(0." . ($seed % 1000) . "); CREATE TABLE $table (x $name);\n" . "INSERT INTO $table VALUES "
		  . join(', ', map { my $edge = $_; $edge =~ s/'/''/g; "('$edge')" } @$edges) . ";\n"
		  . "INSERT INTO $table SELECT ($random)::$name FROM generate_series(1, $keys) i;");
}

# ---- keys as the server writes them ----

my @zones = ('UTC', 'Asia/Kolkata', 'America/St_Johns', 'Europe/Amsterdam', 'Pacific/Kiritimati');

foreach my $type ($wanted{keys} ? sort keys %types : ())
{
	my @settings = ('');

	@settings = map { "SET TimeZone = '$_'; SET DateStyle = 'ISO, DMY';" } @zones if $type eq 'timestamptz';
	@settings = ('SET IntervalStyle = postgres;', 'SET IntervalStyle = iso_8601;') if $type eq 'interval';
	@settings = ('', 'SET extra_float_digits = 3;') if $type =~ /^(real|double)/;
	foreach my $settings (@settings)
	{
		my $copy = copied("SELECT bloom_hash(bloom_key(x)), x FROM $table{$type}", $settings);
		my $lines = () = $copy =~ /\n/g;
		my ($said, $fine) = library($copy, 'hash', $type);

		cmp_ok($lines, '>', $keys, "$type: there are keys");
		like($said, qr/^$lines checked, 0 differ, 0 not read$/, "$type: $lines keys that the server writes have its hashes" . ($settings ne '' ? ", under $settings" : ''));
	}
}

# ---- the same by the program: rows of CSV that the server writes ----

my $rows = PostgreSQL::Test::Utils::tempdir();

chmod 0777, $rows;

# Runs the program, and returns what it says.
sub program
{
	my ($input, @args) = @_;
	my $errors = '';

	IPC::Run::run([ $program, @args ], '<', $input, '2>', \$errors) or $errors .= ' exit code ' . ($? >> 8);
	return $errors;
}

foreach my $type ($wanted{program} ? sort keys %types : ())
{
	# one that seldom is wrong: a hash that differs is seen
	my $table = $table{$type};
	my ($lines, $bytes) = split /\|/, $node->safe_psql('postgres', qq{
		COPY (SELECT i, x, 'and "more"' FROM (SELECT row_number() OVER () AS i, x FROM $table) r) TO '$rows/in.csv' (FORMAT csv, HEADER);
		COPY (SELECT bloom_agg(x, 1e-9, 'ribbon') FROM $table) TO '$rows/server.filter' (FORMAT binary);
		SELECT count(*), md5(bloom_agg(x, 1e-9, 'ribbon')::bytea) FROM $table});

	foreach my $asked ([ '-t', $type ], [])
	{
		my $said = program("$rows/in.csv", 'split', '-f', "$rows/server.filter", '-c', 'x', @$asked, '--new', "$rows/new.csv", '--maybe', "$rows/maybe.csv");

		like($said =~ s/,//gr, qr/^bloomfam: $lines rows: 0 certainly new $lines maybe known$/, "the program, $type: $lines keys that the server writes are found" . (@$asked ? '' : ', of what type the filter says'));
		ok(slurp_file("$rows/maybe.csv") eq slurp_file("$rows/in.csv"), '... and their rows are as they were');
	}
	is(program("$rows/in.csv", 'build', '-c', 'x', '-t', $type, '--fpr', '1e-9', '--kind', 'ribbon', '-o', "$rows/built.filter") =~ s/,//gr =~ s/;.*//sr, "bloomfam: $lines rows: $lines keys 0 without one", '... a filter is built of them');
	is($node->safe_psql('postgres', "SELECT md5(pg_read_binary_file('$rows/built.filter'))"), $bytes, '... with the bytes that the server makes of them');
}

# ---- texts that the server may read otherwise, or not at all ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE texts (n int, t text);
CREATE FUNCTION try_hash(t text, type text) RETURNS bigint LANGUAGE plpgsql AS
$$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT bloom_hash(bloom_key(%L::%s))', t, type) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;
SQL

# Texts beside those that the server writes.
my %more = (
	bigint => [ '+5', ' 5', '5 ', '0x10', '0b1', '1_000', '5.', '9223372036854775808', '-9223372036854775809', '1e3', '00012' ],
	'double precision' => [ '1e400', '1e-400', '-1e-400', '0x1p3', 'infinity', '-inf', 'NAN', '+Infinity', '.5', '5.', '1e', '1d5', 'nan(0)', '1e0005', '1' x 400, '0.' . '0' x 400 . '1', '4.9e-324', '2.4703282292062327e-324', '2.4703282292062328e-324' ],
	real => [ '1e39', '1e-46', '7.0064923216240853e-46', '7.0064923216240854e-46', '3.4028235677973366e38', '3.4028235677973365e38', '16777216.999999999999999', '1.00000017881393432617187499', '1.00000017881393432617187500', '1.00000017881393432617187501' ],
	numeric => [ '.5', '5.', '.', '1e5', '1e-5', '1E+5', '+1', '1e131071', '1e131072', '1e-16383', '1e-16384', '1e999999999', 'inf', '-infinity', '+inf', 'nan', '0x1', '1_0', '1.5e1', '0e5', ('9' x 40) . 'e-20', '1.50e-2' ],
	boolean => [ qw(true false yes no on off 1 0 tr TRUE y n of o tru) ],
	uuid => [ '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11' ],
	date => [ '20240229', '2024-2-9', 'Jan 8, 1999', '1999.008', '2024-02-30', 'J2451187', '08-Jan-1999', '99-01-08', '2024-02-29 12:00', '2024-02-29 BC', '0044-03-15 bc', 'epoch', 'Infinity', '2024-02-29T00:00', '02024-02-29' ],
	time => [ '12', '1234', '12:34', '12:34:60', '12:34:56 PM', '04:05 AM', '12:34:56.1234567', '24:00:00', '24:00:00.0', '2024-01-01 12:34', '12:34:56+02', '040506' ],
	timetz => [ '12:34Z', '12:34 UTC', '12:34+0530', '12:34+5', '12:34-15:59:59', '12:34+16', '12:34:56+02:00:30', '12:34 America/New_York' ],
	timestamp => [ '2024-02-29', '2024-02-29T12:34:56', '2024-02-29 12:34', '2024-02-29 12:34:56+02', '2024-02-29 24:00', '2024-02-29 24:00:01', '2024-02-29 12:34:60', '20240229T123456', '2024-02-29 12:34:56.1234567', '0044-03-15 12:00:00 BC', '2024-02-29 12:34:56 AD' ],
	timestamptz => [ '2024-02-29 12:34:56', '2024-02-29T12:34:56Z', '2024-02-29T12:34:56+02:30', '2024-02-29 12:34+02', '2024-02-29 12:34:56 PST', '2024-02-29 12:34:56+0230', '2024-02-29 12:34:56-00', '294277-01-01 00:30:00+01' ],
	interval => [
		'1 day', '1 days', '1 d', '1 week', '-1 days', '-1 days 1 mon', '1 day ago', '@ 1 day', '1-2', '1-2 3 4:05:06', '-1-2 +3 -4:05:06', 'P1Y', 'P1Y2M', 'PT1.5S', 'P-1Y-2M', 'P1W', 'PT-0.5S', 'P0001-02-03T04:05:06', '1.5 days', '1 mon -1 days', '-1 mons 2 days', '12:34', '12:34:56',
		'100:00:00', '1 day 12:34:56', '-1 day 12:34:56', '-1 day +12:34:56', '1 year 13 mons', '-12:34:56', '+12:34:56', '1 mons', '01 mon', '00001 day', 'P1D', 'P+1D', 'PT36H', 'P1Y1D', '1 day 00:00:00.000001', '1 DAY', '1 day 1 year'
	],
	oid => [ '-1', '+1', '4294967296', '0x1', '01' ],
	inet => [ '10', '10.1', '10.1.2.3/255.0.0.0', '010.1.2.3', '1.2.3.4/33', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8', '1::8/128', '::1.2.3', '::ffff:256.1.1.1', '1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:7:1.2.3.4', '00001::', 'FE80::1', '::/00', ':1::', '1::2::3' ],
	macaddr => [ '08002b:010203', '08002b-010203', '0800.2b01.0203', '0800-2b01-0203', '08002b010203', '8:0:2b:1:2:3', '08-00-2b-01-02-03', '08:00:2B:01:02:03' ],
	macaddr8 => [ '08:00:2b:01:02:03', '08002b:0102030405', '08-00-2b-01-02-03-04-05', '08002b0102030405', '0800.2b01.0203.0405' ],
	pg_lsn => [ '0/0', '00000001/1', '123456789/0', 'g/1', '1/', 'a/b', 'A/B' ],
	'bit varying' => [ 'b101', 'B101', 'x1F', 'X1f', '2', '' ],
	bytea => [ 'abc', '\000', '\x', '\x0', '\x 00', '\xAB', '\\\\' ],
	'"char"' => [ 'ab', '\101', '' ],
);

# A text, changed a little.
sub changed
{
	my ($text) = @_;
	my @letters = split //, '0123456789:-+. eET/BCxXZ{}_%,\'"abdsnyPMHSDW';

	for (1 .. 1 + int rand 3)
	{
		my $at = int rand(1 + length $text);
		my $what = int rand 4;

		if ($what == 0) { substr($text, $at, 1) = '' if $at < length $text }
		elsif ($what == 1) { substr($text, $at, 0) = $letters[ rand @letters ] }
		elsif ($what == 2) { substr($text, $at, 1) = $letters[ rand @letters ] if $at < length $text }
		else { substr($text, $at, 1) = substr($text, $at, 1) x 2 if $at < length $text }
	}
	return $text;
}

# Settings that change how the server reads some texts; the library's reading must hold under each.
my @readings = (
	"SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres; SET TimeZone = 'UTC';",
	"SET DateStyle = 'ISO, DMY'; SET IntervalStyle = sql_standard; SET TimeZone = 'Asia/Kolkata';",
	"SET DateStyle = 'German, YMD'; SET IntervalStyle = iso_8601; SET TimeZone = 'America/St_Johns';",
	"SET DateStyle = 'SQL, DMY'; SET IntervalStyle = postgres_verbose; SET TimeZone = 'Europe/Amsterdam';");

foreach my $type ($wanted{texts} ? sort keys %more : ())
{
	my @written = split /\n/, copied("SELECT x FROM $table{ $table{$type} ? $type : 'bigint' } ORDER BY random() LIMIT 300");
	my @texts = @{ $more{$type} };
	my $total = 0;

	@written = grep { !/\\[^x\\]/ && length($_) < 200 } map { s/\\\\/\\/gr } @written;
	push @texts, map { changed((@written, @{ $more{$type} })[ rand(@written + @{ $more{$type} }) ]) } 1 .. $texts / @readings;
	push @texts, @written;
	@texts = grep { length } @texts;

	$node->safe_psql('postgres', 'TRUNCATE texts; SET client_encoding = \'UTF8\'; INSERT INTO texts VALUES ' . join(', ', map { my $t = $texts[$_]; $t =~ s/'/''/g; "($_, E'" . ($t =~ s/\\/\\\\/gr) . "')" } 0 .. $#texts));
	foreach my $settings (@readings)
	{
		my $copy = copied("SELECT try_hash(t, '$sql_name{$type}'), t FROM texts", $settings);
		my ($said) = library($copy, 'texts', $type);
		my ($checked, $differ, $unread) = $said =~ /(\d+) checked, (\d+) differ, (\d+) not read$/;

		is($differ, 0, "$type: texts are what the server reads, under $settings") or diag($said);
		$total += $checked - $unread;
	}
	cmp_ok($total, '>', 40, "$type: of " . @texts . " texts, some are read");
}

# ---- filters, both ways ----

my $folder = PostgreSQL::Test::Utils::tempdir();

chmod 0755, $folder;
$node->safe_psql('postgres', 'CREATE TABLE filters (name text, f bloomfilter)');

my @kinds = qw(standard partitioned blocked counting scalable cuckoo xor xor_plus binary_fuse ribbon parquet);
my %parquet = map { $_ => 1 } ('integer', 'bigint', 'real', 'double precision', 'text', 'name', 'uuid', 'date', 'time', 'timestamp', 'timestamptz', 'bytea');
my @forms = qw(raw hex copy binary);
my $turn = 0;

foreach my $kind ($wanted{filters} ? @kinds : ())
{
	foreach my $type (sort keys %types)
	{
		next if $kind eq 'parquet' && !$parquet{$type};

		# every kind with some types, and every type with some kinds; all of them if there is time
		$turn++;
		next unless $ENV{LONG} || $type =~ share(qr/^(bigint|text)$/, qr/^(bigint|text|numeric|timestamptz)$/) || ($turn % share(14, 7) == 0);

		my $table = $table{$type};
		my $form = $forms[ $turn % @forms ];
		my $expected = $turn % 2 ? 0 : 5000;
		my $agg = "bloom_agg(x, 0.01, '$kind'" . ($expected ? ", $expected" : '') . ')';
		my $infinite = $kind eq 'parquet' && $type =~ /^timestamp/ ? q{WHERE x < '294000-01-01'} : '';
		my $file = "$folder/built";
		my $server_file = "$folder/server";
		my $input = copied("SELECT x FROM $table $infinite");
		my $lines = () = $input =~ /\n/g;
		my ($said, $fine) = library($input, 'build', $file, $type, $kind, 0.01, $expected, $form);

		next unless ok($fine, "$kind of $type: built outside");
		chmod 0644, $file;
		$node->safe_psql('postgres', 'TRUNCATE filters');
		if ($form eq 'binary') { $node->safe_psql('postgres', "CREATE TABLE one (f bloomfilter); COPY one FROM '$file' (FORMAT binary); INSERT INTO filters SELECT 'outside', f FROM one; DROP TABLE one") }
		elsif ($form eq 'copy') { $node->safe_psql('postgres', "CREATE TABLE one (f bloomfilter); COPY one FROM '$file'; INSERT INTO filters SELECT 'outside', f FROM one; DROP TABLE one") }
		elsif ($form eq 'hex') { $node->safe_psql('postgres', "INSERT INTO filters SELECT 'outside', pg_read_file('$file')::bloomfilter") }
		else { $node->safe_psql('postgres', "INSERT INTO filters SELECT 'outside', pg_read_binary_file('$file')::bloomfilter") }
		is($node->safe_psql('postgres', "SELECT count(*) FROM $table, filters WHERE f \@~ x " . ($infinite ne '' ? "AND x < '294000-01-01'" : '')), $lines, "$kind of $type: all keys are found in SQL");
		is($node->safe_psql('postgres', "SELECT (SELECT f::bytea FROM filters) = (SELECT $agg\::bytea FROM $table $infinite)"), 't', "$kind of $type: the bytes are those of $agg");

		# built in SQL, asked outside
		my $query = "SELECT $agg FROM $table $infinite";

		if ($form eq 'binary') { $node->safe_psql('postgres', "COPY ($query) TO '$server_file' (FORMAT binary)") }
		elsif ($form eq 'copy') { $node->safe_psql('postgres', "COPY ($query) TO '$server_file'") }
		else { append_to_file($server_file, $node->safe_psql('postgres', $query) . "\n") }
		foreach my $asked ($type, '-')
		{
			($said) = library($input, 'ask', $server_file, $asked);
			is($said, "$lines 0 0 0 0", "$kind of $type: all keys are found outside, asked as $asked");
		}
		unlink $server_file;
	}
}

# ---- unions, and what cannot be asked ----

if ($wanted{others})
{
	$node->safe_psql('postgres', qq{COPY (SELECT bloom_agg(x, 0.01, 'blocked', 1000) FROM generate_series(1, 800) x) TO '$folder/a';
		COPY (SELECT bloom_agg(x, 0.01, 'blocked', 3000) FROM generate_series(700, 2000) x) TO '$folder/b' (FORMAT binary)});
	library('', 'unite', "$folder/united", "$folder/a", "$folder/b");
	chmod 0644, "$folder/united";
	is($node->safe_psql('postgres', "SELECT pg_read_file('$folder/united')::bloomfilter::bytea = (bloom_agg(x, 0.01, 'blocked', 1000) FILTER (WHERE x <= 800) | bloom_agg(x, 0.01, 'blocked', 3000) FILTER (WHERE x >= 700))::bytea FROM generate_series(1, 2000) x"),
		't', 'a union has the bytes of SQL\'s');

	foreach my $case ([ 'int[]', 'ARRAY[x]' ], [ 'row(int,text[])', "ROW(x, ARRAY['a'])" ], [ 'row(row(int),text)', "ROW(ROW(x), 'a'::text)" ], [ 'range(int)', 'int4range(x, x + 1)' ], [ '"public"."citext"@', 'x::text::citext' ])
	{
		my ($family, $expression) = @$case;

		SKIP:
		{
			skip 'no citext', 3 if $expression =~ /citext/ && $node->psql('postgres', 'CREATE EXTENSION IF NOT EXISTS citext') != 0;
			$node->safe_psql('postgres', "COPY (SELECT bloom_agg($expression) FROM generate_series(1, 10) x) TO '$folder/nested'");
			my ($said) = library('', 'info', "$folder/nested");

			like($said, qr/^blocked\|\Q$family\E.*\|10\|may not be asked$/, "keys of $family cannot be asked outside");
			my ($o, $e) = ('', '');

			ok(!IPC::Run::run([ $library, 'ask', "$folder/nested", '-' ], '<', \"1\n", '>', \$o, '2>', \$e), "$family: an error");
			like($e, qr/\Q$family\E.*\n.*(build the filter|Ask it in SQL)/s, "$family: which says what to do");
		}
	}

	# a filter without keys, and with a type that is not its own
	$node->safe_psql('postgres', "COPY (SELECT bloom_agg(x::text) FROM generate_series(1, 0) x) TO '$folder/none'");
	is((library("a\nb\n", 'ask', "$folder/none", 'text'))[0], '0 2 0 0 0', 'the aggregate of no keys contains nothing');
	is((library("a\nb\n", 'ask', "$folder/none", '-'))[0], '0 2 0 0 0', 'nor if it is asked by its own type');
	{
		my ($o, $e) = ('', '');

		ok(!IPC::Run::run([ $library, 'ask', "$folder/a", 'text' ], '<', \"1\n", '>', \$o, '2>', \$e), 'keys of another family are an error');
		like($e, qr/holds keys of type int, and the key is of type text/, 'which names both');
	}
}

# ---- changed filters ----

if ($wanted{changed})
{
	my $tried = $library;
	my $sorts = 0;
	my @counts = (0, 0, 0);

	# so many at a time
	my $piece = 50_000 < $mutants ? 50_000 : $mutants;

	if ($ENV{LONG})
	{
		local %ENV = %ENV;
		my @sanitize = ('-O1', '-g1', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all');

		delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
		$tried = "$build/sanitized";
		IPC::Run::run([ 'make', '-s', '-C', "$ENV{PWD}/client", "BUILD=$build/sanitized.lib", "CFLAGS=@sanitize", 'lib' ], '2>', \$err) or BAIL_OUT("the library does not build: $err");
		IPC::Run::run([ 'cc', '-std=gnu11', @sanitize, "-I$ENV{PWD}", '-o', $tried, "$ENV{PWD}/test/client/library.c", "$build/sanitized.lib/libbloomfam.a", '-lm' ], '2>', \$err)
		  or BAIL_OUT("the test's program does not build: $err");
	}
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE originals (f bloomfilter);
CREATE TABLE mutants (accepted bool, f text);
CREATE FUNCTION accepts(f text) RETURNS bool LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM f::bloomfilter;
	RETURN true;
EXCEPTION WHEN invalid_text_representation OR invalid_binary_representation OR program_limit_exceeded THEN
	RETURN false;
END
$$;
SQL
	foreach my $kind (@kinds)
	{
		foreach my $keys ('x', ($kind eq 'parquet' ? () : ('x::text', 'ROW(x, 1)')), 'x::float8', 'uuid_in(md5(x::text)::cstring)')
		{
			$node->safe_psql('postgres', "INSERT INTO originals SELECT bloom_agg($keys, 0.05, '$kind') FROM generate_series(1, $_) x") for 1, 7, 60;
			$sorts += 3;
		}
	}
	$node->safe_psql('postgres', "INSERT INTO originals SELECT bloom_agg(x) FROM generate_series(1, 0) x");
	for (my $done = 0; $done < $mutants; $done += $piece)
	{
		my $errors = '';
		my $originals = copied('SELECT f FROM originals');

		# the test's program leaves what it has read to its end
		local $ENV{ASAN_OPTIONS} = 'detect_leaks=0';
		IPC::Run::run([ $tried, 'mutate', $piece, $seed + $done ], '<', \$originals, '>', "$rows/mutants", '2>', \$errors) or BAIL_OUT("a changed filter: $errors");
		my @these = split /\|/, $node->safe_psql('postgres', "TRUNCATE mutants; COPY mutants FROM '$rows/mutants';
			SELECT count(*), count(*) FILTER (WHERE accepted), count(*) FILTER (WHERE accepted <> accepts(f)) FROM mutants");
		$counts[$_] += $these[$_] for 0 .. 2;
	}
	is($counts[0], $mutants, "$mutants changed filters of $sorts are tried" . ($ENV{LONG} ? ', under ASan and UBSan' : ''));
	is($counts[2], 0, "... and accepted exactly where the server accepts");
	cmp_ok($counts[1], '>', $mutants / 100, "... which is true of $counts[1]");
	cmp_ok($counts[1], '<', $mutants / 2, '... not of most');
}

no_crash($node);
done_testing();
