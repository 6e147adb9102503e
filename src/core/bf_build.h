/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_build.h
 *	  From hashes to a finished filter: every builder of filters makes the same bytes of the same
 *	  keys.
 *
 * bloom_agg and the clients outside the server make filters with the functions of this file, so
 * that the same keys give the same value.  A filter can be made in two ways, which lead to the same
 * bytes where both are possible:
 *
 *	- *From a set*: all distinct hashes, in the ascending order of bf_order(), in a BfSource.  This
 *	  works for every kind, and is the only way where a filter's size follows from the number of
 *	  keys, or its bytes from all of them.  For kinds with BF_MULTISET a hash comes as often as it
 *	  was added, but at most BF_MAX_TIMES times.
 *	- *Directly*, where bf_build_is_direct() returns true: kind->add() adds hashes, in any order,
 *	  repeated or not, to an image of the payload, which bf_plan() for the expected number of keys
 *	  and bf_init() have made.  Images with the same header are united by kind->unite().
 *	  bf_build_stored() then makes the value.
 *
 * There are no false negatives: the finished filter contains each hash that was given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BUILD_H
#define BF_BUILD_H

#include "bf.h"
#include "bf_format.h"

/*
 * The caller's memory for filters' values: a header, followed by the payload, as described in
 * bf_format.h.
 *
 * The functions may leave by longjmp, as those of a BfPort may, and never return NULL.  They are
 * never asked for more than BF_MAX_VALUE_SIZE bytes.  A payload may be at any address, but is
 * fastest at the beginning of a cache line; a value's payload begins bf_payload_offset() bytes
 * after the value does.
 */
typedef struct BfRoom BfRoom;

struct BfRoom
{
	uint8_t    *(*alloc) (BfRoom *room, uint64_t size); /* Returns size bytes, not zeroed. */

	/* Changes the size of a value's memory, and keeps the bytes that it holds; may move it. */
	uint8_t    *(*resize) (BfRoom *room, uint8_t *data, uint64_t size);
	void		(*release) (BfRoom *room, uint8_t *data);
};

/*
 * A source of sorted hashes that are in memory: the hashes from next up to end are still to be
 * read.  See bf_build_source().
 */
typedef struct BfArraySource
{
	BfSource	source;
	const uint64_t *next;
	const uint64_t *end;
} BfArraySource;

/*
 * Returns whether keys can be added to a filter of this kind as they come. expected is the expected
 * number of keys, or 0 if it is not known.
 */
extern bool bf_build_is_direct(const BfKind *kind, uint64_t expected);

/*
 * Fills in the header of a filter of a design, by bf_plan() for the right number of keys.
 *
 * That number is the expected one where the filter can be made directly (bf_build_is_direct()).
 * Elsewhere it is the number of distinct hashes, or the expected number if that is larger and keys
 * can be added to filters of the kind later.  Fails with BF_TOO_LARGE.  Family and keys_added are
 * left empty, for the caller to fill in.
 */
extern BfStatus bf_build_plan(const BfDesign *design, uint64_t expected, uint64_t distinct,
							  BfHeader *head);

/*
 * Fills in the header of a filter of kind "identity", which holds no keys; the header does not
 * depend on any design.  Its key family is left empty.
 */
extern void bf_build_identity(BfHeader *head);

/*
 * Makes the finished value of a filter from a set of hashes.
 *
 * head comes from bf_build_plan() for the source's n, with family and keys_added filled in, and is
 * updated to the header of the value. *data is set to the value, bf_data_size(head) bytes in memory
 * from room.  Fails with BF_TOO_LARGE, or with BF_FULL for a kind that has no room for all hashes;
 * then head is the header of the filter that could not be made, all memory is given back to room,
 * and *data is NULL.
 *
 * Allocates from port as well.  The source must return its hashes in the order that BfSource
 * demands, and as many as it states; this is not checked, since the source is the caller's own.
 * Takes time linear in the number of hashes.
 */
extern BfStatus bf_build_set(const BfPort *port, BfRoom *room, BfHeader *head, BfSource *source,
							 uint8_t **data);

/*
 * Makes the finished value of an image of a payload.  The image is in its loose form, and is not
 * changed.
 *
 * head becomes the header of the value, and *data the value, in memory from room.  Cannot fail: no
 * stored form is longer than the loose form.
 */
extern void bf_build_stored(const BfPort *port, BfRoom *room, const BfView *image, BfHeader *head,
							uint8_t **data);

/*
 * bf_build_stored_plan() and bf_build_stored_payload() make the form in which a filter is stored
 * (packed, for kind "counting") from its image in memory in two steps, for callers that have their
 * own memory. bf_build_stored_plan() fills in the header. bf_build_stored_payload() writes the
 * payload, which need not be zeroed before.
 */
extern void bf_build_stored_plan(const BfPort *port, const BfView *image, BfHeader *head);
extern void bf_build_stored_payload(const BfPort *port, const BfHeader *head, uint8_t *payload,
									const BfView *image);

/*
 * Makes the finished value of a filter from hashes in memory; it equals what bloom_agg makes of the
 * same keys.
 *
 * Sorts the n hashes in place, plans for the expected number of keys (0: the number of distinct
 * hashes), and makes the value; without hashes, the value is that of kind "identity".  The caller
 * sets the family in head; the other fields are overwritten.  Memory and errors are those of
 * bf_build_plan() and bf_build_set().
 */
extern BfStatus bf_build_hashes(const BfPort *port, BfRoom *room, const BfDesign *design,
								uint64_t expected, uint64_t *hashes, uint64_t n, BfHeader *head,
								uint8_t **data);

/*
 * Sorts n hashes in place, drops repeated ones (for kinds with BF_MULTISET, repetitions beyond
 * BF_MAX_TIMES), and makes *source a source of the remaining hashes, which stay in the caller's
 * memory.
 */
extern void bf_build_source(const BfPort *port, const BfKind *kind, uint64_t *hashes, uint64_t n,
							BfArraySource *source);

/*
 * Returns the sum of two numbers of keys, limited to INT64_MAX, the most that a filter's header can
 * hold.
 */
static inline uint64_t
bf_count_keys(uint64_t a, uint64_t b)
{
	return a > INT64_MAX || b > INT64_MAX - a ? INT64_MAX : a + b;
}

#endif							/* BF_BUILD_H */
