/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  Batches of keys on their way to a filter or a builder, and the answers.
 *
 *-------------------------------------------------------------------------
 */
#include "batch.h"

/* ---- answers ---- */

bool
sink_reserve(Sink *sink, size_t n)
{
	size_t		wanted = sink->done + n;
	size_t		room;
	uint8_t    *answers;
	uint64_t   *hashes;

	if (sink->does == SINK_BUILDS || (wanted >= n && wanted <= sink->room))
		return true;
	if (wanted < n || wanted > PY_SSIZE_T_MAX / (2 * sizeof(*hashes)))
	{
		PyErr_NoMemory();
		return false;
	}
	room = sink->room * 2 > wanted ? sink->room * 2 : wanted;
	if (sink->does == SINK_HASHES)
	{
		hashes = (uint64_t *) PyMem_Realloc(sink->hashes, room * sizeof(*hashes));
		if (hashes == NULL)
		{
			PyErr_NoMemory();
			return false;
		}
		sink->hashes = hashes;
	}
	answers = (uint8_t *) PyMem_Realloc(sink->answers, room);
	if (answers == NULL)
	{
		PyErr_NoMemory();
		return false;
	}
	sink->answers = answers;
	sink->room = room;
	return true;
}

/* ---- errors ---- */

bool
refuse_key(const Sink *sink, size_t row, PyObject *exception, const char *format, ...)
{
	PyObject   *what;
	va_list		args;

	va_start(args, format);
	what = PyUnicode_FromFormatV(format, args);
	va_end(args);
	if (what == NULL)
		return false;
	if (sink->column > 0)
		PyErr_Format(exception, "column %zu, key %zu%U", sink->column, row, what);
	else
		PyErr_Format(exception, "key %zu%U", row, what);
	Py_DECREF(what);
	return false;
}

bool
refuse_column(const Sink *sink, const BloomfamError *error)
{
	BloomfamError named = *error;

	if (sink->column > 0)
		PyOS_snprintf(named.message, sizeof(named.message), "column %zu: %s", sink->column,
					  error->message);
	raise_error(sink->state, &named);
	return false;
}

bool
refuse_adding(Sink *sink, const BloomfamError *error)
{
	if (error->status == BLOOMFAM_NO_MEMORY || error->status == BLOOMFAM_STOPPED)
		sink->builder->broken = true;
	raise_error(sink->state, error);
	return false;
}

static bool
null_refused(const Sink *sink, size_t row)
{
	return refuse_key(sink, row, PyExc_ValueError,
					  " is NULL, which equals nothing; pass nulls=False or nulls=True");
}

static bool
bad_key(const Sink *sink, const BloomfamError *error, size_t row)
{
	bool		is_integer = sink->type != NULL && (sink->type->id == BLOOMFAM_TYPE_INT ||
													sink->type->id == BLOOMFAM_TYPE_OID);

	if (error->status != BLOOMFAM_BAD_KEY)
		return refuse_column(sink, error);
	return refuse_key(sink, row, is_integer ? PyExc_OverflowError : PyExc_ValueError, ": %s%s%s",
					  error->message, error->detail[0] != '\0' ? ". " : "", error->detail);
}

/*
 * Raises an exception that says what is wrong with key i of a column, which is bad or impossible.
 */
static bool
wrong_key(const Sink *sink, const BloomfamType *type, const BloomfamColumn *column, size_t i)
{
	BloomfamError error;

	if (bloomfam_column_error(type, column, i, &error) == BLOOMFAM_OK)
		return refuse_key(sink, sink->done + i, PyExc_ValueError, " cannot be read");
	return bad_key(sink, &error, sink->done + i);
}

/* ---- the library's answers ---- */

/*
 * Replaces the library's answers for keys by 0 (absent) and 1 (maybe). states, if not NULL, tells
 * which of the NULL keys stand for keys that are impossible.
 */
static bool
settle(Sink *sink, const BloomfamType *type, const BloomfamColumn *column,
	   const uint8_t *states, uint8_t *answers)
{
	size_t		i;

	for (i = 0; i < column->n; i++)
	{
		switch ((BloomfamAnswer) answers[i])
		{
			case BLOOMFAM_ABSENT:
			case BLOOMFAM_MAYBE:
				break;
			case BLOOMFAM_IMPOSSIBLE:
				answers[i] = 0;
				break;
			case BLOOMFAM_NULL:
				if (states != NULL && states[i] == KEY_IMPOSSIBLE)
					answers[i] = 0;
				else if (sink->nulls == NULLS_RAISE)
					return null_refused(sink, sink->done + i);
				else
					answers[i] = sink->nulls == NULLS_MAYBE;
				break;
			default:
				return wrong_key(sink, type, column, i);
		}
	}
	return true;
}

