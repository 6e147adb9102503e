/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cpu.c
 *	  See bf_cpu.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_cpu.h"

bool		bf_wide_off = false;
