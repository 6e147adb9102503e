/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_format.c
 *	  The stored form against hostile bytes: bytes that are not a filter are refused, and accepted
 *	  bytes can be used safely.
 *
 * Safety is what ASan and UBSan check: every value here lies in a malloc() of exactly its length.
 *
 *-------------------------------------------------------------------------
 */
#include "exercise.h"

#define OFF_CHECKSUM	8
#define OFF_CAPACITY	32
#define OFF_KEYS_ADDED	40
#define OFF_FPR			48
#define OFF_PAYLOAD_LEN	56

#define NHASHES			EXERCISE_HASHES

static uint64_t hashes[NHASHES];

/* Makes a sealed value of a kind; it holds hashes 0 to n - 1 if the kind takes keys. */
static TestFilter
sample(const BfKind *kind, double fpr, uint64_t capacity, size_t n, const char *family)
{
	BfHeader	head;
	TestFilter	filter;
	size_t		i;

	if (kind->design != NULL)
	{
		filter = test_make(kind, fpr, capacity, hashes, n);
		test_rename(&filter, family);
		return filter;
	}

	memset(&head, 0, sizeof(head));
	head.kind = kind;
	head.hash_id = BF_HASH_XXH3;
	if (kind->id == BF_KIND_PARTIAL)
	{
		head.param[0] = BF_KIND_BLOCKED;
		head.target_fpr = fpr;
		head.capacity = capacity;
		head.payload_len = n * 8;
	}
	test_set_family(&head, family);
	if (head.family_id != 0 && kind->id != BF_KIND_IDENTITY)
		head.keys_added = n;
	filter = test_empty(&head);
	if (kind->id == BF_KIND_PARTIAL)
		for (i = 0; i < n; i++)
			bf_store64(test_payload(&filter) + i * 8, hashes[i]);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

/*
 * Number of values of each kind, in both forms if the kind has two, small enough that every change
 * of every byte can be tried.
 */
#define SAMPLES	7

static TestFilter
sample_of(const BfKind *kind, int which)
{
	static const char *const family[SAMPLES] = {"", "int8", "", "text", "a name of 12", "public.\xc3\xa9num", "int8"};
	static const uint64_t capacity[SAMPLES] = {1, 1, 20, 40, 100, 10, 5};
	static const size_t n[SAMPLES] = {0, 1, 0, 40, 60, 12, 30};
	static const double fpr[SAMPLES] = {0.5, 0.01, 0.1, 0.01, 0.0001, 0.3, 0.01};
	TestFilter	filter;

	/* the last is overfull, or has grown; what takes no more than it was planned for has that */
	filter = sample(kind, fmax(fpr[which], kind->min_fpr), capacity[which], which == 6 && kind->grow == NULL ? 5 : n[which], family[which]);
	if (which % 2 != 0)
		test_pack(&filter);
	return filter;
}

/* Does everything that may be done with a view that bf_validate() has accepted. */
static void
exercise_valid(const BfView *view, const BfView *friend)
{
	exercise(view, friend, hashes, true);
}

/* Copies a value to a malloc() of exactly its length. */
static uint8_t *
copy_of(const uint8_t *data, size_t len)
{
	uint8_t    *copy = test_malloc(len);

	memcpy(copy, data, len);
	return copy;
}

static bool
same_head(const BfHeader *a, const BfHeader *b)
{
	return a->kind == b->kind && a->hash_id == b->hash_id && a->family_id == b->family_id && a->capacity == b->capacity &&
		a->keys_added == b->keys_added && a->target_fpr == b->target_fpr && a->payload_len == b->payload_len &&
		memcmp(a->param, b->param, sizeof(a->param)) == 0 && a->family_len == b->family_len &&
		memcmp(a->family, b->family, a->family_len) == 0;
}

static void
round_trip(void)
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			which;

		for (which = 0; which < SAMPLES; which++)
		{
			TestFilter	filter = sample_of(kind, which);
			const char *reason;
			uint8_t    *copy;
			BfView		view;

			CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK, "%s %d: %s", kind->name, which, reason);
			CHECK(reason == NULL);
			CHECK(view.head.kind == kind);
			CHECK(same_head(&view.head, &filter.view.head));
			CHECK(view.payload == filter.data + filter.len - view.head.payload_len);
			CHECK((4 + (size_t) (view.payload - filter.data)) % 8 == 0);
			CHECK(bf_data_size(&view.head) == filter.len);
			exercise_valid(&view, &filter.view);

			/* written again, from a header that points into the very bytes and from one that does not: the same bytes */
			copy = copy_of(filter.data, filter.len);
			bf_write_header(copy, &view.head);
			bf_seal(&test_env, copy, filter.len);
			CHECK(memcmp(copy, filter.data, filter.len) == 0);
			bf_write_header(filter.data, &view.head);
			bf_seal(&test_env, filter.data, filter.len);
			CHECK(memcmp(copy, filter.data, filter.len) == 0);
			free(copy);
			test_free(&filter);
		}
	}
}