/*
 * Checks the answers for one of several columns.  NULLs stay NULL and impossible keys stay
 * impossible, since the whole key decides about them.
 */
static bool
settle_hashes(Sink *sink, const BloomfamColumn *column, const uint8_t *states, uint8_t *answers)
{
	size_t		i;

	for (i = 0; i < column->n; i++)
	{
		switch ((BloomfamAnswer) answers[i])
		{
			case BLOOMFAM_ABSENT:
			case BLOOMFAM_MAYBE:
				break;
			case BLOOMFAM_NULL:
				if (states != NULL && states[i] == KEY_IMPOSSIBLE)
					answers[i] = BLOOMFAM_IMPOSSIBLE;
				break;
			case BLOOMFAM_IMPOSSIBLE:
				if (!sink->is_strict)
					break;
				/* FALLTHROUGH */
			default:
				return wrong_key(sink, sink->type, column, i);
		}
	}
	return true;
}

/* ---- columns ---- */

/*
 * Finds a type that takes a column's meaning.  It serves to ask a filter without keys, which has no
 * family and takes any type.
 */
static BloomfamStatus
any_type(const BloomfamColumn *column, BloomfamType *type, BloomfamError *error)
{
	const BloomfamColumn *values = column->dictionary != NULL ? column->dictionary : column;
	const char *name = "text";

	switch (values->meaning)
	{
		case BLOOMFAM_INTEGER:
			name = "bigint";
			break;
		case BLOOMFAM_FLOATING:
			name = "double precision";
			break;
		case BLOOMFAM_BOOLEAN:
			name = "boolean";
			break;
		case BLOOMFAM_BYTES:
			name = "bytea";
			break;
		case BLOOMFAM_DECIMAL:
			name = "numeric";
			break;
		case BLOOMFAM_DATE:
			name = "date";
			break;
		case BLOOMFAM_TIME:
			name = "time";
			break;
		case BLOOMFAM_TIMESTAMP:
			name = "timestamp";
			break;
		case BLOOMFAM_TIMESTAMPTZ:
			name = "timestamptz";
			break;
		case BLOOMFAM_DURATION:
			name = "interval";
			break;
		default:
			break;
	}
	return bloomfam_type_by_name(name, NULL, type, error);
}

static bool
ask_column(Sink *sink, const BloomfamColumn *column, const uint8_t *states, bool without_gil)
{
	const BloomfamType *type = sink->type;
	uint8_t    *answers;
	BloomfamType any;
	BloomfamCounts counts;
	BloomfamError error;
	BloomfamStatus status = BLOOMFAM_OK;

	if (type == NULL)
	{
		status = any_type(column, &any, &error);
		type = &any;
	}
	if (status != BLOOMFAM_OK)
	{
		raise_error(sink->state, &error);
		return false;
	}
	if (!sink_reserve(sink, column->n))
		return false;
	answers = sink->answers + sink->done;
	if (without_gil)
		begin_without_gil();
	status = bloomfam_ask(sink->filter, type, column, answers, &counts, &error);
	if (without_gil)
		end_without_gil();
	if (status != BLOOMFAM_OK)
	{
		raise_error(sink->state, &error);
		return false;
	}
	if (counts.first_odd != BLOOMFAM_NO_ROW && !settle(sink, type, column, states, answers))
		return false;
	sink->done += column->n;
	return true;
}

static bool
add_column(Sink *sink, const BloomfamColumn *column, bool without_gil)
{
	BuilderObject *object = sink->builder;
	BloomfamError error;
	BloomfamStatus status;

	if (without_gil)
		begin_without_gil();
	status = bloomfam_builder_add(object->builder, column, NULL, NULL, &error);
	if (without_gil)
		end_without_gil();
	if (status == BLOOMFAM_OK)
	{
		sink->done += column->n;
		return true;
	}
	if (status == BLOOMFAM_BAD_KEY && error.row != BLOOMFAM_NO_ROW)
		return bad_key(sink, &error, sink->done + error.row);
	return refuse_adding(sink, &error);
}

