/*-------------------------------------------------------------------------
 *
 * stat.c
 *	  Counters of what the filters of joins did, for all sessions.
 *
 * While a plan is executed, its nodes count in memory of their own, as they do for EXPLAIN; when
 * the executor ends, the leader adds up its own and its workers' counts, and adds the sum to a
 * table in shared memory, once.  An execution that ends by an error is not counted: its executor
 * does not end, it is dropped.
 *
 * The table lies in memory that is reserved when the server starts, if it loads the module then;
 * else, from 17 on, in a segment that the first session that needs it makes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "join/executor/node.h"
#include "join/report/stat.h"
#include "join/report/stat_table.h"
#include "pg/compat.h"

#define STAT_NAME		"bloomfam_stat_join_filters"

/* The keys of a table for which nobody has set bloomfam.stat_max. */
#define STAT_MAX		1000

static bool stat_track = true;
static int	stat_max = STAT_MAX;

/* NULL: there is none, or this process has not looked for it. */
static JoinStatTable *stat_table = NULL;

static shmem_request_hook_type previous_shmem_request;
static shmem_startup_hook_type previous_shmem_startup;

/* ---- where the table is ---- */

static void
request_table(void)
{
	if (previous_shmem_request != NULL)
		previous_shmem_request();
	RequestAddinShmemSpace(bloomfam_join_stat_table_size(stat_max));
}

static void
init_table(void *table)
{
	bloomfam_join_stat_table_init(table, stat_max, bloomfam_new_lwlock_tranche(STAT_NAME));
}

static void
startup_table(void)
{
	bool		found;

	if (previous_shmem_startup != NULL)
		previous_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	stat_table = ShmemInitStruct(STAT_NAME, bloomfam_join_stat_table_size(stat_max), &found);
	if (!found)
		init_table(stat_table);
	LWLockRelease(AddinShmemInitLock);
	bloomfam_name_lwlock_tranche(bloomfam_join_stat_table_tranche(stat_table), STAT_NAME);
}

/* The table; NULL if there is none. */
static JoinStatTable *
get_table(void)
{
	if (stat_table == NULL)
	{
		stat_table = bloomfam_named_segment(STAT_NAME, bloomfam_join_stat_table_size(stat_max),
											init_table);
		if (stat_table != NULL)
			bloomfam_name_lwlock_tranche(bloomfam_join_stat_table_tranche(stat_table), STAT_NAME);
	}
	return stat_table;
}

void
bloomfam_join_stat_init(void)
{
	DefineCustomBoolVariable("bloomfam.track",
							 "Counts what the filters of joins do in bloomfam_stat_join_filters.",
							 NULL, &stat_track, true, PGC_SUSET, 0, NULL, NULL, NULL);

	/* a segment must be of one size for all sessions, whatever their settings are */
	DefineCustomIntVariable(
		"bloomfam.stat_max", "Sets how many queries bloomfam_stat_join_filters has room for.",
		"It can be set only where bloomfam is in shared_preload_libraries.", &stat_max, STAT_MAX,
		100, 1000000, process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_INTERNAL,
		0, NULL, NULL, NULL);

	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = request_table;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = startup_table;
}

/* ---- counting ---- */

typedef struct Collected
{
	JoinStatCounts counts;
	Bitmapset  *disabled;		/* numbers of filters: each is probed at one place or at several */
} Collected;

static void
collect_build(Collected *collected, const JoinBuildState *state)
{
	JoinStatCounts *sum = &collected->counts;
	JoinBuildCounts counts;
	ListCell   *lc;

	if (state->filter == NULL)
		return;
	counts = bloomfam_join_build_sum(state);
	sum->executions = 1;
	sum->built += counts.builds - counts.discarded;
	sum->discarded += counts.discarded;
	sum->bytes += counts.bytes;
	foreach(lc, state->foreign)
		sum->pushed += bloomfam_join_foreign_size(lfirst(lc)) > 0;
}

