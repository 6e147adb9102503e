/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_parquet.h
 *	  The header that precedes the bitset of a Bloom filter in a Parquet file: BloomFilterHeader, in
 *	  Thrift's compact protocol.
 *
 *		15 <length of the bitset: zigzag varint>	field 1, i32: numBytes
 *		1c 1c 00 00								field 2, union: algorithm, field 1: BLOCK
 *		1c 1c 00 00								field 3, union: hash, field 1: XXHASH
 *		1c 1c 00 00								field 4, union: compression, field 1: UNCOMPRESSED
 *		00										end
 *
 * All known writers write the header in this way.  The protocol allows a field's number to be
 * written out, too (05 02 ... for 15 ...), and the fields to be in any order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PARQUET_H
#define BF_PARQUET_H

#include <stddef.h>
#include <stdint.h>

/* The size of a block of the bitset, in bytes. */
#define BF_PARQUET_BLOCK		32

/*
 * The length in bytes of the longest header that is written: 14 bytes, and up to 5 for a bitset's
 * length below 2^31.
 */
#define BF_PARQUET_MAX_HEADER	19

/*
 * Finds out where the bitset begins in untrusted bytes, which must end with the bitset, and stores
 * its offset in *offset.
 *
 * Returns NULL, or the reason why the bytes are not a Bloom filter of Parquet's, as a constant
 * string.  On success, len - *offset is a positive multiple of BF_PARQUET_BLOCK.  Takes constant
 * time.
 */
extern const char *bf_parquet_read_header(const uint8_t *bytes, size_t len, size_t *offset);

/*
 * Writes the header for a bitset of bitset_len bytes, which is below 2^31, and returns the header's
 * length. header must have room for BF_PARQUET_MAX_HEADER bytes.
 */
extern size_t bf_parquet_write_header(uint8_t *header, uint32_t bitset_len);

#endif							/* BF_PARQUET_H */
