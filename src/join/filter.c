/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  What the two sides of a join share: the filter of one join, in one process.
 *
 * The planner's estimate of the build side may be wrong by any factor, so hashes are kept, 8
 * bytes each, until their number is known; the filter is then sized for that.  Repeated keys are
 * counted each time: the filter comes out larger than it need be, never too small.  Where so many
 * hashes do not fit, the filter is given up: passing all rows is right, and a filter of that size
 * would not have been in any cache.
 *
 * Memory: 8 bytes a row while building, within work_mem * hash_mem_multiplier and within
 * bloomfam.join_filter_max_size for the filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "pg/env.h"

#define FIRST_HASHES	1024

/* Between two looks at interrupts. */
#define ADD_AT_ONCE		65536

/* What bloomfam.join_filter_fpr asks for; computing it takes longer than a small query. */
static const BfDesign *
current_design(void)
{
	static BfDesign design;

	if (design.kind == NULL || design.fpr != bloomfam_join_filter_fpr)
	{
		const BfKind *kind = bf_kind_by_id(JOIN_FILTER_KIND);

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

		filter->context = AllocSetContextCreate(estate->es_query_cxt, "bloomfam join filter",
												ALLOCSET_DEFAULT_SIZES);
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
	filter->view.payload = NULL;
}

double
bloomfam_join_filter_bytes(double nhashes)
{
	return nhashes * current_design()->millibits / 8000;
}

uint64
bloomfam_join_filter_most(void)
{
	uint64		memory = get_hash_memory_limit();
	uint64		bits = (uint64) bloomfam_join_filter_max_size * 1024 * 8;

	return Max(Min(memory / sizeof(uint64), bits * 1000 / current_design()->millibits),
			   FIRST_HASHES);
}

void
bloomfam_join_filter_more(JoinFilter *filter)
{
	uint64		most = bloomfam_join_filter_most();
	uint64		allocated = filter->allocated == 0 ? FIRST_HASHES : filter->allocated * 2;

	if (filter->abandoned)
		return;
	if (filter->shared != NULL)
	{
		bloomfam_join_shared_more(filter);
		return;
	}
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

bool
bloomfam_join_filter_plan(uint64 nhashes, BfHeader *head)
{
	/* an empty set has a filter as well: the smallest, which contains nothing */
	return bf_plan(current_design(), Max(nhashes, 1), head) == BF_OK;
}

void
bloomfam_join_filter_fill(const BfHeader *head, uint8 *payload, const uint64 *hashes, uint64 n)
{
	uint64		done;

	for (done = 0; done < n; done += ADD_AT_ONCE)
	{
		head->kind->add(head, payload, hashes + done, Min(ADD_AT_ONCE, n - done));
		CHECK_FOR_INTERRUPTS();
	}
}

void
bloomfam_join_filter_use(JoinFilter *filter, const BfHeader *head, const uint8 *payload)
{
	filter->view.head = *head;
	filter->view.payload = payload;
	filter->probe = head->kind->prober(&filter->view);
	if (filter->join != NULL)
		filter->table = filter->join->hj_HashTable;
	filter->complete = true;
}

void
bloomfam_join_filter_count(JoinFilter *filter, Size size, Size memory)
{
	filter->counts.bytes += size;
	filter->counts.largest = Max(filter->counts.largest, size);
	filter->counts.memory = Max(filter->counts.memory, memory);
}

void
bloomfam_join_filter_finish(JoinFilter *filter)
{
	BfHeader	head;
	char	   *memory;
	Size		size;
	uint8	   *payload;

	if (filter->shared != NULL)
	{
		bloomfam_join_shared_finish(filter);
		return;
	}
	filter->counts.builds++;
	if (!filter->abandoned && !bloomfam_join_filter_plan(filter->nhashes, &head))
		filter->abandoned = true;
	filter->counts.given_up += filter->abandoned;
	if (filter->abandoned || filter->join == NULL)
		return;
	size = head.payload_len + BLOOMFAM_CACHE_LINE;
	memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE);
	bloomfam_advise_huge_pages(memory, size);
	payload = (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, memory);
	memset(payload, 0, head.payload_len);
	bf_init(&head, payload);
	bloomfam_join_filter_fill(&head, payload, filter->hashes, filter->nhashes);
	filter->counts.keys += filter->nhashes;
	bloomfam_join_filter_count(filter, head.payload_len, size + filter->allocated * sizeof(uint64));
	if (filter->hashes != NULL)
		pfree(filter->hashes);
	filter->hashes = NULL;
	filter->nhashes = filter->allocated = 0;
	bloomfam_join_filter_use(filter, &head, payload);
}
