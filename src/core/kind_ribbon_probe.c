/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_ribbon_probe.c
 *	  Probes of a ribbon filter, in plain C and with AVX2.
 *
 * A probe finds the layer that holds the key, and the 64 slots from the key's start on.  In each
 * column, the slots that the key's coefficients choose are added up and compared with a bit of the
 * fingerprint.  The first four columns, the *front*, lie together and are compared first: they
 * refute 15 of 16 keys that were not added, and only the remaining keys cost the cache misses of
 * the rest.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_ribbon_probe.h"

#include "bf_cpu.h"
#include "kind_ribbon_table.h"
#include "kind_ribbon_wide.h"

/* ---- comparing a key's row with its fingerprint ---- */

/*
 * The two operations for which processors have special instructions: SumFour returns the sums of a
 * row in four columns, a bit for each; Digits returns the k-th digit of each byte of a group.
 */
typedef uint64_t (*SumFour) (const uint8_t *low, const uint8_t *high, Coefficients in);
typedef Planes (*Digits) (const uint8_t *group, unsigned k);

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

/*
 * The location of the columns of a row that are not in the front (the columns that a probe reads
 * first).
 */
typedef struct Rest
{
	/*
	 * The words, one for each column, of the row's first block; those of its second block follow.
	 */
	const uint8_t *words;

	/*
	 * The 64 bytes with the ternary digits of the row's first block; NULL if the row is in the
	 * binary part.
	 */
	const uint8_t *group;
	const uint8_t *next_group;	/* The 64 bytes with the digits of the row's second block. */

	/* The number (0 to 4) of the row's first block in its group of five. */
	unsigned	k;
	unsigned	columns;		/* The number of columns of one bit. */
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

/*
 * Returns whether the columns of a row that are not in the front agree with the key's fingerprint.
 * Compares the ternary column last, as it takes longest.
 */
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

/* ---- probing one key ---- */

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
	if (find_window(&view->head, &table, place, &window))
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

/* ---- probing many keys ---- */

/* The number of keys in a batch: as many as a word has bits, so that a set of keys is a word. */
#define BATCH			64

/*
 * The number of tables that stay open during a call, so that they need not be opened again for each
 * key: all tables of a filter of 2^25 keys, or else those used last.
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
 * Prefetches the front of a row.  It is in two neighbouring blocks and has 64 bytes at most, and so
 * lies in at most two cache lines.
 */
static inline void
prefetch_front(const Window *window, unsigned front_width)
{
	fetch_ahead(window->front);
	fetch_ahead(window->front + 2 * front_width * WORD_BYTES - 1);
}

/*
 * Probes a batch of keys in rounds, each of which prefetches the memory that the next one reads:
 * first the front in the first layer, for all keys; then the front in later layers, for keys that
 * are not in the first; then the rest, for keys whose front agrees.  Within a round no branch
 * depends on what is found, as it could not be predicted.
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
	uint64_t	odd = 0;			/* The keys that the first layer does not hold. */
	/* The keys that no layer can hold: every layer has bumped them. */
	uint64_t	absent = 0;
	/* The keys in a layer that cannot be read, so that they may be contained. */
	uint64_t	any = 0;
	/* The keys whose columns agree with their fingerprints so far. */
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
		if (!find_window(head, table, place, &window[i]))
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

/* ---- the operations, and the probes that use them ---- */

static inline uint64_t
sum_four_scalar(const uint8_t *low, const uint8_t *high, Coefficients in)
{
	return sum(low, high, in) | sum(low + WORD_BYTES, high + WORD_BYTES, in) << 1 |
		   sum(low + 2 * WORD_BYTES, high + 2 * WORD_BYTES, in) << 2 |
		   sum(low + 3 * WORD_BYTES, high + 3 * WORD_BYTES, in) << 3;
}

/*
 * Returns the k-th digit of each byte of a group.  Handles eight bytes at a time, in lanes of 16
 * bits.  If a byte is read as a fraction of 256, digit k is the integer part of three times the
 * fractional part of 3^k times the byte.  So the digit is not 0 if that fractional part, in 256ths,
 * is at least 256 / 3, and it is 2 from 512 / 3 on.
 */
static inline Planes
digits_scalar(const uint8_t *group, unsigned k)
{
	const uint64_t lanes = UINT64_C(0x00ff00ff00ff00ff);
	const uint64_t ones = UINT64_C(0x0001000100010001);
	/* A multiplier that moves the lowest bit of each byte to the highest byte. */
	const uint64_t gather = UINT64_C(0x0102040810204080);
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

#ifdef BF_HAVE_AVX2

#define AVX2	__attribute__((target("avx2,bmi,bmi2,popcnt")))

/*
 * Returns the sums of a row in four columns, all four words at once.  Each byte is folded to four
 * bits, whose parity is looked up in a table of 16; then the parities of each word's bytes are
 * added up.
 */
AVX2 static inline uint64_t
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

/*
 * Returns the k-th digit of each byte of a group, as digits_scalar() does, but for 32 bytes at a
 * time.
 */
AVX2 static inline Planes
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

AVX2 static bool
probe_avx2(const BfView *view, uint64_t hash)
{
	return probe_with(view, hash, sum_four_avx2, digits_avx2);
}

AVX2 static void
probe_batch_avx2(const BfView *view, Table *tables, const uint64_t *hashes, unsigned n,
				 bool *result)
{
	unsigned	common = common_width(&view->head);

	if (common >= FRONT)
		probe_batch(view, tables, hashes, n, result, FRONT, sum_four_avx2, digits_avx2);
	else
		probe_batch(view, tables, hashes, n, result, common, sum_four_avx2, digits_avx2);
}

#endif							/* BF_HAVE_AVX2 */

BfProbe
bf_ribbon_prober(const BfView *view)
{
	if (view->head.param[BF_STATIC_SHARDS] == 0)
		return bf_static_probe_none;
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
		return probe_avx2;
#endif
	return probe_scalar;
}

/*
 * For the test that compares implementations: returns the probe in plain C, whose results must
 * equal those of the probe that bf_ribbon_prober() chooses.
 */
BfProbe
bf_ribbon_scalar_twin(void)
{
	return probe_scalar;
}

void
bf_ribbon_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
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
	if (bf_ribbon_wide_many(view, hashes, n, result))
		return;
#ifdef BF_HAVE_AVX2
	if (bf_have_avx2())
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
