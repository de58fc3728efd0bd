#include "preload/record/record.h"

#include "libprof/arch/arch.h"
#include "libprof/format/page_format.h"
#include "preload/job/job.h"
#include "preload/python/pyframe.h"
#include "preload/record/capture.h"
#include "preload/record/main_loop.h"
#include "preload/record/map_set.h"
#include "preload/record/steps.h"
#include "preload/record/tick.h"

enum { LARGE = 64 * 1024 };

/* How coarsely a block of so many bytes is recorded at a coarseness other than 0. */
static inline unsigned coarseness_of(uint64_t bytes, unsigned coarseness)
{
    const uint64_t gap = seep_sample_gap(seep_sampling.gap_bytes, coarseness);
    const bool is_certain =
        bytes >= seep_sampling.exact_bytes || bytes / SEEP_SAMPLE_CERTAIN >= gap;
    return is_certain || seep_arena_counting ? 0 : coarseness;
}

/* For how many blocks this one counts, and their bytes. */
static inline void scale(uintptr_t block, uint64_t bytes, unsigned coarseness, uint64_t *n,
                         uint64_t *total)
{
    *n = 1;
    *total = bytes;
    if (__builtin_expect(coarseness != 0, 0)) {
        *n = seep_sample_weight(block, bytes, seep_sample_gap(seep_sampling.gap_bytes, coarseness));
        *total = *n * bytes;
    }
}

/* Counts an event. True: something may be due. */
static inline bool count_event(struct seep_thread *thread)
{
    return __builtin_expect(++thread->ticks % SEEP_EVENTS_PER_TICK == 0, 0);
}

/* Something is due again so many events sooner. */
static void skip(struct seep_thread *thread, uint32_t n)
{
    thread->ticks += n;
    thread->meter.skipped += n;
}

/* So that a job with a rhythm of its own is not always met at the same point of it. */
static void skip_by_chance(struct seep_thread *thread)
{
    skip(thread, seep_sampler_random(&thread->sampler) % SEEP_EVENTS_BY_CHANCE);
}

static __attribute__((noinline)) void freed_pages(uintptr_t address, const struct seep_block *block)
{
    struct seep_thread *thread = seep_tls.thread;
    /* Libc unmaps large blocks where no hook sees it, and one may have been a fibre's stack. */
    if (block->bytes >= LARGE)
        seep_stack_range_unmap(address, address + block->bytes);
    if (block->bytes >= SEEP_BYTES_PER_TICK) {
        seep_tick_slices();
        seep_main_loop_catch_up(thread); /* what is freed may be what the loop has filled */
    }
    if (thread->shared.bytes)
        seep_map_inherit(thread, block->bytes, block->site);
}

static SEEP_EACH_EVENT void freed(uintptr_t address, const struct seep_block *block)
{
    uint64_t n, bytes;
    if (__builtin_expect(block->bytes >= SEEP_LEAST_PAGE_BYTES, 0))
        freed_pages(address, block);
    scale(address, block->bytes, seep_site_coarseness(block), &n, &bytes);
    seep_site_freed(&seep_tls.thread->sites, block, n, bytes, *seep_period);
}

void seep_record_release(void *address, const struct seep_block *held)
{
    freed(seep_arch_untagged((uintptr_t)address), held);
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
        seep_host_oom_watch(thread, bytes, site);
}

static inline bool is_taken(struct seep_thread *thread, uint64_t bytes, unsigned coarseness)
{
    return seep_sampler_takes(&thread->sampler, bytes,
                              seep_sample_gap(seep_sampling.gap_bytes, coarseness));
}

static void pass_over(struct seep_thread *thread, const void *address, uint64_t bytes)
{
    thread->passed_over = address;
    if (seep_python_ready)
        seep_capture_marks(thread);
    if (__builtin_expect(is_watched(thread), 0))
        watch(thread, bytes, 0);
}

/* What may be due, and then the event itself, which is counted a second time. */
static __attribute__((noinline)) void tick_and_record(struct seep_thread *thread, void *address,
                                                      uint64_t bytes, const struct seep_regs *regs)
{
    seep_tick(thread);
    seep_steps_pass_time(thread);
    seep_main_loop_review(thread);
    skip_by_chance(thread);
    thread->meter.skipped++;
    const uint64_t began = seep_meter_begin(&thread->meter, true);
    seep_record_allocation(address, bytes, regs);
    if (began)
        seep_meter_end(&thread->meter, began, thread->ticks);
}

