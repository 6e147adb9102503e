/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  split, keep and drop: each row goes one of two ways, by what a filter says of its key.
 *
 * Only a filter's "certainly absent" sends a row to those that are new.  All else goes the other
 * way: what may be known, what has no key, and what cannot be read.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"

#include "filter.h"
#include "output.h"
#include "rows.h"

#include <stdio.h>
#include <string.h>

typedef enum Way
{
	WAY_NEW,
	WAY_MAYBE
} Way;

#define NWAYS	2

/* The outputs: one for each way, and the keys of rows that may be known. */
#define KEYS		NWAYS
#define NOUTPUTS	(NWAYS + 1)

typedef struct Asking
{
	const Options *options;
	BloomfamFilter *filter;
	BloomfamType type;
	Rows		rows;
	bool		open[NOUTPUTS]; /* does anybody want it? */
	Output		outputs[NOUTPUTS];
	uint64_t	passed[NWAYS];
	uint64_t	null;
	uint64_t	bad;
	uint8_t		answers[ROWS_BATCH];
} Asking;

/* One of the program's own; it is too large for some stacks. */
static Asking the_asking;

/*
 * Writes a row's key to the file of keys, as it stands in the row, quotes and all.  What would not
 * be the only field of its line there, or would end the data of COPY, is quoted.
 */
static void
write_key(Output *output, const CsvRecord *record)
{
	const char *key = record->key;
	size_t		length = record->key_length;
	bool		quoted = key > record->start && key[-1] == '"';

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
	output_write(output, quoted ? "\n" : "\"\n", quoted ? 1 : 2);
}

/* The line of names: all of them for rows, the key's own for keys. */
static void
write_heads(Asking *asking)
{
	const Rows *rows = &asking->rows;
	int			i;

	if (rows->head == NULL)
		return;
	for (i = 0; i < NWAYS; i++)
	{
		if (asking->open[i])
			output_write(&asking->outputs[i], rows->head, rows->head_length);
	}
	if (asking->open[KEYS])
		write_key(&asking->outputs[KEYS], &rows->key_name);
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

/* Where a row goes. */
static inline Way
way_of(const CsvRecord *record, uint8_t answer)
{
	return answer == BLOOMFAM_ABSENT && record->fault == CSV_SOUND ? WAY_NEW : WAY_MAYBE;
}

/* Writes the rows of a batch; neighbours that go the same way are one piece. */
static void
write_batch(Asking *asking)
{
	const Rows *rows = &asking->rows;
	size_t		i = 0;

	while (i < rows->n)
	{
		Way			way = way_of(&rows->records[i], asking->answers[i]);
		const char *start = rows->records[i].start;
		size_t		first = i;

		do
			i++;
		while (i < rows->n && way_of(&rows->records[i], asking->answers[i]) == way);
		asking->passed[way] += i - first;
		if (way == WAY_MAYBE && asking->open[KEYS])
		{
			for (; first < i; first++)
			{
				if (asking->answers[first] == BLOOMFAM_MAYBE)
					write_key(&asking->outputs[KEYS], &rows->records[first]);
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

static void
ask_batch(Asking *asking)
{
	Rows	   *rows = &asking->rows;
	BloomfamColumn column = rows_column(rows);
	BloomfamCounts counts;
	BloomfamError error;

	if (bloomfam_ask(asking->filter, &asking->type, &column, asking->answers, &counts, &error) !=
		BLOOMFAM_OK)
		fail_library(asking->options->filter, &error);

	/* A record with a fault was handed over as a NULL. */
	asking->null += counts.null - rows->faults;
	asking->bad += counts.bad + counts.impossible + rows->faults;
	if (counts.bad + counts.impossible + rows->faults > 0)
		rows_tell(rows, &asking->type, asking->answers);
	write_batch(asking);
}

/* The rate at which new keys are taken for known ones: as it is now, or what was planned. */
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

/* The closing line: how many rows went where, and what that may have cost. */
static void
tell_result(const Asking *asking)
{
	uint64_t	new_rows = asking->passed[WAY_NEW];
	uint64_t	maybe_rows = asking->passed[WAY_MAYBE];
	char		odd[128] = "";
	double		fpr;

	if (asking->null + asking->bad > 0)
		snprintf(odd, sizeof(odd), " (%s without a key, %s bad)", grouped(asking->null),
				 grouped(asking->bad));
	switch (asking->options->command)
	{
		case COMMAND_SPLIT:
			note("%s rows: %s certainly new, %s maybe known%s", grouped(new_rows + maybe_rows),
				 grouped(new_rows), grouped(maybe_rows), odd);
			break;
		case COMMAND_KEEP:
			note("%s rows: %s kept%s, %s certainly without a match", grouped(new_rows + maybe_rows),
				 grouped(maybe_rows), odd, grouped(new_rows));
			break;
		default:
			fpr = current_fpr(asking->filter);
			note("%s rows: %s certainly new, %s dropped%s", grouped(new_rows + maybe_rows),
				 grouped(new_rows), grouped(maybe_rows), odd);
			note("expected loss: %.2g new rows (%s x %.2g)", (double) new_rows * fpr,
				 grouped(new_rows), fpr);
			break;
	}
}

/* split, keep, drop. */
int
command_ask(const Options *options)
{
	Asking	   *asking = &the_asking;
	Output	   *finished[NOUTPUTS];
	int			n = 0;
	int			i;

	asking->options = options;
	asking->filter = filter_open(options->filter);
	asking->type = filter_key_type(asking->filter, options);
	rows_begin(&asking->rows, options);
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
	bloomfam_close(asking->filter);
	if (asking->bad > 0)
		return EXIT_BAD_LINES;
	if (options->exit_status &&
		asking->passed[options->command == COMMAND_KEEP ? WAY_MAYBE : WAY_NEW] == 0)
		return EXIT_NO_ROW;
	return EXIT_DONE;
}
