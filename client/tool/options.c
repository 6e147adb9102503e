/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.c
 *	  The options and arguments of the command line; see options.h.
 *
 *-------------------------------------------------------------------------
 */
#include "options.h"

#include "report.h"

#include "client/bloomfam.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
"bloomfam asks filters of the PostgreSQL extension bloomfam for the keys of rows of CSV.\n"
"\n"
"  bloomfam info FILTER                what a filter is\n"
"  bloomfam split -f FILTER -c COLUMN --new FILE --maybe FILE < in.csv\n"
"                                      rows whose key is certainly new, and all others\n"
"  bloomfam keep -f FILTER -c COLUMN < in.csv\n"
"                                      rows whose key may be in the filter: no match is lost\n"
"  bloomfam drop -f FILTER -c COLUMN --accept-loss < in.csv\n"
"                                      rows whose key is certainly new: a few new ones are lost\n"
"  bloomfam build -c COLUMN -t TYPE -o FILE < in.csv\n"
"                                      a filter of a column\n"
"  bloomfam key TYPE VALUE...          the family and the hash of a key\n"
"\n"
"  -f, --filter FILE       the filter: bytes, text (\\x...), or what COPY wrote of one value\n"
"  -c, --column NAME|N     the key's column: its name in the header, or its number, from 1;\n"
"                          of keys of several columns all of them: shop,day\n"
"  -t, --type TYPE         SQL type of the keys; the filter's, if not given; several: int,date\n"
"  -d, --delimiter C       one byte between fields, or \\t; a comma, if not given\n"
"      --no-header         the first line is a row, too\n"
"  -o, --output FILE       keep, drop, build: where to, in the place of standard output\n"
"      --new FILE, --maybe FILE   split: where to; - is standard output\n"
"      --keys FILE         split: where the keys of the maybe rows go, a column of CSV\n"
"      --bytes             keys are bytes in any encoding, as in a database in SQL_ASCII\n"
"      --once              split, drop: a row is new only if no earlier row has its key\n"
"      --accept-loss       drop: some new rows may be lost, and their expected number is told\n"
"      --nulls keep|drop   keep, drop: what becomes of rows with a NULL in their key (keep)\n"
"      --exit-status       split, keep, drop: 1 if no row was certainly new, or was kept\n"
"      --fpr RATE, --kind KIND, --expected N   build: as the arguments of bloom_agg\n"
"      --help, --version\n"
"\n"
"Rows are passed on byte for byte. Rows whose key cannot be read are never called new, and those\n"
"with a NULL in it only by drop, as NULL equals nothing.\n"
"Exit code: 0 done; 2 an error; 3 done, but some keys could not be read.\n";

/* Codes of the options that have no short form. */
enum
{
	OPTION_NO_HEADER = 256,
	OPTION_NEW,
	OPTION_MAYBE,
	OPTION_KEYS,
	OPTION_BYTES,
	OPTION_ACCEPT_LOSS,
	OPTION_EXIT_STATUS,
	OPTION_FPR,
	OPTION_KIND,
	OPTION_EXPECTED,
	OPTION_NULLS,
	OPTION_ONCE,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option names[] = {
	{"filter", required_argument, NULL, 'f'},
	{"column", required_argument, NULL, 'c'},
	{"type", required_argument, NULL, 't'},
	{"delimiter", required_argument, NULL, 'd'},
	{"no-header", no_argument, NULL, OPTION_NO_HEADER},
	{"output", required_argument, NULL, 'o'},
	{"new", required_argument, NULL, OPTION_NEW},
	{"maybe", required_argument, NULL, OPTION_MAYBE},
	{"keys", required_argument, NULL, OPTION_KEYS},
	{"bytes", no_argument, NULL, OPTION_BYTES},
	{"accept-loss", no_argument, NULL, OPTION_ACCEPT_LOSS},
	{"exit-status", no_argument, NULL, OPTION_EXIT_STATUS},
	{"fpr", required_argument, NULL, OPTION_FPR},
	{"kind", required_argument, NULL, OPTION_KIND},
	{"expected", required_argument, NULL, OPTION_EXPECTED},
	{"nulls", required_argument, NULL, OPTION_NULLS},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0}
};

