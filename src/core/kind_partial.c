/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_partial.c
 *	  The state of an aggregate on its way from one process or node to another: the hashes that it
 *	  has collected.
 *
 * The value can be validated, probed (slowly) and measured, so that one that is stored in a table
 * by mistake does no harm; the code in src/pg takes it for a state and for nothing else.  The
 * payload is an array of hashes, in no order.  A hash may occur several times, which counts if
 * repeated keys count in the finished filter.  The header describes the finished filter.
 *
 *	param[0]	kind of the finished filter (BfKindId); 0 where only BF_PARTIAL_UNKNOWN is told
 *	param[1]	BF_PARTIAL_* flags
 *	capacity	keys to size for; 0: the number of distinct hashes
 *
 * The hash function is that of the finished filter's kind.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_partial.h"

static const char *
partial_check(const BfHeader *head)
{
	const BfKind *target = bf_kind_by_id(head->param[0]);

	if (head->hash_id != (target != NULL ? target->hash_id : BF_HASH_XXH3))
		return "the hash function is not the one of the finished filter's kind";
	if (head->param[1] & ~(uint32_t) BF_PARTIAL_UNKNOWN || head->param[2] != 0 ||
		head->param[3] != 0)
		return "reserved fields of the header are not zero";
	if (head->payload_len % 8 != 0)
		return "the payload is not a whole number of hashes";
	if (head->param[1] & BF_PARTIAL_UNKNOWN)
		return head->param[0] == 0 && head->payload_len == 0 && head->capacity == 0 &&
					   head->target_fpr == 0
				   ? NULL
				   : "a state that knows nothing has contents";
	if (target == NULL || target->design == NULL)
		return "the kind of the finished filter is unknown";
	if (!(head->target_fpr >= target->min_fpr && head->target_fpr < 1))
		return "the target false positive rate is out of range";
	if (head->capacity > INT64_MAX)
		return "the capacity is out of range";
	if (head->payload_len / 8 > head->keys_added)
		return "more hashes than keys";
	return NULL;
}

static bool
partial_probe(const BfView *view, uint64_t hash)
{
	const uint8_t *p = view->payload;
	const uint8_t *end = p + view->head.payload_len;

	for (; p < end; p += 8)
		if (bf_load64(p) == hash)
			return true;
	return (view->head.param[1] & BF_PARTIAL_UNKNOWN) != 0;
}

static BfProbe
partial_prober(const BfView *view)
{
	(void) view;
	return partial_probe;
}

static void
partial_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	size_t		i;

	for (i = 0; i < n; i++)
		result[i] = partial_probe(view, hashes[i]);
}

static void
partial_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) port;
	(void) fold;
	stats->bits = view->head.payload_len * 8;
	stats->bits_set = stats->bits;
	stats->keys = (double) (view->head.payload_len / 8);
	stats->fpr = view->head.param[1] & BF_PARTIAL_UNKNOWN ? 1 : 0;
}

const BfKind bf_kind_partial = {
	.id = BF_KIND_PARTIAL,
	.name = "partial",
	.caps = BF_INTERNAL,
	.hash_id = BF_HASH_XXH3,
	.check = partial_check,
	.prober = partial_prober,
	.probe_many = partial_probe_many,
	.stats = partial_stats,
};
