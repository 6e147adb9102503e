/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * column.h
 *	  Columns of keys from Python: lists, buffers, Arrow's capsules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_COLUMN_H
#define BLOOMFAM_PY_COLUMN_H

#include "batch.h"

/*
 * Passes all keys of a column, in any of the accepted forms, to a sink.  Returns false with an
 * exception.  Keys of several columns are passed to the functions of rows.c.
 */
extern bool pass_keys(Sink *sink, PyObject *keys);

/* Passes one key to a sink.  Returns false with an exception. */
extern bool pass_key(Sink *sink, PyObject *key);

/* ---- rows.c ---- */

/* Returns whether a sink takes keys of several columns. */
static inline bool
takes_rows(const Sink *sink)
{
	return sink->type != NULL && sink->type->id == BLOOMFAM_TYPE_ROW;
}

/*
 * Passes keys of several columns to a sink: a list or tuple of columns, or a table of another
 * library.  Returns false with an exception.
 */
extern bool pass_rows(Sink *sink, PyObject *columns);

/*
 * Passes keys of several columns to a filter without keys, which does not know the number of
 * columns.  If the argument looks like a single column instead, does nothing and sets *passed to
 * false.  Returns false with an exception.
 */
extern bool pass_rows_of_any(Sink *sink, PyObject *columns, bool *passed);

/*
 * Passes one key of several columns to a sink: a list or tuple of values.  Returns false with an
 * exception.
 */
extern bool pass_row(Sink *sink, PyObject *values);

/* ---- column.c, for object.c ---- */

/*
 * Appends a column, described by a tuple of bloomfam/_columns.py, to a batch.  A column of anything
 * but objects goes to the batch's sink directly.  Returns false with an exception.
 */
extern bool read_column(Batch *batch, PyObject *column);

/* ---- arrow.c ---- */

/*
 * Passes an Arrow array to a batch's sink. capsules is a pair of capsules, with an ArrowSchema and
 * an ArrowArray.  Returns false with an exception.
 */
extern bool read_arrow_array(Batch *batch, PyObject *capsules);

/*
 * Passes all arrays of a capsule with an ArrowArrayStream to a batch's sink.  Returns false with an
 * exception.
 */
extern bool read_arrow_stream(Batch *batch, PyObject *capsule);

#endif							/* BLOOMFAM_PY_COLUMN_H */
