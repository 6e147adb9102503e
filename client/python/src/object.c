/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * object.c
 *	  Single Python objects as keys.
 *
 * An object that is not a key of the type raises a TypeError; it is never "absent".  Only an object
 * that no key of the type can equal is absent without a lookup: it is "impossible".
 *
 * Reading may run Python code: methods of subclasses, __index__() of any object, destructors.  So
 * the readers own an object while they read it.
 *
 *-------------------------------------------------------------------------
 */
#include "object.h"

#include <math.h>

#include "column.h"

/* ---- helpers ---- */

PyObject *
known_class(Batch *batch, Known known, Name module, Name name)
{
	PyObject   *found;

	if (batch->known[known] != NULL)
		return batch->known[known];
	found = PyImport_GetModule(name_of(batch, module));
	if (found != NULL)
	{
		/*
		 * The module found may be imported only in part, or may be another one of that name: the
		 * class may be missing.
		 */
		batch->known[known] = PyObject_GetAttr(found, name_of(batch, name));
		Py_DECREF(found);
	}
	if (batch->known[known] == NULL || !PyType_Check(batch->known[known]))
	{
		Py_CLEAR(batch->known[known]);
		PyErr_Clear();
	}
	return batch->known[known];
}

int
is_of(PyObject *object, PyObject *cls)
{
	return cls == NULL ? 0 : PyObject_IsInstance(object, cls);
}

bool
refuse_type(Batch *batch, PyObject *object)
{
	const char *family = batch->sink->type->family;

	return batch_refuse(batch, PyExc_TypeError, " is of %R, and no key of the family %s",
						(PyObject *) Py_TYPE(object), family);
}

bool
read_foreign(Batch *batch, PyObject *object, bool *read)
{
	PyObject   *column;
	bool		fine;

	*read = true;
	if (object == Py_None)
		return batch_null(batch);
	if (batch->nan_is_null && PyFloat_Check(object) && isnan(PyFloat_AsDouble(object)))
		return batch_null(batch);
	if (PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
		PyLong_CheckExact(object))
	{
		*read = false;
		return true;
	}

	column = PyObject_CallFunctionObjArgs(batch->sink->state->scalar, object, NULL);
	if (column == NULL)
		return false;
	*read = column != Py_None;
	fine = !*read || read_column(batch, column);
	Py_DECREF(column);
	return fine;
}

/*
 * Handles an object that is not of the classes for its key type: reads None, or a scalar of numpy
 * or pandas; raises a TypeError for any other object.
 */
static bool
read_other(Batch *batch, PyObject *object)
{
	bool		read;

	return read_foreign(batch, object, &read) && (read || refuse_type(batch, object));
}

/* ---- integers and decimals ---- */

static bool
impossible_integer(Batch *batch)
{
	if (batch->sink->type->id == BLOOMFAM_TYPE_OID)
	{
		/*
		 * The server reads a negative OID as another number, so the answer is unknown, and the key
		 * is refused.
		 */
		return batch_refuse(batch, PyExc_OverflowError,
							": the integer is out of the range of oid");
	}
	return batch_impossible(batch, PyExc_OverflowError,
							"the integer is out of the range of bigint");
}

/* Writes a Decimal as a plain text of digits, in a new bytes object; see decimal_plain(). */
static DecimalKind
plain_of(const Batch *batch, PyObject *decimal_class, PyObject *object, PyObject **plain)
{
	DecimalKind kind = DECIMAL_NONE;
	PyObject   *text;
	const char *chars;
	Py_ssize_t	len;

	*plain = NULL;
	/* str(object) is not used, because a subclass may override __str__(). */
	text = PyObject_CallMethodObjArgs(decimal_class, name_of(batch, NAME_STR), object, NULL);
	if (text == NULL)
		return DECIMAL_NONE;
	if (!PyUnicode_Check(text))
		PyErr_SetString(PyExc_TypeError, "Decimal.__str__ gives no str");
	else
	{
		chars = PyUnicode_AsUTF8AndSize(text, &len);
		if (chars != NULL)
			kind = decimal_plain(chars, (size_t) len, plain);
	}
	Py_DECREF(text);
	return kind;
}

