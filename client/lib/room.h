/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * room.h
 *	  Private to the library: memory for values that are made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_ROOM_H
#define BF_LIB_ROOM_H

#include "client/lib/arena.h"
#include "core/bf_build.h"

/* Values whose payloads begin cache lines, in memory of an arena. */
typedef struct BfArenaRoom
{
	BfRoom		room;
	BfArena    *arena;
	uint64_t	offset;			/* of payloads within values */
} BfArenaRoom;

extern void bf_room_init(BfArenaRoom *room, BfArena *arena, uint32_t family_len);

/* Takes a value out of the arena: returns what is to be given back to the host for it. */
extern void *bf_room_keep(BfArenaRoom *room, uint8_t *data);

#endif							/* BF_LIB_ROOM_H */
