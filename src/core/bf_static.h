/*-------------------------------------------------------------------------
 *
 * bf_static.h
 *	  Private to the core: the frame of the kinds that are built at once, from all their keys.
 *
 * Such a kind solves a system of equations, one a key, whose solution is its table.  To bound
 * what that needs beside the filter, and to stay within the caches, keys are cut into *shards*
 * that are solved one by one.  With o = bf_order(h):
 *
 *		shard = floor(o * shards / 2^64)
 *		place = o * shards mod 2^64
 *
 * Hashes come in the order of o, hence shard by shard, and within a shard in the order of their
 * places, which are as even as the hashes. Where a kind's first position is floor(place * cells /
 * 2^64), keys come sorted by position, and nothing has to be sorted.  Whatever else a kind needs
 * of a key comes from bf_static_mix(h).
 *
 * A solver may give keys up, and no build fails or starts again for that.  These *stragglers* are
 * listed beside the table by the high bits of their places, as many as make the list's own false
 * positives rare:
 *
 *		bits = min(57, w + 10 + ceil(log2(stragglers)))		beside a table: adds 2^-10 of its FPR,
 *		2^-w bits = min(57, w + ceil(log2(stragglers)))			where the list is all there is:
 *		its FPR is at most 2^-w
 *
 * A shard is such a list alone where that takes no more space than what the solver made of it:
 * few keys (some tens), or crafted hashes, of which nearly all are stragglers.  Shards that got
 * far more keys than chance can give them are not even tried.
 *
 *		payload		directory, shards, 8 zero bytes (so that 8 bytes can be loaded anywhere in a table)
 *		directory	for each shard: u64 where its table begins, u32 the table's geometry (0: no table), u32 number of stragglers
 *		shard		the list: stragglers * bits, packed, ascending, zeros up to a whole byte;
 *					the gate, if there is a table: 2 bytes a straggler, in which bit floor(place *
 *					bits / 2^64) is set for each, so that other keys seldom search the list; the
 *					table
 *
 *		param[0]	w, 1 to 32: the FPR of a table is 2^-w, or a little more where a kind has fractions of a bit
 *		param[1,2]	the kind's own
 *		param[3]	number of shards; 0 if there are no keys
 *
 * Unlike bf_cell(h, n), which other kinds use, all this is a fixed permutation of the hash: no
 * seed, so that one hash serves all filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_STATIC_H
#define BF_STATIC_H

#include "bf_hash.h"
#include "bf_int.h"

/*
 * Keys in a shard, at the most, on average: some 50 MB of memory for building, 75 for a ribbon,
 * most of which lies idle while a few neighbouring MB are worked on. Shards of half that size
 * cost binary_fuse 0.6 % more space, and are built no faster.
 */
#define BF_SHARD_KEYS		((uint64_t) 1 << 21)

/* ... and at the most: chance stays below this by more than 100 standard deviations. */
#define BF_SHARD_MAX_KEYS	(BF_SHARD_KEYS + BF_SHARD_KEYS / 8)

#define BF_STATIC_WIDTH		0	/* param[] */
#define BF_STATIC_SHARDS	3

#define BF_STATIC_MAX_WIDTH	32
#define BF_STATIC_ENTRY		16	/* bytes of a directory entry */
#define BF_STATIC_PADDING	8
#define BF_STATIC_GATE		2	/* bytes of gate a straggler */

/* ---- hashes ---- */

static inline uint64_t
bf_static_place(uint64_t hash, uint64_t shards)
{
	return bf_order(hash) * shards;
}

#define BF_MIX_MULTIPLIER	UINT64_C(0xd6e8feb86659fd93)

/*
 * 64 bits that have nothing to do with the shard or the place: a bijection that no multiplication
 * undoes.
 */
static inline uint64_t
bf_static_mix(uint64_t hash)
{
	hash = (hash ^ (hash >> 32)) * BF_MIX_MULTIPLIER;
	return hash ^ (hash >> 32);
}

/* ---- packed integers of 1 to 57 bits ---- */

/* Reads 8 bytes from where the i-th begins. */
static inline uint64_t
bf_packed_get(const uint8_t *cells, uint64_t i, unsigned width)
{
	uint64_t	bit = i * width;

	return (bf_load64(cells + (bit >> 3)) >> (bit & 7)) & ((UINT64_C(1) << width) - 1);
}

/* Sets one that is zero. */
static inline void
bf_packed_put(uint8_t *cells, uint64_t i, unsigned width, uint64_t value)
{
	uint64_t	bit = i * width;
	uint8_t    *p = cells + (bit >> 3);

	bf_store64(p, bf_load64(p) | value << (bit & 7));
}

/* Bytes of so many. */
static inline uint64_t
bf_packed_len(uint64_t n, unsigned width)
{
	return (n * width + 7) / 8;
}

/* Are the bits between the last one and the end of its byte zero? */
static inline bool
bf_packed_padding_ok(const uint8_t *cells, uint64_t n, unsigned width)
{
	return (n * width & 7) == 0 || cells[n * width / 8] >> (n * width & 7) == 0;
}

/* ---- probing ---- */

/*
 * A key's shard, as the directory has it: what is read here may be wrong, and yet reads nothing
 * outside of the payload.
 */
typedef struct BfShard
{
	const uint8_t *table;		/* within the payload */
	uint64_t	before;			/* bytes of payload before it */
	uint64_t	after;			/* bytes from it on, without the padding: the table's length must
								 * not exceed this */
	uint64_t	place;			/* of the key */
	uint32_t	geometry;		/* 0: no table */
	uint32_t	stragglers;
} BfShard;

