/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_static.c
 *	  The frame of the kinds whose filters are built at once; see bf_static.h for the layout.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_static.h"

#include "bf_format.h"

#include <math.h>

/* The number of hashes that are read from the source at a time. */
#define CHUNK	((uint64_t) 1 << 16)

/*
 * Returns the number of bytes that a shard's list of stragglers (keys that its table could not
 * take) occupies, together with the bitmap (gate) that spares most keys a search of the list; there
 * is a gate only beside a table.
 */
static uint64_t
list_len(unsigned width, uint32_t stragglers, bool with_table)
{
	return bf_packed_len(stragglers, bf_static_list_bits(width, stragglers, with_table)) +
		(with_table ? (uint64_t) stragglers * BF_STATIC_GATE : 0);
}

static uint64_t
shards_for(uint64_t keys)
{
	return keys / BF_SHARD_KEYS + (keys % BF_SHARD_KEYS != 0);
}

unsigned
bf_static_width(double fpr)
{
	unsigned	width = 1;

	while (width < BF_STATIC_MAX_WIDTH && ldexp(1, -(int) width) > fpr)
		width++;
	return width;
}

uint64_t
bf_static_size(const BfDesign *design, uint64_t keys,
			   uint64_t (*table_len)(const uint32_t *param, uint64_t n))
{
	uint64_t	shards = shards_for(keys);
	uint64_t	n;
	uint64_t	each;

	/* As each key takes at least a bit, this many keys do not fit a value. */
	if (keys / 8 > BF_MAX_VALUE_SIZE)
		return UINT64_MAX;
	if (keys == 0)
		return BF_STATIC_PADDING;
	n = (keys + shards - 1) / shards;
	each = BF_MIN(table_len(design->param, n),
				  list_len(design->param[BF_STATIC_WIDTH], (uint32_t) n, false));
	return shards * (BF_STATIC_ENTRY + each) + BF_STATIC_PADDING;
}

const char *
bf_static_check(const BfHeader *head)
{
	if (head->param[BF_STATIC_WIDTH] < 1 || head->param[BF_STATIC_WIDTH] > BF_STATIC_MAX_WIDTH)
		return "the width of fingerprints is out of range";
	if (head->payload_len <
		(uint64_t) head->param[BF_STATIC_SHARDS] * BF_STATIC_ENTRY + BF_STATIC_PADDING)
		return "the payload is shorter than its directory";
	/*
	 * A filter without shards must be empty.  A filter whose size was planned, but which was not
	 * built, has no shards either.
	 */
	if (head->param[BF_STATIC_SHARDS] == 0 && head->keys_added != 0)
		return "a filter without shards holds keys";
	return NULL;
}

/* ---- building a filter shard by shard ---- */

/* Hashes that have been read from a source: those of one shard, and some of the next shards. */
typedef struct Input
{
	BfSource   *source;
	uint64_t   *hashes;
	uint64_t	n;				/* The number of hashes in the array. */

	/*
	 * The number of hashes that the array has room for; grows only if a shard has more keys than
	 * chance can give it.
	 */
	uint64_t	room;
} Input;

static inline uint64_t
shard_of(uint64_t hash, uint64_t shards)
{
	return bf_cell(bf_order(hash), shards);
}

/* Enlarges the array so that another chunk of hashes fits. */
static void
grow_input(const BfPort *port, Input *input)
{
	uint64_t   *larger = bf_alloc(port, (input->room * 2 + CHUNK) * sizeof(uint64_t));

	memcpy(larger, input->hashes, input->n * sizeof(uint64_t));
	bf_release(port, input->hashes);
	input->hashes = larger;
	input->room = input->room * 2 + CHUNK;
}

/*
 * Reads from the source until all hashes of a shard are in the array, and returns how many of them
 * there are.
 */
