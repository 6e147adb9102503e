/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_peel.c
 *	  Computing of tables by peeling; see bf_peel.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_peel.h"

/*
 * The 32 bits that are kept for a cell during peeling: the high bits hold the number of keys that
 * have the cell, and the low INDEX_BITS bits the XOR of the indexes of these keys, which is the
 * index itself when one key is left.  With random hashes a cell has fewer than a dozen keys.  A key
 * is given up at once if one of its cells has MANY_KEYS set, that is, has as many keys as can be
 * counted.
 */
#define INDEX_BITS	22
#define INDEX_MASK	((UINT32_C(1) << INDEX_BITS) - 1)
#define ONE_KEY		(UINT32_C(1) << INDEX_BITS)
#define MANY_KEYS	(UINT32_C(1) << 31)

_Static_assert(BF_SHARD_MAX_KEYS <= INDEX_MASK, "an index must fit");

/*
 * The number of cells that are scanned for cells with a single key, before the keys found in this
 * way are peeled.
 */
#define SCAN		4096

/* The number of keys that are handled together, so that their cache misses overlap. */
#define GROUP		16

/* The states of a key in build->straggler; 0 means that the key has not been peeled yet. */
#define STRAGGLER	1
#define PEELED		2

uint64_t
bf_peel_scratch_len(uint64_t cells, uint32_t n)
{
	return (cells * 2 + 2 + n) * sizeof(uint32_t);
}

/*
 * A queue of cells that were left with one key, in the order in which that happened.  No cell is
 * queued twice, so the queue never wraps around.
 */
typedef struct Queue
{
	uint32_t   *cells;
	uint32_t	head;
	uint32_t	tail;
} Queue;

/* The state of peeling a shard. */
typedef struct Peel
{
	const BfPort *port;
	BfShardBuild *build;
	const BfGraph *graph;
	uint32_t   *cell;

	/*
	 * The peeled keys, in the order in which they were peeled.  The bits from INDEX_BITS on say
	 * which of the key's positions (0 to arity - 1) is the cell from which it was peeled.
	 */
	uint32_t   *order;
	uint32_t	peeled;
	Queue		waiting;

	/* Cells from graph->deferred on, which are peeled only while no other cell waits. */
	Queue		deferred;

	/* All cells before this one have been scanned for cells with a single key. */
	uint32_t	scanned;
	uint32_t	front;			/* All keys before this one have been peeled or given up. */
} Peel;

static inline __attribute__((always_inline)) void
positions_of(const Peel *peel, uint32_t key, unsigned arity, BfPositions positions,
			 uint64_t *position)
{
	uint64_t	hash = peel->build->hashes[key];

	positions(peel->graph, arity, bf_static_place(hash, peel->build->shards), bf_static_mix(hash),
			  position);
}

/*
 * Counts the keys of each cell.  Computes the positions of a group of keys first, so that all its
 * cells are being fetched while the first ones are counted.  A key's first position needs no
 * prefetch, because keys come in the order of their first positions.
 */
static inline __attribute__((always_inline)) void
count_keys(Peel *peel, unsigned arity, BfPositions positions)
{
	uint64_t	position[GROUP][BF_GRAPH_MAX_ARITY];
	uint32_t	first;
	uint32_t	i;
	unsigned	j;

	for (first = 0; first < peel->build->n; first += GROUP)
	{
		uint32_t	n = BF_MIN(peel->build->n - first, GROUP);

		for (i = 0; i < n; i++)
		{
			positions_of(peel, first + i, arity, positions, position[i]);
			for (j = 1; j < arity; j++)
				__builtin_prefetch(peel->cell + position[i][j], 1);
		}
		for (i = 0; i < n; i++)
		{
			uint32_t	all = 0;

			for (j = 0; j < arity; j++)
				all |= peel->cell[position[i][j]];
			if (all & MANY_KEYS)
			{
				peel->build->straggler[first + i] = STRAGGLER;
				continue;
			}
			for (j = 0; j < arity; j++)
				peel->cell[position[i][j]] = (peel->cell[position[i][j]] + ONE_KEY) ^ (first + i);
		}
	}
}

/*
 * Appends a cell to its queue if one_key is true.  The cell is always stored after the queue's end,
 * and one_key decides only whether the queue grows: a branch on it could not be predicted.
 */
