/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_probe.h
 *	  Private to the ribbon filter: probes of one key and of many.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_PROBE_H
#define KIND_RIBBON_PROBE_H

#include "bf.h"

/* Implement BfKind.prober and BfKind.probe_many for kind ribbon. */
extern BfProbe bf_ribbon_prober(const BfView *view);
extern void bf_ribbon_probe_many(const BfView *view, const uint64_t *hashes, size_t n,
								 bool *result);

#endif							/* KIND_RIBBON_PROBE_H */
