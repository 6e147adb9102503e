/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_scalable.c
 *	  A filter that grows: a series of Bloom filters, each larger than the one before; the last one
 *	  takes new keys.
 *
 * The members of the series are called stages.  A stage is a filter of another kind: "blocked" if
 * that kind can have the stage's FPR, otherwise "standard".  Stages are used through the registry
 * of kinds only, and all are probed with the same hash.  A key is contained if any stage contains
 * it, so the FPR is at most the sum of the stages' FPRs.  To bound that sum for any number of keys,
 * each stage gets a share of the target FPR, in the mean over sets of keys, and the shares add up
 * to 1:
 *
 *		5/8, and then 3/8 * 1/4 * (3/4)^(i - 1) for i = 1, 2, ...
 *
 * The first share is the largest, so that a filter which gets no more keys than it was made for
 * costs little: 11 bits per key at 1 %, where "blocked" has 9.9.  Each further stage is made for 4
 * times the keys of the one before.  A larger factor would leave more of the last stage empty; a
 * smaller one would make more stages, with smaller shares and longer probes.  Not knowing the
 * number of keys has a price in any filter, about log2(log2(n)) bits a key (Pagh, Segev, Wieder
 * 2013); folding gives back what the last stage does not use.
 *
 * The newest stage is probed first: it is the largest, and holds three of four keys when it is well
 * filled.
 *
 * A key that the filter contains already is not added again, so repeated keys take no space.  That
 * is safe, because no stage ever loses a key: folding and uniting only set bits.  A stage is full
 * when its FPR, measured from its bits, comes near its share.  Measuring means reading the whole
 * stage.  So a stage is measured for the first time when it has taken as many new keys as it was
 * made for, and then again when the room that was found should be used up.
 *
 * Payload: an entry of 64 bytes for each stage, then the stages without gaps.  The blocked ones
 * come first and consist of whole blocks of 64 bytes.
 *
 *		offset	size
 *		0		8		where the stage begins, from the end of the entries
 *		8		8		its length
 *		16		8		number of keys that it was made for
 *		24		8		its FPR with that many keys, IEEE 754
 *		32		4		kind
 *		36		4		k
 *		40		8		countdown: how many more keys it takes before it is measured
 *		48		16		0
 *
 *		param[0]	number of stages
 *		param[1]	k of the first stage; 0: folded.  A folded filter does not grow, since its FPR
 *					is used up, and does not unite
 *		param[2,3]	once there is a second stage: the number of keys that the first was made for,
 *					low and high half
 *
 * Almeida, Baquero, Preguica, Hutchison 2007, "Scalable Bloom filters"; on the choice of the shares
 * Apple 2022, "Stretching your data with Taffy filters".
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_format.h"

#include <float.h>
#include <math.h>

#define ENTRY_BYTES		64
#define OFF_BEGIN		0
#define OFF_LENGTH		8
#define OFF_CAPACITY	16
#define OFF_FPR			24
#define OFF_KIND		32
#define OFF_PROBES		36
#define OFF_COUNTDOWN	40
#define OFF_RESERVED	48

/*
 * The most stages that a filter may have.  A filter that grows from one key to the largest size of
 * a value has fewer.
 */
#define MAX_STAGES		16

#define GROWTH			4

/*
 * The least number of keys that a second stage is made for.  The entry of a smaller stage would be
 * larger than its bits.
 */
#define MIN_GROWN_KEYS	256

/*
 * A stage is full if it has room for less than this fraction (1/LITTLE_ROOM) of the keys that it
 * was made for.
 */
#define LITTLE_ROOM		128

/* The number of keys that probe_many() takes through all stages together. */
#define CHUNK			256

