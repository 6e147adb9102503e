/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * client.h
 *	  Functions that the tests of the client library share: hosts that run out of memory, types by
 *	  name, written keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_CLIENT_H
#define BF_TEST_CLIENT_H

#include "test.h"

#include "client/bloomfam.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/* ---- a host that counts, and fails when it is told to ---- */

typedef struct TestHost
{
	BloomfamHost host;
	int64_t		live;			/* pieces of memory out */
	uint64_t	allocs;
	uint64_t	fail_at;		/* which alloc() returns NULL, and all after it; 0: none */
	uint64_t	stops;			/* questions whether to stop */
	uint64_t	stop_at;		/* which is answered by yes; 0: none */
} TestHost;

static inline void *
client_alloc(void *arg, size_t size)
{
	TestHost   *self = arg;

	self->allocs++;
	if (self->fail_at != 0 && self->allocs >= self->fail_at)
		return NULL;
	self->live++;
	return test_malloc(size);
}

static inline void
client_release(void *arg, void *memory)
{
	TestHost   *self = arg;

	CHECK(memory != NULL);
	self->live--;
	free(memory);
}

static inline bool
client_stop(void *arg)
{
	TestHost   *self = arg;

	self->stops++;
	return self->stop_at != 0 && self->stops >= self->stop_at;
}

static inline void
client_host_init(TestHost *self)
{
	memset(self, 0, sizeof(*self));
	self->host.alloc = client_alloc;
	self->host.release = client_release;
	self->host.stop = client_stop;
	self->host.arg = self;
}

/* ---- errors ---- */

static inline void
client_error_init(BloomfamError *error)
{
	memset(error, 0xaa, sizeof(*error));
}

/*
 * Returns whether an error is properly filled in: terminated texts, a message, no control
 * characters.
 */
static inline bool
client_error_is_whole(const BloomfamError *error, BloomfamStatus status)
{
	const char *texts[] = {error->message, error->detail, error->hint};
	size_t		rooms[] = {sizeof(error->message), sizeof(error->detail), sizeof(error->hint)};
	size_t		i;
	size_t		j;

	if (error->status != status || status == BLOOMFAM_OK || error->message[0] == '\0')
		return false;
	for (i = 0; i < 3; i++)
	{
		if (memchr(texts[i], 0, rooms[i]) == NULL)
			return false;
		for (j = 0; texts[i][j] != '\0'; j++)
			if ((unsigned char) texts[i][j] < ' ')
				return false;
	}
	return true;
}

/* ---- keys ---- */

static inline BloomfamType
client_type_of_kind(const char *name, const char *kind)
{
	BloomfamType type;
	BloomfamError error;

	if (bloomfam_type_by_name(name, kind, &type, &error) != BLOOMFAM_OK)
	{
		printf("type \"%s\": %s\n", name, error.message);
		exit(2);
	}
	return type;
}

static inline BloomfamType
client_type(const char *name)
{
	return client_type_of_kind(name, NULL);
}

/* Hashes a key in memory of exactly its length, and returns its answer. */
static inline BloomfamAnswer
client_hash_bytes(const BloomfamType *type, BloomfamMeaning meaning, const char *bytes, size_t len, uint64_t *hash)
{
	char	   *copy = test_malloc(len);
	BloomfamPiece piece = {copy, len};
	BloomfamColumn column = bloomfam_pieces(meaning, &piece, 1);
	BloomfamError error;
	uint8_t		answer = 0xaa;
	BloomfamStatus status;

	memcpy(copy, bytes, len);
	*hash = 0;
	status = bloomfam_hash(type, &column, hash, &answer, NULL, &error);
	CHECKF(status == BLOOMFAM_OK, "%s", status == BLOOMFAM_OK ? "" : error.message);

	/* the other functions agree */
	if (status == BLOOMFAM_OK)
	{
		client_error_init(&error);
		status = bloomfam_column_error(type, &column, 0, &error);
		CHECK((answer == BLOOMFAM_ABSENT) == (status == BLOOMFAM_OK));
		CHECK(status == BLOOMFAM_OK || (status == BLOOMFAM_BAD_KEY && client_error_is_whole(&error, status) && error.row == 0 && error.detail[0] != '\0'));
	}
	free(copy);
	return (BloomfamAnswer) answer;
}

static inline BloomfamAnswer
client_hash(const BloomfamType *type, const char *text, uint64_t *hash)
{
	return client_hash_bytes(type, BLOOMFAM_WRITTEN, text, strlen(text), hash);
}

#endif							/* BF_TEST_CLIENT_H */
