/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_static.h
 *	  Private to the core: the frame of the kinds whose filters are built at once, from all their
 *	  keys.
 *
 * Such a kind sets up an equation for each key and solves all equations; the solution is the
 * filter's table.  To bound the memory that solving takes beside the filter, and to stay within the
 * processor's caches, the keys are divided into *shards*, which are solved one after the other.
 * With o = bf_order(h):
 *
 *		shard = floor(o * shards / 2^64)
 *		place = o * shards mod 2^64			where the key is within its shard
 *
 * A builder gets the hashes in the order of o, and therefore shard by shard, and within a shard in
 * the order of their places, which are spread as evenly as the hashes.  If a kind's first position
 * is floor(place * cells / 2^64), its keys come sorted by that position without any sorting.  All
 * other bits that a kind needs of a key come from bf_static_mix(h).
 *
 * A solver may give up some keys, so that no build ever fails or starts again.  The keys that were
 * given up, the *stragglers*, are listed beside the table.  The list has the high bits of each
 * straggler's place, as many as keep false positives of the list rare:
 *
 *		bits = min(57, w + 10 + ceil(log2(stragglers)))
 *				beside a table: the list adds 2^-10 of the table's FPR, which is 2^-w
 *		bits = min(57, w + ceil(log2(stragglers)))
 *				if there is no table: the list's FPR is at most 2^-w
 *
 * A shard consists of such a list alone, without a table, where that takes no more space: if the
 * shard has few keys (some tens), or if hashes were crafted so that nearly all keys are stragglers.
 * Shards with far more keys than chance can give them are not even passed to the solver.
 *
 *		payload		directory, shards, 8 zero bytes, so that 8 bytes can be loaded anywhere in a
 *					table
 *		directory	16 bytes for each shard: u64 where its table begins, u32 the geometry of the
 *					table (0: no table), u32 number of stragglers
 *		shard		the list: stragglers * bits, packed, ascending, zeros up to a whole byte;
 *					the gate, if there is a table: 2 bytes a straggler, a bitmap in which bit
 *					floor(place * gate bits / 2^64) is set for each, so that few other keys have to
 *					be searched in the list;
 *					the table
 *
 *		param[0]	w, 1 to 32: the FPR of a table is 2^-w, or a little more if the kind has
 *					fractions of a bit
 *		param[1,2]	the kind's own
 *		param[3]	number of shards; 0 if there are no keys
 *
 * Shard, place and mix are fixed permutations of the hash.  There is no seed, so that one hash of a
 * key serves all filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_STATIC_H
#define BF_STATIC_H

#include "bf_hash.h"
#include "bf_int.h"

/*
 * The largest average number of keys per shard.  Building a shard takes some 50 MB of memory, 75 MB
 * for a ribbon, of which only a few neighbouring MB are worked on at a time.  Shards of half that
 * size would cost binary_fuse 0.6 % more space, and would be built no faster.
 */
#define BF_SHARD_KEYS		((uint64_t) 1 << 21)

/*
 * The largest number of keys that a shard can have and still be solved.  By chance a shard stays
 * below this by more than 100 standard deviations.
 */
#define BF_SHARD_MAX_KEYS	(BF_SHARD_KEYS + BF_SHARD_KEYS / 8)

/* The index in param[] of w, the number of bits of a fingerprint. */
#define BF_STATIC_WIDTH		0
#define BF_STATIC_SHARDS	3

#define BF_STATIC_MAX_WIDTH	32
#define BF_STATIC_ENTRY		16	/* The size of a directory entry in bytes. */
#define BF_STATIC_PADDING	8
/*
 * The size in bytes per straggler of the gate, the bitmap that spares most probes a search of the
 * list of stragglers.
 */
#define BF_STATIC_GATE		2

/* ---- what is derived from a key's hash ---- */

static inline uint64_t
bf_static_place(uint64_t hash, uint64_t shards)
{
	return bf_order(hash) * shards;
}

#define BF_MIX_MULTIPLIER	UINT64_C(0xd6e8feb86659fd93)