static double
load_double(const uint8_t *p)
{
	uint64_t	bits = bf_load64(p);
	double		d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static void
store_double(uint8_t *p, double d)
{
	uint64_t	bits;

	memcpy(&bits, &d, sizeof(bits));
	bf_store64(p, bits);
}

/* ---- the stages of a filter ---- */

static inline unsigned
stages_of(const BfHeader *head)
{
	return head->param[0];
}

static inline bool
is_folded(const BfHeader *head)
{
	return head->param[1] == 0;
}

/* Returns how many keys the first stage of a filter that is not folded was made for. */
static uint64_t
first_capacity(const BfHeader *head)
{
	return stages_of(head) == 1 ? head->capacity : (uint64_t) head->param[3] << 32 | head->param[2];
}

/*
 * Returns the share of the filter's FPR that stage i may have.  It is exact, except for the last
 * rounding.
 */
static double
share(unsigned i)
{
	double		part = 3.0 / 32;

	if (i == 0)
		return 5.0 / 8;
	while (--i > 0)
		part *= 3.0 / 4;
	return part;
}

static const BfKind *
stage_kind(double fpr)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);

	while (fpr < kind->min_fpr && kind->better_kind != NULL)
		kind = bf_kind_by_name(kind->better_kind);
	return kind;
}

/* Fills in the header of an empty stage. */
static BfStatus
plan_stage(double fpr, uint64_t keys, BfHeader *head)
{
	BfDesign	design;
	BfStatus	status = bf_design(stage_kind(fpr), fpr, &design);

	return status == BF_OK ? bf_plan(&design, keys, head) : status;
}

/*
 * Opens stage i of a filter; returns false if its entry is not valid.  Callers must then assume
 * that the stage contains every key: bytes that have not been validated may give false positives,
 * but no false negatives.
 */
static bool
open_stage(const BfHeader *head, const uint8_t *payload, unsigned i, BfView *stage)
{
	const uint8_t *entry = payload + i * ENTRY_BYTES;
	uint64_t	room = head->payload_len - (uint64_t) stages_of(head) * ENTRY_BYTES;
	uint64_t	begin = bf_load64(entry + OFF_BEGIN);
	uint64_t	length = bf_load64(entry + OFF_LENGTH);
	uint32_t	kind = bf_load32(entry + OFF_KIND);

	if ((kind != BF_KIND_BLOCKED && kind != BF_KIND_STANDARD) || begin > room ||
		length > room - begin)
		return false;
	/*
	 * Set each field separately: this code runs in each probe, and clearing the whole struct first
	 * would take as long as all the rest.
	 */
	stage->head.kind = bf_kind_by_id(kind);
	stage->head.hash_id = head->hash_id;
	stage->head.family_id = 0;
	stage->head.capacity = bf_load64(entry + OFF_CAPACITY);
	stage->head.keys_added = 0;
	stage->head.target_fpr = load_double(entry + OFF_FPR);
	stage->head.payload_len = length;
	stage->head.param[0] = bf_load32(entry + OFF_PROBES);
	stage->head.param[1] = stage->head.param[2] = stage->head.param[3] = 0;
	stage->head.family_len = 0;
	stage->head.family = NULL;
	stage->payload = payload + (uint64_t) stages_of(head) * ENTRY_BYTES + begin;
	return stage->head.kind->check(&stage->head) == NULL;
}

/*
 * Returns the payload of a stage, for writing.  The stage must be one that open_stage() can open.
 */
static uint8_t *
stage_payload(const BfHeader *head, uint8_t *payload, unsigned i)
{
	return payload + (uint64_t) stages_of(head) * ENTRY_BYTES +
		   bf_load64(payload + i * ENTRY_BYTES + OFF_BEGIN);
}

static void
write_entry(uint8_t *entry, const BfHeader *stage, uint64_t begin, uint64_t countdown)
{
	bf_store64(entry + OFF_BEGIN, begin);
	bf_store64(entry + OFF_LENGTH, stage->payload_len);
	bf_store64(entry + OFF_CAPACITY, stage->capacity);
	store_double(entry + OFF_FPR, stage->target_fpr);
	bf_store32(entry + OFF_KIND, stage->kind->id);
	bf_store32(entry + OFF_PROBES, stage->param[0]);
	bf_store64(entry + OFF_COUNTDOWN, countdown);
}

/* ---- design of a scalable filter ---- */

static void
scalable_design(BfDesign *design)
{
	double		fpr = design->fpr * share(0);
	BfDesign	stage;

	if (bf_design(stage_kind(fpr), fpr, &stage) != BF_OK)
		/* bf_design() cannot fail here, as fpr is at least the kind's min_fpr. */
		return;
	design->millibits = stage.millibits;
	design->expected_fpr = stage.expected_fpr;
	design->param[0] = 1;
	design->param[1] = stage.param[0];
}

