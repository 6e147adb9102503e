/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_wide.h
 *	  Private to the ribbon filter: probes of many keys with AVX-512.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_WIDE_H
#define KIND_RIBBON_WIDE_H

#include "bf.h"

/*
 * Probes n keys with AVX-512, and returns true.  Returns false, having done nothing, if this
 * processor or this filter does not allow it, or if there are too few keys.
 */
extern bool bf_ribbon_wide_many(const BfView *view, const uint64_t *hashes, size_t n,
								bool *result);

#endif							/* KIND_RIBBON_WIDE_H */
