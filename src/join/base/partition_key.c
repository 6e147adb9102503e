/*-------------------------------------------------------------------------
 *
 * partition_key.c
 *	  What a table is partitioned by, for the planner and the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/nbtree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "join/base/partition_key.h"

Oid
bloomfam_join_partition_support(PartitionKey key, int column, Oid type)
{
	Assert(column < bloomfam_join_partition_needed(key));
	if (key->strategy == PARTITION_STRATEGY_HASH)
		return get_opfamily_proc(key->partopfamily[column], type, type, HASHEXTENDED_PROC);
	return get_opfamily_proc(key->partopfamily[column], key->partopcintype[column], type,
							 BTORDER_PROC);
}

bool
bloomfam_join_partition_is_in_order(PartitionKey key)
{
	return key->strategy != PARTITION_STRATEGY_HASH &&
		   lookup_type_cache(key->partopcintype[0], TYPECACHE_BTREE_OPFAMILY)->btree_opf ==
			   key->partopfamily[0];
}
