/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomfam.h
 *	  libbloomfam: the filters of the PostgreSQL extension bloomfam, outside the server.
 *
 * A filter is a value of the SQL type bloomfilter: the bytes that docs/format.md describes.  This
 * library opens one, tells what it is, asks it for keys, builds and unites filters, and writes
 * them.  Keys are hashed as the server hashes them: what SQL's = calls equal to a key of the
 * filter is found, or there is an error that says why it cannot be asked.  It is never denied.
 *
 *	BloomfamFilter *filter;
 *	BloomfamError error;
 *	int64_t		ids[] = {1, 2, 3};
 *	BloomfamColumn keys = bloomfam_int64s(ids, 3);
 *	uint8_t		answers[3];
 *
 *	if (bloomfam_open_file(NULL, "ids.filter", BLOOMFAM_VALIDATE, &filter, &error) != BLOOMFAM_OK ||
 *		bloomfam_ask(filter, NULL, &keys, answers, NULL, &error) != BLOOMFAM_OK)
 *		fprintf(stderr, "%s\n", error.message);
 *
 * Conventions
 *
 *	- Every function that can fail returns a status.  If error is not NULL, it is filled in by a
 *	  failure, and left alone by success.  What a function would have returned through pointers
 *	  is then NULL or unchanged.
 *	- The library prints nothing, never aborts, installs no handlers, and has no mutable state of
 *	  its own.  It does not look at the locale.
 *	- A filter does not change.  Any number of threads may use one at the same time, but only one
 *	  may close it, when all have done with it.  A builder is used by one thread at a time.
 *	- Memory comes from a BloomfamHost; where one may be given, NULL means malloc() and free().
 *	- Bytes of a filter are hostile until bloomfam_validate() has accepted them.  Every function is
 *	  memory-safe on a filter that was merely opened, but its answers mean nothing if it lies.
 *	  Validation is against accidents: nobody is kept from writing a well-formed filter that lies.
 *	- Pointers that are given must be valid for the sizes that are told.  Only what the bytes of a
 *	  filter and of texts hold is distrusted; offsets and indices of columns are checked as far as
 *	  told sizes allow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_H
