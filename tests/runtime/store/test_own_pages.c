/* Which memory is seep's own, and where the live set knows blocks: what resident memory is told
 * apart by. */
#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/own_pages.h"
#include "preload/pages/smaps.h"
#include "tests/kernel_release.h"
#include "tests/large_pages.h"
#include "tests/suite.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((uint64_t)seep_os_page_bytes())

#define BASE UINT64_C(0x100000000000)

static uint64_t own_in(uintptr_t start, uintptr_t end)
{
    struct seep_own_range piece;
    uint64_t sum = 0;

    for (uint32_t at = 0; seep_own_next(&at, start, end, &piece);) {
        ck_assert_uint_ge(piece.start, start);
        ck_assert_uint_le(piece.end, end);
        sum += piece.end - piece.start;
    }
    return sum;
}

static void add(uint64_t page, uint64_t n)
{
    seep_own_add((void *)(BASE + page * PAGE), n * PAGE);
}

static void drop(uint64_t page, uint64_t n)
{
    seep_own_drop((void *)(BASE + page * PAGE), n * PAGE);
}

static uint64_t pages(uint64_t from, uint64_t to)
{
    return own_in(BASE + from * PAGE, BASE + to * PAGE) / PAGE;
}

TEST(pages_that_were_given_are_own_until_they_go_back)
{
    char *p = seep_os_pages(3 * PAGE - 100);

    ck_assert_uint_eq(own_in((uintptr_t)p, (uintptr_t)p + 8 * PAGE), 3 * PAGE);
    ck_assert_uint_eq(own_in((uintptr_t)p + PAGE, (uintptr_t)p + 2 * PAGE), PAGE);
    seep_os_unmap(p, 3 * PAGE - 100);
    ck_assert_uint_eq(own_in((uintptr_t)p, (uintptr_t)p + 8 * PAGE), 0);
}

TEST(what_is_given_back_may_be_any_part)
{
    add(10, 10);
    drop(10, 2);
    ck_assert_uint_eq(pages(0, 100), 8);
    drop(18, 2);
    ck_assert_uint_eq(pages(0, 100), 6);
    drop(14, 1);
    ck_assert_uint_eq(pages(0, 100), 5);
    ck_assert_uint_eq(pages(14, 15), 0);
    ck_assert_uint_eq(pages(15, 18), 3);
    drop(50, 1); /* nobody's */
    drop(12, 2);
    drop(15, 3);
    ck_assert_uint_eq(pages(0, 100), 0);
}

/* As the kernel gives memory: each piece below the last one. They take one entry. */
static void read_flags(uintptr_t of, char *flags, size_t room)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long start, end;
    bool here = false;

    *flags = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %*s", &start, &end) == 2)
            here = start <= of && of < end;
        if (here && strncmp(line, "VmFlags:", 8) == 0)
            snprintf(flags, room, "%s", line);
    }
    if (f)
        fclose(f);
}

/* Where the kernel gives huge pages to everybody, it joins ours with what the job has beside it,
 * and the job's part of a page has memory once we write to ours. */
TEST(they_lie_in_no_mapping_with_the_jobs_and_take_no_huge_pages)
{
    char flags[512];
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0)
        SKIP("this kernel has no huge pages");
    char *p = seep_os_pages(3 * PAGE);
    read_flags((uintptr_t)p, flags, sizeof flags);
    if (!*flags)
        SKIP("this kernel tells no flags of mappings");
    if (!strstr(flags, " nh") && !kernel_is_since(6, 7))
        SKIP("before Linux 6.7 a stack's mapping was as any other");
    ck_assert_msg(strstr(flags, " nh") != NULL, "%s", flags);
    char *job = mmap(p - 3 * PAGE, 3 * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(job, MAP_FAILED);
    read_flags((uintptr_t)job, flags, sizeof flags);
    ck_assert_msg(strstr(flags, " nh") == NULL, "%s", flags);
    munmap(job, 3 * PAGE);
    seep_os_unmap(p, 3 * PAGE);
}

TEST(neighbours_from_above_take_no_room)
{
    enum { N = 3 * SEEP_OWN_RANGES };

    for (uint64_t i = N; i > 0; i--)
        add(i, 1);
    ck_assert_uint_eq(pages(0, 2 * N), N);
    add(N + 10, 5);
    ck_assert_uint_eq(pages(0, 2 * N), N + 5);
}

TEST(what_has_no_room_is_forgotten_and_nothing_else)
{
    for (uint64_t i = 0; i < 2 * SEEP_OWN_RANGES; i++)
        add(2 * i, 1);
    ck_assert_uint_eq(pages(0, 4 * SEEP_OWN_RANGES), SEEP_OWN_RANGES);
    for (uint64_t i = 0; i < 2 * SEEP_OWN_RANGES; i++)
        drop(2 * i, 1);
    ck_assert_uint_eq(pages(0, 4 * SEEP_OWN_RANGES), 0);
}

static void *add_and_drop(void *arg)
{
    uint64_t first = (uint64_t)(uintptr_t)arg * 1000;

    for (int round = 0; round < 2000; round++) {
        for (uint64_t i = 20; i-- > 0;)
            add(first + i, 1);
        for (uint64_t i = 0; i < 20; i++)
            drop(first + i, 1);
    }
    add(first, 7);
    return NULL;
}

TEST(threads_do_not_disturb_each_other)
{
    enum { N = 4 };
    pthread_t ids[N];

    for (uintptr_t i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&ids[i], NULL, add_and_drop, (void *)(i + 1)), 0);
    for (int i = 0; i < N; i++)
        pthread_join(ids[i], NULL);
    ck_assert_uint_eq(pages(0, 100000), 7 * N);
}

