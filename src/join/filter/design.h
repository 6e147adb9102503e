/*-------------------------------------------------------------------------
 *
 * design.h
 *	  What a join's filter is made of, which form it has, how large it is, and how it is filled.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DESIGN_H
#define BLOOMFAM_JOIN_DESIGN_H

#include "core/bf.h"
#include "core/bf_format.h"

#define JOIN_FILTER_KIND		BF_KIND_BLOCKED

/* The keys with which collecting begins, whatever the limits. */
#define JOIN_FIRST_KEYS	1024

/* What is collected of keys until their number is known. */
typedef enum JoinCollects
{
	JOIN_COLLECTS_HASHES,
	JOIN_COLLECTS_NUMBERS,		/* the keys are integers: these, and their bounds */
	JOIN_COLLECTS_BITS,			/* ... there were too many: a bit for each but those that came last,
								 * which are as they are */
	JOIN_COLLECTS_BOUNDS		/* ... they lie too far apart for that: their bounds alone */
} JoinCollects;

typedef struct JoinCollected
{
	JoinCollects what;
	uint64	   *values;			/* not of bounds */
	uint64		n;
	uint64		room;			/* for so many */
	int64		smallest;		/* of all numbers; greater than the largest if there are none */
	int64		largest;

	/* of bits: a bitmap of those that are not among the values any more */
	uint64	   *words;
	uint64		earlier;		/* how many they were */
	int64		first;			/* that a bit stands for, and */
	uint64		span;			/* ... by how much the last one is larger */
} JoinCollected;

/* The form of a filter. */
typedef enum JoinForm
{
	JOIN_FORM_BLOOM,
	JOIN_FORM_BITMAP,			/* of numbers that lie close together: a bit each; never wrong */
	JOIN_FORM_RANGE				/* of too many numbers: all from the smallest to the largest */
} JoinForm;

/* All that there is to say of a filter but its bytes; without pointers that matter elsewhere. */
typedef struct JoinDesign
{
	JoinForm	form;
	Size		size;			/* of the payload, in bytes; 0: there is none */
	BfHeader	head;			/* of a Bloom filter */
	int64		first;			/* of the other forms: the smallest number */
	uint64		span;			/* ... and by how much the largest is larger */
} JoinDesign;

/* Begins to collect hashes, or numbers. */
extern void bloomfam_join_collect(JoinCollected *collected, JoinCollects what);

/*
 * Puts numbers that were collected into a bitmap, in this context, and makes room for more; false
 * if it would be larger than a filter may be, or they are none: nothing has changed then.
 */
extern bool bloomfam_join_collect_bits(JoinCollected *collected, MemoryContext context);

/*
 * There were too many: their values are not collected any longer.  Returns whether anything is
 * left to collect.
 */
extern bool bloomfam_join_collect_less(JoinCollected *collected);

/* The number of keys that both they and the Bloom filter of them have room for. */
extern uint64 bloomfam_join_design_most(void);

/* Has a bitmap of numbers room for those that are at most so far apart, however many they are? */
extern bool bloomfam_join_design_has_bits(double span);

/* The bytes of a Bloom filter of so many keys. */
extern double bloomfam_join_design_bytes(double nkeys);

/*
 * The design of a filter of so many keys, of which this was collected; false if there is none.
 */
extern bool bloomfam_join_design_plan(const JoinCollected *collected, uint64 nkeys,
									  JoinDesign *design);

/* Begins a payload, as long as the design says: it then contains nothing. */
extern void bloomfam_join_design_clear(const JoinDesign *design, uint8 *payload);

/*
 * Adds collected values to a payload; answers interrupts.  They are not what they were
 * afterwards, as numbers become hashes.
 */
extern void bloomfam_join_design_fill(const JoinDesign *design, JoinCollects what, uint8 *payload,
									  uint64 *values, uint64 n);

/* How many times longer a probe of a filter of so many bytes takes than one in the cache. */
extern double bloomfam_join_waiting(double bytes);

#endif							/* BLOOMFAM_JOIN_DESIGN_H */
