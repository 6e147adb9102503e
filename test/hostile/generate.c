/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  Writes hostile values: each is a valid one with something changed, and the checksum made right again.
 *
 * Linked with src/core, and run by test/t/008_hostile.pl.  Every value is first tried on the core alone, which shall be built under ASan
 * and UBSan: whatever bf_validate() accepts must be safe to use and keep its promises, and whatever bf_open() accepts must be safe.  Those in
 * the output, one a line, are for the server:
 *
 *		kind	what was changed	whether the core accepts it, 0 or 1		value in hexadecimal
 *
 * "nothing" was changed in one value of each kind and in one "other", larger.  What is changed in a filter that has grown is "grown".
 *
 * A value that was accepted is tried with the other, valid one, and with others that were changed and accepted: two lies may go together.
 *
 *-------------------------------------------------------------------------
 */
#include "../core/exercise.h"

/* How many random changes of the header a value gets. */
#define RANDOM_CHANGES	1500

/* With how many of those that were accepted, of so many that are kept, another one is tried; with one unless LONG=1. */
#define PARTNERS		4
#define POOL			100

/* Where a scalable filter of two stages has what it says of these, at the payload's beginning. */
#define GROWN_ENTRIES	(2 * 64)

static const TestFilter *partner;	/* a valid filter of the same kind, of another size */
static uint64_t hashes[EXERCISE_HASHES];
static uint64_t tried = 0;
static uint64_t accepted = 0;
static uint64_t pairs = 0;
static unsigned thin;			/* of so many values the server gets one */
static TestFilter pool[POOL];	/* changed values of the kind that were accepted, some of all */
static uint64_t pooled = 0;		/* how many could have been there */

/* Tries a value that was accepted with some that were before it, and keeps it for later ones. */
static void
try_with_others(const BfView *view, const uint8_t *data, size_t len)
{
	TestFilter	kept = {.len = len, .data = test_malloc(len)};
	uint64_t	place = test_below(pooled + 1);
	uint64_t	n = BF_MIN(pooled, POOL);
	int			i;

	for (i = 0; i < (test_is_long() ? PARTNERS : 1) && n > 0; i++)
	{
		const TestFilter *other = &pool[test_below(n)];

		exercise(view, &other->view, hashes, true);
		exercise(&other->view, view, hashes, true);
		pairs++;
	}
	memcpy(kept.data, data, len);
	test_open(&kept);
	if (pooled < POOL)
		place = pooled;
	else if (place < POOL)
		test_free(&pool[place]);
	if (place < POOL)
		pool[place] = kept;
	else
		test_free(&kept);
	pooled++;
}

static void
empty_pool(void)
{
	while (pooled > 0)
	{
		pooled = BF_MIN(pooled, POOL) - 1;
		test_free(&pool[pooled]);
	}
}

/* Tries a value on the core; data has len bytes, and is sealed if it is long enough to have a checksum. */
static void
emit(const char *kind, const char *what, const uint8_t *data, size_t len, bool write)
{
	uint8_t    *copy = test_malloc(len);
	const char *reason;
	BfView		view;
	bool		ok;
	size_t		i;

	if (len > 0)
		memcpy(copy, data, len);
	if (len >= BF_OFF_FAMILY_LEN)
		bf_seal(&test_env, copy, len);
	ok = bf_validate(&test_env, copy, len, &view, &reason) == BF_OK;
	tried++;
	accepted += ok;
	if (ok || bf_open(copy, len, len, &view, &reason) == BF_OK)
	{
		exercise(&view, &partner->view, hashes, ok);
		if (ok)
		{
			exercise(&partner->view, &view, hashes, ok);
			try_with_others(&view, copy, len);
		}
	}
	if (test_faults > 0)
		abort();
	if (write)
	{
		printf("%s\t%s\t%d\t", kind, what, ok);
		for (i = 0; i < len; i++)
			printf("%02x", copy[i]);
		printf("\n");
	}
	free(copy);
}

/* Does the server get this one? */
static bool
chosen(void)
{
	return tried % thin == 0;
}

/* Each byte up to an end as ten other values; with LONG=1 the header's as all others, which t_format.c tries, too. */
static void
change_bytes(const char *kind, const char *what, const TestFilter *filter, size_t end)
{
	size_t		payload_at = bf_payload_offset(filter->view.head.family_len);
	size_t		at;
	unsigned	value;

	for (at = 0; at < end; at++)
		for (value = 0; value < 256; value++)
		{
			uint8_t		old = filter->data[at];
			uint8_t		change = (uint8_t) (value ^ old);
			bool		one_of_ten = (change & (change - 1)) == 0 || value == 0 || value == 255;

			if (change == 0 || (!one_of_ten && (at >= payload_at || !test_is_long())))
				continue;
			filter->data[at] = (uint8_t) value;
			emit(kind, what, filter->data, filter->len, one_of_ten && chosen());
			filter->data[at] = old;
		}
}

