/* The live set: which blocks exist, which site made them, how large they are, when they were made.
 *
 * A directory by address leads from a page of the heap to what is known of the blocks that begin in
 * it: a cell of four slots, and, for pages with more, a shadow of one 32-bit word for each 16
 * bytes. So there is no lock and no rehash, and memory is proportional to the blocks: 64 bytes for
 * a page with up to four, a quarter of the page if it is full of small ones.
 *
 * In the shadow a block uses the words of its own first granules: allocators place blocks at least
 * 32 bytes apart (glibc, also mimalloc and jemalloc above 16 bytes), and a block of more than 32
 * bytes covers a third word.
 *
 *   word 0   site index << 8 | low 8 bits of the size; 0: no block here
 *   word 1   birth period << 1 | (word 2 is in use)
 *   word 2   size >> 8
 *
 * Blocks that this cannot hold (below 16-byte alignment, above 47 bits, small blocks of an
 * allocator that packs them 16 bytes apart) go to a small hash beside it. Private memory: a forked
 * child inherits it. Runtime part. Threads: any, as long as a block is handled by one thread at a
 * time, which its owner guarantees by holding it. */
#ifndef SEEP_LIBPROF_STORE_LIVE_BLOCKS_H
#define SEEP_LIBPROF_STORE_LIVE_BLOCKS_H

#include "libprof/format/live_format.h"
#include "libprof/store/os.h"

/* The directory has three levels, so that little address space is taken from a job that has little.
 */
extern struct seep_live_page **seep_live_roots[SEEP_N_ROOTS];

/* The allocator in use may place blocks of up to 16 bytes 16 bytes apart (set once, at start). */
extern bool seep_live_packed;

/* Slow paths. */
struct seep_live_page *seep_live_region_create(uintptr_t address);
struct seep_cell *seep_live_cell_create(struct seep_live_page *page);
uint32_t *seep_live_shadow_create(struct seep_live_page *page);
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

static inline bool seep_live_spills(uintptr_t address, uint64_t bytes)
{
    return (address & 15) != 0 || address >> 47 != 0 || (seep_live_packed && bytes <= 16);
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
        struct seep_live_page *pages = address >> 47 ? NULL : seep_live_region(address);
        if (!pages)
            return NULL;
        *near = (struct seep_live_near){region + 1, pages};
    }
    return &near->pages[(address >> SEEP_PAGE_BITS) & (SEEP_REGION_PAGES - 1)];
}

static inline uint32_t seep_live_granule(uintptr_t address)
{
    return (address >> 4) & ((1u << (SEEP_PAGE_BITS - 4)) - 1);
}

/* Call it long before a block is put or taken, so the cache lines are loaded while other work is
 * done. */
static inline void seep_live_prefetch(const struct seep_live_page *page, uintptr_t address)
{
    if (page && page->shadow)
        __builtin_prefetch(page->shadow + seep_live_granule(address), 1);
    else if (page)
        __builtin_prefetch(page->cell, 1);
}

static inline void seep_shadow_put(uint32_t *word, const struct seep_block *block)
{
    uint32_t large = block->bytes > 255;
    word[1] = block->birth << 1 | large;
    if (large)
        word[2] = (uint32_t)(block->bytes >> 8);
    word[0] = block->site << 8 | (uint32_t)(block->bytes & 255);
}

/* Adds a block that is in no page's shadow or cell yet; `page` may be NULL. */
static inline SEEP_EACH_EVENT bool seep_live_put_in(struct seep_live_page *page, uintptr_t address,
                                                    const struct seep_block *block)
{
    if (__builtin_expect(!page, 0) && !(page = seep_live_region_create(address)))
        return false;
    uint32_t granule = seep_live_granule(address);
    uint32_t *shadow = __atomic_load_n(&page->shadow, __ATOMIC_ACQUIRE);
    if (__builtin_expect(shadow != NULL, 1)) {
        seep_shadow_put(shadow + granule, block);
        return true;
    }
    struct seep_cell *cell = __atomic_load_n(&page->cell, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!cell, 0) && !(cell = seep_live_cell_create(page)))
        return false;
    uint64_t key = (uint64_t)block->site << 40 | (uint64_t)granule << 32 | block->birth;
    for (unsigned i = 0; i < SEEP_CELL_SLOTS; i++) {
        uint64_t empty = 0;
        if (!cell->slots[i].key &&
            __atomic_compare_exchange_n(&cell->slots[i].key, &empty, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            cell->slots[i].bytes = block->bytes;
            return true;
        }
    }
    shadow = seep_live_shadow_create(page);
    if (!shadow)
        return false;
    seep_shadow_put(shadow + granule, block);
    return true;
}

