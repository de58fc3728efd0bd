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

/* ---- states, as copies.h draws them ---------------------------------------------------------- */

/* Has what it has read, or will, and the pipe that tells it to evaluate that. */
static bool keeps(enum seep_reader_state state)
{
    return state == SEEP_READER_RESERVE || state == SEEP_READER_NEXT || state == SEEP_READER_WAITS;
}

static bool is_at_work(enum seep_reader_state state)
{
    return state == SEEP_READER_WAITS || state == SEEP_READER_WORKS ||
           state == SEEP_READER_GIVEN_UP;
}

static struct seep_reader *reader_at_work(struct seep_copies *h)
{
    for (int i = 0; i < SEEP_READERS; i++)
        if (is_at_work(h->readers[i].state))
            return &h->readers[i];
    return NULL;
}

static struct seep_reader *reader_behind(struct seep_copies *h)
{
    for (int i = 0; i < SEEP_READERS; i++)
        if (h->readers[i].state == SEEP_READER_RESERVE || h->readers[i].state == SEEP_READER_NEXT)
            return &h->readers[i];
    return NULL;
}

static struct seep_reader *reader_of(struct seep_copies *h, pid_t pid)
{
    for (int i = 0; i < SEEP_READERS; i++)
        if (h->readers[i].state != SEEP_READER_NONE && h->readers[i].pid == pid)
            return &h->readers[i];
    return NULL;
}

/* Whether somebody waits for what this reader finds, or for its end. */
static bool is_awaited(struct seep_copies *h, const struct seep_reader *r)
{
    const struct seep_reader *behind = reader_behind(h);

    return h->hurries || r->source != SEEP_SNAPSHOT_BY_STEP ||
           (behind && behind != r && behind->state == SEEP_READER_NEXT);
}

static void tell_to_evaluate(struct seep_copies *h, const struct seep_reader *r)
{
    const char word = is_awaited(h, r) ? SEEP_COPY_WANTED_SOON : SEEP_COPY_WANTED;

    (void)!write(r->start_fd, &word, 1);
}

/* Tells the job which copy is still being read or evaluated: it makes no regular one before it
 * knows the cost of that. A reader in reserve takes that back once it has read its copy. */
static void note_reading(struct seep_copies *h, const struct seep_reader *changed)
{
    const struct seep_reader *behind = reader_behind(h), *at_work = reader_at_work(h);
    const struct seep_reader *reads = changed->state == SEEP_READER_RESERVE         ? changed
                                      : behind && behind->state == SEEP_READER_NEXT ? behind
                                                                                    : at_work;

    __atomic_store_n(&slot_of(h)->reading, reads ? reads->copy : 0, __ATOMIC_RELEASE);
}

static bool has_edge(enum seep_reader_state from, enum seep_reader_state to)
{
    switch (from) {
    case SEEP_READER_NONE:
        return to == SEEP_READER_RESERVE || to == SEEP_READER_NEXT || to == SEEP_READER_WAITS;
    case SEEP_READER_RESERVE:
    case SEEP_READER_NEXT:
        return to == SEEP_READER_WORKS || to == SEEP_READER_NONE;
    case SEEP_READER_WAITS:
        return to == SEEP_READER_WORKS || to == SEEP_READER_GIVEN_UP || to == SEEP_READER_NONE;
    case SEEP_READER_WORKS:
        return to == SEEP_READER_GIVEN_UP || to == SEEP_READER_NONE;
    case SEEP_READER_GIVEN_UP:
        return to == SEEP_READER_NONE;
    }
    return false;
}

/* The only place where a reader changes its state, and what that sets free is given back. Nothing
 * happens where the drawing has no such edge: who was told, or given up, is not a second time. */
