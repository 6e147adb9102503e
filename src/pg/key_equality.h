/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_equality.h
 *	  Checks whether a type's equality is the one that hashes of its keys follow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_EQUALITY_H
#define BLOOMFAM_KEY_EQUALITY_H

/*
 * Raises the error 0A000 unless the operator that "=" stands for with keys of this type is the
 * equality that their hashes follow.  It is for the keys of filters, and for the columns of
 * anonymous rows.  A type that has no equality at all is not an error.  Takes catalog lookups, so
 * it should be called once for a call site.
 */
extern void bloomfam_equality_check_named(Oid type);

/*
 * Raises the error 0A000 unless the type's default equality, by which arrays, rows and ranges
 * compare their parts, is the equality that hashes follow.
 */
extern void bloomfam_equality_check_default(Oid type);

#endif							/* BLOOMFAM_KEY_EQUALITY_H */
