/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Reads rows of a table while a query is planned, under conditions and within a budget.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_READER_H
#define BLOOMFAM_SAMPLE_READER_H

#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "sampling/conditions.h"

/*
 * What the planner may spend on sampling, in blocks.  Plans must depend neither on the clock nor on
 * what is cached, so time is never measured.  Each access to a block counts as one block, whether
 * or not it is cached.  Evaluating conditions counts as the number of bytes that can be read in
 * about the same time.
 */
typedef struct SampleBudget
{
	int			most;			/* The number of blocks that may be spent. */

	/* The number of blocks spent so far; above "most", the budget is overspent. */
	int			spent;

	/* Bytes that were charged for evaluating conditions, but are fewer than a block together. */
	int			nbytes;
} SampleBudget;

/* Charges blocks that were accessed, and bytes for evaluating conditions, to the budget. */
static inline void
bloomfam_sample_spend(SampleBudget *budget, int64 nblocks, int64 nbytes)
{
	nbytes = Min(nbytes, (int64) BLCKSZ * PG_INT16_MAX) + budget->nbytes;
	budget->spent =
		(int) Min(budget->spent + nblocks + nbytes / BLCKSZ, (int64) budget->most + 1);
	budget->nbytes = (int) (nbytes % BLCKSZ);
}

typedef struct SampleReader
{
	TupleTableSlot *slot;		/* The slot of the row that was read last. */
	const char *reason;			/* Why nothing more can be read; NULL while the reader can go on. */
	SampleBudget *budget;		/* The caller's budget. */
	const SampleConditions *conditions; /* The caller's conditions of the table. */
	ResourceOwner owner;		/* The resource owner of what evaluating the conditions holds. */
	EState	   *estate;
	ExprState  *qual;			/* The conditions, ready to be evaluated; NULL if there are none. */
} SampleReader;

/* The reason of a reader whose budget is overspent. */
extern const char bloomfam_sample_overspent[];

/*
 * Begins to read rows with the active snapshot.  The slot is for the row that is read, and belongs
 * to the reader from now on.
 */
extern void bloomfam_sample_reader_begin(SampleReader *reader, TupleTableSlot *slot,
										 const SampleConditions *conditions, SampleBudget *budget);
extern void bloomfam_sample_reader_end(SampleReader *reader);

/*
 * Returns whether the reader may go on, and sets its reason if the budget is overspent.  Answers
 * interrupts.
 */
extern bool bloomfam_sample_may_go_on(SampleReader *reader);

/*
 * Returns whether the row in the slot meets the conditions.  It does not if a condition raises an
 * error of bad data.  Also returns false, and sets the reader's reason, if the conditions may not
 * be evaluated.
 */
extern bool bloomfam_sample_meets_conditions(SampleReader *reader);

/*
 * Returns whether a value of a type with this typlen is short enough to be read, and sets the
 * reader's reason if it is not.  No value that is stored outside of its row is ever read.
 */
extern bool bloomfam_sample_is_short(SampleReader *reader, int16 typlen, Datum value);

#endif							/* BLOOMFAM_SAMPLE_READER_H */
