/*-------------------------------------------------------------------------
 *
 * spec.c
 *	  What the nodes of the join filter carry in a plan, and which nodes those are.
 *
 * A plan is copied, cached, and written out and read again for parallel workers, so a node may
 * carry only what the server knows how to copy and write: custom_private is a list of filters, and
 * of each the fields are lists of integers.  Which field stands where say two tables here; nobody
 * else knows how it is written.  That is short, as a thousand partitions have a node each.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/spec.h"

/* What a filter is a list of. */
enum
{
	FILTER_FIELDS,				/* of a JoinSpec, as the table has them */
	FILTER_COLUMNS,				/* of each JoinSpecColumn the same, in a list */
	FILTER_LEVELS				/* each JoinSpecLevel, in a list */
};

/* The place of a field in its struct: an int, an Oid or an enum, of four bytes each. */
typedef size_t Field;

static const Field spec_fields[] = {
	offsetof(JoinSpec, kind),
	offsetof(JoinSpec, drop),
	offsetof(JoinSpec, number),
	offsetof(JoinSpec, param),
	offsetof(JoinSpec, eager),
	offsetof(JoinSpec, parallel_hash),
	offsetof(JoinSpec, from_leader),
	offsetof(JoinSpec, access),
	offsetof(JoinSpec, worth),
	offsetof(JoinSpec, whole),
	offsetof(JoinSpec, streams),
	offsetof(JoinSpec, skip),
	offsetof(JoinSpec, condition),
	offsetof(JoinSpec, before),
};

static const Field column_fields[] = {
	offsetof(JoinSpecColumn, hashing),
	offsetof(JoinSpecColumn, type),
	offsetof(JoinSpecColumn, function),
	offsetof(JoinSpecColumn, collation),
	offsetof(JoinSpecColumn, attribute),
	offsetof(JoinSpecColumn, expression),
	offsetof(JoinSpecColumn, hash_key),
	offsetof(JoinSpecColumn, foreign_param),
	offsetof(JoinSpecColumn, foreign_type),
	offsetof(JoinSpecColumn, kept),
	offsetof(JoinSpecColumn, operator),
	offsetof(JoinSpecColumn, indexed),
};

/* ---- which nodes ---- */

static CustomScanMethods methods[] = {
	[JOIN_NODE_BUILD] = {.CustomName = "Bloom Filter Build"},
	[JOIN_NODE_PROBE] = {.CustomName = "Bloom Filter Probe"},
};

void
bloomfam_join_node_register(JoinNodeKind kind, Node *(*create) (CustomScan *plan))
{
	methods[kind].CreateCustomScanState = create;
	RegisterCustomScanMethods(&methods[kind]);
}

JoinNodeKind
bloomfam_join_node_kind(const Plan *plan)
{
	const CustomScanMethods *own;

	if (!IsA(plan, CustomScan))
		return JOIN_NODE_OTHER;
	own = ((const CustomScan *) plan)->methods;
	if (own == &methods[JOIN_NODE_BUILD])
		return JOIN_NODE_BUILD;
	return own == &methods[JOIN_NODE_PROBE] ? JOIN_NODE_PROBE : JOIN_NODE_OTHER;
}

CustomScan *
bloomfam_join_node_make(JoinNodeKind kind)
{
	CustomScan *node = makeNode(CustomScan);

	node->methods = &methods[kind];
	return node;
}

/* ---- what they carry ---- */

static List *
write_fields(const void *from, const Field *fields, int n)
{
	List	   *list = NIL;
	int			i;

	for (i = 0; i < n; i++)
		list = lappend_int(list, *(const int *) ((const char *) from + fields[i]));
	return list;
}

/* A worker that has loaded another version of the module would find others. */
static void
read_fields(const List *list, void *to, const Field *fields, int n)
{
	int			i;

	if (list_length(list) != n)
		elog(ERROR, "a plan's join filter has %d fields, not %d", list_length(list), n);
	for (i = 0; i < n; i++)
		*(int *) ((char *) to + fields[i]) = list_nth_int(list, i);
}

/* One field of a filter. */
static int
read_field(const List *filter, Field field)
{
	int			i = 0;

	while (spec_fields[i] != field)
		i++;
	return list_nth_int(list_nth(filter, FILTER_FIELDS), i);
}

/* A level is a list of integers: its members in their order. */
static List *
write_levels(const List *levels)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, levels)
	{
		const JoinSpecLevel *level = lfirst(lc);

		list = lappend(list, list_concat(list_make2_int(level->parent, level->child),
										 level->columns));
	}
	return list;
}

static List *
read_levels(const List *list)
{
	List	   *levels = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		const List *numbers = lfirst(lc);
		JoinSpecLevel *level = palloc(sizeof(JoinSpecLevel));

		level->parent = linitial_int(numbers);
		level->child = lsecond_int(numbers);
		level->columns = list_copy_tail(numbers, 2);
		levels = lappend(levels, level);
	}
	return levels;
}

static void
read_spec(const List *filter, JoinSpec *spec)
{
	const List *columns = list_nth(filter, FILTER_COLUMNS);
	ListCell   *lc;

	read_fields(list_nth(filter, FILTER_FIELDS), spec, spec_fields, lengthof(spec_fields));
	spec->ncolumns = list_length(columns);
	spec->columns = palloc(spec->ncolumns * sizeof(JoinSpecColumn));
	foreach(lc, columns)
		read_fields(lfirst(lc), &spec->columns[foreach_current_index(lc)], column_fields,
					lengthof(column_fields));
	spec->levels = read_levels(list_nth(filter, FILTER_LEVELS));
}

void
bloomfam_join_spec_add(CustomScan *node, const JoinSpec *spec)
{
	List	   *fields = write_fields(spec, spec_fields, lengthof(spec_fields));
	List	   *columns = NIL;
	int			place = 0;
	int			i;

	for (i = 0; i < spec->ncolumns; i++)
		columns = lappend(columns,
						  write_fields(&spec->columns[i], column_fields, lengthof(column_fields)));
	while (place < bloomfam_join_nspecs(node) &&
		   read_field(list_nth(node->custom_private, place), offsetof(JoinSpec, drop)) >=
			   spec->drop)
		place++;
	node->custom_private =
		list_insert_nth(node->custom_private, place,
						list_make3(fields, columns, write_levels(spec->levels)));
}

JoinSpec *
bloomfam_join_specs(const CustomScan *node)
{
	JoinSpec   *specs = palloc0(Max(bloomfam_join_nspecs(node), 1) * sizeof(JoinSpec));
	ListCell   *lc;

	foreach(lc, node->custom_private)
		read_spec(lfirst(lc), &specs[foreach_current_index(lc)]);
	return specs;
}

bool
bloomfam_join_has_filter(const CustomScan *node, int number)
{
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), offsetof(JoinSpec, number)) == number)
			return true;
	return false;
}

double
bloomfam_join_passing(const CustomScan *node)
{
	double		passing = 1;
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), offsetof(JoinSpec, kind)) == JOIN_SPEC_JOIN)
			passing *= 1 - read_field(lfirst(lc), offsetof(JoinSpec, drop)) / 1000.0;
	return passing;
}
