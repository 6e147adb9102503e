/*-------------------------------------------------------------------------
 *
 * kind_ribbon.c
 *	  The smallest of the kinds that are built at once: a few thousandths above the lower bound, at any rate of whole bits.
 *
 * A table of slots, each of which has w columns of one bit, and for every key one equation a column: of the 64 slots from the key's start
 * on, those that its coefficients choose add up (XOR) to its fingerprint.  Who asks for another key gets a sum that has nothing to do with
 * that key's fingerprint: w columns let 2^-w of them pass.
 *
 * Equations sorted by their start make a matrix that is a band, a *ribbon*, which Gaussian elimination solves on the fly: a row whose first
 * coefficient meets a row that stands there already is added to it, starts later then, and so on to a slot that is free.  That works
 * while there are more slots than keys, everywhere.  Chance makes it otherwise in places; so we take less slots than keys instead,
 * and *bump* what is too much: slots are cut into buckets of 128, and a bucket's threshold says that keys which start at less than the
 * 0th, 12th, 36th or 128th slot of it are not in this layer.  A bucket's high starts come first, and what a bucket cannot take is at its
 * low starts, where the bucket before it spills over.  Bumped keys, a twentieth, go to the next layer, which is another such table
 * with places of its own; those of the last go to the list of stragglers.  Nothing is tried twice, no seed is looked for.  One slot in 1500
 * remains empty, and the thresholds take 2/128 bits a key.
 *
 * Rates between 2^-w and 2^-(w-1): a share s of the blocks of 64 slots, the first ones, lacks the last column, and the rate is
 *
 *		(1 - s) 2^-w + s 2^-(w-1) = 2^-w (1 + s)
 *
 * for w - s bits a key.  The bound for that rate is w - log2(1 + s), up to 0.086 bits less, whatever the solver does: 1.1 % at a rate of
 * 1 %, 0.1 % at 0.1 %, nothing at a power of two.
 *
 *		table		layers
 *		layer		u32, blocks of the next layer, 0 if there is none; the thresholds, 2 bits a bucket, zeros up to a whole byte; then the
 *					front, the first f = min(4, w - 1) columns, block by block; then the rest, the other columns, block by block
 *		block		a word of 8 bytes for each column, the first slot in its lowest bit
 *		geometry	blocks of the first layer
 *
 *		param[0]	w
 *		param[1]	s, in 65536ths
 *
 * A probe reads two neighbouring blocks of the front, 64 bytes, and of the rest only if those columns agree: one other key in 16.
 *
 * Dietzfelbinger, Walzer 2019, "Efficient Gauss elimination for near-quadratic matrices with one short random block per row"; Dillinger,
 * Walzer 2021, "Ribbon filter: practically smaller than Bloom and Xor"; Dillinger, Hübschle-Schneider, Sanders, Walzer 2022, "Fast succinct
 * retrieval and approximate membership using ribbon", whose bumping this is.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_static.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_X86_KERNELS
#endif

#define PARAM_SHORT		1

#define SHORT_ONE		65536	/* what param[PARAM_SHORT] counts in */
#define BLOCK_SLOTS		64
#define BUCKET_SLOTS	128
#define WORD_BYTES		8
#define NEXT_BYTES		4
#define MAX_LAYERS		4
#define FRONT			4		/* columns that are looked at first */

/* Starts below this are bumped.  For this width and load, found by trying; what differs by some slots costs next to nothing. */
static const uint8_t threshold[4] = {0, 12, 36, BUCKET_SLOTS};

/*
 * A layer of many keys has this many slots less than keys, in 1024ths, and bumps a little more than that.  More would cost time and layers, less
 * leaves slots empty.
 */
#define OVERLOAD		51

/* A layer of few keys has as many slots more, and bumps next to nothing: there is no use in yet another one. */
#define FEW_KEYS		1500
#define SLACK_SLOTS		16

/* The list takes no more for so many keys than a layer would. */
#define LIST_KEYS		12

/* Odd numbers without structure, for what is independent of each other: coefficients, fingerprint, and places in the later layers. */
#define COEFFICIENTS	UINT64_C(0xd1342543de82ef95)
#define FINGERPRINT		UINT64_C(0xa0761d6478bd642f)
static const uint64_t place_multiplier[MAX_LAYERS] = {
	0, UINT64_C(0xe7037ed1a0b428db), UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
};

