/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * library.c
 *	  The client library from the command line, for the tests that compare it with a server
 *	  (test/t/039_client_library.pl).
 *
 *	library hash TYPE			reads lines with a hash (a bigint) and a key, and compares the key's hash
 *	library texts TYPE			reads lines with a hash, or NULL where the server has an error, and a text;
 *								a text that the library reads must have that hash
 *	library ask FILTER TYPE		reads lines with a key, and prints the numbers of maybe, absent, impossible,
 *								null and bad keys; TYPE - stands for the filter's own type
 *	library build FILTER TYPE KIND FPR EXPECTED FORM	reads lines with a key, and builds a filter
 *	library unite FILTER A B	unites the filters A and B
 *	library info FILTER			prints kind, family, keys added, and whether the filter may be asked
 *	library mutate N SEED		reads lines with a filter in text form, and prints N changed filters, half
 *								of them with a correct checksum; before each it prints t or f, whether
 *								the library accepts it
 *
 * Lines are those of COPY in text format.  The last line printed by hash and texts is "N checked, M
 * differ, K not read".  FORM is raw, hex, copy or binary.  After a failure the exit code is 2, and
 * a message is printed.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "client/bloomfam.h"

#define MAX_FIELDS	2
#define MAX_SHOWN	20

static void __attribute__((noreturn))
die(const char *what, const BloomfamError *error)
{
	fprintf(stderr, "%s: %s\n%s\n%s\n", what, error->message, error->detail, error->hint);
	exit(2);
}

static void *
allocate(size_t size)
{
	void	   *memory = malloc(size);

	if (memory == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return memory;
}

/* ---- COPY's lines ---- */

/* Removes the escapes of COPY from a field, in place. */
static BloomfamPiece
unescape(char *field, size_t len)
{
	BloomfamPiece piece = {field, 0};
	size_t		i;

	if (len == 2 && memcmp(field, "\\N", 2) == 0)
	{
		piece.bytes = NULL;
		return piece;
	}
	for (i = 0; i < len; i++)
	{
		char		c = field[i];

		if (c == '\\' && i + 1 < len)
		{
			static const char names[] = "bfnrtv";
			static const char values[] = "\b\f\n\r\t\v";
			const char *found;

			c = field[++i];
			found = strchr(names, c);
			if (found != NULL)
				c = values[found - names];
		}
		field[piece.len++] = c;
	}
	return piece;
}

/* The fields of all lines of standard input. */
typedef struct Lines
{
	size_t		n;
	BloomfamPiece *fields[MAX_FIELDS];
} Lines;

static Lines
read_lines(int nfields)
{
	Lines		lines = {0};
	size_t		room = 0;
	char	   *line = NULL;
	size_t		line_room = 0;
	ssize_t		len;
	int			i;

	while ((len = getline(&line, &line_room, stdin)) > 0)
	{
		char	   *copy = allocate((size_t) len + 1);
		char	   *at = copy;

		if (line[len - 1] == '\n')
			len--;
		memcpy(copy, line, (size_t) len);
		copy[len] = '\0';
		if (lines.n == room)
		{
			room = room * 2 + 1000;
			for (i = 0; i < nfields; i++)
			{
				lines.fields[i] = realloc(lines.fields[i], room * sizeof(BloomfamPiece));
				if (lines.fields[i] == NULL)
					exit(2);
			}
		}
		for (i = 0; i < nfields; i++)
		{
			char	   *end = i + 1 < nfields ? memchr(at, '\t', (size_t) (copy + len - at)) : copy + len;

			if (end == NULL)
			{
				fprintf(stderr, "a line has too few fields\n");
				exit(2);
			}
			lines.fields[i][lines.n] = unescape(at, (size_t) (end - at));
			at = end + 1;
		}
		lines.n++;
	}
	free(line);
	return lines;
}

/* ---- types and filters ---- */

static BloomfamType
type_named(const char *name, const char *kind)
{
	BloomfamType type;
	BloomfamError error;

	if (bloomfam_type_by_name(name, kind, &type, &error) != BLOOMFAM_OK)
		die(name, &error);
	return type;
}

static BloomfamFilter *
open_filter(const char *path)
{
	BloomfamFilter *filter;
	BloomfamError error;

	if (bloomfam_open_file(NULL, path, BLOOMFAM_VALIDATE | BLOOMFAM_MAP, &filter, &error) != BLOOMFAM_OK)
		die(path, &error);
	return filter;
}

static bool
write_to(void *arg, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, arg) == len;
}

static void
write_filter(const char *path, const BloomfamFilter *filter, const char *form_name)
{
	static const char *const names[] = {"raw", "hex", "copy", "binary"};
	FILE	   *file = fopen(path, "wb");
	BloomfamError error;
	int			form;

	for (form = 0; form < 3 && strcmp(names[form], form_name) != 0; form++)
		;
	if (file == NULL)
	{
		perror(path);
		exit(2);
	}
	if (bloomfam_write(filter, (BloomfamForm) form, write_to, file, &error) != BLOOMFAM_OK)
		die(path, &error);
	if (fclose(file) != 0)
	{
		perror(path);
		exit(2);
	}
}

