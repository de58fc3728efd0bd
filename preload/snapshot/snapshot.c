#include "preload/snapshot/snapshot.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/job/job.h"
#include "preload/job/job_table.h"
#include "preload/life/headroom.h"
#include "preload/life/program_kind.h"
#include "preload/life/run_settings.h"
#include "preload/objects/modules.h"
#include "preload/python/pyframe.h"
#include "preload/record/thread.h"
#include "preload/snapshot/snapshot_copy.h"
#include "preload/snapshot/snapshot_harm.h"
#include "preload/snapshot/snapshot_policy.h"

#define MILLISECOND UINT64_C(1000000)

enum {
    FAULT_NS = 700, /* a page that is written anew while there is a copy: measured */
    /* Measured (docs/benchmarks.md): in a nanosecond 1 byte of small objects is read, and 20 of
     * large blocks, which are sampled; of a heap that is half of each, 2. */
    BYTES_PER_READ_NS = 2,
    READER_MS = 20,    /* until somebody has come to read: 2 to 90, half of them within 10 */
    IN_PLACE_MS = 250, /* that a process waits for it to be read, */
    LAST_MS = 1000,    /* or as it ends, when nobody else waits for it, or where it was wished */
    SHED_MS = 2, /* that the caller waits for its copy to shed, where that has a CPU at once */
    FOR_COPY_MS = 400, /* and for its copy, before it ends itself */
    ROOM_FOR_COPY = 2, /* times what is resident: written anew, and what the reader keeps */
    ROOM_IN_PLACE = 4, /* one of so many parts of it */
};

static struct seep_lock lock;
static SEEP_LARGE struct seep_snapshot_policy policy;
static bool policy_read;
static bool asked;
static long copy;                  /* pid of one that has not been reaped, 0: none */
static uint64_t faults_before;     /* of this process, as it was made */
static uint32_t namespace_of_pids; /* of this process, 0: not asked yet */

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

static uint64_t minor_faults(void)
{
    struct rusage usage = {0};
    (void)seep_os_call3(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0);
    return (uint64_t)usage.ru_minflt;
}

/* What was written while the copy was there had to be copied first: the job has felt that, too. */
static void note_faults(void)
{
    const uint64_t now = minor_faults();
    seep_snapshot_policy_felt(&policy, now > faults_before ? (now - faults_before) * FAULT_NS : 0);
}

