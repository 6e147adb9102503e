/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gucs.h
 *	  The settings of the join filter: those that begin with bloomfam.join_.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_GUCS_H
#define BLOOMFAM_JOIN_GUCS_H

#include "pg/compat.h"

typedef enum JoinFilterMode
{
	JOIN_FILTER_OFF,
	JOIN_FILTER_ON,
	JOIN_FILTER_FORCE
} JoinFilterMode;

extern int	  bloomfam_join_filter; /* a JoinFilterMode */
extern int	  bloomfam_join_filter_min_rows;
extern int	  bloomfam_join_filter_max_size;		 /* kB */
extern int	  bloomfam_join_filter_foreign_max_size; /* kB; 0: none */
extern int	  bloomfam_join_foreign_keys;			 /* 0: none */
extern double bloomfam_join_filter_min_drop;
extern double bloomfam_join_filter_fpr;
extern bool	  bloomfam_join_filter_log;
extern bool	  bloomfam_join_filter_plans;
extern bool	  bloomfam_join_filter_skip;
extern bool	  bloomfam_join_samples;

/* May partitions and blocks be skipped that cannot match? */
static inline bool
bloomfam_join_may_skip(void)
{
	return BLOOMFAM_KNOWN_MAJOR && bloomfam_join_filter_skip;
}

/*
 * Makes them known to the server.  If the module was not loaded in time, whoever switches the
 * filters on is warned that they stay off.
 */
extern void bloomfam_join_gucs_define(bool loaded_in_time);

#endif							/* BLOOMFAM_JOIN_GUCS_H */
