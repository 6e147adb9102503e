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

/* Returns the number, from 1, of a column that is given as a number; 0 if the text is a name. */
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

/*
 * Returns whether a field is the given name, with its quotes undoubled into text, which must have
 * room for the field.
 */
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
 * Finds a column of the key by its name or number in the header line.  Ends the program if there is
 * no such column, or if the name is ambiguous: keys of a wrong column would be reported as absent.
 */
static KeyColumn
find_column(const CsvRecord *head, char delimiter, const char *name)
{
	KeyColumn	column;
	size_t		number = column_number(name);
	size_t		found = SIZE_MAX;
	char	   *text = need_memory(malloc(head->length), head->length);
	size_t		columns = 0;
	size_t		at = 0;

	column.name = *head;
	for (; at <= head->length; columns++)
	{
		CsvRecord	field = *head;

		at = csv_field(head, delimiter, at, &field);
		if (columns + 1 == number)
			column.name = field;
		if (!is_name(&field, name, text))
			continue;
		if (found != SIZE_MAX)
			fail("two columns are called \"%s\"; --column also takes a number", name);
		found = columns;
		if (number == 0)
			column.name = field;
	}
	free(text);
	if (number == 0 && found == SIZE_MAX)
		fail("there is no column \"%s\" in the first line", name);
	if (number > columns)
		fail("there is no column %zu: the first line has %zu", number, columns);
	if (number > 0 && found != SIZE_MAX && found != number - 1)
		fail("\"%s\" is the number of one column and the name of another", name);
	column.at = number > 0 ? number - 1 : found;
	return column;
}

/* Returns whether the header line has a field of the given name. */
static bool
has_name(const CsvRecord *head, char delimiter, const char *name)
{
	char	   *text = need_memory(malloc(head->length), head->length);
	bool		found = false;
	size_t		at = 0;

	while (at <= head->length && !found)
	{
		CsvRecord	field = *head;

		at = csv_field(head, delimiter, at, &field);
		found = is_name(&field, name, text);
	}
	free(text);
	return found;
}

/*
 * Splits the text of --column, a line of CSV for a key of several columns.  Returns the number of
 * names. names has room for BLOOMFAM_MAX_COLUMNS names, and the caller frees each of them.
 */
static size_t
take_names(const char *text, char **names)
{
	CsvRecord	line = {.start = text, .length = strlen(text)};
	CsvRecord	field = line;
	size_t		n = 0;
	size_t		at = 0;

	while (at <= line.length)
	{
		char	   *name;
		size_t		length;

		at = csv_field(&line, ',', at, &field);
		length = field.key_length;
		name = need_memory(malloc(length + 1), length + 1);
		if (field.form == CSV_KEY_DOUBLED)
			length = csv_undouble(name, field.key, length);
		else
			memcpy(name, field.key, length);
		name[length] = '\0';
		if (length == 0)
			usage_error("--column has an empty name: \"%s\"", text);
		if (field.key > text && field.key[-1] == '"' &&
			(field.key[field.key_length] != '"' ||
			 strchr(",", field.key[field.key_length + 1]) == NULL))
			usage_error("--column has a quote where none belongs: \"%s\"", text);
		if (n == BLOOMFAM_MAX_COLUMNS)
			usage_error("a key has at most %d columns", BLOOMFAM_MAX_COLUMNS);
		names[n++] = name;
	}
	return n;
}

/*
 * Finds the columns of the key. ncolumns is their number, or ROWS_ANY_COLUMNS to take as many
 * columns as --column names. head is NULL if there is no header line.
 */
