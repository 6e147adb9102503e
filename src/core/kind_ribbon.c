/*-------------------------------------------------------------------------
 *
 * kind_ribbon.c
 *	  The smallest of the kinds that are built at once: a few thousandths above the lower bound.
 *
 * A table of slots, each of which has w columns of one bit, and for every key one equation a
 * column: of the 64 slots from the key's start on, those that its coefficients choose add up
 * (XOR) to its fingerprint.  Who asks for another key gets a sum that has nothing to do with that
 * key's fingerprint: w columns let 2^-w of them pass.
 *
 * Equations sorted by their start make a matrix that is a band, a *ribbon*, which Gaussian
 * elimination solves on the fly: a row whose first coefficient meets a row that stands there
 * already is added to it, starts later then, and so on to a slot that is free.  That works while
 * there are more slots than keys, everywhere.  Chance makes it otherwise in places; so we take
 * less slots than keys instead, and *bump* what is too much: slots are cut into buckets of 128,
 * and a bucket's threshold says that keys which start at less than the 0th, 12th, 36th or 128th
 * slot of it are not in this layer.  A bucket's high starts come first, and what a bucket cannot
 * take is at its low starts, where the bucket before it spills over.  Bumped keys, a twentieth,
 * go to the next layer, which is another such table with places of its own; those of the last go
 * to the list of stragglers.  Nothing is tried twice, no seed is looked for.  One slot in 1500
 * remains empty, and the thresholds take 2/128 bits a key.
 *
 * Rates between powers of two: slots in a first, *binary* part have c columns, those in a second,
 * *ternary* part have a column that adds up modulo 3 in place of one or two of them:
 *
 *		param[2] = 0:	c = w, ternary w - 2, its rate 4/3 as high:		2^-w (1 + s/3)
 *		param[2] = 1:	c = w - 1, ternary w - 2, its rate 2/3 as high:	2^-(w-1) (1 - s/3)
 *
 * with s the share of the ternary part.  Columns of one bit alone, w and w - 1 of them, would
 * take up to 0.086 bits a key more than the bound, 1.15 % at a rate of 1 %; so it is 0.04 at the
 * most.  The ternary column has the coefficients of the others, 0 or 1, but an elimination of its
 * own, modulo 3; a key is in the layer if both can take it.  No equation crosses from one part
 * into the other.
 *
 *		table		layers layer		u32, blocks of the next layer, 0 if there is none; the
 *		thresholds, 2 bits a bucket, zeros up to a whole byte; then the
 *					front, the first f = min(4, w - 2) columns, block by block; then the rest, the
 *					other columns of one bit, block by block; then the groups, the ternary columns
 *					of five blocks each
 *		block		a word of 8 bytes for each column, the first slot in its lowest bit
 *		group		byte i has the i-th slots of five blocks: with n = their digits to the base 3,
 *		the first block's the highest,
 *					ceil(256 n / 243), so that digit k is floor(3 (byte 3^k mod 256) / 256): 1.6
 *					bits for 1.585
 *		geometry	blocks of the first layer
 *
 *		param[0]	w
 *		param[1]	s, in 65536ths
 *		param[2]	0 or 1
 *
 * Blocks that no key starts in: the last one of each part, which those before reach into.  A
 * probe reads two neighbouring blocks of the front, 64 bytes, and the rest only if those columns
 * agree: one other key in 16.
 *
 * Dietzfelbinger, Walzer 2019, "Efficient Gauss elimination for near-quadratic matrices with one
 * short random block per row"; Dillinger, Walzer 2021, "Ribbon filter: practically smaller than
 * Bloom and Xor"; Dillinger, Hübschle-Schneider, Sanders, Walzer 2022, "Fast succinct retrieval
 * and approximate membership using ribbon", whose bumping this is.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_static.h"
#include "bf_wide.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_X86_KERNELS
#endif

#define PARAM_TERNARY	1		/* share of the ternary part */
#define PARAM_LESS		2		/* columns that the binary part has less than w */

#define TERNARY_ONE		65536	/* what param[PARAM_TERNARY] counts in */
#define BLOCK_SLOTS		64
#define BUCKET_SLOTS	128
#define WORD_BYTES		8
#define GROUP_BLOCKS	5
#define GROUP_BYTES		64
#define NEXT_BYTES		4
#define MAX_LAYERS		4
#define FRONT			4		/* columns that are looked at first */

/*
 * Starts below this are bumped.  For this width and load, found by trying; what differs by some
 * slots costs next to nothing.
 */
static const uint8_t threshold[4] = {0, 12, 36, BUCKET_SLOTS};

/*
 * A layer of many keys has this many slots less than keys, in 1024ths, and bumps a little more
 * than that.  More would cost time and layers, less leaves slots empty.
 */
#define OVERLOAD		51

/*
 * A layer of few keys has as many slots more, and bumps next to nothing: there is no use in yet
 * another one.
 */
#define FEW_KEYS		1500
#define SLACK_SLOTS		16

/* A layer of less blocks is not parted: it has the lower of the two rates. */
#define MIN_PARTED		24

/* The list takes no more for so many keys than a layer would. */
#define LIST_KEYS		12

/*
 * Odd numbers without structure, for what is independent of each other: fingerprint, and places
 * in the later layers.
 */
#define FINGERPRINT		UINT64_C(0xa0761d6478bd642f)
static const uint64_t place_multiplier[MAX_LAYERS] = {
	0, UINT64_C(0xe7037ed1a0b428db), UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
};

/* ---- a layer ---- */

typedef struct Layer
{
	const uint8_t *bytes;		/* where it is read */
	uint64_t	blocks;
	uint64_t	binary_blocks;
	uint64_t	starts;			/* where a key can start, the gap between the parts left out; 0:
								 * the layer is not within the payload */
	uint64_t	gap_at;			/* starts from this one on lie so much ... */
	uint64_t	gap;			/* ... further on */
	unsigned	front_width;
	unsigned	rest_width;		/* of the ternary part */
	unsigned	extra_width;	/* the binary part's, more than that */
	uint64_t	front;			/* where the front begins, in bytes from the beginning of the
								 * layer */
	uint64_t	rest;			/* ... the rest */
	uint64_t	groups;			/* ... the groups */
	uint64_t	len;
} Layer;

/*
 * How many of the blocks are ternary: whole groups or all, and the rate is what was asked for or
 * lower.  Neither part has one block alone.
 */
static inline uint64_t
ternary_blocks(const BfHeader *head, uint64_t blocks)
{
	bool		lower = head->param[PARAM_LESS] != 0;	/* has the ternary part the lower rate? */
	uint64_t	share = head->param[PARAM_TERNARY];
	uint64_t	groups;

	if (share == 0 || share == TERNARY_ONE)
		return share == 0 ? 0 : blocks;
	if (blocks < MIN_PARTED)
		return lower ? blocks : 0;

	/* of the starts, for which two blocks do not count */
	groups = ((blocks - 2) * share / TERNARY_ONE + (lower ? GROUP_BLOCKS + 1 : 0)) / GROUP_BLOCKS;
	if (groups * GROUP_BLOCKS + 2 > blocks)
		return lower ? blocks : (groups - 1) * GROUP_BLOCKS;
	return groups * GROUP_BLOCKS;
}

/* Columns of one bit that both parts have. */
static inline unsigned
common_width(const BfHeader *head)
{
	return BF_MAX(head->param[BF_STATIC_WIDTH], 2) - 2;
}

/* What follows from the number of blocks, which is 2 at least. */
static inline void
layer_shape(const BfHeader *head, uint32_t blocks, Layer *layer)
{
	uint64_t	ternary = ternary_blocks(head, blocks);
	unsigned	common = common_width(head);

	layer->front_width = BF_MIN(FRONT, common);
	layer->rest_width = common - layer->front_width;
	layer->extra_width = head->param[BF_STATIC_WIDTH] - head->param[PARAM_LESS] - common;
	layer->blocks = blocks;
	layer->binary_blocks = blocks - ternary;
	layer->gap = ternary > 0 && ternary < blocks ? BLOCK_SLOTS : 0;
	layer->starts = (layer->blocks - 1) * BLOCK_SLOTS - layer->gap;
	layer->gap_at = layer->gap > 0 ? (layer->binary_blocks - 1) * BLOCK_SLOTS : 0;
	layer->front = NEXT_BYTES + (layer->blocks + 7) / 8; /* 2 blocks a bucket, 4 buckets a byte */
	layer->rest = layer->front + layer->blocks * layer->front_width * WORD_BYTES;
	layer->groups = layer->rest + (layer->blocks * layer->rest_width +
								   layer->binary_blocks * layer->extra_width) *
									  WORD_BYTES;
	layer->len = layer->groups + (ternary + GROUP_BLOCKS - 1) / GROUP_BLOCKS * GROUP_BYTES;
}

/* Where a block begins, in bytes from the beginning of the layer. */
static inline uint64_t
front_offset(const Layer *layer, uint64_t block)
{
	return layer->front + block * layer->front_width * WORD_BYTES;
}

