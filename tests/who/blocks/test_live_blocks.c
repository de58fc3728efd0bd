/* What is live by glibc's own structures: in a child of this process, which waits. */
#include "libprof/look/taken.h"
#include "libprof/who/find/examine.h"
#include "tests/suite.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sanitizer brings a malloc of its own, and shadows that are too large to be walked. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { OTHER_MALLOC = 1 };
#else
enum { OTHER_MALLOC = 0 };
#endif

enum { SMALL = 300, LARGE = 3 << 20, MAPPED = 5 << 20, MANY = 40 };

static void *small[MANY], *freed[MANY], *large, *aligned, *mapped;
static pid_t child;
static struct seep_taken taken;
static struct seep_remote_process remote;

static void make_blocks(void)
{
    for (int i = 0; i < MANY; i++) {
        small[i] = memset(malloc(SMALL), 1, SMALL);
        freed[i] = memset(malloc(24), 1, 24);
    }
    large = memset(malloc(LARGE), 1, LARGE);
    ck_assert_int_eq(posix_memalign(&aligned, 64, LARGE), 0);
    memset(aligned, 1, LARGE);
    mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, MAPPED);
    for (int i = 0; i < MANY; i++)
        free(freed[i]); /* to the thread's cache, and to the arena's list */
}

static void free_blocks(void)
{
    for (int i = 0; i < MANY; i++)
        free(small[i]);
    free(large);
    free(aligned);
    munmap(mapped, MAPPED);
}

static void open_it(void)
{
    const struct seep_take_limits limits = {.max_bytes = UINT64_C(1) << 30};

    if (OTHER_MALLOC)
        return;
    make_blocks();
    child = fork();
    if (!child)
        for (;;)
            pause();
    ck_assert_int_eq(seep_remote_process_init(&remote, child), 0);
    ck_assert_int_eq(seep_take(&taken, &remote.remote, &remote.remote, &limits), 0);
    seep_remote_process_fini(&remote);
    ck_assert_int_eq(seep_taken_settle(&taken), 0);
}

static void close_it(void)
{
    if (OTHER_MALLOC)
        return;
    free_blocks();
    seep_taken_fini(&taken);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static const struct seep_snapshot_block *block_of(const void *address)
{
    const uint64_t at = (uint64_t)(uintptr_t)address;

    for (size_t i = 0; i < taken.blocks.n; i++)
        if (taken.blocks.list[i].start <= at &&
            at < taken.blocks.list[i].start + taken.blocks.list[i].bytes)
            return &taken.blocks.list[i];
    return NULL;
}

static void is_chunk(const void *address, size_t least)
{
    const struct seep_snapshot_block *b = block_of(address);

    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->start, (uint64_t)(uintptr_t)address);
    ck_assert_uint_eq(b->site, SEEP_BLOCK_CHUNK);
    ck_assert_uint_ge(b->bytes, least);
    ck_assert_uint_le(b->bytes, least + (size_t)getpagesize() + 64);
}

TEST(blocks_are_told_with_their_sizes)
{
    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    for (int i = 0; i < MANY; i++)
        is_chunk(small[i], SMALL);
    is_chunk(large, LARGE);
    is_chunk(aligned, LARGE);
}

TEST(the_heaps_alone_have_all_small_blocks)
{
    struct seep_block_list chunks;

    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    ck_assert_int_eq(seep_remote_process_init(&remote, child), 0);
    ck_assert_int_eq(seep_unrecorded_find(&chunks, &remote.remote), 0);
    seep_remote_process_fini(&remote);
    for (int i = 0; i < MANY; i++) {
        const size_t at = seep_block_find(chunks.list, chunks.n, (uint64_t)(uintptr_t)small[i]);
        ck_assert_uint_lt(at, chunks.n);
        ck_assert_uint_ge(chunks.list[at].bytes, SMALL);
    }
    ck_assert_uint_eq(seep_block_find(chunks.list, chunks.n, (uint64_t)(uintptr_t)small[0] + 16),
                      chunks.n);
    seep_block_list_fini(&chunks);
}

