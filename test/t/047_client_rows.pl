# SPDX-License-Identifier: PostgreSQL
# Property: keys of two and three columns, with NULLs in any of them, are the same keys to the server and to the program: a filter that one builds has
# the bytes that the other's has, and both give the same answers to keys that are there and to keys that are not.
#
# LONG=1: 100,000 keys of each set of columns in place of 3,000.  BLOOMFAM_PYTHON: a python3 with the package, which is asked the same then.

use strict;
use warnings;

use BloomfamTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $keys = share(400, 3_000, 100_000);
my $build = PostgreSQL::Test::Utils::tempdir();
my $files = PostgreSQL::Test::Utils::tempdir();
my ($out, $err) = ('', '');

chmod 0777, $files;
plan skip_all => 'no compiler' unless system('cc --version >/dev/null 2>&1') == 0;

# of a tree that is built, what is there
my $there = -f "$ENV{PWD}/build/client/libbloomfam.a" ? "$ENV{PWD}/build/client" : "$build/client";
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	IPC::Run::run([ 'make', '-s', '-C', "$ENV{PWD}/client", "BUILD=$there", 'all' ], '<', \undef, '>', \$out, '2>', \$err)
	  or $there ne "$build/client" or BAIL_OUT("the program does not build: $err");
}

# program INPUT, ARGUMENT...: its exit code, and what it says
sub program
{
	my ($input, @args) = @_;
	my $said = '';

	IPC::Run::run([ "$there/bloomfam", @args ], '<', $input, '2>', \$said);
	return ($? >> 8, $said =~ s/,//gr);
}

my $node = start_node('main', "fsync = off\nextra_float_digits = 1\n", extra => [ '--encoding=UTF8', '--locale=C' ]);

$node->safe_psql('postgres', q{CREATE TYPE mood AS ENUM ('sad', 'ok', 'very, "happy"'); SELECT setseed(0.47)});

# ---- sets of columns: the type to the program, and an expression of a random value (i is the row's number) ----

my %values = (
	int => '(i * 7919::bigint % 1000003)::int',
	bigint => '(random() * 1e15)::bigint',
	text => q{i || repeat(chr(97 + i % 20), i % 9) || CASE WHEN i % 50 = 0 THEN repeat(' a long "text", é', 6) ELSE '' END},
	date => q{date '2024-01-01' + (random() * 1000)::int},
	uuid => 'gen_random_uuid()',
	numeric => q{round((random() * 1e6)::numeric, i % 5)},
	real => '(random() * 100)::real',
	'double precision' => 'random() * 100',
	'timestamp with time zone' => q{timestamptz '2024-01-01 00:00+00' + i * interval '1.25 s'},
	boolean => 'i % 2 = 0',
	bytea => q{decode(md5(i::text), 'hex')},
	inet => q{('10.0.' || i % 256 || '.' || i % 7)::inet},
	'enum "public"."mood"' => '(enum_range(NULL::mood))[1 + i % 3]',
	name => q{('n' || i)::name},
	'char(5)' => q{(i % 1000)::text},
);
my @sets = (
	[ 'int', 'int' ], [ 'int', 'date' ], [ 'bigint', 'text' ], [ 'text', 'date', 'int' ], [ 'uuid', 'int' ], [ 'numeric', 'text' ], [ 'date', 'numeric', 'uuid' ],
	[ 'text', 'text' ], [ 'real', 'bigint' ], [ 'double precision', 'real', 'name' ], [ 'enum "public"."mood"', 'boolean', 'int' ],
	[ 'inet', 'timestamp with time zone' ], [ 'bytea', 'char(5)' ], [ 'int' ]);

foreach my $set (@sets)
{
	my @types = @$set;
	my @names = map { "c$_" } 1 .. @types;
	my $type = @types > 1 ? join(',', @types) : "row($types[0])";
	my $columns = join(', ', map { "$names[$_] " . ($types[$_] =~ /^enum/ ? 'mood' : $types[$_]) } 0 .. $#types);
	my $random = join(', ', map { "CASE WHEN i % 23 = $_ OR i % 400 = 0 THEN NULL ELSE $values{$types[$_]} END" } 0 .. $#types);
	my $row = 'ROW(' . join(', ', @names) . ')';
	my $list = join(', ', @names);

	# "known" has the first keys of "asked"; of the others few are there
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS asked, known;
		CREATE TABLE asked (i int, $columns);
		INSERT INTO asked SELECT i, $random FROM generate_series(1, 2 * $keys) i;
		CREATE TABLE known AS SELECT * FROM asked WHERE i <= $keys;
		COPY (SELECT bloom_agg($row, 1e-6, 'ribbon') FROM known) TO '$files/server.filter' (FORMAT binary);
		COPY known TO '$files/known.csv' (FORMAT csv, HEADER);
		COPY asked TO '$files/asked.csv' (FORMAT csv, HEADER)});

	my ($code, $said) = program("$files/known.csv", 'build', '-c', join(',', @names), '-t', $type, '--fpr', '1e-6', '--kind', 'ribbon', '-o', "$files/built.filter");

	is($code, 0, "$type: the program builds a filter") or diag($said);
	is($node->safe_psql('postgres', "SELECT md5(pg_read_binary_file('$files/built.filter')) = md5(bloom_agg($row, 1e-6, 'ribbon')::bytea) FROM known"), 't', '... with the bytes of the server\'s, NULLs and all');

	foreach my $asked ([ '-t', $type ], [])
	{
		my $how = @$asked ? '' : ', of what type the filter says';
		# a text that may be a name is asked for as each that it may have been cut to, of which one may be there by mistake
		my $as_many = @$asked ? '=' : '<=';

		($code, $said) = program("$files/asked.csv", 'split', '-f', "$files/server.filter", '-c', join(',', @names), @$asked, '--new', "$files/new.csv", '--maybe', "$files/maybe.csv");
		is($code, 0, "$type: every key is read$how") or diag($said);
		is($node->safe_psql('postgres', qq{
			CREATE TEMPORARY TABLE new (LIKE asked);
			COPY new FROM '$files/new.csv' (FORMAT csv, HEADER);
			WITH f AS (SELECT bloom_agg($row, 1e-6, 'ribbon') AS filter FROM known)
			SELECT count(*) FILTER (WHERE i <= $keys), count(*) > $keys / 4,
				count(*) $as_many (SELECT count(*) FROM asked WHERE NOT (SELECT filter FROM f) @~ $row AND num_nulls($list) = 0)
			FROM new}), '0|t|t', "... new are those that the server calls absent, without a NULL, and none that is there$how");
	}
}

done_testing();
