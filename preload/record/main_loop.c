#include "preload/record/main_loop.h"

#include <string.h>

#include "libprof/runtime/store/own_time.h"
#include "libprof/runtime/store/placement.h"
#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/objects/modules.h"
#include "preload/record/frames.h"
#include "preload/record/steps.h"
#include "preload/steps/lap_length.h"
#include "preload/steps/loops.h"

/* How long a loop is watched before it counts: in any program, in one that may begin to train with
 * PyTorch, and in a child whose parent may yet make steps for both. A parent that only waits has
 * started its children to do the work. */
static const uint64_t watch_ns = 100 * 1000 * 1000;
static const uint64_t watch_torch_ns = 250 * 1000 * 1000;
static const uint64_t watch_awaited_ns = UINT64_C(1000000000);
static const uint64_t watch_child_ns = UINT64_C(10000000000);
static const uint64_t parent_silent_ns = UINT64_C(3000000000);

static const double share_alone = 0.5, share_beside_rounds = 0.6;
enum {
    LAP_ROUNDS = 3,
    MAX_LAPS = 1 << 10,
    ITERATIONS_A_ROUND = 8,
    MIN_BUSY_PERCENT = 20,
    SILENT_STEPS = 20
};

/* Used by the first thread only. */
static SEEP_LARGE struct seep_loops loops;
static uint32_t main_frame;
static bool searches;      /* a main loop is looked for */
static bool beside_rounds; /* an optimizer also makes steps */
static uint32_t rounds_before;
static bool in_pool; /* a worker of a pool: a loop in it may just be part of each task */
static uint64_t search_ns, search_cpu_ns, search_parent_ns;

