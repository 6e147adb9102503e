/*-------------------------------------------------------------------------
 *
 * t_golden.c
 *	  Values that were stored once must be made again to the byte, read for ever, and give the answers that they gave.
 *
 *		t_golden				checks test/golden/ (from the top of the tree; else GOLDEN says where it is)
 *		t_golden --regenerate	writes test/golden/ anew: only for a format that has not been released
 *
 * A file NAME.hex holds one value: lines of 32 bytes in hexadecimal, then a line "answers" and 256 bits in hexadecimal,
 * the lowest bit of each byte first: the filter's answers for key(0) to key(255).  NAME's value is made by the function of
 * that name here, of numbers hashed as int8 keys are.  Two checks follow, which fail for different reasons:
 *
 *	- schema: made today, is it the same value?  If not, filters built before and after do not combine.
 *	- raw schema: do the committed bytes, whatever made them, still give the committed answers?  If not, stored filters lie.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define MAX_VALUE	65536
#define ANSWERS		256

static const char *directory = "test/golden";
static bool regenerate = false;

/* Keys 0 to 127 may be in a filter; those from 128 on never are, until 1,000 are. */
static uint64_t
key(uint64_t i)
{
	return bf_hash_u64(i);
}

static TestFilter
filter_of(BfKindId id, double fpr, uint64_t expected, uint64_t first, uint64_t n)
{
	BfHeader	head = test_plan(bf_kind_by_id(id), fpr, expected);
	TestFilter	filter;
	uint64_t	i;

	if (n > 0)
		test_set_family(&head, "int8");
	head.keys_added = n;
	filter = test_empty(&head);
	for (i = first; i < first + n; i++)
	{
		uint64_t	hash = key(i);

		test_add(&filter, &hash, 1);
	}
	bf_seal(filter.data, filter.len);
	return filter;
}

/* a op b, which are then freed */
static TestFilter
combined(TestFilter a, TestFilter b, bool intersect)
{
	TestFilter	filter = intersect ? test_intersect(&a, &b) : test_union(&a, &b);

	test_free(&a);
	test_free(&b);
	return filter;
}

static TestFilter
folded(TestFilter a, double fpr)
{
	TestFilter	filter = test_fold(&a, fpr);

	test_free(&a);
	return filter;
}

/* As many probes as the kind can have: every multiplier counts. */
static TestFilter
most_probes(BfKindId id)
{
	BfHeader	head = test_head(bf_kind_by_id(id), 5, id == BF_KIND_STANDARD ? BF_MAX_PROBES : BF_MAX_BLOCK_PROBES);
	TestFilter	filter;
	uint64_t	i;

	head.capacity = 3;
	head.keys_added = 3;
	test_set_family(&head, "int8");
	filter = test_empty(&head);
	for (i = 0; i < 3; i++)
	{
		uint64_t	hash = key(i);

		test_add(&filter, &hash, 1);
	}
	bf_seal(filter.data, filter.len);
	return filter;
}

/* Keys 0 to n - 1, n at most 1,000, in a kind that is built at once. */
static TestFilter
set_of(BfKindId id, double fpr, uint64_t n)
{
	uint64_t	hashes[1000];
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = key(i);
	return test_build(bf_kind_by_id(id), fpr, hashes, n);
}

static TestFilter
internal(BfKindId id, const char *family, uint64_t n, uint32_t flags)
{
	BfHeader	head;
	TestFilter	filter;
	uint64_t	i;

	memset(&head, 0, sizeof(head));
	head.kind = bf_kind_by_id(id);
	head.hash_id = BF_HASH_XXH3;
	test_set_family(&head, family);
	if (id == BF_KIND_PARTIAL)
	{
		head.keys_added = n;
		head.payload_len = n * 8;
		head.param[1] = flags;
		if (flags == 0)
		{
			head.param[0] = BF_KIND_BLOCKED;
			head.target_fpr = 0.01;
		}
	}
	filter = test_empty(&head);
	for (i = 0; i < n; i++)
		bf_store64(test_payload(&filter) + i * 8, key(i));
	bf_seal(filter.data, filter.len);
	return filter;
}

/* Of n keys from the first on, built at once. */
typedef struct Built
{
	const char *name;
	BfKindId	id;
	double		fpr;
	uint64_t	first;
	uint64_t	n;
} Built;

static const Built builds[] = {
	{"ribbon_empty", BF_KIND_RIBBON, 0.01, 0, 0},
	{"ribbon_1", BF_KIND_RIBBON, 0.01, 0, 1},
	{"ribbon_10", BF_KIND_RIBBON, 0.01, 0, 10},
	{"ribbon_1000", BF_KIND_RIBBON, 0.01, 0, 1000},
	{"ribbon_layers", BF_KIND_RIBBON, 0.3, 200, 9000},
	{"ribbon_low_fpr", BF_KIND_RIBBON, 3e-9, 150, 600},
};

