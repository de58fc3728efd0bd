/* What only the top can know: all modules of the shim, and which function of an upper room serves
 * each upcall of a lower one (preload/record/upcalls.h).
 *
 * One row a module: its lock, and what it does in a forked child and after code was unloaded. A
 * module that has any of these is listed here, and nowhere else.
 *
 * Locks are taken from the top of the list down, also when one is taken while another is held: a
 * checked build holds it (libprof/contract.h, tests/e2e/test_checked.py). Code is forgotten from
 * the top down, too: first by the rules and frames of stacks, then by the threads, which would
 * otherwise learn from them again. */
#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/range_map.h"
#include "preload/device/caller.h"
#include "preload/device/layout.h"
#include "preload/device/use.h"
#include "preload/hooks/new.h"
#include "preload/life/start.h"
#include "preload/objects/modules.h"
#include "preload/python/pyframe.h"
#include "preload/record/capture.h"
#include "preload/record/frames.h"
#include "preload/record/main_loop.h"
#include "preload/record/shm_segments.h"
#include "preload/record/steps.h"
#include "preload/record/tick.h"
#include "preload/record/upcalls.h"
#include "preload/snapshot/snapshot.h"
#include "preload/stack/stack_range.h"
#include "preload/stack/walk.h"

static struct seep_lock *first_live_lock(void)
{
    return seep_live_lock(0);
}

static struct seep_lock *second_live_lock(void)
{
    return seep_live_lock(1);
}

static struct seep_lock *arena_lock(void)
{
    return &seep_arena.lock;
}

static const struct module {
    struct seep_lock *(*lock)(void);
    void (*after_fork)(void);
    void (*forget)(void); /* code */
} modules[] = {
    {.lock = seep_start_lock},
    {.lock = seep_tick_lock, .after_fork = seep_tick_after_fork},
    {.lock = seep_snapshot_lock, .after_fork = seep_snapshot_after_fork},
    {.lock = seep_caller_lock, .after_fork = seep_caller_after_fork},
    {.lock = seep_modules_lock, .after_fork = seep_modules_after_fork},
    {.forget = seep_walk_forget},
    {.after_fork = seep_capture_after_fork, .forget = seep_frames_forget},
    {.lock = seep_steps_lock, .after_fork = seep_steps_after_fork},
    {.after_fork = seep_main_loop_after_fork, .forget = seep_main_loop_forget},
    {.lock = seep_threads_lock,
     .after_fork = seep_threads_after_fork,
     .forget = seep_threads_forget},
    {.lock = seep_layout_lock, .after_fork = seep_layout_after_fork},
    {.lock = seep_stack_range_lock, .after_fork = seep_stack_range_after_fork},
    {.lock = first_live_lock, .after_fork = seep_live_after_fork},
    {.lock = second_live_lock},
    {.after_fork = seep_device_after_fork},
    {.lock = seep_segments_lock, .after_fork = seep_segments_after_fork},
    {.lock = seep_range_lock, .after_fork = seep_range_after_fork},
    {.lock = arena_lock}, /* a child has its own arena */
    {.forget = seep_new_forget},
    {.after_fork = seep_python_after_fork, .forget = seep_python_attach},
};

enum { N_MODULES = sizeof modules / sizeof *modules };
_Static_assert(N_MODULES < 32, "a bit for each");

/* From now on a checked build ends a thread that takes locks in another order than the table's. */
static void rank_locks(void)
{
#ifdef SEEP_CHECKED
    for (uint32_t i = 0; i < N_MODULES; i++)
        if (modules[i].lock)
            modules[i].lock()->rank = i + 1;
#endif
}

static uint32_t lock_all(void)
{
    uint32_t held = 0;
    for (unsigned i = 0; i < N_MODULES; i++)
        if (modules[i].lock && seep_os_lock(modules[i].lock()))
            held |= UINT32_C(1) << i;
    return held;
}

static void unlock_all(uint32_t held)
{
    for (unsigned i = N_MODULES; i-- > 0;)
        if (held & UINT32_C(1) << i)
            seep_os_unlock(modules[i].lock());
}

static void after_fork(void)
{
#ifdef SEEP_CHECKED
    seep_os_ranks_held = 0;
#endif
    for (unsigned i = 0; i < N_MODULES; i++)
        if (modules[i].after_fork)
            modules[i].after_fork();
}

/* Other code may now lie where the unloaded code was. */
static void forget_code(void)
{
    for (unsigned i = 0; i < N_MODULES; i++)
        if (modules[i].forget)
            modules[i].forget();
}

static void watch_objects(void)
{
    rank_locks();
    seep_modules_on_object = seep_new_find;
    seep_modules_on_unload = forget_code;
}

const struct seep_upcalls seep_upcalls = {
    .start = seep_start,
    .wakes = seep_start_wakes,
    .start_waits = seep_start_waits,
    .promote_helper = seep_start_promote_helper,
    .resolve_rank = seep_start_resolve_rank,
    .resolve_allocator = seep_start_resolve_allocator,
    .snapshot_look = seep_snapshot_look,
    .snapshot_at_oom = seep_snapshot_at_oom,
    .snapshot_before_end = seep_snapshot_before_end,
    .snapshot_goes_on = seep_snapshot_goes_on,
    .lock_all = lock_all,
    .unlock_all = unlock_all,
    .after_fork = after_fork,
    .watch_objects = watch_objects,
};
