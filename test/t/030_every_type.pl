# SPDX-License-Identifier: PostgreSQL
# Property: of every base type of the server, and of what is made of it, keys are refused, or a filter finds them all again: after dump and
# restore into another database, here and on a server whose roles have other numbers, and after a binary COPY.  docs/semantics.md says which.

use strict;
use warnings;

use BloomfamTest;
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Values of each base type.  A type that is not here fails the test: is it to be refused?  What names objects names ones that are made below.
my %samples = (
	aclitem => ['thing_role=r/other_role', 'other_role=w/thing_role'],
	bit => ['0', '1'],
	bool => ['t', 'f'],
	box => ['(1,2),(3,4)', '(0,0),(5,5)'],
	bpchar => ['a', 'b  '],
	bytea => ['\x', '\x0102'],
	char => ['a', 'Z'],
	cid => ['7', '4294967295'],
	cidr => ['10.0.0.0/8', '::/64'],
	circle => ['<(1,2),3>', '<(0,0),1>'],
	date => ['2026-01-02', 'infinity'],
	float4 => ['-0', '1.1', 'NaN'],
	float8 => ['0.1', '1e300', '-Infinity'],
	inet => ['10.0.0.1/8', '::1'],
	int2 => ['-1', '32767'],
	int2vector => ['1 2', '7'],
	int4 => ['-1', '2147483647'],
	int8 => ['-1', '9223372036854775807'],
	interval => ['1 mon -3 days', '77:00:00.5'],
	json => ['{"a": 1}', '[]'],
	jsonb => ['{"a": 1.0, "b": [null]}', '"x"'],
	jsonpath => ['$.a', '$'],
	line => ['{1,2,3}', '{0,1,0}'],
	lseg => ['[(1,2),(3,4)]', '[(0,0),(1,1)]'],
	macaddr => ['08:00:2b:01:02:03', '00:00:00:00:00:00'],
	macaddr8 => ['08:00:2b:01:02:03:04:05', '00:00:00:00:00:00:00:01'],
	money => ['1.23', '-7'],
	name => ['a', 'b c'],
	numeric => ['1.10', '-1e-30', 'NaN'],
	oid => ['7', '4294967295'],
	oid8 => ['7', '18446744073709551615'],
	oidvector => ['1 2', '7'],
	path => ['((1,2),(3,4))', '[(0,0),(1,1)]'],
	pg_dependencies => ['[{"attributes": [1], "dependency": 2, "degree": 0.5}]'],
	pg_lsn => ['0/0', '16/B374D848'],
	pg_ndistinct => ['[{"attributes": [1, 2], "ndistinct": 3}]'],
	pg_snapshot => ['10:20:10,14', '1:1:'],
	point => ['(1,2)', '(0,0)'],
	polygon => ['((0,0),(1,1),(2,0))', '((1,1))'],
	refcursor => ['a', 'b'],
	regclass => ['thing', 'pg_class'],
	regcollation => ['thing_collation', '"C"'],
	regconfig => ['thing_config', 'simple'],
	regdatabase => ['postgres', 'template1'],
	regdictionary => ['thing_dictionary', 'simple'],
	regnamespace => ['thing_schema', 'public'],
	regoper => ['#%#', '||/'],
	regoperator => ['#%#(integer,integer)', '+(integer,integer)'],
	regproc => ['thing_function', 'now'],
	regprocedure => ['thing_function(integer)', 'now()'],
	regrole => ['thing_role', 'other_role'],
	regtype => ['thing', 'integer'],
	text => ['', 'naïve  '],
	tid => ['(0,1)', '(7,8)'],
	time => ['00:00', '23:59:59.999999'],
	timestamp => ['2026-01-02 03:04', 'infinity'],
	timestamptz => ['2026-01-02 03:04+05', '-infinity'],
	timetz => ['10:00+01', '10:00-08'],
	tsquery => ['a & b', 'c'],
	tsvector => ['a:1 b:2', 'c'],
	txid_snapshot => ['10:20:10,14', '1:1:'],
	uuid => ['00000000-0000-0000-0000-000000000001', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
	varbit => ['', '10101'],
	varchar => ['a', 'B '],
	xid => ['7', '4294967295'],
	xid8 => ['7', '18446744073709551615'],
	xml => ['<a/>', '<b>c</b>'],
	# ranges and multiranges
	int4range => ['[1,5)', 'empty'],
	int8range => ['[1,)', '(,)'],
	numrange => ['[1.0,2.00)', '(,1]'],
	daterange => ['[2026-01-01,2026-02-01)', 'empty'],
	tsrange => ['[2026-01-01,)', 'empty'],
	tstzrange => ['[2026-01-01 00:00+01,)', 'empty'],
	int4multirange => ['{[1,5),[7,8)}', '{}'],
	int8multirange => ['{[1,)}', '{}'],
	nummultirange => ['{[1.0,2.00)}', '{}'],
	datemultirange => ['{[2026-01-01,2026-02-01)}', '{}'],
	tsmultirange => ['{[2026-01-01,)}', '{}'],
	tstzmultirange => ['{[2026-01-01 00:00+01,)}', '{}'],
	# and what is made here
	mood => ['sad', 'Über "glücklich"'],
	thing => ['(1,a)', '(,)']);

# Types of system catalogs, whose input functions take no value, so that none can be restored; in some majors they do.
my @of_catalogs = qw(gtsvector pg_brin_bloom_summary pg_brin_minmax_multi_summary pg_dependencies pg_mcv_list pg_ndistinct pg_node_tree);

# Since which major there are types that are not in all.
my %since = (oid8 => 19, regdatabase => 19);

# ---- what the page says ----

my %told;
my $page = slurp_file(dirname(__FILE__) . '/../../docs/semantics.md');
my ($table) = $page =~ /^\| types \| keys \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m;
foreach my $row (split /\n/, $table // '')
{
	my ($types, $keys) = $row =~ /^\| (.*) \| (.*) \|$/;

	foreach my $type ($types =~ /`([^`]+)`/g)
	{
		fail("docs/semantics.md has $type once") if exists $told{$type};
		$told{$type} = $keys;
	}
}
cmp_ok(scalar keys %told, '>', 60, 'docs/semantics.md has a table of types');

# What the page's words mean: a pattern for the family, or for the error.
sub pattern_of
{
	my ($type) = @_;
	my $keys = $told{$type};

	return qr/^\Q$1\E$/ if $keys =~ /^family `(.*)`$/;
	return qr/^\Q$type\E$/ if $keys =~ /^a family of each's own/;
	return qr/^"pg_catalog"\."\Q$type\E"\@pg\d+:/ if $keys =~ /^by the type's hash function/;
	return qr/^42883: / if $keys =~ /^refused: no 64-bit hash function$/;
	return qr/^0A000: / if $keys =~ /^refused: /;
	return qr/^the page has no such word$/;
}

# ---- two servers ----

my $here = start_node('here');
my $there = start_node('there');
my $dir = PostgreSQL::Test::Utils::tempdir();

$here->safe_psql('postgres', 'CREATE ROLE thing_role; CREATE ROLE other_role; CREATE DATABASE source');
# other numbers there: of roles, and of whatever comes later
$there->safe_psql('postgres', 'CREATE ROLE another_role; CREATE ROLE other_role; CREATE ROLE thing_role');

sub make_target
{
	my ($node, $target) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	$node->safe_psql($target, 'CREATE SCHEMA before;' . join('', map { "CREATE TABLE before.t$_ (a int);" } 1 .. 200));
	return;
}

# ---- the source: a table of keys for each type, and what became of a filter ----

$here->safe_psql('source', q{
	CREATE EXTENSION bloomfam;
	CREATE TABLE thing (a int, b text);
	CREATE SCHEMA thing_schema;
	CREATE FUNCTION thing_function(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
	CREATE FUNCTION thing_operator(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
	CREATE OPERATOR #%# (LEFTARG = int, RIGHTARG = int, FUNCTION = thing_operator);
	CREATE COLLATION thing_collation (provider = libc, locale = 'C');
	CREATE TEXT SEARCH CONFIGURATION thing_config (COPY = simple);
	CREATE TEXT SEARCH DICTIONARY thing_dictionary (TEMPLATE = simple);
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'Über "glücklich"');

	CREATE TABLE made (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, base text, shape text, type text, family text, hint text, f bloomfilter);
	CREATE FUNCTION make(base text, shape text, type text, expression text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		id int;
		error_hint text;
	BEGIN
		INSERT INTO made (base, shape, type) VALUES (base, shape, type) RETURNING n INTO id;
		EXECUTE format('CREATE TABLE keys_%s AS SELECT (%s)::%s AS k, NULL::bloomkey AS h, NULL::int AS s FROM v', id, expression, type);
		EXECUTE format('UPDATE made SET f = (SELECT bloom_agg(k, 1e-4) FROM keys_%s) WHERE n = %s', id, id);
		EXECUTE format('UPDATE keys_%s SET h = bloom_key(k), s = bloom_shard(k, 1000000)', id);
		UPDATE made SET family = (bloom_info(f)).key_type WHERE n = id;
	EXCEPTION WHEN feature_not_supported OR undefined_function THEN
		GET STACKED DIAGNOSTICS error_hint = PG_EXCEPTION_HINT;
		INSERT INTO made (base, shape, type, family, hint) VALUES (base, shape, type, SQLSTATE || ': ' || SQLERRM, error_hint);
	END $$;

	-- A type's values in v: all that is made of them.
	CREATE FUNCTION make_all(type text, id int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM make(type, 'itself', type, 'v');
		PERFORM make(type, 'array', type || '[]', format('array_append(array_append(NULL::%s[], v), NULL)', type));
		EXECUTE format('CREATE DOMAIN domain_%s AS %s', id, type);
		PERFORM make(type, 'domain', 'domain_' || id, 'v');
		EXECUTE format('CREATE TYPE row_%s AS (v %s, n int)', id, type);
		PERFORM make(type, 'row', 'row_' || id, 'ROW(v, 7)');
		PERFORM make(type, 'array of rows', format('row_%s[]', id), format('ARRAY[ROW(v, 7)::row_%s]', id));
		BEGIN
			EXECUTE format('CREATE TYPE range_%s AS RANGE (subtype = %s, multirange_type_name = ranges_%s)', id, type, id);
		EXCEPTION WHEN undefined_object THEN
			RETURN;				-- no order, no range
		END;
		PERFORM make(type, 'range', 'range_' || id, format('range_%s(v, NULL)', id));
		PERFORM make(type, 'multirange', 'ranges_' || id, format('ranges_%s(range_%s(v, NULL))', id, id));
	END $$;

	-- Keys that are not found again, or not as they were.
	CREATE FUNCTION lost(OUT what text, OUT keys bigint) RETURNS SETOF record LANGUAGE plpgsql AS $$
	DECLARE
		m record;
		bad bigint;
		same bool;
	BEGIN
		FOR m IN SELECT * FROM made WHERE f IS NOT NULL ORDER BY n LOOP
			EXECUTE format('SELECT count(*), count(*) FILTER (WHERE ($1 @~ k AND $1 @~ h AND bloom_key(k) = h AND bloom_shard(k, 1000000) = s) IS NOT TRUE),
				$1 = bloom_agg(k, 1e-4) FROM keys_%s', m.n) INTO keys, bad, same USING m.f;
			what := CASE WHEN bad > 0 OR NOT same THEN format('%s (%s of %s)', m.type, m.shape, m.base) END;
			RETURN NEXT;
		END LOOP;
	END $$;
});

my $types = $here->safe_psql('source', q{
	SELECT typname, oid::regtype FROM pg_type t
	WHERE typtype IN ('b', 'r', 'm') AND typnamespace = 'pg_catalog'::regnamespace AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
	UNION ALL VALUES ('mood', 'mood'::regtype), ('thing', 'thing') ORDER BY 1});
my %exists;
my $id = 0;
my $make = '';
foreach my $line (split /\n/, $types)
{
	my ($name, $type) = split /\|/, $line;
	my $of_catalogs = grep { $_ eq $name } @of_catalogs;
	my @values = @{ $samples{$name} // [] };

	$exists{$name} = $type;
	if (!@values && !$of_catalogs)
	{
		fail("type $name has values in this test: is it refused, or found again?");
		next;
	}

	my $literals = join(', ', map { "('$_'::$type)" } @values);
	# a value that no statement can give: of a catalog's type, or of one that the server was built without
	if ($of_catalogs || $name eq 'xml')
	{
		my ($status, $out, $error) = $here->psql('source', "\\set VERBOSITY verbose\nSELECT '" . ($values[0] // '') . "'::$type");

		if ($error ne '')
		{
			like($error, qr/ERROR:  0A000: /, "type $name takes no values");
			next;
		}
	}
	$id++;
	$make .= qq{
		CREATE TABLE v AS SELECT * FROM (VALUES $literals) s(v);
		SELECT make_all('$type', $id);
		DROP TABLE v;
	};
}
$here->safe_psql('source', $make);
cmp_ok($id, '>', 70, 'types were tried');

# ---- refused or not, as the page says, and alike in all that is made of a type ----

my %family = map { split /\|/, $_, 2 } split /\n/, $here->safe_psql('source', "SELECT type, family FROM made WHERE shape = 'itself'");
foreach my $name (sort keys %told)
{
	if (!exists $exists{$name})
	{
		my ($major) = $here->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;

		cmp_ok($major, '<', $since{$name} // 0, "the page has type $name, this server has not");
		next;
	}
	like($family{ $exists{$name} }, pattern_of($name), "$name: $told{$name}");
}
is( join(' ', grep { !exists $told{$_} && !/range$|^mood$|^thing$/ } grep { my $name = $_; !grep { $_ eq $name } @of_catalogs } sort keys %exists),
	'', 'the page has all base types');
is( $here->safe_psql('source', q{
		SELECT DISTINCT m.type, m.family FROM made m JOIN made i USING (base) WHERE i.shape = 'itself' AND (m.f IS NULL) <> (i.f IS NULL)}),
	'', 'what is made of a type is refused if and only if it is');
is($here->safe_psql('source', q{SELECT type FROM made WHERE f IS NULL AND coalesce(hint, '') !~ '^Cast the key'}), '', 'who is refused is told what to cast to');
is($here->safe_psql('source', q{SELECT count(*) > 250, count(*) FILTER (WHERE f IS NULL) > 100 FROM made}), 't|t', 'of both there are many');
is($here->safe_psql('source', q{SELECT count(what), sum(keys) > 500 FROM lost()}), '0|t', 'every key is found where it was added');

# ---- elsewhere ----

# Every name that stands for a number stands for another one.
my @numbers = map { "'$samples{$_}[0]'::$_" } grep { /^reg/ && $_ ne 'regdatabase' } sort keys %samples;

sub check_target
{
	my ($node, $target, $how) = @_;

	is($node->safe_psql($target, 'SELECT count(*) FROM made'), $here->safe_psql('source', 'SELECT count(*) FROM made'), "$how: all filters are there");
	is($node->safe_psql($target, 'SELECT what FROM lost() WHERE what IS NOT NULL'), '', "$how: every key is found again");
	is($node->safe_psql($target, 'SELECT sum(keys) FROM lost()'), $here->safe_psql('source', 'SELECT sum(keys) FROM lost()'), "$how: ... of as many");
	foreach my $number (@numbers)
	{
		next if $node == $here && $number =~ /regrole/;
		isnt($node->safe_psql($target, "SELECT $number\::oid"), $here->safe_psql('source', "SELECT $number\::oid"), "$how: $number is another number");
	}
	return;
}

$here->command_ok([ 'pg_dump', '--file' => "$dir/dump.sql", 'source' ], 'pg_dump');
foreach my $node ($here, $there)
{
	my $how = 'restored on ' . $node->name;

	make_target($node, 'target');
	$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set' => 'ON_ERROR_STOP=1', '--file' => "$dir/dump.sql", 'target' ], $how);
	check_target($node, 'target', $how);
}

$here->command_ok([ 'pg_dump', '--schema-only', '--file' => "$dir/schema.sql", 'source' ], 'pg_dump of the schema');
make_target($there, 'copied');
$there->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set' => 'ON_ERROR_STOP=1', '--file' => "$dir/schema.sql", 'copied' ], 'its restore');
my @tables = ('made', map { "keys_$_" } split /\n/, $here->safe_psql('source', 'SELECT n FROM made WHERE f IS NOT NULL ORDER BY n'));
$here->safe_psql('source', join(";\n", map { "COPY $_ TO '$dir/$_' (FORMAT binary)" } @tables));
$there->safe_psql('copied', join(";\n", map { "COPY $_ FROM '$dir/$_' (FORMAT binary)" } @tables));
check_target($there, 'copied', 'binary COPY');

no_crash($here);
no_crash($there);
done_testing();
