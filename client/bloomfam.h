/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bloomfam.h
 *	  libbloomfam: the filters of the PostgreSQL extension bloomfam, outside the server.
 *
 * A filter is a value of the SQL type bloomfilter; docs/format.md describes its bytes.  This
 * library opens a filter, describes it, asks it for keys, builds filters, unites two filters, and
 * writes a filter.  The library hashes keys as the server does.  If SQL's = calls a key equal to a
 * key of the filter, the filter either finds it, or returns an error that says why it cannot be
 * asked: it never denies that key.
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
 *	- Every function that can fail returns a status.  If error is not NULL, a failure fills it in,
 *	  and success leaves it alone.  After a failure, a pointer that a function would have returned
 *	  is NULL, and other results are unchanged unless the function says otherwise.
 *	- The library prints nothing, never aborts, installs no handlers, and has no mutable state of
 *	  its own.  It does not look at the locale.
 *	- A filter does not change.  Any number of threads may use a filter at the same time, but only
 *	  one may close it, when no other thread uses it any more.  A builder is used by one thread at
 *	  a time.
 *	- Memory comes from a BloomfamHost.  A NULL host means malloc() and free().
 *	- The bytes of a filter are hostile until bloomfam_validate() has accepted them.  Every function
 *	  is memory-safe on a filter that was only opened, but answers from a corrupt filter mean
 *	  nothing.  Validation protects against accidents: anybody can still write a well-formed filter
 *	  with wrong contents.
 *	- Pointers that a caller gives must be valid for the sizes given with them.  The library trusts
 *	  the caller's pointers, but not what the bytes of filters and texts contain; it checks offsets
 *	  and indices within columns as far as the given sizes allow.
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

/*
 * The library's release, the same as in META.json. bloomfam_version() returns the release of the
 * library that the program is linked with.
 */
#define BLOOMFAM_VERSION "1.0.0"

BLOOMFAM_API extern const char *bloomfam_version(void);

/* ---- status and errors ---- */

typedef enum BloomfamStatus
{
	BLOOMFAM_OK = 0,
	BLOOMFAM_NO_MEMORY,			/* The host's alloc(), see BloomfamHost, returned NULL. */
	BLOOMFAM_IO,				/* A file could not be read; error.sys_errno says why. */
	BLOOMFAM_INVALID,			/* The bytes are not a filter, or are damaged. */
	BLOOMFAM_BAD_ARGUMENT,		/* An argument is invalid, e.g. an unknown type name or kind. */
	BLOOMFAM_NOT_ASKABLE,		/* The filter's keys cannot be hashed outside the server. */
	BLOOMFAM_WRONG_TYPE,		/* The keys' family differs from that of the filter's keys. */
	BLOOMFAM_BAD_KEY,			/* A key cannot be read, or the filter's type has no such key. */
	BLOOMFAM_UNSUPPORTED,		/* The filter's kind cannot do it, or two filters' kinds differ. */
	BLOOMFAM_TOO_LARGE,			/* The filter would be larger than 500 MB. */
	BLOOMFAM_FULL,				/* The filter takes no more keys. */
	/* The host's stop(), see BloomfamHost, returned true, or a writer's write() failed. */
	BLOOMFAM_STOPPED
} BloomfamStatus;

/* The value of error.row if the error was not caused by a single key. */
#define BLOOMFAM_NO_ROW UINT64_MAX

/*
 * Describes an error to a person.  The texts are UTF-8, terminated by a zero byte, and hold no
 * control characters, whatever a filter or a key held.  The message is short, in lower case, and
 * without a full stop.  Detail and hint are sentences, or empty.
 */
typedef struct BloomfamError
{
	BloomfamStatus status;
	int			sys_errno;		/* The value of errno for BLOOMFAM_IO, otherwise 0. */
	uint64_t	row;			/* Index of the offending key in its column, or BLOOMFAM_NO_ROW. */
	char		message[256];
	char		detail[768];
	char		hint[256];
} BloomfamError;

/* ---- the host ---- */

/*
 * The caller's functions for allocating memory and for interrupting long work.
 *
 * alloc() returns memory that is aligned for any type, or NULL.  If it returns NULL, the library
 * function that called it releases all memory that it took, and fails with BLOOMFAM_NO_MEMORY.
 * release() frees memory that alloc() returned; it is never called with NULL. stop() may be NULL.
 * During long work, stop() is called every 20 microseconds to 1 ms; if it returns true, the work
 * ends with BLOOMFAM_STOPPED.  None of the three functions may call this library on the object in
 * use, or leave by longjmp() or an exception.  The three functions are called in the thread that
 * called the library.
 *
 * The library copies the struct.  What arg points to must outlive every object that was made with
 * the host.
 */
