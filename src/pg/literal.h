/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * literal.h
 *	  Reads keys without a type: untyped literals and parameters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_LITERAL_H
#define BLOOMFAM_LITERAL_H

#include "core/bf_format.h"
#include "pg/compat.h"

/* The maximum number of different readings that a family can have of a literal. */
#define BLOOMFAM_MAX_READINGS	3

/* The hashes of a literal: one for each way to read it that gives another key. */
typedef struct BloomfamReadings
{
	int			n;				/* The number of hashes, at least 1. */
	uint64		hashes[BLOOMFAM_MAX_READINGS];
} BloomfamReadings;

/*
 * What a call site keeps of the literals that it was called with, in fn_extra or in the struct that
 * fn_extra points to.
 */
typedef struct BloomfamLiteral BloomfamLiteral;

/*
 * Makes a BloomfamLiteral in the given memory context, for literals under a collation. constant
 * says that each call has the same value. probing says that keys are probed for, not added; see
 * BloomfamHasher.
 */
extern BloomfamLiteral *bloomfam_literal_make(MemoryContext context, Oid collation, bool constant,
											  bool probing);

/*
 * Reads a bloomliteral, which is not NULL, as a key of this filter's family.  The result is valid
 * until the next call.  The same literal is read only once for the same family.
 *
 * Raises the errors of the family's input function.  Raises 42P18 if the filter has no family, or
 * one that is not known or whose input depends on settings.
 */
extern const BloomfamReadings *bloomfam_literal_read(BloomfamLiteral *literal, Datum key,
													 const BfHeader *filter);

/*
 * Raises an error if a literal has several readings (different keys, as the filter's key family has
 * several types).  For functions that need a single key.
 */
extern void bloomfam_literal_check_one(const BloomfamReadings *readings, const BfHeader *filter);

/* An array literal, taken apart: keys is an array of text, of any dimensions. */
typedef struct BloomfamLiterals
{
	int			n;
	Datum	   *keys;			/* The keys, of type text. */
	bool	   *nulls;

	/* The readings of the keys that are not null; NULL if they have not been read yet. */
	BloomfamReadings *readings;
} BloomfamLiterals;

/*
 * Reads a bloomliteral, which is not NULL, as an array literal.  If filter is NULL or has no
 * family, the array is taken apart, but its keys are not read.  The result is valid until the next
 * call.  The same literal is read only once for the same family.
 */
extern const BloomfamLiterals *bloomfam_literal_read_array(BloomfamLiteral *literal, Datum keys,
														   const BfHeader *filter);

/* Raises the error for an untyped key if no filter tells how to read it. */
extern void bloomfam_literal_untyped_error(void) pg_attribute_noreturn();

/*
 * Returns whether this is the type bloomliteral of this extension.  Extensions are relocatable, so
 * the type is known by its input function.
 */
extern bool bloomfam_is_literal(Oid type);

#endif							/* BLOOMFAM_LITERAL_H */
