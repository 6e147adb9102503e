/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * combiner.h
 *	  The state of bloom_union_agg and bloom_intersect_agg: filters combined into one.
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

/* What a combiner holds. */
typedef enum CombinerContent
{
	COMBINER_NOTHING,			/* no filter has come */
	COMBINER_IMAGE,				/* a filter in its loose form, on a cache line's boundary */
	COMBINER_ANYTHING			/* of a union: a NULL took part, so that it may contain any key */
} CombinerContent;

/*
 * A combiner is an expanded object of type bloomfilter.  Flattened, it is a value of kind
 * "identity", the image's, or "partial" with BF_PARTIAL_UNKNOWN.
 */
typedef struct Combiner
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* all below lives here */
	CombinerVerb verb;
	CombinerContent content;
	BfHeader	head;			/* COMBINER_IMAGE; its family is the array */
	char		family[BF_MAX_FAMILY_LEN + 1];
	uint8	   *image;
	void	   *chunk;			/* what was allocated for the image */
} Combiner;

/* Makes an empty one in a context of its own below parent. */
extern Combiner *bloomfam_combiner_make(MemoryContext parent, CombinerVerb verb);

/*
 * Takes a filter, in its loose form, whose payload need not be trusted.  An error if it cannot be
 * combined with those before.
 */
extern void bloomfam_combiner_take(Combiner *combiner, const BfView *view);

/* Takes another combiner of the same verb, flattened; an error if the value cannot be one. */
extern void bloomfam_combiner_absorb(Combiner *combiner, const BfView *view);

/* Of a union: notes that a filter took part that may contain any key. */
extern void bloomfam_combiner_take_null(Combiner *combiner);

/*
 * The combined filter, in the current memory context; false if it may contain any key.  The
 * combiner stays as it is.
 */
extern bool bloomfam_combiner_finish(Combiner *combiner, Datum *result);

/* The combiner behind a datum of type bloomfilter; NULL if it is something else. */
extern Combiner *bloomfam_combiner_from_datum(Datum datum);

#endif							/* BLOOMFAM_COMBINER_H */
