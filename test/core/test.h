/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * test.h
 *	  The harness of the core's tests: checks, random numbers, and filters in memory of exactly
 *	  their size.
 *
 * Every buffer that holds a filter is a malloc() of exactly its length, so that ASan sees a read or
 * a write of one byte too many.  All functions are static, so that a test consists of one file and
 * this header.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_H
#define BF_TEST_H

#include "../../src/core/bf.h"
#include "../../src/core/bf_cells.h"
#include "../../src/core/bf_cpu.h"
#include "../../src/core/bf_format.h"
#include "../../src/core/bf_hash.h"
#include "../../src/core/bf_int.h"
#include "../../src/core/bf_math.h"
#include "../../src/core/bf_partial.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- checks ---- */

/*
 * The maximum number of failures that a test reports; a fault in a loop could otherwise print very
 * many.
 */
#define TEST_MAX_REPORTS	40

static uint64_t test_checks = 0;	/* of the test that runs */
static uint64_t test_faults = 0;	/* likewise */
static int	test_reports = 0;
static int	test_passed = 0;
static int	test_failed = 0;

/* Counts a check, and reports it if it failed. */
static inline bool __attribute__((format(printf, 4, 5)))
test_check(bool ok, const char *file, int line, const char *format, ...)
{
	va_list		args;

	test_checks++;
	if (ok)
		return true;
	test_faults++;
	if (test_reports++ < TEST_MAX_REPORTS)
	{
		printf("%s:%d: ", file, line);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n");
		fflush(stdout);
	}
	return false;
}

