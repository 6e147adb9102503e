/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_table.h
 *	  Private to the ribbon filter: opens the layers of a stored table, and finds a key's layer.
 *
 * The table is not trusted.  A layer that does not lie within the payload holds every key, so that
 * nothing outside is read and no key is denied for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KIND_RIBBON_TABLE_H
#define KIND_RIBBON_TABLE_H

#include "kind_ribbon_geometry.h"

/* The table of one shard; layers are opened when a key first needs them. */
typedef struct Table
{
	BfShard		shard;			/* all but the place, which is a key's */
	uint64_t	number;			/* of the shard */
	const uint8_t *bytes;		/* where the next layer to be opened begins */
	uint64_t	avail;			/* bytes of payload from there on */
	uint32_t	blocks;			/* of that layer; 0: there is none */
	unsigned	nlayers;		/* that are open */
	Layer		layer[MAX_LAYERS];
} Table;

/* Stands for the bytes of a layer that is not within the payload. */
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

/* The layer of this number, 0 to MAX_LAYERS - 1; it has no starts if it cannot be read. */
static inline const Layer *
layer_number(const BfHeader *head, Table *table, unsigned number)
{
	while (table->nlayers <= number)
		open_layer(head, table);
	return &table->layer[number];
}

/*
 * Finds the row of a key in a layer; false if the layer does not hold the key, because it was
 * bumped or because the layer cannot be read.  No branch: one in twenty keys is bumped,
 * unpredictably.
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
 * Finds the row of a key, whose mix is in the window, in the first of the layers that holds it;
 * false if none does.  A layer that is not within the payload holds all keys.
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
 * Asks for memory ahead of time.  Into the second-level cache: the lines of a batch would fill most
 * of the first one, and more such loads can be under way at a time.
 */
static inline void
fetch_ahead(const uint8_t *bytes)
{
	__builtin_prefetch(bytes, 0, 2);
}

#endif							/* KIND_RIBBON_TABLE_H */
