/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.h
 *	  The Python extension bloomfam._bloomfam: declarations that its files share.
 *
 *	module.c	the module, its exceptions, errors of the library as exceptions
 *	filter.c	the type Filter
 *	builder.c	the type Builder
 *	object.c	one Python object as a key
 *	decimal.c	decimal.Decimal and large int as texts of digits
 *	dates.c		objects of the module datetime as keys
 *	column.c	lists, buffers, and what bloomfam/_columns.py finds in columns of other libraries
 *	arrow.c		Arrow's capsules
 *	rows.c		keys of several columns
 *	batch.c		keys on their way to a filter or a builder, and the answers
 *
 * Only CPython's limited API of 3.11 is used, so that one build serves all later versions.  Objects
 * of callers may be of any class: their methods may change the list that holds them, use the same
 * builder, or start threads.  So every object that is used after a call of Python code is owned.
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

/*
 * Names of attributes and modules, made as str objects once because they are looked up for each
 * key.
 */
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
	NAME_DATETIME,				/* The module datetime, and its class of that name. */
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

/* The module's state, one for each interpreter. */
typedef struct ModuleState
{
	PyTypeObject *filter_type;
	PyTypeObject *builder_type;
	PyObject   *invalid_filter; /* The exception class InvalidFilterError. */
	PyObject   *not_askable;	/* The exception class NotAskableError. */

	/* The following four are functions of bloomfam/_columns.py. */
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
	BloomfamType type;			/* Type of the filter's keys, valid if info.askable. */
} FilterObject;

typedef struct BuilderObject
{
	PyObject_HEAD
	BloomfamBuilder *builder;	/* NULL: the builder is finished or broken. */
	BloomfamType type;
	/* True during a call, which may run Python code or release the GIL. */
	bool		busy;
	/*
	 * True if a call failed after adding some of its keys.  The builder was freed then, as it is
	 * unknown which keys it has.
	 */
	bool		broken;
} BuilderObject;

/* ---- module.c ---- */

/* Raises an error of the library as an exception.  Always returns NULL. */
extern PyObject *raise_error(ModuleState *state, const BloomfamError *error);

/*
 * python_host is the host for work without the GIL.  Its stop() checks for signals, so that Ctrl-C
 * ends long work.  Work without the GIL stands between begin_without_gil() and end_without_gil(),
 * and must not call Python.
 */
extern const BloomfamHost python_host;
extern void begin_without_gil(void);
extern void end_without_gil(void);

/* ---- filter.c ---- */

extern PyType_Spec filter_spec;

/*
 * Makes a Filter object, which takes over the library's filter, also on failure.  Returns NULL with
 * an exception.
 */
extern PyObject *filter_of(ModuleState *state, BloomfamFilter *filter);

/* ---- builder.c ---- */

extern PyType_Spec builder_spec;

#endif							/* BLOOMFAM_PY_MODULE_H */
