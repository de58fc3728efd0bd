#include "viewer/look/take_look.h"

#include "libprof/base/clock.h"
#include "viewer/look/remote_fork.h"
#include "viewer/watch/room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(6) << 30) /* that are kept of a process, */
enum { ROOM_SHARE = 2 };               /* or one in so many of those that are left */
#define STOP_NS (UINT64_C(500) * 1000 * 1000)

static uint64_t rss_of(pid_t pid)
{
    char path[64];
    unsigned long size = 0, resident = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%lu %lu", &size, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t most_bytes(void)
{
    const uint64_t room = seep_room_left() / ROOM_SHARE;

    return room < MOST_BYTES ? room : MOST_BYTES;
}

static int refuse_reading(pid_t pid, int rc, struct seep_error *err)
{
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return seep_error_set(err, SEEP_EIO, "", 0, "process %d cannot be read (%s)", (int)pid,
                          strerror(errno));
}

/* Takes it from a copy; 1: none could be made, and it runs on as before. */
static int take_copy(pid_t pid, struct seep_taken *taken, struct seep_look_moment *moment,
                     struct seep_error *err)
{
    struct seep_stopped stopped;
    pid_t copy;
    int rc = seep_stop(&stopped, pid, seep_clock_ns(CLOCK_MONOTONIC) + STOP_NS, err);

    if (rc)
        return rc;
    rc = seep_remote_fork(&stopped, &copy);
    moment->stop_ns += seep_stop_end(&stopped);
    if (rc)
        return 1;
    rc = seep_take(taken, copy, pid, most_bytes());
    seep_remote_fork_end(copy);
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
    rc = seep_take(taken, pid, pid, most_bytes());
    moment->stop_ns += seep_stop_end(&stopped);
    moment->way = "stop";
    return rc ? refuse_reading(pid, rc, err) : 0;
}

static int take_live(pid_t pid, struct seep_taken *taken, struct seep_look_moment *moment,
                     struct seep_error *err)
{
    int rc = seep_take(taken, pid, pid, most_bytes());

    moment->way = "live";
    return rc ? refuse_reading(pid, rc, err) : 0;
}

static int take(pid_t pid, enum seep_look_way way, struct seep_taken *taken,
                struct seep_look_moment *moment, struct seep_error *err)
{
    int rc = 1;

    if (way == SEEP_LOOK_LIVE)
        return take_live(pid, taken, moment, err);
    moment->why = way == SEEP_LOOK_CHOSEN ? seep_remote_fork_why_not(pid) : NULL;
    if (way != SEEP_LOOK_BY_STOP && !moment->why)
        rc = take_copy(pid, taken, moment, err);
    if (rc != 1)
        return rc;
    if (way == SEEP_LOOK_BY_COPY)
        return seep_error_set(err, SEEP_EIO, "", 0,
                              "no copy of process %d could be made: try --stop", (int)pid);
    if (way == SEEP_LOOK_CHOSEN && !moment->why)
        moment->why = "no copy could be made";
    return take_stopped(pid, taken, moment, err);
}

static int think(struct seep_taken *taken, struct seep_look_moment *moment, pid_t pid,
                 struct seep_error *err)
{
    if (taken->allocator)
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "process %d takes its memory from %s, whose blocks seep look cannot "
                              "tell: start it without, or under seep run",
                              (int)pid, taken->allocator);
    if (taken->python_version && !taken->python.layout)
        return seep_error_set(err, SEEP_EVERSION, "", 0,
                              "process %d runs Python %u.%u, which seep look does not know",
                              (int)pid, taken->python_version >> 24,
                              taken->python_version >> 16 & 0xff);
    int rc = seep_taken_settle(taken);
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

    *moment = (struct seep_look_moment){.rss_bytes = rss_of(pid)};
    int rc = take(pid, way, &taken, moment, err);
    if (!rc)
        rc = think(&taken, moment, pid, err);
    seep_taken_fini(&taken);
    return rc;
}
