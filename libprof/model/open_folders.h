/* Finds the processes of a job: all profiles in some folders, job tables, who forked whom. */
#ifndef SEEP_LIBPROF_MODEL_OPEN_FOLDERS_H
#define SEEP_LIBPROF_MODEL_OPEN_FOLDERS_H

#include "libprof/model/model.h"

/* Opens every *.seep of the folders (headers only) and their job tables into the empty model *m;
 * sorts processes by start, links forked ones to their parents, settles each one's step axis, and
 * chooses m->main. A folder given twice, under whatever name, counts once. Files and folders that
 * cannot be read are noted in m->not_read, and so is what is beyond the bound of 65,536 profiles.
 * Returns 0; -SEEP_EIO when no folder can be read; -SEEP_ENODATA when no profile was readable;
 * -SEEP_ENOMEM. The caller calls seep_model_fini() in every case. */
SEEP_MUST_CHECK int seep_folder_read(const char *const *dirs, size_t n_dirs, struct seep_model *m,
                                     struct seep_error *err);

/* Takes over profiles that are open already (from memory), each with its job table or NULL in
 * common; on failure they stay the caller's. */
SEEP_MUST_CHECK int seep_folder_adopt(struct seep_profile **profiles, size_t n,
                                      struct seep_job *job, struct seep_model *m);

#endif
