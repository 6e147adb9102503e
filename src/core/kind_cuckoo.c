/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_cuckoo.c
 *	  The cuckoo filter: a hash table of tags, from which keys can be removed.
 *
 * The table stores only a tag of f bits for a key, in one of two buckets of 4 slots.  From either
 * bucket and the tag the other bucket can be computed, so that a tag can be moved there to make
 * room, although its key is not known:
 *
 *		left = floor(h * pairs / 2^64)			bits 63..37 decide: pairs is less than 2^27
 *		tag = 1 + floor(x * (2^f - 1) / 2^32)	x = bits 31..0 of h; 0 marks an empty slot
 *		right = left + shift(tag) modulo pairs
 *
 * Left buckets are the first half of the table, right ones the second half.  There are "pairs" of
 * each, which need not be a power of two.  The two buckets of a key always differ, so that there is
 * room for exactly 2 * 4 = 8 equal keys, each of which takes a slot.  A key is contained if and
 * only if a key with the same left bucket and the same tag is stored, in whichever of its buckets.
 * So the FPR with n keys is
 *
 *		1 - (1 - 1 / (pairs * (2^f - 1)))^n  <=  1 - (1 - 1 / (2^f - 1))^(8 * load)
 *
 * where the right side is the paper's formula.  Up to a load of 0.95, room is found by moving a few
 * tags.  The rare key in a small table for which no room is found goes to a stash of 4 keys.
 *
 * Payload: the slots, f bits each from the lowest bit of the first byte on, left buckets first;
 * then the stash, 4 times 8 bytes: left * (2^f - 1) + tag, or 0.  So loads of 8 bytes that begin in
 * the last slots do not reach beyond the payload.
 *
 *		param[0]	f, the bits of a tag
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher 2014, "Cuckoo filter: practically better than Bloom"; the
 * search for room is theirs of 2013 ("MemC3").
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_hash.h"
#include "bf_math.h"

#include <math.h>

#define BUCKET_SLOTS	4
#define PAIR_SLOTS		(2 * BUCKET_SLOTS)
#define MIN_TAG_BITS	4
#define MAX_TAG_BITS	32

/* Up to this many bits per tag, the 4 tags of a bucket are read by one load. */
#define NARROW_TAG_BITS	16

#define MAX_LOAD		0.95

/*
 * The number of pairs of buckets by which every table is enlarged, for the sake of small tables, in
 * which the number of keys in a bucket varies more than MAX_LOAD allows for.  With these pairs, one
 * of 10^5 tables of 30 keys needs the stash at all, larger and smaller tables more rarely, and each
 * further key in the stash is five times rarer.
 */
#define SPARE_PAIRS		2

#define STASH_KEYS		4
#define STASH_BYTES		(STASH_KEYS * 8)

/*
 * The most buckets that the search for room for a new key examines: enough for six moves of tags,
 * which are hardly ever needed at a load of 0.95.
 */
#define MAX_SEARCH		4096

/* The hash table in a payload.  Only the functions that add and remove keys write through slots. */
typedef struct Table
{
	uint8_t    *slots;
	uint64_t	pairs;
	unsigned	bits;			/* The number of bits of a tag, f. */

	/* The number of different tags, 2^f - 1; also the mask of a tag's bits. */
	uint64_t	tags;
} Table;

/* A key's two buckets and its tag. */
typedef struct Place
{
	uint64_t	bucket[2];
	uint64_t	tag;
	uint64_t	key;			/* The key's form in the stash. */
} Place;

/*
 * The 4 slots of a bucket, the first one in the lowest bits.  The bits above the slots belong to
 * other buckets.
 */
typedef unsigned __int128 Bucket;

static inline Table
table_of(const BfHeader *head, const uint8_t *payload)
{
	Table		table;

	table.slots = (uint8_t *) (uintptr_t) payload;
	table.bits = head->param[0];
	/* A 32-bit division is faster than one of 64 bits, and the length of any value fits. */
	table.pairs = (uint32_t) (head->payload_len - STASH_BYTES) / table.bits;
	table.tags = UINT64_MAX >> (64 - table.bits);
	return table;
}

