/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * merge.c
 *	  Merges runs, a little at a time.
 *
 * Which runs are merged: a run has a level by its number of entries.  Runs of the same level, with
 * the same number of kept bits, are merged as soon as there are 4 of them (FANOUT).  Each large run
 * costs a lookup a random read, and a merge needs the space of its inputs once more.  Runs with
 * fewer kept bits than new runs get are never joined by new ones.  So all runs with the same
 * smaller number of bits become one as soon as there are two, whatever their levels.  That is done
 * as a merge of the largest run's level, so that merges of the lowest level go on for runs that are
 * flushed meanwhile.
 *
 * How a merge works: it can be left and resumed by any process.  The metapage says which runs it
 * reads (MapletRun.output), which output it writes, and how many main pages of the output are
 * written.  All runs are in the order of hashes, so that one number gives the position in each
 * input.  A step writes some pages and stores the number.  Each level has a merge of its own, and
 * inserts do steps of all of them while a tail fills.  A step merges twice as many entries of each
 * level as were inserted since the last step, while a level gets on average as many as were
 * inserted.  So a merge ends before its next inputs are complete, and the number of runs is bounded
 * without VACUUM.  Steps are many and small, as an insert waits for each.
 *
 * Inputs of a merge do not change until its output is installed, except that VACUUM removes
 * entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"

#include "maplet/merge.h"
#include "maplet/run.h"

#define STEP_MS				50

/*
 * CLOCK_ENTRIES is how many entries are merged between two looks at the clock, about 1 ms.  A run
 * of the lowest level has fewer than LEVEL_ENTRIES entries.
 */
#ifndef MAPLET_SMALL_MERGES
#define CLOCK_ENTRIES		16384
#define LEVEL_ENTRIES		320000.0
#else
#define CLOCK_ENTRIES		200
#define LEVEL_ENTRIES		5000.0
#endif

/* The number of runs of one level that are merged into one run of the next level. */
#define FANOUT				4

static int
level_of(uint64 entries)
{
	double		limit = LEVEL_ENTRIES;
	int			level = 0;

	while ((double) entries >= limit && level < MAPLET_OUTPUTS - 2)
	{
		limit *= FANOUT;
		level++;
	}
	return level;
}

/* ---- choosing the runs to merge ---- */

/*
 * Begins a merge of the runs that are marked in chosen[], at least two: reserves its output, and
 * marks the runs as its inputs.
 */
static void
begin_merge(Relation index, MapletMeta *meta, int output, const bool *chosen)
{
	MapletRunFacts facts = {0, 0, InvalidBlockNumber, 0, 0};
	int			p = MAPLET_HASH_BITS;
	uint32		i;

	for (i = 0; i < meta->nruns; i++)
	{
		MapletRun  *run = &meta->runs[i];

		if (!chosen[i])
			continue;
		p = Min(p, run->shape.p);
		facts.entries += run->entries;
		facts.fingerprints += run->fingerprints;
		facts.first_block = Min(facts.first_block, run->shape.first_block);
		facts.last_block = Max(facts.last_block,
							   run->shape.first_block + (run->shape.blocks - 1));
		facts.offsets = Max(facts.offsets, run->shape.offsets);
		run->output = output;
	}
	Assert(meta->outputs[output].run.id == 0);
	facts.entries = Max(facts.entries, 1);
	bloomfam_maplet_plan_run(index, meta, output, p, &facts);
}

/*
 * Returns whether a merge of runs of this level is due that includes the run "first".  If so,
 * chosen[] marks the runs to merge.  If everything is true, a merge takes all runs with the same
 * number of kept bits, whatever their levels.
 */
static bool
choose_runs(const MapletMeta *meta, const MapletRun *first, int level, bool everything,
			bool *chosen)
{
	bool		any_level = everything || first->shape.p != meta->p;
	int			fanout = FANOUT;
	int			n = 0;
	uint32		i;

	if (first->output != 0 || level_of(first->entries) != level)
		return false;
	if (any_level)
		fanout = 2;
	for (i = 0; i < meta->nruns; i++)
	{
		const MapletRun *run = &meta->runs[i];
		int			its_level = level_of(run->entries);

		chosen[i] = run->output == 0 && run->shape.p == first->shape.p &&
			(any_level || its_level == level);
		if (!chosen[i])
			continue;
		if (its_level > level)
			/* The runs to be merged include one of a higher level, whose merge it will be. */
			return false;
		n++;
	}
	return n >= fanout;
}

/*
 * Begins the merges that are due, as far as their levels' outputs are free.  Returns whether any
 * merge has begun.
 */