typedef struct BloomfamHost
{
	void	   *(*alloc) (void *arg, size_t size);
	void		(*release) (void *arg, void *memory);
	bool		(*stop) (void *arg);
	void	   *arg;
} BloomfamHost;

/* ---- forms of a value ---- */

/* The forms in which the bytes of a filter are read and written. */
typedef enum BloomfamForm
{
	/* The bytes themselves: the cast to bytea, or a driver's binary value. */
	BLOOMFAM_RAW,
	/* \x and hexadecimal digits, as psql and drivers in text mode have it. */
	BLOOMFAM_HEX,
	BLOOMFAM_COPY_TEXT,			/* \\x and hexadecimal digits, as COPY in text format has it. */
	BLOOMFAM_COPY_BINARY		/* The file of COPY in binary format, of one row with one column. */
} BloomfamForm;

/* ---- opening ---- */

typedef struct BloomfamFilter BloomfamFilter;

/* The flags of bloomfam_open() and bloomfam_open_file(). */
#define BLOOMFAM_VALIDATE	1	/* Calls bloomfam_validate() before the open returns. */
#define BLOOMFAM_MAP		2	/* bloomfam_open_file() maps the file and does not read it. */
#define BLOOMFAM_COPY		4	/* Copies the bytes to where many lookups are fastest. */

/*
 * bloomfam_open: Opens the filter in len bytes, and detects the bytes' form.
 *
 * A text form may end with one newline, or with CR and newline.  The raw and COPY binary forms are
 * opened in O(1) whatever the size: nothing is copied, and the bytes must outlive the filter
 * unchanged; they need no alignment.  The hex forms are decoded into memory of the host, in time
 * and memory linear in len, and the caller may free the bytes afterwards.  Fails with
 * BLOOMFAM_INVALID, BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 *
 * A decoded filter is placed in memory so that a lookup touches only one cache line in the kinds
 * that keep a key's bits in one block; in the caller's bytes, a block may straddle two cache lines.
 * With BLOOMFAM_COPY, the raw and COPY binary forms are copied to get the same placement: the copy
 * pays off from a few keys for each kB of the filter on.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_open(const BloomfamHost *host, const void *bytes,
												 size_t len, unsigned flags,
												 BloomfamFilter **filter, BloomfamError *error);

/*
 * bloomfam_open_file: Opens the filter that is the whole content of a file, and closes the file.
 *
 * With BLOOMFAM_MAP, a regular file is mapped, and the raw and COPY binary forms are opened in
 * O(1).  If the file is truncated while it is mapped, the program ends with SIGBUS.  Without
 * BLOOMFAM_MAP, or if the file is not a regular one, the file is read into memory of the host and
 * placed as with BLOOMFAM_COPY.  Fails as bloomfam_open() does, with BLOOMFAM_INVALID for a file of
 * more than 1.1 GB, which no filter needs, and with BLOOMFAM_IO.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_open_file(const BloomfamHost *host, const char *path,
													  unsigned flags, BloomfamFilter **filter,
													  BloomfamError *error);

/*
 * bloomfam_validate: Reads the whole filter, and accepts it exactly if the server would accept it
 * as input.  Takes about as long as reading the filter twice.  Fails with BLOOMFAM_INVALID and the
 * reason, BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_validate(const BloomfamFilter *filter,
													 BloomfamError *error);

/* Closes a filter: frees its memory and removes its mapping.  NULL is allowed. */
BLOOMFAM_API extern void bloomfam_close(BloomfamFilter *filter);

/* ---- describing ---- */

/* What a filter's header says.  The values are untrusted, but lie within the ranges given here. */
typedef struct BloomfamInfo
{
	/*
	 * Name of the filter's kind, such as "blocked".  "identity" is the result of aggregating no
	 * keys; "partial" is the state of an unfinished aggregate, which cannot be asked.
	 */
	const char *kind;
	BloomfamForm form;			/* The form in which the filter was opened. */
	bool		askable;		/* True if bloomfam_filter_type() will succeed. */
	/* True if the filter has no keys and no family: every key is absent. */
	bool		empty;
	/* ID of the family of the filter's keys; 0: the filter has no family. */
	uint64_t	family_id;
	/* Name of the keys' family in UTF-8, with '?' for invalid bytes; "": the name is unknown. */
	char		family[256];
	uint64_t	capacity;		/* Number of keys that the filter was made for; 0: identity. */
	uint64_t	keys_added;		/* Number of additions, which counts a repeated key each time. */
	/* False positive rate planned at capacity, in (0, 1); 0: identity. */
	double		target_fpr;
	uint64_t	size;			/* Size of the filter in the raw form, in bytes. */
} BloomfamInfo;

