/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_fill.h
 *	  Private to the ribbon filter: the elimination of the equations of a layer's keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_FILL_H
#define KIND_RIBBON_FILL_H

#include "kind_ribbon_band.h"

/*
 * Adds the equations of a layer's n keys to a band by Gaussian elimination, decides which keys are
 * bumped, writes the thresholds and the list of bumped keys (band->bumped), and returns the number
 * of bumped keys.
 *
 * The band and the thresholds must be zeroed before.  The result follows from the keys alone, and
 * is the same on every processor.
 */
extern uint32_t bf_ribbon_fill(const BfPort *port, const BfShardBuild *build, const Layer *layer,
							   Band *band, uint32_t n, uint8_t *thresholds);

#endif							/* KIND_RIBBON_FILL_H */
