# SPDX-License-Identifier: PostgreSQL
# Property: CREATE EXTENSION gives what its script declares, DROP EXTENSION leaves nothing, and every script of the tree is installed.

use strict;
use warnings;

use BloomfamTest;
use Cwd qw(getcwd);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main');
my $tree = getcwd();
my ($version) = slurp_file("$tree/bloomfam.control") =~ /^default_version *= *'([^']+)'/m;

# ---- the scripts ----

my $installed = $node->config_data('--sharedir') . '/extension';
my @scripts = sort map { s,.*/,,r } glob("$tree/sql/bloomfam--*.sql");
cmp_ok(scalar @scripts, '>', 0, 'the tree has scripts');
foreach my $script (@scripts)
{
	ok(-e "$installed/$script" && slurp_file("$installed/$script") eq slurp_file("$tree/sql/$script"), "$script is installed as it is");
}
is(join(' ', sort map { s,.*/,,r } glob("$installed/bloomfam--*.sql")), "@scripts", 'and no other');
ok(grep({ $_ eq "bloomfam--$version.sql" } @scripts), "there is one for the default version, $version");

# ---- what they declare ----

# Each database starts from the same template: what differs is the extension.
my $all_objects = q{
	SELECT 'function ' || p.oid::regprocedure FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT 'type ' || t.oid::regtype FROM pg_type t WHERE typnamespace = 'public'::regnamespace
	UNION ALL SELECT 'operator ' || o.oid::regoperator FROM pg_operator o WHERE oprnamespace = 'public'::regnamespace
	UNION ALL SELECT 'opclass ' || opcname || ' ' || amname FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcnamespace = 'public'::regnamespace
	UNION ALL SELECT 'opfamily ' || opfname FROM pg_opfamily WHERE opfnamespace = 'public'::regnamespace
	UNION ALL SELECT 'cast ' || castsource::regtype || ' as ' || casttarget::regtype FROM pg_cast WHERE oid >= 16384
	UNION ALL SELECT 'relation ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace};
my $everything = q{SELECT (SELECT count(*) FROM pg_proc) || ' ' || (SELECT count(*) FROM pg_type) || ' ' || (SELECT count(*) FROM pg_operator) || ' ' ||
	(SELECT count(*) FROM pg_opclass) || ' ' || (SELECT count(*) FROM pg_opfamily) || ' ' || (SELECT count(*) FROM pg_amop) || ' ' ||
	(SELECT count(*) FROM pg_amproc) || ' ' || (SELECT count(*) FROM pg_cast) || ' ' || (SELECT count(*) FROM pg_aggregate) || ' ' ||
	(SELECT count(*) FROM pg_description) || ' ' || (SELECT count(*) FROM pg_depend) || ' ' || (SELECT count(*) FROM pg_extension)};

$node->safe_psql('postgres', 'CREATE DATABASE fresh TEMPLATE template0');
my $before = $node->safe_psql('fresh', $everything);
$node->safe_psql('fresh', 'CREATE EXTENSION bloomfam');
is($node->safe_psql('fresh', q{SELECT extversion FROM pg_extension WHERE extname = 'bloomfam'}), $version, 'the default version');

# Counted in the scripts that lead to the default version, comments left out.
my $sql = slurp_file("$tree/sql/bloomfam--$version.sql") =~ s/--[^\n]*//gr;
my %declared = map { $_->[0] => scalar(() = $sql =~ /^CREATE $_->[1]\b/mgi) }
  (['function', '(?:OR REPLACE )?FUNCTION'], ['aggregate', 'AGGREGATE'], ['operator', 'OPERATOR(?! CLASS| FAMILY)'], ['opclass', 'OPERATOR CLASS'], ['cast', 'CAST']);
$declared{operator} = () = $sql =~ /^CREATE OPERATOR \S+ *\(/mg;
my %types = map { $_ => 1 } $sql =~ /^CREATE TYPE (\w+)/mg;
my %found = (
	function => q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'},
	aggregate => q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'a'},
	operator => q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace AND oprcode <> 0},
	opclass => q{SELECT count(*) FROM pg_opclass WHERE opcnamespace = 'public'::regnamespace},
	cast => q{SELECT count(*) FROM pg_cast WHERE oid >= 16384});
foreach my $what (sort keys %found)
{
	cmp_ok($declared{$what}, '>', 0, "the script declares $what objects");
	is($node->safe_psql('fresh', $found{$what}), $declared{$what}, "... $declared{$what} of them, which are there");
}
is( $node->safe_psql('fresh', q{SELECT string_agg(typname, ' ' ORDER BY typname) FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typelem = 0 AND typrelid = 0}),
	join(' ', sort keys %types), 'the types are there, and whole');
is($node->safe_psql('fresh', q{SELECT count(*) FROM pg_type WHERE NOT typisdefined}), '0', '... none is a shell');
is($node->safe_psql('fresh', q{SELECT string_agg(oid::regoperator::text, ', ') FROM pg_operator WHERE oprcode = 0}), '', '... nor is any operator');
is( $node->safe_psql('fresh', q{SELECT string_agg(format('%s %s', proname, proparallel), ', ' ORDER BY proname) FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND proparallel <> 's'}),
	'maplet_check r, maplet_info r, maplet_may_contain r, maplet_merge u, maplet_runs r, signature_check r, signature_info r',
	'everything is parallel safe, but for what opens an index by its name');
is( $node->safe_psql('fresh', q{SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e')}),
	'', 'everything belongs to the extension');
is($node->safe_psql('fresh', q{SELECT bool_and(amvalidate(oid)) FROM pg_opclass WHERE opcnamespace = 'public'::regnamespace}),
	't', 'the operator classes are complete, as the server sees it');

# ---- relocation, and the end ----

is( $node->safe_psql('fresh', q{
		CREATE SCHEMA elsewhere;
		CREATE TABLE t AS SELECT bloom_agg(g) AS f, bloom_key(1) AS h FROM generate_series(1, 1000) g;
		CREATE VIEW v AS SELECT count(*) FROM t WHERE f @~ 1 AND f @~ h;
		ALTER EXTENSION bloomfam SET SCHEMA elsewhere;
		SELECT * FROM v;
		SELECT elsewhere.bloom_may_contain(f, 5), f OPERATOR(elsewhere.@~) h, elsewhere.bloom_agg(h) OPERATOR(elsewhere.@~) 1 FROM t GROUP BY 1, 2}),
	"1\nt|t|t", 'it works from another schema');
$node->safe_psql('fresh', 'DROP EXTENSION bloomfam CASCADE');
is($node->safe_psql('fresh', q{SELECT count(*) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped}), '0', 'DROP CASCADE takes the columns');
$node->safe_psql('fresh', 'DROP TABLE t; DROP SCHEMA elsewhere');
is($node->safe_psql('fresh', $all_objects), '', 'DROP: nothing of it is left');
is($node->safe_psql('fresh', $everything), $before, 'DROP: the catalogs have as many rows as before');
is($node->safe_psql('fresh', q{CREATE EXTENSION bloomfam; SELECT bloom_agg(1) @~ 1}), 't', 'and it can be made again');

# Whoever may create in a database may have it: it is trusted.
$node->safe_psql('postgres', q{CREATE ROLE plain LOGIN; CREATE DATABASE plains OWNER plain TEMPLATE template0});
is( $node->safe_psql('plains', q{SET ROLE plain; CREATE EXTENSION bloomfam; SELECT bloom_agg(1) @~ 1}),
	't', 'no superuser is needed');

no_crash($node);
$node->stop;
done_testing();
