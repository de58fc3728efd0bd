#include "viewer/watch/copies.h"

#include "libprof/base/clock.h"
#include "libprof/read/process_alive.h"
#include "viewer/watch/copy_reader.h"
#include "viewer/watch/reader_ends.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

enum {
    STUCK_MS = 2000,        /* then a slot is freed whose process and copy are dead */
    LAST_MS = 60 * 1000,    /* to wait for readers when the job ends, */
    TELL_MS = 200,          /* with a message after this */
    RESERVE_MS = 30 * 1000, /* a reserve is evaluated after this, if no newer copy is, */
    EARLY_MS = 10 * 1000,   /* of the job's time, in which an evaluation waits for an idle CPU */
    ASK_MS = 110,           /* how often it is asked for then */
    WAIT_MS = 300,          /* that is long for it to wait */
};

static uint64_t now_ns(void)
{
    return seep_clock_ns(CLOCK_MONOTONIC);
}

static struct seep_snapshot_slot *slot_of(const struct seep_copies *h)
{
    return &h->folder->job->snapshot;
}

static uint32_t state_of(const struct seep_copies *h)
{
    return __atomic_load_n(&slot_of(h)->state, __ATOMIC_ACQUIRE);
}

/* A copy that no reader was started for yet. */
static bool is_copy_ready(const struct seep_copies *h)
{
    return state_of(h) == SEEP_SNAPSHOT_READY && slot_of(h)->taken_ns != h->taken_ns;
}

/* Tells the job which copy is still being read or evaluated: it makes no regular one before it
 * knows the cost of that. */
static void note_reading(const struct seep_copies *h)
{
    __atomic_store_n(&slot_of(h)->reading, h->worker || h->reserve_is_next ? h->copy : 0,
                     __ATOMIC_RELEASE);
}

/* A process that waits to be read frees the slot once it has been. */
static struct seep_copy_of what_is_read(const struct seep_copies *h)
{
    const struct seep_snapshot_slot *slot = slot_of(h);
    const uint32_t process = slot->process_plus_1 - 1;

    if (process >= SEEP_MAX_PROCESSES)
        return (struct seep_copy_of){.step = slot->step};
    return (struct seep_copy_of){h->folder->job->processes[process].pid, slot->step, process + 1};
}

