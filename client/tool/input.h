/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * input.h
 *	  Bytes that are read from a file descriptor, in pieces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read at once: it stays in the processor's second cache until it has been written. */
#define INPUT_PIECE		((size_t) 512 * 1024)

/* The longest record: what a field of PostgreSQL's can hold. */
#define INPUT_LONGEST	((size_t) 1024 * 1024 * 1024)

/* The bytes that were read and not yet used are those from begin to end. */
typedef struct Input
{
	int			fd;
	const char *name;			/* for messages */
	char	   *buffer;
	size_t		capacity;
	size_t		begin;
	size_t		end;
	bool		ended;			/* no more will come */
	uint64_t	used;			/* bytes before begin, since the input's beginning */
	uint64_t	size;			/* of a file; 0: not known */
} Input;

extern void input_open(Input *input, int fd, const char *name);
extern void input_more(Input *input);
extern void input_use(Input *input, size_t length);
extern void input_close(Input *input);

#endif							/* INPUT_H */
