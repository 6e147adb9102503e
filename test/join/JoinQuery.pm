# SPDX-License-Identifier: PostgreSQL
# Random items: what is run with the filters off, and again with them on.
#
# An item is a list of steps.  A step has sql; `rows` says that its rows are compared: 'set', as a multiset, or 'list', in their order (of an ORDER BY
# that leaves no ties).  Steps with the same `pool` are compared together.  `plan` marks the query whose plan is looked at for filters.
# `switch` is a step of the run with filters only: it changes bloomfam.join_filter under way.  `any` is a step whose failure or success is no
# matter (it is cancelled at some point).  `show` is the query without the digest that a step with many rows returns in their place.
package JoinQuery;

use strict;
use warnings;

use JoinSchema;

use Exporter 'import';

our @EXPORT = qw(random_item random_settings);

my $aliases;			# so that every relation of an item has a name of its own
my @with;				# common table expressions of the query under way
our $outer;				# a number of the row that a subquery is run for, if it is
our @base;				# where its base relations come from, if not from everywhere

sub pick { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }

sub weighted
{
	my (%weight) = @_;
	my @names = sort keys %weight;
	my $sum = 0;

	$sum += $weight{$_} foreach @names;
	my $at = rand($sum);
	foreach my $name (@names)
	{
		$at -= $weight{$name};
		return $name if $at < 0;
	}
	return $names[-1];
}

