/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_csv.c
 *	  Where records of CSV end and what their keys are, as the program bloomfam reads them.
 *
 * There are cases written by hand.  Random texts of the special bytes are then read, also in pieces
 * of every length, and compared with an independent reader that goes byte by byte.
 *
 *-------------------------------------------------------------------------
 */
#include "../core/test.h"

#include "../../client/tool/csv.h"

#define MAX_TEXT	40
#define MAX_RECORDS	(MAX_TEXT + 1)

/* The expected contents of a record. */
typedef struct Expected
{
	size_t		length;
	size_t		lines;
	CsvFault	fault;
	bool		null;
	char		key[MAX_TEXT];	/* as it is meant */
	size_t		key_length;
} Expected;

/* ---- a reader of its own ---- */

/* Ends the n-th field of the expected record; text is the field's value. */
static void
reference_field(Expected *expected, size_t n, size_t column, const char *text, size_t length, bool quoted)
{
	if (n != column)
		return;
	expected->fault = CSV_SOUND;
	expected->null = !quoted && length == 0;
	memcpy(expected->key, text, length);
	expected->key_length = length;
}

/*
 * Reads the fields of a line without its end, as the reference; at_end is true if no newline ended
 * the line.
 */
static void
reference_line(const char *line, size_t length, size_t column, bool at_end, Expected *expected)
{
	enum {BEGIN, PLAIN, QUOTED, CLOSED} state = BEGIN;
	char		text[MAX_TEXT];
	size_t		text_length = 0;
	size_t		n = 0;
	bool		quotes = memchr(line, '"', length) != NULL;
	bool		stray_return = false;
	size_t		i;

	expected->fault = CSV_NO_COLUMN;
	for (i = 0; i <= length; i++)
	{
		if (state != QUOTED && (i == length || line[i] == ','))
		{
			reference_field(expected, n++, column, text, text_length, state == CLOSED);
			text_length = 0;
			state = BEGIN;
		}
		else if (i == length)
			expected->fault = CSV_OPEN_QUOTE;
		else if (state == QUOTED && line[i] == '"' && i + 1 < length && line[i + 1] == '"')
		{
			text[text_length++] = '"';
			i++;
		}
		else if (state == QUOTED && line[i] == '"')
			state = CLOSED;
		else if (state == QUOTED)
			text[text_length++] = line[i];
		else if (state == CLOSED && line[i] == '\r' && i + 1 == length && at_end)
			stray_return = true;
		else if (state == CLOSED || (state == PLAIN && line[i] == '"'))
		{
			expected->fault = CSV_STRAY_QUOTE;
			return;
		}
		else if (line[i] == '"')
			state = QUOTED;
		else
		{
			state = PLAIN;
			stray_return |= line[i] == '\r';
			text[text_length++] = line[i];
		}
	}
	if (expected->fault == CSV_OPEN_QUOTE)
		return;
	if (stray_return)
		expected->fault = CSV_STRAY_RETURN;
	else if (!quotes && length == 2 && line[0] == '\\' && line[1] == '.')
		expected->fault = CSV_END_MARK;
	else if (length == 0)
	{
		expected->fault = CSV_SOUND;
		expected->null = true;
	}
}

/* Reads all records of a text, as the reference.  Returns their number. */
static size_t
reference(const char *text, size_t length, size_t column, Expected *expected)
{
	size_t		n = 0;
	size_t		start = 0;

	while (start < length)
	{
		bool		quoted = false;
		size_t		end = start;
		size_t		lines = 1;
		size_t		line_end;

		for (; end < length && (quoted || text[end] != '\n'); end++)
		{
			if (text[end] == '"')
				quoted = !quoted;
			lines += text[end] == '\n';
		}
		memset(&expected[n], 0, sizeof(expected[n]));
		line_end = end;
		if (end < length && end > start && text[end - 1] == '\r')
			line_end--;
		reference_line(text + start, line_end - start, column, end == length, &expected[n]);
		/* what never closes has no last line */
		if (quoted)
			expected[n].fault = CSV_OPEN_QUOTE;
		expected[n].lines = lines - (quoted ? 1 : 0);
		expected[n].length = end - start + (end < length);
		start = end + (end < length);
		n++;
	}
	return n;
}

/* ---- comparing ---- */

static const char *
shown(const char *text, size_t length)
{
	static char out[4 * MAX_TEXT + 1];
	size_t		i;
	char	   *to = out;

	for (i = 0; i < length; i++)
	{
		if (text[i] == '\n' || text[i] == '\r')
		{
			*to++ = '\\';
			*to++ = text[i] == '\n' ? 'n' : 'r';
		}
		else
			*to++ = text[i];
	}
	*to = '\0';
	return out;
}

