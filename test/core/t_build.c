/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_build.c
 *	  bf_build: every way of making a filter of the same keys gives the same bytes, those of
 *	  docs/format.md.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

#include "core/bf_build.h"

/* ---- memory as it may be, with the number of what was not given back ---- */

typedef struct Memory
{
	BfRoom		room;
	int64_t		pieces;
	uint64_t	moves;
} Memory;

static uint8_t *
room_alloc(BfRoom *room, uint64_t size)
{
	((Memory *) room)->pieces++;
	return memset(test_malloc(size), 0x5a, size);
}

static uint8_t *
room_resize(BfRoom *room, uint8_t *data, uint64_t size)
{
	uint8_t    *resized = realloc(data, size);

	((Memory *) room)->moves++;
	if (resized == NULL)
		exit(2);
	return resized;
}

static void
room_release(BfRoom *room, uint8_t *data)
{
	((Memory *) room)->pieces--;
	free(data);
}

static Memory
memory(void)
{
	return (Memory) {.room = {.alloc = room_alloc, .resize = room_resize, .release = room_release}};
}

/* Takes over a value made in a room, and checks that it is valid and the only allocation left. */
static TestFilter
taken(Memory *room, const BfHeader *head, uint8_t *data)
{
	TestFilter	filter = {.data = data, .len = bf_data_size(head)};
	const char *reason = NULL;

	CHECKF(room->pieces == 1, "%s: %" PRId64 " pieces of memory", head->kind->name, room->pieces);
	CHECKF(bf_validate(&test_env, data, filter.len, &filter.view, &reason) == BF_OK, "%s: %s", head->kind->name, reason);
	CHECK(filter.view.head.keys_added == head->keys_added && filter.view.head.family_id == head->family_id);
	return filter;
}

static TestFilter
made(const BfKind *kind, double fpr, uint64_t expected, const char *family, uint64_t *hashes, uint64_t n)
{
	Memory		room = memory();
	BfDesign	design;
	BfHeader	head;
	uint8_t    *data;

	CHECK(bf_design(kind, fpr, &design) == BF_OK);
	memset(&head, 0x77, sizeof(head));
	test_set_family(&head, family);
	CHECKF(bf_build_hashes(&test_env, &room.room, &design, expected, hashes, n, &head, &data) == BF_OK, "%s", kind->name);
	return taken(&room, &head, data);
}

/* ---- golden vectors ---- */

/*
 * Tests the filter of the integers 1 to 3 at 1 %, some of them added twice, against its documented
 * bytes.
 */
static void
documented(void)
{
	static const struct
	{
		const char *kind;
		int			twice;		/* how many come again */
		const char *hex;
	}			vectors[] =
	{
		{"standard", 0,
			"6266616d01010100b4d19bd5030000000000000000000000473b9282601c2197"
			"030000000000000003000000000000007b14ae47e17a843f0800000000000000"
			"07000000000000000000000000000000696e7400a25a453202ca0420"},
		{"blocked", 0,
			"6266616d010301002b701e44030000000000000000000000473b9282601c2197"
			"030000000000000003000000000000007b14ae47e17a843f4000000000000000"
			"06000000000000000000000000000000696e7400000080000000080000000100"
			"0000000404000000100200001000000040000440020000000000000000000000"
			"0a10000000001000000000000000000000000200"},
		{"counting", 1,
			"6266616d010501002b149780030000000000000000000000473b9282601c2197"
			"030000000000000004000000000000007b14ae47e17a843f1000000000000000"
			"07000000010000000200000000000000696e7400000100124030021221011000"
			"20003002"},
		{"cuckoo", 0,
			"6266616d010701005a94b1f5030000000000000000000000473b9282601c2197"
			"030000000000000003000000000000007b14ae47e17a843f2a00000000000000"
			"0a000000000000000000000000000000696e7400942189300000000000000000"
			"000000000000000000000000000000000000000000000000000000000000"},
		{"binary_fuse", 0,
			"6266616d010a0100faafba2a030000000000000000000000473b9282601c2197"
			"030000000000000003000000000000007b14ae47e17a843f1c00000000000000"
			"07000000040000000000000001000000696e7400140000000000000000000000"
			"03000000ef2cf2060000000000000000"}
	};
	size_t		i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
	{
		uint64_t	hashes[4] = {bf_hash_u64(3), bf_hash_u64(1), bf_hash_u64(2), bf_hash_u64(1)};
		TestFilter	filter = made(bf_kind_by_name(vectors[i].kind), 0.01, 0, "int", hashes, 3 + (uint64_t) vectors[i].twice);
		char		hex[1000];
		size_t		j;

		for (j = 0; j < filter.len; j++)
			snprintf(hex + 2 * j, 3, "%02x", filter.data[j]);
		CHECKF(strcmp(hex, vectors[i].hex) == 0, "%s:\n%s\n%s", vectors[i].kind, hex, vectors[i].hex);
		test_free(&filter);
	}
}

