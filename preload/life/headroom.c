#include "preload/life/headroom.h"

#include <string.h>

#include "libprof/store/address_space.h"
#include "libprof/store/arena.h"

enum { TEXT_BYTES = 4096, PATH_BYTES = 1024 };

#define NO_LIMIT (UINT64_C(1) << 60)

static uint64_t parse_number(const char *text)
{
    uint64_t n = 0;
    text += strspn(text, " \t");
    while (*text >= '0' && *text <= '9' && n < NO_LIMIT)
        n = n * 10 + (uint64_t)(*text++ - '0');
    return n;
}

/* The number after `key` at the beginning of a line; 0: there is none. */
static uint64_t number_after(const char *text, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0)
            return parse_number(line + n);
    }
    return 0;
}

/* A cgroup's folder, and where to append the name of a file in it. */
struct group {
    char path[PATH_BYTES];
    size_t n_root, n;
};

/* All reads go here: the stack of a signal handler may be small. */
static SEEP_LARGE char text[TEXT_BYTES], own_groups[TEXT_BYTES];
static SEEP_LARGE struct group group;

static const char *read_in_group(const char *file)
{
    size_t n = strlen(file);
    text[0] = '\0';
    if (group.n + n + 2 > sizeof(group.path))
        return text;
    group.path[group.n] = '/';
    memcpy(group.path + group.n + 1, file, n + 1);
    (void)seep_os_read_file(group.path, text, sizeof(text));
    return text;
}

/* Pages of files can be reclaimed: they do not count as used. */
static uint64_t left_in_group(bool v2)
{
    uint64_t most = parse_number(read_in_group(v2 ? "memory.max" : "memory.limit_in_bytes"));
    if (!most || most >= NO_LIMIT)
        return NO_LIMIT;
    uint64_t used = parse_number(read_in_group(v2 ? "memory.current" : "memory.usage_in_bytes"));
    read_in_group("memory.stat");
    uint64_t files =
        v2 ? number_after(text, "inactive_file ") + number_after(text, "active_file ")
           : number_after(text, "total_inactive_file ") + number_after(text, "total_active_file ");
    used -= files < used ? files : used;
    return most > used ? most - used : 0;
}

static uint64_t least_along(const char *root, const char *name, bool v2)
{
    uint64_t least = NO_LIMIT;
    size_t n_name = strcspn(name, "\n");
    group.n_root = strlen(root);
    group.n = group.n_root + n_name;
    if (group.n >= sizeof(group.path))
        return least;
    memcpy(group.path, root, group.n_root);
    memcpy(group.path + group.n_root, name, n_name);
    for (;;) {
        uint64_t left = left_in_group(v2);
        least = left < least ? left : least;
        if (group.n <= group.n_root)
            return least;
        while (group.n > group.n_root && group.path[group.n - 1] != '/')
            group.n--;
        group.n -= group.n > group.n_root;
    }
}

static uint64_t left_in_groups(void)
{
    uint64_t least = NO_LIMIT;
    (void)seep_os_read_file("/proc/self/cgroup", own_groups, sizeof(own_groups));
    for (const char *line = own_groups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *end = line + strcspn(line, "\n"), *names = strchr(line, ':');
        const char *name = names ? strchr(names + 1, ':') : NULL;
        const char *memory = names ? strstr(names, "memory") : NULL;
        if (!name || name >= end)
            continue;
        bool v2 = name == names + 1;
        uint64_t left = v2 ? least_along("/sys/fs/cgroup", name + 1, true)
                        : memory && memory < name
                            ? least_along("/sys/fs/cgroup/memory", name + 1, false)
                            : NO_LIMIT;
        least = left < least ? left : least;
    }
    return least;
}

static uint64_t left_of_ram(void)
{
    (void)seep_os_read_file("/proc/meminfo", text, sizeof(text));
    uint64_t kib = number_after(text, "MemAvailable:");
    return kib ? kib * 1024 : NO_LIMIT;
}

void seep_headroom_read(struct seep_headroom *room)
{
    struct seep_address_space space;
    seep_address_space_read(&space);
    uint64_t most = seep_arena.header->limit_address_bytes, all = space.bytes;
    uint64_t groups = left_in_groups(), ram = left_of_ram();
    room->anonymous_bytes =
        space.resident_bytes > space.shared_bytes ? space.resident_bytes - space.shared_bytes : 0;
    room->left_bytes = groups < ram ? groups : ram;
    if (most && (all >= most || most - all < room->left_bytes))
        room->left_bytes = all < most ? most - all : 0;
}
