/* Follows what a job writes: reads it again and again, so that readings take no more than a tenth
 * of a CPU: after each there is a pause of ten times as long as it took. They run in a thread of
 * their own that makes way for the job's. */
#ifndef SEEP_VIEWER_FOLLOW_FOLLOW_H
#define SEEP_VIEWER_FOLLOW_FOLLOW_H

#include "libprof/base/error.h"

#include <stdbool.h>

struct seep_follower;

/* What a reading is: `read` makes *seen, or returns a negative SEEP_E… with *err; `drop` frees what
 * nobody took. Both run in the thread of the follower. */
struct seep_follow_how {
    int (*read)(void *context, void **seen, struct seep_error *err);
    void (*drop)(void *seen);
    void *context;
};

/* One reading, now, in this thread. *next_s out: how long to wait for the next one, not less than
 * interval_s. */
SEEP_MUST_CHECK int seep_follow_once(const struct seep_follow_how *how, double interval_s,
                                     double *next_s, void **seen, struct seep_error *err);

/* Begins to read, `first_s` seconds from now. What *how refers to stays the caller's, and must
 * stay. NULL where there is no memory or no thread. */
struct seep_follower *seep_follow_start(const struct seep_follow_how *how, double interval_s,
                                        double first_s);

/* Readable while a reading was not taken yet (poll(2)). */
int seep_follow_fd(const struct seep_follower *follower);

/* What was read last, which is the caller's now; NULL where there is nothing that was not taken,
 * or where the reading failed: *err says so then, and is empty else. */
void *seep_follow_take(struct seep_follower *follower, struct seep_error *err);

/* None begins until it goes on. */
void seep_follow_pause(struct seep_follower *follower, bool paused);

/* Ends them. True where all is freed; false where a reading is under way that nobody can stop: the
 * process is to end by _exit() then. */
bool seep_follow_stop(struct seep_follower *follower);

#endif
