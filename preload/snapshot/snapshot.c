#include "preload/snapshot/snapshot.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/wait.h>

#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/life/headroom.h"
#include "preload/life/options.h"
#include "preload/life/program_kind.h"
#include "preload/objects/modules.h"
#include "preload/python/pyframe.h"
#include "preload/record/thread.h"
#include "preload/snapshot/snapshot_copy.h"
#include "preload/snapshot/snapshot_policy.h"

static struct seep_lock lock;
static SEEP_LARGE struct seep_snapshot_policy policy;
static bool policy_read;
static bool asked;
/* Pids of copies that have not been reaped, 0: none. */
static long copy, dismissed;

static void note_refusal(enum seep_snapshot_refusal why)
{
    __atomic_fetch_add(&seep_arena.header->snapshots.refused[why], 1, __ATOMIC_RELAXED);
}

static uint32_t own_index_plus_1(void)
{
    return seep_arena.header->process_plus_1;
}

/* One that was killed has left the slot as it was, which may be another's by now. */
static void has_ended(long pid)
{
    struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    if (slot->process_plus_1 != own_index_plus_1() || (slot->copy && slot->copy != pid))
        return;
    slot->process_plus_1 = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
}

/* A child of vfork has its parent's memory, but not its children. */
static bool is_own_memory(void)
{
    return seep_arena.header->pid == (uint32_t)seep_os_pid();
}

static void reap(void)
{
    enum seep_snapshot_refusal refusal;
    if (dismissed && is_own_memory() && seep_snapshot_reap(dismissed, &refusal))
        dismissed = 0;
    if (!copy || !is_own_memory() || !seep_snapshot_reap(copy, &refusal))
        return;
    has_ended(copy);
    copy = 0;
    if (refusal != SEEP_N_SNAPSHOT_REFUSALS)
        note_refusal(refusal);
}

static uint64_t age(uint64_t now_ns, uint64_t start_ns)
{
    return now_ns > start_ns ? now_ns - start_ns : 0;
}

/* Steps are those of the process whose periods this one follows. */
static void describe(const struct seep_thread *thread, struct seep_snapshot_moment *now)
{
    const struct seep_header *header = seep_arena.header;
    const struct seep_process *leader = seep_process;
    const struct seep_job *job = seep_job_map;
    const uint64_t now_ns = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (seep_process->follows && seep_process->follows <= SEEP_MAX_PROCESSES)
        leader = &job->processes[seep_process->follows - 1];
    now->by_step = leader->steps != 0;
    now->by_loop = leader->step_source == SEEP_STEP_LOOP;
    now->step = now->by_step ? leader->steps : leader->period;
    now->asked = __atomic_load_n(&asked, __ATOMIC_RELAXED) ||
                 __atomic_load_n(&job->snapshot.wanted, __ATOMIC_RELAXED) == own_index_plus_1();
    now->importing = thread && thread->importing;
    now->age_ns = age(now_ns, header->start_ns);
    now->job_age_ns = age(now_ns, job->started_ns);
    now->read_ns = job->snapshots.cpu_ns;
    now->n_read = job->snapshots.n_read;
    now->reading = __atomic_load_n(&job->snapshot.reading, __ATOMIC_RELAXED) != 0;
    now->live_bytes = now->anonymous_bytes = 0;
    for (unsigned s = SEEP_SPACE_HOST; s <= SEEP_SPACE_SHM; s++) {
        int64_t pending = thread ? thread->sites.pending[s] : 0;
        int64_t live = (int64_t)header->spaces[s].live_bytes + pending;
        now->live_bytes += live > 0 ? (uint64_t)live : 0;
    }
    if (header->n_timeline && header->n_timeline <= SEEP_TIMELINE_ROWS)
        now->anonymous_bytes = header->timeline[header->n_timeline - 1].anonymous_bytes;
}

/* Why no copy may be made, though one is due; −1: it may. */
static int obstacle(const struct seep_snapshot_moment *now)
{
    struct seep_headroom room;
    const uint32_t reader = __atomic_load_n(&seep_job_map->snapshot.reader, __ATOMIC_ACQUIRE);
    if (seep_os_sandboxed)
        return SEEP_REFUSED_SANDBOX;
    if (!reader || seep_os_call3(SYS_kill, reader, 0, 0) == -ESRCH)
        return SEEP_REFUSED_NO_READER;
    if (seep_options.sample_bytes)
        return SEEP_REFUSED_SAMPLED;
    (void)seep_modules_refresh();
    if (seep_modules_cuda && !now->asked && policy.mode != SEEP_SNAPSHOT_LIST)
        return SEEP_REFUSED_CUDA;
    seep_headroom_look(&room);
    return room.left_bytes < room.anonymous_bytes ? SEEP_REFUSED_MEMORY : -1;
}