static uint64_t
scalable_size(const BfDesign *design, uint64_t keys)
{
	double		fpr = design->fpr * share(0);
	BfDesign	stage = {.kind = stage_kind(fpr),
						 .fpr = fpr,
						 .millibits = design->millibits,
						 .param = {design->param[1]}};
	uint64_t	size = stage.kind->size(&stage, keys);

	return size > BF_MAX_VALUE_SIZE ? UINT64_MAX : size + ENTRY_BYTES;
}

static void
scalable_init(const BfHeader *head, uint8_t *payload)
{
	double		fpr = head->target_fpr * share(0);
	BfHeader	stage = {.kind = stage_kind(fpr),
						 .capacity = head->capacity,
						 .target_fpr = fpr,
						 .param = {head->param[1]}};

	/*
	 * The payload of a filter with several stages, or of one that was folded, is written by the
	 * caller; here only a new filter's single stage is set up.
	 */
	if (stages_of(head) != 1 || is_folded(head))
		return;
	stage.payload_len = head->payload_len - ENTRY_BYTES;
	write_entry(payload, &stage, 0, stage.capacity);
	bf_init(&stage, payload + ENTRY_BYTES);
}

static const char *
scalable_check(const BfHeader *head)
{
	uint64_t	first = (uint64_t) head->param[3] << 32 | head->param[2];

	if (stages_of(head) < 1 || stages_of(head) > MAX_STAGES)
		return "the number of stages is out of range";
	if (head->payload_len <= (uint64_t) stages_of(head) * ENTRY_BYTES)
		return "the payload has no room for its stages";
	if (stages_of(head) == 1 || is_folded(head) ? first != 0
												: first == 0 || first >= head->capacity)
		return "the first stage's capacity is out of range";
	return NULL;
}

static const char *
scalable_validate(const BfPort *port, const BfView *view)
{
	const BfHeader *head = &view->head;
	uint64_t	end = 0;
	uint64_t	capacity = 0;
	unsigned	i;
	unsigned	at;

	for (i = 0; i < stages_of(head); i++)
	{
		const uint8_t *entry = view->payload + i * ENTRY_BYTES;
		const char *wrong = NULL;
		BfView		stage;

		if (!open_stage(head, view->payload, i, &stage) || bf_load64(entry + OFF_BEGIN) != end)
			return "a stage's entry is broken";
		for (at = OFF_RESERVED; at < ENTRY_BYTES; at++)
			if (entry[at] != 0)
				return "reserved fields of a stage's entry are not zero";
		if (stage.head.capacity == 0 || stage.head.capacity > INT64_MAX - capacity ||
			bf_load64(entry + OFF_COUNTDOWN) > stage.head.capacity)
			return "a stage's capacity is out of range";
		/* The comparison is written so that an FPR that is NaN is refused. */
		if (!(stage.head.target_fpr > 0 && stage.head.target_fpr < 1))
			return "a stage's false positive rate is not between 0 and 1";
		if (!is_folded(head) && (stage.head.target_fpr != head->target_fpr * share(i) ||
								 stage.head.kind != stage_kind(stage.head.target_fpr)))
			return "a stage's false positive rate is not its share";
		if (i == 0 && !is_folded(head) &&
			(stage.head.capacity != first_capacity(head) || stage.head.param[0] != head->param[1]))
			return "the first stage is not what the header says";
		if (stage.head.kind->validate != NULL)
			wrong = stage.head.kind->validate(port, &stage);
		if (wrong != NULL)
			return wrong;
		end += stage.head.payload_len;
		capacity += stage.head.capacity;
	}
	if (end != head->payload_len - (uint64_t) stages_of(head) * ENTRY_BYTES)
		return "the stages are not as long as the payload";
	if (!is_folded(head) && capacity != head->capacity)
		return "the stages' capacities do not add up to the filter's";
	return NULL;
}

/* ---- probing a scalable filter ---- */

static bool
scalable_probe(const BfView *view, uint64_t hash)
{
	unsigned	i = stages_of(&view->head);

	while (i-- > 0)
	{
		BfView		stage;

		if (!open_stage(&view->head, view->payload, i, &stage) ||
			stage.head.kind->prober(&stage)(&stage, hash))
			return true;
	}
	return false;
}

static BfProbe
scalable_prober(const BfView *view)
{
	(void) view;
	return scalable_probe;
}

