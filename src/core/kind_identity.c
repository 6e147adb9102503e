/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_identity.c
 *	  The filter of no keys and no parameters, which is the result of an aggregate over no rows.
 *
 * It contains no key, and its union with any filter of its family is that filter, unchanged.  It
 * has no size, kind or FPR, because a parallel plan whose workers saw no rows does not know which
 * were requested. bf_filter.c treats it as the neutral element, even for kinds with another hash.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

static const char *
identity_check(const BfHeader *head)
{
	static const uint32_t none[BF_NPARAMS] = {0};
	static const double no_fpr = 0;

	if (head->hash_id != BF_HASH_XXH3)
		return "the hash function is not the one of this kind";
	if (head->payload_len != 0 || head->capacity != 0 || head->keys_added != 0 ||
		memcmp(&head->target_fpr, &no_fpr, sizeof(no_fpr)) != 0 ||
		memcmp(head->param, none, sizeof(none)) != 0)
		return "an empty aggregate's value has no contents";
	return NULL;
}

static bool
identity_probe(const BfView *view, uint64_t hash)
{
	(void) view;
	(void) hash;
	return false;
}

static BfProbe
identity_prober(const BfView *view)
{
	(void) view;
	return identity_probe;
}

static void
identity_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	(void) view;
	(void) hashes;
	memset(result, 0, n * sizeof(*result));
}

static void
identity_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	/* The caller has zeroed all statistics, which is right for a filter without keys. */
	(void) port;
	(void) view;
	(void) fold;
	(void) stats;
}

const BfKind bf_kind_identity = {
	.id = BF_KIND_IDENTITY,
	.name = "identity",
	.caps = BF_INTERNAL,
	.hash_id = BF_HASH_XXH3,
	.advice = "The filter of no rows has no size; unite it with an empty filter that has one.",
	.check = identity_check,
	.prober = identity_prober,
	.probe_many = identity_probe_many,
	.stats = identity_stats,
};
