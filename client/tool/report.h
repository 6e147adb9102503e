/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * report.h
 *	  What the program says, and how it ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes.  Of bad lines and no row, bad lines is told. */
#define EXIT_DONE		0
#define EXIT_NO_ROW		1		/* no row passed, and --exit-status asked for this code */
#define EXIT_ERROR		2
#define EXIT_BAD_LINES	3		/* done, and there were lines without a key that can be read */

#define PRINTF_LIKE(a, b) __attribute__((format(printf, a, b)))

extern void fail(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void fail_errno(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void usage_error(const char *format,...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
extern void note(const char *format,...) PRINTF_LIKE(1, 2);
extern void *need_memory(void *memory, size_t size);
extern const char *grouped(uint64_t number);

/* A line on a terminal that tells how far long work is. */
typedef struct Progress
{
	bool		shown;			/* is standard error a terminal? */
	bool		written;		/* there is a line to be erased */
	double		next;			/* when the line is due, in seconds */
} Progress;

extern void progress_begin(Progress *progress);
extern void progress_step(Progress *progress, uint64_t rows, uint64_t bytes, uint64_t size);
extern void progress_end(Progress *progress);

#endif							/* REPORT_H */
