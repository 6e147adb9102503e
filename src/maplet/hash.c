/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  Computes the hash of a key that a maplet index stores.
 *
 * Keys are hashed as other indexes hash them (src/pg/index_key.h).  The metapage records the family
 * of the keys.  If a family's hash depends on the version of the server or of a collation, an index
 * that was built with another version is refused.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "pg/index_key.h"
#include "pg/port.h"

#include "maplet/hash.h"

void
bloomfam_maplet_hasher_make(MapletHasher *hasher, MemoryContext context, Relation index,
							const Oid *types)
{
	MemoryContext old;
	StringInfoData names;
	int			i;

	hasher->ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	hasher->seed = 0;
	for (i = 0; i < hasher->ncolumns; i++)
		hasher->columns[i] = bloomfam_index_hasher_make(context, index, i,
														 types != NULL ? types[i] : InvalidOid);
	hasher->family_id = hasher->columns[0]->family_id;
	hasher->family = hasher->columns[0]->family;
	hasher->family_len = hasher->columns[0]->family_len;
	if (hasher->ncolumns == 1)
		return;

	old = MemoryContextSwitchTo(context);
	initStringInfo(&names);
	for (i = 0; i < hasher->ncolumns; i++)
	{
		appendStringInfoString(&names, i > 0 ? ", " : "");
		appendBinaryStringInfo(&names, hasher->columns[i]->family,
							   hasher->columns[i]->family_len);
	}
	MemoryContextSwitchTo(old);
	hasher->family = names.data;
	hasher->family_len = names.len;
	hasher->family_id = bf_family_id(names.data, names.len);
}

void
bloomfam_maplet_hasher_fit(MapletHasher *hasher, Relation index, const MapletMeta *meta)
{
	int			i;

	if (meta->family_id != hasher->family_id || meta->hash_id != hasher->columns[0]->hash_id)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" was built for keys that were hashed otherwise",
						RelationGetRelationName(index)),
				 errdetail("Its keys are of family %s, the key is of family %s.",
						   bloomfam_family_display(meta->family, meta->family_len,
												   meta->family_id),
						   bloomfam_family_display(hasher->family, hasher->family_len,
												   hasher->family_id)),
				 errhint("Please REINDEX it: a collation, a type or the server has changed.")));
	hasher->seed = meta->seed;
	for (i = 0; i < hasher->ncolumns; i++)
		hasher->columns[i]->seed = meta->seed;
}
