/* The live set: which blocks exist, which site made them, how large they are, when they were made.
 *
 * A shadow array: each 16 bytes of address space have one 32-bit word, so no block needs a lock, a hash
 * or a rehash, and the cost in memory is a quarter of the heap that small blocks occupy. A block's entry
 * takes the words of its own first granules: allocators place blocks at least 32 bytes apart (glibc,
 * also mimalloc and jemalloc above 16 bytes), and a block of more than 32 bytes covers a third word.
 *
 *   word 0   site index << 8 | low 8 bits of the size; 0: no block here
 *   word 1   birth period << 1 | (word 2 is in use)
 *   word 2   size >> 8
 *
 * Blocks that this cannot hold (below 16-byte alignment, above 47 bits, small blocks of an allocator that
 * packs them 16 bytes apart) go to a small hash beside it. Private memory: a forked child inherits it.
 * Runtime part. Threads: any, as long as a block is handled by one thread at a time, which its owner
 * guarantees by holding it. */
#ifndef SEEP_LIBPROF_LIVE_MAP_H
#define SEEP_LIBPROF_LIVE_MAP_H

#include "libprof/os.h"

struct seep_block {
    uint32_t site; /* site index: file offset / 64; 0: none */
    uint32_t birth; /* period */
    uint64_t bytes;
};

enum {
    SEEP_REGION_BITS = 26, /* one shadow of 16 MiB for each 64 MiB of address space in use */
    SEEP_REGION_WORDS = 1 << (SEEP_REGION_BITS - 4),
    SEEP_N_REGIONS = 1 << (47 - SEEP_REGION_BITS),
};

extern uint32_t *seep_live_regions[SEEP_N_REGIONS];

/* The allocator in use may place blocks of up to 16 bytes 16 bytes apart (set once, at start). */
extern bool seep_live_packed;

/* Slow paths. */
uint32_t *seep_live_region_create(uintptr_t address);
bool seep_live_spill_put(uintptr_t address, const struct seep_block *block);
bool seep_live_spill_take(uintptr_t address, struct seep_block *block);
extern uint32_t seep_live_spilled; /* blocks in the hash beside the array */

/* In a forked child. */
void seep_live_after_fork(void);

static inline bool seep_live_spills(uintptr_t address, uint64_t bytes)
{
    return (address & 15) != 0 || address >> 47 != 0 || (seep_live_packed && bytes <= 16);
}

/* Enters a block that has none of its granules taken by another block. False: no memory for it. */
static inline bool seep_live_put(uintptr_t address, const struct seep_block *block)
{
    if (__builtin_expect(seep_live_spills(address, block->bytes), 0))
        return seep_live_spill_put(address, block);
    uint32_t *region = __atomic_load_n(&seep_live_regions[address >> SEEP_REGION_BITS],
                                       __ATOMIC_ACQUIRE);
    if (__builtin_expect(!region, 0)) {
        region = seep_live_region_create(address);
        if (!region)
            return false;
    }
    uint32_t *word = region + ((address >> 4) & (SEEP_REGION_WORDS - 1));
    uint32_t large = block->bytes > 255;
    word[1] = block->birth << 1 | large;
    if (large)
        word[2] = (uint32_t)(block->bytes >> 8);
    word[0] = block->site << 8 | (uint32_t)(block->bytes & 255);
    return true;
}

/* Removes the block at `address` and tells what it was. False: there is none. */
static inline bool seep_live_take(uintptr_t address, struct seep_block *block)
{
    if (__builtin_expect((address & 15) != 0 || address >> 47 != 0, 0))
        return seep_live_spill_take(address, block);
    uint32_t *region = __atomic_load_n(&seep_live_regions[address >> SEEP_REGION_BITS],
                                       __ATOMIC_ACQUIRE);
    if (__builtin_expect(!region, 0))
        return seep_live_spilled && seep_live_spill_take(address, block);
    uint32_t *word = region + ((address >> 4) & (SEEP_REGION_WORDS - 1));
    uint32_t first = word[0];
    if (__builtin_expect(!first, 0))
        return seep_live_spilled && seep_live_spill_take(address, block);
    uint32_t second = word[1];
    block->site = first >> 8;
    block->birth = second >> 1;
    block->bytes = first & 255;
    if (second & 1) {
        block->bytes |= (uint64_t)word[2] << 8;
        word[2] = 0;
    }
    word[1] = 0; /* it may be another block's first word next */
    word[0] = 0;
    return true;
}

#endif