/*
 * Returns 64 bits that are independent of the key's shard and place.  The function is a bijection;
 * its shifts make sure that no later multiplication cancels its own.
 */
static inline uint64_t
bf_static_mix(uint64_t hash)
{
	hash = (hash ^ (hash >> 32)) * BF_MIX_MULTIPLIER;
	return hash ^ (hash >> 32);
}

/* ---- arrays of packed integers of 1 to 57 bits ---- */

/*
 * Returns the i-th integer of a packed array.  Loads 8 bytes from the byte where the integer
 * begins.
 */
static inline uint64_t
bf_packed_get(const uint8_t *cells, uint64_t i, unsigned width)
{
	uint64_t	bit = i * width;

	return (bf_load64(cells + (bit >> 3)) >> (bit & 7)) & ((UINT64_C(1) << width) - 1);
}

/*
 * Sets the i-th integer of a packed array, which must be zero, to value.  Stores 8 bytes from the
 * byte where the integer begins.
 */
static inline void
bf_packed_put(uint8_t *cells, uint64_t i, unsigned width, uint64_t value)
{
	uint64_t	bit = i * width;
	uint8_t    *p = cells + (bit >> 3);

	bf_store64(p, bf_load64(p) | value << (bit & 7));
}

/* Returns the number of bytes that a packed array of n integers takes. */
static inline uint64_t
bf_packed_len(uint64_t n, unsigned width)
{
	return (n * width + 7) / 8;
}

/*
 * Returns whether the bits between the last integer of a packed array and the end of its byte are
 * zero.
 */
static inline bool
bf_packed_padding_ok(const uint8_t *cells, uint64_t n, unsigned width)
{
	return (n * width & 7) == 0 || cells[n * width / 8] >> (n * width & 7) == 0;
}

/* ---- finding a key's shard, and its list of stragglers ---- */

/*
 * The shard of a key, as described by its entry in the directory.  The entry is not trusted:
 * whatever it says, these fields lead to nothing outside of the payload.
 */
typedef struct BfShard
{
	const uint8_t *table;		/* The shard's table, which begins within the payload. */
	uint64_t	before;			/* Number of bytes of the payload before the table. */

	/*
	 * Number of bytes of the payload from the table on, without the padding at the end.  The
	 * table's length must not exceed it.
	 */
	uint64_t	after;
	uint64_t	place;			/* The key's place in the shard. */
	uint32_t	geometry;		/* Describes the table's shape; 0 if there is no table. */
	uint32_t	stragglers;
} BfShard;

/*
 * Returns the number of a key's shard, and sets *place to the key's place in it.  The filter must
 * have shards, that is, param[BF_STATIC_SHARDS] must not be 0.
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
 * Reads a shard's entry in the directory, and sets all fields of *shard but the place.  The
 * filter's header must have passed bf_static_check().
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

/* Finds a key's shard, and the key's place in it. */
static inline void
bf_static_find(const BfView *view, uint64_t hash, BfShard *shard)
{
	bf_static_open(view, bf_static_locate(view, hash, &shard->place), shard);
}

/*
 * Searches a shard's list of stragglers for a key.  Called by bf_static_listed() only, and not
 * inlined.
 */
extern bool bf_static_search(const BfView *view, const BfShard *shard);

/*
 * Returns how many high bits of each straggler's place (its position within the shard) the list of
 * stragglers holds; the comment at the head of bf_static.h has the formula.
 */
static inline unsigned
bf_static_list_bits(unsigned width, uint32_t stragglers, bool with_table)
{
	unsigned bits = width + (with_table ? 10 : 0) +
					(stragglers > 1 ? 32 - (unsigned) __builtin_clz(stragglers - 1) : 0);

	return BF_MIN(bits, 57);
}

/*
 * Returns whether the key is in its shard's list of stragglers.  To be called if the table does not
 * contain the key, or if there is no table.
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

/* ---- what each kind that is built at once provides ---- */

