#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_n(const char *bytes, size_t n)
{
    char *clean = seep_text_clean(bytes, n);
    json_t *text = clean ? json_string(clean) : NULL;

    free(clean);
    return text;
}

json_t *seep_json_text(const char *bytes)
{
    return text_n(bytes, strlen(bytes));
}

json_t *seep_json_text_or_null(const char *bytes)
{
    return bytes && *bytes ? seep_json_text(bytes) : json_null();
}

json_t *seep_json_count(uint64_t n)
{
    return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *seep_json_real(double x)
{
    return json_real(isfinite(x) ? x : 0);
}

json_t *seep_json_argv(const char *argv, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n;) {
        size_t length = strnlen(argv + i, n - i);
        if (json_array_append_new(list, text_n(argv + i, length))) {
            json_decref(list);
            return NULL;
        }
        i += (uint32_t)length + 1;
    }
    return list;
}

json_t *seep_json_totals(const struct seep_totals *t)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:i}", "allocations", seep_json_count(t->allocations), "frees",
        seep_json_count(t->frees), "allocated_bytes", seep_json_count(t->allocated_bytes),
        "live_bytes", seep_json_count(seep_totals_live(t)), "peak_bytes",
        seep_json_count(t->peak_bytes), "peak_step", t->peak_step > 0 ? t->peak_step : 0);
}

json_t *seep_json_slope(const struct seep_slope *slope)
{
    return json_pack("{s:o, s:o, s:o}", "value", seep_json_real(slope->value), "low",
                     seep_json_real(slope->low), "high", seep_json_real(slope->high));
}

json_t *seep_json_space(const struct seep_totals *t, const struct seep_lane_growth *growth)
{
    json_t *json = seep_json_totals(t);
    bool failed = false;

    seep_json_set(json, "growth_bytes_per_step",
                  growth->known ? seep_json_slope(&growth->slope) : json_null(), &failed);
    seep_json_set(json, "retained_bytes", seep_json_count((uint64_t)growth->retained_bytes),
                  &failed);
    return seep_json_whole(json, failed);
}

static json_t *pseudo_frame(const struct seep_dict_frame *f)
{
    const char *what = f->where == SEEP_PSEUDO_BOUND ? "[beyond the profile's bound]" : "[unknown]";

    return json_pack("{s:s, s:s, s:n, s:n}", "kind", "native", "function", what, "file", "line");
}

static json_t *python_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f)
{
    const char *function = seep_dictionary_text(d, f->function);
    json_t *frame = json_pack("{s:s, s:o, s:o, s:o}", "kind", "python", "function",
                              seep_json_text_or_null(function), "file",
                              seep_json_text_or_null(seep_dictionary_text(d, f->source)), "line",
                              f->where ? seep_json_count(f->where) : json_null());

    bool failed = false;

    if (f->qualname && strcmp(seep_dictionary_text(d, f->qualname), function) != 0)
        seep_json_set(frame, "qualname", seep_json_text(seep_dictionary_text(d, f->qualname)),
                      &failed);
    return seep_json_whole(frame, failed);
}

static json_t *native_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f,
                            const struct seep_symbol *symbol)
{
    static const struct seep_symbol nothing;
    const struct seep_symbol *s = symbol ? symbol : &nothing;

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kind", "native", "function",
                     seep_json_text_or_null(s->function), "file", seep_json_text_or_null(s->file),
                     "line", s->line ? json_integer((json_int_t)s->line) : json_null(), "module",
                     seep_json_text_or_null(
                         f->source ? seep_dictionary_text(d, d->modules[f->source].path) : NULL),
                     "offset", seep_json_count(f->where));
}

static json_t *make_frames(const struct seep_report_pieces *pieces, uint32_t frame)
{
    const struct seep_dictionary *d = &pieces->m->dict;
    const struct seep_dict_frame *f = &d->frames[frame];
    const struct seep_symbol *symbols;
    json_t *list = json_array();
    int rc = 0;

    size_t n = f->pseudo || f->kind != SEEP_FRAME_NATIVE
                   ? 0
                   : seep_symbols_get(pieces->symbols, frame, &symbols);
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

int seep_json_frames_append(const struct seep_report_pieces *pieces, uint32_t frame, json_t *list)
{
    json_t **made = &pieces->frame_json[frame];

    if (!*made)
        *made = make_frames(pieces, frame);
    return json_array_extend(list, *made);
}