/* Each length, as it is, and with a payload length that agrees. */
static void
change_length(const char *kind, const TestFilter *filter)
{
	size_t		offset = bf_payload_offset(filter->view.head.family_len);
	size_t		longest = filter->len + 136;
	uint8_t    *data = test_malloc(longest);
	size_t		len;

	memset(data, 0x5a, longest);
	memcpy(data, filter->data, filter->len);
	for (len = 0; len <= longest; len++)
	{
		emit(kind, "length", data, len, chosen());
		if (len >= offset)
		{
			bf_store64(data + BF_OFF_PAYLOAD_LEN, len - offset);
			emit(kind, "payload", data, len, chosen());
			bf_store64(data + BF_OFF_PAYLOAD_LEN, filter->view.head.payload_len);
		}
	}
	free(data);
}

/* A number that is likely to be at the edge of something. */
static uint64_t
edge(void)
{
	static const uint64_t edges[] = {0, 1, 2, 7, 8, 63, 64, 255, 256, 65535, 65536, INT32_MAX, UINT32_MAX, (uint64_t) UINT32_MAX + 1,
		INT64_MAX, (uint64_t) INT64_MAX + 1, UINT64_MAX, UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000000),
		UINT64_C(0x7ff8000000000000), UINT64_C(0x3fefffffffffffff), UINT64_C(0x8000000000000000), 500 * 1024 * 1024};
	uint64_t	value = edges[test_below(sizeof(edges) / sizeof(edges[0]))];

	switch (test_below(4))
	{
		case 0:
			return test_random() >> test_below(64);
		case 1:
			return value + test_below(3) - 1;
		default:
			return value;
	}
}

/* Fields of the header, one to three of them at a time, all over. */
static void
change_fields(const char *kind, const TestFilter *filter)
{
	static const struct
	{
		int			offset;
		int			size;
	}			fields[] = {
		{BF_OFF_KIND, 1}, {BF_OFF_HASH, 1}, {BF_OFF_FLAGS, 1}, {BF_OFF_FAMILY_LEN, 2}, {BF_OFF_FAMILY_ID, 8}, {BF_OFF_CAPACITY, 8},
		{BF_OFF_KEYS_ADDED, 8}, {BF_OFF_KEYS_ADDED, 8}, {BF_OFF_CAPACITY, 8}, {BF_OFF_FPR, 8}, {BF_OFF_FPR, 8}, {BF_OFF_PAYLOAD_LEN, 8},
		{BF_OFF_PARAM, 4}, {BF_OFF_PARAM, 1}, {BF_OFF_PARAM + 4, 4}, {BF_OFF_PARAM + 8, 4}, {BF_OFF_PARAM + 12, 4}};
	uint8_t    *data = test_malloc(filter->len);
	size_t		nkinds = 0;
	int			i;

	while (bf_kind_at(nkinds) != NULL)
		nkinds++;
	for (i = 0; i < RANDOM_CHANGES; i++)
	{
		int			n = 1 + (int) test_below(3);

		memcpy(data, filter->data, filter->len);
		while (n-- > 0)
		{
			size_t		f = test_below(sizeof(fields) / sizeof(fields[0]));
			uint64_t	value = edge();
			double		rate = test_fraction();
			int			b;

			if (fields[f].offset == BF_OFF_KIND)
				value = test_below(4) == 0 ? test_below(70) : bf_kind_at(test_below(nkinds))->id;
			else if (fields[f].offset == BF_OFF_FPR && test_below(2) == 0)
				memcpy(&value, &rate, sizeof(value));
			for (b = 0; b < fields[f].size; b++)
				data[fields[f].offset + b] = (uint8_t) (value >> (8 * b));
		}
		emit(kind, "fields", data, filter->len, chosen());
	}
	free(data);
}

