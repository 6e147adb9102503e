/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Reads rows of a table while a query is planned: under conditions, and within a budget.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_READER_H
#define BLOOMFAM_SAMPLE_READER_H

#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "sampling/conditions.h"

/*
 * What the planner may spend on sampling, in blocks.  Plans must not depend on the clock, nor on
 * what is cached.  So time is never measured: each access to a block counts as one, whether or not
 * it is cached, and evaluating conditions counts as reading as many bytes as take about the same
 * time.
 */
typedef struct SampleBudget
{
	int			most;			/* blocks that may be spent */
	int			spent;			/* blocks that were spent; if more than most, it is overspent */
	int			nbytes;			/* bytes of evaluating that do not make up a block yet */
} SampleBudget;

/* Spends blocks and bytes. */
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
	TupleTableSlot *slot;		/* the row that was read last */
	const char *reason;			/* why nothing more can be read; NULL while it can */
	SampleBudget *budget;		/* the caller's */
	const SampleConditions *conditions; /* the caller's */
	ResourceOwner owner;		/* of what evaluating the conditions holds */
	EState	   *estate;
	ExprState  *qual;			/* the conditions; NULL if there are none */
} SampleReader;

/* The reason of a reader whose budget is overspent. */
extern const char bloomfam_sample_overspent[];

/*
 * Begins to read rows with the active snapshot.  slot holds the row that is read, and belongs to
 * the reader from now on.
 */
extern void bloomfam_sample_reader_begin(SampleReader *reader, TupleTableSlot *slot,
										 const SampleConditions *conditions, SampleBudget *budget);
extern void bloomfam_sample_reader_end(SampleReader *reader);

/* May the reader go on?  Sets its reason if the budget is overspent; answers interrupts. */
extern bool bloomfam_sample_may_go_on(SampleReader *reader);

/*
 * Does the row in the slot meet the conditions?  Also false if that cannot be found out; then the
 * reader has a reason.
 */
extern bool bloomfam_sample_meets_conditions(SampleReader *reader);

/*
 * Is a value of a type of this length short enough to be read?  If it is not, the reader has a
 * reason.  No value that is stored outside of its row is ever read.
 */
extern bool bloomfam_sample_is_short(SampleReader *reader, int16 typlen, Datum value);

#endif							/* BLOOMFAM_SAMPLE_READER_H */