/*
 * Checks that each field is where docs/format.md says.  A test that only writes and reads would not
 * notice that two fields have changed places.
 */
static void
layout(void)
{
	TestFilter	filter;
	BfHeader	head = test_plan(bf_kind_by_id(BF_KIND_BLOCKED), 0.25, 100);
	static const uint8_t start[8] = {'b', 'f', 'a', 'm', 1, 3, 1, 0};
	int			i;

	test_set_family(&head, "text");
	head.capacity = UINT64_C(0x0807060504030201);
	head.keys_added = UINT64_C(0x1817161514131211);
	filter = test_empty(&head);
	CHECK(memcmp(filter.data, start, 8) == 0);
	CHECK(filter.data[12] == 4 && filter.data[13] == 0);
	for (i = 14; i < 24; i++)
		CHECK(filter.data[i] == 0);
	CHECK(bf_load64(filter.data + 24) == bf_hash_bytes("text", 4));
	for (i = 0; i < 8; i++)
	{
		CHECK(filter.data[OFF_CAPACITY + i] == 1 + i);
		CHECK(filter.data[OFF_KEYS_ADDED + i] == 0x11 + i);
		/* 0.25 is 0x3fd0000000000000 */
		CHECK(filter.data[OFF_FPR + i] == (i == 7 ? 0x3f : i == 6 ? 0xd0 : 0));
	}
	CHECK(bf_load64(filter.data + OFF_PAYLOAD_LEN) == head.payload_len);
	CHECK(bf_load32(filter.data + 64) == head.param[0]);
	CHECK(memcmp(filter.data + 80, "text", 4) == 0);
	CHECK(bf_payload_offset(0) == 84 && bf_payload_offset(4) == 84 && bf_payload_offset(5) == 92);
	CHECK(bf_payload_offset(BF_MAX_FAMILY_LEN) <= BF_MAX_HEADER_SIZE);
	test_free(&filter);
}

static void
truncations(void)
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			which;

		for (which = 0; which < SAMPLES; which++)
		{
			TestFilter	filter = sample_of(kind, which);
			size_t		len;
			BfView		view;
			const char *reason;

			for (len = 0; len < filter.len; len++)
			{
				uint8_t    *copy = copy_of(filter.data, len);

				CHECKF(bf_validate(&test_env, copy, len, &view, &reason) == BF_CORRUPT, "%s: %zu of %zu bytes", kind->name, len,
					filter.len);
				CHECK(reason != NULL);
				/* with a checksum, and at last with a length, that fit */
				if (len >= BF_FIXED_HEADER_SIZE)
				{
					bf_seal(&test_env, copy, len);
					CHECK(bf_validate(&test_env, copy, len, &view, &reason) == BF_CORRUPT);
					bf_store64(copy + OFF_PAYLOAD_LEN, len - bf_payload_offset(filter.view.head.family_len));
					bf_seal(&test_env, copy, len);
					if (bf_validate(&test_env, copy, len, &view, &reason) == BF_OK)
						exercise_valid(&view, &filter.view);
				}
				free(copy);
			}
			/* and what is too long */
			for (len = filter.len + 1; len < filter.len + 130; len++)
			{
				uint8_t    *copy = test_malloc(len);

				memset(copy, 0, len);
				memcpy(copy, filter.data, filter.len);
				bf_seal(&test_env, copy, len);
				CHECK(bf_validate(&test_env, copy, len, &view, &reason) == BF_CORRUPT);
				free(copy);
			}
			test_free(&filter);
		}
	}
}

