/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.c
 *	  The module bloomfam._bloomfam, and errors of the library as exceptions.
 *
 *-------------------------------------------------------------------------
 */
#include "module.h"

#include <stdlib.h>
#include <time.h>

/* ---- errors ---- */

PyObject *
raise_error(ModuleState *state, const BloomfamError *error)
{
	PyObject   *type = PyExc_ValueError;

	switch (error->status)
	{
		case BLOOMFAM_NO_MEMORY:
			return PyErr_NoMemory();
		case BLOOMFAM_STOPPED:
			/* A signal's handler has stopped the work, and has raised an exception. */
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_RuntimeError, error->message);
			return NULL;
		case BLOOMFAM_IO:
			type = PyExc_OSError;
			break;
		case BLOOMFAM_INVALID:
			type = state->invalid_filter;
			break;
		case BLOOMFAM_NOT_ASKABLE:
			type = state->not_askable;
			break;
		case BLOOMFAM_WRONG_TYPE:
			type = PyExc_TypeError;
			break;
		default:
			break;
	}
	PyErr_Format(type, "%s%s%s%s%s", error->message, error->detail[0] != '\0' ? ". " : "",
				 error->detail, error->hint[0] == '\0' ? ""
				 : error->detail[0] != '\0'			   ? " "
													   : ". ",
				 error->hint);
	return NULL;
}

/* ---- without the GIL ---- */

/*
 * The state of this thread during work without the GIL: the thread state that it released, and the
 * time at which it last checked for signals.
 */
static _Thread_local PyThreadState *given_up;
static _Thread_local struct timespec looked;

/* Interval in ms between two checks for signals, each of which has to take the GIL. */
#define LOOK_EVERY		100

static bool
stop_for_signals(void *arg)
{
	struct timespec now;
	bool		raised;

	(void) arg;
	if (given_up == NULL)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - looked.tv_sec) * 1000 + (now.tv_nsec - looked.tv_nsec) / 1000000 < LOOK_EVERY)
		return false;

	end_without_gil();
	raised = PyErr_CheckSignals() != 0;
	begin_without_gil();
	return raised;
}

void
begin_without_gil(void)
{
	clock_gettime(CLOCK_MONOTONIC, &looked);
	given_up = PyEval_SaveThread();
}

void
end_without_gil(void)
{
	PyThreadState *mine = given_up;

	/*
	 * A signal's handler may release the GIL itself, so the state is reset before handlers can run.
	 */
	given_up = NULL;
	PyEval_RestoreThread(mine);
}

static void *
host_alloc(void *arg, size_t size)
{
	(void) arg;
	return malloc(size > 0 ? size : 1);
}

static void
host_release(void *arg, void *memory)
{
	(void) arg;
	free(memory);
}

const BloomfamHost python_host = {host_alloc, host_release, stop_for_signals, NULL};

/* ---- the module ---- */

static int
add_exception(PyObject *module, const char *name, const char *doc, PyObject *base,
			  PyObject **exception)
{
	char		qualified[64];

	PyOS_snprintf(qualified, sizeof(qualified), "bloomfam.%s", name);
	*exception = PyErr_NewExceptionWithDoc(qualified, doc, base, NULL);
	return *exception == NULL ? -1 : PyModule_AddObjectRef(module, name, *exception);
}

static int
add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
	*type = (PyTypeObject *) PyType_FromModuleAndSpec(module, spec, NULL);
	return *type == NULL ? -1 : PyModule_AddType(module, *type);
}

static int
add_list(PyObject *module, const char *attribute, const char *(*name) (size_t i))
{
	PyObject   *list = PyList_New(0);
	PyObject   *tuple;
	size_t		i;
	int			added;

	for (i = 0; list != NULL && name(i) != NULL; i++)
	{
		PyObject   *string = PyUnicode_FromString(name(i));

		if (string == NULL || PyList_Append(list, string) < 0)
			Py_CLEAR(list);
		Py_XDECREF(string);
	}
	if (list == NULL)
		return -1;
	tuple = PyList_AsTuple(list);
	Py_DECREF(list);
	if (tuple == NULL)
		return -1;
	added = PyModule_AddObjectRef(module, attribute, tuple);
	Py_DECREF(tuple);
	return added;
}

