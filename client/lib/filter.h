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

/* What holds a filter's bytes, and must therefore be freed when the filter is closed. */
typedef enum BfHolding
{
	BF_HOLDS_NOTHING,			/* The caller owns the filter's bytes. */
	BF_HOLDS_MEMORY,			/* The filter owns memory of the host. */
	BF_HOLDS_MAP				/* The filter owns the mapping of a file. */
} BfHolding;

struct BloomfamFilter
{
	BloomfamHost host;
	BloomfamForm form;
	BfHolding	holding;
	void	   *held;
	size_t		held_len;		/* Length of the mapping in bytes, for BF_HOLDS_MAP. */
	const uint8_t *bytes;		/* The filter's bytes, in the raw form. */
	size_t		len;
	BfView		view;
	BfTypeStatus type_status;
	/* Type of the filter's own keys, valid if type_status is BF_TYPE_OK. */
	BloomfamType type;
};

/*
 * The size in bytes of a cache line.  Payloads begin at a multiple of it, so that a kind that has
 * all bits of a key in one block reads one cache line for each lookup.
 */
#define BF_CACHE_LINE	64

/* The number of bytes that are processed between two calls of the host's stop(). */
#define BF_BYTES_PER_CHECK	((size_t) 1024 * 1024)

/*
 * bf_filter_place: Allocates memory of the host for a filter of len bytes, placed so that its
 * payload begins at a cache line.
 *
 * The first avail bytes of the filter are at head; they are untrusted, and are not copied. before
 * bytes are kept free in front of the filter.  Returns the memory to release later, and in *place
 * the address for the filter.  Returns NULL if there is no memory.
 */
extern void *bf_filter_place(const BloomfamHost *host, const uint8_t *head, size_t avail,
							 size_t before, size_t len, uint8_t **place);

/*
 * bf_filter_make: Makes the filter object for the bytes of a filter.  The object takes over "held",
 * the memory or mapping that the bytes are in; if the call fails, "held" is released.
 */
extern BloomfamStatus bf_filter_make(const BloomfamHost *host, BloomfamForm form,
									 const uint8_t *bytes, size_t len, BfHolding holding,
									 void *held, size_t held_len, unsigned flags,
									 BloomfamFilter **filter, BloomfamError *error);

/* Returns whether the caller of the library wants the work to stop: calls the host's stop(). */
static inline bool
bf_host_stops(const BloomfamHost *host)
{
	return host->stop != NULL && host->stop(host->arg);
}

/*
 * Checks that a filter can be asked.  Fails with BLOOMFAM_NOT_ASKABLE for kind "partial", the state
 * of an aggregate.
 */
extern BloomfamStatus bf_filter_check_askable(const BloomfamFilter *filter, BloomfamError *error);

#endif							/* BF_LIB_FILTER_H */
