/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.c
 *	  Columns of keys: lists, and buffers of one dimension.
 *
 * A buffer of contiguous numbers in the machine's byte order is passed to the library directly.
 * Items of any other buffer are first copied, in chunks of a limited number.
 *
 *-------------------------------------------------------------------------
 */
#include "column.h"

#include <math.h>

#include "object.h"

/* ---- lists and tuples ---- */

/* A mask of NULLs: a one-dimensional array of bools. */
typedef struct Mask
{
	Py_buffer	view;
	bool		is_open;
	const uint8_t *bytes;		/* A byte for each key, not 0 for NULL; NULL: there is no mask. */
} Mask;

static bool
mask_open(Mask *mask, PyObject *object, size_t n)
{
	mask->is_open = false;
	mask->bytes = NULL;
	if (object == Py_None)
		return true;
	if (PyObject_GetBuffer(object, &mask->view, PyBUF_SIMPLE) < 0)
		return false;
	mask->is_open = true;
	if ((size_t) mask->view.len != n)
	{
		PyErr_SetString(PyExc_ValueError, "a mask of another length than its column");
		PyBuffer_Release(&mask->view);
		mask->is_open = false;
		return false;
	}
	mask->bytes = (const uint8_t *) mask->view.buf;
	return true;
}

static void
mask_close(Mask *mask)
{
	if (mask->is_open)
		PyBuffer_Release(&mask->view);
}

/*
 * Appends the objects of a list to a batch.  Reading an item may run code that changes the list.
 * So the reader owns an item while using it, and the list's length is checked again before each
 * item.
 */
static bool
read_list(Batch *batch, PyObject *list, const uint8_t *mask)
{
	Py_ssize_t	n = PyList_Size(list);
	Py_ssize_t	i;

	for (i = 0; i < n && i < PyList_Size(list); i++)
	{
		if (mask != NULL && mask[i])
		{
			if (!batch_null(batch))
				return false;
		}
		else if (!batch->read(batch, PyList_GetItem(list, i)))
			return false;
	}
	if (PyList_Size(list) != n)
	{
		PyErr_SetString(PyExc_RuntimeError, "the list was changed while it was read");
		return false;
	}
	return true;
}

static bool
read_tuple(Batch *batch, PyObject *tuple)
{
	Py_ssize_t	n = PyTuple_Size(tuple);
	Py_ssize_t	i;

	for (i = 0; i < n; i++)
	{
		if (!batch->read(batch, PyTuple_GetItem(tuple, i)))
			return false;
	}
	return true;
}

/* ---- buffers ---- */

typedef enum ItemClass
{
	ITEM_SIGNED,
	ITEM_UNSIGNED,
	ITEM_FLOAT,
	ITEM_BOOL,
	/* Texts as numpy stores them: each has width code points of four bytes. */
	ITEM_UCS4
} ItemClass;

typedef struct Items
{
	const char *first;
	Py_ssize_t	n;
	Py_ssize_t	stride;
	size_t		size;			/* Size in bytes of an item, or of a code point for ITEM_UCS4. */
	size_t		width;
	ItemClass	of;
	bool		swapped;		/* True if items are not in the machine's byte order. */
	const uint8_t *mask;		/* A byte for each item, not 0 for NULL; NULL: no item is NULL. */
} Items;

/*
 * Reads a format of the Python module struct for a single item.  Returns false, without an
 * exception, if keys cannot have that format.
 */
