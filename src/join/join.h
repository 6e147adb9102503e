/*-------------------------------------------------------------------------
 *
 * join.h
 *	  The runtime join filter: what its files share, grouped by the file that it lives in.
 *
 * A hash join reads all of its build side before it asks the probe side for a row.  plan.c puts
 * one node on top of the build side that remembers the hashes of the join's keys (build.c), and
 * others on the probe side, as deep as they may go, that drop the rows whose keys are not among
 * them (probe.c; page.c for whole pages of a heap).  hooks.c ties these nodes to their
 * HashJoinState; filter.c holds what they share.
 *
 * A filter that drops too little costs time; one that drops too much would lose rows.  So each of
 * these holds:
 *
 *	- a filter is asked only when it is complete, and only together with the very hash table that
 *	  was built along with it;
 *	- both sides hash with functions that agree wherever the join's operator says "equal";
 *	- what is not understood passes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_H
#define BLOOMFAM_JOIN_H

#include "access/parallel.h"
#include "executor/hashjoin.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "utils/dsa.h"
#include "utils/palloc.h"

#include "core/bf.h"
#include "core/bf_format.h"
#include "core/bf_hash.h"
#include "pg/compat.h"

/* ---- hooks.c: settings, and the server's hooks ---- */

typedef enum JoinFilterMode
{
	JOIN_FILTER_OFF,
	JOIN_FILTER_ON,
	JOIN_FILTER_FORCE
} JoinFilterMode;

extern int	bloomfam_join_filter;	/* a JoinFilterMode */
extern int	bloomfam_join_filter_min_rows;
extern int	bloomfam_join_filter_max_size;	/* kB */
extern int	bloomfam_join_filter_foreign_max_size;	/* kB; 0: none */
extern double bloomfam_join_filter_min_drop;
extern double bloomfam_join_filter_fpr;
extern bool bloomfam_join_filter_log;
extern bool bloomfam_join_filter_plans;

/* Build nodes that are not yet tied to their hash join count themselves here. */
extern int	bloomfam_join_builds_begun;

/* To be called by _PG_init(). */
extern void bloomfam_join_init(void);

/* ---- hash.c: the keys of a join as 64 bits ---- */

/*
 * One column of a join's key, on one of its sides.  The routine depends on the operator and the
 * types of both sides, so that the hashes of both sides agree.
 */
typedef struct JoinKey JoinKey;

struct JoinKey
{
	uint64		(*hash) (const JoinKey *key, Datum value);	/* value is not NULL; may allocate in
															 * the current memory context */
	bool		leakproof;		/* hashing tells nobody anything about the value, not even by an
								 * error */
	int16		typlen;			/* of the type that is hashed */
	bool		integer;		/* the value is an integer of typlen bytes, hashed by its number */
	Oid			collation;
	FmgrInfo	function;		/* the operator family's own, where there is no shorter way */
};

/*
 * Is this operator one whose sides both can be hashed, and that never says "equal" of a NULL?
 * Then also tells whether hashing its left side, the probe's, gives nothing away of the value,
 * not even by an error.
 */
extern bool bloomfam_join_key_usable(Oid operator, Oid collation, bool *leakproof);

/* Prepares the hashing of one side of an operator that is usable, in the current memory context. */
extern void bloomfam_join_key_init(JoinKey *key, Oid operator, Oid collation, bool outer);

/* What comes of a key's further column. */
static inline uint64
bloomfam_join_hash_combine(uint64 hash, uint64 next)
{
	return bf_remix(hash ^ (next << 1 | next >> 63), 1);
}

/* ---- shared.c: filters and the processes of a parallel query ---- */

typedef enum JoinSharedState
{
	JOIN_SHARED_NONE,			/* hashes are being handed over */
	JOIN_SHARED_BUILDING,		/* all were, and somebody makes the filter */
	JOIN_SHARED_READY,
	JOIN_SHARED_GIVEN_UP		/* too many, or no memory */
} JoinSharedState;

/* A filter that several processes build or use. */
typedef struct JoinShared
{
	pg_atomic_uint32 state;		/* a JoinSharedState */
	pg_atomic_uint64 nhashes;	/* that were handed over */
	dsa_pointer_atomic chunks;	/* they are in these; the last one */
	dsa_pointer payload;		/* before it is aligned */
	BfHeader	head;			/* of the filter */
} JoinShared;

