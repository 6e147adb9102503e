/*-------------------------------------------------------------------------
 *
 * node.h
 *	  What the nodes of both sides have in common, and their states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_NODE_H
#define BLOOMFAM_JOIN_NODE_H

#include "executor/executor.h"
#include "storage/dsm.h"

#include "join/base/filter_info.h"
#include "join/executor/order.h"
#include "join/fdw/foreign.h"

typedef struct JoinBuildDsm JoinBuildDsm;
typedef struct JoinProbeDsm JoinProbeDsm;

/* The leader's reference to a node's dynamic shared memory. */
typedef struct JoinSegment
{
	dsm_segment *seg;			/* NULL: none now */
	on_dsm_detach_callback left;
	CustomScanState *state;		/* NULL: there never was any */
	MemoryContextCallback reset;
} JoinSegment;

/* The state of a build node.  Only a rescan leads from the end of its rows to a new build. */
typedef enum JoinBuildPhase
{
	JOIN_BUILD_FRESH,
	JOIN_BUILD_READING,
	JOIN_BUILD_ENDED
} JoinBuildPhase;

typedef struct JoinBuildState
{
	CustomScanState css;
	JoinFilterInfo *info;
	JoinFilter *filter;			/* NULL: this node does nothing */
	JoinBuildPhase phase;
	JoinKey    *keys;			/* of the filter's columns, as all below */
	AttrNumber *attributes;		/* of the child's rows; 0: an expression */
	ExprState **expressions;
	int64	   *numbers;		/* of a row; set for integer columns only */
	JoinForeign **foreign;		/* NULL: not pushed to a foreign server by this column, or by any */
	JoinBuildDsm *dsm;
	JoinSegment segment;

	/*
	 * for EXPLAIN, in the leader after the workers have ended; the filter's own counts are those
	 * of the leader
	 */
	int			nworkers;
	JoinBuildCounts *workers;
} JoinBuildState;

typedef struct JoinHeapBatch JoinHeapBatch;

typedef struct JoinProbeState
{
	CustomScanState css;
	JoinFilterInfo *infos;
	int			nprobes;		/* 0: this node does nothing; else one for each info */
	JoinProbe  *probes;
	JoinOrder  *order;			/* in which they are probed */
	JoinHeapBatch *batch;		/* NULL: the child scans by itself */
	ExecProcNodeMtd exec;		/* returns the next row */
	bool		may_skip;		/* rows are of a partition that some filter may skip */
	bool		begun;			/* ... which was executed or skipped since the last rescan */
	JoinProbeDsm *dsm;
	JoinSegment segment;

	/*
	 * for EXPLAIN, in the leader after the workers have ended: nprobes for each; the probes' own
	 * counts are those of the leader
	 */
	int			nworkers;
	JoinProbeCounts *workers;
} JoinProbeState;

/* Begins a node and its child; until more is set, it returns the child's rows as they are. */
extern void bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags);

/* Executes it. */
extern TupleTableSlot *bloomfam_join_node_exec(CustomScanState *css);

/* Was this filter of a probe node pushed to the foreign server below, which drops rows by it? */
extern bool bloomfam_join_node_was_foreign(const JoinProbeState *state, int probe);

/*
 * How to hash the columns of a filter's key on a node's side of the join; and where they are in the
 * child's rows, 0 standing for an expression.  In the current memory context.
 */
extern JoinKey *bloomfam_join_node_keys(const JoinFilterInfo *info);
extern AttrNumber *bloomfam_join_node_attributes(const JoinFilterInfo *info);

#endif							/* BLOOMFAM_JOIN_NODE_H */
