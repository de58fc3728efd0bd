#include "libprof/patterns/pattern_words.h"

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/words/line_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *function_name(const struct seep_code *code, uint32_t frame)
{
    const struct seep_dictionary *d = &code->model->dict;
    const struct seep_dict_frame *f = &d->frames[frame];
    const struct seep_symbol *symbol =
        seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame);

    if (f->kind == SEEP_FRAME_PYTHON) {
        const char *name = seep_dictionary_text(d, f->function);
        return *name ? name : "this line";
    }
    return symbol && symbol->function ? symbol->function : "this code";
}

/* "multiprocessing/connection.py": two parts of a path tell a library's files apart. */
static const char *short_path(const char *path)
{
    const char *base = seep_text_base(path);

    for (const char *at = base - (base > path); at > path; at--)
        if (at[-1] == '/')
            return at;
    return path;
}

/* The file of a line that no frame of the user's leads to; NULL of another line. */
static const char *library_of(const struct seep_code *code, const struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *frame = &m->dict.frames[f->frame];
    const char *path = "";

    if (!f->n_sites || frame->pseudo || code->lines->is_own[m->sites[f->sites[0]].stack])
        return NULL;
    if (frame->kind == SEEP_FRAME_PYTHON)
        path = seep_dictionary_text(&m->dict, frame->source);
    else if (frame->source)
        path = seep_dictionary_text(&m->dict, m->dict.modules[frame->source].path);
    return *path ? path : NULL;
}

/* Whose line it is: a function's of the user's; a library's with the name that the user knows. */
static char *whose(const struct seep_code *code, const struct seep_finding *f)
{
    const char *function = function_name(code, seep_finding_shown(f));
    const char *library = library_of(code, f);

    if (f->sender)
        return seep_text_format("%s%s%s of another process", f->keeper ? f->keeper : "",
                                f->keeper ? ", made by " : "", function);
    if (!library)
        return strdup(function);
    return seep_text_format("%s%s%s of %s, a library's", f->keeper ? f->keeper : "",
                            f->keeper ? ", by " : "", function, short_path(library));
}

static bool any_runs(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].ended.kind == SEEP_ENDED_RUNNING)
            return true;
    }
    return false;
}

/* What the words in braces of a title stand for. */
struct filling {
    const char *word;
    char *text;
};

/* The template with its words filled in; NULL without memory. */
static char *fill(const char *template, const struct filling *words, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (const char *at = template; *at;) {
        const size_t plain = strcspn(at, "{");
        fwrite(at, 1, plain, out);
        at += plain;
        if (!*at)
            break;
        const size_t length = strcspn(++at, "}");
        for (size_t i = 0; i < n; i++) {
            if (strlen(words[i].word) == length && memcmp(words[i].word, at, length) == 0)
                fputs(words[i].text ? words[i].text : "", out);
        }
        at += length + 1;
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static char *blocks_of(const struct seep_finding *f)
{
    return seep_text_format("%llu block%s", (unsigned long long)f->count, f->count == 1 ? "" : "s");
}

/* Of a graph: what ends an epoch is known, what ends a sum of losses is not. */
static const char *until_when(const struct seep_finding *f)
{
    return !f->returns                    ? ""
           : f->severity == SEEP_PRESSURE ? ", until it is let go of"
                                          : ", until the epoch ends";
}

static char *since_plateau(const struct seep_finding *f)
{
    return f->plateau_step ? seep_text_format("from step %d on", (int)f->plateau_step)
                           : strdup("by now");
}

static char *size_of(double bytes)
{
    char text[SEEP_SIZE_TEXT];

    return strdup(seep_text_size(bytes, text));
}

/* What keeps memory of a device can keep it on the host instead. */
static const char *const on_devices[SEEP_N_PATTERNS] = {
    [SEEP_PATTERN_EAGER_RETENTION] =
        "keep the items on the host and move a batch at a time to the device "
        "(pin_memory, .to(device, non_blocking=True)), or load each when it is used",
    [SEEP_PATTERN_ALIASED_CACHE] =
        "copy the dataset's object before writing into it what was moved to the device: a shallow "
        "copy (dict(target), copy.copy) is enough where only its top-level keys change",
    [SEEP_PATTERN_FIRST_TOUCH_CACHE] =
        "keep the items on the host and move a batch at a time to the device, or bound the cache; "
        "drop the list or dict that owns the items, not only the local name",
    [SEEP_PATTERN_UNBOUNDED_GROWTH] =
        "find who keeps what this line makes: a list or dict that is only appended to, a closure "
        "or a callback; what has to be kept goes to the host: .item() for numbers, "
        ".detach().cpu() for tensors",
    [SEEP_PATTERN_GRAPH_RETENTION] =
        "keep numbers, not tensors with their graphs: loss.item() for logs and sums, "
        ".detach().cpu() for what is used on; evaluate under torch.no_grad()",
};

/* One memory is judged of host and mmap together. */
static char *memory_of(const struct seep_model *m, const struct seep_finding *f)
{
    char words[SEEP_SPACE_WORDS];

    return strdup(seep_memory_words(m->spaces[f->space].name.text, words));
}

static char *lines_of(const struct seep_finding *f)
{
    char text[SEEP_SIZE_TEXT];

    return strdup(seep_text_count(f->n_lines, text));
}

static char *below_of(const struct seep_code *code, const struct seep_finding *f)
{
    return f->below_bytes > 0
               ? seep_text_format(SEEP_SPREAD_BELOW_TEXT, function_name(code, f->frame))
               : strdup("");
}

static const char *title_of(const struct seep_finding *f)
{
    return f->n_lines ? SEEP_SPREAD_TITLE_TEXT : seep_pattern_row(f->pattern)->title;
}

static const char *advice_of(const struct seep_model *m, const struct seep_finding *f)
{
    const enum seep_space_class class = m->spaces[f->space].name.class;
    const bool on_device = class == SEEP_CLASS_DEVICE || class == SEEP_CLASS_TENSOR;

    if (f->n_lines && f->severity == SEEP_LEAK)
        return SEEP_SPREAD_LEAK_TEXT;
    return on_device && on_devices[f->pattern] ? on_devices[f->pattern]
                                               : seep_pattern_row(f->pattern)->advice;
}

int seep_finding_set_words(const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_model *m = code->model;
    const bool timed = m->step_source == SEEP_STEP_TIME;
    struct filling words[] = {
        {"who", whose(code, f)},
        {"size", size_of((double)f->live_bytes)},
        {"asked", size_of((double)f->asked_bytes)},
        {"space", strdup(m->spaces[f->space].name.text)},
        {"memory", memory_of(m, f)},
        {"lines", lines_of(f)},
        {"below", below_of(code, f)},
        {"each", size_of(f->growth.value)},
        {"saving", size_of((double)f->saving_bytes)},
        {"unit", strdup(timed ? "time slice" : "step")},
        {"blocks", blocks_of(f)},
        {"so far", strdup(any_runs(m) ? "so far" : "to the end")},
        {"since the plateau", since_plateau(f)},
        {"until the epoch ends", strdup(until_when(f))},
    };
    const size_t n = sizeof words / sizeof *words;

    if (!f->title)
        f->title = fill(title_of(f), words, n);
    if (!f->advice)
        f->advice = strdup(advice_of(m, f));
    for (size_t i = 0; i < n; i++)
        free(words[i].text);
    return f->title && f->advice ? 0 : -SEEP_ENOMEM;
}
