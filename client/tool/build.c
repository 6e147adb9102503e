/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  The command build: a filter of a column of CSV.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"

#include "filter.h"
#include "output.h"
#include "rows.h"

#include <stdio.h>
#include <unistd.h>

/* The program's only Rows, in static memory because it is too large for some stacks. */
static Rows the_rows;

static bool
write_piece(void *arg, const void *bytes, size_t length)
{
	output_write(arg, bytes, length);
	return true;
}

/*
 * Adds the keys of all rows.  Returns the number of rows whose key was NULL, and so was not added;
 * a key of several columns is added even if some columns are NULL, as in SQL.  Ends the program if
 * a key cannot be read, because a filter that lacks a key would give a false negative.
 */
static uint64_t
add_rows(Rows *rows, BloomfamBuilder *builder, const BloomfamType *type)
{
	static uint8_t answers[ROWS_BATCH];
	uint64_t	null = 0;

	while (rows_next(rows))
	{
		BloomfamColumn column = rows_column(rows, type);
		BloomfamCounts counts;
		BloomfamError error;

		if (bloomfam_builder_add(builder, &column, answers, &counts, &error) != BLOOMFAM_OK)
			fail_library("standard input", &error);
		if (counts.bad + counts.impossible + rows->faults > 0)
		{
			rows_tell(rows, type, answers);
			fail("no filter is written, as it would lack a key");
		}
		null += rows->ncolumns == 1 ? counts.null : 0;
	}
	return null;
}

int
command_build(const Options *options)
{
	Rows	   *rows = &the_rows;
	BloomfamType type = type_of_name(options->type, options->kind);
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamInfo info;
	BloomfamError error;
	Output		output;
	uint64_t	null;

	if (options->output == NULL && isatty(STDOUT_FILENO) == 1)
		usage_error("a filter is no text for a terminal: --output says where to write it");
	if (bloomfam_builder_make(NULL, &type, options->kind, options->fpr, options->expected, &builder,
							  &error) != BLOOMFAM_OK)
		fail_library("build", &error);
	rows_begin(rows, options, bloomfam_type_columns(&type));
	output_open(&output, options->output != NULL ? options->output : "-");
	null = add_rows(rows, builder, &type);
	rows_end(rows);
	if (bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK ||
		bloomfam_write(filter, BLOOMFAM_RAW, write_piece, &output, &error) != BLOOMFAM_OK)
		fail_library("build", &error);
	bloomfam_builder_free(builder);
	output_finish(&output);
	output_publish(&(Output *) {&output}, 1);
	bloomfam_info(filter, &info);
	note("%s rows: %s keys, %s without one; %s, %s bytes", grouped(rows->rows),
		 grouped(rows->rows - null), grouped(null), info.kind, grouped(info.size));
	bloomfam_close(filter);
	return EXIT_DONE;
}
