/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * summarize.h
 *	  Summarizes ranges: reads their rows and gives them signatures.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_SUMMARIZE_H
#define BLOOMFAM_SIGNATURE_SUMMARIZE_H

#include "pg/compat.h"

#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/snapshot.h"

#include "signature/keys.h"

/* On whose behalf ranges are summarized. */
typedef enum SignatureCaller
{
	SIGNATURE_BUILD,			/* A build: nobody inserts. */
	SIGNATURE_INSERT,			/* An insert does a step. */
	SIGNATURE_VACUUM,			/* VACUUM, or the last phase of a concurrent build. */
	SIGNATURE_CHECK				/* A check, which reads the rows that a snapshot sees. */
} SignatureCaller;

/* Reads the rows of ranges. */
typedef struct SignatureReader
{
	Relation	table;
	Relation	index;
	SignatureCaller caller;
	SignatureColumns *columns;
	IndexInfo  *info;
	EState	   *estate;
	TupleTableSlot *slot;
	ExprState  *predicate;		/* NULL if the index has no predicate. */

	/* True if a row's values are evaluated by expressions, or chosen by a predicate. */
	bool		evaluates;
	MemoryContext row;			/* The memory context of a page's rows. */
	BufferAccessStrategy strategy;
	SignatureKeys keys;
	Snapshot	snapshot;		/* A check's snapshot; NULL for others. */
	double		rows;			/* The number of rows that were read. */
} SignatureReader;

/*
 * Makes a reader in the current memory context, in which it stays until that is deleted.  It
 * holds no resources but memory.
 */
extern SignatureReader *bloomfam_signature_reader_make(Relation table, Relation index,
													   SignatureColumns *columns,
													   SignatureCaller caller);

/* What is known after the rows of a range were read. */
typedef enum SignatureRead
{
	SIGNATURE_READ_ALL,			/* The keys of all rows. */

	/* There is a dead row whose keys are not known; some standby might still see it. */
	SIGNATURE_READ_IN_PART,

	/* There is a row of a transaction in progress whose values may be an error. */
	SIGNATURE_READ_LATER
} SignatureRead;

/* Reads all rows of a range, and passes the hashes of their keys on. */
extern SignatureRead bloomfam_signature_read_range(SignatureReader *reader,
												   const SignatureMeta *meta, uint32 range,
												   void (*take) (void *, const uint64 *, uint32),
												   void *arg);

/*
 * Returns how many bytes of rows a page of the table stands for: its own, and those of the TOAST
 * table.
 */
extern double bloomfam_signature_bytes_per_page(Relation table);

/*
 * Estimates the number of different keys of a range.  The lock of bloomfam_signature_lock() is not
 * needed.
 */
extern double bloomfam_signature_measure(SignatureReader *reader, const SignatureMeta *meta,
										 uint32 range);

/*
 * Summarizes the next range, if the table has all its pages and "behind" ranges more.  Makes a slab
 * of a full batch before that if it is time.  The caller must have the lock of
 * bloomfam_signature_lock().  Returns whether there may be more to do.
 */
extern bool bloomfam_signature_step(SignatureReader *reader, uint32 behind);

/* Summarizes all dirty ranges anew.  The caller must have the lock. */
extern void bloomfam_signature_redo(SignatureReader *reader);

/*
 * The number of ranges that inserts leave without a signature behind the one they write to, and the
 * number of ranges after a full batch from which on it is made a slab.  Inserts come back to the
 * table's latest pages, as these have some room left: rows are added to a batch, but make
 * ranges of a slab dirty.
 */
#define SIGNATURE_OPEN_RANGES		2
#define SIGNATURE_RANGES_BEHIND		32

#endif							/* BLOOMFAM_SIGNATURE_SUMMARIZE_H */
