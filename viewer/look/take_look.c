#include "viewer/look/take_look.h"

#include "libprof/base/clock.h"
#include "libprof/base/page_bytes.h"
#include "libprof/base/text.h"
#include "libprof/who/find/examine.h"
#include "viewer/look/guarded_remote.h"
#include "viewer/look/process_stat.h"
#include "viewer/look/remote_fork.h"
#include "viewer/look/target_end.h"
#include "viewer/viewer.h"
#include "viewer/watch/process_file.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES (UINT64_C(6) << 30) /* that are kept of a process, */
#define STOP_NS   (UINT64_C(500) * 1000 * 1000)
#define SAID_NS   (UINT64_C(1000) * 1000 * 1000)

enum { ROOM_SHARE = 2 }; /* or one in so many of those that are left */

static void note_rss(pid_t pid, struct seep_look_moment *moment)
{
    const uint64_t page = seep_page_bytes();
    char path[64];
    unsigned long resident = 0, shared = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*u %lu %lu", &resident, &shared) == 2) {
        moment->rss_bytes = resident * page;
        moment->file_bytes = shared * page;
    }
    if (file)
        fclose(file);
}

/* What a look at one process needs besides the process. */
struct looking {
    pid_t pid;
    struct seep_room_watch watch;
    uint64_t copy_bytes; /* that a copy may take of what is left to seep, too */
    uint64_t need_bytes; /* that was asked for last */
    struct seep_look_case how;
    struct seep_look_moment *moment;
    struct seep_taken *taken;
    struct seep_error *err;
};

static int refuse_reading(pid_t pid, int rc, struct seep_error *err)
{
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return seep_error_set(err, SEEP_EIO, "", 0, "process %d cannot be read (%s)", (int)pid,
                          strerror(errno));
}

static int refuse_for_room(struct looking *l, const struct seep_memory_room *room, uint64_t bytes)
{
    char needs[SEEP_SIZE_TEXT], left[SEEP_SIZE_TEXT];

    return seep_error_set(l->err, SEEP_ENOMEM, "", 0,
                          "memory was short: to look at process %d seep needs about %s, and %s "
                          "leaves %s: look at it from outside of its container, or with a larger "
                          "limit",
                          (int)l->pid, seep_text_size((double)bytes, needs),
                          seep_memory_limit_text(room->nearest),
                          seep_text_size((double)room->left_bytes, left));
}

/* 0, or an error if there is not so much memory for seep itself. What a copy may still take beside
 * it is not there. */
static int need(struct looking *l, uint64_t bytes)
{
    struct seep_memory_room room;

    l->need_bytes = bytes;
    seep_room_watch_read(&l->watch, 0, &room);
    return seep_memory_room_fits(&room, bytes + l->copy_bytes) && !l->watch.is_short
               ? 0
               : refuse_for_room(l, &room, bytes);
}

static bool admits(void *looking, uint64_t need_bytes)
{
    return need(looking, need_bytes) == 0;
}

static struct seep_take_limits limits_of(struct looking *l)
{
    struct seep_memory_room room;

    seep_room_watch_read(&l->watch, 0, &room);
    const uint64_t most = seep_memory_room_most(&room) / ROOM_SHARE;
    return (struct seep_take_limits){
        .max_bytes = most < MAX_BYTES ? most : MAX_BYTES, .admits = admits, .arg = l};
}

static int refuse_kind(struct looking *l)
{
    const struct seep_taken *taken = l->taken;

    if (taken->allocator[0] && !taken->python_version)
        return seep_error_set(l->err, SEEP_ENODATA, "", 0,
                              "process %d takes its memory from %s, whose blocks seep look cannot "
                              "tell, and runs no Python: start it without, or under seep run",
                              (int)l->pid, taken->allocator);
    if (taken->no_gil)
        return seep_error_set(l->err, SEEP_EVERSION, "", 0,
                              "process %d runs a Python without a GIL (free-threaded), whose "
                              "objects seep does not read: run the job with a Python that has one",
                              (int)l->pid);
    if (taken->ends || taken->starts)
        return seep_error_set(
            l->err, SEEP_ENODATA, "", 0,
            taken->ends ? "the Python of process %d is ending and takes its modules apart: "
                          "look at it before"
                        : "the Python of process %d is still starting: try again",
            (int)l->pid);
    if (taken->python_version && !taken->python.layout)
        return seep_error_set(l->err, SEEP_EVERSION, "", 0,
                              "process %d runs Python %u.%u, which seep look does not know",
                              (int)l->pid, taken->python_version >> 24,
                              taken->python_version >> 16 & 0xff);
    return 0;
}

