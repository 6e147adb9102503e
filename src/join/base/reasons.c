/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.c
 *	  Holds the texts of the reasons why a filter or an optimization is not used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/reasons.h"

const char *const bloomfam_join_reason_texts[JOIN_REASONS] = {
#define JOIN_REASON(name, text)	[name] = text,
#include "join/base/reason_list.h"
#undef JOIN_REASON
};
