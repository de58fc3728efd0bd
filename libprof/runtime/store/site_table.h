/* Counters of sites: how much each allocated, how much of it was freed, and how that changed over
 * the periods.
 *
 * A site record belongs to one thread slot, whose thread writes it with plain stores: no atomic
 * operation and no shared cache line on the common path. Blocks freed by another thread are counted
 * in the site's detail with atomic adds. Runtime part. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_SITE_TABLE_H
#define SEEP_LIBPROF_RUNTIME_STORE_SITE_TABLE_H

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/ref_index.h"

/* The sites of one thread slot. */
struct seep_sites {
    uint32_t slot;
    struct {
        int64_t pending; /* bytes not yet added to header.spaces[].live_bytes */
        int64_t at_peak; /* so many of them made the space's peak, while no other thread records */
    } spaces[SEEP_MAX_SPACES];
    struct seep_ref_index index; /* of site indices: file offset / 64 */
};

/* What sites of one stack and slot differ by: the space, and, in the host's, the coarseness. */
static inline unsigned seep_site_kind(unsigned space, unsigned coarseness)
{
    return space | coarseness << 8;
}

static inline struct seep_site *seep_site_at(uint32_t index)
{
    return (struct seep_site *)(seep_arena_base + (uint64_t)index * 64);
}

/* Index of the first site that this process can own; lower ones were inherited by fork. */
extern uint32_t seep_sites_first_own;

/* True once two thread slots have been in use at the same time. */
extern bool seep_sites_threaded;

/* The site of (stack, kind) in this slot, created if new; for `stack` 0, or if no more can be
 * created, the one that all threads share. A space is a kind: that of blocks that are all recorded.
 * Returns its index, 0 if nothing can be recorded. Takes seep_arena.lock to create one, so the
 * caller must not hold it. */
uint32_t seep_site_find(struct seep_sites *sites, uint32_t stack, unsigned kind);

/* How coarsely the blocks of a live block's site are recorded. */
static inline unsigned seep_site_coarseness(const struct seep_block *block)
{
    return __builtin_expect(block->site < SEEP_HEADER_BYTES / 64, 0)
               ? 0 /* a block that overlapped damaged the entry */
               : seep_site_at(block->site)->coarseness;
}

/* True: shared by all threads, for what has no site of its own. */
static inline bool seep_site_is_shared(const struct seep_site *site)
{
    return site->slot_plus_1 == SEEP_SLOT_SHARED;
}

/* Slow paths of the inline functions below. */
void seep_site_touch(struct seep_site *site, uint32_t period);
void seep_site_free_late(struct seep_site *site, uint32_t age, uint64_t n);
void seep_site_free_remote(struct seep_site *site, uint64_t n, uint64_t bytes, uint32_t birth,
                           uint32_t period);
void seep_site_free_inherited(struct seep_sites *sites, const struct seep_block *block, uint64_t n,
                              uint64_t bytes, uint32_t period);
void seep_site_allocated_shared(struct seep_site *site, uint64_t n, uint64_t bytes,
                                uint32_t period);
void seep_space_flush(struct seep_sites *sites, unsigned space, uint32_t period);
void seep_space_raise(struct seep_sites *sites, unsigned space, uint32_t period);

static inline struct seep_detail *seep_site_detail(const struct seep_site *site)
{
    uint32_t ref = __atomic_load_n(&site->detail, __ATOMIC_ACQUIRE);
    return ref >= SEEP_HEADER_BYTES / 8 ? seep_arena_at(ref) : NULL;
}

/* Threads that free a site's blocks, or share the site, write its periods too. */
static inline uint32_t seep_period_of(const uint32_t *period)
{
    return __atomic_load_n(period, __ATOMIC_RELAXED);
}