TEST(a_forked_child_knows_what_its_parent_had)
{
    add(0, 4);
    pid_t pid = fork();
    if (pid == 0) {
        drop(0, 1);
        _exit(pages(0, 10) == 3 ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(pages(0, 10), 4);
}

/* ---- the live set -------------------------------------------------------------------------- */

TEST(pages_that_have_had_blocks_are_known)
{
    struct seep_block block = {.site = 5000, .birth = 1, .bytes = 100};
    uintptr_t at = 0x4300000000 + 5 * PAGE + 64;

    ck_assert(!seep_live_any(0, UINTPTR_MAX));
    ck_assert(seep_live_put(at, &block));
    ck_assert(seep_live_any(0, UINTPTR_MAX));
    ck_assert(seep_live_any(at, at + 1));
    ck_assert(!seep_live_any(at - 2 * PAGE, at & ~(uintptr_t)(PAGE - 1)));
    ck_assert(!seep_live_any((at | (PAGE - 1)) + 1, UINTPTR_MAX));
    ck_assert(seep_live_take(at, &block));
    ck_assert(seep_live_any(at, at + 1));
}

/* ---- the kernel's lines -------------------------------------------------------------------- */

struct found {
    uintptr_t wanted, last;
    unsigned n;
    struct seep_vma vma;
};

static void find(const struct seep_vma *vma, void *arg)
{
    struct found *found = arg;

    ck_assert_uint_lt(vma->start, vma->end);
    ck_assert_uint_ge(vma->start, found->last);
    found->last = vma->end;
    found->n++;
    if (vma->start <= found->wanted && found->wanted < vma->end)
        found->vma = *vma;
}

static struct seep_vma vma_of(const void *address)
{
    struct found found = {.wanted = (uintptr_t)address};

    ck_assert(seep_smaps_read(find, &found));
    ck_assert_uint_gt(found.n, 10);
    ck_assert_uint_ne(found.vma.end, 0);
    return found.vma;
}

TEST(maps_are_as_they_were_made)
{
    enum { N = 2000 };
    char *none = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shared = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    memset(shared, 1, 5 * PAGE);
    for (int i = 0; i < N; i++) /* more text than one buffer holds */
        ck_assert(mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0) != MAP_FAILED);
    struct seep_vma vma = vma_of(none);
    ck_assert(vma.none && !vma.shared && !vma.file);
    vma = vma_of(shared);
    ck_assert(!vma.none && vma.shared);
    ck_assert_uint_eq(vma.rss_bytes, 5 * PAGE);
    vma = vma_of((const void *)(uintptr_t)own_in);
    ck_assert(vma.file && !vma.shared);
    ck_assert_ptr_nonnull(strstr(vma.name, "/test_own_pages"));
    int local = 0;
    ck_assert_str_eq(vma_of(&local).name, "[stack]");
}

struct joined {
    char *pages;
    size_t bytes, seen_bytes, rss_bytes;
    uintptr_t last;
    unsigned n;
};

static void join(const struct seep_vma *vma, void *arg)
{
    struct joined *joined = arg;
    const uintptr_t start = (uintptr_t)joined->pages, end = start + joined->bytes;

    ck_assert_uint_ge(vma->start, joined->last);
    joined->last = vma->end;
    if (vma->start < start || vma->end > end)
        return;
    if (joined->n++ == 0)
        ck_assert_int_eq(mprotect(joined->pages, joined->bytes, PROT_READ), 0);
    joined->seen_bytes += vma->end - vma->start;
    joined->rss_bytes += vma->rss_bytes;
}

TEST(maps_that_become_one_while_they_are_read_count_once)
{
    enum { N = 2000 };
    const size_t around = 2 * PAGE; /* nothing else becomes one with them */
    struct joined joined = {.bytes = N * PAGE};
    char *all =
        mmap(NULL, joined.bytes + 2 * around, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    joined.pages = all + around;
    ck_assert_int_eq(mprotect(joined.pages, joined.bytes, PROT_READ | PROT_WRITE), 0);
    memset(joined.pages, 1, joined.bytes);
    for (size_t i = 0; i < N; i += 2)
        ck_assert_int_eq(mprotect(joined.pages + i * PAGE, PAGE, PROT_READ), 0);
    ck_assert(seep_smaps_read(join, &joined));
    ck_assert_uint_gt(joined.n, 2);
    ck_assert_uint_lt(joined.n, N / 2);
    ck_assert_uint_eq(joined.seen_bytes, joined.bytes);
    ck_assert_uint_eq(joined.rss_bytes, joined.bytes);
    munmap(all, joined.bytes + 2 * around);
}

TEST(a_long_path_keeps_its_beginning_and_its_end)
{
    char path[600] = "/tmp/seep-own-pages-XXXXXX", name[400];
    char *dir = mkdtemp(path);

    ck_assert_ptr_nonnull(dir);
    memset(name, 'n', 200);
    strcpy(name + 200, ".seep");
    strcat(strcat(path, "/"), name);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(ftruncate(fd, (off_t)PAGE), 0);
    void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    struct seep_vma vma = vma_of(p);
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    ck_assert_int_eq(strncmp(vma.name, "/tmp/seep-own-pages-", 20), 0);
    ck_assert_str_eq(vma.name + strlen(vma.name) - 5, ".seep");
    ck_assert_uint_eq(strlen(vma.name), SEEP_VMA_NAME - 1);
    close(fd);
}

static void nothing(void)
{
}

LARGE_PAGES_SETUPS(nothing)
SUITE("own pages", .setups = large_pages_setups, .n_setups = N(large_pages_setups))