/*
 * Estimates from a filter's payload.  A value that has no meaning for the filter's kind is
 * negative.
 */
typedef struct BloomfamStats
{
	double		keys;			/* Estimated number of distinct keys in the filter. */
	/* Estimated false positive rate of the filter with its present keys. */
	double		fpr;
	double		fill;			/* Fraction of the bits, counters or slots that are in use. */
	uint64_t	bits;			/* Number of bits, counters or slots in the filter's array. */
	uint32_t	hashes;			/* Number of positions that are probed for each key. */
	/* Number of the filter's parts that are probed one after another. */
	uint32_t	stages;
} BloomfamStats;

/* bloomfam_info: Fills in what a filter's header says.  Takes O(1), and cannot fail. */
BLOOMFAM_API extern void bloomfam_info(const BloomfamFilter *filter, BloomfamInfo *info);

/*
 * bloomfam_stats: Estimates the state of a filter from its whole payload.  Fails with
 * BLOOMFAM_UNSUPPORTED for kind "partial", and with BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_stats(const BloomfamFilter *filter,
												  BloomfamStats *stats, BloomfamError *error);

/* ---- types ---- */

/*
 * How a key is read and hashed.  SQL types that SQL compares with each other share a family of
 * hashes.  Where such types read the same text as different keys, each is a type of its own here.
 */
typedef enum BloomfamTypeId
{
	BLOOMFAM_TYPE_INT,			/* Keys of the SQL types smallint, integer and bigint. */
	BLOOMFAM_TYPE_FLOAT,		/* real or double precision, unknown which; see BloomfamType. */
	BLOOMFAM_TYPE_REAL,
	BLOOMFAM_TYPE_DOUBLE,
	BLOOMFAM_TYPE_ANY_TEXT,		/* text or name, unknown which; see BloomfamType. */
	BLOOMFAM_TYPE_TEXT,			/* text, varchar; trailing blanks count in kind "parquet" only. */
	BLOOMFAM_TYPE_BPCHAR,		/* char(n), hashed as text; kind "parquet" takes no such keys. */
	/*
	 * name: a key is cut after 63 bytes.  A longer key that is not all ASCII is bad, because the
	 * place of the cut depends on the server's encoding.
	 */
	BLOOMFAM_TYPE_NAME,
	BLOOMFAM_TYPE_NUMERIC,
	BLOOMFAM_TYPE_BOOL,
	BLOOMFAM_TYPE_CHAR,			/* "char", a single byte */
	BLOOMFAM_TYPE_BYTEA,
	BLOOMFAM_TYPE_UUID,
	BLOOMFAM_TYPE_DATE,
	BLOOMFAM_TYPE_TIME,
	BLOOMFAM_TYPE_TIMETZ,
	BLOOMFAM_TYPE_TIMESTAMP,
	BLOOMFAM_TYPE_TIMESTAMPTZ,
	BLOOMFAM_TYPE_INTERVAL,
	BLOOMFAM_TYPE_OID,
	BLOOMFAM_TYPE_INET,			/* Keys of the SQL types inet and cidr. */
	BLOOMFAM_TYPE_MACADDR,
	BLOOMFAM_TYPE_MACADDR8,
	BLOOMFAM_TYPE_PG_LSN,
	BLOOMFAM_TYPE_BIT,			/* Keys of the SQL types bit and varbit. */
	BLOOMFAM_TYPE_ENUM,			/* The label of any enum type. */
	BLOOMFAM_TYPE_ROW			/* Rows of several columns, each of one of the types above. */
} BloomfamTypeId;

/* The maximum number of columns of a key, the same as for indexes in SQL. */
#define BLOOMFAM_MAX_COLUMNS	32

/*
 * A type of keys, and the family of the keys' hashes.  The functions below make a BloomfamType.
 * Callers may copy it, and may read id and family, but must not change it.
 *
 * FLOAT and ANY_TEXT are the types that a filter itself tells of its column: the filter does not
 * know whether its keys were real or double precision, or whether they were text or name.  The text
 * '0.1' is a different key as real and as double precision, and a name keeps only 63 bytes of a
 * longer text. bloomfam_ask() therefore tests a *written* key (see BLOOMFAM_WRITTEN) of these types
 * in both readings, and answers BLOOMFAM_MAYBE if one reading may be in the filter.  Building from
 * such a key, or computing a single hash of it, is an error that says so, unless both readings have
 * the same hash.
 */
