/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stored.h
 *	  Filters that the query names, in conditions of a scan.
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

/* What such a filter says of a row whose key is not NULL. */
typedef enum JoinAnswer
{
	JOIN_ANSWER_NOT_YET,		/* no key was hashed since the last rescan */
	JOIN_ANSWER_PROBE,			/* look into it */
	JOIN_ANSWER_YES,			/* it is NULL: nothing is known, so all pass */
	JOIN_ANSWER_NO				/* it has no keys */
} JoinAnswer;

typedef struct JoinStored
{
	JoinKey		key;			/* first: its routine finds the rest, and the first key sets it */
	JoinAnswer	answer;
	int			before;			/* so many of the scan's conditions come before it */
	int			waits;			/* ... for so many it waits: heap_batch.c's */
	bool		may_fail;		/* hashing a key may, whatever the keys before it were */
	ExprState  *expression;		/* the filter */
	ExprContext *econtext;		/* ... whose value stays until the next rescan */
	BloomfamFilter filter;
	BloomfamHashers hashers;
	BloomfamHasher *hasher;
} JoinStored;

/*
 * A filter that a condition of a probe node names, for execution; column is the scan's that it is
 * asked for, of the table.  The node's child must be there.
 */
extern JoinStored *bloomfam_join_stored_make(CustomScanState *node, Node *condition, int before,
											 AttrNumber *column);

/* The filter may be another one from now on. */
extern void bloomfam_join_stored_rescan(JoinStored *stored);

/* Does a row with this key, which is not NULL, pass? */
extern bool bloomfam_join_stored_passes(JoinStored *stored, Datum key);

#endif							/* BLOOMFAM_JOIN_STORED_H */
