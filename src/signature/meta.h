/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * meta.h
 *	  The metapage of a signature index and its directory: which ranges have a signature, and where.
 *
 * The README in this folder says how the states of a range follow each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_META_H
#define BLOOMFAM_SIGNATURE_META_H

#include "pg/compat.h"

#include "access/generic_xlog.h"

#include "signature/page.h"

/*
 * The number of ranges of a batch or slab.  A page of a slab has the same SIGNATURE_PER_PAGE blocks
 * of all its ranges.
 */
#define SIGNATURE_WIDTH		126
#define SIGNATURE_PER_PAGE	(SIGNATURE_SLOTS / SIGNATURE_WIDTH)

/*
 * A set of the ranges of a batch or slab, a bit each.  With SIGNATURE_WIDTH bits it has two words.
 */
typedef struct SignatureSet
{
	uint64		bits[2];
} SignatureSet;

static inline bool
signature_set_has(const SignatureSet *set, uint32 i)
{
	return (set->bits[i / 64] >> (i % 64) & 1) != 0;
}

static inline void
signature_set_add(SignatureSet *set, uint32 i)
{
	set->bits[i / 64] |= UINT64CONST(1) << (i % 64);
}

static inline void
signature_set_remove(SignatureSet *set, uint32 i)
{
	set->bits[i / 64] &= ~(UINT64CONST(1) << (i % 64));
}

static inline bool
signature_set_is_empty(const SignatureSet *set)
{
	return (set->bits[0] | set->bits[1]) == 0;
}

/* Returns how many ranges are in the set. */
static inline uint32
signature_set_count(const SignatureSet *set)
{
	return (uint32) bf_signature_count(set->bits, lengthof(set->bits));
}

/* Returns the set of the first n ranges. */
static inline SignatureSet
signature_set_first(uint32 n)
{
	SignatureSet set = {{
		n >= 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << n) - 1,
		n <= 64 ? 0 : (UINT64CONST(1) << (n - 64)) - 1
	}};

	return set;
}

/*
 * Where the signatures of SIGNATURE_WIDTH ranges in a row are.  In a batch, which is still being
 * filled, the signatures are stored one after the other.  In a slab they lie side by side.
 */
typedef struct SignatureGroup
{
	uint64		id;				/* The owner of its pages; never used twice. */
	BlockNumber start;			/* The number of its first page. */
	uint32		blocks;			/* The number of blocks of each signature. */

	/*
	 * The ranges that must be read whatever their signatures say: a row came into them after they
	 * were summarized.
	 */
	SignatureSet dirty;

	/* The dirty ranges that VACUUM is summarizing anew, and into which no row came since. */
	SignatureSet redone;
} SignatureGroup;

typedef struct SignatureBatch
{
	SignatureGroup group;
	uint32		count;			/* The number of its ranges that have signatures. */
	uint32		unused;
	double		keys;			/* The sum of the different keys of these ranges, as estimated. */
} SignatureBatch;

typedef struct SignatureExtent
{
	BlockNumber start;
	uint32		length;			/* The number of blocks. */
} SignatureExtent;

#define SIGNATURE_BATCHES		2
#define SIGNATURE_FREE_EXTENTS	32
#define SIGNATURE_FORMAT		1

/* The number of directory entries of a page, and of the directory's pages. */
#define SIGNATURE_ENTRIES		((uint32) (SIGNATURE_BODY / sizeof(SignatureGroup)))
#define SIGNATURE_DIRECTORY \
	((uint32) ((SIGNATURE_BODY - offsetof(SignatureMeta, directory)) / sizeof(BlockNumber)))

typedef struct SignatureMeta
{
	uint32		format;			/* Always SIGNATURE_FORMAT. */
	uint32		pages_per_range;	/* The number of the table's pages that make a range. */
	uint32		bits;			/* The number of bits that a key sets in a signature. */
	uint32		ngram;			/* The number of characters of an n-gram. */
	double		bits_per_key;	/* The bits of memory for each key of an average range. */
	uint64		seed;			/* The random seed of all keys' hashes. */

	/*
	 * A hash of what the keys' hashes depend on: types, versions of collations and of the server.
	 */
	uint64		rules;

	/*
	 * A hash of all fields above, which never change.  If one of them were read wrong, queries
	 * would look for other keys, or in other places, and miss rows.
	 */
	uint64		constants;
	uint64		last_id;		/* The latest id that a batch or slab was given. */
	BlockNumber end;			/* No page from this one on is used or reserved. */
	uint32		nslabs;			/* The number of slabs, which are in the directory. */
	uint32		batch_count;		/* The number of batches, which follow the slabs' ranges. */

	/*
	 * Ranges below this have a signature or are just being summarized.  It is at most one more than
	 * the number of ranges with a signature.
	 */
	uint32		claimed;

	/* 1 if a row came into the range that is being summarized, else 0. */
	uint8		spoiled;

	/* 1 if the first batch is being made a slab, else 0. */
	uint8		merging;
	uint16		nfree;
	uint32		ndirectory;		/* The number of pages of the directory. */
	SignatureBatch batches[SIGNATURE_BATCHES];
	SignatureExtent free[SIGNATURE_FREE_EXTENTS];	/* In the order of blocks. */

	/* The directory's pages; each has SIGNATURE_ENTRIES slabs. */
	BlockNumber directory[FLEXIBLE_ARRAY_MEMBER];
} SignatureMeta;

