/* The job's file, DIR/job.seepjob: shared by all its processes. It carries the clock of steps. */
#ifndef SEEP_PRELOAD_JOB_JOB_H
#define SEEP_PRELOAD_JOB_JOB_H

#include <stdbool.h>

#include "libprof/format/profile_format.h"

/* The period to which events belong now: that of this process, or of the ancestor whose steps it
 * follows. Never NULL, never 0. */
extern uint32_t *seep_period;

/* This process's entry; a private one if the job's file is missing or full. Never NULL. */
extern struct seep_process *seep_process;

/* Where a process records, and on which machine it is. */
struct seep_job_request {
    char *dir;           /* in: the folder that was asked for; out: the one that it is */
    size_t capacity;     /* of dir */
    const char *part;    /* of a launch of several: its folder in there; NULL: that folder itself */
    const char *machine; /* the folder of this machine in there */
    const char *host;    /* of this machine, "": not known */
    uint64_t boot;       /* the same: seep_boot_number() */
    uint64_t max_folder_bytes; /* bound of a folder that is made; 0: none */
    bool may_make;
};

/* Maps job.seepjob; creates it if it is missing and that is allowed. The folder is the one that was
 * asked for if that has this machine's table, or no table and there is no part. Else it is the
 * part's, or where the table is another machine's, the machine's; with a number behind it if that,
 * too, is another's. A failure is no error: the folder is then the one asked for, and steps are the
 * process's own. */
void seep_job_open(struct seep_job_request *want);

/* This process is the job's first, or has replaced it by exec. After seep_job_enter(). */
bool seep_job_is_root(void);

/* Lists a process of which nothing is recorded, because its own filter may forbid it. */
void seep_job_note_sandboxed(uint32_t pid, uint32_t ppid, const char *name);

/* What this process's entry says: how it is recorded (SEEP_PROCESS_…), and why it is not (or no
 * longer). */
void seep_job_flag(uint32_t flag);
void seep_job_device(void); /* it uses one: stays so */
void seep_job_trouble(enum seep_trouble trouble, int error);

/* Copies the counts so far into the entry, for a process that is only counted. */
void seep_job_count(void);

/* The bytes allocated in all spaces, according to the entry. */
uint64_t seep_job_allocated_bytes(void);

/* Takes an entry for this process: at start, and in a forked child. `forked`: the current entry is
 * the parent's. Returns its index + 1, 0: a private one. */
uint32_t seep_job_enter(uint64_t start_ns, bool forked);

/* Decides whose steps this process follows, and lets time slices pass while that process has
 * none. */
void seep_job_tick(uint64_t now_ns);

/* One step of this process has ended. The count restarts at the first step of a source, and if
 * `anew` says so; `frame`: that of the loop whose iterations are counted, or 0. */
void seep_job_step(enum seep_step_source source, enum seep_step_why why, uint32_t frame, bool anew);

/* `rounds` of what was just counted for the first time have ended since `since_period`: all of them
 * are steps. */
void seep_job_count_back(uint32_t rounds, uint32_t since_period);

/* A worker of a pool has handled a task. If there is no better step, the task is a step of the
 * pool's owner, and so of all its workers. Returns whether that is so. */
bool seep_job_task(void);

/* Whether the periods that this process uses are another process's steps. */
bool seep_job_follows_steps(void);

/* The process whose steps it follows; NULL: none. */
const struct seep_process *seep_job_leader(void);

/* Notes how a child ended, as wait(2) told the parent. */
void seep_job_reaped(int pid, int wait_status);

/* Lists that `pid` becomes the program at `path`, which this library cannot enter: in this
 * process's entry if that is its own, else in a fresh one (a child that has not noticed its fork,
 * or of vfork, or of posix_spawn). No lock. Returns the entry, NULL: there is none. */
struct seep_process *seep_job_list(int pid, int ppid, const char *path, enum seep_entry entry);

/* Takes that back: the exec failed. */
void seep_job_unlist(struct seep_process *listed);

#endif
