/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_pruning.c
 *	  Tells whether a partition can have rows that match a build side's keys.
 *
 * The server's own partition pruning is used, with pruning steps made here: the partition key
 * equals one of the keys, or it is between the smallest and the largest key.  So partition bounds,
 * default partitions and partitions for NULLs have the meaning that they have in the server.  Each
 * process prunes once for each build and partitioned table.
 *
 * A partition's bounds are those of the present.  A snapshot older than ATTACH PARTITION can see
 * rows in the partition that are outside of its bounds and have been deleted since, and in a
 * default partition, rows that would belong to another partition today.  Such a partition is read.
 * So is a partition that is not in the partition descriptor because it has been detached since the
 * plan was made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "partitioning/partbounds.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "join/base/partition_key.h"
#include "join/executor/partition_pruning.h"
#include "pg/server_structs.h"

/*
 * The number of keys of one build that are looked up in all partitioned tables together; after
 * that, only the range of the keys is used.
 */
#define MOST_LOOKUPS	(16 * JOIN_KEYS_FEW)

/* The largest number of pruning steps by which keys are looked up at once. */
#define MOST_STEPS		3

/* A partitioned table, and which of its partitions can match. */
typedef struct Parent
{
	Index		rti;

	/* List of int: the filter's key columns that prune, as in JoinAncestorInfo. */
	const List *columns;
	PartitionDesc desc;
	PartitionKey key;

	/*
	 * The index of the partition that was found last, as partitions are mostly executed in the
	 * order of their bounds.
	 */
	int			last_found;

	/*
	 * The number of partitions, from the first one on, whose present bounds the query's snapshot is
	 * known to see, so that they hold for the rows that it sees.
	 */
	int			nsettled;

	/*
	 * The number of the build of the filter (JoinFilter.keys_build) whose keys the fields below
	 * were found from; 0: there is none yet.
	 */
	uint64		build;

	/*
	 * The reason why nothing is known of any partition; JOIN_NO_REASON: "live" has those that can
	 * match.
	 */
	JoinReason	unknown;

	/* The indexes, in the partition descriptor, of the partitions that can match. */
	Bitmapset  *live;
} Parent;

typedef struct Ancestor
{
	/* The partitioned table; NULL: the keys do not prune its partitions. */
	Parent	   *parent;
	Oid			child;
} Ancestor;

