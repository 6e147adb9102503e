/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_band.h
 *	  Private to the ribbon filter: the state of a layer that is being built.
 *
 * Gaussian elimination keeps its rows in a band: each slot has room for one row, whose first
 * coefficient is at that slot, and whose coefficients are stored from there on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_BAND_H
#define KIND_RIBBON_BAND_H

#include "kind_ribbon_geometry.h"

typedef struct Band
{
	/*
	 * The row of each slot: its coefficients, the slot's own in the lowest bit; 0 if the slot has
	 * no row.
	 */
	uint64_t   *row;

	/* The sums that the row in each slot must have, a bit for each column; see kind_ribbon.c. */
	uint32_t   *value;

	/*
	 * The row of each slot in the ternary column, from the first slot of the ternary part on.  A
	 * row's first coefficient is 1.
	 */
	Planes	   *ternary_row;
	uint8_t    *ternary_value;
	unsigned	number;			/* The number of the layer. */

	/*
	 * The layer's keys, as indexes into the shard's hashes.  Not used for the first layer, which
	 * begins with all keys, in order.
	 */
	uint32_t   *key;

	/*
	 * The slots where the rows of the layer's keys start, ascending.  Not used for the first layer.
	 */
	uint32_t   *start;
	uint32_t   *bumped;			/* The indexes of the keys that this layer does not take. */
} Band;

/*
 * key_of() returns the index of the layer's i-th key among the shard's keys, start_of() the slot
 * where that key's row starts.
 */
static inline uint32_t
key_of(const Band *band, uint32_t i)
{
	return band->number == 0 ? i : band->key[i];
}

static inline uint32_t
start_of(const BfShardBuild *build, const Layer *layer, const Band *band, uint32_t i)
{
	return band->number == 0
			   ? (uint32_t) start_at(layer, bf_static_place(build->hashes[i], build->shards))
			   : band->start[i];
}

/*
 * The keys whose equations are to be added to a band: those that have the numbers `next` to `last`
 * - 1 in the layer's order of keys.
 */
typedef struct Adding
{
	const BfShardBuild *build;
	const Layer *layer;
	uint32_t	next;			/* The first key that has not been added yet. */
	uint32_t	last;
	uint32_t	first_slot;		/* For the ternary column: the first slot of the ternary part. */
	unsigned	nadded;			/* The number of rows that were put into the band. */
	uint32_t   *added;			/* The slots of the rows that were put into the band. */
} Adding;

/* The number of slots in which the rows of one bucket's keys can end up. */
#define MAX_ADDED		(BUCKET_SLOTS + BLOCK_SLOTS)

/*
 * Adds the equations of all keys of *adding to a band.  Returns false if one of them contradicts
 * the equations already there; the rows that were added before it are then left in the band.  The
 * columns of one bit have one such function, the ternary column another.
 */
typedef bool (*AddRows) (Adding *adding, Band *band);

/*
 * Adds the equations of some keys of one bucket, either all or none; returns whether it has added
 * them.  Adding does not change rows that were there before, so the new ones can simply be removed
 * again.
 */
static inline __attribute__((always_inline)) bool
add_keys(const BfShardBuild *build, const Layer *layer, Band *band, uint32_t first, uint32_t last,
		 AddRows add, AddRows add_ternary)
{
	uint32_t	added[MAX_ADDED];
	uint32_t	ternary_added[MAX_ADDED];
	Adding binary = {.build = build, .layer = layer, .next = first, .last = last, .added = added};
	Adding		ternary = {
			 .build = build, .layer = layer, .next = first, .last = last, .added = ternary_added};

	ternary.first_slot = (uint32_t) (layer->binary_blocks * BLOCK_SLOTS);
	if (add(&binary, band) &&
		(layer->binary_blocks == layer->blocks || add_ternary(&ternary, band)))
		return true;
	while (binary.nadded > 0)
	{
		uint32_t	at = added[--binary.nadded];

		band->row[at] = 0;
		band->value[at] = 0;
	}
	while (ternary.nadded > 0)
	{
		uint32_t	at = ternary_added[--ternary.nadded];

		band->ternary_row[at] = (Planes) {0, 0};
		band->ternary_value[at] = 0;
	}
	return false;
}

/*
 * Fills the band bucket by bucket.  Within a bucket, the keys that start between two thresholds are
 * added together, the highest starts first: where the previous bucket's rows reach into this one,
 * the low starts lack room.  If the keys between two thresholds cannot all be added, the bucket's
 * threshold is set so that they and all keys below them are bumped.  Returns the number of bumped
 * keys.
 */
static inline __attribute__((always_inline)) uint32_t
fill_with(const BfPort *port, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		  uint8_t *thresholds, AddRows add, AddRows add_ternary)
{
	uint32_t	nbumped = 0;
	uint32_t	i = 0;
	uint64_t	bucket;

	for (bucket = 0; bucket * BUCKET_SLOTS < layer->blocks * BLOCK_SLOTS; bucket++)
	{
		/*
		 * For each threshold of the bucket, the number of the first key whose row starts at or
		 * after it.
		 */
		uint32_t	group[4];
		uint32_t	k;
		unsigned	t;

		for (t = 0; t < 4; t++)
		{
			group[t] = i;
			while (t < 3 && i < n &&
				   start_of(build, layer, band, i) < bucket * BUCKET_SLOTS + threshold[t + 1])
				i++;
		}
		for (t = 3; t > 0 && add_keys(build, layer, band, group[t - 1], group[t], add, add_ternary);
			 t--)
			;
		thresholds[bucket / 4] |= (uint8_t) (t << (bucket % 4 * 2));
		for (k = group[0]; k < group[t]; k++)
			band->bumped[nbumped++] = key_of(band, k);
		if (bucket % 256 == 0)
			bf_check_interrupts(port);
	}
	return nbumped;
}

#endif							/* KIND_RIBBON_BAND_H */
