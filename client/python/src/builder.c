/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * builder.c
 *	  The type Builder: builds a filter from keys.
 *
 * A builder is used by one call at a time.  Reading a key may run Python code, and a column is
 * added without the GIL, so another call can begin meanwhile: it raises an error.
 *
 *-------------------------------------------------------------------------
 */
#include "module.h"

#include "column.h"

static ModuleState *
state_of(PyObject *self)
{
	/*
	 * Builder has no subclasses, so the object's type is the one that the module made, and leads to
	 * the module's state.
	 */
	return (ModuleState *) PyType_GetModuleState(Py_TYPE(self));
}

static bool
read_expected(PyObject *object, uint64_t *expected)
{
	*expected = 0;
	if (object == Py_None)
		return true;
	if (PyBool_Check(object) || !PyLong_Check(object))
	{
		PyErr_SetString(PyExc_TypeError, "expected must be an int, or None");
		return false;
	}
	*expected = PyLong_AsUnsignedLongLong(object);
	if (PyErr_Occurred() || *expected == 0)
	{
		PyErr_Clear();
		PyErr_SetString(PyExc_ValueError, "expected must be a number of keys, at least 1");
		return false;
	}
	return true;
}

/* Reads the name of a type.  Returns false with an exception. */
static bool
read_name(ModuleState *state, PyObject *object, const char *kind, BloomfamType *type)
{
	const char *name;
	Py_ssize_t	len;
	BloomfamError error;

	if (!PyUnicode_Check(object))
	{
		PyErr_Format(PyExc_TypeError, "a type is a str, or a list of one for each column, not %R",
					 (PyObject *) Py_TYPE(object));
		return false;
	}
	name = PyUnicode_AsUTF8AndSize(object, &len);
	if (name == NULL)
		return false;
	if (strlen(name) != (size_t) len)
	{
		PyErr_SetString(PyExc_ValueError, "the name of a type has a zero character");
		return false;
	}
	if (bloomfam_type_by_name(name, kind, type, &error) == BLOOMFAM_OK)
		return true;
	raise_error(state, &error);
	return false;
}

/*
 * Reads the names of the types of a key's columns from a tuple.  Returns false with an exception.
 */
static bool
read_names(ModuleState *state, PyObject *names, const char *kind, BloomfamType *type)
{
	size_t		n = (size_t) PyTuple_Size(names);
	BloomfamType types[BLOOMFAM_MAX_COLUMNS];
	BloomfamError error;
	size_t		i;

	for (i = 0; i < n && i < BLOOMFAM_MAX_COLUMNS; i++)
	{
		if (!read_name(state, PyTuple_GetItem(names, (Py_ssize_t) i), kind, &types[i]))
			return false;
	}
	if (bloomfam_row_type(types, n, type, &error) == BLOOMFAM_OK)
		return true;
	raise_error(state, &error);
	return false;
}

/*
 * Reads a type: a name, or a list or tuple of names, one for each column of a key.  Returns false
 * with an exception.
 */
static bool
read_type(ModuleState *state, PyObject *object, const char *kind, BloomfamType *type)
{
	PyObject   *names;
	bool		fine;

	if (!PyList_Check(object) && !PyTuple_Check(object))
		return read_name(state, object, kind, type);
	names = PySequence_Tuple(object);
	fine = names != NULL && read_names(state, names, kind, type);
	Py_XDECREF(names);
	return fine;
}

