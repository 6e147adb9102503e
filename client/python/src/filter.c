/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  The type Filter: an immutable filter.
 *
 *-------------------------------------------------------------------------
 */
#include "module.h"

#include "column.h"

static ModuleState *
state_of(PyObject *self)
{
	/*
	 * Filter has no subclasses, so the object's type is the one that the module made, and leads to
	 * the module's state.
	 */
	return (ModuleState *) PyType_GetModuleState(Py_TYPE(self));
}

static bool
is_filter(ModuleState *state, PyObject *object)
{
	return (PyObject *) Py_TYPE(object) == (PyObject *) state->filter_type;
}

/* ---- making ---- */

/* Makes a Python object that owns the library's filter; closes the filter if that fails. */
static PyObject *
make_filter(PyTypeObject *type, BloomfamFilter *filter)
{
	allocfunc	alloc = (allocfunc) PyType_GetSlot(type, Py_tp_alloc);
	FilterObject *self = (FilterObject *) alloc(type, 0);

	if (self == NULL)
	{
		bloomfam_close(filter);
		return NULL;
	}
	self->filter = filter;
	bloomfam_info(filter, &self->info);
	if (self->info.askable && bloomfam_filter_type(filter, &self->type, NULL) != BLOOMFAM_OK)
		self->info.askable = false;
	return (PyObject *) self;
}

PyObject *
filter_of(ModuleState *state, BloomfamFilter *filter)
{
	return make_filter(state->filter_type, filter);
}

/*
 * Makes a Filter from bytes in any form, which are copied.  The caller's bytes could change while
 * they are used, and lookups are faster in a copy that is aligned to cache lines.
 */
static PyObject *
filter_of_bytes(PyTypeObject *type, const void *bytes, size_t len)
{
	BloomfamFilter *filter;
	BloomfamError error;
	BloomfamStatus status;

	begin_without_gil();
	status = bloomfam_open(&python_host, bytes, len, BLOOMFAM_COPY | BLOOMFAM_VALIDATE, &filter,
						   &error);
	end_without_gil();
	return status == BLOOMFAM_OK
		? make_filter(type, filter)
		: raise_error((ModuleState *) PyType_GetModuleState(type), &error);
}

/* Makes a Filter from a str, which must be the text form: \x and digits, or COPY's form of it. */
static PyObject *
filter_of_str(PyTypeObject *type, PyObject *text)
{
	PyObject   *bytes = PyUnicode_AsASCIIString(text);
	PyObject   *filter;

	if (bytes == NULL && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
		return NULL;
	if (bytes == NULL || PyBytes_Size(bytes) == 0 || PyBytes_AsString(bytes)[0] != '\\')
	{
		PyErr_SetString(((ModuleState *) PyType_GetModuleState(type))->invalid_filter,
						"a str must be the text form of a filter, \\x and hexadecimal digits");
		Py_XDECREF(bytes);
		return NULL;
	}
	filter = filter_of_bytes(type, PyBytes_AsString(bytes), (size_t) PyBytes_Size(bytes));
	Py_DECREF(bytes);
	return filter;
}

static PyObject *
filter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"", NULL};
	PyObject   *value;
	PyObject   *filter;
	Py_buffer	view;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Filter", names, &value))
		return NULL;
	if (Py_TYPE(value) == type)
	{
		Py_INCREF(value);
		return value;
	}
	if (PyUnicode_Check(value))
		return filter_of_str(type, value);
	if (!PyObject_CheckBuffer(value))
	{
		PyErr_Format(PyExc_TypeError, "a filter is made of str or bytes, not of %R",
					 (PyObject *) Py_TYPE(value));
		return NULL;
	}
	if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0)
		return NULL;
	filter = filter_of_bytes(type, view.buf, (size_t) view.len);
	PyBuffer_Release(&view);
	return filter;
}

