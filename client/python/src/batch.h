/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  Keys on their way to a filter or a builder.
 *
 * Objects become keys one by one, and go to the library in batches of one meaning.  Columns that
 * lie in memory as the library takes them go there as they are, without the GIL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_BATCH_H
#define BLOOMFAM_PY_BATCH_H

#include "module.h"

/* What asking makes of NULL. */
typedef enum Nulls
{
	NULLS_RAISE,
	NULLS_ABSENT,
	NULLS_MAYBE
} Nulls;

/* Columns of fewer keys are not worth giving up the GIL. */
#define WITHOUT_GIL_FROM	1000

/* Where keys go.  A filter gives answers. */
typedef struct Sink
{
	ModuleState *state;
	const BloomfamType *type;	/* of the keys; NULL: of a filter without keys, any */
	enum
	{
		SINK_ASKS,
		SINK_BUILDS,
		SINK_HASHES				/* one column of keys of several, for rows.c */
	}			does;
	bool		is_strict;		/* what no key can equal is an error, as keys are added */
	BloomfamFilter *filter;		/* asks */
	BuilderObject *builder;		/* builds */
	size_t		column;			/* hashes: which column it is, from 1; else 0 */

	Nulls		nulls;

	/* of PyMem_Realloc(), the caller frees them */
	uint8_t    *answers;		/* asks: 0 or 1 each; hashes: a BloomfamAnswer each */
	uint64_t   *hashes;			/* hashes */
	size_t		room;			/* of both */
	size_t		done;			/* keys that have passed */
} Sink;

/* Makes room for n more answers; false with an exception. */
extern bool sink_reserve(Sink *sink, size_t n);

/*
 * Asks for, adds or hashes the keys of a column; false with an exception.  without_gil: nothing
 * that the column points to can go away meanwhile.
 */
extern bool sink_column(Sink *sink, const BloomfamColumn *column, bool without_gil);

/*
 * Raises an exception for the key with this index in its column, which the message begins with; a
 * format as of PyErr_Format() goes on.  Always returns false.
 */
extern bool refuse_key(const Sink *sink, size_t row, PyObject *exception, const char *format, ...);

/* Raises the library's error about a column as a whole.  Always returns false. */
extern bool refuse_column(const Sink *sink, const BloomfamError *error);

/* Raises what comes of a builder's failure to add.  Always returns false. */
extern bool refuse_adding(Sink *sink, const BloomfamError *error);

#define BATCH_SIZE		512

/* What is known of a key in a batch. */
typedef enum KeyState
{
	KEY_VALUE = 0,
	KEY_IS_NULL = 1,
	KEY_IMPOSSIBLE = 2			/* no key of the type can equal it */
} KeyState;

/* Classes and functions of Python that objects are read by, once a batch needs them. */
typedef enum Known
{
	KNOWN_DECIMAL,
	KNOWN_UUID,
	KNOWN_DATE,
	KNOWN_DATETIME,
	KNOWN_TIME,
	KNOWN_TIMEDELTA,
	KNOWN_TIMEZONE,
	KNOWN_EPOCH,				/* 1970-01-01 00:00, as naive or aware as the keys */
	KNOWN_NETWORKS				/* a tuple: addresses, networks, interfaces */
} Known;

#define KNOWN_COUNT		(KNOWN_NETWORKS + 1)

typedef struct Batch Batch;

/* Appends an object as a key to a batch; false with an exception. */
typedef bool (*ReadObject) (Batch *batch, PyObject *object);

struct Batch
{
	Sink	   *sink;
	ReadObject	read;
	bool		nan_is_null;	/* of objects in a column of pandas */

	size_t		n;
	BloomfamMeaning meaning;	/* of all of them, if n > 0 */
	BloomfamLayout layout;
	int32_t		scale;
	bool		odd;			/* some state is not KEY_VALUE */
	uint8_t		states[BATCH_SIZE];
	union
	{
		int64_t		numbers[BATCH_SIZE];
		double		doubles[BATCH_SIZE];
		uint8_t		bools[BATCH_SIZE];
		BloomfamPiece pieces[BATCH_SIZE];
	}			u;
	size_t		nheld;
	PyObject   *held[BATCH_SIZE];	/* owned: what pieces point into */
	PyObject   *known[KNOWN_COUNT]; /* owned; NULL: not needed so far, or not there */
};

/* Begins a batch.  It must be ended, whatever happens to it in between. */
extern void batch_begin(Batch *batch, Sink *sink);

/* Passes on what is in the batch; false with an exception. */
extern bool batch_flush(Batch *batch);

/* Gives back what the batch holds. */
extern void batch_end(Batch *batch);

/* The same as refuse_key(), for the next key of a batch. */
#define batch_refuse(batch, ...)	\
	refuse_key((batch)->sink, (batch)->sink->done + (batch)->n, __VA_ARGS__)

extern bool batch_make_room(Batch *batch, BloomfamMeaning meaning, BloomfamLayout layout,
							int32_t scale);

/* Sees to it that one more key of this meaning fits. */
static inline bool
batch_room(Batch *batch, BloomfamMeaning meaning, BloomfamLayout layout, int32_t scale)
{
	if (batch->n > 0 && batch->n < BATCH_SIZE && batch->meaning == meaning &&
		batch->layout == layout && batch->scale == scale)
		return true;
	return batch_make_room(batch, meaning, layout, scale);
}

static inline bool
batch_number(Batch *batch, BloomfamMeaning meaning, int32_t scale, int64_t number)
{
	if (!batch_room(batch, meaning, BLOOMFAM_INT64, scale))
		return false;
	batch->states[batch->n] = KEY_VALUE;
	batch->u.numbers[batch->n++] = number;
	return true;
}

static inline bool
batch_double(Batch *batch, double number)
{
	if (!batch_room(batch, BLOOMFAM_FLOATING, BLOOMFAM_FLOAT64, 0))
		return false;
	batch->states[batch->n] = KEY_VALUE;
	batch->u.doubles[batch->n++] = number;
	return true;
}

static inline bool
batch_bool(Batch *batch, bool value)
{
	if (!batch_room(batch, BLOOMFAM_BOOLEAN, BLOOMFAM_BOOLS, 0))
		return false;
	batch->states[batch->n] = KEY_VALUE;
	batch->u.bools[batch->n++] = value;
	return true;
}

/*
 * Texts and bytes.  The owner of the bytes, if not NULL, is held until they have been passed on:
 * the batch takes over the caller's reference to it, also if it fails.
 */
static inline bool
batch_piece(Batch *batch, BloomfamMeaning meaning, PyObject *owner, const void *bytes, size_t len)
{
	if (!batch_room(batch, meaning, BLOOMFAM_PIECES, 0))
	{
		Py_XDECREF(owner);
		return false;
	}
	if (owner != NULL)
		batch->held[batch->nheld++] = owner;
	batch->states[batch->n] = KEY_VALUE;
	batch->u.pieces[batch->n].bytes = bytes;
	batch->u.pieces[batch->n++].len = len;
	return true;
}

extern bool batch_null(Batch *batch);

/*
 * A key that no key of the type can equal: certainly absent, and an error where a filter is built.
 * exception and why are for that.
 */
extern bool batch_impossible(Batch *batch, PyObject *exception, const char *why);

#endif							/* BLOOMFAM_PY_BATCH_H */
