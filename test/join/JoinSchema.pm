# SPDX-License-Identifier: PostgreSQL
# The tables that the random join queries read, made by SQL alone and the same for the same seed.
#
# Every table has all key columns, in an order of its own: a key column's value is a function of one number n that the row's number gives, so
# that columns of comparable types in any two tables are equal where their n is.  Where a type has several values that are equal (-0 and 0,
# 1.0 and 1.00, upper and lower case, a day and 24 hours), rows differ in which of them they have.
package JoinSchema;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Utils qw(slurp_file);

our @EXPORT = qw(%TYPE @FACTS @DIMS @ODD @FOREIGN schema_sql foreign_sql);

# Per column: type, the group of types that `=` compares it with, its value from n (and the row's number i), and canon: an expression that is the
# same for all values that are equal, so that results do not depend on which of them a DISTINCT has kept.  money: it has values of money within, so that
# no function can hash it; merge: of these older minor releases do not know that, and plan hash joins that fail.
our %TYPE = (
	k2 => { type => 'int2', group => 'num', int => 1, value => 'n::int2' },
	k4 => { type => 'int4', group => 'num', int => 1, value => 'n::int4' },
	k8 => { type => 'int8', group => 'num', int => 1, value => 'n::int8' },
	kd => { type => 'posint', group => 'num', int => 1, value => 'n::posint' },
	kn => {
		type => 'numeric', group => 'num', canon => 'trim_scale(%s)',
		value => q{CASE WHEN n % 97 = 96 THEN 'NaN' WHEN i % 3 = 0 THEN n::numeric(14,2) ELSE n::numeric END} },
	kf => {
		type => 'float8', group => 'num', canon => '%s + 0',
		value => q{CASE WHEN n % 97 = 96 THEN 'NaN' WHEN n = 0 AND i % 2 = 0 THEN '-0' ELSE n::float8 END} },
	kr => { type => 'float4', group => 'num', canon => '%s + 0', value => q{CASE WHEN n = 0 AND i % 2 = 0 THEN '-0' ELSE n::float4 END} },
	kt => {
		type => 'text', group => 'str', canon => 'right(%s, 12)',
		value => q{CASE WHEN n % 50 = 0 THEN repeat('x' || n, 800) || n WHEN n % 50 = 1 THEN repeat(md5(n::text), 80) || n WHEN n % 50 = 2 THEN chr(233) || n ELSE 'k' || n END} },
	kv => { type => 'varchar', group => 'str', canon => 'right(%s, 12)', value => q{CASE WHEN n % 70 = 0 THEN repeat('y', 3000) || n WHEN n % 90 = 1 THEN chr(12363) || n ELSE 'k' || n END} },
	kb => { type => 'bpchar(12)', group => 'str', canon => '%s::text', value => q{'k' || n} },
	km => { type => 'name', group => 'str', value => q{('k' || n)::name} },
	kc => { type => 'text COLLATE "C"', group => 'str', value => q{'k' || n} },
	ki => { type => 'text COLLATE nd', group => 'str', canon => 'lower(%s COLLATE "C")', value => q{CASE WHEN i % 2 = 0 THEN 'K' ELSE 'k' END || n} },
	kh => { type => 'label', group => 'str', value => q{('k' || n)::label} },
	ku => { type => 'uuid', group => 'uuid', value => q{md5(n::text)::uuid} },
	ka => { type => 'date', group => 'date', value => q{date '2020-01-01' + n} },
	ks => { type => 'timestamp', group => 'timestamp', value => q{timestamp '2020-01-01' + n * interval '1 day'} },
	kz => { type => 'timestamptz', group => 'timestamptz', value => q{timestamptz '2020-01-01 00:00+00' + n * interval '1 day'} },
	ke => { type => 'colour', group => 'enum', value => q{('c' || n % 40)::colour} },
	kl => { type => 'int4[]', group => 'array', value => q{ARRAY[n, CASE WHEN n % 3 > 0 THEN n % 3 END]} },
	kp => { type => 'pair', group => 'row', value => q{ROW(n, 'k' || n % 7)::pair} },
	kj => { type => 'jsonb', group => 'jsonb', canon => q{%s->>'b'}, value => q{('{"a": ' || n || CASE WHEN i % 2 = 0 THEN '.0' ELSE '' END || ', "b": "' || n || '"}')::jsonb} },
	kx => { type => 'inet', group => 'inet', value => q{('10.0.' || n / 250 || '.' || n % 250)::inet} },
	ky => { type => 'bytea', group => 'bytea', value => q{decode(md5(n::text), 'hex')} },
	kg => { type => 'int4range', group => 'range', value => q{int4range(n, n + 2)} },
	kw => {
		type => 'interval', group => 'interval', canon => 'extract(epoch FROM %s)',
		value => q{CASE WHEN i % 2 = 0 THEN n * interval '1 day' ELSE n * interval '24 hours' END} },
	# an unsigned integer in the server's family of integers, around 2^31, and int8 that is equal to it
	ko => { type => 'uint4', group => 'uint', value => q{(2147483148::int8 + n)::text::uint4} },
	kq => { type => 'int8', group => 'uint', value => q{2147483148::int8 + n} },
	# negative integers, of two types; and the ends of int8, beside others that lie close together or far apart
	kk => { type => 'int2', group => 'neg', value => '(n - 999)::int2' },
	k0 => { type => 'int8', group => 'neg', value => 'n::int8 - 999' },
	k9 => {
		type => 'int8', group => 'ends',
		value => '(CASE n % 50 WHEN 0 THEN -9223372036854775807 - 1 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN n * 1000003::int8 ELSE 9223372036854775807 - n END)' },
	# containers of containers, and some whose parts have no hash function
	kca => { type => 'money[]', group => 'moneys', box => 1, money => 1, value => q{ARRAY[n::money, CASE WHEN n % 3 > 0 THEN (n % 3)::money END]} },
	kcd => { type => 'moneys', group => 'moneys', box => 1, money => 1, value => q{ARRAY[n::money, CASE WHEN n % 3 > 0 THEN (n % 3)::money END]} },
	kcb => { type => 'bit(12)[]', group => 'bits', box => 1, value => q{ARRAY[n::bit(12)]} },
	kcp => { type => 'priced', group => 'priced', box => 1, money => 1, value => q{ROW(n % 50, n::money)::priced} },
	kcn => { type => 'nested', group => 'nested', box => 1, money => 1, value => q{ROW(ARRAY[ROW(n % 50, n::money)::priced], int4range(n, NULL))::nested} },
	kcr => { type => 'moneyrange', group => 'moneyrange', box => 1, money => 1, merge => 1, value => q{moneyrange(n::money, (n + 2)::money)} },
	kcm => { type => 'moneymultirange', group => 'moneymultirange', box => 1, money => 1, merge => 1, value => q{moneymultirange(moneyrange(n::money, (n + 2)::money))} },
	kcg => { type => 'spans', group => 'spans', box => 1, value => q{int4multirange(int4range(n, n + 2), int4range(n + 5, NULL))} },
	kci => { type => 'counts', group => 'array', box => 1, value => q{ARRAY[n, CASE WHEN n % 3 > 0 THEN n % 3 END]} },
	kct => { type => 'pair[]', group => 'pairs', box => 1, value => q{ARRAY[ROW(n, 'k' || n % 7)::pair, NULL]} },
	# not keys by nature: unique, few values, some value
	id => { type => 'int4', group => 'num', int => 1 },
	g => { type => 'int4', group => 'num', int => 1 },
	v => { type => 'int4', group => 'num', int => 1 });

