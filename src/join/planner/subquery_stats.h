/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * subquery_stats.h
 *	  Provides statistics of a subquery's columns where the server has none.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SUBQUERY_STATS_H
#define BLOOMFAM_JOIN_SUBQUERY_STATS_H

#include "utils/selfuncs.h"

/*
 * Gives the planner statistics of a column of a subquery or a CTE that groups its rows or is a set
 * operation: the number of distinct values in the column, and the fraction of NULLs.  Must be
 * called as a get_relation_stats_hook.  Returns false and leaves vardata unchanged if the server
 * knows as much by itself, or if nothing is known.
 */
extern bool bloomfam_join_subquery_stats(PlannerInfo *root, const RangeTblEntry *rte,
										 AttrNumber attribute, VariableStatData *vardata);

#endif							/* BLOOMFAM_JOIN_SUBQUERY_STATS_H */
