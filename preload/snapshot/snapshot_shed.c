#include "preload/snapshot/snapshot_copy_parts.h"

#include "libprof/format/map_name.h"
#include "libprof/store/arena.h"
#include "libprof/store/os.h"
#include "preload/job/job_table.h"
#include "preload/objects/modules.h"

enum {
    TEXT_BYTES = 32 << 10,
    STAT_ARG_START = 48, /* fields of /proc/PID/stat, from 1 on */
    STAT_ARG_END = 49,
};

/* ---- maps ------------------------------------------------------------------------------------ */

struct line {
    uintptr_t start, end;
    bool shared, of_file;
};

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
static bool parse(const char *at, const char *end, struct line *line)
{
    at = parse_hex(at, &line->start);
    if (at >= end || *at++ != '-')
        return false;
    at = parse_hex(at, &line->end);
    if (end - at < 5 || *at != ' ')
        return false;
    line->shared = at[4] == 's';
    while (at < end && *at != '/')
        at++;
    line->of_file = at < end && !seep_map_name_is_memory(at, (size_t)(end - at), line->shared);
    return line->start < line->end;
}

static bool overlaps(const struct line *line, uintptr_t start, uintptr_t end)
{
    return line->start < end && line->end > start;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Profiles and the job's table are seep's own shared maps, and its code runs here. */
static bool is_own(const struct line *line)
{
    const uintptr_t arena = (uintptr_t)seep_arena_base, job = (uintptr_t)seep_job_map;
    return (arena && overlaps(line, arena, arena + seep_arena.reserved_bytes)) ||
           overlaps(line, job, job + sizeof(*seep_job_map)) ||
           overlaps(line, (uintptr_t)__ehdr_start, (uintptr_t)_end);
}

/* False: the map stays, as a sealed one does. */
static bool shed_map(const struct line *line)
{
    struct seep_loaded module;
    if ((!line->shared && !line->of_file) || is_own(line))
        return true;
    if (!line->shared && seep_modules_known(line->start, &module))
        return true;
    return seep_os_call3(SYS_munmap, (long)line->start, (long)(line->end - line->start), 0) == 0;
}

/* The list changes while it is read. Reading continues after the last address, so nothing is
 * missed. */
static bool shed_maps(char *text)
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
            struct line line;
            if (parse(at, stop, &line))
                all = shed_map(&line) && all;
        }
        kept = (size_t)(end - at);
        if (kept == TEXT_BYTES)
            kept = 0; /* no line is so long */
        memmove(text, at, kept);
    }
    seep_os_close(fd);
    return all && n == 0;
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
    const bool all = shed_maps(text);
    shed_command(text);
    seep_os_unmap(text, TEXT_BYTES);
    return all;
}