static inline __attribute__((always_inline)) void
wait_if(Peel *peel, bool defers, uint64_t cell, bool one_key)
{
	Queue	   *queue = defers && cell >= peel->graph->deferred ? &peel->deferred : &peel->waiting;

	queue->cells[queue->tail] = (uint32_t) cell;
	queue->tail += one_key;
}

/*
 * Removes a key from its cells, and queues the cells that are left with one key.  A deferred cell
 * that is left with one key before it was scanned is not queued: the scan will find it, and no cell
 * may be queued twice.
 */
static inline __attribute__((always_inline)) void
take_away(Peel *peel, bool defers, uint32_t key, unsigned arity, const uint64_t *position)
{
	unsigned	j;

	for (j = 0; j < arity; j++)
	{
		uint32_t	left = (peel->cell[position[j]] - ONE_KEY) ^ key;

		peel->cell[position[j]] = left;
		wait_if(peel, defers, position[j],
				left >> INDEX_BITS == 1 &&
					!(defers && position[j] >= BF_MAX(peel->graph->deferred, peel->scanned)));
	}
}

/*
 * Peels the keys of the next cells in a queue, except for cells that have lost their key since.
 * Computes the positions of the whole group first, so that its cells are being fetched, and no load
 * has to wait until the address of an earlier store is known.
 */
