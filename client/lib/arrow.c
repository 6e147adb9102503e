/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * arrow.c
 *	  Arrow's C data interface: an array as a column of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/error.h"

#include <limits.h>

/* A format of Arrow without parameters, and the column that it means. */
typedef struct FormatRow
{
	const char *format;
	BloomfamMeaning meaning;
	BloomfamLayout layout;
	int32_t		scale;
} FormatRow;

static const FormatRow formats[] = {
	{"c", BLOOMFAM_INTEGER, BLOOMFAM_INT8, 0},
	{"C", BLOOMFAM_INTEGER, BLOOMFAM_UINT8, 0},
	{"s", BLOOMFAM_INTEGER, BLOOMFAM_INT16, 0},
	{"S", BLOOMFAM_INTEGER, BLOOMFAM_UINT16, 0},
	{"i", BLOOMFAM_INTEGER, BLOOMFAM_INT32, 0},
	{"I", BLOOMFAM_INTEGER, BLOOMFAM_UINT32, 0},
	{"l", BLOOMFAM_INTEGER, BLOOMFAM_INT64, 0},
	{"L", BLOOMFAM_INTEGER, BLOOMFAM_UINT64, 0},
	{"f", BLOOMFAM_FLOATING, BLOOMFAM_FLOAT32, 0},
	{"g", BLOOMFAM_FLOATING, BLOOMFAM_FLOAT64, 0},
	{"b", BLOOMFAM_BOOLEAN, BLOOMFAM_BITS, 0},
	{"u", BLOOMFAM_TEXT, BLOOMFAM_OFFSETS32, 0},
	{"U", BLOOMFAM_TEXT, BLOOMFAM_OFFSETS64, 0},
	{"vu", BLOOMFAM_TEXT, BLOOMFAM_VIEWS, 0},
	{"z", BLOOMFAM_BYTES, BLOOMFAM_OFFSETS32, 0},
	{"Z", BLOOMFAM_BYTES, BLOOMFAM_OFFSETS64, 0},
	{"vz", BLOOMFAM_BYTES, BLOOMFAM_VIEWS, 0},
	{"tdD", BLOOMFAM_DATE, BLOOMFAM_INT32, 0},
	{"tdm", BLOOMFAM_DATE, BLOOMFAM_INT64, 3},
	{"tts", BLOOMFAM_TIME, BLOOMFAM_INT32, 0},
	{"ttm", BLOOMFAM_TIME, BLOOMFAM_INT32, 3},
	{"ttu", BLOOMFAM_TIME, BLOOMFAM_INT64, 6},
	{"ttn", BLOOMFAM_TIME, BLOOMFAM_INT64, 9},
	{"tss:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 0},
	{"tsm:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 3},
	{"tsu:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 6},
	{"tsn:", BLOOMFAM_TIMESTAMP, BLOOMFAM_INT64, 9},
	{"tDs", BLOOMFAM_DURATION, BLOOMFAM_INT64, 0},
	{"tDm", BLOOMFAM_DURATION, BLOOMFAM_INT64, 3},
	{"tDu", BLOOMFAM_DURATION, BLOOMFAM_INT64, 6},
	{"tDn", BLOOMFAM_DURATION, BLOOMFAM_INT64, 9},
};

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

/*
 * Reads a number of up to six digits, perhaps negative.  Returns the position after it; NULL if
 * there is no number.
 */
static const char *
read_number(const char *p, int32_t *value)
{
	bool		negative = *p == '-';
	int			digits;

	p += negative;
	*value = 0;
	for (digits = 0; digits < 6 && p[digits] >= '0' && p[digits] <= '9'; digits++)
		*value = *value * 10 + (p[digits] - '0');
	if (negative)
		*value = -*value;
	return digits > 0 ? p + digits : NULL;
}

/* Reads a format with a size: w:N, d:P,S or d:P,S,128.  Returns false for any other format. */
static bool
parse_sized(const char *format, BloomfamColumn *column)
{
	const char *p = format + 2;
	int32_t		number;

	if (strncmp(format, "w:", 2) == 0)
	{
		column->meaning = BLOOMFAM_BYTES;
		column->layout = BLOOMFAM_FIXED;
		p = read_number(p, &column->width);
		return p != NULL && *p == '\0' && column->width >= 0;
	}
	if (strncmp(format, "d:", 2) != 0)
		return false;
	column->meaning = BLOOMFAM_DECIMAL;
	column->layout = BLOOMFAM_INT128;
	p = read_number(p, &number);
	if (p == NULL || *p != ',')
		return false;
	p = read_number(p + 1, &column->scale);
	return p != NULL && (*p == '\0' || strcmp(p, ",128") == 0);
}

static bool
parse_format(const char *format, BloomfamColumn *column)
{
	size_t		i;

	for (i = 0; i < FORMATS; i++)
	{
		const char *row = formats[i].format;
		bool		is_timestamp = formats[i].meaning == BLOOMFAM_TIMESTAMP;

		/*
		 * In the format of an Arrow timestamp, a time zone may follow the colon, so only the
		 * beginning is compared.
		 */
		if (is_timestamp ? strncmp(format, row, strlen(row)) != 0 : strcmp(format, row) != 0)
			continue;
		column->meaning = formats[i].meaning;
		column->layout = formats[i].layout;
		column->scale = formats[i].scale;
		if (is_timestamp && format[strlen(row)] != '\0')
			column->meaning = BLOOMFAM_TIMESTAMPTZ;
		return true;
	}
	return parse_sized(format, column);
}

static BloomfamStatus
no_array(BloomfamError *error, const char *why)
{
	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "invalid Arrow array");
	bf_detail(error, "Reason: %s.", why);
	return BLOOMFAM_BAD_ARGUMENT;
}

/*
 * Points a column to an Arrow array's buffers: the first buffer is the validity bitmap, and the
 * buffers of values and offsets follow.
 */
static BloomfamStatus
set_buffers(const struct ArrowArray *array, BloomfamColumn *column, BloomfamError *error)
{
	bool		has_offsets =
		column->layout == BLOOMFAM_OFFSETS32 || column->layout == BLOOMFAM_OFFSETS64;

	if (array->release == NULL)
		return no_array(error, "it is released");
	if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX - array->length)
		return no_array(error, "its length or offset is negative");
	if ((uint64_t) (array->offset + array->length) > SIZE_MAX / 16 - 1)
		return no_array(error, "it is longer than memory");
	if (array->n_buffers < (has_offsets ? 3 : 2) || array->buffers == NULL ||
		(array->n_buffers > (has_offsets ? 3 : 2) && column->layout != BLOOMFAM_VIEWS))
		return no_array(error, "it has another number of buffers than its format");
	column->n = (size_t) array->length;
	column->first = (size_t) array->offset;
	column->validity = array->null_count == 0 ? NULL : array->buffers[0];
	column->values = array->buffers[has_offsets ? 2 : 1];
	if (has_offsets)
		column->offsets = array->buffers[1];
	if (column->layout == BLOOMFAM_VIEWS)
	{
		/*
		 * The data buffers of an array of views lie between the views and the buffers' lengths,
		 * which come last.
		 */
		column->nbuffers = (size_t) array->n_buffers - 3;
		column->buffers = array->n_buffers > 3 ? (const void *const *) array->buffers + 2 : NULL;
		column->buffer_lens = array->buffers[array->n_buffers - 1];
		if (array->n_buffers < 3)
			return no_array(error, "it has another number of buffers than its format");
	}
	return BLOOMFAM_OK;
}

static BloomfamStatus
read_array(const struct ArrowSchema *schema, const struct ArrowArray *array,
		   BloomfamColumn *column, BloomfamError *error)
{
	memset(column, 0, sizeof(*column));
	if (schema->release == NULL || schema->format == NULL)
		return no_array(error, "its schema is released");
	if (strcmp(schema->format, "n") == 0)
	{
		/* An array of format "n" has no buffers.  Its keys are all NULL, which any type has. */
		if (array->length < 0)
			return no_array(error, "its length is negative");
		column->meaning = BLOOMFAM_WRITTEN;
		column->layout = BLOOMFAM_FIXED;
		column->all_null = true;
		column->n = (size_t) array->length;
		return BLOOMFAM_OK;
	}
	if (!parse_format(schema->format, column))
	{
		(void) bf_fail(error, BLOOMFAM_WRONG_TYPE, "Arrow format \"%s\" is of no type of keys",
					   schema->format);
		return BLOOMFAM_WRONG_TYPE;
	}
	return set_buffers(array, column, error);
}

BloomfamStatus
bloomfam_arrow(const struct ArrowSchema *schema, const struct ArrowArray *array,
			   BloomfamColumn columns[2], BloomfamError *error)
{
	BloomfamStatus status;

	memset(&columns[1], 0, sizeof(columns[1]));
	status = read_array(schema, array, &columns[0], error);
	if (status != BLOOMFAM_OK || schema->dictionary == NULL)
		return status;
	if (array->dictionary == NULL)
		return no_array(error, "it has no dictionary, but its schema has");
	if (columns[0].meaning != BLOOMFAM_INTEGER)
		return no_array(error, "the indices into its dictionary are no integers");
	if (schema->dictionary->dictionary != NULL)
		return no_array(error, "its dictionary has a dictionary");
	status = read_array(schema->dictionary, array->dictionary, &columns[1], error);
	columns[0].dictionary = &columns[1];
	return status;
}
