/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_band.h
 *	  Private to the ribbon filter: a layer that is being built.
 *
 * Gaussian elimination keeps its rows in a band: each slot has room for one row, the one whose
 * first coefficient is at that slot, stored from there on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_BAND_H
#define KIND_RIBBON_BAND_H

#include "kind_ribbon_geometry.h"

typedef struct Band
{
	uint64_t   *row;			/* of each slot: coefficients, the slot's own in the lowest bit;
								 * 0: no row */
	uint32_t   *value;			/* what the row adds up to, a bit for each column */
	Planes	   *ternary_row;	/* the same for the ternary column, from the ternary part's first
								 * slot on; a row's first coefficient is 1 */
	uint8_t    *ternary_value;
	unsigned	number;			/* of the layer */
	uint32_t   *key;			/* the layer's keys, as indexes of the shard's; not for the first
								 * layer, which begins with all keys, in order */
	uint32_t   *start;			/* the slots where their rows start, ascending; as above */
	uint32_t   *bumped;			/* indexes of the keys that this layer does not take */
} Band;

/* The index of the layer's i-th key among the shard's, and the slot where its row starts. */
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

/* Keys whose equations are to be added to a band: numbers next to last - 1 of the layer's. */
typedef struct Adding
{
	const BfShardBuild *build;
	const Layer *layer;
	uint32_t	next;			/* the first that is not yet added */
	uint32_t	last;
	uint32_t	first_slot;		/* in the ternary column: of the ternary part */
	unsigned	nadded;			/* rows that were put into the band ... */
	uint32_t   *added;			/* ... and their slots */
} Adding;

/* The slots that the rows of one bucket's keys can come to stand in. */
#define MAX_ADDED		(BUCKET_SLOTS + BLOCK_SLOTS)

/*
 * Adds the equations of all these keys; false if one contradicts the others, with the rows that
 * were added until then left in the band.  The columns of one bit and the ternary column have one
 * each.
 */
typedef bool (*AddRows) (Adding *adding, Band *band);

/*
 * Adds the equations of some keys of one bucket, all or none.  Rows that were there before do not
 * change, so the new ones can simply be taken out again.
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
 * added together, the highest starts first: where the bucket before reaches into this one, it is
 * the low starts that lack room.  If they cannot all be added, the bucket's threshold is set so
 * that they and all below are bumped.  Returns the number of bumped keys.
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
		uint32_t	group[4];	/* where the starts from each threshold on begin */
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
