/* Stages of building a model, in order: model_build.c calls them, each has its own file. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_MODEL_STAGES_H
#define SEEP_LIBPROF_MODEL_STAGES_MODEL_STAGES_H

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

/* Links profiles and processes to their parents: the file of a forked process continues its
 * parent's. A process is orphaned if its parent's file is missing, or its parent is orphaned. Needs
 * open profiles, sorted by start. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_fork_links_find(struct seep_model *m);

/* Merges the counters of all processes, by the identity of their stacks: loads each profile of the
 * model in turn, interns what its sites refer to, and adds the sites up: m->dict, sites, parts,
 * extras, points, and for each process its spaces' totals and its timeline. A profile that cannot
 * be loaded is noted in m->not_read. Each is closed when no later process inherits from it. Returns
 * 0 or -SEEP_ENOMEM. Work: linear in the sizes of the files. */
SEEP_MUST_CHECK int seep_merge(struct seep_model *m, struct seep_error *err);

/* Finds the processes that were only counted, and totals of the job's spaces. Live is what the
 * processes that lived to the end held then (or hold now); what the others held when they ended
 * counts as freed. The peak of a sum is exact for one process; for several it is the largest sum
 * over the times in the timelines and the ends of steps, and at least each process's own peak.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_job_spaces_add(struct seep_model *m);

#endif