static PyObject *
builder_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"type", "fpr", "kind", "expected", NULL};
	ModuleState *state = (ModuleState *) PyType_GetModuleState(cls);
	allocfunc	alloc = (allocfunc) PyType_GetSlot(cls, Py_tp_alloc);
	PyObject   *type_object;
	double		fpr = 0.01;
	const char *kind = "blocked";
	PyObject   *expected_object = Py_None;
	uint64_t	expected;
	BloomfamType type;
	BloomfamBuilder *builder;
	BloomfamError error;
	BloomfamStatus status;
	BuilderObject *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|dsO:Builder", names, &type_object, &fpr,
									 &kind, &expected_object) ||
		!read_expected(expected_object, &expected))
		return NULL;
	/* bloomfam_builder_make() would take a rate of 0 for the default. */
	if (!(fpr > 0 && fpr < 1))
	{
		PyErr_SetString(PyExc_ValueError, "fpr must be between 0 and 1");
		return NULL;
	}
	if (!read_type(state, type_object, kind, &type))
		return NULL;
	status = bloomfam_builder_make(&python_host, &type, kind, fpr, expected, &builder, &error);
	if (status != BLOOMFAM_OK)
		return raise_error(state, &error);

	self = (BuilderObject *) alloc(cls, 0);
	if (self == NULL)
	{
		bloomfam_builder_free(builder);
		return NULL;
	}
	self->builder = builder;
	self->type = type;
	self->busy = false;
	self->broken = false;
	return (PyObject *) self;
}

static void
builder_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	freefunc	release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	bloomfam_builder_free(((BuilderObject *) object)->builder);
	release(object);
	Py_DECREF(type);
}

/*
 * Marks the builder as in use by a call.  Returns false with an exception if another call uses it,
 * or if it is finished or broken.
 */
static bool
begin_call(BuilderObject *self)
{
	if (self->busy)
		PyErr_SetString(PyExc_RuntimeError, "the builder is in use by another call");
	else if (self->builder == NULL)
		PyErr_SetString(PyExc_ValueError, self->broken
						? "the builder cannot be used after it was broken off"
						: "the builder has finished");
	else
		self->busy = true;
	return self->busy && !PyErr_Occurred();
}

static void
end_call(BuilderObject *self, bool done)
{
	self->busy = false;
	if (done || self->broken)
	{
		bloomfam_builder_free(self->builder);
		self->builder = NULL;
	}
}

static PyObject *
builder_add(PyObject *object, PyObject *keys)
{
	BuilderObject *self = (BuilderObject *) object;
	Sink		sink;
	bool		added;

	if (!begin_call(self))
		return NULL;
	memset(&sink, 0, sizeof(sink));
	sink.state = state_of(object);
	sink.type = &self->type;
	sink.does = SINK_BUILDS;
	sink.is_strict = true;
	sink.builder = self;
	added = pass_keys(&sink, keys);
	end_call(self, false);
	if (!added)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *
builder_finish(PyObject *object, PyObject *unused)
{
	BuilderObject *self = (BuilderObject *) object;
	BloomfamFilter *filter;
	BloomfamError error;
	BloomfamStatus status;

	(void) unused;
	if (!begin_call(self))
		return NULL;
	begin_without_gil();
	status = bloomfam_builder_finish(self->builder, &filter, &error);
	end_without_gil();
	self->broken = status != BLOOMFAM_OK;
	end_call(self, true);
	return status == BLOOMFAM_OK ? filter_of(state_of(object), filter)
								 : raise_error(state_of(object), &error);
}

static PyMethodDef builder_methods[] = {
	{"add", builder_add, METH_O,
	 "add(keys)\n--\n\n"
	 "Adds a column of keys; NULLs are passed over.  After an error keys before it may be added.\n"
	 "Keys of several columns are a list of columns, or a DataFrame; a NULL in one is part of the\n"
	 "key, and after an error none is added."},
	{"finish", builder_finish, METH_NOARGS,
	 "finish()\n--\n\n"
	 "Gives the filter of all keys.  The builder cannot be used after it."},
	{NULL, NULL, 0, NULL}
};

static PyType_Slot builder_slots[] = {
	{Py_tp_doc, "Builder(type, fpr=0.01, kind='blocked', expected=None)\n--\n\n"
				"Makes a filter of keys of an SQL type, the same as SQL's bloom_agg.  The type of "
				"keys of\nseveral columns is a list of names, or 'int, date'."},
	{Py_tp_new, builder_new},
	{Py_tp_dealloc, builder_dealloc},
	{Py_tp_methods, builder_methods},
	{0, NULL}
};

PyType_Spec builder_spec = {"bloomfam.Builder", sizeof(BuilderObject), 0,
							Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, builder_slots};
