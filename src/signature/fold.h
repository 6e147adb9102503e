/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fold.h
 *	  Folds the characters of a text, so that texts that ILIKE takes for equal become equal.
 *
 * A character's code is its bytes as one number.  Folding maps each character to codes, whatever
 * stands beside it: in most cases to the one code of its lower case.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_FOLD_H
#define BLOOMFAM_SIGNATURE_FOLD_H

#include "pg/compat.h"

#include "lib/stringinfo.h"

/* The most codes that one character is folded to. */
#define SIGNATURE_FOLDED	4

/* The numbers of codes that are kept; a power of two. */
#define SIGNATURE_FOLD_CACHE	16384

typedef struct SignatureFold
{
	Oid			collation;

	/* True if the lower case of a text is that of its characters one by one, as far as folded. */
	bool		ignores_case;
	bool		is_single_byte; /* Every character of the database's encoding is one byte. */

	/* True if characters of ASCII are folded to those in lower case, whatever the collation. */
	bool		folds_ascii;

	/* The codes of characters of one byte; SIGNATURE_FOLD_SLOWLY: see signature_fold(). */
	uint32		bytes[256];

	/* Characters of several bytes and what they are folded to, at places by their codes. */
	struct
	{
		uint32		code;		/* 0: none */
		uint32		folded;
	}			cache[SIGNATURE_FOLD_CACHE];
} SignatureFold;

/* Stands for characters that are not folded to just one code.  It is no character's code. */
#define SIGNATURE_FOLD_SLOWLY	UINT32_MAX

/*
 * Returns how a collation's texts are folded; it is kept for the session.  Appends to "rules" what
 * that depends on.  Raises an error for a collation that is not deterministic.
 */
extern SignatureFold *bloomfam_signature_fold(Oid collation, StringInfo rules);

/* Folds a character of several bytes that is not in the cache; adds it to that. */
extern uint32 bloomfam_signature_fold_char(SignatureFold *fold, uint32 code, const char *str,
										   int len);

/*
 * Folds a character for which bloomfam_signature_fold_char() returns SIGNATURE_FOLD_SLOWLY.
 * Returns the number of codes.
 */
extern int	bloomfam_signature_fold_slowly(const SignatureFold *fold, const char *str, int len,
										   uint32 *codes);

/* Folds characters of ASCII one by one, if fold->folds_ascii is set. */
extern void bloomfam_signature_fold_ascii(const SignatureFold *fold, unsigned char *folded,
										  const char *str, size_t len);

static inline uint32
signature_code(const char *str, int len)
{
	uint32		code = 0;
	int			i;

	for (i = 0; i < len; i++)
		code = code << 8 | (unsigned char) str[i];
	return code;
}

static inline uint32
signature_fold_char(SignatureFold *fold, const char *str, int len)
{
	uint32		code = signature_code(str, len);
	uint32		place = (code * UINT32_C(0x9e3779b1)) >> 18;

	Assert(place < SIGNATURE_FOLD_CACHE);
	if (len == 1)
		return fold->bytes[code];
	return likely(fold->cache[place].code == code) ? fold->cache[place].folded :
		bloomfam_signature_fold_char(fold, code, str, len);
}

#endif							/* BLOOMFAM_SIGNATURE_FOLD_H */