#define BLOOMFAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
{
#endif

#if defined(__GNUC__)
#define BLOOMFAM_API __attribute__((visibility("default")))
#else
#define BLOOMFAM_API
#endif

/* The release, as META.json has it.  bloomfam_version() is that of the library linked. */
#define BLOOMFAM_VERSION "1.0.0"

BLOOMFAM_API extern const char *bloomfam_version(void);

/* ---- status and errors ---- */

typedef enum BloomfamStatus
{
	BLOOMFAM_OK = 0,
	BLOOMFAM_NO_MEMORY,			/* the host's alloc() returned NULL */
	BLOOMFAM_IO,				/* a file; error.sys_errno says why */
	BLOOMFAM_INVALID,			/* the bytes are not a filter, or damaged */
	BLOOMFAM_BAD_ARGUMENT,		/* an unknown name of a type or kind, a rate out of range, ... */
	BLOOMFAM_NOT_ASKABLE,		/* keys of this filter cannot be hashed outside the server */
	BLOOMFAM_WRONG_TYPE,		/* keys are of another family than the filter's */
	BLOOMFAM_BAD_KEY,			/* a key cannot be read, or cannot be one of the filter's type */
	BLOOMFAM_UNSUPPORTED,		/* the kind of filter cannot do it, or two are unlike */
	BLOOMFAM_TOO_LARGE,			/* the value would exceed 500 MB */
	BLOOMFAM_FULL,				/* the filter takes no more keys */
	BLOOMFAM_STOPPED			/* the host's stop() said so, or a writer's write() failed */
} BloomfamStatus;

/* error.row where no key is to blame */
#define BLOOMFAM_NO_ROW UINT64_MAX

/*
 * What went wrong, for a person: texts are UTF-8, terminated, and hold no control characters
 * whatever a filter or a key held.  The message is short and in lower case, without a full stop;
 * detail and hint are sentences, or empty.
 */
typedef struct BloomfamError
{
	BloomfamStatus status;
	int			sys_errno;		/* of BLOOMFAM_IO; else 0 */
	uint64_t	row;			/* index of the key to blame within its column */
	char		message[256];
	char		detail[768];
	char		hint[256];
} BloomfamError;

/* ---- the host ---- */

/*
 * Memory, and a way to be asked to stop.
 *
 * alloc() returns memory that is aligned for any type, or NULL: the function at work then gives
 * all back that it took, and fails with BLOOMFAM_NO_MEMORY.  release() gets what alloc() returned,
 * never NULL.  stop() may be NULL; during work that takes long it is called often, from every 20
 * microseconds to every ms, and true ends the work with BLOOMFAM_STOPPED.  None of the three may
 * call this library on the object at work, nor leave by longjmp() or an exception.  They are called
 * in the thread that called.
 *
 * The struct is copied by whoever is given it; what arg points to must outlive all that was made
 * with it.
 */
typedef struct BloomfamHost
{
	void	   *(*alloc) (void *arg, size_t size);
	void		(*release) (void *arg, void *memory);
	bool		(*stop) (void *arg);
	void	   *arg;
} BloomfamHost;

/* ---- forms of a value ---- */

/* How a filter's bytes come, and go. */
typedef enum BloomfamForm
{
	BLOOMFAM_RAW,				/* as they are: what the cast to bytea has, and drivers send */
	BLOOMFAM_HEX,				/* \x and digits: psql, and every driver's text */
	BLOOMFAM_COPY_TEXT,			/* \\x and digits: COPY in text format */
	BLOOMFAM_COPY_BINARY		/* COPY in binary format, of one row with one column */
} BloomfamForm;

/* ---- opening ---- */

typedef struct BloomfamFilter BloomfamFilter;

/* Flags of what opens a filter. */
#define BLOOMFAM_VALIDATE	1	/* as bloomfam_validate(), at once */
#define BLOOMFAM_MAP		2	/* a file is mapped, not read */
#define BLOOMFAM_COPY		4	/* bytes are copied, as they are best for asking often */

/*
 * bloomfam_open: opens the filter in len bytes of any form, which it finds by itself.
 *
 * One newline (or CR and newline) at the end of a text form is fine.  Raw and COPY BINARY: O(1)
 * whatever the size, nothing is copied, and bytes must outlive the filter unchanged; they need no
 * alignment.  The hex forms: decoded into memory of the host, in time and memory linear in len,
 * and bytes are free again.  Fails with BLOOMFAM_INVALID, BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 *
 * What was decoded lies so that a key takes one cache line, which bytes of others do not.  With
 * BLOOMFAM_COPY all forms do: it pays from some keys for each kB of the filter on.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_open(const BloomfamHost *host, const void *bytes,
												 size_t len, unsigned flags,
												 BloomfamFilter **filter, BloomfamError *error);

/*
 * bloomfam_open_file: the same of all that is in a file, which is closed again.
 *
 * With BLOOMFAM_MAP a regular file is mapped, and raw and COPY BINARY forms are opened in O(1):
 * whoever makes the file shorter meanwhile ends the program by SIGBUS.  Without, and what is no
 * regular file, it is read into memory of the host, as by BLOOMFAM_COPY.  No filter has a file of
 * more than 1.1 GB: that fails.  Fails also with BLOOMFAM_IO.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_open_file(const BloomfamHost *host, const char *path,
													  unsigned flags, BloomfamFilter **filter,
													  BloomfamError *error);

/*
 * bloomfam_validate: reads all of the filter, and accepts it exactly where the server does when it
 * comes in.  Time: about that of reading it twice.  Fails with BLOOMFAM_INVALID and the reason,
 * BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_validate(const BloomfamFilter *filter,
													 BloomfamError *error);

/* Gives back what the filter has of the host's memory, and its mapping.  NULL is fine. */
BLOOMFAM_API extern void bloomfam_close(BloomfamFilter *filter);

/* ---- describing ---- */

/* What the header says: untrusted, but in the ranges told. */
typedef struct BloomfamInfo
{
	const char *kind;			/* "blocked", ...; "identity": the aggregate of no keys; "partial":
								 * an aggregate's state on its way, which cannot be asked */
	BloomfamForm form;			/* in which it came */
	bool		askable;		/* bloomfam_filter_type() will not fail */
	bool		empty;			/* it has no keys and no family: whatever is asked is absent */
	uint64_t	family_id;		/* 0: none */
	char		family[256];	/* name of the key family in UTF-8, odd bytes as '?'; "": unknown */
	uint64_t	capacity;		/* keys that it was made for; 0: identity */
	uint64_t	keys_added;		/* additions, repeated keys counted each time */
	double		target_fpr;		/* in (0, 1) at capacity; 0: identity */
	uint64_t	size;			/* bytes of the value, raw */
} BloomfamInfo;

/* What the payload says, estimated.  What has no meaning for a kind is negative. */
typedef struct BloomfamStats
{
	double		keys;			/* distinct keys */
	double		fpr;			/* false positive rate now */
	double		fill;			/* share of bits, counters or slots in use */
	uint64_t	bits;			/* size of the array of bits, counters or slots */
	uint32_t	hashes;			/* probes per key */
	uint32_t	stages;			/* parts that are probed one after another */
} BloomfamStats;

/* bloomfam_info: O(1), cannot fail. */
BLOOMFAM_API extern void bloomfam_info(const BloomfamFilter *filter, BloomfamInfo *info);

/*
 * bloomfam_stats: reads all of the payload.  Fails with BLOOMFAM_UNSUPPORTED for a partial,
 * BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_stats(const BloomfamFilter *filter,
												  BloomfamStats *stats, BloomfamError *error);

/* ---- types ---- */

/*
 * How a key is read and hashed.  Several SQL types share a family where SQL compares them; where
 * they read the same text as different keys, they are types of their own here.
 */
typedef enum BloomfamTypeId
{
	BLOOMFAM_TYPE_INT,			/* smallint, integer, bigint */
	BLOOMFAM_TYPE_FLOAT,		/* real or double precision, it is not known which: see below */
	BLOOMFAM_TYPE_REAL,
	BLOOMFAM_TYPE_DOUBLE,
	BLOOMFAM_TYPE_ANY_TEXT,		/* text or name, it is not known which: see below */
	BLOOMFAM_TYPE_TEXT,			/* text, varchar; blanks at the end are no part of a key */
	BLOOMFAM_TYPE_BPCHAR,		/* char(n): as text, but no key of kind parquet */
	BLOOMFAM_TYPE_NAME,			/* cut after 63 bytes; a longer one that is not all ASCII is bad,
								 * as the server's encoding says where it is cut */
	BLOOMFAM_TYPE_NUMERIC,
	BLOOMFAM_TYPE_BOOL,
	BLOOMFAM_TYPE_CHAR,			/* "char", one byte */
	BLOOMFAM_TYPE_BYTEA,
	BLOOMFAM_TYPE_UUID,
	BLOOMFAM_TYPE_DATE,
	BLOOMFAM_TYPE_TIME,
	BLOOMFAM_TYPE_TIMETZ,
	BLOOMFAM_TYPE_TIMESTAMP,
	BLOOMFAM_TYPE_TIMESTAMPTZ,
	BLOOMFAM_TYPE_INTERVAL,
	BLOOMFAM_TYPE_OID,
	BLOOMFAM_TYPE_INET,			/* inet, cidr */
	BLOOMFAM_TYPE_MACADDR,
	BLOOMFAM_TYPE_MACADDR8,
	BLOOMFAM_TYPE_PG_LSN,
	BLOOMFAM_TYPE_BIT,			/* bit, varbit */
	BLOOMFAM_TYPE_ENUM,			/* of any enum type: the label */
	BLOOMFAM_TYPE_ROW			/* rows of several columns, each of one of the types above */
} BloomfamTypeId;

/* The most columns that a key of several can have, as for indexes in SQL. */
#define BLOOMFAM_MAX_COLUMNS	32

/*
 * A type, and the family of its keys.  Made by the functions below, copied at will, not changed by
 * callers; id and family are for reading.
 *
 * FLOAT and ANY_TEXT are what a filter itself tells of its column.  '0.1' is one key as real and
 * another one as double precision, and a name keeps 63 bytes of a longer text.  Asking for such a
 * *written* key (see BLOOMFAM_WRITTEN) tests for both, and one yes is yes.  Building of one, or
 * its one hash, is an error that says so, unless both are the same key.
 */
typedef struct BloomfamType
{
	BloomfamTypeId id;
	uint64_t	family_id;
	char		family[256];	/* the name as it is in filters, such as "int", "parquet int64" */

	/* of families of kind parquet; for the library only */
	uint8_t		plain;			/* 0: no such family */
	uint8_t		plain_fixed;
	uint8_t		plain_bytes;
	uint8_t		plain_precision;
	uint8_t		plain_scale;

	/* of BLOOMFAM_TYPE_ROW; for the library only */
	uint8_t		ncolumns;
	uint8_t		columns[BLOOMFAM_MAX_COLUMNS];	/* each a BloomfamTypeId */
} BloomfamType;

/*
 * bloomfam_type_by_name: the type with an SQL name, or one that only filters have.
 *
 * SQL names: smallint int2 integer int int4 bigint int8; real float4; "double precision" float
 * float8; numeric decimal; text varchar "character varying"; char character bpchar; name; boolean
 * bool; bytea; uuid; date; time timetz timestamp timestamptz, the longer names of these, such as
 * "timestamp with time zone"; interval; oid; inet cidr; macaddr macaddr8; pg_lsn; bit varbit
 * "bit varying"; and "char", its quotes included.  Upper and lower case are the same, and
 * "pg_catalog." before is fine.  A length in parentheses is accepted where it cannot change a key,
 * of character types and bits; numeric(p,s) with kind parquet only, whose columns have both.
 * Others: enum "schema"."type", and "parquet int64" and its like.  A name always says one reading:
 * FLOAT and ANY_TEXT only bloomfam_filter_type() gives.
 *
 * Names with a comma between them, such as "int, date", or "row(int, date)", are those of a key of
 * several columns: see bloomfam_row_type().
 *
 * kind is the kind of filter that is meant, or NULL.  "parquet" has families of its own: columns'
 * types of Parquet are names then, such as int32 or decimal(9,2) fixed(5), and another SQL name
 * means the one that the server would choose; float, which is double precision in SQL and of 4
 * bytes in Parquet, is refused.  Fails with BLOOMFAM_BAD_ARGUMENT; with BLOOMFAM_NOT_ASKABLE for
 * arrays and types that only the server can hash.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_type_by_name(const char *name, const char *kind,
														 BloomfamType *type, BloomfamError *error);

/*
 * bloomfam_filter_type: the type of a filter's own keys, as far as it knows.
 *
 * Fails with BLOOMFAM_NOT_ASKABLE if its keys cannot be hashed here, and says why and what to do:
 * families that depend on the server (a name with "@"), arrays, ranges, rows of these, a partial.
 * Also if it has no family yet; such a filter holds no keys, and may be asked with any type.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_filter_type(const BloomfamFilter *filter,
														BloomfamType *type, BloomfamError *error);

/*
 * bloomfam_row_type: the type of keys that have n columns of these types, as SQL's
 * bloom_agg((a, b)) has them.
 *
 * The types are those of single columns, and none of kind parquet.  Fails with
 * BLOOMFAM_BAD_ARGUMENT: there are none, or more than BLOOMFAM_MAX_COLUMNS; BLOOMFAM_NOT_ASKABLE: a
 * type is one of rows, or the name of the family would have more than 255 bytes.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_row_type(const BloomfamType *types, size_t n,
													 BloomfamType *type, BloomfamError *error);

/* How many columns a key of the type has: 1, unless it is BLOOMFAM_TYPE_ROW. */
BLOOMFAM_API extern size_t bloomfam_type_columns(const BloomfamType *type);

/*
 * bloomfam_type_column: the type of the i-th column, from 0, of a key of several; of others the
 * type itself.  i is below bloomfam_type_columns().
 */
BLOOMFAM_API extern void bloomfam_type_column(const BloomfamType *type, size_t i,
											  BloomfamType *column);

/* The i-th SQL name, one for each type; the i-th kind that can be built; NULL after the last. */
BLOOMFAM_API extern const char *bloomfam_type_name(size_t i);
BLOOMFAM_API extern const char *bloomfam_kind_name(size_t i);

/* ---- columns of keys ---- */

/* What values are.  Which types take which is in the table below. */
typedef enum BloomfamMeaning
{
	BLOOMFAM_WRITTEN,			/* the text form of a value, as the server writes it */
	BLOOMFAM_INTEGER,
	BLOOMFAM_FLOATING,
	BLOOMFAM_BOOLEAN,
	BLOOMFAM_TEXT,				/* characters in UTF-8 */
	BLOOMFAM_BYTES,
	BLOOMFAM_DECIMAL,			/* an integer, divided by 10^scale */
	BLOOMFAM_DATE,				/* since 1970-01-01: days, or in the unit told */
	BLOOMFAM_TIME,				/* since midnight, in the unit told */
	BLOOMFAM_TIMESTAMP,			/* since 1970-01-01 00:00, no time zone, in the unit told */
	BLOOMFAM_TIMESTAMPTZ,		/* the same in UTC */
	BLOOMFAM_DURATION,			/* in the unit told */
	BLOOMFAM_ROW				/* rows of several columns */
} BloomfamMeaning;

/*
 * How values lie in memory.  Numbers are the machine's own; they need no alignment.
 */
typedef enum BloomfamLayout
{
	BLOOMFAM_INT8, BLOOMFAM_INT16, BLOOMFAM_INT32, BLOOMFAM_INT64,
	BLOOMFAM_UINT8, BLOOMFAM_UINT16, BLOOMFAM_UINT32, BLOOMFAM_UINT64,
	BLOOMFAM_FLOAT32, BLOOMFAM_FLOAT64,
	BLOOMFAM_INT128,			/* 16 bytes, two's complement */
	BLOOMFAM_BITS,				/* booleans, the first in the lowest bit of its byte */
	BLOOMFAM_BOOLS,				/* booleans, a byte each, 0 is false */
	BLOOMFAM_FIXED,				/* width bytes each */
	BLOOMFAM_OFFSETS32,			/* bytes from int32_t offsets[i] up to offsets[i + 1] of values */
	BLOOMFAM_OFFSETS64,			/* the same with int64_t */
	BLOOMFAM_VIEWS,				/* Arrow's views of 16 bytes */
	BLOOMFAM_PIECES,			/* an array of BloomfamPiece */
	BLOOMFAM_COLUMNS			/* an array of BloomfamColumn, one for each column of the rows */
} BloomfamLayout;

typedef struct BloomfamPiece
{
	const void *bytes;			/* NULL: the key is NULL */
	size_t		len;
} BloomfamPiece;

/*
 * A column of n keys, from the one with index first on.  It owns nothing: what it points to must
 * stay while it is used.
 *
 *	meaning		layouts					types that take it
 *	WRITTEN		those of bytes			all
 *	INTEGER		INT8 to UINT64			int, numeric, oid; parquet's int32, int64, decimal
 *	FLOATING	FLOAT32, FLOAT64		real, double precision, FLOAT; parquet's float, double
 *	BOOLEAN		BITS, BOOLS				bool
 *	TEXT		those of bytes			text, name, enum; parquet's text
 *	BYTES		those of bytes			bytea, uuid (16), macaddr (6), macaddr8 (8), "char" (1)
 *	DECIMAL		INT128 with scale		numeric, int; parquet's decimal
 *	DATE		INT32 of days, INT64 in a unit	date
 *	TIME		INT32, INT64 in a unit	time
 *	TIMESTAMP	INT64 in a unit			timestamp
 *	TIMESTAMPTZ	INT64 in a unit			timestamptz
 *	DURATION	INT64 in a unit			interval
 *	ROW			COLUMNS					rows of as many columns
 *
 * "Those of bytes" are FIXED to PIECES.  Anything else is BLOOMFAM_WRONG_TYPE, never "absent".
 *
 * Key i of a column of rows is made of key i of each of its columns, which have as many keys or
 * more, each counted from its own first one.  A NULL in one of them is a part of the key, as it is
 * for SQL's = of two values of a composite type: (1, NULL) is asked for, and found where it was
 * added.  (A join's a = c AND b = d finds no such row.)  A key of which a column is BLOOMFAM_BAD is
 * bad; if none is, and one is BLOOMFAM_IMPOSSIBLE, it is impossible.
 *
 * Of dates and timestamps the largest number (INT32_MAX, INT64_MAX) is infinity, its negative
 * -infinity, as DuckDB has them.  To others it is a moment; where the server has that moment (of
 * microseconds, in the year 294247), asking tests for both, and building is an error.
 */
typedef struct BloomfamColumn
{
	BloomfamMeaning meaning;
	BloomfamLayout layout;
	int32_t		width;			/* FIXED: bytes of a value; COLUMNS: how many there are */
	int32_t		scale;			/* DECIMAL: digits after the point, may be negative; of times the
								 * unit: 0 seconds, 3, 6, 9 milli-, micro-, nanoseconds */
	bool		any_bytes;		/* WRITTEN and TEXT: take bytes that are no UTF-8 as they are, as a
								 * database in SQL_ASCII does; else such a key is bad */
	size_t		n;
	size_t		first;			/* of all that follows */
	const void *values;
	const void *offsets;
	const uint8_t *validity;	/* a bit for each key, 1: not NULL; NULL: no key is NULL */
	const uint8_t *nulls;		/* a byte for each key, not 0: NULL (a mask as pandas has it); NULL:
								 * no key is NULL */
	bool		all_null;		/* every key is NULL, and values are not looked at */

	/* VIEWS: buffers that views refer to, and their lengths */
	size_t		nbuffers;
	const void *const *buffers;
	const int64_t *buffer_lens;

	/*
	 * If not NULL, the column is of indices (INT8 to UINT64) into this one, which has meaning and
	 * layout, and no dictionary.  meaning is not looked at then.
	 */
	const struct BloomfamColumn *dictionary;
} BloomfamColumn;

/* Columns that are often meant; more by setting members. */
static inline BloomfamColumn
bloomfam_int64s(const int64_t *values, size_t n)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = BLOOMFAM_INTEGER;
	column.layout = BLOOMFAM_INT64;
	column.values = values;
	column.n = n;
	return column;
}

