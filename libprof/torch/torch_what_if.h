/* What PyTorch's allocator would have reserved by other rules, or if a line had kept nothing: the
 * events of a snapshot, asked of a model of the allocator. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_WHAT_IF_H
#define SEEP_LIBPROF_TORCH_TORCH_WHAT_IF_H

#include "libprof/format/what_if_format.h"
#include "libprof/torch/torch_replay.h"

struct seep_torch_what_ifs {
    struct seep_what_if list[SEEP_MAX_WHAT_IFS]; /* `frame`: of the records, + 1 */
    size_t n;
};

/* Of each device of which more was reserved than the program had a use for, or where a request
 * found no room; and only where the model, by the rules that the job had, comes to what it had
 * reserved. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_what_ifs_find(const struct seep_torch_replay *replay,
                                             struct seep_torch_what_ifs *what_ifs);

#endif