static void reap(void)
{
    enum seep_snapshot_refusal refusal;
    if (!copy || !is_own_memory() || !seep_snapshot_reap(copy, &refusal))
        return;
    note_faults();
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

/* Numbers of processes mean something else there: a signal would reach a stranger. */
static bool is_in_other_namespace(void)
{
    const uint32_t reader =
        __atomic_load_n(&seep_job_map->snapshot.reader_namespace, __ATOMIC_ACQUIRE);
    if (!namespace_of_pids)
        namespace_of_pids = seep_snapshot_namespace();
    return reader && namespace_of_pids && reader != namespace_of_pids;
}

/* Why nothing may be read, though it is due; −1: it may. */
static int obstacle(const struct seep_snapshot_moment *now)
{
    const uint32_t reader = __atomic_load_n(&seep_job_map->snapshot.reader, __ATOMIC_ACQUIRE);
    if (seep_os_sandboxed)
        return SEEP_REFUSED_SANDBOX;
    if (!reader)
        return SEEP_REFUSED_NO_READER;
    if (is_in_other_namespace())
        return SEEP_REFUSED_NAMESPACE;
    if (seep_os_call3(SYS_kill, reader, 0, 0) == -ESRCH)
        return SEEP_REFUSED_NO_READER;
    if (seep_options.sample_bytes)
        return SEEP_REFUSED_SAMPLED;
    (void)seep_modules_refresh();
    if (seep_modules_cuda && !now->asked && policy.mode != SEEP_SNAPSHOT_LIST)
        return SEEP_REFUSED_CUDA;
    return -1;
}

/* How it is read: in a copy, or in place while the process waits. */
struct way {
    int refusal; /* −1: none */
    bool in_place;
    uint64_t most_ns; /* that the process waits, in place */
    bool admit;       /* whoever reads may have to be admitted, which stays */
};

/* With CUDA's driver loaded there are pages that it has pinned, and a fork copies them at once. */
static struct way choose_way(const struct seep_snapshot_moment *now,
                             enum seep_snapshot_source source)
{
    struct seep_headroom room;
    const bool wished = now->asked || policy.mode == SEEP_SNAPSHOT_LIST;
    struct way way = {.refusal = obstacle(now),
                      .most_ns = (wished ? LAST_MS : IN_PLACE_MS) * MILLISECOND};
    if (way.refusal >= 0)
        return way;
    seep_headroom_look(&room);
    const uint64_t read_ns = READER_MS * MILLISECOND + room.anonymous_bytes / BYTES_PER_READ_NS;
    if (source == SEEP_SNAPSHOT_AT_END) {
        way.in_place = way.admit = true;
        way.most_ns = LAST_MS * MILLISECOND;
    } else {
        way.in_place = room.left_bytes / ROOM_FOR_COPY < room.anonymous_bytes ||
                       policy.last_stop_ns > read_ns ||
                       (seep_modules_cuda && !seep_snapshot_is_guarded()) ||
                       seep_snapshot_fork_harms(room.anonymous_bytes);
    }
    if (way.in_place && room.left_bytes < room.anonymous_bytes / ROOM_IN_PLACE)
        way.refusal = SEEP_REFUSED_MEMORY;
    else if (way.in_place && !way.admit && seep_snapshot_is_guarded())
        way.refusal = SEEP_REFUSED_GUARDED;
    else if (way.in_place && source == SEEP_SNAPSHOT_BY_STEP && !wished &&
             !seep_snapshot_policy_affords(&policy, now, read_ns))
        way.refusal = SEEP_REFUSED_COST;
    return way;
}

static bool change(struct seep_snapshot_slot *slot, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static bool can_be_had(const struct seep_snapshot_slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SEEP_SNAPSHOT_FREE && !copy;
}

static void free_slot(struct seep_snapshot_slot *slot)
{
    slot->process_plus_1 = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
}

static void take_in_place(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now,
                          const struct way *way)
{
    slot->faults = 0;
    int refusal = seep_snapshot_in_place(slot, now->step, *seep_period, way->most_ns, way->admit);
    if (refusal != SEEP_N_SNAPSHOT_REFUSALS)
        note_refusal((enum seep_snapshot_refusal)refusal);
    else
        seep_arena.header->snapshots.made++;
    free_slot(slot);
}

static void end_copy(void)
{
    seep_snapshot_end(copy);
    has_ended(copy);
    copy = 0;
}

/* False: it had to be ended at once. */
static bool take_copy(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now)
{
    struct seep_header *header = seep_arena.header;
    faults_before = minor_faults();
    slot->faults = (uint32_t)faults_before;
    bool has_shed;
    long pid = seep_snapshot_clone(slot, now->step, *seep_period, &has_shed);
    if (pid < 0) {
        header->snapshots.error = (int32_t)-pid;
        note_refusal(SEEP_REFUSED_CLONE);
        free_slot(slot);
        return true;
    }
    copy = pid;
    if (!has_shed) {
        end_copy();
        note_refusal(SEEP_REFUSED_COST);
        return false;
    }
    header->snapshots.made++;
    header->snapshots.error = 0;
    return true;
}

/* The time that the caller was stopped, as it counts against what stops may take: of a copy without
 * the waits for a CPU, unless it waited in vain. A busy machine makes the job slower in all it
 * does, and looks no dearer. */
static uint64_t take(struct seep_snapshot_slot *slot, const struct seep_snapshot_moment *now,
                     enum seep_snapshot_source source, const struct way *way, bool in_reserve)
{
    const uint64_t began = seep_os_clock_ns(CLOCK_MONOTONIC);
    const uint64_t cpu_began = seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    slot->process_plus_1 = own_index_plus_1();
    slot->copy = 0;
    slot->snapshot = 0;
    slot->taken_ns = began;
    slot->stop_ns = 0;
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
        seep_os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_began + SHED_MS * MILLISECOND;
    return own_ns < stop_ns ? own_ns : stop_ns;
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
    const struct way way = choose_way(now, source);
    if (way.refusal >= 0)
        note_refusal((enum seep_snapshot_refusal)way.refusal);
    else if (change(slot, SEEP_SNAPSHOT_FREE, SEEP_SNAPSHOT_TAKEN))
        stop_ns = take(slot, now, source, &way, in_reserve);
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
    if (answer == SEEP_SNAPSHOT_RESERVE && is_forked())
        return;
    if (answer == SEEP_SNAPSHOT_DUE || answer == SEEP_SNAPSHOT_RESERVE)
        make(&now, now.asked ? SEEP_SNAPSHOT_ASKED : SEEP_SNAPSHOT_BY_STEP,
             answer == SEEP_SNAPSHOT_RESERVE);
}

/* One that is in reserve has what is gone by now, too. */
static void consider_last(const struct seep_thread *thread)
{
    struct seep_snapshot_moment now;
    if (!can_be_had(&seep_job_map->snapshot) || is_forked())
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

/* A copy that is there as its maker ends would become the child of somebody who does not know it,
 * as it would of the program that this one becomes. What is being read is worth a moment. */
void seep_snapshot_before_end(void)
{
    const struct timespec moment = {.tv_nsec = 2 * MILLISECOND};
    const struct seep_snapshot_slot *slot = &seep_job_map->snapshot;
    if (!copy || !is_own_memory())
        return;
    for (int ms = 0; copy && ms < FOR_COPY_MS; ms += 2) {
        reap();
        if (copy)
            (void)seep_os_call6(SYS_futex, (long)&slot->state, FUTEX_WAIT, slot->state,
                                (long)&moment, 0, 0);
    }
    if (copy)
        end_copy();
}

void seep_snapshot_after_fork(void)
{
    lock.word = 0;
    asked = false;
    copy = 0;
    namespace_of_pids = 0;
    seep_snapshot_policy_after_fork(&policy);
}

struct seep_lock *seep_snapshot_lock(void)
{
    return &lock;
}
