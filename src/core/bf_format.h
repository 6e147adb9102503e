/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_format.h
 *	  The stored form of a filter: a header that all kinds share, followed by the payload.
 *
 * docs/format.md describes the form byte by byte.  All integers are little-endian on every machine,
 * no compiler adds padding, and reserved bytes are zero.  In this file, "data" is what follows the
 * 4 bytes of length that PostgreSQL puts before any value of variable length; the payload starts at
 * a multiple of 8 from the beginning of those 4 bytes.
 *
 *	offset	size
 *	0		4		magic "bfam"
 *	4		1		format version, 1
 *	5		1		kind (BfKindId)
 *	6		1		hash (BfHashId)
 *	7		1		flags, 0
 *	8		4		checksum: low half of XXH3 over all of data, these 4 bytes taken as zero
 *	12		2		length of the family's name
 *	14		2		reserved, 0
 *	16		8		seed of the hash, 0
 *	24		8		family id
 *	32		8		capacity
 *	40		8		keys added
 *	48		8		target FPR, IEEE 754
 *	56		8		payload length
 *	64		16		the kind's parameters, 4 integers of 4 bytes
 *	80		..		the family's name, then zeros up to the payload
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_FORMAT_H
#define BF_FORMAT_H

#include "bf.h"

#define BF_FORMAT_VERSION		1
#define BF_FIXED_HEADER_SIZE	80

/* Offsets of the header's fields within data, in bytes. */
#define BF_OFF_VERSION		4
#define BF_OFF_KIND			5
#define BF_OFF_HASH			6
#define BF_OFF_FLAGS		7
#define BF_OFF_CHECKSUM		8
#define BF_OFF_FAMILY_LEN	12
#define BF_OFF_RESERVED		14
#define BF_OFF_SEED			16
#define BF_OFF_FAMILY_ID	24
#define BF_OFF_CAPACITY		32
#define BF_OFF_KEYS_ADDED	40
#define BF_OFF_FPR			48
#define BF_OFF_PAYLOAD_LEN	56
#define BF_OFF_PARAM		64

/*
 * The largest length of a header in bytes, including the family's name and padding.  A prefix of a
 * value that has this length can always be opened.
 */
#define BF_MAX_HEADER_SIZE		344

/* Returns the offset of the payload within data, for a family's name of family_len bytes. */
static inline uint64_t
bf_payload_offset(uint32_t family_len)
{
	/*
	 * The address of data is 4 modulo 8, as PostgreSQL's length word of 4 bytes precedes it; the
	 * payload is aligned to 8 bytes.
	 */
	return (((uint64_t) 4 + BF_FIXED_HEADER_SIZE + family_len + 7) & ~(uint64_t) 7) - 4;
}

/* Returns the length of data for a value with this header. */
static inline uint64_t
bf_data_size(const BfHeader *head)
{
	return bf_payload_offset(head->family_len) + head->payload_len;
}

/*
 * Reads and checks the header of untrusted bytes, in constant time.
 *
 * data holds the first avail bytes of a value of total bytes.  They must include the header, for
 * which BF_MAX_HEADER_SIZE bytes always suffice; if avail equals total, the view also gets the
 * payload.  Returns BF_OK, or BF_CORRUPT with *reason set to a constant string.  The checksum is
 * not verified.
 */
extern BfStatus bf_open(const void *data, size_t avail, size_t total, BfView *view,
						const char **reason);

/*
 * Checks all of a value that came from outside, including its checksum.
 *
 * Returns BF_OK if the value is well formed, and can be probed, changed, combined, folded and
 * measured in safety; else BF_CORRUPT with *reason set.  Takes about the time of reading the value
 * twice.
 */
extern BfStatus bf_validate(const BfPort *port, const void *data, size_t len, BfView *view,
							const char **reason);

/*
 * Writes the header into data, and zeroes the padding after the family's name.  The payload, at
 * bf_payload_offset(), is left alone.
 */
extern void bf_write_header(void *data, const BfHeader *head);

/* Computes the checksum of a finished value and stores it in the value's header. */
extern void bf_seal(const BfPort *port, void *data, size_t len);

#endif							/* BF_FORMAT_H */
