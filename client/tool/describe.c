/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * describe.c
 *	  The commands info and key: what a filter is, and the hash of a key.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"

#include "filter.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Closes standard output.  Ends the program with an error if any output could not be written. */
static int
finish_text(void)
{
	if (ferror(stdout) || fclose(stdout) != 0)
		fail_errno("could not write to standard output");
	return EXIT_DONE;
}

static const char *
form_text(BloomfamForm form)
{
	switch (form)
	{
		case BLOOMFAM_RAW:
			return "bytes";
		case BLOOMFAM_HEX:
			return "text";
		case BLOOMFAM_COPY_TEXT:
			return "COPY text";
		case BLOOMFAM_COPY_BINARY:
			return "COPY binary";
	}
	return "";
}

/* Prints when a filter's file was last modified, in UTC.  The filter itself has no date. */
static void
print_time(const char *path)
{
	struct stat status;
	struct tm	parts;
	char		text[64];

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		gmtime_r(&status.st_mtime, &parts) != NULL &&
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
		printf("written: %s\n", text);
}

int
command_info(const Options *options)
{
	BloomfamFilter *filter = filter_open(options->filter);
	BloomfamInfo info;
	BloomfamStats stats;
	BloomfamType type;
	BloomfamError error;

	bloomfam_info(filter, &info);
	printf("kind: %s\n", info.kind);
	if (info.family[0] != '\0')
		printf("family: %s\n", info.family);
	else if (info.family_id == 0)
		printf("family: none yet\n");
	else
		printf("family: %016" PRIx64 "\n", info.family_id);
	printf("keys added: %" PRIu64 "\n", info.keys_added);
	if (info.capacity > 0)
		printf("made for: %" PRIu64 " keys at a false positive rate of %.3g\n", info.capacity,
			   info.target_fpr);
	if (bloomfam_stats(filter, &stats, NULL) == BLOOMFAM_OK)
	{
		if (stats.keys >= 0)
			printf("distinct keys: about %.0f\n", stats.keys);
		if (stats.fpr >= 0)
			printf("false positive rate: %.3g\n", stats.fpr);
	}
	printf("size: %" PRIu64 " bytes", info.size);
	if (info.capacity > 0)
		printf(", %.1f bits a key", 8.0 * (double) info.size / (double) info.capacity);
	printf("\nform: %s\n", form_text(info.form));
	print_time(options->filter);
	if (!info.empty && bloomfam_filter_type(filter, &type, &error) != BLOOMFAM_OK)
	{
		printf("keys: cannot be asked for outside the server\n");
		printf("  %s%s%s\n", error.message, error.detail[0] != '\0' ? "\n  " : "", error.detail);
	}
	bloomfam_close(filter);
	return finish_text();
}

/* Runs the command key: prints the family and the hash of a key, as SQL's bloom_key() writes it. */
int
command_key(const Options *options)
{
	BloomfamType type = type_of_name(options->type, options->kind);
	BloomfamPiece pieces[BLOOMFAM_MAX_COLUMNS];
	BloomfamColumn columns[BLOOMFAM_MAX_COLUMNS];
	BloomfamColumn column;
	size_t		n = bloomfam_type_columns(&type);
	size_t		i;
	BloomfamError error;
	uint64_t	hash;
	uint8_t		answer;

	if ((size_t) options->nvalues != n)
		usage_error("a key of type %s has %zu values", options->type, n);
	for (i = 0; i < n; i++)
	{
		pieces[i].bytes = options->values[i];
		pieces[i].len = strlen(options->values[i]);
		columns[i] = bloomfam_pieces(BLOOMFAM_WRITTEN, &pieces[i], 1);
		columns[i].any_bytes = options->any_bytes;
	}
	column = type.id == BLOOMFAM_TYPE_ROW ? bloomfam_rows(columns, n, 1) : columns[0];
	if (bloomfam_hash(&type, &column, &hash, &answer, NULL, &error) != BLOOMFAM_OK)
		fail_library(options->type, &error);
	if (answer != BLOOMFAM_ABSENT)
	{
		if (bloomfam_column_error(&type, &column, 0, &error) != BLOOMFAM_OK)
			fail_library(options->type, &error);
		fail("%s: no value of this type can be that key", options->type);
	}
	printf("family: %s\nkey: %016" PRIx64 ":%016" PRIx64 "\n", type.family, type.family_id, hash);
	return finish_text();
}