/* ---- a layer ---- */

typedef struct Layer
{
	uint64_t	blocks;
	uint64_t	starts;			/* where a key can start: the last one leaves a whole window */
	uint64_t	short_blocks;	/* so many at the beginning lack the last column */
	unsigned	front_width;
	unsigned	rest_width;
	uint64_t	front;			/* where the front begins, in bytes from the beginning of the layer */
	uint64_t	rest;			/* ... and the rest */
	uint64_t	len;
} Layer;

/* What follows from the number of blocks. */
static inline void
layer_shape(const BfHeader *head, uint32_t blocks, Layer *layer)
{
	unsigned	width = head->param[BF_STATIC_WIDTH];

	layer->front_width = BF_MIN(FRONT, width - 1);
	layer->rest_width = width - layer->front_width;
	layer->blocks = blocks;
	layer->starts = layer->blocks * BLOCK_SLOTS - (BLOCK_SLOTS - 1);
	layer->short_blocks = layer->starts * head->param[PARAM_SHORT] / SHORT_ONE / BLOCK_SLOTS;
	layer->front = NEXT_BYTES + (layer->blocks + 7) / 8;	/* 2 blocks a bucket, 4 buckets a byte */
	layer->rest = layer->front + layer->blocks * layer->front_width * WORD_BYTES;
	layer->len = layer->rest + (layer->blocks * layer->rest_width - layer->short_blocks) * WORD_BYTES;
}

/* Where a block begins, in bytes from the beginning of the layer, and how many columns it has in the rest. */
static inline uint64_t
front_offset(const Layer *layer, uint64_t block)
{
	return layer->front + block * layer->front_width * WORD_BYTES;
}

static inline uint64_t
rest_offset(const Layer *layer, uint64_t block)
{
	return layer->rest + (block * layer->rest_width - BF_MIN(block, layer->short_blocks)) * WORD_BYTES;
}

static inline unsigned
rest_columns(const Layer *layer, uint64_t block)
{
	return layer->rest_width - (block < layer->short_blocks);
}

static inline unsigned
threshold_at(const uint8_t *layer, uint64_t start)
{
	uint64_t	bucket = start / BUCKET_SLOTS;

	return threshold[layer[NEXT_BYTES + bucket / 4] >> (bucket % 4 * 2) & 3];
}

/* ---- what a key asks ---- */

/* The first coefficient is 1, so that the row of a key begins at its start. */
static inline uint64_t
coefficients_of(uint64_t mix)
{
	return (mix * COEFFICIENTS) | 1;
}

static inline uint32_t
fingerprint_of(uint64_t mix, unsigned width)
{
	return (uint32_t) (mix * FINGERPRINT >> (64 - width));
}

static inline uint64_t
parity(uint64_t x)
{
	return (uint64_t) __builtin_parityll(x);
}

/* What a row adds up to in a column, whose words begin at low and high. */
static inline uint64_t
sum(const uint8_t *low, const uint8_t *high, uint64_t in_low, uint64_t in_high)
{
	return parity((bf_load64(low) & in_low) ^ (bf_load64(high) & in_high));
}

/* Where the equations of a key lie: over two blocks, so that instead of the words the coefficients are shifted. */
typedef struct Window
{
	const uint8_t *front;		/* NULL: any key passes */
	const uint8_t *front_next;
	const uint8_t *rest;
	const uint8_t *rest_next;
	uint64_t	mix;			/* of the key */
	unsigned	shift;
	unsigned	columns;		/* of the rest that count */
} Window;

/*
 * Finds the window of a key in the table; false if the key is in no layer.  A layer that is not within the payload is no reason to say no.
 */