/* Tests that a filter of no keys is the same whatever was asked for. */
static void
no_keys(const BfKind *kind)
{
	TestFilter	filter = made(kind, 0.01, kind->id == BF_KIND_STANDARD ? 1000 : 0, "text", NULL, 0);
	TestFilter	none = made(kind, 0.01, 0, "", NULL, 0);

	CHECK(filter.view.head.kind->id == BF_KIND_IDENTITY && filter.len == 84);
	CHECK(bf_load32(filter.data + BF_OFF_CHECKSUM) == 0x0b56dc3a);	/* of family text */
	CHECK(none.view.head.kind->id == BF_KIND_IDENTITY && none.view.head.family_id == 0);
	test_free(&filter);
	test_free(&none);
}

static void
empty(void)
{
	each_kind(0, no_keys);
}

/* ---- sizes ---- */

static uint64_t
capacity(const char *name, uint64_t expected, uint64_t distinct)
{
	BfDesign	design;
	BfHeader	head;

	CHECK(bf_design(bf_kind_by_name(name), 0.01, &design) == BF_OK);
	CHECK(bf_build_plan(&design, expected, distinct, &head) == BF_OK);
	return head.capacity;
}

static void
sizes(void)
{
	BfDesign	design;
	BfHeader	head;
	Memory		room = memory();
	uint64_t	hash = 1;
	uint8_t    *data;

	CHECK(bf_build_is_direct(bf_kind_by_id(BF_KIND_BLOCKED), 1));
	CHECK(bf_build_is_direct(bf_kind_by_id(BF_KIND_COUNTING), 1));
	CHECK(!bf_build_is_direct(bf_kind_by_id(BF_KIND_BLOCKED), 0));
	CHECK(!bf_build_is_direct(bf_kind_by_id(BF_KIND_SCALABLE), 1));
	CHECK(!bf_build_is_direct(bf_kind_by_id(BF_KIND_CUCKOO), 1));
	CHECK(!bf_build_is_direct(bf_kind_by_id(BF_KIND_RIBBON), 1));

	/* as many as expected, however many come */
	CHECK(capacity("standard", 1000, 5000) == 1000 && capacity("counting", 1000, 5) == 1000);
	/* as many as come */
	CHECK(capacity("standard", 0, 5000) == 5000 && capacity("standard", 0, 0) == 1);
	/* room for those that may follow */
	CHECK(capacity("scalable", 1000, 5) == 1000 && capacity("scalable", 1000, 5000) == 5000 && capacity("cuckoo", 1000, 5) == 1000);
	CHECK(capacity("cuckoo", 0, 0) == 1);
	/* none may follow */
	CHECK(capacity("ribbon", 1000, 5) == 5 && capacity("xor", 1000, 0) == 1);

	CHECK(bf_design(bf_kind_by_id(BF_KIND_STANDARD), 0.01, &design) == BF_OK);
	test_set_family(&head, "int");
	CHECK(bf_build_hashes(&test_env, &room.room, &design, UINT64_C(1) << 40, &hash, 1, &head, &data) == BF_TOO_LARGE);
	CHECK(room.pieces == 0 && data == NULL);
	CHECK(bf_count_keys(2, 3) == 5 && bf_count_keys(INT64_MAX, 1) == INT64_MAX && bf_count_keys(UINT64_MAX, UINT64_MAX) == INT64_MAX);
}

/* ---- the same by every way ---- */

/* Makes n keys, then repeats some of them.  Returns the number of hashes. */
static uint64_t
repeated(uint64_t *hashes, uint64_t n)
{
	uint64_t	total = n;
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = keys[n - 1 - i];
	for (i = 0; i < n; i++)
		hashes[total++] = keys[test_below(n)];
	/* one more often than any kind counts */
	for (i = 0; i < BF_MAX_TIMES + 2; i++)
		hashes[total++] = keys[0];
	return total;
}

static const uint64_t counts[] = {1, 2, 3, 33, 777, 5000, MAX_KEYS};

#define COUNTS	(sizeof(counts) / sizeof(counts[0]))

static uint64_t hashes[2 * MAX_KEYS + BF_MAX_TIMES + 2];

/* Tests a filter made from a set in other memory and in other steps. */
static void
set_body(const BfKind *kind)
{
	size_t		c;

	for (c = 0; c < COUNTS; c++)
	{
		uint64_t	n = counts[c];
		uint64_t	total = repeated(hashes, n);
		TestFilter	other;
		TestFilter	filter;

		/* what is added to in any order counts repeated keys by itself */
		other = test_make(kind, 0.01, n, kind->caps & BF_MULTISET ? hashes : keys, kind->caps & BF_MULTISET ? total : n);
		if (kind->is_packed != NULL)
			test_pack(&other);
		filter = made(kind, 0.01, 0, "int8", hashes, total);
		CHECKF(test_same_payload(&filter, &other), "%s: %" PRIu64 " keys", kind->name, n);
		CHECK(filter.view.head.keys_added == total);
		holds(&filter, keys, n, "built");
		test_free(&filter);
		test_free(&other);
	}
}

