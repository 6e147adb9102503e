/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.h
 *	  What EXPLAIN and the log say of joins that were sampled.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_REPORT_H
#define BLOOMFAM_SAMPLE_REPORT_H

#include "nodes/pg_list.h"

#include "pg/compat.h"
#include "sampling/estimate.h"

/* What came of a pair.  An index may be dropped before this is told, so its name is copied. */
typedef struct SampleTold
{
	const char *join;			/* the equalities, by aliases */
	const char *reason;			/* why it was not sampled; NULL if it was, and all else is set */
	const char *index;			/* its name; NULL if the searched table was read */
	const char *given;			/* alias: of rows that match there; NULL if of all rows */
	SampleFraction fraction;
	int			sample_blocks;	/* accessed for the sample, which several pairs may share */
	int			nblocks;		/* accessed for the pair */
	int			nleft;			/* conditions of both that were left to the server's estimate */
	double		expected;		/* the fraction that the server expects */
	double		planned;		/* the fraction that the query is planned with; < 0: the server's */
} SampleTold;

/* Logs what came of pairs: a list of SampleTold. */
extern void bloomfam_sample_log(List *told);

/* Shows it in an EXPLAIN, after the plan itself. */
extern void bloomfam_sample_explain(List *told, ExplainState *es);

#endif							/* BLOOMFAM_SAMPLE_REPORT_H */
