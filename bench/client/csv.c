/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * csv.c
 *	  How fast the program bloomfam splits rows of CSV, beside the same run with an empty filter.
 *
 *	csv [--rounds=N] [--rows=N] [--folder=DIR] [--program=FILE] [--smoke]
 *
 *	--rounds=N		number of rounds, of which each figure is the median (9)
 *	--rows=N		rows of the file (4000000, 200 MB)
 *	--folder=DIR	where files are read and written (/dev/shm)
 *	--program=FILE	the program bloomfam (../../bloomfam, relative to this program)
 *	--smoke			few rows and one round: does it work?
 *
 * Rows have 50 bytes.  A tenth of the rows have a quoted field with quotes in it, and a third, at
 * random, have known keys.  Runs with different filters alternate.  Figures are processor times, of
 * the program and of the system on its behalf, which other load changes little, and wall clock
 * times.  The exit code is 0 unless a row was lost, or a known row was called new.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

static struct
{
	int			rounds;
	size_t		rows;
	const char *folder;
	char		program[4096];
	bool		smoke;
} option = {.rounds = 9, .rows = 4000000, .folder = "/dev/shm"};

/* Names of files, in a folder of the benchmark's own. */
static char folder[4096];

typedef enum File
{
	IN, NEW, MAYBE, NO_KEYS, SMALL, LARGE
} File;

#define NFILES	6

static char files[NFILES][4200];

static void __attribute__((noreturn))
die_of(const char *what)
{
	perror(what);
	exit(2);
}

static void
remove_files(void)
{
	int			i;

	for (i = 0; i < NFILES; i++)
		unlink(files[i]);
	rmdir(folder);
}

static void
make_folder(void)
{
	static const char *const names[NFILES] = {"in.csv", "new.csv", "maybe.csv", "none", "small", "large"};
	int			i;

	snprintf(folder, sizeof(folder), "%s/bloomfam_bench.XXXXXX", option.folder);
	if (mkdtemp(folder) == NULL)
		die_of(folder);
	for (i = 0; i < NFILES; i++)
		snprintf(files[i], sizeof(files[i]), "%s/%s", folder, names[i]);
	atexit(remove_files);
}

/* Returns the key of the i-th row, of 14 digits; even keys are known. */
static int64_t
row_key(size_t i)
{
	uint64_t	z = mix(i);

	return INT64_C(10000000000000) + (int64_t) (z % UINT64_C(40000000000000)) * 2 + (mix(z) % 3 != 0);
}

static void
write_rows(void)
{
	FILE	   *file = fopen(files[IN], "w");
	size_t		i;

	if (file == NULL || fputs("id,device,at,note\n", file) == EOF)
		die_of(files[IN]);
	for (i = 0; i < option.rows; i++)
	{
		const char *note = i % 10 == 0 ? "\"said \"\"low\"\", okay\"" : "all is well there!";

		if (fprintf(file, "%lld,device-%02zu,%02zu:%02zu,%s\n", (long long) row_key(i), i % 100, i % 24, i % 60, note) < 0)
			die_of(files[IN]);
	}
	if (fclose(file) != 0)
		die_of(files[IN]);
}

static bool
write_to(void *arg, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, arg) == len;
}

/*
 * Writes a filter of n keys, those of the known rows and others; with n = 0, a filter that denies
 * every key.
 */
static void
write_filter(File file, size_t n)
{
	int64_t    *keys = allocate(n * sizeof(*keys) + 8);
	FILE	   *out = fopen(files[file], "wb");
	size_t		i;
	BloomfamColumn column;
	BloomfamType type;
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;

	for (i = 0; i < n; i++)
		keys[i] = row_key(i) & ~INT64_C(1);
	column = bloomfam_int64s(keys, n);
	if (bloomfam_type_by_name("bigint", NULL, &type, &error) != BLOOMFAM_OK ||
		bloomfam_builder_make(NULL, &type, "blocked", 0.01, n, &builder, &error) != BLOOMFAM_OK ||
		bloomfam_builder_add(builder, &column, NULL, NULL, &error) != BLOOMFAM_OK ||
		bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK)
		die("build", &error);
	bloomfam_builder_free(builder);
	if (out == NULL || bloomfam_write(filter, BLOOMFAM_RAW, write_to, out, &error) != BLOOMFAM_OK || fclose(out) != 0)
		die_of(files[file]);
	bloomfam_close(filter);
	free(keys);
}

typedef struct Run
{
	const char *what;
	File		filter;
	bool		kept;			/* do its outputs go to files, or to /dev/null? */
	double		work[MAX_ROUNDS];	/* seconds of the processor */
	double		wall[MAX_ROUNDS];
} Run;

static Run	runs[] = {
	{.what = "no keys", .filter = NO_KEYS, .kept = true},
	{.what = "small", .filter = SMALL, .kept = true},
	{.what = "large", .filter = LARGE, .kept = true},
	{.what = "no keys, nothing written", .filter = NO_KEYS},
	{.what = "small, nothing written", .filter = SMALL},
	{.what = "large, nothing written", .filter = LARGE},
};

#define NRUNS	((int) (sizeof(runs) / sizeof(runs[0])))

