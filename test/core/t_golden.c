/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_golden.c
 *	  Stored values must be made again to the byte, be readable for ever, and give the answers that
 *	  they gave.
 *
 *		t_golden				checks test/golden/ (from the top of the tree; else GOLDEN says where it is)
 *		t_golden --regenerate	writes test/golden/ anew: only for a format that has not been released
 *
 * A file KIND_CASE.hex holds one value: lines of 32 bytes in hexadecimal, then a line "answers" and
 * 256 bits in hexadecimal, the lowest bit of each byte first.  The bits are the filter's answers
 * for key(0) to key(255).  The cases are functions in this file.  Each makes a value of a given
 * kind, with numbers hashed as int8 keys, or nothing if the kind cannot do it.  A case for one kind
 * only has that kind's number beside it.  Two checks follow, which fail for different reasons:
 *
 *	- schema: is a value made today the same value?  If not, filters built before and after do not combine.
 *	- raw schema: do the committed bytes still give the committed answers?  If not, stored filters lie.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define MAX_VALUE	65536
#define ANSWERS		256

static const char *directory = "test/golden";
static bool regenerate = false;

/*
 * Returns key i.  Keys 0 to 127 may be in a filter; keys from 128 on never are, except in the case
 * of 1,000 keys.
 */
static uint64_t
key(uint64_t i)
{
	return bf_hash_u64(i);
}

/* Makes a filter of keys first to first + n - 1. */
static TestFilter
filter_of(const BfKind *kind, double fpr, uint64_t expected, uint64_t first, uint64_t n)
{
	uint64_t	hashes[3000];
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = key(first + i);
	return test_make(kind, fpr, expected, hashes, n);
}

/* Combines two filters, and frees them.  The result is empty if they cannot be combined. */
static TestFilter
combined(TestFilter a, TestFilter b, bool intersect)
{
	TestFilter	filter = {0};

	if (a.view.head.kind->caps & (intersect ? BF_CAN_INTERSECT : BF_CAN_UNION))
		test_combine(&a, &b, intersect, &filter);
	test_free(&a);
	test_free(&b);
	return filter;
}

/* ---- the cases ---- */

static TestFilter
empty(const BfKind *kind)
{
	return filter_of(kind, 0.01, 100, 0, 0);
}

static TestFilter
one(const BfKind *kind)
{
	return filter_of(kind, 0.01, 1, 0, 1);
}

static TestFilter
ten(const BfKind *kind)
{
	return filter_of(kind, 0.01, 10, 0, 10);
}

static TestFilter
thousand(const BfKind *kind)
{
	return filter_of(kind, 0.01, 1000, 0, 1000);
}

/*
 * Makes a filter of 3000 keys, enough for both parts of a ribbon and its second layer.  The rate of
 * 0.01 is a little above a power of two; that of parted_below() is a little below one.
 */
static TestFilter
parted(const BfKind *kind)
{
	return filter_of(kind, 0.01, 3000, 0, 3000);
}

static TestFilter
parted_below(const BfKind *kind)
{
	return filter_of(kind, 0.03, 3000, 0, 3000);
}

static TestFilter
low_fpr(const BfKind *kind)
{
	return filter_of(kind, fmax(1e-5, kind->min_fpr), 100, 0, 100);
}

static TestFilter
union_of_two(const BfKind *kind)
{
	return combined(filter_of(kind, 0.01, 100, 0, 60), filter_of(kind, 0.01, 100, 50, 60), false);
}

static TestFilter
union_of_sizes(const BfKind *kind)
{
	return combined(filter_of(kind, 0.01, 70, 0, 60), filter_of(kind, 0.001, 200, 50, 60), false);
}

static TestFilter
intersection(const BfKind *kind)
{
	return combined(filter_of(kind, 0.01, 100, 0, 60), filter_of(kind, 0.01, 100, 50, 60), true);
}

