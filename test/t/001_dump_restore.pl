# SPDX-License-Identifier: PostgreSQL
# Property: filters and hashed keys survive pg_dump and restore into another database, byte for byte, and every key is still found
# there, although every OID is another one.  What of an enum may change without a rebuild, and what may not.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main');
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', 'CREATE DATABASE source');
$node->safe_psql('source', 'CREATE EXTENSION bloomfam');

my $have_citext = $node->safe_psql('source', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'});
my $have_icu = $node->safe_psql('source', q{SELECT count(*) > 0 FROM pg_collation WHERE collprovider = 'i'}) eq 't';

$node->safe_psql('source', q{
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Über "glücklich"', 'a''b');
	CREATE DOMAIN posint AS integer CHECK (VALUE > 0);
	CREATE DOMAIN feeling AS mood;
	CREATE TYPE pair AS (a integer, b text);
	CREATE TYPE moody AS (m mood, n numeric, t text[]);
	CREATE TYPE moodrange AS RANGE (SUBTYPE = mood);
});
$node->safe_psql('source', 'CREATE EXTENSION citext') if $have_citext;
$node->safe_psql('source', q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) if $have_icu;

# name => [type, a query of keys]
my $moods = 'SELECT unnest(enum_range(NULL::mood))';
my %keys = (
	int2 => ['smallint', 'SELECT generate_series(-200, 200)'],
	int4 => ['integer', 'SELECT generate_series(1, 2000) * 7919'],
	int8 => ['bigint', 'SELECT generate_series(1, 500) * 7919 * 1000000007::bigint'],
	float4 => ['real', q{SELECT g / 8.0 FROM generate_series(-50, 50) g UNION ALL VALUES ('-0'::real), ('NaN'), ('Infinity')}],
	float8 => ['double precision', q{SELECT g / 7.0 FROM generate_series(-50, 50) g UNION ALL VALUES ('-0'::float8), ('NaN'), ('-Infinity')}],
	text => ['text', q{SELECT 'key ' || g FROM generate_series(1, 2000) g UNION ALL VALUES (''), ('naïve café'), (repeat('long ', 10000))}],
	varchar => ['varchar(20)', q{SELECT 'v' || g FROM generate_series(1, 100) g}],
	bpchar => ['char(12)', q{SELECT 'c' || g FROM generate_series(1, 100) g}],
	name => ['name', q{SELECT 'n' || g FROM generate_series(1, 100) g}],
	char => ['"char"', q{SELECT chr(g) FROM generate_series(33, 126) g}],
	numeric => ['numeric', q{SELECT g * 1.10 FROM generate_series(-100, 100) g
		UNION ALL VALUES (1e300), (1e-200), ('NaN'), ('Infinity'), (repeat('123456789', 100)::numeric)}],
	uuid => ['uuid', 'SELECT md5(g::text)::uuid FROM generate_series(1, 300) g'],
	bool => ['boolean', 'VALUES (true), (false)'],
	bytea => ['bytea', q{SELECT decode(md5(g::text), 'hex') FROM generate_series(1, 100) g}],
	date => ['date', q{SELECT '2000-01-01'::date + g FROM generate_series(-500, 500) g UNION ALL VALUES ('infinity'::date)}],
	time => ['time', q{SELECT '00:00'::time + g * interval '77 s' FROM generate_series(1, 100) g}],
	timetz => ['timetz', q{VALUES ('10:00+01'::timetz), ('10:00-08')}],
	timestamp => ['timestamp', q{SELECT '2000-01-01'::timestamp + g * interval '1.5 h' FROM generate_series(1, 500) g}],
	timestamptz => ['timestamptz', q{SELECT '2000-01-01'::timestamptz + g * interval '1.5 h' FROM generate_series(1, 500) g}],
	interval => ['interval', q{SELECT g * interval '1 day 2 hours' FROM generate_series(-50, 50) g UNION ALL VALUES (interval '1 month')}],
	oid => ['oid', 'SELECT g::oid FROM generate_series(1, 100) g'],
	inet => ['inet', q{SELECT '10.0.0.0/8'::inet + g FROM generate_series(1, 100) g UNION ALL VALUES (inet '::1')}],
	macaddr => ['macaddr', q{VALUES ('08:00:2b:01:02:03'::macaddr)}],
	macaddr8 => ['macaddr8', q{VALUES ('08:00:2b:01:02:03:04:05'::macaddr8)}],
	pg_lsn => ['pg_lsn', q{VALUES ('0/1'::pg_lsn), ('16/B374D848')}],
	bit => ['varbit', q{VALUES (B'101'::varbit), (B''), (repeat('10', 100)::varbit)}],
	enum => ['mood', $moods],
	domain => ['posint', 'SELECT generate_series(1, 300)'],
	domain_of_enum => ['feeling', $moods],
	composite => ['pair', q{SELECT (g, 't' || g)::pair FROM generate_series(1, 200) g UNION ALL VALUES ((NULL, NULL)::pair)}],
	composite_of_enum => ['moody', q{SELECT (m, 1.50, ARRAY['x', NULL])::moody FROM unnest(enum_range(NULL::mood)) m}],
	array => ['integer[]', 'SELECT ARRAY[g, NULL, g + 1] FROM generate_series(1, 200) g'],
	array_of_enum => ['mood[]', 'SELECT ARRAY[a, b] FROM unnest(enum_range(NULL::mood)) a, unnest(enum_range(NULL::mood)) b'],
	array_of_composite => ['pair[]', q{SELECT ARRAY[(g, 't')]::pair[] FROM generate_series(1, 50) g}],
	range => ['int4range', q{SELECT int4range(g, g + 10) FROM generate_series(1, 200) g UNION ALL VALUES (int4range 'empty'), ('(,5)')}],
	range_of_enum => ['moodrange', q{SELECT moodrange(m, NULL) FROM unnest(enum_range(NULL::mood)) m}],
	multirange => ['nummultirange', q{SELECT nummultirange(numrange(g, g + 0.5), numrange(g + 1, NULL)) FROM generate_series(1, 50) g}],
	jsonb => ['jsonb', q{SELECT jsonb_build_object('k', g) FROM generate_series(1, 100) g}]);
$keys{citext} = ['citext', q{SELECT 'CiText' || g FROM generate_series(1, 200) g}] if $have_citext;
$keys{nocase} = ['text COLLATE nocase', q{SELECT 'NoCase é' || g FROM generate_series(1, 200) g}] if $have_icu;
$keys{array_of_nocase} = ['text[] COLLATE nocase', q{SELECT ARRAY['NoCase', 'x' || g] FROM generate_series(1, 200) g}] if $have_icu;

# The same statements in both databases: what is asked for is a row of each key table.
sub for_all_keys
{
	my ($query) = @_;

	return join("\nUNION ALL ", map { $query =~ s/%/$_/gr } sort keys %keys);
}

my $setup = "CREATE TABLE filters (name text, kind text, f bloomfilter);\n";
foreach my $name (sort keys %keys)
{
	my ($type, $query) = @{ $keys{$name} };

	$setup .= "CREATE TABLE keys_$name (k $type, h bloomkey);
		INSERT INTO keys_$name SELECT * FROM ($query) q;
		UPDATE keys_$name SET h = bloom_key(k);\n";
	$setup .= "INSERT INTO filters SELECT '$name', '$_', bloom_agg(k, 0.001, '$_') FROM keys_$name;\n" foreach ('standard', 'blocked');
}
$setup .= q{
	CREATE TABLE others (name text PRIMARY KEY, f bloomfilter);
	INSERT INTO others SELECT 'no keys', bloom_agg(k) FROM keys_enum WHERE false;
	INSERT INTO others SELECT 'no family', bloom_create(1000, 0.001, 'standard');
	INSERT INTO others SELECT 'empty', bloom_create(1000, 0.001, 'blocked', 'mood');
	INSERT INTO others SELECT 'large', bloom_agg(k) FROM generate_series(1, 200000) k;
	INSERT INTO others VALUES ('null', NULL);
};
$node->safe_psql('source', $setup);

my $bytes_query = q{SELECT name, kind, sha256(bytea(f)) FROM filters UNION ALL SELECT name, '', sha256(bytea(f)) FROM others ORDER BY 1, 2};
my $source_bytes = $node->safe_psql('source', $bytes_query);
my $source_hashes = $node->safe_psql('source', for_all_keys(q{SELECT '%', sum(hashtextextended(h::text, 0)) FROM keys_%}));

# In what order pg_dump writes the types is its affair; here, others come first.
sub make_target
{
	my ($target) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	$node->safe_psql($target, 'CREATE SCHEMA before');
	$node->safe_psql($target, "CREATE TYPE before.e$_ AS ENUM ('happy', 'ok', 'sad', 'other$_')") foreach (1 .. 7);
	return;
}

sub check_target
{
	my ($target) = @_;

	my $oids = q{SELECT count(DISTINCT oid), min(oid) FROM pg_enum WHERE enumtypid = 'mood'::regtype};
	isnt($node->safe_psql($target, $oids), $node->safe_psql('source', $oids), "$target: the enum's values have other OIDs");
	is($node->safe_psql($target, $bytes_query), $source_bytes, "$target: filters are equal to the byte");
	is($node->safe_psql($target, for_all_keys(q{SELECT '%', sum(hashtextextended(h::text, 0)) FROM keys_%})),
		$source_hashes, "$target: hashed keys are equal");

	is( $node->safe_psql(
			$target,
			q{SELECT string_agg(name || ' ' || kind, ', ' ORDER BY name, kind) FROM (}
			  . for_all_keys(q{SELECT f.name, f.kind FROM filters f, keys_% WHERE f.name = '%' AND NOT bloom_may_contain(f.f, k)})
			  . q{) lost}),
		'',
		"$target: every key is found");
	is( $node->safe_psql(
			$target,
			q{SELECT string_agg(name, ', ' ORDER BY name) FROM (}
			  . for_all_keys(q{SELECT f.name FROM filters f, keys_% WHERE f.name = '%' AND (NOT f.f @~ h OR bloom_key(k) <> h)})
			  . q{) lost}),
		'',
		"$target: so is every hashed key, and hashing again gives the same");
	is( $node->safe_psql(
			$target,
			q{SELECT string_agg(name || ' ' || kind, ', ' ORDER BY name, kind) FROM (}
			  . for_all_keys(
				q{SELECT f.name, f.kind FROM filters f, (SELECT bloom_agg(k, 0.001, 'standard') s, bloom_agg(k, 0.001, 'blocked') b FROM keys_%) again
				  WHERE f.name = '%' AND f.f <> CASE kind WHEN 'standard' THEN s ELSE b END})
			  . q{) other}),
		'',
		"$target: building again gives the same filters");
	cmp_ok($node->safe_psql($target, for_all_keys(q{SELECT '%' FROM filters f, keys_% WHERE f.name = '%'}) =~ s/^/SELECT count(*) FROM (/r . ') n'),
		'>', 10000, "$target: there was something to find");

	is($node->safe_psql($target, q{SELECT bool_or(f @~ k), count(*) FROM others, keys_enum WHERE name IN ('no keys', 'no family', 'empty')}),
		'f|15', "$target: empty filters are empty");
	is($node->safe_psql($target, q{SELECT count(*) FROM generate_series(1, 200000) k WHERE (SELECT f FROM others WHERE name = 'large') @~ k}),
		'200000', "$target: every key of a TOASTed filter is found");
	is($node->safe_psql($target, q{SELECT f IS NULL, f @~ 1 FROM others WHERE name = 'null'}), 't|t', "$target: no filter is no filter");
	return;
}

make_target('target_plain');
$node->command_ok([ 'pg_dump', '--file' => "$dir/plain.sql", 'source' ], 'pg_dump, plain');
$node->command_ok(
	[ 'psql', '--no-psqlrc', '--quiet', '--set' => 'ON_ERROR_STOP=1', '--file' => "$dir/plain.sql", 'target_plain' ], 'restore, plain');
check_target('target_plain');

make_target('target_custom');
$node->command_ok([ 'pg_dump', '--format' => 'custom', '--inserts', '--file' => "$dir/custom", 'source' ], 'pg_dump, custom, INSERTs');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname' => 'target_custom', "$dir/custom" ], 'pg_restore');
check_target('target_custom');

# An enum: other values may come, before or after the old ones.
my $enum_lost = q{SELECT count(*) FROM filters, keys_enum WHERE name = 'enum' AND NOT bloom_may_contain(f, k)};
my $session = $node->background_psql('target_plain', on_error_stop => 0);
$session->query(q{PREPARE probe(mood) AS SELECT string_agg(bloom_may_contain(f, $1)::text, ' ') FROM filters WHERE name = 'enum'});
$session->query(q{SET plan_cache_mode = force_generic_plan});
is($session->query(q{EXECUTE probe('sad')}), 'true true', 'a label is found');

$node->safe_psql('target_plain', q{
	ALTER TYPE mood ADD VALUE 'worst' BEFORE 'sad';
	ALTER TYPE mood ADD VALUE 'better' BEFORE 'happy';
	ALTER TYPE mood ADD VALUE 'best';
});
is($node->safe_psql('target_plain', $enum_lost), '0', 'ADD VALUE: every key is still found');
is($node->safe_psql('target_plain', q{SELECT bool_or(f @~ m) FROM filters, unnest('{worst, better, best}'::mood[]) m WHERE name = 'enum'}),
	'f', 'ADD VALUE: no new one is');

# RENAME VALUE is the documented exception: the label is what was hashed.
$node->safe_psql('target_plain', q{ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'});
is($node->safe_psql('target_plain', $enum_lost), '2', 'RENAME VALUE: the renamed key is not found by either kind');
is($session->query(q{EXECUTE probe('blue')}), 'false false', 'RENAME VALUE: so says a session that had hashed the old label');
is($node->safe_psql('target_plain', q{SELECT string_agg(DISTINCT k::text, ' ') FROM filters, keys_enum
		WHERE name = 'enum' AND NOT bloom_may_contain(f, k)}),
	'blue', 'RENAME VALUE: and that is the only one');
$node->safe_psql('target_plain', q{
	UPDATE filters SET f = (SELECT bloom_agg(k, 0.001, filters.kind) FROM keys_enum) WHERE name = 'enum'});
is($node->safe_psql('target_plain', $enum_lost), '0', 'RENAME VALUE: after a rebuild, every key is found');
is($session->query(q{EXECUTE probe('blue')}), 'true true', 'RENAME VALUE: so says the session');
$session->quit;

# An enum under another name is another family: an error, not a silent no.
$node->safe_psql('postgres', 'CREATE DATABASE target_schema TEMPLATE template0');
$node->safe_psql('target_schema', 'CREATE SCHEMA elsewhere');
$node->command_ok([ 'pg_dump', '--file' => "$dir/enum.sql", '--extension' => 'bloomfam', '--table' => 'keys_enum', '--table' => 'filters', 'source' ],
	'pg_dump of two tables');
my $dump = "CREATE TYPE elsewhere.mood AS ENUM ('sad', 'ok', 'happy', 'Über \"glücklich\"', 'a''b');\n" . slurp_file("$dir/enum.sql");
$dump =~ s/\bpublic\.mood\b/elsewhere.mood/g;
$dump = "CREATE EXTENSION IF NOT EXISTS bloomfam;\n$dump";
append_to_file("$dir/elsewhere.sql", $dump);
$node->command_ok(
	[ 'psql', '--no-psqlrc', '--quiet', '--set' => 'ON_ERROR_STOP=1', '--file' => "$dir/elsewhere.sql", 'target_schema' ],
	'restore of the enum into another schema');
foreach my $probe ('bloom_may_contain(f, k)', 'f @~ k', 'k ~@ f', 'f @~ bloom_key(k)', 'bloom_may_contain_any(f, ARRAY[k])', 'bloom_add(f, k) IS NULL')
{
	my ($status, $out, $error) = $node->psql('target_schema',
		"\\set VERBOSITY verbose\nSELECT count(*) FROM filters, keys_enum WHERE name = 'enum' AND $probe", on_error_stop => 1);

	like($error, qr/ERROR:  42804: key does not have the type of the bloom filter's keys/, "enum of another schema: $probe is an error");
	like($error, qr/"public"\."mood".*("elsewhere"\."mood"|number [0-9a-f]{16})/s, '... that names both');
}

no_crash($node);
$node->stop;
done_testing();
