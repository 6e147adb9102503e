/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.h
 *	  What the command line asks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum Command
{
	COMMAND_INFO,
	COMMAND_SPLIT,
	COMMAND_KEEP,
	COMMAND_DROP,
	COMMAND_BUILD,
	COMMAND_KEY
} Command;

/* What becomes of rows that have a NULL in their key. */
typedef enum NullRows
{
	NULLS_KEEP,
	NULLS_DROP
} NullRows;

/* Texts are those of the command line; NULL where an option was not given. */
typedef struct Options
{
	Command		command;
	const char *filter;
	const char *column;
	const char *type;
	const char *new_rows;
	const char *maybe_rows;
	const char *maybe_keys;
	const char *output;
	const char *kind;
	double		fpr;			/* 0: not given */
	uint64_t	expected;		/* 0: not given */
	char		delimiter;
	bool		header;
	bool		any_bytes;
	bool		accept_loss;
	bool		exit_status;
	NullRows	nulls;			/* keep, drop */
	bool		once;			/* a new key is new in its first row only */
	char	  **values;			/* key: what is to be hashed, one for each column */
	int			nvalues;
} Options;

extern void options_read(Options *options, int argc, char **argv);

#endif							/* OPTIONS_H */
