/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_types.h
 *	  Lists the types whose keys may be sent to a foreign server, and the remote types they are
 *	  compared with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REMOTE_TYPES_H
#define BLOOMFAM_JOIN_REMOTE_TYPES_H

/* What may be sent of the keys of a type as plain values. */
typedef enum JoinClear
{
	JOIN_CLEAR_NOTHING,
	JOIN_CLEAR_KEYS,

	/* Both keys and bounds, as all servers have the type's values in the same order. */
	JOIN_CLEAR_KEYS_AND_BOUNDS
} JoinClear;

/*
 * Returns the types of remote columns for which a filter may be sent, if their values arrive here
 * as the given type: a list of constants in SQL.  Returns NULL if there are none.
 */
extern const char *bloomfam_join_remote_types_of_filter(Oid type);

/*
 * Returns what may be sent as plain values of keys that have the type "build" on the build side, if
 * they are compared with a foreign table's column that is declared with the type "key".
 */
extern JoinClear bloomfam_join_remote_clear(Oid key, Oid build);

/*
 * Tells whether keys may be compared with a remote column of the type "remote" whose values arrive
 * here as the type "key": whether a value equals a key on the foreign server if and only if it does
 * here.  The answer holds if the type modifiers agree.
 */
extern bool bloomfam_join_remote_agrees(Oid key, Oid remote);

#endif							/* BLOOMFAM_JOIN_REMOTE_TYPES_H */
