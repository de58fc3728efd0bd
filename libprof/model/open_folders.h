/* Opens the profiles of some folders, and their job tables. */
#ifndef SEEP_LIBPROF_MODEL_OPEN_FOLDERS_H
#define SEEP_LIBPROF_MODEL_OPEN_FOLDERS_H

#include "libprof/model/model.h"

/* Opens every *.seep of the folders (headers only) and their job tables into the empty model *m. A
 * folder given twice, under whatever name, counts once. Files and folders that cannot be read are
 * noted in m->not_read, and so is what is beyond the bound of 65,536 profiles. Returns 0; -SEEP_EIO
 * when no folder can be read; -SEEP_ENODATA when no profile was readable; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_folders_open(struct seep_model *m, const char *const *dirs, size_t n_dirs,
                                      struct seep_error *err);

/* Takes over profiles that are open already (from memory), each with its job table or NULL in
 * common; also on failure. Returns 0, -SEEP_ENODATA when there is none, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_folders_adopt(struct seep_model *m, struct seep_profile **profiles,
                                       size_t n, struct seep_job *job);

#endif