/* Checks that a record is the expected one, and begins at start. */
static bool
check_record(const CsvRecord *record, const Expected *expected, const char *start)
{
	char		key[MAX_TEXT];
	size_t		length = record->key_length;

	if (record->start != start || record->length != expected->length || record->lines != expected->lines ||
		record->fault != expected->fault)
		return false;
	if (record->fault != CSV_SOUND)
		return record->form == CSV_KEY_NONE;
	if (expected->null)
		return record->form == CSV_KEY_NULL;
	if (record->form == CSV_KEY_DOUBLED)
		length = csv_undouble(key, record->key, record->key_length);
	else if (record->form == CSV_KEY_PLAIN)
		memcpy(key, record->key, length);
	else
		return false;
	return length == expected->key_length && memcmp(key, expected->key, length) == 0;
}

/*
 * Reads a text that arrives piece bytes at a time (0: all at once), with each buffer in a malloc()
 * of its length.  Returns whether all records are as expected.
 */
static bool
read_in_pieces(const char *text, size_t length, size_t column, size_t piece, const Expected *expected, size_t n)
{
	CsvScanner	scanner;
	size_t		begin = 0;
	size_t		have = piece == 0 || piece > length ? length : piece;
	size_t		i = 0;
	bool		good = true;

	scanner.delimiter = ',';
	scanner.column = column;
	while (good)
	{
		char	   *copy = malloc(have - begin + (have == begin));
		CsvRecord	record;
		CsvStep		step;

		memcpy(copy, text + begin, have - begin);
		csv_begin(&scanner, copy, have - begin, have == length);
		while (good && (step = csv_next(&scanner, &record)) == CSV_RECORD)
		{
			good = i < n && check_record(&record, &expected[i], copy + (scanner.at - record.length));
			i++;
		}
		begin += scanner.at;
		free(copy);
		if (!good || step == CSV_END)
			break;
		if (have == length)
			return false;		/* The scanner asks for more than the text has. */
		have = have + piece > length ? length : have + piece;
	}
	return good && i == n && begin == length;
}

/* Reads a text at once, and in pieces of all lengths. */
static void
check_text(const char *text, size_t length, size_t column)
{
	Expected	expected[MAX_RECORDS];
	size_t		n = reference(text, length, column, expected);
	size_t		piece;

	for (piece = 0; piece <= length && piece < 9; piece++)
		CHECKF(read_in_pieces(text, length, column, piece, expected, n), "column %zu of %s in pieces of %zu", column,
			   shown(text, length), piece);
}

/* ---- tests ---- */

/* Tests cases written by hand, so that a mistake in both readers is noticed. */
static void
cases(void)
{
	static const struct
	{
		const char *text;
		size_t		column;
		size_t		records;
		CsvFault	fault;		/* of the first */
		const char *key;		/* likewise; NULL: it is NULL */
	}			list[] = {
		{"a,b,c\n", 1, 1, CSV_SOUND, "b"},
		{"a,b,c\r\n", 2, 1, CSV_SOUND, "c"},
		{"a,b,c", 2, 1, CSV_SOUND, "c"},
		{"a,,c\n", 1, 1, CSV_SOUND, NULL},
		{"a,\"\",c\n", 1, 1, CSV_SOUND, ""},
		{"a,\n", 1, 1, CSV_SOUND, NULL},
		{"a,\r\n", 1, 1, CSV_SOUND, NULL},
		{"a,", 1, 1, CSV_SOUND, NULL},
		{"a,\"\"", 1, 1, CSV_SOUND, ""},
		{"\n", 0, 1, CSV_SOUND, NULL},
		{"\r\nb\n", 1, 2, CSV_SOUND, NULL},
		{"\"x\n,y\",b\nc,d\n", 0, 2, CSV_SOUND, "x\n,y"},
		{"\"x\n,y\",b\nc,d\n", 1, 2, CSV_SOUND, "b"},
		{"\"a\"\"b\",\"\"\"\"\n", 0, 1, CSV_SOUND, "a\"b"},
		{"\"a\"\"b\",\"\"\"\"\n", 1, 1, CSV_SOUND, "\""},
		{"\"a\r\",b\r\n", 0, 1, CSV_SOUND, "a\r"},
		{"\"a\"\r\n", 0, 1, CSV_SOUND, "a"},
		{"a\n", 1, 1, CSV_NO_COLUMN, ""},
		{"\"a\"\n", 1, 1, CSV_NO_COLUMN, ""},
		{"5\" pipe,b\nc\",d\n", 1, 1, CSV_STRAY_QUOTE, ""},
		{"\"a\"b,c\nd\n", 1, 2, CSV_STRAY_QUOTE, ""},
		{" \"a\",b\n", 1, 1, CSV_STRAY_QUOTE, ""},
		{"a,\"b\nc\n", 0, 1, CSV_OPEN_QUOTE, ""},
		{"a\rb,c\n", 1, 1, CSV_STRAY_RETURN, ""},
		{"a,b\r", 0, 1, CSV_STRAY_RETURN, ""},
		{"a,b\r\r\n", 0, 1, CSV_STRAY_RETURN, ""},
		{"\\.\nb\n", 0, 2, CSV_END_MARK, ""},
		{"\\.\r\nb\n", 0, 2, CSV_END_MARK, ""},
		{"\"\\.\"\n", 0, 1, CSV_SOUND, "\\."},
		{"\\.,b\n", 0, 1, CSV_SOUND, "\\."},
	};
	size_t		i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
	{
		const char *text = list[i].text;
		Expected	expected[MAX_RECORDS];
		size_t		n = reference(text, strlen(text), list[i].column, expected);

		CHECKF(n == list[i].records, "%s: %zu records", shown(text, strlen(text)), n);
		CHECKF(expected[0].fault == list[i].fault, "%s: %s", shown(text, strlen(text)),
			   csv_fault_text(expected[0].fault));
		if (list[i].fault == CSV_SOUND)
		{
			CHECKF(expected[0].null == (list[i].key == NULL), "%s: NULL", shown(text, strlen(text)));
			if (list[i].key != NULL)
				CHECKF(expected[0].key_length == strlen(list[i].key) &&
					   memcmp(expected[0].key, list[i].key, expected[0].key_length) == 0,
					   "%s: key", shown(text, strlen(text)));
		}
		check_text(text, strlen(text), list[i].column);
	}
}

