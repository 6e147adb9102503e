/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * arena.c
 *	  An arena of the host's memory, for calls of the core; see arena.h.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE				/* Needed for madvise(). */

#include "client/lib/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

/*
 * The header of an arena's allocation, directly in front of the memory that the caller gets.  Its
 * size keeps that memory aligned for any type.
 */
struct BfArenaBlock
{
	BfArenaBlock *next;
	BfArenaBlock *prev;
} __attribute__((aligned(16)));

#define HUGE_PAGE		((size_t) 2 * 1024 * 1024)

/*
 * Allocations below this size get no huge pages: malloc() may reuse their memory for other purposes
 * after they are freed.
 */
#define MIN_HUGE_SIZE	((size_t) 8 * 1024 * 1024)

/* The values by which setjmp() tells why an arena's work was ended with longjmp(). */
#define LEFT_NO_MEMORY	1
#define LEFT_STOPPED	2

static void *
host_malloc(void *arg, size_t size)
{
	(void) arg;
	return malloc(size);
}

static void
host_free(void *arg, void *memory)
{
	(void) arg;
	free(memory);
}

BloomfamHost
bf_host(const BloomfamHost *host)
{
	static const BloomfamHost usual = {.alloc = host_malloc, .release = host_free};

	return host != NULL ? *host : usual;
}

void
bf_advise_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	start = ((uintptr_t) memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	uintptr_t	end = ((uintptr_t) memory + size) & ~(HUGE_PAGE - 1);

	if (size >= MIN_HUGE_SIZE && end > start)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
#else
	(void) memory;
	(void) size;
#endif
}

void *
bf_arena_alloc(BfArena *arena, uint64_t size)
{
	BfArenaBlock *block = NULL;

	if (size <= SIZE_MAX - sizeof(*block))
		block = arena->host.alloc(arena->host.arg, (size_t) size + sizeof(*block));
	if (block == NULL)
		longjmp(arena->entry, LEFT_NO_MEMORY);
	bf_advise_huge_pages(block, (size_t) size);
	block->prev = NULL;
	block->next = arena->blocks;
	if (block->next != NULL)
		block->next->prev = block;
	arena->blocks = block;
	return block + 1;
}

void *
bf_arena_keep(BfArena *arena, void *memory)
{
	BfArenaBlock *block = (BfArenaBlock *) memory - 1;

	if (block->prev != NULL)
		block->prev->next = block->next;
	else
		arena->blocks = block->next;
	if (block->next != NULL)
		block->next->prev = block->prev;
	return block;
}

void
bf_arena_release(BfArena *arena, void *memory)
{
	if (memory != NULL)
		arena->host.release(arena->host.arg, bf_arena_keep(arena, memory));
}

void
bf_arena_check(BfArena *arena)
{
	if (arena->host.stop != NULL && arena->host.stop(arena->host.arg))
		longjmp(arena->entry, LEFT_STOPPED);
}

/*
 * The functions port_*() are the arena's functions with the signatures that BfPort, the core's
 * table of memory and interrupt functions, requires.
 */
static void *
port_alloc(void *arg, size_t size)
{
	return bf_arena_alloc(arg, size);
}

static void
port_release(void *arg, void *memory)
{
	bf_arena_release(arg, memory);
}

static void
port_check(void *arg)
{
	bf_arena_check(arg);
}

BloomfamStatus
bf_no_memory(BloomfamError *error)
{
	return bf_fail(error, BLOOMFAM_NO_MEMORY, "out of memory");
}

/*
 * Runs work within an arena; longjmp() in that work returns here.  Variables that change after
 * setjmp() must not live in the frame that calls it, so this is a function that is not inlined.
 */
static __attribute__((noinline)) BloomfamStatus
enter(BfArena *arena, BloomfamError *error,
	  BloomfamStatus (*work) (BfArena *arena, void *arg, BloomfamError *error), void *arg)
{
	switch (setjmp(arena->entry))
	{
		case 0:
			return work(arena, arg, error);
		case LEFT_STOPPED:
			return bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		default:
			return bf_no_memory(error);
	}
}

BloomfamStatus
bf_arena_run(const BloomfamHost *host, BloomfamError *error,
			 BloomfamStatus (*work) (BfArena *arena, void *arg, BloomfamError *error), void *arg)
{
	BfArena		arena;
	BloomfamStatus status;

	memset(&arena, 0, sizeof(arena));
	arena.host = *host;
	arena.port.check_interrupts = port_check;
	arena.port.alloc = port_alloc;
	arena.port.release = port_release;
	arena.port.arg = &arena;
	status = enter(&arena, error, work, arg);
	while (arena.blocks != NULL)
		bf_arena_release(&arena, arena.blocks + 1);
	return status;
}
