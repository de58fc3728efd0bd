#include "libprof/runtime/store/live_blocks.h"

#include <limits.h>

#include "libprof/format/page_format.h"

SEEP_LARGE struct seep_live_page **seep_live_roots[SEEP_N_ROOTS];
uint32_t seep_live_spilled;

/* ---- the directory --------------------------------------------------------------------------- */

/* Stores the address of zeroed pages of `bytes` at `slot`, unless another thread has already done
 * so. */
static void *create_once(void **slot, size_t bytes)
{
    void *expected = NULL, *fresh = seep_os_pages(bytes);
    if (!fresh)
        return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (__atomic_compare_exchange_n(slot, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    seep_os_unmap(fresh, bytes);
    return expected;
}

struct seep_live_page *seep_live_region_create(uintptr_t address)
{
    void **root = (void **)&seep_live_roots[address >> SEEP_ROOT_BITS];
    void **regions = __atomic_load_n(root, __ATOMIC_ACQUIRE);
    if (!regions && !(regions = create_once(root, SEEP_ROOT_REGIONS * sizeof(void *))))
        return NULL;
    size_t index = (address >> SEEP_REGION_BITS) & (SEEP_ROOT_REGIONS - 1);
    if (!create_once(&regions[index], SEEP_REGION_PAGES * sizeof(struct seep_live_page)))
        return NULL;
    return seep_live_page(address);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static struct seep_lock slab_lock;

static char *slab, *slab_end;
static char *piece, *piece_end; /* of a line, for tables of less */
static size_t slabs_bytes;

/* Slabs grow with what was taken before, so there are few of them. */
static bool slab_make(void)
{
    enum { SMALL = 256 * 1024, SHARE = 16 };
    size_t bytes = (slabs_bytes / SHARE / SMALL + 1) * SMALL;
    if (bytes > SEEP_HUGE_PAGE)
        bytes &= ~(size_t)(SEEP_HUGE_PAGE - 1);
    char *fresh = seep_os_table(bytes);
    if (!fresh && !(fresh = seep_os_pages(bytes = SMALL)))
        return false;
    if (bytes < SEEP_HUGE_PAGE)
        seep_os_populate(fresh, bytes);
    slab = fresh;
    slab_end = fresh + bytes;
    slabs_bytes += bytes;
    return true;
}

/* Zeroed memory that is never given back: what a page of the heap needed once, it needs again.
 * NULL: there is none. */
static uint64_t *table_take(size_t bytes)
{
    enum { LINE = SEEP_LINE_WORDS * sizeof(uint64_t) };
    const bool whole = bytes >= LINE;
    if (whole || (size_t)(piece_end - piece) < bytes) {
        const size_t taken = whole ? bytes : LINE;
        if ((size_t)(slab_end - slab) < taken && !slab_make())
            return NULL;
        slab += taken;
        if (whole)
            return (uint64_t *)(void *)(slab - taken);
        piece = slab - LINE;
        piece_end = slab;
    }
    piece += bytes;
    return (uint64_t *)(void *)(piece - bytes);
}

/* ---- searches -------------------------------------------------------------------------------- */

uint64_t seep_live_search(struct seep_live_page *page, uint32_t granule, bool rest, bool removes)
{
    const unsigned shift = rest ? SEEP_WORD_KIND_SHIFT : SEEP_WORD_GRANULE_SHIFT;
    const uint64_t key =
        rest ? seep_word_kind_of_rest(granule) : (uint64_t)SEEP_PAGE_GRANULES | granule;
    uint64_t *line = page->words, word = 0;
    for (unsigned n = SEEP_PAGE_WORDS;;) {
        for (unsigned i = 0; i < n; i++) {
            word = __atomic_load_n(&line[i], __ATOMIC_ACQUIRE);
            if (word >> shift == key && (!removes || seep_live_remove(&line[i], i == n - 1, word)))
                return word;
        }
        /* The line's last may have become a link just now. */
        word = __atomic_load_n(&line[n - 1], __ATOMIC_ACQUIRE);
        if (!seep_word_is_link(word))
            return 0;
        line = seep_live_follow(word, &granule);
        n = seep_link_width(word);
    }
}

bool seep_live_take_slow(struct seep_live_page *page, uintptr_t address, struct seep_block *block)
{
    if (seep_live_spills(address))
        return seep_live_spill_take(address, block);
    const uint64_t word =
        page ? seep_live_search(page, seep_live_granule(address), false, true) : 0;
    if (!word)
        return false;
    if (word & SEEP_WORD_IS_LARGE)
        return seep_live_take_rest(page, word, block);
    *block = seep_word_block(word, 0);
    return true;
}

bool seep_live_take_rest(struct seep_live_page *page, uint64_t first, struct seep_block *block)
{
    const uint64_t rest = seep_live_search(page, seep_word_granule(first), true, true);
    *block = seep_word_block(first, rest);
    return rest != 0;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* From a page's words to one of its lines. */
struct way {
    uint64_t *line;
    unsigned n; /* words of the line */
    unsigned depth;
    uint32_t lines[SEEP_TABLE_DEPTH]; /* of each table on the way, [depth] */
};

/* Where in the line's share of the page, of 256. */
static uint32_t place_of(const struct way *way, uint64_t word)
{
    uint32_t place = seep_word_granule(word);
    for (unsigned i = 0; i < way->depth; i++)
        place = place * way->lines[i] % SEEP_PAGE_GRANULES;
    return place;
}

/* Blocks of which at least five fill a page. */
static bool is_short(uint64_t word)
{
    enum { SHORT = 768 };
    return (word & SEEP_WORD_IS_BLOCK) && !(word & SEEP_WORD_IS_LARGE) &&
           seep_word_bits(word, 0, SEEP_WORD_BYTES_BITS) < SHORT;
}

/* How many words the table behind a full line needs for the rest of what its share of the page is
 * likely to hold: as much as the stretch between the known blocks, in proportion. A table of less
 * than a line is slower, and only for pages of long blocks. */
static unsigned words_wanted(const struct way *way, uint64_t word)
{
    uint32_t low = place_of(way, word), high = low, n = 1;
    bool wide = way->depth || is_short(word);
    for (unsigned i = 0; i < way->n; i++) {
        const uint64_t known = __atomic_load_n(&way->line[i], __ATOMIC_RELAXED);
        const uint32_t place = place_of(way, known);
        if (seep_word_is_empty(known))
            continue;
        low = place < low ? place : low;
        high = place > high ? place : high;
        wide = wide || is_short(known);
        n++;
    }
    const unsigned likely = high > low ? (n - 1) * SEEP_PAGE_GRANULES / (high - low) : n;
    const unsigned rest = likely > way->n ? likely - (way->n - 1) : 0;
    const unsigned least =
        wide ? (unsigned)SEEP_LINE_WORDS << (way->depth ? way->depth - 1 : 0) : 2;
    return rest > least ? rest : least;
}

/* The most lines of a page's first table: two blocks and a third say little if they are small, as
 * larger ones may follow. The page before it says more. */
static unsigned most_lines(const struct seep_live_page *page)
{
    enum { FEW = 2 };
    /* There may be none before it: a region's begin where a page of memory does. */
    const bool is_first = (uintptr_t)page % SEEP_LEAST_PAGE_BYTES == 0;
    const uint64_t link = is_first ? 0 : seep_live_last(page[-1].words, SEEP_PAGE_WORDS);
    const unsigned twice = seep_word_is_link(link) ? seep_link_lines(link) * 2 : 0;
    return twice > FEW ? twice : FEW;
}

/* Of so many equal lines some get more blocks than others. */
static unsigned lines_for(unsigned words, unsigned most)
{
    const unsigned lines = (words * 2 + 12) / 13;
    return words <= SEEP_LINE_WORDS ? 1 : lines < most ? lines : most;
}

/* Makes the last word of a full line a link, unless it is one. 0: no memory. */
static uint64_t link_make(const struct seep_live_page *page, const struct way *way, uint64_t word)
{
    uint64_t *last = &way->line[way->n - 1], old = __atomic_load_n(last, __ATOMIC_ACQUIRE);
    if (seep_word_is_link(old))
        return old;
    const unsigned wanted = words_wanted(way, word), few = way->depth ? UINT_MAX : most_lines(page);
    const unsigned lines = lines_for(wanted, few < SEEP_TABLE_LINES ? few : SEEP_TABLE_LINES);
    const unsigned width_code = wanted <= 2 ? 0 : wanted <= 4 ? 1 : 2;
    uint64_t *table = table_take(((size_t)lines * sizeof(uint64_t)) << (width_code + 1));
    if (!table)
        return 0;
    const uint64_t link = (uint64_t)lines << SEEP_LINK_LINES_SHIFT |
                          (uint64_t)width_code << SEEP_LINK_WIDTH_SHIFT | (uintptr_t)table / 2;
    for (;;) { /* its owner may have removed the block meanwhile, and another be there */
        uint32_t place = place_of(way, old);
        uint64_t *line = seep_live_follow(link, &place);
        line[0] = old;
        if (seep_live_swap(last, old, link))
            return link;
        line[0] = 0;
        old = __atomic_load_n(last, __ATOMIC_ACQUIRE);
    }
}

static bool put_word(struct seep_live_page *page, uint64_t word)
{
    struct way way = {.line = page->words, .n = SEEP_PAGE_WORDS};
    uint32_t place = seep_word_granule(word);
    for (;; way.depth++) {
        uint64_t link = __atomic_load_n(&way.line[way.n - 1], __ATOMIC_ACQUIRE);
        /* Where a page has a table, only what has no room there lies beside it. */
        for (unsigned i = 0; i < way.n && (way.depth || !seep_word_is_link(link)); i++)
            if (seep_live_fill(&way.line[i], word))
                return true;
        if (way.depth == 1 && seep_live_fill(&page->words[0], word))
            return true;
        if (way.depth == SEEP_TABLE_DEPTH || !seep_os_lock(&slab_lock))
            return false;
        link = link_make(page, &way, word);
        seep_os_unlock(&slab_lock);
        if (!link)
            return false;
        way.line = seep_live_follow(link, &place);
        way.n = seep_link_width(link);
        way.lines[way.depth] = seep_link_lines(link);
    }
}

/* The rest first: whoever sees the block's first word finds it. */
static bool put_large(struct seep_live_page *page, uintptr_t address,
                      const struct seep_block *block)
{
    const uint64_t birth = block->birth;
    const uint64_t rest =
        seep_word_kind_of_rest(seep_live_granule(address)) << SEEP_WORD_KIND_SHIFT |
        SEEP_WORD_IS_REST | birth >> SEEP_WORD_LOWER_BIRTH_BITS << SEEP_WORD_LARGE_BYTES_BITS |
        seep_word_bits(block->bytes, 0, SEEP_WORD_LARGE_BYTES_BITS);
    const uint64_t first = (uint64_t)seep_live_key(address) << SEEP_WORD_GRANULE_SHIFT |
                           SEEP_WORD_IS_LARGE | (uint64_t)block->site << SEEP_WORD_SITE_SHIFT |
                           seep_word_bits(birth, 0, SEEP_WORD_LOWER_BIRTH_BITS);
    if (!put_word(page, rest))
        return false;
    const bool done = put_word(page, first);
    if (!done)
        (void)seep_live_search(page, seep_live_granule(address), true, true);
    return done;
}

bool seep_live_put_slow(struct seep_live_page *page, uintptr_t address,
                        const struct seep_block *block)
{
    if (seep_live_spills(address))
        return seep_live_spill_put(address, block);
    if (!page && !(page = seep_live_region_create(address)))
        return false;
    return seep_live_is_large(block) ? put_large(page, address, block)
                                     : put_word(page, seep_live_word(address, block));
}

/* ---- beside it ------------------------------------------------------------------------------- */

bool seep_live_any(uintptr_t start, uintptr_t end)
{
    const uintptr_t region = (uintptr_t)1 << SEEP_REGION_BITS, page = 1 << SEEP_PAGE_BITS;
    const uintptr_t root = (uintptr_t)1 << SEEP_ROOT_BITS, top = (uintptr_t)1 << SEEP_ADDRESS_BITS;
    for (uintptr_t at = start & ~(page - 1); at < end && at < top;) {
        const struct seep_live_page *known = seep_live_page(at);
        if (known && (known->words[0] || known->words[1]))
            return true;
        uintptr_t step = known ? page : seep_live_roots[at >> SEEP_ROOT_BITS] ? region : root;
        at = (at & ~(step - 1)) + step;
    }
    return false;
}

/* Blocks that have no granule: linear probing, deletions leave a mark. */
struct spilled {
    uintptr_t address; /* 0 never used, 1 deleted */
    struct seep_block block;
};

static struct spilled *table;
static size_t table_mask, table_used; /* used: including deleted ones */
static struct seep_lock table_lock;

static size_t place(uintptr_t address, size_t mask)
{
    return (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
}

static bool rebuild(void)
{
    size_t capacity = 4096;
    while (capacity < (size_t)seep_live_spilled * 4)
        capacity *= 2;
    struct spilled *fresh = seep_os_table(capacity * sizeof(*fresh));
    if (!fresh)
        return false;
    for (size_t i = 0; table && i <= table_mask; i++) {
        if (table[i].address <= 1)
            continue;
        size_t at = place(table[i].address, capacity - 1);
        while (fresh[at].address)
            at = (at + 1) & (capacity - 1);
        fresh[at] = table[i];
    }
    struct spilled *old = table;
    size_t old_mask = table_mask;
    /* A fork may occur between any two of these: the child's values must be within bounds. */
    if (capacity - 1 < table_mask)
        __atomic_store_n(&table_mask, capacity - 1, __ATOMIC_RELEASE);
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE);
    __atomic_store_n(&table_mask, capacity - 1, __ATOMIC_RELEASE);
    table_used = seep_live_spilled;
    if (old)
        seep_os_unmap(old, (old_mask + 1) * sizeof(*old));
    return true;
}

bool seep_live_spill_put(uintptr_t address, const struct seep_block *block)
{
    if (!seep_os_lock(&table_lock))
        return false;
    bool ok = (table && (table_used + 1) * 3 < table_mask * 2) || rebuild();
    if (ok) {
        size_t at = place(address, table_mask);
        while (table[at].address > 1)
            at = (at + 1) & table_mask;
        table_used += table[at].address == 0;
        table[at].block = *block;
        table[at].address = address;
        __atomic_fetch_add(&seep_live_spilled, 1, __ATOMIC_RELAXED);
    }
    seep_os_unlock(&table_lock);
    return ok;
}

bool seep_live_spill_take(uintptr_t address, struct seep_block *block)
{
    if (!seep_live_spilled || !seep_os_lock(&table_lock))
        return false;
    bool found = false;
    for (size_t at = place(address, table_mask); table[at].address; at = (at + 1) & table_mask) {
        if (table[at].address == address) {
            *block = table[at].block;
            table[at].address = 1;
            __atomic_fetch_sub(&seep_live_spilled, 1, __ATOMIC_RELAXED);
            found = true;
            break;
        }
    }
    seep_os_unlock(&table_lock);
    return found;
}

bool seep_live_spill_next(size_t *at, uintptr_t *address, struct seep_block *block)
{
    while (table && *at <= table_mask) {
        const struct spilled *entry = &table[(*at)++];
        if (entry->address <= 1)
            continue;
        *address = entry->address;
        *block = entry->block;
        return true;
    }
    return false;
}

bool seep_live_spill_take_next(size_t *at, uintptr_t first, uintptr_t last,
                               bool (*wanted)(const struct seep_block *, unsigned what),
                               unsigned what, struct seep_block *block)
{
    bool found = false;
    if (!seep_os_lock(&table_lock))
        return false;
    for (; table && *at <= table_mask && !found; ++*at) {
        struct spilled *entry = &table[*at];
        if (entry->address < first || entry->address > last || !wanted(&entry->block, what))
            continue;
        *block = entry->block;
        entry->address = 1;
        __atomic_fetch_sub(&seep_live_spilled, 1, __ATOMIC_RELAXED);
        found = true;
    }
    seep_os_unlock(&table_lock);
    return found;
}

bool seep_live_spill_visit(uintptr_t first, uintptr_t last, seep_live_visitor *visit, void *arg)
{
    if (!seep_os_lock(&table_lock))
        return false;
    for (size_t at = 0; table && at <= table_mask; at++) {
        if (table[at].address >= first && table[at].address <= last)
            visit(table[at].address, &table[at].block, arg);
    }
    seep_os_unlock(&table_lock);
    return true;
}

void seep_live_after_fork(void)
{
    table_lock.word = 0;
    slab_lock.word = 0;
}

struct seep_lock *seep_live_lock(unsigned which)
{
    return which ? &slab_lock : &table_lock;
}
