/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * expanded.h
 *	  The filter that is being edited (edit.h) as an expanded object: recognized, viewed and
 *	  flattened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EXPANDED_H
#define BLOOMFAM_EXPANDED_H

#include "utils/expandeddatum.h"

#include "core/bf.h"
#include "pg/compat.h"

/*
 * A copy of a filter that is being edited, in the form in which its kind is changed.  From
 * PostgreSQL 18 on it is returned as an expanded object, which a PL/pgSQL variable keeps.  Then the
 * next step changes it in place, while a plain value is copied for each step.
 */
typedef struct BloomfamEdit
{
	ExpandedObjectHeader eoh;
	MemoryContext context;		/* The memory context of everything in this struct. */
	BfHeader	head;			/* The filter's header; its family's name is in "family". */
	char		family[BF_MAX_FAMILY_LEN + 1];

	/* The value that has the payload; it is complete except for the header. */
	struct varlena *value;
	uint8	   *payload;
} BloomfamEdit;

extern const ExpandedObjectMethods bloomfam_edit_methods;

/* Returns the edited filter behind a datum, or NULL if the datum is not such an object. */
extern BloomfamEdit *bloomfam_edit_from_datum(Datum datum);

/* Makes a view of the edited filter in its present state. */
extern void bloomfam_edit_view(BloomfamEdit *edit, BfView *view);

#endif							/* BLOOMFAM_EXPANDED_H */