static bool
hash_column(Sink *sink, const BloomfamColumn *column, const uint8_t *states, bool without_gil)
{
	uint64_t   *hashes;
	uint8_t    *answers;
	BloomfamCounts counts;
	BloomfamError error;
	BloomfamStatus status;

	if (!sink_reserve(sink, column->n))
		return false;
	hashes = sink->hashes + sink->done;
	answers = sink->answers + sink->done;
	if (without_gil)
		begin_without_gil();
	status = bloomfam_hash(sink->type, column, hashes, answers, &counts, &error);
	if (without_gil)
		end_without_gil();
	if (status != BLOOMFAM_OK)
		return refuse_column(sink, &error);
	if (counts.first_odd != BLOOMFAM_NO_ROW && !settle_hashes(sink, column, states, answers))
		return false;
	sink->done += column->n;
	return true;
}

static bool
pass_column(Sink *sink, const BloomfamColumn *column, const uint8_t *states, bool without_gil)
{
	without_gil = without_gil && column->n >= WITHOUT_GIL_FROM;
	switch (sink->does)
	{
		case SINK_ASKS:
			return ask_column(sink, column, states, without_gil);
		case SINK_BUILDS:
			return add_column(sink, column, without_gil);
		default:
			return hash_column(sink, column, states, without_gil);
	}
}

bool
sink_column(Sink *sink, const BloomfamColumn *column, bool without_gil)
{
	return pass_column(sink, column, NULL, without_gil);
}

/* ---- batches ---- */

void
batch_begin(Batch *batch, Sink *sink)
{
	batch->sink = sink;
	batch->read = NULL;
	batch->nan_is_null = false;
	batch->n = 0;
	batch->meaning = BLOOMFAM_INTEGER;
	batch->layout = BLOOMFAM_INT64;
	batch->scale = 0;
	batch->odd = false;
	batch->nheld = 0;
	memset(batch->known, 0, sizeof(batch->known));
}

static void
let_go(Batch *batch)
{
	/*
	 * Releasing an object may run Python code in its destructor, which may use the batch: so the
	 * batch is valid before each release.
	 */
	while (batch->nheld > 0)
		Py_DECREF(batch->held[--batch->nheld]);
}

bool
batch_flush(Batch *batch)
{
	BloomfamColumn column;
	bool		passed;

	if (batch->n == 0)
		return true;
	memset(&column, 0, sizeof(column));
	column.meaning = batch->meaning;
	column.layout = batch->layout;
	column.scale = batch->scale;
	column.n = batch->n;
	column.values = &batch->u;
	column.nulls = batch->odd ? batch->states : NULL;
	passed = pass_column(batch->sink, &column, batch->states, false);
	batch->n = 0;
	batch->odd = false;
	let_go(batch);
	return passed;
}

void
batch_end(Batch *batch)
{
	int			i;

	let_go(batch);
	for (i = 0; i < KNOWN_COUNT; i++)
		Py_CLEAR(batch->known[i]);
}

bool
batch_make_room(Batch *batch, BloomfamMeaning meaning, BloomfamLayout layout, int32_t scale)
{
	if (!batch_flush(batch))
		return false;
	batch->meaning = meaning;
	batch->layout = layout;
	batch->scale = scale;
	return true;
}

/* Appends a key without a value to a batch of any layout. */
static bool
batch_odd(Batch *batch, KeyState key_state)
{
	/* A column that consists of NULLs only must have a meaning that every type takes. */
	if ((batch->n == 0 || batch->n == BATCH_SIZE) &&
		!batch_make_room(batch, BLOOMFAM_WRITTEN, BLOOMFAM_PIECES, 0))
		return false;
	if (batch->layout == BLOOMFAM_PIECES)
	{
		batch->u.pieces[batch->n].bytes = NULL;
		batch->u.pieces[batch->n].len = 0;
	}
	else if (batch->layout == BLOOMFAM_BOOLS)
		batch->u.bools[batch->n] = 0;
	else
		batch->u.numbers[batch->n] = 0;
	batch->states[batch->n++] = (uint8_t) key_state;
	batch->odd = true;
	return true;
}

bool
batch_null(Batch *batch)
{
	return batch_odd(batch, KEY_IS_NULL);
}

bool
batch_impossible(Batch *batch, PyObject *exception, const char *why)
{
	if (batch->sink->is_strict)
		return batch_refuse(batch, exception, ": %s", why);
	return batch_odd(batch, KEY_IMPOSSIBLE);
}
