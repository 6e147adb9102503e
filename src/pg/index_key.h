/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_key.h
 *	  Hashers of the keys of an index's column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_INDEX_KEY_H
#define BLOOMFAM_INDEX_KEY_H

#include "pg/hasher.h"
#include "utils/rel.h"

/*
 * Returns whether the operator, with these argument types, is the equality that hashes of keys
 * agree with.  If the types are the same, that is the equality of the type's default operator
 * class.  For two types, it is any equality in the operator family of the left type's default
 * class, if the right type's default equality is in that family, too.
 */
extern bool bloomfam_index_is_equality(Oid operator, Oid left, Oid right);

/*
 * Makes the hasher for keys of the given type of an index's column, whose numbers begin with 0, in
 * the memory context.  The operator class must have equality as its strategy 1.  For InvalidOid,
 * the type is the operator class's own.  Raises an error if equal keys of the type might get
 * different hashes one day, or if the operator class has another operator than the type's default
 * equality.
 */
extern BloomfamHasher *bloomfam_index_hasher_make(MemoryContext context, Relation index,
												  int column, Oid type);

/*
 * Makes the hasher for keys of a type that an index has, under a collation, in the memory context.
 * Raises an error if equal keys of the type might get different hashes one day; "method" is the
 * index's access method.  Leaves nothing in the current memory context.
 */
extern BloomfamHasher *bloomfam_index_type_hasher(MemoryContext context, Oid method,
												  Oid type, Oid collation);

#endif							/* BLOOMFAM_INDEX_KEY_H */
