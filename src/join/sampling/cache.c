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

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "join/sampling/cache.h"

#define MOST_ENTRIES	64

/* Longer texts, as of long lists of constants, are not kept. */
#define LONGEST_TEXT	8192

typedef struct CacheEntry
{
	char	   *text;			/* NULL: none */
	uint32		hash;
	Oid			relations[JOIN_CACHE_SOURCES];
	uint32		statistics[JOIN_CACHE_SOURCES];	/* what syscache calls those of the columns */
	JoinMatchShares shares;
} CacheEntry;

static CacheEntry *entries = NULL;
static int	oldest = 0;

/* How often something was said to have changed: now, and when an entry was last looked for. */
static uint64 changes = 0;
static uint64 changes_at_find = 0;

static void
drop(CacheEntry *entry)
{
	if (entry->text != NULL)
		pfree(entry->text);
	entry->text = NULL;
}

static void
drop_of_relation(Datum arg, Oid relation)
{
	int			i;
	int			k;

	changes++;
	for (i = 0; i < MOST_ENTRIES; i++)
		for (k = 0; k < JOIN_CACHE_SOURCES; k++)
			if (!OidIsValid(relation) || entries[i].relations[k] == relation)
				drop(&entries[i]);
}

/* Tables are analyzed now and then: what was found of others stays. */
static void
drop_of_statistics(Datum arg, int cache, uint32 hash)
{
	int			i;
	int			k;

	changes++;
	for (i = 0; i < MOST_ENTRIES; i++)
		for (k = 0; k < JOIN_CACHE_SOURCES; k++)
			if (hash == 0 || entries[i].statistics[k] == hash)
				drop(&entries[i]);
}

static void
drop_all(Datum arg, int cache, uint32 hash)
{
	drop_of_relation(arg, InvalidOid);
}

const JoinMatchShares *
bloomfam_join_cache_find(const char *text)
{
	uint32		hash = string_hash(text, LONGEST_TEXT);
	int			i;

	if (entries == NULL)
	{
		entries = MemoryContextAllocZero(TopMemoryContext, MOST_ENTRIES * sizeof(CacheEntry));
		CacheRegisterRelcacheCallback(drop_of_relation, (Datum) 0);
		CacheRegisterSyscacheCallback(STATRELATTINH, drop_of_statistics, (Datum) 0);
		CacheRegisterSyscacheCallback(PROCOID, drop_all, (Datum) 0);	/* conditions call them */
	}
	changes_at_find = changes;
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return NULL;
	for (i = 0; i < MOST_ENTRIES; i++)
		if (entries[i].text != NULL && entries[i].hash == hash &&
			strcmp(entries[i].text, text) == 0)
			return &entries[i].shares;
	return NULL;
}

void
bloomfam_join_cache_keep(const char *text, const JoinCacheSource sources[JOIN_CACHE_SOURCES],
						 const JoinMatchShares *shares)
{
	CacheEntry *entry;
	char	   *copy;
	int			i;

	Assert(entries != NULL);
	/* a snapshot that is kept may be older than the last change which was told */
	if (strlen(text) >= LONGEST_TEXT || changes != changes_at_find ||
		TransactionIdIsValid(GetTopTransactionIdIfAny()) || IsolationUsesXactSnapshot())
		return;
	copy = MemoryContextStrdup(TopMemoryContext, text);
	entry = &entries[oldest];
	oldest = (oldest + 1) % MOST_ENTRIES;
	drop(entry);
	entry->text = copy;
	entry->hash = string_hash(text, LONGEST_TEXT);
	for (i = 0; i < JOIN_CACHE_SOURCES; i++)
	{
		entry->relations[i] = sources[i].relation;
		entry->statistics[i] = GetSysCacheHashValue3(
			STATRELATTINH, ObjectIdGetDatum(sources[i].relation),
			Int16GetDatum(sources[i].column), BoolGetDatum(sources[i].inherited));
	}
	entry->shares = *shares;
}
