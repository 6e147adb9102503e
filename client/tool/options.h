/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.h
 *	  The options and arguments of the command line.
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

/* What keep and drop do with rows that have a NULL in their key. */
typedef enum NullRows
{
	NULLS_KEEP,
	NULLS_DROP
} NullRows;

/*
 * The command line, after parsing.  Texts point into the command line; NULL means that the option
 * was not given.
 */
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
	double		fpr;			/* False positive rate; 0: not given. */
	uint64_t	expected;		/* Expected number of keys; 0: not given. */
	char		delimiter;
	bool		header;
	bool		any_bytes;
	bool		accept_loss;
	bool		exit_status;
	NullRows	nulls;			/* What keep and drop do with NULLs. */
	/*
	 * True if a key that is not in the filter counts as new only in the first row that has it
	 * (--once).
	 */
	bool		once;
	char	  **values;			/* For command key: the values to hash, one for each column. */
	int			nvalues;
} Options;

extern void options_read(Options *options, int argc, char **argv);

#endif							/* OPTIONS_H */
