#include "preload/life/waiting.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "libprof/format/wake_format.h"
#include "libprof/runtime/store/os.h"

#include <seep_variables.h>

enum { GAP_NS = 500 * 1000 * 1000, NUMBER_BYTES = 24 };

static const char folder_name[] = SEEP_VARIABLE_OUT "=", woken[] = SEEP_VARIABLE_WOKEN "=1";

/* "SEEP_OUT=/folder" */
static SEEP_LARGE char folder_variable[sizeof(folder_name) + SEEP_PATH_BYTES];
static uint64_t next_ns;

static const char *value_of(char *const *environment, const char *name)
{
    const size_t n = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

/* As for an option that is a flag. */
static bool is_set(const char *value)
{
    static const char *const no[] = {"", "0", "no", "off", "false"};
    for (size_t i = 0; value && i < sizeof(no) / sizeof(*no); i++)
        if (strcmp(value, no[i]) == 0)
            return false;
    return value != NULL;
}

bool seep_waiting_is_asked(char *const *environment)
{
    return is_set(value_of(environment, SEEP_VARIABLE_WAIT)) &&
           !is_set(value_of(environment, SEEP_VARIABLE_WOKEN));
}

static void add_number(char *text, uint64_t number)
{
    char digits[NUMBER_BYTES];
    size_t n = sizeof(digits) - 1;
    digits[n] = '\0';
    do
        digits[--n] = (char)('0' + number % 10);
    while (number /= 10);
    strcat(text, digits + n);
}

static uint32_t user(void)
{
    return (uint32_t)seep_os_call3(SYS_geteuid, 0, 0, 0);
}

/* Anybody may make a file of that name: only one that this user alone may write to counts. */
static bool read_folder(int fd, char *folder)
{
    struct stat st;
    if (seep_os_call3(SYS_fstat, fd, (long)&st, 0) < 0 || !S_ISREG(st.st_mode) ||
        st.st_uid != user() || st.st_mode & (S_IWGRP | S_IWOTH))
        return false;
    const long n = seep_os_read(fd, folder, SEEP_PATH_BYTES - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *end = strchr(folder, '\n');
    if (!end)
        return false; /* not all of it is there yet */
    *end = '\0';
    return folder[0] == '/' && (size_t)(end - folder) < SEEP_PATH_BYTES - SEEP_NAME_BYTES;
}

const char *seep_waiting_look(void)
{
    char path[sizeof(SEEP_WAKE_FILE) + 2 * NUMBER_BYTES] = SEEP_WAKE_FILE;
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t next = __atomic_load_n(&next_ns, __ATOMIC_RELAXED);
    if (now < next || !__atomic_compare_exchange_n(&next_ns, &next, now + GAP_NS, false,
                                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    add_number(path, user());
    strcat(path, "-");
    add_number(path, (uint64_t)seep_os_pid());
    const int fd = seep_os_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return NULL;
    strcpy(folder_variable, folder_name);
    char *folder = folder_variable + sizeof(folder_name) - 1;
    const bool good = read_folder(fd, folder);
    seep_os_close(fd);
    if (good)
        (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
    return good ? folder : NULL;
}

static bool is_ours(const char *line)
{
    static const char wait[] = SEEP_VARIABLE_WAIT "=";
    return strncmp(line, wait, sizeof(wait) - 1) == 0 ||
           strncmp(line, folder_name, sizeof(folder_name) - 1) == 0;
}

char *const *seep_waiting_environment(char *const *environment)
{
    size_t n = 0, kept = 0;
    while (environment && environment[n])
        n++;
    const char **copy = seep_os_pages((n + 3) * sizeof(*copy));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_ours(environment[i]))
            copy[kept++] = environment[i];
    copy[kept++] = folder_variable;
    copy[kept] = woken;
    return (char *const *)copy;
}
