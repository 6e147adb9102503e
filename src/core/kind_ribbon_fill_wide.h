/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_fill_wide.h
 *	  Private to the ribbon filter: bf_ribbon_fill() with AVX-512.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_FILL_WIDE_H
#define KIND_RIBBON_FILL_WIDE_H

#include "bf_wide.h"
#include "kind_ribbon_band.h"

#ifdef BF_HAVE_WIDE

/*
 * Does the same as bf_ribbon_fill() (kind_ribbon_fill.h), on a processor for which bf_have_wide()
 * is true.
 */
extern uint32_t bf_ribbon_fill_wide(const BfPort *port, const BfShardBuild *build,
									const Layer *layer, Band *band, uint32_t n,
									uint8_t *thresholds);

#endif

#endif							/* KIND_RIBBON_FILL_WIDE_H */