static inline void seep_counter_add(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void seep_space_add(struct seep_sites *sites, unsigned space, int64_t bytes,
                                  uint32_t period)
{
    enum { BATCH = 64 * 1024 };
    int64_t pending = sites->spaces[space].pending += bytes;
    if (__builtin_expect(pending >= BATCH || pending <= -BATCH, 0))
        seep_space_flush(sites, space, period);
    else if (__builtin_expect(pending > sites->spaces[space].at_peak, 0) && !seep_sites_threaded)
        seep_space_raise(sites, space, period);
}

static inline void seep_size_note(struct seep_detail *detail, uint64_t bytes, uint64_t n)
{
    if (bytes == detail->min_bytes && bytes == detail->max_bytes && bytes)
        return; /* all the same size so far: min_bytes has it, and most sites stay so */
    unsigned log2 = bytes ? 63u - (unsigned)__builtin_clzll(bytes) : 0;
    detail->sizes[log2 < SEEP_SIZE_BUCKETS ? log2 : SEEP_SIZE_BUCKETS - 1] += (uint32_t)n;
    detail->size_marks |= seep_size_mark(bytes);
    if (bytes > detail->max_bytes)
        detail->max_bytes = bytes;
    if (bytes < detail->min_bytes || !detail->min_bytes)
        detail->min_bytes = bytes;
}

/* Counts an allocation of `n` objects (1, or more for a sampled one) of `bytes` in all; n is 0 if
 * only more of a map is in use than before. */
static inline void seep_site_allocated(struct seep_sites *sites, struct seep_site *site, uint64_t n,
                                       uint64_t bytes, uint64_t object_bytes, uint32_t period)
{
    if (__builtin_expect(site->slot_plus_1 != sites->slot + 1, 0)) {
        seep_site_allocated_shared(site, n, bytes, period);
        seep_space_add(sites, site->space, (int64_t)bytes, period);
        return;
    }
    if (__builtin_expect(seep_period_of(&site->last_period) != period, 0))
        seep_site_touch(site, period);
    seep_counter_add(&site->allocations, n);
    seep_counter_add(&site->allocated_bytes, bytes);
    uint64_t live = site->allocated_bytes - site->freed_bytes;
    struct seep_detail *detail = seep_site_detail(site);
    if (detail) {
        live -= __atomic_load_n(&detail->remote_freed_bytes, __ATOMIC_RELAXED);
        if (n)
            seep_size_note(detail, object_bytes, n);
    }
    if (live > site->peak_bytes) {
        site->peak_bytes = live;
        site->peak_period = period;
    }
    seep_space_add(sites, site->space, (int64_t)bytes, period);
}

/* Of `bytes` of its live blocks, `untouched` lie in pages that were never touched. From one thread
 * at a time. */
static inline void seep_site_looked_at(uint32_t index, uint64_t bytes, uint64_t untouched)
{
    const bool is_own = index >= SEEP_HEADER_BYTES / 64 && index >= seep_sites_first_own;
    struct seep_detail *detail = is_own ? seep_site_detail(seep_site_at(index)) : NULL;
    if (!detail)
        return;
    seep_counter_add(&detail->looked_bytes, bytes);
    seep_counter_add(&detail->untouched_bytes, untouched);
}

/* Counts the free of a block from the live set: `n` objects of `bytes` in all; n is 0 if only a
 * part of a map has gone. */
static inline void seep_site_freed(struct seep_sites *sites, const struct seep_block *block,
                                   uint64_t n, uint64_t bytes, uint32_t period)
{
    if (__builtin_expect(block->site < SEEP_HEADER_BYTES / 64, 0))
        return; /* no site: a block that overlapped damaged the entry */
    struct seep_site *site = seep_site_at(block->site);
    if (__builtin_expect(block->site < seep_sites_first_own, 0)) {
        seep_site_free_inherited(sites, block, n, bytes, period);
        return;
    }
    if (__builtin_expect(site->slot_plus_1 != sites->slot + 1, 0)) {
        seep_site_free_remote(site, n, bytes, block->birth, period);
    } else {
        if (__builtin_expect(seep_period_of(&site->last_period) != period, 0))
            seep_site_touch(site, period);
        seep_counter_add(&site->frees, n);
        seep_counter_add(&site->freed_bytes, bytes);
        if (__builtin_expect(block->birth < period, 0) && n)
            seep_site_free_late(site, period - block->birth, n);
    }
    seep_space_add(sites, site->space, -(int64_t)bytes, period);
}

#endif