static bool
begin_due_merges(Relation index, MapletMeta *meta, bool everything)
{
	bool		began = false;
	int			output;

	for (output = MAPLET_FLUSH_OUTPUT + 1; output < MAPLET_OUTPUTS; output++)
	{
		int			level = output - MAPLET_FLUSH_OUTPUT - 1;
		bool		chosen[MAPLET_MAX_RUNS];
		uint32		i;

		for (i = 0; i < meta->nruns && meta->outputs[output].run.id == 0; i++)
		{
			if (!choose_runs(meta, &meta->runs[i], level, everything, chosen))
				continue;
			begin_merge(index, meta, output, chosen);
			began = true;
		}
	}
	return began;
}

/* ---- merging the chosen runs ---- */

typedef struct MergeInput
{
	MapletRunReader reader;
	const BfRunEntry *next;		/* The next entry to merge; NULL at the end of the input. */
} MergeInput;

typedef struct MergeStep
{
	instr_time	begin;
	uint64		entries;		/* The maximum number of entries to merge into each output. */
} MergeStep;

static bool
time_is_over(const MergeStep *step)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, step->begin);
	return INSTR_TIME_GET_MILLISEC(now) > STEP_MS;
}

/*
 * Restores the order of a heap of inputs by moving its first one down to where it belongs.  The
 * input whose next entry has the smallest hash comes first.
 */