/* ---- commands ---- */

/*
 * Compares hashes.  A key without a hash is an error, except for a text that the server may read
 * but the library need not.
 */
static int
check_hashes(const char *type_name, bool texts)
{
	Lines		lines = read_lines(2);
	BloomfamType type = type_named(type_name, NULL);
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, lines.fields[1], lines.n);
	uint64_t   *hashes = allocate(lines.n * 8 + 8);
	uint8_t    *answers = allocate(lines.n + 1);
	BloomfamError error;
	size_t		differ = 0;
	size_t		unread = 0;
	size_t		i;

	if (bloomfam_hash(&type, &column, hashes, answers, NULL, &error) != BLOOMFAM_OK)
		die(type_name, &error);
	for (i = 0; i < lines.n; i++)
	{
		const BloomfamPiece *expected = &lines.fields[0][i];
		uint64_t	hash = expected->bytes != NULL ? (uint64_t) strtoll(expected->bytes, NULL, 10) : 0;
		bool		wrong;

		if (answers[i] == BLOOMFAM_ABSENT)
			wrong = expected->bytes == NULL || hash != hashes[i];
		else
		{
			unread++;

			/* a NULL is no key; an error of the server may be one here; what it reads must not be said to be impossible */
			wrong = answers[i] == BLOOMFAM_NULL ? lines.fields[1][i].bytes != NULL
				: texts						   ? answers[i] == BLOOMFAM_IMPOSSIBLE && expected->bytes != NULL
											   : true;
		}
		if (wrong && differ++ < MAX_SHOWN)
			printf("%s '%.*s': answer %d, hash %016" PRIx64 ", not %016" PRIx64 "\n", type_name, (int) lines.fields[1][i].len, (const char *) lines.fields[1][i].bytes, answers[i], hashes[i], hash);
	}
	printf("%zu checked, %zu differ, %zu not read\n", lines.n, differ, unread);
	return differ == 0 ? 0 : 1;
}

static int
ask(const char *path, const char *type_name)
{
	Lines		lines = read_lines(1);
	BloomfamFilter *filter = open_filter(path);
	BloomfamInfo info;
	BloomfamType type;
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, lines.fields[0], lines.n);
	uint8_t    *answers = allocate(lines.n + 1);
	BloomfamCounts counts;
	BloomfamError error;

	bloomfam_info(filter, &info);
	if (strcmp(type_name, "-") != 0)
		type = type_named(type_name, strcmp(info.kind, "parquet") == 0 ? "parquet" : NULL);
	if (bloomfam_ask(filter, strcmp(type_name, "-") != 0 ? &type : NULL, &column, answers, &counts, &error) != BLOOMFAM_OK)
		die(path, &error);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts.maybe, counts.absent, counts.impossible, counts.null, counts.bad);
	bloomfam_close(filter);
	return 0;
}

static int
build(char **args)
{
	Lines		lines = read_lines(1);
	BloomfamType type = type_named(args[1], args[2]);
	BloomfamColumn column = bloomfam_pieces(BLOOMFAM_WRITTEN, lines.fields[0], lines.n);
	BloomfamBuilder *builder;
	BloomfamFilter *filter;
	BloomfamError error;

	if (bloomfam_builder_make(NULL, &type, args[2], atof(args[3]), (uint64_t) atoll(args[4]), &builder, &error) != BLOOMFAM_OK ||
		bloomfam_builder_add(builder, &column, NULL, NULL, &error) != BLOOMFAM_OK || bloomfam_builder_finish(builder, &filter, &error) != BLOOMFAM_OK)
		die(args[0], &error);
	bloomfam_builder_free(builder);
	write_filter(args[0], filter, args[5]);
	bloomfam_close(filter);
	return 0;
}

static int
unite(char **args)
{
	BloomfamFilter *a = open_filter(args[1]);
	BloomfamFilter *b = open_filter(args[2]);
	BloomfamFilter *united;
	BloomfamError error;

	if (bloomfam_unite(NULL, a, b, &united, &error) != BLOOMFAM_OK)
		die("unite", &error);
	write_filter(args[0], united, "hex");
	return 0;
}

static int
tell(const char *path)
{
	BloomfamFilter *filter = open_filter(path);
	BloomfamInfo info;

	bloomfam_info(filter, &info);
	printf("%s|%s|%" PRIu64 "|%s\n", info.kind, info.family, info.keys_added, info.askable ? "may be asked" : "may not be asked");
	bloomfam_close(filter);
	return 0;
}

/* ---- changed filters ---- */

#define OFFSET_OF_CHECKSUM	8

static uint64_t random_state;

