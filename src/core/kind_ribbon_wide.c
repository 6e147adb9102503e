/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_wide.c
 *	  Probes of many keys of a ribbon filter with AVX-512.
 *
 * The steps are those of kind_ribbon_probe.c.  Values that are computed for each key are computed
 * for eight keys at a time.  Memory is read for one key at a time, all of its columns together.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_ribbon_wide.h"

#include "bf_static_wide.h"
#include "kind_ribbon_table.h"

#ifdef BF_HAVE_WIDE

/*
 * The most columns that are not in the front (the columns read first), rounded up to a multiple of
 * 8.
 */
#define MAX_REST		32

/*
 * The largest payload in bytes for which nothing is prefetched.  A filter up to this size is in the
 * second-level cache, or will be soon.  Prefetching what is there takes longer than waiting for it.
 */
#define WIDE_NEAR		((uint64_t) 1 << 20)

/*
 * One layer of all shards, with an element for each shard; the members are as in Layer.  Offsets
 * are in bytes from the beginning of the payload.
 */
typedef struct WideLayer
{
	uint64_t	starts[BF_WIDE_SHARDS];
	uint64_t	gap_at[BF_WIDE_SHARDS];
	uint64_t	gap[BF_WIDE_SHARDS];
	uint64_t	binary_blocks[BF_WIDE_SHARDS];
	uint64_t	thresholds[BF_WIDE_SHARDS]; /* Offset of the thresholds. */
	uint64_t	front[BF_WIDE_SHARDS];
	uint64_t	rest[BF_WIDE_SHARDS];
	uint64_t	groups[BF_WIDE_SHARDS];

	/* The set of shards, a bit for each, that do not have this layer or where it cannot be read. */
	uint64_t	odd;
	uint64_t	any;			/* The set of shards where this layer cannot be read. */
	bool		stragglers;		/* True if any shard has stragglers. */
} WideLayer;

/*
 * Opens a layer of all shards.  Sets only the elements of shards that exist, because clearing all
 * elements would take a large part of a call with a few keys.
 */
static void
open_wide_layer(const BfView *view, unsigned number, WideLayer *open)
{
	uint32_t	i;

	open->odd = open->any = 0;
	open->stragglers = false;
	for (i = 0; i < view->head.param[BF_STATIC_SHARDS]; i++)
	{
		const Layer *layer;
		uint64_t	base;
		Table		table;

		open_table(view, i, &table);
		layer = layer_number(&view->head, &table, number);
		base = layer->starts != 0 ? (uint64_t) (layer->bytes - view->payload) : 0;
		open->starts[i] = layer->starts;
		open->gap_at[i] = layer->gap_at;
		open->gap[i] = layer->gap;
		open->binary_blocks[i] = layer->binary_blocks;
		open->thresholds[i] = base + NEXT_BYTES;
		open->front[i] = base + layer->front;
		open->rest[i] = base + layer->rest;
		open->groups[i] = base + layer->groups;
		open->odd |= (uint64_t) (layer->starts == 0) << i;
		open->any |= (uint64_t) (layer->starts == 0 && layer->blocks != 0) << i;
		open->stragglers |= table.shard.stragglers > 0;
	}
}

/*
 * The state of a batch of keys while a layer is probed.  Offsets are in bytes from the beginning of
 * the payload.
 */
