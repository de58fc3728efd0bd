#include "libprof/model/stages/model_build.h"

#include "libprof/model/live_level.h"
#include "libprof/model/process_ends.h"
#include "libprof/model/stages/model_stages.h"
#include "libprof/model/stages/process_role.h"
#include "libprof/model/stages/process_tree.h"
#include "libprof/model/stages/step_axis.h"

static int merge_opened(struct seep_model *m, struct seep_error *err)
{
    int rc = seep_dictionary_init(&m->dict);

    seep_axis_sort(m);
    if (!rc)
        rc = seep_fork_links_find(m);
    if (!rc)
        rc = seep_step_axis_compute(m);
    if (rc)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return seep_merge(m, err);
}

static int keep_tree(struct seep_model *m, const char *dir, struct seep_error *err)
{
    int rc = m->only_pid ? seep_process_tree_keep(m, m->only_pid) : 0;

    if (rc == -SEEP_ENODATA)
        seep_error_set(err, SEEP_ENODATA, dir, 0,
                       "no profile is of process %u: `seep report` lists those that are there",
                       m->only_pid);
    else if (rc)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    return rc;
}

int seep_model_merge_folders(struct seep_model *m, const char *const *dirs, size_t n_dirs,
                             struct seep_error *err)
{
    int rc = seep_folders_open(m, dirs, n_dirs, err);

    if (!rc)
        rc = keep_tree(m, dirs[0], err);
    return rc ? rc : merge_opened(m, err);
}

int seep_model_merge_profiles(struct seep_model *m, struct seep_profile **profiles, size_t n,
                              struct seep_job *job, struct seep_error *err)
{
    int rc = seep_folders_adopt(m, profiles, n, job);

    if (rc)
        return seep_error_set(err, -rc, "", 0, "%s", seep_error_name(rc));
    return merge_opened(m, err);
}

int seep_model_complete(struct seep_model *m, const struct seep_model_options *options)
{
    seep_worker_loops_mark(m, options->is_worker_loop);
    seep_process_roles_find(m);
    int rc = seep_process_ends_compute(m, options->may_open);

    if (!rc)
        rc = seep_job_spaces_add(m);
    return rc ? rc : seep_level_raise_peaks(m, options->all_sites);
}
