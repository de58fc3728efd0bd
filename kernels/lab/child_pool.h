/* Several works at once, each in a child of its own. */
#ifndef SEEP_KERNELS_CHILD_POOL_H
#define SEEP_KERNELS_CHILD_POOL_H

#include "kernels/lab/lab.h"

struct seep_lab_task {
    const char *name; /* in the progress line */
    seep_lab_work *work;
    void *arg;
    bool spawns; /* it calls seep_lab_spawn(), and passes signals on by that; else they end it */
    int rc;      /* out: what the work returned, or -SEEP_EIO where it did not end by itself */
    struct seep_error err;
};

/* Does all of them in order, `at_once` at a time. After a signal (seep_lab_interrupted()) it begins
 * no other, and waits for those that run; what was not begun has -SEEP_EIO. `what` names them all
 * in the progress line: "variants". Signals must be held. */
void seep_lab_do_tasks(const char *what, struct seep_lab_task *tasks, size_t n, size_t at_once);

#endif
