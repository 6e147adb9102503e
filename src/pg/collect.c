/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.c
 *	  A set or multiset of 64-bit hashes that is built in bounded memory.
 *
 * An aggregate that is to size its filter has to know how many distinct keys there are, so it keeps
 * their hashes.  It keeps them in a hash table while they fit, and beyond that in sorted runs in a
 * temporary file, which are merged range by range in the end.
 *
 * Values are kept scrambled, v = bf_order(h), which is undone when they are read.  A value's slot
 * is its high bits, so a table is nearly sorted by value, and a run costs little more than writing
 * it.  Tables are not sorted by hash on purpose.  Input in the order of a table's slots fills it
 * from one end, where linear probing piles values up at quadratic cost, and hashes might well come
 * in order.  Hashes that are read from another set always do: bloomfam_set_add_set() takes care of
 * that.
 *
 * Hashes may also be chosen by somebody: a hashed key is a value that anyone can write, and so is
 * an aggregate's state.  No value lies further than MAX_DISPLACEMENT slots behind its own, which
 * does not happen with hashes of keys.  A value that would is kept in the set's pile
 * (collect_pile.h).  So adding takes linear time for any input, and sorting n log n at worst.
 *
 * A multiset has a byte beside each slot that tells how often the value came again.  In the file,
 * and for readers, such a value is repeated as often.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/bf_hash.h"
#include "pg/collect.h"

#define MIN_LOG2_SIZE	6

/*
 * The binary logarithm of the number of slots up to which a table grows even beyond the memory
 * budget.  The sorted runs that smaller tables write to the file would be too short.
 */
#define MIN_SPILL_LOG2_SIZE		9

/* A table is full when more than 11/16 of its slots are taken. */
#define CAPACITY(log2_size)		((UINT64CONST(1) << (log2_size)) / 16 * 11)

/*
 * How many slots behind its own slot a value may lie.  In a table of 2^27 slots that is full to
 * 11/16, random values lie up to about 300 slots behind (the chance of a row of k taken slots is
 * below exp(-0.062 k)).
 */
#define MAX_DISPLACEMENT	512
#define NO_SLOT				PG_UINT64_MAX

/* Interrupts are answered after this many slots. */
#define SLOTS_PER_CHECK		((uint64) 64 * 1024)

/*
 * The number of values that are added to a table together.  The smallest table has room for them.
 */
#define BATCH			32

/* The number of values that are read from a run at once. */
#define READ_VALUES		512

/*
 * The binary logarithm of the least number of slots, 64 kB, of the table in which a range of the
 * runs' values is merged.
 */
#define MIN_MERGE_LOG2_SIZE		13

/* Returns the number of bytes of a hash table with 2^log2_size slots. */
static inline Size
table_bytes(const BloomfamSet *set, int log2_size)
{
	return (Size) (set->multiset ? sizeof(uint64) + 1 : sizeof(uint64)) << log2_size;
}

void
bloomfam_set_init(BloomfamSet *set, MemoryContext context, BloomfamBudget *budget, bool multiset)
{
	memset(set, 0, sizeof(*set));
	set->context = context;
	set->budget = budget;
	set->multiset = multiset;
}

/* ---- the hash table ---- */

static void
free_pile(BloomfamSet *set)
{
	set->budget->used -= set->pile.count * BLOOMFAM_PILE_BYTES;
	bloomfam_pile_free(&set->pile);
}

Size
bloomfam_set_memory(const BloomfamSet *set)
{
	Size		table = set->slots != NULL ? table_bytes(set, set->log2_size) : 0;

	return table + set->pile.count * BLOOMFAM_PILE_BYTES;
}

static void
free_table(BloomfamSet *set)
{
	free_pile(set);
	set->budget->used -= bloomfam_set_memory(set);
	if (set->slots != NULL)
		pfree(set->slots);
	set->slots = NULL;
	set->repeats = NULL;
	set->count = 0;
	set->sorted = false;
}

/*
 * Returns the slot of a value in a hash table that has room: the slot that has the value, or else a
 * free one.  The value is not 0, which marks free slots.  Returns NO_SLOT if the value would lie
 * too far from its own slot, and so belongs in the set's pile (collect_pile.h).
 */
