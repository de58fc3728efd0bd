/* Rounds of a job's optimizers.
 *
 * A job may have several: two in a GAN, one for each parameter, a new one for each fold or task. So
 * one training step is one round of them: an optimizer that stepped in the previous round opens it,
 * and all that follow join it until one of them steps again. A single optimizer opens a round each
 * time; optimizers that step once and are replaced never do: choice.h counts those. */
#ifndef SEEP_PRELOAD_STEPS_ROUNDS_H
#define SEEP_PRELOAD_STEPS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_ROUND_PLACES = 1024 };

/* All zero at first. The caller's lock guards it. */
struct seep_rounds {
    uint32_t round; /* the current one; 0: none yet */
    bool stranger;  /* the last optimizer to step was not known to have stepped before */
    struct seep_round_place {
        uintptr_t optimizer;
        uint32_t round; /* its last round */
    } places[SEEP_ROUND_PLACES];
};

/* `optimizer`, identified by its address, has stepped. True: that opens a round. */
bool seep_rounds_stepped(struct seep_rounds *rounds, uintptr_t optimizer);

#endif
