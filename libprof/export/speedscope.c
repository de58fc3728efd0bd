/* This file writes speedscope's own JSON: the frames once, and for each measure a list of stacks
 * with their weights. speedscope adds up a list, so tensors, which lie inside other memory, have
 * separate lists after the others. It is written piece by piece, because it may be large. */
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

struct speedscope {
    FILE *out;
    const json_t *sites;
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

static int number_spaces(struct speedscope *s)
{
    json_t *site;
    size_t i;

    s->spaces = json_object();
    json_array_foreach (s->sites, i, site) {
        const char *space = seep_get_text(site, "space", "?");
        if (!json_object_get(s->spaces, space) &&
            json_object_set_new(s->spaces, space,
                                json_integer((json_int_t)json_object_size(s->spaces))))
            return -SEEP_ENOMEM;
    }
    return s->spaces ? 0 : -SEEP_ENOMEM;
}

static void put_stack(const struct speedscope *s, const json_t *site)
{
    const json_t *stack = json_object_get(site, "stack");
    const json_int_t space =
        json_integer_value(json_object_get(s->spaces, seep_get_text(site, "space", "?")));

    fprintf(s->out, "[%lld", (long long)s->frames.n + space);
    for (size_t i = json_array_size(stack); i > 0; i--)
        fprintf(s->out, ",%u", seep_frames_number(&s->frames, json_array_get(stack, i - 1)));
    fputc(']', s->out);
}

/* The value in a profile of tensors only, or of all other sites only. */
static int64_t value_in(const json_t *site, enum seep_measure measure, bool of_tensors)
{
    return seep_site_is_of_tensors(site) == of_tensors ? seep_site_value(site, measure) : 0;
}

static void put_profile(const struct speedscope *s, enum seep_measure measure, bool of_tensors)
{
    json_t *site;
    size_t i;
    int64_t total = 0;
    const char *before = "";

    fprintf(s->out, "{\"type\":\"sampled\",\"name\":\"%s%s\",\"unit\":\"bytes\",\"startValue\":0,",
            measure == SEEP_MEASURE_GROWTH ? "growth per step" : seep_measure_names[measure],
            of_tensors ? ", tensors" : "");
    fputs("\"samples\":[\n", s->out);
    json_array_foreach (s->sites, i, site) {
        if (!value_in(site, measure, of_tensors))
            continue;
        fputs(before, s->out);
        put_stack(s, site);
        before = ",\n";
    }
    fputs("],\n\"weights\":[", s->out);
    before = "";
    json_array_foreach (s->sites, i, site) {
        int64_t value = value_in(site, measure, of_tensors);
        if (!value)
            continue;
        fprintf(s->out, "%s%lld", before, (long long)value);
        before = ",";
        if (__builtin_add_overflow(total, value, &total))
            total = INT64_MAX;
    }
    fprintf(s->out, "],\n\"endValue\":%lld}", (long long)total);
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
    for (int i = 0; i < n; i++) {
        put_profile(s, (enum seep_measure)(i % SEEP_N_MEASURES), i >= SEEP_N_MEASURES);
        fputs(i + 1 < n ? ",\n" : "]}\n", s->out);
    }
    return rc;
}

int seep_export_speedscope(const json_t *report, const struct seep_export_options *o, FILE *out)
{
    struct speedscope s = {.out = out, .sites = json_object_get(report, "sites")};
    int rc = seep_frames_of_sites(report, &s.frames);

    rc = rc ? rc : number_spaces(&s);
    if (!rc)
        rc = json_object_size(s.spaces) ? put_file(&s, o, seep_export_has_tensors(report))
                                        : -SEEP_ENODATA;
    json_decref(s.spaces);
    seep_frames_fini(&s.frames);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
