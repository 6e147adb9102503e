/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_solve.h
 *	  Private to the ribbon filter: builds the table of a shard, and computes its size.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_SOLVE_H
#define KIND_RIBBON_SOLVE_H

#include "bf_static.h"

/* Implement BfStaticKind.scratch_len, max_table_len and solve. */
extern uint64_t bf_ribbon_scratch_len(const BfHeader *head, uint32_t n);
extern uint64_t bf_ribbon_max_table_len(const BfHeader *head, uint32_t n);
extern void bf_ribbon_solve(const BfPort *port, BfShardBuild *build);

/* Returns the approximate length in bytes of a table of n keys, for bf_static_size(). */
extern uint64_t bf_ribbon_table_len(const uint32_t *param, uint64_t n);

#endif							/* KIND_RIBBON_SOLVE_H */
