#include "libprof/code/packages/distribution.h"

#include "libprof/words/python_file.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DIST_INFO[] = ".dist-info", EGG_INFO[] = ".egg-info";

struct search {
    char folder[PATH_MAX]; /* with a slash */
    char path[PATH_MAX];
    const char *within; /* the file's path below it */
    char package[SEEP_DISTRIBUTION_TEXT];
    uint64_t before_unix_ns;
    struct seep_distribution *found;
};

/* "protobuf-7.36.2.dist-info" has the length of "protobuf-7.36.2"; 0: it is no such entry. */
static size_t stem_of(const char *entry)
{
    const char *ends[] = {DIST_INFO, EGG_INFO};
    const size_t n = strlen(entry);

    for (size_t i = 0; i < 2; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strcmp(entry + n - k, ends[i]) == 0)
            return n - k;
    }
    return 0;
}

/* Installers write "google-pasta" as "google_pasta". */
static bool same_name(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    for (; i < n && b[i]; i++) {
        const bool dash = strchr("-_.", a[i]) && strchr("-_.", b[i]);
        if (!dash && tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]))
            return false;
    }
    return i == n && !b[i];
}

static FILE *open_note(const struct search *s, const char *entry, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    if ((size_t)snprintf(path, sizeof path, "%s%s/%s", s->folder, entry, name) >= sizeof path)
        return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *file = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

enum has { NO_NOTE, HAS, HAS_NOT };

/* Whether a line of the note is `text`, up to one of `ends`. */
static enum has has_line(const struct search *s, const char *entry, const char *note,
                         const char *text, const char *ends)
{
    const size_t n = strlen(text);
    FILE *file = open_note(s, entry, note);
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;

    if (!file)
        return NO_NOTE;
    while (!found && getline(&line, &capacity, file) > 0)
        found = strncmp(line, text, n) == 0 && strchr(ends, line[n]);
    free(line);
    fclose(file);
    return found ? HAS : HAS_NOT;
}

/* `by_name`: those named like the file's folder are asked first, for lists of files are long. */
static bool owns(const struct search *s, const char *entry, size_t stem, bool by_name)
{
    const char *dash = memchr(entry, '-', stem);
    const bool named = same_name(entry, s->package, dash ? (size_t)(dash - entry) : stem);

    if (named != by_name)
        return false;
    const enum has listed = has_line(s, entry, "RECORD", s->within, ",");
    if (listed != NO_NOTE)
        return listed == HAS;
    return named || has_line(s, entry, "top_level.txt", s->package, "\r\n") == HAS;
}

/* Names as their authors write them; files of a distribution that came after the job began say
 * nothing of the version that it used. */
static void take(const struct search *s, const char *entry, size_t stem)
{
    const char *dash = memchr(entry, '-', stem);
    const size_t n_name = dash ? (size_t)(dash - entry) : stem;
    FILE *its = open_note(s, entry, "METADATA"),
         *file = its ? its : open_note(s, entry, "PKG-INFO");
    char line[256];
    struct stat st;

    snprintf(s->found->name, sizeof s->found->name, "%.*s", (int)n_name, entry);
    if (file && !fstat(fileno(file), &st) && dash &&
        (uint64_t)st.st_ctim.tv_sec * UINT64_C(1000000000) <= s->before_unix_ns)
        snprintf(s->found->version, sizeof s->found->version, "%.*s", (int)(stem - n_name - 1),
                 dash + 1);
    while (file && fgets(line, sizeof line, file) && *line != '\n') {
        if (strncmp(line, "Name: ", 6) != 0)
            continue;
        line[strcspn(line, "\r\n")] = '\0';
        if (same_name(entry, line + 6, n_name))
            snprintf(s->found->name, sizeof s->found->name, "%.*s", (int)n_name, line + 6);
        break;
    }
    if (file)
        fclose(file);
}

static bool look(const struct search *s, bool by_name)
{
    DIR *dir = opendir(s->folder);
    const struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir))) {
        const size_t stem = stem_of(entry->d_name);
        found = stem && owns(s, entry->d_name, stem, by_name);
        if (found)
            take(s, entry->d_name, stem);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Loaders keep paths as they were asked for: "openvino/../openvino/libs/x.so". */
static void take_back(char *path)
{
    static const char UP[] = "/../";

    for (char *up; (up = strstr(path, UP));) {
        char *from = up;
        while (from > path && from[-1] != '/')
            from--;
        memmove(from, up + strlen(UP), strlen(up + strlen(UP)) + 1);
    }
}

bool seep_distribution_of(const char *path, uint64_t before_unix_ns,
                          struct seep_distribution *found)
{
    static const char END[] = "-packages/";
    struct search s = {.before_unix_ns = before_unix_ns, .found = found};
    const char *at = NULL;

    *found = (struct seep_distribution){0};
    snprintf(s.path, sizeof s.path, "%s", path);
    take_back(s.path);
    path = s.path;
    for (const char *next = path; (next = strstr(next, END)); next += strlen(END))
        at = next + strlen(END);
    if (!at || (size_t)(at - path) >= sizeof s.folder ||
        !seep_python_file_package(path, s.package, sizeof s.package))
        return false;
    snprintf(s.folder, sizeof s.folder, "%.*s", (int)(at - path), path);
    s.within = at;
    if (!look(&s, true) && !look(&s, false))
        snprintf(found->name, sizeof found->name, "%s", s.package);
    return true;
}
