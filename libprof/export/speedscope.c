/* This file writes speedscope's own JSON: the frames once, and for each measure a list of stacks
 * with their weights. speedscope adds up a list, so tensors, which lie inside other memory, have
 * separate lists after the others. It is written piece by piece, because it may be large. */
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* What a profile needs of a site to know whether the site is in it. */
struct row {
    int64_t values[SEEP_N_MEASURES];
    bool of_tensors;
};

struct speedscope {
    FILE *out;
    struct seep_json_stream *sites;
    struct row *rows; /* of the sites */
    struct seep_frames frames;
    json_t *spaces; /* name: its number; spaces are frames too, after the others */
};

static int put_json(FILE *out, json_t *value)
{
    int rc = value ? 0 : -SEEP_ENOMEM;

    if (!rc && json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY))
        rc = ferror(out) ? -SEEP_EIO : -SEEP_ENOMEM;
    json_decref(value);
    return rc;
}

static json_t *frame_json(const json_t *frame)
{
    const char *file = seep_get_text(frame, "file", seep_get_text(frame, "module", NULL));
    const int64_t line = seep_count_of(frame, "line");
    char *name = seep_get_frame_function(frame);
    json_t *json = name ? json_pack("{s:s}", "name", name) : NULL;
    bool failed = (file && json_object_set_new(json, "file", json_string(file))) ||
                  (line && json_object_set_new(json, "line", json_integer(line)));

    free(name);
    if (!failed)
        return json;
    json_decref(json);
    return NULL;
}

static int put_frames(struct speedscope *s)
{
    const char *space;
    json_t *number;
    int rc = 0;

    for (size_t i = 0; !rc && i < s->frames.n; i++) {
        rc = put_json(s->out, frame_json(s->frames.list[i]));
        fputs(",\n", s->out);
    }
    json_object_foreach (s->spaces, space, number) {
        rc = rc ? rc : put_json(s->out, json_pack("{s:s}", "name", space));
        fputs(json_integer_value(number) + 1 < (json_int_t)json_object_size(s->spaces) ? ",\n" : "",
              s->out);
    }
    return rc;
}

static int add_row(struct speedscope *s, const json_t *site, struct row *row)
{
    const char *space = seep_get_text(site, "space", "?");

    for (int i = 0; i < SEEP_N_MEASURES; i++)
        row->values[i] = seep_site_value(site, (enum seep_measure)i);
    row->of_tensors = seep_site_is_of_tensors(site);
    if (!site || (!json_object_get(s->spaces, space) &&
                  json_object_set_new(s->spaces, space,
                                      json_integer((json_int_t)json_object_size(s->spaces)))))
        return -SEEP_ENOMEM;
    return 0;
}

static int add_rows(struct speedscope *s)
{
    int rc;

    s->spaces = json_object();
    s->rows = calloc(s->sites->n + 1, sizeof *s->rows);
    rc = s->spaces && s->rows ? 0 : -SEEP_ENOMEM;
    for (size_t i = 0; i < s->sites->n && !rc; i++) {
        json_t *site = s->sites->make(s->sites, i);
        rc = add_row(s, site, &s->rows[i]);
        json_decref(site);
    }
    return rc;
}

static int put_stack(const struct speedscope *s, size_t i)
{
    json_t *site = s->sites->make(s->sites, i);
    const json_t *stack = json_object_get(site, "stack");
    const json_int_t space =
        json_integer_value(json_object_get(s->spaces, seep_get_text(site, "space", "?")));

    fprintf(s->out, "[%lld", (long long)s->frames.n + space);
    for (size_t k = json_array_size(stack); k > 0; k--)
        fprintf(s->out, ",%u", seep_frames_number(&s->frames, json_array_get(stack, k - 1)));
    fputc(']', s->out);
    json_decref(site);
    return site ? 0 : -SEEP_ENOMEM;
}

/* The value in a profile of tensors only, or of all other sites only. */
static int64_t value_in(const struct row *row, enum seep_measure measure, bool of_tensors)
{
    return row->of_tensors == of_tensors ? row->values[measure] : 0;
}

static int put_profile(const struct speedscope *s, enum seep_measure measure, bool of_tensors)
{
    int64_t total = 0;
    const char *before = "";
    int rc = 0;

    fprintf(s->out, "{\"type\":\"sampled\",\"name\":\"%s%s\",\"unit\":\"bytes\",\"startValue\":0,",
            measure == SEEP_MEASURE_GROWTH ? "growth per step" : seep_measure_names[measure],
            of_tensors ? ", tensors" : "");
    fputs("\"samples\":[\n", s->out);
    for (size_t i = 0; i < s->sites->n && !rc; i++) {
        if (!value_in(&s->rows[i], measure, of_tensors))
            continue;
        fputs(before, s->out);
        rc = put_stack(s, i);
        before = ",\n";
    }
    fputs("],\n\"weights\":[", s->out);
    before = "";
    for (size_t i = 0; i < s->sites->n; i++) {
        const int64_t value = value_in(&s->rows[i], measure, of_tensors);
        if (!value)
            continue;
        fprintf(s->out, "%s%lld", before, (long long)value);
        before = ",";
        if (__builtin_add_overflow(total, value, &total))
            total = INT64_MAX;
    }
    fprintf(s->out, "],\n\"endValue\":%lld}", (long long)total);
    return rc;
}

static int put_file(struct speedscope *s, const struct seep_export_options *o, bool has_tensors)
{
    const int n = has_tensors ? 2 * SEEP_N_MEASURES : SEEP_N_MEASURES;
    int rc;

    fprintf(s->out,
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
            "\"exporter\":\"seep@" SEEP_VERSION "\",\"activeProfileIndex\":%d,\"name\":",
            (int)o->measure + (o->tensors && has_tensors ? SEEP_N_MEASURES : 0));
    rc = put_json(s->out, json_string(o->profile));
    fputs(",\n\"shared\":{\"frames\":[\n", s->out);
    rc = rc ? rc : put_frames(s);
    fputs("]},\n\"profiles\":[\n", s->out);
    for (int i = 0; i < n && !rc; i++) {
        rc = put_profile(s, (enum seep_measure)(i % SEEP_N_MEASURES), i >= SEEP_N_MEASURES);
        fputs(i + 1 < n ? ",\n" : "]}\n", s->out);
    }
    return rc;
}

int seep_export_speedscope(const json_t *report, struct seep_json_stream *sites,
                           const struct seep_export_options *o, FILE *out)
{
    struct speedscope s = {.out = out, .sites = sites};
    bool has_tensors;
    int rc = seep_frames_of_sites(sites, &s.frames, &has_tensors);

    (void)report;
    rc = rc ? rc : add_rows(&s);
    if (!rc)
        rc = json_object_size(s.spaces) ? put_file(&s, o, has_tensors) : -SEEP_ENODATA;
    json_decref(s.spaces);
    free(s.rows);
    seep_frames_fini(&s.frames);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