typedef struct BloomfamType
{
	BloomfamTypeId id;
	uint64_t	family_id;
	/* The name of the type's family as it stands in filters, such as "int" or "parquet int64". */
	char		family[256];

	/* The members below describe a family of kind "parquet".  Only the library uses them. */
	/* Describes the Parquet column's type; 0: the family is not one of kind "parquet". */
	uint8_t		plain;
	uint8_t		plain_fixed;
	uint8_t		plain_bytes;
	uint8_t		plain_precision;
	uint8_t		plain_scale;

	/* The members below describe BLOOMFAM_TYPE_ROW.  Only the library uses them. */
	uint8_t		ncolumns;
	uint8_t		columns[BLOOMFAM_MAX_COLUMNS];	/* Type of each column, a BloomfamTypeId. */
} BloomfamType;

/*
 * bloomfam_type_by_name: Finds a type by its SQL name, or by the name that filters have for its
 * family.
 *
 * The SQL names are: smallint int2 integer int int4 bigint int8; real float4; "double precision"
 * float float8; numeric decimal; text varchar "character varying"; char character bpchar; name;
 * boolean bool; bytea; uuid; date; time timetz timestamp timestamptz, and their longer names such
 * as "timestamp with time zone"; interval; oid; inet cidr; macaddr macaddr8; pg_lsn; bit varbit
 * "bit varying"; and "char", including its quotes.  Upper and lower case are the same, and the
 * prefix "pg_catalog." is allowed.  A length in parentheses is accepted for character types and bit
 * strings, where it cannot change a key. numeric(p,s) is accepted with kind "parquet" only, whose
 * decimal columns need both numbers.  The names of filters' families are: enum "schema"."type", and
 * "parquet int64" and its like.  A name always stands for one reading; only bloomfam_filter_type()
 * returns FLOAT and ANY_TEXT.
 *
 * Several names with commas between them, such as "int, date" or "row(int, date)", name the type of
 * a key of several columns; see bloomfam_row_type().
 *
 * kind is the kind of filter that the keys are for, or NULL.  Kind "parquet" has families of its
 * own.  With it, types of Parquet columns are names too, such as int32 or decimal(9,2) fixed(5),
 * and any other SQL name means the column type that the server would choose for it.  The name float
 * is refused with kind "parquet", because it is double precision in SQL and has 4 bytes in Parquet.
 *
 * Fails with BLOOMFAM_BAD_ARGUMENT, and with BLOOMFAM_NOT_ASKABLE for arrays and types that only
 * the server can hash.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_type_by_name(const char *name, const char *kind,
														 BloomfamType *type, BloomfamError *error);

/*
 * bloomfam_filter_type: Returns the type of a filter's keys, as far as the filter knows it.
 *
 * Fails with BLOOMFAM_NOT_ASKABLE if the keys cannot be hashed here, and the error says why and
 * what to do.  Such keys are those of families that depend on the server (the family's name has an
 * "@"), arrays, ranges, rows of such types, and a filter of kind "partial".  Fails the same way if
 * the filter has no family yet; that filter holds no keys, and may be asked with any type.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_filter_type(const BloomfamFilter *filter,
														BloomfamType *type, BloomfamError *error);

/*
 * bloomfam_row_type: Makes the type of keys that have n columns of the given types, such as the
 * keys of SQL's bloom_agg((a, b)).
 *
 * Each given type must be the type of a single column, and not of kind "parquet".  Fails with
 * BLOOMFAM_BAD_ARGUMENT if n is 0 or more than BLOOMFAM_MAX_COLUMNS, or a type is of kind
 * "parquet".  Fails with BLOOMFAM_NOT_ASKABLE if a type is one of rows, or if the name of the
 * family would have more than 255 bytes.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_row_type(const BloomfamType *types, size_t n,
													 BloomfamType *type, BloomfamError *error);

/* Returns the number of columns of a key of the type: 1, unless it is BLOOMFAM_TYPE_ROW. */
BLOOMFAM_API extern size_t bloomfam_type_columns(const BloomfamType *type);

/*
 * bloomfam_type_column: Returns the type of column i, counted from 0, of a key of several columns.
 * For any other type, returns the type itself. i must be below bloomfam_type_columns().
 */
BLOOMFAM_API extern void bloomfam_type_column(const BloomfamType *type, size_t i,
											  BloomfamType *column);

/*
 * bloomfam_type_name() returns the i-th SQL name, one for each type. bloomfam_kind_name() returns
 * the name of the i-th kind that can be built.  Both return NULL after the last name.
 */
