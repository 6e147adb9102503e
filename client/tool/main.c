/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * main.c
 *	  bloomfam: asks filters for the keys of rows of CSV, outside the server.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"
#include "report.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * Were one of the three closed, a file of ours could get its number, and rows meant for it.  So it
 * is opened in a way in which it can be used for nothing.
 */
static void
hold_standard_files(void)
{
	int			fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
	{
		if (fcntl(fd, F_GETFD) == -1 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_ERROR);
	}
}

int
main(int argc, char **argv)
{
	Options		options;

	hold_standard_files();

	/* A closed pipe and a file that may not grow are errors of write(), which says so. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	options_read(&options, argc, argv);
	switch (options.command)
	{
		case COMMAND_INFO:
			return command_info(&options);
		case COMMAND_SPLIT:
		case COMMAND_KEEP:
		case COMMAND_DROP:
			return command_ask(&options);
		case COMMAND_BUILD:
			return command_build(&options);
		case COMMAND_KEY:
			return command_key(&options);
	}
	return EXIT_ERROR;
}