static inline uint64_t
rest_offset(const Layer *layer, uint64_t block)
{
	return layer->rest +
		   (block * layer->rest_width + BF_MIN(block, layer->binary_blocks) * layer->extra_width) *
			   WORD_BYTES;
}

/*
 * ... and the group of a ternary block; its digits are number (block - binary_blocks) %
 * GROUP_BLOCKS.
 */
static inline uint64_t
group_offset(const Layer *layer, uint64_t block)
{
	return layer->groups + (block - layer->binary_blocks) / GROUP_BLOCKS * GROUP_BYTES;
}

static inline uint64_t
start_at(const Layer *layer, uint64_t place)
{
	uint64_t	start = bf_cell(place, layer->starts);

	return start + (start >= layer->gap_at ? layer->gap : 0);
}

/* ---- what a key asks ---- */

/* The first coefficient is 1, so that the row of a key begins at its start. */
static inline uint64_t
coefficients_of(uint64_t mix)
{
	return mix | 1;
}

/* A bit for each column in its highest ones, and then the ternary column's. */
static inline uint64_t
fingerprint_of(uint64_t mix)
{
	return mix * FINGERPRINT;
}

static inline uint32_t
fingerprint_bits(uint64_t fingerprint, unsigned width)
{
	return (uint32_t) (fingerprint >> (64 - width));
}

static inline unsigned
fingerprint_trit(uint64_t fingerprint, unsigned width)
{
	return (unsigned) bf_cell(fingerprint << width, 3);
}

static inline uint64_t
parity(uint64_t x)
{
	return (uint64_t) __builtin_parityll(x);
}

/*
 * Where the equations of a key lie: over two blocks, so that instead of the words the
 * coefficients are shifted.
 */
typedef struct Window
{
	const uint8_t *front;		/* NULL: any key passes */
	uint64_t	mix;			/* of the key */
	uint64_t	start;
	unsigned	layer;			/* its number */
} Window;

typedef struct Coefficients
{
	uint64_t	in_low;
	uint64_t	in_high;
} Coefficients;

static inline Coefficients
shifted_coefficients(const Window *window)
{
	uint64_t	all = coefficients_of(window->mix);
	unsigned	shift = window->start % BLOCK_SLOTS;

	return (Coefficients){.in_low = all << shift, .in_high = all >> 1 >> (BLOCK_SLOTS - 1 - shift)};
}

/* What a row adds up to in a column, whose words begin at low and high. */
static inline uint64_t
sum(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	return parity((bf_load64(low) & in.in_low) ^ (bf_load64(high) & in.in_high));
}

/* The same in the ternary column: digits are ... */
typedef struct Planes
{
	uint64_t	some;			/* ... 1 or 2 */
	uint64_t	two;			/* ... 2 */
} Planes;

static inline unsigned
ternary_sum(Planes low, Planes high, Coefficients in)
{
	return (unsigned) (__builtin_popcountll(low.some & in.in_low) +
					   __builtin_popcountll(low.two & in.in_low) +
					   __builtin_popcountll(high.some & in.in_high) +
					   __builtin_popcountll(high.two & in.in_high)) %
		   3;
}

/*
 * What this processor does best: what a row adds up to in four columns; and the k-th digits of a
 * group.
 */
typedef uint64_t (*SumFour) (const uint8_t *low, const uint8_t *high, Coefficients in);
typedef Planes (*Digits) (const uint8_t *group, unsigned k);

/* Of 3. */
static const uint8_t power[GROUP_BLOCKS] = {1, 3, 9, 27, 81};

/* The byte for five digits, n = 0 to 242. */
static inline uint8_t
group_byte(unsigned n)
{
	return (uint8_t) ((n * 256 + 242) / 243);
}

/* ---- finding a key's window ---- */

/* A shard, with its layers as far as they have been asked for. */
typedef struct Table
{
	BfShard		shard;			/* all but the place */
	uint64_t	number;
	uint64_t	avail;			/* bytes from the next layer on */
	const uint8_t *bytes;		/* the next layer */
	uint32_t	blocks;			/* ... its blocks, 0 if there is none */
	unsigned	nlayers;
	Layer		layer[MAX_LAYERS];
} Table;

/* What a layer that cannot be read is taken for. */
static const uint8_t nothing[2 * FRONT * WORD_BYTES] = {0};

static void
open_layer(const BfHeader *head, Table *table)
{
	Layer	   *layer = &table->layer[table->nlayers++];

	if (table->blocks >= 2)
	{
		layer_shape(head, table->blocks, layer);
		if (layer->len <= table->avail)
		{
			layer->bytes = table->bytes;
			table->blocks = bf_load32(layer->bytes);
			table->bytes += layer->len;
			table->avail -= layer->len;
			return;
		}
	}
	memset(layer, 0, sizeof(*layer));
	layer->blocks = table->blocks;
	layer->bytes = nothing;
}

static void
open_table(const BfView *view, uint64_t number, Table *table)
{
	bf_static_open(view, number, &table->shard);
	table->number = number;
	table->avail = table->shard.after;
	table->bytes = table->shard.table;
	table->blocks = table->shard.geometry;
	table->nlayers = 0;
	open_layer(&view->head, table);
}

static inline const Layer *
layer_number(const BfHeader *head, Table *table, unsigned number)
{
	while (table->nlayers <= number)
		open_layer(head, table);
	return &table->layer[number];
}

/*
 * Finds the window of a key in a layer; false if the key is not in it, or the layer cannot be
 * read.
 */
static inline __attribute__((always_inline)) bool
find_in_layer(const Layer *layer, uint64_t place, unsigned front_width, Window *window)
{
	uint64_t	start = start_at(layer, place);
	uint64_t	bucket = start / BUCKET_SLOTS;
	unsigned	code = layer->bytes[NEXT_BYTES + bucket / 4] >> (bucket % 4 * 2) & 3;

	window->start = start;
	window->front = layer->bytes + layer->front + start / BLOCK_SLOTS * front_width * WORD_BYTES;
	return (start % BUCKET_SLOTS >= threshold[code]) & (layer->starts != 0);
}

/*
 * Finds the window of a key in its table, mix being set, in the layers from one on; false if the
 * key is in none of them.  A layer that is not within the payload is no reason to say no.
 */
static bool
find_window(const BfHeader *head, Table *table, uint64_t place, unsigned from, Window *window)
{
	unsigned	i;

	for (i = from; i < MAX_LAYERS; i++)
	{
		const Layer *layer = layer_number(head, table, i);

		if (layer->starts == 0)
		{
			window->front = NULL;
			return layer->blocks != 0;
		}
		if (find_in_layer(layer, i == 0 ? place : window->mix * place_multiplier[i],
						  layer->front_width, window))
		{
			window->layer = i;
			return true;
		}
	}
	return false;
}

static inline __attribute__((always_inline)) bool
front_holds(const Window *window, unsigned width, unsigned front_width, SumFour sum_four)
{
	Coefficients in = shifted_coefficients(window);
	uint64_t	differ = fingerprint_bits(fingerprint_of(window->mix), width);
	unsigned	i;

	if (front_width == FRONT)
		return ((differ ^ sum_four(window->front, window->front + FRONT * WORD_BYTES, in)) &
				((1 << FRONT) - 1)) == 0;
	for (i = 0; i < front_width; i++)
		differ ^=
			sum(window->front + i * WORD_BYTES, window->front + (front_width + i) * WORD_BYTES, in)
			<< i;
	return (differ & ((UINT64_C(1) << front_width) - 1)) == 0;
}

/* Where the columns lie that the front has not. */
typedef struct Rest
{
	const uint8_t *words;
	const uint8_t *group;		/* NULL: the binary part */
	const uint8_t *next_group;	/* of the next block */
	unsigned	k;				/* digits of the first block */
	unsigned	columns;
} Rest;

static inline __attribute__((always_inline)) void
find_rest(const Layer *layer, const Window *window, Rest *rest)
{
	uint64_t	block = window->start / BLOCK_SLOTS;

	rest->words = layer->bytes + rest_offset(layer, block);
	rest->columns = layer->rest_width + layer->extra_width;
	rest->group = NULL;
	if (block >= layer->binary_blocks)
	{
		rest->columns = layer->rest_width;
		rest->group = layer->bytes + group_offset(layer, block);
		rest->next_group = layer->bytes + group_offset(layer, block + 1);
		rest->k = (unsigned) ((block - layer->binary_blocks) % GROUP_BLOCKS);
	}
}

/* The ternary column, which takes longest, is looked at last. */
static inline __attribute__((always_inline)) bool
rest_holds(const Rest *rest, const Window *window, unsigned width, unsigned front_width,
		   Digits digits)
{
	Coefficients in = shifted_coefficients(window);
	uint64_t	fingerprint = fingerprint_of(window->mix);
	uint64_t	differ = fingerprint_bits(fingerprint, width) >> front_width;
	unsigned	i;

	for (i = 0; i < rest->columns; i++)
		differ ^=
			sum(rest->words + i * WORD_BYTES, rest->words + (rest->columns + i) * WORD_BYTES, in)
			<< i;
	if ((differ & ((UINT64_C(1) << rest->columns) - 1)) != 0)
		return false;
	return rest->group == NULL ||
		   ternary_sum(digits(rest->group, rest->k),
					   digits(rest->next_group, (rest->k + 1) % GROUP_BLOCKS),
					   in) == fingerprint_trit(fingerprint, width);
}

