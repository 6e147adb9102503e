/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  Batches of keys on their way to a filter or a builder.
 *
 * Python objects become keys one by one, and go to the library in batches of keys of one meaning.
 * A column whose layout in memory the library takes is passed on directly, without the GIL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PY_BATCH_H
#define BLOOMFAM_PY_BATCH_H

#include "module.h"

/*
 * What is answered for a key that is NULL when a filter is asked: an exception, absent, or maybe.
 */
typedef enum Nulls
{
	NULLS_RAISE,
	NULLS_ABSENT,
	NULLS_MAYBE
} Nulls;

/* The minimum number of keys for which it pays to release the GIL. */
#define WITHOUT_GIL_FROM	1000

/* The destination of keys: a filter, a builder, or arrays of hashes. */
typedef struct Sink
{
	ModuleState *state;
	/* Type of the keys; NULL: the sink asks a filter without keys, which takes any type. */
	const BloomfamType *type;
	enum
	{
		SINK_ASKS,
		SINK_BUILDS,
		/*
		 * The sink hashes one column of keys that have several columns; rows.c combines the hashes.
		 */
		SINK_HASHES
	}			does;
	/*
	 * True if a key that equals no value of its type raises an exception, as when keys are added;
	 * false if it is answered as absent.
	 */
	bool		is_strict;
	BloomfamFilter *filter;		/* The filter to ask, for SINK_ASKS. */
	BuilderObject *builder;		/* The builder to add to, for SINK_BUILDS. */
	/* If the sink hashes one column of several: the column's number, from 1; otherwise 0. */
	size_t		column;

	Nulls		nulls;

	/* The arrays below are allocated by PyMem_Realloc(), and freed by the caller. */
	/* SINK_ASKS: 0 or 1 for each key; SINK_HASHES: a BloomfamAnswer for each key. */
	uint8_t    *answers;
	uint64_t   *hashes;			/* SINK_HASHES: the hash of each key. */
	size_t		room;			/* Number of entries allocated in answers and hashes. */
	size_t		done;			/* Number of keys that have passed through the sink. */
} Sink;

/* Makes room for n more answers, and hashes if needed.  Returns false with an exception. */
extern bool sink_reserve(Sink *sink, size_t n);

/*
 * Asks for, adds or hashes the keys of a column.  Returns false with an exception. without_gil may
 * be true only if no other thread can free what the column points to.
 */
extern bool sink_column(Sink *sink, const BloomfamColumn *column, bool without_gil);

/*
 * Raises an exception about the key with index row in its column.  The message begins with the
 * key's place (row and column), and goes on with a text that is formatted as by PyErr_Format().
 * Always returns false.
 */
extern bool refuse_key(const Sink *sink, size_t row, PyObject *exception, const char *format, ...);

/* Raises an error of the library that concerns a whole column.  Always returns false. */
extern bool refuse_column(const Sink *sink, const BloomfamError *error);

/*
 * Raises an error of bloomfam_builder_add(), and marks the builder as broken if its keys are
 * unknown now.  Always returns false.
 */
extern bool refuse_adding(Sink *sink, const BloomfamError *error);

#define BATCH_SIZE		512

/* The state of a key in a batch. */
typedef enum KeyState
{
	KEY_VALUE = 0,
	KEY_IS_NULL = 1,
	KEY_IMPOSSIBLE = 2			/* No key of the type can equal this key. */
} KeyState;

/* Python classes and objects that readers of keys need, looked up when a batch first needs them. */
typedef enum Known
{
	KNOWN_DECIMAL,
	KNOWN_UUID,
	KNOWN_DATE,
	KNOWN_DATETIME,
	KNOWN_TIME,
	KNOWN_TIMEDELTA,
	KNOWN_TIMEZONE,
	KNOWN_EPOCH,				/* 1970-01-01 00:00, naive or aware as the keys are. */
	KNOWN_NETWORKS				/* A tuple of the classes for IP addresses and networks. */
} Known;

#define KNOWN_COUNT		(KNOWN_NETWORKS + 1)

typedef struct Batch Batch;

/* Reads an object as a key, and appends it to a batch.  Returns false with an exception. */
typedef bool (*ReadObject) (Batch *batch, PyObject *object);

struct Batch
{
	Sink	   *sink;
	ReadObject	read;
	bool		nan_is_null;	/* True if NaN is NULL, as in object columns of pandas. */

	size_t		n;
	BloomfamMeaning meaning;	/* Meaning of all keys in the batch, if n > 0. */
	BloomfamLayout layout;
	int32_t		scale;
	bool		odd;			/* True if the state of some key is not KEY_VALUE. */
	uint8_t		states[BATCH_SIZE];
	union
	{
		int64_t		numbers[BATCH_SIZE];
		double		doubles[BATCH_SIZE];
		uint8_t		bools[BATCH_SIZE];
		BloomfamPiece pieces[BATCH_SIZE];
	}			u;
	size_t		nheld;
	PyObject   *held[BATCH_SIZE];	/* The objects, owned by the batch, that pieces point into. */
	PyObject   *known[KNOWN_COUNT]; /* Owned; NULL: not needed so far, or not available. */
};

/* Begins a batch. batch_end() must be called later, also after an error. */
extern void batch_begin(Batch *batch, Sink *sink);

/*
 * Passes the keys in the batch to its sink, and empties the batch.  Returns false with an
 * exception.
 */
extern bool batch_flush(Batch *batch);

/* Releases the references that a batch holds. */
extern void batch_end(Batch *batch);

/* Refuses the next key of a batch, as refuse_key() does. */
#define batch_refuse(batch, ...)	\
	refuse_key((batch)->sink, (batch)->sink->done + (batch)->n, __VA_ARGS__)

extern bool batch_make_room(Batch *batch, BloomfamMeaning meaning, BloomfamLayout layout,
							int32_t scale);

/*
 * Ensures that one more key of the given meaning, layout and scale fits into the batch.  Returns
 * false with an exception.
 */
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
 * Appends a text or bytes to a batch.  If owner is not NULL, the batch takes over the caller's
 * reference to it, also on failure, and holds it until the bytes have been passed to the sink.
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
 * Appends a key that no key of the type can equal.  The key is certainly absent; if keys are added,
 * it is an error, with the given exception and reason.
 */
extern bool batch_impossible(Batch *batch, PyObject *exception, const char *why);

#endif							/* BLOOMFAM_PY_BATCH_H */
