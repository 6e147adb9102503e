/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bucket_prefetch.c
 *	  Prefetches the buckets of joins' hash tables that the rows of a page will need.
 *
 * For each row that it is given, a hash join waits for memory twice: for the bucket's head, and for
 * the first tuple in the bucket.  Between two rows that pass a filter, a scan reads much that is
 * not needed again, which drives both out of the caches.  Nothing depends on the prefetch:
 * prefetching a wrong bucket would only be useless.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/lsyscache.h"

#include "join/executor/bucket_prefetch.h"
#include "pg/server_structs.h"

/*
 * The size in bytes up to which a hash table is in the processor's nearest cache anyway: half of a
 * small first level cache.
 */
#define NEAR_TABLE			(16 * 1024)

/*
 * Returns the function by which the join hashes its outer key.  It is looked up when it is first
 * needed, and lives as long as the filter.  Its fn_oid is 0 if the join's function may be costly or
 * may fail.
 */
static FmgrInfo *
find_hash(const JoinFilter *filter, const JoinKey *key)
{
	const HashJoin *join = (const HashJoin *) filter->join->plan;
	MemoryContext context = filter->join->state->es_query_cxt;
	FmgrInfo   *hash = filter->group->bucket_hash;
	Oid			outer;
	Oid			inner;

	if (hash != NULL)
		return hash;
	hash = filter->group->bucket_hash = MemoryContextAllocZero(context, sizeof(FmgrInfo));
	if (key->integer && list_length(join->hashkeys) == 1 &&
		get_op_hash_functions(linitial_oid(join->hashoperators), &outer, &inner) &&
		outer < FirstNormalObjectId)
		fmgr_info_cxt(outer, hash, context);
	return hash;
}

void
bloomfam_join_prefetch_buckets(JoinProbeState *state, JoinBatchScratch *scratch, TupleDesc desc,
							   int n)
{
	int			nbuckets = 0;
	int			f;
	int			i;

	for (f = 0; f < state->nprobes; f++)
	{
		JoinProbe  *probe = &state->probes[f];
		JoinFilter *filter = probe->filter;
		FmgrInfo   *hash;

		if (filter == NULL || probe->access == JOIN_ROW_BY_ROW || !probe->info->unbuffered ||
			probe->ncolumns != 1 || !bloomfam_join_filter_ready(filter))
			continue;

		/*
		 * Prefetching pays only for a hash table that belongs to this process alone, is entirely in
		 * memory, and is too large for the cache nearest to the processor.
		 */
		if (!BLOOMFAM_KNOWN_MAJOR || filter->role != JOIN_FILTER_PRIVATE ||
			!IsA(filter->join, HashJoinState) ||
			!bloomfam_hash_table_is_private(filter->table) ||
			bloomfam_hash_table_size(filter->table) <= NEAR_TABLE)
			continue;

		/*
		 * The buckets can be read safely: a ready filter belongs to the hash table that the join
		 * has now, which does not grow any more.
		 */
		Assert(*filter->kept == filter->table);
		hash = find_hash(filter, probe->keys);
		if (!OidIsValid(hash->fn_oid))
			continue;
		bloomfam_join_batch_hash(scratch, probe->keys, probe->batch_columns, 1, desc, n, true,
								 false);
		for (i = 0; i < n && nbuckets < JOIN_BUCKETS_PREFETCHED; i++)
		{
			int64		number = (int64) scratch->hashes[i];
			Datum		hashed =
				FunctionCall1Coll(hash, probe->keys->collation,
								  bloomfam_join_number_datum(probe->keys->typlen, number));
			HashJoinTuple *bucket =
				bloomfam_hash_table_bucket(filter->table, DatumGetUInt32(hashed));

			__builtin_prefetch(bucket);
			scratch->buckets[nbuckets++] = bucket;
		}
	}
	for (i = 0; i < nbuckets; i++)
		__builtin_prefetch(*scratch->buckets[i]);
}
