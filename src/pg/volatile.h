/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * volatile.h
 *	  Tells whether the user could see how often an expression is evaluated.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_VOLATILE_H
#define BLOOMFAM_VOLATILE_H

#include "nodes/plannodes.h"

/* What is known of the plan that an expression belongs to. */
typedef struct BloomfamVolatile
{
	PlannedStmt *stmt;

	/*
	 * The 1-based plan_ids of subplans with volatile functions or row locks: dropping rows would
	 * change how often these run.
	 */
	Bitmapset  *subplans;

	/*
	 * The parameters that are set by running a volatile subplan, when they are first needed
	 * (initPlans).
	 */
	Bitmapset  *params;
} BloomfamVolatile;

/*
 * Tells whether an expression, or a list of expressions, is volatile: whether the user could see
 * how often it is evaluated.
 *
 * It is volatile unless everything that it consists of is known not to be: an expression node of an
 * unknown type counts as volatile, and so does a value of a domain with a volatile CHECK.  "known"
 * describes the plan that the expression belongs to; NULL if there is no plan yet.  Objects that
 * are looked into without the server knowing of it become dependencies of the plan, so that the
 * plan does not outlive a change of them.  Raises errors only as the server's lookups of functions
 * and types do.
 */
extern bool bloomfam_is_volatile(const void *expression, const BloomfamVolatile *known);

/*
 * Tells whether making a value of a type may call a volatile function.  Looks into all parts of the
 * type in any case, so the plan then depends on the columns of row types among them.
 */
extern bool bloomfam_type_is_volatile(Oid type, const BloomfamVolatile *known);

#endif							/* BLOOMFAM_VOLATILE_H */