static inline __attribute__((always_inline)) bool
find_window(const BfView *view, const BfShard *shard, uint64_t hash, Window *window)
{
	uint64_t	place = shard->place;
	uint32_t	blocks = shard->geometry;
	const uint8_t *bytes = shard->table;
	uint64_t	avail = shard->after;
	unsigned	i;

	window->mix = bf_static_mix(hash);
	window->front = NULL;
	for (i = 0; blocks != 0 && i < MAX_LAYERS; i++)
	{
		Layer		layer;
		uint64_t	start;

		layer_shape(&view->head, blocks, &layer);
		if (layer.len > avail)
			return true;
		if (i > 0)
			place = window->mix * place_multiplier[i];
		start = bf_cell(place, layer.starts);
		if (start % BUCKET_SLOTS >= threshold_at(bytes, start))
		{
			uint64_t	block = start / BLOCK_SLOTS;

			/* of the last block only the first slot is a start, and its window ends with the block */
			uint64_t	next = BF_MIN(block + 1, layer.blocks - 1);

			window->front = bytes + front_offset(&layer, block);
			window->front_next = bytes + front_offset(&layer, next);
			window->rest = bytes + rest_offset(&layer, block);
			window->rest_next = bytes + rest_offset(&layer, next);
			window->shift = start % BLOCK_SLOTS;
			window->columns = rest_columns(&layer, block);
			return true;
		}
		blocks = bf_load32(bytes);
		bytes += layer.len;
		avail -= layer.len;
	}
	return false;
}

/* What a key's row adds up to in four columns. */
typedef uint64_t (*SumFour) (const uint8_t *low, const uint8_t *high, uint64_t in_low, uint64_t in_high);

static inline __attribute__((always_inline)) bool
front_holds(const Window *window, unsigned width, SumFour sum_four)
{
	uint64_t	coefficients = coefficients_of(window->mix);
	uint64_t	in_low = coefficients << window->shift;
	uint64_t	in_high = coefficients >> 1 >> (BLOCK_SLOTS - 1 - window->shift);
	uint64_t	differ = fingerprint_of(window->mix, width);
	unsigned	i;

	if (width > FRONT)
		return ((differ ^ sum_four(window->front, window->front_next, in_low, in_high)) & 15) == 0;
	for (i = 0; i < width - 1; i++)
		differ ^= sum(window->front + i * WORD_BYTES, window->front_next + i * WORD_BYTES, in_low, in_high) << i;
	return (differ & ((UINT64_C(1) << (width - 1)) - 1)) == 0;
}

/*
 * A block that lacks the last column is read as if it had it, since another block follows: a branch would mispredict.
 */
static inline __attribute__((always_inline)) bool
rest_holds(const Window *window, unsigned width)
{
	uint64_t	coefficients = coefficients_of(window->mix);
	uint64_t	in_low = coefficients << window->shift;
	uint64_t	in_high = coefficients >> 1 >> (BLOCK_SLOTS - 1 - window->shift);
	unsigned	front_width = BF_MIN(FRONT, width - 1);
	uint64_t	differ = fingerprint_of(window->mix, width) >> front_width;
	unsigned	i;

	for (i = 0; i < width - front_width; i++)
		differ ^= sum(window->rest + i * WORD_BYTES, window->rest_next + i * WORD_BYTES, in_low, in_high) << i;
	return (differ & ((UINT64_C(1) << window->columns) - 1)) == 0;
}

static inline __attribute__((always_inline)) bool
probe_with(const BfView *view, uint64_t hash, SumFour sum_four)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	BfShard		shard;
	Window		window;

	bf_static_find(view, hash, &shard);
	if (find_window(view, &shard, hash, &window) &&
		(window.front == NULL || (front_holds(&window, width, sum_four) && rest_holds(&window, width))))
		return true;
	return bf_static_listed(view, &shard);
}

/*
 * A batch in three rounds, each of which fetches what the next one reads.
 */
static inline __attribute__((always_inline)) void
probe_batch(const BfView *view, const uint64_t *hashes, size_t n, bool *result, SumFour sum_four)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	unsigned	front_width = BF_MIN(FRONT, width - 1);
	Window		window[BF_BATCH];
	BfShard		shard;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		bf_static_find(view, hashes[i], &shard);
		result[i] = find_window(view, &shard, hashes[i], &window[i]);
		if (result[i] && window[i].front != NULL)
		{
			__builtin_prefetch(window[i].front);
			__builtin_prefetch(window[i].front_next + front_width * WORD_BYTES - 1);
		}
	}
	for (i = 0; i < n; i++)
		if (result[i] && window[i].front != NULL && (result[i] = front_holds(&window[i], width, sum_four)))
		{
			__builtin_prefetch(window[i].rest);
			__builtin_prefetch(window[i].rest_next + (width - front_width - 1) * WORD_BYTES);
		}
	for (i = 0; i < n; i++)
	{
		if (result[i] && window[i].front != NULL)
			result[i] = rest_holds(&window[i], width);
		if (!result[i])
		{
			bf_static_find(view, hashes[i], &shard);
			result[i] = bf_static_listed(view, &shard);
		}
	}
}