/*
 * The number of a key's shard, and its place there.  param[BF_STATIC_SHARDS] is not 0, which a
 * prober must have seen to.
 */
static inline uint64_t
bf_static_locate(const BfView *view, uint64_t hash, uint64_t *place)
{
	unsigned __int128 product =
		(unsigned __int128) bf_order(hash) * view->head.param[BF_STATIC_SHARDS];

	*place = (uint64_t) product;
	return (uint64_t) (product >> 64);
}

/*
 * Reads the directory's entry of a shard, all but the place.  The header has passed
 * bf_static_check().
 */
static inline void
bf_static_open(const BfView *view, uint64_t number, BfShard *shard)
{
	const uint8_t *entry = view->payload + number * BF_STATIC_ENTRY;
	uint64_t	end = view->head.payload_len - BF_STATIC_PADDING;

	shard->before = BF_MIN(bf_load64(entry), end);
	shard->after = end - shard->before;
	shard->table = view->payload + shard->before;
	shard->geometry = bf_load32(entry + 8);
	shard->stragglers = bf_load32(entry + 12);
}

/* Finds a key's shard: both of these. */
static inline void
bf_static_find(const BfView *view, uint64_t hash, BfShard *shard)
{
	bf_static_open(view, bf_static_locate(view, hash, &shard->place), shard);
}

/* bf_static_listed's other half: searches the list. */
extern bool bf_static_search(const BfView *view, const BfShard *shard);

/* How many bits of its place tell a straggler. */
static inline unsigned
bf_static_list_bits(unsigned width, uint32_t stragglers, bool with_table)
{
	unsigned bits = width + (with_table ? 10 : 0) +
					(stragglers > 1 ? 32 - (unsigned) __builtin_clz(stragglers - 1) : 0);

	return BF_MIN(bits, 57);
}

/*
 * Is the key a straggler?  To be asked if the table says no, or there is none.
 */
static inline bool
bf_static_listed(const BfView *view, const BfShard *shard)
{
	uint64_t	gate = (uint64_t) shard->stragglers * BF_STATIC_GATE;

	if (shard->stragglers == 0)
		return false;
	if (shard->geometry != 0 && gate <= shard->before)
	{
		uint64_t	bit = bf_cell(shard->place, gate * 8);

		if (!((shard->table - gate)[bit >> 3] >> (bit & 7) & 1))
			return false;
	}
	return bf_static_search(view, shard);
}

/* ---- what a kind of this frame is ---- */

/* A shard to be solved. */
typedef struct BfShardBuild
{
	const BfHeader *head;
	const uint64_t *hashes;		/* distinct, in ascending order of their places */
	uint32_t	n;				/* 1 to BF_SHARD_MAX_KEYS */
	uint32_t	shards;			/* for bf_static_place() */
	void	   *scratch;		/* scratch_len() bytes, aligned for any type, as the last shard
								 * left them */

	/* what comes out */
	uint8_t    *straggler;		/* n bytes, zeroed: set to 1 for each key that was given up */
	uint32_t	geometry;		/* not 0 */
	uint8_t    *table;			/* max_table_len() + 8 bytes, zeroed */
	uint64_t	table_len;		/* bytes that are used of it; those after are zero */
} BfShardBuild;

typedef struct BfStaticKind
{
	/*
	 * Bytes of scratch, and of table, that any shard of 1 to n keys needs.  Whole number, no
	 * overflow up to BF_SHARD_MAX_KEYS.
	 */
	uint64_t	(*scratch_len) (const BfHeader *head, uint32_t n);
	uint64_t	(*max_table_len) (const BfHeader *head, uint32_t n);

	/* Makes the table of a shard.  The bytes that come out follow from what goes in alone. */
	void		(*solve) (const BfEnv *env, BfShardBuild *build);

	/*
	 * Fills in the length of a table, which is at most avail, and looks at what the kind can know
	 * of it, padding included: NULL, or what is wrong.  8 bytes after avail can be read.
	 */
	const char	*(*validate) (const BfHeader *head, uint32_t geometry, const uint8_t *table,
							uint64_t avail, uint64_t *len);
} BfStaticKind;

/* BfKind.prober's answer where there are no shards. */
extern bool bf_static_probe_none(const BfView *view, uint64_t hash);

/* The least w for fpr, which is at least 2^-32. */
extern unsigned bf_static_width(double fpr);

/*
 * BfKind.build.  If param[BF_STATIC_SHARDS] is not 0 on entry, it is the number of shards
 * (tests).
 */
extern BfStatus bf_static_build(const BfEnv *env, BfHeader *head, BfSource *source, BfSink *sink,
								const BfStaticKind *kind);

/*
 * BfKind.size: table_len(param, n) is the length of a table of n keys, about.
 */
extern uint64_t bf_static_size(const BfDesign *design, uint64_t keys,
							   uint64_t (*table_len)(const uint32_t *param, uint64_t n));

/* BfKind.check: all that concerns the frame, param[0] and param[3]. */
extern const char *bf_static_check(const BfHeader *head);

/* BfKind.validate. */
extern const char *bf_static_validate(const BfView *view, const BfStaticKind *kind);

/*
 * BfKind.stats, but for hashes, which the kind fills in.  table_fpr(head, geometry) is the FPR of
 * a table, whatever the geometry says.
 */
extern void bf_static_stats(const BfEnv *env, const BfView *view,
							double (*table_fpr)(const BfHeader *head, uint32_t geometry),
							BfStats *stats);

/* 2^-w, for that. */
extern double bf_static_fpr(const BfHeader *head, uint32_t geometry);

#endif							/* BF_STATIC_H */
