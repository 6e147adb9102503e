/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Rows of CSV from standard input; see rows.h.
 *
 *-------------------------------------------------------------------------
 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char byte_order_mark[] = {'\xef', '\xbb', '\xbf'};

/* The number of a column that is given as one, from 1; 0: it is a name. */
static size_t
column_number(const char *text)
{
	size_t		number = 0;
	const char *at;

	for (at = text; *at != '\0'; at++)
	{
		if (*at < '0' || *at > '9')
			return 0;
		if (number > 1000000)
			usage_error("there is no column %s", text);
		number = number * 10 + (size_t) (*at - '0');
	}
	if (number == 0)
		usage_error("columns are counted from 1");
	return number;
}

/* Is a field's text, with quotes undoubled, that name?  There is room for it at text. */
static bool
is_name(const CsvRecord *field, const char *name, char *text)
{
	const char *key = field->key;
	size_t		length = field->key_length;

	if (field->form == CSV_KEY_DOUBLED)
	{
		length = csv_undouble(text, key, length);
		key = text;
	}
	return length == strlen(name) && memcmp(key, name, length) == 0;
}

/*
 * The key's column, from 0, by the line of names.  Ends the program where it is not there, or could
 * be another: keys of a wrong column would be denied.  Sets *key_name.
 */
static size_t
find_column(const CsvRecord *head, char delimiter, const char *name, CsvRecord *key_name)
{
	size_t		number = column_number(name);
	size_t		found = SIZE_MAX;
	char	   *text = need_memory(malloc(head->length), head->length);
	size_t		columns = 0;
	size_t		at = 0;

	if (head->fault != CSV_SOUND)
		fail("the line of column names cannot be read: %s", csv_fault_text(head->fault));
	for (; at <= head->length; columns++)
	{
		CsvRecord	field = *head;

		at = csv_field(head, delimiter, at, &field);
		if (columns + 1 == number)
			*key_name = field;
		if (!is_name(&field, name, text))
			continue;
		if (found != SIZE_MAX)
			fail("two columns are called \"%s\"; --column also takes a number", name);
		found = columns;
		if (number == 0)
			*key_name = field;
	}
	free(text);
	if (number == 0 && found == SIZE_MAX)
		fail("there is no column \"%s\" in the first line", name);
	if (number > columns)
		fail("there is no column %zu: the first line has %zu", number, columns);
	if (number > 0 && found != SIZE_MAX && found != number - 1)
		fail("\"%s\" is the number of one column and the name of another", name);
	return number > 0 ? number - 1 : found;
}

/* Reads the line of names, and finds the column in it. */
static void
read_head(Rows *rows, const Options *options, size_t mark)
{
	Input	   *input = &rows->input;
	CsvRecord	record;
	CsvStep		step;

	rows->scanner.column = 0;
	for (;;)
	{
		csv_begin(&rows->scanner, input->buffer + input->begin + mark,
				  input->end - input->begin - mark, input->ended);
		step = csv_next(&rows->scanner, &record);
		if (step != CSV_MORE)
			break;
		input_more(input);
	}
	if (step == CSV_END)
		fail(
			"there is no line of column names, not even that; for a file without one: --no-header");
	rows->head_length = mark + record.length;
	rows->head = need_memory(malloc(rows->head_length), rows->head_length);
	memcpy(rows->head, input->buffer + input->begin, rows->head_length);
	input_use(input, rows->head_length);
	rows->line += record.lines;
	record.start = rows->head + mark;
	rows->scanner.column =
		find_column(&record, rows->scanner.delimiter, options->column, &rows->key_name);
}

/*
 * Begins to read standard input.  Ends the program if it has no such column.
 */
void
rows_begin(Rows *rows, const Options *options)
{
	Input	   *input = &rows->input;
	size_t		mark = 0;

	memset(rows, 0, offsetof(Rows, records));
	rows->rows = rows->told = rows->faults = 0;
	rows->line = 1;
	rows->any_bytes = options->any_bytes;
	rows->scanner.delimiter = options->delimiter;
	input_open(input, STDIN_FILENO, "standard input");
	while (input->end < sizeof(byte_order_mark) && !input->ended)
		input_more(input);
	if (input->end >= sizeof(byte_order_mark) &&
		memcmp(input->buffer, byte_order_mark, sizeof(byte_order_mark)) == 0)
		mark = sizeof(byte_order_mark);
	if (options->header)
		read_head(rows, options, mark);
	else
	{
		size_t		number = column_number(options->column);

		if (number == 0)
			usage_error("without a header, --column must be a number: \"%s\"", options->column);
		rows->scanner.column = number - 1;
		rows->marked = mark > 0;
	}
	rows->unread = true;
	progress_begin(&rows->progress);
}

/*
 * The first row of an input that begins with a byte order mark, which belongs to it.  COPY takes
 * the mark for a part of the first field, others do not; so such a field is no key.
 */
static void
take_mark(Rows *rows, CsvRecord *record)
{
	record->start -= sizeof(byte_order_mark);
	record->length += sizeof(byte_order_mark);
	if (rows->scanner.column == 0 && record->fault == CSV_SOUND)
	{
		record->form = CSV_KEY_NONE;
		record->fault = CSV_MARKED_KEY;
	}
	rows->marked = false;
}

