/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * csv.h
 *	  Records of CSV in memory: where each record ends, and where its key is.
 *
 * Records are those of RFC 4180, and end where COPY ...  (FORMAT csv) ends them: at a newline that
 * is not within quotes.  The input's bytes are hostile; they are neither changed nor copied.  A
 * record that different readers of CSV would read differently has a fault, and no key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The contents of a record's key column. */
typedef enum CsvKeyForm
{
	CSV_KEY_NULL,				/* The field is empty and has no quotes: a NULL. */
	CSV_KEY_PLAIN,				/* The key is the field's bytes. */
	CSV_KEY_DOUBLED,			/* The key has doubled quotes, which csv_undouble() undoes. */
	CSV_KEY_NONE				/* The record has no reliable key; its fault says why. */
} CsvKeyForm;

typedef enum CsvFault
{
	CSV_SOUND,
	CSV_NO_COLUMN,				/* The record has too few columns. */
	/* A quote stands in an unquoted field, or after the end of a quoted field. */
	CSV_STRAY_QUOTE,
	CSV_OPEN_QUOTE,				/* The input ends within quotes. */
	CSV_STRAY_RETURN,			/* A carriage return is neither quoted nor before a newline. */
	CSV_END_MARK,				/* A line of \. alone, at which COPY before PostgreSQL 18 stops. */
	CSV_MARKED_KEY				/* The key begins with the input's byte order mark. */
} CsvFault;

typedef struct CsvRecord
{
	const char *start;
	size_t		length;			/* Length in bytes, including the end of the line. */
	/* The key, within the record and without enclosing quotes; NULL: the line is empty. */
	const char *key;
	size_t		key_length;
	CsvKeyForm	form;
	CsvFault	fault;
	/* Number of newlines in the record; 1 for a last record without a newline. */
	size_t		lines;
} CsvRecord;

typedef enum CsvStep
{
	CSV_RECORD,					/* *record is the next record. */
	CSV_MORE,					/* The remaining bytes seem not to be a whole record. */
	CSV_END						/* No bytes remain. */
} CsvStep;

/*
 * A reader of CSV in a buffer.  The positions newline, quote and cr are found ahead of time, and
 * are valid until at has passed them.
 */
typedef struct CsvScanner
{
	char		delimiter;		/* The byte between fields; not a quote, CR or LF. */
	size_t		column;			/* Index of the key's column, from 0. */
	bool		last;			/* True if the buffer ends with the input's last byte. */
	const char *bytes;
	size_t		end;
	size_t		at;				/* Position of the first byte of the next record. */
	/* Position of the first newline at or after "at", or the buffer's end if there is none. */
	size_t		newline;
	size_t		quote;
	size_t		cr;
} CsvScanner;

extern void csv_begin(CsvScanner *scanner, const char *bytes, size_t length, bool last);
extern CsvStep csv_next(CsvScanner *scanner, CsvRecord *record);
extern size_t csv_field(const CsvRecord *record, char delimiter, size_t at, CsvRecord *field);
extern size_t csv_undouble(char *to, const char *from, size_t length);
extern const char *csv_fault_text(CsvFault fault);

#endif							/* CSV_H */
