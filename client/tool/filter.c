/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  The library's filters and types, for the program; see filter.h.
 *
 *-------------------------------------------------------------------------
 */
#include "filter.h"

#include "report.h"

#include <string.h>

/* Ends the program with an error of the library. what names the thing that the error is about. */
void
fail_library(const char *what, const BloomfamError *error)
{
	const char *detail = error->detail;
	const char *hint = error->hint;

	fail("%s: %s%s%s%s%s", what, error->message, detail[0] != '\0' ? "\n  " : "", detail,
		 hint[0] != '\0' ? "\n  " : "", hint);
}

/* Opens and validates the filter in a file, or in standard input if path is "-". */
BloomfamFilter *
filter_open(const char *path)
{
	BloomfamFilter *filter;
	BloomfamError error;

	if (strcmp(path, "-") == 0)
		path = "/dev/stdin";
	if (bloomfam_open_file(NULL, path, BLOOMFAM_VALIDATE, &filter, &error) != BLOOMFAM_OK)
		fail_library(path, &error);
	return filter;
}

/* Returns the type with an SQL name. kind is the filter's kind, or NULL. */
BloomfamType
type_of_name(const char *name, const char *kind)
{
	BloomfamType type;
	BloomfamError error;

	if (bloomfam_type_by_name(name, kind, &type, &error) != BLOOMFAM_OK)
		fail_library(name, &error);
	return type;
}

/* Returns the type of keys that have ncolumns columns of type text. */
BloomfamType
row_of_texts(size_t ncolumns)
{
	BloomfamType types[BLOOMFAM_MAX_COLUMNS];
	BloomfamType type;
	BloomfamError error;
	size_t		i;

	for (i = 0; i < ncolumns; i++)
		types[i] = type_of_name("text", NULL);
	if (bloomfam_row_type(types, ncolumns, &type, &error) != BLOOMFAM_OK)
		fail_library("text", &error);
	return type;
}

/*
 * Returns whether keys of a type may have several readings, because the type stands for two types.
 */
bool
has_readings(const BloomfamType *type)
{
	size_t		i;

	for (i = 0; i < bloomfam_type_columns(type); i++)
	{
		BloomfamType column;

		bloomfam_type_column(type, i, &column);
		if (column.id == BLOOMFAM_TYPE_FLOAT || column.id == BLOOMFAM_TYPE_ANY_TEXT)
			return true;
	}
	return false;
}

/*
 * Returns the type of the rows' keys: the one given by --type, or else the type of the filter's
 * keys.  A filter without keys does not know their type, and may be asked with any type: then
 * *is_known is false.  Ends the program if the filter cannot be asked for keys of the type.
 */
BloomfamType
filter_key_type(const BloomfamFilter *filter, const Options *options, bool *is_known)
{
	BloomfamColumn none = bloomfam_pieces(BLOOMFAM_WRITTEN, NULL, 0);
	BloomfamInfo info;
	BloomfamType type;
	BloomfamError error;
	uint8_t		answer;

	bloomfam_info(filter, &info);
	*is_known = options->type != NULL || !info.empty;
	if (options->type != NULL)
		type = type_of_name(options->type, info.kind);
	else if (info.empty)
		type = type_of_name("text", NULL);
	else if (bloomfam_filter_type(filter, &type, &error) != BLOOMFAM_OK)
		fail_library(options->filter, &error);
	if (type.id == BLOOMFAM_TYPE_ROW)
		none = bloomfam_rows(NULL, bloomfam_type_columns(&type), 0);
	if (bloomfam_ask(filter, &type, &none, &answer, NULL, &error) != BLOOMFAM_OK)
		fail_library(options->filter, &error);
	return type;
}
