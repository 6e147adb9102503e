/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stat.c
 *	  Counts what the filters of joins did, for all sessions.
 *
 * While a plan is executed, its nodes count in their own memory, as for EXPLAIN.  When the executor
 * ends, the leader adds up its own counts and its workers', and adds the sum once to a table in
 * shared memory.  An execution that ends in an error is not counted, as its executor is not ended,
 * but dropped.
 *
 * If the module is loaded when the server starts, the table is in memory that is reserved then.  If
 * not, it is, from version 17 on, in a segment that is made by the first session that needs it.
 *
 * The server's hash tables either need memory reserved at its start, or can grow.  This table works
 * in both kinds of shared memory, and does not grow: its entries are in an array and refer to each
 * other by their indexes.  Its only lock is taken once for each execution of a plan that probes
 * thousands of rows, for one addition; so entries need no locks of their own.
 *
 * If all entries are in use, one is evicted by a clock sweep: the hand decrements the use count of
 * each entry that it passes, and evicts the first entry whose count is zero.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_authid.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "join/executor/node.h"
#include "join/report/stat.h"
#include "pg/compat.h"

#define STAT_NAME		"bloomfam_stat_join_filters"

/* The number of entries of the table, unless bloomfam.stat_max is set. */
#define STAT_MAX		1000

#define NO_ENTRY		(-1)

/*
 * The largest use count.  An entry with that count is evicted only after the clock hand has passed
 * it as many times.
 */
#define MOST_USES		5

/* What is counted, in the order of the view's columns. */
typedef enum StatCounter
{
	STAT_EXECUTIONS,			/* The number of executions of plans with filters. */
	STAT_BUILT,					/* The number of filters that were made. */

	/* Filters that were not made as a Bloom filter or bitmap, as there were too many keys. */
	STAT_DISCARDED,
	STAT_DISABLED,				/* Filters that the gate had disabled at the end of an execution. */
	STAT_PUSHED,				/* The number of filters that were sent to a foreign server. */

	/*
	 * The number of rows that were probed with filters.  A filter that is probed at several plan
	 * nodes counts the rows of each.
	 */
	STAT_PROBED,
	STAT_REMOVED,
	STAT_NOT_CHECKED,
	STAT_BYTES,					/* The size of the filters that were made, in bytes. */
	STAT_COUNTERS
} StatCounter;

/*
 * The key of an entry in the table of counters: the role, database and query that the counters are
 * for.
 */
typedef struct StatKey
{
	/* The role that executed the query; 0: the counters are the sum of all evicted entries. */
	Oid			role;
	Oid			database;
	uint64		query;			/* The query's ID; 0: it has none. */
} StatKey;

typedef struct StatRow
{
	StatKey		key;
	uint64		counts[STAT_COUNTERS];
	TimestampTz since;			/* The time at which the first execution was counted. */
} StatRow;

typedef struct StatEntry
{
	StatRow		row;
	int			next;			/* The index of the next entry in the same bucket. */

	/* The use count: the number of executions since the clock hand passed, at most MOST_USES. */
	int			uses;

	/*
	 * The index of the first entry in the bucket whose number equals this entry's index; the entry
	 * itself may be in another bucket.
	 */
	int			first;
} StatEntry;

/* The table of counters.  It may be at a different address in each process. */
typedef struct StatTable
{
	LWLock		lock;
	int			most;			/* The number of entries, and of buckets, that there is room for. */
	int			n;				/* The number of entries in use, which are the first ones. */
	int			hand;
	StatRow		evicted;		/* The sum of all entries that were evicted. */
	StatEntry	entries[FLEXIBLE_ARRAY_MEMBER];
} StatTable;

static bool stat_track = true;
static int	stat_max = STAT_MAX;

/* The table of counters; NULL: there is none, or this process has not looked for it yet. */
static StatTable *stat_table = NULL;

static shmem_request_hook_type previous_shmem_request;
static shmem_startup_hook_type previous_shmem_startup;

/* ---- the table of counters ---- */

static void
clear(StatTable *table)
{
	int			i;

	table->n = 0;
	table->hand = 0;
	memset(&table->evicted, 0, sizeof(table->evicted));
	for (i = 0; i < table->most; i++)
		table->entries[i].first = NO_ENTRY;
}

