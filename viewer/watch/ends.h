/* How those processes of the job end that only init reaps: seep is no subreaper, so that an orphan
 * sees the parent that it would have without seep. `seep run` holds a pidfd of each, which gives
 * its status after it has been reaped (since Linux 6.15); on older kernels the status is read from
 * /proc while it is a zombie. If it is reaped too soon for either, it is only known to have
 * ended. */
#ifndef SEEP_VIEWER_WATCH_ENDS_H
#define SEEP_VIEWER_WATCH_ENDS_H

#include "viewer/job_folder.h"

#include <stdbool.h>
#include <sys/types.h>

enum { SEEP_ENDS_WATCHED = 256 }; /* at once: others wait until one of them has ended */

struct seep_ended {
    int fd;
    uint32_t pid;
    uint64_t start_ns;
};

struct seep_ends {
    struct seep_ended watched[SEEP_ENDS_WATCHED];
    unsigned n;
    uint32_t *known; /* for each entry of the job's table, the pid already handled */
};

/* Starts to watch new processes in the job's table, and notes there which ones have ended. `child`
 * is `seep run`'s own. Never waits. */
void seep_ends_find(struct seep_ends *ends, struct seep_job_folder *folder, pid_t child);

/* Whether any watched process still lives. */
bool seep_ends_any_lives(const struct seep_ends *ends);

void seep_ends_close(struct seep_ends *ends);

#endif
