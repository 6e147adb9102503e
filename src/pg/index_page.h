/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_page.h
 *	  Writes whole pages of an index, and checks an index's format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_INDEX_PAGE_H
#define BLOOMFAM_INDEX_PAGE_H

#include "pg/compat.h"

#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/*
 * Overwrites a whole page, whatever was there.  Logs it as a full page image if log is true;
 * otherwise the caller must log the whole file.  The block must exist.
 */
extern void bloomfam_index_page_write(Relation index, ForkNumber fork, BlockNumber block,
									  Page image, bool log);

/*
 * Extends the file to at least this number of blocks.  It must be called before blocks of reserved
 * space are written, even if that was done before, because the file may be shorter again after a
 * crash.  It takes no longer if the missing blocks include a large area that is reserved for
 * somebody who is still to write it.
 */
extern void bloomfam_index_extend(Relation index, ForkNumber fork, BlockNumber nblocks);

/*
 * Raises the error 0A000 unless an index has the format that this version of the module reads: one
 * of another version is not damaged.
 */
extern void bloomfam_index_check_format(Relation index, const char *method, uint32 format,
										uint32 readable);

#endif							/* BLOOMFAM_INDEX_PAGE_H */
