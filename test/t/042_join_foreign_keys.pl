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
	my %look = (fetched => 0, remote => [], why => join('; ', map { $_->{Decision} } @{ $query->{'Join Filters'} // [] }));
	my @sent;

	while (my $plan = shift @todo)
	{
		push @todo, @{ $plan->{Plans} // [] };
		if (defined $plan->{'Remote SQL'})
		{
			$look{fetched} += $plan->{'Actual Rows'} * $plan->{'Actual Loops'};
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

# The same of what an EXPLAIN ANALYZE says as text.
sub sent_in
{
	my ($text) = @_;
	return join('; ', $text =~ /^ *Sent to Foreign Servers: (.*)$/mg);
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
foreach my $i (0 .. $#cases)
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
	[ 'fact JOIN near USING (k)', '1000 keys, bounds', 4000 ],
	[ 'fact JOIN many USING (k)', 'bounds (more keys than bloomfam.join_foreign_keys)', 9000 * 4 ],
	[ 'fact JOIN (SELECT k8 FROM near UNION ALL SELECT 5000) n USING (k8)', 'bounds (more keys than bloomfam.join_foreign_keys)', 2000 * 4 ],
	[ 'fact JOIN (SELECT dim.t || g AS t FROM dim, generate_series(1, 20) g) d USING (t)', ' (more keys than bloomfam.join_foreign_keys)', 40000 ],
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
	qr/keys: 0 of 1 \(the foreign scan is not of one table\)/, '... whose query is not that of one table');

# What EXPLAIN says as text, and before anything was sent.
my $join = 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k)';
my $text = rows_of('force', "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $join");
is(sent_in($text), '99 keys, bounds', 'EXPLAIN ANALYZE says what was sent');
like($text, qr/\(filtered by the foreign server\)$/m, '... and that the rows were dropped there');
like($text, qr/Remote SQL: SELECT \* FROM \(SELECT id, k FROM public\.fact\) AS s\(c1, c2\) WHERE \(\$1::integer\[\] IS NULL OR s\.c2 = ANY \(\$1::integer\[\]\)\)/, '... in one query');
unlike(rows_of('force', "EXPLAIN VERBOSE $join"), qr/Sent to Foreign/, '... which a plain EXPLAIN cannot know');

# Settings, when a query is planned and when it is run.
foreach my $case (
	[ 'bloomfam.join_foreign_keys = 0', '', qr/keys: 0 of 1 \(bloomfam\.join_foreign_keys is 0\)/ ],
	[ 'bloomfam.join_filter_foreign_max_size = 0', '', qr/Nothing of it is sent to 1 of 1 foreign scans: bloomfam\.join_filter_foreign_max_size is 0\./ ],
	[ 'bloomfam.join_foreign_keys = 98', 'bounds (more keys than bloomfam.join_foreign_keys)', qr/keys: 1 of 1, bounds: 1 of 1/ ],
	[ 'bloomfam.join_foreign_keys = 99', '99 keys, bounds', qr/keys: 1 of 1, bounds: 1 of 1/ ])
{
	my ($setting, $sent, $why) = @$case;
	my $look = look($join, "$hash SET $setting;");

	is($look->{sent}, $sent, "$setting: what is sent");
	like($look->{why}, $why, '... and why');
	same_rows($join, '... with', "$hash SET $setting;");
}
$node->safe_psql('postgres', q{CREATE TABLE long AS SELECT repeat('x', 30000) || g AS t FROM generate_series(1, 50) g UNION ALL SELECT 'key 7'; ANALYZE long});
is(look('SELECT count(*) FROM fact JOIN long USING (t)')->{sent}, ' (keys larger than bloomfam.join_filter_foreign_max_size)', 'long keys are not sent');
same_rows('SELECT count(*), sum(id) FROM fact JOIN long USING (t)', '... with');
is(look('SELECT count(*) FROM fact JOIN long USING (t)', "$hash SET bloomfam.join_filter_foreign_max_size = '8MB';")->{sent}, '51 keys', '... unless they may be');

# An index there is used: by the keys, and by the bounds.
sub plan_there
{
	my ($query, @params) = @_;

	foreach my $i (reverse 1 .. @params)
	{
		$query =~ s/\$$i(?!\d)/$params[ $i - 1 ]/g;
	}
	return far_sql('bloomfam_far', "SET search_path = pg_catalog; EXPLAIN (COSTS OFF) $query");
}
my ($remote) = @{ look($join)->{remote} };
like(plan_there($remote, q{'{101,201,301}'}, 101, 301), qr/Index Cond: .*k = ANY \('\{101,201,301\}'::integer\[\]\)/, 'keys are found by an index');
like(plan_there($remote, 'NULL', 101, 301), qr/Index Cond: \(\(k >= 101\) AND \(k <= 301\)\)/, '... bounds as well');
unlike(plan_there($remote, 'NULL', 'NULL', 'NULL'), qr/(?:Filter|Cond): .*\bk /, '... and what is NULL vanishes');
($remote) = @{ look('SELECT count(*) FROM fact JOIN dim ON fact.k8 = dim.k8')->{remote} };
like(plan_there($remote, 'NULL', 101, 301), qr/Bitmap Index Scan on fact_k8_idx/, 'bounds are found by a BRIN index');

# ---- several runs ----

# Rescans.  The build side may be repeated, may differ each time, and may depend on the outer row.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE turn;
	CREATE FUNCTION next_turn() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT nextval('turn') $$;
	CREATE TABLE few AS SELECT g AS f FROM generate_series(1, 4) g;
	ANALYZE few});
my $mix = 'SET enable_mergejoin = off; SET enable_memoize = off;';
foreach my $before ("$mix SET work_mem = '4MB';", "$mix SET work_mem = '64kB';", "$mix SET bloomfam.join_foreign_keys = 20;")
{
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE fact.g < f OFFSET 0) s ORDER BY f',
		"LATERAL, the probe side depends on the outer row, $before", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE dim.five < f OFFSET 0) s ORDER BY f',
		"LATERAL, the build side does, $before", $before);
	same_rows('SELECT f, s.* FROM few, LATERAL (SELECT count(*), sum(id + f) FROM fact JOIN many USING (k) OFFSET 0) s ORDER BY f', "LATERAL, neither does, $before", $before);
	same_rows('SELECT f, (SELECT count(*) FROM fact JOIN dim USING (k) JOIN many m USING (k) WHERE m.k > f * 1000) FROM few ORDER BY f',
		"a correlated subquery, $before", $before);
}

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
		SET bloomfam.join_foreign_keys = 0; EXECUTE p(100); SET bloomfam.join_foreign_keys = 10; EXECUTE p(5000); SET bloomfam.join_filter_foreign_max_size = 0; EXECUTE p(100)"),
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
done_testing();