BLOOMFAM_API extern const char *bloomfam_type_name(size_t i);
BLOOMFAM_API extern const char *bloomfam_kind_name(size_t i);

/* ---- columns of keys ---- */

/*
 * The meaning of a column's values, e.g. numbers, texts or days.  The table at BloomfamColumn says
 * which key types take which meaning.
 */
typedef enum BloomfamMeaning
{
	BLOOMFAM_WRITTEN,			/* Text form of a value, as the server writes it. */
	BLOOMFAM_INTEGER,
	BLOOMFAM_FLOATING,
	BLOOMFAM_BOOLEAN,
	BLOOMFAM_TEXT,				/* Characters in UTF-8. */
	BLOOMFAM_BYTES,
	BLOOMFAM_DECIMAL,			/* An integer that is divided by 10^scale. */
	BLOOMFAM_DATE,				/* Days, or the column's unit, since 1970-01-01. */
	/* A time of day: the number of the column's units (see scale) since midnight. */
	BLOOMFAM_TIME,
	BLOOMFAM_TIMESTAMP,			/* The column's unit since 1970-01-01 00:00, without time zone. */
	BLOOMFAM_TIMESTAMPTZ,		/* The column's unit since 1970-01-01 00:00 UTC. */
	BLOOMFAM_DURATION,			/* A length of time in the column's unit. */
	BLOOMFAM_ROW				/* Rows of several columns. */
} BloomfamMeaning;

/*
 * How a column's values lie in memory.  Numbers are in the machine's byte order, and need no
 * alignment.
 */
typedef enum BloomfamLayout
{
	BLOOMFAM_INT8, BLOOMFAM_INT16, BLOOMFAM_INT32, BLOOMFAM_INT64,
	BLOOMFAM_UINT8, BLOOMFAM_UINT16, BLOOMFAM_UINT32, BLOOMFAM_UINT64,
	BLOOMFAM_FLOAT32, BLOOMFAM_FLOAT64,
	BLOOMFAM_INT128,			/* Signed integers of 16 bytes, in two's complement. */
	/* Booleans as bits; the first value is the lowest bit of its byte. */
	BLOOMFAM_BITS,
	BLOOMFAM_BOOLS,				/* Booleans as bytes; 0 is false. */
	BLOOMFAM_FIXED,				/* Values of width bytes each. */
	/* Value i is bytes offsets[i] to offsets[i + 1] - 1 of values; the offsets are int32_t. */
	BLOOMFAM_OFFSETS32,
	/* Value i is bytes offsets[i] to offsets[i + 1] - 1 of values; the offsets are int64_t. */
	BLOOMFAM_OFFSETS64,
	BLOOMFAM_VIEWS,				/* Arrow's views of 16 bytes each. */
	BLOOMFAM_PIECES,			/* An array of BloomfamPiece. */
	BLOOMFAM_COLUMNS			/* An array of BloomfamColumn, one for each column of the rows. */
} BloomfamLayout;

typedef struct BloomfamPiece
{
	const void *bytes;			/* The bytes of a key; NULL: the key is NULL. */
	size_t		len;
} BloomfamPiece;

/*
 * A column of n keys, which begins at the value with index first.  The column owns nothing: the
 * memory that it points to must stay valid while the column is used.
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
 * The layouts "of bytes" are FIXED, OFFSETS32, OFFSETS64, VIEWS and PIECES.  A meaning that the
 * type does not take is BLOOMFAM_WRONG_TYPE, never "absent".
 *
 * Key i of a column of rows consists of key i of each of its columns.  Each of the columns must
 * have at least as many keys as the column of rows, and counts them from its own first key.  A NULL
 * in a column is a part of the key, as it is for SQL's = of two composite values: (1, NULL) is
 * asked for, and is found where it was added.  (A join on a = c AND b = d finds no such row.)  A
 * key is bad if any of its columns is BLOOMFAM_BAD; otherwise it is impossible if any of its
 * columns is BLOOMFAM_IMPOSSIBLE.
 *
 * In dates and timestamps, the largest number (INT32_MAX, INT64_MAX) is infinity, and its negative
 * is -infinity, as DuckDB has them.  Other programs mean a finite moment by these numbers.  If the
 * server can represent that moment (INT64_MAX microseconds is in the year 294247), bloomfam_ask()
 * tests for both readings, and building from such a key is an error.
 */
