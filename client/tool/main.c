/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * main.c
 *	  The program bloomfam: asks filters for the keys of rows of CSV, outside the server.
 *
 *-------------------------------------------------------------------------
 */
#include "commands.h"
#include "report.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * Keeps the standard file descriptors occupied.  If one were closed, a file that the program opens
 * could get its number, and then receive output meant for that descriptor.  A closed descriptor is
 * therefore opened on /dev/null in the wrong direction, so that any use of it fails.
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

	/*
	 * Writing to a closed pipe, or beyond a limit of file size, becomes an error of write(), which
	 * is reported.
	 */
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
