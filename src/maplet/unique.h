/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * unique.h
 *	  Whether other rows of a table have a key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_UNIQUE_H
#define BLOOMFAM_MAPLET_UNIQUE_H

#include "access/genam.h"
#include "utils/rel.h"

#include "maplet/meta.h"

/* The keys of a table's rows, as an index has them: how to read and compare them. */
typedef struct MapletKeys MapletKeys;

/*
 * Raises an error if a unique index's operator is not the equality of its column's type: rows that
 * the type takes for equal would not be refused (citext by text_ops).
 */
extern void bloomfam_maplet_check_equality(Relation index);

/*
 * Makes it for an index, in the current memory context.  The relations stay open as long as it
 * lives.  Between calls of the functions below it holds no pin, so that it can be forgotten with
 * its context.
 */
extern MapletKeys *bloomfam_maplet_keys_make(Relation table, Relation index);

typedef enum MapletConflict
{
	MAPLET_NO_CONFLICT,			/* no other row has the key */
	MAPLET_CONFLICT,			/* one has it */
	MAPLET_CONFLICT_IN_DOUBT	/* one has it if a transaction commits, or aborts */
} MapletConflict;

/* What a search for a key has found. */
typedef struct MapletKeySearch
{
	MapletConflict conflict;
	TransactionId transaction;	/* IN_DOUBT: the one to wait for */
	uint32		token;			/* IN_DOUBT: of its speculative insertion; 0: it is none */
	bool		found_self;		/* did the index have the caller's row? */
} MapletKeySearch;

/*
 * Searches the index for rows with this key, whose hash is given, other than the caller's at self.
 * A row counts if it is committed, or was inserted by this transaction, and is not deleted; and it
 * is in doubt while another transaction inserts or deletes it (SnapshotDirty).  Exact: keys are
 * compared.
 *
 * view is refreshed first, so that all entries are seen that were there before the call.  The
 * caller holds the lock of the key, if it wants to rely on the answer.
 */
extern MapletKeySearch bloomfam_maplet_search_key(MapletKeys *keys, MapletView *view, uint64 hash,
												  Datum key, ItemPointer self);

/*
 * The rows of a key for a scan that must be exact, as whoever scans does not recheck enough: the
 * apply worker of logical replication takes each row that it finds by the replica identity, and ON
 * CONFLICT does not look at a partial index's predicate.
 */
typedef struct MapletExact MapletExact;

/*
 * Does a scan with this snapshot, which is none of MVCC's, have to be exact?  With one of MVCC's a
 * recheck of the key suffices: a row that has come to another's place meanwhile is too new for it.
 */
extern bool bloomfam_maplet_must_be_exact(Relation index, Snapshot snapshot);

/* Makes it, in the current memory context.  It holds a pin, so that it is to be ended. */
extern MapletExact *bloomfam_maplet_exact_make(Relation table, Relation index, Snapshot snapshot,
											   Datum key);

/*
 * Does the snapshot see a row at this place that belongs into the index and has the key?  The
 * row's page stays pinned until the next call, so that nothing is pruned from it and no other row
 * comes to the place.
 */
extern bool bloomfam_maplet_exact_has(MapletExact *exact, uint64 place);

extern void bloomfam_maplet_exact_end(MapletExact *exact);

/*
 * Two rows of a key, among those that are added, those of one hash one after the other.  A row
 * counts if the snapshot sees it.
 */
typedef struct MapletDuplicates MapletDuplicates;

extern MapletDuplicates *bloomfam_maplet_duplicates_make(Relation table, Relation index,
														 Snapshot snapshot);

/*
 * Adds a row.  If an earlier one has the same key, returns the key's text for a message
 * (BuildIndexValueDescription()), which is "" where the user may not see it; otherwise NULL.
 * Rows are read only if their hash has come before, and each place (BF_RUN_PLACE) may come once.
 */
extern const char *bloomfam_maplet_duplicates_add(MapletDuplicates *duplicates, uint64 hash,
												  uint64 place);

/* Lets go of what it holds. */
extern void bloomfam_maplet_duplicates_end(MapletDuplicates *duplicates);

#endif							/* BLOOMFAM_MAPLET_UNIQUE_H */
