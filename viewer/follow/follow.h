/* Follows what a job writes by reading it again and again, in a thread of low priority. Readings
 * take at most a tenth of a CPU: the pause after each is ten times as long as the reading. */
#ifndef SEEP_VIEWER_FOLLOW_FOLLOW_H
#define SEEP_VIEWER_FOLLOW_FOLLOW_H

#include "libprof/base/error.h"

#include <stdbool.h>

struct seep_follower;

/* How to read: `read` makes *seen, or returns a negative SEEP_E… with *err; `drop` frees what was
 * never taken. Both run in the follower's thread. */
struct seep_follow_how {
    int (*read)(void *context, void **seen, struct seep_error *err);
    void (*drop)(void *seen);
    void *context;
};

/* Reads once, in the calling thread. *next_s out: how long to wait for the next reading, at least
 * interval_s. */
SEEP_MUST_CHECK int seep_follow_once(const struct seep_follow_how *how, double interval_s,
                                     double *next_s, void **seen, struct seep_error *err);

/* Starts reading `first_s` seconds from now. What *how refers to stays the caller's, and must
 * outlive the follower. NULL where there is no memory or no thread. */
struct seep_follower *seep_follow_start(const struct seep_follow_how *how, double interval_s,
                                        double first_s);

/* A descriptor that is readable while a reading has not been taken (poll(2)). */
int seep_follow_fd(const struct seep_follower *follower);

/* The latest reading, which the caller then owns; NULL where there is no new one, or where the
 * reading failed: *err then says why, and is empty otherwise. */
void *seep_follow_take(struct seep_follower *follower, struct seep_error *err);

/* While paused, no reading begins. */
void seep_follow_pause(struct seep_follower *follower, bool paused);

/* Ends the readings. True where everything is freed; false where a reading is under way that cannot
 * be stopped: the process must then end by _exit(). */
bool seep_follow_stop(struct seep_follower *follower);

#endif