static inline uint64_t
sum_four_scalar(const uint8_t *low, const uint8_t *high, uint64_t in_low, uint64_t in_high)
{
	return sum(low, high, in_low, in_high) |
		sum(low + WORD_BYTES, high + WORD_BYTES, in_low, in_high) << 1 |
		sum(low + 2 * WORD_BYTES, high + 2 * WORD_BYTES, in_low, in_high) << 2 |
		sum(low + 3 * WORD_BYTES, high + 3 * WORD_BYTES, in_low, in_high) << 3;
}

static bool
probe_scalar(const BfView *view, uint64_t hash)
{
	return probe_with(view, hash, sum_four_scalar);
}

static void
probe_batch_scalar(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	probe_batch(view, hashes, n, result, sum_four_scalar);
}

#ifdef HAVE_X86_KERNELS

/* Four words at once: the parity of each byte by a table of 16, then the bytes of each word added up. */
__attribute__((target("avx2,popcnt")))
static inline uint64_t
sum_four_avx2(const uint8_t *low, const uint8_t *high, uint64_t in_low, uint64_t in_high)
{
	const __m256i table = _mm256_set_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);
	__m256i		x = _mm256_xor_si256(_mm256_and_si256(_mm256_loadu_si256((const __m256i *) (const void *) low), _mm256_set1_epi64x((long long) in_low)),
									 _mm256_and_si256(_mm256_loadu_si256((const __m256i *) (const void *) high), _mm256_set1_epi64x((long long) in_high)));

	x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 4)), _mm256_set1_epi8(15));
	x = _mm256_sad_epu8(_mm256_shuffle_epi8(table, x), _mm256_setzero_si256());
	return (uint64_t) (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(x, 63)));
}

__attribute__((target("avx2,popcnt")))
static bool
probe_avx2(const BfView *view, uint64_t hash)
{
	return probe_with(view, hash, sum_four_avx2);
}

__attribute__((target("avx2,popcnt")))
static void
probe_batch_avx2(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	probe_batch(view, hashes, n, result, sum_four_avx2);
}

#endif

static bool
have_x86_kernels(void)
{
#ifdef HAVE_X86_KERNELS
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
	return false;
#endif
}

static BfProbe
ribbon_prober(const BfView *view)
{
	if (view->head.param[BF_STATIC_SHARDS] == 0)
		return bf_static_probe_none;
#ifdef HAVE_X86_KERNELS
	if (have_x86_kernels())
		return probe_avx2;
#endif
	return probe_scalar;
}

/* The scalar twin of whatever ribbon_prober() chooses, for the test that holds the two equal. */
BfProbe
bf_ribbon_scalar_twin(void)
{
	return probe_scalar;
}

static void
ribbon_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	void		(*batch_of) (const BfView *view, const uint64_t *hashes, size_t n, bool *result) = probe_batch_scalar;

	if (view->head.param[BF_STATIC_SHARDS] == 0)
	{
		memset(result, 0, n * sizeof(bool));
		return;
	}
#ifdef HAVE_X86_KERNELS
	if (have_x86_kernels())
		batch_of = probe_batch_avx2;
#endif
	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);

		batch_of(view, hashes, batch, result);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/* ---- building ---- */

/* A layer in the making.  A row of zeros is none. */
typedef struct Band
{
	uint64_t   *row;			/* coefficients, from the slot on where it stands */
	uint32_t   *value;			/* what they add up to, a bit a column */
	uint32_t   *start;			/* of the keys, ascending */
	uint32_t   *key;			/* ... their indexes */
	uint32_t   *bumped;			/* the indexes of those that go on */
} Band;

static uint32_t
blocks_for(uint32_t keys)
{
	uint64_t	part = (uint64_t) keys * OVERLOAD / 1024;

	return (uint32_t) (keys >= FEW_KEYS ? (keys - part) / BLOCK_SLOTS : (keys + part + SLACK_SLOTS) / BLOCK_SLOTS + 1);
}

/* No layer of so many keys or less has more. */
static uint32_t
max_blocks(uint32_t keys)
{
	return BF_MAX(blocks_for(keys), blocks_for(BF_MIN(keys, FEW_KEYS - 1)));
}

