/* A process of the launcher's own, that reads a frozen copy or a process that waits, lets it go,
 * and writes down who holds what. */
#ifndef SEEP_VIEWER_WATCH_COPY_READER_H
#define SEEP_VIEWER_WATCH_COPY_READER_H

#include "libprof/format/snapshot_format.h"
#include "viewer/job_folder.h"

#include <stdbool.h>
#include <sys/types.h>

/* How it ends, and the launcher's word to one that is in reserve. */
enum {
    SEEP_COPY_READ = 0,
    SEEP_COPY_NOT_READ = 1,
    SEEP_COPY_BARRED = 2,
    SEEP_COPY_NOT_WANTED = 3,
    SEEP_COPY_WANTED = 'w',
};

struct seep_copy_readings {
    const struct seep_job_folder *folder;
    const char *roles; /* NULL: the shipped rules */
    bool keys;         /* texts of dict keys are shown */
    bool beside;       /* somebody is at work on an older one */
};

/* Tells the copy that was made then, which waits on the slot's state, that it may end, or the
 * process that it may go on. False: it waits no longer. */
bool seep_copy_let_go(struct seep_snapshot_slot *slot, uint64_t taken_ns);

/* What a forked child of the launcher does. `wish`: where it is told that what it has in reserve is
 * wanted; −1: it is, at once. */
_Noreturn void seep_copy_reader_be(const struct seep_copy_readings *readings, pid_t launcher,
                                   int wish);

#endif
