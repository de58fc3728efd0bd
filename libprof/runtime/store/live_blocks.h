/* The live set: which blocks exist, which site made them, how large they are, when they were made.
 *
 * A directory by address leads from a page of the heap to its words: a block is one of them, or two
 * if it is larger than 4095 bytes or very late (libprof/format/live_format.h). Two words lie in the
 * directory itself. Where they do not suffice, the last of them becomes a link to a table of lines,
 * each for an equal share of the page, of which an event looks at one. A line without room gets a
 * table of its own in the same way. A new table has room for what its share of the page is likely
 * to hold: it is as dense as the blocks known there. So memory is proportional to the blocks, at
 * most 16 bytes for each that is not larger than a page, and mostly 9 to 13.
 *
 * There is no lock and no rehash. A word is put into an empty one by a compare-and-swap, as other
 * threads may put theirs, and removed by its owner alone. Only as a line gets its table a word is
 * moved, from the line's last place, by the one compare-and-swap that puts the link there: so it is
 * at any instant in one place. Tables stay where they are, for the page's further blocks.
 *
 * Blocks that this cannot hold (below 16-byte alignment, above 48 bits) go to a small hash beside
 * it. Private memory: a forked child inherits it. Runtime part. Threads: any, as long as a block is
 * handled by one thread at a time, which its owner guarantees by holding it. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_LIVE_BLOCKS_H
#define SEEP_LIBPROF_RUNTIME_STORE_LIVE_BLOCKS_H

#include "libprof/arch/eight_words.h"
#include "libprof/format/live_format.h"
#include "libprof/runtime/store/os.h"

/* The directory has three levels, so that little address space is taken from a job that has little.
 */
extern struct seep_live_page **seep_live_roots[SEEP_N_ROOTS];

/* Slow paths. */
struct seep_live_page *seep_live_region_create(uintptr_t address);
bool seep_live_put_slow(struct seep_live_page *page, uintptr_t address,
                        const struct seep_block *block);
bool seep_live_take_slow(struct seep_live_page *page, uintptr_t address, struct seep_block *block);
bool seep_live_take_rest(struct seep_live_page *page, uint64_t first, struct seep_block *block);

/* The first word of the block of a granule, or the second one of a large block (`rest`), in any of
 * the places of a page where it may be, at this instant; 0: there is none. `removes`: the block is
 * the caller's, and the word is removed. */
uint64_t seep_live_search(struct seep_live_page *page, uint32_t granule, bool rest, bool removes);
bool seep_live_spill_put(uintptr_t address, const struct seep_block *block);
bool seep_live_spill_take(uintptr_t address, struct seep_block *block);
extern uint32_t seep_live_spilled; /* blocks in the hash beside the array */

/* Blocks in that hash, in order of their places: the next one from *at on (0 at first), which
 * advances past it. Without the hash's lock: for a process that has no other thread. False: there
 * is none. */
bool seep_live_spill_next(size_t *at, uintptr_t *address, struct seep_block *block);

/* Removes the next block from *at on, which advances past it, whose address is in [first, last] and
 * for which `wanted` returns true, given `what`. False: there is none. */
bool seep_live_spill_take_next(size_t *at, uintptr_t first, uintptr_t last,
                               bool (*wanted)(const struct seep_block *, unsigned what),
                               unsigned what, struct seep_block *block);

/* Visits blocks in that hash with addresses in [first, last], under its lock: the visitor must not
 * touch the live set. False: nothing could be visited. */
typedef void seep_live_visitor(uintptr_t address, const struct seep_block *block, void *arg);
bool seep_live_spill_visit(uintptr_t first, uintptr_t last, seep_live_visitor *visit, void *arg);

/* Whether blocks begin, or have ever begun, in pages of [start, end). */
bool seep_live_any(uintptr_t start, uintptr_t end);

/* In a forked child. */
void seep_live_after_fork(void);

/* Its locks, 0 and 1; neither is taken while the other is held. */
struct seep_lock *seep_live_lock(unsigned which);

static inline bool seep_live_spills(uintptr_t address)
{
    return (address & 15) != 0 || !seep_is_address(address);
}