static uint64_t
ribbon_scratch_len(const BfHeader *head, uint32_t n)
{
	uint64_t	slots = (uint64_t) max_blocks(n) * BLOCK_SLOTS;

	(void) head;
	return slots * (sizeof(uint64_t) + sizeof(uint32_t)) + 3 * (uint64_t) n * sizeof(uint32_t);
}

/* The layers' keys become fewer at the least as solve() has it. */
static uint64_t
ribbon_max_table_len(const BfHeader *head, uint32_t n)
{
	uint64_t	len = 0;
	unsigned	i;

	for (i = 0; i < MAX_LAYERS; i++, n /= 4)
	{
		Layer		layer;

		layer_shape(head, max_blocks(n), &layer);
		len += layer.len + layer.short_blocks * WORD_BYTES;
	}
	return len;
}

/*
 * Puts the keys in the order of their starts.  The first layer's places come in order; those of the others are sorted by counting, the counters in
 * the memory that the rows take later.
 */
static void
sort_keys(const BfShardBuild *build, unsigned number, const Layer *layer, Band *band, uint32_t n)
{
	uint32_t   *count = (uint32_t *) (void *) band->row;
	uint32_t	sum = 0;
	uint64_t	s;
	uint32_t	i;

	if (number == 0)
	{
		for (i = 0; i < n; i++)
		{
			band->key[i] = i;
			band->start[i] = (uint32_t) bf_cell(bf_static_place(build->hashes[i], build->shards), layer->starts);
		}
		return;
	}

#define START(i) bf_cell(bf_static_mix(build->hashes[band->bumped[i]]) * place_multiplier[number], layer->starts)
	memset(count, 0, layer->starts * sizeof(uint32_t));
	for (i = 0; i < n; i++)
		count[START(i)]++;
	for (s = 0; s < layer->starts; s++)
	{
		uint32_t	here = count[s];

		count[s] = sum;
		sum += here;
	}
	for (i = 0; i < n; i++)
	{
		uint64_t	start = START(i);
		uint32_t	to = count[start]++;

		band->key[to] = band->bumped[i];
		band->start[to] = (uint32_t) start;
	}
#undef START
}

/*
 * Adds the equations of some keys of one bucket, all or none.  Rows that were there before do not change, so that the new ones can be
 * taken out again.
 */
static bool
add_keys(const BfShardBuild *build, Band *band, uint32_t first, uint32_t last)
{
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	uint32_t	added[BUCKET_SLOTS + BLOCK_SLOTS];	/* there are no more slots that they could take */
	unsigned	nadded = 0;
	uint32_t	i;

	for (i = first; i < last; i++)
	{
		uint64_t	mix = bf_static_mix(build->hashes[band->key[i]]);
		uint64_t	row = coefficients_of(mix);
		uint32_t	value = fingerprint_of(mix, width);
		uint32_t	at = band->start[i];

		while (row != 0 && band->row[at] != 0)
		{
			row ^= band->row[at];
			value ^= band->value[at];
			if (row != 0)
			{
				unsigned	zeros = (unsigned) __builtin_ctzll(row);

				row >>= zeros;
				at += zeros;
			}
		}
		if (row != 0)
		{
			band->row[at] = row;
			band->value[at] = value;
			added[nadded++] = at;
		}
		else if (value != 0)
		{
			/* it contradicts the others */
			while (nadded > 0)
			{
				at = added[--nadded];
				band->row[at] = 0;
				band->value[at] = 0;
			}
			return false;
		}
	}
	return true;
}

/* Fills the band bucket by bucket, and the thresholds; returns how many keys are bumped. */
static uint32_t
fill_band(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n, uint8_t *thresholds)
{
	uint32_t	nbumped = 0;
	uint32_t	i = 0;
	uint64_t	bucket;

	for (bucket = 0; bucket * BUCKET_SLOTS < layer->starts; bucket++)
	{
		uint32_t	group[4];	/* where the starts from each threshold on begin */
		unsigned	t;

		for (t = 0; t < 4; t++)
		{
			group[t] = i;
			while (t < 3 && i < n && band->start[i] < bucket * BUCKET_SLOTS + threshold[t + 1])
				i++;
		}
		for (t = 3; t > 0 && add_keys(build, band, group[t - 1], group[t]); t--)
			;
		thresholds[bucket / 4] |= (uint8_t) (t << (bucket % 4 * 2));
		memcpy(band->bumped + nbumped, band->key + group[0], (group[t] - group[0]) * sizeof(uint32_t));
		nbumped += group[t] - group[0];
		if (bucket % 256 == 0)
			bf_check_interrupts(env);
	}
	return nbumped;
}