static inline BloomfamColumn
bloomfam_doubles(const double *values, size_t n)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = BLOOMFAM_FLOATING;
	column.layout = BLOOMFAM_FLOAT64;
	column.values = values;
	column.n = n;
	return column;
}

/* Texts or bytes, or written keys: one piece each. */
static inline BloomfamColumn
bloomfam_pieces(BloomfamMeaning meaning, const BloomfamPiece *pieces, size_t n)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = meaning;
	column.layout = BLOOMFAM_PIECES;
	column.values = pieces;
	column.n = n;
	return column;
}

/* n keys of several columns, each of which has n keys. */
static inline BloomfamColumn
bloomfam_rows(const BloomfamColumn *columns, size_t ncolumns, size_t n)
{
	BloomfamColumn column;

	memset(&column, 0, sizeof(column));
	column.meaning = BLOOMFAM_ROW;
	column.layout = BLOOMFAM_COLUMNS;
	column.values = columns;
	column.width = ncolumns <= BLOOMFAM_MAX_COLUMNS ? (int32_t) ncolumns : INT32_MAX;
	column.n = n;
	return column;
}

/* ---- asking ---- */

/*
 * What there is to say of a key.  The lowest bit says whether the key must be taken for one that
 * may be in the filter; so an array without NULLs and bad keys is one of booleans.
 */
