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
#include "access/stratnum.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/typcache.h"

#include "join/base/partition_key.h"

/* Rows are hashed by all columns; of a range or a list the first one is enough. */
static JoinPartitionKey
make_key(char strategy, int ncolumns, const Oid *families, const Oid *types, const Oid *collations)
{
	Assert(ncolumns > 0 && ncolumns <= PARTITION_MAX_KEYS);
	Assert(strategy != PARTITION_STRATEGY_LIST || ncolumns == 1);
	return (JoinPartitionKey) {
		.strategy = strategy, .ncolumns = ncolumns,
		.needed = strategy == PARTITION_STRATEGY_HASH ? ncolumns : 1,
		.families = families, .types = types, .collations = collations
	};
}

JoinPartitionKey
bloomfam_join_partition_key(PartitionKey key)
{
	return make_key(key->strategy, key->partnatts, key->partopfamily, key->partopcintype,
					key->partcollation);
}

JoinPartitionKey
bloomfam_join_partition_key_by_scheme(PartitionScheme scheme)
{
	return make_key(scheme->strategy, scheme->partnatts, scheme->partopfamily,
					scheme->partopcintype, scheme->partcollation);
}

Oid
bloomfam_join_partition_equality(const JoinPartitionKey *key, int column, Oid type)
{
	Assert(column < key->needed);
	return get_opfamily_member(key->families[column], key->types[column], type,
							   key->strategy == PARTITION_STRATEGY_HASH ? HTEqualStrategyNumber
																		: BTEqualStrategyNumber);
}

Oid
bloomfam_join_partition_support(const JoinPartitionKey *key, int column, Oid type)
{
	Assert(column < key->needed);
	if (key->strategy == PARTITION_STRATEGY_HASH)
		return get_opfamily_proc(key->families[column], type, type, HASHEXTENDED_PROC);
	return get_opfamily_proc(key->families[column], key->types[column], type, BTORDER_PROC);
}

bool
bloomfam_join_partition_is_in_order(const JoinPartitionKey *key)
{
	return key->strategy != PARTITION_STRATEGY_HASH &&
		   lookup_type_cache(key->types[0], TYPECACHE_BTREE_OPFAMILY)->btree_opf ==
			   key->families[0];
}
