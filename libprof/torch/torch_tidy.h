/* Makes the events of a snapshot alike, whatever PyTorch wrote them. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_TIDY_H
#define SEEP_LIBPROF_TORCH_TORCH_TIDY_H

#include "libprof/torch/torch_records.h"

/* Of each stack only the frames of Python are left. What autograd's threads allocate has none: it
 * gets those of the backward() that they work for, where the event before was inside one. Where
 * the ends of frees were not recorded (skip_actions), their requests stand for them. Times never
 * fall; where there are none, events lie a millisecond apart. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_tidy(struct seep_torch_records *records);

/* Whether a frame's function has that name, and its file ends like this. */
bool seep_torch_frame_is(const struct seep_torch_records *records, uint32_t frame,
                         const char *function, const char *file_end);

#endif
