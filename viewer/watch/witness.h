/* Tells a signal sent to seep alone from one sent to a whole process group, or to every process of
 * a batch system's job step: the job has received the latter already. The witness is a child in
 * seep's group that blocks every signal, and notes when it got which. */
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

/* The caller must have blocked the signals that it will ask about. Without a witness (no memory, no
 * process) every signal counts as sent to seep alone. */
void seep_witness_start(struct seep_witness *witness);

/* Whether the witness also got the signal that the caller just took. Waits up to 50 ms, since a
 * sender may reach its targets one by one. */
bool seep_witness_saw(const struct seep_witness *witness, int signal);

/* Ends the witness. A caller that has reaped it already sets `pid` to 0 first. */
void seep_witness_stop(struct seep_witness *witness);

#endif
