/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * unique.h
 *	  Finds out whether other rows of a table have a key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_UNIQUE_H
#define BLOOMFAM_MAPLET_UNIQUE_H

#include "access/genam.h"
#include "utils/rel.h"

#include "maplet/meta.h"

/* What it takes to read and compare the keys of a table's rows as an index computes them. */
typedef struct MapletKeyReader MapletKeyReader;

/*
 * Raises an error if an operator of a unique index is not the default equality of its column's
 * type: otherwise the index would accept rows whose keys the types take for equal (citext with
 * text_ops).
 */
extern void bloomfam_maplet_check_equality(Relation index);

/*
 * Makes a MapletKeyReader for an index, in a child of the current memory context.  The relations
 * must stay open as long as it exists.  A MapletKeyReader holds no buffer pin between calls of the
 * functions that use it, so it may be freed with its memory context.
 */
extern MapletKeyReader *bloomfam_maplet_keys_make(Relation table, Relation index);

typedef enum MapletConflict
{
	MAPLET_NO_CONFLICT,			/* No other row has the key. */
	MAPLET_CONFLICT,			/* Another row has the key. */

	/* Whether another row has the key depends on whether a transaction commits. */
	MAPLET_CONFLICT_IN_DOUBT
} MapletConflict;

/* The result of a search for a key. */
typedef struct MapletKeySearch
{
	MapletConflict conflict;
	TransactionId transaction;	/* If the conflict is in doubt, the transaction to wait for. */

	/*
	 * If the conflict is in doubt, the token of the transaction's speculative insertion; 0 if it is
	 * none.
	 */
	uint32		token;
	bool		found_self;		/* Whether the index has an entry of the caller's own row. */
} MapletKeySearch;

/*
 * Searches the index for rows with this key, whose hash is given, other than the caller's row at
 * self.  A row counts if it is not deleted, and was committed or inserted by this transaction.  A
 * row is in doubt while another transaction inserts or deletes it (SnapshotDirty).  The result is
 * exact, because keys are compared.
 *
 * view is refreshed first, so that all entries are seen that were there before the call.  A caller
 * that relies on the answer must hold the lock of the key.
 */
extern MapletKeySearch bloomfam_maplet_search_key(MapletKeyReader *keys, MapletView *view,
												  uint64 hash, const Datum *key, ItemPointer self);

/*
 * Finds the rows of a key for a scan that must be exact, because its caller does not recheck
 * enough.  The apply worker of logical replication takes each row that it finds by the replica
 * identity, and ON CONFLICT does not look at a partial index's predicate.
 */
typedef struct MapletExact MapletExact;

/*
 * Returns whether a scan of this index with this snapshot must use a MapletExact.  With an MVCC
 * snapshot it suffices that the executor rechecks the key: a row that has taken another row's place
 * meanwhile is too new for the snapshot.
 */
extern bool bloomfam_maplet_must_be_exact(Relation index, Snapshot snapshot);

/*
 * Makes a MapletExact in the current memory context.  It holds a buffer pin, which must be released
 * at its end.  The key is an array with a value for each column, or NULL if every row that belongs
 * in the index will do.
 */
extern MapletExact *bloomfam_maplet_exact_make(Relation table, Relation index, Snapshot snapshot,
											   const Datum *key);

/*
 * Returns whether the snapshot sees a row at this place that belongs in the index and has the key.
 * Without a key, a row belongs there if it meets a partial index's predicate.
 * The row's page stays pinned until the next call, so that nothing is pruned from it and no other
 * row takes the place.
 */
extern bool bloomfam_maplet_exact_has(MapletExact *exact, uint64 place);

extern void bloomfam_maplet_exact_end(MapletExact *exact);

/*
 * Finds two rows with the same key among the rows that are added.  Rows with the same hash must be
 * added one after the other.  A row counts if the snapshot sees it.
 */
typedef struct MapletDuplicates MapletDuplicates;

extern MapletDuplicates *bloomfam_maplet_duplicates_make(Relation table, Relation index,
														 Snapshot snapshot);

/*
 * Adds a row.  If an earlier row has the same key, returns the key's text for a message
 * (BuildIndexValueDescription()), which is "" if the user may not see it; otherwise returns NULL.
 * Rows are read only if their hash comes more than once.  Each place (BF_RUN_PLACE) may be added
 * only once.
 */
extern const char *bloomfam_maplet_duplicates_add(MapletDuplicates *duplicates, uint64 hash,
												  uint64 place);

/* Frees the memory and releases the pins that a MapletDuplicates holds. */
extern void bloomfam_maplet_duplicates_end(MapletDuplicates *duplicates);

#endif							/* BLOOMFAM_MAPLET_UNIQUE_H */
