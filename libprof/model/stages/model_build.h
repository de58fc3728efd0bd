/* Fills a model: the stages in order (enum seep_model_stage). Between the two halves the caller
 * classifies the frames that the merge found. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_MODEL_BUILD_H
#define SEEP_LIBPROF_MODEL_STAGES_MODEL_BUILD_H

#include "libprof/model/model.h"

/* From folders of profiles to a merged model, in *m, empty but for only_pid. Returns 0; -SEEP_EIO
 * when no folder can be read; -SEEP_ENODATA when no profile was readable, or none is of
 * m->only_pid; -SEEP_ENOMEM. The caller calls
 * seep_model_fini() in every case. */
SEEP_MUST_CHECK int seep_model_merge_folders(struct seep_model *m, const char *const *dirs,
                                             size_t n_dirs, struct seep_error *err);

/* The same for open profiles and a job table (or NULL), which it takes over, also on failure. */
SEEP_MUST_CHECK int seep_model_merge_profiles(struct seep_model *m, struct seep_profile **profiles,
                                              size_t n, struct seep_job *job,
                                              struct seep_error *err);

struct seep_model_options {
    const bool *is_worker_loop; /* by frame of the dictionary: the loop of a loader's worker */
    bool may_open;              /* look into /proc for whether a process still runs */
    bool all_sites;             /* exact peaks of sites too small for a report, too */
};

/* From a merged model to a complete one, which no longer changes. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_model_complete(struct seep_model *m,
                                        const struct seep_model_options *options);

#endif
