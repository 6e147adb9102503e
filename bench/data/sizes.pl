#!/usr/bin/perl
# SPDX-License-Identifier: PostgreSQL
# Schemas whose joins are hard to size, and random queries over them, for bench/sql/run sizes.
#
#   sizes.pl schema SEED ROWS            SQL that makes the tables: facts of ROWS rows, as many returns as a third of them, and dimensions
#   sizes.pl keys SEED ROWS              SQL that declares foreign keys
#   sizes.pl pairs SEED ROWS N           N queries of facts and one dimension, a line each
#   sizes.pl chains SEED ROWS N          N queries of three to nine relations: stars, two facts, by one column and by two that depend on each other, self joins, snowflakes, EXISTS,
#                                        EXISTS beside OR EXISTS, outer joins
#
# A line is the form of a query, a tab, and its FROM and WHERE.  The same seed gives the same lines.
use strict;
use warnings;

my ($mode, $seed, $rows, $n) = @ARGV;
die "usage: $0 schema|keys|pairs|chains SEED ROWS [N]\n" unless ($mode // '') =~ /^(schema|keys|pairs|chains)$/ && defined $rows;

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

# SQL for a random number in [0, 1), of a row and a salt
sub uniform { my ($salt) = @_; return "((hashint8extended(g, $salt) & 1073741823) / 1073741824.0)"; }

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

sub facts
{
	my ($table, $rows, $salt) = @_;
	my @columns;

	foreach my $dimension (@dimensions)
	{
		push @columns, key_of($_, $dimension, $salt++) . " AS ${dimension}_$_" foreach @forms;
	}
	return "CREATE TABLE $table AS SELECT g AS id, g % 1000 AS amount, floor(" . uniform($salt) . " * 100)::int AS part, (g / 400)::int AS lot,\n\t" . join(",\n\t", @columns) . "\nFROM generate_series(1, ${rows}::bigint) g;\n";
}

if ($mode eq 'schema')
{
	foreach my $dimension (@dimensions)
	{
		my $count = $keys{$dimension};
		# follows the key; at random; the popular keys of Zipf's law; the latest; another dimension's key, of few values
		print "CREATE TABLE $dimension AS SELECT g::int AS id, (g / " . int($count / 200 + 1) . ")::int AS period, floor(" . uniform(9001) . " * 50)::int AS kind, floor(" .
		  uniform(9002) . " * 400)::int AS rare,\n\t(" . uniform(9003) . " < 10.0 / (10 + g))::int AS popular, (" . uniform(9004) . " < power(g / $count.0, 8))::int AS active,\n\t1 + floor(" . uniform(9005) .
		  " * 400)::int AS region, (g / 7)::int AS week, 'a line of text'::text AS line FROM generate_series(1, $count) g;\n";
		print "ALTER TABLE $dimension ADD PRIMARY KEY (id);\n" unless $dimension eq 'shops';
	}
	print "CREATE TABLE regions AS SELECT g AS id, g % 20 AS kind FROM generate_series(1, 400) g;\nALTER TABLE regions ADD PRIMARY KEY (id);\n";
	print facts('facts', $rows, 100), facts('returns', int($rows / 3), 300);
	print "CREATE INDEX ON $_ (id);\n" foreach qw(facts returns);
	if (number(2))
	{
		print "CREATE INDEX ON facts (${_}_narrow); CREATE INDEX ON facts (${_}_zipf);\n" foreach @dimensions;
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