typedef struct Batch
{
	uint64_t	mix[BF_WIDE_BATCH] __attribute__((aligned(64)));
	uint64_t	start[BF_WIDE_BATCH];

	/* The coefficients, shifted to the two blocks of the row. */
	uint64_t	in_low[BF_WIDE_BATCH];
	uint64_t	in_high[BF_WIDE_BATCH];
	uint64_t	shard[BF_WIDE_BATCH];

	/*
	 * The offset of the byte with the threshold of the key's bucket; later the word that begins
	 * with that byte.
	 */
	uint64_t	code[BF_WIDE_BATCH];
	uint64_t	front[BF_WIDE_BATCH];	/* The offset of the row's columns of the front. */
	uint64_t	words[BF_WIDE_BATCH];	/* The offset of the row's columns of the rest. */
	uint64_t	group[BF_WIDE_BATCH];	/* The offset of the 64 bytes with the row's digits. */

	/* The number (0 to 4) of the row's first block in its group of five. */
	uint64_t	digit[BF_WIDE_BATCH];

	/* Which of the 64 bytes with the row's digits belong to the first block, as a set of bits. */
	uint64_t	digits_first[BF_WIDE_BATCH];

	/* Which of the 64 bytes with the row's digits have the coefficient 1, as a set of bits. */
	uint64_t	digits_in[BF_WIDE_BATCH];

	/* The fingerprint's bits for the front, a bit for each column. */
	uint8_t		front_wanted[BF_WIDE_BATCH];

	/*
	 * The sums of the front's columns in the first block, and from bit FRONT on those in the second
	 * block.
	 */
	uint8_t		front_sums[BF_WIDE_BATCH];

	/* The fingerprint's bits for the rest, eight columns in a byte. */
	uint8_t		rest_wanted[MAX_REST / 8][BF_WIDE_BATCH];
	uint8_t		rest_sums[MAX_REST / 8][BF_WIDE_BATCH];
	uint8_t		digit_wanted[BF_WIDE_BATCH];

	/* The sum of the row's ternary digits, not reduced modulo 3. */
	uint8_t		digit_sums[BF_WIDE_BATCH];

	/* The members of Batch from here on are sets of keys, with a bit for each key. */
	uint64_t	odd;			/* The keys whose layer cannot be read, or does not exist. */

	/* The keys whose layer cannot be read, so that they may be contained. */
	uint64_t	any;
	uint64_t	late;			/* The keys that were bumped to the next layer. */
	uint64_t	ternary;		/* The keys in the ternary part. */
} Batch;

/* Stores the lowest byte of each of the eight lanes. */
BF_WIDE_INLINE void
store_bytes(uint8_t *to, __m512i x)
{
	_mm_storel_epi64((__m128i *) (void *) to, _mm512_cvtepi64_epi8(x));
}

/*
 * Finds the rows of all keys of a batch, and prefetches their fronts.  First finds where the rows
 * start and then, when the thresholds are loaded, which keys were bumped.
 */
BF_WIDE_INLINE void
wide_windows(const BfView *view, const WideLayer *open, unsigned number, const uint64_t *hashes,
			 size_t n, BfWideShards shards, Batch *batch)
{
	const __m512i thresholds =
		_mm512_set_epi64(0, 0, 0, 0, threshold[3], threshold[2], threshold[1], threshold[0]);
	const __m512i one = _mm512_set1_epi64(1);
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	bool		far = view->head.payload_len > WIDE_NEAR;
	size_t		i;

	batch->odd = batch->any = batch->late = 0;
	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		hash = _mm512_maskz_loadu_epi64(bf_wide_lanes(i, n), hashes + i);
		__m512i		mix = bf_wide_mix(hash);
		__m512i		place;
		__m512i		shard = bf_wide_locate(view, hash, shards, &place);
		__m512i		start;
		__m512i		block;

		if (number > 0)
			place =
				_mm512_mullo_epi64(mix, _mm512_set1_epi64((long long) place_multiplier[number]));
		start = bf_wide_cell(place, bf_wide_pick(open->starts, shard, shards));
		start = _mm512_mask_add_epi64(
			start, _mm512_cmpge_epu64_mask(start, bf_wide_pick(open->gap_at, shard, shards)), start,
			bf_wide_pick(open->gap, shard, shards));
		block = _mm512_srli_epi64(start, 6);
		_mm512_store_si512(batch->shard + i, shard);
		_mm512_store_si512(batch->mix + i, mix);
		_mm512_store_si512(batch->start + i, start);
		_mm512_store_si512(batch->code + i,
						   _mm512_add_epi64(bf_wide_pick(open->thresholds, shard, shards),
											_mm512_srli_epi64(block, 3)));
		_mm512_store_si512(batch->front + i,
						   _mm512_add_epi64(bf_wide_pick(open->front, shard, shards),
											_mm512_slli_epi64(block, 5)));
		if (open->odd != 0)
		{
			batch->odd |= (uint64_t) bf_wide_among(shard, open->odd) << i;
			batch->any |= (uint64_t) bf_wide_among(shard, open->any) << i;
		}
	}
	bf_wide_load(batch->code, view->payload, n);
	for (i = 0; i < n; i += BF_WIDE_LANES)
	{
		__m512i		mix = _mm512_load_si512(batch->mix + i);
		__m512i		start = _mm512_load_si512(batch->start + i);
		__m512i		shift = _mm512_and_si512(start, _mm512_set1_epi64(BLOCK_SLOTS - 1));
		__m512i		all = _mm512_or_si512(mix, one);
		__m512i fingerprint = _mm512_mullo_epi64(mix, _mm512_set1_epi64((long long) FINGERPRINT));
		__m512i		code =
			_mm512_srlv_epi64(_mm512_load_si512(batch->code + i),
							  _mm512_and_si512(_mm512_srli_epi64(start, 6), _mm512_set1_epi64(6)));
		size_t		j;

		code = _mm512_permutexvar_epi64(_mm512_and_si512(code, _mm512_set1_epi64(3)), thresholds);
		batch->late |= (uint64_t) _mm512_cmplt_epu64_mask(
						   _mm512_and_si512(start, _mm512_set1_epi64(BUCKET_SLOTS - 1)), code)
					   << i;
		_mm512_store_si512(batch->in_low + i, _mm512_sllv_epi64(all, shift));
		_mm512_store_si512(
			batch->in_high + i,
			_mm512_srlv_epi64(all, _mm512_sub_epi64(_mm512_set1_epi64(BLOCK_SLOTS), shift)));
		store_bytes(batch->front_wanted + i,
					_mm512_and_si512(_mm512_srli_epi64(fingerprint, 64 - width),
									 _mm512_set1_epi64((1 << FRONT) - 1)));
		for (j = i; far && j < i + BF_WIDE_LANES; j++)
		{
			fetch_ahead(view->payload + batch->front[j]);
			fetch_ahead(view->payload + batch->front[j] + 2 * FRONT * WORD_BYTES - 1);
		}
	}
	batch->late &= ~batch->odd & bf_wide_all(n);
}