static inline __attribute__((always_inline)) bool
probe_with(const BfView *view, uint64_t hash, SumFour sum_four, Digits digits)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	unsigned	front_width = BF_MIN(FRONT, common_width(&view->head));
	Window		window;
	Table		table;
	Rest		rest;
	uint64_t	place;

	open_table(view, bf_static_locate(view, hash, &place), &table);
	window.mix = bf_static_mix(hash);
	if (find_window(&view->head, &table, place, 0, &window))
	{
		if (window.front == NULL)
			return true;
		if (front_holds(&window, width, front_width, sum_four))
		{
			find_rest(&table.layer[window.layer], &window, &rest);
			if (rest_holds(&rest, &window, width, front_width, digits))
				return true;
		}
	}
	table.shard.place = place;
	return bf_static_listed(view, &table.shard);
}

/* As many as a word has bits. */
#define BATCH			64

/*
 * Tables that were read once need not be read for each key: those of 2^25 keys, or else the
 * latest ones.
 */
#define OPEN_TABLES		16

static inline Table *
table_number(const BfView *view, Table *tables, uint64_t number)
{
	Table	   *table = &tables[number % OPEN_TABLES];

	if (table->number != number)
		open_table(view, number, table);
	return table;
}

/*
 * Into the second-level cache: a batch's lines would take most of the first one, and more of them
 * can be on their way at a time.
 */
static inline void
fetch_ahead(const uint8_t *bytes)
{
	__builtin_prefetch(bytes, 0, 2);
}

static inline void
prefetch_front(const Window *window, unsigned front_width)
{
	fetch_ahead(window->front);
	fetch_ahead(window->front + 2 * front_width * WORD_BYTES - 1);
}

/*
 * A batch in rounds, each of which fetches what the next one reads.  Most keys are in the first
 * layer, and most of those fail in the front; no branch hangs on which.  Sets of keys are bits.
 */
static inline __attribute__((always_inline)) void
probe_batch(const BfView *view, Table *tables, const uint64_t *hashes, unsigned n, bool *result,
			unsigned front_width, SumFour sum_four, Digits digits)
{
	const BfHeader *head = &view->head;
	unsigned	width = head->param[BF_STATIC_WIDTH];
	Window		window[BATCH];
	Rest		rest[BATCH];
	unsigned	nrest = 0;
	uint64_t	odd = 0;			/* not in the first layer */
	uint64_t	absent = 0;			/* in no layer */
	uint64_t	any = 0;			/* in one that cannot be read */
	uint64_t	passed = 0;
	uint32_t	stragglers = 0;
	uint64_t	set;
	uint64_t	place;
	unsigned	i;

	for (i = 0; i < n; i++)
	{
		Table	   *table = table_number(view, tables, bf_static_locate(view, hashes[i], &place));

		window[i].mix = bf_static_mix(hashes[i]);
		odd |= (uint64_t) !find_in_layer(&table->layer[0], place, front_width, &window[i]) << i;
		prefetch_front(&window[i], front_width);
		stragglers |= table->shard.stragglers;
	}
	for (set = odd; set != 0; set &= set - 1)
	{
		Table	   *table;

		i = (unsigned) __builtin_ctzll(set);
		table = table_number(view, tables, bf_static_locate(view, hashes[i], &place));
		if (!find_window(head, table, place, 0, &window[i]))
			absent |= UINT64_C(1) << i;
		else if (window[i].front == NULL)
			any |= UINT64_C(1) << i;
		if (window[i].front == NULL)
			window[i].front = nothing;
		prefetch_front(&window[i], front_width);
	}
	for (i = 0; i < n; i++)
		passed |= (uint64_t) front_holds(&window[i], width, front_width, sum_four) << i;
	passed &= ~(absent | any);

	for (set = passed; set != 0; set &= set - 1)
	{
		Table	   *table;
		Rest	   *to;

		i = (unsigned) __builtin_ctzll(set);
		table = table_number(view, tables, bf_static_locate(view, hashes[i], &place));
		to = &rest[nrest++];
		find_rest(layer_number(head, table, odd >> i & 1 ? window[i].layer : 0), &window[i], to);
		fetch_ahead(to->words);
		fetch_ahead(to->words + 2 * to->columns * WORD_BYTES - 1);
		if (to->group != NULL)
		{
			fetch_ahead(to->group);
			fetch_ahead(to->group + GROUP_BYTES - 1);
		}
	}
	nrest = 0;
	for (set = passed; set != 0; set &= set - 1)
	{
		i = (unsigned) __builtin_ctzll(set);
		passed ^= (uint64_t) !rest_holds(&rest[nrest++], &window[i], width, front_width, digits)
				  << i;
	}
	passed |= any;
	for (i = 0; i < n; i++)
		result[i] = passed >> i & 1;
	for (i = 0; stragglers != 0 && i < n; i++)
		if (!result[i])
		{
			BfShard		shard;

			bf_static_find(view, hashes[i], &shard);
			result[i] = bf_static_listed(view, &shard);
		}
}

static inline uint64_t
sum_four_scalar(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	return sum(low, high, in) | sum(low + WORD_BYTES, high + WORD_BYTES, in) << 1 |
		   sum(low + 2 * WORD_BYTES, high + 2 * WORD_BYTES, in) << 2 |
		   sum(low + 3 * WORD_BYTES, high + 3 * WORD_BYTES, in) << 3;
}

/* Eight bytes at a time, in lanes of 16 bits: a digit is 1 or 2 from 256/3 on, 2 from 512/3 on. */
static inline Planes
digits_scalar(const uint8_t *group, unsigned k)
{
	const uint64_t lanes = UINT64_C(0x00ff00ff00ff00ff);
	const uint64_t ones = UINT64_C(0x0001000100010001);
	const uint64_t gather = UINT64_C(0x0102040810204080);	/* takes the lowest bit of each byte
															 * to the highest byte */
	Planes		planes = {0, 0};
	unsigned	i;

	for (i = 0; i < GROUP_BYTES / WORD_BYTES; i++)
	{
		uint64_t	word = bf_load64(group + i * WORD_BYTES);
		uint64_t	even = (word & lanes) * power[k] & lanes;
		uint64_t	odd = (word >> 8 & lanes) * power[k] & lanes;
		uint64_t	some = ((even + ones * 170) >> 8 & ones) | ((odd + ones * 170) & ones << 8);
		uint64_t	two = ((even + ones * 85) >> 8 & ones) | ((odd + ones * 85) & ones << 8);

		planes.some |= some * gather >> 56 << i * 8;
		planes.two |= two * gather >> 56 << i * 8;
	}
	return planes;
}

static bool
probe_scalar(const BfView *view, uint64_t hash)
{
	return probe_with(view, hash, sum_four_scalar, digits_scalar);
}

static void
probe_batch_scalar(const BfView *view, Table *tables, const uint64_t *hashes, unsigned n,
				   bool *result)
{
	unsigned	common = common_width(&view->head);

	if (common >= FRONT)
		probe_batch(view, tables, hashes, n, result, FRONT, sum_four_scalar, digits_scalar);
	else
		probe_batch(view, tables, hashes, n, result, common, sum_four_scalar, digits_scalar);
}

#ifdef HAVE_X86_KERNELS

/*
 * Four words at once: the parity of each byte by a table of 16, then the bytes of each word added
 * up.
 */
__attribute__((target("avx2,bmi,bmi2,popcnt")))
static inline uint64_t
sum_four_avx2(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	const __m256i table = _mm256_set_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1,
										  0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);
	__m256i		  x =
		_mm256_xor_si256(_mm256_and_si256(_mm256_loadu_si256((const __m256i *) (const void *) low),
										  _mm256_set1_epi64x((long long) in.in_low)),
						 _mm256_and_si256(_mm256_loadu_si256((const __m256i *) (const void *) high),
										  _mm256_set1_epi64x((long long) in.in_high)));

	x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 4)), _mm256_set1_epi8(15));
	x = _mm256_sad_epu8(_mm256_shuffle_epi8(table, x), _mm256_setzero_si256());
	return (uint64_t) (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(x, 63)));
}

/* As digits_scalar(), 32 bytes at a time. */
__attribute__((target("avx2,bmi,bmi2,popcnt")))
static inline Planes
digits_avx2(const uint8_t *group, unsigned k)
{
	const __m256i lanes = _mm256_set1_epi16(0xff);
	const __m256i third = _mm256_set1_epi8(86);
	const __m256i two_thirds = _mm256_set1_epi8((char) 171);
	__m256i		multiplier = _mm256_set1_epi16(power[k]);
	Planes		planes = {0, 0};
	unsigned	i;

	for (i = 0; i < GROUP_BYTES; i += 32)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (const void *) (group + i));

		x = _mm256_or_si256(
			_mm256_and_si256(_mm256_mullo_epi16(x, multiplier), lanes),
			_mm256_slli_epi16(_mm256_mullo_epi16(_mm256_srli_epi16(x, 8), multiplier), 8));
		planes.some |= (uint64_t) (uint32_t) _mm256_movemask_epi8(
						   _mm256_cmpeq_epi8(_mm256_max_epu8(x, third), x))
					   << i;
		planes.two |= (uint64_t) (uint32_t) _mm256_movemask_epi8(
						  _mm256_cmpeq_epi8(_mm256_max_epu8(x, two_thirds), x))
					  << i;
	}
	return planes;
}

