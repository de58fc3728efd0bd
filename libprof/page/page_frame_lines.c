#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/page/page_source.h"

#include <stdlib.h>
#include <string.h>

struct place {
    json_int_t file, line; /* the file's name as the number of a text */
    size_t frame;
};

static int by_file_and_line(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->file != q->file)
        return p->file < q->file ? -1 : 1;
    return p->line < q->line ? -1 : p->line > q->line;
}

static json_int_t integer_of(const struct seep_page_tables *tables, const char *column,
                             size_t frame)
{
    return json_integer_value(json_array_get(json_object_get(tables->frames, column), frame));
}

static json_int_t line_text(struct seep_page_tables *tables, char *line, ssize_t n)
{
    json_t *clean = seep_page_source_line(line, n);
    const char *text = json_string_value(clean);
    const json_int_t id = text ? seep_page_text(tables, text + strspn(text, " ")) : -1;

    tables->failed |= !text;
    json_decref(clean);
    return id;
}

/* Reads the lines that `n` places in one file need, as far as the file has them. */
static void read_file(struct seep_page_tables *tables, FILE *file, const struct place *places,
                      size_t n, json_int_t *ids)
{
    char *line = NULL;
    size_t capacity = 0, next = 0;
    ssize_t length;

    for (json_int_t at = 1; next < n && (length = getline(&line, &capacity, file)) >= 0; at++) {
        if (places[next].line != at)
            continue;
        const json_int_t id = line_text(tables, line, length);
        for (; next < n && places[next].line == at; next++)
            ids[places[next].frame] = id;
    }
    free(line);
}

static void read_files(struct seep_page_tables *tables, const char *cwd, double before_unix_s,
                       const struct place *places, size_t n, json_int_t *ids)
{
    for (size_t from = 0, to; from < n && !tables->failed; from = to) {
        for (to = from; to < n && places[to].file == places[from].file; to++)
            ;
        json_t *name = seep_page_texts_at(&tables->texts, places[from].file);
        FILE *file = seep_page_source_open(cwd, json_string_value(name), before_unix_s);
        json_decref(name);
        if (!file)
            continue;
        read_file(tables, file, places + from, to - from, ids);
        fclose(file);
    }
}

void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s)
{
    const size_t n_frames = json_array_size(json_object_get(tables->frames, "name"));
    struct place *places = calloc(n_frames + 1, sizeof *places);
    json_int_t *ids = calloc(n_frames + 1, sizeof *ids);
    size_t n = 0;

    tables->failed |= !places || !ids;
    for (size_t i = 0; i < n_frames && !tables->failed; i++) {
        ids[i] = -1;
        places[n] = (struct place){integer_of(tables, "file", i), integer_of(tables, "line", i), i};
        n += places[n].file >= 0 && places[n].line > 0;
    }
    if (!tables->failed) {
        qsort(places, n, sizeof *places, by_file_and_line);
        read_files(tables, cwd, before_unix_s, places, n, ids);
    }
    seep_json_set(tables->frames, "source", json_array(), &tables->failed);
    for (size_t i = 0; i < n_frames && !tables->failed; i++)
        seep_page_add(tables->frames, "source", json_integer(ids[i]), &tables->failed);
    free(places);
    free(ids);
}