static void
add_counts(StatRow *row, const uint64 *counts)
{
	int			i;

	for (i = 0; i < STAT_COUNTERS; i++)
		row->counts[i] += counts[i];
}

/* Returns where the index of the first entry in a key's bucket is stored. */
static int *
bucket_of(StatTable *table, const StatKey *key)
{
	uint32		hash = hash_bytes((const unsigned char *) key, sizeof(*key));

	return &table->entries[hash % table->most].first;
}

/* Evicts an entry and returns its index.  The entry's use count is undefined afterwards. */
static int
evict(StatTable *table)
{
	StatEntry  *entry;
	int		   *link;
	int			i;

	do
	{
		i = table->hand;
		table->hand = (i + 1) % table->most;
		entry = &table->entries[i];
	} while (entry->uses-- > 0);
	for (link = bucket_of(table, &entry->row.key); *link != i;)
		link = &table->entries[*link].next;
	*link = entry->next;
	if (table->evicted.counts[STAT_EXECUTIONS] == 0 || entry->row.since < table->evicted.since)
		table->evicted.since = entry->row.since;
	add_counts(&table->evicted, entry->row.counts);
	return i;
}

/*
 * Adds to the counters of a key.  If the key is new and the table is full, another key's entry is
 * evicted.
 */
static void
add(StatTable *table, const StatKey *key, const uint64 *counts)
{
	StatEntry  *entry;
	int		   *bucket;
	int			i;

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	bucket = bucket_of(table, key);
	i = *bucket;
	while (i != NO_ENTRY && memcmp(&table->entries[i].row.key, key, sizeof(*key)) != 0)
		i = table->entries[i].next;
	if (i == NO_ENTRY)
	{
		i = table->n < table->most ? table->n++ : evict(table);
		entry = &table->entries[i];
		entry->row = (StatRow) {.key = *key, .since = GetCurrentTimestamp()};
		entry->uses = 0;
		entry->next = *bucket;
		*bucket = i;
	}
	entry = &table->entries[i];
	add_counts(&entry->row, counts);
	entry->uses = Min(entry->uses + 1, MOST_USES);
	LWLockRelease(&table->lock);
}

/* ---- the table's place in memory ---- */

static Size
table_size(void)
{
	return add_size(offsetof(StatTable, entries), mul_size(stat_max, sizeof(StatEntry)));
}

static void
request_table(void)
{
	if (previous_shmem_request != NULL)
		previous_shmem_request();
	RequestAddinShmemSpace(table_size());
}

/* Initializes an empty table in memory of table_size() bytes. */
static void
init_table(void *memory)
{
	StatTable  *table = memory;

	LWLockInitialize(&table->lock, bloomfam_new_lwlock_tranche(STAT_NAME));
	table->most = stat_max;
	clear(table);
}

static void
startup_table(void)
{
	bool		found;

	if (previous_shmem_startup != NULL)
		previous_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	stat_table = ShmemInitStruct(STAT_NAME, table_size(), &found);
	if (!found)
		init_table(stat_table);
	LWLockRelease(AddinShmemInitLock);
	bloomfam_name_lwlock_tranche(stat_table->lock.tranche, STAT_NAME);
}

/* Returns the table, which is made if possible; NULL if there is none. */
static StatTable *
get_table(void)
{
	if (stat_table == NULL)
	{
		stat_table = bloomfam_named_segment(STAT_NAME, table_size(), init_table);
		if (stat_table != NULL)
			bloomfam_name_lwlock_tranche(stat_table->lock.tranche, STAT_NAME);
	}
	return stat_table;
}