static inline bool seep_shadow_take(uint32_t *word, struct seep_block *block)
{
    uint32_t first = word[0], second = word[1];
    if (!first)
        return false;
    block->site = first >> 8;
    block->birth = second >> 1;
    block->bytes = first & 255;
    if (second & 1) {
        block->bytes |= (uint64_t)word[2] << 8;
        word[2] = 0;
    }
    word[1] = 0; /* it may become another block's first word */
    word[0] = 0;
    return true;
}

static inline bool seep_live_take_from(struct seep_live_page *page, uintptr_t address,
                                       struct seep_block *block)
{
    const uint64_t granule = seep_live_granule(address);
    uint32_t *shadow = __atomic_load_n(&page->shadow, __ATOMIC_ACQUIRE);
    if (shadow && seep_shadow_take(shadow + granule, block))
        return true;
    struct seep_cell *cell = __atomic_load_n(&page->cell, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; cell && i < SEEP_CELL_SLOTS; i++) {
        uint64_t key = __atomic_load_n(&cell->slots[i].key, __ATOMIC_RELAXED);
        if ((key & UINT64_C(255) << 32) == granule << 32 && key) {
            block->site = (uint32_t)(key >> 40);
            block->birth = (uint32_t)key;
            block->bytes = cell->slots[i].bytes;
            __atomic_store_n(&cell->slots[i].key, 0, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

/* Removes the block at `address`, in `page`, and stores what it was. False: there is none. */
static inline bool seep_live_take_at(struct seep_live_page *page, uintptr_t address,
                                     struct seep_block *block)
{
    if (__builtin_expect((address & 15) != 0 || address >> 47 != 0, 0))
        return seep_live_spill_take(address, block);
    if (__builtin_expect(page != NULL, 1) && seep_live_take_from(page, address, block))
        return true;
    /* An ordinary malloc's query must not take the lock of blocks that are merely announced. */
    return __builtin_expect(seep_live_packed, 0) && seep_live_spilled &&
           seep_live_spill_take(address, block);
}

static inline bool seep_live_take(uintptr_t address, struct seep_block *block)
{
    return seep_live_take_at(address >> 47 ? NULL : seep_live_page(address), address, block);
}

/* Adds a block in `page`, replacing any block there: a block believed live where another begins was
 * freed where no hook could see it. `stale` describes it; its site is 0 if there was none. False:
 * no memory for the new block. */
static inline bool seep_live_replace_at(struct seep_live_page *page, uintptr_t address,
                                        const struct seep_block *block, struct seep_block *stale)
{
    stale->site = 0;
    if (__builtin_expect(seep_live_spills(address, block->bytes), 0)) {
        (void)seep_live_take_at(page, address, stale);
        return seep_live_spill_put(address, block);
    }
    if (__builtin_expect(page != NULL, 1) && !seep_live_take_from(page, address, stale) &&
        __builtin_expect(seep_live_packed, 0))
        (void)seep_live_spill_take(address, stale);
    return seep_live_put_in(page, address, block);
}

/* Adds a block where there is none. False: no memory for it. */
static inline bool seep_live_put(uintptr_t address, const struct seep_block *block)
{
    if (__builtin_expect(seep_live_spills(address, block->bytes), 0))
        return seep_live_spill_put(address, block);
    return seep_live_put_in(seep_live_page(address), address, block);
}

#endif
