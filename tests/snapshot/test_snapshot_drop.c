/* A copy gives back what no reader looks at, and nothing else. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libprof/format/content_samples.h"
#include "preload/snapshot/snapshot_copy_parts.h"
#include "tests/large_pages.h"
#include "tests/suite.h"

#define PAGE   (uint64_t) seep_os_page_bytes()
#define MIB    (UINT64_C(1) << 20)
#define NUMBER UINT64_C(0x3f8000003f800000) /* two floats */

/* Pages of private memory, of shared memory, and of malloc's heap that grows by brk(). */
static uint8_t *private, *shared, *heap;
static struct seep_snapshot_block blocks[4], maps[1];
static struct seep_snapshot snapshot;

enum { PAGES = 640 };

#define LARGE (512 * PAGE) /* bytes of a block: more than SEEP_CONTENT_LARGE */

static void set_up(void)
{
    private = large_pages_map(PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    shared = large_pages_map(PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
    heap = sbrk((intptr_t)((PAGES + 1) * PAGE));
    ck_assert_ptr_ne(heap, (void *)-1);
    heap = (uint8_t *)(((uintptr_t)heap + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    for (size_t i = 0; i < PAGES * PAGE; i += 8) {
        memcpy(private + i, &(uint64_t){NUMBER}, 8);
        memcpy(shared + i, &(uint64_t){NUMBER}, 8);
        memcpy(heap + i, &(uint64_t){NUMBER}, 8);
    }
    snapshot = (struct seep_snapshot){.blocks = (uintptr_t)blocks, .maps = (uintptr_t)blocks};
}

static void tear_down(void)
{
    munmap(private, PAGES * PAGE);
    munmap(shared, PAGES * PAGE);
}

static void block(const uint8_t *start, uint64_t bytes)
{
    blocks[snapshot.n_blocks++] =
        (struct seep_snapshot_block){.start = (uintptr_t)start, .bytes = bytes, .site = 1};
}

static void put_address(uint8_t *at)
{
    memcpy(at, &(uint64_t){(uintptr_t) private + 64}, 8);
}

/* Which of `n` pages a copy has given back: a letter for each, '.' given back, 'x' kept. */
static void expect(const uint8_t *start, size_t n, const char *expected)
{
    char found[64] = "";
    int status;
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    const pid_t copy = fork();
    if (copy == 0) {
        seep_snapshot_drop(&snapshot);
        for (size_t i = 0; i < n; i++)
            found[i] = ((const uint64_t *)(start + i * PAGE))[1] ? 'x' : '.';
        _exit(write(pipes[1], found, n) != (ssize_t)n);
    }
    ck_assert_int_eq(waitpid(copy, &status, 0), copy);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(pipes[0], found, n), (ssize_t)n);
    close(pipes[0]);
    close(pipes[1]);
    ck_assert_str_eq(found, expected);
}

TEST(pages_of_numbers_are_given_back)
{
    block(private + 16, 8 * PAGE);
    expect(private, 9, "x.......x"); /* parts of pages are not the block's alone */
}

TEST(a_page_with_an_address_is_kept)
{
    block(private, 8 * PAGE);
    put_address(private + 3 * PAGE + 80);
    put_address(private + 7 * PAGE - 8);
    expect(private, 8, "x..x..x."); /* a table begins with sizes */
}

TEST(an_odd_address_is_one_too)
{
    block(private, 4 * PAGE);
    memcpy(private + PAGE, &(uint64_t){(uintptr_t) private + 65}, 8);
    expect(private, 4, "xx..");
}

TEST(small_blocks_are_kept)
{
    block(private, 4 * PAGE - 1);
    expect(private, 4, "xxxx");
}

/* Of a large one only some words are looked at, as its reader does. */
TEST(of_a_large_block_the_head_is_kept, .to = 2)
{
    const size_t head = 1 + (SEEP_CONTENT_HEAD + PAGE - 1) / PAGE; /* pages */
    block(private, LARGE);
    if (_i)
        for (size_t at = LARGE / 2; at < LARGE; at += 8) /* half of it has addresses */
            put_address(private + at);
    expect(private + (head - 1) * PAGE, 4, _i ? "xxxx" : "x...");
    expect(private + LARGE - 2 * PAGE, 4, _i ? "xxxx" : "..xx");
}

/* Each entry is a number and an address; it is filled from its start, or all over. */
TEST(a_large_table_of_pairs_is_kept, .to = 2)
{
    block(private, LARGE);
    for (size_t at = 0; at < (_i ? LARGE : 24 * PAGE); at += 16)
        put_address(private + at + 8);
    expect(private, 8, "xxxxxxxx");
}

/* A table that is nearly empty, which samples would miss. */
TEST(a_large_block_that_was_hardly_used_is_kept)
{
    uint8_t *table = large_pages_map(4 * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    block(table, 4 * LARGE);
    memcpy(table + 5 * PAGE + 8, &(uint64_t){NUMBER}, 8);
    expect(table + 5 * PAGE, 1, "x");
    munmap(table, 4 * LARGE);
}

TEST(memory_that_others_share_is_left_alone)
{
    block(shared, 8 * PAGE);
    expect(shared, 8, "xxxxxxxx");
}

/* An announced block may lie anywhere. */
TEST(memory_that_is_not_there_is_not_looked_at)
{
    block(private, 8 * PAGE);
    block(private + PAGES * PAGE - 4 * PAGE, 64 * MIB);
    block((const uint8_t *)(uintptr_t)(64 * PAGE), 8 * PAGE);
    expect(private, 8, "x.......");
}

TEST(what_malloc_has_free_is_given_back)
{
    snapshot.n_maps = 1; /* and is somebody else's, who asked for it by brk() */
    block(heap + 10 * PAGE, PAGE);
    snapshot.n_blocks = 0;
    snapshot.maps = (uintptr_t)memcpy(maps, blocks, sizeof *maps);
    block(heap + 2 * PAGE - 16, 32); /* on two pages */
    block(heap + 4 * PAGE, PAGE);
    block(heap + 6 * PAGE, 4 * PAGE);
    block(private, 128);
    put_address(heap + 8 * PAGE + 16);
    expect(heap, 12, "xxx.x.x.x.x."); /* what lies before the first may be anything */
}

/* Blocks that nobody recorded may lie anywhere in it, and be what an address in another leads to.
 */
TEST(nothing_of_the_heap_is_given_back_where_not_all_blocks_are_known)
{
    snapshot.sampled = 1;
    block(heap + 2 * PAGE, 32);
    block(heap + 6 * PAGE, 6 * PAGE);
    put_address(heap + 8 * PAGE + 16);
    expect(heap, 14, "xxxxxxx.x...xx");
}

LARGE_PAGES_SETUPS(set_up)
SUITE("what a copy gives back", .setups = large_pages_setups, .n_setups = N(large_pages_setups),
      .teardown = tear_down)
