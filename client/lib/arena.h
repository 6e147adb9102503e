/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * arena.h
 *	  Private to the library: the host's memory for the core, which takes no NULL for an answer.
 *
 * What the core allocates belongs to an arena, which lasts for one call of the library.  If the
 * host has no memory, or wants to stop, the arena leaves by longjmp() to where the call entered.
 * All that is still in it is given back at the call's end, so that nothing has to be cleaned up on
 * the way.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_LIB_ARENA_H
#define BF_LIB_ARENA_H

#include <setjmp.h>

#include "client/lib/error.h"
#include "core/bf.h"

typedef struct BfArenaBlock BfArenaBlock;

typedef struct BfArena
{
	BfPort		port;			/* for the core */
	BloomfamHost host;
	BfArenaBlock *blocks;		/* NULL: none */
	jmp_buf		entry;
} BfArena;

/* The host itself: NULL stands for malloc() and free(). */
extern BloomfamHost bf_host(const BloomfamHost *host);

/*
 * bf_arena_run: calls work(arena, arg), and returns what it returns.
 *
 * If the arena is left, that is BLOOMFAM_NO_MEMORY or BLOOMFAM_STOPPED, and the error says so.
 * What work() has changed must therefore be in *arg, or nowhere.  What is in the arena is given
 * back.
 */
extern BloomfamStatus bf_arena_run(const BloomfamHost *host, BloomfamError *error,
								   BloomfamStatus (*work) (BfArena *arena, void *arg,
														   BloomfamError *error),
								   void *arg);

/* Memory of the arena, never NULL: leaves the arena if there is none. */
extern void *bf_arena_alloc(BfArena *arena, uint64_t size);
extern void bf_arena_release(BfArena *arena, void *memory);

/*
 * Takes memory out of the arena, for good: returns what is to be given back to the host then, of
 * which the memory is a part.
 */
extern void *bf_arena_keep(BfArena *arena, void *memory);

/* Leaves the arena if the host wants to stop. */
extern void bf_arena_check(BfArena *arena);

/* The host has no memory. */
extern BloomfamStatus bf_no_memory(BloomfamError *error);

/* Asks for huge pages for memory that is read at random.  No harm where they cannot be had. */
extern void bf_advise_huge_pages(void *memory, size_t size);

#endif							/* BF_LIB_ARENA_H */