/* A key whose quotes are doubled, as it is meant, in memory that lasts as long as the batch. */
static const char *
undouble(Rows *rows, const CsvRecord *record, char **to, size_t *length)
{
	char	   *start;

	if (*to == NULL)
	{
		/* no batch has keys of more bytes than were read */
		if (rows->undoubled_capacity < rows->scanner.end)
		{
			free(rows->undoubled);
			rows->undoubled = need_memory(malloc(rows->scanner.end), rows->scanner.end);
			rows->undoubled_capacity = rows->scanner.end;
		}
		*to = rows->undoubled;
	}
	start = *to;
	*length = csv_undouble(start, record->key, record->key_length);
	*to += *length;
	return start;
}

/* Begins to look for records in what is not used yet of the input, after reading more of it. */
static void
read_more(Rows *rows)
{
	Input	   *input = &rows->input;
	size_t		mark = rows->marked ? sizeof(byte_order_mark) : 0;

	if (!rows->unread)
		input_more(input);
	rows->unread = false;
	csv_begin(&rows->scanner, input->buffer + input->begin + mark, input->end - input->begin - mark,
			  input->ended);
	rows->scanning = true;
}

/* An input of nothing but a byte order mark: so that it is not lost. */
static void
take_bare_mark(Rows *rows, CsvRecord *record)
{
	record->start = rows->scanner.bytes;
	record->length = 0;
	record->lines = 1;
	record->form = CSV_KEY_NONE;
	record->fault = CSV_MARKED_KEY;
	take_mark(rows, record);
}

/*
 * Takes the next rows.  What the last batch points to is gone then.  Returns false at the end of
 * the input, when the batch is empty.
 */
bool
rows_next(Rows *rows)
{
	char	   *undoubled = NULL;
	size_t		used = 0;
	size_t		i;
	CsvStep		step = CSV_RECORD;

	for (i = 0; i < rows->n; i++)
		rows->line += rows->records[i].lines;
	rows->n = 0;
	rows->faults = 0;
	while (rows->n < ROWS_BATCH)
	{
		CsvRecord  *record = &rows->records[rows->n];
		BloomfamPiece *key = &rows->keys[rows->n];

		if (!rows->scanning)
		{
			/* what the batch points to must not move */
			if (rows->n > 0)
				break;
			read_more(rows);
		}
		step = csv_next(&rows->scanner, record);
		if (step == CSV_MORE)
		{
			rows->scanning = false;
			continue;
		}
		if (step == CSV_END && !rows->marked)
			break;
		if (step == CSV_END)
			take_bare_mark(rows, record);
		else if (rows->marked)
			take_mark(rows, record);
		used += record->length;
		key->bytes = NULL;
		key->len = 0;
		switch (record->form)
		{
			case CSV_KEY_NULL:
				break;
			case CSV_KEY_PLAIN:
				key->bytes = record->key;
				key->len = record->key_length;
				break;
			case CSV_KEY_DOUBLED:
				key->bytes = undouble(rows, record, &undoubled, &key->len);
				break;
			case CSV_KEY_NONE:
				rows->faults++;
				break;
		}
		rows->n++;
	}
	rows->rows += rows->n;
	input_use(&rows->input, used);
	progress_step(&rows->progress, rows->rows, rows->input.used, rows->input.size);
	return rows->n > 0;
}

/* The batch's keys, for the library. */
BloomfamColumn
rows_column(const Rows *rows)
{
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, rows->keys, rows->n);

	column.any_bytes = rows->any_bytes;
	return column;
}

/*
 * Tells of the first bad lines of all: those of the batch with a fault, and those whose answer says
 * that they have no key of the type.
 */
void
rows_tell(Rows *rows, const BloomfamType *type, const uint8_t *answers)
{
	BloomfamColumn column = rows_column(rows);
	uint64_t	line = rows->line;
	size_t		i;

	for (i = 0; i < rows->n && rows->told < ROWS_TOLD; line += rows->records[i].lines, i++)
	{
		const CsvRecord *record = &rows->records[i];
		BloomfamError error;

		if (record->fault == CSV_SOUND && answers[i] != BLOOMFAM_BAD &&
			answers[i] != BLOOMFAM_IMPOSSIBLE)
			continue;
		progress_end(&rows->progress);
		if (record->fault != CSV_SOUND)
			note("line %s: %s", grouped(line), csv_fault_text(record->fault));
		else if (bloomfam_column_error(type, &column, i, &error) == BLOOMFAM_OK)
			note("line %s: the key is no value of its type", grouped(line));
		else
			note("line %s: %s", grouped(line), error.message);
		if (++rows->told == ROWS_TOLD)
			note("further lines like these are only counted");
	}
}

/* Gives back what rows_begin() took. */
void
rows_end(Rows *rows)
{
	progress_end(&rows->progress);
	input_close(&rows->input);
	free(rows->head);
	free(rows->undoubled);
	rows->head = rows->undoubled = NULL;
}