typedef enum BloomfamAnswer
{
	BLOOMFAM_ABSENT = 0,		/* certainly no key of the filter */
	BLOOMFAM_MAYBE = 1,			/* one of its keys, or a false positive */
	BLOOMFAM_IMPOSSIBLE = 2,	/* certainly none: no key of the type can equal it, such as an
								 * integer beyond bigint, a text with a zero byte */
	BLOOMFAM_NULL = 3,			/* NULL equals nothing, but is no key either */
	BLOOMFAM_BAD = 5			/* it could not be read for certain: nobody knows */
} BloomfamAnswer;

typedef struct BloomfamCounts
{
	uint64_t	absent;			/* hashing and building: keys that were fine */
	uint64_t	maybe;
	uint64_t	impossible;
	uint64_t	null;
	uint64_t	bad;
	uint64_t	first_odd;		/* index of the first that is neither absent nor maybe;
								 * BLOOMFAM_NO_ROW: there is none */
} BloomfamCounts;

/*
 * bloomfam_ask: asks the filter for the keys of a column, and stores an answer for each.
 *
 * type says what the keys are, or is NULL: what the filter's are (bloomfam_filter_type()).
 * answers has room for n; counts, if not NULL, is set.  Bad and impossible keys are answers, not
 * failures: bloomfam_column_error() tells what is wrong with one.  The filter should have been
 * validated.
 *
 * Fails with BLOOMFAM_NOT_ASKABLE, BLOOMFAM_WRONG_TYPE if the type's family is not the filter's
 * or does not take the column's meaning, BLOOMFAM_BAD_ARGUMENT for a column that is none, and
 * BLOOMFAM_STOPPED; with a dictionary also BLOOMFAM_NO_MEMORY.  Answers are then undefined.
 * Without a dictionary no memory is taken.  Time: some ns a key, or a cache miss or two.
 *
 * No false negatives: a key that SQL's = calls equal to one that was added is never ABSENT or
 * IMPOSSIBLE.  A text is read as the server would, if its DateStyle is ISO; one that the server
 * might read otherwise, or not at all, is BAD.  What a column's type modifier would change in
 * storing, such as digits beyond numeric(9,2), is asked as it is.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_ask(const BloomfamFilter *filter,
												const BloomfamType *type,
												const BloomfamColumn *column, uint8_t *answers,
												BloomfamCounts *counts, BloomfamError *error);

/*
 * bloomfam_hash: the hashes of a column's keys, as the filter's kinds take them.
 *
 * answers may be NULL; each is ABSENT (it has a hash), IMPOSSIBLE, NULL or BAD.  The hash of what
 * has none is 0.  For FLOAT and ANY_TEXT a written key with two readings is BAD.  Fails as
 * bloomfam_ask() does, but for NOT_ASKABLE and NO_MEMORY.  No memory is taken.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_hash(const BloomfamType *type,
												 const BloomfamColumn *column, uint64_t *hashes,
												 uint8_t *answers, BloomfamCounts *counts,
												 BloomfamError *error);

/*
 * bloomfam_row_hashes: the hashes of n keys of several columns, of those of their columns.
 *
 * hashes[c] and answers[c] are what bloomfam_hash() gave for column c.  Stores a hash, and an
 * answer as bloomfam_hash() does, for each key; both may be the arrays of column 0.  For whoever
 * has columns in pieces of different lengths; bloomfam_hash() of a column of rows is the same.
 */
