#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A profile names any file that it likes, and a page may be passed on: what a name says is no
 * source is not looked into. */
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

static FILE *open_source(const char *cwd, const char *name, double before_unix_s)
{
    struct stat st;
    char *path = *name == '/' ? seep_text_format("%s", name)
                              : seep_text_format("%s/%s", *cwd ? cwd : "/nowhere", name);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    FILE *file = NULL;

    free(path);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
        st.st_size <= SEEP_EXCERPT_MAX_FILE_BYTES && (double)st.st_mtim.tv_sec <= before_unix_s)
        file = fdopen(fd, "r");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

static json_t *clean_line(char *text, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] == '\t' ? ' ' : text[i];
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    char *clean = seep_text_clean(text, (size_t)n);
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
            seep_json_append(lines, clean_line(text, n), &failed);
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

    if (*failed || !name || !is_source(name) || line <= 0 || line > SEEP_EXCERPT_MAX_FILE_BYTES ||
        is_there(excerpts, name, line))
        return;
    FILE *file =
        open_source(seep_get_text(job, "cwd", ""), name, seep_get_number(job, "started_unix_s"));
    if (!file)
        return;
    json_t *lines = read_lines(file, first, line + SEEP_EXCERPT_AROUND);
    fclose(file);
    if (lines && first + (json_int_t)json_array_size(lines) <= line)
        json_decref(lines); /* shorter than that: not what ran */
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
    }
    return seep_json_whole(excerpts, failed);
}
