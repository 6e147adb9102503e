/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * output.h
 *	  A file that is there as a whole or not at all; or a stream.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum OutputForm
{
	OUTPUT_STREAM,				/* standard output, a device or a pipe: written to at once */
	OUTPUT_FILE					/* written beside the name that it gets at the end */
} OutputForm;

typedef struct Output
{
	OutputForm	form;
	int			fd;
	const char *name;			/* for messages */
	char	   *path;			/* of a file: the one that it shall have, without symbolic links */
	int			slot;			/* of a file: its temporary name's among those to be removed */
	bool		known;			/* something other than a device has the name already: */
	dev_t		device;
	ino_t		inode;
	char	   *buffer;
	size_t		used;
} Output;

extern void output_open(Output *output, const char *name);
extern void output_write(Output *output, const char *bytes, size_t length);
extern void output_finish(Output *output);
extern void output_publish(Output *const *outputs, int n);
extern bool output_is_same(const Output *a, const Output *b);
extern bool output_is_file(const Output *output, const char *name);

#endif							/* OUTPUT_H */