__attribute__((target("avx2,bmi,bmi2,popcnt")))
static bool
probe_avx2(const BfView *view, uint64_t hash)
{
	return probe_with(view, hash, sum_four_avx2, digits_avx2);
}

__attribute__((target("avx2,bmi,bmi2,popcnt"))) static void
probe_batch_avx2(const BfView *view, Table *tables, const uint64_t *hashes, unsigned n,
				 bool *result)
{
	unsigned	common = common_width(&view->head);

	if (common >= FRONT)
		probe_batch(view, tables, hashes, n, result, FRONT, sum_four_avx2, digits_avx2);
	else
		probe_batch(view, tables, hashes, n, result, common, sum_four_avx2, digits_avx2);
}

#endif

static bool
have_x86_kernels(void)
{
#ifdef HAVE_X86_KERNELS
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		   __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
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

#ifdef BF_HAVE_WIDE

/* Columns of the rest, at the most, and rounded up to whole bytes. */
#define MAX_REST		32

/*
 * A filter of this size is within the second-level cache, or will be soon: to fetch ahead what is
 * there takes longer than to wait for it.
 */
#define WIDE_NEAR		((uint64_t) 1 << 20)

/* One layer of all shards, opened; offsets are in bytes from the beginning of the payload. */
typedef struct WideLayer
{
	uint64_t	starts[BF_WIDE_SHARDS];
	uint64_t	gap_at[BF_WIDE_SHARDS];
	uint64_t	gap[BF_WIDE_SHARDS];
	uint64_t	binary_blocks[BF_WIDE_SHARDS];
	uint64_t	thresholds[BF_WIDE_SHARDS]; /* where they begin */
	uint64_t	front[BF_WIDE_SHARDS];
	uint64_t	rest[BF_WIDE_SHARDS];
	uint64_t	groups[BF_WIDE_SHARDS];
	uint64_t	odd;			/* a set of shards: there is none, or it cannot be read ... */
	uint64_t	any;			/* ... it cannot be read */
	bool		stragglers;		/* are there any? */
} WideLayer;

/*
 * Sets what belongs to a shard, and no more: to clear it all would take a large part of a call
 * with a few keys.
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
 * What a batch of keys asks of a layer, and where.  Offsets are in bytes from the beginning of
 * the payload.
 */
typedef struct Batch
{
	uint64_t	mix[BF_WIDE_BATCH] __attribute__((aligned(64)));
	uint64_t	start[BF_WIDE_BATCH];
	uint64_t	in_low[BF_WIDE_BATCH];
	uint64_t	in_high[BF_WIDE_BATCH];
	uint64_t	shard[BF_WIDE_BATCH];
	uint64_t	code[BF_WIDE_BATCH];	/* the bytes from the threshold's on, or where they are */
	uint64_t	front[BF_WIDE_BATCH];
	uint64_t	words[BF_WIDE_BATCH];	/* of the rest */
	uint64_t	group[BF_WIDE_BATCH];	/* where a row's 64 digits begin */
	uint64_t	digit[BF_WIDE_BATCH];	/* ... the number that those of its first block have */
	uint64_t	digits_first[BF_WIDE_BATCH];	/* ... which ones these are */
	uint64_t	digits_in[BF_WIDE_BATCH];	/* ... which ones add up */
	uint8_t		front_wanted[BF_WIDE_BATCH];	/* a bit for each column */
	uint8_t		front_sums[BF_WIDE_BATCH];	/* what they add up to in the first block, and then in
											 * the second one */
	uint8_t		rest_wanted[MAX_REST / 8][BF_WIDE_BATCH];	/* the same for eight columns */
	uint8_t		rest_sums[MAX_REST / 8][BF_WIDE_BATCH];
	uint8_t		digit_wanted[BF_WIDE_BATCH];
	uint8_t		digit_sums[BF_WIDE_BATCH];	/* not yet modulo 3 */
	uint64_t	odd;			/* the layer cannot be read */
	uint64_t	any;			/* ... but for that the key may be there */
	uint64_t	late;			/* not in this layer */
	uint64_t	ternary;		/* in such a part */
} Batch;

/* The lowest bytes of eight lanes. */
BF_WIDE_INLINE void
store_bytes(uint8_t *to, __m512i x)
{
	_mm_storel_epi64((__m128i *) (void *) to, _mm512_cvtepi64_epi8(x));
}

/* The windows of all keys; keys that are not in this layer are late. */
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
 * What a row adds up to in the front, a bit for each column: in the first block, and then in the
 * second one.
 */
BF_WIDE_INLINE unsigned
wide_front(const BfView *view, const Batch *batch, size_t i)
{
	__m512i		in = _mm512_mask_set1_epi64(_mm512_set1_epi64((long long) batch->in_low[i]), 0xf0,
											(long long) batch->in_high[i]);
	__m512i		x = _mm512_and_si512(in, _mm512_loadu_si512(view->payload + batch->front[i]));

	return _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));
}

/* Which keys' fronts agree? */
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

/* find_rest() for eight keys, and what they want of it. */
BF_WIDE_INLINE void
wide_find_rest(const BfView *view, const WideLayer *open, size_t i, unsigned rest_width,
			   unsigned extra_width, BfWideShards shards, Batch *batch)
{
	const __m512i reciprocal = _mm512_set1_epi64(0xcccccccd);	/* of GROUP_BLOCKS, times 2^34:
																 * exact for 32 bits */
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	__m512i		shard = _mm512_load_si512(batch->shard + i);
	__m512i		binary_blocks = bf_wide_pick(open->binary_blocks, shard, shards);
	__m512i		block = _mm512_srli_epi64(_mm512_load_si512(batch->start + i), 6);
	__m512i		number = _mm512_sub_epi64(block, binary_blocks);	/* of the ternary blocks */
	__m512i		group = _mm512_srli_epi64(_mm512_mul_epu32(number, reciprocal), 34);
	__m512i		  digit =
		_mm512_sub_epi64(number, _mm512_mul_epu32(group, _mm512_set1_epi64(GROUP_BLOCKS)));
	__m512i		fingerprint = _mm512_mullo_epi64(_mm512_load_si512(batch->mix + i),
												 _mm512_set1_epi64((long long) FINGERPRINT));
	/* into the next group */
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
 * What a row adds up to in the rest, of which its part has so many columns: bits from there on
 * say nothing.
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
		/* both words of all columns at once */
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
 * What a row adds up to in the ternary column.  Of each two digits in the same place of its two
 * blocks a row takes one at the most: the first block's from the start on, the second one's
 * before that.  Where the second one is in the next group, these digits lie in a row, and
 * otherwise in a circle: 64 bytes each time, beginning where batch->group says.
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
 * Which of these digits' sums are not what is wanted, modulo 3?  x is a multiple of 3 if x / 3
 * modulo 256 is a third of 256 at the most.
 */
BF_WIDE_INLINE uint64_t
wide_digits_differ(const Batch *batch)
{
	const __m512i third = _mm512_set1_epi16(171);	/* 3 * 171 = 1 modulo 256 */
	__m512i		x = _mm512_add_epi8(_mm512_load_si512(batch->digit_sums), _mm512_set1_epi8(3));

	x = _mm512_sub_epi8(x, _mm512_load_si512(batch->digit_wanted));
	x = _mm512_mask_mov_epi8(
		_mm512_mullo_epi16(x, third), UINT64_C(0xaaaaaaaaaaaaaaaa),
		_mm512_mullo_epi16(_mm512_and_si512(x, _mm512_set1_epi16((short) 0xff00)), third));
	return _mm512_cmpgt_epu8_mask(x, _mm512_set1_epi8(85));
}

/* Those of a set whose rest agrees, too. */
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

/* Asks a layer for a batch of keys: the set of those that it claims. */
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
 * So many keys are asked for in a layer before those of them that are late are in the next one,
 * together: they fill a batch.
 */
#define WIDE_CHUNK		1024

BF_WIDE_INLINE void
wide_chunk(const BfView *view, WideLayer *layer, unsigned *nlayers, const uint64_t *hashes,
		   size_t n, BfWideShards shards, bool *result)
{
	uint64_t	late[WIDE_CHUNK];
	uint16_t	at[WIDE_CHUNK];	/* their results */
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

		if (view->head.param[BF_STATIC_SHARDS] == 1)
			wide_chunk(view, layer, &nlayers, hashes, chunk, BF_WIDE_ONE, result);
		else if (view->head.param[BF_STATIC_SHARDS] <= BF_WIDE_LANES)
			wide_chunk(view, layer, &nlayers, hashes, chunk, BF_WIDE_FEW, result);
		else
			wide_chunk(view, layer, &nlayers, hashes, chunk, BF_WIDE_MANY, result);
		hashes += chunk;
		result += chunk;
		n -= chunk;
	}
}