static inline uint8_t *
stash_of(const Table *table)
{
	/* A pair of buckets has 8 slots of f bits, that is, f bytes. */
	return table->slots + table->pairs * table->bits;
}

/* Returns the other bucket in which a tag that is in the given bucket could be. */
static inline uint64_t
partner(const Table *table, uint64_t bucket, uint64_t tag)
{
	uint64_t	pairs = table->pairs;
	uint64_t	mixed = tag * UINT64_C(0xd1342543de82ef95);
	uint64_t	shift = bf_cell((mixed ^ (mixed >> 32)) * BF_ORDER_MULTIPLIER, pairs);

	if (bucket < pairs)
	{
		bucket += shift;
		return bucket < pairs ? bucket + pairs : bucket;
	}
	bucket -= pairs;
	return bucket >= shift ? bucket - shift : bucket + pairs - shift;
}

static inline Place
place_of(const Table *table, uint64_t hash)
{
	Place		place;

	place.bucket[0] = bf_cell(hash, table->pairs);
	place.tag = 1 + (((uint32_t) hash * table->tags) >> 32);
	place.bucket[1] = partner(table, place.bucket[0], place.tag);
	place.key = place.bucket[0] * table->tags + place.tag;
	return place;
}

/*
 * Returns the byte in which a bucket begins, and sets *skip to how many bits of that byte precede
 * it: 0 or 4.
 */
static inline const uint8_t *
bucket_start(const Table *table, uint64_t bucket, unsigned *skip)
{
	uint64_t	nibble = bucket * table->bits;

	*skip = (unsigned) (nibble & 1) * 4;
	return table->slots + nibble / 2;
}

static inline Bucket
load_bucket(const Table *table, uint64_t bucket)
{
	unsigned	skip;
	const uint8_t *p = bucket_start(table, bucket, &skip);

	return (bf_load64(p) | (Bucket) bf_load64(p + 8) << 64) >> skip;
}

static inline uint64_t
tag_at(const Table *table, Bucket slots, unsigned slot)
{
	return (uint64_t) (slots >> (slot * table->bits)) & table->tags;
}

static inline void
store_tag(const Table *table, uint64_t bucket, unsigned slot, uint64_t tag)
{
	uint64_t	bit = (bucket * BUCKET_SLOTS + slot) * table->bits;
	uint8_t    *p = table->slots + bit / 8;
	unsigned	skip = bit % 8;

	bf_store64(p, (bf_load64(p) & ~(table->tags << skip)) | tag << skip);
}

/*
 * Returns the first slot of a bucket that holds the given tag, or BUCKET_SLOTS if none does.  With
 * tag 0, finds a free slot.
 */
static inline unsigned
find_slot(const Table *table, uint64_t bucket, uint64_t tag)
{
	Bucket		slots = load_bucket(table, bucket);
	unsigned	slot = 0;

	while (slot < BUCKET_SLOTS && tag_at(table, slots, slot) != tag)
		slot++;
	return slot;
}

/* Returns how many keys the stash holds; they are its first entries. */
static inline unsigned
stash_count(const uint8_t *stash)
{
	unsigned	n = 0;

	while (n < STASH_KEYS && bf_load64(stash + n * 8) != 0)
		n++;
	return n;
}

/* ---- design of a cuckoo filter ---- */

/*
 * Returns the highest load, up to MAX_LOAD, at which tags of the given number of bits meet fpr.  It
 * is the paper's formula, fpr = 1 - (1 - 1 / (2^bits - 1))^(8 * load), solved for the load.
 */
static double
load_for(double fpr, unsigned bits)
{
	return fmin(MAX_LOAD, log1p(-fpr) / (PAIR_SLOTS * log1p(-1 / (ldexp(1, (int) bits) - 1))));
}