typedef struct BloomfamColumn
{
	BloomfamMeaning meaning;
	BloomfamLayout layout;
	int32_t		width;			/* FIXED: bytes in a value; COLUMNS: number of columns. */
	/*
	 * DECIMAL: digits after the decimal point, may be negative.  Times: 0, 3, 6 or 9 for a unit of
	 * seconds, milli-, micro- or nanoseconds.
	 */
	int32_t		scale;
	/*
	 * WRITTEN and TEXT: true to take bytes that are not valid UTF-8 as they are, as a database in
	 * SQL_ASCII does; false: such a key is bad.
	 */
	bool		any_bytes;
	size_t		n;
	size_t		first;			/* Index of the column's first key in each array below. */
	const void *values;
	const void *offsets;
	/*
	 * A bit for each key: 0 means NULL, 1 not NULL.  If validity is NULL, no key is marked as NULL.
	 */
	const uint8_t *validity;
	/*
	 * A byte for each key: any value but 0 means NULL, as in a mask of pandas.  If nulls is NULL,
	 * no key is marked as NULL.
	 */
	const uint8_t *nulls;
	bool		all_null;		/* True if every key is NULL; values is then ignored. */

	/* VIEWS: the buffers that the views refer to, and the buffers' lengths in bytes. */
	size_t		nbuffers;
	const void *const *buffers;
	const int64_t *buffer_lens;

	/*
	 * The column's dictionary, or NULL.  With a dictionary, the column holds indices (INT8 to
	 * UINT64) into the dictionary, whose meaning and layout describe the keys; the column's own
	 * meaning is ignored.  A dictionary has no dictionary of its own.
	 */
	const struct BloomfamColumn *dictionary;
} BloomfamColumn;

/*
 * The functions below make columns that are often needed; for any other column, set the members of
 * BloomfamColumn.
 */
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

/* Makes a column of texts, bytes or written keys, with one piece for each key. */
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

/* Makes a column of n rows from several columns, each of which has at least n keys. */
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
 * The answer to a lookup.  The lowest bit is set if the caller must assume that the key may be in
 * the filter.  Answers that are all ABSENT or MAYBE can be read as an array of bool.
 */
typedef enum BloomfamAnswer
{
	BLOOMFAM_ABSENT = 0,		/* The key is certainly not in the filter. */
	BLOOMFAM_MAYBE = 1,			/* The key is in the filter, or is a false positive. */
	/*
	 * The key is certainly not in the filter, because it equals no value of the type, e.g. an
	 * integer beyond bigint, or a text with a zero byte.
	 */
	BLOOMFAM_IMPOSSIBLE = 2,
	/*
	 * The key is NULL.  It equals no key of the filter, but callers may treat it in another way
	 * than absent keys.
	 */
	BLOOMFAM_NULL = 3,
	/* The key cannot be read with certainty, so it is unknown whether the filter has it. */
	BLOOMFAM_BAD = 5
} BloomfamAnswer;

typedef struct BloomfamCounts
{
	/*
	 * Number of keys that are absent from the filter; if keys are hashed or added, number of keys
	 * that have a hash.
	 */
	uint64_t	absent;
	uint64_t	maybe;
	uint64_t	impossible;
	uint64_t	null;
	uint64_t	bad;
	/*
	 * Index of the first key whose answer is neither ABSENT nor MAYBE; BLOOMFAM_NO_ROW: all answers
	 * are ABSENT or MAYBE.
	 */
	uint64_t	first_odd;
} BloomfamCounts;