static TestFilter
fold(const BfKind *kind)
{
	TestFilter	filter = filter_of(kind, 0.01, 500, 0, 60);
	TestFilter	folded = {0};

	if (kind->caps & BF_CAN_FOLD)
		folded = test_fold(&filter, 0.02);
	test_free(&filter);
	return folded;
}

static TestFilter
packed(const BfKind *kind)
{
	TestFilter	filter = filter_of(kind, 0.01, 100, 0, 100);

	if (kind->pack != NULL)
		test_pack(&filter);
	else
		test_free(&filter);
	return filter;
}

static TestFilter
grown(const BfKind *kind)
{
	TestFilter	filter = filter_of(kind, 0.01, 20, 0, kind->grow != NULL ? 100 : 0);

	if (kind->grow == NULL)
		test_free(&filter);
	return filter;
}

/*
 * Makes a filter of 60 keys, of which 10 are added twice.  Then 15 keys, those 10 among them, are
 * removed, and 5 of the 10 are removed once more, so that 50 keys remain.
 */
static TestFilter
removed(const BfKind *kind)
{
	TestFilter	filter = filter_of(kind, 0.01, 100, 0, 60);
	uint64_t	hashes[15];
	uint64_t	i;

	if (kind->remove == NULL)
	{
		test_free(&filter);
		return filter;
	}
	for (i = 0; i < 15; i++)
		hashes[i] = key(45 + i);
	test_add(&filter, hashes, 10);
	CHECK(test_remove(&filter, hashes, 15) == 15);
	CHECK(test_remove(&filter, hashes, 5) == 5);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

/* Makes a filter with the maximum number of probes of the kind, so that every multiplier counts. */
static TestFilter
max_probes(const BfKind *kind)
{
	BfHeader	head = test_head(kind, 5, kind->id == BF_KIND_STANDARD ? BF_MAX_PROBES : BF_MAX_BLOCK_PROBES);
	uint64_t	hashes[3] = {key(0), key(1), key(2)};
	TestFilter	filter;

	head.capacity = 3;
	test_set_family(&head, "int8");
	filter = test_empty(&head);
	test_add(&filter, hashes, 3);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

static TestFilter
internal(const BfKind *kind, const char *family, uint64_t n, uint32_t flags)
{
	BfHeader	head;
	TestFilter	filter;
	uint64_t	i;

	memset(&head, 0, sizeof(head));
	head.kind = kind;
	head.hash_id = BF_HASH_XXH3;
	test_set_family(&head, family);
	if (kind->id == BF_KIND_PARTIAL)
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
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

static TestFilter
no_family(const BfKind *kind)
{
	return internal(kind, "", 0, 0);
}

static TestFilter
family(const BfKind *kind)
{
	return internal(kind, "int8", 0, 0);
}

static TestFilter
ten_hashes(const BfKind *kind)
{
	return internal(kind, "int8", 10, 0);
}

static TestFilter
unknown(const BfKind *kind)
{
	return internal(kind, "", 0, BF_PARTIAL_UNKNOWN);
}

/* Whether the answers of a case are exact, or only a minimum. */
typedef enum Answers
{
	NONE,						/* no; false positives where a kind cannot know that it is empty */
	SOME,						/* some yes, most no */
	ALL							/* yes */
} Answers;

static const struct
{
	const char *name;			/* after the kind's */
	TestFilter	(*make) (const BfKind *kind);
	Answers		answers;
	unsigned	only;			/* this kind; 0: each kind that users may ask for */
}			cases[] =
{
	{"_empty", empty, NONE, 0},
	{"_1", one, SOME, 0},
	{"_10", ten, SOME, 0},
	{"_1000", thousand, ALL, 0},
	{"_low_fpr", low_fpr, SOME, 0},
	{"_union", union_of_two, SOME, 0},
	{"_union_sizes", union_of_sizes, SOME, 0},
	{"_intersection", intersection, SOME, 0},
	{"_fold", fold, SOME, 0},
	{"_packed", packed, SOME, 0},
	{"_grown", grown, SOME, 0},
	{"_removed", removed, SOME, 0},
	{"_max_probes", max_probes, SOME, BF_KIND_STANDARD},
	{"_max_probes", max_probes, SOME, BF_KIND_BLOCKED},
	{"_parted", parted, ALL, BF_KIND_RIBBON},
	{"_parted_below", parted_below, ALL, BF_KIND_RIBBON},
	{"", no_family, NONE, BF_KIND_IDENTITY},
	{"_family", family, NONE, BF_KIND_IDENTITY},
	{"", ten_hashes, SOME, BF_KIND_PARTIAL},
	{"_unknown", unknown, ALL, BF_KIND_PARTIAL},
};

#define NCASES	(sizeof(cases) / sizeof(cases[0]))

/* Calls body for each case of each kind that has the case. */
static void
each_golden(void (*body) (const char *name, TestFilter *filter, Answers answers))
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		size_t		made = 0;
		size_t		c;

		for (c = 0; c < NCASES; c++)
		{
			char		name[100];
			TestFilter	filter;

			if (cases[c].only != 0 ? cases[c].only != kind->id : kind->design == NULL)
				continue;
			filter = cases[c].make(kind);
			if (filter.data == NULL)
				continue;
			made++;
			snprintf(name, sizeof(name), "%s%s", kind->name, cases[c].name);
			body(name, &filter, cases[c].answers);
			test_free(&filter);
		}
		CHECKF(made > 0, "%s has no golden value", kind->name);
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

/*
 * Reads a value into a malloc() of its own, and the answers.  Returns false if the file does not
 * have the format of a golden file.
 */
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
schema_body(const char *name, TestFilter *filter, Answers expected)
{
	uint8_t    *data;
	uint8_t		answers[ANSWERS / 8];
	size_t		len;

	(void) expected;
	if (regenerate)
		write_golden(name, filter);
	if (CHECKF(read_golden(name, &data, &len, answers), "%s: the file is broken", name))
	{
		size_t		at = 0;

		while (at < len && at < filter->len && data[at] == filter->data[at])
			at++;
		CHECKF(len == filter->len && at == len, "%s: %zu bytes are made, %zu are committed, first difference at %zu",
			   name, filter->len, len, at);
	}
	free(data);
}

static void
schema(void)
{
	each_golden(schema_body);
}

static void
raw_schema_body(const char *name, TestFilter *filter, Answers expected)
{
	uint8_t    *data;
	uint8_t		answers[ANSWERS / 8];
	uint8_t		now[ANSWERS / 8];
	size_t		len;
	const char *reason;
	BfView		view;
	uint64_t	yes = 0;
	uint64_t	j;

	(void) filter;
	if (!read_golden(name, &data, &len, answers))
	{
		free(data);
		return;					/* schema() tells */
	}
	if (CHECKF(bf_validate(&test_env, data, len, &view, &reason) == BF_OK, "%s: %s", name, reason))
	{
		answers_of(&view, now);
		for (j = 0; j < ANSWERS; j++)
			CHECKF((answers[j / 8] >> (j % 8) & 1) == (now[j / 8] >> (j % 8) & 1), "%s: key %" PRIu64, name, j);
		for (j = 0; j < ANSWERS / 8; j++)
			yes += (unsigned) __builtin_popcount(answers[j]);
		/* the committed answers are not nothing: each holds what its name says, and not all */
		if (expected == NONE)
			CHECKF(yes <= (view.head.kind->build != NULL ? 15 : 0), "%s: %" PRIu64 " answers", name, yes);
		else if (expected == ALL)
			CHECKF(yes == ANSWERS, "%s: %" PRIu64 " answers", name, yes);
		else
			CHECKF(yes >= 1 && yes < 150, "%s: %" PRIu64 " answers", name, yes);
	}
	free(data);
}

static void
raw_schema(void)
{
	each_golden(raw_schema_body);
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
