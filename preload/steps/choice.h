/* Which of the things that a job repeats is counted as its step: what it tells, the rounds of its
 * optimizers, the batches of its loaders, the iterations of its main loop, or, where none is seen,
 * time. Optimizers have precedence, unless they step too seldom to tell growth by, are made anew
 * each time, or the training is over and something else goes on. */
#ifndef SEEP_PRELOAD_STEPS_CHOICE_H
#define SEEP_PRELOAD_STEPS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/format/step_format.h"

/* All zero at first. The caller's lock guards it. */
struct seep_choice {
    enum seep_step_source source;
    enum seep_step_why why;
    uint32_t n_rounds, n_batches;
    uint32_t joined;                           /* optimizers that stepped since a round began */
    uint32_t strangers, acquaintances;         /* in a row: had never stepped, or had */
    bool anew;                                 /* what was counted so far is to be forgotten */
    uint32_t batches_between, loops_between;   /* since a round began */
    uint32_t many_batches, few_batches, still; /* rounds in a row with so many before them */
    uint32_t slow_rounds;                      /* in a row, each long after the one before */
    uint64_t first_round_ns;
    uint64_t round_ns, batch_ns; /* when there was one last */
};

/* Each says that such a thing has ended, and returns whether that is the end of a step. What is
 * chosen may be another source from then on. Who calls seep.h goes before who makes NVTX marks. */
bool seep_choice_told(struct seep_choice *choice, enum seep_step_source by);
bool seep_choice_round(struct seep_choice *choice, uint64_t now_ns);
bool seep_choice_batch(struct seep_choice *choice, uint64_t now_ns);
bool seep_choice_loop(struct seep_choice *choice);

/* An optimizer has stepped that opens no round. Where there are no batches, and each is a stranger,
 * the training makes one for each of its steps. */
bool seep_choice_joined(struct seep_choice *choice);

/* Before either of these two: whether the optimizer that steps had stepped before. */
void seep_choice_met(struct seep_choice *choice, bool stranger);

/* Whether the main loop would be counted if it were known. `*beside_rounds`: only if it iterates
 * several times between rounds. */
bool seep_choice_wants_loop(const struct seep_choice *choice, uint64_t now_ns, bool *beside_rounds);

/* The main loop has been found: it is counted. */
void seep_choice_loop_found(struct seep_choice *choice, uint64_t now_ns);

#endif
