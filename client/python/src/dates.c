/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * dates.c
 *	  Objects of the module datetime as keys.
 *
 * The limited API has no functions for these objects.  Conversion methods are called on the base
 * classes, because a subclass may override them.  A time zone's methods may return anything, so
 * their results are checked. pandas' timestamps and durations, which have a finer resolution, are
 * read as numpy's numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "object.h"

#define USECS_PER_SEC	INT64_C(1000000)
#define USECS_PER_DAY	(86400 * USECS_PER_SEC)

/* The value of date(1970, 1, 1).toordinal(). */
#define EPOCH_ORDINAL	719163

/* Reads an attribute that must be an integer from low to high.  Returns false with an exception. */
static bool
get_number(const Batch *batch, PyObject *object, Name name, long low, long high, long *number)
{
	PyObject   *attribute = PyObject_GetAttr(object, name_of(batch, name));

	if (attribute == NULL)
		return false;
	*number = PyLong_AsLong(attribute);
	Py_DECREF(attribute);
	if (*number == -1 && PyErr_Occurred())
		return false;
	if (*number < low || *number > high)
	{
		PyErr_Format(PyExc_ValueError, "%U of %R is out of range", name_of(batch, name),
					 (PyObject *) Py_TYPE(object));
		return false;
	}
	return true;
}

static PyObject *
timedelta_class(Batch *batch)
{
	return known_class(batch, KNOWN_TIMEDELTA, NAME_DATETIME, NAME_TIMEDELTA);
}

/* Reads a timedelta: its days, and the rest in microseconds.  Returns false with an exception. */
static bool
get_timedelta(Batch *batch, PyObject *object, long *days, int64_t *usecs)
{
	long		seconds;
	long		micros;
	int			is_timedelta = is_of(object, timedelta_class(batch));

	if (is_timedelta < 0)
		return false;
	if (is_timedelta == 0)
	{
		return batch_refuse(batch, PyExc_TypeError, ": %R is no timedelta",
							(PyObject *) Py_TYPE(object));
	}
	if (!get_number(batch, object, NAME_DAYS, -999999999, 999999999, days) ||
		!get_number(batch, object, NAME_SECONDS, 0, 86399, &seconds) ||
		!get_number(batch, object, NAME_MICROSECONDS, 0, 999999, &micros))
		return false;
	*usecs = seconds * USECS_PER_SEC + micros;
	return true;
}

/*
 * Does what all readers of this file begin with.  A str is read as a written value; NULL and
 * scalars of numpy and pandas are read; for an instance of the class, *own is set to true, and the
 * caller reads it; any other object is refused.
 */
static bool
is_own(Batch *batch, PyObject *object, Known known, Name name, bool *own)
{
	PyObject   *cls;
	int			is_instance;
	bool		read;

	*own = false;
	if (PyUnicode_Check(object))
		return read_written(batch, object);
	cls = known_class(batch, known, NAME_DATETIME, name);
	*own = cls != NULL && (PyObject *) Py_TYPE(object) == cls;
	if (*own)
		return true;
	if (!read_foreign(batch, object, &read))
		return false;
	if (read)
		return true;
	is_instance = is_of(object, cls);
	*own = is_instance > 0;
	return is_instance > 0 || (is_instance == 0 && refuse_type(batch, object));
}

/* ---- date ---- */

static bool
read_date_object(Batch *batch, PyObject *object)
{
	PyObject   *ordinal;
	long		days;
	int			is_datetime =
		is_of(object, known_class(batch, KNOWN_DATETIME, NAME_DATETIME, NAME_DATETIME));

	if (is_datetime != 0)
		return is_datetime > 0 && refuse_type(batch, object);
	ordinal = PyObject_CallMethodObjArgs(batch->known[KNOWN_DATE], name_of(batch, NAME_TOORDINAL),
										 object, NULL);
	if (ordinal == NULL)
		return false;
	days = PyLong_AsLong(ordinal);
	Py_DECREF(ordinal);
	if (days == -1 && PyErr_Occurred())
		return false;
	return batch_number(batch, BLOOMFAM_DATE, 0, (int64_t) (days - EPOCH_ORDINAL) * 86400);
}

bool
read_date(Batch *batch, PyObject *object)
{
	bool		own;
	bool		fine;

	Py_INCREF(object);
	fine = is_own(batch, object, KNOWN_DATE, NAME_DATE, &own) &&
		(!own || read_date_object(batch, object));
	Py_DECREF(object);
	return fine;
}

/* ---- time ---- */