BLOOMFAM_API extern void bloomfam_row_hashes(const uint64_t *const *hashes,
											 const uint8_t *const *answers, size_t ncolumns,
											 size_t n, uint64_t *row_hashes, uint8_t *row_answers);

/*
 * bloomfam_ask_hashes: the same as bloomfam_ask(), of hashes that bloomfam_hash() gave for a type
 * of the filter's family.  answers are ABSENT or MAYBE, and have the representation of bool.
 * Fails with BLOOMFAM_NOT_ASKABLE for a partial, BLOOMFAM_WRONG_TYPE, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_ask_hashes(const BloomfamFilter *filter,
													   const BloomfamType *type,
													   const uint64_t *hashes, size_t n,
													   uint8_t *answers, BloomfamError *error);

/*
 * bloomfam_column_error: what is wrong with the i-th key of a column (from its first on), as an
 * error with this row: BLOOMFAM_BAD_KEY, or another with which asking fails.  BLOOMFAM_OK: nothing;
 * NULL is nothing.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_column_error(const BloomfamType *type,
														 const BloomfamColumn *column, size_t i,
														 BloomfamError *error);

/* ---- Arrow ---- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* Arrow's C data interface, as its specification defines it. */
struct ArrowSchema
{
	const char *format;
	const char *name;
	const char *metadata;
	int64_t		flags;
	int64_t		n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void		(*release) (struct ArrowSchema *);
	void	   *private_data;
};

