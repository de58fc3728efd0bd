/* Decides which repeating event counts as the job's step: calls that the job makes to tell, rounds
 * of its optimizers, batches of its loaders, iterations of its main loop, or, if it shows none of
 * these, time. Optimizers take precedence, unless they step too seldom to measure growth by, are
 * new each time, or the training is over and something else goes on: its loop has been left, or
 * nothing has stepped for long. */
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
    uint32_t new_optimizers, known_optimizers; /* in a row: optimizers that had never stepped, or
                                                * had */
    bool anew;                                 /* forget what was counted so far */
    bool left;                                 /* no loop around the last round runs any more; by
                                                * the caller */
    bool resumed;                              /* it stepped again after that: something that
                                                * was not seen is around the loop */
    uint32_t batches_between, loops_between;   /* since a round began */
    uint32_t many_batches, few_batches, still; /* rounds in a row that many, or few, batches
                                                * preceded, or few loop iterations */
    uint32_t slow_rounds;                      /* in a row, each long after the previous one */
    uint64_t first_round_ns;
    uint64_t round_ns, batch_ns; /* time of the last one */
};

/* Each reports that such an event has ended, and returns whether that ends a step. The call may
 * change the source from then on. Calls of seep.h take precedence over NVTX marks. */
bool seep_choice_told(struct seep_choice *choice, enum seep_step_source by);
bool seep_choice_round(struct seep_choice *choice, uint64_t now_ns);
bool seep_choice_batch(struct seep_choice *choice, uint64_t now_ns);
bool seep_choice_loop(struct seep_choice *choice);

/* An optimizer has stepped without opening a round. If there are no batches and each optimizer is a
 * stranger, the training makes a new one for each step. */
bool seep_choice_joined(struct seep_choice *choice);

/* Call before either of these two: says whether the optimizer that steps had stepped before. */
void seep_choice_met(struct seep_choice *choice, bool stranger);

/* Whether the main loop would be the step if it were known. `*beside_rounds`: only if it iterates
 * several times between rounds. */
bool seep_choice_wants_loop(const struct seep_choice *choice, uint64_t now_ns, bool *beside_rounds);

/* Whether time slices are steps at `now_ns`: the loops of a training have been left, and for long
 * nothing else has shown a step. */
bool seep_choice_time(struct seep_choice *choice, uint64_t now_ns);

/* The main loop was found; from now on it may be the step. */
void seep_choice_loop_found(struct seep_choice *choice, uint64_t now_ns);

#endif