#endif

static void
ribbon_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	void		(*batch_of) (const BfView *view, Table *tables, const uint64_t *hashes, unsigned n,
					 bool *result) = probe_batch_scalar;
	Table		tables[OPEN_TABLES];
	unsigned	i;

	if (view->head.param[BF_STATIC_SHARDS] == 0)
	{
		memset(result, 0, n * sizeof(bool));
		return;
	}
#ifdef BF_HAVE_WIDE
	/* a window can be read from the beginning of the payload, for a shard that has none */
	if (common_width(&view->head) >= FRONT && view->head.payload_len >= 2 * FRONT * WORD_BYTES &&
		bf_wide_probes(view, n))
	{
		wide_many(view, hashes, n, result);
		return;
	}
#endif
#ifdef HAVE_X86_KERNELS
	if (have_x86_kernels())
		batch_of = probe_batch_avx2;
#endif
	for (i = 0; i < OPEN_TABLES; i++)
		tables[i].number = UINT64_MAX;
	while (n > 0)
	{
		unsigned	batch = (unsigned) BF_MIN(n, BATCH);

		batch_of(view, tables, hashes, batch, result);
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
	Planes	   *ternary_row;	/* the same for the ternary part, from its first slot on; the
								 * first coefficient is 1 */
	uint8_t    *ternary_value;
	unsigned	number;			/* of the layer */
	uint32_t   *start;			/* of the keys, ascending; not for the first layer, whose keys are
								 * all and in order */
	uint32_t   *key;			/* ... their indexes */
	uint32_t   *bumped;			/* the indexes of those that go on */
} Band;

static inline uint32_t
key_of(const Band *band, uint32_t i)
{
	return band->number == 0 ? i : band->key[i];
}

static inline uint32_t
start_of(const BfShardBuild *build, const Layer *layer, const Band *band, uint32_t i)
{
	return band->number == 0
			   ? (uint32_t) start_at(layer, bf_static_place(build->hashes[i], build->shards))
			   : band->start[i];
}

static uint32_t
blocks_for(uint32_t keys)
{
	uint64_t	part = (uint64_t) keys * OVERLOAD / 1024;
	uint64_t	slots = keys >= FEW_KEYS ? keys - part : keys + part + SLACK_SLOTS + BLOCK_SLOTS;

	return (uint32_t) BF_MAX(slots / BLOCK_SLOTS, 2);
}

/* No layer of so many keys or less has more. */
static uint32_t
max_blocks(uint32_t keys)
{
	return BF_MAX(blocks_for(keys), blocks_for(BF_MIN(keys, FEW_KEYS - 1)));
}

static uint64_t
max_ternary_blocks(const BfHeader *head, uint32_t keys)
{
	uint64_t	blocks = max_blocks(keys);

	return head->param[PARAM_TERNARY] == 0
			   ? 0
			   : BF_MIN(blocks,
						BF_MAX(ternary_blocks(head, blocks) + 2 * GROUP_BLOCKS, MIN_PARTED));
}

/*
 * Keys that crowd in one layer, by design of their hashes, would crowd in the next: if more than
 * these are left, there is none.
 */
static uint32_t
max_next_keys(uint32_t keys)
{
	return keys / 4;
}

static uint64_t
ribbon_scratch_len(const BfHeader *head, uint32_t n)
{
	uint64_t	slots = (uint64_t) max_blocks(n) * BLOCK_SLOTS;
	uint64_t	ternary = max_ternary_blocks(head, n) * BLOCK_SLOTS;

	return slots * (sizeof(uint64_t) + sizeof(uint32_t)) + ternary * (sizeof(Planes) + 1) +
		   ((uint64_t) n + 2 * max_next_keys(n)) * sizeof(uint32_t);
}

/* A ternary block takes no more than one of w columns. */
static uint64_t
ribbon_max_table_len(const BfHeader *head, uint32_t n)
{
	uint64_t	len = 0;
	unsigned	i;

	for (i = 0; i < MAX_LAYERS; i++, n = max_next_keys(n))
		len += NEXT_BYTES + max_blocks(n) * (1 + head->param[BF_STATIC_WIDTH] * WORD_BYTES) +
			   GROUP_BYTES;
	return len;
}

/*
 * Puts the keys that the last layer has bumped in the order of their starts in this one, by
 * counting, with counters in the memory that the rows take later.
 */
