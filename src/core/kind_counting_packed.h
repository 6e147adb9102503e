/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_counting_packed.h
 *	  Private to the counting filter: the packed form, in which it is stored; see kind_counting.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_COUNTING_PACKED_H
#define KIND_COUNTING_PACKED_H

#include "bf.h"

#define MAX_PLANES		15
/*
 * The number of bits of a plane for which one rank is stored.  Ranks take 1/64 of the plane's size,
 * and counting the set bits before a given bit reads 32 words at most.
 */
#define RUN_BITS		2048
#define RANK_BYTES		4

/* ---- the parts of a packed payload ---- */

typedef struct Plane
{
	const uint8_t *bits;
	const uint8_t *ranks;

	/*
	 * The number of bits of the plane; 0 if it does not exist, or does not lie within the payload.
	 */
	uint64_t	nbits;
} Plane;

typedef struct Planes
{
	Plane		plane[MAX_PLANES];
	unsigned	n;
	bool		has_tail;
	const uint8_t *tail;
	uint64_t	ntail;			/* The number of counters that fit into the tail. */
} Planes;

/*
 * Finds the planes and the tail of a packed payload, which may hold any bytes.  Returns false if
 * they do not fit the payload exactly; *planes then has only those planes that fit.
 */
extern bool bf_counting_find_planes(const BfView *view, Planes *planes);

/*
 * Returns one counter of a packed filter that has planes.  Returns SATURATED where the payload does
 * not contain the counter: a counter that is too high can only cause false positives.
 */
extern unsigned bf_counting_packed_counter(const Planes *planes, uint64_t at);

/* ---- reading the counters of either form ---- */

/*
 * The number of words of counters that are read or written together: the counters for which one
 * word of plane 1 has a bit each.
 */
#define GROUP	4

/* A reader of a filter's counters, in order, in words of the loose form. */
typedef struct Reader Reader;

struct Reader
{
	const BfView *view;
	uint64_t	words;			/* The number of words of the loose form. */
	uint64_t	done;			/* The number of words that have been read. */

	/*
	 * Reads the next words: GROUP, or those that are left if fewer.  Returns how many it has read.
	 */
	unsigned	(*read) (Reader *reader, uint64_t *counters);

	/* The members of Reader from here on are used for the packed form only. */
	Planes		planes;
	uint64_t	at[MAX_PLANES];	/* The number of the next bit of each plane. */
	uint64_t	at_tail;		/* The number of the next counter of the tail. */
};

extern void bf_counting_open_reader(Reader *reader, const BfView *view);

/* ---- implementations of members of BfKind ---- */

extern void bf_counting_loosen_plan(const BfHeader *packed, BfHeader *loose);
extern void bf_counting_loosen(const BfPort *port, const BfHeader *loose, uint8_t *out,
							   const BfView *packed);
extern void bf_counting_pack_plan(const BfPort *port, const BfView *loose, BfHeader *packed);
extern void bf_counting_pack(const BfPort *port, const BfHeader *packed, uint8_t *out,
							 const BfView *loose);

/* Implement the parts of BfKind.check and BfKind.validate that are special to packed filters. */
extern const char *bf_counting_check_packed(const BfHeader *head);
extern const char *bf_counting_validate_packed(const BfPort *port, const BfView *view);

#endif							/* KIND_COUNTING_PACKED_H */
