#include "libprof/runtime/store/site_table.h"

#include "libprof/runtime/store/site_series.h"

SEEP_HOT uint32_t seep_sites_first_own;
bool seep_sites_threaded;

/* A detail with its series takes ten times as much as a site, and compilers that run in the job
 * (XLA, LLVM, MLIR) use hundreds of thousands of stacks that each hold next to nothing. So a site
 * gets a detail once it has been active in some periods, since most sites of a job belong to its
 * start, and has held as much as the detail itself takes, or much for a moment. A site that holds
 * much gets it in its second period: a site active once an epoch has few. Until then `detail`
 * counts the periods. */
enum { MUCH = 16 * 1024 };

static bool deserves_detail(const struct seep_site *site, uint32_t periods)
{
    uint64_t live = __atomic_load_n(&site->allocated_bytes, __ATOMIC_RELAXED) -
                    __atomic_load_n(&site->freed_bytes, __ATOMIC_RELAXED);
    if ((int64_t)live >= MUCH)
        return true;
    return periods >= SEEP_MANY_PERIODS &&
           ((int64_t)live >= SEEP_WORTH_SERIES_BYTES ||
            __atomic_load_n(&site->peak_bytes, __ATOMIC_RELAXED) >= MUCH);
}

static uint32_t site_hash(uint32_t stack, unsigned kind)
{
    return seep_hash_mix((uint64_t)stack << 16 | kind);
}

static uint32_t hash_at(uint32_t index)
{
    const struct seep_site *site = seep_site_at(index);
    return site_hash(site->stack, seep_site_kind(site->space, site->coarseness));
}

static bool same_site(uint32_t index, const void *key)
{
    const struct seep_site *site = seep_site_at(index), *wanted = key;
    return site->stack == wanted->stack && site->space == wanted->space &&
           site->coarseness == wanted->coarseness;
}

static uint32_t create_locked(uint32_t stack, unsigned kind, uint32_t slot_plus_1)
{
    uint32_t ref = seep_arena_take(SEEP_CHUNK_SITES, sizeof(struct seep_site), 64);
    if (!ref)
        return 0;
    struct seep_site *site = seep_arena_at(ref);
    site->stack = stack;
    site->space = (uint8_t)kind;
    site->coarseness = (uint8_t)(kind >> 8);
    __atomic_store_n(&site->slot_plus_1, (uint16_t)slot_plus_1, __ATOMIC_RELEASE);
    return ref / 8;
}

static uint32_t create(struct seep_sites *sites, uint32_t stack, unsigned kind)
{
    if (!seep_os_lock(&seep_arena.lock))
        return 0;
    uint32_t index = create_locked(stack, kind, sites->slot + 1);
    seep_os_unlock(&seep_arena.lock);
    return index;
}

/* Those of the host's blocks that are not all recorded come after the spaces. */
static unsigned overflow_place(unsigned kind)
{
    return kind >> 8 ? SEEP_MAX_SPACES + (kind >> 8) - 1 : kind;
}

static void create_overflow(unsigned kind)
{
    uint32_t *index = &seep_arena.overflow[overflow_place(kind)];
    if (!*index)
        __atomic_store_n(index, create_locked(0, kind, SEEP_SLOT_SHARED), __ATOMIC_RELEASE);
}

/* One site of each kind takes what cannot have a site of its own, in any thread. The file's first
 * sites are those of the kinds that every job may have, so they exist even when it is full. */
static uint32_t overflow(unsigned kind)
{
    uint32_t *index = &seep_arena.overflow[overflow_place(kind)];
    uint32_t there = __atomic_load_n(index, __ATOMIC_ACQUIRE);
    if (there || !seep_os_lock(&seep_arena.lock))
        return there;
    const bool has_coarse = seep_arena.header->sample_bytes && !seep_arena_counting;
    for (unsigned s = 0; s <= SEEP_SPACE_SHM; s++)
        create_overflow(s);
    for (unsigned c = 1; c <= SEEP_MAX_COARSENESS && has_coarse; c++)
        create_overflow(seep_site_kind(SEEP_SPACE_HOST, c));
    create_overflow(kind);
    seep_os_unlock(&seep_arena.lock);
    return *index;
}

