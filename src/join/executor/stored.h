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

#include "core/bf.h"
#include "join/filter/hash.h"

typedef struct JoinStored JoinStored;

/* What such a filter says of a row whose key is not NULL. */
typedef enum JoinAnswer
{
	JOIN_ANSWER_PROBE,			/* look into it */
	JOIN_ANSWER_YES,			/* it is NULL: nothing is known, so all pass */
	JOIN_ANSWER_NO	   /* it has no keys */
} JoinAnswer;

/*
 * A filter that a condition of a probe node names, for execution; key is the scan's column that it
 * is asked for, of the table.  The node's child must be there.
 */
extern JoinStored *bloomfam_join_stored_make(CustomScanState *node, Node *condition, int before,
											 AttrNumber *key);

/* May hashing a key fail, whatever the keys before it were? */
extern bool bloomfam_join_stored_may_fail(const JoinStored *stored);

/*
 * How many of the scan's conditions must a row pass before it is asked?  Those that come before it
 * if it could raise an error that it would not after them; else 0, as once it has been asked, of
 * most types.
 */
extern int	bloomfam_join_stored_waits_for(const JoinStored *stored);

/* How its keys are hashed: changes when the first one of a scan is. */
extern const JoinKey *bloomfam_join_stored_key(const JoinStored *stored);

/* The filter may be another one from now on. */
extern void bloomfam_join_stored_rescan(JoinStored *stored);

/* Known once a key has been hashed; the filter then is to be found here. */
extern JoinAnswer	 bloomfam_join_stored_answer(const JoinStored *stored);
extern const BfView *bloomfam_join_stored_view(const JoinStored *stored);

/* Does a row with this key, which is not NULL, pass? */
extern bool bloomfam_join_stored_passes(JoinStored *stored, Datum key);

/* For EXPLAIN: the condition, in the terms of the scan that it was one of. */
struct ExplainState;
extern void bloomfam_join_stored_explain(const JoinStored *stored, CustomScanState *node,
										 List *ancestors, struct ExplainState *es);

#endif							/* BLOOMFAM_JOIN_STORED_H */
