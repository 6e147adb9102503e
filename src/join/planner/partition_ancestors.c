/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_ancestors.c
 *	  Follows the scan of a partition up to the partitioned tables above it.
 *
 * During execution, the server's own partition pruning tells which partitions can have a key,
 * provided that the join's operator is the equality of the partition key.  While planning, this
 * file decides which columns of a filter's key can be used for that; it may do so because a table's
 * partition key never changes.  Partitioned tables above the one that the query names are not
 * looked at, as only that one and its partitions are locked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "join/base/column.h"
#include "join/base/partition_key.h"
#include "join/filter/keys.h"
#include "join/planner/partition_ancestors.h"
#include "pg/plan_nodes.h"

/* A partitioned table, and the columns of the filter's key that prune its partitions. */
typedef struct Parent
{
	Index		rti;

	/* The attribute numbers of the filter's key columns in this table; 0: not a column of it. */
	AttrNumber *attributes;

	/*
	 * The numbers of the key columns that prune the table's partitions; NIL: they cannot be pruned.
	 */
	List	   *columns;
} Parent;

static AppendRelInfo *
parent_of(JoinPartitionAncestors *ancestors, Index child)
{
	const PlannedStmt *stmt = ancestors->pushdown->plan_info->known.stmt;
	ListCell   *lc;

	if (ancestors->of_child == NULL)
	{
		ancestors->of_child = palloc0((list_length(stmt->rtable) + 1) * sizeof(AppendRelInfo *));
		foreach(lc, stmt->appendRelations)
		{
			AppendRelInfo *relation = lfirst(lc);

			Assert(relation->child_relid <= list_length(stmt->rtable));
			ancestors->of_child[relation->child_relid] = relation;
		}
	}
	return ancestors->of_child[child];
}

/*
 * Returns the reason why values of a key column cannot be used for pruning by column "number" of a
 * partition key; JOIN_NO_REASON if they can be.
 */
static JoinReason
column_refusal(const JoinKeyColumn *column, PartitionKey key, int number)
{
	Oid			type = column->hashing.build.type;
	Oid			collation = key->partcollation[number];
	int			strategy = key->strategy == PARTITION_STRATEGY_HASH ? HTEqualStrategyNumber
																	: BTEqualStrategyNumber;

	if (get_opfamily_member(key->partopfamily[number], key->partopcintype[number], type,
							strategy) != column->operator ||
		(OidIsValid(collation) && collation != column->collation) ||
		!OidIsValid(bloomfam_join_partition_support(key, number, type)))
		return JOIN_PARTITION_OTHER_EQUALITY;
	return bloomfam_join_keys_can_keep(column->hashing.kind, type) ? JOIN_NO_REASON
																   : JOIN_PARTITION_OTHER_TYPE;
}

List *
bloomfam_join_partition_columns(Oid table, const JoinKeyColumn *columns, int ncolumns,
								const AttrNumber *attributes, JoinReason *reason)
{
	Relation	relation = table_open(table, NoLock);
	PartitionKey key = RelationGetPartitionKey(relation);
	List	   *found = NIL;
	int			number;
	int			i;

	*reason = JOIN_NO_REASON;
	for (number = 0;
		 number < bloomfam_join_partition_needed(key) && *reason == JOIN_NO_REASON; number++)
	{
		for (i = 0; i < ncolumns; i++)
			if (attributes[i] != 0 && attributes[i] == key->partattrs[number])
				break;
		if (i == ncolumns)
			*reason = number == 0 ? JOIN_PARTITION_OTHER_KEY : JOIN_PARTITION_PART_OF_HASH;
		else
			*reason = column_refusal(&columns[i], key, number);
		found = lappend_int(found, i);
	}
	table_close(relation, NoLock);
	return *reason == JOIN_NO_REASON ? found : NIL;
}