static void
of_a_set(void)
{
	each_kind(0, set_body);
}

/* Tests filters to which keys are added directly, in pieces that are united. */
static void
direct_body(const BfKind *kind)
{
	size_t		c;

	if (!bf_build_is_direct(kind, 1))
		return;
	for (c = 0; c < COUNTS; c++)
	{
		uint64_t	n = counts[c];
		uint64_t	expected = c % 2 == 0 ? n : n / 2 + 1;
		uint64_t	total = repeated(hashes, n);
		BfHeader	head = test_plan(kind, 0.01, expected);
		TestFilter	half[2];
		TestFilter	stored;
		TestFilter	filter;
		Memory		room = memory();
		uint8_t    *data;

		/* as test_plan() leaves it: no keys yet, and no family */
		half[0] = test_empty(&head);
		half[1] = test_empty(&head);
		CHECK(kind->add(&head, test_payload(&half[0]), hashes, total / 3) == total / 3);
		CHECK(kind->add(&head, test_payload(&half[1]), hashes + total / 3, total - total / 3) == total - total / 3);
		kind->unite(&test_env, &head, test_payload(&half[0]), &half[1].view);
		half[0].view.head.keys_added = total;
		test_set_family(&half[0].view.head, "int8");
		bf_build_stored(&test_env, &room.room, &half[0].view, &head, &data);
		stored = taken(&room, &head, data);

		filter = made(kind, 0.01, expected, "int8", hashes, total);
		CHECKF(test_same(&filter, &stored), "%s: %" PRIu64 " keys, %" PRIu64 " expected", kind->name, n, expected);
		CHECK(filter.view.head.capacity == expected);
		test_free(&half[0]);
		test_free(&half[1]);
		test_free(&stored);
		test_free(&filter);
	}
}

static void
directly(void)
{
	each_kind(BF_CAN_ADD, direct_body);
}

/* A payload that is copied in several parts, of which the last is shorter: its memory ends where it does. */
static void
in_parts(void)
{
	BfHeader	head = test_plan(bf_kind_by_name("standard"), 0.01, 1500000);
	TestFilter	image = test_empty(&head);
	TestFilter	stored;
	Memory		room = memory();
	uint8_t    *data;

	CHECK(head.kind->add(&head, test_payload(&image), hashes, 1000) == 1000);
	image.view.head.keys_added = 1000;
	test_set_family(&image.view.head, "int8");
	bf_build_stored(&test_env, &room.room, &image.view, &head, &data);
	stored = taken(&room, &head, data);
	CHECK(head.payload_len > 1024 * 1024 && head.payload_len % (1024 * 1024) != 0);
	CHECK(test_same_payload(&stored, &image));
	test_free(&image);
	test_free(&stored);
}

/* ---- filters that are planned too small ---- */

static void
small_body(const BfKind *kind)
{
	uint64_t	n = 10000;
	BfHeader	head = test_plan(kind, 0.01, 10);
	Memory		room = memory();
	BfArraySource source;
	TestFilter	other;
	TestFilter	filter;
	BfStatus	status;
	uint8_t    *data;

	if (!(kind->caps & BF_FROM_SET))
		return;
	memcpy(hashes, keys, n * sizeof(uint64_t));
	test_set_family(&head, "int8");
	head.keys_added = n;
	bf_build_source(&test_env, kind, hashes, n, &source);
	status = bf_build_set(&test_env, &room.room, &head, &source.source, &data);
	if (kind->build == NULL && kind->grow == NULL)
	{
		CHECKF(status == BF_FULL && data == NULL && room.pieces == 0, "%s: status %d", kind->name, (int) status);
		CHECK(head.capacity == 10 && head.keys_added == n);
		return;
	}
	CHECKF(status == BF_OK, "%s: status %d", kind->name, (int) status);
	filter = taken(&room, &head, data);
	holds(&filter, keys, n, "planned too small");
	if (kind->build != NULL)
	{
		/* a wrong plan is corrected, but for what comes from the number that was planned for */
		CHECKF(room.moves > 0 && head.capacity == n, "%s: %" PRIu64 " moves", kind->name, room.moves);
	}
	else
	{
		memcpy(hashes, keys, n * sizeof(uint64_t));
		other = test_make(kind, 0.01, 10, hashes, n);
		CHECKF(test_same_payload(&filter, &other) && filter.view.head.param[0] > 1, "%s: grown", kind->name);
		test_free(&other);
	}
	test_free(&filter);
}

static void
too_small(void)
{
	each_kind(0, small_body);
}

int
main(void)
{
	make_keys(32);
	RUN(documented);
	RUN(empty);
	RUN(sizes);
	RUN(of_a_set);
	RUN(directly);
	RUN(in_parts);
	RUN(too_small);
	return test_finish();
}
