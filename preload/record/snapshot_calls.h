/* What the recording tells those that make frozen copies of the process, which are above it
 * (preload/snapshot). */
#ifndef SEEP_PRELOAD_RECORD_SNAPSHOT_CALLS_H
#define SEEP_PRELOAD_RECORD_SNAPSHOT_CALLS_H

struct seep_thread;

/* A step has ended, or some time has passed: makes a copy where one is due, which stops the calling
 * thread for some milliseconds. Inside the guard. */
void seep_snapshot_look(const struct seep_thread *thread);

#endif