static inline uint64
find_slot(const uint64 *slots, int log2_size, uint64 value)
{
	uint64		mask = (UINT64CONST(1) << log2_size) - 1;
	uint64		i = value >> (64 - log2_size);
	int			left = MAX_DISPLACEMENT;

	while (slots[i] != 0 && slots[i] != value)
	{
		if (unlikely(--left < 0))
			return NO_SLOT;
		i = (i + 1) & mask;
	}
	return i;
}

/* Adds a value that would lie too far from its own slot in the table to the set's pile. */
static pg_noinline void
add_to_pile(BloomfamSet *set, uint64 value, uint8 repeats)
{
	if (bloomfam_pile_add(&set->pile, set->context, value, repeats))
	{
		set->count++;
		set->budget->used += BLOOMFAM_PILE_BYTES;
	}
}

/*
 * Adds to the set a value that came repeats + 1 times.  The value is not 0, which marks free slots
 * in the set's table.
 */
static inline void
add_value(BloomfamSet *set, uint64 value, uint8 repeats)
{
	uint64		slot = find_slot(set->slots, set->log2_size, value);

	if (unlikely(slot == NO_SLOT))
		add_to_pile(set, value, repeats);
	else if (set->slots[slot] == 0)
	{
		set->slots[slot] = value;
		if (set->repeats != NULL)
			set->repeats[slot] = repeats;
		set->count++;
	}
	else if (set->repeats != NULL)
		bloomfam_add_repeats(&set->repeats[slot], repeats + 1);
}

