/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * open.c
 *	  How long it takes to open a large filter: in place, with a copy, and with validation.
 *
 *	open [--rounds=N] [--megabytes=N] [--folder=DIR] [--smoke]
 *
 *	--rounds=N		number of rounds, of which each figure is the median (9)
 *	--megabytes=N	the filter's size (500, the maximum)
 *	--folder=DIR	where its file is written (/dev/shm)
 *	--smoke			a small filter and one round: does it work?
 *
 * Times are wall clock times.  "Read" is how much of the file was loaded into the process's memory.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "measure.h"

static struct
{
	int			rounds;
	int			megabytes;
	const char *folder;
	bool		smoke;
} option = {.rounds = 9, .megabytes = 500, .folder = "/dev/shm"};

static char path[4096];

static void
remove_file(void)
{
	unlink(path);
}

static bool
write_to(void *arg, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, arg) == len;
}

/* Writes a filter of the given size in bytes to a file, with one key for each thousand bytes. */
static void
write_filter(size_t size)
{
	FILE	   *file = fopen(path, "wb");
	size_t		n = size / 1000 + 1;
	int64_t    *keys = allocate(n * sizeof(*keys));
	BloomfamColumn column = bloomfam_int64s(keys, n);
	BloomfamType type;
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;
	size_t		i;

	for (i = 0; i < n; i++)
		keys[i] = (int64_t) mix(i);
	if (bloomfam_type_by_name("bigint", NULL, &type, &error) != BLOOMFAM_OK ||
		bloomfam_builder_make(NULL, &type, "blocked", 0.01, size * 8 / 10, &builder, &error) != BLOOMFAM_OK ||
		bloomfam_builder_add(builder, &column, NULL, NULL, &error) != BLOOMFAM_OK ||
		bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK)
		die("build", &error);
	bloomfam_builder_free(builder);
	if (file == NULL || bloomfam_write(filter, BLOOMFAM_RAW, write_to, file, &error) != BLOOMFAM_OK || fclose(file) != 0)
	{
		perror(path);
		exit(2);
	}
	bloomfam_close(filter);
	free(keys);
}

/* Returns the size of the process's resident memory, in bytes. */
static size_t
resident(void)
{
	FILE	   *file = fopen("/proc/self/statm", "r");
	size_t		total;
	size_t		pages;

	if (file == NULL || fscanf(file, "%zu %zu", &total, &pages) != 2)
		pages = 0;
	if (file != NULL)
		fclose(file);
	return pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* Opens the filter in one way, and asks it for one of its keys. */
static void
measure(const char *what, unsigned flags)
{
	int64_t		key = (int64_t) mix(0);
	BloomfamColumn column = bloomfam_int64s(&key, 1);
	double		opened[MAX_ROUNDS];
	double		asked[MAX_ROUNDS];
	double		grown[MAX_ROUNDS];
	double		size = 0;
	int			round;

	for (round = 0; round < option.rounds; round++)
	{
		size_t		before = resident();
		double		start = seconds(CLOCK_MONOTONIC);
		BloomfamFilter *filter;
		BloomfamInfo info;
		BloomfamError error;
		uint8_t		answer;

		if (bloomfam_open_file(NULL, path, flags, &filter, &error) != BLOOMFAM_OK)
			die("open", &error);
		opened[round] = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
		bloomfam_info(filter, &info);
		if (bloomfam_ask(filter, NULL, &column, &answer, NULL, &error) != BLOOMFAM_OK || answer != BLOOMFAM_MAYBE)
			die("ask", &error);
		asked[round] = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
		grown[round] = ((double) resident() - (double) before) / 1e6;
		size = (double) info.size / 1e6;
		bloomfam_close(filter);
	}
	printf("%-34s %8.1f %12.3f %12.3f %10.1f\n", what, size, median(opened, option.rounds), median(asked, option.rounds),
		   median(grown, option.rounds));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int			i;

	for (i = 1; i < argc; i++)
	{
		if (sscanf(argv[i], "--rounds=%d", &option.rounds) == 1 && option.rounds >= 1 && option.rounds <= MAX_ROUNDS)
			continue;
		if (sscanf(argv[i], "--megabytes=%d", &option.megabytes) == 1 && option.megabytes >= 1 && option.megabytes <= 500)
			continue;
		if (strncmp(argv[i], "--folder=", 9) == 0)
			option.folder = argv[i] + 9;
		else if (strcmp(argv[i], "--smoke") == 0)
			option.smoke = true;
		else
		{
			fprintf(stderr, "usage: open [--rounds=N] [--megabytes=N] [--folder=DIR] [--smoke]\n");
			return 2;
		}
	}
	if (option.smoke)
	{
		option.rounds = 1;
		option.megabytes = 1;
		option.folder = "/tmp";
	}
	snprintf(path, sizeof(path), "%s/bloomfam_bench_%ld.filter", option.folder, (long) getpid());
	atexit(remove_file);
	write_filter((size_t) option.megabytes * 999000);
	printf("%-34s %8s %12s %12s %10s\n", "ms", "MB", "opened", "first answer", "read, MB");
	measure("mapped", BLOOMFAM_MAP);
	measure("mapped, validated", BLOOMFAM_MAP | BLOOMFAM_VALIDATE);
	measure("read", 0);
	measure("read, validated", BLOOMFAM_VALIDATE);
	if (option.smoke)
		printf("1 passed, 0 failed\n");
	return 0;
}
