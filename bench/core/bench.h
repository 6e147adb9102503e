/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bench.h
 *	  Tools of the core's benchmark: memory, keys, filters of every kind, and the floor with which
 *	  times are compared.
 *
 * Filters are used through the kinds' table only, so that a new kind is measured as soon as it is
 * registered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BENCH_H
#define BENCH_H

#include <sys/mman.h>

#include "test.h"

/* ---- memory ---- */

#define LINE			64
#define HUGE_PAGE		((size_t) 2 * 1024 * 1024)

/* Size in bytes from which memory is mapped with huge pages, as src/pg/port.c does for filters. */
#define MIN_HUGE_SIZE	((size_t) 8 * 1024 * 1024)

/* True to use no huge pages, which shows what they gain. */
static bool bench_small_pages = false;

/*
 * Allocates memory that begins at a cache line, not zeroed.  Large memory is mapped anew each time,
 * so that its page faults are part of every measurement.  The cache line before the memory has its
 * length, or 0 for memory from malloc().
 */
static inline void *
bench_alloc(size_t size)
{
	size_t		mapped = 0;
	uint8_t    *chunk;

	if (size >= MIN_HUGE_SIZE)
	{
		mapped = size + LINE + HUGE_PAGE;
		chunk = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk == MAP_FAILED)
			chunk = NULL;
		else if (!bench_small_pages)
			(void) madvise(chunk, mapped, MADV_HUGEPAGE);
	}
	else
		chunk = aligned_alloc(LINE, (size + 2 * LINE - 1) & ~(size_t) (LINE - 1));
	if (chunk == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	memcpy(chunk, &mapped, sizeof(mapped));
	return chunk + LINE;
}

static inline void
bench_free(void *memory)
{
	uint8_t    *chunk;
	size_t		mapped;

	if (memory == NULL)
		return;
	chunk = (uint8_t *) memory - LINE;
	memcpy(&mapped, chunk, sizeof(mapped));
	if (mapped > 0)
		munmap(chunk, mapped);
	else
		free(chunk);
}

static inline void *
bench_env_alloc(void *arg, size_t size)
{
	(void) arg;
	return bench_alloc(size);
}

static inline void
bench_env_release(void *arg, void *memory)
{
	(void) arg;
	bench_free(memory);
}

static const BfPort bench_env = {
	.alloc = bench_env_alloc,
	.release = bench_env_release,
};

static inline uint8_t *
bench_alloc_zero(size_t size)
{
	uint8_t    *memory = bench_alloc(size);

	memset(memory, 0, size);
	return memory;
}

/* A sink that grows by half of its size when needed, so that what was written is seldom moved. */
typedef struct BenchSink
{
	BfSink		sink;
	uint64_t	allocated;
} BenchSink;

static inline void
bench_sink_extend(BfSink *sink, uint64_t more)
{
	BenchSink  *self = (BenchSink *) sink;

	if (sink->len + more > self->allocated)
	{
		uint8_t    *bytes;

		self->allocated = BF_MAX(sink->len + more, self->allocated + self->allocated / 2);
		bytes = bench_alloc(self->allocated);
		if (sink->len > 0)
			memcpy(bytes, sink->bytes, sink->len);
		bench_free(sink->bytes);
		sink->bytes = bytes;
	}
	memset(sink->bytes + sink->len, 0, more);
	sink->len += more;
}

/* ---- time ---- */

/*
 * Returns the processor time used by this thread, in ns.  Other processes affect it only through
 * the caches.
 */
