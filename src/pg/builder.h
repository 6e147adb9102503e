/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * builder.h
 *	  The builder: the state of bloom_agg, which collects hashes and makes a filter of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_BUILDER_H
#define BLOOMFAM_BUILDER_H

#include "utils/expandeddatum.h"

#include "core/bf_format.h"
#include "pg/collect.h"
#include "pg/compat.h"

/* The number of hashes that wait to be added together, so that their cache misses overlap. */
#define BUILDER_PENDING		64

/*
 * What a builder holds.  A builder is the state of bloom_agg: a pointer of type internal, or an
 * expanded object of type bloomfilter.
 */
typedef enum BuilderContent
{
	BUILDER_NOTHING,			/* No filter was asked for, and there are no keys. */

	/*
	 * A set of hashes, or a multiset if the filter's kind counts keys.  The builder holds it to the
	 * end if the filter's size is not known, or if the kind is built from all of its keys at once.
	 * Otherwise it holds it until the hashes take more room than the filter would.  In a state that
	 * will be sent, a set that has become large takes no more hashes: later ones go to a log, in
	 * which they may repeat.
	 */
	BUILDER_HASHES,

	/*
	 * A filter's header, and its payload in its loose form, which begins on a cache line's
	 * boundary.
	 */
	BUILDER_IMAGE
} BuilderContent;

/*
 * The state of bloom_agg.  Flattened, it is a value of kind "identity" or "partial", or of the
 * image's own kind.
 */
typedef struct Builder
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* The memory context of everything that the builder holds. */
	BuilderContent content;

	/* The design of the filter that was asked for; not set for BUILDER_NOTHING. */
	BfDesign	design;

	/* The number of keys to size the filter for; 0 to size it for the keys that come. */
	uint64		expected;

	/*
	 * True if keys may be added to the filter as they come: its size is known, and filters of parts
	 * of the keys can be united.
	 */
	bool		direct;

	/*
	 * True if the state will be flattened for another process and not finished, so that it should
	 * be kept small.
	 */
	bool		is_partial;

	/*
	 * True if the transition function's arguments were compared with this design and are the same
	 * in each row.
	 */
	bool		args_checked;

	uint64		family_id;		/* The id of the keys' family; 0 if it is not known yet. */
	uint32		family_len;
	char		family[BF_MAX_FAMILY_LEN + 1];
	uint64		keys_added;		/* The number of keys added, without the pending ones. */

	BloomfamSet set;			/* The hashes, for BUILDER_HASHES. */

	/*
	 * The budget of a set without a share in a common budget: that of a direct builder, which is
	 * never large, or one whose memory is not limited.
	 */
	BloomfamBudget own_budget;

	/*
	 * The hashes that came after a partial state's set had become large, in the order in which they
	 * came and in their stored form; NULL if there are none.
	 */
	uint64	   *log;
	uint64		nlog;
	uint64		max_log;

	/* The filter's header, for BUILDER_IMAGE; its family is the builder's. */
	BfHeader	head;
	uint8	   *image;

	int			npending;
	uint64		pending[BUILDER_PENDING];
} Builder;

/*
 * Makes an empty builder in a memory context of its own, a child of parent.  If budget is NULL,
 * memory is not limited.
 */
extern Builder *bloomfam_builder_make(MemoryContext parent, BloomfamBudget *budget);

/* Says what filter the builder is to become.  It must be called once, before anything is added. */
extern void bloomfam_builder_probe(Builder *builder, const BfDesign *design, uint64 expected);

/* Notes the family of a key.  Raises an error if it differs from the family of earlier keys. */
extern void bloomfam_builder_set_family(Builder *builder, uint64 id, const char *name, uint32 len);

extern void bloomfam_builder_flush(Builder *builder);

/* Adds a key's hash, which takes some ns. */
static inline void
bloomfam_builder_add(Builder *builder, uint64 hash)
{
	builder->pending[builder->npending++] = hash;
	if (unlikely(builder->npending == BUILDER_PENDING))
		bloomfam_builder_flush(builder);
}

/*
 * Adds what another builder has collected, which was flattened: a value of any kind in its loose
 * form.  Its payload need not be trusted.  Raises an error if the other builder was asked for
 * another filter, or if the value is not a builder's state.
 */
extern void bloomfam_builder_absorb(Builder *builder, const BfView *view);

/* Returns the finished filter, in the current memory context.  Does not change the builder. */
extern Datum bloomfam_builder_finish(Builder *builder);

/*
 * Returns the builder behind a datum of type bloomfilter, or NULL if the datum is something else.
 */
extern Builder *bloomfam_builder_from_datum(Datum datum);

#endif							/* BLOOMFAM_BUILDER_H */