static void enter(struct seep_copies *h, struct seep_reader *r, enum seep_reader_state to)
{
    if (!has_edge(r->state, to))
        return;
    if (to == SEEP_READER_WORKS)
        tell_to_evaluate(h, r);
    if (to == SEEP_READER_GIVEN_UP) {
        seep_copy_reader_hurry(r->pid); /* to its end */
        kill(r->pid, SIGKILL);
    }
    if (keeps(r->state))
        close(r->start_fd);
    r->state = to;
    r->since_ns = now_ns();
    note_reading(h, r);
    if (to == SEEP_READER_NONE) {
        seep_copy_let_go(slot_of(h), r->taken_ns); /* if it ended without doing so */
        if (r->claim)
            r->claim->pid = 0;
    }
}

/* ---- readers --------------------------------------------------------------------------------- */

/* A copy that no reader was started for yet. */
static bool is_copy_ready(const struct seep_copies *h)
{
    bool is_new = state_of(h) == SEEP_SNAPSHOT_READY;

    for (int i = 0; i < SEEP_READERS; i++)
        is_new = is_new && (h->readers[i].state == SEEP_READER_NONE ||
                            h->readers[i].taken_ns != slot_of(h)->taken_ns);
    return is_new;
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

/* Yama lets a process be read by its ancestors: `seep run` is one, a reader is not. */
static int open_memory(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return pid > 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static void be_reader(struct seep_copies *h, const struct seep_reader *r, pid_t run, int memory,
                      int start_fd)
{
    const bool in_reserve = r->state == SEEP_READER_RESERVE;
    const struct seep_copy_readings readings = {.folder = h->folder,
                                                .roles = h->roles,
                                                .keys = h->keys,
                                                .lets_others_in = in_reserve && !reader_at_work(h),
                                                .hurries = h->hurries,
                                                .memory = memory,
                                                .room = &h->room,
                                                .claim = r->claim};
    seep_copy_reader_main(&readings, run, start_fd);
}

/* Starts a reader in a process of its own, for the copy that is ready. NULL: it cannot be started,
 * and the copy is let go. There is a place for it. */
static struct seep_reader *start_reader(struct seep_copies *h, enum seep_reader_state as)
{
    const struct seep_snapshot_slot *slot = slot_of(h);
    const pid_t run = getpid();
    struct seep_reader *r = h->readers;
    int start[2];

    while (r->state != SEEP_READER_NONE)
        r++;
    const bool has_pipe = pipe2(start, O_CLOEXEC) == 0;
    *r = (struct seep_reader){.of = what_is_read(h),
                              .copy = slot->copy,
                              .taken_ns = slot->taken_ns,
                              .source = slot->source,
                              .start_fd = has_pipe ? start[1] : -1,
                              .claim = seep_reader_room_claim(&h->room)};
    enter(h, r, as);
    const int memory = open_memory((pid_t)r->copy);
    r->pid = has_pipe ? fork() : -1;
    if (r->pid == 0) {
        close(start[1]);
        be_reader(h, r, run, memory, start[0]);
    }
    if (memory >= 0)
        close(memory);
    if (has_pipe)
        close(start[0]);
    if (r->pid < 0) {
        h->folder->job->snapshots.n_failed++;
        enter(h, r, SEEP_READER_NONE);
        return NULL;
    }
    if (r->claim)
        r->claim->pid = r->pid;
    return r;
}

/* Kills a reader that stands behind, and still counts the CPU time that it took. */
static void drop(struct seep_copies *h, struct seep_reader *r)
{
    struct rusage usage = {0};

    if (!r)
        return;
    kill(r->pid, SIGKILL);
    while (wait4(r->pid, NULL, 0, &usage) < 0 && errno == EINTR) {
    }
    seep_reader_count_cpu(h->folder->job, &usage);
    enter(h, r, SEEP_READER_NONE);
}

/* An evaluation takes a second. It takes only time that nobody else wants, but threads that wait
 * for each other by spinning want all of it, and whatever runs beside one of them holds up the
 * others. So at first it waits for a CPU that is idle, unless somebody waits for what is found;
 * later it is a small part of the time. */
static bool may_evaluate(struct seep_copies *h, const struct seep_reader *r)
{
    return is_awaited(h, r) || now_ns() - h->folder->job->started_ns > EARLY_MS * NS_PER_MS ||
           seep_idle_cpu_is_there(&h->idle);
}

static void start_work(struct seep_copies *h)
{
    struct seep_reader *behind = reader_behind(h);

    if (behind && !seep_reader_room_has_another(&h->room, behind->claim))
        drop(h, behind);
    struct seep_reader *r = start_reader(h, SEEP_READER_WAITS);
    if (r && may_evaluate(h, r))
        enter(h, r, SEEP_READER_WORKS);
}

/* A copy is read at once. Its evaluation waits, in reserve, while another reader is at work, or if
 * the job asked for a reserve only. A copy that comes while one waits its turn waits itself. */
static void start_reading(struct seep_copies *h)
{
    struct seep_reader *at_work = reader_at_work(h), *behind = reader_behind(h);
    const bool in_reserve = slot_of(h)->in_reserve;

    if (behind && behind->state == SEEP_READER_NEXT)
        return;
    if (!in_reserve && !at_work) {
        start_work(h);
        return;
    }
    drop(h, behind);
    start_reader(h, in_reserve ? SEEP_READER_RESERVE : SEEP_READER_NEXT);
    if (!in_reserve)
        seep_copy_reader_hurry(at_work->pid); /* somebody waits for its turn */
}

/* Whether the limit on what all readings may cost leaves one more. */
static bool may_read_another(const struct seep_copies *h)
{
    const struct seep_job *job = h->folder->job;
    const uint64_t now = now_ns();

    return seep_snapshot_may_be_read(job->snapshots.cpu_ns, job->snapshots.n_read,
                                     now > job->started_ns ? now - job->started_ns : 0);
}

static bool is_reserve_due(const struct seep_copies *h, const struct seep_reader *behind)
{
    return behind && now_ns() - behind->since_ns > RESERVE_MS * NS_PER_MS && may_read_another(h);
}

/* ---- `seep run` ------------------------------------------------------------------------------ */

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

    if (state != h->slot_state) {
        h->slot_state = state;
        h->slot_since_ns = now;
    }
    if (state == SEEP_SNAPSHOT_FREE || now - h->slot_since_ns < STUCK_MS * NS_PER_MS ||
        (slot->copy && seep_process_is_alive(slot->copy, slot->taken_ns)) ||
        (process < SEEP_MAX_PROCESSES && seep_process_is_alive(p->pid, p->start_ns)))
        return;
    slot->process_plus_1 = 0;
    __atomic_store_n(&slot->state, SEEP_SNAPSHOT_FREE, __ATOMIC_RELEASE);
}

/* What stands behind may not be needed, so it goes first. */
static void give_up_readers(struct seep_copies *h)
{
    struct seep_reader *at_work = reader_at_work(h), *behind = reader_behind(h);
    const uint64_t now = now_ns();

    if ((!at_work && !behind) || !seep_reader_room_is_short(&h->room, now))
        return;
    if (behind) {
        seep_reader_note_short(h->folder->job, &behind->of, behind->claim);
        drop(h, behind);
        h->room.due_ns = now; /* that may be enough */
    } else {
        enter(h, at_work, SEEP_READER_GIVEN_UP);
    }
}

/* Tells the job whether a reader waits for long. Returns when to ask for an idle CPU again. */
static uint64_t note_waiting(struct seep_copies *h, uint64_t now)
{
    struct seep_reader *r = reader_at_work(h);
    const bool waits = r && r->state == SEEP_READER_WAITS;

    if (waits && state_of(h) == SEEP_SNAPSHOT_READY)
        r->since_ns = now; /* it still reads */
    __atomic_store_n(&slot_of(h)->reader_waits, waits && now - r->since_ns > WAIT_MS * NS_PER_MS,
                     __ATOMIC_RELAXED);
    return waits ? ASK_MS * NS_PER_MS : UINT64_MAX - now;
}

uint64_t seep_copies_look(struct seep_copies *h)
{
    if (!h->folder)
        return UINT64_MAX;
    give_up_readers(h);
    struct seep_reader *at_work = reader_at_work(h), *behind = reader_behind(h);
    if (is_copy_ready(h))
        start_reading(h);
    else if (at_work && at_work->state == SEEP_READER_WAITS && may_evaluate(h, at_work))
        enter(h, at_work, SEEP_READER_WORKS);
    else if (!at_work && is_reserve_due(h, behind))
        enter(h, behind, SEEP_READER_WORKS);
    else if (!at_work)
        free_stuck(h);
    const uint64_t now = now_ns(), ask_ns = note_waiting(h, now);
    if (!h->room.claims || (!reader_at_work(h) && !reader_behind(h)) ||
        h->room.due_ns >= now + ask_ns)
        return ask_ns;
    return h->room.due_ns > now ? h->room.due_ns - now : 0;
}

/* Who stands behind has its turn; or it is dropped, if what was read is later. */
static void look_behind(struct seep_copies *h, bool was_read, uint64_t taken_ns)
{
    struct seep_reader *behind = reader_behind(h);

    if (behind && behind->state == SEEP_READER_NEXT)
        enter(h, behind, SEEP_READER_WORKS);
    else if (behind && was_read && behind->taken_ns < taken_ns)
        drop(h, behind);
}

bool seep_copies_reaped(struct seep_copies *h, pid_t pid, int status, const struct rusage *usage)
{
    struct seep_reader *r = h->folder && pid > 0 ? reader_of(h, pid) : NULL;
    const bool was_read = WIFEXITED(status) && WEXITSTATUS(status) == SEEP_COPY_READ;

    if (!r)
        return false;
    if (r->state == SEEP_READER_GIVEN_UP)
        seep_reader_note_short(h->folder->job, &r->of, r->claim);
    else
        seep_reader_note_end(h->folder, &r->of, r->claim, status);
    seep_reader_count_cpu(h->folder->job, usage);
    const bool was_at_work = is_at_work(r->state);
    enter(h, r, SEEP_READER_NONE);
    if (was_at_work)
        look_behind(h, was_read, r->taken_ns);
    return true;
}

/* At the end seep waits for a reader, within a limit, and until the user interrupts. */
struct last_wait {
    uint64_t begun_ns, end_ns;
    int told; /* columns to be cleared on the terminal */
};

static void tell(const struct seep_copies *h, const struct seep_copy_of *of, struct last_wait *w)
{
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

/* Reaps it if it has ended. */
static void see_to(struct seep_copies *h, const struct last_wait *w, pid_t reader)
{
    struct rusage usage = {0};
    int status = 0;
    const pid_t pid = wait4(reader, &status, WNOHANG, &usage);

    if (pid < 0 && errno == EINTR)
        return;
    if (pid) /* if it is not there any more, as one that failed */
        (void)seep_copies_reaped(h, reader, pid > 0 ? status : SIGKILL, &usage);
    else if (now_ns() > w->end_ns)
        kill(reader, SIGKILL);
    else
        seep_copy_reader_hurry(reader);
}

/* And for the one behind that then has its turn. */
static void wait_for_who_is_at_work(struct seep_copies *h, struct last_wait *w)
{
    for (const struct seep_reader *r; (r = reader_at_work(h));) {
        give_up_readers(h);
        see_to(h, w, r->pid);
        if (!reader_at_work(h))
            return;
        tell(h, &reader_at_work(h)->of, w);
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
    if (reader_at_work(h))
        enter(h, reader_at_work(h), SEEP_READER_WORKS);
    wait_for_who_is_at_work(h, &w);
    if (copy_waits(h, &w))
        start_work(h);
    wait_for_who_is_at_work(h, &w);
    struct seep_reader *behind = reader_behind(h);
    if (behind && now_ns() < w.end_ns && may_read_another(h))
        enter(h, behind, SEEP_READER_WORKS);
    else
        drop(h, behind);
    wait_for_who_is_at_work(h, &w);
    clear(&w);
    __atomic_store_n(&slot_of(h)->reader, 0, __ATOMIC_RELEASE);
    seep_copy_let_go(slot_of(h), slot_of(h)->taken_ns);
    h->folder = NULL;
}