/*
 * Tries every change of every byte.  Without a new checksum, no change is accepted; with one, an
 * accepted value is usable.  Bytes of the payload take all 255 changes without a new checksum, and
 * four with one.  Under a sanitizer, one change of seven is tried, and two with a checksum; an
 * everyday run tries one with a checksum.
 */
static void
byte_changes(void)
{
	const BfKind *kind;
	size_t		i;
	uint64_t	accepted = 0;
	int			payload_step = test_is_everyday() ? 512 : test_in_part() ? 128 : 64;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			which;

		for (which = 0; which < SAMPLES; which++)
		{
			TestFilter	filter = sample_of(kind, which);
			size_t		payload_at = filter.len - filter.view.head.payload_len;
			uint8_t    *copy = copy_of(filter.data, filter.len);
			size_t		at;

			for (at = 0; at < filter.len; at++)
			{
				int			change;

				for (change = 1; change < 256; change++)
				{
					const char *reason;
					BfView		view;

					if (test_in_part() && change % 8 != 1 && change % 50 != 1)
						continue;
					copy[at] ^= (uint8_t) change;
					CHECKF(bf_validate(&test_env, copy, filter.len, &view, &reason) == BF_CORRUPT, "%s: byte %zu ^ %d", kind->name, at,
						change);
					CHECK(reason != NULL);

					/* memory-safe on what was not validated, too */
					if (change % (at < payload_at ? 50 : payload_step) == 1 && bf_open(copy, filter.len, filter.len, &view, &reason) == BF_OK)
						exercise(&view, &filter.view, hashes, false);

					if (at < payload_at ? at < OFF_CHECKSUM || at >= OFF_CHECKSUM + 4 : change % payload_step == 1)
					{
						bf_seal(&test_env, copy, filter.len);
						if (bf_validate(&test_env, copy, filter.len, &view, &reason) == BF_OK)
						{
							accepted++;
							/* A change of these header fields must never be accepted. */
							CHECKF(at > 7 || at == 5, "%s: byte %zu ^ %d", kind->name, at, change);
							CHECKF(at < 12 || at > 23, "%s: byte %zu ^ %d", kind->name, at, change);
							/* an id without a name is a family, too */
							if (filter.view.head.family_len != 0)
								CHECKF(at < 24 || at > 31, "%s: byte %zu ^ %d", kind->name, at, change);
							CHECKF(at < OFF_PAYLOAD_LEN || at >= OFF_PAYLOAD_LEN + 8, "%s: byte %zu ^ %d", kind->name, at,
								change);
							CHECKF(at < BF_FIXED_HEADER_SIZE || at >= payload_at, "%s: byte %zu ^ %d", kind->name, at,
								change);
							/* capacity, keys and FPR are only numbers: some of their changes will do */
							if (at < 24 || at >= OFF_PAYLOAD_LEN || change % (test_is_everyday() ? 128 : 16) == 1)
								exercise_valid(&view, &filter.view);
						}
						else
							CHECK(reason != NULL);
					}
					memcpy(copy, filter.data, BF_FIXED_HEADER_SIZE);
					copy[at] = filter.data[at];
				}
			}
			free(copy);
			test_free(&filter);
		}
	}
	/* capacity, keys added, FPR, a payload's bits: without these nothing was exercised */
	CHECKF(accepted > 5000, "only %" PRIu64 " changed values accepted", accepted);
}

