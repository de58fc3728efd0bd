#include "preload/snapshot/snapshot_maps.h"

#include <string.h>

#include "libprof/format/map_name.h"
#include "libprof/runtime/store/os.h"

enum { TEXT_BYTES = 32 << 10 };

static const char heap_name[] = "[heap]";

static const char *parse_hex(const char *at, uintptr_t *n)
{
    for (*n = 0;; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10)
                                                    : 16;
        if (digit == 16)
            return at;
        *n = *n << 4 | digit;
    }
}

/* "start-end rwxp offset device inode   path" */
static bool parse(const char *at, const char *end, struct seep_snapshot_map *map)
{
    at = parse_hex(at, &map->start);
    if (at >= end || *at++ != '-')
        return false;
    at = parse_hex(at, &map->end);
    if (end - at < 5 || *at != ' ')
        return false;
    map->writable = at[1] == 'r' && at[2] == 'w';
    map->shared = at[4] == 's';
    const size_t n = sizeof heap_name - 1;
    map->is_heap = (size_t)(end - at) > n && memcmp(end - n, heap_name, n) == 0;
    while (at < end && *at != '/')
        at++;
    map->of_file = at < end && !seep_map_name_is_memory(at, (size_t)(end - at), map->shared);
    return map->start < map->end;
}

/* The list may change while it is read. Reading continues after the last address, so nothing is
 * missed. */
static bool each(char *text, seep_snapshot_map_visitor *visit, void *arg)
{
    bool all = true;
    size_t kept = 0;
    long n;
    int fd = seep_os_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return false;
    while ((n = seep_os_read(fd, text + kept, TEXT_BYTES - kept)) > 0) {
        char *at = text, *end = text + kept + (size_t)n;
        for (char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
            struct seep_snapshot_map map;
            if (parse(at, stop, &map))
                all = visit(&map, arg) && all;
        }
        kept = (size_t)(end - at);
        if (kept == TEXT_BYTES)
            kept = 0; /* no line is so long */
        memmove(text, at, kept);
    }
    seep_os_close(fd);
    return all && n == 0;
}

bool seep_snapshot_maps_each(seep_snapshot_map_visitor *visit, void *arg)
{
    char *text = seep_os_pages(TEXT_BYTES);
    if (!text)
        return false;
    const bool all = each(text, visit, arg);
    seep_os_unmap(text, TEXT_BYTES);
    return all;
}