static uint64_t
read_shard(const BfPort *port, Input *input, uint64_t shard, uint64_t shards)
{
	uint64_t	low = 0;
	uint64_t	high;

	while (input->n == 0 || shard_of(input->hashes[input->n - 1], shards) == shard)
	{
		size_t		got;

		low = input->n;
		if (input->room - input->n < CHUNK)
			grow_input(port, input);
		got = input->source->read(input->source, input->hashes + input->n, CHUNK);
		if (got == 0)
			return input->n;
		input->n += got;
		bf_check_interrupts(port);
	}

	/*
	 * The hashes before low belong to the shard, the last one does not: find the border by
	 * bisection.
	 */
	high = input->n - 1;
	while (low < high)
	{
		uint64_t	middle = (low + high) / 2;

		if (shard_of(input->hashes[middle], shards) <= shard)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
drop_shard(Input *input, uint64_t n)
{
	memmove(input->hashes, input->hashes + n, (input->n - n) * sizeof(uint64_t));
	input->n -= n;
}

/*
 * Writes a list of stragglers: those of n keys that are marked, and after the list the gate, a
 * bitmap that spares most probes a search of the list.  If marked is NULL, writes the list of all n
 * keys, without a gate.
 */
static void
write_list(uint8_t *out, unsigned width, const uint64_t *hashes, uint32_t n, uint64_t shards,
		   const uint8_t *marked, uint32_t stragglers)
{
	unsigned	bits = bf_static_list_bits(width, stragglers, marked != NULL);
	unsigned	drop = 64 - bits;
	uint64_t	gate_bits = (uint64_t) stragglers * BF_STATIC_GATE * 8;
	uint8_t    *gate = out + bf_packed_len(stragglers, bits);
	uint32_t	listed = 0;
	uint32_t	i;

	for (i = 0; i < n; i++)
		if (marked == NULL || marked[i])
		{
			uint64_t	place = bf_static_place(hashes[i], shards);

			bf_packed_put(out, listed++, bits, place >> drop);
			if (marked != NULL)
			{
				uint64_t	bit = bf_cell(place, gate_bits);

				gate[bit >> 3] |= (uint8_t) (1 << (bit & 7));
			}
		}
}

/*
 * Appends a shard to the payload, with its table if the solver has run and the table saves space.
 * Returns false if the value would become too large.
 */
static bool
append_shard(BfSink *sink, uint64_t shard, const BfShardBuild *build, bool with_table)
{
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	uint64_t	at = sink->len - BF_STATIC_PADDING;
	uint32_t	stragglers = build->n;
	uint64_t	before;
	uint64_t	more;
	uint8_t    *entry;
	uint32_t	i;

	if (with_table)
	{
		for (stragglers = 0, i = 0; i < build->n; i++)
			stragglers += build->straggler[i];
		with_table =
			build->table_len + list_len(width, stragglers, true) < list_len(width, build->n, false);
		if (!with_table)
			stragglers = build->n;
	}
	before = list_len(width, stragglers, with_table);
	more = before + (with_table ? build->table_len : 0);
	if (sink->len + more > BF_MAX_VALUE_SIZE - BF_MAX_HEADER_SIZE)
		return false;
	if (more > 0)
		sink->extend(sink, more);

	/*
	 * Write the list before the table: the last 8-byte store of the list reaches beyond its end,
	 * though not beyond the payload's padding.
	 */
	write_list(sink->bytes + at, width, build->hashes, build->n, build->shards,
			   with_table ? build->straggler : NULL, stragglers);
	if (with_table)
		memcpy(sink->bytes + at + before, build->table, build->table_len);
	entry = sink->bytes + shard * BF_STATIC_ENTRY;
	bf_store64(entry, at + before);
	bf_store32(entry + 8, with_table ? build->geometry : 0);
	bf_store32(entry + 12, stragglers);
	return true;
}

BfStatus
bf_static_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink,
				const BfStaticKind *kind)
{
	uint64_t shards =
		head->param[BF_STATIC_SHARDS] != 0 ? head->param[BF_STATIC_SHARDS] : shards_for(source->n);
	uint32_t	most = (uint32_t) BF_MIN(source->n, BF_SHARD_MAX_KEYS);
	Input		input = {.source = source};
	BfShardBuild build;
	BfStatus	status = BF_OK;
	uint64_t	room;
	uint64_t	shard;

	if (source->n / 8 > BF_MAX_VALUE_SIZE)
		return BF_TOO_LARGE;
	head->capacity = BF_MAX(source->n, 1);
	head->param[BF_STATIC_SHARDS] = source->n > 0 ? (uint32_t) shards : 0;
	sink->extend(sink, head->param[BF_STATIC_SHARDS] * BF_STATIC_ENTRY + BF_STATIC_PADDING);
	head->payload_len = sink->len;
	if (source->n == 0)
		return BF_OK;

	room = kind->max_table_len(head, most) + 8;
	input.room = most + CHUNK;
	input.hashes = bf_alloc(port, input.room * sizeof(uint64_t));
	memset(&build, 0, sizeof(build));
	build.head = head;
	build.shards = (uint32_t) shards;
	build.scratch = bf_alloc(port, kind->scratch_len(head, most));
	build.straggler = bf_alloc(port, most);
	build.table = bf_alloc(port, room);

	for (shard = 0; shard < shards && status == BF_OK; shard++)
	{
		uint64_t	n = read_shard(port, &input, shard, shards);

		bf_check_interrupts(port);
		build.hashes = input.hashes;
		build.n = (uint32_t) n;
		/*
		 * A shard with more keys than chance would give it is not passed to the solver: it gets no
		 * table, and all its keys are in its list of stragglers.
		 */
		if (n > 0 && n <= most)
		{
			memset(build.straggler, 0, n);
			memset(build.table, 0, room);
			kind->solve(port, &build);
		}
		if (!append_shard(sink, shard, &build, n > 0 && n <= most))
			status = BF_TOO_LARGE;
		drop_shard(&input, n);
	}
	head->payload_len = sink->len;

	bf_release(port, build.table);
	bf_release(port, build.straggler);
	bf_release(port, build.scratch);
	bf_release(port, input.hashes);
	return status;
}

/* ---- reading a filter ---- */

/*
 * Finds a shard's list of stragglers and the number of bits of its entries; returns false if the
 * list does not lie within the payload.
 */
static bool
find_list(const BfView *view, const BfShard *shard, const uint8_t **list, unsigned *bits)
{
	unsigned	width = view->head.param[BF_STATIC_WIDTH];
	bool		with_table = shard->geometry != 0;
	uint64_t	len = list_len(width, shard->stragglers, with_table);

	*bits = bf_static_list_bits(width, shard->stragglers, with_table);
	*list = shard->table - BF_MIN(len, shard->before);
	return len <= shard->before;
}

bool
bf_static_probe_none(const BfView *view, uint64_t hash)
{
	(void) view;
	(void) hash;
	return false;
}

/*
 * Searches a shard's list by bisection for the place in *shard, and returns whether it is there.  A
 * list that does not lie within the payload is taken to hold every key.  No branch depends on the
 * comparisons, so that the processor can meanwhile go on with other keys: nearly all keys that are
 * searched for are not found.
 */
bool
bf_static_search(const BfView *view, const BfShard *shard)
{
	const uint8_t *list;
	unsigned	bits;
	uint64_t	wanted;
	uint32_t	first = 0;
	uint32_t	n = shard->stragglers;

	if (!find_list(view, shard, &list, &bits))
		return true;
	wanted = shard->place >> (64 - bits);
	for (; n > 1; n -= n / 2)
		first += n / 2 & -(uint32_t) (bf_packed_get(list, first + n / 2 - 1, bits) < wanted);
	return bf_packed_get(list, first, bits) == wanted;
}

/*
 * Checks that a shard's list is ascending, with zeros in its padding, and that the gate has a bit
 * for each entry and no others.  The list has only the high bits of a place, which may not tell
 * which of some neighbouring bits of the gate belongs to the entry: then any of them is accepted.
 * Returns NULL, or what is wrong.
 */
static const char *
validate_list(const BfView *view, const BfShard *shard)
{
	const uint8_t *list;
	unsigned	bits;
	uint64_t	gate_len = shard->geometry != 0 ? (uint64_t) shard->stragglers * BF_STATIC_GATE : 0;
	const uint8_t *gate = shard->table - gate_len;
	/*
	 * The first bit of the gate (the bitmap beside the list of stragglers) that has not been
	 * counted yet.
	 */
	uint64_t	next_bit = 0;
	uint64_t	last = 0;
	uint64_t	set = 0;
	uint64_t	i;

	find_list(view, shard, &list, &bits);
	if (!bf_packed_padding_ok(list, shard->stragglers, bits))
		return "the padding of a list of stragglers is not zero";
	for (i = 0; i < shard->stragglers; i++)
	{
		uint64_t	value = bf_packed_get(list, i, bits);
		uint64_t	bit = bf_cell(value << (64 - bits), gate_len * 8);
		uint64_t	highest = bf_cell(value << (64 - bits) | UINT64_MAX >> bits, gate_len * 8);
		bool		found = gate_len == 0;

		if (value < last)
			return "a list of stragglers is not sorted";
		last = value;
		for (; gate_len > 0 && bit <= highest; bit++)
			if (gate[bit >> 3] >> (bit & 7) & 1)
			{
				found = true;
				set += bit >= next_bit;
				next_bit = BF_MAX(next_bit, bit + 1);
			}
		if (!found)
			return "the gate of a list of stragglers does not match it";
	}
	for (i = 0; i < gate_len; i++)
		set -= (unsigned) __builtin_popcount(gate[i]);
	return set == 0 ? NULL : "the gate of a list of stragglers does not match it";
}

/* Fills in *shard from an entry in the directory that has been found to be valid. */
static void
shard_at(const BfView *view, uint64_t i, BfShard *shard)
{
	const uint8_t *entry = view->payload + i * BF_STATIC_ENTRY;

	shard->before = bf_load64(entry);
	shard->table = view->payload + shard->before;
	shard->after = view->head.payload_len - BF_STATIC_PADDING - shard->before;
	shard->geometry = bf_load32(entry + 8);
	shard->stragglers = bf_load32(entry + 12);
	shard->place = 0;
}

const char *
bf_static_validate(const BfPort *port, const BfView *view, const BfStaticKind *kind)
{
	uint64_t	end = view->head.payload_len - BF_STATIC_PADDING;
	uint64_t	at = (uint64_t) view->head.param[BF_STATIC_SHARDS] * BF_STATIC_ENTRY;
	uint64_t	i;

	for (i = 0; i < view->head.param[BF_STATIC_SHARDS]; i++)
	{
		unsigned	width = view->head.param[BF_STATIC_WIDTH];
		const uint8_t *entry = view->payload + i * BF_STATIC_ENTRY;
		uint64_t	before = list_len(width, bf_load32(entry + 12), bf_load32(entry + 8) != 0);
		uint64_t	table_len = 0;
		const char *reason;
		BfShard		shard;

		if (before > end - at || bf_load64(entry) != at + before)
			return "the directory of shards is not in order";
		shard_at(view, i, &shard);
		if ((reason = validate_list(view, &shard)) != NULL)
			return reason;
		if (shard.geometry != 0 &&
			(reason = kind->validate(&view->head, shard.geometry, shard.table, shard.after,
									 &table_len)) != NULL)
			return reason;
		at += before + table_len;
		bf_check_interrupts(port);
	}
	if (at != end || bf_load64(view->payload + end) != 0)
		return "the payload does not end with its last shard";
	return NULL;
}

double
bf_static_fpr(const BfHeader *head, uint32_t geometry)
{
	(void) geometry;
	return ldexp(1, -(int) head->param[BF_STATIC_WIDTH]);
}

void
bf_static_stats(const BfPort *port, const BfView										  *view,
				double (*table_fpr)(const BfHeader *head, uint32_t geometry), BfStats *stats)
{
	uint32_t	shards = view->head.param[BF_STATIC_SHARDS];
	uint32_t	i;

	stats->bits = view->head.payload_len * 8;
	stats->keys = shards > 0 ? (double) view->head.capacity : 0;
	for (i = 0; i < shards; i++)
	{
		const uint8_t *entry = view->payload + (uint64_t) i * BF_STATIC_ENTRY;
		uint32_t	stragglers = bf_load32(entry + 12);
		uint32_t	geometry = bf_load32(entry + 8);
		unsigned	   bits =
			bf_static_list_bits(view->head.param[BF_STATIC_WIDTH], stragglers, geometry != 0);

		stats->fpr += ((geometry != 0 ? table_fpr(&view->head, geometry) : 0) +
					   ldexp(stragglers, -(int) bits)) /
					  shards;
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
}
