#include "libprof/store/live_walk.h"

static void each_of_shadow(const uint32_t *shadow, uintptr_t page, seep_live_visitor *visit,
                           void *arg)
{
    struct seep_block block;
    uint32_t granule = 0, begins;
    while (seep_shadow_next(shadow, &granule, &begins, &block))
        visit(page + begins * (uintptr_t)16, &block, arg);
}

static void each_of_cell(const struct seep_cell *cell, uintptr_t page, seep_live_visitor *visit,
                         void *arg)
{
    struct seep_block block;
    uint32_t begins;
    for (unsigned i = 0; i < SEEP_CELL_SLOTS; i++)
        if (seep_cell_block(cell, i, &begins, &block))
            visit(page + begins * (uintptr_t)16, &block, arg);
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

/* ---- beside other threads -------------------------------------------------------------------- */

/* Reads the shadow from the page's first word: only then are a block's further words recognised. */
static uintptr_t next_in_shadow(const uint32_t *shadow, uintptr_t page, uintptr_t start,
                                uint64_t *bytes)
{
    for (uintptr_t granule = 0; granule < SEEP_PAGE_GRANULES; granule++) {
        const uint32_t *word = shadow + granule;
        const uint32_t first = __atomic_load_n(&word[0], __ATOMIC_RELAXED);
        if (!first)
            continue;
        const uint32_t large = __atomic_load_n(&word[1], __ATOMIC_RELAXED) & 1;
        *bytes = (first & 255) | (large ? (uint64_t)word[2] << 8 : 0);
        if (page + granule * 16 >= start)
            return page + granule * 16;
        granule += 1 + large;
    }
    return 0;
}

static uintptr_t next_in_cell(const struct seep_cell *cell, uintptr_t page, uintptr_t start,
                              uint64_t *bytes)
{
    uintptr_t nearest = 0;
    for (unsigned i = 0; i < SEEP_CELL_SLOTS; i++) {
        const uint64_t key = __atomic_load_n(&cell->slots[i].key, __ATOMIC_RELAXED);
        const uintptr_t at = page + ((key >> 32) & 255) * 16;
        if (!key || at < start || (nearest && at > nearest))
            continue;
        nearest = at;
        *bytes = __atomic_load_n(&cell->slots[i].bytes, __ATOMIC_RELAXED);
    }
    return nearest;
}

bool seep_live_next(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes)
{
    for (uintptr_t at = start & ~(((uintptr_t)1 << SEEP_PAGE_BITS) - 1); at < end;
         at += (uintptr_t)1 << SEEP_PAGE_BITS) {
        const struct seep_live_page *page = at >> 47 ? NULL : seep_live_page(at);
        const uint32_t *shadow = page ? __atomic_load_n(&page->shadow, __ATOMIC_ACQUIRE) : NULL;
        const struct seep_cell *cell = page ? __atomic_load_n(&page->cell, __ATOMIC_ACQUIRE) : NULL;
        uint64_t its = 0;
        *address = shadow ? next_in_shadow(shadow, at, start, bytes) : 0;
        const uintptr_t other = cell ? next_in_cell(cell, at, start, &its) : 0;
        if (other && (!*address || other < *address)) {
            *address = other;
            *bytes = its;
        }
        if (*address)
            return *address < end;
    }
    return false;
}

bool seep_live_previous(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes)
{
    const uintptr_t page_bytes = (uintptr_t)1 << SEEP_PAGE_BITS;
    for (uintptr_t page = (end - 1) & ~(page_bytes - 1); page + page_bytes > start && end > start;
         page -= page_bytes) {
        const uintptr_t stop = page + page_bytes < end ? page + page_bytes : end;
        uintptr_t from = page > start ? page : start;
        bool found = false;
        for (; seep_live_next(from, stop, address, bytes); from = *address + 1)
            found = true;
        if (found)
            return seep_live_next(from - 1, stop, address, bytes);
    }
    return false;
}

bool seep_live_has(uintptr_t address)
{
    const struct seep_live_page *page = address >> 47 ? NULL : seep_live_page(address);
    const uint32_t *shadow = page ? __atomic_load_n(&page->shadow, __ATOMIC_ACQUIRE) : NULL;
    const struct seep_cell *cell = page ? __atomic_load_n(&page->cell, __ATOMIC_ACQUIRE) : NULL;
    const uint32_t granule = seep_live_granule(address);
    if (shadow && __atomic_load_n(&shadow[granule], __ATOMIC_RELAXED))
        return true;
    for (unsigned i = 0; cell && i < SEEP_CELL_SLOTS; i++) {
        const uint64_t key = __atomic_load_n(&cell->slots[i].key, __ATOMIC_RELAXED);
        if (key && (key >> 32 & 255) == granule)
            return true;
    }
    return false;
}