static inline SignatureMeta *
signature_meta(Page page)
{
	return (SignatureMeta *) signature_body(page);
}

/* Returns the number of ranges that have a signature: all below that number have one. */
static inline uint32
signature_summarized(const SignatureMeta *meta)
{
	uint32		n = meta->nslabs * SIGNATURE_WIDTH;
	uint32		i;

	for (i = 0; i < meta->batch_count; i++)
		n += meta->batches[i].count;
	return n;
}

/* Returns whether the batch with this number still has this id: it has not become a slab. */
static inline bool
signature_has_batch(const SignatureMeta *meta, uint32 number, uint64 id)
{
	return number < meta->batch_count && meta->batches[number].group.id == id;
}

static inline BfSignatureShape
signature_shape(const SignatureMeta *meta, const SignatureGroup *group)
{
	BfSignatureShape shape = {group->blocks, meta->bits};

	return shape;
}

/* The number of pages that a batch or slab whose signatures have this many blocks takes. */
static inline uint32
signature_batch_pages(uint32 blocks)
{
	return (uint32) (((uint64) blocks * SIGNATURE_WIDTH + SIGNATURE_SLOTS - 1) / SIGNATURE_SLOTS);
}

static inline uint32
signature_slab_pages(uint32 blocks)
{
	return (blocks + SIGNATURE_PER_PAGE - 1) / SIGNATURE_PER_PAGE;
}

/*
 * The page of a batch or slab, and the slot there, in which the i-th range's signature has a block.
 * In a slab the ranges' slots for one block lie next to each other.
 */
static inline uint32
signature_batch_place(const SignatureGroup *group, uint32 i, uint32 block, uint32 *slot)
{
	uint64		place = (uint64) i * group->blocks + block;

	*slot = (uint32) (place % SIGNATURE_SLOTS);
	return (uint32) (place / SIGNATURE_SLOTS);
}

static inline uint32
signature_slab_place(uint32 i, uint32 block, uint32 *slot)
{
	*slot = block % SIGNATURE_PER_PAGE * SIGNATURE_WIDTH + i;
	return block / SIGNATURE_PER_PAGE;
}

/*
 * The heavyweight page lock that all share who summarize ranges: its holder is the only one who
 * writes to "claimed", "merging" and "redone", except that an insert lowers them.
 */
extern void bloomfam_signature_lock(Relation index);
extern bool bloomfam_signature_trylock(Relation index);
extern void bloomfam_signature_unlock(Relation index);

/* Initializes the metapage of an index without signatures, in memory. */
extern void bloomfam_signature_meta_init(Page page, uint32 pages_per_range, uint32 ngram,
										 double bits_per_key, uint64 rules);

/* Copies the metapage, and checks all of it.  Raises an error if it is not a valid metapage. */
extern SignatureMeta *bloomfam_signature_meta_read(Relation index);

/*
 * A change of the metapage, and of one page of the directory if there is one, which is atomic and
 * logged.  The caller edits *meta and *slab between begin and commit.  An error between the two
 * undoes the change.
 */
typedef struct SignatureChange
{
	GenericXLogState *xlog;
	Buffer		buffer;
	Buffer		directory;		/* InvalidBuffer if no page of the directory is changed. */
	SignatureMeta *meta;		/* NULL if only the directory is changed. */
	SignatureGroup *slab;		/* The slab's entry; NULL if no page of the directory is changed. */
} SignatureChange;

extern void bloomfam_signature_change_begin(Relation index, SignatureChange *change);
extern void bloomfam_signature_change_commit(SignatureChange *change);
extern void bloomfam_signature_change_abandon(SignatureChange *change);

/*
 * Adds the entry of a slab to a change of the metapage, or begins a change of that entry alone.
 * "meta" is a copy that has the directory's page.
 */
extern void bloomfam_signature_change_add_slab(Relation index, SignatureChange *change,
											   const SignatureMeta *meta, uint32 slab);
extern void bloomfam_signature_change_slab(Relation index, SignatureChange *change,
										   const SignatureMeta *meta, uint32 slab);

/* Copies the entries of the slabs from "first" on that are on one page; returns their number. */
extern uint32 bloomfam_signature_slabs_read(Relation index, const SignatureMeta *meta,
											uint32 first, SignatureGroup *slabs);

/* Reserves blocks: of a free extent, or else at the file's end.  Changes *meta in memory. */
extern BlockNumber bloomfam_signature_allocate(SignatureMeta *meta, uint32 length);

/* Makes blocks free.  They may be written to at once.  Changes *meta in memory. */
extern void bloomfam_signature_free(SignatureMeta *meta, BlockNumber start, uint32 length);

#endif							/* BLOOMFAM_SIGNATURE_META_H */