static void
find_columns(Rows *rows, const CsvRecord *head, const char *text, size_t ncolumns)
{
	char	   *names[BLOOMFAM_MAX_COLUMNS];
	size_t		n = 1;
	size_t		i;
	size_t		j;

	if (head != NULL && head->fault != CSV_SOUND)
		fail("the line of column names cannot be read: %s", csv_fault_text(head->fault));

	/* The name of a single column may have a comma in it. */
	if (ncolumns == 1 || (ncolumns == ROWS_ANY_COLUMNS && head != NULL &&
						  has_name(head, rows->scanner.delimiter, text)))
		names[0] = need_memory(strdup(text), strlen(text));
	else
		n = take_names(text, names);
	if (ncolumns != ROWS_ANY_COLUMNS && n != ncolumns)
		usage_error("the keys have %zu columns, and --column names %zu", ncolumns, n);
	rows->scanner.column = 0;
	for (i = 0; i < n; i++)
	{
		KeyColumn  *column = &rows->columns[i];
		size_t		number;

		if (head != NULL)
			*column = find_column(head, rows->scanner.delimiter, names[i]);
		else
		{
			number = column_number(names[i]);
			if (number == 0)
				usage_error("without a header, --column must be a number: \"%s\"", names[i]);
			column->at = number - 1;
		}
		for (j = 0; j < i; j++)
		{
			if (rows->columns[j].at == column->at)
				usage_error("--column names the same column twice: \"%s\"", text);
		}
		if (column->at > rows->scanner.column)
			rows->scanner.column = column->at;
		free(names[i]);
	}
	rows->ncolumns = n;
}

/* Reads the header line, and finds the columns of the key in it. */
static void
read_head(Rows *rows, const Options *options, size_t ncolumns, size_t mark)
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
	find_columns(rows, &record, options->column, ncolumns);
}

/* Begins to read standard input.  Ends the program if the input lacks a column of the key. */
void
rows_begin(Rows *rows, const Options *options, size_t ncolumns)
{
	Input	   *input = &rows->input;
	size_t		mark = 0;
	size_t		size;
	size_t		i;

	memset(rows, 0, offsetof(Rows, records));
	rows->rows = rows->told = rows->faults = rows->lacking = 0;
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
		read_head(rows, options, ncolumns, mark);
	else
	{
		find_columns(rows, NULL, options->column, ncolumns);
		rows->marked = mark > 0;
	}
	size = rows->ncolumns * ROWS_BATCH * sizeof(*rows->keys);
	rows->keys = need_memory(malloc(size), size);
	for (i = 0; i < rows->ncolumns; i++)
	{
		rows->key_columns[i] = bloomfam_pieces(BLOOMFAM_WRITTEN, rows->keys + i * ROWS_BATCH, 0);
		rows->key_columns[i].any_bytes = rows->any_bytes;
	}
	rows->unread = true;
	progress_begin(&rows->progress);
}

/* Returns whether the column with index at in a line, from 0, belongs to the key. */
static bool
is_in_key(const Rows *rows, size_t at)
{
	size_t		i;

	for (i = 0; i < rows->ncolumns; i++)
	{
		if (rows->columns[i].at == at)
			return true;
	}
	return false;
}

/*
 * Adds the byte order mark at the beginning of the input to the first row.  COPY takes the mark for
 * a part of the first field, but other programs do not.  So the row has a fault if that field
 * belongs to the key.
 */
static void
take_mark(Rows *rows, CsvRecord *record)
{
	record->start -= sizeof(byte_order_mark);
	record->length += sizeof(byte_order_mark);
	rows->marked_record = record->start;
	if (is_in_key(rows, 0) && record->fault == CSV_SOUND)
	{
		record->form = CSV_KEY_NONE;
		record->fault = CSV_MARKED_KEY;
	}
	rows->marked = false;
}

