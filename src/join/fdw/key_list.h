/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_list.h
 *	  Collects the keys of a build side to be sent as plain values: a list if they are few, and
 *	  their bounds.
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
	/* The reason why the list was dropped; JOIN_NO_REASON: it was not. */
	JoinReason	reason;
	struct keylist_hash *distinct;	/* The distinct keys; NULL: the list was dropped. */

	/* Whether a key was added.  If so, and the type has bounds, "least" and "greatest" are set. */
	bool		any;
	Datum		least;
	Datum		greatest;

	/* The fields from "type" to "context" stay unchanged from build to build. */
	Oid			type;
	int16		typlen;
	bool		typbyval;
	bool		is_text;

	/* The type's comparison function; fn_oid 0: no bounds are collected. */
	FmgrInfo	compare;

	/*
	 * A function that is called with each key of the list before the list is dropped, so that the
	 * keys can be added to a filter; NULL: none is called.
	 */
	void		(*unlisted) (void *arg, Datum key);
	void	   *arg;
	MemoryContext context;		/* The memory context of all that is freed with a build. */
	Size		bytes;			/* The approximate size of the listed keys as text, in bytes. */
} JoinKeyList;

/*
 * Makes an empty list of keys of a type that may be sent as plain values (remote_types.h); "bounds"
 * says whether bounds are collected.  The keys are in a memory context below "parent".  If the list
 * is dropped, "unlisted" is called first, unless it is NULL, with "arg" and each key in the list.
 */
extern JoinKeyList *bloomfam_join_key_list_make(MemoryContext parent, Oid type, bool bounds,
												void (*unlisted) (void *arg, Datum key),
												void *arg);

/* Empties a list of keys for another build. */
extern void bloomfam_join_key_list_reset(JoinKeyList *list);

/* Adds a key, which must not be NULL, to a list of keys. */
extern void bloomfam_join_key_list_add(JoinKeyList *list, Datum key);

/* Returns the number of keys in the list, which must not have been dropped. */
extern int	bloomfam_join_key_list_length(const JoinKeyList *list);

/*
 * Returns the listed keys as an array of the type "remote", allocated in the current memory
 * context.  That is the type of a remote column with which keys of the list's type are compared
 * (bloomfam_join_remote_agrees()).  Integers that "remote" cannot represent are left out.
 */
extern Datum bloomfam_join_key_list_array(const JoinKeyList *list, Oid remote);

/*
 * Sets *least and *greatest to the bounds as values of the type "remote", allocated in the current
 * memory context.  Bounds of integers are limited to the range of "remote"; if all keys are below
 * or all are above that range, *least is set above *greatest, so that nothing is between them.
 * Returns false if no key was added, or if the bounds are too large to send.
 */
extern bool bloomfam_join_key_list_bounds(const JoinKeyList *list, Oid remote, Datum *least,
										  Datum *greatest);

#endif							/* BLOOMFAM_JOIN_KEY_LIST_H */
