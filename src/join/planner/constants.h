/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * constants.h
 *	  The constants by which the planner judges join filters.
 *
 * Each has its unit, and where it comes from.  "Measured" means: with bench/sql, as the time that
 * it takes beside that of a unit, in a long-lived session and with all data in memory.  "Chosen"
 * means that no measurement leads to the figure, and that others near it give about the same plans.
 * src/join/README ("Costs") says where each is used.  What searching an index costs is in
 * join/base/index.h, as the executor counts by it, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_CONSTANTS_H
#define BLOOMFAM_JOIN_CONSTANTS_H

/*
 * ---- What a filter costs and saves (cost.c) ----
 *
 * Unit: cpu_operator_cost.  Measured.  Making an executor tuple of a row costs cpu_tuple_cost.
 */
#define COST_OF_KEY			2.0		/* Adding a row of the build side. */
#define COST_OF_PAGED_ROW	0.4		/* Probing a row in a page batch. */
#define COST_OF_ROW			1.0		/* Probing a row by itself. */
#define COST_OF_NODE		4.0		/* A row in each node that it passes. */
#define COST_OF_SENT_ROW	40.0	/* A row that a foreign server sends. */
#define COST_OF_LONG_KEY	150.0	/* Fetching and hashing a long key. */

/*
 * Reading a page in a parallel worker, beyond its cost in a long-lived session: a worker must map
 * each page of shared memory that it touches.  The server does not count that, but where a filter
 * leaves little else to do, it can take workers longer than they save.
 */
#define COST_OF_SHARED_PAGE	20.0

/*
 * Planning a probe node, and beginning and ending its execution.  It matters where partitions have
 * few rows.
 */
#define COST_OF_SITE		800.0

/*
 * ---- What lookups by an index cost beside the scan of their table (lookups.c) ----
 */

/*
 * The number of rows that are scanned in page batches in the time in which a lookup fetches a page.
 * Measured as 60 to 100.
 */
#define ROWS_PER_FETCHED_PAGE	64.0

/*
 * ---- Which filters are worth making (cost.c) ----
 */

/* The smallest number of rows of a probe side, as expected.  Chosen. */
#define LEAST_ROWS			10000

/* The smallest fraction of the probed rows that must match no key, as expected.  Chosen. */
#define LEAST_DROP			0.1

/*
 * The smallest fraction of rows, in thousandths, that a filter must drop to stay enabled: in page
 * batches; row by row; and where the join fetches a long key a second time.  Measured: with fewer,
 * the filter costs more than it saves.  The executor compares samples of the rows with it
 * (executor/gate.c); no plan depends on it.
 */
#define LEAST_DROP_OF_PAGES		80
#define LEAST_DROP_OF_ROWS		250
#define LEAST_DROP_OF_LONG_KEYS	900

/*
 * The factor by which the expected number of keys may exceed the room of a filter, if that number
 * is an estimate.  Chosen: there may be fewer keys, and a filter with too many is given up.
 */
#define SURPLUS_OF_KEYS		2.0

/*
 * The factor by which the true range of integer keys may exceed the range that statistics tell, as
 * these are a sample and may be out of date.  Chosen.
 */
#define SURPLUS_OF_SPAN		2.0

/*
 * ---- Which joins the planner is offered (paths.c, lookups.c) ----
 */

/*
 * Joins whose probe side has fewer rows than this are planned without regard to filters.  Measured:
 * they take no longer than looking for a better plan would, where there are many such joins.
 */
#define ROWS_TO_PLAN_FOR	100000.0

/*
 * Hysteresis, as a fraction of the join's cost: the server's plan is kept unless the filtered join
 * is cheaper by that, as estimates are most wrong where filters are most used.  If further joins
 * follow, the same fraction of the unfiltered cost is charged in addition, since a nested loop
 * above may scan again for many more rows than the planner expects.  A chain of joins is charged
 * only at its lowest one; if each join were charged, a nested loop above the first one would win.
 * Chosen.
 */
#define NEAR_TIE			0.05

/*
 * The fraction of another join's cost for which a join is offered that is to replace it.  The
 * planner takes costs within 1 % for equal.
 */
#define CHEAPER				0.98

/*
 * The smallest number of comparisons with rows of its bucket that the server's own cost model
 * (final_cost_hashjoin) counts for a row of the outer side: if all matches are looked for, and, for
 * a row without a match, if at most one match is looked for.  Comparisons are cheap, unless a key
 * is a subquery.
 */
#define COMPARED			0.5
#define COMPARED_IN_VAIN	0.05

/*
 * ---- What fraction of a table is read (prune_cost.c) ----
 */

/* The factor by which the true number of keys may exceed the planner's estimate.  Chosen. */
#define KEYS_IN_DOUBT		2.0

/* Rows are taken to be stored in the order of a column if its correlation exceeds this.  Chosen. */
#define SURELY_IN_ORDER		0.99

/*
 * ---- When a join builds first (cost.c, decision.c) ----
 */

/*
 * A join builds first if the first row of its outer side costs more than this fraction of the cost
 * of building.  Chosen.
 */
#define FIRST_ROW			0.01

/*
 * If other filters drop rows of the outer side, the join builds first if building costs less than
 * this fraction of the outer side.  Chosen.
 */
#define BUILD_FOR_NOTHING	0.1

/*
 * The factor by which a scan of a foreign table that was never analyzed may cost more than the
 * planner guesses, as the planner takes such a table to be small.  Chosen.
 */
#define GUESSED_SCAN		20.0

/*
 * ---- Filters that the query names (plan.c) ----
 */

/*
 * The fraction of rows, in thousandths, that such a filter is expected to drop: users make such
 * filters to be selective.  Chosen.
 */
#define STORED_DROP			900

#endif							/* BLOOMFAM_JOIN_CONSTANTS_H */