sub fresh { return ($_[0] // 't') . ++$aliases }

# Columns are [reference, name of %TYPE].

sub table_columns
{
	my ($alias) = @_;

	return map { [ "$alias.$_", $_ ] } sort keys %TYPE;
}

sub is_int { return $TYPE{ $_[0][1] }{int} }

sub group_of { return $TYPE{ $_[0][1] }{group} }

sub canon
{
	my ($column) = @_;

	return sprintf($TYPE{ $column->[1] }{canon} // '%s', $column->[0]);
}

# Columns that get the names c0, c1 ... of a subquery with this alias.
sub exported
{
	my ($alias, @columns) = @_;

	return map { [ "$alias.c$_", $columns[$_][1] ] } 0 .. $#columns;
}

sub as_list
{
	my (@columns) = @_;

	return join(', ', map { "$columns[$_][0] AS c$_" } 0 .. $#columns);
}

sub some
{
	my ($most, @list) = @_;
	my %chosen;
	my $count = 1 + int rand $most;

	$chosen{ int rand @list } = 1 foreach 1 .. $count;
	return map { $list[$_] } sort { $a <=> $b } keys %chosen;
}

# Rather a key than one of id, g, v.
sub key_of
{
	my (@columns) = @_;
	my @keys = grep { $_->[1] =~ /^k/ } @columns;

	return @keys && chance(0.9) ? pick(@keys) : pick(@columns);
}

# One equality between two columns of comparable types, or an expression of them.
sub equality
{
	my ($l, $r) = @_;
	my ($x, $y) = ($l->[0], $r->[0]);

	($x, $y, $l, $r) = ($y, $x, $r, $l) if chance(0.5);
	if (is_int($l) && is_int($r))
	{
		my $how = rand();

		return "$x = $y " . pick('+', '-') . " $outer" if $outer && chance(0.4);
		return "$x = $y" if $how < 0.7;
		return "$x + 1 = $y + 1" if $how < 0.74;
		return "${x}::int8 = $y" if $how < 0.78;
		return "$x = ${y}::int8 - 3" if $how < 0.82;
		return "${x}::numeric = $y" if $how < 0.86;
		return "coalesce($x, 7) = $y" if $how < 0.89;
		return "$x % 100 = $y" if $how < 0.92;
		return "hashint8($x) = hashint8($y)" if $how < 0.95;
		return "-$x = -$y" if $how < 0.98;
		return "($x * 1.0)::float8 = $y";
	}
	if (group_of($l) eq 'str')
	{
		my %both = ($l->[1] => 1, $r->[1] => 1);

		return "lower(${x}::text COLLATE \"C\") = lower(${y}::text COLLATE \"C\")" if chance(0.08);
		# the server hashes names by bytes, whatever = sees, and so its own hash joins differ from its merge joins
		return "${x}::text = ${y}::text COLLATE nd" if $both{km} && ($both{ki} || chance(0.05));
		return "$x = ${y}::text COLLATE nd" if $both{ki} || chance(0.05);
		return "$x = ${y}::text COLLATE \"C\"" if ($both{kc} || $both{km}) && keys %both > 1;
		return "$x || '' = $y || ''" if keys %both == 1 && $l->[1] =~ /^k[tvh]$/ && chance(0.1);
		return "${x}::bpchar = ${y}::bpchar" if keys %both == 1 && $l->[1] =~ /^k[tv]$/ && chance(0.1);
	}
	return "coalesce($x, $y) = $y" if $l->[1] eq $r->[1] && chance(0.02);
	return "$x = $y";
}

# The condition that joins two lists of columns; strict: equalities alone, as FULL JOIN asks for.
sub condition
{
	my ($left, $right, $strict) = @_;
	my (%l, %r, @groups, @parts);

	push @{ $l{ group_of($_) } }, $_ foreach @$left;
	push @{ $r{ group_of($_) } }, $_ foreach @$right;
	@groups = grep { $r{$_} } sort keys %l;
	if (!@groups)
	{
		my ($a, $b) = (pick(@$left), pick(@$right));

		return '(' . canon($a) . ')::text COLLATE "C" = (' . canon($b) . ')::text COLLATE "C"';
	}

	my $count = weighted(1 => 70, 2 => 24, 3 => 6);
	foreach (1 .. $count)
	{
		# numbers and strings have most of the types
		my @likely = grep { /^(num|str)$/ } @groups;
		my $group = @likely && chance(0.65) ? pick(@likely) : pick(@groups);
		my ($a, $b) = (key_of(@{ $l{$group} }), key_of(@{ $r{$group} }));
		# of the same column in both, more often than not
		my @same = grep { $_->[1] eq $a->[1] } @{ $r{$group} };

		$b = pick(@same) if @same && chance(0.5);
		push @parts, equality($a, $b);
	}
	if ($count == 2 && chance(0.15) && join('', @parts) !~ /COLLATE/)
	{
		my @sides = map { [ split / = /, $_ ] } @parts;

		return "($sides[0][0], $sides[1][0]) = ($sides[0][1], $sides[1][1])" unless grep { @$_ != 2 } @sides;
	}
	if (!$strict && chance(0.15))
	{
		my @a = grep { is_int($_) } @$left;
		my @b = grep { is_int($_) } @$right;

		push @parts, pick(@a)->[0] . pick(' <> ', ' < ', ' >= ') . pick(@b)->[0] if @a && @b;
	}
	if (!$strict && chance(0.04))
	{
		my ($a) = grep { is_int($_) } @$left;

		push @parts, "($a->[0] % 3 > 0 OR " . restriction(@$right) . ')' if $a;
	}
	return join(' AND ', @parts);
}

# A condition on columns of one relation.
sub restriction
{
	my (@columns) = @_;
	my $c = pick(@columns);
	my $x = $c->[0];
	my @ints = grep { is_int($_) } @columns;
	my $how = rand();

	return "$x IS NOT NULL" if $how < 0.06;
	return "$x IS NULL" if $how < 0.08;
	# no row, which the planner does not know
	return "length(" . (pick(@columns))->[0] . "::text) < 0" if $how < 0.09;
	if ($how < 0.16 && $c->[1] =~ /^k/ && !$TYPE{ $c->[1] }{money})
	{
		# a filter, of which there are nine of each type; one for every other row, where the condition is asked again and again
		my $which = $outer && chance(0.5) ? "($outer % 9)" : int rand 9;
		my $filter = "(SELECT f FROM stored WHERE name = '$c->[1] ' || $which)";

		return pick("$filter \@~ $x", "$x ~\@ $filter", "bloom_may_contain($filter, $x)", "NOT ($filter \@~ $x)");
	}
	if (@ints && $how < 0.75)
	{
		$x = pick(@ints)->[0];
		return pick("$x < " . int(rand 1000), "$x % " . pick(2, 3, 5) . ' = 1', "$x BETWEEN 100 AND " . (100 + int rand 600),
			"$x IN (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)", "$x <> 7", "NOT ($x > " . int(rand 900) . ')');
	}
	return "right(${x}::text, 1) < '" . pick(3, 5, 7) . "'" if group_of($c) eq 'str';
	return "$x IS NOT NULL OR " . restriction(@columns) if chance(0.1);
	return "$x = $x" if chance(0.1);
	return '(' . canon($c) . ")::text COLLATE \"C\" > '" . pick('1', '5', 'k3', '2020-06') . "'";
}

sub where
{
	my (@parts) = @_;

	@parts = map { / OR / ? "($_)" : $_ } grep { length } @parts;
	return @parts ? ' WHERE ' . join(' AND ', @parts) : '';
}

sub random_table
{
	return pick(@base) if @base;
	return weighted(
		(map { $_ => 6 } @FACTS), (map { $_ => 7 } @DIMS), e0 => 0.6, o1 => 0.6, n1 => 0.6, dup => 1, far => 1.5, vj => 1, vb => 1.5, vs => 1.5, vg => 1.5);
}

# All of the following give a relation: {sql} goes into FROM, {columns} can be used.

sub table_relation
{
	my $table = $_[0] // random_table();
	my $alias = fresh();
	my $sample = $table !~ /^v/ && chance(0.02) ? ' TABLESAMPLE ' . pick('bernoulli', 'system') . ' (60) REPEATABLE (5)' : '';
	my $only = $table =~ /^f[ip]/ && chance(0.05) ? 'ONLY ' : '';

	return { sql => "$only$table $alias$sample", columns => [ table_columns($alias) ], table => $table, alias => $alias };
}

sub wrapped
{
	my ($sql, @columns) = @_;
	my $alias = fresh('s');

	# the top of the query knows no outer row
	if ($sql !~ /\bo\./ && chance(0.12))
	{
		my $name = fresh('w');

		push @with, "$name AS " . pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "($sql)";
		return { sql => "$name $alias", columns => [ exported($alias, @columns) ], cte => $name };
	}
	return { sql => "($sql) $alias", columns => [ exported($alias, @columns) ] };
}

sub function_relation
{
	my $alias = fresh('x');
	my $count = pick(3, 20, 60, 200);
	my $step = pick(1, 3, 7);
	my $how = weighted(series => 4, values => 3, unnest => 2, rows => 2, ordinality => 1);

	return { sql => "generate_series(1, $count * $step, $step) $alias(c0)", columns => [ [ "$alias.c0", 'k4' ] ] } if $how eq 'series';
	return { sql => "(VALUES " . join(', ', map { my $n = int rand 1000; "($n, 'k$n')" } 1 .. pick(1, 4, 30)) . ") $alias(c0, c1)",
		columns => [ [ "$alias.c0", 'k4' ], [ "$alias.c1", 'kt' ] ] }
	  if $how eq 'values';
	return { sql => "unnest((SELECT array_agg(k8 ORDER BY id) FROM " . pick(@DIMS) . ")) $alias(c0)", columns => [ [ "$alias.c0", 'k8' ] ] }
	  if $how eq 'unnest';
	return { sql => 'ROWS FROM (generate_series(1, 40), unnest(ARRAY[7, 14, NULL, 21])) ' . "$alias(c0, c1)",
		columns => [ [ "$alias.c0", 'k4' ], [ "$alias.c1", 'k4' ] ] }
	  if $how eq 'rows';
	return { sql => "unnest(ARRAY(SELECT kt FROM d3 ORDER BY id)) WITH ORDINALITY $alias(c0, c1)",
		columns => [ [ "$alias.c0", 'kt' ], [ "$alias.c1", 'k8' ] ] };
}

sub subquery_relation
{
	my ($depth) = @_;
	my $t = $depth > 0 && chance(0.35) ? join_of(2, $depth - 1) : table_relation();
	my @columns = @{ $t->{columns} };
	my $where = chance(0.5) ? restriction(@columns) : '';
	my @key = (key_of(@columns), some(1, @columns));
	my ($int) = grep { is_int($_) } @columns;
	my $order = $t->{table} && $t->{table} ne 'vj' ? "$t->{alias}.id" : undef;
	my $from = "FROM $t->{sql}" . where($where);
	my $how = weighted(
		plain => 3, offset => 3, group => 4, distinct => 3, on => 2, limit => 3, window => 3, union_all => 4, union => 1.5, except => 1.5, intersect => 1,
		series => 1, recursive => 1, semi => 3, having => 1, exists => 1.5);

	if ($how eq 'offset')
	{
		return wrapped('SELECT ' . as_list(@key) . " $from OFFSET 0", @key);
	}
	if ($how =~ /^(group|having)$/)
	{
		my $agg = pick('count(*)::int', 'count(' . pick(@columns)->[0] . ')::int', $int ? ("min($int->[0])::int", "max($int->[0])::int") : ());

		@key = ($key[0]) if chance(0.6);
		return wrapped(
			'SELECT ' . as_list(@key) . ", $agg AS c" . @key . " $from GROUP BY " . join(', ', map { $_->[0] } @key) . ($how eq 'having' ? " HAVING count(*) > 1" : ''),
			@key, [ '', 'v' ]);
	}
	# A string has to be all of itself for the grouping to be the same below and above: equal strings of ki are not.
	return wrapped('SELECT DISTINCT ' . as_list(@key) . " $from", @key) if $how eq 'distinct';
	if ($order && $how eq 'on')
	{
		@key = ($key[0], [ $order, 'id' ]);
		return wrapped('SELECT DISTINCT ON (' . $key[0][0] . ') ' . as_list(@key) . " $from ORDER BY $key[0][0], $order", @key);
	}
	if ($order && $how eq 'limit')
	{
		return wrapped('SELECT ' . as_list(@key) . " $from ORDER BY $order" . pick('', ' DESC') . ' LIMIT ' . pick(1, 10, 100, 700, 1200, 1900) . pick('', ' OFFSET 5'), @key);
	}
	if ($order && $how eq 'window')
	{
		my $w = pick(
			"row_number() OVER (PARTITION BY $key[0][0] ORDER BY $order)::int", "sum($t->{alias}.v) OVER (PARTITION BY $t->{alias}.g)::int",
			"lag($t->{alias}.k4) OVER (ORDER BY $order)", "count(*) OVER ()::int", "rank() OVER (ORDER BY $t->{alias}.g)::int");

		return wrapped('SELECT ' . as_list(@key) . ", $w AS c" . @key . " $from", @key, [ '', 'v' ]);
	}
	if ($t->{table} && $how =~ /^(union_all|union|except|intersect)$/)
	{
		my $word = uc $how =~ s/_/ /r;
		my $sql = 'SELECT ' . as_list(@key) . " $from";

		foreach (1 .. pick(1, 1, 2))
		{
			my $u = table_relation();

			# most often the same columns of another table; sometimes a constant or an expression in their place
			my @same = map { "$u->{alias}.$_->[1]" } @key;
			$same[1] = 'NULL' if @same > 1 && chance(0.1);
			$same[0] = "$same[0] + 1" if $key[0][1] =~ /^k[48]$/ && chance(0.1);
			$sql .= " $word " . ($how ne 'union_all' ? pick('', '', 'ALL ') : '') . 'SELECT ' . join(', ', @same) . " FROM $u->{sql}"
			  . where(chance(0.4) ? restriction(@{ $u->{columns} }) : '');
		}
		return wrapped($sql, @key);
	}
	if ($how eq 'series')
	{
		return wrapped('SELECT ' . as_list(@key) . ", generate_series(1, 2) AS c" . @key . " $from", @key, [ '', 'v' ]);
	}
	if ($how eq 'recursive')
	{
		my $name = fresh('r');
		my ($j, $alias) = (table_relation(pick('f1', 'f2', 'fp', 'd5')), fresh('s'));
		my $u = pick('', 'ALL');
		my $third = chance(0.4) ? ' JOIN ' . pick('d1', 'd5') . " q ON q.g = $j->{alias}.g AND q.k4 % 10 = w.d" : '';

		push @with, "$name(c0, c1) AS (SELECT k4, 0 FROM d1 WHERE id <= 10 UNION $u SELECT $j->{alias}.k4 + 7, w.c1 + 1 FROM $name w JOIN $j->{sql} ON $j->{alias}.k4 = w.c0$third WHERE w.c1 < 3)"
		  =~ s/w\.d\b/w.c1/r;
		return { sql => "$name $alias", columns => [ [ "$alias.c0", 'k4' ], [ "$alias.c1", 'v' ] ], recursive => 1 };
	}
	if ($how =~ /^(semi|exists)$/)
	{
		return wrapped('SELECT ' . as_list(@key) . " FROM $t->{sql}" . where($where, sublink($depth - 1, @columns)), @key);
	}
	return wrapped('SELECT ' . as_list(@key) . " $from", @key);
}

sub relation
{
	my ($depth) = @_;
	my $how = weighted(table => 66, subquery => $depth > 0 ? 26 : 0, function => 6);

	return table_relation() if $how eq 'table';
	return function_relation() if $how eq 'function';
	return subquery_relation($depth);
}

# Joins of n relations in some shape.
sub join_of
{
	my ($n, $depth) = @_;

	return relation($depth) if $n == 1;
	my $shape = weighted(left => 3, right => 3, bushy => 3);
	my $nl = $shape eq 'left' ? $n - 1 : $shape eq 'right' ? 1 : 1 + int rand($n - 1);
	my $l = join_of($nl, $depth);
	my $r = join_of($n - $nl, $depth);
	my $type = weighted(inner => 55, left => 15, right => 12, full => 8);
	my $on = condition($l->{columns}, $r->{columns}, $type eq 'full');

	return { sql => '(' . $l->{sql} . ' ' . uc($type) . ' JOIN ' . $r->{sql} . " ON $on)", columns => [ @{ $l->{columns} }, @{ $r->{columns} } ] };
}

# A condition with a subquery on some of the columns.
sub sublink
{
	my ($depth, @columns) = @_;
	my $how = weighted(in => 5, exists => 5, not_exists => 4, not_in => 1.5, any => 1, scalar => 1);
	my $r = join_of(chance(0.3) ? 2 : 1, $depth > 0 ? $depth : 0);
	my $x = key_of(@columns);
	my @match = grep { group_of($_) eq group_of($x) && ($_->[1] eq $x->[1] || group_of($x) ne 'str') } @{ $r->{columns} };
	my $more = chance(0.4) ? restriction(@{ $r->{columns} }) : '';

	if ($how =~ /^(in|not_in|any)$/ && @match)
	{
		my $y = pick(@match);

		if ($how eq 'not_in')
		{
			$more .= ($more ? ' AND ' : '') . "$y->[0] IS NOT NULL" if chance(0.7) && $more !~ / OR /;
			return "$x->[0] NOT IN (SELECT $y->[0] FROM $r->{sql}" . where($more) . ')';
		}
		return "$x->[0] = ANY (ARRAY(SELECT $y->[0] FROM $r->{sql}" . where($more) . '))' if $how eq 'any' && $y->[1] eq $x->[1] && $x->[1] !~ /^(kl|kc[abdit])$/;
		return "$x->[0] IN (SELECT $y->[0] FROM $r->{sql}" . where($more) . ')';
	}
	if ($how eq 'scalar')
	{
		my ($int) = grep { is_int($_) } @{ $r->{columns} };

		($x) = grep { is_int($_) } @columns;
		return "$x->[0] < (SELECT max($int->[0]) FROM $r->{sql}" . where($more) . ')' if $int && $x;
	}
	return ($how eq 'not_exists' ? 'NOT ' : '') . "EXISTS (SELECT FROM $r->{sql}" . where(condition(\@columns, $r->{columns}), $more) . ')';
}

sub with_clause
{
	return '' unless @with;
	# a name can be used by the later ones alone, so RECURSIVE is no matter to the others
	return 'WITH RECURSIVE ' . join(', ', @with) . ' ';
}

# A whole query: {sql}, how its rows compare, and how wide they are.  Options: n (relations), param (a condition in it), ordered, plain.
sub query
{
	my (%o) = @_;

	@with = ();
	my $n = $o{n} // weighted(2 => 40, 3 => 30, 4 => 16, 5 => 8, 6 => 6);
	my $j = $o{from} // join_of($n, $o{depth} // ($n > 3 ? 1 : 2));
	my @columns = @{ $j->{columns} };
	my @where;

	push @where, restriction(@columns) if chance(0.55);
	push @where, sublink(1, @columns) if chance($o{from} ? 0.05 : 0.25);
	push @where, $o{param}->(@columns) if $o{param};
	my $from = "FROM $j->{sql}" . where(@where);
	my $how = $o{ordered} ? 'ordered' : $o{plain} ? 'rows' : weighted(rows => 40, ordered => 10, top => 8, agg => 12, group => 12, sets => 5, distinct => 6, window => 4, exists => 2);
	my @list = some($o{wide} // 4, @columns);
	my $list = join(', ', map { canon($_) } @list);
	my $all = join(', ', 1 .. @list);
	my @ints = grep { is_int($_) } @columns;
	my $int = @ints ? pick(@ints)->[0] : '1';
	my $body;

	if ($how eq 'ordered')
	{
		$body = "SELECT $list $from ORDER BY $all";
	}
	elsif ($how eq 'top')
	{
		$body = "SELECT $list $from ORDER BY $all LIMIT " . pick(1, 5, 50) . pick('', ' OFFSET 3');
	}
	elsif ($how eq 'agg')
	{
		$body = "SELECT count(*), count($int), sum(${int}::numeric), min($int), count(DISTINCT $int), max(right((" . canon(pick(@columns)) . ")::text, 9) COLLATE \"C\") $from";
		$body = "SELECT count(*), sum(${int}::int8), min($int), max($int) $from" if chance(0.5);
	}
	elsif ($how eq 'group')
	{
		my $groups = join(', ', map { $_->[0] } @list);

		$body = "SELECT $list, count(*), sum(${int}::int8), array_agg($int ORDER BY $int) FILTER (WHERE $int % 7 = 0) $from GROUP BY $groups" . (chance(0.3) ? ' HAVING count(*) > 1' : '');
	}
	elsif ($how eq 'sets')
	{
		my @groups = map { $_->[0] } @list;

		$body = "SELECT $list, count(*), grouping(" . join(', ', @groups) . ") $from GROUP BY " . pick(
			'ROLLUP (' . join(', ', @groups) . ')', 'CUBE (' . join(', ', @groups[ 0 .. ($#groups > 1 ? 1 : $#groups) ]) . ')' . join('', map { ", $_" } @groups[ 2 .. $#groups ]),
			'GROUPING SETS ((' . join(', ', @groups) . "), ($groups[0]), ())");
	}
	elsif ($how eq 'distinct')
	{
		$body = "SELECT DISTINCT $list $from";
	}
	elsif ($how eq 'window')
	{
		$body = "SELECT $list, count(*) OVER (PARTITION BY $list[0][0]), rank() OVER (ORDER BY $int) $from";
	}
	elsif ($how eq 'exists')
	{
		$body = "SELECT EXISTS (SELECT $from), (SELECT count(*) $from), ARRAY(SELECT $int $from ORDER BY 1 LIMIT 5)";
	}
	else
	{
		# whole rows and system columns too
		my %visible = map { $_->[0] =~ /^(\w+)\./ ? ($1 => 1) : () } @columns;
		my @tables = grep { $visible{$_} } $j->{sql} =~ /[ (](?:d\d|f[123r]) (t\d+)\b/g;

		if (@tables && !$o{plain} && chance(0.08))
		{
			my $t = pick(@tables);

			$list .= pick(", $t.ctid", ", $t.tableoid::regclass::text", ", $t.id, md5(${t}::text)");
		}
		$body = "SELECT $list $from";
	}
	my $ordered = $how =~ /^(ordered|top)$/;
	my $sql = with_clause() . $body;
	my $step = { sql => $sql, rows => $ordered ? 'list' : 'set', plan => $sql };
	if ($how eq 'rows' && !$o{plain} && chance(0.7))
	{
		$step->{show} = $sql;
		$step->{sql} = "SELECT count(*), sum(hashtextextended(x::text, 0)::numeric) FROM ($sql) x";
		$step->{plan} = $step->{sql};
	}
	return $step;
}

# A subquery that a lateral join or a subselect runs again for every row of o; must_build: the condition is on a side that may be built.
sub correlated
{
	local $outer = chance(0.5) ? 'o.' . pick('g', 'g', 'id', 'k4') : undef;
	# The parameter in a key of the upper join, whose filter may go below what keeps rows for the next time: a lower hash table, a sort.
	if ($outer && chance(0.5))
	{
		my ($a, $b, $c) = (table_relation(pick(@FACTS)), table_relation(pick(@FACTS, @DIMS)), table_relation(pick(@DIMS)));
		my $below = pick($a, $b);
		my $key = "$below->{alias}." . pick(qw(k2 k4 k8 kd)) . " = $c->{alias}." . pick(qw(k2 k4 k8 kd)) . " + $outer";
		my $lower = "($a->{sql} JOIN $b->{sql} ON " . condition($a->{columns}, $b->{columns}) . ')';

		return ({ sql => chance(0.7) ? "($lower JOIN $c->{sql} ON $key)" : "($c->{sql} JOIN $lower ON $key)",
				columns => [ map { @{ $_->{columns} } } $a, $b, $c ] }, '');
	}
	my $j = join_of(weighted(2 => 6, 3 => 3), chance(0.3) ? 1 : 0);
	my @ints = grep { is_int($_) } @{ $j->{columns} };
	my $c = @ints ? pick(@ints)->[0] : 'o.g';
	my $on = pick("$c = o.g", "$c % 10 = o.g", "$c < o.v", "$c > o.k4", "$c = o.k8", "$c + o.g > 500", "$c BETWEEN o.v AND o.v + 200");

	$on = '' if $outer && $j->{sql} =~ /\bo\./ && chance(0.8);
	return ($j, where($on, chance(0.3) ? restriction(@{ $j->{columns} }) : ''));
}

sub lateral_item
{
	my $o = pick('(SELECT * FROM ' . pick('d1', 'd2', 'd4', 'd5', 'f1', 'fp') . ' WHERE id <= ' . pick(5, 15, 30) . ' ORDER BY id) o',
		'(SELECT i AS id, i % 10 AS g, i * 50 AS v, i * 7 AS k4, i::int8 AS k8 FROM generate_series(1, ' . pick(4, 20) . ') i) o');
	@with = ();
	my ($j, $where) = correlated();
	my @columns = @{ $j->{columns} };
	my $x = key_of(@columns);
	my @ints = grep { is_int($_) } @columns;
	my $int = @ints ? pick(@ints)->[0] : '1';
	my $from = "FROM $j->{sql}$where";
	my $agg = pick("count(*)", "count($int)", "sum(${int}::int8)");
	my $how = weighted(agg => 5, rows => 3, top => 2, distinct => 2, scalar => 4, exists => 2, in => 2, two => 2, group => 1, nested => 3);
	my $kind = pick('CROSS JOIN', 'LEFT JOIN');
	my $on = $kind eq 'LEFT JOIN' ? ' ON true' : '';
	my $sql;

	if ($how eq 'agg')
	{
		$sql = "SELECT o.id, x.* FROM $o $kind LATERAL (SELECT $agg $from) x$on";
	}
	elsif ($how eq 'rows')
	{
		$sql = "SELECT o.id, count(*), count(x.c), sum(x.v::int8) FROM $o $kind LATERAL (SELECT $x->[0] AS c, $int AS v $from OFFSET 0) x$on GROUP BY 1";
	}
	elsif ($how eq 'group')
	{
		$sql = "SELECT o.id, x.* FROM $o $kind LATERAL (SELECT $int AS c, count(*) $from GROUP BY 1) x$on";
	}
	elsif ($how eq 'top')
	{
		$sql = "SELECT o.id, x.* FROM $o $kind LATERAL (SELECT " . canon($x) . " AS c, $int AS d $from ORDER BY 1, 2 LIMIT 3) x$on";
	}
	elsif ($how eq 'distinct')
	{
		$sql = "SELECT o.id, count(x.c) FROM $o $kind LATERAL (SELECT DISTINCT $x->[0] AS c $from) x$on GROUP BY 1";
	}
	elsif ($how eq 'scalar')
	{
		$sql = "SELECT o.id, (SELECT $agg $from) FROM $o";
	}
	elsif ($how eq 'nested')
	{
		# The outer loop changes the build side, the inner one the probe side alone: the hash table stays for a while, and may meet no row.
		my ($a, $b) = (table_relation(pick(@FACTS)), table_relation(pick(@DIMS)));
		my $key = condition($a->{columns}, $b->{columns});

		@with = ();
		$sql = "SELECT o.id, y.* FROM $o CROSS JOIN LATERAL (SELECT p.id, x.n FROM generate_series(0, 6) p(id) CROSS JOIN LATERAL (SELECT count(*) AS n"
		  . " FROM $a->{sql} JOIN $b->{sql} ON $key WHERE " . pick("$b->{alias}.id % 5 = o.id % 5", "$b->{alias}.g = o.g") . ' AND '
		  . pick("$a->{alias}.g % 7 = p.id * 2", "$a->{alias}.v % 20 = p.id * 5") . ') x OFFSET 0) y';
	}
	elsif ($how eq 'exists')
	{
		$sql = "SELECT o.id FROM $o WHERE EXISTS (SELECT $from OFFSET 0)";
	}
	elsif ($how eq 'in')
	{
		$sql = "SELECT o.id FROM $o WHERE o.k4 " . pick('', 'NOT ') . "IN (SELECT $int $from)";
	}
	else
	{
		my ($k, $w) = correlated();

		$sql = "SELECT o.id, (SELECT $agg $from), x.* FROM $o $kind LATERAL (SELECT count(*) FROM $k->{sql}$w) x$on";
	}
	$sql = with_clause() . $sql;
	return { kind => 'lateral', steps => [ { sql => $sql, rows => 'set', plan => $sql } ] };
}

sub switch { return chance(0.4) ? ({ switch => pick('off', 'off', 'force', 'on') }) : () }

sub prepared_item
{
	my ($n, @how) = (1);
	my $q = query(n => weighted(2 => 5, 3 => 3, 4 => 1), param => sub {
			my @ints = grep { is_int($_) } @_;
			my @str = grep { $_->[1] =~ /^k[tv]$/ } @_;

			@how = pick([ 'int', 0, 1, 5, 50, 400, 100000 ], [ 'int8', 3, 800, 'NULL' ], [ 'text', q{'k7'}, q{'K'}, q{'z'} ]);
			return '$1::text <> \'1\'' unless @ints || ($how[0][0] eq 'text' && @str);
			if ($how[0][0] eq 'text' && @str)
			{
				my $x = pick(@str)->[0];

				return "$x >= \$1";
			}
			@how = [ 'int', 0, 1, 5, 50, 400, 100000, 'NULL' ] if $how[0][0] eq 'text';
			my $x = pick(@ints)->[0];
			return pick("$x < \$1", "$x <= \$1", "$x <> \$1", "$x = \$1", "$x % 100 < \$1");
		});
	my ($type, @values) = @{ $how[0] };
	my @steps = ({ sql => 'SET plan_cache_mode = ' . pick('force_generic_plan', 'force_generic_plan', 'auto', 'force_custom_plan') },
		{ sql => "PREPARE p($type) AS $q->{sql}" });

	push @steps, switch() if chance(0.5);
	foreach (1 .. pick(3, 4, 7))
	{
		my $value = pick(@values);

		push @steps, { sql => "EXECUTE p($value)", rows => $q->{rows}, plan => $_ == 1 ? "EXECUTE p($value)" : undef }, switch();
		push @steps, { sql => pick('ANALYZE d3', 'SET work_mem = \'64kB\'', 'SAVEPOINT nothing', 'CREATE TEMP TABLE tt (a int); DROP TABLE tt') , any => 1 } if chance(0.1);
	}
	push @steps, { sql => 'DEALLOCATE p', any => 1 };
	return { kind => 'prepared', steps => \@steps };
}

# With an order without ties, if asked for: else a part of the rows is the same only if the plan is.
sub cursor_item
{
	my $total = $_[0] // chance(0.6);
	my $q = query(n => weighted(2 => 5, 3 => 3), $total ? (ordered => 1) : (plain => 1));
	my $mode = $total ? 'list' : 'set';
	my $scroll = $total || chance(0.5);
	my @steps = ({ sql => 'BEGIN' });

	if ($total)
	{
		push @steps, { sql => 'DECLARE c SCROLL CURSOR ' . pick('', 'WITH HOLD ') . "FOR $q->{sql}" };
		push @steps, { sql => 'DECLARE d NO SCROLL CURSOR FOR ' . $q->{sql} } if chance(0.3);
		my $two = @steps > 2;
		foreach (1 .. 4 + int rand 8)
		{
			push @steps, { sql => 'FETCH '
				  . pick('5', 'NEXT', 'BACKWARD 3', 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE 7', 'ABSOLUTE -2', 'RELATIVE -3', 'FORWARD 40', 'ALL', 'BACKWARD ALL', '0')
				  . ' c', rows => 'list' };
			push @steps, { sql => 'FETCH ' . pick(3, 'ALL') . ' d', rows => 'list' } if $two && chance(0.5);
			push @steps, { sql => 'MOVE ' . pick('2', 'BACKWARD 2', 'FIRST') . ' c' } if chance(0.2);
			push @steps, switch();
		}
		push @steps, { sql => pick('COMMIT', 'ROLLBACK') };
		push @steps, { sql => 'CLOSE ALL' };
	}
	else
	{
		my $s = $scroll ? 'SCROLL ' : '';

		push @steps, { sql => "DECLARE c ${s}CURSOR FOR $q->{sql}" }, { sql => "DECLARE d ${s}CURSOR FOR $q->{sql}" };
		push @steps, { sql => 'FETCH ' . pick(1, 7, 30) . ' ' . $_, rows => 'set', pool => $_ }, switch() foreach map { pick('c', 'd') } 1 .. 4;
		push @steps, { sql => "FETCH ALL $_", rows => 'set', pool => $_ } foreach chance(0.5) ? ('d', 'c') : ('c');
		push @steps, { sql => 'FETCH BACKWARD ALL c', rows => 'set', pool => 'back' } if $scroll;
		push @steps, { sql => 'COMMIT' };
		push @steps, { sql => $q->{sql}, rows => 'set' } if chance(0.5);
	}
	return { kind => 'cursor', steps => \@steps, plan => $q->{plan}, same_order => !$total };
}

# What data changes do: the rows returned, the table afterwards, then all is rolled back.
sub dml_item
{
	my $target = pick('f1', 'f1', 'f2', 'f3', 'fp', 'fh', 'fl', 'fq', 'fi', 'd5', 'd2');
	my $how = weighted(update => 5, delete => 4, insert => 2, merge => 4, update_view => 0.5);
	local @base = grep { $_ ne 'vj' } @FACTS, @DIMS, 'far', 'dup', 'e0';
	@with = ();
	my $t = { alias => 'm', columns => [ table_columns('m') ] };
	my $j = join_of(weighted(1 => 6, 2 => 4), 1);
	my $on = condition($t->{columns}, $j->{columns});
	my $more = chance(0.4) ? restriction(@{ $t->{columns} }) : '';
	my $set = pick('v = m.v + 1', 'g = 99', 'kt = NULL', 'k4 = m.k4 + 1', 'kc = \'new\', v = -1', 'k8 = m.v');
	my $sql;

	if ($how eq 'update')
	{
		$sql = "UPDATE $target m SET $set FROM $j->{sql}" . where($on, $more) . ' RETURNING m.id, m.v, m.k4';
	}
	elsif ($how eq 'delete')
	{
		$sql = "DELETE FROM $target m USING $j->{sql}" . where($on, $more) . ' RETURNING m.id, m.kb';
	}
	elsif ($how eq 'insert')
	{
		my $q = query(n => 2, plain => 1, wide => 1);

		$sql = "INSERT INTO outcome (c) $q->{sql} RETURNING c";
		return { kind => 'dml',
			steps => [ { sql => 'BEGIN' }, { sql => 'CREATE TEMP TABLE outcome (c text)' }, { sql => $sql, rows => 'set', plan => $sql },
				{ sql => 'SELECT c FROM outcome', rows => 'set' }, { sql => 'ROLLBACK' } ] };
	}
	elsif ($how eq 'update_view')
	{
		$sql = 'UPDATE vb m SET v = 0 WHERE m.k4 IN (SELECT k4 FROM ' . pick(@DIMS) . ') RETURNING m.id';
		$target = 'f3';
	}
	if (!$sql)
	{
		# a source row each, so that no row is changed twice
		my $key = pick(qw(k4 k8 kt ku ka ke kn));
		my $source = '(SELECT ' . $key . ', count(*)::int AS n, min(id) AS id FROM ' . pick(@base) . where(chance(0.5) ? pick('g < 5', 'v % 3 = 0', 'id < 200') : '') . " GROUP BY $key) s";
		my $matched = pick("UPDATE SET $set" =~ s/= m\.k4 \+ 1/= m.k4/r, 'DELETE', 'UPDATE SET v = s.n');
		my $insert = $target =~ /^f[phlq]$/ ? 'DO NOTHING' : pick('DO NOTHING', "INSERT (id, $key, v) VALUES (s.id + 100000, s.$key, s.n)");

		$sql = "MERGE INTO $target m USING $source ON m.$key = s.$key WHEN MATCHED AND m.v % 5 <> 2 THEN $matched WHEN NOT MATCHED THEN $insert";
		@with = ();
	}
	$sql = with_clause() . $sql;
	return { kind => 'dml',
		steps => [ { sql => 'BEGIN' }, { sql => $sql, rows => 'set', plan => $sql },
			{ sql => "SELECT id, v, g, k4, right(kt, 9), kc FROM $target", rows => 'set' }, { sql => "SELECT count(*) FROM $target a JOIN d5 b USING (k4)", rows => 'set' }, { sql => 'ROLLBACK' } ] };
}

sub rls_item
{
	local @base = qw(fr fr d4 d4 d1 d2 f1 fp vb);
	my $q = query(n => weighted(2 => 5, 3 => 3));

	return { kind => 'rls', steps => [ { sql => 'SET ROLE join_reader' }, $q, { sql => 'RESET ROLE' }, { %$q, plan => undef } ] };
}

sub locking_item
{
	local @base = (@FACTS, @DIMS);
	@with = ();
	my ($a, $b) = (table_relation(pick(@FACTS)), table_relation());
	my $on = condition($a->{columns}, $b->{columns});
	my $left = chance(0.2);
	my $sql = "SELECT $a->{alias}.id, $b->{alias}.id FROM $a->{sql} " . ($left ? 'LEFT JOIN' : 'JOIN') . " $b->{sql} ON $on" . where(restriction(@{ $a->{columns} }))
	  . (chance(0.3) ? " ORDER BY $a->{alias}.id, $b->{alias}.id LIMIT 10" : '') . ' FOR ' . pick('UPDATE', 'SHARE', 'NO KEY UPDATE') . ' OF ' . pick($a->{alias}, $left ? $a->{alias} : $b->{alias}) . pick('', ' SKIP LOCKED', ' NOWAIT');

	$sql =~ s/ TABLESAMPLE \w+ \(60\) REPEATABLE \(5\)//g;
	return { kind => 'locking', steps => [ { sql => 'BEGIN' }, { sql => $sql, rows => 'set', plan => $sql }, { sql => 'ROLLBACK' } ] };
}

# Functions that run joins while joins run: loops that call themselves, functions in the joins' conditions, two cursors by turns.
sub nested_item
{
	my @steps;
	my $how = weighted(recursion => 3, filter => 3, loops => 2, sql => 2, cursors => 2, trigger => 1);

	@with = ();
	my $j = join_of(weighted(2 => 6, 3 => 2), chance(0.2) ? 1 : 0);
	my @ints = grep { is_int($_) } @{ $j->{columns} };
	my $c = @ints ? pick(@ints)->[0] : '1';
	my $d = @ints ? pick(@ints)->[0] : '1';
	my $inner = with_clause() . "SELECT $c AS c, $d AS d FROM $j->{sql}";

	if ($how eq 'recursion')
	{
		push @steps, { sql => "CREATE FUNCTION pg_temp.f(level int) RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE
	r record;
	total numeric := 0;
	n int := 0;
BEGIN
	FOR r IN $inner WHERE $c % 16 = level ORDER BY 1, 2 LOOP
		total := total + coalesce(r.c, 0) + coalesce(r.d, 0) * level;
		n := n + 1;
		IF n % 50 = 1 AND n < 200 AND level < 4 THEN
			total := total + f(level + 1);
		END IF;
	END LOOP;
	RETURN total;
END \$\$" =~ s/\+ f\(/+ pg_temp.f(/r }, { sql => 'SELECT pg_temp.f(1)', rows => 'set' }, switch(), { sql => 'SELECT pg_temp.f(2), pg_temp.f(1)', rows => 'set' };
	}
	elsif ($how eq 'trigger')
	{
		push @steps, { sql => 'BEGIN' }, { sql => 'CREATE TEMP TABLE tt (a int, b bigint)' },
		  { sql => "CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN new.b := (SELECT count(*) FROM ($inner) x WHERE x.c % 10 = new.a); RETURN new; END \$\$" },
		  { sql => 'CREATE TRIGGER tr BEFORE INSERT ON tt FOR EACH ROW EXECUTE FUNCTION pg_temp.f()' },
		  { sql => 'INSERT INTO tt SELECT f1.g FROM f1 JOIN d1 USING (k4) RETURNING *', rows => 'set' }, { sql => 'ROLLBACK' };
	}
	elsif ($how eq 'cursors')
	{
		push @steps, { sql => "CREATE FUNCTION pg_temp.f(lim int) RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE
	a CURSOR (m int) FOR $inner WHERE $c % 5 < m ORDER BY 1, 2;
	b CURSOR FOR $inner ORDER BY 2, 1;
	x record;
	y record;
	total numeric := 0;
BEGIN
	OPEN a (3);
	OPEN b;
	FOR i IN 1 .. lim LOOP
		FETCH a INTO x;
		FETCH b INTO y;
		total := total + coalesce(x.c, 1) * i + coalesce(y.d, 2);
		IF i % 40 = 0 THEN
			CLOSE a;
			OPEN a (i % 7);
		END IF;
	END LOOP;
	CLOSE b;
	CLOSE a;
	RETURN total;
END \$\$" }, { sql => 'SELECT pg_temp.f(100)', rows => 'set' }, switch(), { sql => 'SELECT pg_temp.f(250)', rows => 'set' };
	}
	elsif ($how eq 'sql')
	{
		push @steps, { sql => "CREATE FUNCTION pg_temp.f(g int) RETURNS TABLE (c numeric, d numeric) LANGUAGE sql STABLE AS \$\$ SELECT x.c::numeric, x.d::numeric FROM ($inner) x WHERE x.c % 10 = f.g \$\$" },
		  { sql => 'SELECT d1.id, count(f.c), sum(f.d) FROM d1, LATERAL pg_temp.f(d1.g) f WHERE d1.id < 20 GROUP BY 1', rows => 'set' };
	}
	elsif ($how eq 'loops')
	{
		push @steps, { sql => "CREATE FUNCTION pg_temp.f() RETURNS SETOF numeric LANGUAGE plpgsql AS \$\$
DECLARE
	r record;
BEGIN
	FOR i IN 0 .. 6 LOOP
		RETURN QUERY SELECT sum(x.c)::numeric + count(*) FROM ($inner) x WHERE x.d % 7 = i;
		IF i = 3 THEN
			SET LOCAL bloomfam.join_filter = off;
		END IF;
	END LOOP;
END \$\$" }, { sql => 'SELECT * FROM pg_temp.f() f', rows => 'set' };
	}
	else
	{
		push @steps, { sql => "CREATE FUNCTION pg_temp.f(int) RETURNS int LANGUAGE plpgsql STABLE AS \$\$ BEGIN RETURN (SELECT count(*) FROM ($inner) x WHERE x.c % 10 = \$1 % 10); END \$\$" };
		my $q = 'SELECT count(*), sum(a.v), sum(b.v) FROM f1 a JOIN d1 b ON a.k4 = b.k4 WHERE ' . pick('pg_temp.f(b.id) % 2 = 0', 'pg_temp.f(b.g + a.g * 0) > 10 AND b.id < 12', 'a.id < 40 AND pg_temp.f(a.g) >= 0');
		push @steps, { sql => $q, rows => 'set', plan => $q };
	}
	return { kind => 'nested', steps => \@steps, plan => $inner };
}

# An error in the midst of a build, or of a probe, in a subtransaction; then the same again without.
sub error_item
{
	@with = ();
	my $q = query(n => weighted(2 => 6, 3 => 2), plain => 1, wide => 2);
	my $at = int rand 400;
	my $where = pick('build', 'probe', 'both');
	my $d = pick('d5', 'd2', 'f2');
	my $f = pick('f1', 'fp', 'f3');
	my $bomb = sub { "1000 / ($_[0].id - n) IS NOT NULL" };
	my @conditions = ($where ne 'probe' ? $bomb->('b') : (), $where ne 'build' ? $bomb->('a') : ());
	my $key = pick(qw(k4 k8 kt ku kn ki));
	my $sql = "SELECT count(*), sum(a.v) FROM $f a JOIN $d b ON a.$key = b.$key WHERE " . join(' AND ', @conditions);
	my @steps = ({ sql => "CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE plpgsql AS \$\$
DECLARE
	r record;
BEGIN
	FOREACH n IN ARRAY ARRAY[$at, -1, 7, -1, 100, -1] LOOP
		BEGIN
			$sql INTO r;
			RETURN NEXT r::text;
		EXCEPTION WHEN division_by_zero THEN
			RETURN NEXT 'error';
		END;
	END LOOP;
END \$\$" =~ s/\nDECLARE/\nDECLARE\n\tn int;/r });

	push @steps, { sql => 'SELECT * FROM pg_temp.f()', rows => 'list' } foreach 1 .. 2;
	push @steps, { sql => 'BEGIN' }, { sql => 'SAVEPOINT a' },
	  { sql => "SELECT count(*) FROM $f a JOIN $d b USING ($key) WHERE 1 / (b.id - 50) IS NOT NULL", any => 1 }, { sql => 'ROLLBACK TO a' },
	  { sql => "DECLARE c CURSOR FOR $q->{sql}" }, { sql => 'FETCH 3 c', any => 1 }, { sql => 'SAVEPOINT b' }, { sql => 'SELECT 1 / 0', any => 1 }, { sql => 'ROLLBACK TO b' },
	  { sql => 'FETCH ALL c', rows => 'count' }, { sql => 'ROLLBACK TO a' }, { %$q }, { sql => 'COMMIT' };
	return { kind => 'error', steps => \@steps, serial => 1, plan => $sql =~ s/- n\)/- 1000000)/gr };
}

sub cancel_item
{
	my $q = query(n => weighted(3 => 5, 4 => 3));
	my @steps;

	foreach (1 .. 3)
	{
		push @steps, { sql => 'SET statement_timeout = ' . pick(1, 2, 3, 5, 8) }, { sql => $q->{sql}, any => 1 }, { sql => 'SET statement_timeout = 4000' };
	}
	push @steps, { sql => "BEGIN; DECLARE c CURSOR FOR $q->{plan}; FETCH 2 c", any => 1 }, { sql => 'ROLLBACK' };
	push @steps, $q;
	return { kind => 'cancel', steps => \@steps };
}

# Another session changes rows that this one waits for: READ COMMITTED looks at them again (EvalPlanQual).
sub recheck_item
{
	local @base = (@DIMS, 'f1', 'fp', 'f3');
	@with = ();
	my $a = { alias => 'm', columns => [ table_columns('m') ] };
	my $b = join_of(weighted(1 => 6, 2 => 3), 0);
	my $key = pick(qw(k4 k8 kt ku));
	my ($r) = grep { $_->[1] eq $key } @{ $b->{columns} };
	my $on = $r ? "m.$key = $r->[0]" : condition($a->{columns}, $b->{columns});
	my $sql = pick(
		"SELECT m.id, m.v, m.k4 FROM recheck m JOIN $b->{sql} ON $on FOR UPDATE OF m", "UPDATE recheck m SET g = m.g + 1 FROM $b->{sql} WHERE $on RETURNING m.id, m.v, m.k4",
		"DELETE FROM recheck m USING $b->{sql} WHERE $on RETURNING m.id, m.v",
		"SELECT m.id, m.v FROM recheck m WHERE EXISTS (SELECT FROM $b->{sql} WHERE $on) ORDER BY m.id FOR UPDATE");
	my $change = pick('v = v + 1', "$key = (SELECT $key FROM d5 WHERE id = 5)", "$key = NULL", 'g = 50', 'k4 = k4 + 1, k8 = k8 + 1');

	$sql =~ s/ TABLESAMPLE \w+ \(60\) REPEATABLE \(5\)//g;
	$sql = with_clause() . $sql;
	return { kind => 'recheck', serial => 1, table => 'CREATE TABLE recheck AS SELECT * FROM f1 WHERE id <= 800',
		change => "UPDATE recheck SET $change WHERE id % " . pick(2, 10, 50) . ' = 0', steps => [ { sql => $sql, rows => 'set', plan => $sql } ] };
}

# A table with partitions joined by what they are made by, or one with indexes by what they are on, with few keys: most of it is not read.
sub skip_item
{
	return few_keys_item('skip', @{ pick([ 'fp', 'k4' ], [ 'fh', 'k8' ], [ 'fl', 'k2' ], [ 'fl', 'k2', 'ka' ], [ 'fl', 'ka' ], [ 'fl', 'k8', 'k4' ], [ 'fq', 'k8' ], [ 'fq', 'kz', 'k8' ], [ 'fq', 'kz' ]) });
}

sub pages_item
{
	return few_keys_item('pages', @{ pick((map { [ 'fs', split ] } 'k4', 'k8', 'k2', 'kd', 'ka', 'kz', 'ks', 'kq', 'k4 k8', 'ka k2', 'kz kt'), [ 'f1', 'k4' ], [ 'f2', 'k4' ], [ 'f3', 'k8' ],
		[ 'fp', 'k4' ], [ 'fl', 'k4' ], [ 'fl', 'ka' ], [ 'fq', 'k8' ], [ 'fr', 'k4' ]) });
}

# Keys that are containers, some of whose parts have no hash function.
sub boxes_item
{
	my @boxes = grep { $TYPE{$_}{box} } sort keys %TYPE;

	return few_keys_item('boxes', pick(@FACTS, 'd5', 'd2'), pick(@boxes), chance(0.2) ? pick(qw(k4 kt kp kl), @boxes) : ());
}

# Foreign tables, of a server with the extension and of others, with columns that have other types there.
sub foreign_item
{
	local @base = (@FOREIGN, @FOREIGN, @DIMS, 'f1', 'far', 'n1', 'e0');
	my $how = weighted(few => 8, query => 6, lateral => 3, prepared => 3, cursor => 1, nested => 1);

	if ($how eq 'few')
	{
		my $key = pick(map { ($_) x (/^k[248]$/ ? 3 : 1) } grep { /^k/ } sort keys %TYPE);

		return few_keys_item('foreign', pick(@FOREIGN), $key, chance(0.15) ? pick(grep { $_ ne $key } qw(k4 kt ku ka)) : ());
	}
	my $item =
	    $how eq 'lateral' ? lateral_item()
	  : $how eq 'prepared' ? prepared_item()
	  : $how eq 'cursor' ? cursor_item(1)	# another server gives rows in another order if it uses an index
	  : $how eq 'nested' ? nested_item()
	  : { steps => [ query(n => weighted(2 => 5, 3 => 3, 4 => 1)) ] };
	$item->{kind} = 'foreign';
	return $item;
}

sub few_keys_item
{
	my ($kind, $f, @keys) = @_;
	my $d = pick(@DIMS, @DIMS, 'f1', 'e0', 'n1');
	my $at = int rand 1000;
	my $to = $at + pick(0, 5, 50, 400);
	my $few = pick('b.id <= ' . pick(1, 3, 10, 30), "b.k4 + 0 BETWEEN $at AND $to", "b.v BETWEEN $at AND $to", 'b.g = ' . int(rand 7), 'b.k8 < 100', q{b.ka < '2020-02-01'}, 'b.k2 IS NULL');
	my $on = join(' AND ', map { "a.$_ = b." . (/^k[248]$/ ? pick($_, 'k2', 'k4', 'k8') : $_) } @keys);
	my $shape = weighted(inner => 5, semi => 3, subquery => 3, grouped => 2, two => 2, prepared => 3, cursor => 2, union => 1, change => 2, ($kind eq 'boxes' ? (anti => 2, rows => 3, outer => 2) : ()));

	@with = ();
	# whole rows, of the same type on both sides
	if ($kind eq 'boxes' && $shape =~ /^(inner|semi|anti|outer|subquery|two|prepared|cursor)$/ && chance(0.12))
	{
		$f = $d = pick(qw(f1 f2 f3 fs d2 d5));
		$on = 'a = b';
	}
	if ($shape eq 'prepared')
	{
		my $sql = "SELECT a.id, b.id FROM $f a JOIN $d b ON $on WHERE b.id % 20 = \$1";

		return { kind => $kind, plan => $sql =~ s/\$1/3/r,
			steps => [ { sql => pick('SET plan_cache_mode = force_generic_plan', 'SET plan_cache_mode = auto') }, { sql => "PREPARE p (int) AS $sql" },
				(map { ({ sql => "EXECUTE p ($_)", rows => 'set', plan => "EXECUTE p ($_)" }, chance(0.1) ? switch() : ()) } 3, 4, 50, 3), { sql => 'DEALLOCATE p' } ] };
	}
	if ($shape eq 'cursor')
	{
		my $sql = "SELECT a.id, a.v, b.id FROM $f a JOIN $d b ON $on WHERE $few ORDER BY 1, 2, 3";

		return { kind => $kind, plan => $sql, steps => [ { sql => 'BEGIN' }, { sql => 'DECLARE c ' . pick('', 'SCROLL ', 'NO SCROLL ') . "CURSOR FOR $sql" },
				(map { { sql => "FETCH $_ c", rows => 'list' } } 1, 10, 200), { sql => 'FETCH ALL c', rows => 'list' }, { sql => 'COMMIT' } ] };
	}
	if ($shape eq 'change')
	{
		my $sql = pick("UPDATE $f a SET v = a.v + 1 FROM $d b WHERE $on AND $few AND b.id = 5 RETURNING a.id, a.v", "DELETE FROM $f a USING $d b WHERE $on AND $few RETURNING a.id, a.v");

		return { kind => $kind, steps => [ { sql => 'BEGIN' }, { sql => $sql, rows => 'set', plan => $sql }, { sql => "SELECT id, v, k4 FROM $f", rows => 'set' }, { sql => 'ROLLBACK' } ] };
	}
	my %used = map { $_ => 1 } qw(id k2 k4 k8 kt), @keys;
	my $all = join(', ', sort keys %used);
	my $sql =
	    $shape eq 'inner' ? "SELECT a.id, a.k4, b.id FROM $f a JOIN $d b ON $on WHERE $few" . pick('', ' AND a.v % 3 > 0', ' AND a.g < 9')
	  : $shape eq 'semi' ? "SELECT a.id, a.k8 FROM $f a WHERE EXISTS (SELECT FROM $d b WHERE $on AND $few)"
	  : $shape eq 'anti' ? "SELECT a.id, a.k8 FROM $f a WHERE NOT EXISTS (SELECT FROM $d b WHERE $on AND $few)"
	  : $shape eq 'outer' ? 'SELECT a.id, b.id FROM ' . pick("$f a LEFT JOIN $d b ON $on", "$f a RIGHT JOIN $d b ON $on", "$d b LEFT JOIN $f a ON $on", "$f a FULL JOIN $d b ON $on") . ' WHERE ' . pick('true', $few, "($few OR b.id IS NULL)")
	  # rows without a type
	  : $shape eq 'rows' ? 'SELECT a.id, b.id FROM ' . join(' JOIN ', map { my $t = $_; "(SELECT id, v, g, k2, k4, k8, ka, ROW(" . join(', ', 'id % 5', @keys) . ") AS r FROM " . ($t eq 'a' ? $f : $d) . " OFFSET 0) $t" } 'a', 'b') . " ON a.r = b.r WHERE $few"
	  : $shape eq 'subquery' ? 'SELECT o.id, (SELECT ' . pick('count(*)', 'sum(a.id)', 'max(a.v)') . " FROM $f a JOIN $d b ON $on WHERE $few AND b.g " . pick('=', '>') . ' o.g) FROM (SELECT * FROM d1 WHERE id < 12) o'
	  : $shape eq 'grouped' ? "SELECT b.id, a.n FROM (SELECT " . join(', ', @keys) . ", count(*) AS n FROM $f GROUP BY " . join(', ', @keys) . ") a JOIN $d b ON $on WHERE $few"
	  : $shape eq 'two' ? "SELECT a.id, b.id, c.id FROM $f a JOIN $d b ON $on JOIN " . pick(qw(d1 d3 dp f1)) . ' c ON a.' . pick('k4 = c.k4', 'k8 = c.k8', 'k2 = c.k2', 'id = c.id') . " WHERE $few AND c.id < " . pick(5, 40)
	  : "SELECT a.id, b.id FROM (SELECT * FROM (SELECT $all FROM $f UNION ALL SELECT $all FROM " . pick('fp', 'fh', 'fq', 'f1', 'fs') . ") u) a JOIN $d b ON $on WHERE $few";

	return { kind => $kind, steps => [ { sql => $sql, rows => 'set', plan => $sql } ] };
}

# Joins of three tables on one key: the last one's filter may go to both of the others, in whatever order they were joined.
sub across_item
{
	my ($f, $b, $d) = (pick(@FACTS), pick(@DIMS, @DIMS, 'f1', 'fp', 'e0'), pick(@DIMS, @DIMS, 'n1'));
	my $key = pick(map { ($_) x (/^k[248]$/ ? 6 : 1) } grep { /^k/ } sort keys %TYPE);
	my @same = grep { $TYPE{$_}{group} eq $TYPE{$key}{group} && /^k/ && ($TYPE{$_}{type} eq $TYPE{$key}{type} || $TYPE{$key}{int}) } sort keys %TYPE;
	my ($of_b, $of_d) = map { chance(0.6) ? $key : pick(@same) } 1, 2;
	my $few = pick('c.id <= ' . pick(10, 30, 100), 'c.g = ' . int(rand 7), 'c.v < ' . pick(50, 500), 'c.id % 3 = 0');
	my $upper = chance(0.7) ? "a.$key = c.$of_d" : "b.$of_b = c.$of_d";
	my $lower = "a.$key = b.$of_b" . pick('', '', ' AND a.g = b.g', ' AND a.v <> b.v', ' AND a.k4 = b.k4');
	my $shape = weighted(inner => 5, semi => 3, upper_semi => 2, grouped => 2, left => 2, subquery => 3, computed => 2, swapped => 2);
	my $right = $shape eq 'grouped' ? "(SELECT $of_b," . ($of_b eq 'k4' ? '' : ' min(k4) AS k4,') . " min(g) AS g, min(v) AS v, min(id) AS id FROM $b GROUP BY $of_b)" : $b;
	my $both = $shape eq 'left' ? "$f a LEFT JOIN $b b ON $lower" : $shape eq 'swapped' ? "$b b JOIN $f a ON $lower" : "$f a JOIN $right b ON $lower";
	my $sql;

	@with = ();
	if ($shape eq 'semi')
	{
		$sql = "SELECT a.id, c.id FROM (SELECT * FROM $f a WHERE EXISTS (SELECT FROM $b b WHERE $lower)) a JOIN $d c ON a.$key = c.$of_d WHERE $few";
	}
	elsif ($shape eq 'upper_semi')
	{
		$sql = "SELECT a.id, b.id FROM ($both) WHERE EXISTS (SELECT FROM $d c WHERE $upper AND $few)";
	}
	elsif ($shape eq 'subquery')
	{
		$sql = 'SELECT o.id, (SELECT ' . pick('count(*)', 'sum(a.id)') . " FROM ($both) JOIN $d c ON $upper WHERE $few AND " . pick('c.g = o.g', 'a.g > o.g', 'b.g = o.g', 'true') . ') FROM (SELECT * FROM d1 WHERE id < 9) o';
	}
	elsif ($shape eq 'computed' && $TYPE{$key}{int})
	{
		my $value = pick('max(k4)', 'min(id)', 'sum(k2)', 'max(g) + 1');

		$sql = "SELECT a.id, b.id, c.g FROM ($both) JOIN (SELECT g, $value AS k FROM $d c WHERE $few GROUP BY g) c ON a.$key = c.k";
	}
	else
	{
		$sql = "SELECT a.id, b.id, c.id FROM ($both) JOIN $d c ON $upper WHERE $few";
	}
	return { kind => 'across', steps => [ { sql => $sql, rows => 'set', plan => $sql } ] };
}

# Settings of one item, as a statement each.
sub random_settings
{
	my ($item) = @_;
	my %set;
	my $method = weighted($item->{kind} eq 'boxes' ? (hash => 20, any => 20, merge => 55, nested => 5) : (hash => 68, any => 16, merge => 6, nested => 2, index => 8));

	# of these older minor releases plan hash joins that fail
	$method = $item->{same_order} ? 'nested' : 'merge' if $item->{merge};

	if ($method eq 'hash')
	{
		@set{qw(enable_mergejoin enable_nestloop)} = ('off', 'off');
		$set{enable_nestloop} = 'on' if $item->{kind} eq 'lateral' && chance(0.5);
	}
	elsif ($method eq 'merge')
	{
		@set{qw(enable_hashjoin enable_nestloop)} = ('off', 'off');
	}
	elsif ($method eq 'nested')
	{
		@set{qw(enable_mergejoin enable_hashjoin)} = ('off', 'off');
	}
	elsif ($method eq 'index')
	{
		@set{qw(enable_seqscan enable_mergejoin enable_nestloop)} = ('off', 'off', 'off');
		$set{ pick(qw(enable_indexscan enable_bitmapscan enable_indexonlyscan)) } = 'off';
	}
	$set{work_mem} = pick(q{'64kB'}, q{'256kB'}) if chance(0.35);
	$set{hash_mem_multiplier} = pick(1, 2, 8) if chance(0.2);
	$set{enable_memoize} = 'off' if chance(0.3);
	$set{enable_material} = 'off' if chance(0.3);
	$set{enable_sort} = 'off' if chance(0.1);
	$set{enable_hashagg} = 'off' if chance(0.2);
	$set{enable_partitionwise_join} = 'on' if chance(0.3);
	$set{enable_partitionwise_aggregate} = 'on' if chance(0.2);
	$set{enable_partition_pruning} = 'off' if chance(0.1);
	if (chance($item->{kind} eq 'across' ? 0.8 : 0.4))
	{
		@set{qw(join_collapse_limit from_collapse_limit)} = (1, 1);
	}
	$set{'bloomfam.join_foreign_keys'} = pick(-1, 0, 1, 10, 100) if chance(0.3);
	$set{'bloomfam.join_filter_max_size'} = pick(1, 64) if chance(0.1);
	$set{geqo_threshold} = 2 if chance(0.05);
	$set{jit} = chance(0.01) ? 'on' : 'off';
	$set{jit_above_cost} = 0;
	$set{cursor_tuple_fraction} = pick(0, 1) if chance(0.2);
	# a sort whose input has lost rows puts those of one key in another order
	$set{enable_mergejoin} = 'off' if $item->{same_order};
	# part of the rows is the same only if the plan is; and so are plans that filters had no part in
	$set{'bloomfam.join_filter_plans'} = 'off' if $item->{same_order} || chance(0.2);
	if (!$item->{serial} && chance(0.25))
	{
		@set{qw(parallel_setup_cost parallel_tuple_cost min_parallel_table_scan_size min_parallel_index_scan_size max_parallel_workers_per_gather)} = (0, 0, 0, 0, 2);
		$set{enable_parallel_hash} = 'off' if chance(0.5);
		$set{parallel_leader_participation} = 'off' if chance(0.3);
		$set{enable_parallel_append} = 'off' if chance(0.3);
		$set{enable_gathermerge} = 'off' if chance(0.2);
		if (chance(0.2))
		{
			$set{max_parallel_workers} = 0;
		}
	}
	else
	{
		$set{max_parallel_workers_per_gather} = 0;
	}
	return map { "SET $_ = $set{$_}" } sort keys %set;
}

# Uses the random numbers of the caller's srand().
sub random_item
{
	my ($only) = @_;
	my $kind = $only // weighted(query => 50, skip => 10, pages => 10, boxes => 10, across => 10, lateral => 12, prepared => 8, cursor => 6, dml => 7, rls => 3, locking => 2, nested => 3, error => 2, cancel => 1, recheck => 1, foreign => 9);

	$aliases = 0;
	@base = ();
	my $item =
	    $kind eq 'lateral' ? lateral_item()
	  : $kind eq 'prepared' ? prepared_item()
	  : $kind eq 'cursor' ? cursor_item()
	  : $kind eq 'dml' ? dml_item()
	  : $kind eq 'rls' ? rls_item()
	  : $kind eq 'locking' ? locking_item()
	  : $kind eq 'nested' ? nested_item()
	  : $kind eq 'error' ? error_item()
	  : $kind eq 'cancel' ? cancel_item()
	  : $kind eq 'recheck' ? recheck_item()
	  : $kind eq 'skip' ? skip_item()
	  : $kind eq 'pages' ? pages_item()
	  : $kind eq 'boxes' ? boxes_item()
	  : $kind eq 'across' ? across_item()
	  : $kind eq 'foreign' ? foreign_item()
	  : { kind => 'query', steps => [ query() ] };
	my $merge = join('|', grep { $TYPE{$_}{merge} } keys %TYPE);
	$item->{merge} = grep { ($_->{sql} // '') =~ /\b($merge)\b/ } @{ $item->{steps} };
	$item->{settings} = [ random_settings($item) ];
	return $item;
}

1;
