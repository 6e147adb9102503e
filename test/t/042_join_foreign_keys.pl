# SPDX-License-Identifier: PostgreSQL
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
	my %look = (fetched => 0, remote => [], why => join('; ', map { my $decision = $_; join '  ', map { "$_: $decision->{$_}" } grep { exists $decision->{$_} } 'Number', 'Reason', 'Expected Rows Probed', 'Expected Rows Removed', 'Sent to Foreign Scans' } @{ $query->{'Join Filters'} // [] }));
	my @sent;

	while (my $plan = shift @todo)
	{
		push @todo, @{ $plan->{Plans} // [] };
		if (defined $plan->{'Remote SQL'})
		{
			$look{fetched} += $plan->{'Actual Rows'} * $plan->{'Actual Loops'};
			push @{ $look{remote} }, $plan->{'Remote SQL'};
		}
		foreach my $filter (grep { defined $_->{'Foreign Filter Size'} } @{ $plan->{'Bloom Filters'} // [] })
		{
			my @parts = (
				defined $filter->{'Foreign Keys Sent'} ? "$filter->{'Foreign Keys Sent'} keys" : (), $filter->{'Foreign Bounds Sent'} ? 'bounds' : (),
				$filter->{'Foreign Filter Size'} > 0 ? 'filter' : ());

			push @sent, join(', ', @parts) . ($filter->{'Foreign Keys Not Sent'} ? " ($filter->{'Foreign Keys Not Sent'})" : '');
		}
	}
	$look{sent} = join('; ', @sent);
	return \%look;
}

# The same of what an EXPLAIN ANALYZE says as text.
sub sent_in
{
	my ($text) = @_;
	return join('; ', $text =~ /^ *Sent to Foreign Servers: (.*)$/mg);
}

sub same_rows
{
	my ($sql, $name, $before, $db) = @_;
	my ($off, $on, $force) = in_modes($node, $db // 'postgres', $before // $hash, $sql, qw(off on force));

	is($on, $off, "$name: the same rows, on");
	is($force, $off, "$name: the same rows, force");
	return $off;
}

# ---- types ----

# Of each: the remote column's type and its value of g, 1 .. 2000; the local column's type; what is sent, or why nothing is; more keys of the build side.
far_sql('bloomfam_far', q{
	CREATE DOMAIN number AS int;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd');
	CREATE SCHEMA "Odd one";
	CREATE DOMAIN "Odd one".int4 AS numeric});
if ($icu)
{
	my $nocase = q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)};

	far_sql('bloomfam_far', $nocase);
	$node->safe_psql('postgres', $nocase);
}
$node->safe_psql('postgres', q{
	CREATE DOMAIN number AS int;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd')});
my $both = qr/^\d+ keys, bounds$/;
my $keys = qr/^\d+ keys$/;
my $other_type = 'the remote column is of another type';
my $modifier = 'the column has a type modifier that the remote one has not';
my $not_clear = 'keys of this type are not sent as plain values';
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
	[ 'text', q{'k' || g % 50}, 'text', $keys, q('', 'NULL', '{"', '\\') ],
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
	$icu
	? ( [ 'text COLLATE nocase', q{CASE g % 2 WHEN 0 THEN 'KEY' ELSE 'key' END || g % 50}, 'text', $keys ],
		[ 'text', q{CASE g % 2 WHEN 0 THEN 'KEY' ELSE 'key' END || g % 50}, 'text COLLATE nocase', q{the keys' collation is not deterministic} ])
	: (),
	[ 'date', q{CASE g % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN '0044-03-15 BC' WHEN 3 THEN '5874897-12-31' ELSE date '2020-01-01' + g % 50 END}, 'date', $both ],
	[ 'timestamp', q{timestamp '2020-01-01' + g % 50 * interval '12 hours'}, 'date', $other_type ],
	[ 'date', q{date '2020-01-01' + g % 50}, 'timestamp', $other_type ],
	[ 'timestamp', q{CASE g % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '0044-03-15 12:34:56.789 BC' WHEN 2 THEN '294276-12-31 23:59:59.999999'
			ELSE timestamp '2020-01-01' + g % 50 * interval '1.000001 s' END}, 'timestamp', $both ],
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

# A time zone with odd offsets in old times, another style of dates, bytea in the other format: all that is sent as text must be read there.
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
foreach my $i (grep { $_ % share(5, 1) == 0 } 0 .. $#cases)
{
	my ($remote, $value, $local, $expected) = @{ $cases[$i] };
	my $name = "a remote $remote behind a local $local";
	my $sql = "SELECT count(*), sum(id) FROM types_$i JOIN dim_$i USING (k)";
	my $look = look($sql, $odd);
	my $off = same_rows($sql, $name, $odd);
	my ($matches) = split /\|/, $off;

	cmp_ok($matches, '>=', 12, '... of which some join');
	if (ref $expected)
	{
		like($look->{sent}, $expected, '... of which keys are sent');
		cmp_ok($look->{fetched}, '>=', $matches, '... so that those rows come that match');
		cmp_ok($look->{fetched}, '<=', $remote =~ /nocase/ ? 2 * $matches : $matches, '... and no others');
		like($look->{why}, qr/Sent to Foreign Scans: keys 1 of 1,/, '... which was decided before');
	}
	else
	{
		is($look->{sent}, '', '... of which nothing is sent');
		like($look->{why}, qr/Sent to Foreign Scans: keys 0 of 1 \(\Q$expected\E\), bounds 0 of 1 \((?:\Q$expected\E|keys of this type have no bounds that are sent)\), filter 0 of 1 \(/, '... and why');
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
	CREATE TABLE near AS SELECT 3001 + g % 1000 * 2 AS k, 3001 + g % 1000 * 2::bigint AS k8 FROM generate_series(1, 1500) g;
	CREATE TABLE nearer AS SELECT g AS k8, 'key ' || g AS t FROM generate_series(3001::bigint, 4001) g;
	CREATE TABLE many AS SELECT g AS k FROM generate_series(1, 9000) g;
	CREATE TABLE nothing (k int, t text);
	CREATE TABLE nulls AS SELECT NULL::int AS k, NULL::text AS t FROM generate_series(1, 10);
	ANALYZE dim, near, nearer, many, nothing, nulls, fact, asking_fact, seen, many_parts, kept, odd_name, parts});

# The join, what is sent, how many rows come at the most.
foreach my $case (
	[ 'fact JOIN dim USING (k)', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim ON fact.k = dim.k8', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim ON fact.k8 = dim.k2', '99 keys, bounds', 396 ],
	[ 'fact JOIN dim USING (t)', '99 keys', 396 ],
	[ 'fact JOIN dim USING (k, t)', '99 keys, bounds', 396 ],
	[ 'fact JOIN near USING (k)', '1000 keys, bounds', 4000 ],
	[ 'fact JOIN many USING (k)', 'bounds (more keys than bloomfam.join_foreign_keys)', 9000 * 4 ],
	[ 'fact JOIN nearer USING (k8)', 'bounds (more keys than bloomfam.join_foreign_keys)', 1001 * 4 ],
	[ 'fact JOIN nearer USING (t)', ' (more keys than bloomfam.join_foreign_keys)', 40000 ],
	[ 'fact JOIN dim a USING (k) JOIN dim b ON fact.t = b.t', undef, 396 ],
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
	[ '(SELECT * FROM fact ORDER BY id LIMIT 1000) s JOIN dim USING (k)', undef, 1000 ],
	[ 'fact JOIN dim ON fact.k + 0 = dim.k', '', 40000 ],
	[ 'fact JOIN (SELECT k + 100 AS k FROM dim) d USING (k)', '99 keys, bounds', 396 ],
	[ 'fact JOIN many m USING (k) JOIN dim USING (k)', undef, 9000 * 4 ])
{
	my ($from, $sent, $most) = @$case;
	my $look = look("SELECT count(*) FROM $from");

	is($look->{sent}, $sent, "$from: what is sent") if defined $sent;
	cmp_ok($look->{fetched}, '<=', $most, '... and how many rows come');
	same_rows("SELECT count(*), sum(hashtext(fact::text)) FROM (SELECT * FROM $from) fact", '... with') unless $from =~ /JOIN.*JOIN/;
	same_rows("SELECT count(*) FROM $from", '... as many');
}
is(look('SELECT count(*) FROM fact JOIN dim a USING (k) JOIN dim b ON fact.t = b.t')->{sent} =~ s/; /;/gr =~ tr/;//, 1, 'two filters for one scan');
same_rows('SELECT id FROM fact WHERE k IN (SELECT k FROM dim) ORDER BY id', 'a semi-join');
same_rows('SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE dim.k = fact.k)', 'an anti-join');
same_rows('SELECT sum(c) FROM (SELECT k, count(*) AS c FROM asking_fact GROUP BY k) s JOIN dim USING (k)', 'an aggregate there');
same_rows('SELECT count(*), count(a.id) FROM asking_fact a JOIN asking_fact b USING (id) JOIN dim ON dim.k = a.k', 'a join there');
like(look('SELECT count(*) FROM asking_fact a JOIN asking_fact b USING (id) JOIN dim ON dim.k = a.k', "$hash SET join_collapse_limit = 1;")->{why},
	qr/keys 0 of 1 \(the foreign scan is not of one table\)/, '... whose query is not that of one table');

# What EXPLAIN says as text, and before anything was sent.
my $join = 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k)';
my $text = rows_of('force', "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $join");
is(sent_in($text), '99 keys, bounds', 'EXPLAIN ANALYZE says what was sent');
like($text, qr/\(filtered by the foreign server\)$/m, '... and that the rows were dropped there');
like($text, qr/Remote SQL: SELECT \* FROM \(SELECT id, k FROM public\.fact\) AS s\(c1, c2\) WHERE \(\$1::integer\[\] IS NULL OR s\.c2 = ANY \(CASE /, '... in one query');
like(rows_of('force', "SET bloomfam.join_foreign_keys = 98; EXPLAIN (ANALYZE, COSTS OFF) $join"), qr/\(filtered by the foreign server, by bounds only\)$/m,
	'... or by bounds only');
unlike(rows_of('force', "EXPLAIN VERBOSE $join"), qr/Sent to Foreign Servers/, '... which a plain EXPLAIN cannot know');

# Settings, when a query is planned and when it is run.
foreach my $case (
	[ 'bloomfam.join_foreign_keys = 0', '', qr/keys 0 of 1 \(bloomfam\.join_foreign_keys is 0\)/ ],
	[ 'bloomfam.join_foreign_keys = -1', '', qr/Sent to Foreign Scans: 0 of 1 \(bloomfam\.join_foreign_keys is -1\)/ ],
	[ 'bloomfam.join_foreign_keys = 98', 'bounds (more keys than bloomfam.join_foreign_keys)', qr/keys 1 of 1, bounds 1 of 1/ ],
	[ 'bloomfam.join_foreign_keys = 99', '99 keys, bounds', qr/keys 1 of 1, bounds 1 of 1/ ])
{
	my ($setting, $sent, $why) = @$case;
	my $look = look($join, "$hash SET $setting;");

	is($look->{sent}, $sent, "$setting: what is sent");
	like($look->{why}, $why, '... and why');
	same_rows($join, '... with', "$hash SET $setting;");
}
$node->safe_psql('postgres', q{CREATE TABLE long AS SELECT repeat('x', 30000) || g AS t FROM generate_series(1, 50) g UNION ALL SELECT 'key 7'; ANALYZE long});
is(look('SELECT count(*) FROM fact JOIN long USING (t)')->{sent}, ' (keys too large to send)', 'long keys are not sent');
same_rows('SELECT count(*), sum(id) FROM fact JOIN long USING (t)', '... with');

$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE zeros (id int, k numeric) SERVER bare OPTIONS (table_name 'part_3');
	CREATE TABLE zeros_dim AS SELECT (g || 'e130000')::numeric AS k FROM generate_series(1, 100) g UNION ALL SELECT 7;
	ANALYZE zeros, zeros_dim});
my $zeros = 'SELECT count(*), sum(id) FROM zeros JOIN zeros_dim USING (k)';
is(look($zeros)->{sent}, 'bounds (keys too large to send)', '... nor numbers with many zeros, of which the text counts');
is(look($zeros, "$hash SET bloomfam.join_filter_max_size = '100kB';")->{sent}, ' (keys too large to send)', '... which bounds have as well');
same_rows($zeros, '... with');

# Foreign tables there, whose columns have other types on a third server: types are right as they are declared there, so nothing goes on from there.
far_database('bloomfam_far_3', 'UTF8');
far_sql('bloomfam_far_3', q{CREATE TABLE behind AS
	SELECT g AS id, timestamp '2020-01-01 12:00' + g % 50 * interval '1 day' AS d, ' ' || g % 50 AS k, 'Key' || g % 50 || '  ' AS t FROM generate_series(1, 2000) g});
my $there = far_sql('bloomfam_far', q{SELECT format('host %L, port %L', coalesce(host(inet_server_addr()), split_part(current_setting('unix_socket_directories'), ',', 1)), current_setting('port'))});
my $columns = '(id int, d date, k int, t varchar(5))';
far_sql('bloomfam_far', qq{
	CREATE EXTENSION IF NOT EXISTS postgres_fdw;
	CREATE SERVER third FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($there, dbname 'bloomfam_far_3');
	CREATE USER MAPPING FOR CURRENT_USER SERVER third} . ($login ? " OPTIONS ($login)" : '') . qq{;
	CREATE FOREIGN TABLE behind $columns SERVER third;
	CREATE VIEW behind_view AS SELECT id, d, k, t FROM behind;
	CREATE TABLE behind_parts $columns PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE behind_part PARTITION OF behind_parts DEFAULT SERVER third OPTIONS (table_name 'behind')});
$node->safe_psql('postgres', q{CREATE TABLE behind_dim AS SELECT date '2020-01-01' + g AS d, g AS k, 'Key' || g || ' ' AS t FROM generate_series(1, 9) g; ANALYZE behind_dim});
foreach my $table (qw(behind behind_view behind_parts))
{
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE $table $columns SERVER bare");
	foreach my $case ([ 'd', '9 keys, bounds' ], [ 'k', '9 keys, bounds' ], [ 't', '9 keys' ])
	{
		my ($column, $sent) = @$case;
		my $sql = "SELECT count(*), sum(id) FROM $table JOIN behind_dim USING ($column)";

		is(same_rows($sql, "$table: the key $column", $_), '360|352800', '... all that there are') foreach $hash, "$hash SET bloomfam.join_foreign_keys = 5;";
		is(look($sql)->{sent}, $sent, '... of which keys are sent');
	}
}

# An index there is used: by the keys, and by the bounds.
sub plan_there
{
	my ($settings, $query, @params) = @_;

	foreach my $i (reverse 1 .. @params)
	{
		$query =~ s/\$$i(?!\d)/$params[ $i - 1 ]/g;
	}
	return far_sql('bloomfam_far', "SET search_path = pg_catalog; $settings; EXPLAIN (COSTS OFF) $query");
}
my ($remote) = @{ look($join)->{remote} };
like(plan_there('', $remote, q{'{101,201,301}'}, 101, 301), qr/Index Cond: .*k = ANY \(CASE WHEN .* THEN '\{101,201,301\}'::integer\[\]/, 'keys are found by an index');
unlike(plan_there('', $remote, q{'{101,201,301}'}, 'NULL', 'NULL'), qr/k [<>]/, '... and bounds that are NULL vanish');
like(plan_there('', $remote, 'NULL', 101, 301), qr/Index Cond: \(\(k >= CASE .* 101 .*\) AND \(k <= CASE .* 301 .*\)\)/, '... bounds as well');
unlike(plan_there('', $remote, 'NULL', 'NULL', 'NULL'), qr/(?:Filter|Cond): .*\(k /, '... and what is NULL vanishes');
($remote) = @{ look('SELECT count(*) FROM fact JOIN dim ON fact.k8 = dim.k8')->{remote} };
like(plan_there("SET enable_seqscan = off", $remote, 'NULL', 101, 301), qr/Bitmap Index Scan on fact_k8_idx\n +Index Cond: \(\(k8 >= .*\) AND \(k8 <= .*\)\)/, 'bounds are looked for in a BRIN index');

# ---- several runs ----

# Rescans.  The build side may be repeated, may differ each time, and may depend on the outer row.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE turn;
	CREATE FUNCTION next_turn() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT nextval('turn') $$;
	CREATE TABLE few AS SELECT g AS f FROM generate_series(1, 4) g;
	ANALYZE few});
my $mix = 'SET enable_mergejoin = off; SET enable_memoize = off;';
foreach my $before (share(0, 1) ? ("$mix SET work_mem = '4MB';", "$mix SET work_mem = '64kB';") : (), "$mix SET bloomfam.join_foreign_keys = 20;")
{
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.g < f OFFSET 0) s ORDER BY f',
		"LATERAL, the probe side depends on the outer row, $before", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.five < f OFFSET 0) s ORDER BY f',
		"LATERAL, the build side does, $before", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id + f) FROM fact JOIN many USING (k) OFFSET 0) s ORDER BY f', "LATERAL, neither does, $before", $before);
	same_rows('SELECT f, (SELECT count(*) FROM fact JOIN dim USING (k) JOIN many m USING (k) WHERE m.k > f * 1000) FROM few ORDER BY f',
		"a correlated subquery, $before", $before);
}

# Where nothing can be sent, EXPLAIN says why.
my $nothing = 'Sent to Foreign Scans: 0 of 1';
like(look('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.five < f OFFSET 0) s', $mix)->{why},
	qr/$nothing \(the build side depends on a row outside of the join\)/, 'the build side depends on the outer row: why nothing is sent');
like(look('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.g < f OFFSET 0) s', $mix)->{why},
	qr/$nothing \(the foreign scan begins anew with other parameters\)/, '... the foreign scan does');
like(look('UPDATE few SET f = f FROM fact JOIN (SELECT k FROM many LIMIT 5000) d USING (k) WHERE few.f = fact.g', "$hash BEGIN;")->{why},
	qr/$nothing \(rows are changed or locked, and the build side may vary\)/, '... rows are changed');
like(look('UPDATE few SET f = f FROM fact JOIN (SELECT k FROM many WHERE k < 5000 + now()::date - now()::date) d USING (k) WHERE few.f = fact.g', "$hash BEGIN;")->{why},
	qr/$nothing \(rows are changed or locked, and the build side may vary\)/, '... and the build side depends on settings');
like(look('INSERT INTO few SELECT fact.g FROM fact JOIN (SELECT k FROM many LIMIT 5000) d USING (k)', "$hash BEGIN;")->{sent}, qr/^\d+ keys|^bounds|^filter/, '... but an INSERT changes none');

# A build side that differs from time to time: each time there must be the keys of that time, or their bounds.
my $turns = q{SELECT f, c = 4 * n FROM few, LATERAL (SELECT count(DISTINCT d.k) AS n, count(*) AS c
	FROM fact JOIN (SELECT k, repeat('x', 100) AS pad FROM many WHERE k % 50 <> 0 AND k % 3 = (next_turn() / 9000) % 3 OFFSET 0) d USING (k)
	WHERE length(pad) + fact.id + f > 0 OFFSET 0) s ORDER BY f};
foreach my $most (1000, 20000)
{
	my $rebuild = "$mix SET enable_nestloop = on; SET work_mem = '64kB'; SET bloomfam.join_foreign_keys = $most;";
	my $look = look($turns, $rebuild);

	like($look->{sent}, $most == 1000 ? qr/^bounds/ : qr/^\d{4} keys, bounds$/, "a build side that differs each time, up to $most keys");
	is(rows_of('force', $turns, $rebuild), "1|t\n2|t\n3|t\n4|t", '... each time the right ones');
}

# Prepared, with a plan for all values, and run with other settings than it was planned with.
my $prepare = "$hash PREPARE p(int) AS SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.k > \$1; SET plan_cache_mode = force_generic_plan;";
my %rows = map { $_ => rows_of('off', "SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.k > $_") } 100, 5000, 100000;
is( rows_of('force', "$prepare EXECUTE p(100); EXECUTE p(5000); EXECUTE p(100000); SET bloomfam.join_filter = off; EXECUTE p(100); SET bloomfam.join_filter = on; EXECUTE p(5000);
		SET bloomfam.join_foreign_keys = 0; EXECUTE p(100); SET bloomfam.join_foreign_keys = 10; EXECUTE p(5000); SET bloomfam.join_foreign_keys = -1; EXECUTE p(100)"),
	join("\n", map { $rows{$_} } 100, 5000, 100000, 100, 5000, 100, 5000, 100), 'prepared: the same rows with other values and settings');
my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)';
is(sent_in(rows_of('force', "$prepare EXECUTE p(100); $explain EXECUTE p(5001)")), '49 keys, bounds', '... each time the keys of that time');
is(sent_in(rows_of('force', "$prepare EXECUTE p(100); SET bloomfam.join_foreign_keys = 0; $explain EXECUTE p(5000)")), 'nothing', '... or nothing, if none may be sent now');

# Cursors, transactions and subtransactions; data-modifying commands.
my $cursor = 'SELECT id, k FROM fact JOIN dim USING (k)';
is( rows_of('force', "BEGIN; DECLARE c SCROLL CURSOR FOR $cursor; MOVE FORWARD ALL IN c; MOVE BACKWARD ALL IN c; FETCH FORWARD ALL IN c"),
	rows_of('off', $cursor), 'a cursor that goes back');
foreach my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE', 'SERIALIZABLE, READ ONLY, DEFERRABLE')
{
	same_rows("SAVEPOINT a; $join; ROLLBACK TO a; $join; RELEASE a; $join; COMMIT", $level, "$hash BEGIN ISOLATION LEVEL $level;");
}
$node->safe_psql('postgres', q{
	CREATE FUNCTION in_blocks(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. n LOOP
			BEGIN
				RETURN QUERY EXECUTE format('SELECT (count(*), sum(id), 1 / %s)::text FROM fact JOIN dim USING (k)', i % 2);
			EXCEPTION WHEN division_by_zero THEN
				RETURN NEXT 'error';
			END;
		END LOOP;
	END $$});
same_rows('SELECT * FROM in_blocks(6)', 'with errors that are caught');
foreach my $mode (qw(off force))
{
	is( rows_of($mode, q{BEGIN; CREATE TEMP TABLE target AS SELECT k, 0::bigint AS s, 0 AS n FROM dim; ANALYZE target;
			UPDATE target SET s = s + id, n = n + 1 FROM (SELECT k, max(id) AS id FROM fact GROUP BY k) f WHERE f.k = target.k;
			DELETE FROM target USING fact WHERE fact.k = target.k AND fact.k < 500;
			SELECT count(*), sum(n) FROM target; UPDATE fact SET g = 100 FROM dim WHERE fact.k = dim.k; DELETE FROM fact USING dim WHERE fact.k = dim.k AND dim.k < 500;
			SELECT count(*), sum(g) FROM fact WHERE g >= 100; ROLLBACK}),
		"96|95\n380|38000", "UPDATE and DELETE, of a table here and of one there, $mode");
}

# ---- what changes there and here ----

far_sql('bloomfam_far', q{
	CREATE TABLE shifting AS SELECT g AS id, g % 100 AS k, ('k' || g % 100)::varchar(10) AS v, date '2020-01-01' + g % 100 AS d FROM generate_series(1, 2000) g;
	CREATE TABLE shifted AS SELECT id, k::text AS k, v, d FROM shifting});
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE shifting (id int, k int, v varchar(10), d date) SERVER bare;
	CREATE TABLE shift_dim AS SELECT g AS k, ('k' || g)::varchar(10) AS v, date '2020-01-01' + g AS d FROM generate_series(1, 5) g;
	ANALYZE shift_dim});
{
	my $session = session($node);
	my $of = sub { return "SELECT count(*), sum(id) FROM shifting JOIN shift_dim USING ($_[0])" };
	my $right = sub { return rows_of('off', $of->($_[0])) };
	my $sent = sub { return sent_in(ask($session, "$explain " . $of->($_[0]))) };
	my $before = $right->('k');

	ask($session, "SET bloomfam.join_filter = force; $hash PREPARE p AS " . $of->('k') . '; SET plan_cache_mode = force_generic_plan');
	is(ask($session, $of->($_)), $right->($_), "before a change, $_") foreach qw(k v d);
	is(ask($session, 'EXECUTE p'), $before, '... prepared');
	is($sent->('k'), '5 keys, bounds', '... with keys');

	# to a type that the old comparison cannot be parsed for
	far_sql('bloomfam_far', 'ALTER TABLE shifting ALTER k TYPE text');
	like(ask($session, 'EXECUTE p'), qr/ERROR:  operator does not exist: text = integer/, 'a column that is a text now: an error');
	is(ask($session, 'EXECUTE p'), $before, '... and then the right rows, prepared');
	is(ask($session, $of->('k')), $before, '... or not');
	is($sent->('k'), '', '... without keys');

	# to one that it can be parsed for: rows would be lost, so it is an error
	far_sql('bloomfam_far', q{ALTER TABLE shifting ALTER d TYPE timestamp USING d + interval '12 hours'});
	like(ask($session, $of->('d')), qr/bloomfam: the type of public\.shifting\.d has changed since the query was planned, and is now timestamp without time zone/,
		'a date that is a timestamp now: an error, as rows would be lost');
	is(ask($session, $of->('d')), $right->('d'), '... and then the right rows');
	cmp_ok((split /\|/, $right->('d'))[0], '>', 0, '... of which there are some');
	ask($session, $of->('v'));
	is($sent->('v'), '5 keys', 'a varchar');
	far_sql('bloomfam_far', q{ALTER TABLE shifting ALTER v TYPE varchar(20); UPDATE shifting SET v = v || repeat(' ', 12)});
	like(ask($session, $of->('v')), qr/bloomfam: the type of public\.shifting\.v has changed/, '... that is longer now: an error, as its values are cut here');
	is(ask($session, $of->('v')), $right->('v'), '... and then the right rows');

	# an error within a transaction, and one that is caught
	far_sql('bloomfam_far', q{ALTER TABLE shifting ALTER k TYPE int USING k::int});
	ask($session, 'DISCARD PLANS; ALTER FOREIGN TABLE shifting OPTIONS (ADD fetch_size \'200\')');
	is($sent->('k'), '5 keys, bounds', 'a column that is an integer again, after a change here: with keys');
	far_sql('bloomfam_far', 'ALTER TABLE shifting ALTER k TYPE text');
	my $answer = ask($session, 'BEGIN; SAVEPOINT a; ' . $of->('k') . '; ROLLBACK TO a; ' . $of->('k') . '; COMMIT');
	like($answer, qr/ERROR:  operator does not exist/, '... a text once more, in a transaction: an error');
	like($answer, qr/^\Q$before\E$/m, '... and then the right rows');
	far_sql('bloomfam_far', q{ALTER TABLE shifting ALTER k TYPE int USING k::int});
	ask($session, 'ALTER FOREIGN TABLE shifting OPTIONS (DROP fetch_size)');

	# here: another table, another column, another database
	is($sent->('k'), '5 keys, bounds', 'before a change here');
	ask($session, q{ALTER FOREIGN TABLE shifting OPTIONS (ADD table_name 'shifted')});
	is($sent->('k'), '', 'another remote table, in which the column is a text');
	is(ask($session, $of->('k')), $before, '... with the same rows');
	is(ask($session, 'EXECUTE p'), $before, '... prepared');
	$node->safe_psql('postgres', 'ALTER FOREIGN TABLE shifting OPTIONS (DROP table_name)');
	is($sent->('k'), '5 keys, bounds', '... and back, by another session');
	ask($session, q{BEGIN; ALTER FOREIGN TABLE shifting OPTIONS (ADD table_name 'shifted')});
	is($sent->('k'), '', '... in a transaction');
	ask($session, 'ROLLBACK');
	is($sent->('k'), '5 keys, bounds', '... that is rolled back');
	ask($session, q{ALTER FOREIGN TABLE shifting ALTER k OPTIONS (ADD column_name 'id')});
	is($sent->('k'), '5 keys, bounds', '... another column');
	is(ask($session, $of->('k')), $right->('k'), '... with its rows');
	ask($session, q{ALTER FOREIGN TABLE shifting ALTER k OPTIONS (DROP column_name)});
	far_database('bloomfam_far_2', 'UTF8');
	far_sql('bloomfam_far_2', 'CREATE TABLE shifting AS SELECT g AS id, g::numeric AS k FROM generate_series(1, 10) g');
	$node->safe_psql('postgres', q{ALTER SERVER bare OPTIONS (SET dbname 'bloomfam_far_2')});
	is($sent->('k'), '', '... another database');
	is(ask($session, $of->('k')), '5|15', '... with its rows');
	$node->safe_psql('postgres', q{ALTER SERVER bare OPTIONS (SET dbname 'bloomfam_far')});
	is($sent->('k'), '5 keys, bounds', '... and the first again');
	$session->{in} .= "\\q\n";
	$session->{run}->finish;
}

# Where the other server does not tell, nothing is sent, and nothing fails.
far_sql('postgres', q{DROP ROLE IF EXISTS bloomfam_far_limited; CREATE ROLE bloomfam_far_limited LOGIN PASSWORD 'limited'});
{
	my $in = "BEGIN; LOCK TABLE shifted; SELECT 'locked';\n";
	my ($out, $error) = ('', '');
	my $lock = IPC::Run::start([ 'psql', '-XAtq', '-d', "$far dbname=bloomfam_far" ], '<', \$in, '>', \$out, '2>', \$error);

	$lock->pump until $out =~ /locked/;
	far_sql('bloomfam_far', q{ALTER ROLE bloomfam_far_limited SET statement_timeout = '500ms'});
	$node->safe_psql('postgres', qq{
		CREATE SERVER hurried FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($connect, dbname 'bloomfam_far');
		CREATE USER MAPPING FOR CURRENT_USER SERVER hurried OPTIONS (user 'bloomfam_far_limited', password 'limited');
		CREATE FOREIGN TABLE locked (id int, k int) SERVER hurried OPTIONS (table_name 'shifted')});
	like(rows_of('force', 'EXPLAIN SELECT count(*) FROM locked JOIN shift_dim USING (k)'), qr/Foreign Scan on locked/, 'what is cancelled there, while it is asked, is no error here');
	$in .= "\\q\n";
	$lock->finish;
	far_sql('bloomfam_far', 'ALTER ROLE bloomfam_far_limited RESET ALL');
}
far_sql('bloomfam_far_2', q{
	CREATE TABLE fact AS SELECT g AS id, g % 1000 AS k FROM generate_series(1, 4000) g;
	GRANT ALL ON fact TO bloomfam_far_limited;
	REVOKE SELECT ON pg_catalog.pg_attribute FROM PUBLIC});
$node->safe_psql('postgres', qq{
	CREATE SERVER limited FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($connect, dbname 'bloomfam_far_2');
	CREATE USER MAPPING FOR CURRENT_USER SERVER limited OPTIONS (user 'bloomfam_far_limited', password 'limited');
	CREATE FOREIGN TABLE limited_fact (id int, k int) SERVER limited OPTIONS (table_name 'fact')});
my $limited = 'SELECT count(*), sum(id) FROM limited_fact JOIN dim USING (k)';
like(look($limited)->{why}, qr/keys 0 of 1 \(the foreign server did not tell the type of the remote column\)/, 'its catalogs may not be read: nothing is sent');
same_rows("$limited; SAVEPOINT a; $limited; ROLLBACK TO a; $limited; COMMIT", '... with', "$hash BEGIN;");
far_database('bloomfam_far_old', 'UTF8');
far_sql('bloomfam_far_old', q{
	SET allow_system_table_mods = on;
	DROP VIEW pg_catalog.pg_backend_memory_contexts CASCADE;
	CREATE TABLE fact AS SELECT g AS id, g % 1000 AS k FROM generate_series(1, 4000) g});
far_server('old', 'bloomfam_far_old');
$node->safe_psql('postgres', q{CREATE FOREIGN TABLE old_fact (id int, k int) SERVER old OPTIONS (table_name 'fact')});
like(look('SELECT count(*), sum(id) FROM old_fact JOIN dim USING (k)')->{why}, qr/keys 0 of 1 \(the foreign server is older than PostgreSQL 14\)/, 'a server without a view of 14: nothing is sent');
same_rows('SELECT count(*), sum(id) FROM old_fact JOIN dim USING (k)', '... with');

# ... but for a query that is cancelled meanwhile.
{
	my $session = session($node);
	my $blocker = IPC::Run::start([ 'psql', '-XAtq', '-d', "$far dbname=bloomfam_far" ], '<', \my $in, '>', \my $out, '2>', \my $error);

	ask($session, "SET bloomfam.join_filter = force; $hash SELECT count(*) FROM fact");
	$in .= "BEGIN; LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n";
	IPC::Run::pump($blocker) until $out =~ /locked/;
	like(ask($session, "SET statement_timeout = 500; $join"), qr/canceling statement due to statement timeout/, 'a query that is cancelled while the other server is asked');
	$in .= "ROLLBACK;\n\\q\n";
	$blocker->finish;
	is(ask($session, "RESET statement_timeout; $join"), rows_of('off', $join), '... and runs then');
	$session->{in} .= "\\q\n";
	$session->{run}->finish;
}

# ---- encodings ----

# Texts of other alphabets, there and here, in UTF-8.  A character that an encoding has not is an error with filters only if it is one without.
my %texts = (plain => "'plain'", empty => "''", signs => "'tilde~ back\\slash'", accent => "'caf\xc3\xa9'", yen => "'\xc2\xa5en'", kana => "'\xe3\x81\x8b'");
foreach my $db ([ 'latin1', 'LATIN1' ], [ 'ascii', 'SQL_ASCII' ])
{
	$node->safe_psql('postgres', "CREATE DATABASE $db->[0] TEMPLATE template0 ENCODING '$db->[1]' LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql($db->[0], 'CREATE EXTENSION postgres_fdw');
}
foreach my $encoding (share(0, 1) ? qw(UTF8 LATIN1 EUC_JP SQL_ASCII) : qw(LATIN1 SQL_ASCII))
{
	my $db = 'bloomfam_far_' . lc $encoding;
	my $client = $encoding eq 'SQL_ASCII' ? 'SQL_ASCII' : 'UTF8';
	my @known = grep { $encoding =~ /^(UTF8|SQL_ASCII)$/ || $texts{$_} !~ /[^ -~]/ || $_ eq ($encoding eq 'LATIN1' ? 'accent' : 'kana') } sort keys %texts;

	far_database($db, $encoding);
	far_sql($db, "SET client_encoding = '$client'; CREATE TABLE texts (id int, t text); CREATE TABLE plain (id int, t text);"
		  . join('', map { "INSERT INTO texts SELECT g, $texts{$_} FROM generate_series(1, 20) g;" } @known)
		  . 'INSERT INTO plain SELECT * FROM texts WHERE t IN (' . join(', ', grep { !/[^ -~]/ } values %texts) . ')');
	foreach my $here (qw(postgres latin1 ascii))
	{
		# every day, databases of other encodings meet one that is like them, and one that is not
		next if $here ne 'postgres' && $encoding !~ share(qr/^(UTF8|SQL_ASCII)$/, qr/./);
		far_server("texts_$encoding", $db, undef, $here);
		$node->safe_psql($here, qq{
			SET client_encoding = '} . ($here eq 'ascii' ? 'SQL_ASCII' : 'UTF8') . qq{';
			CREATE FOREIGN TABLE texts_$encoding (id int, t text) SERVER texts_$encoding OPTIONS (table_name 'texts');
			CREATE FOREIGN TABLE plain_$encoding (id int, t text) SERVER texts_$encoding OPTIONS (table_name 'plain');
			CREATE TABLE IF NOT EXISTS ascii_keys AS SELECT unnest(ARRAY[$texts{plain}, $texts{empty}, $texts{signs}, 'none']) AS t;
			CREATE TABLE IF NOT EXISTS other_keys AS SELECT unnest(ARRAY[$texts{plain}, $texts{accent}]) AS t;
			ANALYZE ascii_keys, other_keys});
		foreach my $fact (qw(texts plain))
		{
			foreach my $dim ([ 'ascii_keys', '4 keys' ], [ 'other_keys', ' (a key that is not all ASCII)' ])
			{
				my $name = "$fact in $encoding there, $dim->[0] in database $here here";
				my $sql = "SELECT count(*), sum(id) FROM ${fact}_$encoding JOIN $dim->[0] USING (t)";
				my ($off, $on);
				my $failed_off = $node->psql($here, "SET bloomfam.join_filter = off; $hash $sql", stdout => \$off);
				my $failed_on = $node->psql($here, "SET bloomfam.join_filter = force; $hash $sql", stdout => \$on);

				ok($failed_off || !$failed_on, "$name: no error that there was not");
				is($on, $off, '... the same rows') unless $failed_off;
				is(look($sql, undef, $here)->{sent}, $dim->[1], '... and what is sent') unless $failed_on;
			}
		}
	}
}

# ---- rights ----

# What is sent is in the other server's log: the values of parameters, of what was executed since.
sub values_sent
{
	my ($sql, $user, $options) = @_;
	my $at = -s $far_node->logfile;
	my ($out, $error);
	my $failed = $node->psql('postgres', "SET bloomfam.join_filter = force; $hash SET ROLE $user; $sql", stdout => \$out, stderr => \$error);

	my @sent = map { /DETAIL:  parameters: (.*)/i ? $1 =~ /(?<![\w.])-?\d+(?!\d)/g : () } map { s/\$\d+ =//gr } split /\n/, slurp_file($far_node->logfile, $at);

	return { failed => $failed, error => $error, rows => $out, sent => [ sort { $a <=> $b } @sent ], queries => scalar(() = slurp_file($far_node->logfile, $at) =~ /DECLARE c\d+ CURSOR/g) };
}

SKIP:
{
	skip 'the other server has a log that is not to be had', 1 unless $far_node;
	$node->safe_psql('postgres', qq{
		CREATE ROLE owner;
		CREATE ROLE alice;
		CREATE TABLE rows_of_all (k int, who name, label text, hidden int);
		INSERT INTO rows_of_all SELECT g, CASE WHEN g % 2 = 0 THEN 'alice' ELSE 'bob' END, 'label ' || g, 5000 + g FROM generate_series(1, 40) g;
		ANALYZE rows_of_all;
		CREATE FOREIGN TABLE own_fact (id int, k int) SERVER bare OPTIONS (table_name 'fact');
		ALTER FOREIGN TABLE own_fact OWNER TO owner;
		ALTER TABLE rows_of_all OWNER TO owner;
		CREATE USER MAPPING FOR alice SERVER bare OPTIONS (user '} . far_sql('postgres', 'SELECT current_user') . q{', password_required 'false');
		CREATE USER MAPPING FOR owner SERVER bare OPTIONS (user '} . far_sql('postgres', 'SELECT current_user') . q{', password_required 'false');
		GRANT CREATE ON SCHEMA public TO owner, alice;
		CREATE FUNCTION leak(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
		SET ROLE owner;
		GRANT SELECT ON own_fact TO alice;
		CREATE VIEW barrier WITH (security_barrier) AS SELECT k, label FROM rows_of_all WHERE who = current_user;
		CREATE VIEW plain_view AS SELECT k, label FROM rows_of_all WHERE who = current_user AND k < 21;
		GRANT SELECT ON barrier, plain_view TO alice;
		RESET ROLE;
		SET ROLE alice;
		CREATE VIEW of_invoker WITH (security_invoker) AS SELECT id, k FROM own_fact;
		RESET ROLE;
		GRANT SELECT ON of_invoker TO owner;
		SET ROLE owner;
		CREATE VIEW joined AS SELECT r.k, f.id FROM rows_of_all r JOIN own_fact f ON f.k = r.hidden;
		CREATE VIEW mixed AS SELECT r.k, f.id FROM rows_of_all r JOIN of_invoker f ON f.k = r.hidden;
		GRANT SELECT ON joined, mixed TO alice});
	my @hers = grep { $_ % 2 == 0 } 1 .. 40;
	my $is_hers = sub {
		my ($sql, $name, @expected) = @_;
		my $seen = values_sent($sql, 'alice');
		my %expected = map { $_ => 1 } @expected;

		is($seen->{failed}, 0, "$name: no error") or diag($seen->{error});
		is(join(' ', grep { !$expected{$_} } @{ $seen->{sent} }), '', '... nothing is sent but what she sees');
		is(join(' ', grep { my $k = $_; !grep { $_ == $k } @{ $seen->{sent} } } @expected), '', '... of which all is');
		return $seen;
	};

	# a view of somebody else's may be joined in any order, and what it hides with it: neither what is hidden is sent, nor what she sees
	$is_hers->('SELECT count(*) FROM own_fact JOIN barrier USING (k)', 'behind a security barrier of somebody else');
	$is_hers->('SELECT count(*) FROM own_fact JOIN plain_view USING (k)', '... a view that is no barrier');
	$node->safe_psql('postgres', 'GRANT owner TO alice');
	$is_hers->('SELECT count(*) FROM own_fact JOIN barrier USING (k)', '... of somebody whose privileges she has', @hers);
	is(sent_in(rows_of('force', "$hash SET ROLE alice; PREPARE p AS SELECT count(*) FROM own_fact JOIN barrier USING (k); SET plan_cache_mode = force_generic_plan;
			$explain EXECUTE p; RESET ROLE; REVOKE owner FROM alice; SET ROLE alice; $explain EXECUTE p")), '20 keys, bounds; nothing', '... until she has lost them');
	like(look('SELECT count(*) FROM own_fact JOIN barrier USING (k)', "$hash SET ROLE alice;")->{why}, qr/keys 0 of 1 \(the query reads other tables with the rights of others\)/,
		'... of which EXPLAIN says why');
	$node->safe_psql('postgres', q{
		SET ROLE owner;
		ALTER TABLE rows_of_all ENABLE ROW LEVEL SECURITY;
		CREATE POLICY hers ON rows_of_all TO alice USING (who = current_user);
		GRANT SELECT (k, who, label) ON rows_of_all TO alice;
		RESET ROLE; SET ROLE alice;
		CREATE VIEW her_barrier WITH (security_barrier) AS SELECT k, label FROM rows_of_all WHERE k < 31});
	$is_hers->('SELECT count(*) FROM own_fact JOIN her_barrier b USING (k)', 'behind a security barrier of her own', grep { $_ < 31 } @hers);
	$is_hers->('SELECT count(*) FROM own_fact JOIN her_barrier b USING (k) WHERE b.k > 10 AND label LIKE \'%\'', '... with a condition', grep { $_ > 10 && $_ < 31 } @hers);
	$is_hers->('SELECT count(*) FROM own_fact JOIN her_barrier b ON own_fact.k = b.k WHERE length(b.label) > 7', '... that is not leakproof', grep { $_ > 9 && $_ < 31 } @hers);
	$is_hers->('SELECT count(*) FROM own_fact JOIN (SELECT k FROM rows_of_all) r USING (k)', 'row security', @hers);
	$is_hers->('SELECT count(*) FROM own_fact f WHERE EXISTS (SELECT FROM rows_of_all r WHERE r.k = f.k AND r.label > \'\')', '... in a semi-join', @hers);
	my $two = values_sent('SELECT count(*) FROM own_fact f JOIN rows_of_all r ON r.k = f.k JOIN rows_of_all s ON s.k = r.k + 2', 'alice');
	is(join(' ', grep { $_ % 2 } @{ $two->{sent} }), '', '... nor with another join of hers');
	cmp_ok(scalar @{ $two->{sent} }, '>', 10, '... of which keys are sent');
	my $leaky = values_sent('SELECT count(*) FROM own_fact f JOIN (SELECT k FROM rows_of_all WHERE leak(k)) r USING (k)', 'alice');
	unlike($leaky->{error}, qr/leaked \d*[13579]$/m, '... a function of hers sees none of the others, either');
	is(join(' ', grep { $_ % 2 } @{ $leaky->{sent} }), '', '... and none is sent');

	my $denied = values_sent('SELECT count(*) FROM own_fact f JOIN rows_of_all r ON r.hidden = f.k', 'alice');
	like($denied->{error}, qr/permission denied for table rows_of_all/, 'a column that she may not select: an error');
	is("@{ $denied->{sent} } $denied->{queries}", ' 0', '... and nothing is sent');

	# rights on a partitioned table are rights on its partitions
	$node->safe_psql('postgres', q{
		CREATE TABLE own_parts (id int, k int) PARTITION BY LIST (id);
		CREATE FOREIGN TABLE own_part PARTITION OF own_parts DEFAULT SERVER bare OPTIONS (table_name 'fact');
		GRANT SELECT ON own_parts TO alice});
	$is_hers->('SELECT count(*) FROM own_parts JOIN rows_of_all r USING (k)', 'a partition', @hers);

	# joins that somebody else has written, with columns that she does not see; of his tables, and of hers by a view or a function of hers
	$node->safe_psql('postgres', q{
		SET ROLE alice;
		CREATE VIEW of_hers AS SELECT id, k FROM own_fact;
		CREATE FUNCTION from_hers() RETURNS TABLE (id int, k int) LANGUAGE sql STABLE AS 'SELECT id, k FROM public.own_fact';
		GRANT SELECT ON of_hers TO owner;
		RESET ROLE; SET ROLE owner;
		CREATE VIEW mixed_view WITH (security_barrier) AS SELECT r.k, f.id FROM rows_of_all r JOIN of_hers f ON f.k = r.hidden;
		CREATE VIEW mixed_function WITH (security_barrier) AS SELECT r.k, f.id FROM rows_of_all r JOIN from_hers() f ON f.k = r.hidden;
		GRANT SELECT ON mixed_view, mixed_function TO alice});
	foreach my $view (qw(joined mixed mixed_view mixed_function))
	{
		my $seen = values_sent("SELECT count(*) FROM $view", 'alice');

		is($seen->{failed}, 0, "the view $view: no error") or diag($seen->{error});
		is("@{ $seen->{sent} }", '', '... and nothing is sent');
		cmp_ok($seen->{queries}, '>', 0, '... though the table there is read');
	}
	cmp_ok(scalar @{ values_sent('SELECT count(*) FROM joined', 'owner')->{sent} }, '>', 0, '... unless its owner asks');
	$node->safe_psql('postgres', q{
		SET ROLE owner;
		CREATE TABLE without_policy AS SELECT * FROM rows_of_all;
		CREATE VIEW mixed_too AS SELECT r.k, f.id FROM without_policy r JOIN of_invoker f ON f.k = r.hidden;
		GRANT SELECT ON mixed_too TO alice});
	is( sent_in(rows_of('force', "$hash SET ROLE owner; PREPARE p AS SELECT count(*) FROM mixed_too; SET plan_cache_mode = force_generic_plan; EXECUTE p; $explain EXECUTE p;
			SET ROLE alice; $explain EXECUTE p")),
		'40 keys, bounds; nothing', '... nor by a plan that was made for its owner');
	like(look('SELECT count(*) FROM joined', "$hash SET ROLE alice;")->{why}, qr/keys 0 of 1 \(the foreign table is read with another user's rights\)/, '... of which EXPLAIN says why');
	like(look('SELECT count(*) FROM mixed', "$hash SET ROLE alice;")->{why}, qr/keys 0 of 1 \(the query reads other tables with the rights of others\)/, '... and of the other');
}

# ---- tables that were never analyzed ----

# As large as they are: the planner would guess so few rows that it would look each up in the local table, by its index.
far_sql('bloomfam_far', 'CREATE TABLE large AS SELECT g AS id, g AS k FROM generate_series(1, 200000) g; ANALYZE large');
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE large (id int, k int) SERVER bare;
	CREATE FOREIGN TABLE large_known (id int, k int) SERVER bare OPTIONS (table_name 'large');
	CREATE TABLE wide AS SELECT g AS k, repeat('x', 200) AS pad FROM generate_series(50000, 109999) g;
	CREATE INDEX ON wide (k);
	VACUUM ANALYZE wide;
	ANALYZE large_known});
my $auto = 'SET random_page_cost = 1;';
foreach my $table (qw(large large_known))
{
	my $look = look("SELECT count(*) FROM $table JOIN wide USING (k)", $auto, undef, 'on');

	is($look->{sent}, 'bounds (more keys than bloomfam.join_foreign_keys)', "$table: bounds are sent");
	is($look->{fetched}, 60000, '... and no more rows come than lie between');
}
like(look('SELECT count(*) FROM large JOIN wide USING (k)', $auto, undef, 'on')->{why}, qr/Expected Rows Probed: \d{6}(?!.*Rows Removed)/,
	'... of which the number is known, and of the keys nothing');
is(look('SELECT count(*) FROM large JOIN wide USING (k)', "$auto SET bloomfam.join_filter_plans = off;", undef, 'on')->{fetched},
	200000, '... unless plans are made as without filters: then it is taken for a small one');
same_rows('SELECT count(*), sum(id) FROM large JOIN wide USING (k)', '... with', $auto);

# ---- where both have the extension ----

SKIP:
{
	skip 'the other server has no bloomfam', 1
	  if far_sql('bloomfam_far', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'bloomfam'}) eq '0';
	far_sql('bloomfam_far', 'CREATE EXTENSION bloomfam');
	far_server('both_have_it', 'bloomfam_far', q{, extensions 'bloomfam'});
	$node->safe_psql('postgres', q{
		CREATE FOREIGN TABLE both_fact (id int, k int, k8 bigint, t text) SERVER both_have_it OPTIONS (table_name 'fact');
		CREATE FOREIGN TABLE both_numeric (id int, k int) SERVER both_have_it OPTIONS (table_name 'part_3');
		CREATE TABLE third AS SELECT g AS k, 'key ' || g AS t FROM generate_series(1, 9000, 3) g;
		ANALYZE both_fact, both_numeric, third});
	foreach my $case (
		[ 'both_fact JOIN dim USING (k)', '99 keys, bounds', 396 ],
		[ 'both_fact JOIN third USING (k)', 'bounds, filter (more keys than bloomfam.join_foreign_keys)', 12000 + 300 ],
		[ 'both_fact JOIN third USING (t)', 'filter (more keys than bloomfam.join_foreign_keys)', 12000 + 300 ],
		[ 'both_numeric JOIN dim USING (k)', 'filter', 40000 ],
		[ '(SELECT k, id FROM fact UNION ALL SELECT k, id FROM both_fact) s JOIN dim USING (k)', '99 keys, bounds', 2 * 396 ],
		[ '(SELECT k, id FROM fact UNION ALL SELECT k, id FROM both_numeric) s JOIN dim USING (k)', '99 keys, bounds, filter', 396 + 40000 ],
		[ q{both_fact JOIN (SELECT t FROM dim UNION ALL SELECT U&'caf\00e9') d USING (t)}, 'filter (a key that is not all ASCII)', 396 + 100 ],
		[ 'both_fact JOIN nothing USING (k)', '0 keys', 0 ])
	{
		my ($from, $sent, $most) = @$case;
		my $look = look("SELECT count(*) FROM $from");

		is($look->{sent}, $sent, "$from: what is sent");
		cmp_ok($look->{fetched}, '<=', $most, '... and how many rows come');
		same_rows("SELECT count(*), sum(id) FROM $from", '... with');
	}
	like(look('SELECT count(*) FROM both_fact JOIN third USING (k)')->{why}, qr/Sent to Foreign Scans: keys 1 of 1, bounds 1 of 1, filter 1 of 1$/, '... all that there is');
	is(look('SELECT count(*) FROM both_fact JOIN dim USING (k)', "$hash SET bloomfam.join_foreign_keys = 0;")->{sent}, 'filter', '... or the filter alone, if keys may not be sent');
	same_rows("$join; SET bloomfam.join_foreign_keys = 10; $join", '... with');
}

# ---- two-phase commit ----

$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->restart;
foreach my $mode (qw(off on force))
{
	my $sql = 'SELECT count(*) FROM fact JOIN dim USING (k)';

	is($node->safe_psql('postgres', "$hash SET bloomfam.join_filter = $mode; BEGIN; EXPLAIN (COSTS OFF) $sql; SELECT 'prepared'; PREPARE TRANSACTION 'planned'; COMMIT PREPARED 'planned'")
		  =~ /^prepared$/m, 1, "$mode: a transaction that has only planned can be prepared");
	next if $mode eq 'off';
	like($node->safe_psql('postgres', "$hash SET bloomfam.join_filter = $mode; BEGIN; EXPLAIN (VERBOSE, COSTS OFF) $sql; COMMIT"),
		qr/the foreign server did not tell the type of the remote column/, '... as no server is asked in it');
	is(look($sql, "$hash SET bloomfam.join_filter = $mode;", undef, $mode)->{sent}, '99 keys, bounds', '... but outside of transaction blocks');
}

no_crash($node);
$node->stop;
far_sql('postgres', "DROP DATABASE $_ WITH (FORCE)") foreach reverse @far_databases;
far_sql('postgres', 'DROP ROLE bloomfam_far_limited');
if ($far_node)
{
	no_crash($far_node, 'no backend of the other server crashed');
	$far_node->stop;
}
done_testing();
