/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * builder.c
 *	  The type Builder: makes a filter of keys.
 *
 * A builder is used by one call at a time: a key that is read may run Python code, and a column is
 * added without the GIL.  A second call meanwhile is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "module.h"

#include "column.h"

static ModuleState *
state_of(PyObject *self)
{
	/* the type has no subclasses */
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

static PyObject *
builder_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"type", "fpr", "kind", "expected", NULL};
	ModuleState *state = (ModuleState *) PyType_GetModuleState(cls);
	allocfunc	alloc = (allocfunc) PyType_GetSlot(cls, Py_tp_alloc);
	const char *type_name;
	double		fpr = 0.01;
	const char *kind = "blocked";
	PyObject   *expected_object = Py_None;
	uint64_t	expected;
	BloomfamType type;
	BloomfamBuilder *builder;
	BloomfamError error;
	BloomfamStatus status;
	BuilderObject *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|dsO:Builder", names, &type_name, &fpr, &kind,
									 &expected_object) ||
		!read_expected(expected_object, &expected))
		return NULL;
	/* 0 would be taken for the default */
	if (!(fpr > 0 && fpr < 1))
	{
		PyErr_SetString(PyExc_ValueError, "fpr must be between 0 and 1");
		return NULL;
	}
	status = bloomfam_type_by_name(type_name, kind, &type, &error);
	if (status == BLOOMFAM_OK)
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

/* Takes the builder for a call; false with an exception. */
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
	 "Adds a column of keys; NULLs are passed over.  After an error keys before it may be added."},
	{"finish", builder_finish, METH_NOARGS,
	 "finish()\n--\n\n"
	 "Gives the filter of all keys.  The builder cannot be used after it."},
	{NULL, NULL, 0, NULL}
};

static PyType_Slot builder_slots[] = {
	{Py_tp_doc, "Builder(type, fpr=0.01, kind='blocked', expected=None)\n--\n\n"
				"Makes a filter of keys of an SQL type, the same as SQL's bloom_agg."},
	{Py_tp_new, builder_new},
	{Py_tp_dealloc, builder_dealloc},
	{Py_tp_methods, builder_methods},
	{0, NULL}
};

PyType_Spec builder_spec = {"bloomfam.Builder", sizeof(BuilderObject), 0,
							Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, builder_slots};
