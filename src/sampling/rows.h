/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Takes a sample of a large relation's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_ROWS_H
#define BLOOMFAM_SAMPLE_ROWS_H

#include "sampling/reader.h"

/*
 * A sample has at most this many rows, of at most as many blocks.  The standard deviation of a
 * fraction of a tenth is then a fifth of the fraction (bench/sql/run sizes).
 */
#define SAMPLE_MOST_ROWS	200

typedef struct SampleRow
{
	HeapTuple	tuple;			/* The row, in the row type of the sampled relation. */
	double		weight;			/* The number of rows of its block that the row stands for. */

	/* The number of the row's block among those of the sample, from 0 on. */
	int			block;
} SampleRow;

typedef struct SampleRows
{
	TupleDesc	desc;			/* The row type of the sampled relation. */
	int			nblocks;		/* The number of blocks that were read. */
	int			nrows;
	SampleRow	rows[SAMPLE_MOST_ROWS];
} SampleRows;

/*
 * Takes at most nrows rows of a relation that meet its conditions, from at most as many blocks.
 * The blocks lie evenly over the relation's tables: itself, or the partitions and children that the
 * query has not excluded.  Each row of a block is as likely to be taken as another.  The same rows
 * are taken again while the tables do not change. *sample must be zero at the call.  Returns NULL,
 * or the reason why there is no sample.  The rows are in the current memory context.
 */
extern const char *bloomfam_sample_rows(PlannerInfo *root, const RelOptInfo *rel,
										const SampleConditions *conditions, int nrows,
										SampleBudget *budget, SampleRows *sample);

#endif							/* BLOOMFAM_SAMPLE_ROWS_H */