static const char *const names[NAME_COUNT] = {
	[NAME_STR] = "__str__",
	[NAME_BYTES] = "bytes",
	[NAME_TOORDINAL] = "toordinal",
	[NAME_SUB] = "__sub__",
	[NAME_UTCOFFSET] = "utcoffset",
	[NAME_DAYS] = "days",
	[NAME_SECONDS] = "seconds",
	[NAME_MICROSECONDS] = "microseconds",
	[NAME_HOUR] = "hour",
	[NAME_MINUTE] = "minute",
	[NAME_SECOND] = "second",
	[NAME_MICROSECOND] = "microsecond",
	[NAME_DECIMAL_MODULE] = "decimal",
	[NAME_DECIMAL] = "Decimal",
	[NAME_UUID_MODULE] = "uuid",
	[NAME_UUID] = "UUID",
	[NAME_DATETIME] = "datetime",
	[NAME_DATE] = "date",
	[NAME_TIME] = "time",
	[NAME_TIMEDELTA] = "timedelta",
	[NAME_TIMEZONE] = "timezone",
	[NAME_UTC] = "utc",
	[NAME_IPADDRESS] = "ipaddress",
	[NAME_IPV4_ADDRESS] = "IPv4Address",
	[NAME_IPV6_ADDRESS] = "IPv6Address",
	[NAME_IPV4_NETWORK] = "IPv4Network",
	[NAME_IPV6_NETWORK] = "IPv6Network",
};

static int
module_exec(PyObject *module)
{
	ModuleState *state = (ModuleState *) PyModule_GetState(module);
	PyObject   *columns;
	int			i;

	for (i = 0; i < NAME_COUNT; i++)
	{
		state->names[i] = PyUnicode_InternFromString(names[i]);
		if (state->names[i] == NULL)
			return -1;
	}

	if (add_exception(module, "InvalidFilterError", "The bytes are not a filter, or damaged.",
					  PyExc_ValueError, &state->invalid_filter) < 0 ||
		add_exception(module, "NotAskableError",
					  "Keys of this filter cannot be hashed outside the server.", PyExc_TypeError,
					  &state->not_askable) < 0 ||
		add_type(module, &filter_spec, &state->filter_type) < 0 ||
		add_type(module, &builder_spec, &state->builder_type) < 0 ||
		add_list(module, "kinds", bloomfam_kind_name) < 0 ||
		add_list(module, "types", bloomfam_type_name) < 0 ||
		PyModule_AddStringConstant(module, "__version__", bloomfam_version()) < 0)
		return -1;

	columns = PyImport_ImportModule("bloomfam._columns");
	if (columns == NULL)
		return -1;
	state->column = PyObject_GetAttrString(columns, "column");
	state->table = PyObject_GetAttrString(columns, "table");
	state->scalar = PyObject_GetAttrString(columns, "scalar");
	state->answers = PyObject_GetAttrString(columns, "answers");
	Py_DECREF(columns);
	return state->column != NULL && state->table != NULL && state->scalar != NULL &&
				   state->answers != NULL
			   ? 0
			   : -1;
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
	ModuleState *state = (ModuleState *) PyModule_GetState(module);

	if (state == NULL)
		return 0;
	Py_VISIT(state->filter_type);
	Py_VISIT(state->builder_type);
	Py_VISIT(state->invalid_filter);
	Py_VISIT(state->not_askable);
	Py_VISIT(state->column);
	Py_VISIT(state->table);
	Py_VISIT(state->scalar);
	Py_VISIT(state->answers);
	return 0;
}

static int
module_clear(PyObject *module)
{
	ModuleState *state = (ModuleState *) PyModule_GetState(module);
	int			i;

	if (state == NULL)
		return 0;
	Py_CLEAR(state->filter_type);
	Py_CLEAR(state->builder_type);
	Py_CLEAR(state->invalid_filter);
	Py_CLEAR(state->not_askable);
	Py_CLEAR(state->column);
	Py_CLEAR(state->table);
	Py_CLEAR(state->scalar);
	Py_CLEAR(state->answers);
	for (i = 0; i < NAME_COUNT; i++)
		Py_CLEAR(state->names[i]);
	return 0;
}

static void
module_free(void *module)
{
	module_clear((PyObject *) module);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef module_def = {
	PyModuleDef_HEAD_INIT,
	"bloomfam._bloomfam",
	"Filters of the PostgreSQL extension bloomfam.",
	sizeof(ModuleState),
	NULL,
	module_slots,
	module_traverse,
	module_clear,
	module_free
};

PyMODINIT_FUNC PyInit__bloomfam(void);

PyMODINIT_FUNC
PyInit__bloomfam(void)
{
	return PyModuleDef_Init(&module_def);
}
