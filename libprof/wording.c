/* The words of findings: a title that says what happens, and what to do. */
#include "libprof/diagnose.h"

#include "libprof/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const advice[SEEP_N_PATTERNS] = {
    [SEEP_PATTERN_EAGER_RETENTION] =
        "load each item when it is used (in __getitem__, in the loader's workers), keep paths or a "
        "compact form in memory instead of decoded data, or use a memory-mapped file",
    [SEEP_PATTERN_FIRST_TOUCH_CACHE] =
        "bound the cache or evict from it; drop the list or dict that owns the items, not only the "
        "local name",
    [SEEP_PATTERN_ALIASED_CACHE] =
        "copy the dataset's object before writing into it: a shallow copy (dict(target), "
        "copy.copy) is enough where only its top-level keys change",
    [SEEP_PATTERN_UNBOUNDED_GROWTH] =
        "find who keeps what this line makes: a list or dict that is only appended to, a tensor "
        "kept with its graph (use .item() or .detach()), a closure or a callback",
    [SEEP_PATTERN_UNDETERMINED] =
        "run on past one full epoch (or for more steps): a plateau then tells a cache that fills "
        "from growth without an end",
};

static const char *function_name(const struct seep_model *m, const struct seep_symbols *symbols,
                                 uint32_t frame)
{
    const struct seep_dict_frame *f = &m->dict.frames[frame];
    const struct seep_symbol *symbol;

    if (f->kind == SEEP_FRAME_PYTHON) {
        const char *name = seep_dictionary_text(&m->dict, f->function);
        return *name ? name : "this line";
    }
    if (seep_symbols_get(symbols, frame, &symbol) && symbol[0].function)
        return symbol[0].function;
    return "this code";
}

static bool any_runs(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].exit_kind == SEEP_ENDED_RUNNING)
            return true;
    }
    return false;
}

void seep_wording_set(const struct seep_model *m, const struct seep_symbols *symbols,
                      const struct seep_span *span, struct seep_finding *f)
{
    const char *who = function_name(m, symbols, f->frame);
    const char *unit = m->step_source == SEEP_STEP_TIME ? "time slice" : "step";
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    (void)span;
    seep_text_size((double)f->live_bytes, size);
    switch (f->pattern) {
    case SEEP_PATTERN_EAGER_RETENTION:
        f->title = seep_text_format("%s: %llu item%s loaded before step 1 and kept %s: %s", who,
                                    (unsigned long long)f->count, f->count == 1 ? "" : "s",
                                    any_runs(m) ? "so far" : "to the end", size);
        break;
    case SEEP_PATTERN_FIRST_TOUCH_CACHE:
        f->title = seep_text_format("%s: keeps every item it has seen once: %s from step %d on",
                                    who, size, (int)f->plateau_step);
        break;
    case SEEP_PATTERN_ALIASED_CACHE:
        f->title = seep_text_format("%s: writes into the dataset's own objects, which then keep %s",
                                    who, size);
        break;
    case SEEP_PATTERN_UNBOUNDED_GROWTH:
        f->title = seep_text_format("%s: grows by %s every %s, without an end in sight", who,
                                    seep_text_size(f->growth.value, each), unit);
        break;
    default:
        f->title = seep_text_format("%s: grows by %s every %s so far", who,
                                    seep_text_size(f->growth.value, each), unit);
        break;
    }
    f->advice = strdup(advice[f->pattern]);
}