static PyObject *
filter_open(PyObject *cls, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"", "validate", NULL};
	PyTypeObject *type = (PyTypeObject *) cls;
	PyObject   *path_object;
	PyObject   *path;
	PyObject   *exception;
	int			validate = 0;
	BloomfamFilter *filter;
	BloomfamError error;
	BloomfamStatus status;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$p:open", names, &path_object, &validate) ||
		!PyUnicode_FSConverter(path_object, &path))
		return NULL;
	begin_without_gil();
	status = bloomfam_open_file(&python_host, PyBytes_AsString(path),
								BLOOMFAM_MAP | (validate ? BLOOMFAM_VALIDATE : 0), &filter,
								&error);
	end_without_gil();
	Py_DECREF(path);
	if (status == BLOOMFAM_OK)
		return make_filter(type, filter);
	if (status == BLOOMFAM_IO)
	{
		/*
		 * The exception is made from the error number, so that it is of a class such as
		 * FileNotFoundError.
		 */
		exception = PyObject_CallFunction(PyExc_OSError, "isO", error.sys_errno,
										  strerror(error.sys_errno), path_object);
		if (exception != NULL)
			PyErr_SetObject((PyObject *) Py_TYPE(exception), exception);
		Py_XDECREF(exception);
		return NULL;
	}
	return raise_error((ModuleState *) PyType_GetModuleState(type), &error);
}

static PyObject *
filter_build(PyObject *cls, PyObject *args, PyObject *kwargs)
{
	ModuleState *state = (ModuleState *) PyType_GetModuleState((PyTypeObject *) cls);
	PyObject   *rest;
	PyObject   *builder;
	PyObject   *added;
	PyObject   *filter = NULL;

	if (PyTuple_Size(args) < 1)
	{
		PyErr_SetString(PyExc_TypeError,
						"build() takes a column of keys, and then what Builder() takes");
		return NULL;
	}
	rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
	builder = rest != NULL ? PyObject_Call((PyObject *) state->builder_type, rest, kwargs) : NULL;
	Py_XDECREF(rest);
	if (builder == NULL)
		return NULL;
	added = PyObject_CallMethod(builder, "add", "(O)", PyTuple_GetItem(args, 0));
	if (added != NULL)
		filter = PyObject_CallMethod(builder, "finish", NULL);
	Py_XDECREF(added);
	Py_DECREF(builder);
	return filter;
}

static void
filter_dealloc(PyObject *object)
{
	FilterObject *self = (FilterObject *) object;
	PyTypeObject *type = Py_TYPE(object);
	freefunc	release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	bloomfam_close(self->filter);
	release(object);
	Py_DECREF(type);
}

/* ---- asking ---- */

static bool
begin_asking(PyObject *object, Sink *sink)
{
	FilterObject *self = (FilterObject *) object;
	BloomfamType type;
	BloomfamError error;

	memset(sink, 0, sizeof(*sink));
	sink->state = state_of(object);
	sink->does = SINK_ASKS;
	sink->filter = self->filter;
	if (self->info.askable)
		sink->type = &self->type;
	else if (!self->info.empty)
	{
		/* bloomfam_filter_type() fails with the reason why the filter cannot be asked. */
		if (bloomfam_filter_type(self->filter, &type, &error) != BLOOMFAM_OK)
			raise_error(sink->state, &error);
		else
			PyErr_SetString(sink->state->not_askable, "this filter cannot be asked");
		return false;
	}
	return true;
}

static int
filter_contains(PyObject *self, PyObject *key)
{
	Sink		sink;
	int			answer = -1;

	if (!begin_asking(self, &sink))
		return -1;
	if (pass_key(&sink, key))
		answer = sink.answers[0] != 0;
	PyMem_Free(sink.answers);
	return answer;
}

static bool
nulls_of(PyObject *object, Nulls *nulls)
{
	const char *word = NULL;

	if (object == NULL)
		*nulls = NULLS_RAISE;
	else if (object == Py_False)
		*nulls = NULLS_ABSENT;
	else if (object == Py_True)
		*nulls = NULLS_MAYBE;
	else
	{
		if (PyUnicode_Check(object))
			word = PyUnicode_AsUTF8AndSize(object, NULL);
		if (word == NULL || strcmp(word, "raise") != 0)
		{
			PyErr_Clear();
			PyErr_SetString(PyExc_ValueError, "nulls must be 'raise', False or True");
			return false;
		}
		*nulls = NULLS_RAISE;
	}
	return true;
}

/* Returns the answers in the sink as a Python array of bools, which bloomfam/_columns.py makes. */
static PyObject *
answers_of(const Sink *sink)
{
	PyObject   *array = PyObject_CallFunction(sink->state->answers, "n", (Py_ssize_t) sink->done);
	Py_buffer	view;

	if (array == NULL)
		return NULL;
	if (sink->done == 0)
		return array;
	if (PyObject_GetBuffer(array, &view, PyBUF_CONTIG) < 0)
	{
		Py_DECREF(array);
		return NULL;
	}
	if ((size_t) view.len != sink->done)
	{
		PyErr_SetString(PyExc_RuntimeError, "the array for the answers has another length");
		Py_CLEAR(array);
	}
	else
		memcpy(view.buf, sink->answers, sink->done);
	PyBuffer_Release(&view);
	return array;
}