/* Computes a time's microseconds since midnight. */
static bool
get_time(const Batch *batch, PyObject *object, int64_t *usecs)
{
	long		hour;
	long		minute;
	long		second;
	long		micros;

	if (!get_number(batch, object, NAME_HOUR, 0, 23, &hour) ||
		!get_number(batch, object, NAME_MINUTE, 0, 59, &minute) ||
		!get_number(batch, object, NAME_SECOND, 0, 59, &second) ||
		!get_number(batch, object, NAME_MICROSECOND, 0, 999999, &micros))
		return false;
	*usecs = ((hour * 60 + minute) * 60 + second) * USECS_PER_SEC + micros;
	return true;
}

/* Raises a TypeError about a key with or without a time zone.  Always returns false. */
static bool
refuse_zone(Batch *batch, bool aware)
{
	return batch_refuse(batch, PyExc_TypeError, " is %s, and no key of the family %s",
						aware ? "aware of a time zone" : "without a time zone",
						batch->sink->type->family);
}

static bool
get_awareness(const Batch *batch, PyObject *object, bool *aware)
{
	PyObject   *offset = PyObject_CallMethodObjArgs(object, name_of(batch, NAME_UTCOFFSET), NULL);

	if (offset == NULL)
		return false;
	*aware = offset != Py_None;
	Py_DECREF(offset);
	return true;
}

static bool
read_time_object(Batch *batch, PyObject *object)
{
	int64_t		usecs;
	bool		aware;

	if (!get_awareness(batch, object, &aware))
		return false;
	if (aware)
		return refuse_zone(batch, true);
	return get_time(batch, object, &usecs) && batch_number(batch, BLOOMFAM_TIME, 6, usecs);
}

bool
read_time(Batch *batch, PyObject *object)
{
	bool		own;
	bool		fine;

	Py_INCREF(object);
	fine = is_own(batch, object, KNOWN_TIME, NAME_TIME, &own) &&
		(!own || read_time_object(batch, object));
	Py_DECREF(object);
	return fine;
}

/* Appends a written key to a batch, which holds a copy of the text. */
static bool
batch_text(Batch *batch, const char *text)
{
	PyObject   *bytes = PyBytes_FromString(text);

	return bytes != NULL && batch_piece(batch, BLOOMFAM_WRITTEN, bytes, PyBytes_AsString(bytes),
										(size_t) PyBytes_Size(bytes));
}

/*
 * Writes microseconds since midnight as the server writes a time, e.g. "12:34:56.789".  Returns the
 * length.
 */
static size_t
write_time(char *text, size_t room, int64_t usecs)
{
	int64_t		seconds = usecs / USECS_PER_SEC;
	int			micros = (int) (usecs % USECS_PER_SEC);
	size_t		len;

	PyOS_snprintf(text, room, "%02d:%02d:%02d", (int) (seconds / 3600),
				  (int) (seconds / 60 % 60), (int) (seconds % 60));
	len = strlen(text);
	if (micros > 0)
	{
		PyOS_snprintf(text + len, room - len, ".%06d", micros);
		len = strlen(text);
		while (text[len - 1] == '0')
			text[--len] = '\0';
	}
	return len;
}

static bool
read_timetz_object(Batch *batch, PyObject *object)
{
	PyObject   *offset = PyObject_CallMethodObjArgs(object, name_of(batch, NAME_UTCOFFSET), NULL);
	char		text[64];
	size_t		len;
	long		days = 0;
	long		seconds;
	int64_t		usecs;
	int64_t		offset_usecs = 0;
	bool		fine;

	if (offset == NULL)
		return false;
	if (offset == Py_None)
	{
		Py_DECREF(offset);
		return refuse_zone(batch, false);
	}
	fine = get_timedelta(batch, offset, &days, &offset_usecs);
	Py_DECREF(offset);
	if (!fine || !get_time(batch, object, &usecs))
		return false;
	if (offset_usecs % USECS_PER_SEC != 0 || days < -1 || days > 0)
		return batch_impossible(batch, PyExc_ValueError,
								"the offset from UTC is no whole number of seconds");
	seconds = days * 86400 + (long) (offset_usecs / USECS_PER_SEC);
	/* The server's limit for offsets from UTC. */
	if (seconds <= -16 * 3600 || seconds >= 16 * 3600)
		return batch_impossible(batch, PyExc_ValueError,
								"the offset from UTC is 16 hours or more");

	len = write_time(text, sizeof(text), usecs);
	text[len++] = seconds < 0 ? '-' : '+';
	seconds = seconds < 0 ? -seconds : seconds;
	if (seconds % 60 != 0)
		PyOS_snprintf(text + len, sizeof(text) - len, "%02ld:%02ld:%02ld", seconds / 3600,
					  seconds / 60 % 60, seconds % 60);
	else if (seconds % 3600 != 0)
		PyOS_snprintf(text + len, sizeof(text) - len, "%02ld:%02ld", seconds / 3600,
					  seconds / 60 % 60);
	else
		PyOS_snprintf(text + len, sizeof(text) - len, "%02ld", seconds / 3600);
	return batch_text(batch, text);
}

