/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  What was found of pairs of columns, kept by this session.
 *
 * It has a fixed number of entries; new ones take the place of the oldest.  A transaction that has
 * written sees what others do not, and what may be undone: it neither uses entries nor makes any.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "storage/procarray.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "join/sampling/cache.h"

#define MOST_ENTRIES	64

/* Longer texts, as of long lists of constants, are not kept. */
#define LONGEST_TEXT	8192

typedef struct CacheSource
{
	Oid			relation;
	uint32		statistics;		/* as syscache calls those of the column */
} CacheSource;

typedef struct CacheEntry
{
	char	   *text;			/* NULL: none */
	uint32		hash;
	CacheSource *sources;
	int			nsources;
	JoinMatchShares shares;
} CacheEntry;

static CacheEntry *entries = NULL;
static int	oldest = 0;

/* How often something was said to have changed: now, and when an entry was last looked for. */
static uint64 changes = 0;
static uint64 changes_at_find = 0;

/* Transactions that had made these changes were older. */
static TransactionId changed_before = InvalidTransactionId;

static void
drop(CacheEntry *entry)
{
	if (entry->text == NULL)
		return;
	pfree(entry->text);
	pfree(entry->sources);
	entry->text = NULL;
	entry->nsources = 0;
}

/* Drops what was found of this table, or by statistics that are called so; or all. */
static void
drop_of(Oid relation, uint32 statistics, bool all)
{
	int			i;
	int			k;

	changes++;
	for (i = 0; i < MOST_ENTRIES; i++)
		for (k = 0; k < entries[i].nsources; k++)
			if (all || entries[i].sources[k].relation == relation ||
				entries[i].sources[k].statistics == statistics)
				drop(&entries[i]);
}

static void
relation_changed(Datum arg, Oid relation)
{
	drop_of(relation, 0, !OidIsValid(relation));
}

/* Tables are analyzed now and then: what was found of others stays. */
static void
statistics_changed(Datum arg, int cache, uint32 hash)
{
	drop_of(InvalidOid, hash, hash == 0);
}

static void
function_changed(Datum arg, int cache, uint32 hash)
{
	drop_of(InvalidOid, 0, true);
}

const JoinMatchShares *
bloomfam_join_cache_find(const char *text)
{
	uint32		hash = string_hash(text, LONGEST_TEXT);
	int			i;

	if (entries == NULL)
	{
		entries = MemoryContextAllocZero(TopMemoryContext, MOST_ENTRIES * sizeof(CacheEntry));
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(STATRELATTINH, statistics_changed, (Datum) 0);
		/* conditions call them */
		CacheRegisterSyscacheCallback(PROCOID, function_changed, (Datum) 0);
	}
	if (changes_at_find != changes || !TransactionIdIsValid(changed_before))
		changed_before = ReadNextTransactionId();
	changes_at_find = changes;
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return NULL;
	for (i = 0; i < MOST_ENTRIES; i++)
		if (entries[i].text != NULL && entries[i].hash == hash &&
			strcmp(entries[i].text, text) == 0)
			return &entries[i].shares;
	return NULL;
}

/*
 * May a transaction that made a change be one which this snapshot does not see?  One that is still
 * running made none that was told.
 */
static bool
may_be_older_than_changes(Snapshot snapshot)
{
	uint32		i;

	if (TransactionIdFollowsOrEquals(snapshot->xmin, changed_before))
		return false;
	if (TransactionIdPrecedes(snapshot->xmax, changed_before) || snapshot->takenDuringRecovery)
		return true;
	for (i = 0; i < snapshot->xcnt; i++)
		if (TransactionIdPrecedes(snapshot->xip[i], changed_before) &&
			!TransactionIdIsInProgress(snapshot->xip[i]))
			return true;
	return false;
}

void
bloomfam_join_cache_keep(const char *text, const JoinCacheSource *sources, int nsources,
						 const JoinMatchShares *shares)
{
	CacheEntry *entry;
	char	   *copy;
	CacheSource *copies;
	int			i;

	Assert(entries != NULL);
	if (strlen(text) >= LONGEST_TEXT || changes != changes_at_find ||
		TransactionIdIsValid(GetTopTransactionIdIfAny()) ||
		may_be_older_than_changes(GetActiveSnapshot()))
		return;
	copy = MemoryContextStrdup(TopMemoryContext, text);
	copies = MemoryContextAlloc(TopMemoryContext, nsources * sizeof(CacheSource));
	for (i = 0; i < nsources; i++)
	{
		copies[i].relation = sources[i].relation;
		copies[i].statistics = GetSysCacheHashValue3(
			STATRELATTINH, ObjectIdGetDatum(sources[i].relation),
			Int16GetDatum(sources[i].column), BoolGetDatum(sources[i].inherited));
	}
	entry = &entries[oldest];
	oldest = (oldest + 1) % MOST_ENTRIES;
	drop(entry);
	entry->text = copy;
	entry->hash = string_hash(text, LONGEST_TEXT);
	entry->sources = copies;
	entry->nsources = nsources;
	entry->shares = *shares;
}