struct ArrowArray
{
	int64_t		length;
	int64_t		null_count;
	int64_t		offset;
	int64_t		n_buffers;
	int64_t		n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void		(*release) (struct ArrowArray *);
	void	   *private_data;
};

#endif							/* ARROW_C_DATA_INTERFACE */

/*
 * bloomfam_arrow: an Arrow array as a column, in columns[0]; its dictionary, if it has one, in
 * columns[1], to which columns[0] points.
 *
 * Formats: c C s S i I l L, f g, b, u U vu, z Z vz, w:N, d:P,S of 128 bits, tdD tdm, tts ttm ttu
 * ttn, ts?:ZONE of four units (a time zone makes it a timestamptz), tDs tDm tDu tDn, n (all NULL),
 * and dictionaries of these.  Nothing is copied and nothing is released: the array must stay while
 * the columns are used.  Buffers are trusted to be as long as the specification says.  Fails with
 * BLOOMFAM_WRONG_TYPE for other formats, BLOOMFAM_BAD_ARGUMENT for an array that does not fit its
 * schema.  O(1).
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_arrow(const struct ArrowSchema *schema,
												  const struct ArrowArray *array,
												  BloomfamColumn columns[2], BloomfamError *error);

/* ---- building ---- */

typedef struct BloomfamBuilder BloomfamBuilder;

