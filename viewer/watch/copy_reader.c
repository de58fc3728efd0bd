#include "viewer/watch/copy_reader.h"

#include "libprof/base/error.h"
#include "libprof/runtime/program/memory_room.h"
#include "libprof/who/find/examine.h"
#include "viewer/output.h"
#include "viewer/watch/idle_cpu.h"
#include "viewer/watch/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

enum {
    READER_SECONDS = 120, /* then the reading is given up; and of CPU time, the evaluation */
    ASIDE = 10,           /* nice value while it reads beside the job: a tenth of a contended CPU */
    BEHIND = 5,           /* while it evaluates in a hurry: a quarter, */
    LAST = 19,            /* and else */
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

bool seep_copy_let_go(struct seep_snapshot_slot *slot, uint64_t taken_ns)
{
    uint32_t ready = SEEP_SNAPSHOT_READY;

    if (slot->taken_ns != taken_ns)
        return false; /* the slot has another copy by now */
    if (!__atomic_compare_exchange_n(&slot->state, &ready, SEEP_SNAPSHOT_DONE, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    syscall(SYS_futex, &slot->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

/* How the steps were counted, or what else caused the copy. A process without steps of its own uses
 * those of the process that it follows. */
static const char *source_of(const struct seep_job *job, uint32_t process, uint32_t source)
{
    const struct seep_process *p = &job->processes[process];

    if (source == SEEP_SNAPSHOT_ASKED)
        return "request";
    if (source == SEEP_SNAPSHOT_AT_END)
        return "end";
    if (!p->steps && p->follows && p->follows <= SEEP_MAX_PROCESSES)
        p = &job->processes[p->follows - 1];
    if (!p->steps || p->step_source == SEEP_STEP_TIME)
        return "time";
    switch (p->step_source) {
    case SEEP_STEP_OPTIMIZER:
        return "optimizer";
    case SEEP_STEP_BATCH:
        return "batch";
    case SEEP_STEP_LOOP:
        return "loop";
    case SEEP_STEP_TASK:
        return "task";
    default:
        return "told";
    }
}

/* At the end local variables are gone, and with them what they held: memory that no object seems to
 * hold then may well have been held while the job ran. */
static void leave_only_what_is_held(json_t *lines)
{
    for (size_t i = json_array_size(lines); i-- > 0;) {
        const char *state = json_string_value(json_object_get(json_array_get(lines, i), "state"));
        if (!state || (strcmp(state, "held") != 0 && strcmp(state, "shared") != 0))
            json_array_remove(lines, i);
    }
}

static int write_document(const struct seep_copy_readings *h, const json_t *document, uint32_t pid,
                          uint32_t step)
{
    char path[SEEP_PATH_BYTES];
    struct seep_error err = {0};

    snprintf(path, sizeof path, "%s/holders-%" PRIu32 "-%" PRIu32 ".json", h->folder->path, pid,
             step);
    return seep_output_replace(document, seep_output_json, path, 0600, &err);
}

/* One reading. `slot` is the shared one, not a copy of it: the process may note how long it was
 * stopped only after its copy is ready. */
struct job_reading {
    struct seep_snapshot_slot *slot;
    const uint64_t taken_ns;
    const bool in_place;
    const bool lets_others_in; /* as in struct seep_copy_readings */
    const int start_fd; /* pipe on which `seep run` says that what was read is to be evaluated */
    bool hurries;       /* somebody waits for what is found */
    const struct seep_reader_room *room;
    struct seep_reader_claim *claim;
    bool too_late;             /* the process no longer waits, and has said so itself */
    uint64_t read_ns, stop_ns; /* when all was read, and what the slot said of the stop then */
    struct seep_examine_request request;
};

/* What was read is kept until `seep run` says that it is wanted; anything else, or a closed pipe,
 * discards it. */
static bool is_wanted(struct job_reading *reading)
{
    char word = 0;

    if (reading->claim)
        reading->claim->waits = true;
    while (read(reading->start_fd, &word, 1) < 0 && errno == EINTR) {
    }
    if (reading->claim)
        reading->claim->waits = false;
    reading->hurries = reading->hurries || word == SEEP_COPY_WANTED_SOON;
    return word == SEEP_COPY_WANTED || word == SEEP_COPY_WANTED_SOON;
}

/* Nothing of the job waits any more for what has been read: the evaluation has the time that no
 * other process wants, however long that lasts. With SCHED_IDLE the kernel also lets it read files
 * last. Once the job has ended, `seep run` brings the evaluation forward: where that is not
 * permitted, it must not depend on what other processes leave. */
static void step_aside(const struct job_reading *reading)
{
    const struct sched_param idle = {0};

    (void)setpriority(PRIO_PROCESS, 0, reading->hurries ? BEHIND : LAST);
    if (reading->hurries || setpriority(PRIO_PROCESS, 0, 0))
        return;
    (void)setpriority(PRIO_PROCESS, 0, LAST);
    (void)sched_setscheduler(0, SCHED_IDLE, &idle);
}

/* Where the job's threads have a CPU each and wait for each other by spinning, as OpenMP's do, one
 * that shares its CPU with a reader holds up all: a step of 17 ms took 170. Not on a machine that
 * is busy with other things, where the copy would live too long. */
static void make_room(const struct job_reading *reading, bool is_calm)
{
    if (!reading->in_place && !reading->hurries && is_calm)
        (void)setpriority(PRIO_PROCESS, 0, ASIDE);
}

/* Marks the reading as done, unless a newer one has begun. */
static void let_others_in(struct job_reading *reading)
{
    uint32_t own = (uint32_t)reading->request.copy;

    (void)__atomic_compare_exchange_n(&reading->slot->reading, &own, 0, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

/* Called when all has been read: lets the copy end, or the process itself go on if it was read in
 * place. A copy may have ended by now, which does no harm; but a process that no longer waited may
 * have changed while it was read. */
static bool has_been_read(void *reading_given, bool whole)
{
    struct job_reading *reading = reading_given;

    reading->read_ns = now_ns();
    reading->stop_ns = reading->slot->stop_ns;
    if (!seep_copy_let_go(reading->slot, reading->taken_ns) && reading->in_place) {
        reading->too_late = true;
        return false;
    }
    alarm(0);
    if (reading->lets_others_in)
        let_others_in(reading);
    if (!whole || !is_wanted(reading))
        return false;
    step_aside(reading);
    return true;
}

/* How long the process was held up: the stop, and its writes to pages that had to be copied while
 * the copy existed. In place it was stopped all the time. The copy notes the writes as it ends; by
 * now another one may have its place. */
static uint64_t held_up(void *reading_given)
{
    const struct job_reading *reading = reading_given;
    const struct seep_snapshot_slot *slot = reading->slot;

    if (reading->in_place)
        return reading->read_ns - reading->taken_ns;
    const uint64_t stop_ns = __atomic_load_n(&slot->stop_ns, __ATOMIC_RELAXED);
    const uint64_t written = __atomic_load_n(&slot->written, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* whose they are is asked afterwards */
    return __atomic_load_n(&slot->taken_ns, __ATOMIC_RELAXED) == reading->taken_ns
               ? stop_ns + written * SEEP_SNAPSHOT_WRITE_NS
               : reading->stop_ns;
}

static bool admits(void *reading_given, uint64_t need_bytes, uint64_t most_bytes)
{
    const struct job_reading *reading = reading_given;

    return seep_reader_room_take(reading->room, reading->claim, need_bytes, most_bytes);
}

/* Whether no page is kept. To copy the pages first takes a third of the time that surveying them
 * does, so it is done while a process itself waits, but not as it ends, where nobody minds half a
 * second; and where no CPU is free, since a short job would be over before it is looked at twice:
 * but only if what is copied is a small part of all that is left. */
static bool passes_by(const struct seep_snapshot_slot *slot, bool is_calm)
{
    enum { HALF_A_SECOND = 256 << 20, SMALL_SHARE = 16 };
    const bool is_end = slot->in_place && slot->source == SEEP_SNAPSHOT_AT_END;
    struct seep_memory_room left;
    char text[SEEP_PROCESS_FILE_BYTES];

    if (!is_end && (slot->in_place || is_calm))
        return !slot->in_place;
    seep_process_file((pid_t)slot->copy, "status", text);
    const uint64_t bytes = seep_process_file_kib(text, "RssAnon:");
    seep_memory_room_read("/proc", 0, &left);
    return is_end ? bytes <= HALF_A_SECOND : bytes > left.left_bytes / SMALL_SHARE;
}

/* Every field of the slot is written by the job, so untrusted, and is read once. */
static int read_slot(const struct seep_copy_readings *h, int start_fd)
{
    struct seep_job *job = h->folder->job;
    struct seep_snapshot_slot *slot = &job->snapshot, now = *slot;
    uint32_t process = now.process_plus_1 - 1;
    struct seep_examine_found found = {0};
    struct seep_error err = {0};
    json_t *document = NULL;

    if (process >= SEEP_MAX_PROCESSES || (int32_t)now.copy <= 1)
        return SEEP_COPY_NOT_READ;
    const bool is_calm = !now.in_place && seep_idle_cpu_for_each_task();
    struct job_reading reading = {
        .slot = slot,
        .taken_ns = now.taken_ns,
        .in_place = now.in_place,
        .lets_others_in = h->lets_others_in,
        .start_fd = start_fd,
        .hurries = h->hurries || now.source != SEEP_SNAPSHOT_BY_STEP,
        .room = h->room,
        .claim = h->claim,
        .request = {.folder = h->folder->path,
                    .roles_file = h->roles,
                    .keys = h->keys,
                    .copy = (pid_t)now.copy,
                    .memory = h->memory,
                    .in_place = now.in_place,
                    .passes_by = passes_by(&now, is_calm),
                    .snapshot = now.snapshot,
                    .pid = job->processes[process].pid,
                    .start_ns = job->processes[process].start_ns,
                    .process = process,
                    .source = source_of(job, process, now.source),
                    .admits = admits,
                    .release = has_been_read,
                    .held_up_ns = held_up,
                    .arg = &reading},
    };
    make_room(&reading, is_calm);
    int rc = seep_examine(&reading.request, &found, &document, &err);
    if (reading.too_late)
        return SEEP_COPY_NOT_WANTED;
    if (rc)
        return found.barred         ? SEEP_COPY_BARRED
               : rc == -SEEP_ENOMEM ? SEEP_COPY_SHORT
                                    : SEEP_COPY_NOT_READ;
    if (!document)
        return SEEP_COPY_NOT_WANTED;
    if (now.source == SEEP_SNAPSHOT_AT_END)
        leave_only_what_is_held(json_object_get(document, "lines"));
    rc = write_document(h, document, reading.request.pid, found.step);
    json_decref(document);
    return rc ? SEEP_COPY_NOT_READ : SEEP_COPY_READ;
}

static void leave_no_core(void)
{
    const struct rlimit no_core = {1, 1}; /* 1, not 0: no core through a pipe either */
    setrlimit(RLIMIT_CORE, &no_core);
}

static void limit_time(void)
{
    const struct rlimit cpu = {READER_SECONDS, READER_SECONDS};

    setrlimit(RLIMIT_CPU, &cpu);
    alarm(READER_SECONDS);
}

void seep_copy_reader_hurry(pid_t reader)
{
    const struct sched_param plain = {0};

    if (!sched_setscheduler(reader, SCHED_OTHER, &plain))
        (void)setpriority(PRIO_PROCESS, (id_t)reader, 0);
}

_Noreturn void seep_copy_reader_main(const struct seep_copy_readings *h, pid_t run, int start_fd)
{
    sigset_t none;

    (void)seep_memory_volunteer();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != run)
        _exit(SEEP_COPY_NOT_READ);
    signal(SIGALRM, SIG_DFL); /* seep may have been started with SIGALRM ignored */
    limit_time();
    sigemptyset(&none);
    sigaddset(&none, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &none, NULL);
    prctl(PR_SET_NAME, "seep-reader", 0, 0, 0);
    leave_no_core();
    _exit(read_slot(h, start_fd));
}