uint32_t seep_site_find(struct seep_sites *sites, uint32_t stack, unsigned kind)
{
    uint32_t rest = overflow(kind);
    if (!stack)
        return rest;
    const struct seep_site key = {
        .stack = stack, .space = (uint8_t)kind, .coarseness = (uint8_t)(kind >> 8)};
    uint32_t hash = site_hash(stack, kind);
    uint32_t index = seep_ref_index_find(&sites->index, hash, same_site, &key);
    if (index)
        return index;
    if (!seep_ref_index_reserve(&sites->index, hash_at) || !(index = create(sites, stack, kind)))
        return rest;
    seep_ref_index_add(&sites->index, hash, index);
    return index;
}

static struct seep_detail *detail_create(struct seep_site *site)
{
    struct seep_detail *detail = seep_site_detail(site);
    if (detail || seep_arena.full || !seep_os_lock(&seep_arena.lock))
        return detail;
    detail = seep_site_detail(site);
    uint32_t ref = detail ? 0 : seep_arena_take(SEEP_CHUNK_DETAILS, sizeof(*detail), 64);
    if (ref) {
        detail = seep_arena_at(ref);
        detail->site = seep_arena_ref(site);
        __atomic_store_n(&site->detail, ref, __ATOMIC_RELEASE);
    }
    seep_os_unlock(&seep_arena.lock);
    return detail;
}