/* Between blocks that stay, and too large for the lists of small ones. */
TEST(what_lies_free_between_blocks_is_counted)
{
    enum { PIECE = 20 * 1024, STAYS = 1500, PIECES = 50 };
    void *pieces[2 * PIECES];

    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    const uint64_t before = taken.blocks.free_bytes;
    close_it();
    for (int i = 0; i < 2 * PIECES; i++)
        pieces[i] = malloc(i % 2 ? STAYS : PIECE);
    for (int i = 0; i < 2 * PIECES; i += 2)
        free(pieces[i]);
    open_it();
    ck_assert_uint_ge(taken.blocks.free_bytes, (uint64_t)PIECES * PIECE);
    ck_assert_uint_le(taken.blocks.free_bytes, before + 2 * (uint64_t)PIECES * PIECE);
    for (int i = 1; i < 2 * PIECES; i += 2)
        free(pieces[i]);
}

TEST(what_was_freed_is_not_live_though_its_chunk_says_it_is)
{
    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    for (int i = 0; i < MANY; i++)
        ck_assert_msg(!block_of(freed[i]), "%d", i);
}

TEST(a_map_of_the_programs_own_is_one_block)
{
    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    const struct seep_snapshot_block *b = block_of((char *)mapped + MAPPED / 2);

    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->site, SEEP_BLOCK_MAP);
    ck_assert_uint_ge(b->bytes, MAPPED);
}

TEST(blocks_do_not_overlap)
{
    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    for (size_t i = 1; i < taken.blocks.n; i++)
        ck_assert_uint_ge(taken.blocks.list[i].start,
                          taken.blocks.list[i - 1].start + taken.blocks.list[i - 1].bytes);
}

TEST(adjacent_blocks_of_a_kind_are_joined_up_to_a_size)
{
    static struct seep_snapshot_block list[] = {
        {.start = 1000, .bytes = 100, .site = SEEP_BLOCK_MAP},
        {.start = 1100, .bytes = 100, .site = SEEP_BLOCK_MAP},
        {.start = 1200, .bytes = 100, .site = SEEP_BLOCK_MAP},
        {.start = 1300, .bytes = 100, .site = SEEP_BLOCK_POOLS},
        {.start = 1400, .bytes = 100, .site = SEEP_BLOCK_MAP},
        {.start = 1600, .bytes = 100, .site = SEEP_BLOCK_MAP},
    };
    static const uint64_t starts[] = {1000, 1200, 1300, 1400, 1600};
    struct seep_block_list blocks = {.list = list, .n = N(list)};

    seep_blocks_join(&blocks, SEEP_BLOCK_MAP, 200);
    ck_assert_uint_eq(blocks.n, N(starts));
    for (size_t i = 0; i < blocks.n; i++) {
        ck_assert_uint_eq(blocks.list[i].start, starts[i]);
        ck_assert_uint_eq(blocks.list[i].bytes, i ? 100 : 200);
    }
}

static bool refuse(void *need, uint64_t need_bytes)
{
    *(uint64_t *)need = need_bytes;
    return false;
}

TEST(nothing_is_kept_that_does_not_fit)
{
    struct seep_taken other;
    uint64_t need = 0;
    const struct seep_take_limits limits = {
        .max_bytes = UINT64_C(1) << 30, .admits = refuse, .arg = &need};

    if (OTHER_MALLOC)
        SKIP("malloc is not glibc's");
    ck_assert_int_eq(seep_remote_process_init(&remote, child), 0);
    ck_assert_int_eq(seep_take(&other, &remote.remote, &remote.remote, &limits), -SEEP_ENOMEM);
    seep_remote_process_fini(&remote);
    ck_assert_uint_gt(need, seep_reading_need(taken.blocks.n, 0));
    ck_assert_uint_eq(other.dump.memory.n, 0);
    seep_taken_fini(&other);
}

SUITE("live blocks", .setup = open_it, .teardown = close_it);
