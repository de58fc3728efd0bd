#include "preload/record/shm_segments.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "libprof/format/profile_format.h"
#include "libprof/runtime/store/placement.h"
#include "preload/record/map_resident.h"

#define FOLDER "/dev/shm/"

enum {
    MOST = 4096,    /* segments at a time; further ones count only while mapped */
    AT_A_TIME = 32, /* names looked up by one check */
};

/* A free entry has an empty path. While the segment is mapped, its piece has no site. */
struct segment {
    struct seep_range piece;
    uint64_t device, inode;
    char path[64]; /* of Python's SharedMemory and of torch: under 40 */
};

static struct seep_lock lock;
static SEEP_LARGE struct segment segments[MOST];
static uint32_t n_used; /* entries up to the last one that was ever in use */
static uint32_t next_checked;

/* ---- files ------------------------------------------------------------------------------------
 */

/* Stores the name that leads to the file in s->path. False: there is none, or it is not in the
 * folder. */
static bool read_path(struct segment *s, int fd)
{
    char link[SEEP_OS_DESCRIPTOR_PATH];
    seep_os_descriptor_path(fd, link);
    long n = seep_os_call6(SYS_readlinkat, AT_FDCWD, (long)link, (long)s->path,
                           (long)sizeof(s->path), 0, 0);
    if (n <= 0 || n >= (long)sizeof(s->path))
        return false;
    s->path[n] = '\0';
    return strncmp(s->path, FOLDER, sizeof(FOLDER) - 1) == 0;
}

static bool is_there(const struct segment *s)
{
    struct stat st;
    return seep_os_call6(SYS_newfstatat, AT_FDCWD, (long)s->path, (long)&st, AT_SYMLINK_NOFOLLOW, 0,
                         0) >= 0 &&
           st.st_dev == s->device && st.st_ino == s->inode;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static struct segment *at_address(uintptr_t start)
{
    for (uint32_t i = 0; i < n_used; i++)
        if (segments[i].path[0] && !segments[i].piece.site && segments[i].piece.start == start)
            return &segments[i];
    return NULL;
}

static struct segment *of_file(const struct stat *st)
{
    for (uint32_t i = 0; i < n_used; i++)
        if (segments[i].path[0] && segments[i].inode == st->st_ino &&
            segments[i].device == st->st_dev)
            return &segments[i];
    return NULL;
}

static struct segment *free_entry(void)
{
    for (uint32_t i = 0; i < n_used; i++)
        if (!segments[i].path[0])
            return &segments[i];
    return n_used < MOST ? &segments[n_used++] : NULL;
}

static void forget(struct segment *s)
{
    if (s->piece.site)
        seep_map_count_gone(&s->piece, s->piece.last);
    s->path[0] = '\0';
    s->piece = (struct seep_range){0};
}

/* A process that finds the file empty has created it. A segment created here and mapped again
 * counts with its new map. */
static struct segment *entry_of(int fd, const struct stat *st)
{
    struct segment *s = of_file(st);
    if (s && s->piece.site)
        seep_map_count_gone(&s->piece, s->piece.last);
    if (s || st->st_blocks || !(s = free_entry()))
        return s;
    s->device = st->st_dev;
    s->inode = st->st_ino;
    if (read_path(s, fd))
        return s;
    s->path[0] = '\0';
    return NULL;
}

static void note(uintptr_t start, int fd, const struct stat *st)
{
    struct segment *before = at_address(start), *s;
    if (before)
        forget(before);
    s = entry_of(fd, st);
    if (s)
        s->piece = (struct seep_range){.start = start};
}

void seep_segment_mapped(uintptr_t start, int fd)
{
    struct stat st;
    if (seep_os_call3(SYS_fstat, fd, (long)&st, 0) < 0 || !S_ISREG(st.st_mode) ||
        !seep_os_lock(&lock))
        return;
    note(start, fd, &st);
    seep_os_unlock(&lock);
}

bool seep_segment_stays(const struct seep_range *piece)
{
    if (piece->space != SEEP_SPACE_SHM || !__atomic_load_n(&n_used, __ATOMIC_RELAXED) ||
        !seep_os_lock(&lock))
        return false;
    struct segment *s = at_address(piece->start);
    const bool stays = s && is_there(s);
    if (stays)
        s->piece = *piece;
    else if (s)
        forget(s);
    seep_os_unlock(&lock);
    return stays;
}

void seep_segments_check(bool all)
{
    if (!__atomic_load_n(&n_used, __ATOMIC_RELAXED) || !seep_os_lock(&lock))
        return;
    for (uint32_t i = 0, n = all ? n_used : AT_A_TIME; i < n_used && n; i++) {
        struct segment *s = &segments[next_checked++ % n_used];
        if (!s->path[0] || !s->piece.site)
            continue;
        n--;
        if (!is_there(s))
            forget(s);
    }
    seep_os_unlock(&lock);
}

/* Segments made before a fork count in the parent. */
void seep_segments_after_fork(void)
{
    lock.word = 0;
    memset(segments, 0, n_used * sizeof(*segments));
    n_used = next_checked = 0;
}

struct seep_lock *seep_segments_lock(void)
{
    return &lock;
}
