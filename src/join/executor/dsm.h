/*-------------------------------------------------------------------------
 *
 * dsm.h
 *	  Nodes in the part of a plan that workers run: what they have in dynamic shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DSM_H
#define BLOOMFAM_JOIN_DSM_H

#include "access/parallel.h"

#include "join/executor/node.h"

/*
 * The callbacks of nodes in the part of a plan that workers run, which are parallel-aware
 * for that.
 */
extern Size bloomfam_join_build_estimate(CustomScanState *css, ParallelContext *pcxt);
extern void bloomfam_join_build_initialize(CustomScanState *css, ParallelContext *pcxt,
										   void *coordinate);
extern void bloomfam_join_build_reinitialize(CustomScanState *css, ParallelContext *pcxt,
											 void *coordinate);
extern void bloomfam_join_build_initialize_worker(CustomScanState *css, shm_toc *toc,
												  void *coordinate);
extern Size bloomfam_join_probe_estimate(CustomScanState *css, ParallelContext *pcxt);
extern void bloomfam_join_probe_initialize(CustomScanState *css, ParallelContext *pcxt,
										   void *coordinate);
extern void bloomfam_join_probe_reinitialize(CustomScanState *css, ParallelContext *pcxt,
											 void *coordinate);
extern void bloomfam_join_probe_initialize_worker(CustomScanState *css, shm_toc *toc,
												  void *coordinate);

/* A node ends: in a worker, leaves its counts to the leader. */
extern void bloomfam_join_build_end_worker(JoinBuildState *state);
extern void bloomfam_join_probe_end_worker(JoinProbeState *state);

#endif							/* BLOOMFAM_JOIN_DSM_H */
