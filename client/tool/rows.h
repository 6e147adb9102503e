/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Rows of CSV from standard input, in batches of some thousand rows, with their keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ROWS_H
#define ROWS_H

#include "csv.h"
#include "input.h"
#include "options.h"
#include "report.h"

#include "client/bloomfam.h"

/* Tells rows_begin() that the number of the key's columns is unknown. */
#define ROWS_ANY_COLUMNS	0

/*
 * Number of rows in a batch: enough to hide the cost of a call, few enough for the second-level
 * cache.
 */
#define ROWS_BATCH	2048

/* Number of bad lines that are reported one by one. */
#define ROWS_TOLD	10

/* A column of the key. */
typedef struct KeyColumn
{
	size_t		at;				/* Index of the column in a line, from 0. */
	CsvRecord	name;			/* The header line as a record whose key is the column's name. */
} KeyColumn;

typedef struct Rows
{
	Input		input;
	CsvScanner	scanner;
	/* True if the buffer has bytes in which records have not been looked for. */
	bool		unread;
	/* True if the scanner may find more records in the bytes that it was given. */
	bool		scanning;
	bool		any_bytes;
	/* True until a byte order mark at the beginning of the first row has been handled. */
	bool		marked;
	/* Start of this batch's row that begins with a byte order mark; NULL: there is none. */
	const char *marked_record;
	/* The header line, including a byte order mark before it; NULL: there is no header. */
	char	   *head;
	size_t		head_length;
	size_t		ncolumns;		/* Number of columns of the key. */
	KeyColumn	columns[BLOOMFAM_MAX_COLUMNS];	/* The key's columns, in the key's order. */
	char	   *undoubled;		/* Keys of the batch that had doubled quotes. */
	size_t		undoubled_capacity;
	Progress	progress;

	/* The members below describe the current batch. */
	size_t		n;
	/*
	 * The batch's records.  With a key of several columns, form is CSV_KEY_NULL if any column is
	 * NULL, and key is the field of that key column which comes last in a line.
	 */
	CsvRecord	records[ROWS_BATCH];
	/*
	 * ROWS_BATCH pieces for each column of the key. bytes is NULL for a NULL, and for a record with
	 * a fault.
	 */
	BloomfamPiece *keys;
	BloomfamColumn key_columns[BLOOMFAM_MAX_COLUMNS];	/* The columns of keys, for the library. */
	size_t		lacking;		/* Number of records in the batch of form CSV_KEY_NULL. */
	size_t		faults;			/* Number of records in the batch with a fault. */
	/* Number of the line at which the batch's first record begins, from 1. */
	uint64_t	line;

	/* The fields "rows" and "told" count over all batches up to the current one. */
	uint64_t	rows;
	uint64_t	told;
} Rows;

extern void rows_begin(Rows *rows, const Options *options, size_t ncolumns);
extern bool rows_next(Rows *rows);
extern BloomfamColumn rows_column(Rows *rows, const BloomfamType *type);
extern uint64_t rows_line(const Rows *rows, size_t i);
extern void rows_fields(const Rows *rows, const CsvRecord *record, CsvRecord *fields);
extern void rows_tell(Rows *rows, const BloomfamType *type, const uint8_t *answers);
extern void rows_end(Rows *rows);

#endif							/* ROWS_H */