/* A field with an invalid value, in a filter that is otherwise valid and sealed. */
typedef struct BadField
{
	size_t		at;
	uint64_t	value;
	unsigned	size;
	const char *reason;			/* the beginning of it */
} BadField;

static void
refused_field(const BfKind *kind, const BadField *bad)
{
	TestFilter	filter = sample(kind, 0.01, 40, 40, "text");
	const char *reason;
	BfView		view;
	unsigned	b;

	for (b = 0; b < bad->size; b++)
		filter.data[bad->at + b] = (uint8_t) (bad->value >> (8 * b));
	bf_seal(&test_env, filter.data, filter.len);
	if (CHECKF(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT, "%s: %" PRIu64 " at %zu", kind->name,
			   bad->value, bad->at))
		CHECKF(strncmp(reason, bad->reason, strlen(bad->reason)) == 0, "%s: %" PRIu64 " at %zu: %s", kind->name,
			   bad->value, bad->at, reason);
	test_free(&filter);
}

static void
refused_fields(void)
{
	static const BadField bad[] =
	{
		{0, 'B', 1, "the value does not begin"},
		{4, 0, 1, "the format version"},
		{4, 2, 1, "the format version"},
		{5, 0, 1, "the kind of filter is unknown"},
		{5, BF_KIND_IDENTITY - 1, 1, "the kind of filter is unknown"},
		{5, 255, 1, "the kind of filter is unknown"},
		{6, 0, 1, "the hash function"},
		{6, BF_HASH_XXH3, 1, "the hash function"},
		{6, BF_HASH_XXH64_PLAIN, 1, "the hash function"},
		{6, 3, 1, "the hash function"},
		{7, 1, 1, "reserved fields"},
		{12, 256, 2, "the key family's name is too long"},
		{12, 65535, 2, "the key family's name is too long"},
		{12, 5, 2, "the key family's name does not match"},
		{12, 3, 2, "the key family's name does not match"},
		{14, 1, 2, "reserved fields"},
		{14, 0x8000, 2, "reserved fields"},
		{16, 1, 8, "reserved fields"},
		{16, UINT64_C(1) << 63, 8, "reserved fields"},
		{24, 0, 8, "a filter without a key family"},
		{24, 1, 8, "the key family's name does not match"},
		{OFF_CAPACITY, 0, 8, "the capacity"},
		{OFF_CAPACITY, UINT64_C(1) << 63, 8, "the capacity"},
		{OFF_CAPACITY, UINT64_MAX, 8, "the capacity"},
		{OFF_KEYS_ADDED, UINT64_C(1) << 63, 8, "the number of keys"},
		{OFF_KEYS_ADDED, UINT64_MAX, 8, "the number of keys"},
		{OFF_FPR, 0, 8, "the target false positive rate"},
		{OFF_FPR, UINT64_C(0x8000000000000000), 8, "the target false positive rate"},	/* -0 */
		{OFF_FPR, UINT64_C(0x3ff0000000000000), 8, "the target false positive rate"},	/* 1 */
		{OFF_FPR, UINT64_C(0xbf847ae147ae147b), 8, "the target false positive rate"},	/* -0.01 */
		{OFF_FPR, UINT64_C(0x7ff0000000000000), 8, "the target false positive rate"},	/* infinity */
		{OFF_FPR, UINT64_C(0x7ff8000000000000), 8, "the target false positive rate"},	/* NaN */
		{OFF_FPR, UINT64_C(0xfff0000000000001), 8, "the target false positive rate"},	/* a signalling one */
		{OFF_PAYLOAD_LEN, 0, 8, "the length"},
		{OFF_PAYLOAD_LEN, 3, 8, "the length"},
		{OFF_PAYLOAD_LEN, UINT64_MAX, 8, "the length"},
		{OFF_PAYLOAD_LEN, UINT64_C(1) << 32, 8, "the length"},
	};
	/* where all that there is of parameters is the number of probes */
	static const BadField bad_probes[] =
	{
		{64, 0, 4, "the number of probes"},
		{64, 65, 4, "the number of probes"},
		{64, UINT32_MAX, 4, "the number of probes"},
		{68, 1, 4, "reserved fields"},
		{72, 1, 4, "reserved fields"},
		{76, UINT32_C(1) << 31, 4, "reserved fields"},
	};
	const BfKind *kind;
	size_t		i;
	size_t		j;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		if (kind->caps & BF_INTERNAL)
			continue;
		for (j = 0; j < sizeof(bad) / sizeof(bad[0]); j++)
			if (bad[j].at != 6 || bad[j].value != kind->hash_id)
				refused_field(kind, &bad[j]);
		for (j = 0; test_has_cells(kind) && j < sizeof(bad_probes) / sizeof(bad_probes[0]); j++)
			refused_field(kind, &bad_probes[j]);
	}
}