/* Returns a key with its doubled quotes undoubled, in memory that is valid until the next batch. */
static const char *
undouble(Rows *rows, const CsvRecord *record, char **to, size_t *length)
{
	char	   *start;

	if (*to == NULL)
	{
		/*
		 * The undoubled keys of a batch need at most as many bytes as the buffer that the batch is
		 * in.
		 */
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

/* Sets a piece to a record's key in one column; to NULL if the field is NULL or not a key. */
static inline void
take_piece(Rows *rows, const CsvRecord *record, char **undoubled, BloomfamPiece *piece)
{
	piece->bytes = NULL;
	piece->len = 0;
	switch (record->form)
	{
		case CSV_KEY_NULL:
		case CSV_KEY_NONE:
			break;
		case CSV_KEY_PLAIN:
			piece->bytes = record->key;
			piece->len = record->key_length;
			break;
		case CSV_KEY_DOUBLED:
			piece->bytes = undouble(rows, record, undoubled, &piece->len);
			break;
	}
}

/*
 * Finds the fields of a record without a fault that make up its key, in the order of the key.  A
 * field that is missing, as in an empty line, is NULL.
 */
void
rows_fields(const Rows *rows, const CsvRecord *record, CsvRecord *fields)
{
	CsvRecord	line = *record;
	CsvRecord	field;
	size_t		place;
	size_t		at = 0;
	size_t		i;

	if (record->start == rows->marked_record)
	{
		line.start += sizeof(byte_order_mark);
		line.length -= sizeof(byte_order_mark);
	}
	line.key = line.start;
	line.key_length = 0;
	line.form = CSV_KEY_NULL;
	for (i = 0; i < rows->ncolumns; i++)
		fields[i] = line;
	field = line;
	for (place = 0; place <= rows->scanner.column && at <= line.length; place++)
	{
		at = csv_field(&line, rows->scanner.delimiter, at, &field);
		for (i = 0; i < rows->ncolumns; i++)
		{
			if (rows->columns[i].at == place)
				fields[i] = field;
		}
	}
}

/*
 * Sets the pieces of a key of several columns.  If any column is NULL, the record's form becomes
 * CSV_KEY_NULL.
 */
static void
take_pieces(Rows *rows, CsvRecord *record, char **undoubled)
{
	CsvRecord	fields[BLOOMFAM_MAX_COLUMNS];
	bool		is_sound = record->fault == CSV_SOUND;
	size_t		i;

	if (is_sound)
		rows_fields(rows, record, fields);
	for (i = 0; i < rows->ncolumns; i++)
	{
		if (!is_sound)
			fields[i].form = CSV_KEY_NONE;
		take_piece(rows, &fields[i], undoubled, &rows->keys[i * ROWS_BATCH + rows->n]);
		if (fields[i].form == CSV_KEY_NULL)
			record->form = CSV_KEY_NULL;
	}
}

/*
 * Begins to scan the unused bytes of the input for records, after reading more unless bytes in the
 * buffer are unscanned.
 */
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

/*
 * Makes a record of an input that consists of a byte order mark only, so that the mark is passed
 * on.
 */
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
 * Reads the next batch of rows.  The memory that the last batch points to becomes invalid.  Returns
 * false, with an empty batch, at the end of the input.
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
	rows->lacking = 0;
	rows->marked_record = NULL;
	while (rows->n < ROWS_BATCH)
	{
		CsvRecord  *record = &rows->records[rows->n];

		if (!rows->scanning)
		{
			/* The batch ends here, as reading more input would move the bytes that it points to. */
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
		if (rows->ncolumns == 1)
			take_piece(rows, record, &undoubled, &rows->keys[rows->n]);
		else
			take_pieces(rows, record, &undoubled);
		if (record->form == CSV_KEY_NULL)
			rows->lacking++;
		else if (record->form == CSV_KEY_NONE)
			rows->faults++;
		rows->n++;
	}
	rows->rows += rows->n;
	input_use(&rows->input, used);
	progress_step(&rows->progress, rows->rows, rows->input.used, rows->input.size);
	return rows->n > 0;
}

/*
 * Returns the keys of the batch as a column for the library.  The column is valid until the next
 * batch is read.
 */
BloomfamColumn
rows_column(Rows *rows, const BloomfamType *type)
{
	size_t		i;

	for (i = 0; i < rows->ncolumns; i++)
		rows->key_columns[i].n = rows->n;
	return type->id == BLOOMFAM_TYPE_ROW
			   ? bloomfam_rows(rows->key_columns, rows->ncolumns, rows->n)
			   : rows->key_columns[0];
}

/* Returns the number, from 1, of the line at which row i of the batch begins. */
uint64_t
rows_line(const Rows *rows, size_t i)
{
	uint64_t	line = rows->line;
	size_t		j;

	for (j = 0; j < i; j++)
		line += rows->records[j].lines;
	return line;
}

/*
 * Reports bad lines of the batch, at most ROWS_TOLD lines of the input in all: records with a
 * fault, and records whose answer says that they have no key of the type.
 */
void
rows_tell(Rows *rows, const BloomfamType *type, const uint8_t *answers)
{
	BloomfamColumn column = rows_column(rows, type);
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

/* Frees what rows_begin() allocated. */
void
rows_end(Rows *rows)
{
	progress_end(&rows->progress);
	input_close(&rows->input);
	free(rows->head);
	free(rows->undoubled);
	free(rows->keys);
	rows->head = rows->undoubled = NULL;
	rows->keys = NULL;
}
