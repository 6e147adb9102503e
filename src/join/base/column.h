/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Expressions of a plan that are columns, or probe a filter that the query names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_COLUMN_H
#define BLOOMFAM_JOIN_COLUMN_H

#include "access/attnum.h"
#include "nodes/plannodes.h"

/*
 * The number of the column that an expression is, if it is one of the table or child that varno
 * says; else 0.
 */
extern AttrNumber bloomfam_join_column(const Expr *expr, int varno);

/* The same of an output column of a plan. */
extern AttrNumber bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno);

/*
 * The two arguments of a condition that probes such a filter: that is argument *filter_arg, the key
 * the other one.  NIL if it is none.
 */
extern List *bloomfam_join_stored_arguments(Node *condition, int *filter_arg);

#endif							/* BLOOMFAM_JOIN_COLUMN_H */
