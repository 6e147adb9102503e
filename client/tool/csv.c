/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * csv.c
 *	  Records of CSV in memory; see csv.h.
 *
 * Most records have no quote, and are found by one memchr() for their newline.  The positions of
 * the next newline, quote and carriage return are kept from record to record, so that no byte is
 * searched twice for any of the three, however rare they are.
 *
 *-------------------------------------------------------------------------
 */
#include "csv.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * Returns the position of the first byte c from a position on, or stop.  The first 64 bytes are
 * searched without memchr(): most bytes are found near, where the call would take longer than the
 * search.
 */
static inline size_t
find_before(const char *bytes, size_t from, size_t stop, char c)
{
	const char *found;

#ifdef __SSE2__
	__m128i		wanted = _mm_set1_epi8(c);
	int			i;

	for (i = 0; i < 4 && stop - from >= 16; i++, from += 16)
	{
		__m128i		piece = _mm_loadu_si128((const __m128i *) (const void *) (bytes + from));
		unsigned	equal = (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(piece, wanted));

		if (equal != 0)
			return from + (size_t) __builtin_ctz(equal);
	}
#endif
	found = memchr(bytes + from, c, stop - from);
	return found ? (size_t) (found - bytes) : stop;
}

static inline size_t
find(const CsvScanner *scanner, size_t from, char c)
{
	return find_before(scanner->bytes, from, scanner->end, c);
}

/*
 * Updates a position of byte c that was found earlier: if the position is before "from", finds the
 * next c from there on.
 */
static inline void
look_ahead(const CsvScanner *scanner, size_t *position, size_t from, char c)
{
	if (*position < from)
		*position = find(scanner, from, c);
}

/*
 * Returns the end of a line's text.  The line begins at start, and its newline, or the end of the
 * input, is at newline.
 */
static inline size_t
text_end(const CsvScanner *scanner, size_t start, size_t newline)
{
	if (newline < scanner->end && newline > start && scanner->bytes[newline - 1] == '\r')
		return newline - 1;
	return newline;
}

static inline void
set_key(const CsvScanner *scanner, CsvRecord *record, size_t start, size_t end, CsvKeyForm form)
{
	record->key = scanner->bytes + start;
	record->key_length = end - start;
	record->form = form;
}

/* Ends the record at next, the position of its newline or the end of the input. */
static inline CsvStep
finish(CsvScanner *scanner, CsvRecord *record, size_t next, CsvFault fault)
{
	size_t		length = next + (next < scanner->end) - scanner->at;

	record->start = scanner->bytes + scanner->at;
	record->length = length;
	if (fault != CSV_SOUND)
		record->form = CSV_KEY_NONE;
	record->fault = fault;
	scanner->at += length;
	return CSV_RECORD;
}

/* Counts the newlines in length bytes. */
static size_t
count_lines(const char *bytes, size_t length)
{
	const char *end = bytes + length;
	size_t		lines = 0;

	while (bytes < end && (bytes = memchr(bytes, '\n', (size_t) (end - bytes))) != NULL)
	{
		lines++;
		bytes++;
	}
	return lines;
}

/* Reads a record without a quote, whose newline, or the end of the input, has been found. */
static CsvStep
next_plain(CsvScanner *scanner, CsvRecord *record)
{
	const char *bytes = scanner->bytes;
	size_t		field = scanner->at;
	size_t		end = text_end(scanner, field, scanner->newline);
	size_t		column;

	record->lines = 1;
	record->form = CSV_KEY_NULL;
	look_ahead(scanner, &scanner->cr, scanner->at, '\r');
	if (scanner->cr < end)
		return finish(scanner, record, scanner->newline, CSV_STRAY_RETURN);
	if (end - field == 2 && memcmp(bytes + field, "\\.", 2) == 0)
		return finish(scanner, record, scanner->newline, CSV_END_MARK);

	/* An empty line has no key, whatever the key's column. */
	if (end == field)
		return finish(scanner, record, scanner->newline, CSV_SOUND);

	for (column = scanner->column; column > 0; column--)
	{
		field = find_before(bytes, field, end, scanner->delimiter) + 1;
		if (field > end)
			return finish(scanner, record, scanner->newline, CSV_NO_COLUMN);
	}
	end = find_before(bytes, field, end, scanner->delimiter);
	set_key(scanner, record, field, end, end == field ? CSV_KEY_NULL : CSV_KEY_PLAIN);
	return finish(scanner, record, scanner->newline, CSV_SOUND);
}

/*
 * Reads the rest of a record with a misplaced quote, from a position outside of quotes.  The record
 * ends where COPY ends it, with each quote opening or closing.
 */
