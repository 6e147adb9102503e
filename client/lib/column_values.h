/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_values.h
 *	  Private to the library: single values of a column of keys, in any layout.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_COLUMN_VALUES_H
#define BF_LIB_COLUMN_VALUES_H

#include "client/lib/key.h"

/* Loads value i of an array of numbers in the machine's byte order, at any alignment. */
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

/*
 * Returns whether value i of a column is NULL; i counts from the beginning of the column's arrays.
 */
static inline bool
bf_is_null(const BloomfamColumn *column, size_t i)
{
	return column->all_null ||
		   (column->validity != NULL && !bf_bit_is_set(column->validity, i)) ||
		   (column->nulls != NULL && column->nulls[i] != 0) ||
		   (column->layout == BLOOMFAM_PIECES && column->dictionary == NULL &&
			BF_LOAD(BloomfamPiece, column->values, i).bytes == NULL);
}

/*
 * Loads an integer of any integer layout.  Returns BLOOMFAM_IMPOSSIBLE, with a reason, if the
 * integer is beyond bigint.
 */
extern BloomfamAnswer bf_load_integer(const BloomfamColumn *column, size_t i, int64_t *value,
									  const char **reason);

/*
 * Loads the bytes of a value in Arrow's view layout.  Returns false if the value does not lie
 * within a buffer.
 */
extern bool bf_load_view(const BloomfamColumn *column, size_t i, BfString *string);

/*
 * Loads the bytes of value i of any layout of strings.  Returns false if the value's offsets are
 * invalid, or lie beyond end_of_values, the offset at which the last value ends.
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
			/* If all values of a column have width 0, the caller may give no array of values. */
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
	/* If a column's values have no bytes in all, the caller may give no array of values. */
	string->bytes = string->len > 0 ? (const char *) column->values + begin : "";
	return true;
}

#endif							/* BF_LIB_COLUMN_VALUES_H */
