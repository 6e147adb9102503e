/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.h
 *	  The storage options of a signature index: CREATE INDEX ...  WITH (...).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_OPTIONS_H
#define BLOOMFAM_SIGNATURE_OPTIONS_H

#include "pg/compat.h"

#include "utils/rel.h"

typedef struct SignatureOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */

	/* The number of the table's pages that make a range; 0 if the build chooses it. */
	int			pages_per_range;

	/* The bits of memory for each key of a range; 0 for the default of the columns' classes. */
	double		bits_per_key;
	int			ngram;			/* The number of characters of an n-gram. */
} SignatureOptions;

#define SIGNATURE_MAX_RANGE			1024
#define SIGNATURE_DEFAULT_NGRAM		4
#define SIGNATURE_MIN_NGRAM			2
#define SIGNATURE_MAX_NGRAM			8
#define SIGNATURE_MAX_BITS_PER_KEY	20.0

/*
 * The default bits per key.  A pattern has several n-grams, so few bits are enough for each.  Other
 * conditions may have one key only.
 */
#define SIGNATURE_NGRAM_BITS		5.0
#define SIGNATURE_KEY_BITS			12.0

/* Returns the options of an index, or the defaults if none is set. */
extern const SignatureOptions *bloomfam_signature_options_of(Relation index);

#endif							/* BLOOMFAM_SIGNATURE_OPTIONS_H */