SEEP_EACH_EVENT void seep_site_touch(struct seep_site *site, uint32_t period)
{
    struct seep_detail *detail = seep_site_detail(site);
    uint32_t last = seep_period_of(&site->last_period);
    if (!__atomic_load_n(&site->allocations, __ATOMIC_RELAXED) && !detail) { /* its first event */
        __atomic_store_n(&site->first_period, period, __ATOMIC_RELAXED);
        __atomic_store_n(&site->last_period, period, __ATOMIC_RELAXED);
        return;
    }
    if (period < last)
        return; /* another thread has seen a later period */
    if (!detail) {
        uint32_t before = __atomic_load_n(&site->detail, __ATOMIC_RELAXED);
        uint32_t periods = before < SEEP_MANY_PERIODS ? before + 1 : SEEP_MANY_PERIODS;
        if (!deserves_detail(site, periods)) {
            if (periods != before)
                (void)__atomic_compare_exchange_n(&site->detail, &before, periods, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
            __atomic_store_n(&site->last_period, period, __ATOMIC_RELAXED);
            return;
        }
        detail = detail_create(site);
    }
    if (detail)
        seep_series_note(detail, site, last);
    __atomic_store_n(&site->last_period, period, __ATOMIC_RELAXED);
}

static void lifetime_note(struct seep_detail *detail, uint32_t age, uint64_t n)
{
    uint32_t *count = &detail->lifetimes[seep_lifetime_bucket(age)];
    if (n > UINT32_MAX || __atomic_add_fetch(count, (uint32_t)n, __ATOMIC_RELAXED) < n)
        __atomic_store_n(count, UINT32_MAX, __ATOMIC_RELAXED);
    if (age > detail->max_lifetime)
        detail->max_lifetime = age;
}

void seep_site_free_late(struct seep_site *site, uint32_t age, uint64_t n)
{
    struct seep_detail *detail = seep_site_detail(site);
    if (detail)
        lifetime_note(detail, age, n);
}

void seep_site_free_remote(struct seep_site *site, uint64_t n, uint64_t bytes, uint32_t birth,
                           uint32_t period)
{
    struct seep_detail *detail = detail_create(site);
    if (!detail) { /* no room: an atomic add may race with the owner's store, and one of the two may
                    * be lost */
        __atomic_fetch_add(&site->frees, n, __ATOMIC_RELAXED);
        __atomic_fetch_add(&site->freed_bytes, bytes, __ATOMIC_RELAXED);
        return;
    }
    if (seep_period_of(&site->last_period) < period)
        seep_site_touch(site, period);
    __atomic_fetch_add(&detail->remote_frees, n, __ATOMIC_RELAXED);
    __atomic_fetch_add(&detail->remote_freed_bytes, bytes, __ATOMIC_RELAXED);
    if (birth < period && n)
        lifetime_note(detail, period - birth, n);
}

static void raise_peak(uint64_t *peak, uint32_t *peak_period, uint64_t live, uint32_t period)
{
    uint64_t old = __atomic_load_n(peak, __ATOMIC_RELAXED);
    while ((int64_t)live > (int64_t)old)
        if (__atomic_compare_exchange_n(peak, &old, live, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(peak_period, period, __ATOMIC_RELAXED);
            return;
        }
}

/* For a site that no thread owns: sizes are not noted. Each such event is one without its stack,
 * unless stacks are not wanted (yet). */
void seep_site_allocated_shared(struct seep_site *site, uint64_t n, uint64_t bytes, uint32_t period)
{
    if (!seep_arena_counting)
        seep_arena_drop_n(seep_arena_reason(), n);
    if (seep_period_of(&site->last_period) != period)
        seep_site_touch(site, period);
    __atomic_fetch_add(&site->allocations, n, __ATOMIC_RELAXED);
    uint64_t live = __atomic_add_fetch(&site->allocated_bytes, bytes, __ATOMIC_RELAXED) -
                    __atomic_load_n(&site->freed_bytes, __ATOMIC_RELAXED);
    const struct seep_detail *detail = seep_site_detail(site);
    if (detail)
        live -= __atomic_load_n(&detail->remote_freed_bytes, __ATOMIC_RELAXED);
    raise_peak(&site->peak_bytes, &site->peak_period, live, period);
}

void seep_site_free_inherited(struct seep_sites *sites, const struct seep_block *block, uint64_t n,
                              uint64_t bytes, uint32_t period)
{
    const struct seep_site *parents = seep_site_at(block->site);
    unsigned space = parents->space;
    uint32_t index = seep_site_find(sites, parents->stack, space);
    if (!index)
        return;
    struct seep_site *site = seep_site_at(index);
    struct seep_detail *detail = detail_create(site);
    if (detail) {
        __atomic_fetch_add(&detail->inherited_frees, n, __ATOMIC_RELAXED);
        __atomic_fetch_add(&detail->inherited_freed_bytes, bytes, __ATOMIC_RELAXED);
    }
    if (!site->first_period)
        site->first_period = period;
}

static void note_peak(struct seep_sites *sites, unsigned space)
{
    const struct seep_space *s = &seep_arena.header->spaces[space];
    sites->spaces[space].at_peak = (int64_t)(__atomic_load_n(&s->peak_bytes, __ATOMIC_RELAXED) -
                                             __atomic_load_n(&s->live_bytes, __ATOMIC_RELAXED));
}

void seep_space_flush(struct seep_sites *sites, unsigned space, uint32_t period)
{
    struct seep_space *s = &seep_arena.header->spaces[space];
    uint64_t pending = (uint64_t)sites->spaces[space].pending;
    uint64_t live = __atomic_add_fetch(&s->live_bytes, pending, __ATOMIC_RELAXED);
    sites->spaces[space].pending = 0;
    raise_peak(&s->peak_bytes, &s->peak_period, live, period);
    note_peak(sites, space);
}

/* More is live than when the peak was looked at. Only this thread records, so nobody else writes
 * what is live or the peak. */
void seep_space_raise(struct seep_sites *sites, unsigned space, uint32_t period)
{
    struct seep_space *s = &seep_arena.header->spaces[space];
    uint64_t live = s->live_bytes + (uint64_t)sites->spaces[space].pending;
    if ((int64_t)live > (int64_t)s->peak_bytes) {
        s->peak_bytes = live;
        s->peak_period = period;
    }
    note_peak(sites, space);
}
