/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_info.c
 *	  Defines the join filter's plan nodes, and writes and reads the filters that they carry in a
 *	  plan.
 *
 * A plan is copied and cached, and it is written out and read again for parallel workers.  So a
 * plan node may only carry data that the server can copy and write.  Its custom_private is a list
 * with one element for each filter, which is itself a list of four: a list of integers with the
 * filter's fields, a list of integers with the fields of all key columns, a list of partition
 * ancestors, and a list of what foreign scans are sent.  No other file knows this representation.
 * It is short because a plan with a thousand partitions has as many probe nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/filter_info.h"

/* The size of the part of a JoinFilterInfo that is written as an array of ints. */
#define SIZE_OF_FIELDS	(offsetof(JoinFilterInfo, ncolumns) + sizeof(int))

StaticAssertDecl(sizeof(Oid) == sizeof(int), "fields of a join filter are written as ints");

/* ---- the kinds of plan nodes ---- */

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

/* ---- writing and reading the filters of a node ---- */

static List *
write_ints(const void *from, size_t size)
{
	const int  *ints = from;
	List	   *list = NIL;
	size_t		i;

	for (i = 0; i < size / sizeof(int); i++)
		list = lappend_int(list, ints[i]);
	return list;
}

/*
 * Reads a list of integers back into a struct of the given size.  Raises an error if their number
 * is wrong, as may happen in a parallel worker that has loaded another version of the module.
 */
static void
read_ints(const List *list, void *to, size_t size)
{
	int			n = (int) (size / sizeof(int));
	const ListCell *lc;

	if (list_length(list) != n)
		elog(ERROR, "a plan's join filter has %d fields, not %d", list_length(list), n);
	foreach(lc, list)
		((int *) to)[foreach_current_index(lc)] = lfirst_int(lc);
}

/*
 * Returns one field of a filter, without decoding the rest; "at" is the field's offset in
 * JoinFilterInfo, in bytes.
 */
static int
read_field(const List *filter, size_t at)
{
	Assert(at < SIZE_OF_FIELDS);
	return list_nth_int(linitial(filter), at / sizeof(int));
}

/*
 * Writes a list of JoinAncestorInfo (one for each step from a partition up to its parent) as a list
 * of lists of integers: the parent, the child, then the key's columns.
 */
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

/* Writes a list of JoinForeignInfo as a list of lists of integers. */
static List *
write_foreign(const List *foreign)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, foreign)
		list = lappend(list, write_ints(lfirst(lc), sizeof(JoinForeignInfo)));
	return list;
}

static List *
read_foreign(const List *list)
{
	List	   *foreign = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		JoinForeignInfo *info = palloc(sizeof(JoinForeignInfo));

		read_ints(lfirst(lc), info, sizeof(JoinForeignInfo));
		foreign = lappend(foreign, info);
	}
	return foreign;
}

void
bloomfam_join_filter_info_add(CustomScan *node, const JoinFilterInfo *info)
{
	List	   *filter =
		list_make4(write_ints(info, SIZE_OF_FIELDS),
				   write_ints(info->columns, info->ncolumns * sizeof(JoinColumnInfo)),
				   write_ancestors(info->ancestors), write_foreign(info->foreign));
	int			position = 0;

	Assert(bloomfam_join_node_kind(&node->scan.plan) != JOIN_NODE_OTHER);
	Assert(info->drop >= 0 && info->drop <= 1000);
	Assert((info->kind == JOIN_INFO_STORED) == (info->condition >= 0));
	Assert(info->kind == JOIN_INFO_STORED || !bloomfam_join_has_filter(node, info->number));
	while (position < bloomfam_join_nfilters(node) &&
		   read_field(list_nth(node->custom_private, position), offsetof(JoinFilterInfo, drop)) >=
			   info->drop)
		position++;
	node->custom_private = list_insert_nth(node->custom_private, position, filter);
}

JoinFilterInfo *
bloomfam_join_filter_infos(const CustomScan *node)
{
	JoinFilterInfo *infos = palloc0(Max(bloomfam_join_nfilters(node), 1) * sizeof(JoinFilterInfo));
	ListCell   *lc;

	foreach(lc, node->custom_private)
	{
		const List *filter = lfirst(lc);
		JoinFilterInfo *info = &infos[foreach_current_index(lc)];

		read_ints(linitial(filter), info, SIZE_OF_FIELDS);
		info->columns = palloc(info->ncolumns * sizeof(JoinColumnInfo));
		read_ints(lsecond(filter), info->columns, info->ncolumns * sizeof(JoinColumnInfo));
		info->ancestors = read_ancestors(lthird(filter));
		info->foreign = read_foreign(lfourth(filter));
	}
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
