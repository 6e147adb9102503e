/*-------------------------------------------------------------------------
 *
 * filter_probe.h
 *	  A finished filter, whatever its form, and what it says of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_PROBE_H
#define BLOOMFAM_JOIN_FILTER_PROBE_H

#include "join/filter/design.h"

/*
 * No key that was added is denied.  A Bloom filter is asked for hashes, and lets pass
 * bloomfam.join_filter_fpr of the others; the other forms are asked for the numbers themselves.
 */
typedef struct JoinFilterProbe
{
	JoinDesign	design;
	const uint8 *payload;		/* of a bitmap: a number's bit is its distance from the first */
	BfView		view;			/* of a Bloom filter */
	BfProbe		probe;
} JoinFilterProbe;

/*
 * Opens a filter, whose payload was filled by this design, perhaps in another process, and lives
 * as long as the set is used.
 */
extern void bloomfam_join_filter_probe_open(JoinFilterProbe *filter_probe, const JoinDesign *design,
											const uint8 *payload);

/* Asks for n keys: hashes or numbers. */
extern void bloomfam_join_filter_probe_has_many(const JoinFilterProbe *filter_probe,
												const uint64 *keys, int n, bool *result);

/* The share of keys that are not in it that it lets pass; reads all of a Bloom filter. */
extern double bloomfam_join_filter_probe_fpr(const JoinFilterProbe *filter_probe);

/* Is it asked for numbers? */
static inline bool
bloomfam_join_filter_probe_is_of_numbers(const JoinFilterProbe *filter_probe)
{
	return filter_probe->design.form != JOIN_FORM_BLOOM;
}

static inline bool
bloomfam_join_filter_probe_has(const JoinFilterProbe *filter_probe, uint64 key)
{
	const uint64 *words = (const uint64 *) filter_probe->payload;
	uint64		bit = key - (uint64) filter_probe->design.first;

	switch (filter_probe->design.form)
	{
		case JOIN_FORM_BLOOM:
			return filter_probe->probe(&filter_probe->view, key);
		case JOIN_FORM_BITMAP:
			return bit <= filter_probe->design.span && (words[bit / 64] >> bit % 64 & 1) != 0;
		case JOIN_FORM_RANGE:
			return bit <= filter_probe->design.span;
	}
	pg_unreachable();
}

#endif							/* BLOOMFAM_JOIN_FILTER_PROBE_H */
