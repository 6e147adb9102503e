/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_table.h
 *	  Private to the ribbon filter: opens the layers of a stored table, and finds a key's layer.
 *
 * The table is not trusted.  A layer that does not lie within the payload is taken to hold every
 * key, so that nothing outside of the payload is read, and there is no false negative.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_TABLE_H
#define KIND_RIBBON_TABLE_H

#include "kind_ribbon_geometry.h"

/* The table of one shard.  Its layers are opened when a key first needs them. */
typedef struct Table
{
	/* The shard's directory entry.  The member place is not used, as it belongs to a key. */
	BfShard		shard;
	uint64_t	number;			/* The number of the shard. */
	const uint8_t *bytes;		/* The beginning of the next layer to be opened. */
	uint64_t	avail;			/* The number of bytes of the payload from the next layer on. */
	uint32_t	blocks;			/* The number of blocks of the next layer; 0 if there is none. */
	unsigned	nlayers;		/* The number of layers that are open. */
	Layer		layer[MAX_LAYERS];
} Table;

/* Zero bytes that are read in place of those of a layer that is not within the payload. */
static const uint8_t nothing[2 * FRONT * WORD_BYTES] = {0};

static inline void
open_layer(const BfHeader *head, Table *table)
{
	Layer	   *layer = &table->layer[table->nlayers++];

	if (table->blocks >= 2)
	{
		layer_shape(head, table->blocks, layer);
		if (layer->len <= table->avail)
		{
			layer->bytes = table->bytes;
			table->blocks = bf_load32(layer->bytes);
			table->bytes += layer->len;
			table->avail -= layer->len;
			return;
		}
	}
	memset(layer, 0, sizeof(*layer));
	layer->blocks = table->blocks;
	layer->bytes = nothing;
}

static inline void
open_table(const BfView *view, uint64_t number, Table *table)
{
	bf_static_open(view, number, &table->shard);
	table->number = number;
	table->avail = table->shard.after;
	table->bytes = table->shard.table;
	table->blocks = table->shard.geometry;
	table->nlayers = 0;
	open_layer(&view->head, table);
}

/*
 * Returns the layer with the given number, 0 to MAX_LAYERS - 1.  Its member starts is 0 if it
 * cannot be read or does not exist.
 */
static inline const Layer *
layer_number(const BfHeader *head, Table *table, unsigned number)
{
	while (table->nlayers <= number)
		open_layer(head, table);
	return &table->layer[number];
}

/*
 * Finds the row of a key in a layer; returns false if the layer does not hold the key, because the
 * key was bumped or the layer cannot be read.  Has no branch: one key in twenty is bumped, which
 * cannot be predicted.
 */
static inline __attribute__((always_inline)) bool
find_in_layer(const Layer *layer, uint64_t place, unsigned front_width, Window *window)
{
	uint64_t	start = start_at(layer, place);
	uint64_t	bucket = start / BUCKET_SLOTS;
	unsigned	code = layer->bytes[NEXT_BYTES + bucket / 4] >> (bucket % 4 * 2) & 3;

	window->start = start;
	window->front = layer->bytes + layer->front + start / BLOCK_SLOTS * front_width * WORD_BYTES;
	return (start % BUCKET_SLOTS >= threshold[code]) & (layer->starts != 0);
}

/*
 * Finds the row of a key in the first layer that holds it; window->mix must hold the key's mix.
 * Returns false if no layer holds the key.  If a layer is not within the payload, it is taken to
 * hold all keys, and window->front is set to NULL.
 */
static inline bool
find_window(const BfHeader *head, Table *table, uint64_t place, Window *window)
{
	unsigned	i;

	for (i = 0; i < MAX_LAYERS; i++)
	{
		const Layer *layer = layer_number(head, table, i);

		if (layer->starts == 0)
		{
			window->front = NULL;
			return layer->blocks != 0;
		}
		if (find_in_layer(layer, i == 0 ? place : window->mix * place_multiplier[i],
						  layer->front_width, window))
		{
			window->layer = i;
			return true;
		}
	}
	return false;
}

/*
 * Prefetches memory into the second-level cache.  The cache lines of a batch would fill most of the
 * first-level cache, and more loads into the second level can be outstanding at a time.
 */
static inline void
fetch_ahead(const uint8_t *bytes)
{
	__builtin_prefetch(bytes, 0, 2);
}

#endif							/* KIND_RIBBON_TABLE_H */
