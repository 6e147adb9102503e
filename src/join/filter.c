/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What the two sides of a join share: the filter of one join, in one process.
 *
 * The planner's estimate of the build side may be wrong by any factor, so hashes are kept, 8 bytes each, until their number is known; the filter is
 * then sized for that.  Repeated keys are counted each time: the filter comes out larger than it need be, never too small.  Where so many
 * hashes do not fit, the filter is given up: passing all rows is right, and a filter of that size would not have been in any cache.
 *
 * Memory: 8 bytes a row while building, within work_mem * hash_mem_multiplier and within bloomfam.join_filter_max_size for the filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/join.h"

#define FIRST_HASHES	1024

/* Between two looks at interrupts. */
#define ADD_AT_ONCE		65536

/* A line of the cache, which a block of the filter should be. */
#define FILTER_ALIGNMENT	64

/* What bloomfam.join_filter_fpr asks for; computing it takes longer than a small query. */
static const BfDesign *
current_design(void)
{
	static BfDesign design;

	if (design.kind == NULL || design.fpr != bloomfam_join_filter_fpr)
	{
		const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);

		if (bf_design(kind, bloomfam_join_filter_fpr, &design) != BF_OK)
			elog(ERROR, "no filter has a false positive rate of %g", bloomfam_join_filter_fpr);
	}
	return &design;
}

JoinFilter *
bloomfam_join_filter_get(EState *estate, int param)
{
	ParamExecData *slot = &estate->es_param_exec_vals[param];

	if (slot->value == (Datum) 0)
	{
		JoinFilter *filter = MemoryContextAllocZero(estate->es_query_cxt, sizeof(JoinFilter));

		filter->context = AllocSetContextCreate(estate->es_query_cxt, "bloomfam join filter", ALLOCSET_DEFAULT_SIZES);
		slot->value = PointerGetDatum(filter);
	}
	return (JoinFilter *) DatumGetPointer(slot->value);
}

void
bloomfam_join_filter_begin(JoinFilter *filter)
{
	MemoryContextReset(filter->context);
	filter->complete = false;
	filter->abandoned = false;
	filter->table = NULL;
	filter->hashes = NULL;
	filter->nhashes = 0;
	filter->allocated = 0;
	filter->payload = NULL;
}

/* The number of hashes that both they and the filter of them have room for. */
static uint64
most_hashes(void)
{
	uint64		memory = get_hash_memory_limit();
	uint64		bits = (uint64) bloomfam_join_filter_max_size * 1024 * 8;

	return Max(Min(memory / sizeof(uint64), bits * 1000 / current_design()->millibits), FIRST_HASHES);
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	uint64		most = most_hashes();
	uint64		allocated = filter->allocated == 0 ? FIRST_HASHES : filter->allocated * 2;

	if (filter->abandoned)
		return;
	if (filter->allocated >= most)
	{
		MemoryContextReset(filter->context);
		filter->hashes = NULL;
		filter->nhashes = filter->allocated = 0;
		filter->abandoned = true;
		return;
	}
	allocated = Min(allocated, most);
	if (filter->hashes == NULL)
		filter->hashes = MemoryContextAlloc(filter->context, allocated * sizeof(uint64));
	else
		filter->hashes = repalloc_huge(filter->hashes, allocated * sizeof(uint64));
	filter->allocated = allocated;
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	BfHeader	head;
	char	   *memory;
	Size		size;
	uint64		done;

	filter->builds++;

	/* an empty set has a filter as well: the smallest, which contains nothing */
	if (!filter->abandoned && bf_plan(current_design(), Max(filter->nhashes, 1), &head) != BF_OK)
		filter->abandoned = true;
	filter->given_up += filter->abandoned;
	if (filter->abandoned || filter->join == NULL)
		return;
	size = head.payload_len + FILTER_ALIGNMENT;
	memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE);
	bloomfam_advise_huge_pages(memory, size);
	filter->payload = (uint8 *) TYPEALIGN(FILTER_ALIGNMENT, memory);
	memset(filter->payload, 0, head.payload_len);
	bf_init(&head, filter->payload);
	for (done = 0; done < filter->nhashes; done += ADD_AT_ONCE)
	{
		head.kind->add(&head, filter->payload, filter->hashes + done, Min(ADD_AT_ONCE, filter->nhashes - done));
		CHECK_FOR_INTERRUPTS();
	}
	filter->keys += filter->nhashes;
	filter->bytes += head.payload_len;
	filter->largest = Max(filter->largest, head.payload_len);
	filter->memory = Max(filter->memory, size + filter->allocated * sizeof(uint64));
	if (filter->hashes != NULL)
		pfree(filter->hashes);
	filter->hashes = NULL;
	filter->nhashes = filter->allocated = 0;

	filter->view.head = head;
	filter->view.payload = filter->payload;
	filter->probe = head.kind->prober(&filter->view);
	filter->table = filter->join->hj_HashTable;
	filter->complete = true;
}