static CsvStep
next_faulty(CsvScanner *scanner, CsvRecord *record, size_t at)
{
	for (;;)
	{
		look_ahead(scanner, &scanner->newline, at, '\n');
		look_ahead(scanner, &scanner->quote, at, '"');
		if (scanner->newline <= scanner->quote)
			break;
		at = scanner->quote + 1;
		look_ahead(scanner, &scanner->quote, at, '"');
		if (scanner->quote == scanner->end)
		{
			if (!scanner->last)
				return CSV_MORE;
			record->lines = count_lines(scanner->bytes + scanner->at, scanner->end - scanner->at);
			return finish(scanner, record, scanner->end, CSV_OPEN_QUOTE);
		}
		at = scanner->quote + 1;
	}
	if (scanner->newline == scanner->end && !scanner->last)
		return CSV_MORE;
	record->lines = count_lines(scanner->bytes + scanner->at, scanner->newline - scanner->at) + 1;
	return finish(scanner, record, scanner->newline, CSV_STRAY_QUOTE);
}

/*
 * Finds the end of a quoted field.  Sets *closing to the position of its closing quote, and
 * *doubled to whether the field has quotes in it.  Returns false if the buffer ends before the
 * closing quote is certain.
 */
static bool
find_closing(CsvScanner *scanner, size_t opening, size_t *closing, bool *doubled)
{
	size_t		from = opening + 1;

	*doubled = false;
	for (;;)
	{
		size_t		quote;

		look_ahead(scanner, &scanner->quote, from, '"');
		quote = scanner->quote;
		if (quote == scanner->end || (quote + 1 == scanner->end && !scanner->last))
			return false;
		if (quote + 1 == scanner->end || scanner->bytes[quote + 1] != '"')
		{
			*closing = quote;
			return true;
		}
		*doubled = true;
		from = quote + 2;
	}
}

/* Reads a record with a quote in it, field by field. */
static CsvStep
next_quoted(CsvScanner *scanner, CsvRecord *record)
{
	const char *bytes = scanner->bytes;
	size_t		end = scanner->end;
	size_t		at = scanner->at;
	size_t		column = 0;
	size_t		newlines = 0;
	/* The record's fault; it is CSV_NO_COLUMN until the key's column is found. */
	CsvFault	fault = CSV_NO_COLUMN;

	record->form = CSV_KEY_NULL;
	for (;; column++, at++)
	{
		/* at is the position of a field's first byte, or the end of the buffer. */
		if (at < end && bytes[at] == '"')
		{
			size_t		closing;
			bool		doubled;

			look_ahead(scanner, &scanner->newline, at, '\n');
			if (!find_closing(scanner, at, &closing, &doubled))
			{
				if (!scanner->last)
					return CSV_MORE;
				record->lines = count_lines(bytes + scanner->at, end - scanner->at);
				return finish(scanner, record, end, CSV_OPEN_QUOTE);
			}
			if (column == scanner->column)
			{
				set_key(scanner, record, at + 1, closing,
						doubled ? CSV_KEY_DOUBLED : CSV_KEY_PLAIN);
				if (fault == CSV_NO_COLUMN)
					fault = CSV_SOUND;
			}
			if (scanner->newline < closing)
				newlines += count_lines(bytes + at, closing - at);
			at = closing + 1;
			look_ahead(scanner, &scanner->newline, at, '\n');
			if (at < end && bytes[at] == scanner->delimiter)
				continue;
			if (at == scanner->newline && (at < end || scanner->last))
				break;
			if (at + 1 == scanner->newline && bytes[at] == '\r')
			{
				if (scanner->newline < end)
					break;
				if (!scanner->last)
					return CSV_MORE;
				fault = CSV_STRAY_RETURN;
				break;
			}
			return next_faulty(scanner, record, at);
		}
		else
		{
			size_t		limit;
			size_t		stop;
			bool		ends;

			look_ahead(scanner, &scanner->newline, at, '\n');
			look_ahead(scanner, &scanner->quote, at, '"');
			look_ahead(scanner, &scanner->cr, at, '\r');
			limit = scanner->newline < scanner->quote ? scanner->newline : scanner->quote;
			stop = find_before(bytes, at, limit, scanner->delimiter);
			ends = stop == limit;
			if (ends)
			{
				if (limit == end && !scanner->last)
					return CSV_MORE;
				if (scanner->quote < scanner->newline)
					return next_faulty(scanner, record, at);
				stop = text_end(scanner, at, limit);
			}
			if (scanner->cr < stop)
				fault = CSV_STRAY_RETURN;
			if (column == scanner->column)
			{
				set_key(scanner, record, at, stop, stop == at ? CSV_KEY_NULL : CSV_KEY_PLAIN);
				if (fault == CSV_NO_COLUMN)
					fault = CSV_SOUND;
			}
			at = stop;
			if (ends)
				break;
		}
	}
	record->lines = newlines + 1;
	return finish(scanner, record, scanner->newline, fault);
}

