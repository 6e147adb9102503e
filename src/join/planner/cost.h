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
#include "nodes/nodes.h"
#include "nodes/primnodes.h"

#include "join/base/filter_info.h"
#include "join/fdw/foreign.h"
#include "join/filter/hash.h"
#include "join/base/reasons.h"

/* A column of a join's key. */
typedef struct JoinKeyColumn
{
	Oid			operator;
	Oid			collation;
	AttrNumber	attribute;		/* of the join's outer child */
	Expr	   *inner;			/* over the Hash's child */
	bool		computed;		/* ... and no plain column of it */
	int			hash_key;		/* of the join, from 0 */
	JoinHashing hashing;
} JoinKeyColumn;

/* Where rows would be probed: a target of the plan, or a path's scan. */
typedef struct JoinFilterSite
{
	bool		is_batch_scan;	/* a sequential scan of a table that has the key's columns, and all
								 * of it is volatile-free: rows can be probed before they leave
								 * their page */
	bool		conditions;		/* the scan has some */
	bool		long_keys;		/* it takes time to fetch them */
	double		rows_before;	/* rows before the conditions, of one process */
	double		rows_after;
	Cost		condition_cost;	/* of one row */
	int			nodes;			/* that a row passes from here up to the join, with that */

	/* set by bloomfam_join_estimate() */
	JoinAccess	access;			/* which rows are probed */
	int			min_drop;		/* the fraction of them, in thousandths, that the filter must drop
								 * to be worth probing */
	Cost		probing;		/* what that costs, in the planner's units */
} JoinFilterSite;

/* A scan of a foreign table that the filter would be pushed to. */
typedef struct JoinForeignSite
{
	double		rows;
	bool		is_async;		/* it has no JoinFilterSite on top of it */
	JoinGuess	guess;
} JoinForeignSite;

/*
 * A filter that could be made: all that the cost model must know of it.  It is described by paths.c
 * while the planner considers paths, and by decision.c once the plan is finished.
 */
typedef struct JoinCandidate
{
	const JoinKeyColumn *columns;
	int			ncolumns;
	double		keys;			/* rows of the build side, of all processes */
	bool		keys_are_sure;	/* they are those of a table, which statistics count */
	Oid			table;			/* a table that the build side scans, if the key is its column */
	AttrNumber	attribute;		/* ... this one; 0: it is none, or the hash table is shared */
	double		drop;			/* the fraction of the rows probed that match none */
	double		spilling;		/* bloomfam_join_spilling() */
	JoinFilterSite *sites;
	int			nsites;
	JoinForeignSite *foreign;
	int			nforeign;
} JoinCandidate;

/* What is expected of a filter. */
typedef struct JoinEstimate
{
	double		keys;			/* as the candidate has them */
	double		probed;			/* rows; in page batches, before the conditions */
	double		dropped;		/* the fraction of them */
	JoinGuess	guess;			/* which of these two mean nothing */
	double		most;			/* keys with which it may be tried */
	double		waiting;		/* how many times longer a probe takes than one of a filter in the
								 * cache */
	double		cost;			/* of building and probing, in the planner's units */
	double		saved;
} JoinEstimate;

/*
 * The fraction of a probe side's rows that match none.  The planner rounds rows to whole ones: of
 * few, half a row more may match.
 */
static inline double
bloomfam_join_drop(double joined, double probed)
{
	return 1 - Min((joined + (probed < 100 ? 0.5 : 0)) / Max(probed, 1), 1);
}

/* The trust in hashing all columns of a key. */
extern JoinHashTrust bloomfam_join_trust(const JoinKeyColumn *columns, int ncolumns);

/*
 * Does a scan of this type (a node's, or a path's pathtype) read one table, whose columns its
 * target list has by their numbers?
 */
extern bool bloomfam_join_scans_table(NodeTag scan);

/*
 * Estimates what a filter costs and saves, and decides of each of its sites how rows are probed.
 * Is it expected to pay?  JOIN_NO_REASON if so, else why not.
 */
extern JoinReason bloomfam_join_estimate(JoinCandidate *candidate, JoinEstimate *estimate);

/* What it costs, in the planner's units, to add so many keys. */
extern double bloomfam_join_cost_of_keys(double keys);

/* What so many rows cost at most in a node that they pass. */
extern double bloomfam_join_cost_of_passing(double rows);

/*
 * What a row of the outer side costs that is written to a file and read again, as the hash table
 * does not fit memory; on average.
 */
extern double bloomfam_join_spilling(double keys, int inner_width, int outer_width);

#endif							/* BLOOMFAM_JOIN_COST_H */
