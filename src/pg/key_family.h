/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_family.h
 *	  Makes and compares the names of key families.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_FAMILY_H
#define BLOOMFAM_KEY_FAMILY_H

#include "lib/stringinfo.h"

#include "pg/key.h"

/* Gives a hasher its family.  The name is copied into the current memory context. */
extern void bloomfam_family_set(BloomfamHasher *hasher, const char *name);

/*
 * Gives a hasher whose family varies the family of the current key.  The name is copied into the
 * memory context, and the hasher's previous name there is freed.
 */
extern void bloomfam_family_change(BloomfamHasher *hasher, MemoryContext context,
								   const char *name);

/*
 * Append the parts that a family's name is made of: a type's qualified name, the server, or a
 * collation.
 */
extern void bloomfam_family_append_type(StringInfo name, Oid type);
extern void bloomfam_family_append_server(StringInfo name);
extern void bloomfam_family_append_collation(StringInfo name, Oid collation);

/* What makes two families different, as far as their names tell. */
typedef enum FamilyDifference
{
	FAMILY_DIFFERS_IN_TYPE,

	/* The types are the same: with COLLATE, the families would be the same, too. */
	FAMILY_DIFFERS_IN_COLLATION,

	/* The types are the same, but were hashed by different major versions of the server. */
	FAMILY_DIFFERS_IN_SERVER,
	FAMILY_MAY_DIFFER_IN_SERVER /* One family is of this server, and the other one has no name. */
} FamilyDifference;

/*
 * Returns what makes two families different, for a hint.  The names may come from anywhere, and may
 * be NULL.
 */
extern FamilyDifference bloomfam_family_difference(const char *a, uint32 a_len, const char *b,
												   uint32 b_len);

#endif							/* BLOOMFAM_KEY_FAMILY_H */
