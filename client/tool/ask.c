/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  The commands split, keep and drop: a filter's answer for a row's key decides where the row
 *	  goes.
 *
 * A key is new only if the filter answers that it is certainly absent.  Rows whose key may be in
 * the filter, or cannot be read, are treated as maybe known.  A row with a NULL in its key equals
 * no row: split puts it with the rows that may be known, and keep and drop pass it on, unless
 * --nulls says otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"

#include "filter.h"
#include "output.h"
#include "rows.h"
#include "seen.h"

#include <stdio.h>
#include <string.h>

typedef enum Way
{
	WAY_NEW,
	WAY_MAYBE
} Way;

#define NWAYS	2

/*
 * Indices of outputs: one for each of the two ways that rows can go (new, may be known), and KEYS
 * for the keys of rows that may be known.
 */
#define KEYS		NWAYS
#define NOUTPUTS	(NWAYS + 1)

typedef struct Asking
{
	const Options *options;
	BloomfamFilter *filter;
	BloomfamType type;
	Rows		rows;
	bool		open[NOUTPUTS]; /* True for each output that was asked for. */
	Output		outputs[NOUTPUTS];
	uint64_t	passed[NWAYS];
	uint64_t	null;			/* Number of rows with a NULL in their key. */
	uint64_t	bad;
	uint64_t	repeated;		/* Number of rows whose key was new in an earlier row. */
	Seen		seen;			/* With --once: the hashes of keys that were new. */
	/* For command drop: true if a key that may have several meanings ends the program. */
	bool		must_be_sure;
	uint64_t	hashes[ROWS_BATCH]; /* Hashes of the batch's keys, with --once or must_be_sure. */
	uint8_t		hashed[ROWS_BATCH]; /* bloomfam_hash()'s answers for hashes. */
	uint8_t		answers[ROWS_BATCH];
} Asking;

/* The program's only Asking, in static memory because it is too large for some stacks. */
static Asking the_asking;

/*
 * Writes a field to the file of keys as it stands in the row, with its quotes, and then one byte
 * more.  Quotes are added to a field with a comma, and to one that would end the data of COPY.
 */
static void
write_field(Output *output, const CsvRecord *field, char behind)
{
	const char *key = field->key;
	size_t		length = field->key_length;
	bool		quoted = key > field->start && key[-1] == '"';

	if (quoted)
	{
		key--;
		length += 2;
	}
	else
		quoted = (length != 2 || memcmp(key, "\\.", 2) != 0) && memchr(key, ',', length) == NULL;
	if (!quoted)
		output_write(output, "\"", 1);
	output_write(output, key, length);
	if (!quoted)
		output_write(output, "\"", 1);
	output_write(output, &behind, 1);
}

/* Writes a row's key to the file of keys. */
static void
write_key(Asking *asking, const CsvRecord *record)
{
	const Rows *rows = &asking->rows;
	CsvRecord	fields[BLOOMFAM_MAX_COLUMNS];
	size_t		i;

	if (rows->ncolumns == 1)
		fields[0] = *record;
	else
		rows_fields(rows, record, fields);
	for (i = 0; i < rows->ncolumns; i++)
		write_field(&asking->outputs[KEYS], &fields[i], i + 1 < rows->ncolumns ? ',' : '\n');
}

/*
 * Writes header lines: the input's header to files of rows, the names of the key's columns to the
 * file of keys.
 */
static void
write_heads(Asking *asking)
{
	const Rows *rows = &asking->rows;
	size_t		i;

	if (rows->head == NULL)
		return;
	for (i = 0; i < NWAYS; i++)
	{
		if (asking->open[i])
			output_write(&asking->outputs[i], rows->head, rows->head_length);
	}
	for (i = 0; asking->open[KEYS] && i < rows->ncolumns; i++)
		write_field(&asking->outputs[KEYS], &rows->columns[i].name,
					i + 1 < rows->ncolumns ? ',' : '\n');
}

static void
open_outputs(Asking *asking)
{
	const Options *options = asking->options;
	const char *output = options->output != NULL ? options->output : "-";
	const char *names[NOUTPUTS] = {NULL, NULL, NULL};
	int			i,
				j;

	if (options->command == COMMAND_SPLIT)
	{
		names[WAY_NEW] = options->new_rows;
		names[WAY_MAYBE] = options->maybe_rows;
		names[KEYS] = options->maybe_keys;
	}
	else
		names[options->command == COMMAND_KEEP ? WAY_MAYBE : WAY_NEW] = output;
	for (i = 0; i < NOUTPUTS; i++)
	{
		asking->open[i] = names[i] != NULL;
		if (!asking->open[i])
			continue;
		output_open(&asking->outputs[i], names[i]);
		if (output_is_file(&asking->outputs[i], options->filter))
			fail("the output is the file of the filter: \"%s\"", names[i]);
		for (j = 0; j < i; j++)
		{
			if (asking->open[j] && output_is_same(&asking->outputs[i], &asking->outputs[j]))
				fail("two outputs are the same: \"%s\" and \"%s\"", names[j], names[i]);
		}
	}
	write_heads(asking);
}

