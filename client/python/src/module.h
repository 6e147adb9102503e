/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.h
 *	  The Python extension bloomfam._bloomfam: what its files share.
 *
 *	module.c	the module, its exceptions, errors of the library as exceptions
 *	filter.c	the type Filter
 *	builder.c	the type Builder
 *	object.c	one Python object as a key
 *	decimal.c	decimal.Decimal and large int as texts of digits
 *	column.c	lists, buffers, and what bloomfam/_columns.py finds in columns of other libraries
 *	arrow.c		Arrow's capsules
 *	rows.c		keys of several columns
 *	batch.c		keys on their way to a filter or a builder, and the answers
 *
 * Only CPython's limited API of 3.11 is used, so that one build serves all later versions.  Objects
 * that come in are anybody's: a method of theirs may change the list that they are in, use the
 * same builder, or start threads.  So whatever is kept over a call of Python code is owned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_MODULE_H
#define BLOOMFAM_PY_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bloomfam.h"

/* Names that are looked up for each key: made once, as Python keeps what it looks up by. */
typedef enum Name
{
	NAME_STR,
	NAME_BYTES,
	NAME_TOORDINAL,
	NAME_SUB,
	NAME_UTCOFFSET,
	NAME_DAYS,
	NAME_SECONDS,
	NAME_MICROSECONDS,
	NAME_HOUR,
	NAME_MINUTE,
	NAME_SECOND,
	NAME_MICROSECOND,
	NAME_DECIMAL_MODULE,
	NAME_DECIMAL,
	NAME_UUID_MODULE,
	NAME_UUID,
	NAME_DATETIME,				/* the module, and its class */
	NAME_DATE,
	NAME_TIME,
	NAME_TIMEDELTA,
	NAME_TIMEZONE,
	NAME_UTC,
	NAME_IPADDRESS,
	NAME_IPV4_ADDRESS,
	NAME_IPV6_ADDRESS,
	NAME_IPV4_NETWORK,
	NAME_IPV6_NETWORK
} Name;

#define NAME_COUNT		(NAME_IPV6_NETWORK + 1)

/* What belongs to the module, once for each interpreter. */
typedef struct ModuleState
{
	PyTypeObject *filter_type;
	PyTypeObject *builder_type;
	PyObject   *invalid_filter; /* InvalidFilterError */
	PyObject   *not_askable;	/* NotAskableError */

	/* functions of bloomfam/_columns.py */
	PyObject   *column;
	PyObject   *table;
	PyObject   *scalar;
	PyObject   *answers;

	PyObject   *names[NAME_COUNT];
} ModuleState;

typedef struct FilterObject
{
	PyObject_HEAD
	BloomfamFilter *filter;
	BloomfamInfo info;
	BloomfamType type;			/* of its keys, if info.askable */
} FilterObject;

typedef struct BuilderObject
{
	PyObject_HEAD
	BloomfamBuilder *builder;	/* NULL: finished, or broken */
	BloomfamType type;
	bool		busy;			/* in a call, which may run Python code or be without the GIL */
	bool		broken;			/* why builder is NULL: after a failure, its keys are not known */
} BuilderObject;

/* ---- module.c ---- */

/* Raises the library's error as an exception.  Always returns NULL. */
extern PyObject *raise_error(ModuleState *state, const BloomfamError *error);

/*
 * The host that works without the GIL are given: its stop() looks for signals, so that Ctrl-C
 * ends what takes long.  Between these two macros Python must not be called.
 */
extern const BloomfamHost python_host;
extern void begin_without_gil(void);
extern void end_without_gil(void);

/* ---- filter.c ---- */

extern PyType_Spec filter_spec;

/* A Filter that takes over what the library has made, also if it fails. */
extern PyObject *filter_of(ModuleState *state, BloomfamFilter *filter);

/* ---- builder.c ---- */

extern PyType_Spec builder_spec;

#endif							/* BLOOMFAM_PY_MODULE_H */