/*
 * Returns the sums of a key's row in the front, a bit for each column: the sums in the first block,
 * and from bit FRONT on those in the second block.
 */
BF_WIDE_INLINE unsigned
wide_front(const BfView *view, const Batch *batch, size_t i)
{
	__m512i		in = _mm512_mask_set1_epi64(_mm512_set1_epi64((long long) batch->in_low[i]), 0xf0,
											(long long) batch->in_high[i]);
	__m512i		x = _mm512_and_si512(in, _mm512_loadu_si512(view->payload + batch->front[i]));

	return _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));
}

/*
 * Compares the fronts of all keys with their fingerprints, and returns the set of keys that agree.
 */
BF_WIDE_INLINE uint64_t
wide_fronts(const BfView *view, Batch *batch, size_t n)
{
	__m512i		sums;
	size_t		i;

	for (i = 0; i < n; i++)
		batch->front_sums[i] = (uint8_t) wide_front(view, batch, i);
	sums = _mm512_load_si512(batch->front_sums);
	sums = _mm512_xor_si512(_mm512_xor_si512(sums, _mm512_srli_epi16(sums, FRONT)),
							_mm512_load_si512(batch->front_wanted));
	return _mm512_testn_epi8_mask(sums, _mm512_set1_epi8((1 << FRONT) - 1)) & bf_wide_all(n);
}

/*
 * Finds the rest of eight keys' rows, as find_rest() of kind_ribbon_probe.c does for one key, and
 * stores the fingerprint's bits for these columns.
 */
