/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_parquet.h
 *	  The header that a Parquet file has before the bitset of a Bloom filter: BloomFilterHeader,
 *	  in Thrift's compact protocol.
 *
 *		15 <length of the bitset: zigzag varint>	field 1, i32: numBytes
 *		1c 1c 00 00								field 2, union: algorithm, field 1: BLOCK
 *		1c 1c 00 00								field 3, union: hash, field 1: XXHASH
 *		1c 1c 00 00								field 4, union: compression, field 1: UNCOMPRESSED
 *		00										end
 *
 * That is how all known writers have it.  A field's number may also be written out (05 02 ... for
 * 15 ...), and the order is free.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PARQUET_H
#define BF_PARQUET_H

#include <stddef.h>
#include <stdint.h>

/* A block of the bitset, in bytes. */
#define BF_PARQUET_BLOCK		32

/* The longest header that is written: 14 bytes, and up to 5 for a length below 2^31. */
#define BF_PARQUET_MAX_HEADER	19

/*
 * bf_parquet_read_header: where the bitset begins in untrusted bytes, which must end with it.
 *
 * Returns NULL, or the reason why the bytes are no Bloom filter of Parquet's, a constant string.
 * Then len - *offset is a positive multiple of BF_PARQUET_BLOCK.  Time: constant.
 */
extern const char *bf_parquet_read_header(const uint8_t *bytes, size_t len, size_t *offset);

/*
 * bf_parquet_write_header: writes the header for a bitset of so many bytes, below 2^31; returns
 * the header's length.
 */
extern size_t bf_parquet_write_header(uint8_t *header, uint32_t bitset_len);

#endif							/* BF_PARQUET_H */