static void
sort_keys(const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n)
{
	uint32_t   *count = (uint32_t *) (void *) band->row;
	uint32_t	sum = 0;
	uint64_t	s;
	uint32_t	i;

#define START(i) start_at(layer, bf_static_mix(build->hashes[band->bumped[i]]) * place_multiplier[band->number])
	memset(count, 0, layer->blocks * BLOCK_SLOTS * sizeof(uint32_t));
	for (i = 0; i < n; i++)
		count[START(i)]++;
	for (s = 0; s < layer->blocks * BLOCK_SLOTS; s++)
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

/* Rows on their way: where they are, and what they add up to. */
typedef struct Moving
{
	uint64_t	row;
	uint32_t	at;
	uint32_t	value;
} Moving;

/* value as a whole number, of which the remainder counts */
typedef struct TernaryMoving
{
	Planes		row;
	uint32_t	at;
	int32_t		value;
} TernaryMoving;

/*
 * Takes a row on from a slot that is taken; where the slot is free it stays.  False if nothing
 * remains of it.
 */
static inline bool
move_on(const Band *band, Moving *moving)
{
	unsigned	zeros;

	moving->row ^= band->row[moving->at];
	moving->value ^= band->value[moving->at];
	if (moving->row == 0)
		return false;
	zeros = (unsigned) __builtin_ctzll(moving->row);
	moving->row >>= zeros;
	moving->at += zeros;
	return true;
}

/* Digits modulo 3: a - b.  Of three bits each, a search for functions that do found these. */
static inline Planes
planes_minus(Planes a, Planes b)
{
	uint64_t	t = a.some ^ a.two ^ b.two;

	return (Planes){.some = (a.some ^ b.some) | (a.some & ~t),
					.two = a.two ^ (b.some & (a.two | ~t))};
}

/*
 * The same modulo 3: the row that stands there is subtracted.  The first coefficient is kept at
 * 1: where it is not, the row is doubled, which is exchanging ones and twos.
 */
static inline bool
ternary_move_on(const Band *band, TernaryMoving *moving)
{
	Planes		row = planes_minus(moving->row, band->ternary_row[moving->at]);
	uint64_t	exchange;
	unsigned	zeros;

	moving->value -= band->ternary_value[moving->at];
	if (row.some == 0)
	{
		moving->row = row;
		return false;
	}
	zeros = (unsigned) __builtin_ctzll(row.some);
	row.some >>= zeros;
	row.two >>= zeros;
	exchange = -(row.two & 1);
	row.two ^= row.some & exchange;
	moving->row = row;
	moving->value = (moving->value ^ (int32_t) exchange) - (int32_t) exchange;
	moving->at += zeros;
	return true;
}

/* Slots that rows of one bucket's keys can take. */
#define MAX_ADDED		(BUCKET_SLOTS + BLOCK_SLOTS)

/* Keys to be added, and where the rows of those that are lie. */
typedef struct Adding
{
	const BfShardBuild *build;
	const Layer *layer;
	uint32_t	next;			/* keys from this one on ... */
	uint32_t	last;			/* ... to before this one */
	uint32_t	first_slot;		/* ternary: of the part */
	unsigned	nadded;
	uint32_t   *added;
} Adding;

/* What this processor does best: adds the rows of all of them; false if some contradict others. */
typedef bool (*AddRows) (Adding *adding, Band *band);

/* The row of the next key; false if there is none. */
static inline __attribute__((always_inline)) bool
next_row(Adding *adding, const Band *band, Moving *moving)
{
	uint64_t	mix;

	if (adding->next == adding->last)
		return false;
	mix = bf_static_mix(adding->build->hashes[key_of(band, adding->next)]);
	moving->row = coefficients_of(mix);
	moving->at = start_of(adding->build, adding->layer, band, adding->next++);
	moving->value =
		fingerprint_bits(fingerprint_of(mix), adding->build->head->param[BF_STATIC_WIDTH]);
	return true;
}

static inline __attribute__((always_inline)) bool
next_ternary_row(Adding *adding, const Band *band, TernaryMoving *moving)
{
	while (adding->next < adding->last)
	{
		uint64_t	mix = bf_static_mix(adding->build->hashes[key_of(band, adding->next)]);
		uint32_t	start = start_of(adding->build, adding->layer, band, adding->next++);

		if (start < adding->first_slot)
			continue;
		moving->row = (Planes) {.some = coefficients_of(mix), .two = 0};
		moving->at = start - adding->first_slot;
		moving->value = (int32_t) fingerprint_trit(fingerprint_of(mix),
												   adding->build->head->param[BF_STATIC_WIDTH]);
		return true;
	}
	return false;
}

/*
 * Leaves a row where it cannot move on from; false if it follows from others and contradicts
 * them.
 */
static inline bool
settle(Adding *adding, Band *band, const Moving *moving)
{
	if (moving->row == 0)
		return moving->value == 0;
	band->row[moving->at] = moving->row;
	band->value[moving->at] = moving->value;
	adding->added[adding->nadded++] = moving->at;
	return true;
}

static inline bool
settle_ternary(Adding *adding, Band *band, const TernaryMoving *moving)
{
	if (moving->row.some == 0)
		return moving->value % 3 == 0;
	band->ternary_row[moving->at] = moving->row;
	band->ternary_value[moving->at] = (uint8_t) ((moving->value % 3 + 3) % 3);
	adding->added[adding->nadded++] = moving->at;
	return true;
}

/*
 * Adds the rows of some keys of one bucket; false if some contradict others.  Two at a time move
 * side by side, as each waits for what it reads.  Which of them gets to a free slot first makes
 * no difference: which slots are taken in the end, what the slots then must be, and whether there
 * is a contradiction, follow from the equations alone.
 */
#define ADD_ROWS(name, Row, next, is_free, move, settle) \
	static inline __attribute__((always_inline)) bool \
	name(Adding *adding, Band *band) \
	{ \
		Row			a; \
		Row			b; \
		\
		if (!next(adding, band, &a)) \
			return true; \
		while (next(adding, band, &b)) \
			for (;;) \
			{ \
				if (is_free(a) || !move(band, &a)) \
				{ \
					if (!settle(adding, band, &a)) \
						return false; \
					a = b; \
					break; \
				} \
				if (is_free(b) || !move(band, &b)) \
				{ \
					if (!settle(adding, band, &b)) \
						return false; \
					break; \
				} \
			} \
		while (!is_free(a) && move(band, &a)) \
			; \
		return settle(adding, band, &a); \
	}

#define FREE(moving)			(band->row[(moving).at] == 0)
#define TERNARY_FREE(moving)	(band->ternary_row[(moving).at].some == 0)

ADD_ROWS(add_rows, Moving, next_row, FREE, move_on, settle)
ADD_ROWS(add_ternary_rows, TernaryMoving, next_ternary_row, TERNARY_FREE, ternary_move_on,
		 settle_ternary)

/*
 * Adds the equations of some keys of one bucket, all or none.  Rows that were there before do not
 * change, so that the new ones can be taken out again.
 */
static inline __attribute__((always_inline)) bool
add_keys(const BfShardBuild *build, const Layer *layer, Band *band, uint32_t first, uint32_t last,
		 AddRows add, AddRows add_ternary)
{
	uint32_t	added[MAX_ADDED];
	uint32_t	ternary_added[MAX_ADDED];
	Adding binary = {.build = build, .layer = layer, .next = first, .last = last, .added = added};
	Adding		ternary = {
			 .build = build, .layer = layer, .next = first, .last = last, .added = ternary_added};

	ternary.first_slot = (uint32_t) (layer->binary_blocks * BLOCK_SLOTS);
	if (add(&binary, band) &&
		(layer->binary_blocks == layer->blocks || add_ternary(&ternary, band)))
		return true;
	while (binary.nadded > 0)
	{
		uint32_t	at = added[--binary.nadded];

		band->row[at] = 0;
		band->value[at] = 0;
	}
	while (ternary.nadded > 0)
	{
		uint32_t	at = ternary_added[--ternary.nadded];

		band->ternary_row[at] = (Planes) {0, 0};
		band->ternary_value[at] = 0;
	}
	return false;
}

/* Fills the band bucket by bucket, and the thresholds; returns how many keys are bumped. */
static inline __attribute__((always_inline)) uint32_t
fill_with(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		  uint8_t *thresholds, AddRows add, AddRows add_ternary)
{
	uint32_t	nbumped = 0;
	uint32_t	i = 0;
	uint64_t	bucket;

	for (bucket = 0; bucket * BUCKET_SLOTS < layer->blocks * BLOCK_SLOTS; bucket++)
	{
		uint32_t	group[4];	/* where the starts from each threshold on begin */
		uint32_t	k;
		unsigned	t;

		for (t = 0; t < 4; t++)
		{
			group[t] = i;
			while (t < 3 && i < n &&
				   start_of(build, layer, band, i) < bucket * BUCKET_SLOTS + threshold[t + 1])
				i++;
		}
		for (t = 3; t > 0 && add_keys(build, layer, band, group[t - 1], group[t], add, add_ternary);
			 t--)
			;
		thresholds[bucket / 4] |= (uint8_t) (t << (bucket % 4 * 2));
		for (k = group[0]; k < group[t]; k++)
			band->bumped[nbumped++] = key_of(band, k);
		if (bucket % 256 == 0)
			bf_check_interrupts(env);
	}
	return nbumped;
}

static uint32_t
fill_scalar(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
			uint8_t *thresholds)
{
	return fill_with(env, build, layer, band, n, thresholds, add_rows, add_ternary_rows);
}

#ifdef HAVE_X86_KERNELS

__attribute__((target("bmi,bmi2"))) static uint32_t
fill_bmi(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		 uint8_t *thresholds)
{
	return fill_with(env, build, layer, band, n, thresholds, add_rows, add_ternary_rows);
}

#endif

#ifdef BF_HAVE_WIDE

/*
 * Rows of eight keys that start in one block, over that block and the next one: the coefficients,
 * as in Planes, and what they add up to.  No row reaches the last slot of the next block: modulo
 * 3, that place has the value, which so is subtracted with the coefficients.
 */
typedef struct WideRows
{
	__m512i		low_some;
	__m512i		low_two;
	__m512i		high_some;
	__m512i		high_two;
	__m512i		value;			/* modulo 2: a bit a column */
} WideRows;

#define COEFFICIENTS	((long long) (UINT64_MAX >> 1)) /* of the next block */
#define VALUE_BIT		63

/* The rows of the next keys that start in this block; the others are zeros. */
BF_WIDE_INLINE WideRows
wide_next_rows(Adding *adding, const Band *band, uint32_t block, bool ternary)
{
	const BfShardBuild *build = adding->build;
	const Layer *layer = adding->layer;
	const uint32_t i = adding->next;
	__mmask8	lanes = i < adding->last ? bf_wide_lanes(i, adding->last) : 0;
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	__m512i		hash;
	__m512i		start;
	__m512i		shift;
	__m512i		mix;
	__m512i		row;
	__m512i		fingerprint;
	WideRows	rows;

	if (band->number == 0)
	{
		hash = _mm512_maskz_loadu_epi64(lanes, build->hashes + i);
		start = _mm512_mullo_epi64(
			hash, _mm512_set1_epi64((long long) (BF_ORDER_MULTIPLIER * build->shards)));
		start = bf_wide_cell(start, _mm512_set1_epi64((long long) layer->starts));
		start = _mm512_mask_add_epi64(
			start, _mm512_cmpge_epu64_mask(start, _mm512_set1_epi64((long long) layer->gap_at)),
			start, _mm512_set1_epi64((long long) layer->gap));
	}
	else
	{
		hash = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes,
										   _mm256_maskz_loadu_epi32(lanes, band->key + i),
										   build->hashes, sizeof(uint64_t));
		start = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(lanes, band->start + i));
	}
	lanes =
		_mm512_mask_cmpeq_epi64_mask(lanes, _mm512_srli_epi64(start, 6), _mm512_set1_epi64(block));
	adding->next += (uint32_t) __builtin_popcount(lanes);
	shift = _mm512_and_si512(start, _mm512_set1_epi64(BLOCK_SLOTS - 1));
	mix = bf_wide_mix(hash);
	row = _mm512_or_si512(mix, _mm512_set1_epi64(1));
	fingerprint = _mm512_maskz_mullo_epi64(lanes, mix, _mm512_set1_epi64((long long) FINGERPRINT));
	rows.low_some = _mm512_maskz_sllv_epi64(lanes, row, shift);
	rows.high_some = _mm512_maskz_srlv_epi64(
		lanes, row, _mm512_sub_epi64(_mm512_set1_epi64(BLOCK_SLOTS), shift));
	rows.low_two = rows.high_two = rows.value = _mm512_setzero_si512();
	if (ternary)
	{
		__m512i digit = bf_wide_cell(_mm512_sll_epi64(fingerprint, _mm_cvtsi32_si128((int) width)),
									 _mm512_set1_epi64(3));

		rows.high_two = _mm512_slli_epi64(_mm512_srli_epi64(digit, 1), VALUE_BIT);
		rows.high_some = _mm512_or_si512(
			rows.high_some, _mm512_or_si512(rows.high_two, _mm512_slli_epi64(digit, VALUE_BIT)));
	}
	else
		rows.value = _mm512_srl_epi64(fingerprint, _mm_cvtsi32_si128((int) (64 - width)));
	return rows;
}