typedef struct JoinFilter JoinFilter;
typedef struct JoinBuildState JoinBuildState;
typedef struct JoinProbeState JoinProbeState;

/*
 * Makes room for more hashes of this process's share, or gives up for all.  They may together be
 * as many as the filter of one process may have, and a chunk each.
 */
extern void bloomfam_join_shared_more(JoinFilter *filter);

/*
 * This process has seen the end of its share of the build side; to be called before its build
 * node says so.
 */
extern void bloomfam_join_shared_finish(JoinFilter *filter);

/*
 * Tries to get the filter for this process, whose join is the one that probes now, or is the
 * leader's.  Returns whether rows may be dropped by it.
 */
extern bool bloomfam_join_shared_attach(JoinFilter *filter);

/*
 * The callbacks of nodes in the part of a plan that workers run, which are parallel-aware for
 * that.
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

/* The leader's hold of the dynamic shared memory of a node. */
typedef struct JoinSegment
{
	dsm_segment *seg;			/* NULL: there is none now */
	on_dsm_detach_callback left;
	CustomScanState *state;		/* NULL: never was any */
	MemoryContextCallback reset;
} JoinSegment;

/* What a process did, over all rescans, for EXPLAIN: building a filter, and probing one. */
typedef struct JoinBuildCounts
{
	uint64		builds;			/* of a shared filter, counted by the process that makes it */
	uint64		given_up;		/* of these: there were too many keys */
	uint64		keys;			/* rows that had one; of a shared filter, the share */
	uint64		bytes;			/* of all filters' bits */
	Size		largest;		/* of them */
	Size		memory;			/* the most that was allocated at once */
} JoinBuildCounts;

typedef struct JoinProbeCounts
{
	uint64		tested;			/* rows */
	uint64		dropped;
	uint64		passed_unseen;
	bool		switched_off;	/* at the end */
	double		fpr;			/* by the filter's fill; 0: not known */
} JoinProbeCounts;

extern void bloomfam_join_build_counts_add(JoinBuildCounts *sum, const JoinBuildCounts *counts);
extern void bloomfam_join_probe_counts_add(JoinProbeCounts *sum, const JoinProbeCounts *counts);

typedef struct JoinBuildDsm JoinBuildDsm;
typedef struct JoinProbeDsm JoinProbeDsm;

/* ---- filter.c: what the two sides of a join share ---- */

#define JOIN_FILTER_KIND		BF_KIND_BLOCKED

/*
 * The filter of one join, in one process.  It lives as long as the query's state; build and probe
 * nodes find it through a parameter slot of the executor (es_param_exec_vals), as a plan's nodes
 * may not know each other.
 */
struct JoinFilter
{
	HashJoinState *join;		/* NULL: not tied to it, so nothing is built; or the join is the
								 * leader's */
	HashJoinTable table;		/* that it was built along with */
	bool		complete;		/* all keys of the build side are in */
	bool		abandoned;		/* there were too many keys: no filter this time */
	MemoryContext context;		/* holds all below; reset for each build */

	/* while it is built: hashes, as long as their number is not known */
	uint64	   *hashes;
	uint64		nhashes;
	uint64		allocated;

	/* where other processes take part: see shared.c */
	JoinShared *shared;			/* NULL: this one is alone */
	dsa_area   *area;
	dsa_pointer chunk;			/* that hashes are in */
	dsa_area   *copied_to;		/* where the workers find a copy of the leader's filter */
	uint64		copied_build;	/* the number of builds by then */

	BfView		view;			/* payload NULL: nothing yet */
	BfProbe		probe;

	JoinBuildCounts counts;
};

/* The filter in this parameter slot, made when first asked for. */
extern JoinFilter *bloomfam_join_filter_get(EState *estate, int param);

/* Begins a build: empties the filter. */
extern void bloomfam_join_filter_begin(JoinFilter *filter);

/* Makes room for more hashes, or abandons the filter. */
extern void bloomfam_join_filter_more(JoinFilter *filter);

