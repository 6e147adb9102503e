/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * object.h
 *	  Single Python objects as keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_OBJECT_H
#define BLOOMFAM_PY_OBJECT_H

#include "batch.h"

/*
 * Returns the function that reads objects as keys of a type.  NULL stands for the type of a filter
 * without keys, which may be asked for any object.
 */
extern ReadObject reader_of(const BloomfamType *type);

/* ---- dates.c ---- */

extern bool read_date(Batch *batch, PyObject *object);
extern bool read_time(Batch *batch, PyObject *object);
extern bool read_timetz(Batch *batch, PyObject *object);
extern bool read_timestamp(Batch *batch, PyObject *object);
extern bool read_timestamptz(Batch *batch, PyObject *object);
extern bool read_interval(Batch *batch, PyObject *object);

/* ---- object.c, for the readers ---- */

/*
 * Returns a class of a Python module, borrowed from the batch.  Returns NULL without an exception
 * if the module is not loaded: then no object of the class can exist.
 */
extern PyObject *known_class(Batch *batch, Known known, Name module, Name name);

/* Returns one of the module's names as a str, borrowed. */
static inline PyObject *
name_of(const Batch *batch, Name name)
{
	return batch->sink->state->names[name];
}

/*
 * Returns 1 if object is an instance of cls, 0 if not or if cls is NULL, and -1 with an exception.
 */
extern int is_of(PyObject *object, PyObject *cls);

/* Appends a str to a batch as the text form of a value. */
extern bool read_written(Batch *batch, PyObject *object);

/*
 * Reads None and the scalars of numpy and pandas.  Sets *read to whether the object was one of
 * these; if not, returns true, and the caller reads the object.
 */
extern bool read_foreign(Batch *batch, PyObject *object, bool *read);

/* Raises a TypeError for an object that is not a key of the type.  Always returns false. */
extern bool refuse_type(Batch *batch, PyObject *object);

/* ---- decimal.c ---- */

typedef enum DecimalKind
{
	DECIMAL_NUMBER,
	DECIMAL_NAN,
	DECIMAL_INFINITY,
	DECIMAL_MINUS_INFINITY,
	DECIMAL_BEYOND,				/* The number has more digits than a numeric. */
	DECIMAL_NONE				/* The text is not that of a Decimal. */
} DecimalKind;

/*
 * Writes a Decimal without an exponent, as numeric does, into a new bytes object. text is the
 * result of Decimal.__str__. *plain is NULL unless the result is DECIMAL_NUMBER; it is also NULL,
 * with an exception, if there is no memory.
 */
extern DecimalKind decimal_plain(const char *text, size_t len, PyObject **plain);

/*
 * Returns whether the number in a plain text is an integer, and stores it.  Sets *beyond if the
 * integer does not fit into int64.
 */
extern bool decimal_whole(const char *plain, size_t len, int64_t *number, bool *beyond);

#endif							/* BLOOMFAM_PY_OBJECT_H */
