/*-------------------------------------------------------------------------
 *
 * stored_condition.h
 *	  Conditions that probe a filter which the query names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STORED_CONDITION_H
#define BLOOMFAM_JOIN_STORED_CONDITION_H

#include "nodes/pg_list.h"

/*
 * The two arguments of such a condition: the filter is argument *filter_arg, the key the other one.
 * NIL if it is none.
 */
extern List *bloomfam_join_stored_arguments(Node *condition, int *filter_arg);

#endif							/* BLOOMFAM_JOIN_STORED_CONDITION_H */
