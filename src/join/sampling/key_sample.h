/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_sample.h
 *	  A sample of a column's keys, as its statistics have it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_KEY_SAMPLE_H
#define BLOOMFAM_JOIN_KEY_SAMPLE_H

#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"

/*
 * Most common values, and the bounds of a histogram of all others: each n-th of the keys that
 * ANALYZE has sampled, in their order.  Either may be missing, not both.
 */
typedef struct JoinKeySample
{
	int			ncommon;
	Datum	   *common;			/* the most frequent first */
	float4	   *frequencies;	/* of them: fractions of the rows */
	int			nbounds;		/* 0, or at least 2 */
	Datum	   *bounds;
	double		null_fraction;
	double		ndistinct;		/* of the whole column */
	AttStatsSlot common_slot;	/* what these point into */
	AttStatsSlot bounds_slot;
} JoinKeySample;

/*
 * Takes the sample of a column, which is compared by this btree operator family as a value of this
 * type.  false: there are no statistics, or none in the family's order.  To be freed.
 */
extern bool bloomfam_join_key_sample(PlannerInfo *root, const Var *column, Oid family, Oid type,
									 Oid collation, JoinKeySample *sample);
extern void bloomfam_join_key_sample_free(JoinKeySample *sample);

/* The number of distinct values of a column; 0 if it is not known. */
extern double bloomfam_join_ndistinct(PlannerInfo *root, const Var *column);

#endif							/* BLOOMFAM_JOIN_KEY_SAMPLE_H */
