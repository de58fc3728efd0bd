/* What findings say of memory that a library's own allocator asked for. */
#include "libprof/base/text.h"
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

int seep_finding_name_library(const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const struct seep_library_allocator *its = NULL;
    const uint32_t stack = f->n_sites ? m->sites[f->sites[0]].stack : 0;
    char size[SEEP_SIZE_TEXT];

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
