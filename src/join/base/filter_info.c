/*-------------------------------------------------------------------------
 *
 * filter_info.c
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

#include "join/base/filter_info.h"

/* What a filter is a list of. */
enum
{
	FILTER_FIELDS,				/* of a JoinFilterInfo, as the table has them */
	FILTER_COLUMNS,				/* of each JoinColumnInfo the same, in a list */
	FILTER_ANCESTORS			/* each JoinAncestorInfo, in a list */
};

/* The offset of a field in its struct: an int, an Oid or an enum. */
typedef size_t Field;

StaticAssertDecl(sizeof(Oid) == sizeof(int) && sizeof(JoinFilterInfoKind) == sizeof(int),
				 "fields of a join filter are read and written as ints");

static const Field info_fields[] = {
	offsetof(JoinFilterInfo, kind),
	offsetof(JoinFilterInfo, drop),
	offsetof(JoinFilterInfo, number),
	offsetof(JoinFilterInfo, param),
	offsetof(JoinFilterInfo, build_first),
	offsetof(JoinFilterInfo, parallel_hash),
	offsetof(JoinFilterInfo, from_leader),
	offsetof(JoinFilterInfo, access),
	offsetof(JoinFilterInfo, min_drop),
	offsetof(JoinFilterInfo, all_or_none),
	offsetof(JoinFilterInfo, unbuffered),
	offsetof(JoinFilterInfo, skip),
	offsetof(JoinFilterInfo, condition),
	offsetof(JoinFilterInfo, before),
};

static const Field column_fields[] = {
	offsetof(JoinColumnInfo, hashing),
	offsetof(JoinColumnInfo, type),
	offsetof(JoinColumnInfo, function),
	offsetof(JoinColumnInfo, collation),
	offsetof(JoinColumnInfo, attribute),
	offsetof(JoinColumnInfo, expression),
	offsetof(JoinColumnInfo, hash_key),
	offsetof(JoinColumnInfo, foreign_param),
	offsetof(JoinColumnInfo, foreign_type),
	offsetof(JoinColumnInfo, kept),
	offsetof(JoinColumnInfo, operator),
	offsetof(JoinColumnInfo, indexed),
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

Plan *
bloomfam_join_below_own(Plan *plan)
{
	while (bloomfam_join_node_kind(plan) != JOIN_NODE_OTHER)
	{
		plan = outerPlan(plan);
		Assert(plan != NULL);
	}
	return plan;
}

CustomScan *
bloomfam_join_node_make(JoinNodeKind kind)
{
	CustomScan *node = makeNode(CustomScan);

	Assert(kind != JOIN_NODE_OTHER);
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
	const ListCell *lc;

	if (list_length(list) != n)
		elog(ERROR, "a plan's join filter has %d fields, not %d", list_length(list), n);
	foreach(lc, list)
		*(int *) ((char *) to + fields[foreach_current_index(lc)]) = lfirst_int(lc);
}

/* One field of a filter. */
static int
read_field(const List *filter, Field field)
{
	int			i = 0;

	while (info_fields[i] != field)
	{
		i++;
		Assert(i < (int) lengthof(info_fields));
	}
	return list_nth_int(list_nth(filter, FILTER_FIELDS), i);
}

/* An ancestor is a list of integers: its members in their order. */
static List *
write_ancestors(const List *ancestors)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, ancestors)
	{
		const JoinAncestorInfo *ancestor = lfirst(lc);

		list = lappend(list, list_concat(list_make2_int(ancestor->parent, ancestor->child),
										 ancestor->columns));
	}
	return list;
}

static List *
read_ancestors(const List *list)
{
	List	   *ancestors = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		const List *numbers = lfirst(lc);
		JoinAncestorInfo *ancestor = palloc(sizeof(JoinAncestorInfo));

		ancestor->parent = linitial_int(numbers);
		ancestor->child = lsecond_int(numbers);
		ancestor->columns = list_copy_tail(numbers, 2);
		ancestors = lappend(ancestors, ancestor);
	}
	return ancestors;
}

static void
read_info(const List *filter, JoinFilterInfo *info)
{
	const List *columns = list_nth(filter, FILTER_COLUMNS);
	ListCell   *lc;

	read_fields(list_nth(filter, FILTER_FIELDS), info, info_fields, lengthof(info_fields));
	info->ncolumns = list_length(columns);
	info->columns = palloc(info->ncolumns * sizeof(JoinColumnInfo));
	foreach(lc, columns)
		read_fields(lfirst(lc), &info->columns[foreach_current_index(lc)], column_fields,
					lengthof(column_fields));
	info->ancestors = read_ancestors(list_nth(filter, FILTER_ANCESTORS));
}

void
bloomfam_join_filter_info_add(CustomScan *node, const JoinFilterInfo *info)
{
	List	   *fields = write_fields(info, info_fields, lengthof(info_fields));
	List	   *columns = NIL;
	int			position = 0;
	int			i;

	Assert(bloomfam_join_node_kind(&node->scan.plan) != JOIN_NODE_OTHER);
	Assert(info->drop >= 0 && info->drop <= 1000);
	Assert((info->kind == JOIN_INFO_STORED) == (info->condition >= 0));
	Assert(info->kind == JOIN_INFO_STORED || !bloomfam_join_has_filter(node, info->number));
	for (i = 0; i < info->ncolumns; i++)
		columns = lappend(columns,
						  write_fields(&info->columns[i], column_fields, lengthof(column_fields)));
	while (position < bloomfam_join_nfilters(node) &&
		   read_field(list_nth(node->custom_private, position), offsetof(JoinFilterInfo, drop)) >=
			   info->drop)
		position++;
	node->custom_private =
		list_insert_nth(node->custom_private, position,
						list_make3(fields, columns, write_ancestors(info->ancestors)));
}

JoinFilterInfo *
bloomfam_join_filter_infos(const CustomScan *node)
{
	JoinFilterInfo *infos = palloc0(Max(bloomfam_join_nfilters(node), 1) * sizeof(JoinFilterInfo));
	ListCell   *lc;

	foreach(lc, node->custom_private)
		read_info(lfirst(lc), &infos[foreach_current_index(lc)]);
	return infos;
}

bool
bloomfam_join_has_filter(const CustomScan *node, int number)
{
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), offsetof(JoinFilterInfo, number)) == number)
			return true;
	return false;
}

double
bloomfam_join_passing(const CustomScan *node)
{
	double		passing = 1;
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), offsetof(JoinFilterInfo, kind)) == JOIN_INFO_JOIN)
			passing *= 1 - read_field(lfirst(lc), offsetof(JoinFilterInfo, drop)) / 1000.0;
	return passing;
}