/* Probes the first n stages of a filter for up to CHUNK hashes, the last of these stages first. */
static void
probe_stages(const BfHeader *head, const uint8_t *payload, unsigned n, const uint64_t *hashes,
			 size_t count, bool *result)
{
	uint64_t	left[CHUNK];	/* The hashes that no stage so far contains. */
	uint16_t	where[CHUNK];	/* The index in result[] of each hash in left[]. */
	bool		found[CHUNK];
	size_t		j;

	for (j = 0; j < count; j++)
	{
		result[j] = false;
		left[j] = hashes[j];
		where[j] = (uint16_t) j;
	}
	while (n-- > 0)
	{
		BfView		stage;
		size_t		kept = 0;

		if (open_stage(head, payload, n, &stage))
			stage.head.kind->probe_many(&stage, left, count, found);
		else
			memset(found, true, count);
		for (j = 0; j < count; j++)
		{
			result[where[j]] = found[j];
			left[kept] = left[j];
			where[kept] = where[j];
			kept += !found[j];
		}
		count = kept;
	}
}

static void
scalable_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	while (n > 0)
	{
		size_t		chunk = BF_MIN(n, CHUNK);

		probe_stages(&view->head, view->payload, stages_of(&view->head), hashes, chunk, result);
		hashes += chunk;
		result += chunk;
		n -= chunk;
	}
}

/* ---- adding keys, and growing ---- */

/*
 * Estimates from a stage's set bits how many more keys it can take before it should be measured
 * again; returns 0 if it is full.
 *
 * This relies on the FPR growing at most as the k-th power of the number of keys.
 */
static uint64_t
room_left(const BfView *stage)
{
	BfStats		stats;
	double		room;

	bf_stats(NULL, stage, &stats);
	if (stats.bits_set == 0)
		return BF_MAX(stage->head.capacity, 1);
	room = stats.keys * (pow(stage->head.target_fpr / stats.fpr, 1.0 / stats.hashes) - 1);
	/* The comparison is written so that a room that is NaN means a full stage. */
	if (!(room >= 1 && room > (double) stage->head.capacity / LITTLE_ROOM))
		return 0;
	return room < (double) stage->head.capacity ? (uint64_t) room : stage->head.capacity;
}

static size_t
scalable_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	unsigned	newest = stages_of(head) - 1;
	uint8_t    *entry = payload + newest * ENTRY_BYTES;
	uint64_t	countdown = bf_load64(entry + OFF_COUNTDOWN);
	BfView		stage;
	BfProbe		probe;
	uint8_t    *to;
	size_t		done = 0;

	if (!open_stage(head, payload, newest, &stage))
		return 0;
	probe = stage.head.kind->prober(&stage);
	to = stage_payload(head, payload, newest);
	while (done < n)
	{
		size_t		batch = BF_MIN(n - done, BF_BATCH);
		bool		known[BF_BATCH];
		size_t		j;

		probe_stages(head, payload, newest + 1, hashes + done, batch, known);
		for (j = 0; j < batch; j++)
		{
			uint64_t	hash = hashes[done + j];

			/*
			 * The newest stage is probed again, because it may contain keys that were added in this
			 * batch.
			 */
			if (known[j] || probe(&stage, hash))
				continue;
			if (countdown == 0 && (countdown = room_left(&stage)) == 0)
				break;
			stage.head.kind->add(&stage.head, to, &hash, 1);
			countdown--;
		}
		done += j;
		if (j < batch)
			break;
	}
	bf_store64(entry + OFF_COUNTDOWN, countdown);
	return done;
}

