/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_build.h
 *	  From hashes to a finished filter: the same bytes whoever makes it.
 *
 * bloom_agg and the clients outside the server make filters by what is here, so that the same keys
 * give the same value.  There are two ways, which lead to the same bytes where both are open:
 *
 *	- *From a set*: all distinct hashes, in the ascending order of bf_order(), in a BfSource.  This
 *	  works for every kind, and is the only way where a filter's size follows from the number of
 *	  keys, or its bytes from all of them.  For kinds with BF_MULTISET a hash comes as often as it
 *	  was added, but at most BF_MAX_TIMES times.
 *	- *Directly*, where bf_build_is_direct() says so: into an image of the payload, made by
 *	  bf_plan() for the expected number of keys and bf_init(), hashes are added by kind->add() in
 *	  any order, repeated or not.  Images of the same header unite by kind->unite().
 *	  bf_build_stored() then makes the value.
 *
 * No false negatives: each hash that came is contained in what is made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_BUILD_H
#define BF_BUILD_H

#include "bf.h"
#include "bf_format.h"

/*
 * The caller's memory for values: header, and then payload, as bf_format.h has it.
 *
 * The functions may leave by longjmp, as a BfPort's do, and never return NULL; they are not asked
 * for more than BF_MAX_VALUE_SIZE.  Payloads may be at any address; they are fastest at a cache
 * line's beginning, which is bf_payload_offset() after that of the value.
 */
typedef struct BfRoom BfRoom;

struct BfRoom
{
	uint8_t    *(*alloc) (BfRoom *room, uint64_t size); /* not zeroed */
	uint8_t    *(*resize) (BfRoom *room, uint8_t *data, uint64_t size);	/* keeps what is there */
	void		(*release) (BfRoom *room, uint8_t *data);
};

/* Sorted hashes in memory as a source, from the first to the last; see bf_build_source(). */
typedef struct BfArraySource
{
	BfSource	source;
	const uint64_t *next;
	const uint64_t *end;
} BfArraySource;

/* May keys be added to the filter as they come?  expected is 0 if their number is not known. */
extern bool bf_build_is_direct(const BfKind *kind, uint64_t expected);

/*
 * bf_build_plan: the header of a filter of this design, by bf_plan(), for the right number of keys.
 *
 * That is the expected one where the filter can be made directly.  Elsewhere it is the number of
 * distinct hashes, or the expected number if that is larger and the kind takes keys later on.
 * Fails with BF_TOO_LARGE.  Family and keys_added are left empty, for the caller to fill in.
 */
extern BfStatus bf_build_plan(const BfDesign *design, uint64_t expected, uint64_t distinct,
							  BfHeader *head);

/* The header of the filter of no keys, whatever was asked for; its family is left empty. */
extern void bf_build_identity(BfHeader *head);

/*
 * bf_build_set: the finished value of a set's hashes.
 *
 * head comes from bf_build_plan() for the source's n, with its family and keys_added; it goes as
 * that of the value, whose bytes *data gets: bf_data_size(head) of them, in memory of the room's.
 * Fails with BF_TOO_LARGE, or BF_FULL for a kind that has no room for all of them.  head is then
 * that of the filter that could not be made, and the room got all its memory back.
 *
 * Allocates from the port as well.  The source is in the order said, and has as many hashes as it
 * says: it is the caller's own.  Time: linear in their number.
 */
extern BfStatus bf_build_set(const BfPort *port, BfRoom *room, BfHeader *head, BfSource *source,
							 uint8_t **data);

/*
 * bf_build_stored: the finished value of an image, which is in its loose form and stays as it is.
 *
 * head becomes that of the value, whose memory is the room's.  Cannot fail: no stored form is
 * longer than the loose one.
 */
extern void bf_build_stored(const BfPort *port, BfRoom *room, const BfView *image, BfHeader *head,
							uint8_t **data);

/*
 * bf_build_stored_plan, bf_build_stored_payload: the two steps of that for those who have their own
 * memory.  The plan makes the header; the payload need not be zeroed.
 */
extern void bf_build_stored_plan(const BfPort *port, const BfView *image, BfHeader *head);
extern void bf_build_stored_payload(const BfPort *port, const BfHeader *head, uint8_t *payload,
									const BfView *image);

/*
 * bf_build_hashes: all of it, for hashes in memory: what bloom_agg gives for so many keys.
 *
 * Sorts the n hashes, in place, plans for expected keys (0: as many as come) and makes the value;
 * without hashes, that of no keys.  head brings the family, and nothing else.  Memory and errors as
 * above, those of bf_build_plan() included.
 */
extern BfStatus bf_build_hashes(const BfPort *port, BfRoom *room, const BfDesign *design,
								uint64_t expected, uint64_t *hashes, uint64_t n, BfHeader *head,
								uint8_t **data);

/*
 * bf_build_source: sorts n hashes in place, drops what a filter of this kind has no use for, and
 * makes a source of the others, which stay the caller's.
 */
extern void bf_build_source(const BfPort *port, const BfKind *kind, uint64_t *hashes, uint64_t n,
							BfArraySource *source);

/* The sum of two numbers of keys, but no more than a filter can count to. */
static inline uint64_t
bf_count_keys(uint64_t a, uint64_t b)
{
	return a > INT64_MAX || b > INT64_MAX - a ? INT64_MAX : a + b;
}

#endif							/* BF_BUILD_H */
