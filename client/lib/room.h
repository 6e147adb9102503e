/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * room.h
 *	  Private to the library: memory for filters that are being made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_ROOM_H
#define BF_LIB_ROOM_H

#include "client/lib/arena.h"
#include "core/bf_build.h"

/*
 * An allocator of filters in the memory of an arena; each filter's payload begins at a cache line.
 */
typedef struct BfArenaRoom
{
	BfRoom		room;
	BfArena    *arena;
	uint64_t	offset;			/* Offset of the payload from the beginning of a filter. */
} BfArenaRoom;

extern void bf_room_init(BfArenaRoom *room, BfArena *arena, uint32_t family_len);

/*
 * Takes a filter out of the arena, so that it outlives the arena.  Returns the pointer that must be
 * passed to the host's release() later.
 */
extern void *bf_room_keep(BfArenaRoom *room, uint8_t *data);

#endif							/* BF_LIB_ROOM_H */
