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

/* The subplans of a plan that are volatile, or lock rows. */
typedef struct JoinVolatileSubplans
{
	Bitmapset  *plans;			/* their plan_ids */
	Bitmapset  *params;			/* which parameters they set when these are first needed */
} JoinVolatileSubplans;

/*
 * Is an expression, or a list of them, volatile: could it be seen how often it is evaluated?
 *
 * It is unless all that it consists of is known not to be: a node of a type that is not known
 * counts as volatile, and so does a value of a domain whose CHECK does.  subplans are those of the
 * plan that it belongs to; NULL if there is none yet.  Fails only as the server's look-ups of
 * functions and types do.
 */
extern bool bloomfam_join_is_volatile(const void *expression,
									  const JoinVolatileSubplans *subplans);

/*
 * Are values of a type checked by something volatile where they are made, in a domain or in
 * one inside?
 */
extern bool bloomfam_join_type_is_volatile(Oid type);

/*
 * Is an expression, or a list of them, neither volatile, of a plan whose subplans are not known,
 * nor has it subplans?  So rows may be dropped before it is evaluated.
 */
extern bool bloomfam_join_is_indifferent(void *expression);

#endif							/* BLOOMFAM_JOIN_VOLATILITY_H */