/*
 * bloomfam_builder_make: begins a filter.
 *
 * type: of the keys.  kind: a name, NULL for "blocked".  fpr: in (0, 1), the false positive rate
 * with as many keys as expected; 0 for 0.01.  expected: distinct keys to make room for; 0: as many
 * as come, whose hashes are kept until the end, in 8 to 24 bytes each.  (Kinds that are built at
 * once, cuckoo and scalable keep them in any case.)  The same keys give the same bytes as SQL's
 * bloom_agg(key, fpr, kind, expected).
 *
 * Fails with BLOOMFAM_BAD_ARGUMENT (with a hint which kind to take, where the rate is too low for
 * this one), BLOOMFAM_WRONG_TYPE if type and kind do not go together, BLOOMFAM_TOO_LARGE,
 * BLOOMFAM_NO_MEMORY.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_make(const BloomfamHost *host,
														 const BloomfamType *type,
														 const char *kind, double fpr,
														 uint64_t expected,
														 BloomfamBuilder **builder,
														 BloomfamError *error);

/*
 * bloomfam_planned_size: the bytes of a filter for so many distinct keys, raw; those of kinds that
 * are built at once, and counting, differ a little in the end.  Arguments and errors as above.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_planned_size(const BloomfamType *type, const char *kind,
														 double fpr, uint64_t keys, uint64_t *size,
														 BloomfamError *error);

/*
 * bloomfam_builder_add: adds the keys of a column.  NULLs are passed over, as SQL does.
 *
 * With answers, which are as of bloomfam_hash(), bad and impossible keys are marked there and left
 * out.  Without (NULL), the first one is a failure, BLOOMFAM_BAD_KEY, and error.row is its index;
 * keys before it may have been added.  Fails as bloomfam_hash() does; BLOOMFAM_NO_MEMORY, after
 * which the builder can only be freed, since nobody knows which keys it has.  BLOOMFAM_STOPPED
 * likewise.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_add(BloomfamBuilder *builder,
														const BloomfamColumn *column,
														uint8_t *answers, BloomfamCounts *counts,
														BloomfamError *error);

/* bloomfam_builder_add_hashes: the same of hashes that bloomfam_hash() gave for the type. */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_add_hashes(BloomfamBuilder *builder,
															   const uint64_t *hashes, size_t n,
															   BloomfamError *error);

