/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Lists the reasons why a filter or an optimization is not used, as EXPLAIN and the log show
 *	  them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REASONS_H
#define BLOOMFAM_JOIN_REASONS_H

typedef enum JoinReason
{
	/*
	 * There is no reason against the filter or the optimization in question: it is used, or may be.
	 */
	JOIN_NO_REASON,
#define JOIN_REASON(name, text)	name,
#include "join/base/reason_list.h"
#undef JOIN_REASON
	JOIN_REASONS				/* The number of reasons, including JOIN_NO_REASON. */
} JoinReason;

/* The text of each reason; NULL for JOIN_NO_REASON and for reasons that are not shown. */
extern const char *const bloomfam_join_reason_texts[JOIN_REASONS];

#endif							/* BLOOMFAM_JOIN_REASONS_H */
