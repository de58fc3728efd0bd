#include "libprof/torch/torch_blocks.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>

static size_t first_slot(const struct seep_torch_blocks *b, uint64_t address)
{
    return seep_hash_two(address, 0) & (b->n_slots - 1);
}

/* Where the block at an address is, or has its place. */
static size_t find(const struct seep_torch_blocks *b, uint64_t address)
{
    size_t at = first_slot(b, address);

    while (b->slots[at].address && b->slots[at].address != address)
        at = (at + 1) & (b->n_slots - 1);
    return at;
}

static int widen(struct seep_torch_blocks *b)
{
    struct seep_torch_blocks wide = {.n_slots = b->n_slots ? 2 * b->n_slots : 1024, .n = b->n};

    wide.slots = calloc(wide.n_slots, sizeof *wide.slots);
    if (!wide.slots)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < b->n_slots; i++)
        if (b->slots[i].address)
            wide.slots[find(&wide, b->slots[i].address)] = b->slots[i];
    free(b->slots);
    *b = wide;
    return 0;
}

int seep_torch_blocks_put(struct seep_torch_blocks *b, const struct seep_torch_live *block)
{
    if (!block->address)
        return 0;
    if (2 * (b->n + 1) > b->n_slots && widen(b))
        return -SEEP_ENOMEM;
    struct seep_torch_live *slot = &b->slots[find(b, block->address)];
    b->n += !slot->address;
    *slot = *block;
    return 0;
}

/* Moves what lies behind a gap into it, so that no search ends there too early. */
static void close_gap(struct seep_torch_blocks *b, size_t gap)
{
    const size_t mask = b->n_slots - 1;

    for (size_t at = (gap + 1) & mask; b->slots[at].address; at = (at + 1) & mask) {
        const size_t first = first_slot(b, b->slots[at].address);
        if (((at - first) & mask) >= ((at - gap) & mask)) {
            b->slots[gap] = b->slots[at];
            gap = at;
        }
    }
    b->slots[gap] = (struct seep_torch_live){0};
}

bool seep_torch_blocks_find(const struct seep_torch_blocks *b, uint64_t address,
                            struct seep_torch_live *block)
{
    const size_t at = b->n && address ? find(b, address) : 0;

    if (!b->n || !address || !b->slots[at].address)
        return false;
    *block = b->slots[at];
    return true;
}

bool seep_torch_blocks_take(struct seep_torch_blocks *b, uint64_t address,
                            struct seep_torch_live *block)
{
    if (!seep_torch_blocks_find(b, address, block))
        return false;
    close_gap(b, find(b, address));
    b->n--;
    return true;
}

void seep_torch_blocks_fini(struct seep_torch_blocks *b)
{
    free(b->slots);
    *b = (struct seep_torch_blocks){0};
}
