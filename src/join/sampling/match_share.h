/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * match_share.h
 *	  Which fraction of a relation's rows has a match, as estimated from a sample of its keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_MATCH_SHARE_H
#define BLOOMFAM_JOIN_MATCH_SHARE_H

#include "join/sampling/search.h"

typedef struct JoinMatchShare
{
	double		share;			/* of all rows, those with a NULL key too */
	double		low;			/* where it lies with a probability of 95 % */
	double		high;
	double		rows_per_match; /* of the table that was searched; 0: not known */
	double		least_per_match;	/* ... but so many, as not all were counted; 0: no match */
	double		of_existing;	/* of the keys that the table has, so many match; 0: not known */
	double		of_one_key;		/* of all rows, those of the most frequent key; 0: not known */
	double		alike;			/* two of the rows have one value in the other column, with this
								 * probability; 0: not known */
	double		by_bounds;		/* of the rows with a key, those that are not of a common one */
	int			nkeys;			/* of the sample that were searched; at least one */
	bool		of_rows;		/* ... which was one of rows, not of the statistics' keys */
	Oid			index;			/* ... by which; 0: all of the table was read */
	int			nblocks;		/* accessed for that */
} JoinMatchShare;

/* What was found of a pair of relations, or of two pairs with one key of the same probe. */
typedef struct JoinMatchShares
{
	JoinMatchShare of[2];		/* of each pair */
	JoinMatchShare both;		/* the rows that have a match in both tables */
	bool		over_budget;	/* nothing was, as it would access too many blocks */
} JoinMatchShares;

/* Estimates it.  false: the keys that were searched stand for too few rows. */
extern bool bloomfam_join_match_share(const JoinKeySample *sample, const JoinFound *found,
									  JoinMatchShare *result);

/* The same for the keys that match in both tables. */
extern bool bloomfam_join_match_share_of_both(const JoinKeySample *sample, const JoinFound *a,
											  const JoinFound *b, JoinMatchShare *result);

/* What was found of a sample of rows, each of which stands for as many as its block has. */
typedef struct JoinRowCounts
{
	int			nrows;			/* of the sample */
	double		weights;		/* the rows that these stand for */
	double		squares;		/* ... the sum of the squares of each one's */
	double		matching;		/* ... those with a match */
	double		matches;		/* rows that these match, as many as were read */
	bool		more;			/* ... there may be more */
	int			nblocks;
} JoinRowCounts;

/* Estimates it by a sample of rows. */
extern void bloomfam_join_match_share_of_rows(const JoinRowCounts *counts, JoinMatchShare *result);

/*
 * May the share be what the server expects, as the difference may be chance?  anti: what is a
 * little above the range may be all of the rows without a match.
 */
extern bool bloomfam_join_share_may_be(const JoinMatchShare *share, double expected, bool anti);

/*
 * What to plan with, where the server expects another share: of the keys that bounds stand for, a
 * few count as the server has it; common keys are as frequent as ANALYZE has seen them.
 */
extern double bloomfam_join_share_beside(const JoinMatchShare *share, double expected);

/*
 * Does that differ so little from what the server expects that plans are not made better by it?
 * anti: the rows without a match are those that count.
 */
extern bool bloomfam_join_share_is_near(const JoinMatchShare *share, double expected, bool anti);

#endif							/* BLOOMFAM_JOIN_MATCH_SHARE_H */
