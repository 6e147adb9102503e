/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_filter.c
 *	  Operations on filters of every kind: design, plan, set operations, folding, statistics; see
 *	  bf.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_format.h"

BfStatus
bf_design(const BfKind *kind, double fpr, BfDesign *design)
{
	if (kind->design == NULL)
		return BF_UNSUPPORTED;
	/* The comparison is written so that an fpr that is NaN is refused. */
	if (!(fpr > 0 && fpr < 1))
		return BF_FPR_OUT_OF_RANGE;
	if (fpr < kind->min_fpr)
		return BF_FPR_TOO_LOW;

	memset(design, 0, sizeof(*design));
	design->kind = kind;
	design->fpr = fpr;
	design->expected_fpr = fpr;
	kind->design(design);
	return BF_OK;
}

BfStatus
bf_plan(const BfDesign *design, uint64_t keys, BfHeader *head)
{
	memset(head, 0, sizeof(*head));
	head->kind = design->kind;
	head->hash_id = design->kind->hash_id;
	head->capacity = keys;
	head->target_fpr = design->fpr;
	memcpy(head->param, design->param, sizeof(head->param));
	head->payload_len = design->kind->size(design, keys);

	/* Leave room for the name of any key family, so that setting the family later cannot fail. */
	if (head->payload_len > BF_MAX_VALUE_SIZE - BF_MAX_HEADER_SIZE)
		return BF_TOO_LARGE;
	return BF_OK;
}

void
bf_init(const BfHeader *head, uint8_t *payload)
{
	if (head->kind->init != NULL)
		head->kind->init(head, payload);
}

/*
 * Sets the key family of a union or intersection: that of whichever filter has one, with its name
 * if one of the filters knows it.  If the hash functions differ, one of the filters is an aggregate
 * of no keys (kind "identity"), which does not know of which kind it would have been; head is then
 * already a copy of the other filter's header, including the family.
 */
static BfStatus
combine_family(const BfHeader *a, const BfHeader *b, BfHeader *head)
{
	const BfHeader *from = a;

	if (a->hash_id != b->hash_id)
		return BF_OK;
	if (a->family_id != 0 && b->family_id != 0 && a->family_id != b->family_id)
		return BF_FAMILY_MISMATCH;
	if (a->family_id == 0 || (b->family_id != 0 && a->family_len == 0))
		from = b;
	head->family_id = from->family_id;
	head->family_len = from->family_len;
	head->family = from->family;
	return BF_OK;
}

static inline bool
is_identity(const BfView *view)
{
	return view->head.kind == &bf_kind_identity;
}

BfStatus
bf_union_plan(const BfView *a, const BfView *b, BfHeader *head)
{
	const BfView *other = is_identity(a) ? b : a;

	if (!is_identity(other) && !(other->head.kind->caps & BF_CAN_UNION))
		return BF_UNSUPPORTED;
	if (is_identity(a) || is_identity(b))
		*head = other->head;
	else if (a->head.kind != b->head.kind)
		return BF_KIND_MISMATCH;
	else if (!a->head.kind->combined_head(a, b, head))
		return BF_UNSUPPORTED;
	else if (head->kind->caps & BF_MULTISET)
		head->keys_added = BF_MIN(a->head.keys_added + b->head.keys_added, INT64_MAX);
	else
		head->keys_added = BF_MAX(a->head.keys_added, b->head.keys_added);
	return combine_family(&a->head, &b->head, head);
}

void
bf_union(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a, const BfView *b)
{
	/*
	 * out is an empty filter of the result's size: uniting it with the first filter makes a copy in
	 * that size.
	 */
	if (!is_identity(a))
		head->kind->unite(port, head, out, a);
	if (!is_identity(b))
		head->kind->unite(port, head, out, b);
}

BfStatus
bf_intersect_plan(const BfView *a, const BfView *b, BfHeader *head)
{
	if (is_identity(a) || is_identity(b))
		*head = is_identity(a) ? a->head : b->head;
	else if (a->head.kind != b->head.kind)
		return BF_KIND_MISMATCH;
	else if (!(a->head.kind->caps & BF_CAN_INTERSECT))
		return BF_UNSUPPORTED;
	else if (!a->head.kind->combined_head(a, b, head))
		return BF_UNSUPPORTED;
	else
		head->keys_added = BF_MIN(a->head.keys_added, b->head.keys_added);
	return combine_family(&a->head, &b->head, head);
}

void
bf_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *a,
			 const BfView *b)
{
	/*
	 * If either filter is the identity (the filter of no keys), no key is in both: the result is
	 * the identity again, which has no payload.
	 */
	if (is_identity(a) || is_identity(b))
		return;
	/*
	 * out is an empty filter: first it gets the keys of a, then it keeps only those that b has,
	 * too.
	 */
	head->kind->unite(port, head, out, a);
	head->kind->intersect(port, head, out, b);
}

BfStatus
bf_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head)
{
	*head = view->head;
	if (!(fpr > 0 && fpr < 1))
		return BF_FPR_OUT_OF_RANGE;
	if (is_identity(view))
		return BF_OK;
	if (!(view->head.kind->caps & BF_CAN_FOLD))
		return BF_UNSUPPORTED;
	view->head.kind->fold_plan(port, view, fpr, head);
	return BF_OK;
}

void
bf_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	/* The identity (the filter of no keys) has no payload to fold. */
	if (head->payload_len != 0)
		head->kind->fold(port, head, out, view);
}

static void
clear_stats(BfStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->fill = -1;
	stats->stages = 1;
}

void
bf_stats_folded(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	clear_stats(stats);
	view->head.kind->stats(port, view, fold, stats);
}

void
bf_stats(const BfPort *port, const BfView *view, BfStats *stats)
{
	bf_stats_folded(port, view, 1, stats);
}

/*
 * Implements the function described in bf.h.  Hashes are spread evenly over the cells, so that the
 * first cells form a smaller filter of the same share of the keys (bf_cells.h).  In kind
 * "partitioned", where a cell has a word of each slice, the first cells of the payload are not the
 * first of each slice; but all its slices are equally full.
 */
bool
bf_stats_sampled(const BfPort *port, const BfView *view, uint64_t max_bytes, BfStats *stats)
{
	BfView		part = *view;
	const BfKind *kind = view->head.kind;

	if (view->head.payload_len <= max_bytes)
	{
		bf_stats(port, view, stats);
		return true;
	}
	if (kind->stats_sampled != NULL)
	{
		clear_stats(stats);
		kind->stats_sampled(port, view, max_bytes, stats);
		return true;
	}
	if (kind->cell_size == 0)
		return false;
	part.head.payload_len = max_bytes / kind->cell_size * kind->cell_size;
	bf_stats(port, &part, stats);
	stats->keys *= (double) view->head.payload_len / (double) part.head.payload_len;
	return true;
}
