/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  Estimates what a join filter costs and saves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COST_H
#define BLOOMFAM_JOIN_COST_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "nodes/plannodes.h"

#include "join/base/filter_info.h"
#include "join/fdw/foreign.h"
#include "join/filter/hash.h"
#include "join/base/reasons.h"

/* A place where rows would be probed: a scan, or some other node of the plan. */
typedef struct JoinFilterSite
{
	JoinAccess	access;			/* Which rows would be probed there, and how. */

	/* Whether fetching the keys takes time, because they are compressed or in a TOAST table. */
	bool		long_keys;

	/* The number of rows that one process reads before the scan's conditions are evaluated. */
	double		rows_before;

	/* The number of rows of one process that the scan's conditions leave. */
	double		rows_after;
	Cost		condition_cost;	/* The cost of evaluating the scan's conditions for one row. */

	/*
	 * The cost that all rows of the site cause after they were probed: in the nodes up to the join,
	 * and in the join.
	 */
	Cost		passing;

	/* The cost of scanning the table whose rows the site probes; 0 if it is not known. */
	Cost		scanning;

	/*
	 * The number of pages that parallel workers read; 0 in a serial plan, and while a finished plan
	 * is judged.
	 */
	double		shared_pages;

	/*
	 * The fraction of the scan that is read if partitions or blocks are pruned; 1 if that is not
	 * known.
	 */
	double		read;

	/*
	 * The fraction of the probed rows, in thousandths, that the filter must drop to be worth
	 * probing; set by bloomfam_join_estimate().
	 */
	int			min_drop;
} JoinFilterSite;

/* A scan of a foreign table whose server would be sent the keys, or a filter of them. */
typedef struct JoinForeignSite
{
	/* The number of rows that the foreign server would send without the filter. */
	double		rows;

	/*
	 * The cost that the planner charges for fetching the foreign scan's rows.  A filter lowers a
	 * path's cost by no more than that.  0 while a finished plan is judged, where no such limit
	 * applies.
	 */
	Cost		charged;

	/*
	 * Whether the foreign scan is asynchronous.  No probe node can then be put on top of it, so no
	 * JoinFilterSite describes it as well.
	 */
	bool		is_async;
	JoinGuess	guess;			/* Which figures of the foreign scan are guesses. */
} JoinForeignSite;

/* What the cost model expects of a candidate. */
typedef struct JoinEstimate
{
	/*
	 * The number of rows that are probed; in page batches, before the scan's conditions are
	 * evaluated.
	 */
	double		probed;

	/* Whether the number of rows, or the fraction that is dropped, is only a guess. */
	JoinGuess	guess;
	double		most;			/* The largest number of keys with which the filter may be tried. */

	/*
	 * How many times longer a probe takes than a probe of a filter that is in the processor's
	 * cache.
	 */
	double		waiting;
	Cost		cost;			/* The cost of building and probing the filter. */
	Cost		saved;			/* What the dropped rows would have cost. */
} JoinEstimate;

/*
 * A filter that could be made, as the cost model sees it.  It is part of a JoinPathCandidate while
 * the planner considers paths, and of a JoinPushdown once the plan is finished.
 */
typedef struct JoinCandidate
{
	const JoinKeyColumn *columns;
	int			ncolumns;

	/* The number of rows on the build side, of all processes together. */
	double		keys;

	/* By how many processes these rows are added: 1, or those of a Parallel Hash. */
	double		adding;

	/*
	 * Whether the number of keys counts as certain: the build side's rows are those of a whole
	 * table, whose number statistics tell.
	 */
	bool		keys_are_sure;

	/*
	 * The table on the build side whose column the first key is; 0: that key is not a table's
	 * column, or the hash table is shared.
	 */
	Oid			table;

	/* The attribute number of the first key in "table"; 0 if table is 0. */
	AttrNumber	attribute;
	double		drop;			/* The fraction of the probed rows that match no key. */

	/* The fraction of the sites' rows that other filters leave; 1 if that is not known. */
	double		left;
	List	   *sites;			/* List of JoinFilterSite: where rows would be probed. */

	/* List of JoinForeignSite: the foreign scans that would be sent the keys or a filter. */
	List	   *foreign;

	/* What the cost model expects of the candidate; set by bloomfam_join_estimate(). */
	JoinEstimate estimate;
} JoinCandidate;

/* Returns the lowest trust among the columns of a candidate's key: what hashing the key may do. */
extern JoinHashTrust bloomfam_join_trust(const JoinCandidate *candidate);

/*
 * Estimates what a candidate costs and saves, and sets its "estimate".  Returns JOIN_NO_REASON if
 * the filter is expected to pay, else the reason why not.
 */
extern JoinReason bloomfam_join_estimate(JoinCandidate *candidate);

/*
 * Returns the fraction of a probe side's rows that match no key.  "matched" is the number of rows
 * that match one, or more than that, and "probed" the number of the probe side's rows.  The planner
 * rounds numbers of rows to whole ones, so if there are few rows, half a row more may match.
 */
static inline double
bloomfam_join_drop(double matched, double probed)
{
	return 1 - Min((matched + (probed < 100 ? 0.5 : 0)) / Max(probed, 1), 1);
}

/*
 * Tells whether it is worth it that a hash join builds before it reads its outer side.  By default
 * it reads a row of its outer side before it builds, if that costs less than building, and does not
 * build if there is no row; that row is not checked by the filter.  "left" is the fraction of the
 * outer side's rows that other filters leave, and "building" the cost of building.
 */
extern bool bloomfam_join_is_worth_building_first(const Plan *outer, double left, Cost building);

/* Returns the most that the given number of rows can cost in a node that they pass. */
extern Cost bloomfam_join_cost_of_passing(double rows);

#endif							/* BLOOMFAM_JOIN_COST_H */
