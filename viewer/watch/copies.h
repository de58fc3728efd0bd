/* The launcher's side of frozen copies (preload/snapshot): it notices a copy that is ready, and has
 * a separate process read it, so that a crash of the reader harms neither the job nor the
 * launcher. */
#ifndef SEEP_VIEWER_WATCH_COPIES_H
#define SEEP_VIEWER_WATCH_COPIES_H

#include "viewer/job_folder.h"
#include "viewer/watch/idle_cpu.h"
#include "viewer/watch/reader_ends.h"
#include "viewer/watch/reader_room.h"

#include <stdbool.h>
#include <sys/resource.h>

struct seep_copies {
    struct seep_job_folder *folder; /* NULL: copies are not read */
    bool keys;                      /* texts of dict keys are shown */
    const char *roles;              /* NULL: the shipped rules */
    bool hurries;                   /* looks are waited for: the job listed them, or it has
                                     * ended */
    bool tells;                     /* tell on stderr, a terminal, what seep waits for at the
                                     * end */
    pid_t worker;                   /* the process that reads a copy, and evaluates it; 0: none */
    bool worker_waits;              /* it does not evaluate it yet, */
    uint64_t waits_ns;              /* since then, when it has read it, */
    int go;                         /* but is told to by this pipe, */
    struct seep_idle_cpu idle;      /* if there is a CPU for that, */
    bool is_awaited;                /* or the job waits for what is found */
    pid_t reserve;        /* the process that has read a copy and keeps it for the end; 0: none */
    bool reserve_is_next; /* that copy was asked for, and waits only for its turn */
    bool reserve_follows; /* that copy is later than the one that the worker reads, or has read */
    int wish;             /* pipe that tells the reserve that it is wanted, */
    uint64_t reserve_ns;  /* and since when there is a reserve */
    pid_t latest;         /* the reader that started last, until it has let go of its copy */
    uint32_t copy;        /* that is read, or was read last */
    struct seep_copy_of read_last, worker_reads, reserve_has;
    struct seep_reader_room room;
    struct seep_reader_claim *worker_claim, *reserve_claim; /* what they take of it */
    bool worker_given_up; /* it was ended, for there is no more memory for it */
    uint64_t taken_ns;    /* when that copy was made; this identifies it */
    uint32_t state;       /* of the slot, when last checked, */
    uint64_t since_ns;    /* and since when it is so */
};

/* Tells the job that copies are read from now on. */
void seep_copies_open(struct seep_copies *h, struct seep_job_folder *folder, const char *roles,
                      bool keys);

/* Has a copy that is ready read, and frees the slot of one that failed. Gives up readers for which
 * memory is short. Returns the most nanoseconds until it must look again; UINT64_MAX: none reads.
 */
uint64_t seep_copies_look(struct seep_copies *h);

/* A child of the launcher has ended. True where it was a reader. */
bool seep_copies_reaped(struct seep_copies *h, pid_t pid, int status, const struct rusage *usage);

/* The job has ended: reads what is ready, within limits, and ends every copy. Reaps no child but
 * the readers. SIGINT, SIGQUIT, SIGTERM and SIGHUP, which the caller has blocked, end this at once,
 * and are consumed. */
void seep_copies_close(struct seep_copies *h);

#endif