static BfStatus
scalable_grow_plan(const BfView *view, BfHeader *head)
{
	unsigned	n = stages_of(&view->head);
	uint64_t	first = first_capacity(&view->head);
	BfView		newest;
	BfHeader	stage;
	uint64_t	keys;
	unsigned	i;

	*head = view->head;
	if (is_folded(head) || n == MAX_STAGES)
		return BF_FULL;
	/*
	 * A stage with invalid bytes counts as containing every key.  Refuse to grow such a filter,
	 * lest the stage become valid in the larger payload and give false negatives.
	 */
	for (i = 0; i < n; i++)
		if (!open_stage(head, view->payload, i, &newest))
			return BF_FULL;
	if (newest.head.capacity > BF_MAX_VALUE_SIZE * 8 || head->capacity > INT64_MAX / 2)
		return BF_TOO_LARGE;

	/* If a value has no room for a stage of the usual size, plan one for fewer keys. */
	for (keys = BF_MAX(newest.head.capacity * GROWTH, MIN_GROWN_KEYS);
		 keys > newest.head.capacity / GROWTH; keys /= 2)
	{
		BfStatus	status = plan_stage(head->target_fpr * share(n), keys, &stage);

		if (status == BF_OK)
		{
			head->payload_len = view->head.payload_len + ENTRY_BYTES + stage.payload_len;
			if (head->payload_len <= BF_MAX_VALUE_SIZE - BF_MAX_HEADER_SIZE)
			{
				head->capacity += keys;
				head->param[0] = n + 1;
				head->param[2] = (uint32_t) first;
				head->param[3] = (uint32_t) (first >> 32);
				return BF_OK;
			}
		}
		else if (status != BF_TOO_LARGE)
			return status;
	}
	return BF_TOO_LARGE;
}

static void
scalable_grow(const BfHeader *head, uint8_t *out, const BfView *view)
{
	unsigned	n = stages_of(&view->head);
	uint64_t	entries = (uint64_t) n * ENTRY_BYTES;
	uint64_t	end = view->head.payload_len - entries;
	uint8_t    *body = out + entries + ENTRY_BYTES;
	BfHeader	stage;

	/* No interrupts are checked: 1 GB, the most that a value has, takes less than a second. */
	memcpy(out, view->payload, entries);
	memcpy(body, view->payload + entries, end);
	/* plan_stage() cannot fail here, as scalable_grow_plan() has planned the same stage. */
	if (plan_stage(head->target_fpr * share(n), head->capacity - view->head.capacity, &stage) !=
		BF_OK)
		return;
	write_entry(out + entries, &stage, end, stage.capacity);
	bf_init(&stage, body + end);
}

/* ---- statistics of a scalable filter ---- */

/*
 * Fills in the statistics of all stages from at most the given part of each stage's bytes, but at
 * least a thousand bytes.
 */
static void
stats_of_stages(const BfPort *port, const BfView *view, double part, BfStats *stats)
{
	/* The probability that a key that was not added is found in no stage. */
	double		no = 1;
	/*
	 * The share of new keys that reached this stage, because they were not false positives of an
	 * earlier one.
	 */
	double		passed = 1;
	unsigned	i;

	stats->stages = stages_of(&view->head);
	for (i = 0; i < stats->stages; i++)
	{
		BfStats		own = {.fpr = 1};
		BfView		stage;

		if (open_stage(&view->head, view->payload, i, &stage))
			bf_stats_sampled(port, &stage,
							 BF_MAX((uint64_t) (part * (double) stage.head.payload_len), 1000),
							 &own);
		stats->bits += own.bits;
		stats->bits_set += own.bits_set;
		stats->hashes += own.hashes;
		stats->keys += own.keys / passed;
		no *= 1 - own.fpr;
		if (own.fpr < 0.9)
			passed *= 1 - fmin(own.fpr, stage.head.target_fpr);
	}
	stats->fpr = 1 - no;
	if (stats->bits > 0)
		stats->fill = (double) stats->bits_set / (double) stats->bits;
}

static void
scalable_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	stats_of_stages(port, view, 1, stats);
}

static void
scalable_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes, BfStats *stats)
{
	stats_of_stages(port, view, (double) max_bytes / (double) view->head.payload_len, stats);
}

/* ---- union of scalable filters ---- */

/*
 * Implements BfKind.combined_head.  A united stage holds the keys of both filters, and may be above
 * its share of the FPR: the target FPR bounds only that of a filter which grew by itself.  Such a
 * stage is full when it is measured, so keys that are added to the union go to later stages, and
 * cost no more than the shares of these stages.
 *
 * The sizes of all stages of a filter that is not folded follow from its FPR, from the capacity of
 * its first stage, and from the number of stages.  So if two filters agree in the FPR and the first
 * stage, the one with fewer stages has the same stages as the first ones of the other, and the
 * filters can be united stage by stage.  Filters that differ in the FPR or the first stage cannot
 * be united.
 *
 * This holds for filters that have grown by themselves.  Two values from outside may each be well
 * formed, and still differ in their stages: so their entries are compared, except for the
 * countdowns.
 */