static inline struct seep_live_page *seep_live_region(uintptr_t address)
{
    struct seep_live_page **root =
        __atomic_load_n(&seep_live_roots[address >> SEEP_ROOT_BITS], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!root, 0))
        return NULL;
    return __atomic_load_n(&root[(address >> SEEP_REGION_BITS) & (SEEP_ROOT_REGIONS - 1)],
                           __ATOMIC_ACQUIRE);
}

/* NULL: no block has begun near there. */
static inline struct seep_live_page *seep_live_page(uintptr_t address)
{
    struct seep_live_page *region = seep_live_region(address);
    return region ? &region[(address >> SEEP_PAGE_BITS) & (SEEP_REGION_PAGES - 1)] : NULL;
}

/* The region in which a thread's last block lay: its next one mostly lies there, too, and is found
 * without two levels of the directory. Regions are never given back. All zero at first. */
struct seep_live_near {
    uintptr_t region_plus_1;
    struct seep_live_page *pages;
};

/* The same, for an address of any size. */
static inline struct seep_live_page *seep_live_page_near(struct seep_live_near *near,
                                                         uintptr_t address)
{
    const uintptr_t region = address >> SEEP_REGION_BITS;
    if (__builtin_expect(region + 1 != near->region_plus_1, 0)) {
        struct seep_live_page *pages = seep_is_address(address) ? seep_live_region(address) : NULL;
        if (!pages)
            return NULL;
        *near = (struct seep_live_near){region + 1, pages};
    }
    return &near->pages[(address >> SEEP_PAGE_BITS) & (SEEP_REGION_PAGES - 1)];
}

static inline uint32_t seep_live_granule(uintptr_t address)
{
    return (address >> 4) & (SEEP_PAGE_GRANULES - 1);
}

/* The line of a link's table for a block at `*place`, of 256 of what the link's own line covers.
 * Then it is the place in the share of that line. */
static inline uint64_t *seep_live_follow(uint64_t link, uint32_t *place)
{
    *place *= seep_link_lines(link);
    uint64_t *line = (uint64_t *)(uintptr_t)seep_link_to(link) +
                     (size_t)(*place / SEEP_PAGE_GRANULES) * SEEP_LINE_WORDS;
    *place %= SEEP_PAGE_GRANULES;
    return line;
}

/* The line to which a link leads a block if it has eight words, as most have; NULL: it has less, or
 * there is no link. */
static inline uint64_t *seep_live_wide(uint64_t link, uint32_t *place)
{
    return __builtin_expect(seep_word_is_wide_link(link), 1) ? seep_live_follow(link, place) : NULL;
}

static inline uint64_t seep_live_last(const uint64_t *line, unsigned n)
{
    return __atomic_load_n(&line[n - 1], __ATOMIC_ACQUIRE);
}

/* Call it long before a block is put or taken, so the cache line is loaded while other work is
 * done. */
static inline void seep_live_prefetch(const struct seep_live_page *page, uintptr_t address)
{
    uint32_t place = seep_live_granule(address);
    if (page)
        __builtin_prefetch(seep_live_wide(seep_live_last(page->words, SEEP_PAGE_WORDS), &place), 1);
}

