/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_format.h
 *	  The stored form: a header that every kind shares, then the payload.
 *
 * docs/format.md describes it byte by byte.  All integers are little-endian whatever the machine,
 * there is no padding by a compiler, and reserved bytes are zero.  "data" here is what follows
 * the 4 bytes of length that PostgreSQL puts before any such value; the payload starts at a
 * multiple of 8 from the beginning of those 4 bytes.
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

/* Where the fields are. */
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
 * No header, family name and padding included, is longer than this: a prefix of so many bytes can
 * always be opened.
 */
#define BF_MAX_HEADER_SIZE		344

/* Where the payload starts within data, for a family name of so many bytes. */
static inline uint64_t
bf_payload_offset(uint32_t family_len)
{
	/* data itself starts at 4 (mod 8) */
	return (((uint64_t) 4 + BF_FIXED_HEADER_SIZE + family_len + 7) & ~(uint64_t) 7) - 4;
}

/* The length of data for a value with this header. */
static inline uint64_t
bf_data_size(const BfHeader *head)
{
	return bf_payload_offset(head->family_len) + head->payload_len;
}

/*
 * bf_open: reads and checks the header of untrusted bytes, in constant time.
 *
 * Of a value of total bytes, the first avail are given.  They must include the header, for which
 * BF_MAX_HEADER_SIZE always suffices; if they are all, the view also gets the payload.  Returns
 * BF_OK, or BF_CORRUPT with *reason, a constant string.  The checksum is not verified.
 */
extern BfStatus bf_open(const void *data, size_t avail, size_t total, BfView *view,
						const char **reason);

/*
 * bf_validate: checks all of a value that came from outside, its checksum included.
 *
 * BF_OK means that the value is well formed, and can be probed, changed, combined, folded and
 * measured in safety.  Time: about that of reading it twice.
 */
extern BfStatus bf_validate(const BfPort *port, const void *data, size_t len, BfView *view,
							const char **reason);

/*
 * bf_write_header: writes the header into data, zeroing the padding; the payload, at
 * bf_payload_offset(), is left alone.
 */
extern void bf_write_header(void *data, const BfHeader *head);

/* bf_seal: computes the checksum of a finished value and stores it. */
extern void bf_seal(const BfPort *port, void *data, size_t len);

#endif							/* BF_FORMAT_H */
