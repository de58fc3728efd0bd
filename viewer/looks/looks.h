/* Looks at what a job has written, one after another, so that they take no more than a tenth of a
 * CPU: after each there is a pause of ten times as long as it took. They run in a thread of their
 * own that makes way for the job's. */
#ifndef SEEP_VIEWER_LOOKS_LOOKS_H
#define SEEP_VIEWER_LOOKS_LOOKS_H

#include "libprof/base/error.h"

#include <stdbool.h>

struct seep_looks;

/* What a look is: `look` makes *seen, or returns a negative SEEP_E… with *err; `drop` frees what
 * nobody took. Both run in the thread of the looks. */
struct seep_looks_how {
    int (*look)(void *context, void **seen, struct seep_error *err);
    void (*drop)(void *seen);
    void *context;
};

/* One look, now, in this thread. *next_s out: how long to wait for the next one, not less than
 * interval_s. */
SEEP_MUST_CHECK int seep_look(const struct seep_looks_how *how, double interval_s, double *next_s,
                              void **seen, struct seep_error *err);

/* Begins to look, `first_s` seconds from now. What *how refers to stays the caller's, and must
 * stay. NULL where there is no memory or no thread. */
struct seep_looks *seep_looks_start(const struct seep_looks_how *how, double interval_s,
                                    double first_s);

/* Readable while a look was not taken yet (poll(2)). */
int seep_looks_fd(const struct seep_looks *looks);

/* What was seen last, which is the caller's now; NULL where there is nothing that was not taken,
 * or where the look failed: *err says so then, and is empty else. */
void *seep_looks_take(struct seep_looks *looks, struct seep_error *err);

/* None begins until it goes on. */
void seep_looks_pause(struct seep_looks *looks, bool paused);

/* Ends them. True where all is freed; false where a look is under way that nobody can stop: the
 * process is to end by _exit() then. */
bool seep_looks_stop(struct seep_looks *looks);

#endif
