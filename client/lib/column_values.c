/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column_values.c
 *	  Single values of a column of keys, of any layout: those that take more than a line or two.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column_values.h"

BloomfamAnswer
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

/*
 * A view begins with the value's length.  A value of up to 12 bytes follows within the view itself.
 * For a longer value, the view has the first four bytes, the number of a buffer, and an offset in
 * it.
 */
bool
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
