#include "libprof/runtime/store/live_walk.h"

enum { PAGE = 1 << SEEP_PAGE_BITS };

/* Through a page's words, and from each link through its table. */
struct walk {
    struct seep_live_page *page;
    struct {
        const uint64_t *at, *end;
    } levels[SEEP_TABLE_DEPTH + 1];
    unsigned depth;
};

static struct walk begin(struct seep_live_page *page)
{
    return (struct walk){.page = page, .levels = {{page->words, page->words + SEEP_PAGE_WORDS}}};
}

static void descend(struct walk *walk, uint64_t link)
{
    const uint64_t *table = (const uint64_t *)(uintptr_t)seep_link_to(link);
    if (walk->depth == SEEP_TABLE_DEPTH)
        return;
    walk->depth++;
    walk->levels[walk->depth].at = table;
    walk->levels[walk->depth].end = table + (size_t)seep_link_lines(link) * seep_link_width(link);
}

/* A large block whose second word is not there is being changed. */
static bool take_block(struct seep_live_page *page, uint64_t word, struct seep_block *block)
{
    const bool large = (word & SEEP_WORD_IS_LARGE) != 0;
    const uint64_t rest = large ? seep_live_search(page, seep_word_granule(word), true, false) : 0;
    if (large && !rest)
        return false;
    *block = seep_word_block(word, rest);
    return true;
}

/* Blocks in any order. Stores where in the page one begins. False: there are no more. */
static bool next_block(struct walk *walk, uintptr_t *begins, struct seep_block *block)
{
    for (;;) {
        while (walk->levels[walk->depth].at == walk->levels[walk->depth].end)
            if (!walk->depth--)
                return false;
        const uint64_t word = __atomic_load_n(walk->levels[walk->depth].at++, __ATOMIC_ACQUIRE);
        if (seep_word_is_link(word))
            descend(walk, word);
        if (!(word & SEEP_WORD_IS_BLOCK) || !take_block(walk->page, word, block))
            continue;
        *begins = seep_word_granule(word) * (uintptr_t)16;
        return true;
    }
}

static void each_of_region(struct seep_live_page *pages, uintptr_t start, seep_live_visitor *visit,
                           void *arg)
{
    struct seep_block block;
    uintptr_t begins;
    for (uintptr_t i = 0; i < SEEP_REGION_PAGES; i++)
        for (struct walk walk = begin(&pages[i]); next_block(&walk, &begins, &block);)
            visit(start + (i << SEEP_PAGE_BITS) + begins, &block, arg);
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

/* Of the blocks of start's page that begin in [start, end) the first, or the last. */
static bool find_in_page(uintptr_t start, uintptr_t end, bool is_last, uintptr_t *address,
                         uint64_t *bytes)
{
    struct seep_live_page *page = seep_is_address(start) ? seep_live_page(start) : NULL;
    struct seep_block block;
    uintptr_t begins;
    bool found = false;
    if (!page)
        return false;
    for (struct walk walk = begin(page); next_block(&walk, &begins, &block);) {
        const uintptr_t at = (start & ~(uintptr_t)(PAGE - 1)) + begins;
        if (at < start || at >= end || (found && (at < *address) == is_last))
            continue;
        *address = at;
        *bytes = block.bytes;
        found = true;
    }
    return found;
}

bool seep_live_next(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes)
{
    for (; start < end; start = (start & ~(uintptr_t)(PAGE - 1)) + PAGE)
        if (find_in_page(start, end, false, address, bytes))
            return true;
    return false;
}

bool seep_live_previous(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes)
{
    while (start < end) {
        const uintptr_t page = (end - 1) & ~(uintptr_t)(PAGE - 1);
        if (find_in_page(page > start ? page : start, end, true, address, bytes))
            return true;
        end = page;
    }
    return false;
}

bool seep_live_large(struct seep_live_page *page, uintptr_t *begins, struct seep_block *block)
{
    const uint64_t last = __atomic_load_n(&page->words[SEEP_PAGE_WORDS - 1], __ATOMIC_ACQUIRE);
    if (seep_word_is_link(last) && seep_link_lines(last) > 1)
        return false;
    for (struct walk walk = begin(page); next_block(&walk, begins, block);)
        if (block->bytes >= PAGE)
            return true;
    return false;
}

bool seep_live_has(uintptr_t address)
{
    struct seep_live_page *page = seep_is_address(address) ? seep_live_page(address) : NULL;
    return page && seep_live_search(page, seep_live_granule(address), false, false);
}
