/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * type.h
 *	  Private to the library: types of keys, and their families.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_TYPE_H
#define BF_LIB_TYPE_H

#include "client/lib/error.h"
#include "keys/plain.h"

/* Whether keys of a family can be hashed by the library. */
typedef enum BfTypeStatus
{
	BF_TYPE_OK,
	BF_TYPE_NO_FAMILY,			/* The filter has no keys yet. */
	/*
	 * The keys' hash cannot be computed without the server, e.g. because it depends on a collation.
	 */
	BF_TYPE_OF_SERVER,
	BF_TYPE_NESTED,				/* The keys are arrays, rows or ranges. */
	/* The library has no type for the family: it is unknown, or only its number is known. */
	BF_TYPE_UNKNOWN
} BfTypeStatus;

/* Finds the type of a filter's keys from the filter's header, which is untrusted. */
extern BfTypeStatus bf_type_of_family(const BfHeader *head, BloomfamType *type);

/* Fills in the error for a type status other than BF_TYPE_OK, and returns BLOOMFAM_NOT_ASKABLE. */
extern BloomfamStatus bf_type_error(BfTypeStatus status, const BfHeader *head,
									BloomfamError *error);

/* Fills in the error for an unknown name of a kind, and returns BLOOMFAM_BAD_ARGUMENT. */
extern BloomfamStatus bf_kind_error(const char *name, BloomfamError *error);

/* Returns the SQL name of a type, for messages. */
extern const char *bf_type_sql_name(BloomfamTypeId id);

/* Returns the name of the family of a type's keys in all kinds but parquet; not for enums. */
extern const char *bf_type_sql_family(BloomfamTypeId id);

/* Returns whether two types belong to one family, apart from the families of kind parquet. */
extern bool bf_type_same_class(BloomfamTypeId a, BloomfamTypeId b);

/* Returns whether a type is that of a Parquet column. */
static inline bool
bf_type_is_plain(const BloomfamType *type)
{
	return type->plain != 0;
}

/* Returns the Parquet column of a type for which bf_type_is_plain() is true. */
static inline BfPlainColumn
bf_type_plain(const BloomfamType *type)
{
	BfPlainColumn column;

	column.type = (BfPlainType) (type->plain - 1);
	column.precision = type->plain_precision;
	column.scale = type->plain_scale;
	column.bytes = type->plain_bytes;
	column.fixed = type->plain_fixed != 0;
	return column;
}

#endif							/* BF_LIB_TYPE_H */
