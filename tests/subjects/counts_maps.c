/* Maps that the program asks for, private and shared, one section per run; prints what it did
 * (tally.h). Allocations are calls that made a range, frees are ranges that vanished entirely. Live
 * bytes are those still mapped or, in shared memory, still under a name, in whole pages.
 *   usage: counts_maps SECTION [NAME] */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

enum { RW = PROT_READ | PROT_WRITE };

static size_t pages(size_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

TALLY(subject_map, "mmap");
static NOIPA char *subject_map(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map, pages(n), line);
    return p;
}

TALLY(subject_map64, "mmap");
static NOIPA char *subject_map64(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap64(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map64, pages(n), line);
    return p;
}

TALLY(subject_map_over, "mmap");
static NOIPA char *subject_map_over(char *at, size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(at, n, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    MUST(p == at);
    tally_made(&tally_subject_map_over, pages(n), line);
    return p;
}

TALLY(subject_map_private_file, "mmap");
static NOIPA char *subject_map_private_file(int fd, size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, MAP_PRIVATE, fd, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map_private_file, 0, line);
    return p;
}

TALLY(subject_map_shared, "shm");
static NOIPA char *subject_map_shared(int fd, size_t n)
{
    const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, flags, fd, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map_shared, pages(n), line);
    return p;
}

TALLY(subject_remap, "mmap");
static NOIPA char *subject_remap(char *old, size_t old_n, size_t n, struct tally *from)
{
    const int line = __LINE__ + 1;
    char *p = mremap(old, old_n, n, MREMAP_MAYMOVE);
    MUST(p != MAP_FAILED);
    tally_gone(from, pages(old_n));
    tally_made(&tally_subject_remap, pages(n), line);
    return p;
}

TALLY(subject_remap_to, "mmap");
static NOIPA char *subject_remap_to(char *old, size_t old_n, size_t n, char *to, struct tally *from)
{
    const int line = __LINE__ + 1;
    char *p = mremap(old, old_n, n, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    MUST(p == to);
    tally_gone(from, pages(old_n));
    tally_made(&tally_subject_remap_to, pages(n), line);
    return p;
}

/* Without an old size: the same shared pages once more, elsewhere. */
TALLY(subject_map_again, "shm");
static NOIPA char *subject_map_again(char *old, size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mremap(old, 0, n, MREMAP_MAYMOVE);
    MUST(p != MAP_FAILED && p != old);
    tally_made(&tally_subject_map_again, pages(n), line);
    return p;
}

static NOIPA void unmap(char *p, size_t n, struct tally *t)
{
    tally_gone(t, pages(n));
    MUST(munmap(p, n) == 0);
}

static NOIPA void unmap_part(char *p, size_t n, struct tally *t)
{
    tally_shrunk(t, pages(n));
    MUST(munmap(p, n) == 0);
}

static int file_in(const char *folder, size_t n)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/seep-subject-XXXXXX", folder);
    int fd = mkstemp(name);
    MUST(fd >= 0 && unlink(name) == 0 && ftruncate(fd, (off_t)n) == 0);
    return fd;
}

static void section_anonymous(void)
{
    char *p[100];
    for (int i = 0; i < 100; i++)
        p[i] = subject_map((size_t)(1 + i * 1500));
    for (int i = 0; i < 50; i++)
        subject_map64((size_t)(1 + i) << 20);
    for (int i = 0; i < 100; i += 3)
        unmap(p[i], (size_t)(1 + i * 1500), &tally_subject_map);
    errno = 0;
    volatile size_t huge = (size_t)1 << 60;
    MUST(mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
         errno == ENOMEM);
    errno = 0;
    MUST(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
         errno == EINVAL);
    errno = 0;
    MUST(munmap(p[1] + 1, PAGE) == -1 && errno == EINVAL);
}

/* A file's page becomes the process's as it is written to. */
static void section_file(void)
{
    int fd = file_in("/tmp", 100 * PAGE);
    char *a = subject_map_private_file(fd, 100 * PAGE);
    char *small = subject_map_private_file(fd, 33);
    char *b = subject_map_private_file(fd, 7 * PAGE);
    MUST(a[50 * PAGE] == 0 && b[0] == 0);
    memset(a + 20 * PAGE, 1, 30 * PAGE);
    small[0] = 1;
    tally_subject_map_private_file.live_bytes += 31 * PAGE;
    tally_subject_map_private_file.allocated_bytes += 31 * PAGE;
    tally_gone(&tally_subject_map_private_file, 0);
    MUST(munmap(b, 7 * PAGE) == 0 && munmap(a, 10 * PAGE) == 0);
    close(fd);
}

