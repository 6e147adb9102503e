/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Functions that the tests of columns share: memory of exact sizes, columns, and the results of
 *	  hashing columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_COLUMNS_H
#define BF_TEST_COLUMNS_H

#include "client.h"

#include "keys/key_hash.h"
#include "keys/plain.h"

/*
 * Allocations of exactly the needed size, so that ASan sees an access of one byte too many;
 * forget() frees the last ones.
 */
static void *kept[64];
static int	nkept = 0;

static inline void *
keep(const void *bytes, size_t len)
{
	void	   *copy = test_malloc(len);

	if (len > 0)
		memcpy(copy, bytes, len);
	if (nkept == LENGTH(kept))
		exit(2);
	return kept[nkept++] = copy;
}

static inline void
forget(void)
{
	while (nkept > 0)
		free(kept[--nkept]);
}

static inline BloomfamColumn
column_of(BloomfamMeaning meaning, BloomfamLayout layout, const void *values, size_t n)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = meaning;
	column.layout = layout;
	column.values = values;
	column.n = n;
	return column;
}

/* The hashes and answers of a column, which forget() frees. */
typedef struct Hashed
{
	uint64_t   *hashes;
	uint8_t    *answers;
	BloomfamCounts counts;
} Hashed;

static inline Hashed
hash_column(const char *type_name, const BloomfamColumn *column)
{
	BloomfamType type = client_type(type_name);
	Hashed		hashed;
	BloomfamError error;
	uint64_t	sum;
	BloomfamStatus status;

	hashed.hashes = kept[nkept++] = test_malloc(column->n * 8);
	hashed.answers = kept[nkept++] = test_malloc(column->n);
	memset(hashed.answers, 0xaa, column->n);
	status = bloomfam_hash(&type, column, hashed.hashes, hashed.answers, &hashed.counts, &error);
	if (!CHECKF(status == BLOOMFAM_OK, "%s: %s %s", type_name, error.message, error.detail))
		memset(&hashed.counts, 0, sizeof(hashed.counts));
	sum = hashed.counts.absent + hashed.counts.bad + hashed.counts.impossible + hashed.counts.null;
	CHECKF(sum == column->n && hashed.counts.maybe == 0, "%s: %" PRIu64 " of %zu are counted", type_name, sum, column->n);
	return hashed;
}

static inline void
check_status(const char *type_name, const BloomfamColumn *column, BloomfamStatus expected, const char *what)
{
	BloomfamType type = client_type(type_name);
	uint64_t	hashes[8];
	BloomfamError error;
	BloomfamStatus status;

	client_error_init(&error);
	status = bloomfam_hash(&type, column, hashes, NULL, NULL, &error);
	CHECKF(status == expected && (status == BLOOMFAM_OK || client_error_is_whole(&error, status)), "%s of type %s: status %d", what, type_name, status);
}

/* Returns the hash of a written key; 0 for a text that is not read. */
static inline uint64_t
written(const char *type_name, const char *text)
{
	BloomfamType type = client_type(type_name);
	uint64_t	hash;

	return client_hash(&type, text, &hash) == BLOOMFAM_ABSENT ? hash : 0;
}

#endif							/* BF_TEST_COLUMNS_H */