/*
 * bloomfam_builder_finish: the filter of the keys so far; of none, the empty aggregate (kind
 * "identity"), as in SQL.  The builder is left empty of keys, and is only to be freed.  Fails with
 * BLOOMFAM_TOO_LARGE, BLOOMFAM_FULL, BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_finish(BloomfamBuilder *builder,
														   BloomfamFilter **filter,
														   BloomfamError *error);

/* Gives back a builder's memory.  NULL is fine. */
BLOOMFAM_API extern void bloomfam_builder_free(BloomfamBuilder *builder);

/*
 * bloomfam_unite: the filter that may contain whatever a or b may contain, the same as SQL's |.
 *
 * No false negatives: each key of a or b is in the result.  Both should have been validated.  Fails
 * with BLOOMFAM_WRONG_TYPE if they have keys of different families, BLOOMFAM_UNSUPPORTED if they
 * are of different kinds or of one that does not unite, BLOOMFAM_TOO_LARGE, BLOOMFAM_NO_MEMORY,
 * BLOOMFAM_STOPPED.  Time and memory: linear in the result.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_unite(const BloomfamHost *host,
												  const BloomfamFilter *a, const BloomfamFilter *b,
												  BloomfamFilter **filter, BloomfamError *error);

/* ---- writing ---- */

/* The bytes of the value, raw; they are valid until the filter is closed. */
BLOOMFAM_API extern const void *bloomfam_bytes(const BloomfamFilter *filter, size_t *len);

/* The length of the value in a form, without a newline at its end. */
BLOOMFAM_API extern uint64_t bloomfam_written_size(const BloomfamFilter *filter, BloomfamForm form);

/*
 * bloomfam_write: writes the value in a form, by calls of write() with up to 64 kB, or with all at
 * once where nothing has to be converted.  No newline is added.  If write() returns false, it is
 * not called again, and the result is BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_write(const BloomfamFilter *filter, BloomfamForm form,
												  bool (*write) (void *arg, const void *bytes,
																 size_t len),
												  void *arg, BloomfamError *error);

#ifdef __cplusplus
}
#endif

#endif							/* BLOOMFAM_H */
