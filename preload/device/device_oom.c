/* PyTorch may repeat a request that the runtime refused, with success, many times a step: only half
 * of the places are for such requests. */
#include "preload/device/device_oom.h"

#include "libprof/contract.h"
#include "preload/device/backward.h"
#include "preload/device/device_blocks.h"
#include "preload/device/layout.h"
#include "preload/job/job.h"
#include "preload/record/capture.h"
#include "preload/record/upcalls.h"

enum { MOST_OF_RUNTIME = SEEP_MAX_OOMS / 2 };

/* The others may be tried again. */
static bool is_final(uint32_t source)
{
    return source == SEEP_OOM_BY_ALLOCATOR || source == SEEP_OOM_BY_PROGRAM;
}

/* A place in the table; NULL: none is left for it. */
static struct seep_device_oom *take_place(struct seep_device_notes *notes, uint32_t source)
{
    if (!is_final(source)) {
        __atomic_fetch_add(&notes->n_refused, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&notes->n_ooms, __ATOMIC_RELAXED) >= MOST_OF_RUNTIME)
            return NULL;
    }
    const uint32_t n = __atomic_fetch_add(&notes->n_ooms, 1, __ATOMIC_RELAXED);
    return n < SEEP_MAX_OOMS ? &notes->ooms[n] : NULL;
}

void seep_device_oom_note(const struct seep_device_oom *what, const struct seep_regs *regs,
                          unsigned space)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_device_oom *entry = take_place(&seep_arena.header->devices, what->source);
    if (!entry)
        return;
    struct seep_thread *thread = seep_tls.thread;
    const uint32_t captured = space ? seep_capture(thread, regs, space) : 0;
    const uint32_t site = seep_backward_site(thread, captured, space);
    *entry = *what;
    entry->period = *seep_period;
    entry->stack = site ? seep_site_at(site)->stack : 0;
    seep_layout_at_oom(what->device,
                       is_final(what->source) ? SEEP_LAYOUT_FAILED : SEEP_LAYOUT_REFUSED,
                       what->asked_bytes);
    __atomic_store_n(&entry->t_ns, seep_os_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
    if (is_final(what->source))
        seep_upcalls.snapshot_at_oom(thread);
}

/* What is live there now. */
static uint64_t live_bytes(unsigned space)
{
    const int64_t sum = (int64_t)seep_arena.header->spaces[space].live_bytes +
                        seep_tls.thread->sites.spaces[space].pending;
    return space && sum > 0 ? (uint64_t)sum : 0;
}

void seep_device_oom_announced(unsigned space, uint64_t bytes, const struct seep_regs *regs)
{
    SEEP_CHECK(seep_is_inside());
    const unsigned tensors_of = seep_device_blocks_number("tensor", space),
                   device_of = seep_device_blocks_number("device", space);
    const unsigned device = tensors_of < SEEP_MAX_DEVICES ? tensors_of : device_of;
    struct seep_device_oom what = {.asked_bytes = bytes,
                                   .allocated_bytes = live_bytes(space),
                                   .device = device < SEEP_MAX_DEVICES ? device : SEEP_DEVICE_OWN,
                                   .source = SEEP_OOM_BY_PROGRAM,
                                   .space = (uint16_t)space};
    if (tensors_of < SEEP_MAX_DEVICES)
        what.reserved_bytes = live_bytes(seep_device_blocks_find_of_device("device", tensors_of));
    seep_device_oom_note(&what, regs, space);
}
