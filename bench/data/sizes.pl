#!/usr/bin/perl
# SPDX-License-Identifier: PostgreSQL
# Schemas whose joins are hard to size, and random queries over them, for bench/sql/run sizes.
#
#   sizes.pl schema SEED ROWS            SQL that makes the tables: facts of ROWS rows, a copy of them in eight partitions, as many returns as a third of them, and dimensions
#   sizes.pl keys SEED ROWS              SQL that declares foreign keys
#   sizes.pl pairs SEED ROWS N           N queries of facts and one dimension, a line each
#   sizes.pl chains SEED ROWS N          N queries of three to nine relations: stars, two facts, by one column and by two that depend on each other, self joins, snowflakes, EXISTS,
#                                        EXISTS beside OR EXISTS, outer joins
#   sizes.pl own SEED ROWS N             N queries of facts with conditions of their own and one dimension; many conditions on days are ranges of dates
#   sizes.pl together SEED ROWS N        N queries of facts and two dimensions whose conditions go together: provinces and their stores, brands and their categories, days and their
#                                        rates
#   sizes.pl parts SEED ROWS N           N queries like those of pairs and own, of the facts in partitions: half of them have a condition on the column of the partitions
#
# A line is the form of a query, a tab, and its FROM and WHERE; in the last three modes, another tab, and FROM and WHERE of the facts alone.  The same seed gives the same lines.
use strict;
use warnings;
use POSIX qw(strftime);