/*
 * bloomfam_ask: Asks a filter for the keys of a column, and stores an answer for each key.
 *
 * type is the type of the keys; NULL means the type of the filter's own keys
 * (bloomfam_filter_type()). answers has room for as many bytes as the column has keys. counts is
 * filled in if it is not NULL.  Bad and impossible keys are answers, not failures:
 * bloomfam_column_error() tells what is wrong with such a key.  The filter should have been
 * validated.
 *
 * Fails with BLOOMFAM_NOT_ASKABLE; BLOOMFAM_WRONG_TYPE if the type's family is not the filter's, or
 * the type does not take the column's meaning; BLOOMFAM_BAD_ARGUMENT for an invalid column;
 * BLOOMFAM_STOPPED; and, for a column with a dictionary, BLOOMFAM_NO_MEMORY.  After a failure the
 * answers are undefined.  Without a dictionary, no memory is allocated.  A key takes some ns, or
 * one or two cache misses.
 *
 * There are no false negatives: a key that SQL's = calls equal to a key that was added is never
 * ABSENT or IMPOSSIBLE.  A text is read as the server reads it with DateStyle ISO.  A text that the
 * server might read differently, or might not read at all, is BAD.  A key is asked for as given: a
 * column's type modifier, such as numeric(9,2), which would round the value on storing it, is not
 * applied.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_ask(const BloomfamFilter *filter,
												const BloomfamType *type,
												const BloomfamColumn *column, uint8_t *answers,
												BloomfamCounts *counts, BloomfamError *error);

/*
 * bloomfam_hash: Computes the hashes of a column's keys, in the form that the kinds of filters
 * take.
 *
 * answers may be NULL; each answer is ABSENT (the key has a hash), IMPOSSIBLE, NULL or BAD.  A key
 * without a hash gets hash 0.  For FLOAT and ANY_TEXT, a written key with two readings is BAD.
 * Fails with BLOOMFAM_WRONG_TYPE if the type does not take the column's meaning, and with
 * BLOOMFAM_BAD_ARGUMENT for an invalid column.  No memory is allocated.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_hash(const BloomfamType *type,
												 const BloomfamColumn *column, uint64_t *hashes,
												 uint8_t *answers, BloomfamCounts *counts,
												 BloomfamError *error);

/*
 * bloomfam_row_hashes: Computes the hashes of n keys of several columns from the hashes of the
 * columns.
 *
 * hashes[c] and answers[c] are the results of bloomfam_hash() for column c.  With more columns than
 * BLOOMFAM_MAX_COLUMNS, each answer is BAD.  Stores a hash and an answer, as bloomfam_hash() does,
 * for each key.  row_hashes and row_answers may be the arrays of column 0.  The function is for
 * callers whose columns come in pieces of different lengths; bloomfam_hash() of a column of rows
 * gives the same hashes.
 */
BLOOMFAM_API extern void bloomfam_row_hashes(const uint64_t *const *hashes,
											 const uint8_t *const *answers, size_t ncolumns,
											 size_t n, uint64_t *row_hashes, uint8_t *row_answers);

/*
 * bloomfam_ask_hashes: Asks a filter for n hashes, which bloomfam_hash() gave for a type of the
 * filter's family.
 *
 * Each answer is ABSENT or MAYBE, so that answers can be read as an array of bool.  Fails with
 * BLOOMFAM_BAD_ARGUMENT if type is NULL, with BLOOMFAM_NOT_ASKABLE if the filter's keys cannot be
 * hashed here or its kind is "partial", and with BLOOMFAM_WRONG_TYPE, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_ask_hashes(const BloomfamFilter *filter,
													   const BloomfamType *type,
													   const uint64_t *hashes, size_t n,
													   uint8_t *answers, BloomfamError *error);

/*
 * bloomfam_column_error: Tells what is wrong with key i of a column, counted from the column's
 * first key.
 *
 * Returns BLOOMFAM_BAD_KEY, with i in error.row, or another status with which asking for the column
 * fails.  Returns BLOOMFAM_OK if nothing is wrong with the key, or if it is NULL.
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

/* The Arrow C data interface, as its specification defines it. */
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
 * bloomfam_arrow: Describes an Arrow array as a column, in columns[0].  If the array has a
 * dictionary, it is described in columns[1], and columns[0] points to it.
 *
 * The accepted formats are: c C s S i I l L, f g, b, u U vu, z Z vz, w:N, d:P,S of 128 bits, tdD
 * tdm, tts ttm ttu ttn, ts?:ZONE of four units (a time zone makes it a timestamptz), tDs tDm tDu
 * tDn, n (all NULL), and dictionaries of these formats.  Nothing is copied and nothing is released:
 * the array must stay valid while the columns are used.  The buffers are trusted to be as long as
 * the specification says.  Fails with BLOOMFAM_WRONG_TYPE for other formats, and with
 * BLOOMFAM_BAD_ARGUMENT for an array that does not fit its schema.  Takes O(1).
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_arrow(const struct ArrowSchema *schema,
												  const struct ArrowArray *array,
												  BloomfamColumn columns[2], BloomfamError *error);

/* ---- building ---- */

typedef struct BloomfamBuilder BloomfamBuilder;

