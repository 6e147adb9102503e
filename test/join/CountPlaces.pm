# SPDX-License-Identifier: PostgreSQL
# Where the queries of CountNodes.pm stand beside a join with a filter, and how a call that counts is hidden in them.
package CountPlaces;

use strict;
use warnings;

use CountNodes;

use Exporter 'import';

our @EXPORT = qw(tables_sql shapes);

# All tables have rows of the same kind: v = |k| % 50, w = 2001 - k.  f is what a filter drops rows of, d what it is made of.
sub tables_sql
{
	my ($port, $host) = @_;
	my %keys = (
		f => 'generate_series(1, 2000)', b => '(SELECT generate_series(1, 2000) UNION ALL SELECT generate_series(1, 2000))', o => 'generate_series(1, 1901, 100)',
		d => 'generate_series(1, 1901, 100)', d_none => 'generate_series(-20, -1)', d_empty => 'generate_series(1, 0)', d_one => 'generate_series(1, 491, 10)', c => 'generate_series(1, 1991, 10)');
	my @sql = (
		q{CREATE FUNCTION vf(x int) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED COST 1 AS 'BEGIN RETURN x; END'},
		q{CREATE FUNCTION vp(x int) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL SAFE COST 1 AS 'BEGIN RETURN x; END'},
		q{CREATE FUNCTION sf(x int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED COST 1 AS 'BEGIN RETURN x; END'},
		q{CREATE FUNCTION dear(x int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS 'BEGIN RETURN true; END'},
		q{CREATE FUNCTION vop(x int, y int) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED AS 'BEGIN RETURN vf(x) + y; END'},
		q{CREATE OPERATOR <+> (LEFTARG = int, RIGHTARG = int, FUNCTION = vop)},
		q{CREATE FUNCTION vseries(lo int, hi int, step int) RETURNS SETOF int LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
			AS 'BEGIN RETURN QUERY SELECT generate_series(vf(lo), hi, step); END'},
		q{CREATE FUNCTION vmax_add(a int, x int) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED AS 'BEGIN RETURN greatest(a, vf(x)); END'},
		q{CREATE AGGREGATE vmax(int) (SFUNC = vmax_add, STYPE = int)},
		q{CREATE DOMAIN dom AS int CHECK (vf(VALUE) IS DISTINCT FROM -9999)},
		q{CREATE DOMAIN dom2 AS dom},
		q{CREATE TYPE pair AS (a dom, b int)},
		q{CREATE TYPE plain_pair AS (a int, b int)},
		q{CREATE DOMAIN dpair AS plain_pair CHECK (vf((VALUE).a) IS DISTINCT FROM -9999)},
		q{CREATE TABLE log (k int, v int, w int)}, q{CREATE UNIQUE INDEX ON log (k)}, q{CREATE TABLE full_log AS SELECT k, 0 AS v, 0 AS w FROM generate_series(1, 1000) k}, q{CREATE UNIQUE INDEX ON full_log (k)},
		q{CREATE VIEW log_view AS SELECT k, v, w FROM log WHERE vf(1) = 1 WITH CHECK OPTION},
		q{CREATE TABLE lines (n int GENERATED ALWAYS AS IDENTITY, line text)},
		q{CREATE EXTENSION postgres_fdw},
		qq{CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'bloomfam', fetch_size '10000', fdw_startup_cost '0')},
		q{CREATE USER MAPPING FOR CURRENT_USER SERVER here});
	foreach my $t (sort keys %keys)
	{
		my $rows = "SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM $keys{$t} g(k)";

		push @sql, "CREATE TABLE $t" . ($t eq 'f' ? ' WITH (fillfactor = 10)' : '') . " AS $rows", "CREATE TABLE ${t}_up AS $rows", "CREATE TABLE ${t}_src AS $rows", "CREATE TABLE ${t}_ix AS SELECT *, point(k, 0) AS pt FROM ($rows) s",
		  (map { "CREATE INDEX ON ${t}_ix ($_)" } qw(k v w)), "CREATE INDEX ON ${t}_ix USING gist (pt)",
		  "CREATE FOREIGN TABLE ${t}_ft (k int, v int, w int) SERVER here OPTIONS (table_name '$t')",
		  "CREATE TABLE ${t}_pt (k int, v int, w int) PARTITION BY RANGE (k)",
		  "CREATE TABLE ${t}_pt_1 PARTITION OF ${t}_pt FOR VALUES FROM (MINVALUE) TO (500)", "CREATE TABLE ${t}_pt_2 PARTITION OF ${t}_pt FOR VALUES FROM (500) TO (1000)",
		  "CREATE TABLE ${t}_pt_3 PARTITION OF ${t}_pt FOR VALUES FROM (1000) TO (1500)", "CREATE TABLE ${t}_pt_4 PARTITION OF ${t}_pt FOR VALUES FROM (1500) TO (MAXVALUE)",
		  "INSERT INTO ${t}_pt $rows", "CREATE INDEX ON ${t}_pt (k)", "CREATE INDEX ON ${t}_pt (v)";
	}
	# a table without rows that is not for nothing
	push @sql, "INSERT INTO d_empty SELECT k, v, w FROM d", "INSERT INTO d_empty_pt SELECT k, v, w FROM d", "INSERT INTO d_empty_ix SELECT k, v, w, point(k, 0) FROM d", 'VACUUM ANALYZE', map { ("DELETE FROM d_empty$_", "ANALYZE d_empty$_") } '', '_ix', '_pt';
	push @sql, 'CREATE TABLE filters AS SELECT bloom_agg(k) AS keys FROM f', 'ANALYZE filters', map { "ANALYZE ${_}_ft" } sort keys %keys;
	return @sql;
}

# Ways to call: each gives the expression's value.
my %ways = (
	direct => sub { "vf($_[0])" },
	init => sub { "($_[0] + (SELECT vf(0)))" },
	corr => sub { "(SELECT vf($_[0]))" },
	dom => sub { "(($_[0])::dom)::int" },
	op => sub { "(($_[0]) <+> 0)" },
	dom2 => sub { "(($_[0])::dom2)::int" },
	array => sub { "((array_fill($_[0], '{1}')::dom[])[1])::int" },
	text_array => sub { "((('{' || ($_[0]) || '}')::dom[])[1])::int" },
	row => sub { "((ROW($_[0], 0)::pair).a)::int" },
	text_row => sub { "((('(' || ($_[0]) || ',0)')::pair).a)::int" },
	row_domain => sub { "((ROW($_[0], 0)::dpair).a)::int" },
	json => sub { "((jsonb_populate_record(NULL::pair, jsonb_build_object('a', $_[0]))).a)::int" },
	inside => sub { $_[0] },
	locks => sub { $_[0] },
	workers => sub { "vp($_[0])" },
	none => sub { "sf($_[0])" });
my @usual = qw(direct init corr dom);
my @rare = qw(op dom2 array text_array row text_row row_domain json);

# Those that the server does not see, so that it may leave them to workers, whose calls are not counted: these are planned, and not started.
my %hidden = map { $_ => ['max_parallel_workers = 0'] } qw(text_array text_row json);

# What there is to find.
my %states = (
	some => { d => 'd', where => '' },
	none => { d => 'd_none', where => '' },
	one => { d => 'd_one', where => '' },
	nobuild => { d => 'd_empty', where => '' },
	noprobe => { d => 'd', where => ' AND f.v + 0 IN (-10, -11, -12, -13, -14, -15, -16, -17, -18, -19)' },
	fewprobe => { d => 'd', where => ' AND f.v + 0 = -10' });

my $count = 'SELECT count(*), sum(x.k), sum(x.v), sum(x.w)';
my $counts = 'SELECT count(*), sum(f.k), sum(f.v)';
my $both = "$counts, sum(x.k), sum(x.v), sum(x.w)";
my $parallel = [ 'max_parallel_workers_per_gather = 2', 'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0' ];
my $near = [ 'join_collapse_limit = 1', 'from_collapse_limit = 1' ];
my $wise = [ @$near, 'enable_partitionwise_join = on', 'enable_mergejoin = off', 'random_page_cost = 0.1' ];
my $between = 'f.w BETWEEN x.w AND x.w';
my $as_bits = 'f.w::bit(12) = x.w::bit(12)';

# Places: sql->(r, s) where r->(table) is the shape's query, s the state.  only: kinds of shapes that can stand there.
my @places;

sub place
{
	my ($name, $states, $sql, %more) = @_;

	push @places, { name => $name, states => [ split / /, $states ], sql => $sql, set => [], %more };
	return;
}

# ---- below, on the probe side ----
place('outer', 'some nobuild', sub { my ($r, $s) = @_; "$count FROM (" . $r->('f') . ") x JOIN $s->{d} d ON x.k = d.k" }, main => 1);
place('outer, below a limit', 'some', sub { my ($r, $s) = @_; "SELECT sum(k), sum(v), sum(w) FROM (SELECT x.k, x.v, x.w FROM (" . $r->('f') . ") x JOIN $s->{d} d ON x.k = d.k LIMIT 3) l" }, ordered => 1);
place('in the Hash of a join below', 'some none', sub { my ($r, $s) = @_; "$both FROM (f JOIN (" . $r->('o') . ") x ON f.w = x.w) JOIN $s->{d} d ON f.k = d.k" }, set => $near, main => 1);
place('outer of a hash join below', 'some none', sub { my ($r, $s) = @_; "$both FROM (f JOIN (" . $r->('b') . ") x ON f.w = x.w) JOIN $s->{d} d ON f.k = d.k" }, set => $near);
place('inner of a nested loop below', 'some none', sub { my ($r, $s) = @_; "$both FROM (f LEFT JOIN (" . $r->('o') . ") x ON $between) JOIN $s->{d} d ON f.k = d.k" }, set => $near);
place('outer of a nested loop below', 'some none', sub { my ($r, $s) = @_; "$both FROM ((" . $r->('o') . ") x JOIN f_ix f ON $between) JOIN $s->{d} d ON f.k = d.k" }, set => $near);
place('of a merge join below', 'some none', sub { my ($r, $s) = @_; "$both FROM (f JOIN (" . $r->('o') . ") x ON $as_bits) JOIN $s->{d} d ON f.k = d.k" }, set => $near);
place('inner of a merge join below', 'some none', sub { my ($r, $s) = @_; "$both FROM (f LEFT JOIN (" . $r->('o') . ") x ON $as_bits) JOIN $s->{d} d ON f.k = d.k" }, set => $near);

# ---- the build side ----
place('inner', 'some noprobe fewprobe none', sub { my ($r, $s) = @_; "$both FROM f JOIN (" . $r->($s->{d}) . ") x ON f.k = x.k WHERE true$s->{where}" }, main => 1);
place('inner of a semijoin', 'noprobe', sub { my ($r, $s) = @_; "$counts FROM f WHERE f.k IN (SELECT x.k FROM (" . $r->($s->{d}) . ") x)$s->{where}" });

# The probe side is below what must be asked to its end, or elsewhere.  A semijoin by more than equality has its sides fixed; and the server asks first for
# a row of the probe side, if its first row costs less than the build side.
my $dear = sub { my ($r, $s) = @_; "EXISTS (SELECT FROM (" . $r->($s->{d}) . ") x WHERE x.k = f.k AND x.v + x.w <= f.v + 9999 AND dear(x.v))" };
place('inner, of a foreign scan', 'noprobe', sub { my ($r, $s) = @_; "$counts FROM f_ft f WHERE " . $dear->($r, $s) . $s->{where} }, some => 1);
place('inner, of a Gather', 'noprobe', sub { my ($r, $s) = @_; "$counts FROM f WHERE " . $dear->($r, $s) . $s->{where} }, some => 1, set => $parallel);
place('inner, of a Hash', 'noprobe', sub { my ($r, $s) = @_; "$counts FROM (SELECT f.* FROM b JOIN f ON b.w = f.w WHERE true$s->{where}) f WHERE " . $dear->($r, $s) }, some => 1, set => $near);
place('inner, of groups', 'noprobe', sub { my ($r, $s) = @_; "$counts FROM (SELECT k, max(v) AS v FROM f WHERE true$s->{where} GROUP BY k) f WHERE " . $dear->($r, $s) }, some => 1);
place('inner, again and again', 'some', sub { my ($r, $s) = @_; "SELECT sum((SELECT sum(x.v + x.w) FROM f JOIN (" . $r->($s->{d}) . ") x ON f.k = x.k WHERE f.w > o.w)) FROM (SELECT * FROM o LIMIT 4) o" });

# ---- above ----
place('above', 'some none', sub { my ($r, $s) = @_; "$count FROM (" . $r->("(SELECT f.k, f.v, f.w FROM f JOIN $s->{d} d ON f.k = d.k) j") . ') x' }, only => '');
place('of a hash join above', 'some none', sub { my ($r, $s) = @_; "$both FROM (f JOIN $s->{d} d ON f.k = d.k) JOIN (" . $r->('o') . ') x ON f.w = x.w' }, set => $near);
place('of a nested loop above', 'some none', sub { my ($r, $s) = @_; "$both FROM (f JOIN $s->{d} d ON f.k = d.k) LEFT JOIN (" . $r->('o') . ") x ON $between" }, set => $near);
place('of a merge join above', 'none', sub { my ($r, $s) = @_; "$both FROM (f JOIN $s->{d} d ON f.k = d.k) LEFT JOIN (" . $r->('o') . ") x ON $as_bits" }, set => $near);

# ---- in a branch of an Append ----
place('in a branch', 'some none', sub { my ($r, $s) = @_; "$count FROM (SELECT k, v, w FROM f UNION ALL SELECT k, v, w FROM (" . $r->('o') . ") y) x JOIN $s->{d} d ON x.k = d.k" });
place('in each partition', 'one none', sub { my ($r, $s) = @_; "$count FROM (" . $r->('f_pt') . ") x JOIN $s->{d} d ON x.k = d.k" }, parts => 1, main => 1);
place('outer of partitions', 'one none', sub { my ($r, $s) = @_; "$both FROM ((" . $r->('c_pt') . ") x JOIN f_pt f ON f.k = x.k) JOIN $s->{d} d ON f.k = d.k" }, parts => 1, set => [ @$wise, 'enable_nestloop = off' ]);
place('outer of partitions, nested loops', 'one none',
	sub { my ($r, $s) = @_; "$both FROM ((" . $r->('c_pt') . ") x JOIN f_pt f ON f.k = x.k AND f.v + x.v >= 0) JOIN $s->{d} d ON f.k = d.k" }, parts => 1, main => 1,
	set => $wise);

# ---- in a subquery ----
place('a CTE, outer', 'some nobuild', sub { my ($r, $s) = @_; 'WITH x AS MATERIALIZED (' . $r->('f') . ") $count FROM x JOIN $s->{d} d ON x.k = d.k" }, top => 1);
place('a CTE, inner', 'some noprobe', sub { my ($r, $s) = @_; 'WITH x AS MATERIALIZED (' . $r->($s->{d}) . ") $both FROM f JOIN x ON f.k = x.k WHERE true$s->{where}" }, top => 1);
place('EXISTS', 'some noprobe', sub { my ($r, $s) = @_; "$counts FROM f WHERE EXISTS (SELECT FROM (" . $r->($s->{d}) . ") x WHERE x.k = f.k)$s->{where}" });
place('a subquery in a column', 'some none', sub { my ($r, $s) = @_; "SELECT count(*), sum((SELECT sum(x.v + x.w) FROM (" . $r->('o') . ") x WHERE x.w >= f.w)) FROM f JOIN $s->{d} d ON f.k = d.k" });
place('a subquery in a condition', 'some none', sub { my ($r, $s) = @_; "$counts FROM (SELECT * FROM f WHERE k % 10 = 1) f JOIN $s->{d} d ON f.k = d.k WHERE (SELECT count(x.v + x.w) FROM (" . $r->('o') . ") x WHERE x.w = f.w) >= 0" });
place('a value for the outer side', 'some nobuild', sub { my ($r, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k WHERE f.v >= (SELECT min(x.v + x.w) - 9999 FROM (" . $r->('o') . ') x)' });
place('a value for the inner side', 'some noprobe', sub { my ($r, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k WHERE d.v >= (SELECT min(x.v + x.w) - 9999 FROM (" . $r->('o') . ") x)$s->{where}" });
place('a value for the join\'s other key', 'some none', sub { my ($r, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k AND f.v + (SELECT sum(x.v + x.w) * 0 FROM (" . $r->('o') . ') x) = d.v' });
place('a value for the join\'s condition', 'some none', sub { my ($r, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k AND f.v + d.v + (SELECT sum(x.v + x.w) FROM (" . $r->('o') . ') x) >= 0' });

# ---- queries as a whole: the join's own expressions, and what changes rows ----

my @whole;

sub whole
{
	my ($node, $field, $states, $sql, %more) = @_;

	push @whole, { node => $node, field => $field, states => [ split / /, $states ], whole => $sql, set => [], %more };
	return;
}
whole('HashJoin', 'hashkeys', 'some none noprobe nobuild', sub { my ($e, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k AND " . $e->('f.v') . " = d.v$s->{where}" }, show => 'Hash Cond', all => 1);
whole('HashJoin', 'hashkeys', 'some none', sub { my ($e, $s) = @_; "$counts FROM f JOIN $s->{d} d ON " . $e->('f.k') . ' = d.k AND f.v = d.v' }, show => 'Hash Cond');
whole('Hash', 'hashkeys', 'some none noprobe nobuild', sub { my ($e, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k AND f.v = " . $e->('d.v') . $s->{where} }, show => 'Hash Cond');
whole('Hash', 'hashkeys', 'some none noprobe nobuild', sub { my ($e, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = " . $e->('d.k') . $s->{where} }, show => 'Hash Cond', all => 1);
whole('HashJoin', 'hashclauses', 'some none noprobe', sub { my ($e, $s) = @_; "$counts FROM f WHERE f.k IN (SELECT " . $e->('k') . " FROM $s->{d})$s->{where}" }, show => 'Hash Cond', all => 1);
whole('HashJoin', 'joinqual', 'some none', sub { my ($e, $s) = @_; "$counts FROM f JOIN $s->{d} d ON f.k = d.k AND " . $e->('f.v') . ' + d.v >= 0' }, show => 'Join Filter', all => 1);
whole('HashJoin', 'joinqual', 'some none', sub { my ($e, $s) = @_; "$counts, count(d.k) FROM f RIGHT JOIN $s->{d} d ON f.k = d.k AND " . $e->('f.v') . ' + d.v >= 0' }, show => 'Hash Right Join');
whole('HashJoin', 'qual', 'some none', sub { my ($e, $s) = @_; "$counts, count(d.k) FROM f RIGHT JOIN $s->{d} d ON f.k = d.k WHERE coalesce(" . $e->('f.v') . ', 0) >= 0' }, show => 'Hash Right Join');
whole('HashJoin', 'targetlist', 'some none', sub { my ($e, $s) = @_; "SELECT count(*), sum(x) FROM (SELECT " . $e->('f.v + d.v') . " AS x FROM f JOIN $s->{d} d ON f.k = d.k OFFSET 0) s" }, show => 'Hash Join');
# Each process makes a hash table of its own, so how often a build side is asked depends on who comes: not at all, where there is nothing to probe.
foreach my $f ('f', 'f_ix', 'f_pt')
{
	my $dear = $f eq 'f' ? '' : ' AND dear(d.v)';

	whole('SeqScan', 'qual', 'noprobe fewprobe', sub { my ($e, $s) = @_; "$counts FROM $f f JOIN $s->{d} d ON f.k = d.k AND " . $e->('d.v') . " >= 0$dear$s->{where}" },
		ways => ['workers'], show => 'Parallel Seq Scan', set => [ @$parallel, 'enable_parallel_hash = off', 'enable_indexscan = off', 'enable_bitmapscan = off' ]);
}
whole('CustomScan', 'custom_exprs', 'some none', sub { my ($e, $s) = @_; "$counts FROM f_pt f JOIN $s->{d} d ON f.k = " . $e->('d.k') . " AND f.v = d.v" }, show => 'Hash Cond');
whole('LockRows', 'rowMarks', 'some none noprobe', sub { my ($e, $s) = @_; "SELECT f.k FROM f JOIN $s->{d} d ON f.k = d.k WHERE true$s->{where} FOR UPDATE" }, ways => ['locks'], show => 'LockRows');
whole('LockRows', 'rowMarks', 'some', sub { my ($e, $s) = @_; "SELECT f.k FROM f JOIN $s->{d} d ON f.k = d.k LIMIT 3 FOR UPDATE OF f" }, ways => ['locks'], show => 'LockRows');
whole('LockRows', 'rowMarks', 'some noprobe', sub { my ($e, $s) = @_; "SELECT f.k FROM f WHERE k IN (SELECT k FROM $s->{d} FOR SHARE)$s->{where}" }, ways => ['locks'], show => 'LockRows');
whole('ModifyTable', 'returningLists', 'some none', sub { my ($e, $s) = @_; "UPDATE f_up f SET v = f.v FROM $s->{d} d WHERE f.k = d.k RETURNING f.k, " . $e->('f.v') }, show => 'Update on');
whole('ModifyTable', 'returningLists', 'some none', sub { my ($e, $s) = @_; "DELETE FROM f_up f USING $s->{d} d WHERE f.k = d.k AND " . $e->('d.v') . ' >= 0 RETURNING f.k' }, show => 'Delete on');
whole('ModifyTable', 'returningLists', 'some none noprobe', sub { my ($e, $s) = @_; "INSERT INTO log SELECT f.k, f.v, f.w FROM f JOIN $s->{d} d ON f.k = d.k WHERE true$s->{where} RETURNING " . $e->('v::int') }, show => 'Insert on');
whole('ModifyTable', 'mergeActionLists', 'some none', sub { my ($e, $s) = @_; "MERGE INTO f_up f USING $s->{d} d ON f.k = d.k WHEN MATCHED AND " . $e->('f.v') . ' >= 0 THEN UPDATE SET v = ' . $e->('d.v') },
	show => 'Merge on', nowhere => [], log => 'f_up');

# ---- all of them ----

# The table of a kind.
my %of = (indexed => '_ix', foreign => '_ft', parted => '_pt');

sub table_for
{
	my ($shape, $table) = @_;
	my $of = $shape->{of} // '';

	return 'moved' if $of eq 'trigger';
	return $table unless $of{$of};
	return $table if $of eq 'indexed' && $table =~ /_pt$/;
	return $table =~ s/_pt$//r . $of{$of};
}

sub ways_of
{
	my ($shape, $rare) = @_;
	my @ways = $shape->{ways} ? @{ $shape->{ways} } : (@usual, $rare ? @rare : ());
	my %not = map { $_ => 1 } @{ $shape->{nowhere} // [] }, $shape->{consts} ? 'corr' : ();

	$not{op} = $not{direct};	# the server sees both
	return grep { !$not{$_} } @ways;
}

# Ways and states, as [ way, state ]: all that there are, or of a main place each way, or else one, which is the next one each time.
my $turn = 0;

sub in_turn
{
	my ($ways, $states, $main, $long) = @_;

	return map { my $way = $_; map { [ $way, $_ ] } @$states } @$ways if $long;
	return map { [ $_, $states->[ $turn++ % @$states ] ] } @$ways if $main;
	$turn++;
	return [ $ways->[ $turn % @$ways ], $states->[ int($turn / @$ways) % @$states ] ];
}

# All shapes, as { node, field, name, set, show, sql, ... }, of which control->{sql} has no volatile call.
sub shapes
{
	my ($long) = @_;
	my @shapes;

	foreach my $node (sort keys %lines)
	{
		foreach my $field (sort keys %{ $lines{$node} })
		{
			my $line = $lines{$node}{$field};
			my $number = 0;

			foreach my $shape (ref $line eq 'ARRAY' ? @$line : ref $line ? $line : ())
			{
				my $of = $shape->{of} // '';

				$number++;
				foreach my $place (@places)
				{
					next if defined $place->{only} && $of ne $place->{only};
					next if $place->{parts} && ($of !~ /^(|plain|indexed)$/ || $shape->{no_parts});
					next if $place->{ordered} && $node =~ /^Gather/;	# their rows have no order
					next if $of eq 'top' && !$place->{top};
					next if $place->{some} && !$shape->{all} && $node ne 'LockRows' && !$long;
					foreach my $turn (in_turn([ ways_of($shape, $long || $shape->{all} && $place->{main}) ], $place->{states}, $place->{main}, $long))
					{
						my ($way, $state) = @$turn;
						my $sql = sub {
							my ($call) = @_;
							my $sql = $place->{sql}->(sub { $shape->{sql}->(table_for($shape, $_[0]), $call) }, $states{$state});

							return $of eq 'top' ? $sql =~ s/AS MATERIALIZED/AS/r : $sql;
						};
						my $table;

						$place->{sql}->(sub { $table = $_[0]; '' }, $states{$state});
						push @shapes,
						  {
							node => $node, field => $field, place => $place->{name}, way => $way, name => "$node.$field $number, $place->{name}, $way, $state", show => $shape->{show},
							set => [ @{ $place->{set} }, @{ $shape->{set} // [] }, @{ $hidden{$way} // [] } ], sql => $sql->($ways{$way}), control => $sql->($ways{none}), trigger_on => $of eq 'trigger' ? $table : undef
						  };
					}
				}
			}
		}
	}
	my $number = 0;
	foreach my $shape (@whole)
	{
		$number++;
		foreach my $turn (in_turn([ ways_of($shape, $long || $shape->{all}) ], $shape->{states}, 1, 1))
		{
			my ($way, $state) = @$turn;

			push @shapes,
			  {
				node => $shape->{node}, field => $shape->{field}, place => 'own', way => $way, name => "$shape->{node}.$shape->{field}, own $number, $way, $state", show => $shape->{show},
				set => $shape->{set}, sql => $shape->{whole}->($ways{$way}, $states{$state}), control => $shape->{whole}->($ways{none}, $states{$state})
			  };
		}
	}
	return @shapes;
}

1;
