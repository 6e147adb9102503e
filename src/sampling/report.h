/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.h
 *	  Reports on sampled joins in EXPLAIN and in the server's log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_REPORT_H
#define BLOOMFAM_SAMPLE_REPORT_H

#include "nodes/pg_list.h"

#include "pg/compat.h"
#include "sampling/estimate.h"

/* What came of a pair.  An index may be dropped before it is reported, so its name is copied. */
typedef struct SampleTold
{
	const char *join;			/* The pair's equalities, with the relations' aliases. */

	/* Why the pair was not sampled; NULL if it was, and then all other fields are set. */
	const char *reason;

	/* The index's name; NULL if the searched table was read as a whole. */
	const char *index;

	/*
	 * The alias of another searched relation, if the fraction is only of those rows of the large
	 * relation that match it too; NULL: the fraction is of all rows of the large relation.
	 */
	const char *given;
	SampleFraction fraction;

	/* The number of blocks accessed for the sample, which several pairs may share. */
	int			sample_blocks;
	int			nblocks;		/* The number of blocks accessed to look up the pair's keys. */

	/* The number of both relations' conditions that were left to the server's estimate. */
	int			nleft;
	double		expected;		/* The fraction that the server expects. */

	/*
	 * The fraction that the query is planned with; below 0 if the query is planned with the
	 * server's own estimate.
	 */
	double		planned;
} SampleTold;

/* Logs what came of pairs; told is a list of SampleTold. */
extern void bloomfam_sample_log(List *told);

/* Shows what came of pairs in an EXPLAIN, after the plan; told is a list of SampleTold. */
extern void bloomfam_sample_explain(List *told, ExplainState *es);

#endif							/* BLOOMFAM_SAMPLE_REPORT_H */
