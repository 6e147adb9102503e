/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.h
 *	  What EXPLAIN and the log say of joins that were sampled.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SAMPLING_REPORT_H
#define BLOOMFAM_JOIN_SAMPLING_REPORT_H

#include "nodes/pg_list.h"
#include "pg/compat.h"

/* Logs what came of pairs of relations: a list of JoinSampled. */
extern void bloomfam_join_sampling_log(List *sampled);

/* Shows it in an EXPLAIN, after the plan itself. */
extern void bloomfam_join_sampling_explain(List *sampled, ExplainState *es);

#endif							/* BLOOMFAM_JOIN_SAMPLING_REPORT_H */