static bool
scalable_combined_head(const BfView *a, const BfView *b, BfHeader *head)
{
	const BfView *larger = stages_of(&a->head) >= stages_of(&b->head) ? a : b;
	const BfView *smaller = larger == a ? b : a;
	unsigned	i;

	if (is_folded(&a->head) || is_folded(&b->head) || a->head.target_fpr != b->head.target_fpr ||
		first_capacity(&a->head) != first_capacity(&b->head) ||
		(stages_of(&a->head) == stages_of(&b->head) &&
		 a->head.payload_len != b->head.payload_len))
		return false;
	for (i = 0; i < stages_of(&smaller->head); i++)
		if (memcmp(larger->payload + i * ENTRY_BYTES, smaller->payload + i * ENTRY_BYTES,
				   OFF_COUNTDOWN) != 0)
			return false;
	*head = larger->head;
	return true;
}

/* The number of bytes that are compared between two checks for interrupts. */
#define COMPARED_BYTES	((uint64_t) 1024 * 1024)

static bool
same_bytes(const BfPort *port, const uint8_t *a, const uint8_t *b, uint64_t len)
{
	for (; len > COMPARED_BYTES; len -= COMPARED_BYTES)
	{
		if (memcmp(a, b, COMPARED_BYTES) != 0)
			return false;
		a += COMPARED_BYTES;
		b += COMPARED_BYTES;
		bf_check_interrupts(port);
	}
	return memcmp(a, b, len) == 0;
}

static bool
all_zero(const BfPort *port, const uint8_t *p, uint64_t len)
{
	/* All bytes are zero if the first one is, and each equals the next. */
	return len == 0 || (p[0] == 0 && same_bytes(port, p, p + 1, len - 1));
}

/*
 * Returns the countdown of a united stage.  If only one of the two stages holds keys, it is that
 * stage's countdown; if the bits of both are equal, the lower of the two; otherwise 0, that is, the
 * stage is measured before the next key.  Like the union of the bits this is commutative,
 * idempotent and associative, with empty stages as neutral elements.
 */
static uint64_t
united_countdown(const BfPort *port, uint64_t a, const uint8_t *a_bits, uint64_t b,
				 const uint8_t *b_bits, uint64_t len)
{
	if (same_bytes(port, a_bits, b_bits, len))
		return BF_MIN(a, b);
	if (all_zero(port, a_bits, len))
		return b;
	return all_zero(port, b_bits, len) ? a : 0;
}

static void
scalable_unite(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	unsigned	i;

	for (i = 0; i < stages_of(&view->head); i++)
	{
		const uint8_t *from_entry = view->payload + i * ENTRY_BYTES;
		uint8_t    *entry = out + i * ENTRY_BYTES;
		BfView		from;
		BfView		to;
		uint8_t    *bits;

		if (all_zero(port, entry, ENTRY_BYTES))
			memcpy(entry, from_entry, ENTRY_BYTES);
		if (memcmp(entry, from_entry, OFF_COUNTDOWN) != 0 ||
			!open_stage(&view->head, view->payload, i, &from) || !open_stage(head, out, i, &to))
		{
			/*
			 * An entry differs from what the headers promise: write an entry that cannot be opened,
			 * so that the united stage counts as containing every key.
			 */
			memset(entry, 0xff, ENTRY_BYTES);
			continue;
		}
		bits = stage_payload(head, out, i);
		bf_store64(entry + OFF_COUNTDOWN, united_countdown(port, bf_load64(entry + OFF_COUNTDOWN),
														   bits,
														   bf_load64(from_entry + OFF_COUNTDOWN),
														   from.payload, to.head.payload_len));
		to.head.kind->unite(port, &to.head, bits, &from);
		bf_check_interrupts(port);
	}
}

/* ---- folding a scalable filter ---- */

/* The plan of a fold: which of a scalable filter's stages are kept, and what they become. */
typedef struct FoldPlan
{
	BfView		from[MAX_STAGES];	/* The stages that are kept, in their order. */
	BfHeader	to[MAX_STAGES];
	unsigned	n;
	uint64_t	payload_len;
	double		keys;
} FoldPlan;

