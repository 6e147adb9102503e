/*-------------------------------------------------------------------------
 *
 * model.h
 *	  The one model of what a filter costs and saves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_MODEL_H
#define BLOOMFAM_JOIN_MODEL_H

#include "nodes/nodes.h"

/* Whether a filter is made: of the reasons against one, the first that applies. */
typedef enum JoinReason
{
	JOIN_HAS_FILTER,
	JOIN_KEEPS_ROWS,			/* rows without a match are in its result */
	JOIN_KEY_IS_COMPUTED,		/* on the probe side; or in a way that may not be repeated on the
								 * build side */
	JOIN_KEY_HAS_NO_HASH,
	JOIN_HAS_NO_PLACE,
	JOIN_HAS_TOO_MANY_KEYS,		/* it would be given up */
	JOIN_PROBES_FEW_ROWS,
	JOIN_DROPS_FEW_ROWS,
	JOIN_COSTS_MORE				/* than it saves */
} JoinReason;

/* What is expected of a filter. */
typedef struct JoinEstimate
{
	double		keys;			/* of all processes that build it together */
	double		probed;			/* rows, as the planner expects */
	bool		is_guessed;		/* it has no reason to expect so many, or so few */
	double		dropped;		/* share of them */
	double		most;			/* keys with which it may be tried */
	double		waiting;		/* how many times longer a probe takes than one of a filter in the
								 * cache */
	double		cost;			/* of building and probing, in the planner's units */
	double		saved;
} JoinEstimate;

/*
 * Do rows of a hash join's outer side that match no row of the inner side add nothing to its
 * result?
 */
extern bool bloomfam_join_may_drop_outer(JoinType type);

/* What it costs, in the planner's units, to add so many keys; and to probe a row. */
extern double bloomfam_join_cost_of_keys(double keys);
extern double bloomfam_join_cost_of_probe(const JoinEstimate *estimate, bool paged);

/* What so many rows cost at most in a node that they pass. */
extern double bloomfam_join_cost_of_passing(double rows);

/*
 * A hash join asks its outer side for a row before it builds, where that costs less, and does not
 * build if there is none.  That row comes before the filter.  Is it worth more to have the filter
 * first?  Costs and rows are those of the outer side, and the cost of building that of the Hash.
 */
extern bool bloomfam_join_builds_first(Cost startup, Cost total, double rows, Cost building);

/*
 * What a row of the outer side costs that is written to a file and read again, as the hash table
 * does not fit memory; on average.
 */
extern double bloomfam_join_spilling(double keys, int inner_width, int outer_width);

/*
 * Begins the estimate of a filter of so many keys that drops this share of rows.  is_sure: their
 * number is that of a table's rows.
 */
extern void bloomfam_join_estimate_begin(JoinEstimate *estimate, double keys, bool is_sure,
										 double drop);

/*
 * Adds a place with so many rows, which pass so many nodes from there on to the join, and that
 * one.
 */
extern void bloomfam_join_estimate_place(JoinEstimate *estimate, double rows, bool paged,
										 int nodes, double spilling);

/*
 * Adds a scan of another server's table that it is sent with.  is_guessed: the number of rows is
 * no reason against a filter.
 */
extern void bloomfam_join_estimate_foreign(JoinEstimate *estimate, double rows, bool is_guessed);

/* Is the filter expected to pay?  JOIN_HAS_FILTER if so. */
extern JoinReason bloomfam_join_estimate_end(const JoinEstimate *estimate);

#endif							/* BLOOMFAM_JOIN_MODEL_H */