static TestFilter
built(const Built *what)
{
	uint64_t   *hashes = test_malloc(what->n * sizeof(uint64_t));
	TestFilter	filter;
	uint64_t	i;

	for (i = 0; i < what->n; i++)
		hashes[i] = key(what->first + i);
	filter = test_build(bf_kind_by_id(what->id), what->fpr, hashes, what->n);
	free(hashes);
	return filter;
}

/* The value of this number; its data is NULL after the last. */
static TestFilter
golden(int i, const char **name)
{
	static const char *const names[] = {
		"standard_empty", "standard_1", "standard_10", "standard_1000", "standard_low_fpr", "standard_union",
			"standard_union_sizes",
		"standard_intersection", "standard_fold", "standard_max_probes",
		"blocked_empty", "blocked_1", "blocked_10", "blocked_1000", "blocked_low_fpr", "blocked_union",
		"blocked_union_sizes",
		"blocked_intersection", "blocked_fold", "blocked_max_probes",
		"identity", "identity_family", "partial", "partial_unknown",
		"parquet_empty", "parquet_10", "parquet_1000", "parquet_union_sizes", "parquet_fold",
		"xor_10", "xor_1000", "xor_plus_10", "xor_plus_1000",
		"binary_fuse_empty", "binary_fuse_1", "binary_fuse_10", "binary_fuse_1000", "binary_fuse_low_fpr"
	};
	const int	nnames = sizeof(names) / sizeof(names[0]);
	BfKindId	id = i < 10 ? BF_KIND_STANDARD : BF_KIND_BLOCKED;
	TestFilter	none = {0};

	if (i >= nnames)
	{
		if (i - nnames >= (int) (sizeof(builds) / sizeof(builds[0])))
			return none;
		*name = builds[i - nnames].name;
		return built(&builds[i - nnames]);
	}
	*name = names[i];
	switch (i < 20 ? i % 10 : i)
	{
		case 0:
			return filter_of(id, 0.01, 100, 0, 0);
		case 1:
			return filter_of(id, 0.01, 1, 0, 1);
		case 2:
			return filter_of(id, 0.01, 10, 0, 10);
		case 3:
			return filter_of(id, 0.01, 1000, 0, 1000);
		case 4:
			return filter_of(id, 1e-5, 100, 0, 100);
		case 5:
			return combined(filter_of(id, 0.01, 100, 0, 60), filter_of(id, 0.01, 100, 50, 60), false);
		case 6:
			return combined(filter_of(id, 0.01, 70, 0, 60), filter_of(id, 0.001, 200, 50, 60), false);
		case 7:
			return combined(filter_of(id, 0.01, 100, 0, 60), filter_of(id, 0.01, 100, 50, 60), true);
		case 8:
			return folded(filter_of(id, 0.01, 500, 0, 60), 0.02);
		case 9:
			return most_probes(id);
		case 20:
			return internal(BF_KIND_IDENTITY, "", 0, 0);
		case 21:
			return internal(BF_KIND_IDENTITY, "int8", 0, 0);
		case 22:
			return internal(BF_KIND_PARTIAL, "int8", 10, 0);
		case 23:
			return internal(BF_KIND_PARTIAL, "", 0, BF_PARTIAL_UNKNOWN);
		case 24:
			return filter_of(BF_KIND_PARQUET, 0.01, 100, 0, 0);
		case 25:
			return filter_of(BF_KIND_PARQUET, 0.01, 10, 0, 10);
		case 26:
			return filter_of(BF_KIND_PARQUET, 0.01, 1000, 0, 1000);
		case 27:
			return combined(filter_of(BF_KIND_PARQUET, 0.01, 70, 0, 60), filter_of(BF_KIND_PARQUET, 0.001, 200, 50, 60), false);
		case 28:
			return folded(filter_of(BF_KIND_PARQUET, 0.01, 500, 0, 60), 0.02);
		case 29:
			return set_of(BF_KIND_XOR, 0.01, 10);
		case 30:
			return set_of(BF_KIND_XOR, 0.01, 1000);
		case 31:
			return set_of(BF_KIND_XOR_PLUS, 0.01, 10);
		case 32:
			return set_of(BF_KIND_XOR_PLUS, 0.01, 1000);
		case 33:
			return set_of(BF_KIND_BINARY_FUSE, 0.01, 0);
		case 34:
			return set_of(BF_KIND_BINARY_FUSE, 0.01, 1);
		case 35:
			return set_of(BF_KIND_BINARY_FUSE, 0.01, 10);
		case 36:
			return set_of(BF_KIND_BINARY_FUSE, 0.01, 1000);
		default:
			return set_of(BF_KIND_BINARY_FUSE, 1e-9, 100);
	}
}

static void
answers_of(const BfView *view, uint8_t *answers)
{
	BfProbe		probe = view->head.kind->prober(view);
	uint64_t	i;

	memset(answers, 0, ANSWERS / 8);
	for (i = 0; i < ANSWERS; i++)
		if (probe(view, key(i)))
			answers[i / 8] |= (uint8_t) (1 << (i % 8));
}

