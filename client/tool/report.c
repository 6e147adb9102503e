/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.c
 *	  What the program says, and how it ends; see report.h.
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

/* How often the line of progress is written, and how long before its first time, in seconds. */
#define PROGRESS_INTERVAL	0.5
#define PROGRESS_DELAY		1.0

static void PRINTF_LIKE(1, 0)
say(const char *format, va_list args, const char *after)
{
	fputs("bloomfam: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s\n", after);
}

/* Ends the program with an error.  Outputs that are not whole are removed at its exit. */
void
fail(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
	exit(EXIT_ERROR);
}

/* The same, with what errno says. */
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

/* The same, for a command that cannot be understood. */
void
usage_error(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "\nbloomfam --help tells more.");
	va_end(args);
	exit(EXIT_ERROR);
}

/* A line on standard error. */
void
note(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
}

/* Memory that was taken by realloc() or its like; ends the program if there was none. */
void *
need_memory(void *memory, size_t size)
{
	if (memory == NULL)
		fail("out of memory: %zu bytes are not to be had", size);
	return memory;
}

/* A number with commas.  The text is one of four that take turns. */
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

/* Tells of so many rows and bytes, of an input of size bytes (0: not known), if it is time to. */
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

/* Erases the line.  What else is said comes after this. */
void
progress_end(Progress *progress)
{
	if (progress->written)
		fputs("\r\033[K", stderr);
	progress->written = false;
}
