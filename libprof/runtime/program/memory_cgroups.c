#include "libprof/runtime/program/memory_cgroups.h"

#include <string.h>

#include "libprof/runtime/store/os.h"

enum { TEXT_BYTES = 8192, DIGITS = 12 };

#define NO_LIMIT (UINT64_C(1) << 60)

/* All texts go here: the stack of a signal handler may be small. */
static SEEP_LARGE char text[TEXT_BYTES], path[SEEP_MEMORY_CGROUP_BYTES + 64];

/* A file that is read line by line; of a line that is longer, only the beginning. */
static SEEP_LARGE struct {
    int fd;
    size_t n, at;
    char bytes[TEXT_BYTES], line[SEEP_MEMORY_CGROUP_BYTES];
} file;

/* Where a hierarchy is, and which part of it can be seen. */
static SEEP_LARGE struct hierarchy {
    struct seep_memory_cgroup group;
    size_t n_mount;
    char path[SEEP_MEMORY_CGROUP_BYTES], root[SEEP_MEMORY_CGROUP_BYTES];
} hierarchy;

static bool join(char *to, size_t capacity, const char *folder, const char *name)
{
    const size_t n = strlen(folder), m = strlen(name);

    if (n + m + 2 > capacity)
        return false;
    memmove(to, folder, n);
    to[n] = '/';
    memcpy(to + n + 1, name, m + 1);
    return true;
}

static uint64_t parse_number(const char *at)
{
    uint64_t n = 0;

    at += strspn(at, " \t");
    if (*at < '0' || *at > '9')
        return SEEP_MEMORY_NO_NUMBER;
    while (*at >= '0' && *at <= '9' && n < NO_LIMIT)
        n = n * 10 + (uint64_t)(*at++ - '0');
    return n < NO_LIMIT ? n : SEEP_MEMORY_NO_NUMBER;
}

uint64_t seep_memory_number_after(const char *from, const char *key)
{
    const size_t n = strlen(key);

    for (const char *line = from; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0) {
            const uint64_t number = parse_number(line + n);
            return number == SEEP_MEMORY_NO_NUMBER ? 0 : number;
        }
    }
    return 0;
}

static const char *read_text(const char *folder, const char *name)
{
    text[0] = '\0';
    if (join(path, sizeof path, folder, name))
        (void)seep_os_read_file(path, text, sizeof text);
    return text;
}

const char *seep_memory_proc_text(const char *proc, const char *name)
{
    return read_text(proc, name);
}

const char *seep_memory_cgroup_text(const struct seep_memory_cgroup *group, const char *name)
{
    return read_text(group->folder, name);
}

uint64_t seep_memory_cgroup_number(const struct seep_memory_cgroup *group, const char *name)
{
    return parse_number(seep_memory_cgroup_text(group, name));
}

