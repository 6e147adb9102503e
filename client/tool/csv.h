/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * csv.h
 *	  Records of CSV in memory: where each one ends, and where its key is.
 *
 * Records are those of RFC 4180, and end where COPY ... (FORMAT csv) ends them: at a newline that
 * is not within quotes.  Nothing is changed or copied; the bytes are hostile.  A record that
 * readers of CSV do not agree on has a fault, and no key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a record has in the column that is asked for. */
typedef enum CsvKeyForm
{
	CSV_KEY_NULL,				/* nothing, not even quotes */
	CSV_KEY_PLAIN,				/* the bytes as they stand */
	CSV_KEY_DOUBLED,			/* bytes in which each quote stands twice: see csv_undouble() */
	CSV_KEY_NONE				/* no key that could be relied on; the record's fault says why */
} CsvKeyForm;

typedef enum CsvFault
{
	CSV_SOUND,
	CSV_NO_COLUMN,				/* the record has fewer columns */
	CSV_STRAY_QUOTE,			/* a quote in a field that begins without one, or behind its end */
	CSV_OPEN_QUOTE,				/* the input ends within quotes */
	CSV_STRAY_RETURN,			/* a carriage return that is neither quoted nor before a newline */
	CSV_END_MARK,				/* \. alone on its line, where COPY before PostgreSQL 18 stops */
	CSV_MARKED_KEY				/* the key begins with the input's byte order mark */
} CsvFault;

typedef struct CsvRecord
{
	const char *start;
	size_t		length;			/* with the end of its line */
	const char *key;			/* within the record and its quotes; NULL: the line is empty */
	size_t		key_length;
	CsvKeyForm	form;
	CsvFault	fault;
	size_t		lines;			/* newlines in it; 1 for the last record without one */
} CsvRecord;

typedef enum CsvStep
{
	CSV_RECORD,					/* *record is the next one */
	CSV_MORE,					/* what is left is no whole record, as far as can be seen */
	CSV_END						/* nothing is left */
} CsvStep;

/* Where a reader is.  The last three are found ahead, and hold as long as they are not behind. */
typedef struct CsvScanner
{
	char		delimiter;		/* one byte; neither a quote, CR nor LF */
	size_t		column;			/* the key's, from 0 */
	bool		last;			/* no bytes will follow those of the buffer */
	const char *bytes;
	size_t		end;
	size_t		at;				/* the next record's first byte */
	size_t		newline;		/* the next one from at on, or end */
	size_t		quote;
	size_t		cr;
} CsvScanner;

extern void csv_begin(CsvScanner *scanner, const char *bytes, size_t length, bool last);
extern CsvStep csv_next(CsvScanner *scanner, CsvRecord *record);
extern size_t csv_field(const CsvRecord *record, char delimiter, size_t at, CsvRecord *field);
extern size_t csv_undouble(char *to, const char *from, size_t length);
extern const char *csv_fault_text(CsvFault fault);

#endif							/* CSV_H */