BF_WIDE_INLINE void
wide_find_rest(const BfView *view, const WideLayer *open, size_t i, unsigned rest_width,
			   unsigned extra_width, BfWideShards shards, Batch *batch)
{
	/* 2^34 / GROUP_BLOCKS, rounded up: with it the quotient is exact for numbers of 32 bits. */
	const __m512i reciprocal = _mm512_set1_epi64(0xcccccccd);
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	__m512i		shard = _mm512_load_si512(batch->shard + i);
	__m512i		binary_blocks = bf_wide_pick(open->binary_blocks, shard, shards);
	__m512i		block = _mm512_srli_epi64(_mm512_load_si512(batch->start + i), 6);
	/* The number of the row's first block among the ternary blocks. */
	__m512i		number = _mm512_sub_epi64(block, binary_blocks);
	__m512i		group = _mm512_srli_epi64(_mm512_mul_epu32(number, reciprocal), 34);
	__m512i		digit =
		_mm512_sub_epi64(number, _mm512_mul_epu32(group, _mm512_set1_epi64(GROUP_BLOCKS)));
	__m512i		fingerprint = _mm512_mullo_epi64(_mm512_load_si512(batch->mix + i),
												 _mm512_set1_epi64((long long) FINGERPRINT));
	/* The rows whose second block is the first of the next group. */
	__mmask8	crossing = _mm512_cmpeq_epi64_mask(digit, _mm512_set1_epi64(GROUP_BLOCKS - 1));
	__m512i		shift =
		_mm512_and_si512(_mm512_load_si512(batch->start + i), _mm512_set1_epi64(BLOCK_SLOTS - 1));
	__m512i		all = _mm512_or_si512(_mm512_load_si512(batch->mix + i), _mm512_set1_epi64(1));
	const __m512i ones = _mm512_set1_epi64(-1);
	__m512i		words;
	unsigned	c;

	words = _mm512_add_epi64(
		_mm512_mul_epu32(block, _mm512_set1_epi64(rest_width)),
		_mm512_mul_epu32(_mm512_min_epu64(block, binary_blocks), _mm512_set1_epi64(extra_width)));
	_mm512_store_si512(batch->words + i, _mm512_add_epi64(bf_wide_pick(open->rest, shard, shards),
														  _mm512_slli_epi64(words, 3)));
	group =
		_mm512_add_epi64(bf_wide_pick(open->groups, shard, shards), _mm512_slli_epi64(group, 6));
	_mm512_store_si512(batch->group + i, _mm512_mask_add_epi64(group, crossing, group, shift));
	_mm512_store_si512(batch->digit + i, digit);
	_mm512_store_si512(
		batch->digits_first + i,
		_mm512_mask_srlv_epi64(_mm512_sllv_epi64(ones, shift), crossing, ones, shift));
	_mm512_store_si512(batch->digits_in + i,
					   _mm512_mask_mov_epi64(_mm512_rolv_epi64(all, shift), crossing, all));
	batch->ternary |= (uint64_t) _mm512_cmpge_epu64_mask(block, binary_blocks) << i;

	for (c = 0; c < rest_width + extra_width; c += 8)
		store_bytes(
			batch->rest_wanted[c / 8] + i,
			_mm512_srl_epi64(fingerprint, _mm_cvtsi32_si128((int) (64 - width + FRONT + c))));
	store_bytes(batch->digit_wanted + i,
				bf_wide_cell(_mm512_sll_epi64(fingerprint, _mm_cvtsi32_si128((int) width)),
							 _mm512_set1_epi64(3)));
}

/*
 * Computes the sums of a key's row in the rest; the part that the row lies in has the given number
 * of columns there.  Sums of further columns are left unchanged.
 */
BF_WIDE_INLINE void
wide_columns(const uint8_t *payload, Batch *batch, size_t i, unsigned columns)
{
	const uint8_t *low = payload + batch->words[i];
	const uint8_t *high = low + columns * WORD_BYTES;
	unsigned	c;

	if (columns == 1)
	{
		Coefficients in = {.in_low = batch->in_low[i], .in_high = batch->in_high[i]};

		batch->rest_sums[0][i] = (uint8_t) sum(low, high, in);
		return;
	}
	if (columns <= BF_WIDE_LANES / 2)
	{
		/* Load both words of all columns at once. */
		__m512i in =
			_mm512_mask_set1_epi64(_mm512_set1_epi64((long long) batch->in_low[i]),
								   (__mmask8) (0xff << columns), (long long) batch->in_high[i]);
		__m512i x =
			_mm512_and_si512(in, _mm512_maskz_loadu_epi64(bf_wide_lanes(0, 2 * columns), low));
		unsigned	sums = _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));

		batch->rest_sums[0][i] = (uint8_t) (sums ^ sums >> columns);
		return;
	}
	for (c = 0; c < columns; c += BF_WIDE_LANES)
	{
		__mmask8	lanes = bf_wide_lanes(c, columns);
		__m512i		x = _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, low + c * WORD_BYTES),
										 _mm512_set1_epi64((long long) batch->in_low[i]));
		__m512i		y = _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, high + c * WORD_BYTES),
										 _mm512_set1_epi64((long long) batch->in_high[i]));

		batch->rest_sums[c / 8][i] = (uint8_t) _mm512_test_epi64_mask(
			_mm512_popcnt_epi64(_mm512_xor_si512(x, y)), _mm512_set1_epi64(1));
	}
}

