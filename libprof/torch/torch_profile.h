/* PyTorch's memory snapshot as a profile: so whatever reads profiles reads snapshots.
 *
 * A snapshot knows the memory of GPUs and pinned memory. Of the host, of other processes and of how
 * the program ended it knows nothing. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_PROFILE_H
#define SEEP_LIBPROF_TORCH_TORCH_PROFILE_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"
#include "libprof/torch/pickle_read.h"
#include "libprof/torch/profile_write.h"

#include <stdbool.h>

/* Whether a file begins like a snapshot, by what is in it: a pickle, or one packed by gzip. */
bool seep_torch_is_at(const char *path);

/* Makes a profile of the snapshot in a file. `number`, from 1, tells processes of a job apart; the
 * rank is taken from the file's name ("rank3_…", "…-rank-3.pickle"), if that has one. Returns 0;
 * -SEEP_ENODATA if nothing was recorded; -SEEP_EFORMAT if it is no snapshot, or one that would do
 * more than describe memory; -SEEP_EIO; -SEEP_ENOMEM. Any bytes are safe. */
SEEP_MUST_CHECK int seep_torch_profile_read(const char *path, uint32_t number,
                                            struct seep_made_profile *profile,
                                            struct seep_error *err);

/* The same of a pickle from elsewhere. */
SEEP_MUST_CHECK int seep_torch_profile_make(const struct seep_pickle_source *source,
                                            const char *name, uint32_t number,
                                            struct seep_made_profile *profile,
                                            struct seep_error *err);
#endif