/* A shard that is being built.  The solver sets the members from straggler on. */
typedef struct BfShardBuild
{
	const BfHeader *head;

	/* The shard's hashes, distinct and in ascending order of their places. */
	const uint64_t *hashes;

	/* The number of hashes.  When the solver is called: 1 to BF_SHARD_MAX_KEYS. */
	uint32_t	n;

	/* The number of the filter's shards, which bf_static_place() needs. */
	uint32_t	shards;

	/*
	 * Memory of scratch_len() bytes, aligned for any type.  It still holds what the previous shard
	 * has left there.
	 */
	void	   *scratch;

	/* The members of BfShardBuild from here on are set by the kind's solver. */
	/*
	 * An array of n bytes, zeroed before the solver is called; the solver sets the byte of each key
	 * that it gives up to 1.
	 */
	uint8_t    *straggler;

	/* Describes the shape of the shard's table, in a form of the kind's own; not 0. */
	uint32_t	geometry;

	/* The shard's table: max_table_len() + 8 bytes, zeroed before the solver is called. */
	uint8_t    *table;

	/* How many bytes of table are used; the remaining bytes stay zero. */
	uint64_t	table_len;
} BfShardBuild;

typedef struct BfStaticKind
{
	/*
	 * Return how many bytes of scratch memory, and of table, a shard of 1 to n keys needs at most.
	 * n is at most BF_SHARD_MAX_KEYS, for which no computation may overflow.
	 */
	uint64_t	(*scratch_len) (const BfHeader *head, uint32_t n);
	uint64_t	(*max_table_len) (const BfHeader *head, uint32_t n);

	/* Builds the table of a shard.  The same keys must give the same bytes. */
	void		(*solve) (const BfPort *port, BfShardBuild *build);

	/*
	 * Checks a table with the given geometry, including its padding, and sets *len to its length,
	 * which is at most avail.  Returns NULL, or what is wrong.  The 8 bytes after avail can be
	 * read.
	 */
	const char	*(*validate) (const BfHeader *head, uint32_t geometry, const uint8_t *table,
							uint64_t avail, uint64_t *len);
} BfStaticKind;

/* Probes a filter without shards: always returns false, as the filter contains no keys. */
extern bool bf_static_probe_none(const BfView *view, uint64_t hash);

/*
 * Returns the least number w of bits of a fingerprint with 2^-w at most fpr; fpr must be at least
 * 2^-32.
 */
extern unsigned bf_static_width(double fpr);

/*
 * Implements BfKind.build.  Tests set param[BF_STATIC_SHARDS] before, to choose the number of
 * shards; if it is 0, this function chooses the number.
 */
extern BfStatus bf_static_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink,
								const BfStaticKind *kind);

/* Implements BfKind.size, for a kind whose table of n keys has about table_len(param, n) bytes. */
extern uint64_t bf_static_size(const BfDesign *design, uint64_t keys,
							   uint64_t (*table_len)(const uint32_t *param, uint64_t n));

/*
 * Implements the part of BfKind.check that is common to all kinds built at once: checks param[0],
 * param[3] and the length.
 */
extern const char *bf_static_check(const BfHeader *head);

/*
 * Implements BfKind.validate: checks the directory, the lists and the gates, and each table by
 * kind->validate.
 */
extern const char *bf_static_validate(const BfPort *port, const BfView *view,
									  const BfStaticKind *kind);

/*
 * Implements BfKind.stats, except for the member hashes (probes per key), which the kind must set.
 * table_fpr(head, geometry) returns the FPR of a shard's table, and must be defined for any
 * geometry.
 */
extern void bf_static_stats(const BfPort *port, const BfView *view,
							double (*table_fpr)(const BfHeader *head, uint32_t geometry),
							BfStats *stats);

/*
 * Returns 2^-w, the FPR of a table of fingerprints of w bits, whatever its geometry.  Serves as the
 * table_fpr of kinds whose fingerprints have a whole number of bits.
 */
extern double bf_static_fpr(const BfHeader *head, uint32_t geometry);

#endif							/* BF_STATIC_H */