/*
 * Appends a plain text of digits as a key of the sink's type.  Takes over the reference to the
 * text.
 */
static bool
read_plain(Batch *batch, PyObject *plain)
{
	const char *chars = PyBytes_AsString(plain);
	size_t		len = (size_t) PyBytes_Size(plain);
	int64_t		number;
	bool		beyond;
	bool		whole;

	if (batch->sink->type->id == BLOOMFAM_TYPE_NUMERIC)
		return batch_piece(batch, BLOOMFAM_WRITTEN, plain, chars, len);

	whole = decimal_whole(chars, len, &number, &beyond);
	Py_DECREF(plain);
	if (!whole)
		return batch_impossible(batch, PyExc_ValueError, "the Decimal is no integer");
	return beyond ? impossible_integer(batch)
				  : batch_number(batch, BLOOMFAM_INTEGER, 0, number);
}

static bool
read_decimal(Batch *batch, PyObject *decimal_class, PyObject *object)
{
	bool		is_numeric = batch->sink->type->id == BLOOMFAM_TYPE_NUMERIC;
	PyObject   *plain;
	DecimalKind kind = plain_of(batch, decimal_class, object, &plain);

	if (PyErr_Occurred())
	{
		Py_XDECREF(plain);
		return false;
	}
	switch (kind)
	{
		case DECIMAL_NUMBER:
			return read_plain(batch, plain);
		case DECIMAL_NAN:
			if (is_numeric)
				return batch_piece(batch, BLOOMFAM_WRITTEN, NULL, "NaN", 3);
			return batch_impossible(batch, PyExc_ValueError, "the Decimal is no integer");
		case DECIMAL_INFINITY:
			if (is_numeric)
				return batch_piece(batch, BLOOMFAM_WRITTEN, NULL, "Infinity", 8);
			return batch_impossible(batch, PyExc_ValueError, "the Decimal is no integer");
		case DECIMAL_MINUS_INFINITY:
			if (is_numeric)
				return batch_piece(batch, BLOOMFAM_WRITTEN, NULL, "-Infinity", 9);
			return batch_impossible(batch, PyExc_ValueError, "the Decimal is no integer");
		case DECIMAL_BEYOND:
			if (is_numeric)
				return batch_impossible(batch, PyExc_OverflowError,
										"the number is out of the range of numeric");
			return impossible_integer(batch);
		case DECIMAL_NONE:
			break;
	}
	return batch_refuse(batch, PyExc_ValueError, ": %R is no number", object);
}

/* The maximum number of bits of a number that numeric can hold: log2(10^131072). */
#define MAX_BITS		435412

/* Reads an int that does not fit into int64. */
static bool
read_long_beyond(Batch *batch, PyObject *object)
{
	PyObject   *bits;
	long		nbits;
	PyObject   *decimals;
	PyObject   *decimal_class;
	PyObject   *decimal;
	bool		fine = false;

	if (batch->sink->type->id != BLOOMFAM_TYPE_NUMERIC)
		return impossible_integer(batch);

	/* The conversion to Decimal takes time that grows faster than the number of digits. */
	bits = PyObject_CallMethod((PyObject *) &PyLong_Type, "bit_length", "(O)", object);
	if (bits == NULL)
		return false;
	nbits = PyLong_AsLong(bits);
	Py_DECREF(bits);
	if (nbits == -1 && PyErr_Occurred())
		return false;
	if (nbits > MAX_BITS)
		return batch_impossible(batch, PyExc_OverflowError,
								"the number is out of the range of numeric");

	/* The conversion goes through Decimal: str() of an int is slow, and refused for many digits. */
	decimals = PyImport_ImportModule("decimal");
	decimal_class = decimals != NULL ? PyObject_GetAttrString(decimals, "Decimal") : NULL;
	decimal = decimal_class != NULL ? PyObject_CallFunctionObjArgs(decimal_class, object, NULL)
									: NULL;
	if (decimal != NULL)
		fine = read_decimal(batch, decimal_class, decimal);
	Py_XDECREF(decimal);
	Py_XDECREF(decimal_class);
	Py_XDECREF(decimals);
	return fine;
}