static void section_partial(void)
{
    char *head = subject_map(10 * PAGE), *tail = subject_map(10 * PAGE),
         *middle = subject_map(10 * PAGE);
    unmap_part(head, 3 * PAGE, &tally_subject_map);
    unmap_part(tail + 6 * PAGE, 4 * PAGE, &tally_subject_map);
    unmap_part(middle + 4 * PAGE, 2 * PAGE, &tally_subject_map);
    unmap_part(middle + PAGE, PAGE, &tally_subject_map);
    unmap(head + 3 * PAGE, 7 * PAGE, &tally_subject_map); /* what is left of it */
    MUST(munmap(head, 3 * PAGE) == 0);                    /* nothing there any more */
}

/* One munmap over three neighbours, the outer ones in part. */
static void section_across(void)
{
    char *base = subject_map64(64 * PAGE);
    unmap(base, 64 * PAGE, &tally_subject_map64);
    char *a = subject_map_over(base, 8 * PAGE);
    char *b = subject_map_over(base + 8 * PAGE, 8 * PAGE);
    char *c = subject_map_over(base + 16 * PAGE, 8 * PAGE);
    MUST(a && b && c);
    MUST(munmap(base + 4 * PAGE, 16 * PAGE) == 0);
    tally_shrunk(&tally_subject_map_over, 8 * PAGE);
    tally_gone(&tally_subject_map_over, 8 * PAGE);
}

/* MAP_FIXED takes the place of what was there. */
static void section_fixed(void)
{
    char *a = subject_map(16 * PAGE), *b = subject_map(16 * PAGE);
    tally_gone(&tally_subject_map, 16 * PAGE);
    subject_map_over(a, 16 * PAGE); /* all of a */
    tally_shrunk(&tally_subject_map, 4 * PAGE);
    subject_map_over(b + 2 * PAGE, 4 * PAGE); /* the middle of b */
}

static void section_mremap(void)
{
    char *a = subject_map(4 * PAGE), *b = subject_map(4 * PAGE), *room = subject_map64(64 * PAGE);
    a = subject_remap(a, 4 * PAGE, 400 * PAGE, &tally_subject_map);
    a = subject_remap(a, 400 * PAGE, 800 * PAGE, &tally_subject_remap);
    tally_shrunk(&tally_subject_map64, 8 * PAGE);
    subject_remap_to(b, 4 * PAGE, 8 * PAGE, room + 4 * PAGE, &tally_subject_map);
    errno = 0;
    MUST(mremap(a, 800 * PAGE, (size_t)1 << 60, MREMAP_MAYMOVE) == MAP_FAILED);
    unmap(a, 800 * PAGE, &tally_subject_remap);
}

static void section_shrink(void)
{
    char *a = subject_map(100 * PAGE);
    MUST(mremap(a, 100 * PAGE, 30 * PAGE, 0) == a);
    tally_shrunk(&tally_subject_map, 70 * PAGE);
}

/* Address space only: not counted. */
static char *reserve(size_t n)
{
    char *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}

static void section_pieces(void)
{
    char *a = subject_map_shared(-1, 30 * PAGE), *b = reserve(10 * PAGE), *c = reserve(600 * PAGE);
    unmap(subject_map_again(a, 20 * PAGE), 20 * PAGE, &tally_subject_map_again);
    subject_map_again(a, 30 * PAGE);
    subject_map_over(b, PAGE); /* the page is not more than that when what is around it shrinks */
    MUST(mremap(b, 10 * PAGE, 5 * PAGE, 0) == b);
    for (int i = 0; i < 600; i += 2)
        subject_map_over(c + i * PAGE, PAGE);
    for (int i = 0; i < 600; i += 2)
        tally_gone(&tally_subject_map_over, PAGE);
    MUST(munmap(c, 600 * PAGE) == 0);
}

