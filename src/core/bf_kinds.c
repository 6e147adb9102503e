/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_kinds.c
 *	  The registry of kinds: the only file that knows which kinds there are.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

static const BfKind *const kinds[] = {
	&bf_kind_standard,
	&bf_kind_partitioned,
	&bf_kind_blocked,
	&bf_kind_parquet,
	&bf_kind_counting,
	&bf_kind_scalable,
	&bf_kind_cuckoo,
	&bf_kind_xor,
	&bf_kind_xor_plus,
	&bf_kind_binary_fuse,
	&bf_kind_ribbon,
	&bf_kind_identity,
	&bf_kind_partial,
};

#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

const BfKind *
bf_kind_at(size_t i)
{
	return i < NKINDS ? kinds[i] : NULL;
}

const BfKind *
bf_kind_by_id(unsigned id)
{
	size_t		i;

	for (i = 0; i < NKINDS; i++)
		if (kinds[i]->id == id)
			return kinds[i];
	return NULL;
}

const BfKind *
bf_kind_by_name(const char *name)
{
	size_t		i;

	for (i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

/* Checks that a table has a member if and only if it has one of the given capabilities. */
#define GOES_WITH(cap, member) \
	if (((kind->caps & (cap)) != 0) != (kind->member != NULL)) \
		return #member " does not go with " #cap

const char *
bf_kind_check(const BfKind *kind)
{
	if (kind->name == NULL || kind->check == NULL || kind->prober == NULL ||
		kind->probe_many == NULL || kind->stats == NULL)
		return "a member that every kind must have is missing";
	if (((kind->caps & BF_INTERNAL) == 0) != (kind->design != NULL) ||
		(kind->design == NULL) != (kind->size == NULL) ||
		(kind->design == NULL) != (kind->when == NULL))
		return "design, size and when do not go with a kind that users may ask for";
	GOES_WITH(BF_CAN_ADD, add);
	GOES_WITH(BF_CAN_REMOVE, remove);
	GOES_WITH(BF_CAN_COUNT, count);
	GOES_WITH(BF_CAN_UNION, unite);
	GOES_WITH(BF_CAN_INTERSECT, intersect);
	GOES_WITH(BF_CAN_UNION | BF_CAN_INTERSECT, combined_head);
	GOES_WITH(BF_CAN_FOLD, fold);
	GOES_WITH(BF_CAN_FOLD, fold_plan);
	if ((kind->build != NULL) != (kind->add == NULL && kind->design != NULL))
		return "a kind is either added to or built at once";
	if (kind->build != NULL && !(kind->caps & BF_FROM_SET))
		return "what is built at once is built from a set";
	if ((kind->grow_plan != NULL) != (kind->grow != NULL))
		return "grow_plan and grow go together";
	if ((kind->is_packed != NULL) != (kind->pack != NULL) ||
		(kind->pack_plan != NULL) != (kind->pack != NULL) ||
		(kind->loosen_plan != NULL) != (kind->pack != NULL) ||
		(kind->loosen != NULL) != (kind->pack != NULL))
		return "the members of a packed form go together";
	if (kind->cell_size % 8 != 0)
		return "cells are whole words";
	return NULL;
}
