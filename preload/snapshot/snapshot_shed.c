#include "preload/snapshot/snapshot_copy_parts.h"

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/os.h"
#include "preload/job/job_table.h"
#include "preload/objects/modules.h"
#include "preload/snapshot/snapshot_maps.h"

enum {
    TEXT_BYTES = 32 << 10,
    STAT_ARG_START = 48, /* fields of /proc/PID/stat, from 1 on */
    STAT_ARG_END = 49,
};

/* ---- maps ------------------------------------------------------------------------------------ */

static bool overlaps(const struct seep_snapshot_map *map, uintptr_t start, uintptr_t end)
{
    return map->start < end && map->end > start;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Profiles and the job's table are seep's own shared maps, and its code runs here. */
static bool is_own(const struct seep_snapshot_map *map)
{
    const uintptr_t arena = (uintptr_t)seep_arena_base, job = (uintptr_t)seep_job_map;
    return (arena && overlaps(map, arena, arena + seep_arena.reserved_bytes)) ||
           overlaps(map, job, job + sizeof(*seep_job_map)) ||
           overlaps(map, (uintptr_t)__ehdr_start, (uintptr_t)_end);
}

/* False: the map stays, as a sealed one does. */
static bool shed_map(const struct seep_snapshot_map *map, void *arg)
{
    struct seep_loaded module;
    (void)arg;
    if ((!map->shared && !map->of_file) || is_own(map))
        return true;
    if (!map->shared && seep_modules_known(map->start, &module))
        return true;
    return seep_os_call3(SYS_munmap, (long)map->start, (long)(map->end - map->start), 0) == 0;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static const char *field(const char *stat, int number)
{
    const char *at = strrchr(stat, ')'); /* the program's name may contain anything */
    for (int i = 2; at && i < number; i++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at;
}

static uintptr_t decimal(const char *at)
{
    uintptr_t n = 0;
    while (at && *at >= '0' && *at <= '9')
        n = n * 10 + (uintptr_t)(*at++ - '0');
    return n;
}

/* The arguments lie in pages of their own; found through the file, because they may be anywhere. */
static void shed_command(char *text)
{
    long n = seep_os_read_file("/proc/self/stat", text, TEXT_BYTES);
    if (n <= 0)
        return;
    const uintptr_t start = decimal(field(text, STAT_ARG_START));
    const uintptr_t end = decimal(field(text, STAT_ARG_END));
    int fd = start && end > start ? seep_os_open("/proc/self/mem", O_RDWR, 0) : -1;
    memset(text, 0, TEXT_BYTES);
    for (uintptr_t at = start; fd >= 0 && at < end;) {
        const size_t piece = end - at < TEXT_BYTES ? end - at : TEXT_BYTES;
        if (seep_os_call6(SYS_pwrite64, fd, (long)text, (long)piece, (long)at, 0, 0) <= 0)
            break;
        at += piece;
    }
    if (fd >= 0)
        seep_os_close(fd);
}

bool seep_snapshot_shed(void)
{
    char *text = seep_os_pages(TEXT_BYTES);
    (void)seep_os_call3(SYS_chdir, (long)"/", 0, 0);
    (void)seep_os_call3(SYS_setsid, 0, 0, 0);
    if (!text)
        return false;
    shed_command(text);
    seep_os_unmap(text, TEXT_BYTES);
    return seep_snapshot_maps_each(shed_map, NULL);
}
