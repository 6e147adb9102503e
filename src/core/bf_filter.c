/*-------------------------------------------------------------------------
 *
 * bf_filter.c
 *	  What works on every kind: design, plan, set operations, folding, statistics; see bf.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_format.h"

#include <math.h>

/* No number of cells has more divisors: 73513440, the first one that has more than 720, is beyond a value of 8-byte cells. */
#define MAX_DIVISORS	768

BfStatus
bf_design(const BfKind *kind, double fpr, BfDesign *design)
{
	if (kind->design == NULL)
		return BF_UNSUPPORTED;
	/* written so that a NaN fails */
	if (!(fpr > 0 && fpr < 1))
		return BF_FPR_OUT_OF_RANGE;
	if (fpr < kind->min_fpr)
		return BF_FPR_TOO_LOW;

	memset(design, 0, sizeof(*design));
	design->kind = kind;
	design->fpr = fpr;
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

	/* room for any family's name, so that taking one later cannot fail */
	if (head->payload_len > BF_MAX_VALUE_SIZE - BF_MAX_HEADER_SIZE)
		return BF_TOO_LARGE;
	return BF_OK;
}

/* Settles the family of a combination: the one that either has, by name if either knows it. */
static BfStatus
combine_family(const BfHeader *a, const BfHeader *b, BfHeader *head)
{
	const BfHeader *from = a;

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
	else
	{
		a->head.kind->combined_head(&a->head, &b->head, head);
		head->keys_added = BF_MAX(a->head.keys_added, b->head.keys_added);
	}
	return combine_family(&a->head, &b->head, head);
}

void
bf_union(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *a, const BfView *b)
{
	if (!is_identity(a))
		head->kind->unite(env, head, out, a);
	if (!is_identity(b))
		head->kind->unite(env, head, out, b);
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
	else
	{
		a->head.kind->combined_head(&a->head, &b->head, head);
		head->keys_added = BF_MIN(a->head.keys_added, b->head.keys_added);
	}
	return combine_family(&a->head, &b->head, head);
}

void
bf_intersect(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *a, const BfView *b)
{
	if (is_identity(a) || is_identity(b))
		return;
	head->kind->unite(env, head, out, a);
	head->kind->intersect(env, head, out, b);
}

/* Fills divisor[] with the divisors of n in order; returns how many there are. */
static unsigned
divisors(uint64_t n, uint64_t *divisor)
{
	unsigned	count = 0;
	unsigned	i;
	uint64_t	d;

	for (d = 1; d <= n / d; d++)
		if (n % d == 0)
			divisor[count++] = d;

	/* the cofactors, from the square root down, without the root itself */
	for (i = count; i-- > 0;)
		if (n / divisor[i] != divisor[i])
			divisor[count++] = n / divisor[i];
	return count;
}

BfStatus
bf_fold_plan(const BfEnv *env, const BfView *view, double fpr, BfHeader *head)
{
	const BfKind *kind = view->head.kind;
	BfStats		stats;
	uint64_t	divisor[MAX_DIVISORS];
	uint64_t	cells;
	unsigned	n;
	unsigned	low;
	unsigned	high;

	*head = view->head;
	if (!(fpr > 0 && fpr < 1))
		return BF_FPR_OUT_OF_RANGE;
	if (is_identity(view))
		return BF_OK;
	if (!(kind->caps & BF_CAN_FOLD))
		return BF_UNSUPPORTED;

	kind->stats(env, view, 1, &stats);
	if (stats.fpr > fpr)
		return BF_OK;			/* any fold would only be worse */
	head->target_fpr = fpr;
	head->capacity = (uint64_t) fmin(fmax(1, ceil(stats.keys)), 9e18);

	/* the more cells are joined the higher the FPR: the last divisor that still meets it */
	cells = view->head.payload_len / kind->cell_size;
	n = divisors(cells, divisor);
	low = 0;
	high = n;
	while (high - low > 1)
	{
		unsigned	middle = (low + high) / 2;

		kind->stats(env, view, divisor[middle], &stats);
		if (stats.fpr <= fpr)
			low = middle;
		else
			high = middle;
	}
	head->payload_len = cells / divisor[low] * kind->cell_size;
	return BF_OK;
}

void
bf_fold(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view)
{
	if (head->payload_len != 0)
		head->kind->fold(env, head, out, view);
}

void
bf_stats(const BfEnv *env, const BfView *view, BfStats *stats)
{
	view->head.kind->stats(env, view, 1, stats);
}