/*
 * Ends a build: makes the filter of the hashes, and ties it to the hash table that they went
 * into.
 */
extern void bloomfam_join_filter_finish(JoinFilter *filter);

/* The number of hashes that both they and the filter of them have room for. */
extern uint64 bloomfam_join_filter_most(void);

/* The bytes of a filter of so many hashes. */
extern double bloomfam_join_filter_bytes(double nhashes);

/* The header of a filter of so many hashes; false if there is none. */
extern bool bloomfam_join_filter_plan(uint64 nhashes, BfHeader *head);

/* Adds hashes to a payload. */
extern void bloomfam_join_filter_fill(const BfHeader *head, uint8 *payload, const uint64 *hashes,
									  uint64 n);

/* Counts a filter that was made, for EXPLAIN: its size, and all that making it took. */
extern void bloomfam_join_filter_count(JoinFilter *filter, Size size, Size memory);

/*
 * From now on, and as long as the join has the hash table that it now has, the filter is this
 * one.
 */
extern void bloomfam_join_filter_use(JoinFilter *filter, const BfHeader *head,
									 const uint8 *payload);

static inline void
bloomfam_join_filter_add(JoinFilter *filter, uint64 hash)
{
	if (unlikely(filter->nhashes == filter->allocated))
	{
		bloomfam_join_filter_more(filter);
		if (filter->abandoned)
			return;
	}
	filter->hashes[filter->nhashes++] = hash;
}

/* May rows be dropped by it now? */
static inline bool
bloomfam_join_filter_ready(JoinFilter *filter)
{
	if (likely(filter->complete))
		return filter->join == NULL ||
			   (filter->join->hj_HashTable == filter->table && filter->table != NULL);
	return filter->shared != NULL && !filter->abandoned && bloomfam_join_shared_attach(filter);
}

/* ---- foreign.c: filters that travel ---- */

/*
 * Can a foreign scan ask its server for those rows only whose key may be in a filter of the build
 * side, by our own hashes?  The key is an output column of the scan's.  The caller knows that
 * rows without a partner may be dropped below the scan's conditions, and that the build side
 * depends on no outer parameter.  Returns NULL if it can, else why not, a constant.
 */
extern const char *bloomfam_join_foreign_refusal(PlannedStmt *stmt, ForeignScan *scan,
												 AttrNumber attribute, Oid operator, Oid collation,
												 Oid build_type);

/*
 * Makes a foreign scan that can do so.  *param is the filter's parameter, and -1 before the first
 * scan.
 */
extern void bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute,
									   int *param);

/* Such a filter, of one column of the key, while the plan is executed. */
typedef struct JoinForeign JoinForeign;

/*
 * To be called for each such filter of a plan, whatever the settings are at execution: its
 * parameter is NULL until it is finished, which passes every key.  Lives as long as the query's
 * state.
 */
extern JoinForeign *bloomfam_join_foreign_begin(EState *estate, int param);

/* Prepares it for keys of this type; without that, there is nothing to be added or finished. */
extern void bloomfam_join_foreign_enable(JoinForeign *foreign, Oid type, Oid collation);

/* Tells it where its scans are.  Without that, they get no filter. */
extern void bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side);

/* Adds a key that is not NULL. */
extern void bloomfam_join_foreign_add(JoinForeign *foreign, Datum key);

/* All keys are in: scans that have not begun get the filter, unless it is too large. */
extern void bloomfam_join_foreign_finish(JoinForeign *foreign);

/*
 * The build side is about to begin anew: no filter until then, and scans that have had one begin
 * anew, too.
 */
extern void bloomfam_join_foreign_reset(JoinForeign *foreign);

/* For EXPLAIN: bytes of the filter, 0 if there is none. */
extern Size bloomfam_join_foreign_size(const JoinForeign *foreign);

/* ---- node.c, build.c, probe.c: the nodes ---- */

