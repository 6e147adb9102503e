/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stored.h
 *	  Filters that the query names in conditions of a scan (stored filters), in execution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_STORED_H
#define BLOOMFAM_JOIN_STORED_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "join/filter/hash.h"
#include "pg/datum.h"
#include "pg/hasher.h"

/* What a stored filter answers for rows whose key is not NULL. */
typedef enum JoinAnswer
{
	/* The answer is not known yet: no key was hashed since the last rescan. */
	JOIN_ANSWER_NOT_YET,
	JOIN_ANSWER_PROBE,			/* The filter must be probed with the hash of the row's key. */

	/* All rows pass, as the filter is NULL: nothing is known of its keys. */
	JOIN_ANSWER_YES,
	JOIN_ANSWER_NO				/* No row passes, as the filter has no keys. */
} JoinAnswer;

typedef struct JoinStored
{
	/*
	 * How the key is hashed.  It must be the first member: its hash function finds the rest of the
	 * struct by it, and the first key that is hashed sets it.
	 */
	JoinKey		key;
	JoinAnswer	answer;

	/* The expression in the query's condition whose value is the stored filter. */
	ExprState  *expression;

	/*
	 * The context in which the filter's expression is evaluated; the filter's value stays in its
	 * memory until the next rescan.
	 */
	ExprContext *econtext;
	BloomfamFilter filter;
	BloomfamHashers hashers;
	BloomfamHasher *hasher;
} JoinStored;

/*
 * Makes the execution state of a filter that a condition of a probe node names.  Sets *column to
 * the attribute number of the key in the scanned table.  The node's child must have been
 * initialized.
 */
extern JoinStored *bloomfam_join_stored_make(CustomScanState *node, Node *condition,
											 AttrNumber *column);

/* Forgets the filter's value, which may be another one after the rescan. */
extern void bloomfam_join_stored_rescan(JoinStored *stored);

/* Tells whether a row with the given key, which must not be NULL, passes. */
extern bool bloomfam_join_stored_passes(JoinStored *stored, Datum key);

#endif							/* BLOOMFAM_JOIN_STORED_H */
