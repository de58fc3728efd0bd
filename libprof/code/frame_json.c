#include "libprof/code/frame_json.h"

#include "libprof/base/json_build.h"

#include <string.h>

static json_t *pseudo_frame(const struct seep_dict_frame *f)
{
    const char *what = f->where == SEEP_PSEUDO_BOUND ? "[beyond the profile's bound]" : "[unknown]";

    return json_pack("{s:s, s:s, s:n, s:n}", "kind", "native", "function", what, "file", "line");
}

static json_t *begin_frame(const char *kind, const char *function, const char *file, uint64_t line,
                           bool *failed)
{
    json_t *frame = json_object();

    seep_json_set_known(frame, "kind", json_string_nocheck(kind), failed);
    seep_json_set_known(frame, "function", seep_json_text_or_null(function), failed);
    seep_json_set_known(frame, "file", seep_json_text_or_null(file), failed);
    seep_json_set_known(frame, "line", line ? seep_json_count(line) : json_null(), failed);
    return frame;
}

static json_t *python_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f)
{
    const char *function = seep_dictionary_text(d, f->function);
    bool failed = false;
    json_t *frame =
        begin_frame("python", function, seep_dictionary_text(d, f->source), f->where, &failed);

    if (f->qualname && strcmp(seep_dictionary_text(d, f->qualname), function) != 0)
        seep_json_set_known(frame, "qualname", seep_json_text(seep_dictionary_text(d, f->qualname)),
                            &failed);
    return seep_json_whole(frame, failed);
}

static json_t *native_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f,
                            const struct seep_symbol *symbol)
{
    static const struct seep_symbol nothing;
    const struct seep_symbol *s = symbol ? symbol : &nothing;
    const char *module = f->source ? seep_dictionary_text(d, d->modules[f->source].path) : NULL;
    bool failed = false;
    json_t *frame = begin_frame("native", s->function, s->file, s->line, &failed);

    seep_json_set_known(frame, "module", seep_json_text_or_null(module), &failed);
    seep_json_set_known(frame, "offset", seep_json_count(f->where), &failed);
    return seep_json_whole(frame, failed);
}

json_t *seep_frames_json(const struct seep_dictionary *d, const struct seep_symbols *symbols_known,
                         uint32_t frame)
{
    const struct seep_dict_frame *f = &d->frames[frame];
    const struct seep_symbol *symbols;
    json_t *list = json_array();
    int rc = 0;

    size_t n = f->pseudo || f->kind != SEEP_FRAME_NATIVE
                   ? 0
                   : seep_symbols_get(symbols_known, frame, &symbols);
    if (f->pseudo || !f->kind)
        rc = json_array_append_new(list, pseudo_frame(f));
    else if (f->kind == SEEP_FRAME_PYTHON)
        rc = json_array_append_new(list, python_frame(d, f));
    else if (n == 0)
        rc = json_array_append_new(list, native_frame(d, f, NULL));
    for (size_t i = 0; i < n && !rc; i++) {
        json_t *one = native_frame(d, f, &symbols[i]);
        if (i + 1 < n && json_object_set_new(one, "inlined", json_true()))
            rc = -1;
        if (json_array_append_new(list, one))
            rc = -1;
    }
    if (!rc)
        return list;
    json_decref(list);
    return NULL;
}

/* Copied by json_object_update(): json_copy() silently omits what it has no memory for. */
json_t *seep_line_frame_json(const json_t *frames, size_t named_by)
{
    json_t *copy = json_object();
    bool failed = json_object_update(copy, json_array_get(frames, named_by)) != 0;

    json_object_del(copy, "inlined");
    return seep_json_whole(copy, failed);
}
