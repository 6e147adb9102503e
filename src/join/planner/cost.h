/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  The one model of what a filter costs and saves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COST_H
#define BLOOMFAM_JOIN_COST_H

#include "access/attnum.h"
#include "nodes/nodes.h"

#include "join/base/filter_info.h"
#include "join/filter/hash.h"

/* Whether a filter is made: of the reasons against one, the first that applies. */
typedef enum JoinReason
{
	JOIN_HAS_FILTER,
	JOIN_KEEPS_ROWS,			/* rows without a match are in its result */
	JOIN_KEY_IS_COMPUTED,		/* on the probe side; or in a way that may not be repeated on the
								 * build side */
	JOIN_KEY_HAS_NO_HASH,
	JOIN_KEY_IS_VOLATILE,		/* one of the probe side's: it would be asked for less often */
	JOIN_HAS_NO_TARGET,
	JOIN_BUILDS_TOO_LATE,		/* all places are read before there is a filter */
	JOIN_HAS_TOO_MANY_KEYS,		/* it would be given up */
	JOIN_PROBES_FEW_ROWS,
	JOIN_DROPS_FEW_ROWS,
	JOIN_COSTS_MORE				/* than it saves */
} JoinReason;

/* What there is to know of a place where a filter is asked; else all is false. */
typedef struct JoinFilterSite
{
	bool		is_scan;		/* of all pages of a table, in their order */
	bool		volatile_free;	/* nothing in the scan notices how often it is asked */
	bool		conditions;		/* it has some */
	bool		columns;		/* the key's columns are columns of the table */
	JoinHashTrust trust;		/* in hashing them */
	bool		long_keys;		/* it takes time to fetch them */
	double		rows_before;	/* rows before the conditions, of one process */
	double		after;			/* ... and after them */
	Cost		condition_cost;	/* the conditions, of one row */
	int			nodes;			/* that a row passes from here on to the join, and that one */
	double		spilling;		/* what it costs the join to write and read it, on average */
} JoinFilterSite;

/* What the planner has no reason to expect as it does: it takes figures that are usual. */
typedef enum JoinGuess
{
	JOIN_GUESSES_NOTHING,
	JOIN_GUESSES_FRACTION,		/* of the rows that are dropped */
	JOIN_GUESSES_ROWS			/* and so that share as well */
} JoinGuess;

/* What is expected of a filter. */
typedef struct JoinEstimate
{
	double		keys;			/* of all processes that build it together */
	double		probed;			/* rows, as the planner expects; by pages, before the conditions */
	double		dropped;		/* share of them */
	JoinGuess	guess;			/* what of these two is none that speaks for or against it */
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

/*
 * Are the keys of this column so long that the table has them compressed or elsewhere, as far as
 * statistics tell?  Of a parent's children together, if inherited.
 */
extern bool bloomfam_join_has_long_keys(Oid table, AttrNumber attribute, bool inherited);

/* By how much one process's share of the rows is smaller than all, as the planner expects. */
extern double bloomfam_join_processes(int workers);

/* Which rows the filter is to look at. */
extern JoinAccess bloomfam_join_access(const JoinFilterSite *site);

/* The share of rows that it must drop to be worth a look at them, in thousandths. */
extern int	bloomfam_join_site_min_drop(const JoinFilterSite *site);

/* How many rows it looks at, and what that costs. */
extern double bloomfam_join_probed(const JoinFilterSite *site);
extern Cost bloomfam_join_cost_of_probing(const JoinEstimate *estimate, const JoinFilterSite *site);

/* What it costs, in the planner's units, to add so many keys. */
extern double bloomfam_join_cost_of_keys(double keys);

/* What so many rows cost at most in a node that they pass. */
extern double bloomfam_join_cost_of_passing(double rows);

/*
 * A hash join asks its outer side for a row before it builds, where that costs less, and does not
 * build if there is none.  That row comes before the filter.  Is it worth more to have the filter
 * first?  Costs and rows are those of the outer side, and the cost of building that of the Hash.
 * left: the share of the rows that other filters leave.
 */
extern bool bloomfam_join_builds_first(Cost startup, Cost total, double rows, double left,
									   Cost building);

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
 * By how much the largest number of a column is larger than the smallest, as statistics tell; -1:
 * they do not.  The column's type is one whose keys can be kept (keys.h).
 */
extern double bloomfam_join_span(Oid table, AttrNumber attribute);

/*
 * The keys of a filter that has just been begun are numbers that lie so close together, and it is
 * no shared one: there may be any number of them if a bitmap has room.
 */
extern void bloomfam_join_estimate_span(JoinEstimate *estimate, double span);

/* Adds a place where it is asked. */
extern void bloomfam_join_estimate_site(JoinEstimate *estimate, const JoinFilterSite *site);

/* Adds a scan of another server's table that it is sent with. */
extern void bloomfam_join_estimate_foreign(JoinEstimate *estimate, double rows, JoinGuess guess);

/* Is the filter expected to pay?  JOIN_HAS_FILTER if so. */
extern JoinReason bloomfam_join_estimate_end(const JoinEstimate *estimate);

#endif							/* BLOOMFAM_JOIN_COST_H */
