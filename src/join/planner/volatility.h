/*-------------------------------------------------------------------------
 *
 * volatility.h
 *	  Expressions whose evaluation somebody may count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_VOLATILITY_H
#define BLOOMFAM_JOIN_VOLATILITY_H

#include "nodes/bitmapset.h"
#include "nodes/nodes.h"
#include "nodes/plannodes.h"

/*
 * What is known of a plan beside its expressions, and what was looked into for them that the server
 * does not know of: the plan must not outlive that.
 */
typedef struct JoinVolatility
{
	Bitmapset  *plans;			/* 1-based plan_ids of subplans with volatile functions or row
								 * locks: dropping rows changes how often they run */
	Bitmapset  *params;			/* the parameters that are set by running them, when these are first
								 * needed (initPlans) */
	List	   *types;			/* looked into: domains, */
	List	   *relations;		/* ... those of row types, */
	List	   *functions;		/* ... and functions */
} JoinVolatility;

/*
 * Is an expression, or a list of them, volatile: could it be seen how often it is evaluated?
 *
 * It is unless all that it consists of is known not to be: a node of a type that is not known
 * counts as volatile, and so does a value of a domain whose CHECK does.  volatility is of the plan
 * that it belongs to, and gets what was looked into; NULL if there is no plan yet.  Fails only as
 * the server's look-ups of functions and types do.
 */
extern bool bloomfam_join_is_volatile(const void *expression, JoinVolatility *volatility);

/*
 * Are values of a type checked by something volatile where they are made, in a domain or in
 * one inside?
 */
extern bool bloomfam_join_type_is_volatile(Oid type, JoinVolatility *volatility);

/*
 * Is an expression, or a list of them, neither volatile nor has it subplans?  So rows may be
 * dropped before it is evaluated.
 */
extern bool bloomfam_join_is_volatile_free(void *expression, JoinVolatility *volatility);

/* Lets a plan be made anew when something changes that was looked into for it. */
extern void bloomfam_join_note_dependencies(PlannedStmt *stmt, const JoinVolatility *volatility);

#endif							/* BLOOMFAM_JOIN_VOLATILITY_H */
