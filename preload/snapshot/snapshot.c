#include "preload/snapshot/snapshot.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/wait.h>

#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/life/program_facts.h"
#include "preload/life/run_settings.h"
#include "preload/python/pyframe.h"
#include "preload/record/tick.h"
#include "preload/snapshot/snapshot_copy.h"
#include "preload/snapshot/snapshot_policy.h"
#include "preload/snapshot/snapshot_way.h"

enum {
    SHED_MS = 2,     /* the caller's wait for its copy to shed, if that gets a CPU at once */
    BIRTH_MS = 250,  /* the most it waits: shedding takes 1 ms while the caller has a CPU itself */
    GONE_MS = 50,    /* for a killed copy to end, which may need a CPU first */
    UNREAD_MS = 400, /* at the end of the process, for a reader of its copy to begin, … */
    READING_MS = 2000, /* … for one that has begun, which a busy machine makes wait for a CPU, … */
    KILLED_MS = 400, /* … and for a copy that had to be killed */
};

enum copy_state { NONE, MAKING, ALIVE, KILLED };
enum { STATE_BITS = 2 };

static SEEP_LARGE struct seep_snapshot_policy policy;

static struct {
    /* Of the thread that asks whether a copy is due, makes it, or reaps it. */
    struct seep_lock lock;
    /* The copy's state and its pid, which change at once. */
    uint64_t copy;
    /* Threads in which the process is about to end or exec. */
    uint32_t n_ending;
    /* seep_holders() was called, and no copy has been tried since. */
    bool asked;
} own;

/* ---- the copy's state, as snapshot.h draws it ------------------------------------------------ */

static uint64_t copy_in(enum copy_state state, long pid)
{
    return (uint64_t)pid << STATE_BITS | state;
}

static enum copy_state copy_state(void)
{
    return __atomic_load_n(&own.copy, __ATOMIC_SEQ_CST) & ((1 << STATE_BITS) - 1);
}

/* 0: there is none, or its pid is not known yet. */
static long copy_pid(void)
{
    return (long)(__atomic_load_n(&own.copy, __ATOMIC_SEQ_CST) >> STATE_BITS);
}

static bool has_edge(enum copy_state from, enum copy_state to)
{
    switch (from) {
    case NONE:
        return to == MAKING;
    case MAKING:
        return to == ALIVE || to == NONE;
    case ALIVE:
        return to == KILLED || to == NONE;
    case KILLED:
        return to == NONE;
    }
    return false;
}

/* The only place where the state changes. False, and nothing has changed: the copy is in another
 * state by now, or the drawing has no such edge. */