static int survey(struct looking *l)
{
    struct seep_taken *taken = l->taken;
    const struct seep_take_limits limits = limits_of(l);
    int rc = refuse_kind(l);

    if (!rc)
        rc = seep_taken_settle(taken);
    memcpy(l->moment->allocator, taken->allocator, sizeof l->moment->allocator);
    return rc ? rc : seep_taken_survey(taken, &limits, true);
}

/* What a copy has passes by, and is surveyed while it is there. A process that stands still itself
 * is kept first, for a survey takes three times as long; one that runs on would be another one at
 * the survey's end. */
static int read_all(struct looking *l, struct seep_guarded_remote *remote,
                    struct seep_remote *whole, pid_t from)
{
    struct seep_take_limits limits = limits_of(l);

    limits.passes_by = from != l->pid;
    int rc = seep_take(l->taken, &remote->remote, whole, &limits);
    if (!rc && l->taken->dump.ranges)
        rc = seep_remote_fork_keep(from, &l->taken->dump) ? survey(l) : -SEEP_EIO;
    return !rc && l->watch.is_short ? need(l, l->need_bytes) : rc;
}

/* Reads it, or the copy of it that stands for it; for the most so long that it may stand still
 * (0: it does not). */
static int read_from(struct looking *l, pid_t from, uint64_t most_ns)
{
    struct seep_remote_process remote, whole;
    struct seep_guarded_remote guarded;
    int rc = seep_remote_process_init(&remote, from);

    remote.remote.files = l->pid;
    if (!rc)
        rc = seep_remote_process_init(&whole, l->pid);
    if (!rc) {
        seep_guarded_remote_init(&guarded, &remote.remote, &l->watch, most_ns,
                                 seep_look_stop_ns(&l->how));
        rc = read_all(l, &guarded, &whole.remote, from);
        if (guarded.is_late)
            rc =
                seep_error_set(l->err, SEEP_EIO, "", 0,
                               "process %d stood still for %.0f s and was not yet read: look at it "
                               "when its machine has more time, or with --live",
                               (int)l->pid, (double)most_ns / 1e9);
        else if (rc)
            (void)refuse_reading(l->pid, rc, l->err);
        seep_remote_process_fini(&whole);
    }
    seep_remote_process_fini(&remote);
    return rc;
}

/* Takes it from a copy; 1: there is none, and it runs on as before. What speaks against one may
 * have come until it stopped. */
static int take_copy(struct looking *l)
{
    struct seep_stopped stopped;
    pid_t copy;
    int rc = seep_stop(&stopped, l->pid, seep_clock_ns(CLOCK_MONOTONIC) + STOP_NS, l->err);

    if (rc)
        return rc;
    l->how.why_no_copy = seep_remote_fork_why_not(l->pid);
    rc = l->how.why_no_copy ? -SEEP_EIO : seep_remote_fork(&stopped, &copy);
    if (!rc)
        seep_room_watch_copy(&l->watch, copy, seep_look_copy_bytes(&l->how));
    l->moment->stop_ns += seep_stop_end(&stopped);
    if (rc) {
        l->how.why_no_copy = l->how.why_no_copy ? l->how.why_no_copy : "it could not be forked";
        return 1;
    }
    l->copy_bytes = l->how.beside ? seep_look_copy_bytes(&l->how) : 0;
    rc = read_from(l, copy, 0);
    l->copy_bytes = 0;
    seep_room_watch_copy(&l->watch, 0, 0);
    if (seep_remote_fork_end(copy))
        return rc;
    l->how.why_no_copy = l->watch.ended_copy ? "memory became short while its copy was read"
                                             : "its copy was ended by somebody else";
    *l->err = (struct seep_error){0};
    seep_taken_fini(l->taken);
    return 1;
}

/* What it costs the process is said before, where it is much or somebody sits there. */
static int take_stopped(struct looking *l)
{
    struct seep_stopped stopped;
    const uint64_t about_ns = seep_look_stop_ns(&l->how), most_ns = seep_look_stop_most_ns(&l->how);

    if (about_ns >= SAID_NS || isatty(STDERR_FILENO))
        seep_complain(
            "process %d stands still while it is read, for about %.1f s and at most %.0f s"
            "%s%s",
            (int)l->pid, (double)about_ns / 1e9, (double)most_ns / 1e9,
            l->moment->why[0] ? ": " : "", l->moment->why);
    int rc = seep_stop(&stopped, l->pid, seep_clock_ns(CLOCK_MONOTONIC) + STOP_NS, l->err);
    if (rc)
        return rc;
    rc = read_from(l, l->pid, most_ns);
    l->moment->stop_ns += seep_stop_end(&stopped);
    return rc;
}

