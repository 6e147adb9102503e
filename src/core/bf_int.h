/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_int.h
 *	  Private helpers of the core: loads and stores of little-endian numbers at any address,
 *	  interrupts, memory.
 *
 * A stored value may have any alignment, as a PostgreSQL datum may.  Its numbers are therefore read
 * and written only through memcpy, which compilers turn into plain moves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_INT_H
#define BF_INT_H

#include <string.h>

#include "bf.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BF_LE16(x)	__builtin_bswap16(x)
#define BF_LE32(x)	__builtin_bswap32(x)
#define BF_LE64(x)	__builtin_bswap64(x)
#else
#define BF_LE16(x)	(x)
#define BF_LE32(x)	(x)
#define BF_LE64(x)	(x)
#endif

static inline uint16_t
bf_load16(const uint8_t *p)
{
	uint16_t	v;

	memcpy(&v, p, sizeof(v));
	return BF_LE16(v);
}

static inline uint32_t
bf_load32(const uint8_t *p)
{
	uint32_t	v;

	memcpy(&v, p, sizeof(v));
	return BF_LE32(v);
}

static inline uint64_t
bf_load64(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, sizeof(v));
	return BF_LE64(v);
}

static inline void
bf_store16(uint8_t *p, uint16_t v)
{
	v = BF_LE16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
bf_store32(uint8_t *p, uint32_t v)
{
	v = BF_LE32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
bf_store64(uint8_t *p, uint64_t v)
{
	v = BF_LE64(v);
	memcpy(p, &v, sizeof(v));
}

#define BF_MIN(a, b)	((a) < (b) ? (a) : (b))
#define BF_MAX(a, b)	((a) > (b) ? (a) : (b))

/*
 * The number of cells that a loop may handle between two checks for interrupts, minus 1: some tens
 * of microseconds of work.  It is a power of two minus 1, so that it can serve as a mask.
 */
#define BF_INTERRUPT_MASK	0xffff

static inline void
bf_check_interrupts(const BfPort *port)
{
	if (port != NULL && port->check_interrupts != NULL)
		port->check_interrupts(port->arg);
}

/*
 * Allocates size bytes through the caller's BfPort; if size is 0, a byte. bf_release() frees the
 * memory.
 */
static inline void *
bf_alloc(const BfPort *port, size_t size)
{
	return port->alloc(port->arg, size > 0 ? size : 1);
}

static inline void
bf_release(const BfPort *port, void *memory)
{
	port->release(port->arg, memory);
}

/*
 * The number of keys that are handled together where memory latency is the bottleneck.  It is large
 * enough for as many cache misses as a processor core can have outstanding.
 */
#define BF_BATCH	32

/* The table of each kind; each is defined in the file of its kind, kind_*.c. */
extern const BfKind bf_kind_standard;
extern const BfKind bf_kind_partitioned;
extern const BfKind bf_kind_blocked;
extern const BfKind bf_kind_parquet;
extern const BfKind bf_kind_counting;
extern const BfKind bf_kind_scalable;
extern const BfKind bf_kind_cuckoo;
extern const BfKind bf_kind_xor;
extern const BfKind bf_kind_xor_plus;
extern const BfKind bf_kind_binary_fuse;
extern const BfKind bf_kind_ribbon;
extern const BfKind bf_kind_identity;
extern const BfKind bf_kind_partial;

/*
 * For tests: return the probe functions of the kinds blocked and parquet that use no SIMD
 * instructions, and add hashes to a filter of kind parquet without them.
 */
extern BfProbe bf_blocked_scalar_twin(void);
extern BfProbe bf_parquet_scalar_twin(void);
extern size_t  bf_parquet_scalar_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes,
									 size_t n);

/*
 * For tests: pack and loosen a counting filter without the processor's bit deposit and extract
 * instructions (BMI2).
 */
extern void bf_counting_portable_pack(const BfHeader *packed, uint8_t *out, const BfView *loose);
extern void bf_counting_portable_loosen(uint8_t *out, const BfView *packed);

/*
 * For tests: returns the probe function of the kind ribbon that does not use the processor's
 * instruction for counting bits.
 */
extern BfProbe bf_ribbon_scalar_twin(void);

#endif							/* BF_INT_H */
