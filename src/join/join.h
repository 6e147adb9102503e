/*-------------------------------------------------------------------------
 *
 * join.h
 *	  The runtime join filter: what its files share, grouped by the file that it lives in.
 *
 * A hash join reads all of its build side before it asks the probe side for a row.  plan.c puts one node on top of the build side that
 * remembers the hashes of the join's keys (build.c), and others on the probe side, as deep as they may go, that drop the rows whose keys are
 * not among them (probe.c; page.c for whole pages of a heap).  hooks.c ties these nodes to their HashJoinState; filter.c holds what they share.
 *
 * A filter that drops too little costs time; one that drops too much would lose rows.  So each of these holds:
 *
 *	- a filter is asked only when it is complete, and only together with the very hash table that was built along with it;
 *	- both sides hash with functions that agree wherever the join's operator says "equal";
 *	- what is not understood passes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_H
#define BLOOMFAM_JOIN_H

#include "executor/hashjoin.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"

#include "pg/bloomfam.h"

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

/* Build nodes that are not yet tied to their hash join count themselves here. */
extern int	bloomfam_join_builds_begun;

/* To be called by _PG_init(). */
extern void bloomfam_join_init(void);

/* ---- hash.c: the keys of a join as 64 bits ---- */

/*
 * One column of a join's key, on one of its sides.  The routine depends on the operator and the types of both sides, so that the hashes of both
 * sides agree.
 */
typedef struct JoinKey JoinKey;

struct JoinKey
{
	uint64		(*hash) (const JoinKey *key, Datum value);	/* value is not NULL; may allocate in the current memory context */
	bool		leakproof;		/* hashing tells nobody anything about the value, not even by an error */
	int16		typlen;			/* of the type that is hashed */
	bool		byval;
	bool		integer;		/* the value is an integer of typlen bytes, hashed by its number */
	Oid			collation;
	FmgrInfo	function;		/* the operator family's own, where there is no shorter way */
};

/*
 * Is this operator one whose sides both can be hashed to 64 bits, and that never says "equal" of a NULL?  Then also tells whether hashing its
 * left side, the probe's, gives nothing away of the value, not even by an error.
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

/* ---- filter.c: what the two sides of a join share ---- */

/*
 * The filter of one join, in one process.  It lives as long as the query's state; build and probe nodes find it through a parameter slot
 * of the executor (es_param_exec_vals), as a plan's nodes may not know each other.
 */
typedef struct JoinFilter
{
	HashJoinState *join;		/* NULL: not tied to it, so never ready */
	HashJoinTable table;		/* that it was built along with */
	bool		complete;		/* all keys of the build side are in */
	bool		abandoned;		/* there were too many keys: no filter this time */
	MemoryContext context;		/* holds all below; reset for each build */

	/* while it is built: hashes, as long as their number is not known */
	uint64	   *hashes;
	uint64		nhashes;
	uint64		allocated;

	BfView		view;			/* payload NULL: nothing yet */
	BfProbe		probe;
	uint8	   *payload;

	/* for EXPLAIN */
	uint64		keys;			/* rows of the last build that had a key */
	uint64		builds;
	Size		memory;			/* the most that was allocated */
} JoinFilter;

/* The filter in this parameter slot, made when first asked for. */
extern JoinFilter *bloomfam_join_filter_get(EState *estate, int param);

/* Begins a build: empties the filter. */
extern void bloomfam_join_filter_begin(JoinFilter *filter);

/* Makes room for more hashes, or abandons the filter. */
extern void bloomfam_join_filter_more(JoinFilter *filter);

/* Ends a build: makes the filter of the hashes, and ties it to the hash table that they went into. */
extern void bloomfam_join_filter_finish(JoinFilter *filter);

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
bloomfam_join_filter_ready(const JoinFilter *filter)
{
	return filter->complete && filter->join->hj_HashTable == filter->table && filter->table != NULL;
}

/* ---- foreign.c: filters that travel ---- */

/*
 * Makes a foreign scan ask its server for those rows only whose key may be in a filter of the build side, by our own hashes.
 *
 * The key is an output column of the scan's.  The caller knows that rows without a partner may be dropped below the scan's conditions, and that
 * the build side depends on no outer parameter.  *param is the filter's parameter, and -1 before the first scan.
 *
 * Returns NULL if that was done.  Else nothing is changed, and it returns the reason, a constant.
 */
extern const char *bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute, Oid operator, Oid collation,
											  Oid build_type, int *param);

/* Such a filter, of one column of the key, while the plan is executed. */
typedef struct JoinForeign JoinForeign;

/*
 * To be called for each such filter of a plan, whatever the settings are at execution: its parameter is NULL until it is finished, which passes every
 * row.  Lives as long as the query's state.
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

/* The build side is about to begin anew: no filter until then, and scans that have had one begin anew, too. */
extern void bloomfam_join_foreign_reset(JoinForeign *foreign);

