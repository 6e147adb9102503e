/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_family.h
 *	  The names of key families.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_FAMILY_H
#define BLOOMFAM_KEY_FAMILY_H

#include "lib/stringinfo.h"

#include "pg/key.h"

/* Gives a hasher its family; the name is copied into the current memory context. */
extern void bloomfam_family_set(BloomfamHasher *hasher, const char *name);

/*
 * Gives a hasher whose family varies that of the key at hand; the name is copied into the memory
 * context, and the one that it had there is freed.
 */
extern void bloomfam_family_change(BloomfamHasher *hasher, MemoryContext context,
								   const char *name);

/* What names are made of: a type's qualified name, the server, and a collation. */
extern void bloomfam_family_append_type(StringInfo name, Oid type);
extern void bloomfam_family_append_server(StringInfo name);
extern void bloomfam_family_append_collation(StringInfo name, Oid collation);

/* What makes two families different, as far as their names tell. */
typedef enum FamilyDifference
{
	FAMILY_DIFFERS_IN_TYPE,
	FAMILY_DIFFERS_IN_COLLATION,	/* of one type: COLLATE makes them one */
	FAMILY_DIFFERS_IN_SERVER,	/* of one type, hashed by different major versions of the server */
	FAMILY_MAY_DIFFER_IN_SERVER /* one is of this server, and the other has no name */
} FamilyDifference;

/* For a hint: the names may come from anywhere, and may be NULL. */
extern FamilyDifference bloomfam_family_difference(const char *a, uint32 a_len, const char *b,
												   uint32 b_len);

#endif							/* BLOOMFAM_KEY_FAMILY_H */