static bool enter(enum copy_state from, long from_pid, enum copy_state to, long pid)
{
    uint64_t before = copy_in(from, from_pid);
    return has_edge(from, to) &&
           __atomic_compare_exchange_n(&own.copy, &before, copy_in(to, pid), false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* It was reaped: a thread that ends the process may have killed it just before. */
static void clear_copy(long pid)
{
    if (!enter(ALIVE, pid, NONE, 0))
        (void)enter(KILLED, pid, NONE, 0);
}

/* ---- the slot -------------------------------------------------------------------------------- */

static void note_refusal(enum seep_snapshot_refusal why)
{
    __atomic_fetch_add(&seep_arena.header->snapshots.refused[why], 1, __ATOMIC_RELAXED);
}

static uint32_t own_index_plus_1(void)
{
    return seep_arena.header->process_plus_1;
}

static void free_slot(struct seep_snapshot_slot *slot)
{
    slot->process_plus_1 = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
}

/* A killed copy leaves the slot as it was; another copy may own the slot by now. */
static void free_slot_of(long pid)
{
    struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    if (slot->process_plus_1 == own_index_plus_1() && (!slot->copy || slot->copy == pid))
        free_slot(slot);
}

/* A vfork child has its parent's memory, but not its children. */
static bool is_own_memory(void)
{
    return seep_arena.header->pid == (uint32_t)seep_os_pid();
}

static void spend(uint64_t stop_ns)
{
    if (seep_tls.thread)
        seep_meter_add(&seep_tls.thread->meter, SEEP_COST_STOPS, stop_ns);
}

/* The first write to a page while the copy existed had to copy the page, which also slowed the
 * job. */
static void note_written(long pid)
{
    const struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    const uint64_t felt_ns =
        slot->copy == (uint32_t)pid ? slot->written * (uint64_t)SEEP_SNAPSHOT_WRITE_NS : 0;
    seep_snapshot_policy_felt(&policy, felt_ns);
    spend(felt_ns);
}

/* ---- the end of a copy ----------------------------------------------------------------------- */

/* Why a copy was killed has been noted then. */
static void reap(void)
{
    enum seep_snapshot_refusal refusal;
    const long pid = copy_pid();
    if (!pid || !is_own_memory() || !seep_snapshot_reap(pid, &refusal))
        return;
    note_written(pid);
    free_slot_of(pid);
    if (refusal != SEEP_N_SNAPSHOT_REFUSALS && copy_state() == ALIVE)
        note_refusal(refusal);
    clear_copy(pid);
}

/* If the kernel keeps a copy, because it waits for a file server, reap() collects it later. The
 * slot is free all the same: none of the copy's code runs any more. */
static void end_copy(unsigned most_ms)
{
    const long pid = copy_pid();
    if (!pid)
        return;
    (void)enter(ALIVE, pid, KILLED, pid);
    const bool gone = seep_snapshot_end(pid, most_ms);
    free_slot_of(pid);
    if (gone)
        clear_copy(pid);
}

/* ---- whether one is due ---------------------------------------------------------------------- */

static uint64_t age(uint64_t now_ns, uint64_t start_ns)
{
    return now_ns > start_ns ? now_ns - start_ns : 0;
}

/* Counts the steps of the process whose periods this one follows. */
static void describe(const struct seep_thread *thread, struct seep_snapshot_moment *now)
{
    const struct seep_header *header = seep_arena.header;
    const struct seep_process *leader = seep_process;
    const struct seep_job *job = seep_job_map;
    const uint64_t now_ns = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (seep_process->follows && seep_process->follows <= SEEP_MAX_PROCESSES)
        leader = &job->processes[seep_process->follows - 1];
    const uint32_t steps = __atomic_load_n(&leader->steps, __ATOMIC_ACQUIRE);
    now->by_step = steps != 0;
    now->by_loop = leader->step_source == SEEP_STEP_LOOP;
    now->step = now->by_step ? steps : leader->period;
    now->asked = __atomic_load_n(&own.asked, __ATOMIC_RELAXED) ||
                 __atomic_load_n(&job->snapshot.wanted, __ATOMIC_RELAXED) == own_index_plus_1();
    now->importing = thread && thread->importing;
    now->age_ns = age(now_ns, header->start_ns);
    now->job_age_ns = age(now_ns, job->started_ns);
    now->read_ns = job->snapshots.cpu_ns;
    now->n_read = job->snapshots.n_read;
    now->taken_ns = job->snapshots.taken_ns;
    now->room_ns = seep_overhead_room_ns(&seep_overhead);
    now->reader_waits = __atomic_load_n(&job->snapshot.reader_waits, __ATOMIC_RELAXED) != 0;
    now->reading = __atomic_load_n(&job->snapshot.reading, __ATOMIC_RELAXED) != 0;
    now->live_bytes = now->anonymous_bytes = 0;
    for (unsigned s = SEEP_SPACE_HOST; s <= SEEP_SPACE_SHM; s++) {
        int64_t pending = thread ? thread->sites.spaces[s].pending : 0;
        int64_t live = (int64_t)header->spaces[s].live_bytes + pending;
        now->live_bytes += live > 0 ? (uint64_t)live : 0;
    }
    if (header->n_timeline && header->n_timeline <= SEEP_TIMELINE_ROWS)
        now->anonymous_bytes = header->timeline[header->n_timeline - 1].anonymous_bytes;
}

static bool change(struct seep_snapshot_slot *slot, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static bool is_ending(void)
{
    return __atomic_load_n(&own.n_ending, __ATOMIC_SEQ_CST) != 0;
}

static bool can_be_had(const struct seep_snapshot_slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SEEP_SNAPSHOT_FREE &&
           copy_state() == NONE && !is_ending();
}

/* ---- making it ------------------------------------------------------------------------------- */

static void take_in_place(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now,
                          const struct seep_snapshot_way *way)
{
    int refusal = seep_snapshot_in_place(slot, now->step, *seep_period, way->most_ns);
    if (refusal != SEEP_N_SNAPSHOT_REFUSALS)
        note_refusal((enum seep_snapshot_refusal)refusal);
    else
        seep_arena.header->snapshots.made++;
    free_slot(slot);
}

/* No thread may end the process between the birth of a copy and the moment its pid is known: a
 * thread about to do so waits while one is made, and then finds it. 0: the process is already
 * ending. */
static long make_known(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now)
{
    long pid = 0;
    if (enter(NONE, 0, MAKING, 0) && !is_ending())
        pid = seep_snapshot_clone(slot, now->step, *seep_period);
    (void)enter(MAKING, 0, pid > 0 ? ALIVE : NONE, pid > 0 ? pid : 0);
    return pid;
}

/* A copy that gets no CPU meanwhile, or is stopped, would keep what the job releases. */
static bool await_birth(const struct seep_snapshot_slot *slot)
{
    const struct timespec moment = {.tv_nsec = SEEP_MILLISECOND};
    for (int ms = 0; ms < BIRTH_MS && copy_pid(); ms++) {
        if (is_ending())
            return false;
        if (__atomic_load_n(&slot->copy, __ATOMIC_ACQUIRE))
            return true;
        (void)seep_os_call6(SYS_futex, (long)&slot->copy, FUTEX_WAIT, 0, (long)&moment, 0, 0);
        reap();
    }
    return copy_pid() && __atomic_load_n(&slot->copy, __ATOMIC_ACQUIRE) != 0;
}

/* False: there is no copy, or it had to be ended at once. */
static bool take_copy(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now)
{
    struct seep_header *header = seep_arena.header;
    const uint64_t mask = seep_snapshot_block_signals();
    const long pid = make_known(slot, now);
    const bool born = pid > 0 && await_birth(slot);
    seep_snapshot_restore_signals(mask);
    if (pid <= 0) {
        header->snapshots.error = (int32_t)-pid;
        if (pid < 0)
            note_refusal(SEEP_REFUSED_CLONE);
        free_slot(slot);
    } else if (born) {
        header->snapshots.made++;
        header->snapshots.error = 0;
    } else if (copy_pid()) {
        note_refusal(is_ending() ? SEEP_REFUSED_DIED : SEEP_REFUSED_COST);
        end_copy(GONE_MS);
    }
    return born;
}

/* The time that the caller was stopped, as it counts against the limit. For a copy, waits for a CPU
 * are left out, unless they were in vain: a busy machine slows all of the job, and must not make
 * copies look more expensive. */
static uint64_t take(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now,
                     enum seep_snapshot_source source, const struct seep_snapshot_way *way,
                     bool in_reserve)
{
    const uint64_t began = seep_os_clock_ns(CLOCK_MONOTONIC);
    const uint64_t cpu_began = seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    slot->process_plus_1 = own_index_plus_1();
    slot->copy = 0;
    slot->snapshot = 0;
    slot->taken_ns = began;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* a late reader of the last copy sees this first */
    slot->stop_ns = 0;
    slot->written = 0;
    slot->in_place = way->in_place;
    slot->source = (uint8_t)source;
    slot->step = now->by_step ? now->step : 0;
    slot->in_reserve = in_reserve;
    bool born = true;
    if (way->in_place)
        take_in_place(slot, now, way);
    else
        born = take_copy(slot, now);
    const uint64_t stop_ns = seep_os_clock_ns(CLOCK_MONOTONIC) - began;
    if (way->in_place || !born)
        return stop_ns;
    slot->stop_ns = stop_ns;
    const uint64_t own_ns =
        seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_began + SHED_MS * SEEP_MILLISECOND;
    return own_ns < stop_ns ? own_ns : stop_ns;
}

/* Whether copies of this process may be made at all. */
static bool is_subject(void)
{
    return seep_job_map && seep_arena.header && !seep_arena_counting &&
           !seep_program_is_bystander && own_index_plus_1() &&
           own_index_plus_1() <= SEEP_MAX_PROCESSES && policy.told.mode != SEEP_SNAPSHOT_OFF;
}

/* A forked child gets neither a copy in reserve nor a last one: while a copy lives, pages that the
 * child has written to do not look like its own. */
static bool is_forked(void)
{
    return seep_arena.header->parent_file[0] != '\0';
}

static void clear_request(struct seep_snapshot_slot *slot)
{
    uint32_t index = own_index_plus_1();
    __atomic_store_n(&own.asked, false, __ATOMIC_RELAXED);
    (void)__atomic_compare_exchange_n(&slot->wanted, &index, 0, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

static void make(const struct seep_snapshot_moment *now, enum seep_snapshot_source source,
                 bool in_reserve)
{
    struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    uint64_t stop_ns = 0;
    if (!is_own_memory())
        return;
    const struct seep_snapshot_way way = seep_snapshot_choose(&policy, now, source);
    if (way.refusal >= 0)
        note_refusal((enum seep_snapshot_refusal)way.refusal);
    else if (change(slot, SEEP_SNAPSHOT_FREE, SEEP_SNAPSHOT_TAKEN))
        stop_ns = take(slot, now, source, &way, in_reserve);
    else
        return;
    spend(stop_ns);
    if (in_reserve) {
        seep_snapshot_policy_reserved(&policy, now, stop_ns);
        return;
    }
    if (now->asked)
        clear_request(slot);
    seep_snapshot_policy_done(&policy, now, stop_ns);
}

static void consider(const struct seep_thread *thread)
{
    struct seep_snapshot_moment now;
    const struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    if (!can_be_had(slot))
        return;
    describe(thread, &now);
    enum seep_snapshot_answer answer = seep_snapshot_policy_ask(&policy, &now);
    if (answer == SEEP_SNAPSHOT_TOO_EXPENSIVE)
        note_refusal(SEEP_REFUSED_COST);
    if (answer == SEEP_SNAPSHOT_RESERVE && is_forked())
        return;
    if (answer == SEEP_SNAPSHOT_DUE || answer == SEEP_SNAPSHOT_RESERVE)
        make(&now, now.asked ? SEEP_SNAPSHOT_ASKED : SEEP_SNAPSHOT_BY_STEP,
             answer == SEEP_SNAPSHOT_RESERVE);
}

/* A copy in reserve still has what is gone by now. */
static void consider_last(const struct seep_thread *thread)
{
    struct seep_snapshot_moment now;
    if (!can_be_had(&seep_job_map->snapshot) || is_forked())
        return;
    describe(thread, &now);
    enum seep_snapshot_answer answer = seep_snapshot_policy_ask_last(&policy, &now);
    if (answer == SEEP_SNAPSHOT_TOO_EXPENSIVE)
        note_refusal(SEEP_REFUSED_COST);
    if (answer == SEEP_SNAPSHOT_DUE)
        make(&now, SEEP_SNAPSHOT_AT_END, false);
}

static void consider_oom(const struct seep_thread *thread)
{
    struct seep_snapshot_moment now;
    if (!can_be_had(&seep_job_map->snapshot) ||
        seep_snapshot_policy_ask_at_oom(&policy) != SEEP_SNAPSHOT_DUE)
        return;
    describe(thread, &now);
    now.asked = true;
    make(&now, SEEP_SNAPSHOT_BY_STEP, false);
}

static void look(const struct seep_thread *thread,
                 void (*consider_it)(const struct seep_thread *thread))
{
    if (!seep_os_try_lock(&own.lock))
        return;
    if (policy.told.mode == SEEP_SNAPSHOT_UNREAD)
        seep_snapshot_policy_read(&policy, seep_run_settings.holders);
    if (is_subject()) {
        reap();
        consider_it(thread);
    }
    seep_os_unlock(&own.lock);
}

void seep_snapshot_look(const struct seep_thread *thread)
{
    look(thread, consider);
}

void seep_snapshot_at_oom(const struct seep_thread *thread)
{
    look(thread, consider_oom);
}

void seep_snapshot_last(const struct seep_thread *thread)
{
    look(thread, consider_last);
}

void seep_snapshot_python_ends(struct seep_thread *thread)
{
    if (!thread || !seep_python_ready)
        return;
    seep_python_follow(&thread->stack);
    if (!thread->stack.n)
        seep_snapshot_last(thread);
}

void seep_snapshot_asked(const struct seep_thread *thread)
{
    __atomic_store_n(&own.asked, true, __ATOMIC_RELAXED);
    seep_snapshot_look(thread);
}

static bool is_coming_or_alive(void)
{
    const enum copy_state state = copy_state();
    return state == MAKING || state == ALIVE;
}

static int most_wait_ms(void)
{
    const long pid = copy_pid();
    if (pid && __atomic_load_n(&seep_job_map->snapshot.reading, __ATOMIC_RELAXED) == (uint32_t)pid)
        return READING_MS;
    return UNREAD_MS;
}

/* A copy that outlives its maker would become the child of a process that does not know it, or of
 * the program that this process execs. So it is ended, after a moment to finish if it is being
 * read. Another thread may be making a copy right now, and hold the lock. */
void seep_snapshot_before_end(void)
{
    const struct timespec moment = {.tv_nsec = 2 * SEEP_MILLISECOND};
    if (!is_own_memory())
        return;
    __atomic_add_fetch(&own.n_ending, 1, __ATOMIC_SEQ_CST);
    for (int ms = 0; is_coming_or_alive() && ms < most_wait_ms(); ms += 2) {
        const struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
        if (seep_os_try_lock(&own.lock)) {
            reap();
            seep_os_unlock(&own.lock);
        }
        if (is_coming_or_alive())
            (void)seep_os_call6(SYS_futex, (long)&slot->state, FUTEX_WAIT, slot->state,
                                (long)&moment, 0, 0);
    }
    end_copy(KILLED_MS);
}

void seep_snapshot_goes_on(void)
{
    if (is_own_memory())
        __atomic_sub_fetch(&own.n_ending, 1, __ATOMIC_RELEASE);
}

void seep_snapshot_after_fork(void)
{
    own.lock.word = 0;
    own.copy = 0;
    own.n_ending = 0;
    own.asked = false;
    seep_snapshot_way_after_fork();
    seep_snapshot_policy_after_fork(&policy);
}

struct seep_lock *seep_snapshot_lock(void)
{
    return &own.lock;
}