static inline bool
read_long(Batch *batch, PyObject *object)
{
	int			overflow;
	long long	number = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (overflow != 0)
		return read_long_beyond(batch, object);
	if (number == -1 && PyErr_Occurred())
		return false;
	return batch_number(batch, BLOOMFAM_INTEGER, 0, number);
}

/*
 * Returns whether an object is a numpy bool.  Some numpy versions let it be used as an index, with
 * a warning.  With the limited API, the type is only recognizable by its name.
 */
static bool
is_foreign_bool(PyObject *object)
{
	PyObject   *name = PyType_GetName(Py_TYPE(object));
	bool		is_bool = name != NULL && (PyUnicode_CompareWithASCIIString(name, "bool_") == 0 ||
										   PyUnicode_CompareWithASCIIString(name, "bool") == 0);

	Py_XDECREF(name);
	PyErr_Clear();
	return is_bool;
}

static bool
read_integer_like(Batch *batch, PyObject *object)
{
	PyObject   *decimal_class;
	PyObject   *index;
	int			is_decimal;
	bool		fine;

	if (object == Py_None)
		return batch_null(batch);
	if (PyBool_Check(object))
		return refuse_type(batch, object);
	if (PyLong_Check(object))
		return read_long(batch, object);
	if (batch->sink->type->id != BLOOMFAM_TYPE_OID)
	{
		decimal_class = known_class(batch, KNOWN_DECIMAL, NAME_DECIMAL_MODULE, NAME_DECIMAL);
		is_decimal = is_of(object, decimal_class);
		if (is_decimal != 0)
			return is_decimal > 0 && read_decimal(batch, decimal_class, object);
	}
	if (!PyIndex_Check(object) || is_foreign_bool(object))
		return read_other(batch, object);

	index = PyNumber_Index(object);
	if (index == NULL)
		return false;
	fine = read_long(batch, index);
	Py_DECREF(index);
	return fine;
}

/* Reads a key of type int, oid or numeric. */
static bool
read_integer(Batch *batch, PyObject *object)
{
	bool		fine;

	if (PyLong_CheckExact(object))
		return read_long(batch, object);
	Py_INCREF(object);
	fine = read_integer_like(batch, object);
	Py_DECREF(object);
	return fine;
}

/* ---- float and bool ---- */

static bool
read_float(Batch *batch, PyObject *object)
{
	bool		fine;

	if (PyFloat_Check(object))
		return batch_double(batch, PyFloat_AsDouble(object));
	Py_INCREF(object);
	fine = read_other(batch, object);
	Py_DECREF(object);
	return fine;
}

static bool
read_bool(Batch *batch, PyObject *object)
{
	bool		fine;

	if (PyBool_Check(object))
		return batch_bool(batch, object == Py_True);
	Py_INCREF(object);
	fine = read_other(batch, object);
	Py_DECREF(object);
	return fine;
}

/* ---- texts and bytes ---- */

/* Handles a str without a UTF-8 form, because it has an unpaired surrogate. */
static bool
read_no_utf8(Batch *batch, BloomfamMeaning meaning)
{
	if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
		return false;
	PyErr_Clear();
	if (meaning == BLOOMFAM_TEXT)
		return batch_impossible(batch, PyExc_ValueError,
								"the str has a lone surrogate, which no text has");
	return batch_refuse(batch, PyExc_ValueError, ": the str has a lone surrogate");
}

static inline bool
read_str(Batch *batch, PyObject *object, BloomfamMeaning meaning)
{
	Py_ssize_t	len;
	const char *chars;

	Py_INCREF(object);
	chars = PyUnicode_AsUTF8AndSize(object, &len);
	if (chars == NULL)
	{
		bool		fine = read_no_utf8(batch, meaning);

		Py_DECREF(object);
		return fine;
	}
	return batch_piece(batch, meaning, object, chars, (size_t) len);
}

