#include "libprof/page/page_parts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"

/* The sources of a job's code, if they are still what ran. */

enum { SEEP_SOURCE_MAX_BYTES = 4 << 20 }; /* of a file */

/* A profile may name any file, and a page may be passed on to others: so only files with names of
 * sources are read. */
static bool is_source(const char *name)
{
    static const char *const endings[] = {".py",  ".pyx", ".pxi", ".c",  ".h",   ".cc", ".cpp",
                                          ".cxx", ".hh",  ".hpp", ".cu", ".cuh", ".rs", ".jl"};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcmp(dot, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Opens the file that a report names, relative to the job's folder. NULL unless it is a regular
 * file with the name of a source that was last changed before that time, so that it is what ran.
 * Never blocks. The caller closes it. */
static FILE *page_source_open(const char *cwd, const char *name, double before_unix_s)
{
    struct stat st;
    char *path = *name == '/' ? seep_text_format("%s", name)
                              : seep_text_format("%s/%s", *cwd ? cwd : "/nowhere", name);
    const int fd =
        path && is_source(name) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    FILE *file = NULL;

    free(path);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SEEP_SOURCE_MAX_BYTES &&
        (double)st.st_mtim.tv_sec <= before_unix_s)
        file = fdopen(fd, "r");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

/* A line of `n` bytes as a page shows it: cleaned, cut, and without its newline. Changes `line`. A
 * new reference; NULL without memory. */
static json_t *page_source_line(char *line, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++)
        line[i] = line[i] == '\t' ? ' ' : line[i];
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    char *clean = seep_text_clean(line, (size_t)n);
    json_t *json = clean ? seep_page_cut(clean) : NULL;
    free(clean);
    return json;
}

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
            seep_json_append(lines, page_source_line(text, n), &failed);
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
static void add_excerpt(json_t *excerpts, const struct seep_report_job *job, const json_t *place,
                        bool *failed)
{
    const char *name = seep_get_text(place, "file", NULL);
    const json_int_t line = json_integer_value(json_object_get(place, "line"));
    const json_int_t first = line > SEEP_EXCERPT_AROUND ? line - SEEP_EXCERPT_AROUND : 1;

    if (*failed || !name || line <= 0 || line > SEEP_SOURCE_MAX_BYTES ||
        is_there(excerpts, name, line))
        return;
    FILE *file = page_source_open(job->cwd, name, job->started_unix_s);
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
    const struct seep_report_job job = seep_get_job(report);
    json_t *excerpts = json_array(), *finding, *kept;
    bool failed = false;
    size_t i, k;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const struct seep_report_finding f = seep_report_finding_read(finding);
        add_excerpt(excerpts, &job, f.frame, &failed);
        json_array_foreach (f.kept_at, k, kept)
            add_excerpt(excerpts, &job, kept, &failed);
        json_array_foreach (f.passed_at, k, kept)
            add_excerpt(excerpts, &job, kept, &failed);
    }
    return seep_json_whole(excerpts, failed);
}

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
    json_t *clean = page_source_line(line, n);
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
        FILE *file = page_source_open(cwd, json_string_value(name), before_unix_s);
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
