/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_parquet.c
 *	  Reading and writing of the header of Parquet's Bloom filters; see bf_parquet.h.
 *
 * Sources: Apache Parquet, parquet.thrift and BloomFilter.md; Apache Thrift,
 * thrift-compact-protocol.md.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_parquet.h"

#include "bf_int.h"

/* Types of fields in Thrift's compact protocol, and the byte that ends a struct. */
#define TYPE_I32		5
#define TYPE_STRUCT		12
#define STOP			0

/* The number of the field numBytes in the header's Thrift struct. */
#define NUM_BYTES		1
#define LAST_FIELD		4

static const char too_short[] = "the header is incomplete";
static const char not_a_header[] =
	"the bytes do not begin with the header of a Parquet Bloom filter";

/* The bytes that are still to be read.  The first fault is kept; after it, reads return zeros. */
typedef struct Reader
{
	const uint8_t *next;
	const uint8_t *end;
	const char *fault;
} Reader;

static uint8_t
read_byte(Reader *reader)
{
	if (reader->next == reader->end && reader->fault == NULL)
		reader->fault = too_short;
	return reader->fault != NULL ? 0 : *reader->next++;
}

/*
 * Reads a signed 32-bit number, as the compact protocol writes it: 7 bits per byte, the lowest bits
 * first, and the high bit of a byte is set if another byte follows.  The encoded number has its
 * sign in the lowest bit (zigzag): 0, -1, 1, -2 are encoded as 0, 1, 2, 3.
 */
static int32_t
read_i32(Reader *reader)
{
	uint64_t	value = 0;
	unsigned	shift;
	uint8_t		byte = 0x80;

	for (shift = 0; shift < 35 && (byte & 0x80); shift += 7)
	{
		byte = read_byte(reader);
		value |= (uint64_t) (byte & 0x7f) << shift;
	}
	if (((byte & 0x80) || value > UINT32_MAX) && reader->fault == NULL)
		reader->fault = not_a_header;
	return (int32_t) ((uint32_t) value >> 1 ^ -((uint32_t) value & 1));
}

/* Reads the number and the type of the next field; returns false at the end of the struct. */
static bool
read_field(Reader *reader, int32_t *field, unsigned *type)
{
	uint8_t		byte = read_byte(reader);

	*type = byte & 0x0f;
	if (byte == STOP)
		return false;
	*field = byte >> 4 != 0 ? *field + (byte >> 4) : read_i32(reader);
	return true;
}

/*
 * Reads a union whose first member, an empty struct, is the only one that is supported.  If the
 * union has another member, other becomes the reader's fault.
 */
static void
read_union(Reader *reader, const char *other)
{
	int32_t		field = 0;
	unsigned	type;

	if (!read_field(reader, &field, &type) || type != TYPE_STRUCT)
		other = not_a_header;
	else if (field == 1)
		other = read_byte(reader) == STOP && read_byte(reader) == STOP ? NULL : not_a_header;
	if (reader->fault == NULL)
		reader->fault = other;
}

const char *
bf_parquet_read_header(const uint8_t *bytes, size_t len, size_t *offset)
{
	static const char *const other[LAST_FIELD + 1] = {
		NULL, NULL,
		"the algorithm of the filter is not BLOCK",
		"the hash of the filter is not XXHASH",
		"the compression of the filter is not UNCOMPRESSED"
	};
	Reader		reader = {bytes, bytes + len, NULL};
	int32_t		num_bytes = 0;
	unsigned	seen = 0;		/* The fields that have been read, a bit for each. */
	int32_t		field = 0;
	unsigned	type;

	while (read_field(&reader, &field, &type))
	{
		if (reader.fault == NULL &&
			(field < NUM_BYTES || field > LAST_FIELD || (seen & 1u << field) ||
			 type != (field == NUM_BYTES ? TYPE_I32 : TYPE_STRUCT)))
			reader.fault = not_a_header;
		if (reader.fault != NULL)
			return reader.fault;
		seen |= 1u << field;
		if (field == NUM_BYTES)
			num_bytes = read_i32(&reader);
		else
			read_union(&reader, other[field]);
	}
	if (reader.fault != NULL)
		return reader.fault;
	/* All of the fields 1 to 4 must have been read. */
	if (seen != (1u << (LAST_FIELD + 1)) - 2)
		return not_a_header;
	if (num_bytes <= 0 || num_bytes % BF_PARQUET_BLOCK != 0)
		return "the length of the bitset is not a positive multiple of 32";
	*offset = (size_t) (reader.next - bytes);
	if ((size_t) num_bytes != len - *offset)
		return "the bitset does not have the length that its header says";
	return NULL;
}

size_t
bf_parquet_write_header(uint8_t *header, uint32_t bitset_len)
{
	/*
	 * The bytes of fields 2 to 4.  Each field is a union, which is written as a struct (0x1c: the
	 * next field number, TYPE_STRUCT).  Its first member is a struct without fields.  A STOP byte
	 * ends each of the two.
	 */
	static const uint8_t unions[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, STOP};
	uint32_t	zigzag = bitset_len << 1;
	size_t		len = 0;

	header[len++] = 0x10 | TYPE_I32;
	for (; zigzag >= 0x80; zigzag >>= 7)
		header[len++] = (uint8_t) (zigzag | 0x80);
	header[len++] = (uint8_t) zigzag;
	memcpy(header + len, unions, sizeof(unions));
	return len + sizeof(unions);
}