/* Checks that invalid padding, a zero byte in a name, and a wrong checksum are refused. */
static void
refused_rest(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_STANDARD);
	TestFilter	filter = sample(kind, 0.01, 40, 40, "int4s");
	const char *reason;
	BfView		view;
	BfHeader	head;
	size_t		at;

	for (at = 85; at < 92; at++)
	{
		filter.data[at] = 1;
		bf_seal(&test_env, filter.data, filter.len);
		CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT && strstr(reason, "padding") != NULL);
		filter.data[at] = 0;
	}
	bf_seal(&test_env, filter.data, filter.len);
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);
	filter.data[OFF_CHECKSUM] ^= 1;
	CHECK(bf_open(filter.data, filter.len, filter.len, &view, &reason) == BF_OK);
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT && strstr(reason, "checksum") != NULL);

	head = filter.view.head;
	head.family = "in\0t4";
	head.family_len = 5;
	head.family_id = bf_family_id(head.family, 5);
	test_free(&filter);
	filter = test_empty(&head);
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT && strstr(reason, "zero byte") != NULL);
	test_free(&filter);
}

/*
 * Checks a filter of which only the header is available, as in a slice of a TOASTed value: it is
 * opened or refused by its header alone.
 */
static void
slices(void)
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			which;

		for (which = 0; which < SAMPLES; which++)
		{
			TestFilter	filter = sample_of(kind, which);
			size_t		header = bf_payload_offset(filter.view.head.family_len);
			size_t		avail;

			for (avail = 0; avail <= filter.len; avail++)
			{
				uint8_t    *copy = copy_of(filter.data, avail);
				const char *reason;
				BfView		view;
				BfStatus	status = bf_open(copy, avail, filter.len, &view, &reason);

				if (avail < header)
				{
					CHECK(status == BF_CORRUPT && reason != NULL);
					free(copy);
					continue;
				}
				CHECKF(status == BF_OK, "%s %d: %zu of %zu bytes: %s", kind->name, which, avail, filter.len, reason);
				CHECK(same_head(&view.head, &filter.view.head));
				CHECK((view.payload != NULL) == (avail == filter.len));
				/* the whole is another length than the header says */
				CHECK(bf_open(copy, avail, filter.len + 8, &view, &reason) == BF_CORRUPT);
				if (avail < filter.len)
					CHECK(bf_open(copy, avail, filter.len - 1, &view, &reason) == BF_CORRUPT);
				CHECK(bf_open(copy, avail, avail - 1, &view, &reason) == BF_CORRUPT);
				CHECK(bf_open(copy, avail, SIZE_MAX, &view, &reason) == BF_CORRUPT);
				free(copy);
			}
			test_free(&filter);
		}
	}
}

