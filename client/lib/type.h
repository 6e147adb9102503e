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

/* Can keys of a family be hashed here? */
typedef enum BfTypeStatus
{
	BF_TYPE_OK,
	BF_TYPE_NO_FAMILY,			/* there are no keys yet */
	BF_TYPE_OF_SERVER,			/* the hash depends on the server */
	BF_TYPE_NESTED,				/* arrays, rows, ranges: made of others */
	BF_TYPE_UNKNOWN				/* a family of which only the number is known, or of nobody */
} BfTypeStatus;

/* The type of a filter's keys, from its untrusted header. */
extern BfTypeStatus bf_type_of_family(const BfHeader *head, BloomfamType *type);

/* The error for a status that is not BF_TYPE_OK: BLOOMFAM_NOT_ASKABLE. */
extern BloomfamStatus bf_type_error(BfTypeStatus status, const BfHeader *head,
									BloomfamError *error);

/* The error for the name of a kind that there is none of: BLOOMFAM_BAD_ARGUMENT. */
extern BloomfamStatus bf_kind_error(const char *name, BloomfamError *error);

/* The SQL name of a type, for messages. */
extern const char *bf_type_sql_name(BloomfamTypeId id);

/* The family of its keys in kinds other than parquet; not of enums. */
extern const char *bf_type_sql_family(BloomfamTypeId id);

/* Do two types hash the values of their SQL types to one family, Parquet's families aside? */
extern bool bf_type_same_class(BloomfamTypeId a, BloomfamTypeId b);

/* Is it of one of Parquet's columns? */
static inline bool
bf_type_is_plain(const BloomfamType *type)
{
	return type->plain != 0;
}

/* That column. */
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
