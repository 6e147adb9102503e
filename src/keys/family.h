/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * family.h
 *	  The well-known key families: their names and ids.
 *
 * A key family is a set of types whose equal values are one key.  Filters carry the family's name,
 * and the hash of the name as its id (bf_family_id()).  The families of this file depend on nothing
 * but the value, and their names contain no names that users have chosen, so that their ids are the
 * same everywhere, for ever.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FAMILY_H
#define BF_FAMILY_H

#include <stddef.h>
#include <stdint.h>

/* The key families of single values.  The numbers are not stored. */
typedef enum BfFamily
{
	BF_FAMILY_OTHER = 0,		/* None of the well-known families. */
	BF_FAMILY_INT,
	BF_FAMILY_FLOAT,
	BF_FAMILY_TEXT,
	BF_FAMILY_NUMERIC,
	BF_FAMILY_BOOL,
	BF_FAMILY_BYTEA,
	BF_FAMILY_UUID,
	BF_FAMILY_DATE,
	BF_FAMILY_TIME,
	BF_FAMILY_TIMETZ,
	BF_FAMILY_TIMESTAMP,
	BF_FAMILY_TIMESTAMPTZ,
	BF_FAMILY_INTERVAL,
	BF_FAMILY_OID,
	BF_FAMILY_INET,
	BF_FAMILY_MACADDR,
	BF_FAMILY_MACADDR8,
	BF_FAMILY_CHAR,
	BF_FAMILY_PG_LSN,
	BF_FAMILY_BIT,
	BF_FAMILY_OIDVECTOR
} BfFamily;

/*
 * Returns the well-known family that an id stands for.  The id may come from anywhere.
 *
 * Returns BF_FAMILY_OTHER for the families of Parquet's columns (plain.h), of arrays, ranges, rows
 * and enums, and for families that depend on a server.
 */
extern BfFamily bf_family_by_id(uint64_t id);

/* Return the name and the id of a well-known family; NULL and 0 for BF_FAMILY_OTHER. */
extern const char *bf_family_label(BfFamily family);
extern uint64_t bf_family_number(BfFamily family);

/*
 * Returns the name that an id stands for, if it is the id of a well-known family, or of the family
 * of its arrays, ranges or multiranges; else NULL.  The name is a constant string, terminated by a
 * zero byte.
 */
extern const char *bf_family_name(uint64_t id);

#endif							/* BF_FAMILY_H */
