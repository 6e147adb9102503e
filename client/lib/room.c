/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * room.c
 *	  Memory for filters that are being made; see room.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/room.h"

#include "client/lib/filter.h"

/* Stands directly in front of each filter's bytes, at any alignment. */
typedef struct Prefix
{
	void	   *memory;			/* The arena's allocation that holds the filter. */
	uint64_t	size;			/* Size of the filter in bytes. */
} Prefix;

static Prefix
prefix_of(const uint8_t *data)
{
	Prefix		prefix;

	memcpy(&prefix, data - sizeof(prefix), sizeof(prefix));
	return prefix;
}

static uint8_t *
room_alloc(BfRoom *room, uint64_t size)
{
	BfArenaRoom *self = (BfArenaRoom *) room;
	Prefix		prefix;
	uint8_t    *data;

	prefix.size = size;
	prefix.memory = bf_arena_alloc(self->arena, size + sizeof(prefix) + BF_CACHE_LINE);
	data = (uint8_t *) prefix.memory + sizeof(prefix);
	data += (BF_CACHE_LINE - ((uintptr_t) data + self->offset) % BF_CACHE_LINE) % BF_CACHE_LINE;
	memcpy(data - sizeof(prefix), &prefix, sizeof(prefix));
	return data;
}

static void
room_release(BfRoom *room, uint8_t *data)
{
	if (data != NULL)
		bf_arena_release(((BfArenaRoom *) room)->arena, prefix_of(data).memory);
}

static uint8_t *
room_resize(BfRoom *room, uint8_t *data, uint64_t size)
{
	uint64_t	old_size = prefix_of(data).size;
	uint8_t    *resized = room_alloc(room, size);

	memcpy(resized, data, old_size < size ? old_size : size);
	room_release(room, data);
	return resized;
}

void
bf_room_init(BfArenaRoom *room, BfArena *arena, uint32_t family_len)
{
	room->room.alloc = room_alloc;
	room->room.resize = room_resize;
	room->room.release = room_release;
	room->arena = arena;
	room->offset = bf_payload_offset(family_len);
}

void *
bf_room_keep(BfArenaRoom *room, uint8_t *data)
{
	return bf_arena_keep(room->arena, prefix_of(data).memory);
}