static bool
read_format(const char *format, Py_ssize_t itemsize, Items *items)
{
	static const uint16_t one = 1;
	bool		little = *(const uint8_t *) &one == 1;
	size_t		width = 0;

	if (format == NULL)
		format = "B";
	items->swapped = (*format == '<' && !little) ||
		((*format == '>' || *format == '!') && little);
	if (strchr("@=<>!", *format) != NULL && *format != '\0')
		format++;
	for (; *format >= '0' && *format <= '9'; format++)
	{
		if (width > (size_t) PY_SSIZE_T_MAX / 100)
			return false;
		width = width * 10 + (size_t) (*format - '0');
	}
	if (*format == '\0' || format[1] != '\0')
		return false;

	items->width = 1;
	items->size = (size_t) itemsize;
	if (*format == 'w')
	{
		items->of = ITEM_UCS4;
		items->size = 4;
		items->width = width > 0 ? width : 1;
		return items->width == (size_t) itemsize / 4 && itemsize % 4 == 0;
	}
	if (width > 1)
		return false;
	if (*format == '?')
	{
		items->of = ITEM_BOOL;
		return itemsize == 1;
	}
	if (strchr("bhilqn", *format) != NULL)
		items->of = ITEM_SIGNED;
	else if (strchr("BHILQN", *format) != NULL)
		items->of = ITEM_UNSIGNED;
	else if (strchr("efd", *format) != NULL)
	{
		items->of = ITEM_FLOAT;
		return itemsize == (*format == 'e' ? 2 : *format == 'f' ? 4 : 8);
	}
	else
		return false;
	return itemsize == 1 || itemsize == 2 || itemsize == 4 || itemsize == 8;
}

static BloomfamLayout
layout_of(const Items *items)
{
	switch (items->of)
	{
		case ITEM_SIGNED:
			return items->size == 1	  ? BLOOMFAM_INT8
				   : items->size == 2 ? BLOOMFAM_INT16
				   : items->size == 4 ? BLOOMFAM_INT32
									  : BLOOMFAM_INT64;
		case ITEM_UNSIGNED:
			return items->size == 1	  ? BLOOMFAM_UINT8
				   : items->size == 2 ? BLOOMFAM_UINT16
				   : items->size == 4 ? BLOOMFAM_UINT32
									  : BLOOMFAM_UINT64;
		case ITEM_FLOAT:
			return items->size == 4 ? BLOOMFAM_FLOAT32 : BLOOMFAM_FLOAT64;
		default:
			return BLOOMFAM_BOOLS;
	}
}

/* Copies item i in the machine's byte order. */
static inline void
copy_item(const Items *items, Py_ssize_t i, uint8_t *out)
{
	const uint8_t *in = (const uint8_t *) items->first + i * items->stride;
	size_t		byte;

	if (!items->swapped)
		memcpy(out, in, items->size);
	else
	{
		for (byte = 0; byte < items->size; byte++)
			out[byte] = in[items->size - 1 - byte];
	}
}

/* Converts a binary16 number to a double, exactly. */
static double
half_to_double(uint16_t half)
{
	int			exponent = (half >> 10) & 31;
	double		fraction = half & 1023;
	double		value;

	if (exponent == 31)
		value = fraction == 0 ? HUGE_VAL : NAN;
	else if (exponent == 0)
		value = ldexp(fraction, -24);
	else
		value = ldexp(fraction + 1024, exponent - 25);
	return (half & 0x8000) != 0 ? -value : value;
}

/* Number of items that are copied at a time. */
#define CHUNK		4096

/* Passes numbers and bools after copying them to a layout that the library takes. */
static bool
pass_copied(Sink *sink, const Items *items, const BloomfamColumn *shape)
{
	BloomfamColumn column = *shape;
	uint8_t		chunk[CHUNK * 8];
	bool		is_half = items->of == ITEM_FLOAT && items->size == 2;
	size_t		size = is_half ? 8 : items->size;
	Py_ssize_t	begin;
	Py_ssize_t	i;

	column.values = chunk;
	for (begin = 0; begin < items->n; begin += CHUNK)
	{
		Py_ssize_t	end = items->n - begin > CHUNK ? begin + CHUNK : items->n;

		for (i = begin; i < end; i++)
		{
			uint8_t    *out = chunk + (size_t) (i - begin) * size;

			if (is_half)
			{
				uint16_t	half;
				double		value;

				copy_item(items, i, (uint8_t *) &half);
				value = half_to_double(half);
				memcpy(out, &value, 8);
			}
			else
				copy_item(items, i, out);
		}
		column.n = (size_t) (end - begin);
		column.nulls = items->mask != NULL ? items->mask + begin : NULL;
		if (!sink_column(sink, &column, true))
			return false;
	}
	return true;
}

