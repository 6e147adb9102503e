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

/* Rows of a batch: enough to hide what a call costs, few enough for the second cache. */
#define ROWS_BATCH	2048

/* How many lines that are bad are told one by one. */
#define ROWS_TOLD	10

typedef struct Rows
{
	Input		input;
	CsvScanner	scanner;
	bool		unread;			/* there are bytes that no record was looked for in */
	bool		scanning;		/* there may be more records in those that are looked at */
	bool		any_bytes;
	bool		marked;			/* the first row begins with a byte order mark */
	char	   *head;			/* the line of names, with a mark before it; NULL: none */
	size_t		head_length;
	CsvRecord	key_name;		/* that line, and in it the name of the key's column */
	char	   *undoubled;		/* keys of the batch that had quotes in them */
	size_t		undoubled_capacity;
	Progress	progress;

	/* the batch */
	size_t		n;
	CsvRecord	records[ROWS_BATCH];
	BloomfamPiece keys[ROWS_BATCH]; /* NULL: a NULL, or a record with a fault */
	size_t		faults;			/* records with one */
	uint64_t	line;			/* the first record's, from 1 */

	/* all batches so far, and this one */
	uint64_t	rows;
	uint64_t	told;
} Rows;

extern void rows_begin(Rows *rows, const Options *options);
extern bool rows_next(Rows *rows);
extern BloomfamColumn rows_column(const Rows *rows);
extern void rows_tell(Rows *rows, const BloomfamType *type, const uint8_t *answers);
extern void rows_end(Rows *rows);

#endif							/* ROWS_H */
