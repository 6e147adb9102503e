/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * input.c
 *	  Reading bytes from a file descriptor, in pieces; see input.h.
 *
 *-------------------------------------------------------------------------
 */
#include "input.h"

#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
input_open(Input *input, int fd, const char *name)
{
	struct stat status;

	memset(input, 0, sizeof(*input));
	input->fd = fd;
	input->name = name;
	input->capacity = INPUT_PIECE;
	input->buffer = need_memory(malloc(input->capacity), input->capacity);
	if (fstat(fd, &status) != 0)
		fail_errno("could not read %s", name);
	if (S_ISREG(status.st_mode) && status.st_size > 0)
		input->size = (uint64_t) status.st_size;
}

/* Calls read(2), and repeats it after an interruption; waits if the descriptor is non-blocking. */
static size_t
read_some(const Input *input, char *to, size_t room)
{
	for (;;)
	{
		ssize_t		got = read(input->fd, to, room);

		if (got >= 0)
			return (size_t) got;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
		{
			struct pollfd wait = {.fd = input->fd,.events = POLLIN};

			(void) poll(&wait, 1, -1);
		}
		else if (errno != EINTR)
			fail_errno("could not read %s", input->name);
	}
}

/*
 * Moves the unused bytes to the buffer's beginning, and reads more after them: at least as many
 * bytes as are unused, or all that remain.  A record that needs several calls is therefore scanned
 * only as many times as the logarithm of its length.
 */
void
input_more(Input *input)
{
	size_t		pending = input->end - input->begin;
	size_t		enough = pending * 2;

	if (pending > INPUT_LONGEST)
		fail("%s: the record that begins at byte %s is longer than 1 GB; is a quote not closed?",
			 input->name, grouped(input->used));
	if (pending > 0 && input->begin > 0)
		memmove(input->buffer, input->buffer + input->begin, pending);
	input->begin = 0;
	input->end = pending;
	if (input->capacity - pending < INPUT_PIECE || input->capacity < enough)
	{
		input->capacity = enough + INPUT_PIECE;
		input->buffer = need_memory(realloc(input->buffer, input->capacity), input->capacity);
	}
	do
	{
		size_t		room = input->capacity - input->end;
		size_t		got = read_some(input, input->buffer + input->end,
									room < INPUT_PIECE ? room : INPUT_PIECE);

		input->end += got;
		input->ended = got == 0;
	} while (!input->ended && input->end < enough);
}

/* Removes the next length bytes from the buffer's unused bytes. */
void
input_use(Input *input, size_t length)
{
	input->begin += length;
	input->used += length;
}

void
input_close(Input *input)
{
	free(input->buffer);
	input->buffer = NULL;
}