#define CHECK(condition) \
	test_check((condition), __FILE__, __LINE__, "%s", #condition)

/* Checks a condition, with a message that says more than the condition. */
#define CHECKF(condition, ...) \
	test_check((condition), __FILE__, __LINE__, __VA_ARGS__)

/*
 * Runs one test, a function without arguments.  The test passes if it made a check and no check
 * failed.
 */
#define RUN(function) \
	test_begin(); \
	function(); \
	test_end(#function)

static inline void
test_begin(void)
{
	test_checks = 0;
	test_faults = 0;
	test_reports = 0;
}

static inline void
test_end(const char *name)
{
	bool		ok = test_faults == 0 && test_checks > 0;

	if (ok)
		test_passed++;
	else
		test_failed++;
	printf("%s %s: %" PRIu64 " checks, %" PRIu64 " failed\n", ok ? "ok    " : "not ok", name, test_checks, test_faults);
	fflush(stdout);
}

/* Prints the last line of a test program, and returns the exit code of main(). */
static inline int
test_finish(void)
{
	printf("%d passed, %d failed\n", test_passed, test_failed);
	return test_failed == 0 && test_passed > 0 ? 0 : 1;
}

/*
 * Returns whether LONG=1 is in the environment: it asks for every useful test, while other runs are
 * limited in time.
 */
static inline bool
test_is_long(void)
{
	const char *value = getenv("LONG");

	return value != NULL && strcmp(value, "1") == 0;
}

/*
 * Returns whether the run is an everyday run: neither LONG=1 nor .ci/run (CLANG_TESTS=1), which
 * tests more than a small change needs.
 */
static inline bool
test_is_everyday(void)
{
	const char *value = getenv("CLANG_TESTS");

	return !test_is_long() && (value == NULL || *value == '\0');
}

/*
 * Returns whether only a part of a test should run: everyday, and under a sanitizer, as the build
 * without one runs the full test.
 */
static inline bool
test_in_part(void)
{
#ifdef TEST_SANITIZED
	return !test_is_long();
#else
	return test_is_everyday();
#endif
}

/* Returns the number of random trials to run: n, or a tenth of it where a part of a test runs. */
static inline uint64_t
test_trials(uint64_t n)
{
	return test_in_part() ? n / 10 : n;
}

/* Allocates memory, and ends the program if there is none. */
static inline void *
test_malloc(size_t size)
{
	/* malloc(0) may be NULL, which memcpy must not be given */
	void	   *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
	{
		printf("out of memory\n");
		exit(2);
	}
	return p;
}

static inline double
test_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* ---- random numbers: splitmix64 (Steele, Lea, Flood 2014) ---- */

static uint64_t test_random_state = 0;

static inline void
test_seed(uint64_t seed)
{
	test_random_state = seed;
	printf("seed %" PRIu64 "\n", seed);
}

static inline uint64_t
test_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline uint64_t
test_random(void)
{
	return test_mix(test_random_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns a random number below n. */
static inline uint64_t
test_below(uint64_t n)
{
	return (uint64_t) (((unsigned __int128) test_random() * n) >> 64);
}

/* Returns a random number in [0, 1). */
static inline double
test_fraction(void)
{
	return (double) (test_random() >> 11) * 0x1p-53;
}

/* ---- what the core asks its caller for ---- */

static inline void *
test_env_alloc(void *arg, size_t size)
{
	(void) arg;
	return test_malloc(size);
}

static inline void
test_env_release(void *arg, void *memory)
{
	(void) arg;
	free(memory);
}

/* Number of times that the core has checked for interrupts. */
static uint64_t test_looks __attribute__((unused)) = 0;

static inline void
test_env_look(void *arg)
{
	(void) arg;
	test_looks++;
}

static const BfPort test_env __attribute__((unused)) = {
	.check_interrupts = test_env_look,
	.alloc = test_env_alloc,
	.release = test_env_release,
};

/* A source that reads an array sorted by bf_sort_hashes(). */
typedef struct TestSource
{
	BfSource	source;
	const uint64_t *hashes;
	uint64_t	done;
} TestSource;

static inline size_t
test_source_read(BfSource *source, uint64_t *hashes, size_t max)
{
	TestSource *self = (TestSource *) source;
	size_t		n = BF_MIN(max, source->n - self->done);

	memcpy(hashes, self->hashes + self->done, n * sizeof(uint64_t));
	self->done += n;
	return n;
}

/* Extends a sink whose memory is always of exactly its length. */
static inline void
test_sink_extend(BfSink *sink, uint64_t more)
{
	uint8_t    *bytes = test_malloc(sink->len + more);

	if (sink->len > 0)
		memcpy(bytes, sink->bytes, sink->len);
	memset(bytes + sink->len, 0, more);
	free(sink->bytes);
	sink->bytes = bytes;
	sink->len += more;
}

/* ---- filters ---- */

/* An opened filter in memory of its own. */
typedef struct TestFilter
{
	uint8_t    *data;
	size_t		len;
	BfView		view;
} TestFilter;

static inline void
test_open(TestFilter *filter)
{
	const char *reason;

	if (bf_open(filter->data, filter->len, filter->len, &filter->view, &reason) != BF_OK)
	{
		printf("a value that was just written cannot be opened: %s\n", reason);
		exit(2);
	}
}

/*
 * Makes a value with a header and a payload of zeros, into which e.g. a union or fold is written.
 */
static inline TestFilter
test_zeroed(const BfHeader *head)
{
	TestFilter	filter;

	filter.len = bf_data_size(head);
	filter.data = test_malloc(filter.len);
	bf_write_header(filter.data, head);
	memset(filter.data + bf_payload_offset(head->family_len), 0, head->payload_len);
	bf_seal(&test_env, filter.data, filter.len);
	test_open(&filter);
	return filter;
}

static inline void
test_free(TestFilter *filter)
{
	free(filter->data);
	filter->data = NULL;
}

static inline uint8_t *
test_payload(TestFilter *filter)
{
	return filter->data + bf_payload_offset(filter->view.head.family_len);
}

/* Makes an empty filter with a header. */
static inline TestFilter
test_empty(const BfHeader *head)
{
	TestFilter	filter = test_zeroed(head);

	bf_init(head, test_payload(&filter));
	bf_seal(&test_env, filter.data, filter.len);
	return filter;
}

static inline TestFilter
test_copy(const TestFilter *filter)
{
	TestFilter	copy;

	copy.len = filter->len;
	copy.data = test_malloc(copy.len);
	memcpy(copy.data, filter->data, copy.len);
	test_open(&copy);
	return copy;
}

static inline void
test_set_family(BfHeader *head, const char *family)
{
	head->family = family;
	head->family_len = (uint32_t) strlen(family);
	head->family_id = head->family_len > 0 ? bf_family_id(family, head->family_len) : 0;
}

/*
 * Returns the header of a filter planned for a number of keys.  Ends the program if the plan fails.
 */
static inline BfHeader
test_plan(const BfKind *kind, double fpr, uint64_t keys)
{
	static BfDesign designs[256];	/* the last one of each kind: a design takes its time, and is asked for again and again */
	BfDesign   *design = &designs[kind->id];
	BfHeader	head;

	if (((design->kind == NULL || design->fpr != fpr) && bf_design(kind, fpr, design) != BF_OK) ||
		bf_plan(design, BF_MAX(keys, 1), &head) != BF_OK)
	{
		printf("no plan for %" PRIu64 " keys at %g in kind %s\n", keys, fpr, kind->name);
		exit(2);
	}
	return head;
}

/*
 * Returns the header of a filter with exactly the given numbers of cells and probes, which no plan
 * would choose.  A kind with a fixed number of probes keeps it.
 */
static inline BfHeader
test_head(const BfKind *kind, uint64_t cells, uint32_t k)
{
	static BfHeader plans[256]; /* what it begins with: a design takes its time */
	BfHeader	head;
	uint32_t	planned;

	if (plans[kind->id].kind == NULL)
		plans[kind->id] = test_plan(kind, 0.01, 1);
	head = plans[kind->id];
	planned = head.param[0];
	head.payload_len = cells * kind->cell_size;
	head.param[0] = k;
	if (kind->check(&head) != NULL)
		head.param[0] = planned;
	return head;
}

/*
 * Returns whether filters of a kind are arrays of bits in cells, of any number of cells, as
 * bf_cells.h describes.
 */
static inline bool
test_has_cells(const BfKind *kind)
{
	BfHeader	one;
	BfHeader	prime;

	if (kind->design == NULL || kind->cell_size == 0 || kind->caps & BF_MULTISET || !(kind->caps & BF_CAN_FOLD))
		return false;
	one = test_head(kind, 1, 3);
	prime = test_head(kind, 97, 3);
	return kind->check(&one) == NULL && kind->check(&prime) == NULL;
}

/*
 * Returns a random header, planned for at most the given number of keys.  Half of the headers
 * instead have an arbitrary number of cells; for a kind without cells, which may only unite filters
 * of one plan, that half has one plan.
 */
static inline BfHeader
test_some_head(const BfKind *kind, uint64_t keys)
{
	BfHeader	head = test_plan(kind, 0.001 + test_fraction() * test_fraction() * 0.5, 1 + test_below(keys));

	if (test_below(2) == 0)
		return head;
	if (!test_has_cells(kind))
		head = test_plan(kind, 0.05, keys / 4);
	else
		head = test_head(kind, 1 + test_below(test_below(2) == 0 ? 8 : 40), 1 + (uint32_t) test_below(10));
	return head;
}

/* ---- the two forms of a kind that has two ---- */

static inline bool
test_is_packed(const TestFilter *filter)
{
	const BfKind *kind = filter->view.head.kind;

	return kind->is_packed != NULL && kind->is_packed(&filter->view.head);
}

/* Replaces a filter by what make() makes of it, with the given header. */
static inline void
test_remake(TestFilter *filter, const BfHeader *head,
			void (*make) (const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view))
{
	TestFilter	made = test_zeroed(head);

	make(&test_env, head, test_payload(&made), &filter->view);
	bf_seal(&test_env, made.data, made.len);
	test_free(filter);
	*filter = made;
}

static inline void
test_loosen(TestFilter *filter)
{
	BfHeader	head;

	if (!test_is_packed(filter))
		return;
	memset(&head, 0xaa, sizeof(head));
	filter->view.head.kind->loosen_plan(&filter->view.head, &head);
	test_remake(filter, &head, filter->view.head.kind->loosen);
	CHECK(!test_is_packed(filter));
}

static inline void
test_pack(TestFilter *filter)
{
	BfHeader	head;

	if (filter->view.head.kind->is_packed == NULL || test_is_packed(filter))
		return;
	memset(&head, 0xaa, sizeof(head));
	filter->view.head.kind->pack_plan(&test_env, &filter->view, &head);
	test_remake(filter, &head, filter->view.head.kind->pack);
	CHECK(test_is_packed(filter));
}

/* ---- adding, removing, building ---- */

/* Makes a full filter larger.  Returns false if the filter cannot grow. */
static inline bool
test_grow(TestFilter *filter)
{
	const BfKind *kind = filter->view.head.kind;
	TestFilter	larger;
	BfHeader	head;

	memset(&head, 0xaa, sizeof(head));
	if (kind->grow_plan == NULL || kind->grow_plan(&filter->view, &head) != BF_OK)
		return false;
	larger = test_zeroed(&head);
	kind->grow(&head, test_payload(&larger), &filter->view);
	bf_seal(&test_env, larger.data, larger.len);
	test_free(filter);
	*filter = larger;
	return true;
}

/*
 * Counts additions in the header, as callers of add() must, and gives a filter with keys a family.
 */
static inline void
test_count_added(TestFilter *filter, size_t n)
{
	if (n == 0)
		return;
	if (filter->view.head.family_id == 0)
		bf_store64(filter->data + BF_OFF_FAMILY_ID, bf_family_id("int8", 4));
	bf_store64(filter->data + BF_OFF_KEYS_ADDED, filter->view.head.keys_added + n);
	test_open(filter);
}

/*
 * Adds hashes to a filter in the loose form, growing it when needed.  Returns the number of hashes
 * that found room.
 */
static inline size_t
test_add_some(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	const BfKind *kind = filter->view.head.kind;
	size_t		added;

	test_loosen(filter);
	added = kind->add(&filter->view.head, test_payload(filter), hashes, n);
	while (added < n && test_grow(filter))
	{
		size_t		more = kind->add(&filter->view.head, test_payload(filter), hashes + added, n - added);

		if (!CHECKF(more > 0, "%s: takes no key after it has grown", kind->name))
			break;
		added += more;
	}
	CHECKF(added <= n, "%s: added %zu of %zu", kind->name, added, n);
	test_count_added(filter, added);
	return added;
}

/* Adds hashes to a filter; all of them must find room. */
static inline void
test_add(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	size_t		added = test_add_some(filter, hashes, n);

	CHECKF(added == n, "%s: full after %zu of %zu keys", filter->view.head.kind->name, added, n);
}

/*
 * Removes hashes up to the first hash that is certainly not in the filter.  Returns the number of
 * hashes removed.
 */
static inline size_t
test_remove(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	size_t		removed;

	test_loosen(filter);
	removed = filter->view.head.kind->remove(&filter->view.head, test_payload(filter), hashes, n);
	bf_store64(filter->data + BF_OFF_KEYS_ADDED, filter->view.head.keys_added - BF_MIN(filter->view.head.keys_added, removed));
	test_open(filter);
	return removed;
}

/* Makes the sealed value of a header and a payload that a kind has built, and frees the payload. */
static inline TestFilter
test_of_payload(const BfHeader *head, BfSink *sink)
{
	TestFilter	filter;

	filter.len = bf_data_size(head);
	filter.data = test_malloc(filter.len);
	bf_write_header(filter.data, head);
	if (sink->len > 0)
		memcpy(filter.data + bf_payload_offset(head->family_len), sink->bytes, sink->len);
	free(sink->bytes);
	bf_seal(&test_env, filter.data, filter.len);
	test_open(&filter);
	return filter;
}

/* Builds a value of a set at once.  The hashes are sorted, and repeated hashes dropped. */
static inline TestFilter
test_build(const BfKind *kind, double fpr, uint64_t *hashes, uint64_t n)
{
	TestSource	source = {.source.read = test_source_read, .hashes = hashes};
	BfSink		sink = {.extend = test_sink_extend};
	BfHeader	head;

	source.source.n = bf_sort_hashes(&test_env, hashes, n);
	head = test_plan(kind, fpr, source.source.n);
	test_set_family(&head, n > 0 ? "int8" : "");
	head.keys_added = n;
	if (kind->build(&test_env, &head, &source.source, &sink) != BF_OK || head.payload_len != sink.len)
	{
		printf("%s: %" PRIu64 " keys cannot be built\n", kind->name, n);
		exit(2);
	}
	return test_of_payload(&head, &sink);
}

/*
 * Makes a sealed value of any kind with the given keys, as an aggregate would.  Its family is int8
 * if there are any keys.  A kind that depends on the keys' order, or must know all keys at once,
 * gets them as a set. capacity is for kinds to which keys are added.
 */
static inline TestFilter
test_make(const BfKind *kind, double fpr, uint64_t capacity, const uint64_t *hashes, size_t n)
{
	uint64_t   *copy = test_malloc(n * sizeof(*hashes));
	TestFilter	filter;
	size_t		distinct = n;

	if (n > 0)
		memcpy(copy, hashes, n * sizeof(*hashes));
	if (kind->build != NULL)
		filter = test_build(kind, fpr, copy, n);
	else
	{
		BfHeader	head = test_plan(kind, fpr, capacity);

		test_set_family(&head, n > 0 ? "int8" : "");
		filter = test_empty(&head);
		if (kind->caps & BF_FROM_SET)
			distinct = bf_sort_hashes(&test_env, copy, n);
		test_add(&filter, copy, distinct);
		test_count_added(&filter, n - distinct);
		bf_seal(&test_env, filter.data, filter.len);
	}
	free(copy);
	return filter;
}

/*
 * Gives a value another family, with a name of another length.  A filter without a family must have
 * no keys.
 */
static inline void
test_rename(TestFilter *filter, const char *family)
{
	BfHeader	head = filter->view.head;
	TestFilter	renamed;

	test_set_family(&head, family);
	if (head.family_id == 0)
		head.keys_added = 0;
	renamed = test_zeroed(&head);
	if (head.payload_len > 0)
		memcpy(test_payload(&renamed), filter->view.payload, head.payload_len);
	bf_seal(&test_env, renamed.data, renamed.len);
	test_free(filter);
	*filter = renamed;
}

static inline bool
test_probe(const TestFilter *filter, uint64_t hash)
{
	return filter->view.head.kind->prober(&filter->view) (&filter->view, hash);
}

/* ---- set operations, on loose copies where that is not the form ---- */

/*
 * Makes the union or the intersection of two filters.  Returns false, and makes nothing, if the two
 * do not combine.
 */
static inline bool
test_combine(const TestFilter *a, const TestFilter *b, bool intersect, TestFilter *result)
{
	TestFilter	left = test_copy(a);
	TestFilter	right = test_copy(b);
	BfHeader	head;
	BfStatus	status;

	test_loosen(&left);
	test_loosen(&right);
	status = intersect ? bf_intersect_plan(&left.view, &right.view, &head) : bf_union_plan(&left.view, &right.view, &head);
	if (status == BF_OK)
	{
		*result = test_zeroed(&head);
		if (intersect)
			bf_intersect(&test_env, &head, test_payload(result), &left.view, &right.view);
		else
			bf_union(&test_env, &head, test_payload(result), &left.view, &right.view);
		bf_seal(&test_env, result->data, result->len);
	}
	test_free(&left);
	test_free(&right);
	return status == BF_OK;
}

static inline TestFilter
test_union(const TestFilter *a, const TestFilter *b)
{
	TestFilter	result;

	if (!test_combine(a, b, false, &result))
	{
		printf("%s: no union\n", a->view.head.kind->name);
		exit(2);
	}
	return result;
}

static inline TestFilter
test_intersect(const TestFilter *a, const TestFilter *b)
{
	TestFilter	result;

	if (!test_combine(a, b, true, &result))
	{
		printf("%s: no intersection\n", a->view.head.kind->name);
		exit(2);
	}
	return result;
}

static inline TestFilter
test_fold(const TestFilter *a, double fpr)
{
	TestFilter	loose = test_copy(a);
	TestFilter	filter;
	BfHeader	head;

	test_loosen(&loose);
	CHECK(bf_fold_plan(&test_env, &loose.view, fpr, &head) == BF_OK);
	filter = test_zeroed(&head);
	bf_fold(&test_env, &head, test_payload(&filter), &loose.view);
	bf_seal(&test_env, filter.data, filter.len);
	test_free(&loose);
	return filter;
}

static inline bool
test_same(const TestFilter *a, const TestFilter *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static inline bool
test_same_payload(const TestFilter *a, const TestFilter *b)
{
	return a->view.head.payload_len == b->view.head.payload_len &&
		memcmp(a->view.payload, b->view.payload, a->view.head.payload_len) == 0;
}

#endif							/* BF_TEST_H */