/* The row that stands in a slot, in all lanes. */
BF_WIDE_INLINE WideRows
wide_row(const Band *band, uint32_t at, bool ternary)
{
	unsigned	bit = at % BLOCK_SLOTS;
	uint64_t	some = ternary ? band->ternary_row[at].some : band->row[at];
	uint64_t	high_some = some >> 1 >> (BLOCK_SLOTS - 1 - bit);
	WideRows	row;

	row.low_some = _mm512_set1_epi64((long long) (some << bit));
	row.low_two = row.high_two = row.value = _mm512_setzero_si512();
	if (ternary)
	{
		uint64_t	two = band->ternary_row[at].two;
		uint64_t	value = band->ternary_value[at];

		high_some |= (value + 1) >> 1 << VALUE_BIT;
		row.low_two = _mm512_set1_epi64((long long) (two << bit));
		row.high_two = _mm512_set1_epi64(
			(long long) (two >> 1 >> (BLOCK_SLOTS - 1 - bit) | value >> 1 << VALUE_BIT));
	}
	else
		row.value = _mm512_set1_epi64(band->value[at]);
	row.high_some = _mm512_set1_epi64((long long) high_some);
	return row;
}

/* The first of some lanes, in all. */
BF_WIDE_INLINE __m512i
wide_first(__m512i x, __mmask8 lanes)
{
	return _mm512_broadcastq_epi64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(lanes, x)));
}

/* The first row of these lanes, in all; modulo 3, its first coefficient is made 1. */
BF_WIDE_INLINE WideRows
wide_first_row(const WideRows *rows, __mmask8 lanes, __m512i here, bool ternary)
{
	WideRows	row;

	row.low_some = wide_first(rows->low_some, lanes);
	row.high_some = wide_first(rows->high_some, lanes);
	row.low_two = row.high_two = row.value = _mm512_setzero_si512();
	if (ternary)
	{
		row.low_two = wide_first(rows->low_two, lanes);
		row.high_two = wide_first(rows->high_two, lanes);
		lanes = _mm512_test_epi64_mask(row.low_two, here);
		row.low_two = _mm512_mask_xor_epi64(row.low_two, lanes, row.low_two, row.low_some);
		row.high_two = _mm512_mask_xor_epi64(row.high_two, lanes, row.high_two, row.high_some);
	}
	else
		row.value = wide_first(rows->value, lanes);
	return row;
}

