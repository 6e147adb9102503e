/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * partition_key.h
 *	  Answers questions about a table's partition key, for the planner and the executor.
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

/*
 * Returns how many columns of a partition key, from the first one on, must be known to prune
 * partitions.
 */
static inline int
bloomfam_join_partition_needed(PartitionKey key)
{
	/*
	 * Hash partitioning needs the values of all columns; for ranges and lists the first column is
	 * enough.
	 */
	return key->strategy == PARTITION_STRATEGY_HASH ? key->partnatts : 1;
}

/*
 * Returns the support function of a partition key's column for values of the given type: the
 * function that hashes them in hash partitioning, else the function that compares partition bounds
 * with them.  Returns InvalidOid if there is none.
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
