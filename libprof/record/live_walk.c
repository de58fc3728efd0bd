#include "libprof/record/live_walk.h"

enum { GRANULES = 1 << (SEEP_PAGE_BITS - 4) };

/* A block's further words are passed over with it: they say nothing by themselves. */
static void each_of_shadow(const uint32_t *shadow, uintptr_t page, seep_live_visitor *visit,
                           void *arg)
{
    for (uintptr_t granule = 0; granule < GRANULES; granule++) {
        const uint32_t *word = shadow + granule;
        if (!word[0])
            continue;
        const uint32_t large = word[1] & 1;
        struct seep_block block = {.site = word[0] >> 8,
                                   .birth = word[1] >> 1,
                                   .bytes = (word[0] & 255) | (large ? (uint64_t)word[2] << 8 : 0)};
        visit(page + granule * 16, &block, arg);
        granule += 1 + large;
    }
}

static void each_of_cell(const struct seep_cell *cell, uintptr_t page, seep_live_visitor *visit,
                         void *arg)
{
    for (unsigned i = 0; i < SEEP_CELL_SLOTS; i++) {
        const uint64_t key = cell->slots[i].key;
        struct seep_block block = {
            .site = (uint32_t)(key >> 40), .birth = (uint32_t)key, .bytes = cell->slots[i].bytes};
        if (key)
            visit(page + ((key >> 32) & 255) * 16, &block, arg);
    }
}

static void each_of_region(const struct seep_live_page *pages, uintptr_t start,
                           seep_live_visitor *visit, void *arg)
{
    for (uintptr_t i = 0; i < SEEP_REGION_PAGES; i++) {
        const uintptr_t page = start + (i << SEEP_PAGE_BITS);
        if (pages[i].shadow)
            each_of_shadow(pages[i].shadow, page, visit, arg);
        if (pages[i].cell)
            each_of_cell(pages[i].cell, page, visit, arg);
    }
}

void seep_live_each(seep_live_visitor *visit, void *arg)
{
    struct seep_block block;
    uintptr_t address;
    for (uintptr_t root = 0; root < SEEP_N_ROOTS; root++)
        for (uintptr_t i = 0; seep_live_roots[root] && i < SEEP_ROOT_REGIONS; i++)
            if (seep_live_roots[root][i])
                each_of_region(seep_live_roots[root][i],
                               root << SEEP_ROOT_BITS | i << SEEP_REGION_BITS, visit, arg);
    for (size_t at = 0; seep_live_spill_next(&at, &address, &block);)
        visit(address, &block, arg);
}