/* Takes it as it was asked for, and otherwise where a copy comes to nothing. */
static int take(struct looking *l)
{
    static const char *const ways[] = {
        [SEEP_LOOK_BY_COPY] = "copy", [SEEP_LOOK_BY_STOP] = "stop", [SEEP_LOOK_LIVE] = "live"};
    int rc = 1;

    for (int way = 0; rc == 1;) {
        way = seep_look_choose(&l->how, l->moment->why, l->err);
        if (way < 0)
            return way;
        l->moment->way = ways[way];
        rc = way == SEEP_LOOK_BY_COPY   ? take_copy(l)
             : way == SEEP_LOOK_BY_STOP ? take_stopped(l)
                                        : read_from(l, l->pid, 0);
    }
    return rc;
}

/* What is known before anything is taken: nothing in seep's own room, everything in the job's. */
static void ask(struct looking *l, enum seep_look_way asked)
{
    char text[SEEP_PROCESS_FILE_BYTES];

    l->how = (struct seep_look_case){.pid = l->pid,
                                     .asked = asked,
                                     .why_no_copy = seep_remote_fork_why_not(l->pid),
                                     .beside = seep_target_is_beside(l->pid)};
    note_rss(l->pid, l->moment);
    l->how.anonymous_bytes = l->moment->rss_bytes - l->moment->file_bytes;
    seep_process_file(l->pid, "smaps_rollup", text);
    l->moment->pss_bytes = seep_process_file_kib(text, "Pss:");
    l->moment->private_bytes = seep_process_file_kib(text, "Private_Dirty:");
    l->how.swapped_bytes = seep_process_file_kib(text, "Swap:");
    seep_process_file(l->pid, "status", text);
    l->how.table_bytes = seep_process_file_kib(text, "VmPTE:");
    seep_memory_room_read("/proc", (uint32_t)l->pid, &l->how.room);
}

/* From here on the process is as it was, and what seep takes is its own. */
static int think(struct looking *l)
{
    struct seep_taken *taken = l->taken;
    int rc = 0;

    seep_room_watch_may_exit(&l->watch);
    if (!taken->is_surveyed)
        rc = survey(l);
    if (!rc)
        rc = seep_look_holders_find(&l->moment->holders, taken, true);
    l->moment->incomplete =
        taken->is_cut
            ? "it has more than 5 million objects, or more memory than there is room to keep"
            : NULL;
    if (rc)
        (void)refuse_reading(l->pid, rc, l->err);
    return rc;
}

/* What no permission would help with. */
static int check(pid_t pid, struct seep_error *err)
{
    struct seep_process_stat stat;

    if (pid == getpid())
        return seep_error_set(err, SEEP_EINVAL, "", 0,
                              "process %d is this seep itself: give the number of another process",
                              (int)pid);
    if (seep_process_stat(pid, &stat) && stat.is_kernels)
        return seep_error_set(err, SEEP_EINVAL, "", 0,
                              "process %d is a thread of the kernel and has no memory of its own: "
                              "give the number of a program's process",
                              (int)pid);
    return 0;
}

int seep_take_look(pid_t pid, enum seep_look_way way, struct seep_look_moment *moment,
                   struct seep_error *err)
{
    struct seep_taken taken = {0};
    struct looking l = {.pid = pid, .moment = moment, .taken = &taken, .err = err};

    *moment = (struct seep_look_moment){0};
    if (check(pid, err))
        return -SEEP_EINVAL;
    ask(&l, way);
    if (seep_room_watch_begin(&l.watch, pid))
        return refuse_reading(pid, -SEEP_ENOMEM, err);
    int rc = need(&l, seep_reading_need(0, 0));
    if (!rc)
        rc = take(&l);
    if (!rc)
        rc = think(&l);
    seep_taken_fini(&taken);
    seep_room_watch_end(&l.watch);
    malloc_trim(0); /* until the next look the memory is the job's */
    return rc;
}

int seep_take_core_look(struct seep_core_file *core, struct seep_look_moment *moment,
                        struct seep_error *err)
{
    struct seep_taken taken = {0};
    struct looking l = {.pid = core->notes.pid, .moment = moment, .taken = &taken, .err = err};

    *moment = (struct seep_look_moment){.way = "core"};
    if (seep_room_watch_begin(&l.watch, l.pid))
        return refuse_reading(l.pid, -SEEP_ENOMEM, err);
    struct seep_take_limits limits = limits_of(&l);
    limits.passes_by = true;
    int rc = seep_take(&taken, &core->remote, &core->remote, &limits);
    taken.lacks_memory = core->missing[0];
    rc = rc ? refuse_reading(l.pid, rc, err) : think(&l);
    if (core->missing[0])
        moment->incomplete = core->missing;
    seep_taken_fini(&taken);
    seep_room_watch_end(&l.watch);
    return rc;
}
