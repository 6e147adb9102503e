/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Keys of several columns.
 *
 * Columns may come in pieces of different lengths.  So each column is hashed by itself, and the
 * hashes of the keys are computed from the hashes of the columns after all columns have been read.
 * The list of columns is copied first, because reading one column may run code that removes another
 * from the list.
 *
 *-------------------------------------------------------------------------
 */
#include "column.h"

/* ---- from columns to keys ---- */

/* Begins the sink that hashes column i of the keys, and stores the column's type in *type. */
static void
begin_column(Sink *column, const Sink *sink, size_t i, BloomfamType *type)
{
	bloomfam_type_column(sink->type, i, type);
	memset(column, 0, sizeof(*column));
	column->state = sink->state;
	column->type = type;
	column->does = SINK_HASHES;
	column->is_strict = sink->is_strict;
	column->column = i + 1;
}

/*
 * Looks up n keys in the filter by their hashes.  A key that has no hash, as row_answers is not
 * ABSENT for it, is answered as absent.
 */
static bool
ask_hashes(Sink *sink, const uint64_t *hashes, const uint8_t *row_answers, size_t n,
		   bool without_gil)
{
	BloomfamError error;
	BloomfamStatus status;
	size_t		i;

	if (!sink_reserve(sink, n))
		return false;
	if (without_gil)
		begin_without_gil();
	status = bloomfam_ask_hashes(sink->filter, sink->type, hashes, n, sink->answers, &error);
	/* A key that equals no value of its type has no hash; the answer for it is absent. */
	for (i = 0; status == BLOOMFAM_OK && i < n; i++)
	{
		if (row_answers[i] != BLOOMFAM_ABSENT)
			sink->answers[i] = 0;
	}
	if (without_gil)
		end_without_gil();
	if (status == BLOOMFAM_OK)
		return true;
	raise_error(sink->state, &error);
	return false;
}

/* Adds keys by their hashes.  Every key has a hash, because the columns' sinks were strict. */
static bool
add_hashes(Sink *sink, const uint64_t *hashes, size_t n, bool without_gil)
{
	BloomfamError error;
	BloomfamStatus status;

	if (without_gil)
		begin_without_gil();
	status = bloomfam_builder_add_hashes(sink->builder->builder, hashes, n, &error);
	if (without_gil)
		end_without_gil();
	return status == BLOOMFAM_OK || refuse_adding(sink, &error);
}

/*
 * Passes the keys whose columns have been hashed to the sink.  The keys' hashes overwrite those of
 * the first column.
 */
static bool
pass_hashes(Sink *sink, const Sink *columns, size_t ncolumns)
{
	const uint64_t *hashes[BLOOMFAM_MAX_COLUMNS];
	const uint8_t *answers[BLOOMFAM_MAX_COLUMNS];
	size_t		n = columns[0].done;
	bool		without_gil = n >= WITHOUT_GIL_FROM;
	size_t		i;

	for (i = 0; i < ncolumns; i++)
	{
		hashes[i] = columns[i].hashes;
		answers[i] = columns[i].answers;
	}
	if (without_gil)
		begin_without_gil();
	bloomfam_row_hashes(hashes, answers, ncolumns, n, columns[0].hashes, columns[0].answers);
	if (without_gil)
		end_without_gil();
	if (!(sink->does == SINK_ASKS
		  ? ask_hashes(sink, columns[0].hashes, columns[0].answers, n, without_gil)
		  : add_hashes(sink, columns[0].hashes, n, without_gil)))
		return false;
	sink->done = n;
	return true;
}

/* ---- reading ---- */

/* Returns whether column i has as many keys as the first column; raises an exception if not. */
static bool
same_length(const Sink *columns, size_t i)
{
	if (columns[i].done == columns[0].done)
		return true;
	PyErr_Format(PyExc_ValueError,
				 "columns of different lengths: column 1 has %zu keys, column %zu has %zu",
				 columns[0].done, i + 1, columns[i].done);
	return false;
}

/*
 * Passes the keys whose columns are in a tuple, or the one key whose values are in it. pass is
 * pass_keys() or pass_key(), and reads an item of the tuple.
 */
