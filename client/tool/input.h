/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * input.h
 *	  Reading bytes from a file descriptor, in pieces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Number of bytes read at once, so few that they stay in the processor's second-level cache until
 * they are written.
 */
#define INPUT_PIECE		((size_t) 512 * 1024)

/* The maximum length of a record in bytes, that of a field of PostgreSQL. */
#define INPUT_LONGEST	((size_t) 1024 * 1024 * 1024)

/* An input.  The bytes from begin to end of the buffer were read, and are not used yet. */
typedef struct Input
{
	int			fd;
	const char *name;			/* Name of the input in messages. */
	char	   *buffer;
	size_t		capacity;
	size_t		begin;
	size_t		end;
	bool		ended;			/* True at the end of the input: there are no more bytes to read. */
	uint64_t	used;			/* Number of bytes of the input before begin. */
	uint64_t	size;			/* Size of the input in bytes, for a regular file; 0: unknown. */
} Input;

extern void input_open(Input *input, int fd, const char *name);
extern void input_more(Input *input);
extern void input_use(Input *input, size_t length);
extern void input_close(Input *input);

#endif							/* INPUT_H */
