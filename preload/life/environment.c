#include "preload/life/environment.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/program/program_entry.h"
#include "libprof/runtime/store/os.h"
#include "preload/job/job_table.h"
#include "preload/objects/loader.h"

enum { MAX_KEPT = 32, TEXT_BYTES = 8192, LIBRARY_BYTES = 1024 };

static SEEP_LARGE char kept_text[TEXT_BYTES];
static char *kept[MAX_KEPT]; /* "SEEP_X=…" lines */
static size_t n_kept;
static SEEP_LARGE char library[LIBRARY_BYTES]; /* path of this library, as LD_PRELOAD had it */

/* Programs started under a seccomp filter of the job's must know of it: it may kill them for what
 * seep's start does. */
static char in_a_sandbox[] = "SEEP_SANDBOX=1";

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void keep(const char *line, size_t *used)
{
    size_t n = strlen(line) + 1;
    if (n_kept == MAX_KEPT || n > TEXT_BYTES - *used)
        return;
    kept[n_kept++] = memcpy(kept_text + *used, line, n);
    *used += n;
}

void seep_environment_start(char *const *environment)
{
    const struct link_map *self = seep_loader_self();
    size_t used = 0;
    if (self && strlen(self->l_name) < LIBRARY_BYTES)
        strcpy(library, self->l_name);
    for (; environment && *environment; environment++)
        if (starts_with(*environment, "SEEP_"))
            keep(*environment, &used);
}

static size_t count(char *const *environment)
{
    size_t n = 0;
    while (environment && environment[n])
        n++;
    return n;
}

static char *find(char *const *environment, const char *line)
{
    const char *equals = strchr(line, '=');
    size_t n = equals ? (size_t)(equals - line) + 1 : strlen(line);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, line, n) == 0)
            return *environment;
    return NULL;
}

size_t seep_environment_room(char *const *environment)
{
    return count(environment) + n_kept + 3;
}

size_t seep_environment_text(char *const *environment)
{
    const char *preload = find(environment, "LD_PRELOAD=");
    return sizeof("LD_PRELOAD=") + strlen(library) + 1 + (preload ? strlen(preload) : 0);
}

char *const *seep_environment_complete(char *const *environment, char **room, char *text)
{
    char *preload = find(environment, "LD_PRELOAD=");
    bool preloaded = preload && strstr(preload, library);
    bool complete = preloaded || !library[0];
    for (size_t i = 0; complete && i < n_kept; i++)
        complete = find(environment, kept[i]) != NULL;
    bool sandbox = seep_os_sandboxed && !find(environment, in_a_sandbox);
    if ((complete && !sandbox) || !library[0])
        return environment;
    size_t n = 0;
    for (char *const *e = environment; e && *e; e++)
        if (*e != preload || preloaded)
            room[n++] = *e;
    for (size_t i = 0; i < n_kept; i++)
        if (!find(environment, kept[i]))
            room[n++] = kept[i];
    if (sandbox)
        room[n++] = in_a_sandbox;
    if (!preloaded) {
        strcpy(text, "LD_PRELOAD=");
        strcat(text, library);
        const char *others = preload ? strchr(preload, '=') + 1 : "";
        if (*others) {
            strcat(text, ":");
            strcat(text, others);
        }
        room[n++] = text;
    }
    room[n] = NULL;
    return room;
}

/* ---- what can be read, and reached --------------------------------------------------------- */

bool seep_environment_text_readable(const char *text)
{
    for (;;) {
        const uintptr_t end = seep_os_page_down((uintptr_t)text) + seep_os_page_bytes();
        if (!seep_os_readable(text))
            return false;
        if (memchr(text, 0, end - (uintptr_t)text))
            return true;
        text = (const char *)end;
    }
}

/* Texts are adjacent, so most pages have been checked already. */
bool seep_environment_readable(char *const *environment)
{
    uintptr_t list_page = UINTPTR_MAX, text_page = UINTPTR_MAX;
    for (; environment; environment++) {
        const uintptr_t at = (uintptr_t)environment;
        if (seep_os_page_down(at) != list_page && !seep_os_readable(environment))
            return false;
        list_page = seep_os_page_down(at);
        if (at & (sizeof(at) - 1) && !seep_os_readable((const char *)environment + sizeof(at) - 1))
            return false;
        const char *text = *environment;
        if (!text)
            return true;
        if (seep_os_page_down((uintptr_t)text) == text_page &&
            memchr(text, 0, text_page + seep_os_page_bytes() - (uintptr_t)text))
            continue;
        if (!seep_environment_text_readable(text))
            return false;
        text_page = seep_os_page_down((uintptr_t)text);
    }
    return true;
}

static bool is_there(const char *path)
{
    struct stat st;
    const long r = seep_os_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0);
    return r != -ENOENT && r != -ENOTDIR;
}

static bool is_readable(const char *path)
{
    const long r = seep_os_call3(SYS_faccessat, AT_FDCWD, (long)path, R_OK);
    return r != -ENOENT && r != -ENOTDIR && r != -EACCES;
}

static bool reaches(void)
{
    return !library[0] || (is_readable(library) &&
                           (!seep_job_map || seep_job_path[0] != '/' || is_there(seep_job_path)));
}

static bool out_of_reach; /* as a filter was installed */

void seep_environment_note_reach(void)
{
    if (!seep_os_sandboxed)
        out_of_reach = !reaches();
}

bool seep_environment_reaches(void)
{
    return seep_os_sandboxed ? !out_of_reach : reaches();
}

bool seep_environment_known(void)
{
    return library[0] != '\0';
}

bool seep_environment_has_sanitizer(char *const *environment)
{
    const char *preload = find(environment, "LD_PRELOAD=");
    size_t n;
    return preload && seep_entry_sanitizer_in(strchr(preload, '=') + 1, &n);
}

/* Copies a list of libraries without ours; keeps the separators between the others. */
static void copy_others(char *to, const char *list)
{
    size_t own = strlen(library), used = 0;
    char separator = '\0';
    while (*list) {
        size_t n = strcspn(list, ": ");
        if (n && !(n == own && memcmp(list, library, n) == 0)) {
            if (used)
                to[used++] = separator;
            memcpy(to + used, list, n);
            used += n;
            separator = '\0';
        }
        list += n;
        if (*list && !separator)
            separator = *list;
        list += *list != '\0';
    }
    to[used] = '\0';
}

/* One of our variables, or one that names this library as a tool of NVTX or CUDA. */
static bool is_ours(const char *line)
{
    static const char *const tools[] = {"NVTX_INJECTION64_PATH=", "CUDA_INJECTION64_PATH="};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (starts_with(line, tools[i]) && strcmp(strchr(line, '=') + 1, library) == 0)
            return true;
    for (size_t i = 0; i < n_kept; i++)
        if (strcmp(line, kept[i]) == 0)
            return true;
    return false;
}

char *const *seep_environment_without(char *const *environment, char **room, char *text)
{
    static const char name[] = "LD_PRELOAD=";
    char *preload = find(environment, name);
    size_t n = 0;
    for (char *const *e = environment; e && *e; e++) {
        if (*e == preload && strstr(preload, library)) {
            memcpy(text, name, sizeof(name));
            copy_others(text + sizeof(name) - 1, preload + sizeof(name) - 1);
            if (text[sizeof(name) - 1])
                room[n++] = text;
        } else if (!is_ours(*e)) {
            room[n++] = *e;
        }
    }
    room[n] = NULL;
    return room;
}