our @FACTS = qw(f1 f2 f3 fp fh fi fl fq fr fs);
our @DIMS = qw(d1 d2 d3 d4 d5 dp);
our @ODD = qw(e0 o1 n1 dup far vj vb vs vg);
our @FOREIGN = qw(ff1 ff2 ff3 fx);

my @keys = grep { /^k/ } sort keys %TYPE;

sub pick { return $_[ int rand @_ ] }

sub shuffle
{
	my @list = @_;

	foreach my $i (reverse 1 .. $#list)
	{
		my $j = int rand($i + 1);

		@list[ $i, $j ] = @list[ $j, $i ];
	}
	return @list;
}

# The expression of n for a table: how its numbers lie in 0 .. 999, and how many rows share one.
sub numbers
{
	my ($how) = @_;
	my $a = pick(7, 11, 13, 17, 19, 23, 29, 31);
	my $b = int rand 1000;

	return "((i * $a + $b) % 1000)" if $how eq 'even';
	return "((i::int8 * i * $a + $b) % 1000)::int" if $how eq 'square';
	return "(CASE WHEN i % 3 > 0 THEN (i % 5) * 100 ELSE (i * $a + $b) % 1000 END)" if $how eq 'skewed';
	return "((i % 5) * 37)" if $how eq 'few';
	return "(i / 3 % 1000)" if $how eq 'rising';
	return "(5000 + i)" if $how eq 'far';
	die $how;
}

# SELECT of a table's rows with columns in the order given.
sub rows
{
	my ($count, $how, @columns) = @_;
	my $n = numbers($how);
	my $other = numbers($how eq 'even' ? 'square' : $how);
	my @list;

	foreach my $column (@columns)
	{
		my $value =
		    $column eq 'id' ? 'i'
		  : $column eq 'g' ? 'i % ' . pick(7, 10, 16)
		  : $column eq 'v' ? 'i * 31 % 1013'
		  : $column eq 'pad' ? q{CASE WHEN i % 100 = 0 THEN (SELECT string_agg(md5((i + x)::text), '') FROM generate_series(1, 200) x) WHEN i % 3 = 0 THEN 'p' END}
		  : $column =~ /^junk/ ? q{CASE WHEN i % 8 = 0 THEN repeat('j', i % 40) END}
		  : $TYPE{$column}{value};
		# Most columns follow the row's first number, so that composite keys match; some go their own way.
		my $from = rand() < 0.75 ? $n : $other;
		my $nulls = pick(0, 0, 7, 11, 3);

		$value =~ s/\bn\b/$from/g;
		$value = "CASE WHEN i % $nulls > 0 THEN $value END" if $nulls && $column =~ /^k/;
		push @list, "$value AS $column";
	}
	return 'SELECT ' . join(",\n\t", @list) . "\nFROM generate_series(1, $count) i";
}

sub declare
{
	return join(', ', map { "$_ " . (/^(pad|junk)/ ? 'text' : $TYPE{$_}{type}) } @_);
}

# The types of the columns.
sub types_sql
{
	# its file has no semicolon within a statement but in bodies that are quoted
	my $uint4 = slurp_file("$FindBin::RealBin/../sql/include/uint4.sql");

	return (
		$uint4 =~ s/^--.*\n//mgr,
		'CREATE EXTENSION bloomfam', "CREATE COLLATION nd (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
		'CREATE DOMAIN posint AS int4 CHECK (VALUE >= 0)',
		'CREATE DOMAIN label AS text CHECK (length(VALUE) > 0)',
		'CREATE TYPE pair AS (a int, b text)', 'CREATE TYPE priced AS (a int, b money)', 'CREATE TYPE nested AS (a priced[], b int4range)',
		'CREATE TYPE moneyrange AS RANGE (subtype = money, multirange_type_name = moneymultirange)',
		'CREATE DOMAIN moneys AS money[]', 'CREATE DOMAIN counts AS int4[]', 'CREATE DOMAIN spans AS int4multirange',
		'CREATE TYPE colour AS ENUM (' . join(', ', map { "'c$_'" } shuffle(0 .. 39)) . ')');
}

# Statements, in order; the role join_reader is there already.  Uses the random numbers of the caller's srand().
sub schema_sql
{
	my @sql = types_sql();
	my @all = (qw(id g v), @keys);

	my $plain = sub {
		my ($name, $count, $how, $index) = @_;
		my @columns = shuffle(@all, 'pad');

		push @sql, "CREATE TABLE $name (" . declare(@columns) . ')',
		  "INSERT INTO $name\n" . rows($count, $how, @columns);
		push @sql, map { "CREATE INDEX ON $name ($_)" } @$index;
	};

	$plain->('f1', 2500, 'even', [ 'k4', 'kt' ]);
	$plain->('d1', 60, 'even', ['k4']);
	$plain->('d2', 300, 'square', [ 'k8', 'ku' ]);
	$plain->('d3', 15, 'even', []);
	$plain->('d4', 120, 'skewed', ['ki']);
	$plain->('d5', 400, 'even', ['id']);
	$plain->('e0', 0, 'even', ['k4']);
	$plain->('o1', 1, 'even', []);
	$plain->('dup', 150, 'few', []);
	$plain->('far', 200, 'far', ['k4']);
	$plain->('n1', 40, 'even', []);
	push @sql, 'UPDATE n1 SET ' . join(', ', map { "$_ = NULL" } @keys), 'VACUUM FULL n1';

	# Dropped columns, dead rows, and columns that rows written before them do not hold.
	my @columns = shuffle(@all);
	my %late = (k4 => 7, kt => q{'k7'}, ke => q{'c7'}, kn => '7.00', ku => q{md5('7')::uuid}, k8 => 7);
	my @late = (shuffle(sort keys %late))[ 0 .. 2 ];
	my @early = grep { my $c = $_; !grep { $_ eq $c } @late } @columns;
	my @gone = map { "gone$_ " . pick('text', 'int8', 'int2') . ($_ == 1 ? " DEFAULT '1'" : '') } 1 .. 3;
	push @sql, 'CREATE TABLE f2 (' . join(', ', shuffle(@gone, map { declare($_) } @early)) . ')',
	  'INSERT INTO f2 (' . join(', ', @early) . ")\n" . rows(1500, 'even', @early),
	  'ALTER TABLE f2 DROP gone1, DROP gone2, DROP gone3',
	  (map { "ALTER TABLE f2 ADD $_ $TYPE{$_}{type} DEFAULT $late{$_}" } @late),
	  'INSERT INTO f2 (' . join(', ', @columns) . ")\n" . rows(900, 'even', @columns) =~ s/generate_series\(1, 900\)/generate_series(1501, 2400)/r,
	  'DELETE FROM f2 WHERE id % 13 = 0', 'CREATE INDEX ON f2 (k4)';

	# NULLs and values of many lengths before every key.
	@columns = ('junk1', shuffle('junk2', 'junk3', 'pad', @all));
	push @sql, 'CREATE TABLE f3 (' . declare(@columns) . ')',
	  'INSERT INTO f3 ' . rows(2000, 'square', @columns), 'ALTER TABLE f3 ALTER pad SET STORAGE external',
	  'CREATE INDEX ON f3 (k8)', 'CREATE INDEX ON f3 (kc)';

	# By range, one part of it again by hash; one partition with an order of columns of its own.
	@columns = shuffle(@all);
	my @other = shuffle(@all);
	push @sql, 'CREATE TABLE fp (' . declare(@columns) . ') PARTITION BY RANGE (k4)',
	  'CREATE TABLE fp1 PARTITION OF fp FOR VALUES FROM (MINVALUE) TO (200)',
	  'CREATE TABLE fp2 PARTITION OF fp FOR VALUES FROM (200) TO (500) PARTITION BY HASH (k4)',
	  'CREATE TABLE fp2a PARTITION OF fp2 FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
	  'CREATE TABLE fp2b PARTITION OF fp2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
	  'CREATE TABLE fp3 (gone text, ' . declare(@other) . ')', 'ALTER TABLE fp3 DROP gone',
	  'ALTER TABLE fp ATTACH PARTITION fp3 FOR VALUES FROM (500) TO (800)',
	  'CREATE TABLE fp4 PARTITION OF fp DEFAULT',
	  'INSERT INTO fp (' . join(', ', @columns) . ")\n" . rows(2200, 'even', @columns),
	  'CREATE INDEX ON fp (k4)', 'CREATE INDEX ON fp (kt)';
	@columns = shuffle(@all);
	push @sql, 'CREATE TABLE fh (' . declare(@columns) . ') PARTITION BY HASH (k8)',
	  (map { "CREATE TABLE fh$_ PARTITION OF fh FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2),
	  'INSERT INTO fh ' . rows(1800, 'skewed', @columns), 'CREATE INDEX ON fh (k8, g)';
	# By list with a partition for NULLs and a default one, below one of them by day, with gaps; partitions with orders of columns of their own, and a
	# table that was attached, detached and attached again.
	@columns = shuffle(@all);
	@other = shuffle(@all);
	push @sql, 'CREATE TABLE fl (' . declare(@columns) . ') PARTITION BY LIST (k2)',
	  'CREATE TABLE fl1 PARTITION OF fl FOR VALUES IN (' . join(', ', map { $_ * 10 } 0 .. 30) . ')',
	  'CREATE TABLE fl2 (' . declare(@other) . ', gone int)', 'ALTER TABLE fl2 DROP gone',
	  'ALTER TABLE fl ATTACH PARTITION fl2 FOR VALUES IN (NULL, ' . join(', ', 301 .. 420) . ')', 'ALTER TABLE fl DETACH PARTITION fl2',
	  'ALTER TABLE fl ATTACH PARTITION fl2 FOR VALUES IN (NULL, ' . join(', ', 301 .. 420) . ')',
	  'CREATE TABLE fl3 (' . declare(shuffle(@all)) . ') PARTITION BY RANGE (ka)', 'ALTER TABLE fl ATTACH PARTITION fl3 DEFAULT',
	  q{CREATE TABLE fl3a PARTITION OF fl3 FOR VALUES FROM (MINVALUE) TO ('2020-03-01')},
	  'CREATE TABLE fl3b (' . declare(shuffle(@all)) . ')', q{ALTER TABLE fl3 ATTACH PARTITION fl3b FOR VALUES FROM ('2020-08-01') TO ('2021-10-01')},
	  'CREATE TABLE fl3c PARTITION OF fl3 DEFAULT PARTITION BY HASH (k8, k4)',
	  (map { "CREATE TABLE fl3c$_ PARTITION OF fl3c FOR VALUES WITH (MODULUS 4, REMAINDER $_)" } 0 .. 3),
	  'INSERT INTO fl (' . join(', ', @columns) . ")\n" . rows(2000, 'even', @columns), 'CREATE INDEX ON fl (k4)', 'CREATE INDEX ON fl3 (ka)';
	# By ranges of two columns, one of them of a time, on two levels.
	@columns = shuffle(@all);
	push @sql, 'CREATE TABLE fq (' . declare(@columns) . ') PARTITION BY RANGE (k8, kz)',
	  q{CREATE TABLE fq1 PARTITION OF fq FOR VALUES FROM (MINVALUE, MINVALUE) TO (150, '2020-05-01')},
	  'CREATE TABLE fq2 (' . declare(shuffle(@all)) . ') PARTITION BY RANGE (kz)', q{ALTER TABLE fq ATTACH PARTITION fq2 FOR VALUES FROM (150, '2020-05-01') TO (600, MAXVALUE)},
	  q{CREATE TABLE fq2a PARTITION OF fq2 FOR VALUES FROM ('2020-01-01') TO ('2020-12-01')},
	  'CREATE TABLE fq2b PARTITION OF fq2 DEFAULT', 'CREATE TABLE fq3 PARTITION OF fq FOR VALUES FROM (700, MINVALUE) TO (700, MAXVALUE)',
	  'CREATE TABLE fq4 PARTITION OF fq DEFAULT', 'INSERT INTO fq (' . join(', ', @columns) . ")\n" . rows(1800, 'even', @columns), 'CREATE INDEX ON fq (k8)';
	# the same bounds as fp's first level: partitionwise joins
	@columns = shuffle(@all);
	push @sql, 'CREATE TABLE dp (' . declare(@columns) . ') PARTITION BY RANGE (k4)',
	  'CREATE TABLE dp1 PARTITION OF dp FOR VALUES FROM (MINVALUE) TO (200)',
	  'CREATE TABLE dp2 PARTITION OF dp FOR VALUES FROM (200) TO (500)',
	  'CREATE TABLE dp3 PARTITION OF dp FOR VALUES FROM (500) TO (800)',
	  'CREATE TABLE dp4 PARTITION OF dp DEFAULT',
	  'INSERT INTO dp ' . rows(250, 'even', @columns);

	@columns = shuffle(@all);
	push @sql, 'CREATE TABLE fi (' . declare(@columns) . ')',
	  'CREATE TABLE fi1 (more text DEFAULT repeat(\'m\', 5)) INHERITS (fi)',
	  'CREATE TABLE fi2 (more int, ' . declare(@other) . ')', 'ALTER TABLE fi2 INHERIT fi',
	  (map {
			'INSERT INTO ' . $_->[0] . ' (' . join(', ', @columns) . ")\n" .
			  rows(1, 'even', @columns) =~ s/generate_series\(1, 1\)/generate_series($_->[1], $_->[2])/r
	  } [ 'fi', 1, 400 ], [ 'fi1', 401, 1000 ], [ 'fi2', 1001, 1300 ]);

	# In the order of its numbers, but for rows that were changed later, with indexes of all kinds; some that can tell where keys are, and some not.
	$plain->('fs', 2700, 'rising', []);
	push @sql, 'ALTER TABLE fs SET (fillfactor = 80, autovacuum_enabled = off)',
	  'CREATE INDEX fs1 ON fs USING brin (k4) WITH (pages_per_range = ' . pick(1, 2, 16) . ')',
	  'CREATE INDEX fs2 ON fs USING brin (k8 int8_minmax_multi_ops, ka date_minmax_multi_ops) WITH (pages_per_range = ' . pick(1, 3) . ')',
	  'CREATE INDEX fs3 ON fs USING hash (k2)', 'CREATE INDEX fs4 ON fs USING maplet (kd)', 'CREATE INDEX fs5 ON fs USING brin (g, kz, ks) WITH (pages_per_range = 2)',
	  'CREATE INDEX fs6 ON fs (ka DESC, k4)', 'CREATE INDEX fs7 ON fs (kq) INCLUDE (v)', 'CREATE INDEX fs8 ON fs (kz) WHERE g < 3', 'CREATE INDEX fs9 ON fs ((k4 + 0))',
	  'CREATE INDEX fs10 ON fs USING brin (kq int8_bloom_ops)', 'VACUUM fs', 'UPDATE fs SET v = v + 1 WHERE id % 9 = 0',
	  'UPDATE fs SET k4 = k8, k8 = k4, ka = ka + 3, kd = NULL WHERE id % 40 = 7', 'DELETE FROM fs WHERE id % 17 = 0';

	$plain->('fr', 1500, 'even', ['k4']);
	push @sql,
	  'ALTER TABLE fr ENABLE ROW LEVEL SECURITY',
	  'CREATE POLICY p1 ON fr FOR ALL TO join_reader USING (g <> 3 AND k4 IN (SELECT k4 FROM d5 WHERE g < 6))',
	  'CREATE POLICY p2 ON fr FOR SELECT TO join_reader USING (v % 5 = 0)',
	  'ALTER TABLE d4 ENABLE ROW LEVEL SECURITY',
	  "CREATE FUNCTION allowed(text) RETURNS boolean LANGUAGE plpgsql STABLE COST 1000 AS 'BEGIN RETURN length(\$1) % 2 = 0; END'",
	  'CREATE POLICY p3 ON d4 TO join_reader USING (allowed(kt))';

	# filters of every key column that can be hashed, that conditions name: of some of its values, of none, and no filter at all
	push @sql, 'CREATE TABLE stored (name text PRIMARY KEY, f bloomfilter)',
	  (
		map {
			my $kind = pick(qw(blocked standard partitioned cuckoo xor binary_fuse ribbon));

			"INSERT INTO stored SELECT '$_ ' || g, bloom_agg($_, 0.02, '$kind') FROM d5 WHERE g < 6 GROUP BY g",
			  "INSERT INTO stored SELECT '$_ 6', bloom_agg($_, 0.02, '$kind') FROM d1", "INSERT INTO stored SELECT '$_ 7', bloom_agg($_) FROM e0",
			  "INSERT INTO stored VALUES ('$_ 8', NULL)"
		} grep { !$TYPE{$_}{money} } @keys);

	push @sql, 'CREATE VIEW vj AS SELECT ' . join(', ', map { pick('f1', 'f1', 'd5') . ".$_" } @all) . ' FROM f1 JOIN d5 USING (k4)',
	  'CREATE VIEW vb WITH (security_barrier) AS SELECT * FROM f3 WHERE allowed(kc)',
	  # views that hide rows by a join, of which a plan may show no node
	  'CREATE VIEW vs WITH (security_barrier) AS SELECT f1.* FROM f1 JOIN d5 ON d5.k4 = f1.k4 + 0 WHERE d5.g < 7',
	  'CREATE VIEW vg WITH (security_barrier) AS SELECT * FROM fr WHERE id IN (SELECT id FROM f2 WHERE v % 3 > 0)',
	  'GRANT ALL ON ALL TABLES IN SCHEMA public TO join_reader', 'GRANT ALL ON SCHEMA public TO join_reader', 'VACUUM ANALYZE',
	  # pages that BRIN has no summary of
	  q{SELECT brin_desummarize_range('fs1', 0), brin_desummarize_range('fs2', 30)}, 'INSERT INTO fs SELECT * FROM fs WHERE id % 30 < 2', 'ANALYZE fs';
	return @sql;
}

# Types that columns of foreign tables have on the other server, whose values arrive as those of the column's; and other types that they may have here.
my %THERE = (
	k2 => [qw(int4 int8)], k4 => [qw(int2 int8 numeric)], k8 => [qw(int4 int2 numeric)], kd => [qw(int4 int8)], kn => [ 'numeric(20,4)', 'numeric(14,2)' ],
	kf => ['numeric'], kr => ['float8'], kt => [ 'varchar', 'text COLLATE "C"', 'text COLLATE nd', 'varchar(5000)' ], kv => [ 'text', 'varchar(3100)', 'text COLLATE nd' ],
	kb => [ 'text', 'varchar(12)', 'bpchar(14)' ], kc => [ 'text COLLATE nd', 'varchar', 'bpchar(14)' ], ki => [ 'text', 'text COLLATE "C"' ], kh => ['text'], ku => ['text'],
	ka => [qw(timestamp text)], ks => [qw(timestamptz date), 'timestamp(0)'], kz => ['timestamp'], ke => ['text'], kj => [qw(json text)], kx => ['text'],
	kw => ['text'], kq => [qw(numeric int8)], kk => [qw(int4 int8)], k0 => [qw(int2 int4)], k9 => ['numeric'], id => ['int8'], g => [qw(int2 int8)], v => ['int8']);
my %HERE = (kn => ['numeric(14,2)'], kv => [ 'varchar(3100)', 'varchar(4000)' ], ks => ['timestamp(0)'], kz => ['timestamptz(3)'], kt => ['varchar']);

# What makes foreign tables: statements for another database, and for the one that they are in, whose servers have these options.
sub foreign_sql
{
	my ($options) = @_;
	my @all = (qw(id g v), @keys);
	my @there = types_sql();
	my @here = (
		'CREATE EXTENSION postgres_fdw',
		"CREATE SERVER bare FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options)",
		"CREATE SERVER both_have_it FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, extensions 'bloomfam')",
		"CREATE SERVER asking FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, use_remote_estimate 'true', fetch_size '" . pick(1, 50) . q{')},
		"CREATE SERVER async FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, async_capable 'true')",
		map { "CREATE USER MAPPING FOR CURRENT_USER SERVER $_" } qw(bare both_have_it asking async));
	my $make = sub {
		my ($name, $share, $first, $last, $how) = @_;
		my @columns = shuffle(@all);
		my %there = map { $_ => rand() < $share && $THERE{$_} ? pick(@{ $THERE{$_} }) : $TYPE{$_}{type} } @columns;
		my $rows = rows(1, $how, @columns) =~ s/generate_series\(1, 1\)/generate_series($first, $last)/r;

		# what some encodings have not
		$rows =~ s/chr\(12363\)/chr(233)/g;
		push @there, "CREATE TABLE $name (" . join(', ', map { "$_ $there{$_}" } @columns) . ')',
		  "INSERT INTO $name SELECT " . join(', ', map { "$_\::text::" . ($there{$_} =~ s/ COLLATE.*//r) } @columns) . " FROM ($rows) r",
		  map { 'CREATE INDEX ON ' . $name . pick('', '', ' USING brin') . " ($_)" } grep { rand() < 0.3 } qw(k2 k4 k8 kn ku ka ks kz);
		return;
	};

	my $declared = sub { return join(', ', map { "$_ " . ($HERE{$_} && rand() < 0.3 ? pick(@{ $HERE{$_} }) : $TYPE{$_}{type}) } @_) };
	my @tables = ([ 'ff1', 'bare', 0, 1500, 'even' ], [ 'ff2', 'both_have_it', 0.3, 1200, 'square' ], [ 'ff3', 'asking', 0.3, 800, 'even' ]);
	foreach my $table (@tables)
	{
		my ($name, $server, $share, $count, $how) = @$table;

		$make->($name, $share, 1, $count, $how);
		push @here, "CREATE FOREIGN TABLE $name (" . $declared->(shuffle(@all)) . ") SERVER $server";
	}
	my @columns = shuffle(@all);
	push @here, 'CREATE TABLE fx (' . declare(@columns) . ') PARTITION BY RANGE (id)', 'CREATE TABLE fx0 PARTITION OF fx FOR VALUES FROM (MINVALUE) TO (201)',
	  'INSERT INTO fx (' . join(', ', @columns) . ")\n" . rows(200, 'even', @columns);
	foreach my $part ([ 1, 'async' ], [ 2, 'async' ], [ 3, 'both_have_it' ], [ 4, 'bare' ])
	{
		my ($i, $server) = @$part;

		$make->("fx$i", 0.2, 200 * $i + 1, 200 * $i + 200, 'even');
		push @here, "CREATE FOREIGN TABLE fx$i PARTITION OF fx FOR VALUES FROM (" . (200 * $i + 1) . ') TO (' . (200 * $i + 201) . ") SERVER $server";
	}
	push @there, 'ANALYZE';
	push @here, pick('ANALYZE ff1', 'SELECT 1'), 'ANALYZE ff2', 'ANALYZE fx';
	return (\@there, \@here);
}

1;