/*
 * What a plan's nodes carry in custom_private: a list of filters, each a list of integers.  A
 * build node has one filter, and behind it, if it has any that travel, a list of their parameters
 * and types, a pair for each column (-1: none); a probe node has one or more filters.
 *
 *		param, number, shared, expected share of rows dropped in thousandths, then for each column
 *		of the key: operator, collation, attribute number, hash key
 *
 * The number is the filter's in this plan, from 1.  A build node's filter is shared if the hash
 * table is (Parallel Hash); a probe node's if the join is above the Gather that the node is
 * below.  The attribute is the child's output column; 0 means the next one of custom_exprs (build
 * nodes only).  The hash key says which one of the join's it is, from 0.  A condition with a
 * stored filter (probe nodes only) is
 *
 *		JOIN_SPEC_STORED, 0, false, expected share of rows dropped, number of the condition in
 *		custom_exprs
 */
#define JOIN_SPEC_PARAM			0
#define JOIN_SPEC_NUMBER		1
#define JOIN_SPEC_SHARED		2
#define JOIN_SPEC_DROP			3
#define JOIN_SPEC_COLUMNS		4
#define JOIN_SPEC_PER_COLUMN	4

#define JOIN_SPEC_STORED		(-1)
#define JOIN_STORED_EXPRESSION	JOIN_SPEC_COLUMNS

#define JOIN_COLUMN_OPERATOR	0
#define JOIN_COLUMN_COLLATION	1
#define JOIN_COLUMN_ATTRIBUTE	2
#define JOIN_COLUMN_HASH_KEY	3

static inline int
bloomfam_join_spec_ncolumns(const List *spec)
{
	return (list_length(spec) - JOIN_SPEC_COLUMNS) / JOIN_SPEC_PER_COLUMN;
}

static inline bool
bloomfam_join_spec_is_shared(const List *spec)
{
	return list_nth_int(spec, JOIN_SPEC_SHARED) != 0;
}

static inline int
bloomfam_join_spec_column(const List *spec, int column, int what)
{
	return list_nth_int(spec, JOIN_SPEC_COLUMNS + column * JOIN_SPEC_PER_COLUMN + what);
}

/* Begins a node, and its child: for now it hands on the child's rows as they are. */
extern void bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags);

/* Executes it. */
extern TupleTableSlot *bloomfam_join_node_exec(CustomScanState *css);

/*
 * The columns of a filter's key on one side of its join: how to hash them, and where they are in
 * the child's rows, in the current memory context.
 */
extern void bloomfam_join_node_columns(const List *spec, bool outer, JoinKey **keys,
									   AttrNumber **attributes);

extern const CustomScanMethods bloomfam_join_build_methods;
extern const CustomScanMethods bloomfam_join_probe_methods;

/* The state of a build node.  Only a rescan leads from the end of its rows to a new build. */
typedef enum JoinBuildPhase
{
	JOIN_BUILD_FRESH,
	JOIN_BUILD_READING,
	JOIN_BUILD_ENDED
} JoinBuildPhase;

struct JoinBuildState
{
	CustomScanState css;
	JoinFilter *filter;			/* NULL: this node does nothing */
	JoinBuildPhase phase;
	int			ncolumns;
	JoinKey    *keys;
	AttrNumber *attributes;		/* of the child's rows; 0: an expression */
	ExprState **expressions;
	JoinForeign **foreign;		/* for each column, NULL: none; NULL: for no column */
	bool		shared;			/* builds its share of a filter for all, if there are others */
	JoinBuildDsm *dsm;
	JoinSegment segment;

	/*
	 * for EXPLAIN, in the leader after the workers have ended; the filter's own counts are those
	 * of the leader
	 */
	int			nworkers;
	JoinBuildCounts *workers;
};

/*
 * One filter of a probe node.  Whether it pays is looked at now and then: a sample of rows is
 * counted, and if too few of them were dropped, rows pass unseen until the next sample.
 */
typedef struct JoinProbe
{
	JoinFilter *filter;			/* a join's; or one that is never ready, and */
	struct JoinStored *stored;	/* ... one that the query names, which is never paused */
	int			ncolumns;
	JoinKey    *keys;
	AttrNumber *attributes;
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_dropped;
	uint64		pause;			/* rows to let pass before the next sample; 0: on */
	uint64		last_pause;		/* the next one is longer */
	JoinProbeCounts counts;		/* see bloomfam_join_probe_counts() */
} JoinProbe;

typedef struct JoinPage JoinPage;
typedef struct JoinStored JoinStored;