static bool
pass_numbers(Sink *sink, const Items *items)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = items->of == ITEM_FLOAT	 ? BLOOMFAM_FLOATING
					 : items->of == ITEM_BOOL ? BLOOMFAM_BOOLEAN
											  : BLOOMFAM_INTEGER;
	column.layout = layout_of(items);
	if (!sink_reserve(sink, (size_t) items->n))
		return false;
	if (items->swapped || (items->n > 1 && items->stride != (Py_ssize_t) items->size) ||
		(items->of == ITEM_FLOAT && items->size == 2))
		return pass_copied(sink, items, &column);
	column.n = (size_t) items->n;
	column.values = items->first;
	column.nulls = items->mask;
	return sink_column(sink, &column, true);
}

/* ---- numpy's timestamps and durations ---- */

typedef struct Unit
{
	const char *name;
	int64_t		times;
	int32_t		scale;
} Unit;

static const Unit units[] = {{"ns", 1, 9},	 {"us", 1, 6},	   {"ms", 1, 3},
							 {"s", 1, 0},	 {"m", 60, 0},	   {"h", 3600, 0},
							 {"D", 86400, 0}, {"W", 604800, 0}};

static const struct
{
	const char *name;
	BloomfamMeaning meaning;
}			countings[] = {{"date", BLOOMFAM_DATE},
						   {"timestamp", BLOOMFAM_TIMESTAMP},
						   {"timestamptz", BLOOMFAM_TIMESTAMPTZ},
						   {"interval", BLOOMFAM_DURATION}};

/*
 * The last microsecond that numpy's datetime64 can represent.  It is passed to the library as a
 * text, because its number means infinity to the library.
 */
#define LAST_MICROSECOND	"294247-01-10 04:00:54.775807"

static bool
read_count(Batch *batch, BloomfamMeaning meaning, const Unit *unit, int64_t count)
{
	bool		is_moment = meaning != BLOOMFAM_DURATION;
	int64_t		number;

	/* INT64_MIN is numpy's NaT ("not a time"), which is treated as NULL. */
	if (count == INT64_MIN)
		return batch_null(batch);
	if (__builtin_mul_overflow(count, unit->times, &number))
		return batch_impossible(batch, PyExc_OverflowError, "the number is out of range");
	if (is_moment && (number == INT64_MAX || number == -INT64_MAX))
	{
		if (number > 0 && unit->scale == 6 && meaning != BLOOMFAM_DATE)
			return meaning == BLOOMFAM_TIMESTAMP
				? batch_piece(batch, BLOOMFAM_WRITTEN, NULL, LAST_MICROSECOND,
							  sizeof(LAST_MICROSECOND) - 1)
				: batch_piece(batch, BLOOMFAM_WRITTEN, NULL, LAST_MICROSECOND "+00",
							  sizeof(LAST_MICROSECOND "+00") - 1);
		return batch_impossible(batch, PyExc_OverflowError, "the number is out of range");
	}
	return batch_number(batch, meaning, unit->scale, number);
}

static bool
read_counts(Batch *batch, const Items *items, const char *counts, const char *unit_name)
{
	const Unit *unit = NULL;
	size_t		counting;
	size_t		u;
	Py_ssize_t	i;

	for (u = 0; u < sizeof(units) / sizeof(units[0]); u++)
	{
		if (strcmp(units[u].name, unit_name) == 0)
			unit = &units[u];
	}
	for (counting = 0; counting < sizeof(countings) / sizeof(countings[0]); counting++)
	{
		if (strcmp(countings[counting].name, counts) == 0)
			break;
	}
	if (unit == NULL || counting == sizeof(countings) / sizeof(countings[0]) ||
		items->of != ITEM_SIGNED || items->size != 8)
	{
		PyErr_SetString(PyExc_TypeError, "numbers that count nothing that is known");
		return false;
	}
	for (i = 0; i < items->n; i++)
	{
		int64_t		count;

		copy_item(items, i, (uint8_t *) &count);
		if (!(items->mask != NULL && items->mask[i]
			  ? batch_null(batch)
			  : read_count(batch, countings[counting].meaning, unit, count)))
			return false;
	}
	return true;
}

