/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * literal.h
 *	  Keys without a type: untyped literals and parameters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_LITERAL_H
#define BLOOMFAM_LITERAL_H

#include "core/bf_format.h"
#include "pg/compat.h"

/* No family reads a literal in more ways that differ. */
#define BLOOMFAM_MAX_READINGS	3

/* The hashes of a literal, one for each way to read it that gives another key. */
typedef struct BloomfamReadings
{
	int			n;				/* at least 1 */
	uint64		hashes[BLOOMFAM_MAX_READINGS];
} BloomfamReadings;

/* What one call site keeps of its literals, in fn_extra or what that holds. */
typedef struct BloomfamLiteral BloomfamLiteral;

/*
 * Makes one in the memory context given, for literals under a collation.  constant: each call
 * brings the same value.  probing: keys are probed for, not added; see BloomfamHasher.
 */
extern BloomfamLiteral *bloomfam_literal_make(MemoryContext context, Oid collation, bool constant,
											  bool probing);

/*
 * Reads a bloomliteral (not NULL) as a key of the family of this filter.  The result is good until
 * the next call.  The same literal for the same family is read once.
 *
 * Errors: those of the family's input function; 42P18 if the filter has no family, or one whose
 * input depends on settings or is not known.
 */
extern const BloomfamReadings *bloomfam_literal_read(BloomfamLiteral *literal, Datum key,
													 const BfHeader *filter);

/*
 * Raises an error if there are several readings: for functions that cannot do with all of them.
 */
extern void bloomfam_literal_check_one(const BloomfamReadings *readings, const BfHeader *filter);

/* An array literal: keys is an array of text, of any dimensions, taken apart. */
typedef struct BloomfamLiterals
{
	int			n;
	Datum	   *keys;			/* text */
	bool	   *nulls;
	BloomfamReadings *readings; /* of keys that are not null; NULL: not read yet */
} BloomfamLiterals;

/*
 * Takes a bloomliteral (not NULL) for an array literal.  Without a filter that has a family, keys
 * are taken apart, but not read.  As above, the same is done once.
 */
extern const BloomfamLiterals *bloomfam_literal_read_array(BloomfamLiteral *literal, Datum keys,
														   const BfHeader *filter);

/* Raises the error for an untyped key where no filter tells how to read it. */
extern void bloomfam_literal_untyped_error(void) pg_attribute_noreturn();

/* Is this the type bloomliteral of this extension?  (By its input function, as bloomkey.) */
extern bool bloomfam_is_literal(Oid type);

#endif							/* BLOOMFAM_LITERAL_H */
