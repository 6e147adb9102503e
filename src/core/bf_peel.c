/*-------------------------------------------------------------------------
 *
 * bf_peel.c
 *	  Solving by peeling; see bf_peel.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_peel.h"

#include "bf_wide.h"

/*
 * What is known of a cell while peeling: the number of keys that use it, and these keys' indexes
 * xored, which is the index itself when one is left.  A cell of hashes as they should be has less
 * than a dozen keys, and one that has more than can be counted gets no more.
 */
#define INDEX_BITS	22
#define INDEX_MASK	((UINT32_C(1) << INDEX_BITS) - 1)
#define ONE_KEY		(UINT32_C(1) << INDEX_BITS)
#define MANY_KEYS	(UINT32_C(1) << 31)

_Static_assert(BF_SHARD_MAX_KEYS <= INDEX_MASK, "an index must fit");

/* Cells that are looked at in one go. */
#define SCAN		4096

/* Keys that are peeled or set together. */
#define GROUP		16

/* Marks, in build->straggler. */
#define STRAGGLER	1
#define PEELED		2

uint64_t
bf_peel_scratch_len(uint64_t cells, uint32_t n)
{
	return (cells * 2 + 2 + n) * sizeof(uint32_t);
}

/* Cells that have had one key, first come, first served: none gets there twice. */
typedef struct Queue
{
	uint32_t   *cells;
	uint32_t	head;
	uint32_t	tail;
} Queue;