struct JoinProbeState
{
	CustomScanState css;
	int			nprobes;
	JoinProbe  *probes;
	JoinPage   *page;			/* NULL: the child does its scan itself */
	bool		by_rows;		/* filters of joins look at the child's rows, not at pages */
	JoinProbeDsm *dsm;
	JoinSegment segment;

	/*
	 * for EXPLAIN, in the leader after the workers have ended: nprobes for each; the probes' own
	 * counts are those of the leader
	 */
	int			nworkers;
	JoinProbeCounts *workers;
};

/* Tells the filters of a build node that travel where their scans are. */
extern void bloomfam_join_build_tie_foreign(JoinBuildState *state, PlanState *probe_side);

/* Is this node one of ours? */
static inline bool
bloomfam_join_is_build(const PlanState *node)
{
	return IsA(node, CustomScanState) &&
		   ((const CustomScan *) node->plan)->methods == &bloomfam_join_build_methods;
}

/* How many rows a filter's sample has, and how many pass unseen after one that was not worth it. */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

/* A probe's counts with those that are found at the end only. */
extern JoinProbeCounts bloomfam_join_probe_counts(const JoinProbe *probe);

/*
 * Counts a filter's work on some rows, and decides whether it goes on: worth is the share that
 * must be dropped.
 */
extern void bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 dropped,
									  double worth);

/* Is a filter to look at these rows?  If not, they pass, and are taken off its pause. */
static inline bool
bloomfam_join_probe_awake(JoinProbe *probe, uint64 rows)
{
	bool		ready = bloomfam_join_filter_ready(probe->filter);

	if (likely(ready && probe->pause == 0))
		return true;
	probe->counts.passed_unseen += rows;
	if (ready)
		probe->pause -= Min(probe->pause, rows);
	return false;
}

/* ---- page.c: a page of a heap at a time ---- */

/* Takes over the scan of a probe node's child, if it is one of a heap; else returns NULL. */
extern JoinPage *bloomfam_join_page_init(JoinProbeState *state);

/*
 * The next row of the scan that was taken over: by ExecProcNode()'s rules, as if the child had
 * returned it.
 */
extern TupleTableSlot *bloomfam_join_page_exec(PlanState *node);

/* ---- stored.c: filters that the query names ---- */

/* What such a filter says of a row whose key is not NULL. */
typedef enum JoinAnswer
{
	JOIN_ANSWER_PROBE,			/* look into it */
	JOIN_ANSWER_YES,			/* it is NULL: nothing is known, so all pass */
	JOIN_ANSWER_NO				/* it has no keys */
} JoinAnswer;

/*
 * Takes the conditions that are probes of a filter from a scan of a plan that is finished:
 * returns those that a probe node on top of it is to apply in its stead.  row_security: they must
 * not come before others.
 */
extern List *bloomfam_join_take_stored(const PlannedStmt *stmt, Scan *scan, bool row_security);

/*
 * What such a node carries in custom_private for a condition, which is added to its custom_exprs.
 */
extern List *bloomfam_join_stored_spec(CustomScan *node, Node *condition);

/* Fills the probe; the node's child must be there. */
extern void bloomfam_join_stored_init(JoinProbe *probe, CustomScanState *node, const List *spec);

/* The filter may be another one from now on. */
extern void bloomfam_join_stored_rescan(JoinStored *stored);

/* Known once a key has been hashed by probe->keys; the filter then is to be found here. */
extern JoinAnswer bloomfam_join_stored_answer(const JoinStored *stored);
extern const BfView *bloomfam_join_stored_view(const JoinStored *stored);

/* Does a row with this key, which is not NULL, pass? */
extern bool bloomfam_join_stored_passes(JoinStored *stored, Datum key);

/* ---- cost.c: what filters cost and save, and hash joins that are planned by it ---- */

/* What became of a hash key of a join: of the reasons against a filter, the first that applies. */
typedef enum JoinReason
{
	JOIN_HAS_FILTER,
	JOIN_KEEPS_ROWS,			/* rows without a match are in its result */
	JOIN_KEY_IS_COMPUTED,		/* on the probe side; or in a way that may not be repeated on the
								 * build side */
	JOIN_KEY_HAS_NO_HASH,
	JOIN_HAS_NO_PLACE,
	JOIN_PROBES_FEW_ROWS,
	JOIN_DROPS_FEW_ROWS,
	JOIN_COSTS_MORE				/* than it saves */
} JoinReason;