/*
 * Returns to which output a row goes by its key's answer: to the new rows, or to those that may be
 * known.
 */
static inline Way
way_of(uint8_t answer)
{
	return answer == BLOOMFAM_ABSENT ? WAY_NEW : WAY_MAYBE;
}

/* Writes the rows of a batch.  Adjacent rows that go the same way are written in one piece. */
static void
write_batch(Asking *asking)
{
	const Rows *rows = &asking->rows;
	size_t		i = 0;

	while (i < rows->n)
	{
		Way			way = way_of(asking->answers[i]);
		const char *start = rows->records[i].start;
		size_t		first = i;

		do
			i++;
		while (i < rows->n && way_of(asking->answers[i]) == way);
		asking->passed[way] += i - first;
		if (way == WAY_MAYBE && asking->open[KEYS])
		{
			for (; first < i; first++)
			{
				if (asking->answers[first] == BLOOMFAM_MAYBE)
					write_key(asking, &rows->records[first]);
			}
		}
		if (asking->open[way])
		{
			const CsvRecord *last = &rows->records[i - 1];

			output_write(&asking->outputs[way], start,
						 (size_t) (last->start + last->length - start));
		}
	}
}

/*
 * Replaces the answers for rows with a NULL in their key so that the rows go the way that the
 * options say.  Such a row equals no row, whatever its other columns hold.  Returns the number of
 * such rows that had been counted as bad because of another column.
 */
static uint64_t
place_nulls(Asking *asking)
{
	const Rows *rows = &asking->rows;
	const Options *options = asking->options;
	bool		is_drop = options->command == COMMAND_DROP;
	bool		is_new = options->command != COMMAND_SPLIT &&
		is_drop == (options->nulls == NULLS_KEEP);
	uint64_t	bad = 0;
	size_t		i;

	for (i = 0; i < rows->n; i++)
	{
		if (rows->records[i].form != CSV_KEY_NULL)
			continue;
		bad += asking->answers[i] == BLOOMFAM_BAD || asking->answers[i] == BLOOMFAM_IMPOSSIBLE;
		asking->answers[i] = is_new ? BLOOMFAM_ABSENT : BLOOMFAM_NULL;
	}
	return bad;
}

/*
 * Sets the answers for records with a fault to BLOOMFAM_BAD; their keys were given to the library
 * as NULLs.
 */
static void
place_faults(Asking *asking)
{
	size_t		i;

	for (i = 0; i < asking->rows.n; i++)
	{
		if (asking->rows.records[i].fault != CSV_SOUND)
			asking->answers[i] = BLOOMFAM_BAD;
	}
}

/*
 * Ends the program at a key with several readings, such as a text of more than 63 bytes that may be
 * a name: drop would lose the row if the filter had any of the readings.
 */
static void
refuse_readings(const Asking *asking)
{
	const Rows *rows = &asking->rows;
	size_t		i;

	for (i = 0; i < rows->n; i++)
	{
		if (asking->hashed[i] == BLOOMFAM_BAD &&
			(asking->answers[i] == BLOOMFAM_ABSENT || asking->answers[i] == BLOOMFAM_MAYBE) &&
			rows->records[i].form != CSV_KEY_NULL)
			fail("line %s: the filter does not say of which type its keys are, and this one may be "
				 "several: --type says it", grouped(rows_line(rows, i)));
	}
}

/*
 * With --once: if a row's key was new in an earlier row, sends the row to the rows that may be
 * known.  Two keys with the same hash of 64 bits are taken to be the same key.  A key with several
 * hashes, as its meaning is not certain, goes there too.
 */
static void
place_repeated(Asking *asking)
{
	const Rows *rows = &asking->rows;
	size_t		i;

	for (i = 0; i < rows->n; i++)
	{
		if (asking->answers[i] != BLOOMFAM_ABSENT || rows->records[i].form == CSV_KEY_NULL)
			continue;
		if (asking->hashed[i] == BLOOMFAM_ABSENT && seen_add(&asking->seen, asking->hashes[i]))
			continue;
		asking->answers[i] = BLOOMFAM_MAYBE;
		asking->repeated += asking->hashed[i] == BLOOMFAM_ABSENT;
	}
}

