#include "libprof/who/kept/job_sources.h"

#include "libprof/code/code_origin.h"

#include <stdlib.h>
#include <string.h>

/* Whether functions are where the profile says that they are. */
static bool agrees(const struct seep_python_source *s, const char *function, uint64_t line)
{
    if (*function == '<')
        return line <= s->tokens.list[s->tokens.n - 1].line;
    for (uint32_t i = 1; i < s->n_scopes; i++)
        if (s->scopes[i].line <= line && line <= s->scopes[i].last &&
            seep_token_is(&s->tokens, s->scopes[i].name, function))
            return true;
    return false;
}

/* Leaves out files whose text is not the one that was compiled. */
static void hold_against_frames(struct seep_job_sources *job, const bool *of_user)
{
    const struct seep_dictionary *d = &job->code->model->dict;
    struct seep_source_files right_ones = job->files;

    right_ones.n = 0;
    for (size_t i = 0; i < job->files.n; i++) {
        struct seep_source_file *file = &job->files.list[i];
        bool right = true;
        for (size_t k = 1; k < d->n_frames && right; k++) {
            const struct seep_dict_frame *f = &d->frames[k];
            if (of_user[k] && f->source == file->name && f->where)
                right = agrees(&file->source, seep_dictionary_text(d, f->function), f->where);
        }
        if (right) {
            right_ones.list[right_ones.n++] = *file;
        } else {
            seep_python_source_fini(&file->source);
            free(file->bytes);
        }
    }
    job->files = right_ones;
}

static uint64_t started_ns(const struct seep_model *m)
{
    uint64_t first = m->processes[m->root].id.start_unix_ns;

    for (size_t i = 0; i < m->n_jobs; i++)
        if (m->jobs[i] && m->jobs[i]->started_unix_ns && m->jobs[i]->started_unix_ns < first)
            first = m->jobs[i]->started_unix_ns;
    return first;
}

/* Finds scripts: files whose module level ran and that were not imported. */
static int find_mains(struct seep_job_sources *job)
{
    const struct seep_dictionary *d = &job->code->model->dict;

    job->is_main = calloc(d->n_strings + 1, sizeof *job->is_main);
    if (!job->is_main)
        return -SEEP_ENOMEM;
    for (size_t i = 1; i < d->n_stacks; i++) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[i].frame];
        if (f->kind == SEEP_FRAME_PYTHON && !job->code->lines->importing[i] &&
            strcmp(seep_dictionary_text(d, f->function), "<module>") == 0)
            job->is_main[f->source] = true;
    }
    return 0;
}

int seep_job_sources_open(struct seep_job_sources *job)
{
    const struct seep_model *m = job->code->model;
    const struct seep_dictionary *d = &m->dict;

    if (job->opened || !job->may_open)
        return 0;
    const char *cwd = m->processes[m->root].id.cwd;
    bool *seen = calloc(d->n_strings + 1, sizeof *seen), *of_user = calloc(d->n_frames, 1);
    struct seep_origins origins;
    int rc = seep_origins_init(&origins, d);

    job->opened = true;
    if (!seen || !of_user)
        rc = -SEEP_ENOMEM;
    for (size_t i = 1; i < d->n_frames && !rc; i++) {
        const struct seep_dict_frame *f = &d->frames[i];
        of_user[i] =
            f->kind == SEEP_FRAME_PYTHON && seep_origin_of(&origins, f) == SEEP_ORIGIN_USER;
        if (of_user[i] && !seen[f->source])
            rc = seep_source_files_add(&job->files, f->source, seep_dictionary_text(d, f->source),
                                       cwd ? cwd : "", started_ns(m));
        seen[f->source] |= of_user[i];
    }
    if (!rc)
        hold_against_frames(job, of_user);
    if (!rc)
        rc = find_mains(job);
    seep_origins_fini(&origins);
    free(seen);
    free(of_user);
    return rc;
}

void seep_job_sources_init(struct seep_job_sources *job, const struct seep_code *code,
                           bool may_open)
{
    *job = (struct seep_job_sources){.code = code, .may_open = may_open};
}

void seep_job_sources_fini(struct seep_job_sources *job)
{
    seep_source_files_fini(&job->files);
    free(job->is_main);
}
