/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * expanded.h
 *	  The filter that is being edited (edit.h), as an expanded object: known, viewed and flattened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EXPANDED_H
#define BLOOMFAM_EXPANDED_H

#include "utils/expandeddatum.h"

#include "core/bf.h"
#include "pg/compat.h"

/*
 * A copy of a filter, in the form that its kind is worked on.  From PostgreSQL 18 on it is handed
 * on as an expanded object, which a PL/pgSQL variable keeps: the next step then works in place,
 * where a plain value is copied for each.
 */
typedef struct BloomfamEdit
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* all below lives here */
	BfHeader	head;			/* its family is in the array */
	char		family[BF_MAX_FAMILY_LEN + 1];
	struct varlena *value; /* the payload lies in a value that is complete but for the header */
	uint8	   *payload;
} BloomfamEdit;

extern const ExpandedObjectMethods bloomfam_edit_methods;

/* The filter behind a datum that is edited; NULL if the datum is no such object. */
extern BloomfamEdit *bloomfam_edit_from_datum(Datum datum);

/* A view of it as it is. */
extern void bloomfam_edit_view(BloomfamEdit *edit, BfView *view);

#endif							/* BLOOMFAM_EXPANDED_H */
