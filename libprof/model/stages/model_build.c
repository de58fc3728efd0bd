#include "libprof/model/stages/model_build.h"

#include "libprof/model/live_level.h"
#include "libprof/model/model.h"
#include "libprof/model/process_ends.h"
#include "libprof/model/stages/model_stages.h"
#include "libprof/model/stages/process_tree.h"
#include "libprof/model/stages/step_axis.h"

/* Decides a process's role in the job: trainer, rank, loader-worker or helper. */

/* ---- workers ----------------------------------------------------------------------------- */

static bool is_first_thread(const struct seep_model_process *p, const struct seep_model_slot *slot)
{
    return slot->thread && slot->thread <= p->threads.n &&
           p->threads.list[slot->thread - 1].tid == p->id.pid;
}

static void mark_process(struct seep_model *m, const struct seep_model_slot *slot)
{
    struct seep_model_process *p = &m->processes[slot->process];

    p->in_worker_loop |= is_first_thread(p, slot);
}

/* Marks the stacks that pass through the loop of a loader's worker (is_loop[] by frame of the
 * dictionary), and the processes whose first thread has such stacks: a prefetching thread does not
 * make its process a worker. */
static void worker_loops_mark(struct seep_model *m, const bool *is_loop)
{
    seep_model_begin(m, SEEP_MODEL_MARKED);
    /* Parents come before what they call. */
    for (size_t i = 1; i < m->dict.n_stacks; i++) {
        struct seep_dict_stack *s = &m->dict.stacks[i];
        s->in_worker_loop = m->dict.stacks[s->parent].in_worker_loop || is_loop[s->frame];
    }
    for (size_t i = 0; i < m->n_sites; i++) {
        if (!seep_dictionary_in_worker_loop(&m->dict, m->sites[i].stack))
            continue;
        for (uint32_t k = m->sites[i].slots; k; k = m->slots[k - 1].next)
            mark_process(m, &m->slots[k - 1]);
    }
}

/* ---- roles ------------------------------------------------------------------------------- */

/* A loader makes its workers; the process that trains is nobody's worker, whatever its functions
 * are called. */
static bool is_worker(const struct seep_model *m, size_t i)
{
    const struct seep_model_process *p = &m->processes[i];

    return p->in_worker_loop && !p->steps && i != m->main &&
           (p->parent || (p->entry && p->entry->parent_plus_1));
}

/* The parent that the job's table names, if it has a profile; else NULL. */
static const struct seep_model_process *parent_of(const struct seep_model *m,
                                                  const struct seep_model_process *p)
{
    const uint32_t parent = p->entry ? p->entry->parent_plus_1 : 0;

    if (!parent || parent > p->job->n_processes)
        return NULL;
    for (size_t i = 0; i < m->n_processes; i++)
        if (m->processes[i].entry == &p->job->processes[parent - 1])
            return &m->processes[i];
    return NULL;
}

/* Two processes that a Python program started, and that make steps of the same kind side by side,
 * share a training, whatever started them and whatever their environment says. */
static bool is_peer(const struct seep_model *m, const struct seep_model_process *p,
                    const struct seep_model_process *q)
{
    const struct seep_model_process *parent = parent_of(m, p);

    return p != q && q->steps && parent && parent->id.python_version && parent_of(m, q) == parent &&
           p->run == q->run && p->entry->step_source == q->entry->step_source;
}

/* What repeats in it are not steps of the job, but tasks that it is given. */
static bool serves(const struct seep_model *m, const struct seep_model_process *p)
{
    for (size_t i = 0; p->steps && i < m->n_processes; i++)
        if (seep_step_serves(p, &m->processes[i]))
            return true;
    return false;
}

static bool is_rank(const struct seep_model *m, const struct seep_model_process *p, unsigned n_told)
{
    if (!p->steps || !m->n_runs)
        return false;
    if (p->id.rank >= 0 && n_told >= 2)
        return true;
    for (size_t i = 0; i < m->n_processes; i++)
        if (is_peer(m, p, &m->processes[i]))
            return true;
    return false;
}

/* Sets the role of each process, by these marks and by what it did: whether it made steps, beside
 * whom, and for whom (seep_step_serves()). */
static void process_roles_find(struct seep_model *m)
{
    unsigned n_told = 0;

    seep_model_begin(m, SEEP_MODEL_ENDED);
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->steps && p->id.rank >= 0)
            n_told++;
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        if (is_worker(m, i))
            p->role = SEEP_ROLE_WORKER;
        else if (serves(m, p))
            p->role = SEEP_ROLE_HELPER;
        else if (is_rank(m, p, n_told))
            p->role = SEEP_ROLE_RANK;
        else if (p->steps || i == m->main)
            p->role = SEEP_ROLE_TRAINER;
        else
            p->role = SEEP_ROLE_HELPER;
    }
}

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
    worker_loops_mark(m, options->is_worker_loop);
    process_roles_find(m);
    int rc = seep_process_ends_compute(m, options->may_open);

    if (!rc)
        rc = seep_job_spaces_add(m);
    return rc ? rc : seep_level_raise_peaks(m, options->all_sites);
}