uint64_t seep_memory_cgroup_limit(const struct seep_memory_cgroup *group)
{
    const uint64_t bytes = seep_memory_cgroup_number(
        group, group->version == 2 ? "memory.max" : "memory.limit_in_bytes");

    return bytes == SEEP_MEMORY_NO_NUMBER ? 0 : bytes;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int next_byte(void)
{
    if (file.at == file.n) {
        const long n = seep_os_read(file.fd, file.bytes, sizeof file.bytes);
        file.n = n > 0 ? (size_t)n : 0;
        file.at = 0;
        if (!file.n)
            return -1;
    }
    return (unsigned char)file.bytes[file.at++];
}

/* Without its end; NULL after the last one. */
static char *next_line(void)
{
    size_t n = 0;
    int c;

    while ((c = next_byte()) >= 0 && c != '\n')
        if (n + 1 < sizeof file.line)
            file.line[n++] = (char)c;
    file.line[n] = '\0';
    return c < 0 && !n ? NULL : file.line;
}

static bool open_lines(const char *proc, const char *process, const char *name)
{
    file.n = file.at = 0;
    if (!join(path, sizeof path, proc, process) || !join(path, sizeof path, path, name))
        return false;
    file.fd = seep_os_open(path, O_RDONLY, 0);
    return file.fd >= 0;
}

/* ---- hierarchies ----------------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);

    for (const char *p = list; *p; p += strspn(p, ",")) {
        const size_t m = strcspn(p, ", ");
        if (m == n && memcmp(p, word, n) == 0)
            return true;
        p += m;
        if (*p == ' ')
            break;
    }
    return false;
}

/* "0::/path", and "4:memory:/path" for version 1, which then has the memory alone. */
static bool find_path(const char *proc, const char *process, int version)
{
    char *line;
    bool found = false;

    if (!open_lines(proc, process, "cgroup"))
        return false;
    while (!found && (line = next_line())) {
        char *controllers = strchr(line, ':');
        char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *controllers++ = '\0';
        *name++ = '\0';
        found = version == 2 ? !*controllers : has_word(controllers, "memory");
        if (found)
            strcpy(hierarchy.path, name);
    }
    seep_os_close(file.fd);
    return found;
}

/* mountinfo escapes blanks as \040 and so on. */
static void copy_unescaped(char *to, const char *from)
{
    while (*from && *from != ' ') {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static const char *skip_words(const char *at, int n)
{
    while (n-- && at)
        if ((at = strchr(at, ' ')))
            at++;
    return at;
}

/* The part of the path below what is mounted, "" for that itself. NULL: it lies outside. */
static const char *below_root(void)
{
    size_t n = strlen(hierarchy.root);

    while (n && hierarchy.root[n - 1] == '/')
        n--;
    const char *below = strncmp(hierarchy.path, hierarchy.root, n) == 0 ? hierarchy.path + n : NULL;
    if (below && (!*below || *below == '/') && strncmp(below, "/..", 3) != 0)
        return below;
    /* The cgroup namespace begins somewhere below what is mounted. */
    return strncmp(hierarchy.root, "/..", 3) == 0 && strncmp(hierarchy.path, "/..", 3) != 0 ? ""
                                                                                            : NULL;
}

/* "36 35 98:0 /root /mount options … - type source super-options". Takes the mount if the path lies
 * in it. */
static bool take_mount(const char *line, int version)
{
    const char *tail = strstr(line, " - "), *root = skip_words(line, 3),
               *mount = skip_words(line, 4), *super = tail ? skip_words(tail + 3, 2) : NULL;

    if (!super || !root || !mount || mount > tail)
        return false;
    if (version == 2 ? strncmp(tail, " - cgroup2 ", 11) != 0
                     : strncmp(tail, " - cgroup ", 10) != 0 || !has_word(super, "memory"))
        return false;
    copy_unescaped(hierarchy.root, root);
    copy_unescaped(hierarchy.group.folder, mount);
    hierarchy.n_mount = strlen(hierarchy.group.folder);
    const char *below = below_root();
    const size_t n = below ? strlen(below) : 0;
    if (!below || hierarchy.n_mount + n >= sizeof hierarchy.group.folder)
        return false;
    memcpy(hierarchy.group.folder + hierarchy.n_mount, below, n + 1);
    return true;
}

static bool find_mount(const char *proc, int version)
{
    const char *line;
    bool found = false;

    if (!open_lines(proc, "self", "mountinfo"))
        return false;
    while (!found && (line = next_line()))
        found = take_mount(line, version);
    seep_os_close(file.fd);
    return found;
}

static void visit_upwards(seep_memory_cgroup_visitor *visit, void *arg)
{
    char *folder = hierarchy.group.folder;

    for (size_t n = strlen(folder);;) {
        while (n > hierarchy.n_mount && folder[n - 1] == '/')
            n--;
        folder[n] = '\0';
        visit(&hierarchy.group, arg);
        if (n <= hierarchy.n_mount)
            return;
        while (n > hierarchy.n_mount && folder[n - 1] != '/')
            n--;
    }
}

static const char *name_process(uint32_t pid, char digits[DIGITS])
{
    char *at = digits + DIGITS - 1;

    if (!pid)
        return "self";
    *at = '\0';
    for (; pid; pid /= 10)
        *--at = (char)('0' + pid % 10);
    return at;
}

bool seep_memory_cgroups_visit(const char *proc, uint32_t pid, seep_memory_cgroup_visitor *visit,
                               void *arg)
{
    char digits[DIGITS];
    const char *process = name_process(pid, digits);
    const int version = find_path(proc, process, 1) ? 1 : find_path(proc, process, 2) ? 2 : 0;

    hierarchy.group.version = version;
    if (!version || !find_mount(proc, version))
        return false;
    visit_upwards(visit, arg);
    return true;
}
