/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Columns of keys: lists, buffers, Arrow's capsules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_COLUMN_H
#define BLOOMFAM_PY_COLUMN_H

#include "batch.h"

/*
 * Passes all of keys, whatever column of keys they are, to a sink; false with an exception.  Keys
 * of several columns are passed to the functions of rows.c.
 */
extern bool pass_keys(Sink *sink, PyObject *keys);

/* Passes one key. */
extern bool pass_key(Sink *sink, PyObject *key);

/* ---- rows.c ---- */

/* Does the sink take keys of several columns? */
static inline bool
takes_rows(const Sink *sink)
{
	return sink->type != NULL && sink->type->id == BLOOMFAM_TYPE_ROW;
}

/* Passes keys of several columns: a list or tuple of columns, or a table of another library. */
extern bool pass_rows(Sink *sink, PyObject *columns);

/*
 * Passes keys of several columns to a filter without keys, which does not know how many they have.
 * *passed is false, and nothing has been done, if they look like keys of one; false with an
 * exception.
 */
extern bool pass_rows_of_any(Sink *sink, PyObject *columns, bool *passed);

/* Passes one key of several columns: a list or tuple of values. */
extern bool pass_row(Sink *sink, PyObject *values);

/* ---- column.c, for its kind ---- */

/*
 * Appends the column that bloomfam/_columns.py describes by a tuple to a batch, and passes it on
 * as far as it is not of objects; false with an exception.
 */
extern bool read_column(Batch *batch, PyObject *column);

/* ---- arrow.c ---- */

/* The same of a pair of capsules, of an ArrowSchema and an ArrowArray. */
extern bool read_arrow_array(Batch *batch, PyObject *capsules);

/* The same of a capsule of an ArrowArrayStream. */
extern bool read_arrow_stream(Batch *batch, PyObject *capsule);

#endif							/* BLOOMFAM_PY_COLUMN_H */
