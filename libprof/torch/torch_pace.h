/* How many steps before the history the blocks are that are older than it, by the pace of the steps
 * that it has: big trainers keep the last two or three. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_PACE_H
#define SEEP_LIBPROF_TORCH_TORCH_PACE_H

#include "libprof/torch/torch_blocks.h"
#include "libprof/torch/torch_records.h"
#include "libprof/torch/torch_steps.h"

struct seep_torch_pace {
    uint32_t *of_stack; /* blocks that each step adds for good; 0: that is not clear */
    uint32_t steps;     /* before the history, of the stack with most; 0: nothing is taken so */
};

/* Of a stack of which each recorded step allocates as many blocks that stay, of which no older one
 * was freed, and of which there are older blocks for SEEP_TORCH_PACE_STEPS steps or more. A history
 * of more steps than that shows by itself what grows. Returns 0 or -SEEP_ENOMEM;
 * seep_torch_pace_fini() in either case. */
SEEP_MUST_CHECK int seep_torch_pace_find(const struct seep_torch_records *records,
                                         const struct seep_torch_steps *steps,
                                         struct seep_torch_pace *pace);
void seep_torch_pace_fini(struct seep_torch_pace *pace);

/* As few recorded steps show no growth, and as many are taken to be there at least. */
enum { SEEP_TORCH_PACE_STEPS = 8 };

#endif
