/*-------------------------------------------------------------------------
 *
 * set.c
 *	  A finished filter, whatever its form, and what it says of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/set.h"
#include "pg/env.h"

void
bloomfam_join_set_open(JoinSet *set, const JoinDesign *design, const uint8 *payload)
{
	set->design = *design;
	set->payload = payload;
	if (design->form != JOIN_FORM_BLOOM)
		return;
	set->view.head = design->head;
	/* the module need not lie at the same address in the process that planned it */
	set->view.head.kind = bf_kind_by_id(JOIN_FILTER_KIND);
	set->view.payload = payload;
	set->probe = set->view.head.kind->prober(&set->view);
}

static void
bitmap_has_many(const JoinSet *set, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) set->design.first;
	uint64		span = set->design.span;
	const uint64 *words = (const uint64 *) set->payload;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = numbers[i] - first;
		uint64		within = bit <= span;

		/* no branch: whether a number is within is as hard to foresee as whether it is there */
		bit &= -within;
		result[i] = (words[bit / 64] >> bit % 64) & within;
	}
}

static void
range_has_many(const JoinSet *set, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) set->design.first;
	uint64		span = set->design.span;
	int			i;

	for (i = 0; i < n; i++)
		result[i] = numbers[i] - first <= span;
}

void
bloomfam_join_set_has_many(const JoinSet *set, const uint64 *keys, int n, bool *result)
{
	switch (set->design.form)
	{
		case JOIN_FORM_BLOOM:
			set->view.head.kind->probe_many(&set->view, keys, n, result);
			break;
		case JOIN_FORM_BITMAP:
			bitmap_has_many(set, keys, n, result);
			break;
		case JOIN_FORM_RANGE:
			range_has_many(set, keys, n, result);
			break;
	}
}

double
bloomfam_join_set_fpr(const JoinSet *set)
{
	BfStats		stats;

	if (set->design.form != JOIN_FORM_BLOOM)
		return 0;
	bf_stats(&bloomfam_env, &set->view, &stats);
	return stats.fpr;
}
