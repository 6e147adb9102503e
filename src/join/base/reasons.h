/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Why something is not done, as EXPLAIN and the log say it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REASONS_H
#define BLOOMFAM_JOIN_REASONS_H

typedef enum JoinReason
{
	JOIN_NO_REASON,				/* it is done, or may be done */
#define JOIN_REASON(name, text)	name,
#include "join/base/reason_list.h"
#undef JOIN_REASON
	JOIN_REASONS				/* how many there are */
} JoinReason;

/* The texts of the reasons; NULL for JOIN_NO_REASON, and for those that are not shown. */
extern const char *const bloomfam_join_reason_texts[JOIN_REASONS];

#endif							/* BLOOMFAM_JOIN_REASONS_H */