static bool
pass_tuple(Sink *sink, PyObject *tuple, bool (*pass) (Sink *column, PyObject *item))
{
	size_t		ncolumns = bloomfam_type_columns(sink->type);
	size_t		given = (size_t) PyTuple_Size(tuple);
	BloomfamType types[BLOOMFAM_MAX_COLUMNS];
	Sink		columns[BLOOMFAM_MAX_COLUMNS];
	bool		fine = true;
	size_t		n;
	size_t		i;

	if (given != ncolumns)
	{
		PyErr_Format(PyExc_ValueError, "keys of the family %s have %zu columns, and %zu are given",
					 sink->type->family, ncolumns, given);
		return false;
	}
	for (n = 0; fine && n < ncolumns; n++)
	{
		begin_column(&columns[n], sink, n, &types[n]);
		fine = pass(&columns[n], PyTuple_GetItem(tuple, (Py_ssize_t) n)) &&
			same_length(columns, n);
	}
	fine = fine && pass_hashes(sink, columns, ncolumns);
	for (i = 0; i < n; i++)
	{
		PyMem_Free(columns[i].hashes);
		PyMem_Free(columns[i].answers);
	}
	return fine;
}

/*
 * Refuses a list of tuples, such as a cursor's fetchall() returns, with an exception: its tuples
 * are rows, and would be taken for columns if there are as many rows as columns.  Returns true for
 * any other list.
 */
static bool
refuse_list_of_rows(PyObject *list)
{
	Py_ssize_t	n = PyList_Size(list);
	Py_ssize_t	i;

	for (i = 0; i < n; i++)
	{
		if (!PyTuple_Check(PyList_GetItem(list, i)))
			return true;
	}
	if (n == 0)
		return true;
	PyErr_SetString(PyExc_TypeError, "a list of tuples may be one of rows; pass columns: lists, or "
					"tuple(zip(*rows))");
	return false;
}

bool
pass_rows(Sink *sink, PyObject *columns)
{
	PyObject   *tuple;
	bool		fine = false;

	if (PyList_Check(columns) && !refuse_list_of_rows(columns))
		return false;
	if (PyList_Check(columns) || PyTuple_Check(columns))
		tuple = PySequence_Tuple(columns);
	else
		tuple = PyObject_CallFunctionObjArgs(sink->state->table, columns, NULL);
	if (tuple == NULL)
		return false;
	if (PyTuple_Check(tuple))
		fine = pass_tuple(sink, tuple, pass_keys);
	else
		PyErr_SetString(PyExc_TypeError, "the columns are no tuple");
	Py_DECREF(tuple);
	return fine;
}

/* Returns whether an object is a column of keys, rather than a single key that is a sequence. */
static bool
is_column(PyObject *object)
{
	return PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) &&
		   !PyByteArray_Check(object) && !PyMemoryView_Check(object);
}

bool
pass_rows_of_any(Sink *sink, PyObject *columns, bool *passed)
{
	Py_ssize_t	ncolumns;
	Py_ssize_t	n = 0;
	Py_ssize_t	i;
	bool		fine = true;

	*passed = false;
	if (!PyList_Check(columns) && !PyTuple_Check(columns))
		return true;
	columns = PySequence_Tuple(columns);
	if (columns == NULL)
		return false;
	ncolumns = PyTuple_Size(columns);
	for (i = 0; fine && i < ncolumns && is_column(PyTuple_GetItem(columns, i)); i++)
	{
		Py_ssize_t	length = PySequence_Size(PyTuple_GetItem(columns, i));

		fine = length >= 0;
		if (fine && i > 0 && length != n)
		{
			PyErr_SetString(PyExc_ValueError, "columns of different lengths");
			fine = false;
		}
		n = length;
	}
	*passed = fine && ncolumns > 0 && i == ncolumns;
	Py_DECREF(columns);
	if (!*passed)
		return fine;
	if (!sink_reserve(sink, (size_t) n))
		return false;
	if (n > 0)
		memset(sink->answers, 0, (size_t) n);
	sink->done = (size_t) n;
	return true;
}

bool
pass_row(Sink *sink, PyObject *values)
{
	PyObject   *tuple;
	bool		fine;

	if (!PyList_Check(values) && !PyTuple_Check(values))
	{
		PyErr_Format(PyExc_TypeError,
					 "a key of the family %s is a tuple of %zu values, not of %R",
					 sink->type->family, bloomfam_type_columns(sink->type),
					 (PyObject *) Py_TYPE(values));
		return false;
	}
	tuple = PySequence_Tuple(values);
	fine = tuple != NULL && pass_tuple(sink, tuple, pass_key);
	Py_XDECREF(tuple);
	return fine;
}
