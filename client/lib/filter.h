/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  Private to the library: an opened filter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_FILTER_H
#define BF_LIB_FILTER_H

#include "client/lib/arena.h"
#include "client/lib/error.h"
#include "client/lib/type.h"

/* What a filter has to give back. */
typedef enum BfHolding
{
	BF_HOLDS_NOTHING,			/* the bytes are the caller's */
	BF_HOLDS_MEMORY,			/* of the host */
	BF_HOLDS_MAP				/* of a file */
} BfHolding;

struct BloomfamFilter
{
	BloomfamHost host;
	BloomfamForm form;
	BfHolding	holding;
	void	   *held;
	size_t		held_len;		/* of a map */
	const uint8_t *bytes;		/* the value */
	size_t		len;
	BfView		view;
	BfTypeStatus type_status;
	BloomfamType type;			/* of its own keys; if BF_TYPE_OK */
};

/* Where payloads begin, for kinds whose keys have all their bits in a block. */
#define BF_CACHE_LINE	64

/* How many bytes are handled between two questions whether to stop. */
#define BF_BYTES_PER_CHECK	((size_t) 1024 * 1024)

/*
 * bf_filter_place: memory of the host for a value of len bytes, which begins with the avail bytes
 * at head, so that its payload begins a cache line.
 *
 * Returns the memory to give back, NULL if there is none, and where the value goes.  More is added
 * to the front if before is not 0.  The bytes are untrusted, and nothing is copied.
 */
extern void *bf_filter_place(const BloomfamHost *host, const uint8_t *head, size_t avail,
							 size_t before, size_t len, uint8_t **place);

/*
 * bf_filter_make: a filter on the bytes of a value, which it takes over with what is held, even if
 * it fails.
 */
extern BloomfamStatus bf_filter_make(const BloomfamHost *host, BloomfamForm form,
									 const uint8_t *bytes, size_t len, BfHolding holding,
									 void *held, size_t held_len, unsigned flags,
									 BloomfamFilter **filter, BloomfamError *error);

/* Does the host want to stop? */
static inline bool
bf_host_stops(const BloomfamHost *host)
{
	return host->stop != NULL && host->stop(host->arg);
}

/* A view of it may be asked: it is no state of an aggregate. */
extern BloomfamStatus bf_filter_check_askable(const BloomfamFilter *filter, BloomfamError *error);

#endif							/* BF_LIB_FILTER_H */