/* The state of peeling a shard. */
typedef struct Peel
{
	const BfEnv *env;
	BfShardBuild *build;
	const BfGraph *graph;
	uint32_t   *cell;
	uint32_t   *order;			/* keys in the order that they were peeled in, with the number of
								 * the position that they set */
	uint32_t	peeled;
	Queue		waiting;
	Queue		deferred;		/* those that are not taken while there are others */
	uint32_t	scanned;		/* cells before this one have been looked at */
	uint32_t	front;			/* keys before this one are peeled or given up */
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
 * Some keys at a time, as in peel_next(): first the positions of all of them, of which one each
 * comes in order.
 */
static inline __attribute__((always_inline)) void
count_keys(Peel *peel, unsigned arity, BfPositions positions)
{
	uint64_t	position[GROUP][BF_PEEL_MAX_ARITY];
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
 * Puts a cell into its queue if that is so.  Without a branch: which cells come down to one key
 * cannot be predicted.
 */
static inline __attribute__((always_inline)) void
wait_if(Peel *peel, bool defers, uint64_t cell, bool one_key)
{
	Queue	   *queue = defers && cell >= peel->graph->deferred ? &peel->deferred : &peel->waiting;

	queue->cells[queue->tail] = (uint32_t) cell;
	queue->tail += one_key;
}

/*
 * Takes a key off its cells.  A deferred cell that comes down to one key before it has been
 * looked at is left to be found then: what waits must not get into its queue again.
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
 * Peels the keys of the next cells in a queue, those that still have one.  First the positions of
 * all of them are computed, so that the memory that they need is on its way, and no load waits
 * for the address of an earlier store.
 */
static inline __attribute__((always_inline)) void
peel_next(Peel *peel, Queue *queue, bool defers, unsigned arity, BfPositions positions)
{
	uint64_t	position[GROUP][BF_PEEL_MAX_ARITY];
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
			continue;			/* the key went with another cell */
		for (j = 1; j < arity; j++)
			slot += position[i][j] == cell[i] ? j : 0;
		peel->order[peel->peeled++] = key | slot << INDEX_BITS;
		peel->build->straggler[key] = PEELED;
		take_away(peel, defers, key, arity, position[i]);
		if ((peel->peeled & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(peel->env);
	}
}

/*
 * Peels as long as there is a cell with one key.  Cells that had one from the start are looked
 * for some thousands at a time, so that the work stays in one place, and there is enough of it
 * for the processor to do several cells at once.
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
 * Gives up the first key that is left; false if there is none.  Choosing among some, by how few
 * keys their cells have, does not get further with fewer: in fuse graphs, what matters is that it
 * goes on from where it stopped.
 */
static inline __attribute__((always_inline)) bool
give_up(Peel *peel, bool defers, unsigned arity, BfPositions positions)
{
	uint64_t	position[BF_PEEL_MAX_ARITY];

	while (peel->front < peel->build->n && peel->build->straggler[peel->front] != 0)
		peel->front++;
	if (peel->front == peel->build->n)
		return false;
	peel->build->straggler[peel->front] = STRAGGLER;
	positions_of(peel, peel->front, arity, positions, position);
	take_away(peel, defers, peel->front, arity, position);
	if ((peel->front & BF_INTERRUPT_MASK) == 0)
		bf_check_interrupts(peel->env);
	return true;
}

/*
 * Last peeled, first set: the cell that is set is still zero, and no later one changes the
 * others.  What peeling has kept for each cell is zero now, as no key is left: the values take
 * its place.
 */
static inline __attribute__((always_inline)) void
set_cells(Peel *peel, unsigned arity, BfPositions positions)
{
	unsigned	width = peel->build->head->param[BF_STATIC_WIDTH];
	uint32_t   *value = peel->cell;
	uint32_t	left = peel->peeled;

	while (left > 0)
	{
		uint64_t	position[GROUP][BF_PEEL_MAX_ARITY];
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
			bf_check_interrupts(peel->env);
	}
}

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
bf_peel(const BfEnv *env, BfShardBuild *build, const BfGraph *graph)
{
	uint64_t	cells = bf_graph_cells(graph);
	Peel		peel = {.env = env, .build = build, .graph = graph};

	/* each queue is longer by one: wait_if() writes before it knows */
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
bf_peel_pack(const BfEnv *env, uint8_t *out, const uint32_t *values, uint64_t n, unsigned width)
{
	uint64_t	left = 0;		/* bits that do not fill a byte yet */
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
			bf_check_interrupts(env);
	}
}

/* ---- probing many ---- */

#ifdef BF_HAVE_WIDE

/* The shards of a filter, opened; offsets are from the beginning of the payload. */
typedef struct OpenShards
{
	uint64_t	table[BF_WIDE_SHARDS];	/* where it begins, in bits */
	uint64_t	len[BF_WIDE_SHARDS];	/* of the graph */
	uint64_t	lg[BF_WIDE_SHARDS];		/* of the graph */
	uint64_t	gate[BF_WIDE_SHARDS];	/* where it begins, in bits */
	uint64_t	gate_bits[BF_WIDE_SHARDS];
	uint64_t	list[BF_WIDE_SHARDS];	/* where it begins, in bits */
	uint64_t	list_bits[BF_WIDE_SHARDS];
	uint64_t	stragglers[BF_WIDE_SHARDS];
	uint64_t	odd;			/* a set: there is no table, or not all is where it should be */
	bool		gated;			/* there are stragglers */
} OpenShards;

static void
open_shards(const BfView *view, BfGraphOf graph_of, OpenShards *open)
{
	uint64_t	end = view->head.payload_len - BF_STATIC_PADDING;
	uint32_t	i;

	memset(open, 0, sizeof(*open));
	for (i = 0; i < view->head.param[BF_STATIC_SHARDS]; i++)
	{
		uint64_t	gate_len;
		uint64_t	list_len;
		uint64_t	cells;
		BfGraph		graph;
		BfShard		shard;

		bf_static_open(view, i, &shard);
		graph_of(&view->head, shard.geometry, &graph);
		cells = bf_graph_cells(&graph);
		gate_len = (uint64_t) shard.stragglers * BF_STATIC_GATE;
		open->list_bits[i] =
			bf_static_list_bits(view->head.param[BF_STATIC_WIDTH], shard.stragglers, true);
		list_len = bf_packed_len(shard.stragglers, (unsigned) open->list_bits[i]) + gate_len;
		if (graph.len == 0 || cells > UINT32_MAX ||
			bf_packed_len(cells, view->head.param[BF_STATIC_WIDTH]) > shard.after ||
			list_len > shard.before)
		{
			open->odd |= UINT64_C(1) << i;
			continue;
		}
		open->table[i] = shard.before * 8;
		open->len[i] = graph.len;
		open->lg[i] = graph.lg;
		open->gate[i] = (gate_len > 0 ? shard.before - gate_len : end) * 8;
		open->gate_bits[i] = gate_len * 8;
		open->list[i] = (shard.before - list_len) * 8;
		open->stragglers[i] = shard.stragglers;
		open->gated |= gate_len > 0;
	}
}

/* The positions of eight keys, each a number of bits from the beginning of the payload. */
BF_WIDE_INLINE void
wide_positions(const BfView *view, const OpenShards *open, bool fuse, unsigned arity, __m512i shard,
			   BfWideShards shards, __m512i place, __m512i mix, __m512i *bit)
{
	__m512i		width = _mm512_set1_epi64(view->head.param[BF_STATIC_WIDTH]);
	__m512i		table = bf_wide_pick(open->table, shard, shards);
	__m512i		len = bf_wide_pick(open->len, shard, shards);
	unsigned	j;

	if (fuse)
	{
		__m512i segment =
			_mm512_sllv_epi64(_mm512_set1_epi64(1), bf_wide_pick(open->lg, shard, shards));
		__m512i		within = _mm512_sub_epi64(segment, _mm512_set1_epi64(1));
		__m512i		at = bf_wide_cell(place, len);

		bit[0] = at;
		for (j = 1; j < arity; j++)
		{
			at = _mm512_add_epi64(at, segment);
			bit[j] = _mm512_xor_si512(
				at, _mm512_and_si512(_mm512_srli_epi64(mix, 16 * (j - 1)), within));
		}
	}
	else
		bf_wide_block_positions(len, place, mix, bit);
	for (j = 0; j < arity; j++)
		bit[j] = _mm512_add_epi64(table, _mm512_mul_epu32(bit[j], width));
}

/* Keys that the gate has let through. */
typedef struct Asked
{
	size_t		n;
	uint64_t	hash[BF_WIDE_BATCH + BF_WIDE_LANES];
	bool	   *result[BF_WIDE_BATCH + BF_WIDE_LANES];
} Asked;

/* bf_static_search() for the last eight of them, or fewer. */
BF_WIDE_INLINE void
wide_search(const BfView *view, const OpenShards *open, Asked *asked, BfWideShards shards)
{
	__mmask8	lanes = bf_wide_lanes(0, asked->n);
	size_t		from = asked->n - BF_MIN(asked->n, BF_WIDE_LANES);
	__m512i		place;
	__m512i		shard =
		bf_wide_locate(view, _mm512_maskz_loadu_epi64(lanes, asked->hash + from), shards, &place);
	__m512i		bits = bf_wide_pick(open->list_bits, shard, shards);
	__m512i		list = bf_wide_pick(open->list, shard, shards);
	__m512i		left = bf_wide_pick(open->stragglers, shard, shards);
	__m512i		mask =
		_mm512_sub_epi64(_mm512_sllv_epi64(_mm512_set1_epi64(1), bits), _mm512_set1_epi64(1));
	__m512i		wanted = _mm512_srlv_epi64(place, _mm512_sub_epi64(_mm512_set1_epi64(64), bits));
	__m512i		at = list;		/* the first of those that are left */
	__mmask8	more;

	while ((more = _mm512_mask_cmpgt_epu64_mask(lanes, left, _mm512_set1_epi64(1))) != 0)
	{
		__m512i		half = _mm512_srli_epi64(left, 1);
		__m512i		next = _mm512_add_epi64(at, _mm512_mul_epu32(half, bits));
		__m512i		value = _mm512_and_si512(
				bf_wide_gather_bits(view->payload, _mm512_sub_epi64(next, bits), more), mask);

		at = _mm512_mask_mov_epi64(at, _mm512_mask_cmplt_epu64_mask(more, value, wanted), next);
		left = _mm512_sub_epi64(left, half);
	}
	lanes = _mm512_mask_test_epi64_mask(lanes, left, left);
	more = _mm512_mask_cmpeq_epi64_mask(
		lanes, _mm512_and_si512(bf_wide_gather_bits(view->payload, at, lanes), mask), wanted);
	for (; asked->n > from; asked->n--)
		*asked->result[asked->n - 1] = more >> (asked->n - 1 - from) & 1;
}

BF_WIDE_INLINE void
wide_batch(const BfView *view, const OpenShards *open, const uint64_t *hashes, size_t n,
		   bool *result, bool fuse, unsigned arity, BfWideShards shards, BfProbe one, Asked *asked)
{
	BfWideBits	cell[BF_PEEL_MAX_ARITY];
	BfWideBits	gate;
	uint64_t	fingerprint[BF_WIDE_BATCH] __attribute__((aligned(64)));
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	uint64_t	all = bf_wide_all(n);
	uint64_t	odd = 0;
	uint64_t	found = 0;
	uint64_t	ask = 0;
	size_t		i;
	unsigned	j;

	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		hash = _mm512_maskz_loadu_epi64(bf_wide_lanes(i, n), hashes + i);
		__m512i		mix = bf_wide_mix(hash);
		__m512i		place;
		__m512i		shard = bf_wide_locate(view, hash, shards, &place);
		__m512i		position[BF_PEEL_MAX_ARITY];

		wide_positions(view, open, fuse, arity, shard, shards, place, mix, position);
		for (j = 0; j < arity; j++)
			bf_wide_set_bits(&cell[j], i, position[j]);
		_mm512_store_si512(fingerprint + i, bf_wide_fingerprint(mix, width));
		if (open->gated)
			bf_wide_set_bits(&gate, i,
							 _mm512_add_epi64(bf_wide_pick(open->gate, shard, shards),
											  bf_wide_cell(place, bf_wide_pick(open->gate_bits,
																			   shard, shards))));
		if (open->odd != 0)
			odd |= (uint64_t) bf_wide_among(shard, open->odd) << i;
	}
	for (j = 0; j < arity; j++)
		bf_wide_load(cell[j].word, view->payload, n);
	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		value = _mm512_load_si512(fingerprint + i);

		for (j = 0; j < arity; j++)
			value = _mm512_xor_si512(value, bf_wide_get_bits(&cell[j], i));
		found |= (uint64_t) _mm512_testn_epi64_mask(value, _mm512_set1_epi64((1LL << width) - 1))
				 << i;
	}
	odd &= all;
	if (open->gated && (found & all) != all)
	{
		bf_wide_load(gate.word, view->payload, n);
		for (i = 0; i < n; i += BF_WIDE_LANES)
			ask |=
				(uint64_t) _mm512_test_epi64_mask(bf_wide_get_bits(&gate, i), _mm512_set1_epi64(1))
				<< i;
		ask &= all & ~(found | odd);
	}
	bf_wide_store(result, found, n);
	for (; ask != 0; ask &= ask - 1)
	{
		i = (size_t) __builtin_ctzll(ask);
		asked->hash[asked->n] = hashes[i];
		asked->result[asked->n++] = result + i;
	}
	while (asked->n >= BF_WIDE_LANES)
		wide_search(view, open, asked, shards);
	for (; odd != 0; odd &= odd - 1)
	{
		i = (size_t) __builtin_ctzll(odd);
		result[i] = one(view, hashes[i]);
	}
}

BF_WIDE_INLINE void
wide_many(const BfView *view, BfGraphOf graph_of, const uint64_t *hashes, size_t n, bool *result,
		  bool fuse, unsigned arity, BfWideShards shards)
{
	BfProbe		one = view->head.kind->prober(view);
	OpenShards	open;
	Asked		asked;

	open_shards(view, graph_of, &open);
	asked.n = 0;
	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_WIDE_BATCH);

		wide_batch(view, &open, hashes, batch, result, fuse, arity, shards, one, &asked);
		hashes += batch;
		result += batch;
		n -= batch;
	}
	if (asked.n > 0)
		wide_search(view, &open, &asked, shards);
}