static __attribute__((noinline)) void tick_by_size(struct seep_thread *thread)
{
    seep_tick_without_look(thread);
    seep_steps_pass_time(thread);
}

SEEP_EACH_EVENT void seep_record_allocation(void *address, uint64_t bytes,
                                            const struct seep_regs *regs)
{
    struct seep_thread *thread = seep_tls.thread;
    if (count_event(thread)) {
        tick_and_record(thread, address, bytes, regs);
        return;
    }
    if (__builtin_expect(bytes >= SEEP_BYTES_PER_TICK, 0))
        tick_by_size(thread);
    struct seep_block block, stale;
    struct seep_live_page *page =
        seep_live_page_near(&seep_tls.near, seep_arch_untagged((uintptr_t)address));
    seep_live_prefetch(page, seep_arch_untagged((uintptr_t)address));
    unsigned coarseness = __atomic_load_n(&seep_sampling.coarseness, __ATOMIC_RELAXED);
    if (__builtin_expect(coarseness != 0, 0) && (coarseness = coarseness_of(bytes, coarseness)) &&
        !is_taken(thread, bytes, coarseness)) {
        pass_over(thread, address, bytes);
        return;
    }
    block.site = seep_capture(thread, regs, seep_site_kind(SEEP_SPACE_HOST, coarseness));
    if (__builtin_expect(is_watched(thread), 0))
        watch(thread, bytes, block.site);
    if (__builtin_expect(!block.site, 0)) {
        seep_arena_drop(seep_arena_reason());
        return;
    }
    block.birth = *seep_period;
    block.bytes = bytes;
    const bool entered =
        seep_live_replace_at(page, seep_arch_untagged((uintptr_t)address), &block, &stale);
    if (__builtin_expect(stale.site != 0, 0))
        freed(seep_arch_untagged((uintptr_t)address), &stale);
    if (__builtin_expect(!entered, 0)) {
        seep_arena_drop(SEEP_DROP_MEMORY);
        return;
    }
    uint64_t n, total;
    scale(seep_arch_untagged((uintptr_t)address), bytes, coarseness, &n, &total);
    seep_site_allocated(&thread->sites, seep_site_at(block.site), n, total, bytes, block.birth);
}

static __attribute__((noinline)) void tick_and_free(struct seep_thread *thread, void *address)
{
    seep_tick_without_look(thread);
    seep_main_loop_catch_up(thread);
    skip(thread, SEEP_EVENTS_PER_TICK - SEEP_EVENTS_AFTER_FREE - 1);
    thread->meter.skipped++;
    const uint64_t began = seep_meter_begin(&thread->meter, false);
    seep_record_free(address);
    if (began)
        seep_meter_end(&thread->meter, began, thread->ticks);
}

SEEP_EACH_EVENT void seep_record_free(void *address)
{
    struct seep_block block;
    if (count_event(seep_tls.thread)) {
        tick_and_free(seep_tls.thread, address);
        return;
    }
    struct seep_live_page *page =
        seep_live_page_near(&seep_tls.near, seep_arch_untagged((uintptr_t)address));
    if (__builtin_expect(seep_live_take_at(page, seep_arch_untagged((uintptr_t)address), &block),
                         1))
        freed(seep_arch_untagged((uintptr_t)address), &block);
    else if (!seep_arena.header->coarsest)
        seep_arena_drop(SEEP_DROP_FREE_UNKNOWN);
}

SEEP_EACH_EVENT void seep_record_move_begins(void)
{
    struct seep_thread *thread = seep_tls.thread;
    if (__builtin_expect((thread->ticks + 1) % SEEP_EVENTS_PER_TICK == 0, 0))
        seep_tick(thread);
    thread->moves = true;
}

void seep_record_move_ends(void)
{
    struct seep_thread *thread = seep_tls.thread;
    thread->moves = false;
    if (__builtin_expect(thread->look_waits, 0))
        skip(thread, SEEP_EVENTS_PER_TICK - 1 - thread->ticks % SEEP_EVENTS_PER_TICK);
}

void seep_record_hold(void *address, struct seep_block *held)
{
    if (!seep_live_take(seep_arch_untagged((uintptr_t)address), held))
        held->site = 0;
}

void seep_record_put_back(void *address, const struct seep_block *held)
{
    (void)seep_live_put(seep_arch_untagged((uintptr_t)address), held);
}
