/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.h
 *	  The program's messages and exit codes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes.  EXIT_BAD_LINES takes precedence over EXIT_NO_ROW. */
#define EXIT_DONE		0
#define EXIT_NO_ROW		1		/* No row passed, and --exit-status was given. */
#define EXIT_ERROR		2
#define EXIT_BAD_LINES	3		/* Done, but some lines had no readable key. */

#define PRINTF_LIKE(a, b) __attribute__((format(printf, a, b)))

extern void fail(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void fail_errno(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void usage_error(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void note(const char *format,...) PRINTF_LIKE(1, 2);
extern void *need_memory(void *memory, size_t size);
extern const char *grouped(uint64_t number);

/* A line on a terminal that shows the progress of long work. */
typedef struct Progress
{
	bool		shown;			/* True if standard error is a terminal. */
	bool		written;		/* True if a line is shown that must be erased. */
	double		next;			/* Time in seconds at which the line is to be written next. */
} Progress;

extern void progress_begin(Progress *progress);
extern void progress_step(Progress *progress, uint64_t rows, uint64_t bytes, uint64_t size);
extern void progress_end(Progress *progress);

#endif							/* REPORT_H */
