/* The job's file, DIR/job.seepjob: shared by all its processes. It carries the clock of steps. */
#ifndef SEEP_PRELOAD_JOB_JOB_H
#define SEEP_PRELOAD_JOB_JOB_H

#include <stdbool.h>

#include "libprof/format/profile_format.h"

/* The period that events belong to now: that of this process, or of the ancestor whose steps it
 * follows. Never NULL, never 0. */
extern uint32_t *seep_period;

/* This process's entry; a private one when the job's file cannot be had or is full. Never NULL. */
extern struct seep_process *seep_process;

/* Maps DIR/job.seepjob, and makes it where there is none and it may, with that bound for the folder
 * (0: none). Failure is no error: steps are then the process's own. */
void seep_job_open(const char *dir, uint64_t max_folder_bytes, bool may_make);

/* This process is the job's first, or what that has become by exec. After seep_job_enter(). */
bool seep_job_is_root(void);

/* Lists a process that nothing is recorded of: its own filter may forbid it. */
void seep_job_note_sandboxed(uint32_t pid, uint32_t ppid, const char *name);

/* What this process's entry says: how it is recorded (SEEP_PROCESS_…); why it is not (any more). */
void seep_job_flag(uint32_t flag);
void seep_job_device(void); /* it uses one: stays so */
void seep_job_trouble(enum seep_trouble trouble, int error);

/* Puts into the entry what has been counted so far, where that is all there is. */
void seep_job_count(void);

/* What the entry then says was allocated, in all spaces. */
uint64_t seep_job_allocated_bytes(void);

/* Takes an entry for this process: at start, and in a forked child. `forked`: the entry that is set
 * now is the parent's. Returns its index + 1, 0: a private one. */
uint32_t seep_job_enter(uint64_t start_ns, bool forked);

/* Decides whose steps this process follows, and lets time slices pass while that one has none. */
void seep_job_tick(uint64_t now_ns);

/* One step of this process has ended. With the first of a source the count begins anew, and where
 * `anew` says so; `frame`: of the loop whose iterations are counted, or 0. */
void seep_job_step(enum seep_step_source source, enum seep_step_why why, uint32_t frame, bool anew);

/* Of the loop whose first round has just been counted `rounds` have ended, since `since_period`:
 * all of them are steps. */
void seep_job_count_back(uint32_t rounds, uint32_t since_period);

/* A worker of a pool has handled a task: where there is no better step it is one of whoever has the
 * pool, and so of all its workers. Returns whether that is so. */
bool seep_job_task(void);

/* The periods that this process uses are another one's steps. */
bool seep_job_follows_steps(void);

/* Whose they are; NULL: it follows nobody. */
const struct seep_process *seep_job_leader(void);

/* Notes how a child ended, as wait(2) told the parent. */
void seep_job_reaped(int pid, int wait_status);

/* Lists that `pid` becomes the program at `path`, which this library cannot enter: in the entry of
 * this process where that is its own, else in a fresh one (a child that has not noticed its birth,
 * or of vfork, or of posix_spawn). No lock. Returns the entry, NULL: there is none. */
struct seep_process *seep_job_list(int pid, int ppid, const char *path, enum seep_entry entry);

/* The same taken back: it did not come to that. */
void seep_job_unlist(struct seep_process *listed);

#endif