static void
cuckoo_design(BfDesign *design)
{
	double		best = HUGE_VAL;
	unsigned	bits;

	/* Shorter tags at a lower load may take less space than longer tags at a high load. */
	for (bits = MIN_TAG_BITS; bits <= MAX_TAG_BITS; bits++)
	{
		double		per_key = bits / load_for(design->fpr, bits);

		if (per_key < best)
		{
			best = per_key;
			design->param[0] = bits;
		}
	}
	design->millibits = (uint32_t) ceil(best * 1000 - 1e-6);
	bits = design->param[0];
	design->expected_fpr =
		-expm1(PAIR_SLOTS * load_for(design->fpr, bits) * log1p(-1 / (ldexp(1, (int) bits) - 1)));
}

static uint64_t
cuckoo_size(const BfDesign *design, uint64_t keys)
{
	unsigned	bits = design->param[0];
	uint64_t	pairs = bf_math_cells(keys, design->millibits, PAIR_SLOTS * bits);

	/* A table with a single pair needs no spare pairs, because any key fits any of its 8 slots. */
	if (pairs > 1 && pairs < UINT64_MAX - SPARE_PAIRS)
		pairs += SPARE_PAIRS;
	return pairs > BF_MAX_VALUE_SIZE / bits ? UINT64_MAX : pairs * bits + STASH_BYTES;
}

