/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * family.h
 *	  The well-known families of keys: their names and numbers.
 *
 * A family is a set of types whose equal values are one key.  Filters carry its name, and the hash
 * of the name as its id (bf_family_id()).  The families here depend on nothing but the value, and
 * have no user's names in them, so that their ids are the same everywhere, for ever.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FAMILY_H
#define BF_FAMILY_H

#include <stddef.h>
#include <stdint.h>

/* The families of single values; the numbers are not stored. */
typedef enum BfFamily
{
	BF_FAMILY_OTHER = 0,		/* none of these */
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
 * bf_family_by_id: which of these a family's id stands for.
 *
 * BF_FAMILY_OTHER for the families of Parquet's columns (plain.h), of arrays, ranges, rows and
 * enums, and for those that depend on a server.  The id may come from anywhere.
 */
extern BfFamily bf_family_by_id(uint64_t id);

/* The name and the id of one of these; NULL and 0 for BF_FAMILY_OTHER. */
extern const char *bf_family_label(BfFamily family);
extern uint64_t bf_family_number(BfFamily family);

/*
 * bf_family_name: the name that an id stands for, if it is that of one of these, or of their
 * arrays, ranges or multiranges; else NULL.  A constant string, terminated.
 */
extern const char *bf_family_name(uint64_t id);

#endif							/* BF_FAMILY_H */
