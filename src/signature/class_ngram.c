/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * class_ngram.c
 *	  The operator class of texts: its keys are the n-grams of folded characters.
 *
 * A pattern asks for the n-grams of each of its pieces without a wildcard.  A piece of fewer than n
 * characters asks for nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"

#include "signature/fold.h"
#include "signature/keys.h"

/* The strategy numbers of the operator class. */
#define NGRAM_EQUAL		1
#define NGRAM_LIKE		2
#define NGRAM_ILIKE		3
#define NGRAM_STARTS	4

#define SEEN_BITS		12

typedef struct NgramColumn
{
	SignatureColumn base;
	SignatureFold *fold;
	int			size;			/* The number of characters of an n-gram. */
	uint64		leaving;		/* The weight of the character that leaves an n-gram. */

	/*
	 * N-grams of ASCII that were added to the keys with this id, each at a place by its hash; 0 if
	 * there is none.  Most n-grams come again soon.
	 */
	uint64		keys_id;
	uint32		seen[1 << SEEN_BITS];
} NgramColumn;

/*
 * The latest characters of a piece of text.  Their n-gram is the number of which they are the
 * digits, with the base NGRAM_BASE, modulo 2^64 (Karp, Rabin, IBM J. Res. Dev. 1987): it is
 * computed anew from the last one, by the character that comes and the one that leaves.  With the
 * base 256 the n-gram of characters of ASCII is their bytes.  Codes of several bytes overlap, so a
 * few n-grams may be the same number, which costs reading a range in vain.
 */
#define NGRAM_BASE		UINT64CONST(256)
#define MAX_NGRAM		8

#define WINDOW_CODES	256

typedef struct NgramWindow
{
	uint64		ngram;			/* The number of the latest characters. */

	/*
	 * How many characters the piece had, as far as they were added; counting ends at the size of an
	 * n-gram.
	 */
	int			before;
	int			n;				/* The number of characters that wait to be added. */

	/* The latest characters that were added, up to MAX_NGRAM, and then those that wait. */
	uint32		codes[MAX_NGRAM + WINDOW_CODES];
} NgramWindow;

static inline void
begin_piece(NgramWindow *window)
{
	window->ngram = 0;
	window->before = 0;
	window->n = 0;
	memset(window->codes, 0, MAX_NGRAM * sizeof(uint32));
}

/* Adds the characters that wait, and the n-grams that end with them. */
static void
add_waiting(const NgramColumn *self, NgramWindow *window, SignatureKeys *keys)
{
	const uint32 *codes = window->codes + MAX_NGRAM;
	uint64	   *hashes = signature_keys_room(keys, WINDOW_CODES);
	uint64		ngram = window->ngram;
	int			skipped = Max(self->size - 1 - window->before, 0);
	int			n = window->n;
	int			i;

	/* Codes that are missing at the beginning of a piece are 0. */
	for (i = 0; i < n; i++)
	{
		ngram = ngram * NGRAM_BASE + (codes[i] - codes[i - self->size] * self->leaving);
		hashes[i] = signature_hash(&self->base, ngram);
	}
	if (skipped > 0 && n > skipped)
		memmove(hashes, hashes + skipped, (n - skipped) * sizeof(uint64));
	keys->n += Max(n - skipped, 0);
	window->ngram = ngram;
	window->before = Min(window->before + n, self->size);
	window->n = 0;
	memmove(window->codes, window->codes + n, MAX_NGRAM * sizeof(uint32));
}

/* Ends a piece, where a pattern has a wildcard, and begins another one. */
static void
end_piece(const NgramColumn *self, NgramWindow *window, SignatureKeys *keys)
{
	add_waiting(self, window, keys);
	begin_piece(window);
}

static inline void
add_code(const NgramColumn *self, NgramWindow *window, uint32 code, SignatureKeys *keys)
{
	if (window->n == WINDOW_CODES)
		add_waiting(self, window, keys);
	window->codes[MAX_NGRAM + window->n++] = code;
}

/* Adds a character that is folded to several codes, or to none. */
static void
add_slowly(const NgramColumn *self, NgramWindow *window, const char *str, int len,
		   SignatureKeys *keys)
{
	uint32		codes[SIGNATURE_FOLDED];
	int			n = bloomfam_signature_fold_slowly(self->fold, str, len, codes);
	int			i;

	for (i = 0; i < n; i++)
		add_code(self, window, codes[i], keys);
}

static inline void
add_char(const NgramColumn *self, NgramWindow *window, const char *str, int len,
		 SignatureKeys *keys)
{
	uint32		code = signature_fold_char(self->fold, str, len);

	if (likely(code != SIGNATURE_FOLD_SLOWLY))
		add_code(self, window, code, keys);
	else
		add_slowly(self, window, str, len, keys);
}

/* Returns the length of the character at *str, before "end". */
static inline int
char_length(const NgramColumn *self, const char *str, const char *end)
{
	int			len;

	if (self->fold->is_single_byte || !IS_HIGHBIT_SET(*str))
		return 1;
	len = pg_mblen(str);
	return Min(len, (int) (end - str));
}

/* The most bytes of an n-gram that is added by extract_ascii(). */
#define MAX_ASCII_NGRAM		((int) sizeof(uint32))

/*
 * Adds the n-grams of a text of ASCII, for n-grams of at most MAX_ASCII_NGRAM characters.  Whether
 * an n-gram was seen just before is hard to predict, so the loop has no branch for that: each hash
 * is written, and counts if the n-gram is another one.
 */
