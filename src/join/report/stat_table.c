/*-------------------------------------------------------------------------
 *
 * stat_table.c
 *	  A bounded table of counters in shared memory: one piece of it, of a fixed size.
 *
 * The server's hash tables are either for memory that is there from its start on, or grow.  This
 * one serves in both kinds of shared memory, and does not: entries are in an array and refer to
 * each other by their numbers in it.
 *
 * Who adds to an entry that is there holds the table's lock with others, and the entry's for the
 * sum itself.  Who makes or clears entries holds the table's lock alone.
 *
 * If all entries are taken, a clock hand goes round: it takes one off the uses of each entry that
 * it passes, and evicts the first that has none left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "join/report/stat_table.h"

#define NO_ENTRY	(-1)

/* An entry that is used so often stays until the hand has come by as often. */
#define MOST_USES	5

typedef struct StatEntry
{
	JoinStatRow row;
	int			next;			/* entry of its bucket */
	int			uses;			/* since the hand has come by, MOST_USES at most */
	slock_t		lock;			/* of counts and uses */
} StatEntry;

struct JoinStatTable
{
	LWLock		lock;
	int			most;			/* entries, and buckets */
	int			n;				/* entries that are taken: the first ones */
	int			hand;
	JoinStatRow evicted;
	StatEntry	entries[FLEXIBLE_ARRAY_MEMBER];
	/* then for each bucket its first entry */
};

static inline int *
buckets(JoinStatTable *table)
{
	return (int *) &table->entries[table->most];
}

Size
bloomfam_join_stat_table_size(int most)
{
	return add_size(offsetof(JoinStatTable, entries),
					mul_size(most, sizeof(StatEntry) + sizeof(int)));
}

static void
clear(JoinStatTable *table)
{
	int			i;

	table->n = 0;
	table->hand = 0;
	memset(&table->evicted, 0, sizeof(table->evicted));
	table->evicted.kind = JOIN_STAT_EVICTED;
	for (i = 0; i < table->most; i++)
		buckets(table)[i] = NO_ENTRY;
}

void
bloomfam_join_stat_table_init(JoinStatTable *table, int most, int tranche)
{
	LWLockInitialize(&table->lock, tranche);
	table->most = most;
	clear(table);
}

int
bloomfam_join_stat_table_tranche(const JoinStatTable *table)
{
	return table->lock.tranche;
}

static void
add_counts(JoinStatCounts *sum, const JoinStatCounts *counts)
{
	sum->executions += counts->executions;
	sum->built += counts->built;
	sum->discarded += counts->discarded;
	sum->disabled += counts->disabled;
	sum->pushed += counts->pushed;
	sum->probed += counts->probed;
	sum->removed += counts->removed;
	sum->not_checked += counts->not_checked;
	sum->bytes += counts->bytes;
}

/* Where the number of the first entry of a key's bucket is. */
static int *
bucket_of(JoinStatTable *table, const JoinStatKey *key)
{
	return &buckets(table)[hash_bytes((const unsigned char *) key, sizeof(*key)) % table->most];
}

static int
find(JoinStatTable *table, const JoinStatKey *key)
{
	int			i = *bucket_of(table, key);

	while (i != NO_ENTRY && memcmp(&table->entries[i].row.key, key, sizeof(*key)) != 0)
		i = table->entries[i].next;
	return i;
}

/* Frees an entry. */
static int
evict(JoinStatTable *table)
{
	StatEntry  *entry;
	JoinStatRow *evicted = &table->evicted;
	int		   *link;
	int			i;

	for (;;)
	{
		i = table->hand;
		table->hand = (i + 1) % table->most;
		entry = &table->entries[i];
		if (entry->uses == 0)
			break;
		entry->uses--;
	}
	for (link = bucket_of(table, &entry->row.key); *link != i;)
		link = &table->entries[*link].next;
	*link = entry->next;
	if (evicted->counts.executions == 0 || entry->row.since < evicted->since)
		evicted->since = entry->row.since;
	add_counts(&evicted->counts, &entry->row.counts);
	return i;
}

/* A new entry, without counts. */
static int
insert(JoinStatTable *table, const JoinStatKey *key, TimestampTz now)
{
	int			i = table->n < table->most ? table->n++ : evict(table);
	StatEntry  *entry = &table->entries[i];
	int		   *bucket = bucket_of(table, key);

	memset(entry, 0, sizeof(*entry));
	SpinLockInit(&entry->lock);
	entry->row.kind = JOIN_STAT_QUERY;
	entry->row.key = *key;
	entry->row.since = now;
	entry->next = *bucket;
	*bucket = i;
	return i;
}

void
bloomfam_join_stat_table_add(JoinStatTable *table, const JoinStatKey *key,
							 const JoinStatCounts *counts)
{
	StatEntry  *entry;
	int			i;

	LWLockAcquire(&table->lock, LW_SHARED);
	i = find(table, key);
	if (i == NO_ENTRY)
	{
		TimestampTz now = GetCurrentTimestamp();

		LWLockRelease(&table->lock);
		LWLockAcquire(&table->lock, LW_EXCLUSIVE);
		i = find(table, key);	/* another process may have made it meanwhile */
		if (i == NO_ENTRY)
			i = insert(table, key, now);
	}
	entry = &table->entries[i];
	SpinLockAcquire(&entry->lock);
	add_counts(&entry->row.counts, counts);
	entry->uses = Min(entry->uses + 1, MOST_USES);
	SpinLockRelease(&entry->lock);
	LWLockRelease(&table->lock);
}

JoinStatRow *
bloomfam_join_stat_table_rows(JoinStatTable *table, int *n)
{
	JoinStatRow *rows = palloc((table->most + 1) * sizeof(JoinStatRow));
	int			i;

	LWLockAcquire(&table->lock, LW_SHARED);
	for (i = 0; i < table->n; i++)
	{
		StatEntry  *entry = &table->entries[i];

		SpinLockAcquire(&entry->lock);
		rows[i] = entry->row;
		SpinLockRelease(&entry->lock);
	}
	*n = table->n;
	if (table->evicted.counts.executions > 0)
		rows[(*n)++] = table->evicted;
	LWLockRelease(&table->lock);
	return rows;
}

void
bloomfam_join_stat_table_reset(JoinStatTable *table)
{
	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	clear(table);
	LWLockRelease(&table->lock);
}
