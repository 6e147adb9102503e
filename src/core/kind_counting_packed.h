/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_counting_packed.h
 *	  Private to the counting filter: the form in which it is stored; see kind_counting.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_COUNTING_PACKED_H
#define KIND_COUNTING_PACKED_H

#include "bf.h"

#define MAX_PLANES		15
#define RUN_BITS		2048	/* bits of a plane for each rank: ranks take 1/64 of the plane, and
								 * counting up to a bit looks at 32 words at most */
#define RANK_BYTES		4

/* ---- where the parts of a packed payload are ---- */

typedef struct Plane
{
	const uint8_t *bits;
	const uint8_t *ranks;
	uint64_t	nbits;			/* 0: the plane does not exist, or not within the payload */
} Plane;

typedef struct Planes
{
	Plane		plane[MAX_PLANES];
	unsigned	n;
	bool		has_tail;
	const uint8_t *tail;
	uint64_t	ntail;			/* counters that fit into it */
} Planes;

/*
 * Finds the planes and the tail of a packed payload, which may be anything; false if they do not
 * fit it, and then the planes are those that do.
 */
extern bool bf_counting_find_planes(const BfView *view, Planes *planes);

/*
 * One counter of a packed filter that has planes.  SATURATED where the payload does not have it:
 * too high a counter says "maybe".
 */
extern unsigned bf_counting_packed_counter(const Planes *planes, uint64_t at);

/* ---- reading either form ---- */

/* Words of counters that are read or written together: as many as a word of plane 1 stands for. */
#define GROUP	4

/* Goes through the counters of a filter, in order. */
typedef struct Reader Reader;

struct Reader
{
	const BfView *view;
	uint64_t	words;			/* of the loose form */
	uint64_t	done;			/* of these, how many have been read */

	/* Reads the next words, GROUP of them or what is left, and returns how many. */
	unsigned	(*read) (Reader *reader, uint64_t *counters);

	/* for the packed form */
	Planes		planes;
	uint64_t	at[MAX_PLANES];	/* the next bit of each plane */
	uint64_t	at_tail;		/* the next counter of the tail */
};

extern void bf_counting_open_reader(Reader *reader, const BfView *view);

/* ---- members of BfKind ---- */

extern void bf_counting_loosen_plan(const BfHeader *packed, BfHeader *loose);
extern void bf_counting_loosen(const BfPort *port, const BfHeader *loose, uint8_t *out,
							   const BfView *packed);
extern void bf_counting_pack_plan(const BfPort *port, const BfView *loose, BfHeader *packed);
extern void bf_counting_pack(const BfPort *port, const BfHeader *packed, uint8_t *out,
							 const BfView *loose);

/* BfKind.check for what is special to a packed filter's header, and BfKind.validate for it. */
extern const char *bf_counting_check_packed(const BfHeader *head);
extern const char *bf_counting_validate_packed(const BfPort *port, const BfView *view);

#endif							/* KIND_COUNTING_PACKED_H */
