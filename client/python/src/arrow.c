/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * arrow.c
 *	  Columns that come as capsules of Arrow's C data interface.
 *
 * A capsule owns the struct in it until a consumer moves the struct out.  The functions here first
 * move it out, and release it themselves.  The library reads the layouts.
 *
 *-------------------------------------------------------------------------
 */
#include "column.h"

#include <errno.h>

/* The Arrow C stream interface, as its specification defines it. */
struct ArrowArrayStream
{
	int			(*get_schema) (struct ArrowArrayStream *, struct ArrowSchema *out);
	int			(*get_next) (struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error) (struct ArrowArrayStream *);
	void		(*release) (struct ArrowArrayStream *);
	void	   *private_data;
};

/*
 * Releases a struct of Arrow without losing the current exception: a producer's release() may run
 * Python code.
 */
#define RELEASE(object)										\
	do														\
	{														\
		if ((object)->release != NULL)						\
		{													\
			PyObject   *type, *value, *traceback;			\
															\
			PyErr_Fetch(&type, &value, &traceback);			\
			(object)->release(object);						\
			PyErr_Restore(type, value, traceback);			\
			(object)->release = NULL;						\
		}													\
	} while (0)

static bool
used_already(const char *what)
{
	PyErr_Format(PyExc_ValueError, "the capsule's %s has been released", what);
	return false;
}

static bool
pass_array(Sink *sink, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
	BloomfamColumn columns[2];
	BloomfamError error;

	if (bloomfam_arrow(schema, array, columns, &error) != BLOOMFAM_OK)
		return refuse_column(sink, &error);
	return sink_column(sink, &columns[0], true);
}

bool
read_arrow_array(Batch *batch, PyObject *capsules)
{
	struct ArrowSchema *their_schema;
	struct ArrowArray *their_array;
	struct ArrowSchema schema;
	struct ArrowArray array;
	PyObject   *schema_capsule;
	PyObject   *array_capsule;
	bool		fine = false;

	if (!PyTuple_Check(capsules) || PyTuple_Size(capsules) != 2)
	{
		PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ must return two capsules");
		return false;
	}
	schema_capsule = PyTuple_GetItem(capsules, 0);
	array_capsule = PyTuple_GetItem(capsules, 1);
	their_schema = (struct ArrowSchema *) PyCapsule_GetPointer(schema_capsule, "arrow_schema");
	if (their_schema == NULL)
		return false;
	their_array = (struct ArrowArray *) PyCapsule_GetPointer(array_capsule, "arrow_array");
	if (their_array == NULL)
		return false;
	if (their_schema->release == NULL)
		return used_already("schema");
	if (their_array->release == NULL)
		return used_already("array");

	schema = *their_schema;
	their_schema->release = NULL;
	array = *their_array;
	their_array->release = NULL;
	fine = pass_array(batch->sink, &schema, &array);
	RELEASE(&array);
	RELEASE(&schema);
	return fine;
}

static bool
stream_failed(struct ArrowArrayStream *stream, int code)
{
	const char *why = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;

	if (!PyErr_Occurred())
		PyErr_Format(PyExc_OSError, "the stream fails with %d: %.500s", code,
					 why != NULL ? why : strerror(code));
	return false;
}

static bool
pass_stream(Sink *sink, struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
	struct ArrowArray array;
	PyThreadState *given_up;
	bool		fine = true;
	int			code;

	while (fine)
	{
		memset(&array, 0, sizeof(array));
		/* The GIL is released because the producer may wait for another Python thread. */
		given_up = PyEval_SaveThread();
		code = stream->get_next(stream, &array);
		PyEval_RestoreThread(given_up);
		if (code != 0)
			return stream_failed(stream, code);
		if (array.release == NULL)
			break;
		fine = pass_array(sink, schema, &array);
		RELEASE(&array);
	}
	return fine;
}

bool
read_arrow_stream(Batch *batch, PyObject *capsule)
{
	struct ArrowArrayStream *theirs;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	PyThreadState *given_up;
	bool		fine = false;
	int			code;

	theirs = (struct ArrowArrayStream *) PyCapsule_GetPointer(capsule, "arrow_array_stream");
	if (theirs == NULL)
		return false;
	if (theirs->release == NULL)
		return used_already("stream");
	stream = *theirs;
	theirs->release = NULL;

	if (stream.get_schema == NULL || stream.get_next == NULL)
		PyErr_SetString(PyExc_ValueError, "the stream is none, as it has no functions");
	else
	{
		memset(&schema, 0, sizeof(schema));
		given_up = PyEval_SaveThread();
		code = stream.get_schema(&stream, &schema);
		PyEval_RestoreThread(given_up);
		if (code != 0)
			stream_failed(&stream, code);
		else if (schema.release == NULL)
			used_already("schema");
		else
		{
			fine = pass_stream(batch->sink, &stream, &schema);
			RELEASE(&schema);
		}
	}
	RELEASE(&stream);
	return fine;
}
