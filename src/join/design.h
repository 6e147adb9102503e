/*-------------------------------------------------------------------------
 *
 * design.h
 *	  How large a join's filter is, and how it is filled.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_DESIGN_H
#define BLOOMFAM_JOIN_DESIGN_H

#include "core/bf.h"
#include "core/bf_format.h"

#define JOIN_FILTER_KIND		BF_KIND_BLOCKED

/* The hashes with which collecting begins, whatever the limits. */
#define JOIN_FIRST_HASHES	1024

/* Hashes that are being collected. */
typedef struct JoinHashes
{
	uint64	   *values;
	uint64		n;
	uint64		room;			/* for so many */
} JoinHashes;

/* The number of hashes that both they and the filter of them have room for. */
extern uint64 bloomfam_join_design_most(void);

/* The bytes of a filter of so many hashes. */
extern double bloomfam_join_design_bytes(double nhashes);

/* The header of a filter of so many hashes; false if there is none. */
extern bool bloomfam_join_design_plan(uint64 nhashes, BfHeader *head);

/* Begins a payload, as long as its header says: it then contains nothing. */
extern void bloomfam_join_design_clear(const BfHeader *head, uint8 *payload);

/* Adds hashes to a payload; answers interrupts. */
extern void bloomfam_join_design_fill(const BfHeader *head, uint8 *payload, const uint64 *hashes,
									  uint64 n);

#endif							/* BLOOMFAM_JOIN_DESIGN_H */
