/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch.h
 *	  Probes filters on the scan of a heap with all rows of a page at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_BATCH_H
#define BLOOMFAM_JOIN_HEAP_BATCH_H

#include "join/executor/node.h"

/*
 * Takes over the scan of a probe node's child, if it is a sequential scan of a heap: sets
 * state->batch, and sets state->exec if no filter is probed row by row.
 */
extern void bloomfam_join_heap_batch_init(JoinProbeState *state);

/*
 * Returns the next row of a scan that was taken over, as ExecProcNode() of the child would, or an
 * empty slot at the end.
 */
extern TupleTableSlot *bloomfam_join_heap_batch_exec(PlanState *node);

#endif							/* BLOOMFAM_JOIN_HEAP_BATCH_H */