/* Returns what is known of a partitioned table.  It is found out at the first of its partitions. */
static const Parent *
find_parent(JoinPartitionAncestors *ancestors, Index rti, Oid table, const AttrNumber *attributes)
{
	const JoinPushdown *pushdown = ancestors->pushdown;
	Size		size = pushdown->candidate.ncolumns * sizeof(AttrNumber);
	JoinReason	reason;
	Parent	   *parent;
	ListCell   *lc;

	foreach(lc, ancestors->parents)
	{
		parent = lfirst(lc);
		if (parent->rti == rti && memcmp(parent->attributes, attributes, size) == 0)
			return parent;
	}
	parent = palloc(sizeof(Parent));
	parent->rti = rti;
	parent->attributes = memcpy(palloc(size), attributes, size);
	parent->columns = bloomfam_join_partition_columns(table, pushdown->candidate.columns,
													  pushdown->candidate.ncolumns, attributes,
													  &reason);
	if (!ancestors->some)
		ancestors->not_skipped = reason;
	ancestors->parents = lcons(parent, ancestors->parents);
	return parent;
}

/*
 * Returns the attribute number of the table's column that an output column of the table's scan is;
 * 0 if the output column is not a column of the table.
 */
static AttrNumber
column_of_table(const Plan *scan, AttrNumber attribute)
{
	Index		rti = ((const Scan *) scan)->scanrelid;
	AttrNumber	of_index;
	TargetEntry *entry;

	if (!IsA(scan, IndexOnlyScan))
		return bloomfam_join_column_behind(scan, attribute, rti);
	of_index = bloomfam_join_column_behind(scan, attribute, INDEX_VAR);
	if (of_index == 0)
		return 0;
	entry = list_nth(((const IndexOnlyScan *) scan)->indextlist, of_index - 1);
	return bloomfam_join_column(entry->expr, rti);
}

/* Tells whether a plan node scans one table, whose range table index is scanrelid. */
static bool
is_scan_of_table(const Plan *plan)
{
	return bloomfam_plan_node(plan)->scans_table &&
		   (!IsA(plan, ForeignScan) || (((const Scan *) plan)->scanrelid > 0 &&
										((const ForeignScan *) plan)->fdw_scan_tlist == NIL));
}

List *
bloomfam_join_partition_ancestors(JoinPartitionAncestors *ancestors, const Plan *plan,
								  const AttrNumber *attributes)
{
	const PlannedStmt *stmt = ancestors->pushdown->plan_info->known.stmt;
	int			n = ancestors->pushdown->candidate.ncolumns;
	AttrNumber *columns;
	AppendRelInfo *up;
	List	   *found = NIL;
	Index		child;
	int			i;

	if (stmt->appendRelations == NIL || !is_scan_of_table(plan))
		return NIL;
	columns = palloc(n * sizeof(AttrNumber));
	for (i = 0; i < n; i++)
		columns[i] = column_of_table(plan, attributes[i]);
	for (child = ((const Scan *) plan)->scanrelid; (up = parent_of(ancestors, child)) != NULL;
		 child = up->parent_relid)
	{
		const RangeTblEntry *entry = rt_fetch(up->parent_relid, stmt->rtable);
		JoinAncestorInfo *ancestor;

		if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_PARTITIONED_TABLE)
			break;
		for (i = 0; i < n; i++)
			columns[i] = columns[i] > 0 && columns[i] <= up->num_child_cols
							 ? up->parent_colnos[columns[i] - 1]
							 : 0;
		ancestor = palloc(sizeof(JoinAncestorInfo));
		ancestor->parent = up->parent_relid;
		ancestor->child = child;
		ancestor->columns =
			find_parent(ancestors, up->parent_relid, entry->relid, columns)->columns;
		found = lcons(ancestor, found);
	}
	pfree(columns);

	/*
	 * A parent whose partitions the keys do not prune is kept only below one whose partitions they
	 * do prune, because the executor also checks when a partition was attached to it.
	 */
	while (found != NIL && ((JoinAncestorInfo *) linitial(found))->columns == NIL)
		found = list_delete_first(found);
	if (found == NIL)
		return NIL;
	if (!bloomfam_join_tree_is_volatile_free(ancestors->pushdown->plan_info,
											 unconstify(Plan *, plan)))
	{
		if (!ancestors->some)
			ancestors->not_skipped = JOIN_PARTITION_IS_VOLATILE;
		return NIL;
	}
	Assert(((JoinAncestorInfo *) llast(found))->child == ((const Scan *) plan)->scanrelid);
	ancestors->some = true;
	ancestors->not_skipped = JOIN_NO_REASON;
	return found;
}