static void
unaligned(void)
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		int			which;

		for (which = 0; which < SAMPLES; which++)
		{
			TestFilter	filter = sample_of(kind, which);
			size_t		shift;

			for (shift = 0; shift < 8; shift++)
			{
				uint8_t    *raw = test_malloc(filter.len + shift);
				const char *reason;
				BfView		view;
				int			j;

				memcpy(raw + shift, filter.data, filter.len);
				CHECK(bf_validate(&test_env, raw + shift, filter.len, &view, &reason) == BF_OK);
				for (j = 0; j < NHASHES; j++)
					CHECK(kind->prober(&view) (&view, hashes[j]) == test_probe(&filter, hashes[j]));
				exercise_valid(&view, &filter.view);
				bf_write_header(raw + shift, &filter.view.head);
				if (kind->add != NULL && !test_is_packed(&filter))
				{
					int			added = (int) kind->add(&view.head, raw + shift + (filter.len - view.head.payload_len), hashes, NHASHES);

					for (j = 0; j < added; j++)
						CHECK(kind->prober(&view) (&view, hashes[j]));
				}
				bf_seal(&test_env, raw + shift, filter.len);
				CHECK(bf_validate(&test_env, raw + shift, filter.len, &view, &reason) == BF_OK);
				free(raw);
			}
			test_free(&filter);
		}
	}
}

/*
 * Tries random bytes, random bytes after a valid beginning, and valid values with several random
 * faults, sealed.
 */
static void
garbage(void)
{
	size_t		nkinds = 0;
	int			round;

	while (bf_kind_at(nkinds) != NULL)
		nkinds++;
	for (round = 0; round < 30000; round++)
	{
		size_t		len = test_below(round % 3 == 0 ? 700 : 90);
		uint8_t    *data = test_malloc(len);
		const char *reason;
		BfView		view;
		size_t		i;

		for (i = 0; i < len; i++)
			data[i] = (uint8_t) test_random();
		CHECK(bf_validate(&test_env, data, len, &view, &reason) == BF_CORRUPT);
		if (len >= 8)
		{
			memcpy(data, "bfam\1", 5);
			data[5] = (uint8_t) bf_kind_at(test_below(nkinds))->id;
			data[6] = (uint8_t) bf_kind_by_id(data[5])->hash_id;
			data[7] = 0;
		}
		CHECK(bf_validate(&test_env, data, len, &view, &reason) == BF_CORRUPT);
		CHECK(bf_open(data, len, len + test_below(1000), &view, &reason) == BF_CORRUPT);
		free(data);
	}

	for (round = 0; round < (test_in_part() ? 10000 : 60000); round++)
	{
		TestFilter	filter = sample_of(bf_kind_at(test_below(nkinds)), (int) test_below(SAMPLES));
		TestFilter	friend = sample_of(filter.view.head.kind, (int) test_below(SAMPLES));
		uint64_t	faults = 1 + test_below(4);
		const char *reason;
		BfView		view;

		for (; faults > 0; faults--)
		{
			size_t		at = test_below(BF_MIN(filter.len, 100));

			if (test_below(2) == 0)
				filter.data[at] = (uint8_t) test_random();
			else
				filter.data[at] ^= (uint8_t) (1 << test_below(8));
		}
		bf_seal(&test_env, filter.data, filter.len);
		if (bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK)
			exercise_valid(&view, &friend.view);
		else
			CHECK(reason != NULL);
		test_free(&filter);
		test_free(&friend);
	}
}

/* Tries lengths of zero, and lengths beyond all limits. */
static void
lengths(void)
{
	TestFilter	filter = sample(bf_kind_by_id(BF_KIND_BLOCKED), 0.01, 10, 10, "int8");
	static const uint64_t absurd[] = {
		BF_MAX_VALUE_SIZE - 84, BF_MAX_VALUE_SIZE, BF_MAX_VALUE_SIZE + 1, UINT64_C(1) << 31, UINT64_C(1) << 32, INT64_MAX,
		UINT64_MAX - 84, UINT64_MAX - 83, UINT64_MAX
	};
	const char *reason;
	BfView		view;
	size_t		i;

	CHECK(bf_open(NULL, 0, 0, &view, &reason) == BF_CORRUPT);
	CHECK(bf_validate(&test_env, NULL, 0, &view, &reason) == BF_CORRUPT);
	for (i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++)
	{
		uint64_t	payload_len = absurd[i] / 64 * 64;

		bf_store64(filter.data + OFF_PAYLOAD_LEN, payload_len);
		/* the header agrees with the length, and the length is too large all the same, unless it is just not */
		CHECK((bf_open(filter.data, 84, payload_len + 84, &view, &reason) == BF_OK) == (i == 0));
		bf_seal(&test_env, filter.data, filter.len);
		CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_CORRUPT);
	}
	test_free(&filter);
}

