/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_equality.h
 *	  Whether a type's equality is the one that hashes of its keys follow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_EQUALITY_H
#define BLOOMFAM_KEY_EQUALITY_H

/*
 * Raises an error unless what "=" stands for with keys of a type is the equality that they are
 * hashed by: for the keys of filters, and for the columns of anonymous rows.  Of a type that has
 * no equality at all nothing is said.  Catalog look-ups: to be asked once for a call site.
 *
 * Errors: 0A000.
 */
extern void bloomfam_equality_check_named(Oid type);

/*
 * The same of the type's default equality, by which arrays, rows and ranges compare their parts.
 */
extern void bloomfam_equality_check_default(Oid type);

#endif							/* BLOOMFAM_KEY_EQUALITY_H */
