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
                      size_t n)
{
    char *line = NULL;
    size_t capacity = 0, next = 0;
    ssize_t length;

    for (json_int_t at = 1; next < n && (length = getline(&line, &capacity, file)) >= 0; at++) {
        if (places[next].line != at)
            continue;
        const json_int_t id = line_text(tables, line, length);
        for (; next < n && places[next].line == at; next++)
            tables->frames.list[places[next].frame].source = (int32_t)id;
    }
    free(line);
}

static void read_files(struct seep_page_tables *tables, const char *cwd, double before_unix_s,
                       const struct place *places, size_t n)
{
    for (size_t from = 0, to; from < n && !tables->failed; from = to) {
        for (to = from; to < n && places[to].file == places[from].file; to++)
            ;
        json_t *name = seep_page_texts_at(&tables->texts, places[from].file);
        FILE *file = seep_page_source_open(cwd, json_string_value(name), before_unix_s);
        json_decref(name);
        if (!file)
            continue;
        read_file(tables, file, places + from, to - from);
        fclose(file);
    }
}

void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s)
{
    const struct seep_page_frames *frames = &tables->frames;
    struct place *places = calloc(frames->n + 1, sizeof *places);
    size_t n = 0;

    tables->failed |= !places;
    for (size_t i = 0; i < frames->n && !tables->failed; i++) {
        places[n] = (struct place){frames->list[i].file, frames->list[i].line, i};
        n += places[n].file >= 0 && places[n].line > 0;
    }
    if (!tables->failed) {
        qsort(places, n, sizeof *places, by_file_and_line);
        read_files(tables, cwd, before_unix_s, places, n);
    }
    free(places);
}
