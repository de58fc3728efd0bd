/* How a process keeps its live set in its own memory (libprof/store/live_blocks.h says why so), and
 * where it does: for code that reads the process's memory from outside, which treats all of it as
 * untrusted. Addresses are the process's. */
#ifndef SEEP_LIBPROF_FORMAT_LIVE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_LIVE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SEEP_PAGE_BITS = 12,
    SEEP_REGION_BITS = 26, /* 64 MiB: 16,384 pages, 256 KiB */
    SEEP_ROOT_BITS = 36,   /* 64 GiB: 1,024 regions */
    SEEP_REGION_PAGES = 1 << (SEEP_REGION_BITS - SEEP_PAGE_BITS),
    SEEP_ROOT_REGIONS = 1 << (SEEP_ROOT_BITS - SEEP_REGION_BITS),
    SEEP_N_ROOTS = 1 << (47 - SEEP_ROOT_BITS),
    SEEP_CELL_SLOTS = 4,
    SEEP_PAGE_GRANULES = 1 << (SEEP_PAGE_BITS - 4),
    SEEP_SHADOW_WORDS = SEEP_PAGE_GRANULES + 2, /* the blocks of the last granules extend beyond */
};

struct seep_block {
    uint32_t site;  /* site index: file offset / 64; 0: none */
    uint32_t birth; /* period */
    uint64_t bytes;
};

/* key: site << 40 | granule in the page << 32 | birth; 0: empty */
struct seep_cell {
    struct {
        uint64_t key;
        uint64_t bytes;
    } slots[SEEP_CELL_SLOTS];
};

struct seep_live_page {
    struct seep_cell *cell;
    uint32_t *shadow;
};

/* The next block of a page's shadow from *granule on, which advances past all of its words: the
 * further ones mean nothing by themselves. Stores where it begins. False: there is none. */
static inline bool seep_shadow_next(const uint32_t *shadow, uint32_t *granule, uint32_t *begins,
                                    struct seep_block *block)
{
    for (; *granule < SEEP_PAGE_GRANULES; ++*granule) {
        const uint32_t *word = shadow + *granule;
        if (!word[0])
            continue;
        const uint32_t large = word[1] & 1;
        *block =
            (struct seep_block){.site = word[0] >> 8,
                                .birth = word[1] >> 1,
                                .bytes = (word[0] & 255) | (large ? (uint64_t)word[2] << 8 : 0)};
        *begins = *granule;
        *granule += 2 + large;
        return true;
    }
    return false;
}

/* The block in a slot of a cell. False: the slot is empty. */
static inline bool seep_cell_block(const struct seep_cell *cell, unsigned slot, uint32_t *begins,
                                   struct seep_block *block)
{
    const uint64_t key = cell->slots[slot].key;

    *begins = (key >> 32) & 255;
    *block = (struct seep_block){
        .site = (uint32_t)(key >> 40), .birth = (uint32_t)key, .bytes = cell->slots[slot].bytes};
    return key != 0;
}

#define SEEP_LIVE_MAGIC UINT64_C(0x6576696c70656573) /* "seeplive" */
enum { SEEP_LIVE_VERSION = 1 };

/* In the process, at `live` of its profile's header. */
struct seep_live_place {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
    uint64_t roots; /* struct seep_live_page **[SEEP_N_ROOTS] */
    uint64_t own;   /* struct seep_own_range[]: seep's own memory; 0 or 1 as start: not in use */
    uint64_t n_own; /* uint32_t: entries beyond were never in use */
    uint64_t data, data_end; /* the library's variables */
};

#endif
