/* What findings say of memory that a library's own allocator asked for. */
#include "libprof/base/text.h"
#include "libprof/code/name_patterns.h"
#include "libprof/code/packages/library_allocators.h"
#include "libprof/patterns/pattern_words.h"
#include "libprof/words/findings/allocator_words.h"
#include "libprof/words/step_words.h"

#include <stdlib.h>

static bool is_of_library(const struct seep_finding *f)
{
    return f->pattern == SEEP_PATTERN_LIBRARY_ALLOCATOR;
}

/* Patterns whose usual advice knows nothing of who holds the memory. */
static bool is_advised(const struct seep_finding *f)
{
    return is_of_library(f) || f->pattern == SEEP_PATTERN_RESERVATION ||
           f->pattern == SEEP_PATTERN_DOUBLING;
}

static void note(const struct seep_library_allocator *its, const char *name, struct seep_finding *f)
{
    if (is_of_library(f))
        seep_finding_note(f, SEEP_LIBRARY_CHANCE_TEXT, its->library, its->library);
    else if (*its->live)
        seep_finding_note(f, SEEP_LIBRARY_OF_TEXT, its->allocator, name, its->live);
    else
        seep_finding_note(f, SEEP_LIBRARY_SILENT_OF_TEXT, its->allocator, name);
}

static char *advice(const struct seep_library_allocator *its)
{
    return *its->live
               ? seep_text_format(SEEP_LIBRARY_ADVICE_TEXT, its->live, its->library, its->setting)
               : seep_text_format(SEEP_LIBRARY_SILENT_ADVICE_TEXT, its->library, its->setting);
}

/* Whether the interpreter itself asked, for mimalloc, which CPython contains from 3.13 on. */
static bool is_of_python(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_dict_frame *asker =
        &m->dict.frames[m->dict.stacks[f->n_sites ? m->sites[f->sites[0]].stack : 0].frame];
    const struct seep_process_identity *id = &m->processes[f->n_processes ? *f->processes : 0].id;

    return is_of_library(f) && f->n_processes && asker->kind == SEEP_FRAME_NATIVE &&
           asker->source && !asker->pseudo &&
           seep_name_fits(
               "libpython*|python*",
               seep_text_base(seep_dictionary_text(&m->dict, m->dict.modules[asker->source].path)),
               false) &&
           (id->python_support == SEEP_PYTHON_NO_GIL || id->python_unseen & SEEP_PYTHON_MIMALLOC);
}

static void name_python(const struct seep_model *m, struct seep_finding *f)
{
    const bool no_gil = m->processes[*f->processes].id.python_support == SEEP_PYTHON_NO_GIL;
    char size[SEEP_SIZE_TEXT];

    if (!f->title)
        f->title = seep_text_format(SEEP_MIMALLOC_TITLE_TEXT, seep_text_size(f->growth.value, size),
                                    seep_step_unit(m->step_source == SEEP_STEP_TIME));
    if (!f->advice)
        f->advice =
            seep_text_format("%s", no_gil ? SEEP_NO_GIL_ADVICE_TEXT : SEEP_MIMALLOC_ADVICE_TEXT);
    seep_finding_note(f, SEEP_MIMALLOC_TEXT);
}

int seep_finding_name_library(const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const struct seep_library_allocator *its = NULL;
    const uint32_t stack = f->n_sites ? m->sites[f->sites[0]].stack : 0;
    char size[SEEP_SIZE_TEXT];

    if (is_of_python(m, f)) {
        name_python(m, f);
        return 0;
    }
    const struct seep_space_name *space = &m->spaces[f->space].name;
    if ((space->host_like || space->class == SEEP_CLASS_SHM) && stack &&
        seep_library_allocator_of_stack(code, stack, &its))
        return -SEEP_ENOMEM;
    if (!its)
        return 0;
    char *name = seep_library_allocator_name(code, stack, its);
    if (!name)
        return -SEEP_ENOMEM;
    note(its, name, f);
    if (is_of_library(f) && !f->title)
        f->title = seep_text_format(SEEP_LIBRARY_TITLE_TEXT, name, its->allocator,
                                    seep_text_size(f->growth.value, size),
                                    seep_step_unit(m->step_source == SEEP_STEP_TIME));
    if (is_advised(f) && !f->advice)
        f->advice = advice(its);
    free(name);
    return 0;
}