static bool change(struct seep_snapshot_slot *slot, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* A copy in reserve loses its slot to a better one: it finds it changed, and ends. */
static bool take_slot(struct seep_snapshot_slot *slot)
{
    if (change(slot, SEEP_SNAPSHOT_FREE, SEEP_SNAPSHOT_TAKEN))
        return true;
    if (!slot->in_reserve || !change(slot, SEEP_SNAPSHOT_READY, SEEP_SNAPSHOT_TAKEN))
        return false;
    (void)seep_os_call3(SYS_futex, (long)&slot->state, FUTEX_WAKE, 1);
    dismissed = copy;
    copy = 0;
    return true;
}

static bool can_be_had(const struct seep_snapshot_slot *slot)
{
    const uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    if (state == SEEP_SNAPSHOT_READY)
        return __atomic_load_n(&slot->in_reserve, __ATOMIC_ACQUIRE) && !dismissed;
    return state == SEEP_SNAPSHOT_FREE && !copy;
}

/* The time that the caller was stopped; 0: there is no copy. */
static uint64_t take(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now,
                     enum seep_snapshot_source source, bool in_reserve)
{
    struct seep_header *header = seep_arena.header;
    const uint64_t began = seep_os_clock_ns(CLOCK_MONOTONIC);
    slot->process_plus_1 = own_index_plus_1();
    slot->copy = 0;
    slot->snapshot = 0;
    slot->taken_ns = began;
    slot->stop_ns = 0;
    slot->source = source;
    slot->step = now->by_step ? now->step : 0;
    slot->in_reserve = in_reserve;
    long pid = seep_snapshot_clone(slot, now->step, *seep_period);
    if (pid < 0) {
        header->snapshots.error = (int32_t)-pid;
        note_refusal(SEEP_REFUSED_CLONE);
        slot->process_plus_1 = 0;
        __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
        return 0;
    }
    copy = pid;
    header->snapshots.made++;
    header->snapshots.error = 0;
    return slot->stop_ns = seep_os_clock_ns(CLOCK_MONOTONIC) - began;
}

/* Whether copies of this process may be made at all. */
static bool is_subject(void)
{
    return seep_job_map && seep_arena.header && !seep_arena.counting && !seep_program_is_helper &&
           own_index_plus_1() && own_index_plus_1() <= SEEP_MAX_PROCESSES &&
           policy.mode != SEEP_SNAPSHOT_OFF;
}

/* Of a forked child there is neither one in reserve nor a last one: while a copy lives, pages that
 * the child has made its own do not look it. */
static bool is_forked(void)
{
    return seep_arena.header->parent_file[0] != '\0';
}

static bool may_be_in_reserve(const struct seep_snapshot_slot *slot)
{
    return !is_forked() &&
           (slot->state == SEEP_SNAPSHOT_FREE || slot->process_plus_1 == own_index_plus_1());
}

static void has_been_asked(struct seep_snapshot_slot *slot)
{
    uint32_t own = own_index_plus_1();
    __atomic_store_n(&asked, false, __ATOMIC_RELAXED);
    (void)__atomic_compare_exchange_n(&slot->wanted, &own, 0, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

static void make(const struct seep_snapshot_moment *now, enum seep_snapshot_source source,
                 bool in_reserve)
{
    struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    uint64_t stop_ns = 0;
    if (!is_own_memory())
        return;
    int why = obstacle(now);
    if (why >= 0)
        note_refusal((enum seep_snapshot_refusal)why);
    else if (take_slot(slot))
        stop_ns = take(slot, now, source, in_reserve);
    else
        return;
    if (in_reserve) {
        seep_snapshot_policy_reserved(&policy, now, stop_ns);
        return;
    }
    if (now->asked)
        has_been_asked(slot);
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
    if (answer == SEEP_SNAPSHOT_DEAR)
        note_refusal(SEEP_REFUSED_COST);
    if (answer == SEEP_SNAPSHOT_RESERVE && !may_be_in_reserve(slot))
        return;
    if (answer == SEEP_SNAPSHOT_DUE || answer == SEEP_SNAPSHOT_RESERVE)
        make(&now, now.asked ? SEEP_SNAPSHOT_ASKED : SEEP_SNAPSHOT_BY_STEP,
             answer == SEEP_SNAPSHOT_RESERVE);
}

/* One that is in reserve has what is gone by now, too. */
static void consider_last(const struct seep_thread *thread)
{
    struct seep_snapshot_moment now;
    if (copy || seep_job_map->snapshot.state != SEEP_SNAPSHOT_FREE || is_forked())
        return;
    describe(thread, &now);
    enum seep_snapshot_answer answer = seep_snapshot_policy_ask_last(&policy, &now);
    if (answer == SEEP_SNAPSHOT_DEAR)
        note_refusal(SEEP_REFUSED_COST);
    if (answer == SEEP_SNAPSHOT_DUE)
        make(&now, SEEP_SNAPSHOT_AT_END, false);
}

static void look(const struct seep_thread *thread,
                 void (*consider_it)(const struct seep_thread *thread))
{
    if (__atomic_exchange_n(&lock.word, 1, __ATOMIC_ACQUIRE))
        return;
    if (!policy_read) {
        seep_snapshot_policy_read(&policy, seep_options.holders);
        policy_read = true;
    }
    if (is_subject()) {
        reap();
        consider_it(thread);
    }
    seep_os_unlock(&lock);
}

void seep_snapshot_look(const struct seep_thread *thread)
{
    look(thread, consider);
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
    __atomic_store_n(&asked, true, __ATOMIC_RELAXED);
    seep_snapshot_look(thread);
}

static void end(long *pid)
{
    if (!*pid)
        return;
    (void)seep_os_call3(SYS_kill, *pid, SIGKILL, 0);
    (void)seep_os_call6(SYS_wait4, *pid, 0, __WALL, 0, 0, 0);
    has_ended(*pid);
    *pid = 0;
}

void seep_snapshot_before_exec(void)
{
    if (!is_own_memory())
        return;
    end(&dismissed);
    end(&copy);
}

void seep_snapshot_after_fork(void)
{
    lock.word = 0;
    asked = false;
    copy = dismissed = 0;
    seep_snapshot_policy_after_fork(&policy);
}

struct seep_lock *seep_snapshot_lock(void)
{
    return &lock;
}