/*
 * Computes the sum of a key's row in the ternary column.  Of the two digits with the same number in
 * the row's two blocks, the row has at most one: the first block's from the start on, the second
 * block's before that.  If both blocks are in the same group, the digits are the group's bytes,
 * read as a circle from the start on; if the second block is in the next group, they are 64
 * consecutive bytes.  In either case batch->group is the offset of the 64 bytes.
 */
BF_WIDE_INLINE void
wide_digits(const uint8_t *payload, Batch *batch, size_t i)
{
	static const uint8_t powers[GROUP_BLOCKS + 1] = {1, 3, 9, 27, 81, 1};
	const uint8_t *multipliers = powers + batch->digit[i];
	__mmask64	first = batch->digits_first[i];
	__m512i		x = _mm512_maskz_loadu_epi8(batch->digits_in[i], payload + batch->group[i]);
	__m512i multiplier = _mm512_mask_set1_epi8(_mm512_set1_epi8((char) multipliers[1]), first,
											   (char) multipliers[0]);
	__m512i odd = _mm512_mullo_epi16(_mm512_and_si512(x, _mm512_set1_epi16((short) 0xff00)),
									 _mm512_srli_epi16(multiplier, 8));

	x = _mm512_mask_mov_epi8(_mm512_mullo_epi16(x, multiplier), UINT64_C(0xaaaaaaaaaaaaaaaa), odd);
	batch->digit_sums[i] =
		(uint8_t) (_mm_popcnt_u64(_mm512_cmpge_epu8_mask(x, _mm512_set1_epi8(86))) +
				   _mm_popcnt_u64(_mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char) 171))));
}

/*
 * Returns the set of keys whose ternary sums are not the wanted ones, modulo 3.  A byte x is a
 * multiple of 3 if and only if x / 3 modulo 256, which is x * 171, is at most 255 / 3.
 */
BF_WIDE_INLINE uint64_t
wide_digits_differ(const Batch *batch)
{
	/* The inverse of 3 modulo 256: 3 * 171 = 1 modulo 256. */
	const __m512i third = _mm512_set1_epi16(171);
	__m512i		x = _mm512_add_epi8(_mm512_load_si512(batch->digit_sums), _mm512_set1_epi8(3));

	x = _mm512_sub_epi8(x, _mm512_load_si512(batch->digit_wanted));
	x = _mm512_mask_mov_epi8(
		_mm512_mullo_epi16(x, third), UINT64_C(0xaaaaaaaaaaaaaaaa),
		_mm512_mullo_epi16(_mm512_and_si512(x, _mm512_set1_epi16((short) 0xff00)), third));
	return _mm512_cmpgt_epu8_mask(x, _mm512_set1_epi8(85));
}

/*
 * Compares the rest of the rows of a set of keys with their fingerprints, and returns the set of
 * keys that agree in it.
 */
BF_WIDE_INLINE uint64_t
wide_rests(const BfView *view, const WideLayer *open, uint64_t set, BfWideShards shards,
		   Batch *batch)
{
	const uint8_t *payload = view->payload;
	unsigned	rest_width = common_width(&view->head) - FRONT;
	unsigned	columns = view->head.param[BF_STATIC_WIDTH] - view->head.param[PARAM_LESS] - FRONT;
	bool		far = view->head.payload_len > WIDE_NEAR;
	uint64_t	differ = 0;
	uint64_t	left;
	unsigned	i;

	batch->ternary = 0;
	for (i = 0; i < BF_WIDE_BATCH; i += BF_WIDE_LANES)
		if (set >> i & 0xff)
		{
			wide_find_rest(view, open, i, rest_width, columns - rest_width, shards, batch);
			for (left = far ? set & UINT64_C(0xff) << i : 0; left != 0; left &= left - 1)
			{
				unsigned	j = (unsigned) __builtin_ctzll(left);

				fetch_ahead(payload + batch->words[j]);
				fetch_ahead(payload + batch->group[j]);
				fetch_ahead(payload + batch->group[j] + GROUP_BYTES - 1);
			}
		}
	for (left = set & ~batch->ternary; left != 0; left &= left - 1)
		wide_columns(payload, batch, (size_t) __builtin_ctzll(left), columns);
	for (left = set & batch->ternary; left != 0; left &= left - 1)
	{
		wide_columns(payload, batch, (size_t) __builtin_ctzll(left), rest_width);
		wide_digits(payload, batch, (size_t) __builtin_ctzll(left));
	}
	for (i = 0; i < columns; i += 8)
	{
		__m512i ask = _mm512_mask_set1_epi8(
			_mm512_set1_epi8((char) bf_wide_lanes(i, columns)), batch->ternary,
			(char) (i < rest_width ? bf_wide_lanes(i, rest_width) : 0));

		differ |=
			_mm512_test_epi8_mask(_mm512_xor_si512(_mm512_load_si512(batch->rest_sums[i / 8]),
												   _mm512_load_si512(batch->rest_wanted[i / 8])),
								  ask);
	}
	return set & ~differ & ~(wide_digits_differ(batch) & batch->ternary);
}