static PyObject *
filter_may_contain(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"", "nulls", NULL};
	PyObject   *keys;
	PyObject   *nulls = NULL;
	PyObject   *array = NULL;
	Sink		sink;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:may_contain", names, &keys, &nulls) ||
		!begin_asking(self, &sink) || !nulls_of(nulls, &sink.nulls))
		return NULL;
	if (pass_keys(&sink, keys))
		array = answers_of(&sink);
	PyMem_Free(sink.answers);
	return array;
}

static PyObject *
filter_validate(PyObject *object, PyObject *unused)
{
	FilterObject *self = (FilterObject *) object;
	BloomfamError error;
	BloomfamStatus status;

	(void) unused;
	begin_without_gil();
	status = bloomfam_validate(self->filter, &error);
	end_without_gil();
	if (status != BLOOMFAM_OK)
		return raise_error(state_of(object), &error);
	Py_RETURN_NONE;
}

/* ---- as a value ---- */

static PyObject *
filter_or(PyObject *a, PyObject *b)
{
	PyTypeObject *type = Py_TYPE(a);
	ModuleState *state;
	BloomfamFilter *filter;
	BloomfamError error;
	BloomfamStatus status;

	/*
	 * One operand is a Filter, and Filter has no subclasses.  So if both types are equal, both
	 * operands are Filters.
	 */
	if (Py_TYPE(b) != type)
		Py_RETURN_NOTIMPLEMENTED;
	state = state_of(a);
	begin_without_gil();
	status = bloomfam_unite(&python_host, ((FilterObject *) a)->filter,
							((FilterObject *) b)->filter, &filter, &error);
	end_without_gil();
	return status == BLOOMFAM_OK ? filter_of(state, filter) : raise_error(state, &error);
}

static PyObject *
filter_richcompare(PyObject *a, PyObject *b, int op)
{
	size_t		a_len;
	size_t		b_len;
	const void *a_bytes;
	const void *b_bytes;
	bool		equal;

	if ((op != Py_EQ && op != Py_NE) || !is_filter(state_of(a), b))
		Py_RETURN_NOTIMPLEMENTED;
	a_bytes = bloomfam_bytes(((FilterObject *) a)->filter, &a_len);
	b_bytes = bloomfam_bytes(((FilterObject *) b)->filter, &b_len);
	equal = a_len == b_len && (a_bytes == b_bytes || memcmp(a_bytes, b_bytes, a_len) == 0);
	return PyBool_FromLong(equal == (op == Py_EQ));
}

/*
 * Number of bytes that are hashed: the fixed part of the header, which includes a checksum of the
 * whole filter.
 */
#define HASHED		80

static Py_hash_t
filter_hash(PyObject *self)
{
	size_t		len;
	const void *bytes = bloomfam_bytes(((FilterObject *) self)->filter, &len);
	PyObject   *header = PyBytes_FromStringAndSize((const char *) bytes,
												   len < HASHED ? (Py_ssize_t) len : HASHED);
	Py_hash_t	hash;

	if (header == NULL)
		return -1;
	hash = PyObject_Hash(header);
	Py_DECREF(header);
	return hash;
}

static PyObject *
filter_bytes(PyObject *self, PyObject *unused)
{
	size_t		len;
	const void *bytes = bloomfam_bytes(((FilterObject *) self)->filter, &len);

	(void) unused;
	return PyBytes_FromStringAndSize((const char *) bytes, (Py_ssize_t) len);
}

static PyObject *
filter_reduce(PyObject *self, PyObject *unused)
{
	return Py_BuildValue("O(N)", (PyObject *) Py_TYPE(self), filter_bytes(self, unused));
}

static PyObject *
filter_copy(PyObject *self, PyObject *unused)
{
	(void) unused;
	Py_INCREF(self);
	return self;
}

static int
filter_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	size_t		len;
	const void *bytes = bloomfam_bytes(((FilterObject *) self)->filter, &len);

	return PyBuffer_FillInfo(view, self, (void *) (uintptr_t) bytes, (Py_ssize_t) len, 1, flags);
}

