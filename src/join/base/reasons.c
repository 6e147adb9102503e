/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reasons.c
 *	  Why something was not done: the reasons, and the text of each.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/base/reasons.h"

const char *const bloomfam_join_reason_texts[JOIN_REASONS] = {
	[JOIN_KEEPS_ROWS] = "Rows of the probe side that match none are in the join's result.",
	[JOIN_KEY_IS_COMPUTED] = "The key is no plain column of the probe side, or computed by a "
							 "subquery on the build side.",
	[JOIN_KEY_HAS_NO_HASH] = "The operator is not strict, or its family does not hash both of its "
							 "types.",
	[JOIN_KEY_IS_VOLATILE] = "A key of the probe side calls volatile functions, in a subquery or a "
							 "domain.",
	[JOIN_HAS_NO_TARGET] = "All of the probe side is scanned asynchronously.",
	[JOIN_BUILDS_TOO_LATE] = "The probe side is read before there is a filter: %b.",
	[JOIN_HAS_TOO_MANY_KEYS] = "It would have %k keys, and is discarded beyond %K keys by "
							   "bloomfam.join_filter_max_size and work_mem.",
	[JOIN_PROBES_FEW_ROWS] = "It would probe %r, fewer than bloomfam.join_filter_min_rows (%R).",
	[JOIN_DROPS_FEW_ROWS] = "It would drop %d of %r, less than bloomfam.join_filter_min_drop (%D).",
	[JOIN_COSTS_MORE] = "It would drop %d of %r, which saves %s, and cost %c.",

	[JOIN_BUILD_WOULD_BE_SEEN] = "with the build side first, volatile functions or row locks would "
								 "differ",
	[JOIN_BUILD_COSTS_MORE] = "the build side costs more, and first it would be read for an empty "
							  "probe side, too",
};
