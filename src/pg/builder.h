/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * builder.h
 *	  The state of bloom_agg: hashes on their way to a filter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_BUILDER_H
#define BLOOMFAM_BUILDER_H

#include "utils/expandeddatum.h"

#include "core/bf_format.h"
#include "pg/collect.h"
#include "pg/compat.h"

/* Hashes that wait to be added together, so that their cache misses overlap. */
#define BUILDER_PENDING		64

/*
 * A builder is the state of bloom_agg: a pointer of type internal, or an expanded object of type
 * bloomfilter.  What it holds:
 */
typedef enum BuilderContent
{
	BUILDER_NOTHING,			/* nothing was asked for, and there are no keys */

	/*
	 * A set of hashes, a multiset where the kind counts: to the end if the filter's size is not
	 * known, or the kind is built from all its keys; or until the hashes take more room than the
	 * filter would.  If that lasts, in a state that is sent, the set is followed by a log of
	 * hashes that may repeat.
	 */
	BUILDER_HASHES,

	/* A filter's header and payload in its loose form, payload on a cache line's boundary. */
	BUILDER_IMAGE
} BuilderContent;

/* Flattened, it is a value of kind "identity", "partial", or the image's own. */
typedef struct Builder
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* all below lives here */
	BuilderContent content;

	BfDesign	design;			/* what was asked for; unless BUILDER_NOTHING */
	uint64		expected;		/* keys to size for; 0: as many as come */
	bool		direct;			/* keys may be added to the filter as they come: its size is
								 * known, and parts of it unite */
	bool		is_partial;		/* the state shall be flattened, not finished: keep it small */
	bool		args_checked;	/* the arguments of the transition function ask for this design, and
								 * will in each row */

	uint64		family_id;		/* 0: not known yet */
	uint32		family_len;
	char		family[BF_MAX_FAMILY_LEN + 1];
	uint64		keys_added;		/* but for those pending */

	BloomfamSet set;			/* BUILDER_HASHES */
	BloomfamBudget own_budget;	/* of sets that are never large */
	uint64	   *log;			/* hashes that the set did not take, as they came and as they are
								 * stored; NULL: none */
	uint64		nlog;
	uint64		max_log;

	BfHeader	head;			/* BUILDER_IMAGE; its family is the builder's */
	uint8	   *image;

	int			npending;
	uint64		pending[BUILDER_PENDING];
} Builder;

/*
 * Makes an empty builder in a context of its own below parent.  budget may be NULL: unbounded
 * memory.
 */
extern Builder *bloomfam_builder_make(MemoryContext parent, BloomfamBudget *budget);

/* Says what filter it shall become.  Once, and before anything is added. */
extern void bloomfam_builder_probe(Builder *builder, const BfDesign *design, uint64 expected);

/* Notes the family of a key; an error if it differs from that of earlier ones. */
extern void bloomfam_builder_set_family(Builder *builder, uint64 id, const char *name, uint32 len);

extern void bloomfam_builder_flush(Builder *builder);

/* Adds a key's hash: some ns. */
static inline void
bloomfam_builder_add(Builder *builder, uint64 hash)
{
	builder->pending[builder->npending++] = hash;
	if (unlikely(builder->npending == BUILDER_PENDING))
		bloomfam_builder_flush(builder);
}

/*
 * Adds what another builder, flattened, has collected: a value of any kind, in its loose form,
 * whose payload need not be trusted.  An error if it was asked for something else, or is no such
 * state.
 */
extern void bloomfam_builder_absorb(Builder *builder, const BfView *view);

/* The finished filter, in the current memory context.  The builder stays as it is. */
extern Datum bloomfam_builder_finish(Builder *builder);

/* The builder behind a datum of type bloomfilter; NULL if it is something else. */
extern Builder *bloomfam_builder_from_datum(Datum datum);

#endif							/* BLOOMFAM_BUILDER_H */