/*
 * Probes a layer for a batch of keys.  Returns the set of keys that the layer contains or, if it
 * cannot be read, may contain; sets *late to the keys that were bumped to a later layer.
 */
BF_WIDE_INLINE uint64_t
wide_batch(const BfView *view, const WideLayer *open, unsigned number, const uint64_t *hashes,
		   size_t n, BfWideShards shards, uint64_t *late)
{
	uint64_t	passed;
	Batch		batch;

	wide_windows(view, open, number, hashes, n, shards, &batch);
	*late = batch.late;
	passed = wide_fronts(view, &batch, n) & ~(batch.odd | batch.late);
	return wide_rests(view, open, passed, shards, &batch) | batch.any;
}

/*
 * The number of keys that are probed in one layer before the bumped ones among them are probed in
 * the next: enough to fill a batch there.
 */
#define WIDE_CHUNK		1024

BF_WIDE_INLINE void
wide_chunk(const BfView *view, WideLayer *layer, unsigned *nlayers, const uint64_t *hashes,
		   size_t n, bool *result, BfWideShards shards)
{
	uint64_t	late[WIDE_CHUNK];	/* The hashes of the keys that go on to the next layer. */
	uint16_t	at[WIDE_CHUNK];		/* The index in result[] of each hash in late[]. */
	size_t		left = n;
	unsigned	number;

	for (number = 0; number < MAX_LAYERS && left > 0; number++)
	{
		size_t		asked = left;
		size_t		i;

		left = 0;
		if (number == *nlayers)
			open_wide_layer(view, (*nlayers)++, &layer[number]);
		for (i = 0; i < asked; i += BF_WIDE_BATCH)
		{
			const uint64_t *ask = (number == 0 ? hashes : late) + i;
			size_t		batch = BF_MIN(asked - i, BF_WIDE_BATCH);
			uint64_t	set;
			uint64_t	passed = wide_batch(view, &layer[number], number, ask, batch, shards, &set);
			size_t		j;

			if (number == 0)
				bf_wide_store(result + i, passed, batch);
			else
				for (j = 0; j < batch; j++)
					result[at[i + j]] = passed >> j & 1;
			for (; set != 0; set &= set - 1)
			{
				j = (size_t) __builtin_ctzll(set);
				at[left] = number == 0 ? (uint16_t) (i + j) : at[i + j];
				late[left++] = ask[j];
			}
		}
	}
	for (left = 0; layer[0].stragglers && left < n; left++)
		if (!result[left])
		{
			BfShard		shard;

			bf_static_find(view, hashes[left], &shard);
			result[left] = bf_static_listed(view, &shard);
		}
}

BF_WIDE static void
wide_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	WideLayer	layer[MAX_LAYERS];
	unsigned	nlayers = 0;

	while (n > 0)
	{
		size_t		chunk = BF_MIN(n, WIDE_CHUNK);

		BF_WIDE_BY_SHARDS(view, wide_chunk, layer, &nlayers, hashes, chunk, result);
		hashes += chunk;
		result += chunk;
		n -= chunk;
	}
}

#endif							/* BF_HAVE_WIDE */

bool
bf_ribbon_wide_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
#ifdef BF_HAVE_WIDE
	/*
	 * In a shard without the layer, fronts are read from the beginning of the payload, which must
	 * be long enough for such a read.
	 */
	if (common_width(&view->head) >= FRONT && view->head.payload_len >= 2 * FRONT * WORD_BYTES &&
		bf_wide_probes(view, n))
	{
		wide_many(view, hashes, n, result);
		return true;
	}
#else
	(void) view;
	(void) hashes;
	(void) n;
	(void) result;
#endif
	return false;
}
