/* Files that other tools have written and that stand for a profile: PyTorch's memory snapshots, and
 * heap profiles in pprof's format. */
#ifndef SEEP_LIBPROF_FOREIGN_FOREIGN_FILE_H
#define SEEP_LIBPROF_FOREIGN_FOREIGN_FILE_H

#include "libprof/torch/profile_write.h"

/* Whether a file is one of them, by what is in it. */
bool seep_foreign_is_at(const char *path);

/* Makes a profile of it. `number`, from 1, tells processes of a job apart. Returns 0; -SEEP_ENODATA
 * if nothing was recorded; -SEEP_EFORMAT; -SEEP_EIO; -SEEP_ENOMEM. Any bytes are safe. */
SEEP_MUST_CHECK int seep_foreign_read(const char *path, uint32_t number,
                                      struct seep_made_profile *profile, struct seep_error *err);

#endif
