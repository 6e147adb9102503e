/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * run_model.h
 *	  Random runs compared with a sorted array: written, read, looked up, cleaned and merged.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_TEST_RUN_MODEL_H
#define BF_TEST_RUN_MODEL_H

#include "run.h"

typedef struct RunModel
{
	uint64_t	n;				/* entries */
	uint64_t	planned;		/* entries that it is made for */
	uint64_t	keys;			/* different ones, of which half of the entries have the first */
	unsigned	p;
	uint32_t	first_block;
	uint64_t	blocks;
	unsigned	offsets;
	uint32_t	body;
	bool		skewed;
} RunModel;

static uint64_t run_operations = 0;

static inline uint64_t
run_hash(uint64_t key)
{
	return test_mix(key * UINT64_C(0x9e3779b97f4a7c15) + 12345);
}

static inline uint64_t
run_random_place(const RunModel *model)
{
	return BF_RUN_PLACE(model->first_block + test_below(model->blocks), 1 + test_below(model->offsets));
}

static inline TestEntries
run_random_entries(const RunModel *model)
{
	TestEntries list = {0};
	uint64_t	i;

	for (i = 0; i < model->n; i++)
	{
		uint64_t	key = model->skewed && i % 2 == 0 ? 0 : test_below(model->keys);

		run_append(&list, (BfRunEntry) {run_hash(key), run_random_place(model)});
	}
	run_truncate(&list, model->p);
	return list;
}

static inline void
run_make(TestRun *run, const RunModel *model, const TestEntries *list, uint32_t every)
{
	BfRunShape	shape;
	uint64_t	different = 0;
	size_t		i;

	if (!bf_run_plan(model->planned, model->p, model->first_block, model->blocks, model->offsets, model->body, &shape))
	{
		printf("no plan for %" PRIu64 " entries, p %u\n", model->planned, model->p);
		exit(2);
	}
	run_begin(run, &shape, model->body);
	for (i = 0; i < list->n; i++)
		different += i == 0 || list->entry[i].hash != list->entry[i - 1].hash;
	CHECK(run_write(run, list, every) == different);
	run_check(run);
	run_operations += list->n;
}

/* Checks, key by key, that a run has exactly the entries of a list. */
static inline void
run_compare_with(const TestRun *run, const TestEntries *list)
{
	unsigned	p = run->run.shape.p;
	TestEntries all = run_read(run);
	TestEntries found = {0};
	uint64_t	places = 0;
	size_t		i;
	size_t		end;
	size_t		j;

	run_sort(&all);
	CHECKF(run_same(&all, list), "%zu entries are read, of %zu", all.n, list->n);
	run_operations += all.n;
	run_free_entries(&all);
	for (i = 0; i < list->n; i = end)
	{
		bool		same = true;

		for (end = i; end < list->n && list->entry[end].hash == list->entry[i].hash; end++)
			;
		/* the bits that are not kept do not matter */
		run_find(run, list->entry[i].hash | test_random() >> p, &found);
		run_sort(&found);
		for (j = 0; same && j < found.n; j++)
			same = found.n == end - i && found.entry[j].place == list->entry[i + j].place;
		if (!same || found.n != end - i)
			CHECKF(false, "%zu places are found, of %zu", found.n, end - i);
		run_operations++;
	}
	/* random hashes; where each finds a large share of the entries, fewer will do */
	for (i = 0; i < list->n / 4 + 100 && places <= 10 * list->n; i++)
	{
		BfRunEntry	key = {.hash = test_random() & ~UINT64_C(0) << (64 - p)};
		size_t		low = 0;
		size_t		high = list->n;

		while (low < high)
		{
			size_t		middle = low + (high - low) / 2;

			if (list->entry[middle].hash < key.hash)
				low = middle + 1;
			else
				high = middle;
		}
		for (end = low; end < list->n && list->entry[end].hash == key.hash; end++)
			;
		run_find(run, key.hash, &found);
		if (found.n != end - low)
			CHECKF(false, "%zu places of a random hash are found, of %zu", found.n, end - low);
		places += found.n;
		run_operations++;
	}
	run_free_entries(&found);
}

/*
 * Tells by an entry's place alone whether it is dead, as VACUUM does. arg is the share of dead
 * entries, in sixteenths.
 */
static inline bool
run_dead(void *arg, uint64_t place)
{
	return (test_mix(place) & 15) < *(uint64_t *) arg;
}

