/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * arena.h
 *	  Private to the library: an arena of the host's memory, for calls of the core.
 *
 * The core's allocator must never return NULL.  Everything that the core allocates belongs to an
 * arena, which lasts for one call of the library.  If the host has no memory, or wants to stop, the
 * arena calls longjmp() to return to the point where the library's call entered it.  At the end of
 * the call, everything left in the arena is freed, so that code within it need not clean up.
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
	BfPort		port;			/* The memory and interrupt functions that the core calls. */
	BloomfamHost host;
	BfArenaBlock *blocks;		/* List of the arena's allocations; NULL: there are none. */
	jmp_buf		entry;
} BfArena;

/*
 * Returns the host to use: a copy of *host, or of a host with malloc() and free() if host is NULL.
 */
extern BloomfamHost bf_host(const BloomfamHost *host);

/*
 * bf_arena_run: Calls work(arena, arg) within a new arena, and returns its result.
 *
 * If the work ends early because the host has no memory or wants to stop, returns
 * BLOOMFAM_NO_MEMORY or BLOOMFAM_STOPPED, and fills in the error.  The work must therefore leave
 * its results in *arg only.  Everything left in the arena is freed.
 */
extern BloomfamStatus bf_arena_run(const BloomfamHost *host, BloomfamError *error,
								   BloomfamStatus (*work) (BfArena *arena, void *arg,
														   BloomfamError *error),
								   void *arg);

/*
 * bf_arena_alloc() allocates memory in an arena.  It never returns NULL: without memory, it ends
 * the arena's work by longjmp(). bf_arena_release() frees memory of an arena.
 */
extern void *bf_arena_alloc(BfArena *arena, uint64_t size);
extern void bf_arena_release(BfArena *arena, void *memory);

/*
 * Takes an allocation out of an arena, so that the end of the arena does not free it.  Returns the
 * pointer that must be passed to the host's release() later.  "memory" lies within that allocation.
 */
extern void *bf_arena_keep(BfArena *arena, void *memory);

/* Ends the arena's work by longjmp() if the host wants to stop. */
extern void bf_arena_check(BfArena *arena);

/*
 * Fills in an error that says that memory could not be allocated, and returns BLOOMFAM_NO_MEMORY.
 */
extern BloomfamStatus bf_no_memory(BloomfamError *error);

/*
 * Asks for huge pages for memory that is read at random.  Does nothing where huge pages are not
 * available.
 */
extern void bf_advise_huge_pages(void *memory, size_t size);

#endif							/* BF_LIB_ARENA_H */
