/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_key.h
 *	  What a table is partitioned by, for the planner and the executor.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_KEY_H
#define BLOOMFAM_JOIN_PARTITION_KEY_H

#include "access/hash.h"
#include "access/nbtree.h"
#include "catalog/partition.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

/* So many columns of the key, from the first on, must be known to prune partitions. */
static inline int
bloomfam_join_partition_needed(PartitionKey key)
{
	/* rows are hashed by all columns; of a range or a list the first one is enough */
	return key->strategy == PARTITION_STRATEGY_HASH ? key->partnatts : 1;
}

/*
 * The function that compares a column's bounds with a value of this type, or hashes that;
 * InvalidOid if there is none.
 */
static inline Oid
bloomfam_join_partition_support(PartitionKey key, int column, Oid type)
{
	Assert(column < bloomfam_join_partition_needed(key));
	if (key->strategy == PARTITION_STRATEGY_HASH)
		return get_opfamily_proc(key->partopfamily[column], type, type, HASHEXTENDED_PROC);
	return get_opfamily_proc(key->partopfamily[column], key->partopcintype[column], type,
							 BTORDER_PROC);
}

#endif							/* BLOOMFAM_JOIN_PARTITION_KEY_H */
