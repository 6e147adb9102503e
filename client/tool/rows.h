/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Rows of CSV from standard input, some thousand at a time, with their keys.
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

/* What rows_begin() is told where nobody knows how many columns a key has. */
#define ROWS_ANY_COLUMNS	0

/* Rows of a batch: enough to hide what a call costs, few enough for the second cache. */
#define ROWS_BATCH	2048

/* How many lines that are bad are told one by one. */
#define ROWS_TOLD	10

/* A column of the key. */
typedef struct KeyColumn
{
	size_t		at;				/* its place in a line, from 0 */
	CsvRecord	name;			/* the line of names, and in it the column's */
} KeyColumn;

typedef struct Rows
{
	Input		input;
	CsvScanner	scanner;
	bool		unread;			/* there are bytes that no record was looked for in */
	bool		scanning;		/* there may be more records in those that are looked at */
	bool		any_bytes;
	bool		marked;			/* the first row begins with a byte order mark */
	const char *marked_record;	/* start of the row with that mark, in this batch; NULL: none */
	char	   *head;			/* the line of names, with a mark before it; NULL: none */
	size_t		head_length;
	size_t		ncolumns;		/* of the key */
	KeyColumn	columns[BLOOMFAM_MAX_COLUMNS];	/* in the order of the key */
	char	   *undoubled;		/* keys of the batch that had quotes in them */
	size_t		undoubled_capacity;
	Progress	progress;

	/* the batch */
	size_t		n;
	CsvRecord	records[ROWS_BATCH];	/* of keys of several columns, form tells of NULLs in any,
										 * and key is the last one's in a line */
	BloomfamPiece *keys;		/* ROWS_BATCH for each column; NULL: a NULL, or a record with a
								 * fault */
	BloomfamColumn key_columns[BLOOMFAM_MAX_COLUMNS];	/* of keys */
	size_t		lacking;		/* records of form CSV_KEY_NULL */
	size_t		faults;			/* records with one, which are no such rows */
	uint64_t	line;			/* the first record's, from 1 */

	/* all batches so far, and this one */
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
