/* Blocks by their addresses, while events are followed. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_BLOCKS_H
#define SEEP_LIBPROF_TORCH_TORCH_BLOCKS_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_torch_live {
    uint64_t address; /* 0: none */
    uint64_t bytes;
    uint32_t owner;  /* as the caller numbers it */
    uint32_t period; /* in which it was allocated */
    uint16_t pool;
    bool is_page;  /* of a segment that grows */
    bool is_small; /* a segment for small blocks, or a page of one */
};

/* All zero: empty. */
struct seep_torch_blocks {
    struct seep_torch_live *slots;
    size_t n_slots, n; /* slots: a power of two */
};

/* Adds a block, in place of another one at its address. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_blocks_put(struct seep_torch_blocks *blocks,
                                          const struct seep_torch_live *block);
/* Takes the block at an address away, into *block; false: there is none. */
bool seep_torch_blocks_take(struct seep_torch_blocks *blocks, uint64_t address,
                            struct seep_torch_live *block);
/* The same, and leaves it there. */
bool seep_torch_blocks_find(const struct seep_torch_blocks *blocks, uint64_t address,
                            struct seep_torch_live *block);
void seep_torch_blocks_fini(struct seep_torch_blocks *blocks);

#endif
