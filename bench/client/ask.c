/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  How many keys per second the client library can look up, from arrays and from text.
 *
 *	ask [--rounds=N] [--keys=N] [--no-wide] [--smoke]
 *
 *	--rounds=N	number of rounds, of which each figure is the median (9)
 *	--keys=N	number of keys in a round (2000000)
 *	--no-wide	runs as on a processor without AVX-512
 *	--smoke		few keys and one round: does it work?
 *
 * Times are processor times of one thread.  Half of the keys that are asked for are in the filter.
 * "copied" is a filter whose blocks begin at cache lines (BLOOMFAM_COPY), "in place" a filter whose
 * bytes were not copied.  The exit code is 0 unless a key in the filter was denied.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "measure.h"

#include "core/bf_cpu.h"

static struct
{
	int			rounds;
	size_t		keys;
	bool		smoke;
} option = {.rounds = 9, .keys = 2000000};

static uint64_t denied = 0;

/* Returns the i-th key; even numbers are in filters, odd numbers are not. */
static int64_t
key(uint64_t i)
{
	return (int64_t) (mix(i + 1) & ~UINT64_C(1)) | (int64_t) (i & 1);
}

/* A column of keys, and its memory. */
typedef struct Keys
{
	BloomfamColumn column;
	const char *type;
	const char *name;
	void	   *values;
	void	   *offsets;
} Keys;

/*
 * Returns the number of key i: even numbers in order if all, otherwise random numbers from 0 to 2 *
 * distinct - 1.
 */
static uint64_t
number_of(size_t i, size_t distinct, bool all)
{
	return all ? 2 * (uint64_t) i : mix(i + 12345) % (2 * distinct);
}

static Keys
integers(size_t n, size_t distinct, bool all)
{
	Keys		keys = {.type = "bigint", .name = "int64"};
	int64_t    *values = allocate(n * sizeof(*values));
	size_t		i;

	for (i = 0; i < n; i++)
		values[i] = key(number_of(i, distinct, all));
	keys.column = bloomfam_int64s(values, n);
	keys.values = values;
	return keys;
}

/* Makes keys of two columns, which hold the same integers. */
static Keys
pairs(size_t n, size_t distinct, bool all)
{
	Keys		keys = integers(n, distinct, all);
	BloomfamColumn *parts = allocate(2 * sizeof(*parts));

	parts[0] = parts[1] = keys.column;
	keys.type = "bigint,bigint";
	keys.name = "two int64";
	keys.column = bloomfam_rows(parts, 2, n);
	keys.offsets = parts;
	return keys;
}

/* Makes texts of some 10 to 14 characters: in Arrow's layout, as pieces, or as written integers. */
static Keys
texts(size_t n, size_t distinct, bool all, const char *format, const char *type, BloomfamMeaning meaning)
{
	Keys		keys = {.type = type, .name = meaning == BLOOMFAM_TEXT ? "short texts, Arrow" : "written"};
	char	   *values = allocate(n * 24 + 24);
	int32_t    *offsets = allocate((n + 1) * sizeof(*offsets));
	size_t		i;

	offsets[0] = 0;
	for (i = 0; i < n; i++)
		offsets[i + 1] = offsets[i] + sprintf(values + offsets[i], format, (long long) (key(number_of(i, distinct, all)) & 0xffffffffff));
	memset(&keys.column, 0, sizeof(keys.column));
	keys.column.meaning = meaning;
	keys.column.layout = BLOOMFAM_OFFSETS32;
	keys.column.n = n;
	keys.column.values = values;
	keys.column.offsets = offsets;
	keys.values = values;
	keys.offsets = offsets;
	return keys;
}

static Keys
make_keys(int which, size_t n, size_t distinct, bool all)
{
	Keys		keys;

	switch (which)
	{
		case 0:
			return integers(n, distinct, all);
		case 1:
			return texts(n, distinct, all, "k%lld", "text", BLOOMFAM_TEXT);
		case 2:
			keys = texts(n, distinct, all, "%lld", "bigint", BLOOMFAM_WRITTEN);
			keys.name = "written integers";
			return keys;
		case 3:
			return pairs(n, distinct, all);
		default:
			keys = texts(n, distinct, all, "%lld.25", "numeric", BLOOMFAM_WRITTEN);
			keys.name = "written numerics";
			return keys;
	}
}

#define SORTS	4				/* of make_keys() */

static void
free_keys(Keys *keys)
{
	free(keys->values);
	free(keys->offsets);
}

