/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_fill.h
 *	  Private to the ribbon filter: brings the equations of a layer's keys into a band.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_FILL_H
#define KIND_RIBBON_FILL_H

#include "kind_ribbon_band.h"

/*
 * bf_ribbon_fill: eliminates the equations of the layer's n keys, decides which keys are bumped,
 * writes the thresholds and the list of these keys, and returns their number.
 *
 * The band and the thresholds come zeroed.  The outcome follows from the keys alone, on every
 * processor.
 */
extern uint32_t bf_ribbon_fill(const BfPort *port, const BfShardBuild *build, const Layer *layer,
							   Band *band, uint32_t n, uint8_t *thresholds);

#endif							/* KIND_RIBBON_FILL_H */