#define AS_BIT(command) (1u << (command))
#define ASKING	(AS_BIT(COMMAND_SPLIT) | AS_BIT(COMMAND_KEEP) | AS_BIT(COMMAND_DROP))
#define READING	(ASKING | AS_BIT(COMMAND_BUILD))

/* Returns the commands that accept an option, as a set of bits (AS_BIT()). */
static unsigned
takers(int option)
{
	switch (option)
	{
		case 'f':
		case OPTION_EXIT_STATUS:
			return ASKING;
		case 'c':
		case 't':
		case 'd':
		case OPTION_NO_HEADER:
			return READING;
		case OPTION_BYTES:
			return READING | AS_BIT(COMMAND_KEY);
		case 'o':
			return AS_BIT(COMMAND_KEEP) | AS_BIT(COMMAND_DROP) | AS_BIT(COMMAND_BUILD);
		case OPTION_NEW:
		case OPTION_MAYBE:
		case OPTION_KEYS:
			return AS_BIT(COMMAND_SPLIT);
		case OPTION_ACCEPT_LOSS:
			return AS_BIT(COMMAND_DROP);
		case OPTION_NULLS:
			return AS_BIT(COMMAND_KEEP) | AS_BIT(COMMAND_DROP);
		case OPTION_ONCE:
			return AS_BIT(COMMAND_SPLIT) | AS_BIT(COMMAND_DROP);
		case OPTION_KIND:
			return AS_BIT(COMMAND_BUILD) | AS_BIT(COMMAND_KEY);
		case OPTION_FPR:
		case OPTION_EXPECTED:
			return AS_BIT(COMMAND_BUILD);
	}
	return 0;
}

static const char *const commands[] = {
	[COMMAND_INFO] = "info",
	[COMMAND_SPLIT] = "split",
	[COMMAND_KEEP] = "keep",
	[COMMAND_DROP] = "drop",
	[COMMAND_BUILD] = "build",
	[COMMAND_KEY] = "key",
};

/* Prints a text that the user asked for, and ends the program. */
static void __attribute__((noreturn))
print_and_exit(const char *before, const char *text)
{
	if (printf("%s%s", before, text) < 0 || fflush(stdout) != 0 || close(STDOUT_FILENO) != 0)
		fail_errno("could not write to standard output");
	_exit(EXIT_DONE);
}

static Command
read_command(const char *word)
{
	size_t		i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
	{
		if (strcmp(word, commands[i]) == 0)
			return (Command) i;
	}
	usage_error("there is no command \"%s\"", word);
}

static char
read_delimiter(const char *text)
{
	char		c = text[0];

	if (strcmp(text, "\\t") == 0)
		return '\t';
	if (c == '\0' || text[1] != '\0' || strchr("\"\r\n", c) != NULL || (signed char) c < 0)
		usage_error(
			"the delimiter must be one character of ASCII, no quote, and no end of a line: \"%s\"",
			text);
	return c;
}

static double
read_fpr(const char *text)
{
	char	   *end;
	double		value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value > 0 && value < 1))
		usage_error("--fpr must be above 0 and below 1: \"%s\"", text);
	return value;
}

static uint64_t
read_expected(const char *text)
{
	char	   *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value == 0 ||
		value > INT64_MAX)
		usage_error("--expected must be a number of keys, at least 1: \"%s\"", text);
	return value;
}

static NullRows
read_nulls(const char *text)
{
	if (strcmp(text, "keep") == 0)
		return NULLS_KEEP;
	if (strcmp(text, "drop") == 0)
		return NULLS_DROP;
	usage_error("--nulls must be keep or drop: \"%s\"", text);
}