bool
read_timetz(Batch *batch, PyObject *object)
{
	bool		own;
	bool		fine;

	Py_INCREF(object);
	fine = is_own(batch, object, KNOWN_TIME, NAME_TIME, &own) &&
		(!own || read_timetz_object(batch, object));
	Py_DECREF(object);
	return fine;
}

/* ---- timestamp and timestamptz ---- */

/* Returns datetime(1970, 1, 1), naive or in UTC, borrowed from the batch. */
static PyObject *
epoch_of(Batch *batch, bool aware)
{
	PyObject   *timezone;
	PyObject   *utc = NULL;

	if (batch->known[KNOWN_EPOCH] != NULL)
		return batch->known[KNOWN_EPOCH];
	if (aware)
	{
		timezone = known_class(batch, KNOWN_TIMEZONE, NAME_DATETIME, NAME_TIMEZONE);
		utc = timezone != NULL ? PyObject_GetAttr(timezone, name_of(batch, NAME_UTC)) : NULL;
		if (utc == NULL)
			return NULL;
	}
	batch->known[KNOWN_EPOCH] =
		PyObject_CallFunction(batch->known[KNOWN_DATETIME], "iiiiiiiO", 1970, 1, 1, 0, 0, 0, 0,
							  aware ? utc : Py_None);
	Py_XDECREF(utc);
	return batch->known[KNOWN_EPOCH];
}

static bool
read_datetime_object(Batch *batch, PyObject *object, bool aware)
{
	PyObject   *epoch = epoch_of(batch, aware);
	PyObject   *since;
	long		days = 0;
	int64_t		usecs = 0;
	bool		is_aware;
	bool		fine;

	if (epoch == NULL)
	{
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_RuntimeError, "the module datetime is not whole");
		return false;
	}

	/*
	 * Whether the datetime has a time zone is checked before the subtraction of the epoch.  The
	 * subtraction would raise a TypeError too, but one that does not say why.
	 */
	if (!get_awareness(batch, object, &is_aware))
		return false;
	if (is_aware != aware)
		return refuse_zone(batch, is_aware);
	since = PyObject_CallMethodObjArgs(batch->known[KNOWN_DATETIME], name_of(batch, NAME_SUB),
									   object, epoch, NULL);
	if (since == NULL)
		return false;
	fine = get_timedelta(batch, since, &days, &usecs);
	Py_DECREF(since);
	/* A datetime is at most 9999 years from the epoch, but a subclass may return any difference. */
	if (fine && (days < -4000000 || days > 4000000))
	{
		fine = batch_refuse(batch, PyExc_ValueError, " is out of range");
	}
	return fine && batch_number(batch, aware ? BLOOMFAM_TIMESTAMPTZ : BLOOMFAM_TIMESTAMP, 6,
								days * USECS_PER_DAY + usecs);
}

static bool
read_datetime(Batch *batch, PyObject *object, bool aware)
{
	bool		own;
	bool		fine;

	Py_INCREF(object);
	fine = is_own(batch, object, KNOWN_DATETIME, NAME_DATETIME, &own) &&
		(!own || read_datetime_object(batch, object, aware));
	Py_DECREF(object);
	return fine;
}

bool
read_timestamp(Batch *batch, PyObject *object)
{
	return read_datetime(batch, object, false);
}

bool
read_timestamptz(Batch *batch, PyObject *object)
{
	return read_datetime(batch, object, true);
}

/* ---- interval ---- */

static bool
read_timedelta_object(Batch *batch, PyObject *object)
{
	char		text[64];
	size_t		len;
	long		days;
	int64_t		usecs;

	if (!get_timedelta(batch, object, &days, &usecs))
		return false;
	if (days > -100000000 && days < 100000000)
		return batch_number(batch, BLOOMFAM_DURATION, 6, days * USECS_PER_DAY + usecs);

	/*
	 * The interval has more microseconds than int64 holds, but the server can store it, so it is
	 * passed as text.
	 */
	PyOS_snprintf(text, sizeof(text), "%ld days %s", days, days < 0 ? "+" : "");
	len = strlen(text);
	write_time(text + len, sizeof(text) - len, usecs);
	return batch_text(batch, text);
}

bool
read_interval(Batch *batch, PyObject *object)
{
	bool		own;
	bool		fine;

	Py_INCREF(object);
	fine = is_own(batch, object, KNOWN_TIMEDELTA, NAME_TIMEDELTA, &own) &&
		(!own || read_timedelta_object(batch, object));
	Py_DECREF(object);
	return fine;
}
