/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.h
 *	  What the planner may read of a relation to estimate a join, and what it may evaluate.
 *
 * Each function that says no gives the reason, for EXPLAIN and the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PERMISSION_H
#define BLOOMFAM_JOIN_PERMISSION_H

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

/* May rows be read while this query is planned?  NULL: yes; else why not. */
extern const char *bloomfam_join_sampling_forbidden(PlannerInfo *root);

/*
 * May all rows of a base relation be seen, in these columns (attribute numbers, all above 0), by
 * the user that it is read as?  NULL: yes; else why not.  Asked each time, of both relations.
 */
extern const char *bloomfam_join_columns_forbidden(PlannerInfo *root, RelOptInfo *rel,
												   Bitmapset *columns);

/* May the keys of this base relation come from its statistics?  NULL: yes; else why not. */
extern const char *bloomfam_join_probe_forbidden(PlannerInfo *root, RelOptInfo *rel);

/* May this base relation, which is locked, be read?  NULL: yes; else why not. */
extern const char *bloomfam_join_search_forbidden(PlannerInfo *root, RelOptInfo *rel,
												  Relation relation);

/*
 * Those of a base relation's conditions (RestrictInfo) that can be evaluated for any row: by
 * immutable functions that are leakproof or known not to fail, of the relation's own columns and
 * constants.
 */
extern List *bloomfam_join_safe_conditions(RelOptInfo *rel);

/* The constant pattern, if it is LIKE or NOT LIKE by this function, or NULL. */
extern const text *bloomfam_join_like_pattern(const OpExpr *expr, Oid function);

/*
 * The first of its conditions by which a column equals a parameter, and that column; NULL if there
 * is none.  The equality is the server's own, and the column's type has a hash function.
 */
extern RestrictInfo *bloomfam_join_parameter_condition(RelOptInfo *rel, AttrNumber *column);

#endif							/* BLOOMFAM_JOIN_PERMISSION_H */