static inline double
bench_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static inline int
bench_compare(const void *a, const void *b)
{
	double		x,
				y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static inline double
bench_median(double *value, int n)
{
	qsort(value, (size_t) n, sizeof(double), bench_compare);
	return n % 2 != 0 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

/* ---- keys ---- */

/*
 * Hashes are numbered, and no two are the same, as test_mix() is a bijection.  Hashes with numbers
 * from ABSENT on are in no filter.
 */
#define ABSENT	(UINT64_C(1) << 40)

static inline uint64_t
bench_hash(uint64_t i)
{
	return test_mix(i * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * Keys in random order, and the same keys in the order of bf_order(); sorted is NULL if sorted keys
 * are not needed.
 */
typedef struct BenchKeys
{
	uint64_t	n;
	uint64_t   *hashes;
	uint64_t   *sorted;
} BenchKeys;

static inline BenchKeys
bench_keys(uint64_t n)
{
	BenchKeys	keys = {.n = n};
	uint64_t	i;

	keys.hashes = bench_alloc(n * sizeof(uint64_t));
	keys.sorted = bench_alloc(n * sizeof(uint64_t));
	for (i = 0; i < n; i++)
		keys.hashes[i] = bench_hash(i);
	memcpy(keys.sorted, keys.hashes, n * sizeof(uint64_t));
	bf_sort_hashes(&bench_env, keys.sorted, n);
	return keys;
}

static inline void
bench_free_keys(BenchKeys *keys)
{
	bench_free(keys->hashes);
	bench_free(keys->sorted);
}

/* ---- filters ---- */

/* How a filter is made. */
typedef enum BenchForm
{
	PLAIN,						/* Planned for its keys, which are then added. */
	PACKED,						/* As PLAIN, then converted to the packed form that is stored. */
	GROWN,						/* Planned for FIRST_KEYS keys, then grown. */
	NFORMS
} BenchForm;

#define FIRST_KEYS	1000

static const char *const bench_form_name[NFORMS] = {"", ", packed", ", grown"};

/* Returns whether filters of a kind can be made in this form. */
static inline bool
bench_has_form(const BfKind *kind, BenchForm form)
{
	return form == PLAIN || (form == PACKED ? kind->pack != NULL : kind->grow != NULL);
}

/*
 * A filter's header, and its payload, which begins at a cache line, as in the server's copies of
 * large filters.
 */
typedef struct BenchFilter
{
	BfView		view;
	uint8_t    *payload;		/* the view's */
	double		worst_bits;		/* grown: the most bits per key that it ever took once it had a tenth of its keys */
} BenchFilter;

static inline BenchFilter
bench_empty(const BfHeader *head)
{
	BenchFilter filter = {.view.head = *head};

	filter.payload = bench_alloc_zero(head->payload_len);
	filter.view.payload = filter.payload;
	return filter;
}

static inline void
bench_drop(BenchFilter *filter)
{
	bench_free(filter->payload);
	filter->payload = NULL;
}

/*
 * Returns the bits per key of the stored value, including header, padding and the 4 bytes of
 * PostgreSQL's length word.
 */
static inline double
bench_bits(const BenchFilter *filter, uint64_t keys)
{
	return 8 * (double) (bf_data_size(&filter->view.head) + 4) / (double) keys;
}

/* Replaces a filter by another one. */
static inline void
bench_replace(BenchFilter *filter, const BenchFilter *by)
{
	double		worst_bits = filter->worst_bits;

	bench_drop(filter);
	*filter = *by;
	filter->worst_bits = worst_bits;
}

static inline void
bench_pack(BenchFilter *filter)
{
	const BfKind *kind = filter->view.head.kind;
	BenchFilter packed;
	BfHeader	head;

	if (kind->pack == NULL || kind->is_packed(&filter->view.head))
		return;
	kind->pack_plan(&bench_env, &filter->view, &head);
	packed = bench_empty(&head);
	kind->pack(&bench_env, &head, packed.payload, &filter->view);
	bench_replace(filter, &packed);
}

static inline void
bench_loosen(BenchFilter *filter)
{
	const BfKind *kind = filter->view.head.kind;
	BenchFilter loose;
	BfHeader	head;

	if (kind->pack == NULL || !kind->is_packed(&filter->view.head))
		return;
	kind->loosen_plan(&filter->view.head, &head);
	loose = bench_empty(&head);
	kind->loosen(&bench_env, &head, loose.payload, &filter->view);
	bench_replace(filter, &loose);
}

/* Adds all keys to a filter, growing it when needed and possible. */
static inline void
bench_add(BenchFilter *filter, const uint64_t *hashes, uint64_t n)
{
	BfHeader   *head = &filter->view.head;
	uint64_t	done = 0;

	for (;;)
	{
		BenchFilter larger;
		BfHeader	larger_head;

		done += head->kind->add(head, filter->payload, hashes + done, n - done);
		head->keys_added = done;
		if (done == n)
			break;
		if (head->kind->grow == NULL || head->kind->grow_plan(&filter->view, &larger_head) != BF_OK)
		{
			fprintf(stderr, "%s: full after %" PRIu64 " of %" PRIu64 " keys\n", head->kind->name, done, n);
			exit(1);
		}
		larger = bench_empty(&larger_head);
		head->kind->grow(&larger_head, larger.payload, &filter->view);
		bench_replace(filter, &larger);
		if (done >= n / 10)
			filter->worst_bits = fmax(filter->worst_bits, bench_bits(filter, done));
	}
}

/*
 * Plans the header of a filter for a number of keys of family int8.  Returns false if the filter
 * would be too large.
 */
static inline bool
bench_plan(const BfDesign *design, uint64_t keys, BfHeader *head)
{
	if (bf_plan(design, keys, head) != BF_OK)
		return false;
	head->family = "int8";
	head->family_len = 4;
	return true;
}

/*
 * Makes the filter of the keys with a planned header, as an aggregate does: from the set of keys if
 * the kind requires it.
 */
static inline BenchFilter
bench_build(BfHeader head, const BenchKeys *keys, BenchForm form)
{
	const BfKind *kind = head.kind;
	BenchFilter filter;

	if (kind->build != NULL)
	{
		TestSource	source = {.source.n = keys->n, .source.read = test_source_read, .hashes = keys->sorted};
		BenchSink	sink = {.sink.extend = bench_sink_extend};

		head.keys_added = keys->n;
		if (kind->build(&bench_env, &head, &source.source, &sink.sink) != BF_OK)
		{
			fprintf(stderr, "%s: %" PRIu64 " keys cannot be built\n", kind->name, keys->n);
			exit(1);
		}
		filter = (BenchFilter) {.view = {.head = head, .payload = sink.sink.bytes}, .payload = sink.sink.bytes};
	}
	else
	{
		filter = bench_empty(&head);
		bf_init(&head, filter.payload);
		bench_loosen(&filter);
		bench_add(&filter, kind->caps & BF_FROM_SET ? keys->sorted : keys->hashes, keys->n);
	}
	if (form == PACKED)
		bench_pack(&filter);
	return filter;
}

/* ---- probes, and the floor ---- */

/* Number of probes whose results stay in the first-level cache. */
#define CHUNK	4096

static inline uint64_t
bench_count(const bool *result, size_t n)
{
	uint64_t	count = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		count += result[i];
	return count;
}

/* Returns how many of the hashes the filter claims to contain, asking one by one. */
static inline uint64_t
bench_probe_one(const BenchFilter *filter, const uint64_t *hashes, size_t n)
{
	BfProbe		probe = filter->view.head.kind->prober(&filter->view);
	uint64_t	count = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		count += probe(&filter->view, hashes[i]);
	return count;
}

/* Returns how many of the hashes the filter claims to contain, asking for many at a time. */
static inline uint64_t
bench_probe_many(const BenchFilter *filter, const uint64_t *hashes, size_t n)
{
	bool		result[CHUNK];
	uint64_t	count = 0;
	size_t		i;

	for (i = 0; i < n; i += CHUNK)
	{
		size_t		chunk = BF_MIN(n - i, CHUNK);

		filter->view.head.kind->probe_many(&filter->view, hashes + i, chunk, result);
		count += bench_count(result, chunk);
	}
	return count;
}

/*
 * The floor is the time that no probe of a random place of the filter can undercut.  A plain loop
 * reads one word of one 64-byte line for each key, in the memory of the filter itself, so that
 * size, pages and the state of the caches are the same.  One by one, the processor overlaps the
 * reads as far as it looks ahead; in batches, as in probe_many(), all lines of a batch are
 * prefetched first.
 */
static inline const uint8_t *
bench_line(const BenchFilter *filter, uint64_t hash)
{
	return filter->payload + bf_cell(hash, filter->view.head.payload_len / LINE) * LINE;
}

static inline uint64_t
bench_floor_one(const BenchFilter *filter, const uint64_t *hashes, size_t n)
{
	uint64_t	count = 0;
	size_t		i;

	for (i = 0; i < n; i++)
		count += bf_load64(bench_line(filter, hashes[i])) & 1;
	return count;
}

static inline uint64_t
bench_floor_many(const BenchFilter *filter, const uint64_t *hashes, size_t n)
{
	bool		result[CHUNK];
	uint64_t	count = 0;
	size_t		i;
	size_t		j;
	size_t		k;

	for (i = 0; i < n; i += CHUNK)
	{
		size_t		chunk = BF_MIN(n - i, CHUNK);

		for (j = 0; j < chunk; j += BF_BATCH)
		{
			size_t		batch = BF_MIN(chunk - j, BF_BATCH);

			for (k = j; k < j + batch; k++)
				__builtin_prefetch(bench_line(filter, hashes[i + k]));
			for (k = j; k < j + batch; k++)
				result[k] = bf_load64(bench_line(filter, hashes[i + k])) & 1;
		}
		count += bench_count(result, chunk);
	}
	return count;
}

#endif							/* BENCH_H */
