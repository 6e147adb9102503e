/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  Writes hostile values: each is a valid one with something changed, and the checksum made right again.
 *
 * Linked with src/core, and run by test/t/008_hostile.pl.  Every value is first tried on the core alone, which shall be built under ASan
 * and UBSan: whatever bf_validate() accepts must be safe to use.  Those in the output, one a line, are for the server:
 *
 *		kind	what was changed	whether the core accepts it, 0 or 1		value in hexadecimal
 *
 *-------------------------------------------------------------------------
 */
#include "../core/test.h"

/* How many random changes of the header a value gets. */
#define RANDOM_CHANGES	1500

static const TestFilter *partner;	/* a valid filter of the same kind, of another size */
static uint64_t tried = 0;
static uint64_t accepted = 0;

/* All that can be done with two views, in memory of exactly the size that it asks for. */
static void
combine_both(const BfView *a, const BfView *b)
{
	BfHeader	head;
	int			i;

	for (i = 0; i < 2; i++)
	{
		BfStatus	status = i == 0 ? bf_union_plan(a, b, &head) : bf_intersect_plan(a, b, &head);
		uint8_t    *out;

		if (status != BF_OK)
			continue;
		out = test_malloc(head.payload_len);
		memset(out, 0, head.payload_len);
		if (i == 0)
			bf_union(NULL, &head, out, a, b);
		else
			bf_intersect(NULL, &head, out, a, b);
		free(out);
	}
}

static void
use(const BfView *view)
{
	static const double rates[] = {0.5, 0.01, 1e-9};
	uint64_t	hashes[70];
	bool		answers[70];
	BfProbe		probe = view->head.kind->prober(view);
	BfStats		stats;
	BfHeader	head;
	unsigned	i;

	for (i = 0; i < 70; i++)
		hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : bf_hash_u64(i);
	view->head.kind->probe_many(view, hashes, 70, answers);
	for (i = 0; i < 70; i++)
		if (probe(view, hashes[i]) != answers[i])
			abort();
	bf_stats(NULL, view, &stats);
	combine_both(view, view);
	combine_both(view, &partner->view);
	combine_both(&partner->view, view);
	for (i = 0; i < 3; i++)
		if (bf_fold_plan(NULL, view, rates[i], &head) == BF_OK)
		{
			uint8_t    *out = test_malloc(head.payload_len);

			memset(out, 0, head.payload_len);
			bf_fold(NULL, &head, out, view);
			free(out);
		}
	if (view->head.kind->add != NULL)
	{
		uint8_t    *copy = test_malloc(view->head.payload_len);

		memcpy(copy, view->payload, view->head.payload_len);
		view->head.kind->add(&view->head, copy, hashes, 70);
		free(copy);
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

	memcpy(copy, data, len);
	if (len >= BF_OFF_FAMILY_LEN)
		bf_seal(copy, len);
	ok = bf_validate(copy, len, &view, &reason) == BF_OK;
	tried++;
	if (ok)
	{
		accepted++;
		use(&view);
	}
	if (write)
	{
		printf("%s\t%s\t%d\t", kind, what, ok);
		for (i = 0; i < len; i++)
			printf("%02x", copy[i]);
		printf("\n");
	}
	free(copy);
}

/* Each byte as each other value: all for the core, ten for the server. */
static void
change_bytes(const char *kind, const TestFilter *filter)
{
	size_t		at;
	unsigned	value;

	for (at = 0; at < filter->len; at++)
		for (value = 0; value < 256; value++)
		{
			uint8_t		old = filter->data[at];
			uint8_t		change = (uint8_t) (value ^ old);

			if (change == 0)
				continue;
			filter->data[at] = (uint8_t) value;
			emit(kind, "byte", filter->data, filter->len, (change & (change - 1)) == 0 || value == 0 || value == 255);
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
		emit(kind, "length", data, len, true);
		if (len >= offset)
		{
			bf_store64(data + BF_OFF_PAYLOAD_LEN, len - offset);
			emit(kind, "payload", data, len, true);
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
	static const uint8_t kinds[] = {BF_KIND_STANDARD, BF_KIND_BLOCKED, BF_KIND_IDENTITY, BF_KIND_PARTIAL, 0, 2, 4, 11};
	uint8_t    *data = test_malloc(filter->len);
	int			i;

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
				value = kinds[test_below(sizeof(kinds))];
			else if (fields[f].offset == BF_OFF_FPR && test_below(2) == 0)
				memcpy(&value, &rate, sizeof(value));
			for (b = 0; b < fields[f].size; b++)
				data[fields[f].offset + b] = (uint8_t) (value >> (8 * b));
		}
		emit(kind, "fields", data, filter->len, true);
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

/* A filter of int keys 1 to n, or the internal kinds' like. */
static TestFilter
make(BfKindId id, uint64_t n)
{
	const BfKind *kind = bf_kind_by_id(id);
	TestFilter	filter;
	BfHeader	head;
	uint64_t	i;

	if (kind->design != NULL)
		head = test_plan(kind, 0.01, n);
	else
	{
		memset(&head, 0, sizeof(head));
		head.kind = kind;
		head.hash_id = BF_HASH_XXH3;
		if (id == BF_KIND_PARTIAL)
		{
			head.param[0] = BF_KIND_BLOCKED;
			head.target_fpr = 0.01;
			head.payload_len = n * 8;
		}
	}
	test_set_family(&head, "int");
	if (id != BF_KIND_IDENTITY)
		head.keys_added = n;
	filter = test_empty(&head);
	for (i = 1; i <= n; i++)
	{
		uint64_t	hash = bf_hash_u64(i);

		if (kind->add != NULL)
			test_add(&filter, &hash, 1);
		else if (id == BF_KIND_PARTIAL)
			bf_store64(test_payload(&filter) + (i - 1) * 8, hash);
	}
	bf_seal(filter.data, filter.len);
	return filter;
}

int
main(void)
{
	static const BfKindId ids[] = {BF_KIND_STANDARD, BF_KIND_BLOCKED, BF_KIND_IDENTITY, BF_KIND_PARTIAL};
	size_t		i;

	test_random_state = 20261121;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
	{
		const char *kind = bf_kind_by_id(ids[i])->name;
		TestFilter	filter = make(ids[i], 5);
		TestFilter	other = make(ids[i] == BF_KIND_IDENTITY || ids[i] == BF_KIND_PARTIAL ? BF_KIND_BLOCKED : ids[i], 200);

		partner = &other;
		emit(kind, "nothing", filter.data, filter.len, true);
		change_bytes(kind, &filter);
		change_length(kind, &filter);
		change_fields(kind, &filter);
		change_family(kind, &filter);
		test_free(&filter);
		test_free(&other);
	}

	/* what a union with a NULL in it sends */
	{
		TestFilter	other = make(BF_KIND_BLOCKED, 200);
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
	fprintf(stderr, "%" PRIu64 " values, %" PRIu64 " of them accepted\n", tried, accepted);
	return 0;
}