static const char *
cuckoo_check(const BfHeader *head)
{
	if (head->param[0] < MIN_TAG_BITS || head->param[0] > MAX_TAG_BITS)
		return "the number of bits of a tag is out of range";
	if (head->payload_len <= STASH_BYTES || (head->payload_len - STASH_BYTES) % head->param[0] != 0)
		return "the payload is not a whole number of pairs of buckets";
	if (head->param[1] != 0 || head->param[2] != 0 || head->param[3] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

static const char *
cuckoo_validate(const BfPort *port, const BfView *view)
{
	Table		table = table_of(&view->head, view->payload);
	const uint8_t *stash = stash_of(&table);
	unsigned	n = stash_count(stash);
	unsigned	i;

	(void) port;
	for (i = 0; i < STASH_KEYS; i++)
	{
		uint64_t	key = bf_load64(stash + i * 8);

		if (i >= n && key != 0)
			return "the stash has a gap";
		if (key > table.pairs * table.tags)
			return "a key in the stash is out of range";
	}
	return NULL;
}

/* ---- probing a cuckoo filter ---- */

/*
 * Returns whether one of a bucket's 4 slots holds the tag, for tags of up to NARROW_TAG_BITS bits.
 * It tests whether any lane of x is zero (Mycroft 1987), which is exact about whether there is one,
 * though not about which.
 */
static inline bool
bucket_has_narrow(const Table *table, uint64_t bucket, uint64_t tag)
{
	unsigned	bits = table->bits;
	unsigned	skip;
	const uint8_t *p = bucket_start(table, bucket, &skip);
	uint64_t ones = (UINT64_C(1) | UINT64_C(1) << bits) * (UINT64_C(1) | UINT64_C(1) << 2 * bits);
	uint64_t	x = (bf_load64(p) >> skip) ^ (ones * tag);

	return ((x - ones) & ~x & ones << (bits - 1)) != 0;
}

/* Returns whether one of a bucket's 4 slots holds the tag, slot by slot, for tags of any length. */
static inline bool
bucket_has_wide(const Table *table, uint64_t bucket, uint64_t tag)
{
	uint64_t	bit = bucket * BUCKET_SLOTS * table->bits;
	bool		found = false;
	unsigned	i;

	for (i = 0; i < BUCKET_SLOTS; i++, bit += table->bits)
		found |= ((bf_load64(table->slots + bit / 8) >> bit % 8 ^ tag) & table->tags) == 0;
	return found;
}

static bool
stash_has(const uint8_t *stash, uint64_t key)
{
	unsigned	i;

	for (i = 0; i < STASH_KEYS; i++)
		if (bf_load64(stash + i * 8) == key)
			return true;
	return false;
}

/*
 * Returns whether the table or its stash contains a key.  Reads both buckets without a branch
 * between them, as it is unpredictable which one has the key.
 */
static inline bool
has(const Table *table, const Place *place, bool narrow)
{
	const uint8_t *stash = stash_of(table);
	bool		found;

	if (narrow)
		found = (int) bucket_has_narrow(table, place->bucket[0], place->tag) |
				(int) bucket_has_narrow(table, place->bucket[1], place->tag);
	else
		found = (int) bucket_has_wide(table, place->bucket[0], place->tag) |
				(int) bucket_has_wide(table, place->bucket[1], place->tag);
	return found || (bf_load64(stash) != 0 && stash_has(stash, place->key));
}

static bool
probe_narrow(const BfView *view, uint64_t hash)
{
	Table		table = table_of(&view->head, view->payload);
	Place		place = place_of(&table, hash);

	return has(&table, &place, true);
}

static bool
probe_wide(const BfView *view, uint64_t hash)
{
	Table		table = table_of(&view->head, view->payload);
	Place		place = place_of(&table, hash);

	return has(&table, &place, false);
}

static BfProbe
cuckoo_prober(const BfView *view)
{
	return view->head.param[0] <= NARROW_TAG_BITS ? probe_narrow : probe_wide;
}

/* Computes the places of a batch of keys, and prefetches their buckets. */
static inline void
fetch(const Table *table, const uint64_t *hashes, size_t n, Place *place, int for_write)
{
	unsigned	skip;
	size_t		j;
	int			i;

	for (j = 0; j < n; j++)
	{
		place[j] = place_of(table, hashes[j]);
		for (i = 0; i < 2; i++)
			if (for_write)
				__builtin_prefetch(bucket_start(table, place[j].bucket[i], &skip), 1);
			else
				__builtin_prefetch(bucket_start(table, place[j].bucket[i], &skip));
	}
}

static void
cuckoo_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	Table		table = table_of(&view->head, view->payload);
	Place		place[BF_BATCH];

	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		size_t		j;

		fetch(&table, hashes, batch, place, 0);
		if (table.bits <= NARROW_TAG_BITS)
			for (j = 0; j < batch; j++)
				result[j] = has(&table, &place[j], true);
		else
			for (j = 0; j < batch; j++)
				result[j] = has(&table, &place[j], false);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/* ---- adding and removing keys ---- */

/*
 * A bucket that the search for room has reached.  It is the other bucket of the tag that lies in a
 * certain slot of an earlier step's bucket.
 */
typedef struct Step
{
	uint32_t	bucket;

	/* The index of the earlier step; MAX_SEARCH if the bucket is one of the key's own two. */
	uint16_t	from;
	uint16_t	slot;			/* The slot in the earlier step's bucket. */
} Step;

/*
 * Makes room for a key whose two buckets are full, by moving a tag to its other bucket, in which a
 * tag may have to be moved first, and so on.  Returns true, and sets *bucket and *slot to the slot
 * that has become free in one of the key's buckets; returns false, with nothing changed, if no room
 * was found.
 *
 * Searches breadth first for the shortest chain of moves.  That chain visits no bucket twice, so
 * that its moves do not disturb each other.
 */
static bool
make_room(const Table *table, const Place *place, uint64_t *bucket, unsigned *slot)
{
	Step		step[MAX_SEARCH];
	unsigned	n = 2;
	unsigned	at;

	step[0].bucket = (uint32_t) place->bucket[0];
	step[1].bucket = (uint32_t) place->bucket[1];
	step[0].from = step[1].from = MAX_SEARCH;
	for (at = 0; at < n; at++)
	{
		Bucket		slots = load_bucket(table, step[at].bucket);
		unsigned	skip;
		unsigned	i;

		for (i = 0; i < BUCKET_SLOTS; i++)
		{
			uint64_t	tag = tag_at(table, slots, i);

			if (tag == 0)
			{
				/*
				 * Move the tags, beginning at the end of the chain: each moves into the slot that
				 * the tag moved before it has left.
				 */
				while (step[at].from != MAX_SEARCH)
				{
					const Step *from = &step[step[at].from];

					store_tag(table, step[at].bucket, i,
							  tag_at(table, load_bucket(table, from->bucket), step[at].slot));
					i = step[at].slot;
					at = step[at].from;
				}
				*bucket = step[at].bucket;
				*slot = i;
				return true;
			}
			if (n < MAX_SEARCH)
			{
				step[n].bucket = (uint32_t) partner(table, step[at].bucket, tag);
				step[n].from = (uint16_t) at;
				step[n].slot = (uint16_t) i;
				__builtin_prefetch(bucket_start(table, step[n].bucket, &skip), 1);
				n++;
			}
		}
	}
	return false;
}

/*
 * Returns the number of stored keys that have the same buckets and the same tag as the given one.
 */
static unsigned
copies(const Table *table, const Place *place)
{
	const uint8_t *stash = stash_of(table);
	unsigned	n = 0;
	unsigned	i;

	for (i = 0; i < PAIR_SLOTS; i++)
		n += tag_at(table, load_bucket(table, place->bucket[i / BUCKET_SLOTS]), i % BUCKET_SLOTS) ==
			 place->tag;
	for (i = 0; i < STASH_KEYS; i++)
		n += bf_load64(stash + i * 8) == place->key;
	return n;
}

static bool
put_in_bucket(const Table *table, const Place *place)
{
	int			i;

	for (i = 0; i < 2; i++)
	{
		unsigned	slot = find_slot(table, place->bucket[i], 0);

		if (slot < BUCKET_SLOTS)
		{
			store_tag(table, place->bucket[i], slot, place->tag);
			return true;
		}
	}
	return false;
}

/*
 * Adds a key; returns false if there is no room, or if there are 8 equal keys already.  Equal keys
 * need to be counted only when both buckets are full: before that there cannot be 8, as a key goes
 * to the stash only while both its buckets are full.
 */
static bool
add_one(const Table *table, const Place *place)
{
	uint8_t    *stash = stash_of(table);
	uint64_t	bucket;
	unsigned	slot;

	if (put_in_bucket(table, place))
		return true;
	if (copies(table, place) >= PAIR_SLOTS)
		return false;
	if (make_room(table, place, &bucket, &slot))
	{
		store_tag(table, bucket, slot, place->tag);
		return true;
	}
	slot = stash_count(stash);
	if (slot == STASH_KEYS)
		return false;
	bf_store64(stash + slot * 8, place->key);
	return true;
}

static size_t
cuckoo_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	Table		table = table_of(head, payload);
	Place		place[BF_BATCH];
	size_t		added;

	for (added = 0; added < n; added++)
	{
		if (added % BF_BATCH == 0)
			fetch(&table, hashes + added, BF_MIN(n - added, BF_BATCH), place, 1);
		if (!add_one(&table, &place[added % BF_BATCH]))
			break;
	}
	return added;
}

/* Removes the i-th key from the stash. */
static void
drop_from_stash(uint8_t *stash, unsigned i)
{
	memmove(stash + i * 8, stash + (i + 1) * 8, (STASH_KEYS - 1 - i) * 8);
	bf_store64(stash + (STASH_KEYS - 1) * 8, 0);
}

/* Moves keys from the stash into their buckets, as far as there is room now. */
static void
drain_stash(const Table *table)
{
	uint8_t    *stash = stash_of(table);
	unsigned	i = 0;

	while (i < stash_count(stash))
	{
		uint64_t	key = bf_load64(stash + i * 8);
		Place		place;

		/* Check that the stash's entry is in range, as the payload may not have been validated. */
		if (key > table->pairs * table->tags)
			return;
		place.tag = (key - 1) % table->tags + 1;
		place.bucket[0] = (key - 1) / table->tags;
		place.bucket[1] = partner(table, place.bucket[0], place.tag);
		if (put_in_bucket(table, &place))
			drop_from_stash(stash, i);
		else
			i++;
	}
}

static bool
remove_one(const Table *table, const Place *place)
{
	uint8_t    *stash = stash_of(table);
	unsigned	i;

	for (i = 0; i < STASH_KEYS; i++)
		if (bf_load64(stash + i * 8) == place->key)
		{
			drop_from_stash(stash, i);
			return true;
		}
	for (i = 0; i < 2; i++)
	{
		unsigned	slot = find_slot(table, place->bucket[i], place->tag);

		if (slot < BUCKET_SLOTS)
		{
			store_tag(table, place->bucket[i], slot, 0);
			drain_stash(table);
			return true;
		}
	}
	return false;
}

static size_t
cuckoo_remove(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	Table		table = table_of(head, payload);
	Place		place[BF_BATCH];
	size_t		removed;

	for (removed = 0; removed < n; removed++)
	{
		if (removed % BF_BATCH == 0)
			fetch(&table, hashes + removed, BF_MIN(n - removed, BF_BATCH), place, 1);
		if (!remove_one(&table, &place[removed % BF_BATCH]))
			break;
	}
	return removed;
}

/*
 * Computes statistics from the first `pairs` pairs of buckets.  The left and right buckets with one
 * number may be filled differently, so both are read; buckets with other numbers are filled alike.
 */
static void
stats_of_pairs(const BfPort *port, const BfView *view, uint64_t pairs, BfStats *stats)
{
	Table		table = table_of(&view->head, view->payload);
	uint64_t	taken = 0;
	uint64_t	pair;
	unsigned	half;
	unsigned	i;

	for (pair = 0; pair < pairs; pair++)
	{
		for (half = 0; half < 2; half++)
		{
			Bucket		slots = load_bucket(&table, pair + half * table.pairs);

			for (i = 0; i < BUCKET_SLOTS; i++)
				taken += tag_at(&table, slots, i) != 0;
		}
		if ((pair & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
	stats->bits = PAIR_SLOTS * pairs * table.bits;
	stats->fill = (double) taken / (double) (PAIR_SLOTS * pairs);
	stats->hashes = 2;
	stats->keys = (double) taken * ((double) table.pairs / (double) pairs) +
		stash_count(stash_of(&table));
	stats->fpr = -expm1(stats->keys * log1p(-1 / ((double) table.pairs * (double) table.tags)));
}

static void
cuckoo_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	stats_of_pairs(port, view, table_of(&view->head, view->payload).pairs, stats);
}

static void
cuckoo_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes, BfStats *stats)
{
	Table		table = table_of(&view->head, view->payload);
	/* A pair is 8 slots of table.bits bits, that is, table.bits bytes. */
	uint64_t	pairs = max_bytes / table.bits;

	stats_of_pairs(port, view, BF_MIN(BF_MAX(pairs, 1), table.pairs), stats);
}

const BfKind bf_kind_cuckoo = {
	.id = BF_KIND_CUCKOO,
	.name = "cuckoo",
	.caps = BF_CAN_ADD | BF_CAN_REMOVE | BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 2e-9, /* The FPR of tags of 32 bits at the highest load. */
	.better_kind = "standard",
	.advice =
		"Cuckoo filters can neither be combined nor folded: build the filter of all keys, or use "
		"kind \"counting\".",
	.when = "keys come and go",
	.design = cuckoo_design,
	.size = cuckoo_size,
	.check = cuckoo_check,
	.validate = cuckoo_validate,
	.prober = cuckoo_prober,
	.probe_many = cuckoo_probe_many,
	.add = cuckoo_add,
	.remove = cuckoo_remove,
	.stats = cuckoo_stats,
	.stats_sampled = cuckoo_stats_sampled,
};
