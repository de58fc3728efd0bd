/* Passes over datasets, and which of them are epochs.
 *
 * A pass begins with a DataLoader's iteration, or where the sampler of one that never ends begins
 * anew. A step is fed by the passes that were drawn from since the step before, and an epoch begins
 * where steps are fed by a pass that is not the one before: so a new DataLoader each time counts,
 * and an evaluation between two steps does not, for no step is fed by it. Where several passes feed
 * a step (a validation batch for each training batch, two loaders side by side), the one that goes
 * on feeding is the one that counts. */
#ifndef SEEP_PRELOAD_STEPS_PASSES_H
#define SEEP_PRELOAD_STEPS_PASSES_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_PASSES = 16, SEEP_FEEDING = 8 };

struct seep_pass {
    uint32_t number;    /* in the order in which they began, from 1; 0: none */
    uintptr_t loader;   /* 0: not known */
    uintptr_t iterator; /* 0: nothing was drawn yet */
    uint64_t used;      /* when it was begun or asked last, in beginnings and askings */
    uint64_t batches;   /* how often something was asked of it, the last time in vain */
    uint64_t t_ns;      /* when it began … */
    uint32_t period;    /* … and in which period */
    bool sampled;       /* its sampler has begun */
    intptr_t sampler;   /* where that was last */
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
    struct seep_feeding alike; /* drawn from for each step since the epoch began */
    uint32_t epoch;            /* the pass that feeds, 0: none yet */
    uint32_t newest;           /* that has been an epoch */
};

/* An iteration of `loader` begins. */
void seep_passes_began(struct seep_passes *passes, uintptr_t loader, uint64_t t_ns,
                       uint32_t period);

/* `iterator` is asked for its next batch. True: that ends one, for it has given one before. */
bool seep_passes_asked(struct seep_passes *passes, uintptr_t iterator, uint64_t t_ns,
                       uint32_t period);

/* The sampler `code` was seen at `position`, as `iterator` was asked, or 0: as the iteration that
 * began last was prepared. Where it begins anew, a pass does. */
void seep_passes_sampled(struct seep_passes *passes, uintptr_t iterator, uintptr_t code,
                         intptr_t position, uint64_t t_ns, uint32_t period);

/* A step has ended. The pass with which an epoch began, as that has shown; NULL: none did. */
const struct seep_pass *seep_passes_fed(struct seep_passes *passes);

/* Epochs are counted from here on. */
void seep_passes_restart(struct seep_passes *passes);

#endif