#define WIDE(name, fuse, arity) \
	BF_WIDE static void \
	name(const BfView *view, BfGraphOf graph_of, const uint64_t *hashes, size_t n, bool *result) \
	{ \
		if (view->head.param[BF_STATIC_SHARDS] == 1) \
			wide_many(view, graph_of, hashes, n, result, fuse, arity, BF_WIDE_ONE); \
		else if (view->head.param[BF_STATIC_SHARDS] <= BF_WIDE_LANES) \
			wide_many(view, graph_of, hashes, n, result, fuse, arity, BF_WIDE_FEW); \
		else \
			wide_many(view, graph_of, hashes, n, result, fuse, arity, BF_WIDE_MANY); \
	}

WIDE(wide_xor, false, 3)
WIDE(wide_fuse_3, true, 3)
WIDE(wide_fuse_4, true, 4)
WIDE(wide_fuse_5, true, 5)
#endif

void
bf_peel_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
				   BfGraphOf graph_of)
{
	uint32_t	shards = view->head.param[BF_STATIC_SHARDS];
	BfGraph		graph;

	if (shards == 0)
	{
		memset(result, 0, n * sizeof(*result));
		return;
	}
	graph_of(&view->head, 0, &graph);
#ifdef BF_HAVE_WIDE
	if (bf_wide_probes(view, n))
	{
		if (!graph.fuse)
			wide_xor(view, graph_of, hashes, n, result);
		else if (graph.arity == 3)
			wide_fuse_3(view, graph_of, hashes, n, result);
		else if (graph.arity == 4)
			wide_fuse_4(view, graph_of, hashes, n, result);
		else
			wide_fuse_5(view, graph_of, hashes, n, result);
		return;
	}
#endif
	if (!graph.fuse)
		bf_lookup_many(view, hashes, n, result, 3, graph_of, bf_block_positions);
	else if (graph.arity == 3)
		bf_lookup_many(view, hashes, n, result, 3, graph_of, bf_fuse_positions);
	else if (graph.arity == 4)
		bf_lookup_many(view, hashes, n, result, 4, graph_of, bf_fuse_positions);
	else
		bf_lookup_many(view, hashes, n, result, 5, graph_of, bf_fuse_positions);
}