/*
 * Solves a block's slots in four columns at a time, from its last slot back.  A window holds the 64 slots from the present one on, in one
 * column; at the block's first slot it is the block's word.
 */
static inline __attribute__((always_inline)) void
solve_four(const uint64_t *row, const uint32_t *value, unsigned column, uint64_t *window)
{
	uint64_t	a = window[0];
	uint64_t	b = window[1];
	uint64_t	c = window[2];
	uint64_t	d = window[3];
	int			i;

	for (i = BLOCK_SLOTS - 1; i >= 0; i--)
	{
		uint32_t	v = value[i] >> column;

		a <<= 1;
		b <<= 1;
		c <<= 1;
		d <<= 1;
		a |= parity(a & row[i]) ^ (v & 1);
		b |= parity(b & row[i]) ^ (v >> 1 & 1);
		c |= parity(c & row[i]) ^ (v >> 2 & 1);
		d |= parity(d & row[i]) ^ (v >> 3 & 1);
	}
	window[0] = a;
	window[1] = b;
	window[2] = c;
	window[3] = d;
}

/*
 * Back substitution.  An empty slot is 0.  Where the last column begins, no row reaches back: who starts in the blocks that lack it has no
 * equation there.
 */
static inline __attribute__((always_inline)) void
solve_with(const BfEnv *env, const Layer *layer, const Band *band, uint8_t *out)
{
	uint64_t	window[BF_STATIC_MAX_WIDTH] = {0};
	uint64_t	block;

	for (block = layer->blocks; block-- > 0;)
	{
		unsigned	columns = rest_columns(layer, block);
		unsigned	i;

		for (i = 0; i < layer->front_width + columns; i += 4)
			solve_four(band->row + block * BLOCK_SLOTS, band->value + block * BLOCK_SLOTS, i, window + i);
		for (i = 0; i < layer->front_width; i++)
			bf_store64(out + front_offset(layer, block) + i * WORD_BYTES, window[i]);
		for (i = 0; i < columns; i++)
			bf_store64(out + rest_offset(layer, block) + i * WORD_BYTES, window[layer->front_width + i]);
		if (block % 512 == 0)
			bf_check_interrupts(env);
	}
}

static void
solve_scalar(const BfEnv *env, const Layer *layer, const Band *band, uint8_t *out)
{
	solve_with(env, layer, band, out);
}

#ifdef HAVE_X86_KERNELS

__attribute__((target("popcnt")))
static void
solve_popcnt(const BfEnv *env, const Layer *layer, const Band *band, uint8_t *out)
{
	solve_with(env, layer, band, out);
}

#endif

static void
solve_band(const BfEnv *env, const Layer *layer, const Band *band, uint8_t *out)
{
#ifdef HAVE_X86_KERNELS
	if (have_x86_kernels())
	{
		solve_popcnt(env, layer, band, out);
		return;
	}
#endif
	solve_scalar(env, layer, band, out);
}

static void
ribbon_solve(const BfEnv *env, BfShardBuild *build)
{
	uint64_t	slots = (uint64_t) max_blocks(build->n) * BLOCK_SLOTS;
	uint32_t	n = build->n;
	uint8_t    *bytes = build->table;
	uint32_t	nbumped;
	Band		band;
	unsigned	number;

	band.row = build->scratch;
	band.value = (uint32_t *) (void *) (band.row + slots);
	band.start = band.value + slots;
	band.key = band.start + build->n;
	band.bumped = band.key + build->n;

	for (number = 0;; number++)
	{
		uint32_t	blocks = blocks_for(n);
		Layer		layer;

		layer_shape(build->head, blocks, &layer);
		if (number == 0)
			build->geometry = blocks;
		sort_keys(build, number, &layer, &band, n);
		memset(band.row, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.row));
		memset(band.value, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.value));
		nbumped = fill_band(env, build, &layer, &band, n, bytes + NEXT_BYTES);
		solve_band(env, &layer, &band, bytes);
		bytes += layer.len;

		/* keys that crowd in one layer, by design of their hashes, would crowd in the next */
		if (nbumped <= LIST_KEYS || nbumped > n / 4 || number == MAX_LAYERS - 1)
			break;
		bf_store32(bytes - layer.len, blocks_for(nbumped));
		n = nbumped;
	}
	build->table_len = (uint64_t) (bytes - build->table);
	for (n = 0; n < nbumped; n++)
		build->straggler[band.bumped[n]] = 1;
}

