/*-------------------------------------------------------------------------
 *
 * bucket.c
 *	  The buckets of joins' hash tables, asked of memory before the joins look into them.
 *
 * A hash join waits for memory twice for each row that it is given: for the bucket, then for the
 * first row in there.  Between two rows that pass a filter, a scan reads much that is not needed
 * again, and drives both out of the caches.  As all rows of a page are known before the first one
 * is given, what they will need can be fetched meanwhile, that of all rows at once.
 *
 * Nothing depends on it: a wrong bucket would only be of no use.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/lsyscache.h"

#include "join/executor/bucket.h"
#include "pg/server_structs.h"

/* A hash table of so many bytes is near the processor anyway: half of a small first cache. */
#define NEAR_TABLE	(16 * 1024)

/* How the join hashes the key of its outer side. */
struct JoinBucketHash
{
	bool		known;			/* it can be called, and costs little, and never fails */
	FmgrInfo	function;
	Oid			collation;
};

/* Finds it when it is first asked for; it lives as long as the filter. */
static const JoinBucketHash *
find_hash(JoinFilter *filter, const JoinKey *key)
{
	const HashJoin *join = (const HashJoin *) filter->join->js.ps.plan;
	MemoryContext context = filter->join->js.ps.state->es_query_cxt;
	JoinBucketHash *hash;
	Oid			outer;
	Oid			inner;

	if (filter->bucket_hash != NULL)
		return filter->bucket_hash;
	hash = MemoryContextAllocZero(context, sizeof(JoinBucketHash));
	if (key->integer && list_length(join->hashkeys) == 1 &&
		get_op_hash_functions(linitial_oid(join->hashoperators), &outer, &inner) &&
		outer < FirstNormalObjectId)
	{
		fmgr_info_cxt(outer, &hash->function, context);
		hash->collation = linitial_oid(join->hashcollations);
		hash->known = true;
	}
	filter->bucket_hash = hash;
	return hash;
}

bool
bloomfam_join_buckets_are_far(JoinFilter *filter, const JoinKey *key)
{
	const HashJoinTable table = filter->table;

	return BLOOMFAM_KNOWN_MAJOR && filter->role == JOIN_FILTER_PRIVATE &&
		   bloomfam_hash_table_is_private(table) &&
		   bloomfam_hash_table_size(table) > NEAR_TABLE && find_hash(filter, key)->known;
}

void
bloomfam_join_buckets_prefetch(JoinBuckets *buckets, const JoinFilter *filter, const JoinKey *key,
							   const uint64 *numbers, int n)
{
	const JoinBucketHash *hash = filter->bucket_hash;
	const HashJoinTable table = filter->table;
	int			most = Min(n, JOIN_BUCKETS_PREFETCHED - buckets->n);
	int			i;

	/* ready filters are of the table that the join has now; it may not grow meanwhile */
	Assert(bloomfam_hash_join_table(filter->join) == table);
	Assert(hash != NULL && hash->known);
	Assert(buckets->n >= 0 && buckets->n <= JOIN_BUCKETS_PREFETCHED);
	for (i = 0; i < most; i++)
	{
		Datum		value = bloomfam_join_number_datum(key->typlen, (int64) numbers[i]);
		uint32		hashed = DatumGetUInt32(FunctionCall1Coll(
			unconstify(FmgrInfo *, &hash->function), hash->collation, value));
		HashJoinTuple *bucket = bloomfam_hash_table_bucket(table, hashed);

		__builtin_prefetch(bucket);
		buckets->prefetched[buckets->n++] = bucket;
	}
}

void
bloomfam_join_buckets_prefetch_rows(JoinBuckets *buckets)
{
	int			i;

	for (i = 0; i < buckets->n; i++)
		__builtin_prefetch(*buckets->prefetched[i]);
	buckets->n = 0;
}
