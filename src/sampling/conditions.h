/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  Finds out which conditions of a table the planner may evaluate while it samples.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_CONDITIONS_H
#define BLOOMFAM_SAMPLE_CONDITIONS_H

#include "nodes/pathnodes.h"

/* The conditions of a base relation, and what it takes to evaluate them. */
typedef struct SampleConditions
{
	List	   *evaluated;		/* List of RestrictInfo: the conditions that are evaluated. */

	/* The number of conditions that are left to the server's estimate. */
	int			nleft;

	/* The number of operators and functions that are called for each row. */
	int			noperators;

	/*
	 * How often, at most, the conditions look at each byte of a long value; the cost of evaluating
	 * them is charged by it.
	 */
	int			npasses;

	/*
	 * The attribute numbers, all above 0, of the columns that are read.  For a searched relation,
	 * they include the columns of its key.
	 */
	Bitmapset  *columns;
} SampleConditions;

/*
 * Finds out which conditions of a base relation can be evaluated for any of its rows, and fills
 * *conditions.  Such a condition reads only columns of the relation and constants, and calls only
 * functions of the server that are known to do no harm.  It can raise an error of bad data, which
 * the caller must catch.
 */
extern void bloomfam_sample_conditions(RelOptInfo *rel, SampleConditions *conditions);

#endif							/* BLOOMFAM_SAMPLE_CONDITIONS_H */