static uint64_t
next_random(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t
below(size_t n)
{
	return (size_t) (next_random() % n);
}

/*
 * Changes something in len bytes, after which there must be room for 8 more.  Returns the new
 * length.
 */
static size_t
change(uint8_t *bytes, size_t len)
{
	/* the header more often than what follows */
	size_t		at = below(2) == 0 && len > 100 ? below(100) : below(len);
	uint64_t	number = next_random() >> below(64);

	switch (below(7))
	{
		case 0:
			bytes[at] = (uint8_t) number;
			break;
		case 1:
			bytes[at] ^= (uint8_t) (1 << below(8));
			break;
		case 2:
			bytes[at] = below(2) == 0 ? 0 : 0xff;
			break;
		case 3:
			memcpy(bytes + at, &number, len - at < 8 ? len - at : 8);
			break;
		case 4:
			bytes[at] = (uint8_t) (bytes[at] + (below(2) == 0 ? 1 : -1));
			break;
		case 5:
			if (below(4) == 0)
				return at > 0 ? at : 1;
			break;
		default:
			if (below(4) == 0)
			{
				memset(bytes + len, below(2) == 0 ? 0 : (int) number, 8);
				return len + 1 + below(8);
			}
			break;
	}
	return len;
}

/* Opens bytes without validation, and asks the filter: any answer is allowed, but no harm. */
static void
use_unchecked(const uint8_t *bytes, size_t len)
{
	int64_t		numbers[20];
	uint8_t		answers[20];
	BloomfamColumn column = bloomfam_int64s(numbers, 20);
	BloomfamFilter *filter;
	BloomfamStats stats;
	BloomfamError error;
	size_t		i;

	if (bloomfam_open(NULL, bytes, len, 0, &filter, &error) != BLOOMFAM_OK)
		return;
	for (i = 0; i < 20; i++)
		numbers[i] = (int64_t) next_random();
	(void) bloomfam_ask(filter, NULL, &column, answers, NULL, &error);
	(void) bloomfam_stats(filter, &stats, &error);
	bloomfam_close(filter);
}

static int
mutate(long long n, long long seed)
{
	Lines		lines = read_lines(1);
	uint8_t   **values = allocate(lines.n * sizeof(*values) + 1);
	size_t	   *lens = allocate(lines.n * sizeof(*lens) + 1);
	size_t		i;

	random_state = (uint64_t) seed;
	for (i = 0; i < lines.n; i++)
	{
		BloomfamFilter *filter;
		BloomfamError error;
		const void *bytes;

		if (bloomfam_open(NULL, lines.fields[0][i].bytes, lines.fields[0][i].len, BLOOMFAM_VALIDATE, &filter, &error) != BLOOMFAM_OK)
			die("a line", &error);
		bytes = bloomfam_bytes(filter, &lens[i]);
		values[i] = allocate(lens[i]);
		memcpy(values[i], bytes, lens[i]);
		bloomfam_close(filter);
	}
	for (; n > 0; n--)
	{
		size_t		which = below(lines.n);
		size_t		len = lens[which];
		uint8_t    *room = allocate(len + 100);
		size_t		changes = 1 + below(4);
		uint8_t    *exact;
		BloomfamFilter *filter;
		BloomfamError error;

		memcpy(room, values[which], len);
		for (; changes > 0; changes--)
			len = change(room, len);
		if (below(2) == 0 && len >= OFFSET_OF_CHECKSUM + 4)
		{
			uint32_t	sum = 0;

			memcpy(room + OFFSET_OF_CHECKSUM, &sum, 4);
			sum = (uint32_t) XXH3_64bits(room, len);
			memcpy(room + OFFSET_OF_CHECKSUM, &sum, 4);
		}

		/* memory of that size: what is read beyond it is seen */
		exact = allocate(len);
		memcpy(exact, room, len);
		use_unchecked(exact, len);
		if (bloomfam_open(NULL, exact, len, BLOOMFAM_VALIDATE, &filter, &error) == BLOOMFAM_OK)
		{
			printf("t\t");
			bloomfam_close(filter);
		}
		else
			printf("f\t");
		printf("\\\\x");
		for (i = 0; i < len; i++)
			printf("%02x", exact[i]);
		putchar('\n');
		free(exact);
		free(room);
	}
	for (i = 0; i < lines.n; i++)
		free(values[i]);
	free(values);
	free(lens);
	return fflush(stdout) == 0 ? 0 : 2;
}

int
main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (strcmp(command, "hash") == 0 && argc == 3)
		return check_hashes(argv[2], false);
	if (strcmp(command, "texts") == 0 && argc == 3)
		return check_hashes(argv[2], true);
	if (strcmp(command, "ask") == 0 && argc == 4)
		return ask(argv[2], argv[3]);
	if (strcmp(command, "build") == 0 && argc == 8)
		return build(argv + 2);
	if (strcmp(command, "unite") == 0 && argc == 5)
		return unite(argv + 2);
	if (strcmp(command, "info") == 0 && argc == 3)
		return tell(argv[2]);
	if (strcmp(command, "mutate") == 0 && argc == 4)
		return mutate(atoll(argv[2]), atoll(argv[3]));
	fprintf(stderr, "usage: library hash|texts|ask|build|unite|info|mutate ...\n");
	return 2;
}
