/* PyTorch may repeat a request that the runtime refused, with success, many times a step: only half
 * of the places are for such requests. */
#include "preload/device/device_shortage.h"

#include "preload/device/backward.h"
#include "preload/device/layout.h"
#include "preload/job/job.h"
#include "preload/record/capture.h"
#include "preload/record/upcalls.h"

enum { MOST_OF_RUNTIME = SEEP_MAX_SHORTAGES / 2 };

/* A place in the table; NULL: none is left for it. */
static struct seep_device_shortage *take_place(struct seep_device_notes *notes, uint32_t source)
{
    const bool is_runtime = source != SEEP_SHORTAGE_BY_ALLOCATOR;
    if (is_runtime) {
        __atomic_fetch_add(&notes->n_refused, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&notes->n_shortages, __ATOMIC_RELAXED) >= MOST_OF_RUNTIME)
            return NULL;
    }
    const uint32_t n = __atomic_fetch_add(&notes->n_shortages, 1, __ATOMIC_RELAXED);
    return n < SEEP_MAX_SHORTAGES ? &notes->shortages[n] : NULL;
}

void seep_device_shortage_note(const struct seep_device_shortage *what,
                               const struct seep_regs *regs, unsigned space)
{
    struct seep_device_shortage *entry = take_place(&seep_arena.header->devices, what->source);
    if (!entry)
        return;
    struct seep_thread *thread = seep_tls.thread;
    const uint32_t captured = space ? seep_capture(thread, regs, space) : 0;
    const uint32_t site = seep_backward_site(thread, captured, space);
    *entry = *what;
    entry->period = *seep_period;
    entry->stack = site ? seep_site_at(site)->stack : 0;
    seep_layout_at_shortage(what->device,
                            what->source == SEEP_SHORTAGE_BY_ALLOCATOR ? SEEP_LAYOUT_FAILED
                                                                       : SEEP_LAYOUT_REFUSED,
                            what->asked_bytes);
    __atomic_store_n(&entry->t_ns, seep_os_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
    if (what->source == SEEP_SHORTAGE_BY_ALLOCATOR)
        seep_upcalls.snapshot_at_shortage(thread);
}