/* Tests the rules for internal kinds. */
static void
internal_kinds(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_PARTIAL);
	TestFilter	filter = sample(kind, 0.01, 5, 10, "int8");
	TestFilter	empty = sample(bf_kind_by_id(BF_KIND_IDENTITY), 0, 0, 0, "int8");
	const char *reason;
	BfView		view;
	BfHeader	head = filter.view.head;
	int			i;

#define REFUSED(value) \
	do { \
		bf_seal(&test_env, (value).data, (value).len); \
		CHECK(bf_validate(&test_env, (value).data, (value).len, &view, &reason) == BF_CORRUPT); \
	} while (0)

	bf_store64(filter.data + OFF_KEYS_ADDED, 9);
	REFUSED(filter);			/* more hashes than keys */
	bf_store64(filter.data + OFF_KEYS_ADDED, 10);
	for (i = 0; i < 256; i++)
	{
		bf_store32(filter.data + 64, (uint32_t) i);
		bf_seal(&test_env, filter.data, filter.len);
		/* any that users may ask for, of the same hash */
		CHECKF((bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK) ==
			(bf_kind_by_id((unsigned) i) != NULL && bf_kind_by_id((unsigned) i)->design != NULL &&
			 bf_kind_by_id((unsigned) i)->hash_id == BF_HASH_XXH3), "a state for kind %d", i);
	}
	bf_store32(filter.data + 64, BF_KIND_BLOCKED);
	bf_store32(filter.data + 68, BF_PARTIAL_UNKNOWN);
	REFUSED(filter);			/* knows nothing, and has contents */
	bf_store32(filter.data + 68, 2);
	REFUSED(filter);
	bf_store32(filter.data + 68, 0);
	bf_store64(filter.data + OFF_FPR, 0);
	REFUSED(filter);
	test_free(&filter);

	/* knows nothing: may contain all */
	test_set_family(&head, "int8");
	head.payload_len = 0;
	head.param[0] = 0;
	head.param[1] = BF_PARTIAL_UNKNOWN;
	head.capacity = 0;
	head.target_fpr = 0;
	filter = test_empty(&head);
	CHECK(bf_validate(&test_env, filter.data, filter.len, &view, &reason) == BF_OK);
	for (i = 0; i < NHASHES; i++)
	{
		CHECK(test_probe(&filter, hashes[i]));
		CHECK(!test_probe(&empty, hashes[i]));
	}
	exercise_valid(&view, &empty.view);
	test_free(&filter);

	for (i = 32; i < 80; i++)
	{
		empty.data[i] = 1;
		REFUSED(empty);
		empty.data[i] = 0;
	}
	/* a minus zero would be another value of the same meaning */
	empty.data[OFF_FPR + 7] = 0x80;
	REFUSED(empty);
	test_free(&empty);
}

int
main(void)
{
	int			i;

	test_seed(3);
	for (i = 0; i < NHASHES; i++)
		hashes[i] = test_random();
	RUN(round_trip);
	RUN(layout);
	RUN(truncations);
	RUN(byte_changes);
	RUN(refused_fields);
	RUN(refused_rest);
	RUN(slices);
	RUN(unaligned);
	RUN(garbage);
	RUN(lengths);
	RUN(internal_kinds);
	return test_finish();
}