/*
 * Plans a fold.  Empty stages are dropped, and what the measured FPRs of the remaining stages leave
 * of fpr is spent on folding them.  The newest stage is folded first, as it is the largest and may
 * be far from full.  Returns false if the stages' FPRs exceed fpr already, or if a stage cannot be
 * opened.
 */
static bool
plan_fold(const BfPort *port, const BfView *view, double fpr, FoldPlan *plan)
{
	double		measured[MAX_STAGES];
	double		rest = fpr;
	BfStats		stats;
	unsigned	i;

	plan->n = 0;
	plan->keys = 0;
	for (i = 0; i < stages_of(&view->head); i++)
	{
		if (!open_stage(&view->head, view->payload, i, &plan->from[plan->n]))
			return false;
		bf_stats(port, &plan->from[plan->n], &stats);
		if (stats.bits_set == 0 && (plan->n > 0 || i + 1 < stages_of(&view->head)))
			continue;
		measured[plan->n++] = stats.fpr;
		plan->keys += stats.keys;
		rest -= stats.fpr;
	}
	if (!(rest >= 0))
		return false;

	plan->payload_len = (uint64_t) plan->n * ENTRY_BYTES;
	for (i = plan->n; i-- > 0;)
	{
		const BfView *from = &plan->from[i];
		BfHeader   *to = &plan->to[i];

		*to = from->head;
		rest += measured[i];
		to->kind->fold_plan(port, from, rest, to);
		bf_stats_folded(port, from, from->head.payload_len / to->payload_len, &stats);
		to->capacity = (uint64_t) fmin(fmax(1, ceil(stats.keys)), 9e17);
		/*
		 * With many probes and few bits set, the FPR may underflow to zero: use the least normal
		 * number then.
		 */
		to->target_fpr = fmax(stats.fpr, DBL_MIN);
		rest -= stats.fpr;
		plan->payload_len += to->payload_len;
	}
	/* The part of fpr that the kept stages do not use lets the newest stage take some more keys. */
	plan->to[plan->n - 1].target_fpr += rest;
	return true;
}

static void
scalable_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head)
{
	FoldPlan	plan;

	if (!plan_fold(port, view, fpr, &plan) || plan.payload_len >= head->payload_len)
		return;
	head->payload_len = plan.payload_len;
	head->target_fpr = fpr;
	head->capacity = (uint64_t) fmin(fmax(1, ceil(plan.keys)), 9e18);
	head->param[0] = plan.n;
	head->param[1] = head->param[2] = head->param[3] = 0;
}

static void
scalable_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	FoldPlan	plan;
	uint64_t	begin = 0;
	unsigned	i;

	if (head->payload_len == view->head.payload_len)
	{
		/* As in scalable_grow(), no interrupts are checked. */
		memcpy(out, view->payload, head->payload_len);
		return;
	}
	if (!plan_fold(port, view, head->target_fpr, &plan))
		return;
	for (i = 0; i < plan.n; i++)
	{
		write_entry(out + i * ENTRY_BYTES, &plan.to[i], begin, 0);
		plan.to[i].kind->fold(port, &plan.to[i], out + (uint64_t) plan.n * ENTRY_BYTES + begin,
							  &plan.from[i]);
		begin += plan.to[i].payload_len;
	}
}

const BfKind bf_kind_scalable = {
	.id = BF_KIND_SCALABLE,
	.name = "scalable",
	.caps = BF_CAN_ADD | BF_CAN_UNION | BF_CAN_FOLD | BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	/* The last stage's share of this FPR must be one that kind "standard" can reach. */
	.min_fpr = 1e-12,
	.better_kind = "standard",
	.advice =
		"Scalable filters unite with those of the same expected number of keys and false positive "
		"rate, before they are folded.",
	.when = "the number of keys is not known",
	.design = scalable_design,
	.size = scalable_size,
	.check = scalable_check,
	.validate = scalable_validate,
	.prober = scalable_prober,
	.probe_many = scalable_probe_many,
	.init = scalable_init,
	.add = scalable_add,
	.grow_plan = scalable_grow_plan,
	.grow = scalable_grow,
	.stats = scalable_stats,
	.stats_sampled = scalable_stats_sampled,
	.combined_head = scalable_combined_head,
	.unite = scalable_unite,
	.fold_plan = scalable_fold_plan,
	.fold = scalable_fold,
};
