#include "viewer/look/take_look.h"

#include "libprof/base/clock.h"
#include "libprof/program/memory_room.h"
#include "viewer/look/remote_fork.h"
#include "viewer/watch/process_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(6) << 30) /* that are kept of a process, */
enum { ROOM_SHARE = 2 };               /* or one in so many of those that are left */
#define STOP_NS (UINT64_C(500) * 1000 * 1000)

static void note_rss(pid_t pid, struct seep_look_moment *moment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
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

/* What is its alone, and its share of what it has in common with others; 0: not known. */
static uint64_t pss_of(pid_t pid)
{
    char text[SEEP_PROCESS_FILE_BYTES];

    seep_process_file(pid, "smaps_rollup", text);
    return seep_process_file_kib(text, "Pss:");
}

static uint64_t most_bytes(void)
{
    struct seep_memory_room room;

    seep_memory_room_read("/proc", 0, &room);
    return room.left_bytes / ROOM_SHARE < MOST_BYTES ? room.left_bytes / ROOM_SHARE : MOST_BYTES;
}

static int refuse_reading(pid_t pid, int rc, struct seep_error *err)
{
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return seep_error_set(err, SEEP_EIO, "", 0, "process %d cannot be read (%s)", (int)pid,
                          strerror(errno));
}

/* Reads it, or the copy of it that stands for it. */
static int read_from(pid_t from, pid_t pid, struct seep_taken *taken)
{
    struct seep_remote_process remote, whole;
    int rc = seep_remote_process_init(&remote, from);

    remote.remote.files = pid;
    if (!rc)
        rc = seep_remote_process_init(&whole, pid);
    if (!rc) {
        rc = seep_take(taken, &remote.remote, &whole.remote, most_bytes());
        seep_remote_process_fini(&whole);
    }
    seep_remote_process_fini(&remote);
    return rc;
}

/* Takes it from a copy; 1: none could be made, and it runs on as before. What speaks against one
 * may have come until it stopped. */
static int take_copy(pid_t pid, struct seep_taken *taken, struct seep_look_moment *moment,
                     struct seep_error *err)
{
    struct seep_stopped stopped;
    pid_t copy;
    int rc = seep_stop(&stopped, pid, seep_clock_ns(CLOCK_MONOTONIC) + STOP_NS, err);

    if (rc)
        return rc;
    moment->why = seep_remote_fork_why_not(pid);
    rc = moment->why ? -SEEP_EIO : seep_remote_fork(&stopped, &copy);
    moment->stop_ns += seep_stop_end(&stopped);
    if (rc)
        return 1;
    rc = read_from(copy, pid, taken);
    if (!seep_remote_fork_end(copy)) {
        moment->why = "its copy was ended by somebody else";
        seep_taken_fini(taken);
        return 1;
    }
    moment->way = "copy";
    return rc ? refuse_reading(pid, rc, err) : 0;
}

static int take_stopped(pid_t pid, struct seep_taken *taken, struct seep_look_moment *moment,
                        struct seep_error *err)
{
    struct seep_stopped stopped;
    int rc = seep_stop(&stopped, pid, seep_clock_ns(CLOCK_MONOTONIC) + STOP_NS, err);

    if (rc)
        return rc;
    rc = read_from(pid, pid, taken);
    moment->stop_ns += seep_stop_end(&stopped);
    moment->way = "stop";
    return rc ? refuse_reading(pid, rc, err) : 0;
}

static int take_live(pid_t pid, struct seep_taken *taken, struct seep_look_moment *moment,
                     struct seep_error *err)
{
    int rc = read_from(pid, pid, taken);

    moment->way = "live";
    return rc ? refuse_reading(pid, rc, err) : 0;
}

static int take(pid_t pid, enum seep_look_way way, struct seep_taken *taken,
                struct seep_look_moment *moment, struct seep_error *err)
{
    int rc = 1;

    if (way == SEEP_LOOK_LIVE)
        return take_live(pid, taken, moment, err);
    if (way != SEEP_LOOK_BY_STOP && !(moment->why = seep_remote_fork_why_not(pid)))
        rc = take_copy(pid, taken, moment, err);
    if (rc != 1)
        return rc;
    if (way == SEEP_LOOK_BY_COPY)
        return seep_error_set(err, SEEP_EIO, "", 0,
                              "no copy of process %d was made%s%s: try --stop", (int)pid,
                              moment->why ? ", for " : "", moment->why ? moment->why : "");
    if (way == SEEP_LOOK_CHOSEN && !moment->why)
        moment->why = "no copy could be made";
    return take_stopped(pid, taken, moment, err);
}

static int think(struct seep_taken *taken, struct seep_look_moment *moment, pid_t pid,
                 struct seep_error *err)
{
    if (taken->allocator[0] && !taken->python_version)
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "process %d takes its memory from %s, whose blocks seep look cannot "
                              "tell, and runs no Python: start it without, or under seep run",
                              (int)pid, taken->allocator);
    if (taken->no_gil)
        return seep_error_set(err, SEEP_EVERSION, "", 0,
                              "process %d runs a Python without a GIL, which seep look does not "
                              "know: start it under seep run",
                              (int)pid);
    if (taken->python_version && !taken->python.layout)
        return seep_error_set(err, SEEP_EVERSION, "", 0,
                              "process %d runs Python %u.%u, which seep look does not know",
                              (int)pid, taken->python_version >> 24,
                              taken->python_version >> 16 & 0xff);
    int rc = seep_taken_settle(taken);
    memcpy(moment->allocator, taken->allocator, sizeof moment->allocator);
    if (!rc)
        rc = seep_look_holders_find(&moment->holders, taken, true);
    moment->incomplete =
        taken->is_cut
            ? "it has more than 5 million objects, or more memory than there is room to keep"
            : NULL;
    return rc ? refuse_reading(pid, rc, err) : 0;
}

int seep_take_look(pid_t pid, enum seep_look_way way, struct seep_look_moment *moment,
                   struct seep_error *err)
{
    struct seep_taken taken = {0};

    *moment = (struct seep_look_moment){.pss_bytes = pss_of(pid)};
    note_rss(pid, moment);
    int rc = take(pid, way, &taken, moment, err);
    if (!rc)
        rc = think(&taken, moment, pid, err);
    seep_taken_fini(&taken);
    return rc;
}

int seep_take_core_look(struct seep_core_file *core, struct seep_look_moment *moment,
                        struct seep_error *err)
{
    struct seep_taken taken = {0};
    int rc;

    *moment = (struct seep_look_moment){.way = "core"};
    rc = seep_take(&taken, &core->remote, &core->remote, most_bytes());
    taken.lacks_memory = core->missing[0];
    if (rc)
        rc = refuse_reading(core->notes.pid, rc, err);
    else
        rc = think(&taken, moment, core->notes.pid, err);
    if (core->missing[0])
        moment->incomplete = core->missing;
    seep_taken_fini(&taken);
    return rc;
}