static void
extract_ascii(NgramColumn *self, const char *str, size_t len, SignatureKeys *keys)
{
	unsigned char folded[512 + MAX_ASCII_NGRAM];
	const size_t room = sizeof(folded) - MAX_ASCII_NGRAM;
	size_t		size = (size_t) self->size;
	int			unused = 8 * (MAX_ASCII_NGRAM - self->size);
	size_t		at;

	if (self->keys_id != keys->id)
	{
		memset(self->seen, 0, sizeof(self->seen));
		self->keys_id = keys->id;
	}
	memset(folded, 0, sizeof(folded));
	for (at = 0; at + size <= len; at += room - (size - 1))
	{
		size_t		n = Min(room, len - at);
		uint64	   *hashes = signature_keys_room(keys, room);
		uint32		added = 0;
		size_t		i;

		CHECK_FOR_INTERRUPTS();
		bloomfam_signature_fold_ascii(self->fold, folded, str + at, n);
		for (i = 0; i + size <= n; i++)
		{
			uint32		bytes;
			uint32		ngram;
			uint32	   *seen;

			/* The first character is the highest digit. */
			memcpy(&bytes, folded + i, sizeof(bytes));
			ngram = pg_ntoh32(bytes) >> unused;
			seen = &self->seen[(ngram * UINT32_C(0x9e3779b1)) >> (32 - SEEN_BITS)];
			hashes[added] = signature_hash(&self->base, ngram);
			added += *seen != ngram;
			*seen = ngram;
		}
		keys->n += added;
	}
}

static bool
is_ascii(const char *str, size_t len)
{
	unsigned char all = 0;
	size_t		i;

	for (i = 0; i < len; i++)
		all |= (unsigned char) str[i];
	return all < 128;
}

static void
extract(SignatureColumn *column, Datum value, SignatureKeys *keys)
{
	NgramColumn *self = (NgramColumn *) column;
	struct varlena *text = PG_DETOAST_DATUM_PACKED(value);
	const char *str = VARDATA_ANY(text);
	const char *end = str + VARSIZE_ANY_EXHDR(text);
	NgramWindow window;

	begin_piece(&window);
	if (self->size <= MAX_ASCII_NGRAM && self->fold->folds_ascii && is_ascii(str, end - str))
	{
		extract_ascii(self, str, end - str, keys);
		str = end;
	}
	while (str < end)
	{
		const char *stop = Min(end, str + 65536);

		CHECK_FOR_INTERRUPTS();
		while (str < stop)
		{
			int			len = char_length(self, str, end);

			add_char(self, &window, str, len, keys);
			str += len;
		}
	}
	add_waiting(self, &window, keys);
	if (text != (struct varlena *) DatumGetPointer(value))
		pfree(text);
}

/* ---- queries ---- */

/* Collects the hashes of a query's n-grams. */
static void
take_hashes(void *arg, const uint64 *hashes, uint32 n)
{
	SignatureQuery *query = (SignatureQuery *) arg;

	if (n == 0)
		return;
	query->hashes = query->nkeys == 0 ? (uint64 *) palloc(n * sizeof(uint64)) :
		(uint64 *) repalloc_huge(query->hashes, (query->nkeys + (Size) n) * sizeof(uint64));
	memcpy(query->hashes + query->nkeys, hashes, n * sizeof(uint64));
	query->nkeys += n;
}

/*
 * Adds the n-grams of a pattern of LIKE or ILIKE.  What the operators call an error, an escape
 * character at the end, is left to them.
 */
static void
extract_pattern(const NgramColumn *self, const char *str, const char *end, bool ignores_case,
				SignatureKeys *keys)
{
	NgramWindow window;

	begin_piece(&window);
	while (str < end)
	{
		int			len;

		if (*str == '%' || *str == '_')
		{
			end_piece(self, &window, keys);
			str++;
			continue;
		}
		if (*str == '\\' && ++str == end)
			break;
		len = char_length(self, str, end);
		if (ignores_case && !self->fold->ignores_case && IS_HIGHBIT_SET(*str))
			end_piece(self, &window, keys);
		else
			add_char(self, &window, str, len, keys);
		str += len;
	}
	add_waiting(self, &window, keys);
}

static SignatureQuery *
ask(SignatureColumn *column, StrategyNumber strategy, Oid type, Datum argument)
{
	const NgramColumn *self = (NgramColumn *) column;
	SignatureQuery *query = (SignatureQuery *) palloc0(sizeof(SignatureQuery));
	struct varlena *text = PG_DETOAST_DATUM_PACKED(argument);
	const char *str = VARDATA_ANY(text);
	SignatureKeys *keys = (SignatureKeys *) palloc(sizeof(SignatureKeys));

	signature_keys_begin(keys, take_hashes, query);
	switch (strategy)
	{
		case NGRAM_EQUAL:
		case NGRAM_STARTS:
			extract(column, PointerGetDatum(text), keys);
			break;
		case NGRAM_LIKE:
		case NGRAM_ILIKE:
			extract_pattern(self, str, str + VARSIZE_ANY_EXHDR(text), strategy == NGRAM_ILIKE,
							keys);
			break;
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
	signature_keys_end(keys);
	pfree(keys);
	query->ask = query->nkeys > 0 ? SIGNATURE_ASK_KEYS : SIGNATURE_ASK_NOTHING;
	return query;
}

static SignatureColumn *
make(Relation index, int number, uint32 ngram, StringInfo rules)
{
	NgramColumn *self = (NgramColumn *) palloc0(sizeof(NgramColumn));
	int			i;

	self->fold = bloomfam_signature_fold(index->rd_indcollation[number], rules);
	self->size = (int) ngram;
	Assert(self->size >= 1 && self->size <= MAX_NGRAM);
	appendStringInfo(rules, ":%d", self->size);
	for (self->leaving = 1, i = 0; i < self->size; i++)
		self->leaving *= NGRAM_BASE;
	return &self->base;
}

const SignatureClass bloomfam_signature_ngram = {make, extract, ask};