static void
split(Run *run, int round)
{
	double		start = seconds(CLOCK_MONOTONIC);
	struct rusage used;
	int			status;
	pid_t		child = fork();

	if (child < 0)
		die_of("fork");
	if (child == 0)
	{
		int			in = open(files[IN], O_RDONLY);
		int			null = open("/dev/null", O_WRONLY);

		if (in >= 0 && null >= 0 && dup2(in, 0) == 0 && dup2(null, 2) == 2)
			execl(option.program, "bloomfam", "split", "-f", files[run->filter], "-c", "id", "--new", run->kept ? files[NEW] : "/dev/null",
				  "--maybe", run->kept ? files[MAYBE] : "/dev/null", (char *) NULL);
		_exit(127);
	}
	if (wait4(child, &status, 0, &used) != child || status != 0)
	{
		fprintf(stderr, "%s: could not run, or failed; make client\n", option.program);
		exit(2);
	}
	run->wall[round] = seconds(CLOCK_MONOTONIC) - start;
	run->work[round] = (double) (used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double) (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static size_t
size_of(File file)
{
	struct stat status;

	if (stat(files[file], &status) != 0)
		die_of(files[file]);
	return (size_t) status.st_size;
}

/*
 * Returns the number of rows with a known key in the last run's file, and stores the number of all
 * rows in *n.
 */
static size_t
count_known(File file, size_t *n)
{
	FILE	   *in = fopen(files[file], "r");
	char		line[200];
	size_t		known = 0;

	if (in == NULL || fgets(line, sizeof(line), in) == NULL)
		die_of(files[file]);
	for (*n = 0; fgets(line, sizeof(line), in) != NULL; (*n)++)
		known += atoll(line) % 2 == 0;
	fclose(in);
	return known;
}

/* Checks that the last run wrote all rows that it read, and no known row among the new ones. */
static bool
is_right(void)
{
	size_t		new_rows;
	size_t		maybe_rows;
	size_t		lost = count_known(NEW, &new_rows);
	bool		whole;

	(void) count_known(MAYBE, &maybe_rows);
	whole = new_rows + maybe_rows == option.rows && size_of(NEW) + size_of(MAYBE) == size_of(IN) + strlen("id,device,at,note\n");
	printf("%zu rows: %zu new, %zu maybe known; %zu known ones among the new\n", option.rows, new_rows, maybe_rows, lost);
	return whole && lost == 0;
}

int
main(int argc, char **argv)
{
	char		self[4000];
	double		bytes;
	bool		right = false;
	int			round;
	int			i;

	snprintf(self, sizeof(self), "%s", argv[0]);
	snprintf(option.program, sizeof(option.program), "%s/../../bloomfam", dirname(self));
	for (i = 1; i < argc; i++)
	{
		if (sscanf(argv[i], "--rounds=%d", &option.rounds) == 1 && option.rounds >= 1 && option.rounds <= MAX_ROUNDS)
			continue;
		if (sscanf(argv[i], "--rows=%zu", &option.rows) == 1 && option.rows >= 1)
			continue;
		if (strncmp(argv[i], "--folder=", 9) == 0)
			option.folder = argv[i] + 9;
		else if (strncmp(argv[i], "--program=", 10) == 0)
			snprintf(option.program, sizeof(option.program), "%s", argv[i] + 10);
		else if (strcmp(argv[i], "--smoke") == 0)
			option.smoke = true;
		else
		{
			fprintf(stderr, "usage: csv [--rounds=N] [--rows=N] [--folder=DIR] [--program=FILE] [--smoke]\n");
			return 2;
		}
	}
	if (option.smoke)
	{
		option.rounds = 1;
		option.rows = 10000;
		option.folder = "/tmp";
	}
	make_folder();
	write_rows();
	write_filter(NO_KEYS, 0);
	write_filter(SMALL, option.smoke ? 20000 : 800000);
	write_filter(LARGE, option.smoke ? 50000 : 20000000);
	for (round = 0; round < option.rounds; round++)
		for (i = NRUNS - 1; i >= 0; i--)
		{
			split(&runs[i], round);
			if (round == 0 && runs[i].filter == LARGE && runs[i].kept)
				right = is_right();
		}
	bytes = (double) size_of(IN);
	printf("%.1f bytes a row               MB  MB/s, work  M rows/s   no keys = 1   MB/s, wall\n", bytes / (double) option.rows);
	for (i = 0; i < NRUNS; i++)
	{
		double		work = median(runs[i].work, option.rounds);
		double		wall = median(runs[i].wall, option.rounds);
		double		base = median(runs[runs[i].kept ? 0 : NRUNS / 2].work, option.rounds);

		printf("%-25s %6.1f %10.0f %10.1f %10.2f x %12.0f\n", runs[i].what, (double) size_of(runs[i].filter) / 1e6, bytes / work / 1e6,
			   (double) option.rows / work / 1e6, work / base, bytes / wall / 1e6);
	}
	if (!right)
		printf("a row is lost\n");
	if (option.smoke)
		printf("%d passed, %d failed\n", right, !right);
	return right ? 0 : 1;
}
