/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_types.h
 *	  Types whose keys may be sent to another server, and the types of its columns that they are
 *	  compared with there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_REMOTE_TYPES_H
#define BLOOMFAM_JOIN_REMOTE_TYPES_H

/* What may be sent of keys as they are. */
typedef enum JoinClear
{
	JOIN_CLEAR_NOTHING,
	JOIN_CLEAR_KEYS,
	JOIN_CLEAR_KEYS_AND_BOUNDS	/* all servers have them in one order, too */
} JoinClear;

/*
 * The remote types, as a list of constants in SQL, of columns that a filter may be asked for whose
 * values arrive as this type; NULL: there is none.
 */
extern const char *bloomfam_join_remote_types_of_filter(Oid type);

/*
 * What may be sent of keys of the type build, to be compared with a foreign table's column of the
 * type key.
 */
extern JoinClear bloomfam_join_remote_clear(Oid key, Oid build);

/*
 * May it be compared with a remote column of this type, whose values arrive as the type key: does
 * one equal a key here if and only if it does there?  If type modifiers agree.
 */
extern bool bloomfam_join_remote_agrees(Oid key, Oid remote);

#endif							/* BLOOMFAM_JOIN_REMOTE_TYPES_H */
