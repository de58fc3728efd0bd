/* Tells a signal sent to seep alone from one sent to all of a process group, or to everything in a
 * batch system's job step: the latter has reached the job already. The witness is a child that
 * stands in seep's group, blocks every signal, and notes when it got which. */
#ifndef SEEP_VIEWER_WATCH_WITNESS_H
#define SEEP_VIEWER_WATCH_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEEP_SIGNALS = 65 };

struct seep_witness {
    pid_t pid;         /* 0: there is none */
    uint64_t *seen_ns; /* [SEEP_SIGNALS], shared with the witness: when it last got each */
};

/* Call with the signals that will be asked about blocked. Without a witness (no memory, no process)
 * every signal counts as sent to seep alone. */
void seep_witness_start(struct seep_witness *witness);

/* Whether the signal that the caller just took was sent to the witness too. Waits up to 50 ms,
 * since a sender may reach its targets one by one. */
bool seep_witness_saw(const struct seep_witness *witness, int signal);

/* Ends it. Where the caller has reaped it already, it sets `pid` to 0 first. */
void seep_witness_stop(struct seep_witness *witness);

#endif