/* Reads a key of a text type or an enum. */
static bool
read_text(Batch *batch, PyObject *object)
{
	bool		fine;

	if (PyUnicode_Check(object))
		return read_str(batch, object, BLOOMFAM_TEXT);
	Py_INCREF(object);
	fine = read_other(batch, object);
	Py_DECREF(object);
	return fine;
}

bool
read_written(Batch *batch, PyObject *object)
{
	return read_str(batch, object, BLOOMFAM_WRITTEN);
}

/* Reads a key of a type that Python has no class for: macaddr, macaddr8, pg_lsn, bit, "char". */
static bool
read_written_only(Batch *batch, PyObject *object)
{
	bool		fine;

	if (PyUnicode_Check(object))
		return read_written(batch, object);
	Py_INCREF(object);
	fine = read_other(batch, object);
	Py_DECREF(object);
	return fine;
}

static bool
read_bytes(Batch *batch, PyObject *object)
{
	PyObject   *bytes;
	bool		fine;

	if (PyBytes_Check(object))
	{
		Py_INCREF(object);
		return batch_piece(batch, BLOOMFAM_BYTES, object, PyBytes_AsString(object),
						   (size_t) PyBytes_Size(object));
	}
	Py_INCREF(object);
	if (PyObject_TypeCheck(object, &PyByteArray_Type) ||
		PyObject_TypeCheck(object, &PyMemoryView_Type))
	{
		/* A bytearray or memoryview may change, so it is copied. */
		bytes = PyBytes_FromObject(object);
		fine = bytes != NULL && batch_piece(batch, BLOOMFAM_BYTES, bytes, PyBytes_AsString(bytes),
											(size_t) PyBytes_Size(bytes));
	}
	else
		fine = read_other(batch, object);
	Py_DECREF(object);
	return fine;
}

/* ---- uuid and inet ---- */

static bool
read_uuid_like(Batch *batch, PyObject *object)
{
	int			is_uuid =
		is_of(object, known_class(batch, KNOWN_UUID, NAME_UUID_MODULE, NAME_UUID));
	PyObject   *bytes;

	if (is_uuid < 0)
		return false;
	if (is_uuid == 0)
		return PyUnicode_Check(object) ? read_written(batch, object) : read_other(batch, object);
	bytes = PyObject_GetAttr(object, name_of(batch, NAME_BYTES));
	if (bytes == NULL)
		return false;
	if (!PyBytes_Check(bytes) || PyBytes_Size(bytes) != 16)
	{
		Py_DECREF(bytes);
		return batch_refuse(batch, PyExc_ValueError, ": a UUID without 16 bytes");
	}
	return batch_piece(batch, BLOOMFAM_BYTES, bytes, PyBytes_AsString(bytes), 16);
}

static bool
read_uuid(Batch *batch, PyObject *object)
{
	bool		fine;

	Py_INCREF(object);
	fine = read_uuid_like(batch, object);
	Py_DECREF(object);
	return fine;
}

/*
 * Returns the address and network classes of ipaddress as a tuple; NULL if the module is not
 * loaded.
 */
static PyObject *
network_classes(Batch *batch)
{
	static const Name names[] = {NAME_IPV4_ADDRESS, NAME_IPV6_ADDRESS, NAME_IPV4_NETWORK,
								 NAME_IPV6_NETWORK};
	PyObject   *classes;
	PyObject   *cls;
	size_t		i;

	if (batch->known[KNOWN_NETWORKS] != NULL)
		return batch->known[KNOWN_NETWORKS];
	classes = PyTuple_New(4);
	if (classes == NULL)
		return NULL;
	for (i = 0; i < 4; i++)
	{
		cls = known_class(batch, KNOWN_NETWORKS, NAME_IPADDRESS, names[i]);
		if (cls == NULL)
		{
			Py_DECREF(classes);
			return NULL;
		}
		/*
		 * IPv4Interface and IPv6Interface need no entry, because they are subclasses of the address
		 * classes.
		 */
		batch->known[KNOWN_NETWORKS] = NULL;
		PyTuple_SetItem(classes, (Py_ssize_t) i, cls);
	}
	batch->known[KNOWN_NETWORKS] = classes;
	return classes;
}

