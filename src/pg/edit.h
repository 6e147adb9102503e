/*-------------------------------------------------------------------------
 *
 * edit.h
 *	  A filter that keys are added to or removed from, one call at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EDIT_H
#define BLOOMFAM_EDIT_H

#include "utils/expandeddatum.h"

#include "pg/hasher.h"

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

/*
 * The filter of an argument, to be changed: itself if the caller lets it be changed in place,
 * otherwise a copy.
 */
extern BloomfamEdit *bloomfam_edit_begin(Datum datum);

/*
 * Raises an error if the filter has another key family than a hasher; takes it over if it has
 * none.
 */
extern void bloomfam_edit_check_family(const BloomfamEdit *edit, const BloomfamHasher *hasher);
extern void bloomfam_edit_take_family(BloomfamEdit *edit, const BloomfamHasher *hasher);

/* Adds hashes; an error if the filter is full: those that it had room for are then in it. */
extern void bloomfam_edit_add(BloomfamEdit *edit, const uint64 *hashes, int n);

/* Removes hashes; an error if one is certainly not there: those before it are then gone. */
extern void bloomfam_edit_remove(BloomfamEdit *edit, const uint64 *hashes, int n);

/* The changed filter. */
extern Datum bloomfam_edit_end(BloomfamEdit *edit);

/* The filter behind a datum that is edited; NULL if the datum is no such object. */
extern BloomfamEdit *bloomfam_edit_from_datum(Datum datum);

/* A view of it as it is. */
extern void bloomfam_edit_view(BloomfamEdit *edit, BfView *view);

#endif							/* BLOOMFAM_EDIT_H */