my ($mode, $seed, $rows, $n) = @ARGV;
die "usage: $0 schema|keys|pairs|chains|own|together|parts SEED ROWS [N]\n" unless ($mode // '') =~ /^(schema|keys|pairs|chains|own|together|parts)$/ && defined $rows;

# Its own generator: perl's may differ between builds.
my $state = ($seed * 2654435761 + 12345) % 4294967296;
sub number { my ($below) = @_; $state = ($state * 1103515245 + 12345) % 2147483648; return int($state / 2147483648 * $below); }
sub pick { return $_[ number(scalar @_) ]; }
number(7) for 1 .. 9;

# name => keys: days of two centuries, and people grow with the facts; shops have no index
my %keys = (days => 73049, people => int($rows * 2 / 3), goods => 18000, shops => 2000);
my @dimensions = sort keys %keys;
# The window of each dimension that the tables of facts have in common, as days of a few years: where it begins, and how wide it is.
my %window = map { $_ => [ int($keys{$_} * 0.4) + number(int($keys{$_} * 0.2)), int($keys{$_} / 40) ] } @dimensions;
# How facts choose a key: that window; Zipf's law; the latest ones most; a fifth NULL; three in ten without a match.
my @forms = qw(narrow zipf recent nulls orphans);

# SQL for a random number in [0, 1), of a row, or of another value, and a salt
sub uniform { my ($salt, $value) = @_; return '((hashint8extended(' . ($value // 'g') . ", $salt) & 1073741823) / 1073741824.0)"; }

sub key_of
{
	my ($form, $dimension, $salt) = @_;
	my $count = $keys{$dimension};
	my $u = uniform($salt);
	my ($first, $width) = @{ $window{$dimension} };

	return "$first + floor($u * $width)::int" if $form eq 'narrow';
	return "floor(power($count, $u))::int" if $form eq 'zipf';
	return "$count - floor($count * power($u, 4))::int" if $form eq 'recent';
	return "CASE WHEN " . uniform($salt + 500) . " < 0.8 THEN 1 + floor($u * $count)::int END" if $form eq 'nulls';
	return "CASE WHEN " . uniform($salt + 500) . " < 0.7 THEN 1 + floor($u * $count)::int ELSE $count + 1 + floor($u * $count)::int END";
}

# The day of a key, in SQL and here
sub day_of_sql { my ($key) = @_; return "(date '1900-01-01' + ($key - 1))"; }
sub day_of { my ($key) = @_; return strftime('%Y-%m-%d', gmtime(($key - 1 - 25567) * 86400)); }

# Provinces have stores, the first ones more than the last, and eight lands have five provinces each; categories have brands, and five departments have six categories each.
my ($stores, $provinces, $brands, $categories) = (1200, 40, 600, 30);
sub province_of_sql { my ($store) = @_; return "1 + floor(power(" . uniform(9101, $store) . ", 1.5) * $provinces)::int"; }
sub category_of_sql { my ($brand) = @_; return "1 + ($brand * 7) % $categories"; }
sub category_of { my ($brand) = @_; return 1 + ($brand * 7) % $categories; }
sub land_of { my ($province) = @_; return int(($province - 1) / 5); }
sub department_of { my ($category) = @_; return int(($category - 1) / 6); }

# What else the facts have: columns that go with a key, as the year of a day; keys of two dimensions, of which one follows from the other in nine of ten rows.
sub more_of_facts
{
	my $store = "1 + floor(power(" . uniform(8801, 'id') . ", 2) * $stores)::int";
	my $brand = "floor(power($brands, " . uniform(8803, 'id') . "))::int";
	my $mostly = sub { my ($value, $other, $salt) = @_; return "CASE WHEN " . uniform($salt, 'id') . " < 0.9 THEN $value ELSE $other END"; };

	return 'extract(year FROM ' . day_of_sql('days_narrow') . ')::int AS year', 'floor(' . uniform(9001, 'people_narrow') . ' * 5)::int AS segment', 'floor(' . uniform(9001, 'goods_narrow') . ' * 5)::int AS class',
	  "$store AS store", $mostly->(province_of_sql("($store)"), '1 + floor(' . uniform(8805, 'id') . " * $provinces)::int", 8806) . ' AS province',
	  "$brand AS brand", $mostly->(category_of_sql("($brand)"), '1 + floor(' . uniform(8807, 'id') . " * $categories)::int", 8808) . ' AS category';
}

sub facts
{
	my ($table, $rows, $salt, @more) = @_;
	my @columns;

	foreach my $dimension (@dimensions)
	{
		push @columns, key_of($_, $dimension, $salt++) . " AS ${dimension}_$_" foreach @forms;
	}
	my $select = "SELECT g AS id, g % 1000 AS amount, floor(" . uniform($salt) . " * 100)::int AS part, (g / 400)::int AS lot,\n\t" . join(",\n\t", @columns) . "\nFROM generate_series(1, ${rows}::bigint) g";
	return "CREATE TABLE $table AS " . (@more ? "SELECT f.*,\n\t" . join(",\n\t", @more) . "\nFROM ($select) f" : $select) . ";\n";
}

# Tables that the modes own, together and parts have beside those of pairs and chains
sub more_tables
{
	my $sql = '';

	# each province has some kinds of stores that no other has, and others; a town is in one province; harbours are where there is a coast
	$sql .= "CREATE TABLE provinces AS SELECT g AS id, 'province ' || g AS name, (g - 1) / 5 AS land, (g % 3 = 0)::int AS coast FROM generate_series(1, $provinces) g;\n";
	$sql .= "CREATE TABLE stores AS SELECT id, 'store ' || id AS name, province, province * 10 + floor(" . uniform(9102, 'id') . " * 10)::int AS town,\n\tCASE WHEN " . uniform(9103, 'id') .
	  " < 0.6 THEN province * 3 + floor(" . uniform(9104, 'id') . " * 3)::int ELSE 1000 + floor(" . uniform(9104, 'id') . " * 5)::int END AS kind,\n\tfloor(" . uniform(9105, 'id') .
	  " * 10)::int AS size, (province % 3 = 0 AND " . uniform(9106, 'id') . " < 0.6)::int AS harbour\nFROM (SELECT g AS id, " . province_of_sql('g') . " AS province FROM generate_series(1, $stores) g) s;\n";
	# most brands of an origin are of one department; some are of no department's
	$sql .= "CREATE TABLE categories AS SELECT g AS id, 'category ' || g AS name, (g - 1) / 6 AS department, g % 4 AS season FROM generate_series(1, $categories) g;\n";
	$sql .= "CREATE TABLE brands AS SELECT id, 'brand ' || id AS name, category, CASE WHEN " . uniform(9111, 'id') . " < 0.8 THEN (category - 1) / 6 ELSE floor(" . uniform(9112, 'id') .
	  " * 8)::int END AS origin,\n\tfloor(" . uniform(9113, 'id') . " * 10)::int AS quality FROM (SELECT g AS id, " . category_of_sql('g') . " AS category FROM generate_series(1, $brands) g) b;\n";
	# none at weekends
	$sql .= "CREATE TABLE rates AS SELECT id, day, extract(year FROM day)::int AS year, extract(year FROM day)::int * 10 + extract(quarter FROM day)::int AS quarter, id / 500 AS level,\n\tfloor(" .
	  uniform(9121, 'id') . " * 20)::int AS step FROM (SELECT g AS id, " . day_of_sql('g') . " AS day FROM generate_series(1, $keys{days}) g) r WHERE extract(isodow FROM day) < 6;\n";
	$sql .= "ALTER TABLE $_ ADD PRIMARY KEY (id);\n" foreach qw(provinces categories brands rates);

	my ($first, $width) = @{ $window{days} };
	my @bounds = ('MINVALUE', (map { $first + int($width * $_ / 8) } 1 .. 7), 'MAXVALUE');
	$sql .= "CREATE TABLE parted (LIKE facts) PARTITION BY RANGE (days_narrow);\n";
	$sql .= "CREATE TABLE parted_$_ PARTITION OF parted FOR VALUES FROM ($bounds[$_ - 1]) TO ($bounds[$_]);\n" foreach 1 .. 8;
	$sql .= "INSERT INTO parted SELECT * FROM facts;\n";
	return $sql;
}

if ($mode eq 'schema')
{
	foreach my $dimension (@dimensions)
	{
		my $count = $keys{$dimension};
		# follows the key; at random; the popular keys of Zipf's law; the latest; another dimension's key, of few values
		print "CREATE TABLE $dimension AS SELECT g::int AS id, (g / " . int($count / 200 + 1) . ")::int AS period, floor(" . uniform(9001) . " * 50)::int AS kind, floor(" .
		  uniform(9002) . " * 400)::int AS rare,\n\t(" . uniform(9003) . " < 10.0 / (10 + g))::int AS popular, (" . uniform(9004) . " < power(g / $count.0, 8))::int AS active,\n\t1 + floor(" . uniform(9005) .
		  " * 400)::int AS region, (g / 7)::int AS week, 'a line of text'::text AS line" .
		  ($dimension eq 'days' ? ",\n\t" . day_of_sql('g') . ' AS day, extract(year FROM ' . day_of_sql('g') . ')::int AS year' : '') . " FROM generate_series(1, $count) g;\n";
		print "ALTER TABLE $dimension ADD PRIMARY KEY (id);\n" unless $dimension eq 'shops';
	}
	print "CREATE TABLE regions AS SELECT g AS id, g % 20 AS kind FROM generate_series(1, 400) g;\nALTER TABLE regions ADD PRIMARY KEY (id);\n";
	print facts('facts', $rows, 100, more_of_facts()), facts('returns', int($rows / 3), 300), more_tables();
	print "CREATE INDEX ON $_ (id);\n" foreach qw(facts returns);
	if (number(2))
	{
		print "CREATE INDEX ON facts (${_}_narrow); CREATE INDEX ON facts (${_}_zipf);\n" foreach @dimensions;
		print "CREATE INDEX ON parted (${_}_narrow); CREATE INDEX ON parted (${_}_zipf);\n" foreach @dimensions;
	}
	print "VACUUM ANALYZE;\n";
	exit;
}
if ($mode eq 'keys')
{
	foreach my $dimension (grep { $_ ne 'shops' } @dimensions)
	{
		print "ALTER TABLE facts ADD FOREIGN KEY (${dimension}_$_) REFERENCES $dimension;\n" foreach qw(narrow recent nulls zipf);
	}
	foreach my $dimension (grep { $_ ne 'shops' } @dimensions)
	{
		print "ALTER TABLE parted ADD FOREIGN KEY (${dimension}_$_) REFERENCES $dimension;\n" foreach qw(narrow recent nulls zipf);
	}
	print "ALTER TABLE facts ADD FOREIGN KEY (province) REFERENCES provinces, ADD FOREIGN KEY (brand) REFERENCES brands, ADD FOREIGN KEY (category) REFERENCES categories;\n";
	exit;
}

# A period of the window's.
sub period_of_window { my ($dimension) = @_; my ($first, $width) = @{ $window{$dimension} }; return int(($first + number($width)) / int($keys{$dimension} / 200 + 1)); }

# A condition on a dimension by its alias.
sub condition
{
	my ($alias, $dimension) = @_;
	my $window = number(200);

	return pick(
		"$alias.period = " . period_of_window($dimension), "$alias.period BETWEEN $window AND " . ($window + 1 + number(60)), "$alias.kind = " . number(50), "$alias.kind < " . (1 + number(40)),
		"$alias.rare < " . (4 + number(100)), "$alias.popular = 1", "$alias.popular = 0", "$alias.active = 1", "$alias.active = 0", "$alias.id < " . int($keys{$dimension} * (1 + number(9)) / 10),
		"$alias.active = 1 AND $alias.kind < " . (5 + number(40)), "$alias.period > " . (150 + number(45)) . " AND $alias.kind < 25", "$alias.period < 100 AND $alias.popular = 0");
}

# Below are the modes own, together and parts, which have numbers of their own: those above stay the same whatever is added here.
if ($mode =~ /^(own|together|parts)$/)
{
	$state = ($seed * 2654435761 + 12345 + 7919 * length($mode)) % 4294967296;
	number(7) for 1 .. 9;
}
sub fraction { return number(1000000) / 1000000; }

# The key that such a fraction of the facts is on one side of, in the order in which key_of chooses them.
sub key_at
{
	my ($form, $dimension, $u) = @_;
	my $count = $keys{$dimension};
	my ($first, $width) = @{ $window{$dimension} };

	return $first + int($u * $width) if $form eq 'narrow';
	return int($count**$u) if $form eq 'zipf';
	return $count - int($count * $u**4) if $form eq 'recent';
	return 1 + int($u * ($count - 1));
}

# A condition on days about the day of a key, as analysts write them.  Facts of two centuries are looked at by decades.
sub date_condition
{
	my ($alias, $key, $form) = @_;
	my $day = day_of($key);
	my ($year, $month) = split /-/, $day;
	my $wide = $form =~ /nulls|orphans/;
	my $days = $wide ? pick(3000, 10000, 20000) : pick(30, 60, 90, 180, 400);
	my $span = $wide ? pick('5 years', '10 years', '40 years') : pick('1 month', '3 months', '6 months', '1 year', '2 years');
	my $unit = $wide ? 'decade' : pick(qw(month quarter year));
	my %start = (month => "$year-$month-01", quarter => sprintf('%d-%02d-01', $year, $month - ($month - 1) % 3), year => "$year-01-01", decade => ($year - $year % 10) . '-01-01');
	my $later = $year + ($wide ? 10 + number(30) : 1 + number(2));

	return pick(
		"$alias.day BETWEEN date '$day' AND date '$day' + interval '$days days'", "$alias.day > date '$day' - interval '$days days' AND $alias.day <= date '$day'",
		"$alias.day >= date '$start{month}' AND $alias.day < date '$start{month}' + interval '$span'", "$alias.day >= date '$start{year}' AND $alias.day < date '$start{year}' + interval '$span'",
		"extract(year FROM $alias.day) " . ($wide ? ">= $year" : "= $year"), "extract(year FROM $alias.day) BETWEEN $year AND $later", "date_trunc('$unit', $alias.day) = timestamp '$start{$unit}'",
		"$alias.year % 10 = " . ($year % 10), "$alias.year BETWEEN $year AND $later", "$alias.day " . pick('<', '>=') . " date '$day'",
		"$alias.year BETWEEN $year AND $later AND extract(month FROM $alias.day) IN (" . pick('6, 7, 8', '12, 1, 2', '11, 12') . ')');
}

# A condition on the facts' key of a dimension or on a column that goes with it, about the keys that lie around a fraction; or one on others.
sub own_condition
{
	my ($goes, $form, $dimension, $u) = @_;
	my $column = "f.${dimension}_$form";
	my $year = substr day_of(key_at('narrow', 'days', $u)), 0, 4;
	my $fifth = int($u * 5);

	if ($goes eq 'with')
	{
		my $low = $u * (0.3 + 0.5 * fraction());
		my $high = $u + 0.2 + 0.5 * fraction();
		my ($from, $to) = sort { $a <=> $b } map { key_at($form, $dimension, $_) } $low, $high < 1 ? $high : 1;
		my @conditions = ("$column BETWEEN $from AND $to", "$column >= $from", "$column <= $to");

		push @conditions, ("f.year = $year", "f.year >= $year", "f.year <= $year", "f.year BETWEEN $year AND " . ($year + 1)) x 2 if $form eq 'narrow' && $dimension eq 'days';
		push @conditions, ("f.segment = $fifth", "f.segment <= $fifth") x 2 if $form eq 'narrow' && $dimension eq 'people';
		push @conditions, ("f.class = $fifth", "f.class >= $fifth") x 2 if $form eq 'narrow' && $dimension eq 'goods';
		push @conditions, "$column IS NOT NULL" if $form eq 'nulls';
		return pick(@conditions);
	}
	my $amount = number(500);
	my @conditions = ("f.part < " . (20 + number(75)), "f.amount < " . (200 + number(700)), "f.amount BETWEEN $amount AND " . ($amount + 200 + number(300)), "f.lot < " . int($rows / 400 * (30 + number(60)) / 100));
	push @conditions, "f.year = $year" if $dimension ne 'days';
	return pick(@conditions);
}

# A condition on the dimension, which may go with that of the facts.
sub condition_beside
{
	my ($own, $form, $dimension, $u) = @_;
	my $key = key_at($form, $dimension, number(3) ? $u : fraction());
	my $period = int($key / int($keys{$dimension} / 200 + 1));

	return date_condition('d', $key, $form) if $dimension eq 'days' && number(4);
	# the facts' segment and class are a tenth of the kind
	return pick("d.kind < " . (10 * $1 + 1 + number(10)), "d.kind BETWEEN " . 10 * $1 . " AND " . (10 * $1 + 1 + number(9))) if $own =~ /^f\.(?:segment|class) [<>]?= (\d)/ && number(2);
	return pick("d.period = $period", "d.period >= $period", "d.period BETWEEN $period AND " . ($period + 1 + number(20))) if number(2);
	return condition('d', $dimension);
}

# A query of facts, or of their copy in partitions, with conditions of their own, and one dimension; and whether they go with the key.  They are made here unless they are given, with a
# fraction of the facts that they are about.
sub own_query
{
	my ($table, $own, $u) = @_;
	my $dimension = pick('days', 'days', @dimensions);
	my $form = pick('narrow', 'narrow', @forms);
	my $goes = pick(qw(with with apart both));

	$u //= fraction();
	if (!defined $own)
	{
		$own = own_condition($goes eq 'apart' ? 'apart' : 'with', $form, $dimension, $u);
		$own .= ' AND f.part < ' . (50 + number(45)) if $goes eq 'both';
	}
	my $condition = condition_beside($own, $form, $dimension, $u);
	return ($goes eq 'apart' ? 'apart' : 'with', "$form $dimension", "FROM $table f JOIN $dimension d ON d.id = f.${dimension}_$form WHERE $own AND $condition", "FROM $table f WHERE $own");
}

# Conditions on two dimensions: most go together, in the others one tells nothing of the other
sub together
{
	my $apart = number(4) == 0;

	if (number(3) == 0)
	{
		my $province = 1 + int(fraction()**1.5 * $provinces);
		my $land = land_of($province);
		my ($first, $last) = ($land * 5 + 1, $land * 5 + 5);
		my @stores = ("s.kind = " . (3 * $province + number(3)), "s.kind BETWEEN " . 3 * $province . " AND " . (3 * $province + 2), "s.town BETWEEN " . 10 * $province . " AND " . (10 * $province + 4 + number(6)), "s.province = $province");
		my @of_land = ("s.kind BETWEEN " . 3 * $first . " AND " . (3 * $last + 2), "s.town >= " . 10 * $first . " AND s.town < " . 10 * ($last + 1), "s.province BETWEEN $first AND $last", "s.province IN ($first, " . ($first + 1) . ", $last)");
		my $name = "p.name = 'province $province'";
		my ($one, $two) = @{ pick([ $name, pick(@stores) ], [ $name, pick(@stores) ], [ "p.land = $land", pick(@stores) ], [ "p.land = $land", pick(@of_land) ], [ "p.land = $land", pick(@of_land) ],
			[ "p.land <= $land", "s.province <= $last" ], [ "p.coast = 1", pick('s.harbour = 1', "s.harbour = 1 AND s.size < 5") ]) };

		($one, $two) = (pick("p.land = $land", "p.land <= $land", "p.coast = " . number(2)), pick("s.size = " . number(10), "s.size < " . (2 + number(7)), "s.kind = " . (1000 + number(5)), "s.kind >= 1000")) if $apart;
		return ($apart, 'stores', [ 'provinces p', 'p.id = f.province', $one ], [ 'stores s', 's.id = f.store', $two ]);
	}
	if (number(2))
	{
		my $brand = int($brands**fraction());
		my $category = category_of($brand);
		my $department = department_of($category);
		my ($first, $last) = ($department * 6 + 1, $department * 6 + 6);
		# the first brand has this category, and each thirtieth from there
		my ($least) = grep { category_of($_) == $category } 1 .. $categories;
		my @named = map { "'brand $_'" } $least, $least + $categories, $least + 2 * $categories;
		my $name = "c.name = 'category $category'";
		my ($one, $two) = @{ pick([ $name, "b.name = 'brand $brand'" ], [ $name, "b.name IN (" . join(', ', @named) . ")" ], [ $name, "b.category = $category" ], [ $name, "b.category BETWEEN $first AND $last" ],
			[ "c.department = $department", "b.name = 'brand $brand'" ], [ "c.department = $department", "b.origin = $department" ], [ "c.department = $department", "b.category BETWEEN $first AND $last" ],
			[ "c.department = $department", "b.origin = $department AND b.quality < " . (3 + number(7)) ], [ "c.department <= $department", "b.origin <= $department" ]) };

		($one, $two) = (pick("c.season = " . number(4), "c.season < " . (2 + number(2)), "c.department = $department"), pick("b.quality = " . number(10), "b.quality < " . (2 + number(7)), "b.quality >= 4")) if $apart;
		return ($apart, 'brands', [ 'categories c', 'c.id = f.category', $one ], [ 'brands b', 'b.id = f.brand', $two ]);
	}
	my $form = pick(qw(narrow narrow narrow recent zipf));
	my $key = key_at($form, 'days', fraction());
	my $day = day_of($key);
	my ($year, $month) = split /-/, $day;
	my $quarter = $year * 10 + 1 + int(($month - 1) / 3);
	my $level = int($key / 500);
	my ($one, $two) = @{ pick([ "d.year = $year", "r.year = $year" ], [ "d.year = $year", "r.quarter BETWEEN ${year}1 AND " . $year . (2 + number(3)) ], [ "d.year >= $year", "r.level >= $level" ],
		[ "extract(year FROM d.day) = $year", "r.quarter = $quarter" ], [ "d.year BETWEEN $year AND " . ($year + 1), "r.level = $level" ],
		[ "d.day >= date '$day' AND d.day < date '$day' + interval '1 year'", "r.level BETWEEN $level AND " . ($level + 1) ],
		[ "d.day BETWEEN date '$day' AND date '$day' + interval '200 days'", "r.day >= date '$day'" ], [ "d.period = " . int($key / int($keys{days} / 200 + 1)), "r.year BETWEEN " . ($year - 1) . " AND " . ($year + 1) ]) };

	($one, $two) = (pick("d.year = $year", "d.year >= $year", "extract(year FROM d.day) = $year"), pick("r.step = " . number(20), "r.step < " . (4 + number(14)))) if $apart;
	# both equal the facts' column, or the second equals the first
	return ($apart, 'days', [ 'days d', "d.id = f.days_$form", $one ], [ 'rates r', pick("r.id = f.days_$form", 'r.id = d.id'), $two ]);
}

sub line { my ($form, $from, $facts) = @_; print "$form\t$from\t$facts\n"; }
foreach my $i (1 .. $n)
{
	if ($mode eq 'own')
	{
		my ($goes, $form, $from, $facts) = own_query('facts');

		line("$goes $form", $from, $facts);
	}
	elsif ($mode eq 'together')
	{
		my ($apart, $form, @two) = together();
		my @from = map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ number(1000), $_ ] } 'facts f', map { $_->[0] } @two;
		my $own = number(5) ? '' : 'f.part < ' . (30 + number(70));

		line(($apart ? 'apart' : 'alike') . " $form", 'FROM ' . join(', ', @from) . ' WHERE ' . join(' AND ', map({ $_->[1] } @two), map({ $_->[2] } @two), $own || ()), 'FROM facts f' . ($own && " WHERE $own"));
	}
	elsif ($mode eq 'parts')
	{
		my $kind = pick(qw(none own pruned pruned));
		my ($own, $u);

		if ($kind eq 'none')
		{
			my $dimension = pick(@dimensions);
			my $form = pick(@forms);

			line("whole $form $dimension", "FROM parted f JOIN $dimension d ON d.id = f.${dimension}_$form WHERE " . condition('d', $dimension), 'FROM parted f');
			next;
		}
		if ($kind eq 'pruned')
		{
			my ($low, $high) = @{ pick([ 0.4 * fraction(), 0.6 + 0.4 * fraction() ], [ map { $_ / 8 } @{ pick([ 1, 3 ], [ 3, 5 ], [ 4, 7 ]) } ]) };
			my ($from, $to) = map { key_at('narrow', 'days', $_) } $low, $high;

			$own = pick("f.days_narrow >= $from", "f.days_narrow < $to", "f.days_narrow BETWEEN $from AND $to", "f.days_narrow >= $from AND f.days_narrow < $to AND f.part < " . (60 + number(40)));
			$u = $low + fraction() * ($high - $low);
		}
		my ($goes, $form, $from, $facts) = own_query('parted', $own, $u);

		line(($facts =~ /f\.days_narrow [<>B]/ ? 'pruned' : 'whole') . " $form", $from, $facts);
	}
}
exit if $mode =~ /^(own|together|parts)$/;

foreach my $i (1 .. $n)
{
	if ($mode eq 'pairs')
	{
		my $dimension = pick(@dimensions);
		my $form = pick(@forms);

		print "$form $dimension\tFROM facts f JOIN $dimension d ON d.id = f.${dimension}_$form WHERE " . condition('d', $dimension) . "\n";
		next;
	}
	my $count = 2 + number(3);
	my @used = (sort { $a->[0] <=> $b->[0] } map { [ number(1000), $_ ] } @dimensions)[0 .. $count - 1];
	my (@from, @where);
	my $shape = pick(qw(star star star two_facts lots self snowflake back exists or_exists outer));

	push @from, 'facts f';
	foreach my $j (0 .. $#used)
	{
		my $dimension = $used[$j][1];
		my $join = $shape eq 'outer' && $j == 0 ? 'LEFT JOIN' : 'JOIN';
		my $condition = condition("d$j", $dimension);

		push @from, "$join $dimension d$j ON d$j.id = f.${dimension}_" . pick(@forms) . ($join eq 'JOIN' ? '' : " AND $condition");
		push @where, $condition if $join eq 'JOIN' && number(5) > 0 && !($shape eq 'back' && $j == 0);
	}
	my $first = $used[0][1];
	my $form = pick(@forms);
	if ($shape eq 'two_facts' || $shape eq 'lots')
	{
		push @from, 'JOIN returns r ON r.id = f.id' . ($shape eq 'lots' ? ' AND r.lot = f.lot' : ''), "JOIN $first e ON e.id = r.${first}_$form";
		push @where, condition('e', $first);
	}
	elsif ($shape eq 'self') { push @from, "JOIN $first e ON e.id = d0.id"; push @where, condition('e', $first); }
	elsif ($shape eq 'snowflake')
	{
		push @from, map { "JOIN regions g$_ ON g$_.id = d$_.region" } 0 .. $#used;
		push @where, 'g0.kind = ' . number(20);
	}
	elsif ($shape eq 'back')
	{
		push @from, "JOIN $first e ON e.week = d0.week", "JOIN returns r ON r.${first}_narrow = e.id AND r.part = f.part";
		push @where, 'd0.period = ' . period_of_window($first), 'f.part < 20';
	}
	elsif ($shape =~ /exists/)
	{
		my ($one, $two, $three) =
		  map { my $alias = "e$_"; "EXISTS (SELECT 1 FROM returns r$_ JOIN $first $alias ON $alias.id = r$_.${first}_$form WHERE r$_.id = f.id AND " . condition($alias, $first) . ')' } 1 .. 3;
		push @where, $one if $shape eq 'exists' || number(2);
		push @where, "($two OR $three)" if $shape eq 'or_exists';
	}
	push @where, 'f.part < ' . (10 + number(90)) if number(2);
	print "$shape $count\tFROM " . join(' ', @from) . (@where ? ' WHERE ' . join(' AND ', @where) : '') . "\n";
}
