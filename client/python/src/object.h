/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * object.h
 *	  One Python object as a key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_OBJECT_H
#define BLOOMFAM_PY_OBJECT_H

#include "batch.h"

/*
 * How objects are read as keys of this type; NULL: of a filter without keys, which any object may
 * be asked of.
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
 * A class of a module that is loaded, borrowed from the batch; NULL without an exception if the
 * module is not.  An object of a module's class cannot have come before the module.
 */
extern PyObject *known_class(Batch *batch, Known known, Name module, Name name);

/* A string that the module has made. */
static inline PyObject *
name_of(const Batch *batch, Name name)
{
	return batch->sink->state->names[name];
}

/* Is it an instance?  1, 0, or -1 with an exception; cls may be NULL. */
extern int is_of(PyObject *object, PyObject *cls);

/* A str as the text form of a value. */
extern bool read_written(Batch *batch, PyObject *object);

/*
 * NULL, and scalars of numpy and pandas.  Of those *read is set; what is left is another object,
 * and no failure.
 */
extern bool read_foreign(Batch *batch, PyObject *object, bool *read);

/* Raises the TypeError of an object that is no key of the type.  Always returns false. */
extern bool refuse_type(Batch *batch, PyObject *object);

/* ---- decimal.c ---- */

typedef enum DecimalKind
{
	DECIMAL_NUMBER,
	DECIMAL_NAN,
	DECIMAL_INFINITY,
	DECIMAL_MINUS_INFINITY,
	DECIMAL_BEYOND,				/* has more digits than a numeric */
	DECIMAL_NONE				/* no text of a Decimal */
} DecimalKind;

/*
 * A Decimal's text without an exponent, as numeric writes it, in a new bytes object.  text is what
 * Decimal.__str__ gives.  *plain is NULL for all but numbers, and with an exception if there is no
 * memory.
 */
extern DecimalKind decimal_plain(const char *text, size_t len, PyObject **plain);

/* The number in a plain text, if it is whole; *beyond: it is, and no int64. */
extern bool decimal_whole(const char *plain, size_t len, int64_t *number, bool *beyond);

#endif							/* BLOOMFAM_PY_OBJECT_H */