static void
collect_probe(Collected *collected, const JoinProbeState *state)
{
	JoinStatCounts *sum = &collected->counts;
	int			i;

	for (i = 0; i < state->nprobes; i++)
	{
		const JoinProbe *probe = &state->probes[i];
		JoinProbeCounts counts = bloomfam_join_probe_sum(probe);

		if (probe->filter == NULL)
			continue;
		sum->probed += counts.tested;
		sum->removed += counts.removed;
		sum->not_checked += counts.not_checked;
		if (counts.disabled && !bloomfam_join_node_was_foreign(probe))
			collected->disabled = bms_add_member(collected->disabled, probe->info->number);
	}
}

static bool
collect(PlanState *node, void *context)
{
	if (node == NULL)
		return false;
	if (bloomfam_join_node_kind(node->plan) == JOIN_NODE_BUILD)
		collect_build(context, (const JoinBuildState *) node);
	else if (bloomfam_join_node_kind(node->plan) == JOIN_NODE_PROBE)
		collect_probe(context, (const JoinProbeState *) node);
	return planstate_tree_walker(node, collect, context);
}

void
bloomfam_join_stat_count(QueryDesc *query)
{
	Collected	collected = {.disabled = NULL};
	JoinStatKey key = {.role = GetUserId(), .database = MyDatabaseId};
	JoinStatTable *table;

	if (!stat_track || IsParallelWorker() ||
		(query->estate->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	collect(query->planstate, &collected);
	if (collected.counts.executions == 0)
		return;
	collected.counts.disabled = bms_num_members(collected.disabled);
	bms_free(collected.disabled);
	key.query = query->plannedstmt->queryId;
	table = get_table();
	if (table != NULL)
		bloomfam_join_stat_table_add(table, &key, &collected.counts);
}

/* ---- SQL ---- */

/* The table, or an error that says how to get one. */
static JoinStatTable *
require_table(void)
{
	JoinStatTable *table = get_table();

	if (table == NULL)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("bloomfam counts join filters only if it is loaded when the server starts"),
				errhint("Add bloomfam to shared_preload_libraries, and restart the server."));
	return table;
}

#define STAT_COLUMNS	13

/* Fills the columns of bloomfam_stat_join_filters. */
static void
make_row(const JoinStatRow *row, Datum *values, bool *nulls)
{
	const JoinStatCounts *counts = &row->counts;
	int			i = 0;

	memset(nulls, 0, STAT_COLUMNS * sizeof(bool));
	nulls[0] = nulls[1] = nulls[2] = row->kind == JOIN_STAT_EVICTED;
	values[i++] = ObjectIdGetDatum(row->key.role);
	values[i++] = ObjectIdGetDatum(row->key.database);
	values[i++] = Int64GetDatum((int64) row->key.query);
	values[i++] = Int64GetDatum(counts->executions);
	values[i++] = Int64GetDatum(counts->built);
	values[i++] = Int64GetDatum(counts->discarded);
	values[i++] = Int64GetDatum(counts->disabled);
	values[i++] = Int64GetDatum(counts->pushed);
	values[i++] = Int64GetDatum(counts->probed);
	values[i++] = Int64GetDatum(counts->removed);
	values[i++] = Int64GetDatum(counts->not_checked);
	values[i++] = Int64GetDatum(counts->bytes);
	values[i++] = TimestampTzGetDatum(row->since);
	Assert(i == STAT_COLUMNS);
}

PG_FUNCTION_INFO_V1(bloomfam_stat_join_filters);
Datum
bloomfam_stat_join_filters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	JoinStatRow *rows;
	int			n;
	int			i;

	rows = bloomfam_join_stat_table_rows(require_table(), &n);
	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < n; i++)
	{
		Datum		values[STAT_COLUMNS];
		bool		nulls[STAT_COLUMNS];

		if (!sees_all && (rows[i].kind == JOIN_STAT_EVICTED ||
						  !has_privs_of_role(GetUserId(), rows[i].key.role)))
			continue;
		make_row(&rows[i], values, nulls);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(bloomfam_stat_join_filters_reset);
Datum
bloomfam_stat_join_filters_reset(PG_FUNCTION_ARGS)
{
	bloomfam_join_stat_table_reset(require_table());
	PG_RETURN_VOID();
}