void
bloomfam_join_stat_init(void)
{
	DefineCustomBoolVariable("bloomfam.track",
							 "Counts what the filters of joins do in bloomfam_stat_join_filters.",
							 NULL, &stat_track, true, PGC_SUSET, 0, NULL, NULL, NULL);

	/* All sessions must agree on the size of a segment, whatever their own settings are. */
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

/* ---- counting what filters did ---- */

typedef struct Collected
{
	uint64		counts[STAT_COUNTERS];

	/*
	 * The numbers of the filters that were disabled; a filter may be probed at several targets, but
	 * counts once.
	 */
	Bitmapset  *disabled;
} Collected;

static void
collect_build(Collected *collected, const JoinBuildState *state)
{
	uint64	   *sum = collected->counts;
	JoinBuildCounts counts;
	int			i;

	if (state->filter == NULL)
		return;
	counts = bloomfam_join_build_sum(state);
	sum[STAT_EXECUTIONS] = 1;
	sum[STAT_BUILT] += counts.builds - counts.discarded;
	sum[STAT_DISCARDED] += counts.discarded;
	sum[STAT_BYTES] += counts.bytes;
	for (i = 0; i < state->info->ncolumns; i++)
		if (state->foreign_of[i] != NULL)
			sum[STAT_PUSHED] += bloomfam_join_foreign_was_sent(state->foreign_of[i]);
}

static void
collect_probe(Collected *collected, const JoinProbeState *state)
{
	uint64	   *sum = collected->counts;
	int			i;

	for (i = 0; i < state->nprobes; i++)
	{
		const JoinProbe *probe = &state->probes[i];
		JoinProbeCounts counts = bloomfam_join_probe_sum(probe);

		if (probe->filter == NULL)
			continue;
		sum[STAT_PROBED] += counts.tested;
		sum[STAT_REMOVED] += counts.removed;
		sum[STAT_NOT_CHECKED] += counts.not_checked;
		if (counts.disabled && bloomfam_join_node_foreign_got(probe) == JOIN_FOREIGN_GOT_NOTHING)
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
	StatKey		key = {.role = GetUserId(), .database = MyDatabaseId};
	StatTable *table;

	if (!stat_track || IsParallelWorker() ||
		(query->estate->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	collect(query->planstate, &collected);
	if (collected.counts[STAT_EXECUTIONS] == 0)
		return;
	collected.counts[STAT_DISABLED] = bms_num_members(collected.disabled);
	bms_free(collected.disabled);
	key.query = query->plannedstmt->queryId;
	table = get_table();
	if (table != NULL)
		add(table, &key, collected.counts);
}

/* ---- SQL functions ---- */

/* Returns the table.  Raises an error, with a hint how to get one, if there is none. */
static StatTable *
require_table(void)
{
	StatTable *table = get_table();

	if (table == NULL)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("bloomfam counts join filters only if it is loaded when the server starts"),
				errhint("Add bloomfam to shared_preload_libraries, and restart the server."));
	return table;
}

PG_FUNCTION_INFO_V1(bloomfam_stat_join_filters);
Datum
bloomfam_stat_join_filters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	StatTable  *table = require_table();
	StatRow    *rows = palloc((table->most + 1) * sizeof(StatRow));
	int			n;
	int			i;
	int			k;

	/* The rows are copied, as no catalog may be read while the table is locked. */
	LWLockAcquire(&table->lock, LW_SHARED);
	for (n = 0; n < table->n; n++)
		rows[n] = table->entries[n].row;
	if (table->evicted.counts[STAT_EXECUTIONS] > 0)
		rows[n++] = table->evicted;
	LWLockRelease(&table->lock);
	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < n; i++)
	{
		const StatRow *row = &rows[i];
		bool		evicted = !OidIsValid(row->key.role);
		Datum		values[3 + STAT_COUNTERS + 1];
		bool		nulls[lengthof(values)] = {evicted, evicted, evicted};

		Assert(result->setDesc->natts == lengthof(values));
		if (!sees_all && (evicted || !has_privs_of_role(GetUserId(), row->key.role)))
			continue;
		values[0] = ObjectIdGetDatum(row->key.role);
		values[1] = ObjectIdGetDatum(row->key.database);
		values[2] = Int64GetDatum((int64) row->key.query);
		for (k = 0; k < STAT_COUNTERS; k++)
			values[3 + k] = Int64GetDatum((int64) row->counts[k]);
		values[3 + STAT_COUNTERS] = TimestampTzGetDatum(row->since);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(bloomfam_stat_join_filters_reset);
Datum
bloomfam_stat_join_filters_reset(PG_FUNCTION_ARGS)
{
	StatTable  *table = require_table();

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	clear(table);
	LWLockRelease(&table->lock);
	PG_RETURN_VOID();
}