BF_WIDE_INLINE uint64_t
wide_word(__m512i x)
{
	return (uint64_t) _mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

/* Puts such a row into a free slot. */
BF_WIDE_INLINE void
wide_put(Band *band, uint32_t at, const WideRows *rows, bool ternary)
{
	unsigned	bit = at % BLOCK_SLOTS;
	uint64_t	high = wide_word(rows->high_some);
	uint64_t	some = wide_word(rows->low_some) >> bit | high << 1 << (BLOCK_SLOTS - 1 - bit);

	if (ternary)
	{
		uint64_t	high_two = wide_word(rows->high_two);
		uint64_t two = wide_word(rows->low_two) >> bit | high_two << 1 << (BLOCK_SLOTS - 1 - bit);

		band->ternary_row[at] = (Planes) {.some = some, .two = two};
		band->ternary_value[at] = (uint8_t) ((high >> VALUE_BIT) + (high_two >> VALUE_BIT));
	}
	else
	{
		band->row[at] = some;
		band->value[at] = (uint32_t) wide_word(rows->value);
	}
}

/*
 * planes_minus() in some lanes, of the double of b in those that are in twice; its functions of
 * three bits as tables.
 */
BF_WIDE_INLINE void
wide_minus(__m512i *a_some, __m512i *a_two, __m512i b_some, __m512i b_two, __mmask8 lanes,
		   __mmask8 twice)
{
	__m512i t = _mm512_ternarylogic_epi64(*a_some, *a_two,
										  _mm512_mask_xor_epi64(b_two, twice, b_two, b_some), 0x96);

	*a_some = _mm512_mask_ternarylogic_epi64(*a_some, lanes, b_some, t, 0x7c);
	*a_two = _mm512_mask_ternarylogic_epi64(*a_two, lanes, b_some, t, 0x34);
}

BF_WIDE_INLINE void
wide_subtract(WideRows *a, const WideRows *b, __mmask8 lanes, __mmask8 twice, bool ternary)
{
	if (ternary)
	{
		wide_minus(&a->low_some, &a->low_two, b->low_some, b->low_two, lanes, twice);
		wide_minus(&a->high_some, &a->high_two, b->high_some, b->high_two, lanes, twice);
	}
	else
	{
		a->low_some = _mm512_mask_xor_epi64(a->low_some, lanes, a->low_some, b->low_some);
		a->high_some = _mm512_mask_xor_epi64(a->high_some, lanes, a->high_some, b->high_some);
		a->value = _mm512_mask_xor_epi64(a->value, lanes, a->value, b->value);
	}
}

BF_WIDE_INLINE void
wide_next_block(WideRows *a)
{
	const __m512i coefficients = _mm512_set1_epi64(COEFFICIENTS);

	a->low_some = _mm512_and_si512(coefficients, a->high_some);
	a->low_two = _mm512_and_si512(coefficients, a->high_two);
	a->high_some = _mm512_andnot_si512(coefficients, a->high_some);
	a->high_two = _mm512_andnot_si512(coefficients, a->high_two);
}

/* Are there coefficients left? */
BF_WIDE_INLINE bool
wide_left(const WideRows *a, const WideRows *b)
{
	__m512i		low = _mm512_or_si512(a->low_some, b->low_some);
	__m512i		high = _mm512_or_si512(a->high_some, b->high_some);
	__m512i		all = _mm512_ternarylogic_epi64(low, high, _mm512_set1_epi64(COEFFICIENTS), 0xf8);

	return _mm512_test_epi64_mask(all, all) != 0;
}

/*
 * add_rows() and add_ternary_rows() with sixteen keys at a time, slot by slot: from the rows that
 * have a coefficient in the slot, that row is subtracted which stands there; in a free slot the
 * first of them stands from then on, and nothing remains of it.
 */
BF_WIDE_INLINE bool
wide_add(Adding *adding, Band *band, bool ternary)
{
	while (adding->next < adding->last)
	{
		uint32_t	start = start_of(adding->build, adding->layer, band, adding->next);
		uint32_t	at = start - (ternary ? adding->first_slot : 0);
		WideRows	a = wide_next_rows(adding, band, start / BLOCK_SLOTS, ternary);
		WideRows	b = wide_next_rows(adding, band, start / BLOCK_SLOTS, ternary);
		__m512i		left;

		if (ternary && start < adding->first_slot)
			continue;
		for (;;)
		{
			__m512i		here = _mm512_set1_epi64((long long) (UINT64_C(1) << at % BLOCK_SLOTS));
			__mmask8	a_lanes = _mm512_test_epi64_mask(a.low_some, here);
			__mmask8	b_lanes = _mm512_test_epi64_mask(b.low_some, here);
			__mmask8	a_twice = ternary ? _mm512_test_epi64_mask(a.low_two, here) : 0;
			__mmask8	b_twice = ternary ? _mm512_test_epi64_mask(b.low_two, here) : 0;
			WideRows	row;

			if (ternary ? band->ternary_row[at].some != 0 : band->row[at] != 0)
			{
				row = wide_row(band, at, ternary);
				wide_subtract(&a, &row, a_lanes, a_twice, ternary);
				wide_subtract(&b, &row, b_lanes, b_twice, ternary);
			}
			else if (_kortestz_mask8_u8(a_lanes, b_lanes) == 0)
			{
				row = a_lanes != 0 ? wide_first_row(&a, a_lanes, here, ternary)
								   : wide_first_row(&b, b_lanes, here, ternary);
				wide_put(band, at, &row, ternary);
				adding->added[adding->nadded++] = at;
				wide_subtract(&a, &row, a_lanes, a_twice, ternary);
				wide_subtract(&b, &row, b_lanes, b_twice, ternary);
				if (!wide_left(&a, &b))
					break;
			}
			if (++at % BLOCK_SLOTS == 0)
			{
				wide_next_block(&a);
				wide_next_block(&b);
				if (!wide_left(&a, &b))
					break;
			}
		}
		left =
			ternary ? _mm512_or_si512(a.high_some, b.high_some) : _mm512_or_si512(a.value, b.value);
		if (_mm512_test_epi64_mask(left, left) != 0)
			return false;
	}
	return true;
}

BF_WIDE_INLINE bool
wide_add_rows(Adding *adding, Band *band)
{
	return wide_add(adding, band, false);
}

BF_WIDE_INLINE bool
wide_add_ternary_rows(Adding *adding, Band *band)
{
	return wide_add(adding, band, true);
}

BF_WIDE static uint32_t
fill_wide(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		  uint8_t *thresholds)
{
	return fill_with(env, build, layer, band, n, thresholds, wide_add_rows, wide_add_ternary_rows);
}

#endif

static uint32_t
fill_band(const BfEnv *env, const BfShardBuild *build, const Layer *layer, Band *band, uint32_t n,
		  uint8_t *thresholds)
{
#ifdef BF_HAVE_WIDE
	if (bf_have_wide())
		return fill_wide(env, build, layer, band, n, thresholds);
#endif
#ifdef HAVE_X86_KERNELS
	if (have_x86_kernels())
		return fill_bmi(env, build, layer, band, n, thresholds);
#endif
	return fill_scalar(env, build, layer, band, n, thresholds);
}

/*
 * Solves a block's slots in four columns at a time, from its last slot back.  A window holds the
 * 64 slots from the present one on, in one column; at the block's first slot it is the block's
 * word.
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
 * The same in the ternary column; the slots' digits are put behind those that slots of later
 * blocks have in n.
 */
static inline __attribute__((always_inline)) void
solve_ternary(const Planes *row, const uint8_t *value, Planes *window, uint8_t *n, unsigned weight)
{
	Planes		x = *window;
	int			i;

	for (i = BLOCK_SLOTS - 1; i >= 0; i--)
	{
		uint64_t	some;
		unsigned	digit;

		x.some <<= 1;
		x.two <<= 1;
		some = x.some & row[i].some;
		digit = (unsigned) (value[i] + 2 * (__builtin_popcountll(some) +
											__builtin_popcountll(some & (x.two ^ row[i].two)))) %
				3;
		x.some |= digit != 0;
		x.two |= digit >> 1;
		n[i] = (uint8_t) (n[i] + digit * weight);
	}
	*window = x;
}

/*
 * Back substitution.  An empty slot is 0.  No row of the binary part reaches into the ternary
 * one, so that what windows hold there does not matter.
 */
static inline __attribute__((always_inline)) void
solve_with(const BfEnv *env, const Layer *layer, const Band *band, uint8_t *out)
{
	uint64_t	window[BF_STATIC_MAX_WIDTH] = {0};
	Planes		ternary_window = {0, 0};
	uint8_t		n[GROUP_BYTES] = {0};
	uint64_t	block;

	for (block = layer->blocks; block-- > 0;)
	{
		bool		ternary = block >= layer->binary_blocks;
		unsigned	columns = layer->rest_width + (ternary ? 0 : layer->extra_width);
		unsigned	i;

		for (i = 0; i < layer->front_width + columns; i += 4)
			solve_four(band->row + block * BLOCK_SLOTS, band->value + block * BLOCK_SLOTS, i,
					   window + i);
		for (i = 0; i < layer->front_width; i++)
			bf_store64(out + front_offset(layer, block) + i * WORD_BYTES, window[i]);
		for (i = 0; i < columns; i++)
			bf_store64(out + rest_offset(layer, block) + i * WORD_BYTES,
					   window[layer->front_width + i]);
		if (ternary)
		{
			uint64_t	number = block - layer->binary_blocks;
			unsigned	k = (unsigned) (number % GROUP_BLOCKS);

			solve_ternary(band->ternary_row + number * BLOCK_SLOTS,
						  band->ternary_value + number * BLOCK_SLOTS, &ternary_window, n,
						  power[GROUP_BLOCKS - 1 - k]);
			for (i = 0; k == 0 && i < GROUP_BYTES; i++)
			{
				out[group_offset(layer, block) + i] = group_byte(n[i]);
				n[i] = 0;
			}
		}
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
	uint64_t	ternary_slots = max_ternary_blocks(build->head, build->n) * BLOCK_SLOTS;
	uint32_t	n = build->n;
	uint8_t    *bytes = build->table;
	uint32_t	nbumped;
	Band		band;

	band.row = build->scratch;
	band.ternary_row = (Planes *) (void *) (band.row + slots);
	band.value = (uint32_t *) (void *) (band.ternary_row + ternary_slots);
	band.start = band.value + slots;
	band.key = band.start + max_next_keys(n);
	band.bumped = band.key + max_next_keys(n);
	band.ternary_value = (uint8_t *) (band.bumped + build->n);

	for (band.number = 0;; band.number++)
	{
		uint32_t	blocks = blocks_for(n);
		Layer		layer;

		layer_shape(build->head, blocks, &layer);
		if (band.number == 0)
			build->geometry = blocks;
		else
			sort_keys(build, &layer, &band, n);
		memset(band.row, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.row));
		memset(band.value, 0, layer.blocks * BLOCK_SLOTS * sizeof(*band.value));
		ternary_slots = (layer.blocks - layer.binary_blocks) * BLOCK_SLOTS;
		memset(band.ternary_row, 0, ternary_slots * sizeof(*band.ternary_row));
		memset(band.ternary_value, 0, ternary_slots);
		nbumped = fill_band(env, build, &layer, &band, n, bytes + NEXT_BYTES);
		solve_band(env, &layer, &band, bytes);
		bytes += layer.len;

		if (nbumped <= LIST_KEYS || nbumped > max_next_keys(n) || band.number == MAX_LAYERS - 1)
			break;
		bf_store32(bytes - layer.len, blocks_for(nbumped));
		n = nbumped;
	}
	build->table_len = (uint64_t) (bytes - build->table);
	for (n = 0; n < nbumped; n++)
		build->straggler[band.bumped[n]] = 1;
}

/* ---- the rest ---- */

/*
 * Are all bytes of the groups such as are written, zeros for blocks that the last one lacks
 * included?
 */
static bool
groups_ok(const Layer *layer, const uint8_t *bytes)
{
	uint64_t	left = layer->blocks - layer->binary_blocks;
	uint64_t	at;

	for (at = layer->groups; at < layer->len; at += GROUP_BYTES)
	{
		unsigned	unit = left < GROUP_BLOCKS ? power[GROUP_BLOCKS - left] : 1;
		unsigned	i;

		for (i = 0; i < GROUP_BYTES; i++)
		{
			unsigned	n = bytes[at + i] * 243U / 256;

			if (group_byte(n) != bytes[at + i] || n % unit != 0)
				return false;
		}
		left -= BF_MIN(left, GROUP_BLOCKS);
	}
	return true;
}

static const char *
ribbon_table_validate(const BfHeader *head, uint32_t geometry, const uint8_t *table, uint64_t avail,
					  uint64_t *len)
{
	uint32_t	blocks = geometry;
	unsigned	i;

	*len = 0;
	for (i = 0; blocks != 0; i++)
	{
		Layer		layer;

		if (i == MAX_LAYERS)
			return "a table has too many layers";
		if (blocks < 2)
			return "a layer is too short";
		layer_shape(head, blocks, &layer);
		if (layer.len > avail - *len)
			return "a layer reaches beyond the payload";
		if (!bf_packed_padding_ok(table + *len + NEXT_BYTES, (layer.blocks + 1) / 2, 2))
			return "the padding of thresholds is not zero";
		if (!groups_ok(&layer, table + *len))
			return "a byte does not hold five digits";
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

/* The rate where a share of the starts is ternary. */
static double
rate_of(const uint32_t *param, double ternary)
{
	return ldexp(param[PARAM_LESS] ? 1 - ternary / 3 : 1 + ternary / 3,
				 (int) param[PARAM_LESS] - (int) param[BF_STATIC_WIDTH]);
}

/* That of the first layer: a twentieth of the keys is in others. */
static double
table_fpr(const BfHeader *head, uint32_t geometry)
{
	uint64_t	ternary = ternary_blocks(head, geometry);
	uint64_t	binary = geometry - ternary;

	return rate_of(head->param, ternary <= 1
									? 0
									: (double) (ternary - 1) /
										  (double) (ternary - 1 + (binary > 0 ? binary - 1 : 0)));
}

/* Powers of two are exact: nothing here hangs on a logarithm. */
static void
ribbon_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);
	double		over = ldexp(design->fpr, (int) width) - 1; /* 2^-w is that much less than asked
															 * for */

	design->param[BF_STATIC_WIDTH] = width;
	if (width == 1)
		over = 0;				/* there is nothing less than a column */
	design->param[PARAM_LESS] = over > 1.0 / 3;
	design->param[PARAM_TERNARY] =
		(uint32_t) (over > 1.0 / 3 ? ceil((1 - over) * 1.5 * TERNARY_ONE) : over * 3 * TERNARY_ONE);
	design->expected_fpr =
		rate_of(design->param, (double) design->param[PARAM_TERNARY] / TERNARY_ONE);

	/* the columns, a ternary one for 1.6, 1/1024 of slots that remain empty, the thresholds */
	design->millibits =
		(uint32_t) (((width - design->param[PARAM_LESS]) * UINT64_C(1000) * TERNARY_ONE +
					 (design->param[PARAM_LESS] ? 600 : -INT64_C(400)) *
						 design->param[PARAM_TERNARY]) /
					TERNARY_ONE * 1001 / 1000) +
		17;
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
	if (head->param[PARAM_TERNARY] > TERNARY_ONE || head->param[PARAM_LESS] > 1)
		return "the share of ternary blocks is out of range";
	if (head->param[BF_STATIC_WIDTH] == 1 &&
		(head->param[PARAM_TERNARY] != 0 || head->param[PARAM_LESS] != 0))
		return "a single column cannot be divided";
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
	bf_static_stats(env, view, table_fpr, stats);
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
	.when = "never changed once built: the smallest of all, slower to build than binary_fuse",
	.design = ribbon_design,
	.size = ribbon_size,
	.check = ribbon_check,
	.validate = ribbon_validate,
	.prober = ribbon_prober,
	.probe_many = ribbon_probe_many,
	.build = ribbon_build,
	.stats = ribbon_stats,
};
