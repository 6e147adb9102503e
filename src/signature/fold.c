/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fold.c
 *	  Folds the characters of a text.
 *
 * An index of n-grams serves LIKE, which compares characters as they are, and ILIKE, which compares
 * the lower case of the whole text with that of the whole pattern.  For LIKE any function of a
 * character can be asked for, as text and pattern are folded alike.  For ILIKE the folded text must
 * be a function of the text's lower case, although the index folds character by character:
 *
 *	- Most characters have one lower case in a collation, whatever stands beside them.  It is what
 *	  lower() makes of a text of that character alone, and may be several characters.
 *	- The exceptions are those of Unicode's SpecialCasing.txt.  A sigma at the end of a word gets
 *	  another form, so both forms are folded to one.  In Turkish and Azeri the lower case of I has
 *	  no dot unless a combining dot follows, which then vanishes; in Lithuanian a combining dot is
 *	  added below other accents.  So i with and without a dot are folded to one, and the combining
 *	  dot is left out.
 *
 * The functions of libc know no context.  ICU converts texts of other encodings to Unicode, where
 * the exceptions would have to be known by other codes: there only characters of ASCII are asked
 * for by ILIKE.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "pg/key_family.h"
#include "signature/fold.h"

/* The codes, in UTF-8, of the characters whose lower case depends on what stands beside them. */
#define CODE_I				0x69
#define CODE_DOTLESS_I		0xc4b1
#define CODE_SIGMA			0xcf83
#define CODE_FINAL_SIGMA	0xcf82
#define CODE_DOT_ABOVE		0xcc87

/* All collations that were folded in this session. */
static SignatureFold **folds = NULL;
static int	nfolds = 0;

int
bloomfam_signature_fold_slowly(const SignatureFold *fold, const char *str, int len,
							   uint32 *codes)
{
	char	   *lower = str_tolower(str, len, fold->collation);
	const char *at = lower;
	int			n = 0;

	while (*at != '\0' && n < SIGNATURE_FOLDED)
	{
		int			length = pg_mblen(at);
		uint32		code = signature_code(at, length);

		at += length;
		if (GetDatabaseEncoding() == PG_UTF8)
		{
			if (code == CODE_DOT_ABOVE)
				continue;
			if (code == CODE_DOTLESS_I)
				code = CODE_I;
			else if (code == CODE_FINAL_SIGMA)
				code = CODE_SIGMA;
		}
		codes[n++] = code;
	}
	pfree(lower);
	return n;
}

uint32
bloomfam_signature_fold_char(SignatureFold *fold, uint32 code, const char *str, int len)
{
	uint32		codes[SIGNATURE_FOLDED];
	uint32		place = (code * UINT32_C(0x9e3779b1)) >> 18;
	int			n = bloomfam_signature_fold_slowly(fold, str, len, codes);

	fold->cache[place].code = code;
	fold->cache[place].folded = n == 1 ? codes[0] : SIGNATURE_FOLD_SLOWLY;
	return fold->cache[place].folded;
}

/* The loop has no branches, so that compilers can use the processor's vectors. */
void
bloomfam_signature_fold_ascii(const SignatureFold *fold, unsigned char *folded, const char *str,
							  size_t len)
{
	size_t		i;

	Assert(fold->folds_ascii);
	for (i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) str[i];

		folded[i] = (unsigned char) (c | ((unsigned char) (c - 'A') < 26 ? 0x20 : 0));
	}
}

/* Returns whether lower() in this collation looks at each character by itself. */
static bool
knows_no_context(Oid collation)
{
	HeapTuple	tuple;
	char		provider;

	if (collation == DEFAULT_COLLATION_OID)
	{
		tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
		provider = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider;
	}
	else
	{
		tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for collation %u", collation);
		provider = ((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	}
	ReleaseSysCache(tuple);
	return provider == COLLPROVIDER_LIBC;
}

static SignatureFold *
make_fold(Oid collation)
{
	SignatureFold *fold = (SignatureFold *) MemoryContextAllocZero(TopMemoryContext,
																   sizeof(SignatureFold));
	int			i;

	fold->collation = collation;
	fold->is_single_byte = pg_database_encoding_max_length() == 1;
	fold->ignores_case = GetDatabaseEncoding() == PG_UTF8 || knows_no_context(collation);
	for (i = 1; i < 256; i++)
	{
		char		str = (char) i;
		uint32		codes[SIGNATURE_FOLDED];

		/* In other encodings a byte above 127 is no character. */
		if (i >= 128 && !fold->is_single_byte)
			fold->bytes[i] = (uint32) i;
		else if (GetDatabaseEncoding() == PG_SQL_ASCII && i >= 128)
			fold->bytes[i] = (uint32) i;
		else if (bloomfam_signature_fold_slowly(fold, &str, 1, codes) == 1)
			fold->bytes[i] = codes[0];
		else
			fold->bytes[i] = SIGNATURE_FOLD_SLOWLY;
	}
	fold->folds_ascii = true;
	for (i = 1; i < 128; i++)
		if (fold->bytes[i] != (uint32) (i >= 'A' && i <= 'Z' ? i | 0x20 : i))
			fold->folds_ascii = false;
	return fold;
}

SignatureFold *
bloomfam_signature_fold(Oid collation, StringInfo rules)
{
	SignatureFold *fold;
	int			i;

	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for a signature index"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a signature index of n-grams cannot have a nondeterministic collation"),
				 errhint("Use the COLLATE clause to choose another one.")));
	if (rules != NULL)
	{
		appendStringInfoString(rules, "ngrams@");
		bloomfam_family_append_server(rules);
		bloomfam_family_append_collation(rules, collation);
	}
	for (i = 0; i < nfolds; i++)
		if (folds[i]->collation == collation)
			return folds[i];

	fold = make_fold(collation);
	if (folds == NULL)
		folds = (SignatureFold **) MemoryContextAlloc(TopMemoryContext, sizeof(SignatureFold *));
	else
		folds = (SignatureFold **) repalloc(folds, (nfolds + 1) * sizeof(SignatureFold *));
	folds[nfolds++] = fold;
	return fold;
}
