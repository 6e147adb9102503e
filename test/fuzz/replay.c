/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Gives files to a fuzz target, one after the other, without libFuzzer.
 *
 * Usage: target FILE-OR-FOLDER...  Folders are walked.  A target that finds a fault aborts, or its sanitizer does; the last name
 * printed is then that of the file that did it.
 *
 *-------------------------------------------------------------------------
 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int	passed = 0;

static int
replay(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t		size = (size_t) st->st_size;
	uint8_t    *data;
	FILE	   *file;

	(void) ftw;
	if (type != FTW_F)
		return 0;
	printf("%s\n", path);
	fflush(stdout);

	/* exactly as large as the input, so that ASan sees the first byte beyond it */
	data = malloc(size > 0 ? size : 1);
	file = fopen(path, "rb");
	if (data == NULL || file == NULL || fread(data, 1, size, file) != size)
	{
		fprintf(stderr, "could not read \"%s\"\n", path);
		exit(1);
	}
	fclose(file);
	if (size == 0)
	{
		free(data);
		data = NULL;
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	passed++;
	return 0;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		if (nftw(argv[i], replay, 16, FTW_PHYS) != 0)
		{
			fprintf(stderr, "could not walk \"%s\"\n", argv[i]);
			return 1;
		}
	}
	printf("%d passed, 0 failed\n", passed);
	return 0;
}
