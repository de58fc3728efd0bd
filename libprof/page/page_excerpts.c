#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_source.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* The lines from `first` to `last`, as far as the file has them. */
static json_t *read_lines(FILE *file, json_int_t first, json_int_t last)
{
    json_t *lines = json_array();
    char *text = NULL;
    size_t capacity = 0;
    ssize_t n;
    bool failed = false;

    for (json_int_t at = 1; at <= last && !failed && (n = getline(&text, &capacity, file)) >= 0;
         at++) {
        if (at >= first)
            seep_json_append(lines, seep_page_source_line(text, n), &failed);
    }
    free(text);
    return seep_json_whole(lines, failed);
}

static bool is_there(const json_t *excerpts, const char *file, json_int_t line)
{
    size_t i;
    json_t *one;

    json_array_foreach (excerpts, i, one) {
        if (json_integer_value(json_object_get(one, "line")) == line &&
            strcmp(seep_get_text(one, "file", ""), file) == 0)
            return true;
    }
    return false;
}

/* `place`: an object with `file` and `line`. */
static void add_excerpt(json_t *excerpts, const json_t *job, const json_t *place, bool *failed)
{
    const char *name = seep_get_text(place, "file", NULL);
    const json_int_t line = json_integer_value(json_object_get(place, "line"));
    const json_int_t first = line > SEEP_EXCERPT_AROUND ? line - SEEP_EXCERPT_AROUND : 1;

    if (*failed || !name || line <= 0 || line > SEEP_SOURCE_MAX_BYTES ||
        is_there(excerpts, name, line))
        return;
    FILE *file = seep_page_source_open(seep_get_text(job, "cwd", ""), name,
                                       seep_get_number(job, "started_unix_s"));
    if (!file)
        return;
    json_t *lines = read_lines(file, first, line + SEEP_EXCERPT_AROUND);
    fclose(file);
    if (lines && first + (json_int_t)json_array_size(lines) <= line)
        json_decref(lines); /* too short a file: not what ran */
    else
        seep_json_append(excerpts,
                         json_pack("{s:s, s:I, s:I, s:o}", "file", name, "line", line, "first",
                                   first, "lines", lines),
                         failed);
}

json_t *seep_page_excerpts(const json_t *report)
{
    const json_t *job = json_object_get(report, "job");
    json_t *excerpts = json_array(), *finding, *kept;
    bool failed = false;
    size_t i, k;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        add_excerpt(excerpts, job, json_object_get(finding, "frame"), &failed);
        json_array_foreach (json_object_get(finding, "kept_at"), k, kept)
            add_excerpt(excerpts, job, kept, &failed);
        json_array_foreach (json_object_get(finding, "passed_at"), k, kept)
            add_excerpt(excerpts, job, kept, &failed);
    }
    return seep_json_whole(excerpts, failed);
}
