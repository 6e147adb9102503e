/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * heap_batch.h
 *	  Filters on the scan of a heap: a page at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HEAP_BATCH_H
#define BLOOMFAM_JOIN_HEAP_BATCH_H

#include "join/executor/node.h"

/*
 * Takes over the scan of a probe node's child, if it is one of a heap: sets batch, and exec if no
 * filter is probed row by row.
 */
extern void bloomfam_join_heap_batch_init(JoinProbeState *state);

/*
 * Returns the next row of the scan that was taken over: by ExecProcNode()'s rules, as if the child
 * had returned it.
 */
extern TupleTableSlot *bloomfam_join_heap_batch_exec(PlanState *node);

#endif							/* BLOOMFAM_JOIN_HEAP_BATCH_H */