static void section_shared(void)
{
    int posix = shm_open("/seep-subject", O_RDWR | O_CREAT | O_EXCL, 0600);
    if (posix < 0) {
        shm_unlink("/seep-subject");
        posix = shm_open("/seep-subject", O_RDWR | O_CREAT | O_EXCL, 0600);
    }
    MUST(posix >= 0 && shm_unlink("/seep-subject") == 0 && ftruncate(posix, 50 * PAGE) == 0);
    int memory = memfd_create("seep-subject", 0), in_shm = file_in("/dev/shm", 20 * PAGE);
    MUST(memory >= 0 && ftruncate(memory, 60 * PAGE) == 0);
    char *a = subject_map_shared(posix, 50 * PAGE - 5), *b = subject_map_shared(memory, 60 * PAGE);
    char *c = subject_map_shared(in_shm, 20 * PAGE), *d = subject_map_shared(-1, 70 * PAGE);
    subject_map_shared(memory, 10 * PAGE); /* a second map of the same file */
    unmap(a, 50 * PAGE - 5, &tally_subject_map_shared);
    unmap_part(b, 20 * PAGE, &tally_subject_map_shared);
    unmap(c, 20 * PAGE, &tally_subject_map_shared);
    unmap_part(d + 35 * PAGE, 35 * PAGE, &tally_subject_map_shared);
    close(posix);
    close(memory);
    close(in_shm);
}

static const char *argument = "seep-subject"; /* a segment's name, or a folder on a disk */

/* The kernel's cache of the file, however much room it has: only a page beside it is memory. */
static void section_disk(void)
{
    const size_t room = (size_t)1 << 36;
    int fd = file_in(argument, room);
    char *p = mmap(NULL, room, RW, MAP_SHARED, fd, 0);
    MUST(p != MAP_FAILED);
    memset(p, 1, 20 * PAGE);
    char *again = mremap(p, 0, 20 * PAGE, MREMAP_MAYMOVE);
    MUST(again != MAP_FAILED && munmap(p, 10 * PAGE) == 0);
    p = mmap(subject_map_shared(-1, 8 * PAGE), 7 * PAGE, RW, MAP_SHARED | MAP_FIXED, fd, 0);
    MUST(p != MAP_FAILED);
    tally_shrunk(&tally_subject_map_shared, 7 * PAGE);
    close(fd);
}

/* A segment of eight pages under a name, with `written` bytes in it before it is mapped. */
static int segment(int i, size_t written)
{
    char name[64];
    snprintf(name, sizeof name, "/%s-%d", argument, i);
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && ftruncate(fd, 8 * PAGE) == 0);
    MUST(pwrite(fd, argument, written, 0) == (ssize_t)written);
    return fd;
}

static void forget_segment(int i)
{
    char name[64];
    snprintf(name, sizeof name, "/%s-%d", argument, i);
    MUST(shm_unlink(name) == 0);
}

/* Of what stays under its name: nothing else ends it. */
static void unmap_only(char *p)
{
    MUST(munmap(p, 8 * PAGE) == 0);
}

static void section_named(void)
{
    int fd[6];
    char *p[6];
    for (int i = 0; i < 6; i++) {
        fd[i] = segment(i, i == 5); /* the last one is another's: there is something in it */
        p[i] = subject_map_shared(fd[i], 8 * PAGE);
    }
    forget_segment(0);
    unmap(p[0], 8 * PAGE, &tally_subject_map_shared);
    for (int i = 1; i < 5; i++)
        unmap_only(p[i]);
    forget_segment(1);
    tally_gone(&tally_subject_map_shared, 8 * PAGE);
    tally_gone(&tally_subject_map_shared, 8 * PAGE); /* counted with the new map from now on */
    unmap_only(subject_map_shared(fd[2], 8 * PAGE));
    unmap(p[5], 8 * PAGE, &tally_subject_map_shared);
}

static void section_many(void)
{
    static char *p[5000];
    uint64_t state = 99;
    for (int i = 0; i < 60000; i++) {
        uint64_t r = tally_random(&state);
        unsigned k = (unsigned)(r % 5000);
        if (p[k])
            unmap(p[k], (1 + k % 9) * PAGE, &tally_subject_map);
        p[k] = subject_map((1 + k % 9) * PAGE);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {
        {"anonymous", section_anonymous}, {"file", section_file},     {"partial", section_partial},
        {"across", section_across},       {"fixed", section_fixed},   {"mremap", section_mremap},
        {"shrink", section_shrink},       {"shared", section_shared}, {"many", section_many},
        {"pieces", section_pieces},       {"named", section_named},   {"disk", section_disk}};
    if (argc > 2)
        argument = argv[2];
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (argc > 1 && strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    tally_print();
    return 0;
}