static inline void
run_remove(TestRun *run, TestEntries *list, uint64_t share)
{
	uint64_t	removed = 0;
	size_t		kept = 0;
	uint32_t	i;
	size_t		j;
	int			kind;

	for (kind = BF_RUN_MAIN; kind <= BF_RUN_OVERFLOW; kind++)
		for (i = 0; i < run->pages[kind].n; i++)
		{
			BfRunPage	page = run_page(run, (BfRunPageKind) kind, i);
			uint32_t	used = bf_run_page_used(&page);
			uint8_t    *out = test_malloc(run->run.body);
			uint32_t	gone = bf_run_remove(&page, run_dead, &share, out);

			CHECK(gone > 0 || memcmp(out, page.body, run->run.body) == 0);
			free(run->pages[kind].body[i]);
			run->pages[kind].body[i] = out;
			page = run_page(run, (BfRunPageKind) kind, i);
			CHECK(bf_run_page_used(&page) <= used);
			removed += gone;
		}
	for (j = 0; j < list->n; j++)
		if (!run_dead(&share, list->entry[j].place))
			list->entry[kept++] = list->entry[j];
	CHECK(removed == list->n - kept);
	run_operations += list->n;
	list->n = kept;
	run_check(run);
}

/* Merges two runs, and compares the result, which has the smaller p of the two. */
static inline void
run_merge(const TestRun *a, const TestEntries *in_a, const TestRun *b, const TestEntries *in_b)
{
	const BfRunShape *x = &a->run.shape;
	const BfRunShape *y = &b->run.shape;
	unsigned	p = BF_MIN(x->p, y->p);
	uint32_t	first = BF_MIN(x->first_block, y->first_block);
	uint64_t	end = BF_MAX((uint64_t) x->first_block + x->blocks, (uint64_t) y->first_block + y->blocks);
	uint64_t	mask = ~UINT64_C(0) << (64 - p);
	TestReader	reader[2] = {{.run = a}, {.run = b}};
	TestEntries all = {0};
	TestEntries merged = {0};
	BfRunEntry	next[2];
	bool		there[2];
	BfRunShape	shape;
	TestRun		run;
	size_t		i;

	for (i = 0; i < in_a->n + in_b->n; i++)
		run_append(&all, i < in_a->n ? in_a->entry[i] : in_b->entry[i - in_a->n]);
	run_truncate(&all, p);
	CHECK(bf_run_plan(all.n, p, first, end - first, BF_MAX(x->offsets, y->offsets), a->run.body, &shape));
	run_begin(&run, &shape, a->run.body);

	there[0] = run_next(&reader[0], &next[0]);
	there[1] = run_next(&reader[1], &next[1]);
	while (there[0] || there[1])
	{
		int			least = !there[0] || (there[1] && (next[1].hash & mask) < (next[0].hash & mask));

		run_append(&merged, next[least]);
		there[least] = run_next(&reader[least], &next[least]);
	}
	run_write(&run, &merged, 3);
	run_check(&run);
	run_operations += merged.n;
	run_compare_with(&run, &all);
	run_free(&run);
	run_free_entries(&all);
	run_free_entries(&merged);
}

static inline void
run_model(const RunModel *model)
{
	RunModel	other = *model;
	TestEntries list = run_random_entries(model);
	TestEntries others;
	TestRun		run;
	TestRun		second;

	run_make(&run, model, &list, 0);
	run_compare_with(&run, &list);
	run_remove(&run, &list, 5);
	run_compare_with(&run, &list);

	other.n = other.planned = model->n / 3 + 1;
	other.p = BF_MIN(model->p + 3, BF_RUN_MAX_P);
	other.first_block = model->first_block / 2;
	other.offsets = BF_MIN(model->offsets + 7, UINT16_MAX);
	others = run_random_entries(&other);
	run_make(&second, &other, &others, 2);
	run_merge(&run, &list, &second, &others);
	run_merge(&second, &others, &run, &list);

	run_remove(&run, &list, 16);
	run_compare_with(&run, &list);
	run_merge(&run, &list, &second, &others);
	run_free(&run);
	run_free(&second);
	run_free_entries(&list);
	run_free_entries(&others);
}

/* Makes a random model of at most most entries, with all its parameters chosen at random. */
static inline RunModel
run_random_model(uint64_t most)
{
	static const uint32_t bodies[] = {512, 984, 1000, 2024, 4072, 8152, 8160, 16344, 32728, 32768};
	RunModel	model = {.body = bodies[test_below(10)]};

	model.n = test_below(most) + 1;
	model.planned = test_below(3) == 0 ? test_below(2 * model.n) + 1 : model.n;
	model.keys = test_below(2) == 0 ? 10 * model.n : test_below(model.n) / (1 + test_below(1000)) + 1;
	model.p = test_below(3) == 0 ? 12 : 1 + (unsigned) test_below(BF_RUN_MAX_P);
	model.offsets = 1 + (unsigned) test_below(test_below(2) == 0 ? 291 : 2048);
	model.blocks = 1 + test_below(UINT64_C(1) << test_below(32));
	model.first_block = (uint32_t) test_below(UINT32_MAX - model.blocks);
	model.skewed = test_below(4) == 0;
	/* few hash bits and many entries: every key is looked up among thousands */
	return model;
}

#endif							/* BF_TEST_RUN_MODEL_H */