/* ---- the rest ---- */

static const char *
ribbon_table_validate(const BfHeader *head, uint32_t geometry, const uint8_t *table, uint64_t avail, uint64_t *len)
{
	uint32_t	blocks = geometry;
	unsigned	i;

	*len = 0;
	for (i = 0; blocks != 0; i++)
	{
		Layer		layer;

		if (i == MAX_LAYERS)
			return "a table has too many layers";
		layer_shape(head, blocks, &layer);
		if (layer.len > avail - *len)
			return "a layer reaches beyond the payload";
		if (!bf_packed_padding_ok(table + *len + NEXT_BYTES, (layer.blocks + 1) / 2, 2))
			return "the padding of thresholds is not zero";
		blocks = bf_load32(table + *len);
		*len += layer.len;
	}
	return NULL;
}

static const BfStaticKind ribbon = {
	.scratch_len = ribbon_scratch_len,
	.max_table_len = ribbon_max_table_len,
	.solve = ribbon_solve,
	.validate = ribbon_table_validate,
};

static double
table_fpr(const uint32_t *param)
{
	return ldexp(1 + (double) param[PARAM_SHORT] / SHORT_ONE, -(int) param[BF_STATIC_WIDTH]);
}

/* Powers of two are exact: nothing here hangs on a logarithm. */
static void
ribbon_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);

	design->param[BF_STATIC_WIDTH] = width;
	design->param[PARAM_SHORT] = (uint32_t) ((ldexp(design->fpr, (int) width) - 1) * SHORT_ONE);
	design->expected_fpr = table_fpr(design->param);

	/* the columns, 1/1024 of slots that remain empty, the thresholds */
	design->millibits = (uint32_t) (((uint64_t) width * SHORT_ONE - design->param[PARAM_SHORT]) * 1001 / SHORT_ONE) + 17;
}

/* A twentieth of each layer's keys goes on to the next. */
static uint64_t
ribbon_table_len(const uint32_t *param, uint64_t n)
{
	BfHeader	head = {.param = {param[0], param[1], param[2], param[3]}};
	uint64_t	len = 0;
	unsigned	i;

	for (i = 0; i < MAX_LAYERS && n > LIST_KEYS; i++)
	{
		Layer		layer;

		layer_shape(&head, blocks_for((uint32_t) n), &layer);
		len += layer.len;
		n = n < FEW_KEYS ? 0 : n * (OVERLOAD + 1) / 1024;
	}
	return len;
}

static uint64_t
ribbon_size(const BfDesign *design, uint64_t keys)
{
	return bf_static_size(design, keys, ribbon_table_len);
}

static const char *
ribbon_check(const BfHeader *head)
{
	const char *reason = bf_static_check(head);

	if (reason != NULL)
		return reason;
	if (head->param[PARAM_SHORT] >= SHORT_ONE)
		return "the share of short blocks is out of range";
	if (head->param[2] != 0)
		return "reserved fields of the header are not zero";
	return NULL;
}

static const char *
ribbon_validate(const BfView *view)
{
	return bf_static_validate(view, &ribbon);
}

static BfStatus
ribbon_build(const BfEnv *env, BfHeader *head, BfSource *source, BfSink *sink)
{
	return bf_static_build(env, head, source, sink, &ribbon);
}

static void
ribbon_stats(const BfEnv *env, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	bf_static_stats(env, view, table_fpr(view->head.param), stats);
	stats->hashes = 1;
}

const BfKind bf_kind_ribbon = {
	.id = BF_KIND_RIBBON,
	.name = "ribbon",
	.caps = BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-9,
	.better_kind = "standard",
	.advice = "Filters of this kind are built at once, by bloom_agg.",
	.when = "never changed once built: the smallest of all, slower than binary_fuse",
	.design = ribbon_design,
	.size = ribbon_size,
	.check = ribbon_check,
	.validate = ribbon_validate,
	.prober = ribbon_prober,
	.probe_many = ribbon_probe_many,
	.build = ribbon_build,
	.stats = ribbon_stats,
};
