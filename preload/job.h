/* The job's file, DIR/job.seepjob: shared by all its processes. It carries the clock of steps. */
#ifndef SEEP_PRELOAD_JOB_H
#define SEEP_PRELOAD_JOB_H

#include <stdbool.h>

#include "libprof/format.h"

/* The period that events belong to now: that of this process, or of the ancestor whose steps it
 * follows. Never NULL, never 0. */
extern uint32_t *seep_period;

/* This process's entry; a private one when the job's file cannot be had or is full. Never NULL. */
extern struct seep_process *seep_process;

/* Maps DIR/job.seepjob, and makes it where there is none. Failure is no error: steps are then the
 * process's own. */
void seep_job_open(const char *dir);

/* Takes an entry for this process: at start, and in a forked child. `forked`: the entry that is set
 * now is the parent's. Returns its index + 1, 0: a private one. */
uint32_t seep_job_enter(uint64_t start_ns, bool forked);

/* Decides whose steps this process follows, and lets time slices pass while that one has none. */
void seep_job_tick(uint64_t now_ns);

/* One step of this process has ended. */
void seep_job_step(enum seep_step_source source);

/* Notes how a child ended, as wait(2) told the parent. */
void seep_job_reaped(int pid, int wait_status);

/* Lists that `pid` becomes the program at `path`, which this library cannot enter: in the entry of
 * this process where that is its own, else in a fresh one (a child that has not noticed its birth,
 * or of vfork, or of posix_spawn). No lock. Returns the entry, NULL: there is none. */
struct seep_process *seep_job_list(int pid, int ppid, const char *path, enum seep_entry entry);

/* The same taken back: it did not come to that. */
void seep_job_unlist(struct seep_process *listed);

#endif
