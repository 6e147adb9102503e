/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  A sample of a large relation's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_ROWS_H
#define BLOOMFAM_SAMPLE_ROWS_H

#include "sampling/reader.h"

/*
 * A sample has at most so many rows, and is of at most so many blocks: the standard deviation of a
 * fraction of a tenth is then a fifth of it (bench/sql/run sizes).
 */
#define SAMPLE_MOST_ROWS	200

typedef struct SampleRow
{
	HeapTuple	tuple;			/* of the relation's row type */
	double		weight;			/* how many rows of its block it stands for */
	int			block;			/* number of its block among those of the sample, from 0 on */
} SampleRow;

typedef struct SampleRows
{
	TupleDesc	desc;			/* of the relation */
	int			nblocks;		/* that were read */
	int			nrows;
	SampleRow	rows[SAMPLE_MOST_ROWS];
} SampleRows;

/*
 * Takes at most nrows rows of a relation that meet its conditions, of as many blocks that lie
 * evenly over its tables: itself, or the partitions and children that the query has not excluded.
 * Each row of a block is as likely to be taken as another.  The same rows are taken again while the
 * tables do not change.  The sample is zero before.  Returns NULL, or the reason why there is none.
 * The rows live in the current memory context.
 */
extern const char *bloomfam_sample_rows(PlannerInfo *root, const RelOptInfo *rel,
										const SampleConditions *conditions, int nrows,
										SampleBudget *budget, SampleRows *sample);

#endif							/* BLOOMFAM_SAMPLE_ROWS_H */
