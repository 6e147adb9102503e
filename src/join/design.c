/*-------------------------------------------------------------------------
 *
 * design.c
 *	  How large a join's filter is, and how it is filled.
 *
 * Where the hashes of the build side do not fit work_mem * hash_mem_multiplier, or the filter of
 * them bloomfam.join_filter_max_size, there is none: passing all rows is right, and a filter of
 * that size would not have been in any cache.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/design.h"
#include "join/settings.h"

/* Between two looks at interrupts. */
#define ADD_AT_ONCE	65536

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

double
bloomfam_join_design_bytes(double nhashes)
{
	return nhashes * current_design()->millibits / 8000;
}

uint64
bloomfam_join_design_most(void)
{
	uint64		memory = get_hash_memory_limit();
	uint64		bits = (uint64) bloomfam_join_filter_max_size * 1024 * 8;

	return Max(Min(memory / sizeof(uint64), bits * 1000 / current_design()->millibits),
			   JOIN_FIRST_HASHES);
}

bool
bloomfam_join_design_plan(uint64 nhashes, BfHeader *head)
{
	/* an empty set has a filter as well: the smallest, which contains nothing */
	return bf_plan(current_design(), Max(nhashes, 1), head) == BF_OK;
}

void
bloomfam_join_design_clear(const BfHeader *head, uint8 *payload)
{
	memset(payload, 0, head->payload_len);
	bf_init(head, payload);
}

void
bloomfam_join_design_fill(const BfHeader *head, uint8 *payload, const uint64 *hashes, uint64 n)
{
	uint64		done;

	for (done = 0; done < n; done += ADD_AT_ONCE)
	{
		head->kind->add(head, payload, hashes + done, Min(ADD_AT_ONCE, n - done));
		CHECK_FOR_INTERRUPTS();
	}
}