static inline __attribute__((always_inline)) void
peel_next(Peel *peel, Queue *queue, bool defers, unsigned arity, BfPositions positions)
{
	uint64_t	position[GROUP][BF_GRAPH_MAX_ARITY];
	uint32_t	n = BF_MIN(queue->tail - queue->head, GROUP);
	const uint32_t *cell = queue->cells + queue->head;
	uint32_t	i;
	unsigned	j;

	for (i = n; i < BF_MIN(queue->tail - queue->head, 2 * GROUP); i++)
		__builtin_prefetch(peel->build->hashes + (peel->cell[cell[i]] & INDEX_MASK));
	queue->head += n;
	for (i = 0; i < n; i++)
	{
		positions_of(peel, peel->cell[cell[i]] & INDEX_MASK, arity, positions, position[i]);
		for (j = 0; j < arity; j++)
			__builtin_prefetch(peel->cell + position[i][j], 1);
	}
	for (i = 0; i < n; i++)
	{
		uint32_t	key = peel->cell[cell[i]] & INDEX_MASK;
		unsigned	slot = 0;

		if (peel->cell[cell[i]] >> INDEX_BITS != 1)
			continue;			/* The key was already peeled by another of its cells. */
		for (j = 1; j < arity; j++)
			slot += position[i][j] == cell[i] ? j : 0;
		peel->order[peel->peeled++] = key | slot << INDEX_BITS;
		peel->build->straggler[key] = PEELED;
		take_away(peel, defers, key, arity, position[i]);
		if ((peel->peeled & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(peel->port);
	}
}

/*
 * Peels as long as there is a cell with one key.  Cells that have one key from the start are
 * searched for SCAN cells at a time: few enough that the work stays within the processor's caches,
 * and enough to work on several keys at once.
 */
static inline __attribute__((always_inline)) void
peel_off(Peel *peel, bool defers, unsigned arity, BfPositions positions, uint32_t cells)
{
	for (;;)
	{
		while (peel->waiting.head < peel->waiting.tail)
			peel_next(peel, &peel->waiting, defers, arity, positions);
		if (peel->scanned < cells)
		{
			uint32_t	end = BF_MIN(cells, peel->scanned + SCAN);

			for (; peel->scanned < end; peel->scanned++)
				wait_if(peel, defers, peel->scanned, peel->cell[peel->scanned] >> INDEX_BITS == 1);
		}
		else if (defers && peel->deferred.head < peel->deferred.tail)
			peel_next(peel, &peel->deferred, defers, arity, positions);
		else
			return;
	}
}

/*
 * Gives up the first key that is left; returns false if there is none.  Choosing among the
 * remaining keys by the number of keys in their cells would save no stragglers: in fuse graphs it
 * matters only that peeling goes on at the place where it stopped.
 */
static inline __attribute__((always_inline)) bool
give_up(Peel *peel, bool defers, unsigned arity, BfPositions positions)
{
	uint64_t	position[BF_GRAPH_MAX_ARITY];

	while (peel->front < peel->build->n && peel->build->straggler[peel->front] != 0)
		peel->front++;
	if (peel->front == peel->build->n)
		return false;
	peel->build->straggler[peel->front] = STRAGGLER;
	positions_of(peel, peel->front, arity, positions, position);
	take_away(peel, defers, peel->front, arity, position);
	if ((peel->front & BF_INTERRUPT_MASK) == 0)
		bf_check_interrupts(peel->port);
	return true;
}

/*
 * Computes the values of the cells, for the last peeled key first.  When a key's turn comes, the
 * cell by which it was peeled is still zero, and no later step changes any of the key's cells.  The
 * values replace what peeling kept for each cell, which is zero as no key is left.
 */
static inline __attribute__((always_inline)) void
set_cells(Peel *peel, unsigned arity, BfPositions positions)
{
	unsigned	width = peel->build->head->param[BF_STATIC_WIDTH];
	uint32_t   *value = peel->cell;
	uint32_t	left = peel->peeled;

	while (left > 0)
	{
		uint64_t	position[GROUP][BF_GRAPH_MAX_ARITY];
		uint32_t	wanted[GROUP];
		uint32_t	n = BF_MIN(left, GROUP);
		uint32_t	i;
		unsigned	j;

		for (i = n; i < BF_MIN(left, 2 * GROUP); i++)
			__builtin_prefetch(peel->build->hashes + (peel->order[left - 1 - i] & INDEX_MASK));
		for (i = 0; i < n; i++)
		{
			uint64_t	hash = peel->build->hashes[peel->order[left - 1 - i] & INDEX_MASK];
			uint64_t	mix = bf_static_mix(hash);

			wanted[i] = bf_fingerprint(mix, width);
			positions(peel->graph, arity, bf_static_place(hash, peel->build->shards), mix,
					  position[i]);
			for (j = 0; j < arity; j++)
				__builtin_prefetch(value + position[i][j], 1);
		}
		for (i = 0; i < n; i++)
		{
			for (j = 0; j < arity; j++)
				wanted[i] ^= value[position[i][j]];
			value[position[i][peel->order[left - 1 - i] >> INDEX_BITS]] = wanted[i];
		}
		left -= n;
		if ((left & BF_INTERRUPT_MASK) < GROUP)
			bf_check_interrupts(peel->port);
	}
}

/*
 * Peels a whole graph and computes its cells.  The last three parameters are constants in each
 * call, so that the compiler makes separate code for each graph.
 */
static inline __attribute__((always_inline)) void
peel_graph(Peel *peel, bool defers, unsigned arity, BfPositions positions)
{
	uint32_t	cells = (uint32_t) bf_graph_cells(peel->graph);
	uint32_t	i;

	count_keys(peel, arity, positions);
	do
		peel_off(peel, defers, arity, positions, cells);
	while (give_up(peel, defers, arity, positions));
	for (i = 0; i < peel->build->n; i++)
		peel->build->straggler[i] &= STRAGGLER;
	set_cells(peel, arity, positions);
}

const uint32_t *
bf_peel(const BfPort *port, BfShardBuild *build, const BfGraph *graph)
{
	uint64_t	cells = bf_graph_cells(graph);
	Peel		peel = {.port = port, .build = build, .graph = graph};

	/*
	 * Each queue has room for one cell more than it can hold, because wait_if() stores a cell in
	 * any case.
	 */
	peel.cell = build->scratch;
	peel.waiting.cells = peel.cell + cells;
	peel.deferred.cells = peel.waiting.cells + BF_MIN(graph->deferred, cells) + 1;
	peel.order = peel.waiting.cells + cells + 2;
	memset(peel.cell, 0, cells * sizeof(uint32_t));
	if (!graph->fuse && graph->deferred >= cells)
		peel_graph(&peel, false, 3, bf_block_positions);
	else if (!graph->fuse)
		peel_graph(&peel, true, 3, bf_block_positions);
	else if (graph->arity == 3)
		peel_graph(&peel, false, 3, bf_fuse_positions);
	else if (graph->arity == 4)
		peel_graph(&peel, false, 4, bf_fuse_positions);
	else
		peel_graph(&peel, false, 5, bf_fuse_positions);
	return peel.cell;
}

void
bf_peel_pack(const BfPort *port, uint8_t *out, const uint32_t *values, uint64_t n, unsigned width)
{
	/* Bits of the values read so far that do not fill a byte of the output yet. */
	uint64_t	left = 0;
	unsigned	nleft = 0;
	uint64_t	i;

	for (i = 0; i < n; i++)
	{
		left |= (uint64_t) values[i] << nleft;
		nleft += width;
		bf_store64(out, left);
		out += nleft / 8;
		left >>= nleft & ~7U;
		nleft %= 8;
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
}
