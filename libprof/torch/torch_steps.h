/* Where the steps of a training end in a snapshot, which says nothing of steps itself. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_STEPS_H
#define SEEP_LIBPROF_TORCH_TORCH_STEPS_H

#include "libprof/format/step_format.h"
#include "libprof/torch/torch_records.h"

struct seep_torch_steps {
    int64_t *ends_us; /* rising */
    size_t n, capacity;
    enum seep_step_source source; /* SEEP_STEP_TIME: none were found */
    enum seep_step_why why;
    uint32_t frame_plus_1; /* of the call that ends a step; 0: not known */
};

/* By what there is, the surest first: marks of torch.profiler, calls of an optimizer (its frames,
 * or its marks), of zero_grad(), of backward(), or what repeats among the events. Returns 0 or
 * -SEEP_ENOMEM; seep_torch_steps_fini() in either case. */
SEEP_MUST_CHECK int seep_torch_steps_find(const struct seep_torch_records *records,
                                          struct seep_torch_steps *steps);
/* The device with most events: its are the steps of all. */
uint8_t seep_torch_main_device(const struct seep_torch_records *records);
void seep_torch_steps_fini(struct seep_torch_steps *steps);

#endif
