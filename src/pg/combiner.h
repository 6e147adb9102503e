/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * combiner.h
 *	  The combiner: the state of bloom_union_agg and bloom_intersect_agg, which combines filters
 *	  into one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_COMBINER_H
#define BLOOMFAM_COMBINER_H

#include "utils/expandeddatum.h"

#include "core/bf_format.h"
#include "pg/compat.h"

/* How filters are combined. */
typedef enum CombinerVerb
{
	COMBINER_UNITE,
	COMBINER_INTERSECT
} CombinerVerb;

/* What a combiner has combined so far. */
typedef enum CombinerContent
{
	COMBINER_NOTHING,			/* No filter has come. */

	/*
	 * The filters so far have been combined to a filter in its loose form, whose payload begins on
	 * a cache line's boundary.
	 */
	COMBINER_IMAGE,

	/* A NULL took part in a union, so the result may contain any key. */
	COMBINER_ANYTHING
} CombinerContent;

/*
 * The state of bloom_union_agg and bloom_intersect_agg, an expanded object of type bloomfilter.
 * Flattened, it is a value of kind "identity", or of the image's kind, or of kind "partial" with
 * BF_PARTIAL_UNKNOWN.
 */
typedef struct Combiner
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* The memory context of everything that the combiner holds. */
	CombinerVerb verb;
	CombinerContent content;

	/* The filter's header, for COMBINER_IMAGE; its family's name is in "family". */
	BfHeader	head;
	char		family[BF_MAX_FAMILY_LEN + 1];
	uint8	   *image;

	/* The chunk of memory in which image, the payload, is aligned; to be freed with it. */
	void	   *chunk;
} Combiner;

/* Makes an empty combiner in a memory context of its own, a child of parent. */
extern Combiner *bloomfam_combiner_make(MemoryContext parent, CombinerVerb verb);

/*
 * Combines with a filter in its loose form, whose payload need not be trusted.  Raises an error if
 * it cannot be combined with the filters before.
 */
extern void bloomfam_combiner_take(Combiner *combiner, const BfView *view);

/*
 * Combines with another combiner of the same verb, which was flattened.  Raises an error if the
 * value cannot be a combiner's state.
 */
extern void bloomfam_combiner_absorb(Combiner *combiner, const BfView *view);

/* Notes that a filter took part in a union that may contain any key. */
extern void bloomfam_combiner_take_null(Combiner *combiner);

/*
 * Sets *result to the combined filter, in the current memory context.  Returns false if the filter
 * may contain any key.  Does not change the combiner.
 */
extern bool bloomfam_combiner_finish(Combiner *combiner, Datum *result);

/*
 * Returns the combiner behind a datum of type bloomfilter, or NULL if the datum is something else.
 */
extern Combiner *bloomfam_combiner_from_datum(Datum datum);

#endif							/* BLOOMFAM_COMBINER_H */
