/* Processes as /proc lists them: what state one is in, who started it, and all that it started. */
#ifndef SEEP_VIEWER_LOOK_PROCESS_STAT_H
#define SEEP_VIEWER_LOOK_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_process_stat {
    pid_t pid, parent;
    char state;       /* as in proc(5): 'Z' and 'X' have ended, 't' is traced and stands still */
    int status;       /* of one that has ended, as of wait(2) */
    bool is_kernels;  /* a thread of the kernel: it has no memory of its own */
    uint64_t started; /* clock ticks since boot: tells two processes of one pid apart */
};

/* False: there is no such process. */
bool seep_process_stat(pid_t pid, struct seep_process_stat *stat);

/* A zombie holds no memory any more. */
bool seep_process_is_over(const struct seep_process_stat *stat);
bool seep_process_has_ended(pid_t pid);

/* `root` and its descendants that have not ended, parents before their children. Returns how many
 * there are, at most `most`, and whether more were left out. */
size_t seep_process_tree(pid_t root, struct seep_process_stat *list, size_t most, bool *more);

#endif
