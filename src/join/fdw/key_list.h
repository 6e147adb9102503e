/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_list.h
 *	  The keys of a build side as they are sent in clear: a list while they are few, and bounds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_KEY_LIST_H
#define BLOOMFAM_JOIN_KEY_LIST_H

#include "fmgr.h"

#include "join/base/reasons.h"

struct keylist_hash;

/* The distinct keys that were added, all of one type, and their bounds. */
typedef struct JoinKeyList
{
	JoinReason	reason;			/* why the list was dropped; JOIN_NO_REASON: it was not */
	struct keylist_hash *distinct;	/* the keys; NULL: the list was dropped */
	bool		any;			/* there is a key: of a type with bounds, these are set */
	Datum		least;
	Datum		greatest;

	/* the same in each build */
	Oid			type;
	int16		typlen;
	bool		typbyval;
	bool		is_text;
	FmgrInfo	compare;		/* fn_oid 0: it has no bounds */
	void		(*unlisted) (void *arg, Datum key);	/* NULL: nobody cares */
	void	   *arg;
	MemoryContext context;		/* of all that goes away with a build */
	Size		bytes;			/* of the list as text, about */
} JoinKeyList;

/*
 * An empty list of keys of a type that may be sent in clear (remote_types.h), with bounds or not,
 * in a context of its own below this one.  If the list is dropped, unlisted is called before with
 * each key that it has, unless that is NULL.
 */
extern JoinKeyList *bloomfam_join_key_list_make(MemoryContext parent, Oid type, bool bounds,
												void (*unlisted) (void *arg, Datum key),
												void *arg);

/* Empties it. */
extern void bloomfam_join_key_list_reset(JoinKeyList *list);

/* Adds a key that is not NULL. */
extern void bloomfam_join_key_list_add(JoinKeyList *list, Datum key);

/* How many keys are listed; only of a list that was not dropped. */
extern int	bloomfam_join_key_list_length(const JoinKeyList *list);

/*
 * The listed keys as an array of this type, which a remote column has that keys of the list's type
 * are compared with (bloomfam_join_remote_agrees()): but for integers that it cannot have.  In the
 * current memory context.
 */
extern Datum bloomfam_join_key_list_array(const JoinKeyList *list, Oid remote);

/*
 * The bounds, as values of this type; of integers the next that it can have, and such that nothing
 * lies between them if it has none.  In the current memory context.  False: there was no key, or
 * they are too large.
 */
extern bool bloomfam_join_key_list_bounds(const JoinKeyList *list, Oid remote, Datum *least,
										  Datum *greatest);

#endif							/* BLOOMFAM_JOIN_KEY_LIST_H */