/* ---- texts of numpy ---- */

/* Writes a code point in UTF-8, and returns its length; 0 if the code point has no UTF-8 form. */
static size_t
put_utf8(uint8_t *out, uint32_t c)
{
	if (c < 0x80)
	{
		out[0] = (uint8_t) c;
		return 1;
	}
	if (c < 0x800)
	{
		out[0] = (uint8_t) (0xC0 | c >> 6);
		out[1] = (uint8_t) (0x80 | (c & 63));
		return 2;
	}
	if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF)
		return 0;
	if (c < 0x10000)
	{
		out[0] = (uint8_t) (0xE0 | c >> 12);
		out[1] = (uint8_t) (0x80 | (c >> 6 & 63));
		out[2] = (uint8_t) (0x80 | (c & 63));
		return 3;
	}
	out[0] = (uint8_t) (0xF0 | c >> 18);
	out[1] = (uint8_t) (0x80 | (c >> 12 & 63));
	out[2] = (uint8_t) (0x80 | (c >> 6 & 63));
	out[3] = (uint8_t) (0x80 | (c & 63));
	return 4;
}

static bool
read_wide_text(Batch *batch, const Items *items, Py_ssize_t row, uint8_t *scratch)
{
	Items		letters = *items;
	size_t		width = items->width;
	size_t		len = 0;
	size_t		i;
	uint32_t	letter = 0;
	PyObject   *bytes;

	letters.first = items->first + row * items->stride;
	letters.stride = 4;
	/* Zero code points at the end of a numpy text are padding, not part of the text. */
	for (; width > 0; width--)
	{
		copy_item(&letters, (Py_ssize_t) width - 1, (uint8_t *) &letter);
		if (letter != 0)
			break;
	}
	for (i = 0; i < width; i++)
	{
		size_t		more;

		copy_item(&letters, (Py_ssize_t) i, (uint8_t *) &letter);
		more = put_utf8(scratch + len, letter);
		if (more == 0)
			return batch_impossible(batch, PyExc_ValueError,
									"the str has a lone surrogate, which no text has");
		len += more;
	}
	bytes = PyBytes_FromStringAndSize((const char *) scratch, (Py_ssize_t) len);
	return bytes != NULL &&
		batch_piece(batch, BLOOMFAM_TEXT, bytes, PyBytes_AsString(bytes), len);
}

static bool
read_wide_texts(Batch *batch, const Items *items)
{
	uint8_t    *scratch = (uint8_t *) PyMem_Malloc(items->width * 4);
	bool		fine = scratch != NULL;
	Py_ssize_t	i;

	if (scratch == NULL)
		PyErr_NoMemory();
	for (i = 0; fine && i < items->n; i++)
		fine = items->mask != NULL && items->mask[i] ? batch_null(batch)
													 : read_wide_text(batch, items, i, scratch);
	PyMem_Free(scratch);
	return fine;
}

/* ---- items of a buffer ---- */

static bool
read_items(Batch *batch, const Items *items, const char *counts, const char *unit)
{
	if (counts != NULL && unit != NULL)
		return read_counts(batch, items, counts, unit);
	if (items->of == ITEM_UCS4)
		return read_wide_texts(batch, items);
	return batch_flush(batch) && pass_numbers(batch->sink, items);
}

