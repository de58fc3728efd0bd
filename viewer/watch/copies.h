/* The launcher's side of frozen copies (preload/snapshot): it notices that one waits, and has a
 * process of its own read it, so that neither the job nor the launcher is touched by what happens
 * there. */
#ifndef SEEP_VIEWER_WATCH_COPIES_H
#define SEEP_VIEWER_WATCH_COPIES_H

#include "viewer/job_folder.h"

#include <stdbool.h>
#include <sys/resource.h>

struct seep_copies {
    const struct seep_job_folder *folder; /* NULL: nobody reads copies */
    bool keys;                            /* texts of dict keys are shown */
    const char *roles;                    /* NULL: the shipped rules */
    bool tells;                           /* on stderr, a terminal, what the end waits for */
    pid_t worker;                         /* who reads one, 0: nobody */
    pid_t reserve;        /* who has read one, and keeps it for the end; 0: nobody */
    bool reserve_is_next; /* that one was asked for, and waits for its turn alone */
    bool reserve_follows; /* that one is of later than what the worker reads, or has read */
    int wish;             /* where that one is told that it is wanted, */
    uint64_t reserve_ns;  /* and since when it has it */
    pid_t latest;         /* whichever of them began last, until it has let go */
    uint32_t copy;        /* that is read, or was last */
    uint64_t taken_ns;    /* when that one was made: by this they are told apart */
    uint32_t state;       /* of the slot when last looked at, */
    uint64_t since_ns;    /* since when it is so */
};

/* Tells the job that copies are read from here on. */
void seep_copies_open(struct seep_copies *h, struct seep_job_folder *folder, const char *roles,
                      bool keys);

/* Has a copy that waits read; and frees the slot of one that came to nothing. */
void seep_copies_look(struct seep_copies *h);

/* A child of the launcher's has ended. True where it was the reader. */
bool seep_copies_reaped(struct seep_copies *h, pid_t pid, int status, const struct rusage *usage);

/* The job has ended: what waits is read, within bounds, and every copy ends. Reaps no child but the
 * reader. SIGINT, SIGQUIT, SIGTERM and SIGHUP, which the caller has blocked, end that at once, and
 * are taken. */
void seep_copies_close(struct seep_copies *h);

#endif
