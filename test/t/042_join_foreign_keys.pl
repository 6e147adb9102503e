# Property: where the other server has no extension, a join's keys or their bounds are sent to it, if that can lose no row; the rows are those without
# filters, whatever types, collations and encodings its columns have; and nothing is sent that the user who asks may not see.
#
# The other server is a cluster of its own.  BLOOMFAM_FAR in the environment names another one, of any major version from 14 on: a connection string of a
# superuser there, as "host=/tmp port=5433 user=postgres".  It gets databases whose names begin with bloomfam_far, which are dropped at the end.  What
# only its log tells is left out then.

use strict;
use warnings;

use BloomfamTest;
use JSON::PP;
use List::Util qw(max sum0);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('here', q{
	session_preload_libraries = 'bloomfam'
	max_parallel_workers_per_gather = 0
	max_prepared_transactions = 0
}, extra => [ '--locale=C', '--encoding=UTF8' ]);
plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';
my $icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collprovider = 'i'}) > 0;

# ---- the other server ----

my $far_node;
my $far = $ENV{BLOOMFAM_FAR};
if (!defined $far)
{
	$far_node = PostgreSQL::Test::Cluster->new('far');
	$far_node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$far_node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nlog_statement = all\nlog_min_messages = log\n");
	$far_node->start;
	$far = 'host=' . $far_node->host . ' port=' . $far_node->port;
}
my %far_option = map { /^(\w+)=(.*)$/ ? ($1 => $2) : die "not understood: $_" } split ' ', $far;
my $connect = join(', ', map { "$_ '$far_option{$_}'" } grep { defined $far_option{$_} } qw(host port));
my $login = join(', ', map { "$_ '$far_option{$_}'" } grep { defined $far_option{$_} } qw(user password));
my @far_databases;

sub far_sql
{
	my ($db, $sql) = @_;
	my ($out, $error);

	IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', "$far dbname=$db", '-f', '-' ], '<', \$sql, '>', \$out, '2>', \$error)
	  or die "far, $db: $error";
	chomp $out;
	return $out;
}

sub far_database
{
	my ($db, $encoding) = @_;

	far_sql('postgres', "DROP DATABASE IF EXISTS $db WITH (FORCE)");
	far_sql('postgres', "CREATE DATABASE $db TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	push @far_databases, $db;
	return;
}

# A server of that name in a database here, which stands for a database there.
sub far_server
{
	my ($name, $db, $options, $here) = @_;

	$node->safe_psql($here // 'postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($connect, dbname '$db'} . ($options // '') . qq{);
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name} . ($login ? " OPTIONS ($login)" : ''));
	return;
}

my $major = int(far_sql('postgres', 'SHOW server_version_num') / 10000);
note("here PostgreSQL " . $node->safe_psql('postgres', 'SHOW server_version') . ", there $major");
far_database('bloomfam_far', 'UTF8');
$node->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
far_server('bare', 'bloomfam_far');

# ---- what is asked of a query ----

my $hash = 'SET enable_mergejoin = off; SET enable_nestloop = off; SET enable_partitionwise_join = off;';