static bool
read_buffer(Batch *batch, PyObject *data, PyObject *mask_object, const char *counts,
			const char *unit)
{
	Py_buffer	view;
	Items		items;
	Mask		mask;
	Py_ssize_t	n;
	bool		fine = false;

	if (PyObject_GetBuffer(data, &view, PyBUF_RECORDS_RO) < 0)
		return false;
	/*
	 * An exporter of a buffer, such as ctypes, may leave out shape and strides although they were
	 * requested.
	 */
	n = view.shape != NULL ? view.shape[0] : view.itemsize > 0 ? view.len / view.itemsize : 0;
	if (view.ndim != 1)
		PyErr_Format(PyExc_TypeError,
					 "a buffer of %d dimensions is no column of keys; it must have one", view.ndim);
	else if (!read_format(view.format, view.itemsize, &items))
		PyErr_Format(PyExc_TypeError, "a buffer whose items have the format '%.50s' has no keys",
					 view.format);
	else if (mask_open(&mask, mask_object, (size_t) n))
	{
		items.first = (const char *) view.buf;
		items.n = n;
		items.stride = view.strides != NULL ? view.strides[0] : view.itemsize;
		items.mask = mask.bytes;
		fine = read_items(batch, &items, counts, unit);
		mask_close(&mask);
	}
	PyBuffer_Release(&view);
	return fine;
}

/* ---- columns ---- */

static bool
read_objects(Batch *batch, PyObject *list, PyObject *mask_object)
{
	Mask		mask;
	bool		fine;

	if (!PyList_Check(list))
	{
		PyErr_SetString(PyExc_TypeError, "the keys are no list");
		return false;
	}
	if (!mask_open(&mask, mask_object, (size_t) PyList_Size(list)))
		return false;
	fine = read_list(batch, list, mask.bytes);
	mask_close(&mask);
	return fine;
}

bool
read_column(Batch *batch, PyObject *column)
{
	const char *form;
	PyObject   *data;
	PyObject   *mask;
	const char *counts;
	const char *unit;

	if (!PyTuple_Check(column) ||
		!PyArg_ParseTuple(column, "sOOzz", &form, &data, &mask, &counts, &unit))
	{
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_TypeError, "the keys are no column");
		return false;
	}
	if (strcmp(form, "objects") == 0)
		return read_objects(batch, data, mask);
	if (strcmp(form, "pandas") == 0)
	{
		batch->nan_is_null = true;
		return read_objects(batch, data, mask);
	}
	if (strcmp(form, "array") == 0)
		return batch_flush(batch) && read_arrow_array(batch, data);
	if (strcmp(form, "stream") == 0)
		return batch_flush(batch) && read_arrow_stream(batch, data);
	return read_buffer(batch, data, mask, counts, unit);
}

/*
 * Releases a reference without losing the current exception: a capsule's destructor may run any
 * code.
 */
static void
let_go_of(PyObject *column)
{
	PyObject   *type;
	PyObject   *value;
	PyObject   *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	Py_XDECREF(column);
	PyErr_Restore(type, value, traceback);
}

bool
pass_keys(Sink *sink, PyObject *keys)
{
	Batch		batch;
	PyObject   *column;
	bool		fine;
	bool		passed;

	if (takes_rows(sink))
		return pass_rows(sink, keys);
	if (sink->type == NULL)
	{
		if (!pass_rows_of_any(sink, keys, &passed))
			return false;
		if (passed)
			return true;
	}
	batch_begin(&batch, sink);
	batch.read = reader_of(sink->type);
	if (PyList_CheckExact(keys))
		fine = sink_reserve(sink, (size_t) PyList_Size(keys)) && read_list(&batch, keys, NULL);
	else if (PyTuple_CheckExact(keys))
		fine = sink_reserve(sink, (size_t) PyTuple_Size(keys)) && read_tuple(&batch, keys);
	else
	{
		column = PyObject_CallFunctionObjArgs(sink->state->column, keys, NULL);
		fine = column != NULL && read_column(&batch, column) && batch_flush(&batch);
		let_go_of(column);
	}
	fine = fine && batch_flush(&batch);
	batch_end(&batch);
	return fine;
}

bool
pass_key(Sink *sink, PyObject *key)
{
	Batch		batch;
	bool		fine;

	if (takes_rows(sink))
		return pass_row(sink, key);
	batch_begin(&batch, sink);
	batch.read = reader_of(sink->type);
	fine = batch.read(&batch, key) && batch_flush(&batch);
	batch_end(&batch);
	return fine;
}