static FILE *
open_file(const char *name, const char *mode)
{
	char		path[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s.hex", directory, name);
	file = fopen(path, mode);
	CHECKF(file != NULL, "could not open \"%s\"", path);
	return file;
}

static void
write_hex(FILE *file, const uint8_t *bytes, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
		fprintf(file, "%02x%s", bytes[i], i % 32 == 31 || i + 1 == n ? "\n" : "");
}

static void
write_golden(const char *name, const TestFilter *filter)
{
	uint8_t		answers[ANSWERS / 8];
	FILE	   *file = open_file(name, "w");

	if (file == NULL)
		return;
	write_hex(file, filter->data, filter->len);
	fprintf(file, "answers\n");
	answers_of(&filter->view, answers);
	write_hex(file, answers, sizeof(answers));
	CHECK(fclose(file) == 0);
}

/* Reads a value into a malloc of its own, and the answers; false if the file is not as above. */
static bool
read_golden(const char *name, uint8_t **data, size_t *len, uint8_t *answers)
{
	uint8_t		bytes[MAX_VALUE];
	char		line[256];
	FILE	   *file = open_file(name, "r");
	bool		in_answers = false;
	size_t		n = 0;

	*data = NULL;
	*len = 0;
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		const char *p = line;
		unsigned	byte;

		if (strcmp(line, "answers\n") == 0)
		{
			*len = n;
			*data = test_malloc(n);
			memcpy(*data, bytes, n);
			in_answers = true;
			n = 0;
			continue;
		}
		for (; *p != '\n' && sscanf(p, "%2x", &byte) == 1 && n < MAX_VALUE; p += 2)
			bytes[n++] = (uint8_t) byte;
	}
	fclose(file);
	if (!in_answers || n != ANSWERS / 8)
		return false;
	memcpy(answers, bytes, n);
	return true;
}

static void
schema(void)
{
	TestFilter	filter;
	const char *name = NULL;
	int			i;

	for (i = 0; (filter = golden(i, &name)).data != NULL; i++)
	{
		uint8_t    *data;
		uint8_t		answers[ANSWERS / 8];
		size_t		len;

		if (regenerate)
			write_golden(name, &filter);
		if (CHECKF(read_golden(name, &data, &len, answers), "%s: the file is broken", name))
		{
			size_t		at = 0;

			while (at < len && at < filter.len && data[at] == filter.data[at])
				at++;
			CHECKF(len == filter.len && at == len, "%s: %zu bytes are made, %zu are committed, first difference at %zu",
				   name, filter.len,
				   len, at);
		}
		free(data);
		test_free(&filter);
	}
}

static void
raw_schema(void)
{
	TestFilter	filter;
	const char *name = NULL;
	int			i;

	for (i = 0; (filter = golden(i, &name)).data != NULL; i++)
	{
		uint8_t    *data;
		uint8_t		answers[ANSWERS / 8];
		uint8_t		now[ANSWERS / 8];
		size_t		len;
		const char *reason;
		BfView		view;
		uint64_t	yes = 0;
		uint64_t	j;

		test_free(&filter);
		if (!read_golden(name, &data, &len, answers))
		{
			free(data);
			continue;			/* schema() tells */
		}
		if (CHECKF(bf_validate(data, len, &view, &reason) == BF_OK, "%s: %s", name, reason))
		{
			answers_of(&view, now);
			for (j = 0; j < ANSWERS; j++)
				CHECKF((answers[j / 8] >> (j % 8) & 1) == (now[j / 8] >> (j % 8) & 1), "%s: key %" PRIu64, name, j);
		}
		for (j = 0; j < ANSWERS / 8; j++)
			yes += (unsigned) __builtin_popcount(answers[j]);
		/* the committed answers are not nothing: each holds what its name says, and not all */
		if (strstr(name, "empty") != NULL || strstr(name, "identity") != NULL)
			CHECKF(yes == 0, "%s: %" PRIu64 " answers", name, yes);
		else if (strstr(name, "1000") != NULL || strstr(name, "unknown") != NULL)
			CHECKF(yes == ANSWERS, "%s: %" PRIu64 " answers", name, yes);
		else
			CHECKF(yes >= 1 && yes < 150, "%s: %" PRIu64 " answers", name, yes);
		free(data);
	}
}

int
main(int argc, char **argv)
{
	if (getenv("GOLDEN") != NULL)
		directory = getenv("GOLDEN");
	regenerate = argc == 2 && strcmp(argv[1], "--regenerate") == 0;
	if (argc > 1 && !regenerate)
	{
		printf("usage: t_golden [--regenerate]\n");
		return 2;
	}
	if (regenerate)
		printf("writing %s\n", directory);
	RUN(schema);
	RUN(raw_schema);
	return test_finish();
}
