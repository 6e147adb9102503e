/*-------------------------------------------------------------------------
 *
 * test.h
 *	  The harness of the core's tests: checks, a random source, and filters in memory of exactly their size.
 *
 * Every buffer that holds a filter is a malloc of exactly its length, so that ASan sees a read or a write of one byte too
 * many. Everything here is static: a test is one file and this one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_H
#define BF_TEST_H

#include "../../src/core/bf.h"
#include "../../src/core/bf_cells.h"
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
#include <time.h>

/* ---- checks ---- */

/* A fault in a loop would otherwise print the loop. */
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

/* ... saying more than the condition does. */
#define CHECKF(condition, ...) \
	test_check((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Runs one test, a function without arguments: it passes if it checked something and nothing failed. */
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

/* The last line; returns main's exit code. */
static inline int
test_finish(void)
{
	printf("%d passed, %d failed\n", test_passed, test_failed);
	return test_failed == 0 && test_passed > 0 ? 0 : 1;
}

/* For what no test can go on without. */
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

/* A number below n. */
static inline uint64_t
test_below(uint64_t n)
{
	return (uint64_t) (((unsigned __int128) test_random() * n) >> 64);
}

/* A number in [0, 1). */
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

static const BfEnv test_env __attribute__((unused)) = {
	.alloc = test_env_alloc,
	.release = test_env_release,
};

/* A source over an array that bf_sort_hashes() has sorted. */
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

/* A sink whose memory is always of exactly its length. */
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

/* A whole value in memory of its own, opened. */
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

/* A value with this header and nothing in it. */
static inline TestFilter
test_empty(const BfHeader *head)
{
	TestFilter	filter;

	filter.len = bf_data_size(head);
	filter.data = test_malloc(filter.len);
	bf_write_header(filter.data, head);
	memset(filter.data + bf_payload_offset(head->family_len), 0, head->payload_len);
	bf_init(head, filter.data + bf_payload_offset(head->family_len));
	bf_seal(filter.data, filter.len);
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

static inline void
test_set_family(BfHeader *head, const char *family)
{
	head->family = family;
	head->family_len = (uint32_t) strlen(family);
	head->family_id = head->family_len > 0 ? bf_family_id(family, head->family_len) : 0;
}

/* The header for so many keys; exits where that fails. */
static inline BfHeader
test_plan(const BfKind *kind, double fpr, uint64_t keys)
{
	BfDesign	design;
	BfHeader	head;

	if (bf_design(kind, fpr, &design) != BF_OK || bf_plan(&design, keys, &head) != BF_OK)
	{
		printf("no plan for %" PRIu64 " keys at %g in kind %s\n", keys, fpr, kind->name);
		exit(2);
	}
	return head;
}

/* The header of a filter of exactly so many cells and probes, sizes that no plan would choose; kinds of one number of probes keep it. */
static inline BfHeader
test_head(const BfKind *kind, uint64_t cells, uint32_t k)
{
	BfHeader	head = test_plan(kind, 0.01, 1);

	uint32_t	planned = head.param[0];

	head.payload_len = cells * kind->cell_size;
	head.param[0] = k;
	if (kind->check(&head) != NULL)
		head.param[0] = planned;
	return head;
}

static inline void
test_add(TestFilter *filter, const uint64_t *hashes, size_t n)
{
	size_t		added = filter->view.head.kind->add(&filter->view.head, test_payload(filter), hashes, n);

	CHECKF(added == n, "%s: full after %zu of %zu keys", filter->view.head.kind->name, added, n);
}

/* A value that a kind makes of a set at once; the hashes are sorted, and repeated ones dropped. */
static inline TestFilter
test_build(const BfKind *kind, double fpr, uint64_t *hashes, uint64_t n)
{
	TestSource	source = {.source.read = test_source_read, .hashes = hashes};
	BfSink		sink = {.extend = test_sink_extend};
	TestFilter	filter;
	BfHeader	head;

	source.source.n = bf_sort_hashes(&test_env, hashes, n);
	head = test_plan(kind, fpr, BF_MAX(source.source.n, 1));
	test_set_family(&head, n > 0 ? "int8" : "");
	head.keys_added = n;
	if (kind->build(&test_env, &head, &source.source, &sink) != BF_OK || head.payload_len != sink.len)
	{
		printf("%s: %" PRIu64 " keys cannot be built\n", kind->name, n);
		exit(2);
	}
	filter.len = bf_data_size(&head);
	filter.data = test_malloc(filter.len);
	bf_write_header(filter.data, &head);
	memcpy(filter.data + bf_payload_offset(head.family_len), sink.bytes, sink.len);
	free(sink.bytes);
	bf_seal(filter.data, filter.len);
	test_open(&filter);
	return filter;
}

static inline bool
test_probe(const TestFilter *filter, uint64_t hash)
{
	return filter->view.head.kind->prober(&filter->view) (&filter->view, hash);
}

static inline TestFilter
test_union(const TestFilter *a, const TestFilter *b)
{
	TestFilter	filter;
	BfHeader	head;

	CHECK(bf_union_plan(&a->view, &b->view, &head) == BF_OK);
	filter = test_empty(&head);
	bf_union(NULL, &filter.view.head, test_payload(&filter), &a->view, &b->view);
	bf_seal(filter.data, filter.len);
	return filter;
}

static inline TestFilter
test_intersect(const TestFilter *a, const TestFilter *b)
{
	TestFilter	filter;
	BfHeader	head;

	CHECK(bf_intersect_plan(&a->view, &b->view, &head) == BF_OK);
	filter = test_empty(&head);
	bf_intersect(NULL, &filter.view.head, test_payload(&filter), &a->view, &b->view);
	bf_seal(filter.data, filter.len);
	return filter;
}

static inline TestFilter
test_fold(const TestFilter *a, double fpr)
{
	TestFilter	filter;
	BfHeader	head;

	CHECK(bf_fold_plan(NULL, &a->view, fpr, &head) == BF_OK);
	filter = test_empty(&head);
	bf_fold(NULL, &filter.view.head, test_payload(&filter), &a->view);
	bf_seal(filter.data, filter.len);
	return filter;
}

static inline bool
test_same(const TestFilter *a, const TestFilter *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

#endif							/* BF_TEST_H */