static bool
read_inet_like(Batch *batch, PyObject *object)
{
	PyObject   *classes = network_classes(batch);
	int			is_network = is_of(object, classes);
	PyObject   *text;
	const char *chars;
	Py_ssize_t	len;

	/*
	 * If the module ipaddress is not loaded, the object is of none of its classes, and that is no
	 * error.
	 */
	if (is_network < 0 || (classes == NULL && PyErr_Occurred() != NULL))
		return false;
	if (is_network == 0)
		return PyUnicode_Check(object) ? read_written(batch, object) : read_other(batch, object);
	text = PyObject_Str(object);
	chars = text != NULL ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
	if (chars == NULL)
	{
		Py_XDECREF(text);
		return false;
	}
	if (memchr(chars, '%', (size_t) len) != NULL)
	{
		Py_DECREF(text);
		return batch_impossible(batch, PyExc_ValueError,
								"the address has a scope, which no inet has");
	}
	return batch_piece(batch, BLOOMFAM_WRITTEN, text, chars, (size_t) len);
}

static bool
read_inet(Batch *batch, PyObject *object)
{
	bool		fine;

	Py_INCREF(object);
	fine = read_inet_like(batch, object);
	Py_DECREF(object);
	return fine;
}

/* ---- the reader of each type ---- */

/*
 * Reads an object as a key for a filter without keys: NULL is NULL, and any other object is absent.
 */
static bool
read_anything(Batch *batch, PyObject *object)
{
	bool		read;
	bool		fine;

	Py_INCREF(object);
	fine = read_foreign(batch, object, &read) && (read || batch_impossible(batch, NULL, NULL));
	Py_DECREF(object);
	return fine;
}

ReadObject
reader_of(const BloomfamType *type)
{
	if (type == NULL)
		return read_anything;
	switch (type->id)
	{
		case BLOOMFAM_TYPE_INT:
		case BLOOMFAM_TYPE_OID:
		case BLOOMFAM_TYPE_NUMERIC:
			return read_integer;
		case BLOOMFAM_TYPE_FLOAT:
		case BLOOMFAM_TYPE_REAL:
		case BLOOMFAM_TYPE_DOUBLE:
			return read_float;
		case BLOOMFAM_TYPE_ANY_TEXT:
		case BLOOMFAM_TYPE_TEXT:
		case BLOOMFAM_TYPE_BPCHAR:
		case BLOOMFAM_TYPE_NAME:
		case BLOOMFAM_TYPE_ENUM:
			return read_text;
		case BLOOMFAM_TYPE_BOOL:
			return read_bool;
		case BLOOMFAM_TYPE_BYTEA:
			return read_bytes;
		case BLOOMFAM_TYPE_UUID:
			return read_uuid;
		case BLOOMFAM_TYPE_DATE:
			return read_date;
		case BLOOMFAM_TYPE_TIME:
			return read_time;
		case BLOOMFAM_TYPE_TIMETZ:
			return read_timetz;
		case BLOOMFAM_TYPE_TIMESTAMP:
			return read_timestamp;
		case BLOOMFAM_TYPE_TIMESTAMPTZ:
			return read_timestamptz;
		case BLOOMFAM_TYPE_INTERVAL:
			return read_interval;
		case BLOOMFAM_TYPE_INET:
			return read_inet;
		case BLOOMFAM_TYPE_CHAR:
		case BLOOMFAM_TYPE_MACADDR:
		case BLOOMFAM_TYPE_MACADDR8:
		case BLOOMFAM_TYPE_PG_LSN:
		case BLOOMFAM_TYPE_BIT:
			break;
		case BLOOMFAM_TYPE_ROW:
			/* The columns of rows are read one by one, by rows.c. */
			break;
	}
	return read_written_only;
}