static void
sift_down(MergeInput **heap, int n)
{
	MergeInput *moved = heap[0];
	int			at = 0;

	for (;;)
	{
		int			child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && heap[child + 1]->next->hash < heap[child]->next->hash)
			child++;
		if (heap[child]->next->hash >= moved->next->hash)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/*
 * Does a step of the merge that writes the output of this number.  Returns the output as it is
 * after the step, for the caller to store in the metapage.
 */
static MapletOutput
merge_pages(Relation index, const MapletView *view, int number, const MergeStep *step)
{
	MapletRunWriter *w = (MapletRunWriter *) palloc(sizeof(MapletRunWriter));
	MergeInput *inputs = (MergeInput *) palloc(MAPLET_MAX_RUNS * sizeof(MergeInput));
	MergeInput *heap[MAPLET_MAX_RUNS];
	int			n = 0;
	uint64		begin;
	uint64		hash_mask;
	uint32		interval;
	uint64		done = 0;
	uint64		next_look = Min(CLOCK_ENTRIES, step->entries);
	uint32		i;

	bloomfam_maplet_write_begin(w, index, number, &view->meta.outputs[number], NULL);
	interval = w->output.interval;
	if (interval < w->run.shape.pages)
	{
		begin = bf_run_page_begin(&w->run, interval);
		hash_mask = ~((UINT64CONST(1) << (64 - w->run.shape.p)) - 1);
		for (i = 0; i < view->meta.nruns; i++)
		{
			MergeInput *input = &inputs[n];
			int			at;

			if (view->meta.runs[i].output != (uint32) number)
				continue;
			bloomfam_maplet_read_begin(&input->reader, index, &view->meta.runs[i],
									   &view->runs[i],
									   bf_run_page_of(&view->runs[i], begin), NULL);
			do
				input->next = maplet_read(&input->reader);
			while (input->next != NULL && (input->next->hash & hash_mask) < begin);
			if (input->next == NULL)
				continue;

			/*
			 * Move the input up in the heap, which is ordered by the inputs' next hashes, to where
			 * it belongs.
			 */
			heap[n] = input;
			for (at = n++; at > 0 && heap[(at - 1) / 2]->next->hash > input->next->hash;
				 at = (at - 1) / 2)
				heap[at] = heap[(at - 1) / 2];
			heap[at] = input;
		}
	}

	while (n > 0)
	{
		MergeInput *input = heap[0];

		/* A step ends only between main pages, as a merge can be resumed only there. */
		if (unlikely(done >= next_look))
		{
			uint32		at = bf_run_page_of(&w->run, input->next->hash);

			if (at > interval && at > w->writer.interval && w->pages > 0)
			{
				if (done >= step->entries || time_is_over(step))
				{
					bloomfam_maplet_write_until(w, at);
					return w->output;
				}
				next_look = done + CLOCK_ENTRIES;
			}
		}
		bloomfam_maplet_write(w, input->next);
		done++;
		input->next = maplet_read(&input->reader);
		if (input->next == NULL)
			heap[0] = heap[--n];
		if (n > 1)
			sift_down(heap, n);
		Assert(n < 2 || heap[0]->next->hash <= heap[1]->next->hash);
		Assert(n < 3 || heap[0]->next->hash <= heap[2]->next->hash);
	}
	bloomfam_maplet_write_until(w, w->run.shape.pages);
	return w->output;
}

/*
 * Stores in the metapage how far a merge has come.  At the merge's end, replaces its inputs by its
 * output in the same change.
 */
static void
store_progress(Relation index, int number, const MapletOutput *output)
{
	MapletChange change;
	MapletMeta *meta;

	bloomfam_maplet_change_begin(index, &change);
	meta = change.meta;
	if (meta->outputs[number].run.id != output->run.id)
		elog(ERROR, "a merge of index \"%s\" has changed hands", RelationGetRelationName(index));
	meta->outputs[number] = *output;
	if (output->interval == output->run.shape.pages)
	{
		uint32		kept = 0;
		uint32		i;

		for (i = 0; i < meta->nruns; i++)
			if (meta->runs[i].output != (uint32) number)
				meta->runs[kept++] = meta->runs[i];
		meta->nruns = kept;
		bloomfam_maplet_install_run(meta, number);
	}
	bloomfam_maplet_change_commit(&change);
}

/*
 * Does one step of each merge that is under way or due: at most this number of entries of each, and
 * about STEP_MS milliseconds in all.  Returns whether there was a merge to do.  The caller must
 * hold MAPLET_LOCK_MERGE.
 */
static bool
merge_step(Relation index, uint64 entries, bool everything)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet merge",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	MergeStep	step;
	bool		found = false;
	int			number;
	bool		due;

	Assert(bloomfam_maplet_has_lock(index, MAPLET_LOCK_MERGE));
	step.entries = entries;
	INSTR_TIME_SET_CURRENT(step.begin);

	/* Try on a copy of the metapage whether a merge is due, as most often none is. */
	bloomfam_maplet_meta_read(index, view);
	{
		MapletMeta *trial = (MapletMeta *) palloc(sizeof(MapletMeta));

		memcpy(trial, &view->meta, sizeof(MapletMeta));
		due = begin_due_merges(index, trial, everything);
	}
	if (due)
	{
		MapletChange change;

		bloomfam_maplet_change_begin(index, &change);
		begin_due_merges(index, change.meta, everything);
		bloomfam_maplet_change_commit(&change);
		bloomfam_maplet_meta_read(index, view);
	}

	for (number = MAPLET_FLUSH_OUTPUT + 1; number < MAPLET_OUTPUTS; number++)
	{
		MapletOutput output;
		MemoryContext inner;

		if (view->meta.outputs[number].run.id == 0)
			continue;
		if (found && time_is_over(&step))
			break;
		found = true;
		inner = AllocSetContextCreate(context, "maplet merge", ALLOCSET_DEFAULT_SIZES);
		MemoryContextSwitchTo(inner);
		output = merge_pages(index, view, number, &step);
		MemoryContextSwitchTo(context);
		MemoryContextDelete(inner);
		store_progress(index, number, &output);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}

/*
 * Waits for MAPLET_LOCK_MERGE, and does a step of as many entries as its time allows.  Returns
 * whether there was a merge to do.  The caller must hold none of the locks SWITCH, FLUSH and MERGE.
 */
static bool
merge_in_turn(Relation index, bool everything)
{
	bool		found;

	bloomfam_maplet_lock(index, MAPLET_LOCK_MERGE);
	found = merge_step(index, PG_UINT64_MAX, everything);
	bloomfam_maplet_unlock(index, MAPLET_LOCK_MERGE);
	CHECK_FOR_INTERRUPTS();
	return found;
}

static bool
has_many_runs(Relation index)
{
	MapletView *view = (MapletView *) palloc(sizeof(MapletView));
	bool		many;

	bloomfam_maplet_meta_read(index, view);
	many = view->meta.nruns > MAPLET_MANY_RUNS;
	pfree(view);
	return many;
}

void
bloomfam_maplet_limit_runs(Relation index)
{
	while (has_many_runs(index))
	{
		/*
		 * If no merge was due, other processes must have merged runs meanwhile: more than
		 * MAPLET_MANY_RUNS runs always include some that are due.
		 */
		if (!merge_in_turn(index, false) && has_many_runs(index))
			elog(ERROR, "too many runs in a maplet index");
	}
}

void
bloomfam_maplet_merge_some(Relation index, uint64 inserted)
{
	if (bloomfam_maplet_trylock(index, MAPLET_LOCK_MERGE))
	{
		merge_step(index, 2 * inserted, false);
		bloomfam_maplet_unlock(index, MAPLET_LOCK_MERGE);
	}
	bloomfam_maplet_limit_runs(index);
}

void
bloomfam_maplet_merge_all(Relation index, bool everything)
{
	while (merge_in_turn(index, everything))
		;
}
