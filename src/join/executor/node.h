/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * node.h
 *	  The states of build and probe nodes, and what both kinds of nodes have in common.
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

/*
 * What a process counted of one filter: "build" is used by a build node, "probe" by a probe node.
 */
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
	 * For a build node below a Parallel Hash: the filter that its participants build together.  For
	 * a probe node below a Gather: the leader's copies of filters of joins above the Gather.
	 */
	JoinShared	filters[FLEXIBLE_ARRAY_MEMBER];

	/* An array of JoinCounts follows filters[]: nfilters elements for each worker. */
} JoinNodeDsm;

/* A process's reference to a JoinNodeDsm, and what workers have left there. */
typedef struct JoinParallel
{
	JoinNodeDsm *dsm;			/* The shared memory of the node; NULL: the node has none now. */

	/* In a leader with workers: the shared memory segment that "dsm" is in. */
	dsm_segment *segment;
	CustomScanState *node;
	void		(*left) (CustomScanState *node, JoinNodeDsm *dsm);

	/*
	 * A callback that forgets "segment" when the query's memory is freed; its func is NULL if the
	 * callback is not registered.
	 */
	MemoryContextCallback reset;

	/*
	 * What workers counted, nfilters for each; set in the leader after the workers have ended, for
	 * EXPLAIN and the statistics counters.  The leader's own counts are in the node itself.
	 */
	int			nworkers;
	int			nfilters;
	JoinCounts *counts;
} JoinParallel;

typedef struct JoinBuildState
{
	CustomScanState css;
	JoinFilterInfo *info;

	/* The filter that the node builds; NULL: the node only returns its child's rows. */
	JoinFilter *filter;

	/* Whether all rows of the build side have been read; only a rescan leads to a new build. */
	bool		ended;

	/*
	 * How each column of the filter's key is hashed.  This array and those below have an element
	 * for each column of the key.
	 */
	JoinKey    *keys;

	/*
	 * The build side's expression for each key column; NULL: the column is an attribute of the
	 * child's rows.
	 */
	ExprState **expressions;

	/* The values of the present row's key as numbers; set for columns of an integer type only. */
	int64	   *numbers;

	/*
	 * For each column of the key, the object that sends its values to foreign servers; NULL: no
	 * scan is sent anything of the column.
	 */
	JoinForeign **foreign_of;

	/*
	 * List of JoinForeign: what is sent to foreign servers, of all key columns by which anything is
	 * sent.
	 */
	List	   *foreign;
	JoinParallel parallel;
} JoinBuildState;

typedef struct JoinHeapBatch JoinHeapBatch;

typedef struct JoinProbeState
{
	CustomScanState css;
	JoinFilterInfo *infos;
	bool		has_stored;		/* Whether the query names some of the filters in conditions. */

	/*
	 * The number of filters in use: one for each element of infos[]; 0: this node only returns its
	 * child's rows.
	 */
	int			nprobes;
	JoinProbe  *probes;
	JoinProbeOrder  *order;			/* The order in which the node's filters are probed. */

	/* The child's scan in page batches; NULL: the child was not taken over. */
	JoinHeapBatch *batch;

	/* The function that returns the node's next row, unless its partition is skipped. */
	ExecProcNodeMtd exec;

	/* Whether the child's rows are of a partition that some filter may skip. */
	bool		may_skip;

	/* Whether the partition that may be skipped was read or skipped since the last rescan. */
	bool		begun;
	JoinParallel parallel;
} JoinProbeState;

/* Create the executor states of build and probe nodes, as CreateCustomScanState callbacks. */
extern Node *bloomfam_join_build_create(CustomScan *plan);
extern Node *bloomfam_join_probe_create(CustomScan *plan);

/*
 * Ties a build node's filter, if it has one, to the hash join or merge join whose build side it is
 * on.
 */
extern void bloomfam_join_build_tie(JoinBuildState *state, PlanState *join);

/* Show build and probe nodes in EXPLAIN, as ExplainCustomScan callbacks. */
extern void bloomfam_join_build_explain(CustomScanState *node, List *ancestors, ExplainState *es);
extern void bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Begins the execution of a node's child, and takes over the slots that it returns. */
extern void bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags);

/*
 * Returns the child's rows unchanged, as an ExecCustomScan callback.  A node that does more
 * replaces it by setting ExecProcNode.
 */
extern TupleTableSlot *bloomfam_join_node_exec(CustomScanState *css);

/*
 * Returns what the foreign server below a probe node was sent of this filter, by which it drops
 * rows.
 */
extern JoinForeignGot bloomfam_join_node_foreign_got(const JoinProbe *probe);

/*
 * Returns how the columns of a filter's key are hashed on a node's side of the join, as an array.
 */
extern JoinKey *bloomfam_join_node_keys(const JoinFilterInfo *info);

/* Returns the size of a node's shared memory, as an EstimateDSMCustomScan callback. */
extern Size bloomfam_join_node_estimate(CustomScanState *css, ParallelContext *pcxt);

/*
 * Initializes a node's shared memory in the leader, with its filters in the given state.  "left",
 * unless it is NULL, is called when the leader detaches from the memory: the workers have ended by
 * then, and what they have written can still be read.
 */
extern void bloomfam_join_node_share(JoinParallel *parallel, CustomScanState *css,
									 ParallelContext *pcxt, void *coordinate,
									 JoinSharedState state,
									 void (*left) (CustomScanState *, JoinNodeDsm *));

/*
 * Adds, at the end of a worker, what it has counted of one of a node's filters to the node's shared
 * memory.
 */
extern void bloomfam_join_node_leave_counts(const JoinParallel *parallel, int filter,
											JoinCounts counts);

/*
 * Return the sum of what all processes have counted of a build node, and of one filter of a probe
 * node.
 */
extern JoinBuildCounts bloomfam_join_build_sum(const JoinBuildState *state);
extern JoinProbeCounts bloomfam_join_probe_sum(const JoinProbe *probe);

#endif							/* BLOOMFAM_JOIN_NODE_H */