sub rows_of
{
	my ($mode, $sql, $before, $db) = @_;
	return $node->safe_psql($db // 'postgres', "SET bloomfam.join_filter = $mode; " . ($before // $hash) . $sql);
}

# A query, run with filters: {fetched} rows by foreign scans; {sent} to them, one string for each filter that could be; {why}: what was decided.
sub look
{
	my ($sql, $before, $db, $mode) = @_;
	my $json = rows_of($mode // 'force', "EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON, TIMING OFF, SUMMARY OFF) $sql", $before, $db);
	my ($query) = @{ decode_json($json) };
	my @todo = $query->{Plan};
	my %look = (fetched => 0, scans => 0, remote => [], why => join('; ', map { $_->{Decision} } @{ $query->{'Join Filters'} // [] }));
	my @sent;

	while (my $plan = shift @todo)
	{
		push @todo, @{ $plan->{Plans} // [] };
		if (defined $plan->{'Remote SQL'})
		{
			$look{fetched} += $plan->{'Actual Rows'} * $plan->{'Actual Loops'};
			$look{scans}++;
			push @{ $look{remote} }, $plan->{'Remote SQL'};
		}
		foreach my $filter (grep { defined $_->{'Foreign Keys'} } @{ $plan->{'Bloom Filters'} // [] })
		{
			my @parts = (
				$filter->{'Foreign Keys Sent'} ? "$filter->{'Foreign Keys'} keys" : (), $filter->{'Foreign Bounds Sent'} ? 'bounds' : (),
				$filter->{'Foreign Filter Size'} > 0 ? 'filter' : ());

			push @sent, join(', ', @parts) . ($filter->{'Foreign Keys Not Sent'} ? " ($filter->{'Foreign Keys Not Sent'})" : '');
		}
	}
	$look{sent} = join('; ', @sent);
	return \%look;
}

sub same_rows
{
	my ($sql, $name, $before, $db) = @_;
	my $off = rows_of('off', $sql, $before, $db);

	is(rows_of($_, $sql, $before, $db), $off, "$name: the same rows, $_") foreach qw(on force);
	return $off;
}

# ---- types ----

# Of each: the remote column's type and its value of g, 1 .. 2000; the local column's type; what is sent, or why nothing is; more keys of the build side.
far_sql('bloomfam_far', q{
	CREATE DOMAIN number AS int;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd');
	CREATE SCHEMA "Odd one";
	CREATE DOMAIN "Odd one".int4 AS numeric});
far_sql('bloomfam_far', q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) if $icu;
$node->safe_psql('postgres', q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) if $icu;
$node->safe_psql('postgres', q{
	CREATE DOMAIN number AS int;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd')});
my $both = qr/^\d+ keys, bounds$/;
my $keys = qr/^\d+ keys$/;
my $other_type = 'the remote column is of another type';
my $modifier = 'the column has a type modifier that the remote one has not';
my $not_clear = 'keys of this type are not sent in clear';
my @cases = (
	[ 'int', 'g % 50', 'int', $both ],
	[ 'bigint', 'g % 50', 'int', $both ],
	[ 'smallint', 'g % 50', 'int', $both ],
	[ 'int', 'g % 50 - 25', 'smallint', $both ],
	[ 'int', 'g % 50', 'bigint', $both, '9223372036854775807, -9223372036854775808, 2147483648' ],
	[ 'smallint', 'g % 50', 'bigint', $both, '70000, -70000' ],
	[ 'bigint', '(CASE g % 3 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775807 - 1 ELSE g END)', 'bigint', $both ],
	[ 'numeric', 'g % 50', 'int', $other_type ],
	[ 'text', '(g % 50)::text', 'int', $other_type ],
	[ 'number', 'g % 50', 'int', $other_type ],
	[ '"Odd one".int4', 'g % 50', 'int', $other_type ],
	[ 'oid', '(g % 50)::oid', 'int', $other_type ],
	[ 'float8', 'g % 50', 'bigint', $other_type ],
	[ 'int', 'g % 50', 'number', $not_clear ],
	[ 'int[]', 'ARRAY[g % 50]', 'int[]', $not_clear ],
	[ 'boolean', 'g % 50 = 1', 'boolean', $not_clear ],
	[ 'float8', '(g % 50) / 3.0', 'float8', $not_clear ],
	[ 'float4', '(g % 50) / 3.0', 'float4', $not_clear ],
	[ 'interval', q{g % 50 * interval '1 hour'}, 'interval', $not_clear ],
	[ 'mood', q{('{a,b,c,d}'::mood[])[g % 4 + 1]}, 'mood', $not_clear ],
	[ 'numeric', q{CASE g % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (g % 50) * 1.25 END}, 'numeric', $both, '1.250, 1e300, -1e-300' ],
	[ 'numeric(10,2)', '(g % 50) * 1.25', 'numeric', $both, '1.251' ],
	[ 'numeric(10,2)', '(g % 50) * 1.25', 'numeric(10,2)', $both ],
	[ 'numeric(10,3)', '(g % 50) + 0.004', 'numeric(10,2)', $modifier ],
	[ 'numeric', '(g % 50) + 0.004', 'numeric(10,2)', $modifier ],
	[ 'int', 'g % 50', 'numeric', $other_type ],
	[ 'text', q{'k' || g % 50}, 'text', $keys, q{'', 'NULL', '{"', '\\'} ],
	[ 'text', q{(ARRAY['', ' ', 'NULL', 'null', '{}', '{1,2}', 'a"b', 'a\\b', 'a''b', E'a\nb\tc', 'x,y', '$1', '\N', 'k ', repeat('long', 500)])[g % 15 + 1]}, 'text', $keys ],
	[ 'varchar(10)', q{'k' || g % 50}, 'text', $keys ],
	[ 'text', q{'k' || g % 50}, 'varchar', $keys ],
	[ 'varchar(10)', q{'k' || g % 50}, 'varchar(10)', $keys ],
	[ 'varchar(20)', q{'k' || g % 50 || '   '}, 'varchar(3)', $modifier ],
	[ 'text', q{'k' || g % 50 || '   '}, 'varchar(4)', $modifier ],
	[ 'char(6)', q{'k' || g % 50}, 'text', $other_type ],
	[ 'name', q{('k' || g % 50)::name}, 'text', $other_type ],
	[ 'mood', q{('{a,b,c,d}'::mood[])[g % 4 + 1]}, 'text', $other_type ],
	[ 'char(6)', q{'k' || g % 50}, 'char(6)', $not_clear ],
	[ 'text COLLATE "C"', q{'k' || g % 50}, 'text', $keys ],
	$icu ? (
		[ 'text COLLATE nocase', q{CASE g % 2 WHEN 0 THEN 'KEY' ELSE 'key' END || g % 50}, 'text', $keys ],
		[ 'text', q{CASE g % 2 WHEN 0 THEN 'KEY' ELSE 'key' END || g % 50}, 'text COLLATE nocase', q{the keys' collation is not deterministic} ]) : (),
	[ 'date', q{CASE g % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN '0044-03-15 BC' WHEN 3 THEN '5874897-12-31' ELSE date '2020-01-01' + g % 50 END}, 'date', $both ],
	[ 'timestamp', q{timestamp '2020-01-01' + g % 50 * interval '12 hours'}, 'date', $other_type ],
	[ 'date', q{date '2020-01-01' + g % 50}, 'timestamp', $other_type ],
	[ 'timestamp', q{CASE g % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '0044-03-15 12:34:56.789 BC' WHEN 2 THEN '294276-12-31 23:59:59.999999' ELSE timestamp '2020-01-01' + g % 50 * interval '1.000001 s' END},
		'timestamp', $both ],
	[ 'timestamp(0)', q{timestamp '2020-01-01' + g % 50 * interval '1.7 s'}, 'timestamp(0)', $both ],
	[ 'timestamp', q{timestamp '2020-01-01' + g % 50 * interval '1.7 s'}, 'timestamp(0)', $modifier ],
	[ 'timestamptz', q{CASE g % 50 WHEN 0 THEN '-infinity' WHEN 1 THEN '4714-11-24 00:00+00 BC' WHEN 2 THEN '294276-12-31 23:59:59.999999+00' WHEN 3 THEN '1800-01-01 00:00+00'
		ELSE timestamptz '2020-01-01 00:00+00' + g % 50 * interval '1.000001 s' END}, 'timestamptz', $both ],
	[ 'timestamp', q{timestamp '2020-01-01' + g % 50 * interval '1 h'}, 'timestamptz', $other_type ],
	[ 'timestamptz', q{timestamptz '2020-01-01 00:00+00' + g % 50 * interval '1 h'}, 'timestamp', $other_type ],
	[ 'time', q{CASE g % 50 WHEN 0 THEN '24:00' ELSE time '00:00' + g % 50 * interval '1.000001 s' END}, 'time', $both ],
	[ 'timetz', q{timetz '00:00+00' + g % 50 * interval '1 h'}, 'time', $other_type ],
	[ 'uuid', 'md5((g % 50)::text)::uuid', 'uuid', $both ],
	[ 'text', 'md5((g % 50)::text)::uuid::text', 'uuid', $other_type ],
	[ 'bytea', q{decode(md5((g % 50)::text) || '005c22', 'hex')}, 'bytea', $keys ],
	[ 'oid', '(4294967290::bigint + g % 5)::oid', 'oid', $both ],
	[ 'inet', q{('10.0.0.' || g % 50 || CASE g % 3 WHEN 0 THEN '/24' ELSE '' END)::inet}, 'inet', $keys ],
	[ 'cidr', q{('10.0.' || g % 50 || '.0/24')::cidr}, 'inet', $other_type ],
	[ 'macaddr', q{('08:00:2b:01:02:' || lpad(to_hex(g % 50), 2, '0'))::macaddr}, 'macaddr', $keys ],
	[ 'macaddr8', q{('08:00:2b:01:02:03:04:' || lpad(to_hex(g % 50), 2, '0'))::macaddr8}, 'macaddr8', $keys ]);

# A time zone with odd offsets in old times, another style of dates, and bytea in the other format: all that is sent as text is read there.
my $odd = "$hash SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German, DMY'; SET bytea_output = escape; SET extra_float_digits = 0;";
my (@make_far, @make_here);
foreach my $i (0 .. $#cases)
{
	my ($remote, $value, $local, $expected, $more) = @{ $cases[$i] };

	push @make_far, "CREATE TABLE types_$i (id int, k $remote)", "INSERT INTO types_$i SELECT g, CASE WHEN g % 40 > 0 THEN $value END FROM generate_series(1, 2000) g",
	  "CREATE INDEX ON types_$i (k)";
	push @make_here, "CREATE FOREIGN TABLE types_$i (id int, k $local) SERVER bare", "CREATE TABLE dim_$i AS SELECT DISTINCT k FROM types_$i WHERE id <= 12 UNION ALL SELECT NULL",
	  ($more ? "INSERT INTO dim_$i SELECT unnest(ARRAY[$more]::" . ($local =~ s/ COLLATE.*//r) . '[])' : ()), "ANALYZE dim_$i";
}
far_sql('bloomfam_far', join(";\n", @make_far, 'ANALYZE'));
$node->safe_psql('postgres', "SET bloomfam.join_filter = off; SET TimeZone = 'Asia/Kolkata';" . join(";\n", @make_here));
foreach my $i (0 .. $#cases)
{
	my ($remote, $value, $local, $expected) = @{ $cases[$i] };
	my $name = "a remote $remote behind a local $local";
	my $sql = "SELECT count(*), sum(id) FROM types_$i JOIN dim_$i USING (k)";
	my $look = look($sql, $odd);
	my $off = same_rows($sql, $name, $odd);
	my ($matches) = split /\|/, $off;

	cmp_ok($matches, '>=', 12, "... of which some join");
	if (ref $expected)
	{
		like($look->{sent}, $expected, '... of which keys are sent');
		cmp_ok($look->{fetched}, '>=', $matches, '... so that those rows come that match');
		cmp_ok($look->{fetched}, '<=', $remote =~ /nocase/ ? 2 * $matches : $matches, '... and no others');
		like($look->{why}, qr/Foreign scans may be sent keys: 1 of 1,/, '... which was decided before');
	}
	else
	{
		is($look->{sent}, '', '... of which nothing is sent');
		like($look->{why}, qr/Foreign scans may be sent keys: 0 of 1 \(\Q$expected\E\), bounds: 0 of 1 \(\Q$expected\E\), filter: 0 of 1 \(the foreign server has no bloomfam among its extensions\)\./,
			'... and why');
	}
	same_rows("SELECT id FROM types_$i WHERE EXISTS (SELECT FROM dim_$i d WHERE d.k = types_$i.k AND d.k IS NOT NULL) ORDER BY id", '... of a semi-join', $odd) if $i % 5 == 0;
	same_rows("SELECT count(*), count(id) FROM types_$i RIGHT JOIN dim_$i USING (k)", '... of a right join', $odd) if $i % 5 == 1;
}

# ---- joins ----

# 40000 rows there, with 10000 keys and NULLs; 99 keys here, which are those of no NULL.
far_sql('bloomfam_far', q{
	CREATE TABLE fact AS SELECT g AS id, k, k::bigint AS k8, 'key ' || k AS t, k % 7 AS g
		FROM (SELECT g, CASE WHEN g % 50 = 0 THEN NULL ELSE g % 10000 END AS k FROM generate_series(1, 40000) g) s;
	CREATE INDEX ON fact (k);
	CREATE INDEX ON fact USING brin (k8);
	CREATE TABLE part_1 AS SELECT 1 AS part, id, k, t FROM fact;
	CREATE TABLE part_2 AS SELECT 2 AS part, id, k8 AS k, t FROM fact;
	CREATE TABLE part_3 AS SELECT 3 AS part, id, k::numeric AS k, t FROM fact;
	CREATE VIEW seen AS SELECT id, k, k8 FROM fact WHERE id > 10;
	CREATE TABLE many_parts (id int, k int) PARTITION BY RANGE (k);
	CREATE TABLE many_parts_1 PARTITION OF many_parts FOR VALUES FROM (MINVALUE) TO (5000);
	CREATE TABLE many_parts_2 PARTITION OF many_parts DEFAULT;
	INSERT INTO many_parts SELECT id, k FROM fact;
	CREATE MATERIALIZED VIEW kept AS SELECT id, k FROM fact;
	CREATE TABLE "Odd Table" AS SELECT id, k AS "Odd ""key" FROM fact;
	ANALYZE});
far_server('asking', 'bloomfam_far', q{, use_remote_estimate 'true'});
far_server('async', 'bloomfam_far', q{, async_capable 'true'});
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE fact (id int, k int, k8 bigint, t text, g int) SERVER bare;
	CREATE FOREIGN TABLE asking_fact (id int, k int) SERVER asking OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE seen (k8 bigint, id int, k int) SERVER bare;
	CREATE FOREIGN TABLE many_parts (id int, k int) SERVER bare;
	CREATE FOREIGN TABLE kept (id int, k int) SERVER bare;
	CREATE FOREIGN TABLE odd_name (number int OPTIONS (column_name 'id'), k int OPTIONS (column_name 'Odd "key')) SERVER bare OPTIONS (table_name 'Odd Table');
	CREATE TABLE parts (part int, id int, k int, t text) PARTITION BY LIST (part);
	CREATE FOREIGN TABLE part_1 PARTITION OF parts FOR VALUES IN (1) SERVER async;
	CREATE FOREIGN TABLE part_2 PARTITION OF parts FOR VALUES IN (2) SERVER async;
	CREATE FOREIGN TABLE part_3 PARTITION OF parts FOR VALUES IN (3) SERVER bare;
	CREATE TABLE part_4 PARTITION OF parts FOR VALUES IN (4);
	INSERT INTO part_4 SELECT 4, g, g, 'key ' || g FROM generate_series(1, 9000) g;
	CREATE TABLE dim AS SELECT k, k::bigint AS k8, k::smallint AS k2, 'key ' || k AS t, k % 5 AS five FROM (SELECT g * 100 + 1 AS k FROM generate_series(1, 99) g UNION ALL SELECT NULL) s;
	CREATE TABLE near AS SELECT g AS k, g::bigint AS k8 FROM generate_series(3001, 4999, 2) g UNION ALL SELECT 4999, 4999 FROM generate_series(1, 500);
	CREATE TABLE many AS SELECT g AS k FROM generate_series(1, 9000) g;
	CREATE TABLE nothing (k int, t text);
	CREATE TABLE nulls AS SELECT NULL::int AS k, NULL::text AS t FROM generate_series(1, 10);
	ANALYZE dim, near, many, nothing, nulls, fact, asking_fact, seen, many_parts, kept, odd_name, parts});

# The join, what is sent, how many rows come at the most.
foreach my $case (
	[ 'fact JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim ON fact.k = dim.k8', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim ON fact.k8 = dim.k2', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim USING (t)', '99 keys', 396 ],
	[ 'fact JOIN dim USING (k, t)', '99 keys, bounds', 396 ],
	[ 'fact JOIN near USING (k)', '1000 keys, bounds', 3920 ],
	[ 'fact JOIN many USING (k)', 'bounds (more keys than bloomfam.join_foreign_keys)', 9000 * 4 ],
	[ 'fact JOIN (SELECT k8 FROM near UNION ALL SELECT 5000) n USING (k8)', 'bounds (more keys than bloomfam.join_foreign_keys)', 2000 * 4 ],
	[ 'fact JOIN (SELECT t || g AS t FROM dim, generate_series(1, 20) g) d USING (t)', ' (more keys than bloomfam.join_foreign_keys)', 40000 ],
	[ 'fact JOIN dim a USING (k) JOIN dim b ON fact.t = b.t', '99 keys, bounds; 99 keys', 396 ],
	[ 'asking_fact JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'seen JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'seen JOIN dim USING (k8)', '99 keys, bounds', 396 ],
	[ 'many_parts JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'kept JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'odd_name JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'parts JOIN dim USING (k)', '99 keys, bounds', 2 * 396 + 40000 ],
	[ 'fact JOIN nothing USING (k)', '0 keys', 0 ],
	[ 'fact JOIN nulls USING (k)', '0 keys', 0 ],
	[ 'fact RIGHT JOIN nulls USING (k)', '0 keys', 0 ],
	[ 'fact RIGHT JOIN nulls USING (t)', '0 keys', 0 ],
	[ 'fact RIGHT JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'fact LEFT JOIN dim USING (k)', '', 40000 ],
	[ '(SELECT k, id FROM fact UNION ALL SELECT k, id FROM seen) s JOIN dim USING (k)', '99 keys, bounds', 800 ],
	[ '(SELECT k8 AS k, id FROM fact UNION ALL SELECT k::bigint, id FROM kept) s JOIN dim USING (k)', '99 keys, bounds', 396 + 40000 ],
	[ '(SELECT * FROM fact ORDER BY id LIMIT 1000) s JOIN dim USING (k)', '', 1000 ],
	[ 'fact JOIN dim ON fact.k + 0 = dim.k', '', 40000 ],
	[ 'fact JOIN (SELECT k + 100 AS k FROM dim) d USING (k)', '99 keys, bounds', 396 ],
	[ 'fact JOIN many m USING (k) JOIN dim USING (k)', undef, 9000 * 4 ])
{
	my ($from, $sent, $most) = @$case;
	my $sql = "SELECT count(*), count(k), sum(length(s::text)) FROM $from s" =~ s/ s$//r =~ s/, sum\(length\(s::text\)\)//r;
	my $look = look($sql =~ /USING \(t\)|USING \(k8\)/ ? $sql =~ s/, count\(k\)//r : $sql =~ s/count\(k\)/count(*)/r);

	is($look->{sent}, $sent, "$from: what is sent") if defined $sent;
	cmp_ok($look->{fetched}, '<=', $most, '... and how many rows come');
	same_rows("SELECT count(*), sum(hashtext(x::text)) FROM (SELECT * FROM $from) x", '... with');
}
