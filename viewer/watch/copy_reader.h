/* A child of `seep run` that reads a frozen copy, or a stopped process, lets it go, and writes
 * down which objects hold memory. */
#ifndef SEEP_VIEWER_WATCH_COPY_READER_H
#define SEEP_VIEWER_WATCH_COPY_READER_H

#include "libprof/format/snapshot_format.h"
#include "viewer/job_folder.h"
#include "viewer/watch/reader_room.h"

#include <stdbool.h>
#include <sys/types.h>

/* Its exit statuses, and `seep run`'s word to a reader that has read its copy. */
enum {
    SEEP_COPY_READ = 0,
    SEEP_COPY_NOT_READ = 1,
    SEEP_COPY_BARRED = 2,
    SEEP_COPY_NOT_WANTED = 3,
    SEEP_COPY_SHORT = 4, /* there was no memory for it; its claim says how much */
    SEEP_COPY_WANTED = 'w',
    SEEP_COPY_WANTED_SOON = 's', /* it hurries, see below */
};

struct seep_copy_readings {
    const struct seep_job_folder *folder;
    const char *roles;   /* NULL: the shipped rules */
    bool keys;           /* texts of dict keys are shown */
    bool lets_others_in; /* once it has read its copy, the job makes others as if there were none */
    bool hurries;        /* somebody waits for what is found: else it takes only time that no other
                          * process wants */
    int memory;          /* file of the copy's memory; −1: could not be opened */
    const struct seep_reader_room *room;
    struct seep_reader_claim *claim; /* NULL: it may take what it needs */
};

/* Tells the copy made at that time, which waits on the slot's state, to end, or the process to go
 * on. False: it no longer waits. */
bool seep_copy_let_go(struct seep_snapshot_slot *slot, uint64_t taken_ns);

/* Somebody waits for a reader's end: it gets its share of the CPUs again. Where that is not
 * permitted, it still has what others leave it. */
void seep_copy_reader_hurry(pid_t reader);

/* The body of a forked child of `seep run`. `start_fd`: a pipe that tells it to evaluate what it
 * has read. */
_Noreturn void seep_copy_reader_main(const struct seep_copy_readings *readings, pid_t run,
                                     int start_fd);

#endif
