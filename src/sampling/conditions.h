/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  Which conditions of a table the planner may evaluate while it samples.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_CONDITIONS_H
#define BLOOMFAM_SAMPLE_CONDITIONS_H

#include "nodes/pathnodes.h"

/* The conditions of a base relation. */
typedef struct SampleConditions
{
	List	   *evaluated;		/* RestrictInfo: the conditions that are evaluated */
	int			nleft;			/* how many others are left to the server's estimate */
	int			noperators;		/* operators and functions that are called for each row */
	int			npasses;		/* how often each byte of a long value is looked at, at most */
	Bitmapset  *columns;		/* attribute numbers of the columns that are read, all above 0;
								 * of a searched relation those of its key, too */
} SampleConditions;

/*
 * Finds out which conditions of a base relation can be evaluated for any of its rows.  These read
 * columns of the relation and constants only, by functions of the server that are known to do no
 * harm.  They can raise errors of bad data, which the caller has to catch.
 */
extern void bloomfam_sample_conditions(RelOptInfo *rel, SampleConditions *conditions);

#endif							/* BLOOMFAM_SAMPLE_CONDITIONS_H */