/* Of a process, 0: not known. */
static uint64_t cpu_of(long clock)
{
    struct timespec t = {0};
    (void)seep_os_call3(SYS_clock_gettime, clock, (long)&t, 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return cpu_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* By the clock of its CPU time, as clock_getcpuclockid() makes it. */
static uint64_t cpu_of_process(long pid)
{
    return pid > 1 ? cpu_of(~pid * 8 + 2) : 0;
}

static uint64_t parent_cpu_ns(void)
{
    return cpu_of_process(seep_os_ppid());
}

static void begin_search(uint64_t now)
{
    seep_loops_restart(&loops);
    searches = true;
    search_ns = now;
    search_cpu_ns = cpu_ns();
    search_parent_ns = parent_cpu_ns();
    rounds_before = seep_steps_rounds();
}

/* The process whose steps this one follows has made none for long, compared with its own pace, and
 * has used hardly any CPU since: it only waits. If its steps came from a loop, that loop may have
 * ended. A process that uses a GPU may be waiting for the GPU. */
static bool is_left_alone(uint64_t now)
{
    static uint32_t period;
    static uint64_t since_ns, since_cpu_ns;
    const struct seep_process *leader = seep_job_leader();
    if (!leader || (leader->flags & SEEP_PROCESS_DEVICE && leader->step_source != SEEP_STEP_LOOP))
        return false;
    const uint64_t cpu = cpu_of_process(leader->pid);
    if (period != leader->period || !since_ns) {
        period = leader->period;
        since_ns = now;
        since_cpu_ns = cpu;
    }
    if (now - since_ns < parent_silent_ns)
        return false;
    if (leader->step_source == SEEP_STEP_LOOP)
        return true;
    const uint64_t pace = (since_ns - leader->start_ns) / (leader->steps ? leader->steps : 1);
    return (now - since_ns) / SILENT_STEPS >= pace &&
           (cpu < since_cpu_ns || cpu - since_cpu_ns < (now - since_ns) / 100 * MIN_BUSY_PERCENT);
}

void seep_main_loop_review(struct seep_thread *thread)
{
    if (!thread->first || !seep_python_ready || seep_arena_counting)
        return;
    bool beside = false;
    const bool watched = thread->watches & SEEP_WATCH_LOOPS;
    const uint64_t then = seep_os_clock_ns(CLOCK_MONOTONIC);
    thread->watches &= (uint8_t)~SEEP_WATCH_LOOPS;
    if (!seep_steps_want_loop(thread, then, &beside) ||
        (seep_job_follows_steps() && !is_left_alone(then)))
        return;
    thread->watches |= SEEP_WATCH_LOOPS;
    const uint64_t now = seep_own_time_ns();
    bool known = loops.main.code && seep_steps_by_loop();
    bool search = !known || seep_loops_silent(&loops, now) || seep_loops_unsettled(&loops, now);
    if (search && (!searches || !watched || beside != beside_rounds))
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
        (void)seep_frames_python(frame, stack->links[frame - stack->frames].code_stamp, &marks,
                                 &ref);
        kind = marks & SEEP_MARK_CALLED    ? SEEP_LOOP_CALLED
               : marks & SEEP_MARK_LIBRARY ? SEEP_LOOP_LIBRARY
                                           : SEEP_LOOP_USER;
        in_pool |= (marks & SEEP_MARK_POOL) != 0;
        if ((marks & SEEP_MARK_POOL) && i == depth)
            kind = SEEP_LOOP_CALLED; /* the round of a worker is a task */
        if (kind == SEEP_LOOP_CALLED)
            break;
    }
    seep_os_unlock(&seep_arena.lock);
    return kind;
}

static uint64_t locals_of(const struct seep_pyframe *outermost, unsigned depth)
{
    (void)outermost;
    return seep_python_locals(&seep_tls.thread->stack, depth);
}

static const struct seep_loop_look look = {kind_of, locals_of};

/* The ref of the frame of the loop that has just begun an iteration. */
static uint32_t frame_ref(const struct seep_pystack *stack, unsigned depth)
{
    const unsigned at = SEEP_MAX_PYTHON_FRAMES - 1 - depth;
    uint32_t marks, ref = 0;
    if (seep_os_lock(&seep_arena.lock)) {
        (void)seep_frames_python(&stack->frames[at], stack->links[at].code_stamp, &marks, &ref);
        seep_os_unlock(&seep_arena.lock);
    }
    return ref;
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* A child's parent may yet make steps that the child would follow. */
static bool is_child(void)
{
    static const char python[] = "python";
    uint32_t parent = seep_process->parent_plus_1;
    if (seep_arena.header->parent_file[0])
        return true;
    return parent && seep_job_map && parent <= SEEP_MAX_PROCESSES &&
           memcmp(seep_job_map->processes[parent - 1].name, python, sizeof(python) - 1) == 0;
}

/* The parent has hardly used CPU since the search began, and does not wait for a GPU. It may also
 * have ended. */
static bool parent_waits(uint64_t now)
{
    const uint32_t parent = seep_process->parent_plus_1;
    if (!search_parent_ns || !parent || parent > SEEP_MAX_PROCESSES || in_pool)
        return false;
    if (seep_job_map->processes[parent - 1].flags & SEEP_PROCESS_DEVICE)
        return false;
    const uint64_t cpu = parent_cpu_ns();
    return cpu < search_parent_ns ||
           cpu - search_parent_ns < (now - search_ns) / 100 * MIN_BUSY_PERCENT;
}

static uint64_t watch_now(uint64_t now, bool busy)
{
    if (is_child())
        return busy && parent_waits(now) ? watch_awaited_ns : watch_child_ns;
    return seep_modules_torch ? watch_torch_ns : watch_ns;
}

static struct seep_loop_rule rule_now(uint64_t now)
{
    const bool busy = cpu_ns() - search_cpu_ns >= (now - search_ns) / 100 * MIN_BUSY_PERCENT;
    struct seep_loop_rule rule = {
        .watch_ns = watch_now(now, busy),
        .share = beside_rounds ? share_beside_rounds : share_alone,
        .busy = busy,
    };
    if (beside_rounds)
        rule.least = ITERATIONS_A_ROUND * (seep_steps_rounds() - rounds_before + 1);
    return rule;
}

/* ---- by items -------------------------------------------------------------------------------- */

/* Iterators of for loops are read seldom enough to cost little, and often enough that no lasting
 * iteration is missed: after a pause, and when a place seems to have gone back, at once. */
static const uint64_t soon_ns = 200 * 1000, late_ns = 1000 * 1000;
enum { MAX_EVENTS = 64 };
static struct {
    uint32_t gap, events; /* from one reading to the next; since the last */
    uint64_t last_ns, coarse_ns;
} pace;

static bool is_due(bool back)
{
    const uint64_t coarse = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (++pace.events < pace.gap && !back && coarse == pace.coarse_ns)
        return false;
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC), since = now - pace.last_ns;
    pace.coarse_ns = coarse;
    pace.events = 0;
    if (since < soon_ns) {
        pace.gap = pace.gap < MAX_EVENTS ? 2 * pace.gap + 1 : MAX_EVENTS;
        return false;
    }
    if (since > late_ns)
        pace.gap = (uint32_t)(pace.gap * late_ns / 2 / since);
    pace.last_ns = now;
    return true;
}

/* ---- between events -------------------------------------------------------------------------- */

/* The main loop's iterator as it was read first in a lap of the loop around it, or, by items, last:
 * rounds that allocate nothing show in these two alone. */
static struct {
    struct seep_pycount count;  /* iterator 0: to be read */
    struct seep_pycount around; /* iterator 0: unknown */
    struct seep_pyloop outer;   /* that loop when it was read last … */
    uint32_t outer_frame;       /* … and where it is */
    uint32_t n;                 /* the main loop's rounds then */
    bool lap_begins;            /* they were counted up to the beginning of its lap */
    struct seep_lap_length lap;
    uint64_t coarse_ns; /* looked at no more often than this clock moves */
} base;

static void begin_base(const struct seep_thread *thread, uint32_t rounds)
{
    const struct seep_pyloop *item = seep_loops_main_item(&loops);
    base.count = base.around = (struct seep_pycount){0};
    base.n = loops.main.n + rounds;
    if (!item)
        return;
    base.count = seep_python_count(item->counter);
    if (item > loops.items) {
        base.outer = item[-1];
        base.around = seep_python_count(base.outer.counter);
        if (!base.outer_frame)
            base.outer_frame = frame_ref(&thread->stack, base.outer.depth);
    }
    if (!base.lap.first)
        seep_lap_length_begin(&base.lap, base.count.place, base.n);
    seep_lap_length_saw(&base.lap, base.count.place, base.count.end);
    if (base.lap_begins && base.count.iterator)
        base.count.place = base.lap.first;
    base.lap_begins = false;
}

/* Whether an iterator read once more is the same, or one like it in the same place. */
static bool goes_through(const struct seep_pycount *now, const struct seep_pycount *then)
{
    return now->iterator && now->type == then->type &&
           memcmp(now->within, then->within, sizeof(now->within)) == 0;
}

static void count_unseen(uint32_t rounds, const struct seep_pycount *now)
{
    struct seep_pyloop *item = seep_loops_main_item(&loops);
    if (!rounds)
        return;
    base.lap.unseen = true;
    if (item && item->counter == now->iterator)
        item->place = now->place;
    seep_loops_main_iterated(&loops, rounds, seep_own_time_ns());
    const struct seep_looped looped = {.frame = main_frame, .rounds = rounds};
    seep_steps_looped_unseen(&looped);
}

/* The loop is in another lap than the base: that one's last rounds, and all of those between, have
 * passed. An iterator that has come to its end may be an earlier lap's, freed. */
static void catch_up_laps(const struct seep_pycount *now, const struct seep_pycount *around)
{
    const intptr_t further = around->place - base.around.place;
    const intptr_t laps = further < MAX_LAPS ? further : MAX_LAPS;
    const bool in_it = goes_through(now, &base.count) && now->place < now->end;
    const intptr_t place = seep_lap_length_place(&base.lap, in_it ? now->place : 0, laps);
    count_unseen(seep_loops_unseen(&loops, base.count.place, base.n, place), now);
    base.outer.place = around->place;
    if (seep_lap_length(&base.lap) >= LAP_ROUNDS)
        seep_steps_laps_unseen(&base.outer, (uint32_t)laps, base.outer_frame);
    base.lap_begins = place && !in_it;
    base.count = in_it ? *now : (struct seep_pycount){0};
    base.around = *around;
    base.n = loops.main.n;
}

void seep_main_loop_catch_up(struct seep_thread *thread)
{
    if (!(thread->watches & SEEP_WATCH_LOOPS) || !loops.main.code || !base.count.iterator ||
        thread->importing)
        return;
    const uint64_t coarse = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (coarse == base.coarse_ns)
        return;
    base.coarse_ns = coarse;
    const struct seep_pycount now = seep_python_count(base.count.iterator);
    const struct seep_pycount around = seep_python_count(base.around.iterator);
    if (goes_through(&around, &base.around) && around.place > base.around.place) {
        catch_up_laps(&now, &around);
    } else if (goes_through(&now, &base.count) && now.place >= base.count.place) {
        seep_lap_length_saw(&base.lap, now.place, now.end);
        count_unseen(seep_loops_unseen(&loops, base.count.place, base.n, now.place), &now);
    } else {
        base.count.iterator = 0;
    }
}

void seep_main_loop_end(struct seep_thread *thread)
{
    base.coarse_ns = 0;
    seep_main_loop_catch_up(thread);
    const struct seep_pycount last = {0};
    if (base.lap_begins && base.around.place == base.around.end)
        count_unseen(seep_loops_unseen(&loops, base.lap.first, base.n, base.lap.end), &last);
    base.lap_begins = false;
}

/* ---- reading items --------------------------------------------------------------------------- */

/* Whether a for loop has begun an iteration; `rounds`: how many the main loop has made, if only
 * iterators show it. */
static bool read_items(struct seep_thread *thread, const struct seep_pyframe *outermost,
                       uint32_t *rounds, uint64_t *now)
{
    struct seep_pyloop items[SEEP_PYLOOPS];
    const unsigned n_frames =
        thread->stack.n < SEEP_LOOP_FRAMES ? thread->stack.n : SEEP_LOOP_FRAMES;
    const unsigned n = seep_python_loops(&thread->stack, n_frames, thread->loop_memo, items);
    bool any = false;
    if (loops.main.items && !seep_loops_main_goes_on(&loops, items, n))
        seep_main_loop_catch_up(thread); /* it has ended, or begun anew */
    *rounds = seep_loops_main_items(&loops, items, n);
    if (searches) {
        *now = seep_own_time_ns();
        any = seep_loops_items(&loops, outermost, items, n, kind_of, *now);
    }
    seep_loops_keep_items(&loops, items, n);
    if (loops.main.items || !base.count.iterator)
        begin_base(thread, *rounds);
    return any;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Whether another main loop has begun an iteration, at `now`. */
static bool search(struct seep_thread *thread, uint64_t now)
{
    if (now < loops.choose_ns)
        return false;
    if (beside_rounds && seep_steps_rounds() - rounds_before < 3)
        return false;
    struct seep_loop_rule rule = rule_now(now);
    if (!seep_loops_choose(&loops, &rule, now))
        return false;
    searches = seep_loops_unsettled(&loops, now);
    base.lap = (struct seep_lap_length){0};
    base.outer_frame = 0;
    begin_base(thread, 0);
    main_frame = frame_ref(&thread->stack, loops.main.depth);
    return true;
}

void seep_main_loop_event(struct seep_thread *thread)
{
    const struct seep_pystack *stack = &thread->stack;
    const struct seep_pyframe *outermost = &stack->frames[SEEP_MAX_PYTHON_FRAMES - 1];
    if (!stack->n || stack->cut || thread->importing)
        return;
    if (loops.main_path && !loops.main.items)
        seep_main_loop_catch_up(thread);
    uint32_t rounds = loops.main.code && seep_loops_main_event(&loops, outermost, stack->n, &look);
    uint32_t by_items = 0;
    unsigned depth = 0;
    uint64_t now = 0;
    loops.period = *seep_period;
    const bool back = searches && seep_loops_event(&loops, outermost, stack->n, &look, &depth);
    const bool to_read = loops.main_path && (loops.main.items || !base.count.iterator);
    if ((searches || to_read) && is_due(back || rounds)) {
        uint64_t then = 0;
        if (read_items(thread, outermost, &by_items, &then))
            now = then;
        rounds += by_items;
    }
    if (back) {
        now = now ? now : seep_own_time_ns(); /* the event's: a loop is chosen as it iterates */
        seep_loops_iterated(&loops, outermost, depth, kind_of, now);
    }
    const bool found = now && search(thread, now);
    if (rounds && !found)
        seep_loops_main_iterated(&loops, rounds, seep_own_time_ns());
    if (!rounds && !found)
        return;
    const struct seep_looped looped = {.frame = main_frame,
                                       .n_frames = loops.main.depth + 1,
                                       .rounds = found ? loops.main.n : rounds,
                                       .since_period = loops.main.first_period,
                                       .found = found,
                                       .since_ns = loops.main.first_ns,
                                       .around = &loops.around};
    seep_steps_looped(thread, &looped);
}

void seep_main_loop_after_fork(void)
{
    loops.main.code = 0;
    searches = in_pool = false;
    seep_own_time_after_fork();
}

void seep_main_loop_forget(void)
{
    seep_main_loop_after_fork();
}
