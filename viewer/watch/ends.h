/* How processes of the job end that are nobody's but init's: seep is no subreaper, for an orphan is
 * to see the parent that it would have without seep. The launcher holds a descriptor of each
 * (pidfd), which tells its status after it has been reaped (since Linux 6.15); before that a
 * zombie's is read from /proc. Of one that is reaped too soon for either only that it has ended is
 * known. */
#ifndef SEEP_VIEWER_WATCH_ENDS_H
#define SEEP_VIEWER_WATCH_ENDS_H

#include "viewer/job_folder.h"

#include <stdbool.h>
#include <sys/types.h>

enum { SEEP_ENDS_WATCHED = 256 }; /* at once: others wait until one of these has ended */

struct seep_ended {
    int fd;
    uint32_t pid;
    uint64_t start_ns;
};

struct seep_ends {
    struct seep_ended watched[SEEP_ENDS_WATCHED];
    unsigned n;
    uint32_t *known; /* of each entry of the job's table, the pid that has been looked at */
};

/* Begins to watch who is new in the job's table, and notes there who has ended. `child` is the
 * launcher's own. Never waits. */
void seep_ends_find(struct seep_ends *ends, struct seep_job_folder *folder, pid_t child);

/* Whether any that is watched still lives. */
bool seep_ends_any_lives(const struct seep_ends *ends);

void seep_ends_close(struct seep_ends *ends);

#endif
