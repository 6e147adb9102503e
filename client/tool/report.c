/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.c
 *	  The program's messages and exit codes; see report.h.
 *
 *-------------------------------------------------------------------------
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The interval between two updates of the progress line, and the delay before the first one, in
 * seconds.
 */
#define PROGRESS_INTERVAL	0.5
#define PROGRESS_DELAY		1.0

static void PRINTF_LIKE(1, 0)
say(const char *format, va_list args, const char *after)
{
	fputs("bloomfam: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s\n", after);
}

/* Ends the program with an error message.  Unfinished outputs are removed on exit. */
void
fail(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
	exit(EXIT_ERROR);
}

/* Ends the program with an error message, followed by the text of errno. */
void
fail_errno(const char *format,...)
{
	int			error = errno;
	va_list		args;

	va_start(args, format);
	fputs("bloomfam: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	exit(EXIT_ERROR);
}

/* Ends the program with a message about a wrong command line. */
void
usage_error(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "\nbloomfam --help tells more.");
	va_end(args);
	exit(EXIT_ERROR);
}

/* Prints a message on standard error. */
void
note(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
}

/*
 * Returns memory, which was allocated by malloc(), realloc() or similar.  Ends the program if it is
 * NULL.
 */
void *
need_memory(void *memory, size_t size)
{
	if (memory == NULL)
		fail("out of memory: %zu bytes are not to be had", size);
	return memory;
}

/*
 * Formats a number with commas between groups of three digits.  The text is valid for the next
 * three calls.
 */
const char *
grouped(uint64_t number)
{
	static char texts[4][32];
	static unsigned turn;
	char	   *at = texts[turn = (turn + 1) % 4] + sizeof(texts[0]) - 1;
	unsigned	digits = 0;

	*at = '\0';
	do
	{
		if (digits > 0 && digits % 3 == 0)
			*--at = ',';
		*--at = (char) ('0' + number % 10);
		number /= 10;
		digits++;
	} while (number > 0);
	return at;
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

void
progress_begin(Progress *progress)
{
	progress->shown = isatty(STDERR_FILENO) == 1;
	progress->written = false;
	progress->next = progress->shown ? seconds() + PROGRESS_DELAY : 0;
}

/* Updates the progress line if it is due. size is the input's size in bytes; 0: unknown. */
void
progress_step(Progress *progress, uint64_t rows, uint64_t bytes, uint64_t size)
{
	double		now;

	if (!progress->shown || (now = seconds()) < progress->next)
		return;
	fprintf(stderr, "\r%s rows, %" PRIu64 " MB", grouped(rows), bytes / 1000000);
	if (size > 0)
		fprintf(stderr, ", %.0f %%", 100.0 * (double) bytes / (double) size);
	fputs("\033[K", stderr);
	fflush(stderr);
	progress->written = true;
	progress->next = now + PROGRESS_INTERVAL;
}

/* Erases the progress line, as is needed before any other message. */
void
progress_end(Progress *progress)
{
	if (progress->written)
		fputs("\r\033[K", stderr);
	progress->written = false;
}