/*
 * bloomfam_builder_make: Begins to build a filter.
 *
 * type is the type of the keys. kind is the name of the filter's kind; NULL means "blocked". fpr is
 * the false positive rate, in (0, 1), that the filter has with the expected number of keys; 0 means
 * 0.01. expected is the number of distinct keys to make room for.  With expected = 0, the filter is
 * made for the keys that are added, and the builder keeps their hashes until the end, in 8 to 24
 * bytes for each key.  (For cuckoo, scalable and the kinds that are built at once, the builder
 * always keeps the hashes.)  The same keys give the same bytes as SQL's bloom_agg(key, fpr, kind,
 * expected).
 *
 * Fails with BLOOMFAM_BAD_ARGUMENT (if the rate is too low for the kind, a hint says which kind to
 * use), BLOOMFAM_WRONG_TYPE if the kind does not take keys of the type, BLOOMFAM_TOO_LARGE,
 * BLOOMFAM_NO_MEMORY.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_make(const BloomfamHost *host,
														 const BloomfamType *type,
														 const char *kind, double fpr,
														 uint64_t expected,
														 BloomfamBuilder **builder,
														 BloomfamError *error);

/*
 * bloomfam_planned_size: Computes the size in bytes, in the raw form, of a filter for a number of
 * distinct keys.  The actual size differs a little for kind "counting" and for kinds that are built
 * from all keys at once.  Arguments and errors are those of bloomfam_builder_make().
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_planned_size(const BloomfamType *type, const char *kind,
														 double fpr, uint64_t keys, uint64_t *size,
														 BloomfamError *error);

/*
 * bloomfam_builder_add: Adds the keys of a column.  NULLs are skipped, as in SQL.
 *
 * If answers is not NULL, it is filled in as by bloomfam_hash(), and bad and impossible keys are
 * marked there and left out.  If answers is NULL, the first bad or impossible key is a failure with
 * BLOOMFAM_BAD_KEY, and error.row is its index; keys before it may have been added.  Also fails as
 * bloomfam_hash() does, with BLOOMFAM_BAD_ARGUMENT if the builder is finished, and with
 * BLOOMFAM_NO_MEMORY or BLOOMFAM_STOPPED.  After the last two, the builder can only be freed,
 * because it is unknown which keys were added.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_add(BloomfamBuilder *builder,
														const BloomfamColumn *column,
														uint8_t *answers, BloomfamCounts *counts,
														BloomfamError *error);

/*
 * bloomfam_builder_add_hashes: Adds hashes that bloomfam_hash() computed for the builder's type.
 * Fails as bloomfam_builder_add() does, except with BLOOMFAM_BAD_KEY.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_add_hashes(BloomfamBuilder *builder,
															   const uint64_t *hashes, size_t n,
															   BloomfamError *error);

/*
 * bloomfam_builder_finish: Makes the filter of the keys that were added.  If no keys were added,
 * the filter is the empty aggregate (kind "identity"), as in SQL.  The builder can then only be
 * freed.  Fails with BLOOMFAM_TOO_LARGE, BLOOMFAM_FULL, BLOOMFAM_NO_MEMORY, BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_builder_finish(BloomfamBuilder *builder,
														   BloomfamFilter **filter,
														   BloomfamError *error);

/* Frees a builder and its memory.  NULL is allowed. */
BLOOMFAM_API extern void bloomfam_builder_free(BloomfamBuilder *builder);

/*
 * bloomfam_unite: Makes the filter that may contain every key that a or b may contain, as SQL's |
 * does.
 *
 * There are no false negatives: each key of a or b is in the result.  Both filters should have been
 * validated.  Fails with BLOOMFAM_WRONG_TYPE if their keys are of different families;
 * BLOOMFAM_UNSUPPORTED if their kinds differ, or their kind does not unite; BLOOMFAM_NOT_ASKABLE if
 * one is of kind "partial"; BLOOMFAM_TOO_LARGE; BLOOMFAM_NO_MEMORY; BLOOMFAM_STOPPED.  Time and
 * memory are linear in the size of the result.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_unite(const BloomfamHost *host,
												  const BloomfamFilter *a, const BloomfamFilter *b,
												  BloomfamFilter **filter, BloomfamError *error);

/* ---- writing ---- */

/* Returns the filter's bytes in the raw form, valid until the filter is closed. */
BLOOMFAM_API extern const void *bloomfam_bytes(const BloomfamFilter *filter, size_t *len);

/* Returns the length in bytes of the filter in a form, without a newline at its end. */
BLOOMFAM_API extern uint64_t bloomfam_written_size(const BloomfamFilter *filter, BloomfamForm form);

/*
 * bloomfam_write: Writes a filter in a form, by calls of write().  Where bytes must be converted, a
 * call has up to 64 kB; otherwise one call has all of the filter's bytes.  No newline is added.  If
 * write() returns false, it is not called again, and the result is BLOOMFAM_STOPPED.
 */
BLOOMFAM_API extern BloomfamStatus bloomfam_write(const BloomfamFilter *filter, BloomfamForm form,
												  bool (*write) (void *arg, const void *bytes,
																 size_t len),
												  void *arg, BloomfamError *error);

#ifdef __cplusplus
}
#endif

#endif							/* BLOOMFAM_H */
