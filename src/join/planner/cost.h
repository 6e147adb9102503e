/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  A filter that could be made, and the one model of what it costs and saves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COST_H
#define BLOOMFAM_JOIN_COST_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "join/base/filter_info.h"
#include "join/fdw/foreign.h"
#include "join/filter/hash.h"
#include "join/base/reasons.h"

/* A filter is not made if fewer rows are expected on the probe side. */
#define JOIN_MIN_ROWS	10000

/* Nor if it is expected to drop a smaller fraction of them. */
#define JOIN_MIN_DROP	0.1

/* A place where rows would be probed: a scan, or some other node of the plan. */
typedef struct JoinFilterSite
{
	JoinAccess	access;			/* which rows are probed */
	bool		long_keys;		/* it takes time to fetch the keys */
	double		rows_before;	/* rows before the scan's conditions, of one process */
	double		rows_after;		/* rows after them */
	Cost		condition_cost;	/* of evaluating the conditions for one row */
	Cost		passing;		/* what all rows cost above the site, up to the join and in it */
	Cost		scanning;		/* what reading the rows costs; 0 if that is not known */
	double		shared_pages;	/* pages that parallel workers read; 0 in a serial plan, and in a
								 * finished one */
	double		read;			/* the fraction of the scan that is read where partitions or blocks
								 * are pruned; 1 if nothing is known of that */
	int			min_drop;		/* the fraction of the rows probed, in thousandths, that the filter
								 * must drop to be worth probing: set by bloomfam_join_estimate() */
} JoinFilterSite;

/* A scan of a foreign table whose server would be sent the keys, or a filter of them. */
typedef struct JoinForeignSite
{
	double		rows;			/* rows that the server would send without the filter */
	Cost		charged;		/* what the server charges for fetching them: no more than that can
								 * be taken from a path's cost; 0 in a finished plan */
	bool		is_async;		/* no row is probed above the scan: it has no JoinFilterSite */
	JoinGuess	guess;			/* which figures of the scan are guesses */
} JoinForeignSite;

/* What the cost model expects of a candidate. */
typedef struct JoinEstimate
{
	double		probed;			/* rows; in page batches, before the conditions */
	JoinGuess	guess;			/* whether the rows, and the fraction dropped, mean nothing */
	double		most;			/* keys with which it may be tried */
	double		waiting;		/* how many times longer a probe takes than one of a filter in the
								 * cache */
	Cost		cost;			/* of building and probing */
	Cost		saved;			/* what the rows that are dropped would have cost */
} JoinEstimate;

/*
 * A filter that could be made, as the cost model sees it.  While the planner considers paths, it is
 * part of a JoinPathCandidate, and of a JoinPushdown once the plan is finished.
 */
typedef struct JoinCandidate
{
	const JoinKeyColumn *columns;
	int			ncolumns;
	double		keys;			/* rows of the build side, of all processes */
	bool		keys_are_sure;	/* they are those of a table, which statistics count */
	Oid			table;			/* the table of the build side whose column the key is; 0 if it is
								 * none, or the hash table is shared */
	AttrNumber	attribute;		/* that column; 0 if table is 0 */
	double		drop;			/* the fraction of the rows probed that match no key */
	double		left;			/* the fraction of the sites' rows that other filters leave; 1 if
								 * nothing is known of that */
	List	   *sites;			/* of JoinFilterSite */
	List	   *foreign;		/* of JoinForeignSite */
	JoinEstimate estimate;		/* set by bloomfam_join_estimate() */
} JoinCandidate;

/* The trust in hashing all columns of a candidate's key. */
extern JoinHashTrust bloomfam_join_trust(const JoinCandidate *candidate);

/*
 * Estimates what a candidate costs and saves, into its estimate.  Is it expected to pay?  Returns
 * JOIN_NO_REASON if so, else why not.
 */
extern JoinReason bloomfam_join_estimate(JoinCandidate *candidate);

/*
 * Returns the fraction of a probe side's rows that match no key.  The planner rounds rows to whole
 * ones: of few, half a row more may match.
 */
static inline double
bloomfam_join_drop(double joined, double probed)
{
	return 1 - Min((joined + (probed < 100 ? 0.5 : 0)) / Max(probed, 1), 1);
}

/*
 * Returns the same of the inner side of a join whose outer side is built from, and is kept.
 * per_key: the rows of the inner side that one key has.
 */
static inline double
bloomfam_join_drop_of_inner(JoinType type, double joined, double built, double probed,
							double per_key)
{
	double		matched = built;

	if (type == JOIN_INNER)
		return bloomfam_join_drop(joined, probed);
	if (type == JOIN_SEMI)
		matched = Min(joined, built);
	else if (type == JOIN_ANTI)
		matched = Max(built - joined, 0);
	return bloomfam_join_drop(matched * Max(per_key, 1), probed);
}

/* Returns what so many rows cost at most in a node that they pass. */
extern Cost bloomfam_join_cost_of_passing(double rows);

/*
 * Returns what a row of the outer side costs that is written to a file and read again, as the hash
 * table does not fit memory; on average.
 */
extern Cost bloomfam_join_spilling(double keys, int inner_width, int outer_width);

#endif							/* BLOOMFAM_JOIN_COST_H */