typedef struct JoinVerdict
{
	JoinReason	reason;
	int			filter;			/* its number, if it has one */
	double		probed;			/* rows, as the planner expects */
	double		dropped;		/* share of them */
	double		waiting;		/* how many times longer a probe takes than one of a filter in the
								 * cache */
	double		cost;			/* of building and probing, in the planner's units */
	double		saved;
	int			foreign;		/* scans that the filter may travel to */
	int			unsent;			/* those of them that it does not travel to, and */
	const char *unsent_reason;	/* ... why not to the last of them */
} JoinVerdict;

/*
 * Do rows of a hash join's outer side that match no row of the inner side add nothing to its
 * result?
 */
extern bool bloomfam_join_may_drop_outer(JoinType type);

/*
 * What a row of the outer side costs that is written to a file and read again, as the hash table
 * does not fit memory; on average.
 */
extern double bloomfam_join_spilling(double keys, int inner_width, int outer_width);

/* Begins a verdict on a filter of so many keys that drops this share of rows. */
extern void bloomfam_join_verdict_begin(JoinVerdict *verdict, double keys, double drop);

/*
 * Adds a place with so many rows, which pass so many nodes from there on to the join, and that
 * one.
 */
extern void bloomfam_join_verdict_place(JoinVerdict *verdict, double rows, bool paged, int nodes,
										double spilling);

/* Adds a scan of another server's table that it is sent with. */
extern void bloomfam_join_verdict_foreign(JoinVerdict *verdict, double rows);

/* Is the filter expected to pay?  JOIN_HAS_FILTER if so. */
extern JoinReason bloomfam_join_verdict_end(const JoinVerdict *verdict);

/*
 * Offers the planner hash joins of a pair of relations whose cost is lowered by what a filter is
 * expected to save.  To be called as a set_join_pathlist_hook.
 */
extern void bloomfam_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
									RelOptInfo *innerrel, JoinType jointype,
									JoinPathExtraData *extra);

/* ---- plan.c ---- */

/*
 * Adds filters to a finished plan, in which row security has a part or not.  Returns the
 * decisions: a JoinDecision for each of its hash joins.
 */
extern List *bloomfam_join_plan(PlannedStmt *stmt, bool row_security);

/*
 * Does an expression, or a list of them, give the same each time, and notice nothing of how often
 * it is asked?  So rows may be dropped before.
 */
extern bool bloomfam_join_is_indifferent(void *expression);

/*
 * The column that an expression is, as it stands or relabelled, and no system column; NULL if it
 * is none.
 */
extern const Var *bloomfam_join_var(const Expr *expr);

/* The number of that column: of the table or child that varno says.  0 if it is none. */
extern AttrNumber bloomfam_join_column(const Expr *expr, int varno);

/* The same of an output column of a plan. */
extern AttrNumber bloomfam_join_column_behind(const Plan *plan, AttrNumber attribute, int varno);

/* ---- explain.c: what EXPLAIN and the log say ---- */

typedef struct JoinDecision
{
	HashJoin   *join;
	List	   *ancestors;		/* plan nodes, the nearest first */
	JoinVerdict *verdicts;		/* on each of its hash keys */
} JoinDecision;

/* Logs what was decided about the hash joins of a plan. */
extern void bloomfam_join_log(PlannedStmt *stmt, List *decisions);

struct ExplainState;

/* Shows it in an EXPLAIN, after the plan itself. */
extern void bloomfam_join_explain_decisions(List *decisions, struct ExplainState *es);

extern void bloomfam_join_build_explain(CustomScanState *node, List *ancestors,
										struct ExplainState *es);
extern void bloomfam_join_probe_explain(CustomScanState *node, List *ancestors,
										struct ExplainState *es);
extern void bloomfam_join_stored_explain(const JoinStored *stored, CustomScanState *node,
										 List *ancestors, struct ExplainState *es);

#endif							/* BLOOMFAM_JOIN_H */