static PyObject *
filter_repr(PyObject *object)
{
	const FilterObject *self = (FilterObject *) object;
	PyObject   *fpr = PyFloat_FromDouble(self->info.target_fpr);
	PyObject   *repr;

	if (fpr == NULL)
		return NULL;
	repr = PyUnicode_FromFormat("<bloomfam.Filter kind='%s' family='%s' fpr=%R keys=%llu "
								"size=%llu>",
								self->info.kind, self->info.family, fpr,
								(unsigned long long) self->info.keys_added,
								(unsigned long long) self->info.size);
	Py_DECREF(fpr);
	return repr;
}

/* ---- members ---- */

static PyObject *
get_kind(PyObject *self, void *unused)
{
	(void) unused;
	return PyUnicode_FromString(((FilterObject *) self)->info.kind);
}

static PyObject *
get_family(PyObject *self, void *unused)
{
	const char *family = ((FilterObject *) self)->info.family;

	(void) unused;
	if (family[0] == '\0')
		Py_RETURN_NONE;
	return PyUnicode_FromString(family);
}

static PyObject *
get_fpr(PyObject *self, void *unused)
{
	(void) unused;
	return PyFloat_FromDouble(((FilterObject *) self)->info.target_fpr);
}

static PyObject *
get_keys(PyObject *self, void *unused)
{
	(void) unused;
	return PyLong_FromUnsignedLongLong(((FilterObject *) self)->info.keys_added);
}

static PyObject *
get_capacity(PyObject *self, void *unused)
{
	(void) unused;
	return PyLong_FromUnsignedLongLong(((FilterObject *) self)->info.capacity);
}

static PyObject *
get_size(PyObject *self, void *unused)
{
	(void) unused;
	return PyLong_FromUnsignedLongLong(((FilterObject *) self)->info.size);
}

static PyGetSetDef filter_members[] = {
	{"kind", get_kind, NULL, "the kind of filter, such as 'blocked'", NULL},
	{"family", get_family, NULL, "the family of its keys, such as 'int'; None: not known", NULL},
	{"fpr", get_fpr, NULL, "the false positive rate that it was made for", NULL},
	{"keys", get_keys, NULL, "how many keys were added, repeated ones counted each time", NULL},
	{"capacity", get_capacity, NULL, "how many distinct keys it was made for", NULL},
	{"size", get_size, NULL, "bytes of the value", NULL},
	{NULL, NULL, NULL, NULL, NULL}
};

#define WITH_KEYWORDS(function)		((PyCFunction) (void (*) (void)) (function))

static PyMethodDef filter_methods[] = {
	{"open", WITH_KEYWORDS(filter_open), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "open(path, *, validate=False)\n--\n\n"
	 "Opens the filter in a file.  The file is mapped, not read, and must not be changed."},
	{"build", WITH_KEYWORDS(filter_build), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "build(keys, type, fpr=0.01, kind='blocked', expected=None)\n--\n\n"
	 "Builds a filter of a column of keys, or of a list of columns with a list of types."},
	{"may_contain", WITH_KEYWORDS(filter_may_contain), METH_VARARGS | METH_KEYWORDS,
	 "may_contain(keys, nulls='raise')\n--\n\n"
	 "Asks for each key of a column: False is certain, True is a maybe.  Keys of several columns\n"
	 "are a list of columns, or a DataFrame; a NULL in one is part of the key."},
	{"validate", filter_validate, METH_NOARGS,
	 "validate()\n--\n\n"
	 "Reads all of the filter, and raises InvalidFilterError where the server would refuse it."},
	{"__bytes__", filter_bytes, METH_NOARGS, NULL},
	{"__reduce__", filter_reduce, METH_NOARGS, NULL},
	{"__copy__", filter_copy, METH_NOARGS, NULL},
	{"__deepcopy__", filter_copy, METH_O, NULL},
	{NULL, NULL, 0, NULL}
};

static PyType_Slot filter_slots[] = {
	{Py_tp_doc, "Filter(value)\n--\n\n"
				"A filter: a value of the SQL type bloomfilter, of str or bytes in any of its "
				"forms."},
	{Py_tp_new, filter_new},
	{Py_tp_dealloc, filter_dealloc},
	{Py_tp_repr, filter_repr},
	{Py_tp_hash, filter_hash},
	{Py_tp_richcompare, filter_richcompare},
	{Py_tp_methods, filter_methods},
	{Py_tp_getset, filter_members},
	{Py_sq_contains, filter_contains},
	{Py_nb_or, filter_or},
	{Py_bf_getbuffer, filter_getbuffer},
	{0, NULL}
};

PyType_Spec filter_spec = {"bloomfam.Filter", sizeof(FilterObject), 0,
						   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, filter_slots};