static inline bool seep_live_swap(uint64_t *at, uint64_t word, uint64_t with)
{
    return __atomic_compare_exchange_n(at, &word, with, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* False: it is not empty. */
static inline bool seep_live_fill(uint64_t *at, uint64_t word)
{
    const uint64_t now = __atomic_load_n(at, __ATOMIC_RELAXED);
    return seep_word_is_empty(now) && seep_live_swap(at, now, word);
}

/* False: the word was moved meanwhile, as only the last one of its line is. */
static inline bool seep_live_remove(uint64_t *at, bool last, uint64_t word)
{
    if (__builtin_expect(last, 0))
        return seep_live_swap(at, word, SEEP_WORD_EMPTIED);
    __atomic_store_n(at, SEEP_WORD_EMPTIED, __ATOMIC_RELEASE);
    return true;
}

static inline uint32_t seep_live_key(uintptr_t address)
{
    return SEEP_PAGE_GRANULES | seep_live_granule(address);
}

static inline uint64_t seep_live_word(uintptr_t address, const struct seep_block *block)
{
    return (uint64_t)seep_live_key(address) << SEEP_WORD_GRANULE_SHIFT |
           (uint64_t)block->site << SEEP_WORD_SITE_SHIFT |
           (uint64_t)block->birth << SEEP_WORD_BYTES_BITS | block->bytes;
}

static inline bool seep_live_is_large(const struct seep_block *block)
{
    return (block->bytes >> SEEP_WORD_BYTES_BITS | block->birth >> SEEP_WORD_BIRTH_BITS) != 0;
}

/* Removes the block at `address`, in `page`, and stores what it was. False: there is none. */
static inline SEEP_EACH_EVENT bool seep_live_take_at(struct seep_live_page *page, uintptr_t address,
                                                     struct seep_block *block)
{
    if (__builtin_expect(!page || seep_live_spills(address), 0))
        return seep_live_take_slow(page, address, block);
    const unsigned key = seep_live_key(address);
    uint32_t place = seep_live_granule(address);
    uint64_t *line = seep_live_wide(seep_live_last(page->words, SEEP_PAGE_WORDS), &place);
    unsigned found = 0;
    while (line && !(found = seep_arch_look(line, SEEP_WORD_GRANULE_SHIFT, key)))
        line = seep_live_wide(seep_live_last(line, SEEP_LINE_WORDS), &place);
    if (__builtin_expect(!found, 0))
        return seep_live_take_slow(page, address, block);
    const unsigned i = (unsigned)__builtin_ctz(found);
    const uint64_t word = __atomic_load_n(&line[i], __ATOMIC_RELAXED);
    /* Large, or a link by now: the block was moved. */
    if (__builtin_expect(word >> SEEP_WORD_KIND_SHIFT != (uint64_t)key << 1, 0) ||
        !seep_live_remove(&line[i], i == SEEP_LINE_WORDS - 1, word))
        return seep_live_take_slow(page, address, block);
    *block = seep_word_block(word, 0);
    return true;
}

static inline bool seep_live_take(uintptr_t address, struct seep_block *block)
{
    return seep_live_take_slow(seep_is_address(address) ? seep_live_page(address) : NULL, address,
                               block);
}

/* Adds a small block if it is not there yet and needs no memory. False: the slow paths have to. */
static inline bool seep_live_put_fast(struct seep_live_page *page, uintptr_t address,
                                      const struct seep_block *block)
{
    const unsigned key = seep_live_key(address);
    uint32_t place = seep_live_granule(address);
    const uint64_t first = __atomic_load_n(&page->words[0], __ATOMIC_RELAXED);
    uint64_t link = seep_live_last(page->words, SEEP_PAGE_WORDS), *empty = NULL;
    if (__builtin_expect(first >> SEEP_WORD_GRANULE_SHIFT == key, 0) ||
        __builtin_expect(link >> SEEP_WORD_GRANULE_SHIFT == key, 0))
        return false;
    if (!seep_word_is_link(link))
        empty = &page->words[!seep_word_is_empty(first)];
    for (uint64_t *line; (line = seep_live_wide(link, &place));
         link = seep_live_last(line, SEEP_LINE_WORDS)) {
        const unsigned free = seep_arch_look(line, 32, 0); /* empty, or nearly so */
        if (__builtin_expect(seep_arch_look(line, SEEP_WORD_GRANULE_SHIFT, key) != 0, 0))
            return false;
        if (free && !empty)
            empty = &line[__builtin_ctz(free)];
    }
    return __builtin_expect(empty && !seep_word_is_link(link) && !seep_live_is_large(block), 1) &&
           seep_live_fill(empty, seep_live_word(address, block));
}

/* Adds a block in `page`, replacing any block there: a block believed live where another begins was
 * freed where no hook could see it. `stale` describes it; its site is 0 if there was none. False:
 * no memory for the new block. */
static inline SEEP_EACH_EVENT bool seep_live_replace_at(struct seep_live_page *page,
                                                        uintptr_t address,
                                                        const struct seep_block *block,
                                                        struct seep_block *stale)
{
    stale->site = 0;
    if (__builtin_expect(page && !seep_live_spills(address), 1) &&
        __builtin_expect(seep_live_put_fast(page, address, block), 1))
        return true;
    (void)seep_live_take_slow(page, address, stale);
    return seep_live_put_slow(page, address, block);
}

/* Adds a block where there is none. False: no memory for it. */
static inline bool seep_live_put(uintptr_t address, const struct seep_block *block)
{
    return seep_live_put_slow(seep_is_address(address) ? seep_live_page(address) : NULL, address,
                              block);
}

#endif
