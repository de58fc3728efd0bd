#include "preload/record/main_loop.h"

#include <string.h>

#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/objects/modules.h"
#include "preload/record/frames.h"
#include "preload/record/own_time.h"
#include "preload/record/steps.h"
#include "preload/steps/loops.h"

/* How long a loop is watched before it is believed: in any program, in one that may begin to train
 * with PyTorch, and in a child, whose parent may yet make steps for both. */
static const uint64_t watch_ns = 100 * 1000 * 1000;
static const uint64_t watch_torch_ns = 250 * 1000 * 1000;
static const uint64_t watch_child_ns = UINT64_C(10000000000);

static const double share_alone = 0.5, share_beside_rounds = 0.6;
enum { ITERATIONS_A_ROUND = 8, LEAST_BUSY_PERCENT = 20 };

/* The first thread's alone. */
static struct seep_loops loops;
static uint32_t main_frame;
static bool searches;      /* a main loop is looked for */
static bool beside_rounds; /* an optimizer steps, too */
static uint32_t rounds_before;
static uint64_t search_ns, search_cpu_ns;

/* Of the process, 0: not known. */
static uint64_t cpu_ns(void)
{
    struct timespec t = {0};
    (void)seep_os_call3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&t, 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void begin_search(uint64_t now)
{
    seep_loops_restart(&loops);
    searches = true;
    search_ns = now;
    search_cpu_ns = cpu_ns();
    rounds_before = seep_steps_rounds();
}

void seep_main_loop_review(struct seep_thread *thread)
{
    if (!thread->first || !seep_python_ready || seep_arena.counting)
        return;
    bool beside = false, looked = thread->looks;
    thread->looks = seep_steps_want_loop(seep_os_clock_ns(CLOCK_MONOTONIC), &beside) &&
                    !seep_job_follows_steps();
    if (!thread->looks)
        return;
    const uint64_t now = seep_own_time_ns();
    bool known = loops.main.code && seep_steps_by_loop();
    bool search = !known || seep_loops_silent(&loops, now) || seep_loops_unsettled(&loops, now);
    if (search && (!searches || !looked || beside != beside_rounds))
        begin_search(now);
    searches = search;
    beside_rounds = beside;
    if (!known)
        loops.main.code = 0;
}

/* ---- whose loop it is ------------------------------------------------------------------------ */

static enum seep_loop_kind kind_of(const struct seep_pyframe *outermost, unsigned depth)
{
    const struct seep_pystack *stack = &seep_tls.thread->stack;
    enum seep_loop_kind kind = SEEP_LOOP_CALLED;
    if (!seep_os_lock(&seep_arena.lock))
        return kind;
    for (unsigned i = 0; i <= depth; i++) {
        const struct seep_pyframe *frame = outermost - i;
        uint32_t marks, ref;
        (void)seep_frames_python(frame, stack->links[frame - stack->frames].glance, &marks, &ref);
        kind = marks & SEEP_MARK_CALLED    ? SEEP_LOOP_CALLED
               : marks & SEEP_MARK_LIBRARY ? SEEP_LOOP_LIBRARY
                                           : SEEP_LOOP_USER;
        if (kind == SEEP_LOOP_CALLED)
            break;
    }
    seep_os_unlock(&seep_arena.lock);
    return kind;
}

/* The ref of the frame of the loop that has just begun an iteration. */
static uint32_t frame_ref(const struct seep_pystack *stack, unsigned depth)
{
    const unsigned at = SEEP_MAX_PYTHON_FRAMES - 1 - depth;
    uint32_t marks, ref = 0;
    if (seep_os_lock(&seep_arena.lock)) {
        (void)seep_frames_python(&stack->frames[at], stack->links[at].glance, &marks, &ref);
        seep_os_unlock(&seep_arena.lock);
    }
    return ref;
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* A child's parent may be about to make steps that it would follow. */
static bool is_child(void)
{
    static const char python[] = "python";
    uint32_t parent = seep_process->parent_plus_1;
    if (seep_arena.header->parent_file[0])
        return true;
    return parent && seep_job_map && parent <= SEEP_MAX_PROCESSES &&
           memcmp(seep_job_map->processes[parent - 1].name, python, sizeof(python) - 1) == 0;
}

static struct seep_loop_rule rule_now(uint64_t now)
{
    struct seep_loop_rule rule = {
        .watch_ns = is_child()           ? watch_child_ns
                    : seep_modules_torch ? watch_torch_ns
                                         : watch_ns,
        .share = beside_rounds ? share_beside_rounds : share_alone,
        .busy = cpu_ns() - search_cpu_ns >= (now - search_ns) / 100 * LEAST_BUSY_PERCENT,
    };
    if (beside_rounds)
        rule.least = ITERATIONS_A_ROUND * (seep_steps_rounds() - rounds_before + 1);
    return rule;
}

/* Whether another main loop has begun an iteration. */
static bool search(struct seep_thread *thread, const struct seep_pyframe *outermost)
{
    uint64_t now = seep_loops_event(&loops, outermost, thread->stack.n, kind_of, seep_own_time_ns);
    if (!now || now < loops.look_ns)
        return false;
    if (beside_rounds && seep_steps_rounds() - rounds_before < 3)
        return false;
    struct seep_loop_rule rule = rule_now(now);
    if (!seep_loops_choose(&loops, &rule, now))
        return false;
    searches = false;
    main_frame = frame_ref(&thread->stack, loops.main.depth);
    return true;
}

void seep_main_loop_look(struct seep_thread *thread)
{
    const struct seep_pystack *stack = &thread->stack;
    const struct seep_pyframe *outermost = &stack->frames[SEEP_MAX_PYTHON_FRAMES - 1];
    if (!stack->n || stack->cut || thread->importing)
        return;
    bool iterated = loops.main.code && seep_loops_main_event(&loops, outermost, stack->n);
    bool found = searches && search(thread, outermost);
    if (iterated && !found)
        seep_loops_main_iterated(&loops, seep_own_time_ns());
    if (iterated || found)
        seep_steps_looped(thread, main_frame, loops.main.depth + 1, found);
}

void seep_main_loop_after_fork(void)
{
    loops.main.code = 0;
    searches = false;
    seep_own_time_after_fork();
}

void seep_main_loop_forget(void)
{
    seep_main_loop_after_fork();
}
