# SPDX-License-Identifier: PostgreSQL
# The server's plan nodes, and for each field that can carry an expression a query that puts a volatile call there, or a sentence why it cannot.
#
# A query is of a table with the columns k, v and w, whose rows and columns it gives; so it can stand wherever a table can.  The call is put around a
# part of it, which it gives back.  CountPlaces.pm says where the queries stand, and how a call can be hidden.
package CountNodes;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(plan_nodes %lines);

# The fields of each plan node in plannodes.h that may lead to an expression: { node => [ fields ] }.  Scan and Join are nodes that no plan has.
sub plan_nodes
{
	my ($source) = @_;
	my (%first, %fields);

	$source =~ s{/\*.*?\*/}{}gs;
	$source =~ s/\bpg_node_attr(\((?:[^()]++|(?1))*\))//g;
	$first{$2} = $1 while $source =~ /\btypedef\s+(\w+)\s+(\w+)\s*;/g;
	while ($source =~ /\btypedef\s+struct\s+(\w+)\s*\{(.*?)\}\s*\w*\s*;/gs)
	{
		my ($node, $body) = ($1, $2);

		foreach (grep { /\S/ } split /;/, $body)
		{
			/^\s*(?:const\s+)?(?:struct\s+)?(\w+)\s*(\**)\s*(\w+)(?:\[.*\])?\s*$/ or die "what is this in $node: $_\n";
			my ($type, $stars, $name) = ($1, $2, $3);

			$first{$node} //= $stars ? '' : $type;
			# what is no expression, nor leads to one
			push @{ $fields{$node} }, $name
			  if $name =~ /prune/ || $stars && $type !~ /^(Oid|AttrNumber|bool|u?int\w*|char|Bitmapset|CustomScanMethods|Plan)$/;
		}
	}
	my %nodes;
	foreach my $node (keys %first)
	{
		my ($up, @own) = ($node, @{ $fields{$node} // [] });

		while (defined($up = $first{$up}) && $up ne 'Plan')
		{
			push @own, @{ $fields{$up} // [] };
		}
		$nodes{$node} = [ 'targetlist', 'qual', sort @own ] if defined $up && $node !~ /^(Scan|Join)$/;
	}
	return \%nodes;
}

# Words for fields of many nodes.
my $passes = q{gives its child's columns as they are};
my $asks_nothing = 'the server gives it no condition: the planner puts that into the node below or above';
my $numbers = 'numbers, not expressions';
my $columns = 'columns of the table or of what is below, which say what others mean';
my $shown = 'what another field has, for EXPLAIN or to be asked again; so it comes with that';

# Shapes: sql->(table, call) is the query; show is seen in the plan; set are settings; of is the kind of table, if not any relation:
# plain (its scan has a ctid), indexed (ix), foreign (ft), parted (pt), rows (none: only what rows it would have), top (changes rows, so it
# stands in the query's WITH alone), trigger (the rows that a statement has changed).  no_parts: not of a partitioned table.  consts: the call is put around constants, so that no way that depends on a
# row is tried; nowhere: ways that the node cannot have; ways: all that it can have.
# dear pages; what is disabled costs so much before its first row that the server would build first by itself
my $no_seq = [ 'seq_page_cost = 2', 'random_page_cost = 0.001', 'cpu_index_tuple_cost = 0.0001' ];
my $only_index = [ @$no_seq, 'enable_bitmapscan = off', 'enable_indexonlyscan = off' ];
my $only_bitmap = [ @$no_seq, 'enable_indexscan = off', 'enable_indexonlyscan = off' ];
my $parallel = [ 'max_parallel_workers_per_gather = 2', 'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0' ];
my $as_bits = 'a.w::bit(12) = x.w::bit(12)';	# bits can be merged, but have no hash
my $between = 'a.w BETWEEN x.w AND x.w';
my $document = sub { "(('<r>' || repeat('', " . $_[0] . ") || '" . join('', map { '<i k="' . (2001 - 100 * $_) . '"/>' } 1 .. 20) . "</r>')::xml)" };

# A condition or a column of a scan or of another node that has both.
sub column_and_condition
{
	my ($show, $from, %more) = @_;

	return (
		targetlist => { %more, show => $show, sql => sub { "SELECT k, " . $_[1]->('v') . " AS v, w FROM " . $from->(@_) } },
		qual => { %more, show => $show, sql => sub { my $from = $from->(@_); "SELECT k, v, w FROM $from" . ($from =~ / WHERE / ? ' AND ' : ' WHERE ') . $_[1]->('v') . ' >= 0' } });
}

# The same of a join a, x of the table and twenty rows.
sub of_join
{
	my ($show, $on, %more) = @_;
	my $a = sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a" };

	return (
		joinqual => { %more, show => $show, sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON $on AND " . $_[1]->('a.v') . ' + x.v >= 0' } },
		qual => { %more, show => $show, sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON $on WHERE " . $_[1]->('coalesce(x.v, 0)') . ' >= 0' } },
		targetlist => { %more, show => $show, sql => sub { 'SELECT a.k, a.v + 0 * ' . $_[1]->('coalesce(x.v, 0)') . " AS v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON $on" } });
}

sub passes_all { return (targetlist => $passes, qual => $asks_nothing, @_) }

# Ends of generate_series() for the rows of a table.
sub series
{
	my ($table, $call) = @_;
	my %ends = (f => [ 1, 2000, 1 ], b => [ 1, 2000, 1 ], d_none => [ -20, -1, 1 ], d_empty => [ 1, 0, 1 ], d_one => [ 1, 491, 10 ]);
	my ($from, $to, $step) = @{ $ends{$table} // [ 1, 1901, 100 ] };

	return "$from, " . $call->($to) . ", $step";
}
my $of_series = 'SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM ';

sub keys_of
{
	my ($table) = @_;

	return $table eq 'd_empty' ? (-1000) : $table eq 'd_none' ? (-20 .. -1) : map { $table eq 'd_one' ? 10 * $_ + 1 : 100 * $_ + 1 } 0 .. ($table eq 'd_one' ? 49 : 19);
}

our %lines = (
	Agg => {
		targetlist => [
			{ show => 'HashAggregate', sql => sub { 'SELECT k, max(' . $_[1]->('v') . ") AS v, max(w) AS w FROM $_[0] GROUP BY k" } },
			{ show => 'GroupAggregate', set => ['enable_hashagg = off'], sql => sub { 'SELECT k, max(v) FILTER (WHERE ' . $_[1]->('v') . " >= 0) AS v, max(w) AS w FROM $_[0] GROUP BY k" } },
			{ show => 'HashAggregate', ways => ['inside'], sql => sub { "SELECT k, vmax(v) AS v, max(w) AS w FROM $_[0] GROUP BY k" } },
			{ show => 'Aggregate', sql => sub { 'SELECT max(k) AS k, max(v) AS v, max(' . $_[1]->('w') . ") AS w FROM $_[0]" } },
		],
		qual => { show => 'Aggregate', sql => sub { "SELECT k, max(v) AS v, max(w) AS w FROM $_[0] GROUP BY k HAVING " . $_[1]->('max(v)') . ' >= 0' } },
		groupingSets => 'lists of numbers of columns',
		chain => { show => 'Aggregate(?s:.*)(Group|Hash) Key(?s:.*)(Group|Hash) Key', sql => sub { 'SELECT k, max(' . $_[1]->('v') . ") AS v, max(w) AS w FROM $_[0] GROUP BY GROUPING SETS ((k), (k, v))" } },
	},
	Append => {
		passes_all(appendplans => 'plans, which have lines of their own', child_append_relid_sets => $numbers),
		part_prune_info => { of => 'parted', consts => 1, show => '(?s:Append.*k >= )', nowhere => ['direct'], sql => sub { "SELECT k, v, w FROM $_[0] WHERE k >= " . $_[1]->(-100) } },
	},
	BitmapAnd => { passes_all(bitmapplans => 'plans, which have lines of their own') },
	BitmapHeapScan => {
		column_and_condition('Bitmap Heap Scan', sub { "$_[0] WHERE k >= -100" }, of => 'indexed', set => $only_bitmap),
		bitmapqualorig => { of => 'indexed', set => $only_bitmap, consts => 1, nowhere => ['direct'], show => 'BitmapOr', sql => sub { "SELECT k, v, w FROM $_[0] WHERE (k >= " . $_[1]->(-100) . " OR w >= 5000)" } },
	},
	BitmapIndexScan => {
		passes_all(),
		indexqual => { of => 'indexed', set => $only_bitmap, consts => 1, nowhere => ['direct'], show => 'Bitmap Index Scan', sql => sub { "SELECT k, v, w FROM $_[0] WHERE k >= " . $_[1]->(-100) } },
		indexqualorig => $shown,
	},
	BitmapOr => { passes_all(bitmapplans => 'plans, which have lines of their own') },
	CteScan => { column_and_condition('CTE Scan', sub { "(WITH c AS MATERIALIZED (SELECT k, v, w FROM $_[0]) SELECT * FROM c OFFSET 0) s" }) },
	CustomScan => {
		targetlist => 'of ours, it gives its child\'s columns; others\' are their business',
		qual => 'of ours, it has none; others\' are their business',
		custom_plans => 'plans, which have lines of their own',
		custom_exprs => { show => 'bloom_may_contain', sql => sub { "SELECT k, v, w FROM $_[0] WHERE bloom_may_contain((SELECT keys FROM filters WHERE " . $_[1]->(1) . " = 1), k)" }, of => 'plain', consts => 1 },
		custom_private => 'what the node keeps for itself; of ours there is no expression in it',
		custom_scan_tlist => $columns,
	},
	ForeignScan => {
		column_and_condition('Foreign Scan', sub { $_[0] }, of => 'foreign'),
		fdw_exprs => { of => 'foreign', consts => 1, nowhere => [qw(direct dom)], show => 'Remote SQL: .*\$1', sql => sub { "SELECT k, v, w FROM $_[0] WHERE k >= " . $_[1]->(-100) } },
		fdw_private => 'what the wrapper keeps for itself: text and numbers',
		fdw_recheck_quals => $shown,
		fdw_scan_tlist => $columns,
	},
	FunctionScan => {
		column_and_condition('Function Scan', sub { '(' . $of_series . 'generate_series(' . series($_[0], sub { $_[0] }) . ') g(k)) s' }, of => 'rows'),
		functions => [
			{ of => 'rows', consts => 1, show => 'Function Scan', sql => sub { $of_series . 'generate_series(' . series(@_) . ') g(k)' } },
			{ of => 'rows', ways => ['inside'], show => 'Function Scan', sql => sub { $of_series . 'vseries(' . series(@_) . ') g(k)' } },
			{ of => 'rows', ways => ['inside'], show => 'Function Scan', sql => sub {
				"SELECT k, v, 2001 - k AS w FROM jsonb_to_recordset('[" . join(', ', map { qq({"k": $_, "v": ) . abs($_) % 50 . '}' } keys_of($_[0])) . "]') AS x(k int, v dom)" } },
		],
	},
	Gather => {
		targetlist => { of => 'plain', set => $parallel, show => 'Gather', sql => sub { "SELECT k, " . $_[1]->('v') . " AS v, w FROM $_[0]" } },
		qual => $asks_nothing,
	},
	GatherMerge => {
		targetlist => { of => 'plain', set => $parallel, show => 'Gather Merge', sql => sub { "SELECT k, " . $_[1]->('v') . " AS v, w FROM (SELECT * FROM $_[0] ORDER BY k LIMIT 2000) s" } },
		qual => $asks_nothing,
	},
	Group => {
		targetlist => { show => ' Group', set => ['enable_hashagg = off'], sql => sub { 'SELECT k, ' . $_[1]->('abs(k) % 50') . " AS v, 2001 - k AS w FROM $_[0] GROUP BY k" } },
		qual => { show => ' Group', set => ['enable_hashagg = off'], sql => sub { "SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM $_[0] GROUP BY k HAVING " . $_[1]->('k') . ' > -1000' } },
	},
	Hash => {
		passes_all(),
		hashkeys => { show => '(?s:Hash Cond.*Hash)', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON a.w = " . $_[1]->('x.w') } },
	},
	HashJoin => {
		of_join('Hash .*Join', 'a.w = x.w'),
		hashclauses => { show => 'Hash Cond', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON a.w + 0 = " . $_[1]->('x.w') } },
		hashkeys => { show => 'Hash Cond', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON " . $_[1]->('a.w') . ' = x.w' } },
		hashoperators => $numbers,
		hashcollations => $numbers,
	},
	IncrementalSort => { passes_all() },
	IndexOnlyScan => {
		targetlist => { of => 'indexed', set => [ @$no_seq, 'enable_bitmapscan = off' ], show => 'Index Only Scan', sql => sub { 'SELECT k, ' . $_[1]->('abs(k) % 50') . " AS v, 2001 - k AS w FROM $_[0] WHERE k >= -100" } },
		qual => { of => 'indexed', set => [ @$no_seq, 'enable_bitmapscan = off' ], show => 'Index Only Scan', sql => sub { "SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM $_[0] WHERE k >= -100 AND " . $_[1]->('k') . ' > -1000' } },
		indexqual => { of => 'indexed', set => [ @$no_seq, 'enable_bitmapscan = off' ], consts => 1, nowhere => ['direct'], show => 'Index Only Scan',
			sql => sub { "SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM $_[0] WHERE k >= " . $_[1]->(-100) } },
		recheckqual => $shown,
		indexorderby => { of => 'indexed', no_parts => 1, set => [ @$no_seq, 'enable_bitmapscan = off', 'enable_sort = off' ], consts => 1, nowhere => ['direct'], show => '(?s:Index Only Scan.*Order By)',
			sql => sub { "SELECT pt[0]::int AS k, abs(pt[0]::int) % 50 AS v, 2001 - pt[0]::int AS w FROM $_[0] ORDER BY pt <-> point(" . $_[1]->(-100) . ', 0) LIMIT 5000' } },
		indextlist => $columns,
	},
	IndexScan => {
		column_and_condition('Index Scan', sub { "$_[0] WHERE k >= -100" }, of => 'indexed', set => $only_index),
		indexqual => { of => 'indexed', set => $only_index, consts => 1, nowhere => ['direct'], show => '(?s:Index Scan.*Index Cond)', sql => sub { "SELECT k, v, w FROM $_[0] WHERE k >= " . $_[1]->(-100) } },
		indexqualorig => $shown,
		indexorderby => { of => 'indexed', no_parts => 1, set => [ @$only_index, 'enable_sort = off' ], consts => 1, nowhere => ['direct'], show => '(?s:Index Scan.*Order By)',
			sql => sub { "SELECT k, v, w FROM $_[0] ORDER BY pt <-> point(" . $_[1]->(-100) . ', 0) LIMIT 5000' } },
		indexorderbyorig => $shown,
		indexorderbyops => $numbers,
	},
	Limit => {
		passes_all(),
		limitCount => { consts => 1, show => 'Limit', sql => sub { "SELECT k, v, w FROM $_[0] ORDER BY k LIMIT " . $_[1]->(5000) } },
		limitOffset => { consts => 1, show => 'Limit', sql => sub { "SELECT k, v, w FROM $_[0] ORDER BY k OFFSET " . $_[1]->(0) } },
	},
	LockRows => {
		passes_all(),
		rowMarks => [
			{ of => 'plain', ways => ['locks'], show => 'LockRows', sql => sub { "SELECT k, v, w FROM $_[0] FOR UPDATE" } },
			{ of => 'plain', ways => ['locks'], show => 'LockRows', sql => sub { "SELECT k, v, w FROM $_[0] WHERE v >= 0 ORDER BY k LIMIT 2000 FOR NO KEY UPDATE SKIP LOCKED" } },
			{ of => 'plain', ways => ['locks'], show => 'LockRows', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0] FOR UPDATE) a LEFT JOIN o x ON a.w = x.w" } },
		],
	},
	Material => { passes_all() },
	Memoize => {
		passes_all(),
		param_exprs => { set => $only_index, show => 'Cache Key', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN LATERAL (SELECT i.v FROM o_ix i WHERE i.w = a.v + " . $_[1]->(100) . " - 100 OFFSET 0) i ON true" },
			consts => 1, nowhere => ['direct'] },
	},
	MergeAppend => {
		passes_all(mergeplans => 'plans, which have lines of their own', child_append_relid_sets => $numbers),
		part_prune_info => { of => 'parted', set => [ @$only_index, 'enable_sort = off' ], consts => 1, nowhere => ['direct'], show => 'Merge Append|Append', sql => sub { "SELECT k, v, w FROM $_[0] WHERE k >= " . $_[1]->(-100) . ' ORDER BY v LIMIT 5000' } },
	},
	MergeJoin => {
		of_join('Merge .*Join', $as_bits, set => [ 'enable_nestloop = off', 'enable_mergejoin = on' ]),
		mergeclauses => { set => [ 'enable_nestloop = off', 'enable_mergejoin = on' ], show => 'Merge Cond', sql => sub { "SELECT a.k, a.v, a.w FROM (SELECT * FROM $_[0]) a LEFT JOIN o x ON " . $_[1]->('a.w') . '::bit(12) = x.w::bit(12)' } },
	},
	ModifyTable => {
		targetlist => 'that of RETURNING',
		qual => $asks_nothing,
		withCheckOptionLists => { of => 'top', ways => ['inside'], show => 'Insert on', sql => sub { "INSERT INTO log_view SELECT k, v, w FROM $_[0] RETURNING k, v, w" } },
		returningLists => { of => 'top', show => 'Insert on', sql => sub { "INSERT INTO log SELECT k, v, w FROM $_[0] RETURNING k, " . $_[1]->('v') . ' AS v, w' } },
		onConflictSet => { of => 'top', show => 'Insert on', sql => sub { "INSERT INTO full_log AS l SELECT k, v, w FROM $_[0] ON CONFLICT (k) DO UPDATE SET v = " . $_[1]->('excluded.v') . ' RETURNING k, v, w' } },
		onConflictWhere => { of => 'top', show => 'Insert on', sql => sub { "INSERT INTO full_log AS l SELECT k, v, w FROM $_[0] ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE " . $_[1]->('l.v') . ' >= 0 RETURNING k, v, w' } },
		mergeActionLists => 'MERGE is the query as a whole: see CountPlaces.pm',
		mergeJoinConditions => 'MERGE is the query as a whole: see CountPlaces.pm',
		resultRelations => $numbers,
		updateColnosLists => $numbers,
		fdwPrivLists => 'what the wrapper keeps for itself',
		rowMarks => 'rows that are read, without a lock',
		arbiterIndexes => $numbers,
		onConflictCols => $numbers,
		exclRelTlist => $columns,
	},
	NamedTuplestoreScan => { column_and_condition('Named Tuplestore Scan', sub { $_[0] }, of => 'trigger') },
	NestLoop => {
		of_join('Nested Loop', $between),
		nestParams => { set => $only_index, show => '(?s:Nested Loop.*Index Cond)', sql => sub {
			"SELECT a.k, a.v, a.w FROM (SELECT k, " . $_[1]->('v') . " AS v, w FROM $_[0]) a LEFT JOIN LATERAL (SELECT i.v FROM o_ix i WHERE i.w = a.v OFFSET 0) i ON true" } },
	},
	ProjectSet => {
		targetlist => { show => 'ProjectSet', sql => sub { 'SELECT k, generate_series(' . $_[1]->('v') . ", v) AS v, w FROM $_[0]" } },
		qual => $asks_nothing,
	},
	RecursiveUnion => { passes_all() },
	Result => {
		targetlist => [
			{ of => 'rows', show => 'Result', sql => sub { join(' UNION ALL ', map { "SELECT $_ AS k, " . $_[1]->(abs($_) % 50) . ' AS v, ' . (2001 - $_) . ' AS w' } keys_of($_[0])) } },
			{ show => 'Result', set => ['enable_hashagg = off'], sql => sub { "SELECT k, " . $_[1]->('v') . " AS v, w FROM (SELECT DISTINCT ON (k) k, v, w FROM $_[0] ORDER BY k, v, w) s ORDER BY k LIMIT 5000" } },
		],
		qual => $asks_nothing,
		resconstantqual => { consts => 1, nowhere => ['direct'], show => 'One-Time Filter', sql => sub { "SELECT k, v, w FROM $_[0] WHERE " . $_[1]->(1) . ' >= 0' } },
	},
	SampleScan => {
		column_and_condition('Sample Scan', sub { "$_[0] TABLESAMPLE system (100)" }, of => 'plain'),
		tablesample => [
			{ of => 'plain', consts => 1, show => 'Sampling', sql => sub { "SELECT k, v, w FROM $_[0] TABLESAMPLE system (" . $_[1]->(100) . ')' } },
			{ of => 'plain', consts => 1, show => 'Sampling', sql => sub { "SELECT k, v, w FROM $_[0] TABLESAMPLE bernoulli (100) REPEATABLE (" . $_[1]->(1) . ')' } },
		],
	},
	SeqScan => { column_and_condition('Seq Scan', sub { $_[0] }, all => 1) },
	SetOp => { passes_all() },
	Sort => { passes_all() },
	SubqueryScan => { column_and_condition('Subquery Scan', sub { "(SELECT k, v, w FROM $_[0] OFFSET 0) s" }) },
	TableFuncScan => {
		column_and_condition('Table Function Scan', sub { "(SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM xmltable('/r/i' PASSING " . $document->(0) . " COLUMNS k int PATH '\@k') x) s" }, of => 'rows'),
		tablefunc => [
			map({
				my $what = $_;
				{ of => 'rows', consts => 1, show => 'Table Function Scan', sql => sub {
					my $call = $_[1];
					my $of = sub { $what eq $_[0] ? "repeat('', " . $call->(1) . ') || ' : '' };

					'SELECT k, abs(k) % 50 + z AS v, 2001 - k AS w FROM xmltable((' . $of->('rows') . "'/r/i') PASSING " . $document->($what eq 'document' ? $call->(1) : 1) .
					  " COLUMNS k int PATH (" . $of->('path') . "'\@k'), z int PATH '\@z' DEFAULT " . ($what eq 'default' ? $call->(0) : 0) . ') x' } }
			} qw(document rows path default)),
			{ of => 'rows', ways => ['inside'], show => 'Table Function Scan', sql => sub {
				"SELECT k, abs(k) % 50 AS v, 2001 - k AS w FROM xmltable('/r/i' PASSING " . $document->(0) . " COLUMNS k dom PATH '\@k') x" } },
		],
	},
	TidRangeScan => {
		column_and_condition('Tid Range Scan', sub { "$_[0] WHERE ctid >= '(0,0)'" }, of => 'plain', set => $no_seq),
		tidrangequals => { all => 1, of => 'plain', set => $no_seq, consts => 1, nowhere => ['direct'], show => 'Tid Range Scan', sql => sub { "SELECT k, v, w FROM $_[0] WHERE ctid >= ('(' || " . $_[1]->(0) . " || ',0)')::tid" } },
	},
	TidScan => {
		column_and_condition('Tid Scan', sub { "$_[0] WHERE ctid = ANY (ARRAY(SELECT ctid FROM $_[0]))" }, of => 'plain', set => $no_seq),
		tidquals => [
			{ all => 1, of => 'plain', set => $no_seq, consts => 1, nowhere => ['direct'], show => 'Tid Scan', sql => sub { "SELECT k, v, w FROM $_[0] WHERE ctid IN (('(0,' || " . $_[1]->(1) . " || ')')::tid, '(0,101)')" } },
			{ of => 'plain', set => $no_seq, show => 'Tid Scan', sql => sub { "SELECT k, v, w FROM $_[0] WHERE ctid = ANY (ARRAY(SELECT ctid FROM $_[0] WHERE " . $_[1]->('v') . ' >= 0))' } },
		],
	},
	Unique => { passes_all() },
	ValuesScan => {
		column_and_condition('Values Scan', sub { '(SELECT k, v, 2001 - k AS w FROM (VALUES ' . join(', ', map { "($_, " . abs($_) % 50 . ')' } keys_of($_[0]), 999999) . ') x(k, v)) s' }, of => 'rows'),
		values_lists => { of => 'rows', show => 'Values Scan', sql => sub {
			my ($table, $call) = @_;

			'SELECT k, v, 2001 - k AS w FROM (VALUES ' . join(', ', map { "($_, " . $call->(abs($_) % 50) . ')' } keys_of($table), 999999) . ') x(k, v)' } },
	},
	WindowAgg => {
		targetlist => { show => 'WindowAgg', sql => sub { 'SELECT k, max(' . $_[1]->('v') . ") OVER (PARTITION BY k) AS v, w FROM $_[0]" } },
		qual => { show => 'WindowAgg', sql => sub { "SELECT k, v, w FROM (SELECT k, v, w, row_number() OVER (ORDER BY k) AS n FROM $_[0]) s WHERE " . $_[1]->('n::int') . ' >= 0' } },
		startOffset => { consts => 1, show => 'WindowAgg', sql => sub { 'SELECT k, min(v) OVER (ORDER BY k ROWS ' . $_[1]->(0) . " PRECEDING) AS v, w FROM $_[0]" } },
		endOffset => { consts => 1, show => 'WindowAgg', sql => sub { 'SELECT k, min(v) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND ' . $_[1]->(0) . " FOLLOWING) AS v, w FROM $_[0]" } },
		runCondition => { all => 1, consts => 1, nowhere => ['direct'], show => 'Run Condition', sql => sub { "SELECT k, v, w FROM (SELECT k, v, w, row_number() OVER (ORDER BY k) AS n FROM $_[0]) s WHERE n <= " . $_[1]->(5000) } },
		runConditionOrig => $shown,
	},
	WorkTableScan => {
		targetlist => { show => 'WorkTable Scan', sql => sub { "(WITH RECURSIVE r(k, v, w) AS (SELECT k, v, w FROM $_[0] UNION ALL SELECT k + 100000, " . $_[1]->('v') . ', w FROM r WHERE k < 100000) SELECT k, v, w FROM r)' } },
		qual => { show => 'WorkTable Scan', sql => sub { "(WITH RECURSIVE r(k, v, w) AS (SELECT k, v, w FROM $_[0] UNION ALL SELECT k + 100000, v, w FROM r WHERE k < 100000 AND " . $_[1]->('v') . ' >= 0) SELECT k, v, w FROM r)' } },
	},
);
$lines{$_}{part_prune_index} = 'the number of what part_prune_info was before' foreach qw(Append MergeAppend);

1;
