#include "preload/life/start_parts.h"

#include <string.h>
#include <sys/resource.h>

#include "libprof/store/address_space.h"
#include "libprof/store/os.h"

static uint64_t parse_number(const char *text)
{
    uint64_t n = 0;
    while (*text >= '0' && *text <= '9' && n < UINT64_MAX / 10)
        n = n * 10 + (uint64_t)(*text++ - '0');
    return n;
}

/* The smallest number in `file` of `root`/`group` and of each folder above it; "max" and v1's huge
 * default count as none. */
static uint64_t tightest(const char *root, const char *group, const char *file)
{
    char path[1024], text[64];
    uint64_t least = 0;
    size_t n_root = strlen(root), n_file = strlen(file), n = strcspn(group, "\n");
    if (n_root + n + n_file + 2 > sizeof(path))
        return 0;
    for (;;) {
        memcpy(path, root, n_root);
        memcpy(path + n_root, group, n);
        path[n_root + n] = '/';
        memcpy(path + n_root + n + 1, file, n_file + 1);
        uint64_t limit = seep_os_read_file(path, text, sizeof(text)) > 0 ? parse_number(text) : 0;
        if (limit && limit < UINT64_C(1) << 60 && (!least || limit < least))
            least = limit;
        if (!n)
            return least;
        while (n && group[n - 1] != '/')
            n--;
        n -= n > 0;
    }
}

static void read_cgroup(struct seep_header *header)
{
    char text[4096];
    if (seep_os_read_file("/proc/self/cgroup", text, sizeof(text)) <= 0)
        return;
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n");
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (group && group < end) {
            uint64_t limit = 0;
            uint32_t version = 2;
            if (line[0] == '0' && line[1] == ':' && line[2] == ':') {
                limit = tightest("/sys/fs/cgroup", group + 1, "memory.max");
            } else if (strstr(controllers, "memory") && strstr(controllers, "memory") < group) {
                limit = tightest("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes");
                version = 1;
            }
            if (limit && (!header->limit_cgroup_bytes || limit < header->limit_cgroup_bytes)) {
                header->limit_cgroup_bytes = limit;
                header->limit_cgroup_version = version;
            }
        }
        line = end + (*end == '\n');
    }
}

void seep_process_limits_read(struct seep_header *header)
{
    char text[256];
    header->limit_address_bytes = seep_address_space_limit(RLIMIT_AS);
    header->limit_data_bytes = seep_address_space_limit(RLIMIT_DATA);
    read_cgroup(header);
    if (seep_os_read_file("/proc/meminfo", text, sizeof(text)) > 0) {
        const char *at = strstr(text, "MemTotal:");
        for (at = at ? at + 9 : ""; *at == ' ';)
            at++;
        header->limit_ram_bytes = parse_number(at) * 1024;
    }
}
