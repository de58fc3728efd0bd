#include "libprof/code/place_text.h"

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"

#include <string.h>

/* The path without the job's folder. */
static const char *within(const char *path, const char *folder)
{
    const size_t n = strlen(folder);

    return n && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static char *native_text(const struct seep_code *code, uint32_t frame)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *f = &m->dict.frames[frame];
    const struct seep_symbol *symbol;

    if (seep_symbols_resolve(code->symbols, &frame, 1))
        return NULL;
    symbol = seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame);
    if (symbol && symbol->function)
        return strdup(symbol->function);
    return strdup(
        f->source ? seep_text_base(seep_dictionary_text(&m->dict, m->dict.modules[f->source].path))
                  : "unknown code");
}

char *seep_place_text(const struct seep_code *code, uint32_t frame)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *f = &m->dict.frames[frame];

    if (f->pseudo)
        return strdup("unknown code");
    if (f->kind != SEEP_FRAME_PYTHON)
        return native_text(code, frame);
    return seep_text_format(
        "%s:%llu", within(seep_dictionary_text(&m->dict, f->source), m->processes[m->main].id.cwd),
        (unsigned long long)f->where);
}
