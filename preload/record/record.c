#include "preload/record/record.h"

#include "preload/job/job.h"
#include "preload/record/capture.h"
#include "preload/record/main_loop.h"
#include "preload/record/map_set.h"
#include "preload/record/tick.h"

SEEP_HOT uint64_t seep_sample_bytes;

/* e^−x for 0 ≤ x < 8, to 1e-9: ten terms at x / 64, squared six times. */
static double exp_minus(double x)
{
    double y = -x / 64, term = 1, sum = 1;
    for (int i = 1; i <= 10; i++) {
        term *= y / i;
        sum += term;
    }
    for (int i = 0; i < 6; i++)
        sum *= sum;
    return sum;
}

static uint64_t random_next(struct seep_thread *thread)
{
    uint64_t x = thread->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return thread->random = x;
}

/* −ln(u) for u uniform in (0, 1]: the gap to the next sample in units of the mean. ln by the series
 * of atanh on the mantissa. */
static double exponential(struct seep_thread *thread)
{
    uint64_t bits = (random_next(thread) >> 12) | 1;
    unsigned leading = (unsigned)__builtin_clzll(bits) - 12;
    double mantissa = (double)(bits << leading) / 4503599627370496.0; /* [1/2, 1) */
    double z = (mantissa - 1) / (mantissa + 1), z2 = z * z;
    double ln =
        2 * z * (1 + z2 * (1. / 3 + z2 * (1. / 5 + z2 * (1. / 7 + z2 * (1. / 9 + z2 / 11)))));
    return 0.6931471805599453 * leading - ln;
}

enum { PAGE = 4096, LARGE = 64 * 1024 };

/* Above this many mean gaps an object is certain (> 99 %) to be taken, so it is, as itself. */
enum { CERTAIN = 5 };

static bool sampled(struct seep_thread *thread, uint64_t bytes)
{
    if (bytes >= CERTAIN * seep_sample_bytes)
        return true;
    if (!thread->until_sample)
        thread->until_sample = 1 + (int64_t)(exponential(thread) * (double)seep_sample_bytes);
    thread->until_sample -= (int64_t)bytes + 1; /* + 1: an empty block is an object too */
    if (thread->until_sample > 0)
        return false;
    thread->until_sample = 0;
    return true;
}

/* How many objects a sampled one stands for: 1 / P(it is taken), rounded up or down by its address
 * so that the mean is right and its free finds the same number. */
static uint64_t weight(uintptr_t block, uint64_t bytes)
{
    if (bytes >= CERTAIN * seep_sample_bytes)
        return 1;
    double w = 1 / (1 - exp_minus((double)(bytes + 1) / (double)seep_sample_bytes));
    uint64_t whole = (uint64_t)w;
    double fraction = (double)seep_hash_mix(block >> 4) / 4294967296.0;
    return whole + (fraction < w - (double)whole);
}

static inline void scale(uintptr_t block, uint64_t bytes, uint64_t *n, uint64_t *total)
{
    *n = 1;
    *total = bytes;
    if (__builtin_expect(seep_sample_bytes != 0, 0)) {
        *n = weight(block, bytes);
        *total = *n * bytes;
    }
}

static inline void count_event(struct seep_thread *thread)
{
    if (__builtin_expect(++thread->ticks % SEEP_EVENTS_PER_TICK == 0, 0)) {
        seep_tick(thread);
        seep_main_loop_review(thread);
    }
}

static inline void count_free(struct seep_thread *thread)
{
    if (__builtin_expect(++thread->ticks % SEEP_EVENTS_PER_TICK == 0, 0)) {
        thread->ticks += SEEP_EVENTS_PER_TICK - SEEP_EVENTS_AFTER_FREE;
        seep_tick_of_free(thread);
    }
}

static __attribute__((noinline)) void freed_pages(uintptr_t address, const struct seep_block *block)
{
    struct seep_thread *thread = seep_tls.thread;
    /* Libc unmaps large blocks where no hook sees it, and one may have been a fibre's stack. */
    if (block->bytes >= LARGE)
        seep_stack_range_unmap(address, address + block->bytes);
    if (thread->shared.bytes)
        seep_map_inherit(thread, block->bytes, block->site);
}

static SEEP_EACH_EVENT void freed(uintptr_t address, const struct seep_block *block)
{
    uint64_t n, bytes;
    if (__builtin_expect(block->bytes >= PAGE, 0))
        freed_pages(address, block);
    scale(address, block->bytes, &n, &bytes);
    seep_site_freed(&seep_tls.thread->sites, block, n, bytes, *seep_period);
}

void seep_record_release(void *address, const struct seep_block *held)
{
    freed((uintptr_t)address, held);
}

/* An import has no main loop. */
static inline bool is_watched(const struct seep_thread *thread)
{
    return (thread->watches & ~(thread->importing ? SEEP_WATCH_LOOPS : 0)) != 0;
}

/* The stack has been captured. */
static __attribute__((noinline)) void watch(struct seep_thread *thread, uint64_t bytes,
                                            uint32_t site)
{
    if (thread->watches & SEEP_WATCH_LOOPS)
        seep_main_loop_event(thread);
    if (thread->watches & SEEP_WATCH_RETRIES)
        seep_host_shortage_watch(thread, bytes, site);
}

SEEP_EACH_EVENT void seep_record_allocation(void *address, uint64_t bytes,
                                            const struct seep_regs *regs)
{
    struct seep_thread *thread = seep_tls.thread;
    struct seep_block block, stale;
    struct seep_live_page *page = seep_live_page_near(&seep_tls.near, (uintptr_t)address);
    seep_live_prefetch(page, (uintptr_t)address);
    count_event(thread);
    if (__builtin_expect(seep_sample_bytes != 0, 0) && !sampled(thread, bytes)) {
        thread->passed_over = address;
        seep_capture_glance(thread);
        if (__builtin_expect(is_watched(thread), 0))
            watch(thread, bytes, 0);
        return;
    }
    block.site = seep_capture(thread, regs, SEEP_SPACE_HOST);
    if (__builtin_expect(is_watched(thread), 0))
        watch(thread, bytes, block.site);
    if (__builtin_expect(!block.site, 0)) {
        seep_arena_drop(seep_arena_reason());
        return;
    }
    block.birth = *seep_period;
    block.bytes = bytes;
    const bool entered = seep_live_replace_at(page, (uintptr_t)address, &block, &stale);
    if (__builtin_expect(stale.site != 0, 0))
        freed((uintptr_t)address, &stale);
    if (__builtin_expect(!entered, 0)) {
        seep_arena_drop(SEEP_DROP_MEMORY);
        return;
    }
    uint64_t n, total;
    scale((uintptr_t)address, bytes, &n, &total);
    seep_site_allocated(&thread->sites, seep_site_at(block.site), n, total, bytes, block.birth);
}

SEEP_EACH_EVENT void seep_record_free(void *address)
{
    struct seep_block block;
    struct seep_live_page *page = seep_live_page_near(&seep_tls.near, (uintptr_t)address);
    count_free(seep_tls.thread);
    if (__builtin_expect(seep_live_take_at(page, (uintptr_t)address, &block), 1))
        freed((uintptr_t)address, &block);
    else if (!seep_sample_bytes)
        seep_arena_drop(SEEP_DROP_FREE_UNKNOWN);
}

void seep_record_hold(void *address, struct seep_block *held)
{
    if (!seep_live_take((uintptr_t)address, held))
        held->site = 0;
}

void seep_record_put_back(void *address, const struct seep_block *held)
{
    (void)seep_live_put((uintptr_t)address, held);
}
