/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_values.h
 *	  Private to the library: single values of a column of keys, of any layout.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_VALUES_H
#define BF_LIB_COLUMN_VALUES_H

#include "client/lib/key.h"

/* A number of the machine's own order, at any address. */
#define BF_LOAD(type, values, i) \
	__extension__({ \
		type		value_; \
		memcpy(&value_, (const char *) (values) + (i) * sizeof(type), sizeof(type)); \
		value_; \
	})

static inline bool
bf_bit_is_set(const uint8_t *bits, size_t i)
{
	return bits[i / 8] >> (i % 8) & 1;
}

/* Is value i of a column, counted from the arrays' beginning, NULL? */
static inline bool
bf_is_null(const BloomfamColumn *column, size_t i)
{
	return column->all_null ||
		   (column->validity != NULL && !bf_bit_is_set(column->validity, i)) ||
		   (column->nulls != NULL && column->nulls[i] != 0) ||
		   (column->layout == BLOOMFAM_PIECES && column->dictionary == NULL &&
			BF_LOAD(BloomfamPiece, column->values, i).bytes == NULL);
}

/* Loads an integer of any layout; BLOOMFAM_IMPOSSIBLE, and a reason, if it is out of bigint. */
static inline BloomfamAnswer
bf_load_integer(const BloomfamColumn *column, size_t i, int64_t *value, const char **reason)
{
	const void *values = column->values;
	uint64_t	large;

	switch (column->layout)
	{
		case BLOOMFAM_INT8:
			*value = BF_LOAD(int8_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT16:
			*value = BF_LOAD(int16_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT32:
			*value = BF_LOAD(int32_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_INT64:
			*value = BF_LOAD(int64_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT8:
			*value = BF_LOAD(uint8_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT16:
			*value = BF_LOAD(uint16_t, values, i);
			return BLOOMFAM_ABSENT;
		case BLOOMFAM_UINT32:
			*value = BF_LOAD(uint32_t, values, i);
			return BLOOMFAM_ABSENT;
		default:
			large = BF_LOAD(uint64_t, values, i);
			*value = (int64_t) large;
			if (large <= INT64_MAX)
				return BLOOMFAM_ABSENT;
			*reason = "it is out of the range of bigint";
			return BLOOMFAM_IMPOSSIBLE;
	}
}

/* Arrow's view: of up to 12 bytes, these; of more, the first four of them, a buffer, an offset. */
static inline bool
bf_load_view(const BloomfamColumn *column, size_t i, BfString *string)
{
	const char *view = (const char *) column->values + 16 * i;
	int32_t		len = BF_LOAD(int32_t, view, 0);
	int32_t		buffer = BF_LOAD(int32_t, view, 2);
	int32_t		offset = BF_LOAD(int32_t, view, 3);

	if (len < 0)
		return false;
	string->len = (size_t) len;
	string->bytes = view + 4;
	if (len <= 12)
		return true;
	if (buffer < 0 || (size_t) buffer >= column->nbuffers || offset < 0 ||
		(int64_t) offset + len > column->buffer_lens[buffer])
		return false;
	string->bytes = (const char *) column->buffers[buffer] + offset;
	return true;
}

/*
 * Loads the bytes of a value of any layout.  Returns false where its offsets are none, or lie
 * beyond end_of_values, where the last value ends.
 */
static inline bool
bf_load_string(const BloomfamColumn *column, int64_t end_of_values, size_t i, BfString *string)
{
	BloomfamPiece piece;
	int64_t		begin;
	int64_t		end;

	switch (column->layout)
	{
		case BLOOMFAM_FIXED:
			string->len = (size_t) column->width;
			/* of values without bytes there may be no array */
			string->bytes = column->width > 0
								? (const char *) column->values + i * string->len
								: "";
			return true;
		case BLOOMFAM_OFFSETS32:
			begin = BF_LOAD(int32_t, column->offsets, i);
			end = BF_LOAD(int32_t, column->offsets, i + 1);
			break;
		case BLOOMFAM_OFFSETS64:
			begin = BF_LOAD(int64_t, column->offsets, i);
			end = BF_LOAD(int64_t, column->offsets, i + 1);
			break;
		case BLOOMFAM_VIEWS:
			return bf_load_view(column, i, string);
		default:
			piece = BF_LOAD(BloomfamPiece, column->values, i);
			string->bytes = piece.bytes;
			string->len = piece.len;
			return true;
	}
	if (begin < 0 || end < begin || end > end_of_values)
		return false;
	string->len = (size_t) (end - begin);
	/* of an empty column there may be no bytes at all */
	string->bytes = string->len > 0 ? (const char *) column->values + begin : "";
	return true;
}

#endif							/* BF_LIB_COLUMN_VALUES_H */