/* Yama lets a process be read by its ancestors: the launcher is one, a reader is not. */
static int open_memory(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return pid > 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Starts a reader in a process of its own, which keeps what it has read until it is told to go on
 * by the pipe. */
static pid_t start_reader(struct seep_copies *h, bool in_reserve, int *told_by,
                          struct seep_reader_claim **claim)
{
    const pid_t launcher = getpid();
    int wish[2];

    h->copy = slot_of(h)->copy;
    h->taken_ns = slot_of(h)->taken_ns;
    h->read_last = what_is_read(h);
    __atomic_store_n(&slot_of(h)->reading, h->copy, __ATOMIC_RELEASE);
    const int memory = open_memory((pid_t)h->copy);
    const bool has_pipe = pipe2(wish, O_CLOEXEC) == 0;
    *claim = seep_reader_room_claim(&h->room);
    pid_t pid = has_pipe ? fork() : -1;
    if (pid == 0) {
        close(wish[1]);
        const struct seep_copy_readings readings = {.folder = h->folder,
                                                    .roles = h->roles,
                                                    .keys = h->keys,
                                                    .in_reserve = in_reserve,
                                                    .beside = h->worker != 0,
                                                    .hurries = h->hurries,
                                                    .memory = memory,
                                                    .room = &h->room,
                                                    .claim = *claim};
        seep_copy_reader_be(&readings, launcher, wish[0]);
    }
    if (memory >= 0)
        close(memory);
    if (has_pipe)
        close(wish[0]);
    if (pid < 0) {
        if (has_pipe)
            close(wish[1]);
        h->folder->job->snapshots.n_failed++;
        seep_copy_let_go(slot_of(h), h->taken_ns);
        note_reading(h);
        return 0;
    }
    if (*claim)
        (*claim)->pid = pid;
    *told_by = wish[1];
    h->latest = pid;
    return pid;
}

/* Lets go of the copy for a reader that ended without doing so. An older reader may end while the
 * latest still reads. */
static void has_left(struct seep_copies *h, pid_t reader)
{
    if (reader != h->latest)
        return;
    h->latest = 0;
    seep_copy_let_go(slot_of(h), h->taken_ns);
}

static void end_claim(struct seep_reader_claim **claim)
{
    if (*claim)
        (*claim)->pid = 0;
    *claim = NULL;
}

/* Kills the reserve reader, and still counts the CPU time that it took. */
static void drop_reserve(struct seep_copies *h)
{
    struct rusage usage = {0};
    if (!h->reserve)
        return;
    close(h->wish);
    kill(h->reserve, SIGKILL);
    while (wait4(h->reserve, NULL, 0, &usage) < 0 && errno == EINTR) {
    }
    seep_reader_count_cpu(h->folder->job, &usage);
    has_left(h, h->reserve);
    end_claim(&h->reserve_claim);
    h->reserve = 0;
    h->reserve_is_next = false;
}

static void tell_to_evaluate(const struct seep_copies *h, int told_by)
{
    const char word = h->hurries || h->is_awaited ? SEEP_COPY_WANTED_SOON : SEEP_COPY_WANTED;
    (void)!write(told_by, &word, 1);
    close(told_by);
}

static void let_worker_go_on(struct seep_copies *h)
{
    if (h->worker_waits)
        tell_to_evaluate(h, h->go);
    h->worker_waits = false;
}

/* An evaluation takes a second. It takes only time that nobody else wants, but threads that wait
 * for each other by spinning want all of it, and whatever runs beside one of them holds up the
 * others. So at first it waits for a CPU that is idle, unless somebody waits for what is found;
 * later it is a small part of the time. */
static bool may_evaluate(struct seep_copies *h)
{
    return h->hurries || h->is_awaited ||
           now_ns() - h->folder->job->started_ns > EARLY_MS * NS_PER_MS ||
           seep_idle_cpu_is_there(&h->idle);
}

/* The reserve is wanted: its reader becomes the worker. */
static void use_reserve(struct seep_copies *h)
{
    if (!h->reserve || h->worker)
        return;
    tell_to_evaluate(h, h->wish);
    h->worker = h->reserve;
    h->worker_reads = h->reserve_has;
    h->worker_claim = h->reserve_claim;
    h->reserve_claim = NULL;
    h->reserve = 0;
    h->reserve_is_next = false;
    note_reading(h);
}

static void start_worker(struct seep_copies *h)
{
    h->reserve_follows = false;
    if (!seep_reader_room_has_another(&h->room, h->reserve_claim))
        drop_reserve(h);
    h->worker = start_reader(h, false, &h->go, &h->worker_claim);
    h->worker_waits = h->worker != 0;
    h->worker_reads = h->read_last;
    h->is_awaited = slot_of(h)->source != SEEP_SNAPSHOT_BY_STEP;
    if (may_evaluate(h))
        let_worker_go_on(h);
}

/* A copy is read at once. Its evaluation waits, in reserve, while the worker evaluates another one,
 * or if the job asked for a reserve only. */
static void start_reading(struct seep_copies *h)
{
    const bool in_reserve = slot_of(h)->in_reserve;
    if (h->reserve && h->reserve_is_next)
        return;
    if (in_reserve || h->worker) {
        drop_reserve(h);
        h->reserve = start_reader(h, true, &h->wish, &h->reserve_claim);
        h->reserve_has = h->read_last;
        h->reserve_ns = now_ns();
        h->reserve_is_next = !in_reserve;
        h->reserve_follows = h->worker != 0;
        h->is_awaited = h->is_awaited || h->reserve_is_next;
        if (h->reserve_is_next && h->worker)
            seep_copy_reader_hurry(h->worker); /* somebody waits for its turn */
    } else {
        start_worker(h);
    }
}

/* Whether the limit on what all readings may cost leaves one more. */
static bool may_read_another(const struct seep_copies *h)
{
    const struct seep_job *job = h->folder->job;
    const uint64_t now = now_ns();

    return seep_snapshot_may_be_read(job->snapshots.cpu_ns, job->snapshots.n_read,
                                     now > job->started_ns ? now - job->started_ns : 0);
}

static bool is_reserve_due(const struct seep_copies *h)
{
    return h->reserve && now_ns() - h->reserve_ns > RESERVE_MS * NS_PER_MS && may_read_another(h);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

void seep_copies_open(struct seep_copies *h, struct seep_job_folder *folder, const char *roles,
                      bool keys)
{
    *h = (struct seep_copies){.folder = folder, .roles = roles, .keys = keys};
    seep_reader_room_open(&h->room);
    struct stat st;
    folder->job->snapshot.reader_namespace =
        stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;
    __atomic_store_n(&folder->job->snapshot.reader, (uint32_t)getpid(), __ATOMIC_RELEASE);
}

/* The process that took the slot, or its copy, may have been killed before freeing it. */
static void free_stuck(struct seep_copies *h)
{
    struct seep_snapshot_slot *slot = slot_of(h);
    uint32_t state = state_of(h), process = slot->process_plus_1 - 1;
    const struct seep_process *p = &h->folder->job->processes[process % SEEP_MAX_PROCESSES];
    const uint64_t now = now_ns();

    if (state != h->state) {
        h->state = state;
        h->since_ns = now;
    }
    if (state == SEEP_SNAPSHOT_FREE || now - h->since_ns < STUCK_MS * NS_PER_MS ||
        (slot->copy && seep_process_is_alive(slot->copy, slot->taken_ns)) ||
        (process < SEEP_MAX_PROCESSES && seep_process_is_alive(p->pid, p->start_ns)))
        return;
    slot->process_plus_1 = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
}

/* What the reserve keeps may not be needed, so it goes first. */
static void give_up_readers(struct seep_copies *h)
{
    const uint64_t now = now_ns();

    if ((!h->worker && !h->reserve) || !seep_reader_room_is_short(&h->room, now))
        return;
    if (h->reserve) {
        seep_reader_note_short(h->folder->job, &h->reserve_has, h->reserve_claim);
        drop_reserve(h);
        h->room.due_ns = now; /* that may be enough */
    } else if (!h->worker_given_up) {
        h->worker_given_up = true;
        seep_copy_reader_hurry(h->worker);
        kill(h->worker, SIGKILL);
    }
}

/* Tells the job whether the worker waits for long. Returns when to ask for an idle CPU again. */
static uint64_t note_waiting(struct seep_copies *h, uint64_t now)
{
    if (!h->worker_waits || state_of(h) == SEEP_SNAPSHOT_READY)
        h->waits_ns = now;
    __atomic_store_n(&slot_of(h)->reader_waits, now - h->waits_ns > WAIT_MS * NS_PER_MS,
                     __ATOMIC_RELAXED);
    return h->worker_waits ? ASK_MS * NS_PER_MS : UINT64_MAX - now;
}

uint64_t seep_copies_look(struct seep_copies *h)
{
    if (!h->folder)
        return UINT64_MAX;
    give_up_readers(h);
    if (is_copy_ready(h))
        start_reading(h);
    else if (h->worker_waits && may_evaluate(h))
        let_worker_go_on(h);
    else if (!h->worker && is_reserve_due(h))
        use_reserve(h);
    else if (!h->worker)
        free_stuck(h);
    const uint64_t now = now_ns(), ask_ns = note_waiting(h, now);
    if (!h->room.claims || (!h->worker && !h->reserve) || h->room.due_ns >= now + ask_ns)
        return ask_ns;
    return h->room.due_ns > now ? h->room.due_ns - now : 0;
}

bool seep_copies_reaped(struct seep_copies *h, pid_t pid, int status, const struct rusage *usage)
{
    if (!h->folder || pid <= 0 || (pid != h->worker && pid != h->reserve))
        return false;
    const bool is_worker = pid == h->worker;
    struct seep_reader_claim **claim = is_worker ? &h->worker_claim : &h->reserve_claim;
    if (is_worker && h->worker_given_up)
        seep_reader_note_short(h->folder->job, &h->worker_reads, *claim);
    else
        seep_reader_note_end(h->folder, is_worker ? &h->worker_reads : &h->reserve_has, *claim,
                             status);
    seep_reader_count_cpu(h->folder->job, usage);
    end_claim(claim);
    if (!is_worker) {
        close(h->wish);
        h->reserve = 0;
        h->reserve_is_next = false;
    } else {
        if (h->worker_waits)
            close(h->go);
        h->worker_waits = h->is_awaited = h->worker_given_up = false;
        h->worker = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != SEEP_COPY_READ)
            h->reserve_follows = false; /* the reserve stands in for this one */
        else if (!h->reserve_is_next && !h->reserve_follows)
            drop_reserve(h); /* this one is newer */
        if (h->reserve_is_next)
            use_reserve(h);
    }
    note_reading(h);
    has_left(h, pid);
    return true;
}

/* At the end seep waits for a reader, within a limit, and until the user interrupts. */
struct last_wait {
    uint64_t begun_ns, end_ns;
    int told; /* columns to be cleared on the terminal */
};

static void tell(const struct seep_copies *h, struct last_wait *w)
{
    const struct seep_copy_of *of = &h->worker_reads;
    char after[32] = "";

    if (!h->tells || w->told || now_ns() - w->begun_ns < TELL_MS * NS_PER_MS)
        return;
    if (of->step)
        snprintf(after, sizeof after, ", step %" PRIu32, of->step);
    w->told = dprintf(STDERR_FILENO,
                      "seep: looking at who holds the memory of process %" PRIu32
                      "%s (Ctrl-C skips this)",
                      of->pid, after);
}

static void clear(struct last_wait *w)
{
    if (w->told > 0)
        dprintf(STDERR_FILENO, "\r%*s\r", w->told, "");
    w->told = 0;
}

/* Sleeps for a moment; a signal to end interrupts it. */
static void sleep_a_little(struct last_wait *w)
{
    const struct timespec moment = {.tv_nsec = 2 * NS_PER_MS};
    sigset_t to_end;

    sigemptyset(&to_end);
    sigaddset(&to_end, SIGINT);
    sigaddset(&to_end, SIGQUIT);
    sigaddset(&to_end, SIGTERM);
    sigaddset(&to_end, SIGHUP);
    if (sigtimedwait(&to_end, NULL, &moment) > 0)
        w->end_ns = 0;
}

/* Reaps the worker if it has ended. */
static void see_to_worker(struct seep_copies *h, const struct last_wait *w)
{
    struct rusage usage = {0};
    int status = 0;
    const pid_t pid = h->worker ? wait4(h->worker, &status, WNOHANG, &usage) : -1;

    if (!h->worker || (pid < 0 && errno == EINTR))
        return;
    if (pid) /* if it is not there any more, as one that failed */
        (void)seep_copies_reaped(h, h->worker, pid > 0 ? status : SIGKILL, &usage);
    else if (now_ns() > w->end_ns)
        kill(h->worker, SIGKILL);
    else
        seep_copy_reader_hurry(h->worker);
}

static void wait_for_worker(struct seep_copies *h, struct last_wait *w)
{
    for (;;) {
        give_up_readers(h);
        see_to_worker(h, w);
        if (!h->worker)
            return;
        tell(h, w);
        sleep_a_little(w);
    }
}

/* Waits for a copy that is being made; the job has paid for it. True if a copy is ready. */
static bool copy_waits(const struct seep_copies *h, struct last_wait *w)
{
    const struct seep_snapshot_slot *slot = slot_of(h);

    while (state_of(h) == SEEP_SNAPSHOT_TAKEN && now_ns() < w->end_ns && slot->copy &&
           seep_process_is_alive(slot->copy, slot->taken_ns))
        sleep_a_little(w);
    return is_copy_ready(h) && now_ns() < w->end_ns;
}

void seep_copies_close(struct seep_copies *h)
{
    struct last_wait w = {.begun_ns = now_ns()};

    if (!h->folder)
        return;
    w.end_ns = w.begun_ns + LAST_MS * NS_PER_MS;
    h->hurries = true;
    let_worker_go_on(h);
    wait_for_worker(h, &w);
    if (copy_waits(h, &w))
        start_worker(h);
    wait_for_worker(h, &w);
    if (now_ns() < w.end_ns && may_read_another(h))
        use_reserve(h);
    drop_reserve(h);
    wait_for_worker(h, &w);
    clear(&w);
    __atomic_store_n(&slot_of(h)->reader, 0, __ATOMIC_RELEASE);
    seep_copy_let_go(slot_of(h), slot_of(h)->taken_ns);
    h->folder = NULL;
}
