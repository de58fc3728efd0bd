#include "libprof/who/kept/passed_at.h"

#include "libprof/base/json_build.h"
#include "libprof/source/python_passes.h"
#include "libprof/who/kept/kept_at.h"
#include "libprof/who/merge/hops.h"

#include <string.h>

/* From the innermost line of the user's outwards, as long as it is returned. */
static const struct seep_source_file *find_passes(const struct seep_job_sources *job,
                                                  uint32_t stack, struct seep_passes *passes)
{
    const struct seep_dictionary *d = &job->code->model->dict;

    *passes = (struct seep_passes){0};
    for (; stack; stack = d->stacks[stack].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[stack].frame];
        const struct seep_source_file *file =
            f->kind == SEEP_FRAME_PYTHON ? seep_source_files_find(&job->files, f->source) : NULL;
        if (!file)
            continue;
        seep_python_passes_find(&file->source, f->where, passes);
        if (!passes->returned)
            return file;
    }
    return NULL;
}

json_t *seep_passed_at_json(struct seep_job_sources *job, const json_t *answer, uint32_t stack)
{
    const struct seep_source_file *file;
    struct seep_passes passes;
    bool failed = false;

    if (strcmp(seep_hops_said(answer, "state"), "reference") != 0 || !job->may_open)
        return json_null();
    if (seep_job_sources_open(job))
        return NULL;
    file = find_passes(job, stack, &passes);
    if (!file || !passes.n)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < passes.n; i++)
        seep_json_append(list, seep_kept_line_json(job, file, passes.list[i]), &failed);
    return seep_json_whole(list, failed);
}
