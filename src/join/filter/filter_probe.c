/*-------------------------------------------------------------------------
 *
 * filter_probe.c
 *	  A finished filter, whatever its form, and what it says of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/filter/filter_probe.h"
#include "pg/port.h"

void
bloomfam_join_filter_probe_open(JoinFilterProbe *filter_probe, const JoinDesign *design,
								const uint8 *payload)
{
	filter_probe->design = *design;
	filter_probe->payload = payload;
	if (design->form != JOIN_FORM_BLOOM)
		return;
	filter_probe->view.head = design->head;
	/* the module need not lie at the same address in the process that planned it */
	filter_probe->view.head.kind = bf_kind_by_id(JOIN_FILTER_KIND);
	filter_probe->view.payload = payload;
	filter_probe->probe = filter_probe->view.head.kind->prober(&filter_probe->view);
}

static void
bitmap_has_many(const JoinFilterProbe *filter_probe, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) filter_probe->design.first;
	uint64		span = filter_probe->design.span;
	const uint64 *words = (const uint64 *) filter_probe->payload;
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
range_has_many(const JoinFilterProbe *filter_probe, const uint64 *numbers, int n, bool *result)
{
	uint64		first = (uint64) filter_probe->design.first;
	uint64		span = filter_probe->design.span;
	int			i;

	for (i = 0; i < n; i++)
		result[i] = numbers[i] - first <= span;
}

void
bloomfam_join_filter_probe_has_many(const JoinFilterProbe *filter_probe, const uint64 *keys, int n,
									bool *result)
{
	switch (filter_probe->design.form)
	{
		case JOIN_FORM_BLOOM:
			filter_probe->view.head.kind->probe_many(&filter_probe->view, keys, n, result);
			break;
		case JOIN_FORM_BITMAP:
			bitmap_has_many(filter_probe, keys, n, result);
			break;
		case JOIN_FORM_RANGE:
			range_has_many(filter_probe, keys, n, result);
			break;
	}
}

double
bloomfam_join_filter_probe_fpr(const JoinFilterProbe *filter_probe)
{
	BfStats		stats;

	if (filter_probe->design.form != JOIN_FORM_BLOOM)
		return 0;
	bf_stats(&bloomfam_port, &filter_probe->view, &stats);
	return stats.fpr;
}
