/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * aggregate.h
 *	  Declares the transition functions of bloom_agg, by which the planner's support function knows
 *	  the aggregate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_AGGREGATE_H
#define BLOOMFAM_AGGREGATE_H

#include "pg/compat.h"

extern PGDLLEXPORT Datum bloomfam_agg_trans(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum bloomfam_agg_text_trans(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum bloomfam_agg_key_trans(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum bloomfam_agg_key_text_trans(PG_FUNCTION_ARGS);

#endif							/* BLOOMFAM_AGGREGATE_H */
