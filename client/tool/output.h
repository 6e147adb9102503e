/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * output.h
 *	  An output: a stream, or a file that appears as a whole or not at all.
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
	OUTPUT_STREAM,				/* Standard output, a device or a pipe: written directly. */
	OUTPUT_FILE					/* A file: written under a temporary name in the same folder. */
} OutputForm;

typedef struct Output
{
	OutputForm	form;
	int			fd;
	const char *name;			/* Name of the output in messages. */
	char	   *path;			/* OUTPUT_FILE: the final path, without symbolic links. */
	/* OUTPUT_FILE: index of the temporary name in the list of names to remove; otherwise -1. */
	int			slot;
	/*
	 * True if a file other than a character device exists under the name; device and inode then
	 * identify it.
	 */
	bool		known;
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
