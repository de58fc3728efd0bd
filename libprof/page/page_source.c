#include "libprof/page/page_source.h"

#include "libprof/base/text.h"
#include "libprof/page/page_tables.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

FILE *seep_page_source_open(const char *cwd, const char *name, double before_unix_s)
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

json_t *seep_page_source_line(char *line, ssize_t n)
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