/* Replaces the set's hash table by one with 2^log2_size slots, and moves all values to it. */
static void
set_table_size(BloomfamSet *set, int log2_size)
{
	uint64	   *old = set->slots;
	uint8	   *old_repeats = set->repeats;
	BloomfamPile old_pile = set->pile;
	uint64		old_end = 0;
	uint64		i;

	if (old != NULL)
	{
		old_end = set->sorted ? set->count : UINT64CONST(1) << set->log2_size;
		set->budget->used -= bloomfam_set_memory(set);
	}
	set->slots = MemoryContextAllocExtended(set->context, table_bytes(set, log2_size),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	set->repeats = set->multiset ? (uint8 *) (set->slots + (UINT64CONST(1) << log2_size)) : NULL;
	set->budget->used += table_bytes(set, log2_size);
	set->log2_size = log2_size;
	set->sorted = false;
	memset(&set->pile, 0, sizeof(set->pile));
	set->count = 0;

	/*
	 * The old values come in order, but do not pile up in one place of the new table, as its size
	 * is right for them.
	 */
	for (i = 0; i < old_end; i++)
	{
		if (i % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (old[i] != 0)
			add_value(set, old[i], old_repeats != NULL ? old_repeats[i] : 0);
	}
	if (old_pile.count > 0)
	{
		uint64		n = old_pile.count;
		BloomfamPileEntry *entries = bloomfam_pile_take(&old_pile, set->context);

		for (i = 0; i < n; i++)
		{
			if (i % SLOTS_PER_CHECK == 0)
				CHECK_FOR_INTERRUPTS();
			add_value(set, entries[i].value, entries[i].repeats);
		}
		pfree(entries);
	}
	if (old != NULL)
		pfree(old);
}

/* Removes all values from the table. */
static void
empty_table(BloomfamSet *set)
{
	free_pile(set);
	memset(set->slots, 0, table_bytes(set, set->log2_size));
	set->count = 0;
	set->sorted = false;
}

/*
 * Merges the pile, the values that had no place in the table, into the sorted array of n values
 * that the table has become.
 */
static void
merge_pile(BloomfamSet *set, uint64 n)
{
	uint64		m = set->pile.count;
	BloomfamPileEntry *sorted = bloomfam_pile_take(&set->pile, set->context);
	uint64		i;

	set->budget->used -= m * BLOOMFAM_PILE_BYTES;

	/* Merge from the back, as the array has room for all values. */
	for (i = n + m; m > 0; i--)
	{
		if (i % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (n > 0 && set->slots[n - 1] > sorted[m - 1].value)
		{
			n--;
			set->slots[i - 1] = set->slots[n];
			if (set->repeats != NULL)
				set->repeats[i - 1] = set->repeats[n];
		}
		else
		{
			m--;
			set->slots[i - 1] = sorted[m].value;
			if (set->repeats != NULL)
				set->repeats[i - 1] = sorted[m].repeats;
		}
	}
	pfree(sorted);
}

/*
 * Turns the table into an array of its values, in order, at its beginning.  They are nearly in
 * order: linear probing has moved each value only a few slots, except those that it carried over
 * the end to the beginning.
 */
static void
sort_table(BloomfamSet *set)
{
	uint64	   *slots = set->slots;
	uint8	   *repeats = set->repeats;
	uint64		size = UINT64CONST(1) << set->log2_size;
	uint64	   *carried;
	uint8	   *carried_repeats;
	uint64		ncarried = 0;
	uint64		n = 0;
	uint64		i;

	if (slots == NULL || set->sorted)
		return;

	/*
	 * Values that linear probing carried over from the table's end to its beginning lie before
	 * their own slots, and before the first free slot.
	 */
	for (i = 0; slots[i] != 0; i++)
		ncarried += (slots[i] >> (64 - set->log2_size)) > i;
	carried = palloc(Max(ncarried, 1) * (sizeof(uint64) + 1));
	carried_repeats = (uint8 *) (carried + ncarried);
	ncarried = 0;
	for (i = 0; i < size; i++)
	{
		if (slots[i] == 0)
			continue;
		if ((slots[i] >> (64 - set->log2_size)) > i)
		{
			carried[ncarried] = slots[i];
			if (repeats != NULL)
				carried_repeats[ncarried] = repeats[i];
			ncarried++;
		}
		else
		{
			slots[n] = slots[i];
			if (repeats != NULL)
				repeats[n] = repeats[i];
			n++;
		}
	}
	memcpy(slots + n, carried, ncarried * sizeof(uint64));
	if (repeats != NULL)
		memcpy(repeats + n, carried_repeats, ncarried);
	n += ncarried;
	pfree(carried);

	/*
	 * Insertion sort takes linear time, as no value is further than MAX_DISPLACEMENT from its
	 * place.
	 */
	for (i = 1; i < n; i++)
	{
		uint64		value = slots[i];
		uint64		j = i;
		uint8		times = repeats != NULL ? repeats[i] : 0;

		if (i % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		for (; j > 0 && slots[j - 1] > value; j--)
		{
			slots[j] = slots[j - 1];
			if (repeats != NULL)
				repeats[j] = repeats[j - 1];
		}
		slots[j] = value;
		if (repeats != NULL)
			repeats[j] = times;
	}
	if (set->pile.count > 0)
		merge_pile(set, n);
	set->sorted = true;
}

/*
 * Copies at most max values out of the array that sort_table() has made; a value of a multiset as
 * often as it came. *at is the index of the next value, which was copied *again times already.
 * Returns the number of values copied.
 */
static uint64
copy_values(const BloomfamSet *set, uint64 *at, int *again, uint64 *values, uint64 max)
{
	uint64		n = 0;

	if (!set->multiset)
	{
		n = Min(max, set->count - *at);
		if (n > 0)
			memcpy(values, set->slots + *at, n * sizeof(uint64));
		*at += n;
		return n;
	}
	while (n < max && *at < set->count)
	{
		values[n++] = set->slots[*at];
		if (++*again > set->repeats[*at])
		{
			++*at;
			*again = 0;
		}
	}
	return n;
}

/* ---- the temporary file ---- */

static void
file_seek(BloomfamBudget *budget, off_t at)
{
	if (BufFileSeek(budget->file, 0, at, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
}

/* Appends values to the file, which is made if there is none. */
static void
file_write(BloomfamBudget *budget, uint64 *values, uint64 n)
{
	if (budget->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(budget));

		budget->file = BufFileCreateTemp(false);
		budget->file_end = 0;
		MemoryContextSwitchTo(old);
	}
	file_seek(budget, budget->file_end);
	BufFileWrite(budget->file, values, n * sizeof(uint64));
	budget->file_end += (off_t) (n * sizeof(uint64));
}

static void
file_read(BloomfamBudget *budget, off_t at, uint64 *values, uint64 n)
{
	file_seek(budget, at);
	if (BufFileRead(budget->file, values, n * sizeof(uint64)) != n * sizeof(uint64))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* Begins a run at the end of the file. */
static BloomfamRun *
add_run(BloomfamSet *set)
{
	BloomfamRun *run;

	if (set->nruns == set->max_runs)
	{
		set->max_runs = Max(8, set->max_runs * 2);
		if (set->runs == NULL)
			set->runs = MemoryContextAlloc(set->context, set->max_runs * sizeof(BloomfamRun));
		else
			set->runs = repalloc_huge(set->runs, set->max_runs * sizeof(BloomfamRun));
	}
	run = &set->runs[set->nruns++];
	run->start = set->budget->file != NULL ? set->budget->file_end : 0;
	run->count = 0;
	run->distinct = 0;
	run->position = 0;
	return run;
}

/*
 * Writes the values of a hash table to the end of a run in the file, in order, and empties the
 * table.
 */
static void
append_table(BloomfamBudget *budget, BloomfamRun *run, BloomfamSet *table)
{
	run->distinct += table->count;
	if (table->multiset)
	{
		uint64		values[READ_VALUES];
		uint64		at = 0;
		int			again = 0;
		uint64		n;

		while ((n = copy_values(table, &at, &again, values, READ_VALUES)) > 0)
		{
			file_write(budget, values, n);
			run->count += n;
		}
	}
	else
	{
		file_write(budget, table->slots, table->count);
		run->count += table->count;
	}
	empty_table(table);
}

/* Writes the set's hash table to the file as a new sorted run, and empties the table. */
static void
spill(BloomfamSet *set)
{
	BloomfamRun *run;

	if (set->count == 0)
		return;
	sort_table(set);
	run = add_run(set);
	append_table(set->budget, run, set);
	set->spilled += run->count;
}

/* ---- adding hashes ---- */

/* Returns whether the budget allows a table of this size in addition to the present one. */
static inline bool
fits_budget(const BloomfamSet *set, int log2_size)
{
	return !set->budget->may_spill ||
		   set->budget->used + table_bytes(set, log2_size) <= set->budget->limit;
}

/*
 * Makes room in the set's table for another batch of values: enlarges the table, or writes it to
 * the file.
 */
static pg_noinline void
make_room(BloomfamSet *set)
{
	CHECK_FOR_INTERRUPTS();
	if (set->slots == NULL)
		set_table_size(set, MIN_LOG2_SIZE);
	else if (set->sorted && set->count + BATCH <= CAPACITY(set->log2_size))
		set_table_size(set, set->log2_size);
	else if (set->log2_size < MIN_SPILL_LOG2_SIZE || fits_budget(set, set->log2_size + 1))
		set_table_size(set, set->log2_size + 1);
	else
		spill(set);
}

/* Counts that the value 0 was added, which the slots of the table cannot hold. */
static void
add_zero(BloomfamSet *set)
{
	if (set->zeros < (set->multiset ? BF_MAX_TIMES : 1))
		set->zeros++;
}

/* Adds n values, at most BATCH, to the set. */
static inline void
add_values(BloomfamSet *set, const uint64 *values, int n)
{
	int			i;

	if (set->slots == NULL || set->sorted || set->count + n > CAPACITY(set->log2_size))
		make_room(set);
	for (i = 0; i < n; i++)
		__builtin_prefetch(&set->slots[values[i] >> (64 - set->log2_size)], 1);
	for (i = 0; i < n; i++)
		if (unlikely(values[i] == 0))
			add_zero(set);
		else
			add_value(set, values[i], 0);
}

void
bloomfam_set_add(BloomfamSet *set, const uint64 *hashes, int n)
{
	while (n > 0)
	{
		int			batch = Min(n, BATCH);
		uint64		values[BATCH];
		int			i;

		for (i = 0; i < batch; i++)
			values[i] = bf_order(hashes[i]);
		add_values(set, values, batch);
		hashes += batch;
		n -= batch;
	}
}

/* Converts n hashes in stored form to values, the form in which a set keeps them (bf_order()). */
static inline void
load_values(uint64 *values, const uint8 *hashes, uint64 n)
{
	uint64		i;

	memcpy(values, hashes, n * sizeof(uint64));
	bloomfam_swap_hashes(values, n);
	for (i = 0; i < n; i++)
		values[i] = bf_order(values[i]);
}

/*
 * Returns whether the values of the hashes are in order, without 0, and in a set without repeated
 * ones.  If so, sets *distinct to the number of distinct values.
 */
static bool
in_order(const BloomfamSet *set, const uint8 *hashes, uint64 n, uint64 *distinct)
{
	uint64		last = 0;
	uint64		i;

	*distinct = n;
	for (i = 0; i < n; i++)
	{
		uint64		value;

		if (i % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		load_values(&value, hashes + i * sizeof(uint64), 1);
		if (value == last && value != 0 && set->multiset)
			(*distinct)--;
		else if (value <= last)
			return false;
		last = value;
	}
	return true;
}

void
bloomfam_set_add_set(BloomfamSet *set, const uint8 *hashes, uint64 n)
{
	int			log2_size = set->slots == NULL ? MIN_LOG2_SIZE : set->log2_size;
	uint64		values[READ_VALUES];
	uint64		distinct;
	uint64		done;

	/*
	 * In a set that is in order, zeros come first: count them separately, as the table cannot hold
	 * them.
	 */
	for (; n > 0; n--)
	{
		load_values(values, hashes, 1);
		if (values[0] != 0)
			break;
		if (n % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		add_zero(set);
		hashes += sizeof(uint64);
	}

	/*
	 * A table with room for all hashes takes them in order without piling up.  If there is no such
	 * table, the hashes are written as a run, as they are in order.
	 */
	while (set->count + n + BATCH > CAPACITY(log2_size))
		log2_size++;
	if (log2_size <= MIN_SPILL_LOG2_SIZE || fits_budget(set, log2_size))
	{
		if (set->slots == NULL || set->sorted || log2_size > set->log2_size)
			set_table_size(set, log2_size);
	}
	else if (in_order(set, hashes, n, &distinct))
	{
		BloomfamRun *run = add_run(set);

		for (done = 0; done < n; done += READ_VALUES)
		{
			uint64		batch = Min(READ_VALUES, n - done);

			load_values(values, hashes + done * sizeof(uint64), batch);
			file_write(set->budget, values, batch);
			CHECK_FOR_INTERRUPTS();
		}
		run->count = n;
		run->distinct = distinct;
		set->spilled += n;
		return;
	}
	for (done = 0; done < n; done += BATCH)
	{
		uint64		batch = Min(BATCH, n - done);

		if (done % SLOTS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		load_values(values, hashes + done * sizeof(uint64), batch);
		add_values(set, values, (int) batch);
	}
}

void
bloomfam_set_clear(BloomfamSet *set)
{
	free_table(set);
	if (set->runs != NULL)
		pfree(set->runs);
	bloomfam_set_init(set, set->context, set->budget, set->multiset);
}

/* ---- reading the set ---- */

/*
 * Adds to a table all values of one range from all runs, whose positions are at the range's
 * beginning.  A range has the values with the same high bits.  These are shifted out in the table,
 * so that the range fills it evenly.  Returns whether the table had room for the values.  If it had
 * not, the runs' positions are restored, and the table is empty.
 */
static bool
gather_range(BloomfamSet *set, BloomfamSet *table, uint64 range, int bits)
{
	uint64 highest = bits == 0 ? PG_UINT64_MAX : (range << (64 - bits)) + (PG_UINT64_MAX >> bits);
	bool		fits = true;
	int			r;

	for (r = 0; r < set->nruns; r++)
		set->runs[r].mark = set->runs[r].position;
	for (r = 0; r < set->nruns && fits; r++)
	{
		BloomfamRun *run = &set->runs[r];
		bool		more = true;

		while (more && fits && run->position < run->count)
		{
			uint64		values[READ_VALUES];
			uint64		n = Min(READ_VALUES, run->count - run->position);
			uint64		in_range = 0;
			uint64		i;

			CHECK_FOR_INTERRUPTS();
			file_read(set->budget, run->start + (off_t) (run->position * sizeof(uint64)), values,
					  n);
			while (in_range < n && values[in_range] <= highest)
				values[in_range++] <<= bits;
			fits = table->count + in_range + BATCH <= CAPACITY(table->log2_size);
			for (i = 0; i < in_range && fits; i += BATCH)
				add_values(table, values + i, (int) Min(BATCH, in_range - i));
			run->position += in_range;
			more = in_range == n;
		}
	}
	if (!fits)
	{
		for (r = 0; r < set->nruns; r++)
			set->runs[r].position = set->runs[r].mark;
		table->zeros = 0;
		empty_table(table);
	}
	return fits;
}

/*
 * Appends those values of all runs that begin with the given high bits (a range) to another run, in
 * order, and without repeated values unless the set is a multiset.  If the range does not fit in
 * the table, which takes crafted input, merges its halves one after the other.
 */
static void
merge_range(BloomfamSet *set, BloomfamSet *table, BloomfamRun *merged, uint64 range, int bits)
{
	uint64		high_bits = bits == 0 ? 0 : range << (64 - bits);
	uint64		i;

	if (!gather_range(set, table, range, bits))
	{
		merge_range(set, table, merged, range * 2, bits + 1);
		merge_range(set, table, merged, range * 2 + 1, bits + 1);
		return;
	}
	sort_table(table);
	for (i = 0; i < table->count; i++)
		table->slots[i] = (table->slots[i] >> bits) | high_bits;

	/*
	 * In the table, values are shifted left by the bits that all values of the range share.  A
	 * value that became 0 by that is the first of the range.
	 */
	merged->distinct += table->zeros > 0;
	for (; table->zeros > 0; table->zeros--)
	{
		file_write(set->budget, &high_bits, 1);
		merged->count++;
	}
	append_table(set->budget, merged, table);
}

/*
 * Merges the runs, and what is still in the table, into one run, without repeated values unless the
 * set is a multiset.
 *
 * It merges range by range, so that each range fits in a table of half the budget.  Hashes are
 * spread evenly, so ranges of equal width have about the same number of values.
 */
static void
merge_runs(BloomfamSet *set)
{
	BloomfamBudget *budget = set->budget;
	BloomfamBudget unbounded = {.may_spill = false};
	BloomfamSet table;
	BloomfamRun merged = {0};
	int			log2_size = MIN_MERGE_LOG2_SIZE;
	int			bits = 0;
	uint64		range;
	int			r;

	spill(set);
	free_table(set);
	if (set->nruns == 1)
		return;

	while (table_bytes(set, log2_size + 1) <= budget->limit / 2)
		log2_size++;
	while (bits < 40 &&
		   (double) set->spilled / (UINT64CONST(1) << bits) > 0.9 * CAPACITY(log2_size))
		bits++;

	for (r = 0; r < set->nruns; r++)
		set->runs[r].position = 0;
	merged.start = budget->file_end;
	bloomfam_set_init(&table, CurrentMemoryContext, &unbounded, set->multiset);
	set_table_size(&table, log2_size);
	for (range = 0; range < UINT64CONST(1) << bits; range++)
		merge_range(set, &table, &merged, range, bits);
	bloomfam_set_clear(&table);

	set->nruns = 1;
	set->runs[0] = merged;
	set->spilled = merged.count;
}

/* Returns the number of values that will be read from the table, which is sorted. */
static uint64
total_in_table(const BloomfamSet *set)
{
	uint64		total = set->count;
	uint64		i;

	if (set->multiset)
		for (i = 0; i < set->count; i++)
			total += set->repeats[i];
	return total;
}

void
bloomfam_set_read_begin(BloomfamSetReader *reader, BloomfamSet *set)
{
	memset(reader, 0, sizeof(*reader));
	reader->set = set;
	if (set->nruns > 0)
	{
		merge_runs(set);
		reader->distinct = set->runs[0].distinct;
		reader->total = set->runs[0].count;
	}
	else
	{
		sort_table(set);
		reader->distinct = set->count;
		reader->total = total_in_table(set);
	}
	reader->distinct += set->zeros > 0;
	reader->total += set->zeros;
}

int
bloomfam_set_read(BloomfamSetReader *reader, uint64 *hashes, int max)
{
	BloomfamSet *set = reader->set;
	int			n = 0;
	int			more;
	int			i;

	CHECK_FOR_INTERRUPTS();
	while (n < max && reader->zeros < set->zeros)
	{
		hashes[n++] = 0;
		reader->zeros++;
	}
	if (set->nruns > 0)
	{
		more = (int) Min((uint64) (max - n), set->runs[0].count - reader->at);
		if (more > 0)
			file_read(set->budget, set->runs[0].start + (off_t) (reader->at * sizeof(uint64)),
					  hashes + n, more);
		reader->at += more;
	}
	else
		more = (int) copy_values(set, &reader->at, &reader->again, hashes + n, max - n);
	for (i = n; i < n + more; i++)
		hashes[i] *= BF_ORDER_INVERSE;
	return n + more;
}