/* Tests every text of up to six of the special bytes. */
static void
all_short_texts(void)
{
	static const char alphabet[] = "\",\n\ra";
	size_t		length;

	for (length = 0; length <= 6; length++)
	{
		size_t		combinations = 1;
		size_t		i;

		for (i = 0; i < length; i++)
			combinations *= sizeof(alphabet) - 1;
		for (i = 0; i < combinations; i++)
		{
			char		text[8];
			size_t		rest = i;
			size_t		at;

			for (at = 0; at < length; at++)
			{
				text[at] = alphabet[rest % (sizeof(alphabet) - 1)];
				rest /= sizeof(alphabet) - 1;
			}
			check_text(text, length, i % 3);
		}
	}
}

/* Tests longer texts at random. */
static void
random_texts(void)
{
	static const char alphabet[] = "\"\"\",,,\n\n\r\\.aaaabc";
	uint64_t	trials = test_trials(100000);
	uint64_t	i;

	test_seed(1);
	for (i = 0; i < trials; i++)
	{
		char		text[MAX_TEXT];
		size_t		length = test_below(MAX_TEXT);
		size_t		at;

		for (at = 0; at < length; at++)
			text[at] = alphabet[test_below(sizeof(alphabet) - 1)];
		check_text(text, length, test_below(4));
	}
}

/* Checks that fields read one after the other are those that are found one by one. */
static void
fields(void)
{
	static const char alphabet[] = "\"\"\",,,\n\raab";
	uint64_t	trials = test_trials(100000);
	uint64_t	sound = 0;
	uint64_t	i;

	for (i = 0; i < trials; i++)
	{
		size_t		length = 1 + test_below(12);
		char	   *text = test_malloc(length);
		CsvScanner	scanner;
		CsvRecord	record;
		CsvRecord	one;
		CsvRecord	field;
		size_t		at;

		for (at = 0; at < length; at++)
			text[at] = alphabet[test_below(sizeof(alphabet) - 1)];
		scanner.delimiter = ',';
		scanner.column = 0;
		csv_begin(&scanner, text, length, true);
		csv_next(&scanner, &record);
		if (record.fault == CSV_SOUND)
		{
			sound++;
			for (scanner.column = 0, at = 0; at <= record.length; scanner.column++)
			{
				at = csv_field(&record, ',', at, &field);
				csv_begin(&scanner, text, record.length, true);
				csv_next(&scanner, &one);
				CHECKF(one.fault == CSV_SOUND && one.key_length == field.key_length &&
					   (one.key == field.key || one.key == NULL) &&
					   (one.form == CSV_KEY_DOUBLED) == (field.form == CSV_KEY_DOUBLED),
					   "field %zu of %s", scanner.column, shown(text, length));
			}
			csv_begin(&scanner, text, record.length, true);
			csv_next(&scanner, &one);
			/* an empty line has every column */
			CHECKF(one.fault == CSV_NO_COLUMN || one.key == NULL, "fields of %s", shown(text, length));
		}
		free(text);
	}
	CHECKF(sound > trials / 10, "%" PRIu64 " records without a fault", sound);
}

/* Checks that each fault has a message. */
static void
fault_texts(void)
{
	CsvFault	fault;

	for (fault = CSV_NO_COLUMN; fault <= CSV_MARKED_KEY; fault++)
		CHECK(strcmp(csv_fault_text(fault), csv_fault_text(CSV_SOUND)) != 0);
}

int
main(void)
{
	RUN(cases);
	RUN(all_short_texts);
	RUN(random_texts);
	RUN(fields);
	RUN(fault_texts);
	return test_finish();
}