struct JoinPartition
{
	JoinFilter *filter;
	Snapshot	snapshot;
	int			nancestors;
	Ancestor	ancestors[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- partitioned tables ---- */

static Parent *
get_parent(EState *estate, JoinFilter *filter, const JoinAncestorInfo *ancestor)
{
	Relation	relation;
	Parent	   *parent;
	ListCell   *lc;

	foreach(lc, filter->group->parents)
	{
		parent = lfirst(lc);
		if (parent->rti == ancestor->parent && equal(parent->columns, ancestor->columns))
			return parent;
	}

	/*
	 * The partition directory includes partitions that are being detached, as their bounds hold
	 * until the detaching has ended.
	 */
	if (estate->es_partition_directory == NULL)
		estate->es_partition_directory = CreatePartitionDirectory(estate->es_query_cxt, false);
	relation = bloomfam_range_table_relation(estate, ancestor->parent);
	parent = palloc0(sizeof(Parent));
	parent->rti = ancestor->parent;
	parent->columns = ancestor->columns;
	parent->key = RelationGetPartitionKey(relation);
	parent->desc = PartitionDirectoryLookup(estate->es_partition_directory, relation);
	filter->group->parents = lcons(parent, filter->group->parents);
	return parent;
}

JoinPartition *
bloomfam_join_partition_begin(EState *estate, const JoinFilterInfo *info, JoinFilter *filter)
{
	int			n = list_length(info->ancestors);
	JoinPartition *partition = palloc(offsetof(JoinPartition, ancestors) + n * sizeof(Ancestor));
	int			i;

	Assert(CurrentMemoryContext == estate->es_query_cxt);
	partition->filter = filter;
	partition->snapshot = estate->es_snapshot;
	partition->nancestors = n;
	for (i = 0; i < n; i++)
	{
		const JoinAncestorInfo *ancestor = list_nth(info->ancestors, i);

		/* The planner's list of ancestors begins with one whose partitions the keys prune. */
		Assert(i > 0 || ancestor->columns != NIL);
		partition->ancestors[i].parent =
			ancestor->columns != NIL ? get_parent(estate, filter, ancestor) : NULL;
		partition->ancestors[i].child = exec_rt_fetch(ancestor->child, estate)->relid;
	}
	return partition;
}

/* Returns the index of a partition in its parent's partition descriptor; -1 if it is not there. */
static int
find_child(Parent *parent, Oid child)
{
	int			n = parent->desc->nparts;
	int			i;

	for (i = 0; i < n; i++)
	{
		parent->last_found = (parent->last_found + 1) % n;
		if (parent->desc->oids[parent->last_found] == child)
			return parent->last_found;
	}
	return -1;
}

/* ---- bounds that the snapshot agrees with ---- */

/*
 * Tells whether the snapshot sees the change that gave a table its present partition bounds.  That
 * change wrote the table's row in pg_class.
 */
static bool
is_settled(Oid table, Snapshot snapshot)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	TransactionId writer;

	if (!HeapTupleIsValid(tuple))
		return false;
	writer = HeapTupleHeaderGetXmin(tuple->t_data);
	ReleaseSysCache(tuple);
	return !TransactionIdIsCurrentTransactionId(writer) && !XidInMVCCSnapshot(writer, snapshot);
}

/*
 * Tells whether the bounds of an ancestor's child hold for all rows that the snapshot sees in the
 * partition.  They may not if the partition, or a table between it and the ancestor, was attached
 * later.
 */
static bool
bounds_hold(const JoinPartition *partition, int ancestor, int index)
{
	Parent	   *parent = partition->ancestors[ancestor].parent;
	int			i;

	Assert(index >= 0 && index < parent->desc->nparts);
	if (partition->snapshot == NULL || !IsMVCCSnapshot(partition->snapshot))
		return false;
	for (i = ancestor; i < partition->nancestors; i++)
		if (!is_settled(partition->ancestors[i].child, partition->snapshot))
			return false;
	if (index != parent->desc->boundinfo->default_index)
		return true;

	/* The default partition has the rows that are outside the bounds of all other partitions. */
	while (parent->nsettled < parent->desc->nparts &&
		   is_settled(parent->desc->oids[parent->nsettled], partition->snapshot))
		parent->nsettled++;
	return parent->nsettled == parent->desc->nparts;
}

/* ---- partitions that can match ---- */

/* Returns a key as a constant that the partition bounds are compared with. */
static Const *
make_key(const JoinKeys *keys, int64 key)
{
	return makeConst(keys->type, -1, InvalidOid, keys->typlen, bloomfam_join_keys_datum(keys, key),
					 false, true);
}

static PartitionPruneStepOp *
make_step(int id, StrategyNumber strategy, List *keys, List *functions)
{
	PartitionPruneStepOp *step = makeNode(PartitionPruneStepOp);

	step->step.step_id = id;
	step->opstrategy = strategy;
	step->exprs = keys;
	step->cmpfns = functions;
	return step;
}

/* Finds the partitions for each combination of the columns' keys, which must be listed. */
static void
find_by_key(Parent *parent, const JoinKeys *keys, PartitionPruneContext *pruning)
{
	int			n = list_length(parent->columns);
	const JoinKeys *columns[PARTITION_MAX_KEYS];
	Const	   *values[PARTITION_MAX_KEYS];
	int			at[PARTITION_MAX_KEYS] = {0};
	List	   *exprs = NIL;
	List	   *functions = NIL;
	PartitionPruneStepOp *step;
	bool		hash = parent->key->strategy == PARTITION_STRATEGY_HASH;
	int			i;

	Assert(n == bloomfam_join_partition_needed(parent->key));
	for (i = 0; i < n; i++)
	{
		columns[i] = &keys[list_nth_int(parent->columns, i)];
		if (columns[i]->nvalues == 0)
			return;
		values[i] = make_key(columns[i], columns[i]->values[0]);
		exprs = lappend(exprs, values[i]);
		functions = lappend_oid(
			functions, bloomfam_join_partition_support(parent->key, i, columns[i]->type));
	}
	step = make_step(0, hash ? HTEqualStrategyNumber : BTEqualStrategyNumber, exprs, functions);
	do
	{
		parent->live = bms_add_members(parent->live,
									   get_matching_partitions(pruning, list_make1(step)));

		/*
		 * Moves to the next combination of keys, in which the first column's key changes fastest.
		 */
		for (i = 0; i < n; i++)
		{
			at[i] = at[i] + 1 < columns[i]->nvalues ? at[i] + 1 : 0;
			values[i]->constvalue = bloomfam_join_keys_datum(columns[i], columns[i]->values[at[i]]);
			if (at[i] > 0)
				break;
		}
	} while (i < n && bms_num_members(parent->live) < parent->desc->nparts);
}

/* Finds the partitions for keys between the smallest and the largest. */
static void
find_by_range(Parent *parent, const JoinKeys *keys, PartitionPruneContext *pruning)
{
	List	   *smallest = list_make1(make_key(keys, keys->bounds.smallest));
	List	   *largest = list_make1(make_key(keys, keys->bounds.largest));
	Oid			compare = bloomfam_join_partition_support(parent->key, 0, keys->type);
	List	   *functions = list_make1_oid(compare);
	PartitionPruneStepCombine *both = makeNode(PartitionPruneStepCombine);
	List	   *steps;

	both->step.step_id = 2;
	both->combineOp = PARTPRUNE_COMBINE_INTERSECT;
	both->source_stepids = list_make2_int(0, 1);
	steps = list_make3(make_step(0, BTGreaterEqualStrategyNumber, smallest, functions),
					   make_step(1, BTLessEqualStrategyNumber, largest, functions), both);
	Assert(list_length(steps) <= MOST_STEPS);
	parent->live = get_matching_partitions(pruning, steps);
}

/* Finds which partitions of a table can match the keys of the build that is being probed. */
static void
find_live(Parent *parent, JoinFilter *filter, const JoinKeys *keys)
{
	MemoryContext scratch =
		AllocSetContextCreate(CurrentMemoryContext, "bloomfam partitions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	JoinProbeGroup *group = filter->group;
	uint64		combinations = 1;
	bool		known = true;
	bool		listed = true;
	PartitionPruneContext pruning;
	ListCell   *lc;

	if (group->lookups_build != filter->keys_build)
		group->lookups = 0;
	group->lookups_build = filter->keys_build;
	foreach(lc, parent->columns)
	{
		const JoinKeys *column = &keys[lfirst_int(lc)];

		known &= bloomfam_join_keys_are_known(column);
		listed &= column->phase == JOIN_KEYS_LISTED;
		if (combinations <= JOIN_KEYS_FEW)
			combinations *= column->nvalues;
	}
	listed &= combinations <= JOIN_KEYS_FEW && group->lookups + combinations <= MOST_LOOKUPS;
	bloomfam_prune_context_init(&pruning, parent->key->strategy, parent->key->partnatts,
								parent->key->partcollation, parent->key->partsupfunc,
								parent->desc, MOST_STEPS);
	parent->build = filter->keys_build;
	parent->live = NULL;
	parent->unknown = JOIN_NO_REASON;
	if (!known)
		parent->unknown = JOIN_SKIP_KEYS_UNKNOWN;
	else if (listed)
	{
		group->lookups += combinations;
		find_by_key(parent, keys, &pruning);
	}
	/*
	 * A range can be looked up only if the partition bounds are in the default order of the first
	 * column's type, and are not hashes.
	 */
	else if (parent->key->strategy == PARTITION_STRATEGY_HASH ||
			 lookup_type_cache(parent->key->partopcintype[0],
							   TYPECACHE_BTREE_OPFAMILY)->btree_opf != parent->key->partopfamily[0])
		parent->unknown = JOIN_PARTITION_MANY_KEYS;
	else
		find_by_range(parent, &keys[linitial_int(parent->columns)], &pruning);
	Assert(bms_num_members(parent->live) <= parent->desc->nparts);
	MemoryContextSwitchTo(filter->keys_context);
	parent->live = bms_copy(parent->live);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

JoinReason
bloomfam_join_partition_prune(JoinPartition *partition)
{
	JoinFilter *filter = partition->filter;
	const JoinKeys *keys = bloomfam_join_filter_keys(filter);
	JoinReason	answer = JOIN_PARTITION_CAN_MATCH;
	int			i;

	if (keys == NULL)
		return JOIN_SKIP_TOO_LATE;
	for (i = 0; i < partition->nancestors; i++)
	{
		const Ancestor *ancestor = &partition->ancestors[i];
		Parent	   *parent = ancestor->parent;
		int			index;

		if (parent == NULL || parent->desc->nparts == 0)
			continue;
		if (parent->build != filter->keys_build)
			find_live(parent, filter, keys);
		Assert(parent->build > 0 && parent->build == filter->keys_build);
		if (parent->unknown != JOIN_NO_REASON)
		{
			answer = parent->unknown;
			continue;
		}
		index = find_child(parent, ancestor->child);
		if (index >= 0 && bms_is_member(index, parent->live))
			continue;
		if (index >= 0 && bounds_hold(partition, i, index))
			return JOIN_NO_REASON;
		answer = JOIN_PARTITION_NEW;
	}
	return answer;
}
