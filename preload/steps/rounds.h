/* Rounds of a job's optimizers.
 *
 * A job may have several: two of a GAN, one for each parameter, a new one for each fold or task. So
 * a step of the training is a round of them: it is opened by one that has stepped in the round
 * before it, and all that follow join it until one of them steps again. One optimizer alone opens a
 * round each time; optimizers that are made anew and step once never do: choice.h counts those. */
#ifndef SEEP_PRELOAD_STEPS_ROUNDS_H
#define SEEP_PRELOAD_STEPS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_ROUND_PLACES = 1024 };

/* All zero at first. The caller's lock guards it. */
struct seep_rounds {
    uint32_t round; /* the current one, 0: none yet */
    bool stranger;  /* the last one to step was not known to have stepped before */
    struct seep_round_place {
        uintptr_t optimizer;
        uint32_t round; /* in which it stepped last */
    } places[SEEP_ROUND_PLACES];
};

/* `optimizer`, told apart by its address, has made a step. True: that opens a round. */
bool seep_rounds_stepped(struct seep_rounds *rounds, uintptr_t optimizer);

#endif
