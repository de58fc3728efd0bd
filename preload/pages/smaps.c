#include "preload/pages/smaps.h"

#include <string.h>

#include "libprof/format/map_name.h"
#include "libprof/runtime/store/os.h"

enum { BUFFER = 32 * 1024, MAX_INTERRUPTS = 64 };

static struct seep_vma vma;
static uintptr_t given; /* the end of the last map that was given to the caller */

static uint64_t take_hex(const char **at)
{
    uint64_t value = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

static const char *skip_spaces(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static const char *skip_word(const char *at)
{
    while (*at && *at != ' ')
        at++;
    return skip_spaces(at);
}

static void keep_name(const char *name)
{
    enum { HEAD = SEEP_VMA_NAME / 2, TAIL = SEEP_VMA_NAME - HEAD - 1 };
    size_t n = strlen(name);
    if (n < SEEP_VMA_NAME) {
        memcpy(vma.name, name, n + 1);
        return;
    }
    memcpy(vma.name, name, HEAD);
    memcpy(vma.name + HEAD, name + n - TAIL, TAIL + 1);
}

/* "START-END rwxp OFFSET DEVICE INODE NAME" */
static void parse_head(const char *at)
{
    vma.rss_bytes = vma.anonymous_bytes = vma.swapped_bytes = 0;
    vma.start = take_hex(&at);
    at += *at == '-';
    vma.end = take_hex(&at);
    at = skip_spaces(at);
    vma.none = strncmp(at, "---", 3) == 0;
    vma.shared = strlen(at) > 3 && at[3] == 's';
    at = skip_word(skip_word(skip_word(at)));
    const bool inode = *at != '0';
    keep_name(skip_word(at));
    vma.file = inode && !seep_map_name_is_memory(vma.name, strlen(vma.name), vma.shared);
}

static uint64_t parse_kib(const char *at)
{
    uint64_t kib = 0;
    for (at = skip_spaces(at); *at >= '0' && *at <= '9'; at++)
        kib = kib * 10 + (uint64_t)(*at - '0');
    return kib * 1024;
}

static uint64_t at_most(uint64_t bytes, uint64_t most)
{
    return bytes < most ? bytes : most;
}

/* The job maps on meanwhile, and the kernel goes on at an address: a map that has come to lie on
 * both sides of it, as malloc's arenas do when they grow, comes whole. What is new of it counts. */
static void give(void (*each)(const struct seep_vma *, void *), void *arg)
{
    if (vma.end <= given)
        return;
    if (vma.start < given) {
        vma.start = given;
        const uint64_t size = vma.end - vma.start;
        vma.rss_bytes = at_most(vma.rss_bytes, size);
        vma.anonymous_bytes = at_most(vma.anonymous_bytes, size);
        vma.swapped_bytes = at_most(vma.swapped_bytes, size);
    }
    given = vma.end;
    each(&vma, arg);
}

/* A map begins with a line of its own, and ends where the next one begins. */
static void take_line(const char *line, void (*each)(const struct seep_vma *, void *), void *arg)
{
    if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f')) {
        give(each, arg);
        parse_head(line);
    } else if (strncmp(line, "Rss:", 4) == 0) {
        vma.rss_bytes = parse_kib(line + 4);
    } else if (strncmp(line, "Anonymous:", 10) == 0) {
        vma.anonymous_bytes = parse_kib(line + 10);
    } else if (strncmp(line, "Swap:", 5) == 0) {
        vma.swapped_bytes = parse_kib(line + 5);
    }
}

/* The kernel gives as many whole lines as it has ready; a line longer than the buffer is skipped.
 * Returns how much of `text` is the beginning of a line. */
static size_t take_lines(char *text, size_t n, void (*each)(const struct seep_vma *, void *),
                         void *arg)
{
    char *line = text, *newline;
    while ((newline = memchr(line, '\n', (size_t)(text + n - line)))) {
        *newline = '\0';
        take_line(line, each, arg);
        line = newline + 1;
    }
    size_t left = (size_t)(text + n - line);
    if (left == BUFFER)
        return 0;
    memmove(text, line, left);
    return left;
}

bool seep_smaps_read(void (*each)(const struct seep_vma *vma, void *arg), void *arg)
{
    static SEEP_LARGE char text[BUFFER];
    size_t left = 0;
    int interrupts = 0;
    long n;
    int fd = seep_os_open("/proc/self/smaps", O_RDONLY, 0);
    if (fd < 0)
        return false;
    vma.start = vma.end = given = 0;
    while ((n = seep_os_read(fd, text + left, BUFFER - left)) != 0) {
        if (n == -EINTR && ++interrupts < MAX_INTERRUPTS)
            continue;
        if (n < 0)
            break;
        left = take_lines(text, left + (size_t)n, each, arg);
    }
    seep_os_close(fd);
    give(each, arg);
    return n == 0;
}