/*
 * Begins to read records from the first byte of a record.  The bytes must not move while records of
 * them are used. last tells that the buffer ends with the end of the input, so that its remaining
 * bytes are a record, too.
 */
void
csv_begin(CsvScanner *scanner, const char *bytes, size_t length, bool last)
{
	scanner->last = last;
	scanner->bytes = bytes;
	scanner->end = length;
	scanner->at = 0;
	scanner->newline = find(scanner, 0, '\n');
	scanner->quote = find(scanner, 0, '"');
	scanner->cr = find(scanner, 0, '\r');
}

/*
 * Finds the next record.  After CSV_MORE, *record is undefined.  The caller then passes the bytes
 * from at on to csv_begin() again, with at least as many more bytes, so that long records are not
 * scanned too often.
 */
CsvStep
csv_next(CsvScanner *scanner, CsvRecord *record)
{
	if (scanner->at == scanner->end)
		return scanner->last ? CSV_END : CSV_MORE;
	record->key = NULL;
	record->key_length = 0;
	look_ahead(scanner, &scanner->newline, scanner->at, '\n');
	if (scanner->newline == scanner->end && !scanner->last)
		return CSV_MORE;
	look_ahead(scanner, &scanner->quote, scanner->at, '"');
	if (scanner->quote >= scanner->newline)
		return next_plain(scanner, record);
	return next_quoted(scanner, record);
}

/*
 * Finds the field that begins at position at of a record without a fault, and sets the key,
 * key_length and form of *field to it.  Returns the position of the next field; a position beyond
 * the record's length means that there is no further field.
 */
size_t
csv_field(const CsvRecord *record, char delimiter, size_t at, CsvRecord *field)
{
	const char *start = record->start + at;
	const char *end = record->start + record->length;
	const char *stop = end;
	const char *next;

	/* The record includes its newline, which is not part of the last field. */
	if (stop > record->start && stop[-1] == '\n')
		stop--;
	if (stop < end && stop > record->start && stop[-1] == '\r')
		stop--;
	field->form = CSV_KEY_PLAIN;
	if (start < stop && *start == '"')
	{
		field->key = ++start;
		while ((next = memchr(start, '"', (size_t) (stop - start))) != NULL &&
			   next + 1 < stop && next[1] == '"')
		{
			field->form = CSV_KEY_DOUBLED;
			start = next + 2;
		}
		/* In a record without a fault, a quote closes the field. */
		if (next == NULL)
			next = stop;
		field->key_length = (size_t) (next - field->key);
		next = next + 1 < stop ? next + 1 : stop;
	}
	else
	{
		next = memchr(start, delimiter, (size_t) (stop - start));
		if (next == NULL)
			next = stop;
		field->key = start;
		field->key_length = (size_t) (next - start);
		if (field->key_length == 0)
			field->form = CSV_KEY_NULL;
	}
	return next < stop ? (size_t) (next - record->start) + 1 : record->length + 1;
}

/*
 * Writes a key of form CSV_KEY_DOUBLED to to, with each pair of quotes as a single quote. to has
 * room for length bytes.  Returns the number of bytes written.
 */
size_t
csv_undouble(char *to, const char *from, size_t length)
{
	const char *end = from + length;
	char	   *start = to;

	while (from < end)
	{
		const char *quote = memchr(from, '"', (size_t) (end - from));
		size_t		run = (size_t) ((quote ? quote + 1 : end) - from);

		memcpy(to, from, run);
		to += run;
		from += run + (quote != NULL);
	}
	return (size_t) (to - start);
}

/* Returns a message that says what is wrong with a record. */
const char *
csv_fault_text(CsvFault fault)
{
	switch (fault)
	{
		case CSV_SOUND:
			break;
		case CSV_NO_COLUMN:
			return "there is no such column";
		case CSV_STRAY_QUOTE:
			return "a quote is neither at the beginning nor at the end of a field";
		case CSV_OPEN_QUOTE:
			return "the input ends within quotes";
		case CSV_STRAY_RETURN:
			return "a carriage return is neither quoted nor before a newline";
		case CSV_END_MARK:
			return "\\. ends the data of COPY";
		case CSV_MARKED_KEY:
			return "a byte order mark is part of the key";
	}
	return "nothing is wrong";
}