static void
ask_batch(Asking *asking)
{
	Rows	   *rows = &asking->rows;
	BloomfamColumn column = rows_column(rows, &asking->type);
	BloomfamCounts counts;
	BloomfamError error;
	uint64_t	bad;

	if (bloomfam_ask(asking->filter, &asking->type, &column, asking->answers, &counts, &error) !=
		BLOOMFAM_OK)
		fail_library(asking->options->filter, &error);

	bad = counts.bad + counts.impossible + rows->faults;
	asking->null += rows->lacking;
	if (rows->faults > 0)
		place_faults(asking);
	if ((asking->must_be_sure || asking->options->once) &&
		bloomfam_hash(&asking->type, &column, asking->hashes, asking->hashed, NULL, &error) !=
			BLOOMFAM_OK)
		fail_library(asking->options->filter, &error);
	if (asking->must_be_sure)
		refuse_readings(asking);
	if (rows->lacking > 0)
		bad -= place_nulls(asking);
	asking->bad += bad;
	if (bad > 0)
		rows_tell(rows, &asking->type, asking->answers);
	if (asking->options->once)
		place_repeated(asking);
	write_batch(asking);
}

/*
 * Returns the rate at which new keys are taken for known keys: the filter's current false positive
 * rate, or the planned rate if the current one is unknown.
 */
static double
current_fpr(const BloomfamFilter *filter)
{
	BloomfamStats stats;
	BloomfamInfo info;

	bloomfam_info(filter, &info);
	if (bloomfam_stats(filter, &stats, NULL) != BLOOMFAM_OK || stats.fpr < 0)
		return info.target_fpr;
	return stats.fpr;
}

/* Prints how many rows went where, and the expected loss of new rows. */
static void
tell_result(const Asking *asking)
{
	const Options *options = asking->options;
	uint64_t	new_rows = asking->passed[WAY_NEW];
	uint64_t	maybe_rows = asking->passed[WAY_MAYBE];
	bool		keeps_nulls = options->nulls == NULLS_KEEP;
	char		odd[160] = "";
	char		repeated[64] = "";
	double		fpr;

	if (options->command == COMMAND_DROP && keeps_nulls)
	{
		if (asking->bad > 0)
			snprintf(odd, sizeof(odd), " (%s bad)", grouped(asking->bad));
	}
	else if (asking->null + asking->bad > 0)
		snprintf(odd, sizeof(odd), " (%s without a key, %s bad)", grouped(asking->null),
				 grouped(asking->bad));
	if (asking->repeated > 0)
		snprintf(repeated, sizeof(repeated), ", %s of them repeated", grouped(asking->repeated));
	switch (options->command)
	{
		case COMMAND_SPLIT:
			note("%s rows: %s certainly new, %s maybe known%s%s", grouped(new_rows + maybe_rows),
				 grouped(new_rows), grouped(maybe_rows), repeated, odd);
			break;
		case COMMAND_KEEP:
			note("%s rows: %s kept%s, %s certainly without a match", grouped(new_rows + maybe_rows),
				 grouped(maybe_rows), odd, grouped(new_rows));
			break;
		default:
			fpr = current_fpr(asking->filter);
			if (keeps_nulls)
				new_rows -= asking->null;
			note("%s rows: %s certainly new, %s dropped%s%s",
				 grouped(asking->passed[WAY_NEW] + maybe_rows), grouped(new_rows),
				 grouped(maybe_rows), repeated, odd);
			note("expected loss: %.2g new rows (%s x %.2g)", (double) new_rows * fpr,
				 grouped(new_rows), fpr);
			if (asking->null > 0)
				note(keeps_nulls ? "without a key: %s rows, kept as NULL equals nothing"
								 : "without a key: %s rows, lost by --nulls drop",
					 grouped(asking->null));
			if (asking->bad > 0)
				note("bad: %s rows, lost whether they are new or not", grouped(asking->bad));
			break;
	}
}

/* Runs the commands split, keep and drop. */
int
command_ask(const Options *options)
{
	Asking	   *asking = &the_asking;
	Output	   *finished[NOUTPUTS];
	bool		is_known;
	int			n = 0;
	int			i;

	asking->options = options;
	asking->filter = filter_open(options->filter);
	asking->type = filter_key_type(asking->filter, options, &is_known);
	rows_begin(&asking->rows, options,
			   is_known ? bloomfam_type_columns(&asking->type) : ROWS_ANY_COLUMNS);
	if (!is_known && asking->rows.ncolumns > 1)
		asking->type = row_of_texts(asking->rows.ncolumns);
	asking->must_be_sure = options->command == COMMAND_DROP && is_known &&
		has_readings(&asking->type);
	open_outputs(asking);
	while (rows_next(&asking->rows))
		ask_batch(asking);
	rows_end(&asking->rows);
	for (i = 0; i < NOUTPUTS; i++)
	{
		if (!asking->open[i])
			continue;
		output_finish(&asking->outputs[i]);
		finished[n++] = &asking->outputs[i];
	}
	output_publish(finished, n);
	tell_result(asking);
	seen_free(&asking->seen);
	bloomfam_close(asking->filter);
	if (asking->bad > 0)
		return EXIT_BAD_LINES;
	if (options->exit_status &&
		asking->passed[options->command == COMMAND_KEEP ? WAY_MAYBE : WAY_NEW] == 0)
		return EXIT_NO_ROW;
	return EXIT_DONE;
}