static void
take_option(Options *options, int option, const char *value)
{
	switch (option)
	{
		case 'f':
			options->filter = value;
			break;
		case 'c':
			options->column = value;
			break;
		case 't':
			options->type = value;
			break;
		case 'd':
			options->delimiter = read_delimiter(value);
			break;
		case 'o':
			options->output = value;
			break;
		case OPTION_NO_HEADER:
			options->header = false;
			break;
		case OPTION_NEW:
			options->new_rows = value;
			break;
		case OPTION_MAYBE:
			options->maybe_rows = value;
			break;
		case OPTION_KEYS:
			options->maybe_keys = value;
			break;
		case OPTION_BYTES:
			options->any_bytes = true;
			break;
		case OPTION_ACCEPT_LOSS:
			options->accept_loss = true;
			break;
		case OPTION_EXIT_STATUS:
			options->exit_status = true;
			break;
		case OPTION_NULLS:
			options->nulls = read_nulls(value);
			break;
		case OPTION_ONCE:
			options->once = true;
			break;
		case OPTION_FPR:
			options->fpr = read_fpr(value);
			break;
		case OPTION_KIND:
			options->kind = value;
			break;
		case OPTION_EXPECTED:
			options->expected = read_expected(value);
			break;
	}
}

/* Ends the program if a required argument is missing, or if drop was not given --accept-loss. */
static void
check_options(const Options *options, int operands)
{
	unsigned	command = AS_BIT(options->command);

	if (command & READING)
	{
		if (operands > 0)
			usage_error("%s reads rows from standard input, and takes no other arguments",
						commands[options->command]);
		if (options->column == NULL)
			usage_error("%s needs --column", commands[options->command]);
	}
	if ((command & ASKING) && options->filter == NULL)
		usage_error("%s needs --filter", commands[options->command]);
	if ((command & ASKING) && strcmp(options->filter, "-") == 0)
		usage_error("standard input has the rows, and cannot have the filter");
	if (options->command == COMMAND_SPLIT &&
		(options->new_rows == NULL || options->maybe_rows == NULL))
		usage_error("split needs --new and --maybe, as each row goes to one of them");
	if (options->command == COMMAND_DROP && !options->accept_loss)
		usage_error(
			"drop loses new rows that the filter takes for known ones: "
			"--accept-loss agrees to that, and split loses none");
	if (options->command == COMMAND_BUILD && options->type == NULL)
		usage_error("build needs --type");
	if (options->command == COMMAND_INFO && operands != 1)
		usage_error("info needs a FILTER");
	if (options->command == COMMAND_KEY && operands < 2)
		usage_error("key needs a TYPE and a VALUE");
}

/* Reads the command line.  Ends the program if the command line is wrong, or asks for help. */
void
options_read(Options *options, int argc, char **argv)
{
	const char *short_names;
	int			option;

	memset(options, 0, sizeof(*options));
	options->delimiter = ',';
	options->header = true;
	if (argc < 2)
		usage_error("a command is missing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		print_and_exit("", help);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		print_and_exit("bloomfam ", BLOOMFAM_VERSION "\n");
	options->command = read_command(argv[1]);

	/*
	 * A key's value may begin with "-", so options are not recognized after the type of command
	 * key.
	 */
	short_names = options->command == COMMAND_KEY ? "+h" : "f:c:t:d:o:h";
	argv[1] = argv[0];
	argc--;
	argv++;
	while ((option = getopt_long(argc, argv, short_names, names, NULL)) != -1)
	{
		if (option == OPTION_HELP || option == 'h')
			print_and_exit("", help);
		if (option == OPTION_VERSION)
			print_and_exit("bloomfam ", BLOOMFAM_VERSION "\n");
		if (option == '?')
			usage_error("an option is not known, or lacks its value");
		if (!(takers(option) & AS_BIT(options->command)))
		{
			const struct option *name = names;

			while (name->val != option)
				name++;
			usage_error("%s has no option --%s", commands[options->command], name->name);
		}
		take_option(options, option, optarg);
	}
	argc -= optind;
	argv += optind;
	check_options(options, argc);
	if (options->command == COMMAND_INFO)
		options->filter = argv[0];
	if (options->command == COMMAND_KEY)
	{
		options->type = argv[0];
		options->values = argv + 1;
		options->nvalues = argc - 1;
	}
}
