/* PyTorch tells its profiler of every block that an allocator hands out or takes back, by functions
 * of libc10 that all callers reach through the table of dynamic calls: these stand in front of
 * them. They are called with the allocator's lock held: never the interpreter, CUDA or PyTorch from
 * here.
 *
 * A device is two bytes, its type and its number. Of the CPU nothing is taken here: its blocks come
 * from malloc or mmap, which are hooked, or are told of at the end of this file. */
#include <errno.h>

#include "preload/device/backward.h"
#include "preload/device/caller.h"
#include "preload/device/device_blocks.h"
#include "preload/device/device_oom.h"
#include "preload/device/hidden.h"
#include "preload/device/layout.h"
#include "preload/device/use.h"
#include "preload/record/capture.h"
#include "preload/record/tick.h"

enum { TYPE_CUDA = 1 };

/* One report; `totals`: it includes the allocator's own totals. */
struct report {
    void *block;
    int64_t bytes; /* negative: a free */
    uint64_t allocated_bytes, reserved_bytes;
    bool totals;
    uint16_t device;
};

static uint8_t number_of(uint16_t device)
{
    return (uint8_t)(device >> 8);
}

static unsigned space_of(uint16_t device)
{
    return seep_device_blocks_of_device("tensor", number_of(device));
}

static bool is_recorded(uint16_t device)
{
    return (device & 0xff) == TYPE_CUDA && number_of(device) < SEEP_MAX_DEVICES;
}

/* The totals are those after the report. A device's reports come one after the other, because its
 * allocator holds its lock. */
static void compare(struct seep_tensor_books *books, const struct report *r)
{
    const uint64_t live = books->live_bytes;
    const uint64_t off =
        live > r->allocated_bytes ? live - r->allocated_bytes : r->allocated_bytes - live;
    books->allocated_bytes = r->allocated_bytes;
    books->reserved_bytes = r->reserved_bytes;
    if (off > books->drift_bytes)
        books->drift_bytes = off;
}

static void record(const struct report *r, const struct seep_regs *regs)
{
    struct seep_tensor_books *books = &seep_arena.header->devices.tensors[number_of(r->device)];
    const unsigned space = space_of(r->device);
    if (!space || !r->block || !r->bytes)
        return;
    if (r->bytes > 0) {
        seep_backward_watch(space);
        struct seep_thread *thread = seep_tls.thread;
        seep_tick(thread);
        const uint32_t site = seep_capture(thread, regs, space);
        seep_device_blocks_made(space, r->block, (uint64_t)r->bytes,
                                seep_backward_site(thread, site, space));
        __atomic_fetch_add(&books->live_bytes, (uint64_t)r->bytes, __ATOMIC_RELAXED);
        seep_layout_settled(number_of(r->device));
    } else {
        const uint64_t gone =
            seep_device_blocks_gone(space, r->block); /* 0 of one made before us */
        __atomic_fetch_sub(&books->live_bytes, gone, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&books->reports, 1, __ATOMIC_RELAXED);
    if (r->totals)
        compare(books, r);
}

static void reported(enum seep_hook hook, const struct report *r, const struct seep_regs *regs)
{
    if (!is_recorded(r->device) || !seep_device_enter())
        return;
    const int saved_errno = errno;
    seep_note_hook(hook);
    record(r, regs);
    errno = saved_errno;
    seep_leave();
}

/* ---- the functions, as they are called from 1.9 on, from 1.10 on, and from 2.0 on --------------
 */

#define REPORT      _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE
#define REPORT_1_10 _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
#define REPORT_2    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

SEEP_EXPORT void REPORT(void *block, int64_t bytes, uint16_t device)
{
    const struct seep_regs regs = SEEP_REGS();
    const struct report r = {.block = block, .bytes = bytes, .device = device};
    reported(SEEP_HOOK_OF(REPORT), &r, &regs);
    void (*real)(void *, int64_t, uint16_t);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(REPORT));
    if (real)
        real(block, bytes, device);
}

