/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_lookup.c
 *	  Probing of many keys of a binary_fuse or xor filter; see bf_lookup.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_lookup.h"

#ifdef BF_HAVE_WIDE

/*
 * All that a probe needs to know of the filter's shards: each array has an element for each shard.
 * Offsets are in bits from the beginning of the payload.  The offset of a straggler list is used
 * only if the shard has stragglers.
 */
typedef struct OpenShards
{
	uint64_t	table[BF_WIDE_SHARDS];	/* Offset of the shard's table. */
	uint64_t	len[BF_WIDE_SHARDS];	/* BfGraph.len of the shard's graph. */
	uint64_t	lg[BF_WIDE_SHARDS];		/* BfGraph.lg of the shard's graph. */

	/* Offset of the bitmap (gate) that spares most keys a search of the straggler list. */
	uint64_t	gate[BF_WIDE_SHARDS];
	uint64_t	gate_bits[BF_WIDE_SHARDS];

	/* Offset of the list of stragglers, the keys that the table could not take. */
	uint64_t	list[BF_WIDE_SHARDS];

	/* The number of bits of an entry of the straggler list. */
	uint64_t	list_bits[BF_WIDE_SHARDS];
	uint64_t	stragglers[BF_WIDE_SHARDS];

	/*
	 * The set of shards, a bit for each, that have no table, or whose table or list does not lie
	 * within the payload.  Their keys are probed one by one.
	 */
	uint64_t	odd;
	bool		gated;			/* True if any shard has stragglers. */
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

/* Computes the positions of eight keys, as offsets in bits from the beginning of the payload. */
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

/*
 * Keys that the gate of their shard's straggler list has let through.  The lists are searched for
 * eight such keys at a time.
 */
typedef struct Asked
{
	size_t		n;
	uint64_t	hash[BF_WIDE_BATCH + BF_WIDE_LANES];
	bool	   *result[BF_WIDE_BATCH + BF_WIDE_LANES];
} Asked;

/*
 * Searches the straggler lists, as bf_static_search() does, for the last eight keys of *asked, or
 * for all if there are fewer; sets their results and removes them from *asked.
 */
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
	/*
	 * For each key, the offset at which the straggler list's entries that may still match it begin.
	 */
	__m512i		at = list;
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

/*
 * Probes a batch of keys: computes the positions and fingerprints of all keys, loads all cells, and
 * XORs each key's cells with its fingerprint.  A key for which the result is not zero is looked up
 * in the gate of its shard's stragglers.
 */
BF_WIDE_INLINE void
wide_batch(const BfView *view, const OpenShards *open, const uint64_t *hashes, size_t n,
		   bool *result, bool fuse, unsigned arity, BfWideShards shards, BfProbe one, Asked *asked)
{
	BfWideBits	cell[BF_GRAPH_MAX_ARITY];
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
		__m512i		position[BF_GRAPH_MAX_ARITY];

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
		BF_WIDE_BY_SHARDS(view, wide_many, graph_of, hashes, n, result, fuse, arity); \
	}

WIDE(wide_xor, false, 3)
WIDE(wide_fuse_3, true, 3)
WIDE(wide_fuse_4, true, 4)
WIDE(wide_fuse_5, true, 5)

#endif							/* BF_HAVE_WIDE */

void
bf_lookup_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result,
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