/* Builds a filter of the even keys, and measures asking it. */
static void
measure(int which, const char *kind, size_t distinct)
{
	Keys		added = make_keys(which, distinct, distinct, true);
	Keys		asked = make_keys(which, option.keys, distinct, false);
	uint8_t    *answers = allocate(option.keys);
	double		rates[2][MAX_ROUNDS];
	BloomfamType type;
	BloomfamBuilder *builder;
	BloomfamFilter *built;
	BloomfamFilter *filters[2];
	BloomfamError error;
	BloomfamCounts counts;
	double		start = seconds(CLOCK_THREAD_CPUTIME_ID);
	double		build;
	const void *bytes;
	size_t		len;
	size_t		i;
	int			round;
	int			way;

	if (bloomfam_type_by_name(added.type, NULL, &type, &error) != BLOOMFAM_OK ||
		bloomfam_builder_make(NULL, &type, kind, 0.01, distinct, &builder, &error) != BLOOMFAM_OK ||
		bloomfam_builder_add(builder, &added.column, NULL, NULL, &error) != BLOOMFAM_OK ||
		bloomfam_builder_finish(builder, &built, &error) != BLOOMFAM_OK)
		die("build", &error);
	build = (double) distinct / (seconds(CLOCK_THREAD_CPUTIME_ID) - start);
	bloomfam_builder_free(builder);
	bytes = bloomfam_bytes(built, &len);
	if (bloomfam_open(NULL, bytes, len, BLOOMFAM_COPY, &filters[0], &error) != BLOOMFAM_OK)
		die("open", &error);

	/* as far from a cache line's beginning as a payload can be */
	{
		char	   *memory = allocate(len + 64);

		memcpy(memory + 1, bytes, len);
		if (bloomfam_open(NULL, memory + 1, len, 0, &filters[1], &error) != BLOOMFAM_OK)
			die("open", &error);
		for (round = 0; round < option.rounds; round++)
			for (way = 0; way < 2; way++)
			{
				start = seconds(CLOCK_THREAD_CPUTIME_ID);
				if (bloomfam_ask(filters[way], &type, &asked.column, answers, &counts, &error) != BLOOMFAM_OK)
					die("ask", &error);
				rates[way][round] = (double) option.keys / (seconds(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6;
			}
		bloomfam_close(filters[1]);
		free(memory);
	}
	bloomfam_close(filters[0]);
	for (i = 0; i < option.keys; i++)
		denied += number_of(i, distinct, false) % 2 == 0 && answers[i] != BLOOMFAM_MAYBE;
	printf("%-20s %-12s %8.2f %10.1f %10.1f %10.1f\n", asked.name, kind, (double) len / 1e6, median(rates[0], option.rounds), median(rates[1], option.rounds), build / 1e6);
	fflush(stdout);
	bloomfam_close(built);
	free(answers);
	free_keys(&added);
	free_keys(&asked);
}

int
main(int argc, char **argv)
{
	static const size_t sizes[] = {800000, 20000000};
	static const char *const kinds[] = {"blocked", "standard", "binary_fuse", "ribbon"};
	size_t		i;
	size_t		j;
	int			which;

	for (i = 1; i < (size_t) argc; i++)
	{
		if (sscanf(argv[i], "--rounds=%d", &option.rounds) == 1 && option.rounds >= 1 && option.rounds <= MAX_ROUNDS)
			continue;
		if (sscanf(argv[i], "--keys=%zu", &option.keys) == 1 && option.keys >= 1)
			continue;
		if (strcmp(argv[i], "--no-wide") == 0)
			bf_wide_off = true;
		else if (strcmp(argv[i], "--smoke") == 0)
			option.smoke = true;
		else
		{
			fprintf(stderr, "usage: ask [--rounds=N] [--keys=N] [--no-wide] [--smoke]\n");
			return 2;
		}
	}
	if (option.smoke)
	{
		option.rounds = 1;
		option.keys = 10000;
	}
	printf("million keys a second      kind           MB     copied   in place      built\n");
	for (i = 0; i < (option.smoke ? 1 : 2); i++)
	{
		size_t		distinct = option.smoke ? 10000 : sizes[i];

		for (which = 0; which < SORTS; which++)
			measure(which, kinds[0], distinct);
		for (j = 1; j < sizeof(kinds) / sizeof(kinds[0]); j++)
			measure(0, kinds[j], distinct);
	}
	if (denied > 0)
		printf("%llu keys were denied\n", (unsigned long long) denied);
	if (option.smoke)
		printf("%d passed, %d failed\n", denied == 0, denied != 0);
	return denied == 0 ? 0 : 1;
}