/* Key families that the server would not write, numbered as they should be. */
static void
change_family(const char *kind, const TestFilter *filter)
{
	static const char *const names[] = {"x", "%s%n%d", "\xff\xfe", "\xc3", "a\xc3(b", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe6\x97\xa5\xe6\x9c\xac",
		"\"public\".\"", "\n\r\t\x01", "\xef\xbf\xbf", "\xe2\x82", "'; DROP TABLE hostile; --", "int[]", "text", "bloomkey", ""};
	size_t		offset = bf_payload_offset(filter->view.head.family_len);
	int			i;

	for (i = 0; i < 20; i++)
	{
		char		long_name[BF_MAX_FAMILY_LEN + 1];
		BfHeader	head = filter->view.head;
		uint8_t    *data;
		size_t		len;

		if (i < 17)
			test_set_family(&head, names[i]);
		else
		{
			memset(long_name, i == 17 ? 'n' : i == 18 ? '\xc3' : '\x80', BF_MAX_FAMILY_LEN);
			long_name[BF_MAX_FAMILY_LEN] = '\0';
			test_set_family(&head, long_name);
		}
		len = bf_data_size(&head);
		data = test_malloc(len);
		bf_write_header(data, &head);
		memcpy(data + bf_payload_offset(head.family_len), filter->data + offset, head.payload_len);
		emit(kind, "family", data, len, true);
		free(data);
	}
}

/* A filter of int keys 1 to n, as it is stored, or the internal kinds' like; made for so many keys. */
static TestFilter
make(const BfKind *kind, uint64_t capacity, uint64_t n)
{
	uint64_t	keys[200];
	TestFilter	filter;
	BfHeader	head;
	uint64_t	i;

	for (i = 0; i < n; i++)
		keys[i] = bf_hash_u64(i + 1);
	if (kind->design != NULL)
	{
		filter = test_make(kind, 0.01, capacity, keys, n);
		test_pack(&filter);
		test_rename(&filter, "int");
		return filter;
	}

	memset(&head, 0, sizeof(head));
	head.kind = kind;
	head.hash_id = BF_HASH_XXH3;
	if (kind->id == BF_KIND_PARTIAL)
	{
		head.param[0] = BF_KIND_BLOCKED;
		head.target_fpr = 0.01;
		head.payload_len = n * 8;
		head.keys_added = n;
	}
	test_set_family(&head, "int");
	filter = test_empty(&head);
	for (i = 0; kind->id == BF_KIND_PARTIAL && i < n; i++)
		bf_store64(test_payload(&filter) + i * 8, keys[i]);
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

int
main(void)
{
	const BfKind *kind;
	size_t		i;

	test_random_state = 20261121;
	for (i = 0; i < EXERCISE_HASHES; i++)
		hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : bf_hash_u64(i);
	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		TestFilter	filter = make(kind, 5, 5);
		TestFilter	other = make(kind->design != NULL ? kind : bf_kind_by_id(BF_KIND_BLOCKED), 200, 200);

		/* of aggregates' states and of the kind that all is tried with, all */
		thin = kind->design == NULL || kind->id == BF_KIND_BLOCKED ? 1 : 8;
		partner = &other;
		emit(kind->name, "nothing", filter.data, filter.len, true);
		if (kind->design != NULL)
			emit(kind->name, "other", other.data, other.len, true);
		change_bytes(kind->name, "byte", &filter, filter.len);
		change_length(kind->name, &filter);
		change_fields(kind->name, &filter);
		change_family(kind->name, &filter);
		if (kind->grow != NULL)
		{
			/* header and entries, as what follows has no form: each for the server, as it is two of them that may be at odds */
			TestFilter	grown = make(kind, 5, 200);

			thin = 1;
			emit(kind->name, "grown", grown.data, grown.len, true);
			change_bytes(kind->name, "grown", &grown, bf_payload_offset(grown.view.head.family_len) + GROWN_ENTRIES);
			test_free(&grown);
		}
		empty_pool();
		test_free(&filter);
		test_free(&other);
	}

	/* what a union with a NULL in it sends */
	{
		TestFilter	other = make(bf_kind_by_id(BF_KIND_BLOCKED), 200, 200);
		uint8_t		data[BF_MAX_HEADER_SIZE];
		BfHeader	head = {.kind = bf_kind_by_id(BF_KIND_PARTIAL),.hash_id = BF_HASH_XXH3,.param = {0, BF_PARTIAL_UNKNOWN}};

		partner = &other;
		bf_write_header(data, &head);
		emit("partial", "unknown", data, bf_data_size(&head), true);
		test_set_family(&head, "int");
		bf_write_header(data, &head);
		emit("partial", "unknown", data, bf_data_size(&head), true);
		test_free(&other);
	}
	empty_pool();
	fprintf(stderr, "%" PRIu64 " values, %" PRIu64 " of them accepted, %" PRIu64 " pairs of those\n", tried, accepted, pairs);
	return 0;
}