/* The two differ in the sign of a missing value. */
static inline void with_totals(enum seep_hook hook, const struct report *r,
                               const struct seep_regs *regs)
{
    reported(hook, r, regs);
    void (*real)(void *, int64_t, uint64_t, uint64_t, uint16_t);
    *(void **)&real = seep_caller_real(regs->ra, hook);
    if (real)
        real(r->block, r->bytes, r->allocated_bytes, r->reserved_bytes, r->device);
}

SEEP_EXPORT void REPORT_1_10(void *block, int64_t bytes, int64_t allocated, int64_t reserved,
                             uint16_t device)
{
    const struct seep_regs regs = SEEP_REGS();
    const struct report r = {block, bytes, (uint64_t)allocated, (uint64_t)reserved, true, device};
    with_totals(SEEP_HOOK_OF(REPORT_1_10), &r, &regs);
}

SEEP_EXPORT void REPORT_2(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved,
                          uint16_t device)
{
    const struct seep_regs regs = SEEP_REGS();
    const struct report r = {block, bytes, allocated, reserved, true, device};
    with_totals(SEEP_HOOK_OF(REPORT_2), &r, &regs);
}

/* ---- out of memory --------------------------------------------------------------------------- */

#define OUT_1_10 _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE
#define OUT_2    _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE

static void note_failure(const struct report *r, const struct seep_regs *regs)
{
    const struct seep_device_oom what = {.asked_bytes = (uint64_t)r->bytes,
                                         .allocated_bytes = r->allocated_bytes,
                                         .reserved_bytes = r->reserved_bytes,
                                         .device = number_of(r->device),
                                         .source = SEEP_OOM_BY_ALLOCATOR};
    seep_device_oom_note(&what, regs, space_of(r->device));
}

static inline void ran_out(enum seep_hook hook, const struct report *r,
                           const struct seep_regs *regs)
{
    if (is_recorded(r->device) && seep_device_enter()) {
        const int saved_errno = errno;
        seep_note_hook(hook);
        note_failure(r, regs);
        errno = saved_errno;
        seep_leave();
    }
    void (*real)(int64_t, uint64_t, uint64_t, uint16_t);
    *(void **)&real = seep_caller_real(regs->ra, hook);
    if (real)
        real(r->bytes, r->allocated_bytes, r->reserved_bytes, r->device);
}

SEEP_EXPORT void OUT_1_10(int64_t bytes, int64_t allocated, int64_t reserved, uint16_t device)
{
    const struct seep_regs regs = SEEP_REGS();
    const struct report r = {NULL, bytes, (uint64_t)allocated, (uint64_t)reserved, true, device};
    ran_out(SEEP_HOOK_OF(OUT_1_10), &r, &regs);
}

SEEP_EXPORT void OUT_2(int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device)
{
    const struct seep_regs regs = SEEP_REGS();
    const struct report r = {NULL, bytes, allocated, reserved, true, device};
    ran_out(SEEP_HOOK_OF(OUT_2), &r, &regs);
}

/* ---- of the CPU ------------------------------------------------------------------------------ */

/* PyTorch's allocators of host memory report each block to their profiler. Most get it from malloc,
 * where it is seen anyway; but a PyTorch that was built with an allocator of its own hides it
 * there. Other reports for the CPU are about the same blocks. */

#define MADE_ON_CPU _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm
#define GONE_ON_CPU _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv

SEEP_EXPORT void MADE_ON_CPU(void *reporter, void *block, size_t bytes)
{
    const struct seep_regs regs = SEEP_REGS();
    if (block && bytes && seep_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(MADE_ON_CPU));
        seep_hidden_made(block, bytes, &regs);
        errno = saved_errno;
        seep_leave();
    }
    void (*real)(void *, void *, size_t);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(MADE_ON_CPU));
    if (real)
        real(reporter, block, bytes);
}

SEEP_EXPORT void GONE_ON_CPU(void *reporter, void *block)
{
    const struct seep_regs regs = SEEP_REGS();
    if (block && seep_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(GONE_ON_CPU));
        seep_hidden_gone(block);
        errno = saved_errno;
        seep_leave();
    }
    void (*real)(void *, void *);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(GONE_ON_CPU));
    if (real)
        real(reporter, block);
}
