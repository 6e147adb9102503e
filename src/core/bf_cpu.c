/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cpu.c
 *	  The switch with which tests turn AVX-512 off; see bf_cpu.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_cpu.h"

bool		bf_wide_off = false;
