/* Passes over datasets, and which of them are epochs.
 *
 * A pass begins with a DataLoader's iteration, or, if the iteration never ends, each time its
 * sampler restarts. A step is fed by the passes drawn from since the previous step. An epoch begins
 * when another pass than before feeds the steps: so a new DataLoader for each epoch counts, and an
 * evaluation between two steps does not, because it feeds no step. If several passes feed a step (a
 * validation batch for each training batch, two loaders side by side), the one that keeps feeding
 * counts. */
#ifndef SEEP_PRELOAD_STEPS_PASSES_H
#define SEEP_PRELOAD_STEPS_PASSES_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_PASSES = 16, SEEP_FEEDING = 8 };

struct seep_pass {
    uint32_t number;    /* in order of beginning, from 1; 0: none */
    uintptr_t loader;   /* 0: unknown */
    uintptr_t iterator; /* 0: not drawn from yet */
    uint64_t used;      /* when it was begun or last asked, counted in such events */
    uint64_t batches;   /* how often it was asked for one; the last time in vain */
    uint64_t t_ns;      /* when it began … */
    uint32_t period;    /* … and in which period */
    bool sampled;       /* its sampler has begun */
    intptr_t sampler;   /* the sampler's last position */
    uintptr_t sampler_code;
};

struct seep_feeding {
    uint32_t n;
    uint32_t numbers[SEEP_FEEDING];
};

/* All zero at first. The caller's lock guards it. */
struct seep_passes {
    uint32_t n_begun;
    uint64_t n_uses;
    struct seep_pass passes[SEEP_PASSES];
    struct seep_feeding drawn; /* since the last step */
    struct seep_feeding alike; /* drawn from for every step since the epoch began */
    uint32_t epoch;            /* the pass that feeds the steps, 0: none yet */
    uint32_t newest;           /* the newest pass that has been an epoch */
};

/* An iteration of `loader` begins. */
void seep_passes_began(struct seep_passes *passes, uintptr_t loader, uint64_t t_ns,
                       uint32_t period);

/* `iterator` is asked for its next batch. True: that ends a batch, because it has given one
 * before. */
bool seep_passes_asked(struct seep_passes *passes, uintptr_t iterator, uint64_t t_ns,
                       uint32_t period);

/* The sampler `code` was seen at `position`, while `iterator` was asked, or, if 0, while the newest
 * iteration was prepared. If the sampler has restarted, a pass begins. */
void seep_passes_sampled(struct seep_passes *passes, uintptr_t iterator, uintptr_t code,
                         intptr_t position, uint64_t t_ns, uint32_t period);

/* A step has ended. Returns the pass with which an epoch has now been seen to begin, or NULL. */
const struct seep_pass *seep_passes_fed(struct seep_passes *passes);

/* Starts counting epochs afresh. */
void seep_passes_restart(struct seep_passes *passes);

#endif