/* For EXPLAIN: bytes of the filter, 0 if there is none. */
extern Size bloomfam_join_foreign_size(const JoinForeign *foreign);

/* ---- build.c, probe.c: the nodes ---- */

/*
 * What a plan's nodes carry in custom_private: a list of filters, each a list of integers.  A build node has one filter, and behind it, if it
 * has any that travel, a list of their parameters and types, a pair for each column (-1: none); a probe node has one or more filters.
 *
 *		param, expected share of rows dropped in thousandths, then for each column of the key: operator, collation, attribute number
 *
 * The attribute is the child's output column; 0 means the next one of custom_exprs (build nodes only).
 */
#define JOIN_SPEC_PARAM			0
#define JOIN_SPEC_DROP			1
#define JOIN_SPEC_COLUMNS		2
#define JOIN_SPEC_PER_COLUMN	3

#define JOIN_COLUMN_OPERATOR	0
#define JOIN_COLUMN_COLLATION	1
#define JOIN_COLUMN_ATTRIBUTE	2

static inline int
bloomfam_join_spec_ncolumns(const List *spec)
{
	return (list_length(spec) - JOIN_SPEC_COLUMNS) / JOIN_SPEC_PER_COLUMN;
}

static inline int
bloomfam_join_spec_column(const List *spec, int column, int what)
{
	return list_nth_int(spec, JOIN_SPEC_COLUMNS + column * JOIN_SPEC_PER_COLUMN + what);
}

extern const CustomScanMethods bloomfam_join_build_methods;
extern const CustomScanMethods bloomfam_join_probe_methods;

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
	JoinFilter *filter;			/* NULL: this node does nothing */
	JoinBuildPhase phase;
	int			ncolumns;
	JoinKey    *keys;
	AttrNumber *attributes;		/* of the child's rows; 0: an expression */
	ExprState **expressions;
	JoinForeign **foreign;		/* for each column, NULL: none; NULL: for no column */
} JoinBuildState;

/*
 * One filter of a probe node.  Whether it pays is looked at now and then: a sample of rows is counted, and if too few of them were dropped, rows
 * pass unseen until the next sample.
 */
typedef struct JoinProbe
{
	JoinFilter *filter;
	int			ncolumns;
	JoinKey    *keys;
	AttrNumber *attributes;
	uint64		sample_tested;	/* in the present sample */
	uint64		sample_dropped;
	uint64		pause;			/* rows to let pass before the next sample; 0: on */
	uint64		last_pause;		/* the next one is longer */

	/* for EXPLAIN */
	uint64		tested;
	uint64		dropped;
	uint64		passed_unseen;
} JoinProbe;

typedef struct JoinPage JoinPage;

typedef struct JoinProbeState
{
	CustomScanState css;
	int			nprobes;
	JoinProbe  *probes;
	JoinPage   *page;			/* NULL: row by row */
} JoinProbeState;

/* Tells the filters of a build node that travel where their scans are. */
extern void bloomfam_join_build_tie_foreign(JoinBuildState *state, PlanState *probe_side);

/* Is this node one of ours? */
static inline bool
bloomfam_join_is_build(const PlanState *node)
{
	return IsA(node, CustomScanState) && ((const CustomScan *) node->plan)->methods == &bloomfam_join_build_methods;
}

/* How many rows a filter's sample has, and how many pass unseen after one that was not worth it. */
#define JOIN_SAMPLE_ROWS	4096
#define JOIN_PAUSE_ROWS		100000

/* Counts a filter's work on some rows, and decides whether it goes on: worth is the share that must be dropped. */
extern void bloomfam_join_probe_count(JoinProbe *probe, uint64 tested, uint64 dropped, double worth);

/* Takes rows off a filter's pause: returns whether it is to look at them. */
static inline bool
bloomfam_join_probe_awake(JoinProbe *probe, uint64 rows)
{
	if (likely(probe->pause == 0))
		return true;
	probe->passed_unseen += rows;
	probe->pause -= Min(probe->pause, rows);
	return false;
}

/* ---- page.c: a page of a heap at a time ---- */

/* Takes over the scan of a probe node's child, if it is one of a heap; else returns NULL. */
extern JoinPage *bloomfam_join_page_init(JoinProbeState *state);

/* ---- plan.c ---- */

/* Adds filters to a finished plan. */
extern void bloomfam_join_plan(PlannedStmt *stmt);

/*
 * Does an expression, or a list of them, give the same each time, and notice nothing of how often it is asked?  So rows may be dropped before.
 */
extern bool bloomfam_join_is_indifferent(void *expression);

/* ---- explain.c ---- */

struct ExplainState;
extern void bloomfam_join_build_explain(CustomScanState *node, List *ancestors, struct ExplainState *es);
extern void bloomfam_join_probe_explain(CustomScanState *node, List *ancestors, struct ExplainState *es);

#endif							/* BLOOMFAM_JOIN_H */
