/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * node.h
 *	  What the nodes of both sides have in common, and their states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_NODE_H
#define BLOOMFAM_JOIN_NODE_H

#include "access/parallel.h"
#include "executor/executor.h"
#include "storage/dsm.h"

#include "join/executor/gate.h"
#include "join/fdw/foreign.h"
#include "pg/compat.h"

/* What a process counted of a node's filter: a build node the one, a probe node the other. */
typedef struct JoinCounts
{
	JoinBuildCounts build;
	JoinProbeCounts probe;
} JoinCounts;

/* What a node in the part of a plan that workers run has in dynamic shared memory. */
typedef struct JoinNodeDsm
{
	int			nworkers;
	int			nfilters;

	/*
	 * of a build node below a Parallel Hash, that its participants build together; of a probe node
	 * below a Gather, the leader's copies of the filters of joins above it
	 */
	JoinShared	filters[FLEXIBLE_ARRAY_MEMBER];
	/* then JoinCounts, nfilters for each worker */
} JoinNodeDsm;

/* A process's reference to it, and what has come from there. */
typedef struct JoinParallel
{
	JoinNodeDsm *dsm;			/* NULL: none now */
	dsm_segment *segment;		/* ... that it is in, of a leader with workers */
	CustomScanState *node;
	void		(*left) (CustomScanState *node, JoinNodeDsm *dsm);
	MemoryContextCallback reset;	/* func NULL: not registered */

	/*
	 * for EXPLAIN and the counters, in the leader after the workers have ended: nfilters for each;
	 * what the node has itself are the leader's counts
	 */
	int			nworkers;
	int			nfilters;
	JoinCounts *counts;
} JoinParallel;

typedef struct JoinBuildState
{
	CustomScanState css;
	JoinFilterInfo *info;
	JoinFilter *filter;			/* NULL: this node does nothing */
	bool		ended;			/* all rows were read: only a rescan leads to a new build */
	JoinKey    *keys;			/* of the filter's columns, as all below */
	ExprState **expressions;	/* NULL: an attribute of the child's rows */
	int64	   *numbers;		/* of a row; set for integer columns only */
	JoinForeign **foreign_of;	/* NULL: not pushed to a foreign server by this column */
	List	   *foreign;		/* those of all columns that are */
	JoinParallel parallel;
} JoinBuildState;

typedef struct JoinHeapBatch JoinHeapBatch;

typedef struct JoinProbeState
{
	CustomScanState css;
	JoinFilterInfo *infos;
	bool		has_stored;		/* the query names some of the filters */
	int			nprobes;		/* 0: this node does nothing; else one for each info */
	JoinProbe  *probes;
	JoinProbeOrder  *order;			/* in which they are probed */
	JoinHeapBatch *batch;		/* NULL: the child scans by itself */
	ExecProcNodeMtd exec;		/* returns the next row */
	bool		may_skip;		/* rows are of a partition that some filter may skip */
	bool		begun;			/* ... which was executed or skipped since the last rescan */
	JoinParallel parallel;
} JoinProbeState;

/* As CreateCustomScanState of the nodes' methods. */
extern Node *bloomfam_join_build_create(CustomScan *plan);
extern Node *bloomfam_join_probe_create(CustomScan *plan);

/* Ties a build node's filter, if it has one, to the hash join that it is the build side of. */
extern void bloomfam_join_build_tie(JoinBuildState *state, PlanState *join);

/* As ExplainCustomScan of the nodes' methods. */
extern void bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es);
extern void bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Begins a node and its child. */
extern void bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags);

/* As ExecCustomScan: returns the child's rows as they are.  Who does more sets ExecProcNode. */
extern TupleTableSlot *bloomfam_join_node_exec(CustomScanState *css);

/* What of this filter of a probe node did the foreign server below get, which drops rows by it? */
extern JoinForeignGot bloomfam_join_node_foreign_got(const JoinProbe *probe);

/* How to hash the columns of a filter's key on a node's side of the join. */
extern JoinKey *bloomfam_join_node_keys(const JoinFilterInfo *info);

/* As EstimateDSMCustomScan of the nodes' methods. */
extern Size bloomfam_join_node_estimate(CustomScanState *css, ParallelContext *pcxt);

/*
 * In the leader: initializes what a node has in dynamic shared memory, its filters in this state.
 * left, unless it is NULL, is called when the leader detaches: then the workers have ended, and
 * what they wrote there can still be read.
 */
extern void bloomfam_join_node_share(JoinParallel *parallel, CustomScanState *css,
									 ParallelContext *pcxt, void *coordinate,
									 JoinFilterState state,
									 void (*left) (CustomScanState *, JoinNodeDsm *));

/* In a worker, at its end: leaves the leader what it has counted of one of the node's filters. */
extern void bloomfam_join_node_leave_counts(const JoinParallel *parallel, int filter,
											JoinCounts counts);

/* What all processes have counted, of a build node and of one filter of a probe node. */
extern JoinBuildCounts bloomfam_join_build_sum(const JoinBuildState *state);
extern JoinProbeCounts bloomfam_join_probe_sum(const JoinProbe *probe);

#endif							/* BLOOMFAM_JOIN_NODE_H */
