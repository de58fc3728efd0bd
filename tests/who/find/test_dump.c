/* What is read of a process at one moment. The process is this one. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libprof/who/find/dump.h"
#include "tests/suite.h"

#define MIB  (UINT64_C(1) << 20)
#define MOST (64 * MIB)

/* A sanitizer's shadow is terabytes of readable memory, which use up what is looked at of a
 * process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SHADOWED = 1 };
#else
enum { SHADOWED = 0 };
#endif

enum { RAW, TABLE, UNTOUCHED, SMALL, MIXED, N_BLOCKS };

static const char constant[] = "a constant of this program";
static char changed[] = "data before the program ran";
static uint8_t *memory[N_BLOCKS];
static const uint64_t sizes[N_BLOCKS] = {16 * MIB, 4 * MIB, 16 * MIB, 64 << 10, 256 << 10};
static struct seep_snapshot_block blocks[N_BLOCKS + 1];
static struct seep_dump_request request;
static struct seep_remote_process from;
static struct seep_dump dump;

static void set_up(void)
{
    for (int i = 0; i < N_BLOCKS; i++) {
        void *at = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(at, MAP_FAILED);
        madvise(at, sizes[i], MADV_NOHUGEPAGE);
        memory[i] = at;
        blocks[i] = (struct seep_snapshot_block){.start = (uintptr_t)at, .bytes = sizes[i]};
    }
    memset(memory[RAW], 0x5a, sizes[RAW]); /* the odd words of a picture */
    for (uint64_t *at = (uint64_t *)memory[TABLE], *end = at + sizes[TABLE] / 8; at < end; at++)
        *at = (uintptr_t)memory[SMALL];
    memory[UNTOUCHED][0] = 1;
    memset(memory[SMALL], 0x33, sizes[SMALL]);
    memset(memory[MIXED], 0x33, sizes[MIXED]);
    memcpy(changed, "DATA", 4);
    request = (struct seep_dump_request){
        .blocks = blocks, .n_blocks = N_BLOCKS, .n_all = N_BLOCKS, .recorded = true};
    ck_assert_int_eq(seep_remote_process_init(&from, getpid()), 0);
}

static void tear_down(void)
{
    seep_dump_fini(&dump);
    seep_remote_process_fini(&from);
}

static int take(uint64_t most)
{
    request.max_bytes = most;
    return seep_dump_take(&dump, &from.remote, &request);
}

static bool has(const void *at)
{
    return seep_memory_has(&dump.memory, (uintptr_t)at, 8);
}

TEST(of_a_large_raw_block_only_its_beginning_is_taken, .left_out = SHADOWED)
{
    ck_assert_int_eq(take(MOST), 0);
    ck_assert(has(memory[RAW]));
    ck_assert(!has(memory[RAW] + sizes[RAW] / 2));
}

/* A kernel with large pages is asked for those: of part of one it would tell nothing. */
static int (*real_own_pages)(struct seep_remote *remote, uint64_t start, uint64_t end,
                             bool files_too, seep_page_run_taker *take, void *arg);
static int n_in_raw;

static int own_large_pages(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                           seep_page_run_taker *taker, void *arg)
{
    const uint64_t raw = (uintptr_t)memory[RAW], asked[] = {start, end};

    for (int i = 0; i < 2; i++) {
        if (asked[i] <= raw || asked[i] >= raw + sizes[RAW])
            continue;
        ck_assert_uint_eq(asked[i] % remote->page_bytes, 0);
        n_in_raw++;
    }
    return real_own_pages(remote, start, end, files_too, taker, arg);
}

TEST(only_whole_pages_of_the_machine_are_left_out, .left_out = SHADOWED)
{
    real_own_pages = from.remote.own_pages;
    from.remote.own_pages = own_large_pages;
    from.remote.page_bytes = 64 << 10;
    ck_assert_int_eq(take(MOST), 0);
    ck_assert(has(memory[RAW]));
    ck_assert(!has(memory[RAW] + sizes[RAW] / 2));
    ck_assert_int_ge(n_in_raw, 1);
}

TEST(tables_of_addresses_are_taken_whole_and_as_they_were, .left_out = SHADOWED)
{
    uint64_t word = 0;

    ck_assert_int_eq(take(MOST), 0);
    memset(memory[TABLE], 0, sizes[TABLE]);
    for (uint64_t at = 0; at < sizes[TABLE]; at += 4096) {
        ck_assert(seep_memory_read(&dump.memory, (uintptr_t)memory[TABLE] + at, &word, 8));
        ck_assert_uint_eq(word, (uintptr_t)memory[SMALL]);
    }
    ck_assert(has(memory[SMALL] + sizes[SMALL] - 8));
}

/* As databases keep their changed pages: filled from the start, a number and an address each. */
TEST(a_table_of_pairs_is_taken_though_most_of_it_is_not_filled, .left_out = SHADOWED)
{
    enum { FILLED = 96 << 10 };

    memset(memory[TABLE], 0x5a, sizes[TABLE]);
    for (uint64_t at = 0; at < FILLED; at += 16) {
        memcpy(memory[TABLE] + at, &(uint64_t){at}, 8);
        memcpy(memory[TABLE] + at + 8, &(uintptr_t){(uintptr_t)memory[SMALL]}, 8);
    }
    ck_assert_int_eq(take(MOST), 0);
    ck_assert(has(memory[TABLE] + FILLED - 8));
}

/* Where a copy would be too large, pages are read when somebody asks, and only while it is allowed.
 */
TEST(what_passes_by_is_the_same_until_it_is_let_go, .left_out = SHADOWED)
{
    char text[sizeof changed];

    request.passes_by = true;
    ck_assert_int_eq(take(MOST), 0);
    ck_assert_ptr_nonnull(dump.ranges);
    ck_assert_uint_eq(dump.memory.bytes, 0);
    for (uint64_t at = 0; at < sizes[TABLE]; at += 8)
        ck_assert_uint_eq(seep_memory_word(&dump.memory, (uintptr_t)memory[TABLE] + at),
                          (uintptr_t)memory[SMALL]);
    ck_assert(has(memory[RAW]) && !has(memory[RAW] + sizes[RAW] / 2));
    ck_assert(has(memory[SMALL] + sizes[SMALL] - 8));
    ck_assert(seep_memory_read(&dump.memory, (uintptr_t)changed, text, sizeof text));
    ck_assert_str_eq(text, changed);
    seep_dump_let_go(&dump);
    ck_assert(!has(memory[TABLE]));
    ck_assert(has(constant)); /* as its file has it */
}

/* A picture with a table behind it; a program's data is an address as well, a number between all
 * that is mapped is none. */
TEST(of_a_block_that_is_not_small_pages_without_addresses_are_zeros, .left_out = SHADOWED)
{
    enum { PAGE = 4096, AT = 40 };
    const uintptr_t data = (uintptr_t)changed, number = data + (UINT64_C(1) << 40);

    for (uint64_t at = 0; at < sizes[MIXED]; at += PAGE)
        memcpy(memory[MIXED] + at + 16, &number, sizeof number);
    memcpy(memory[MIXED] + AT * PAGE + 8, &data, sizeof data);
    ck_assert_int_eq(take(MOST), 0);
    for (uint64_t at = 0; at < sizes[MIXED]; at += PAGE) {
        const bool kept = at < PAGE || at == AT * PAGE;
        ck_assert(has(memory[MIXED] + at));
        ck_assert_uint_eq(seep_memory_word(&dump.memory, (uintptr_t)memory[MIXED] + at),
                          kept ? UINT64_C(0x3333333333333333) : 0);
    }
}

/* Shared memory is not mapped in a copy, but who refers to it holds it. */
TEST(addresses_of_blocks_that_are_not_mapped_are_kept, .left_out = SHADOWED)
{
    enum { PAGE = 4096, AT = 40 };
    const uint64_t shared = (uintptr_t)changed + (UINT64_C(1) << 40), address = shared + 4096;

    blocks[N_BLOCKS] = (struct seep_snapshot_block){.start = shared, .bytes = 8192};
    request.n_all = N_BLOCKS + 1;
    memcpy(memory[MIXED] + AT * PAGE, &address, sizeof address);
    ck_assert_int_eq(take(MOST), 0);
    ck_assert_uint_eq(seep_memory_word(&dump.memory, (uintptr_t)memory[MIXED] + AT * PAGE),
                      address);
    ck_assert_uint_eq(seep_memory_word(&dump.memory, (uintptr_t)memory[MIXED] + (AT + 1) * PAGE),
                      0);
}

/* An allocator's sizes lie between the blocks that it places there. */
TEST(what_is_no_block_of_the_job_is_kept_whole, .left_out = SHADOWED)
{
    request.recorded = false;
    ck_assert_int_eq(take(MOST), 0);
    for (uint64_t at = 0; at < sizes[MIXED]; at += 4096)
        ck_assert_uint_eq(seep_memory_word(&dump.memory, (uintptr_t)memory[MIXED] + at),
                          UINT64_C(0x3333333333333333));
}

TEST(pages_that_were_never_touched_take_no_room, .left_out = SHADOWED)
{
    blocks[UNTOUCHED].bytes = 0; /* it is no block that is looked at */
    ck_assert_int_eq(take(MOST), 0);
    ck_assert(has(memory[UNTOUCHED]));
    ck_assert(!has(memory[UNTOUCHED] + sizes[UNTOUCHED] / 2));
    ck_assert_uint_lt(dump.memory.bytes, sizes[UNTOUCHED]);
}

/* As a database maps its file, with room for all that it may ever hold: more than is looked at of a
 * process. */
TEST(a_huge_shared_map_leaves_the_rest_as_it_is, .left_out = SHADOWED)
{
    const uint64_t huge = UINT64_C(1) << 37;
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    void *at = mmap(NULL, huge, PROT_READ, MAP_SHARED, fileno(file), 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    blocks[N_BLOCKS] = (struct seep_snapshot_block){.start = (uintptr_t)at, .bytes = huge};
    request.n_all = N_BLOCKS + 1;
    ck_assert_int_eq(take(MOST), 0);
    ck_assert(has(memory[SMALL]));
    ck_assert(has(memory[TABLE] + sizes[TABLE] - 8));
    ck_assert(!has(memory[RAW] + sizes[RAW] / 2));
    munmap(at, huge);
    fclose(file);
}

TEST(what_a_program_has_changed_is_taken_and_constants_come_from_its_file, .left_out = SHADOWED)
{
    char text[64];

    ck_assert_int_eq(take(MOST), 0);
    ck_assert_uint_gt(seep_memory_text(&dump.memory, (uintptr_t)changed, text, sizeof text), 0);
    ck_assert_str_eq(text, "DATA before the program ran");
    seep_memory_text(&dump.memory, (uintptr_t)constant, text, sizeof text);
    ck_assert_str_eq(text, constant);
}

/* Else a file would tell what it was before it was changed. */
TEST(no_more_than_allowed_is_kept_and_then_files_are_not_asked)
{
    ck_assert_int_eq(take(128 << 10), 0);
    ck_assert(dump.memory.full);
    ck_assert_uint_le(dump.memory.bytes, 128 << 10);
    ck_assert_ptr_null(dump.memory.source);
}

TEST(memory_of_seeps_own_is_left_out, .left_out = SHADOWED)
{
    const struct seep_snapshot_range own = {(uintptr_t)memory[SMALL],
                                            (uintptr_t)memory[SMALL] + sizes[SMALL]};

    request.own = &own;
    request.n_own = 1;
    ck_assert_int_eq(take(MOST), 0);
    ck_assert_uint_eq(dump.n_own, 1);
    ck_assert(!has(memory[SMALL] + 4096));
    ck_assert(has(memory[TABLE]));
}

static const struct {
    uint64_t start, bytes;
} hostile[] = {
    {UINT64_MAX, UINT64_MAX},
    {0, UINT64_MAX},
    {1, (UINT64_C(1) << 46) - 1},
    {UINT64_C(1) << 46, UINT64_C(1) << 45},
};

TEST(hostile_blocks_are_survived, .to = N(hostile))
{
    blocks[SMALL].start = hostile[_i].start;
    blocks[SMALL].bytes = hostile[_i].bytes;
    ck_assert_int_eq(take(MOST), 0);
    ck_assert_uint_le(dump.memory.bytes, MOST);
}

TEST(own_ranges_that_overlap_or_are_upside_down_are_survived)
{
    const struct seep_snapshot_range own[] = {
        {UINT64_MAX, 0},
        {(uintptr_t)memory[SMALL] + 100, (uintptr_t)memory[SMALL] + 9000},
        {0, UINT64_MAX},
        {(uintptr_t)memory[SMALL], (uintptr_t)memory[SMALL] + 5000},
    };

    request.own = own;
    request.n_own = N(own);
    ck_assert_int_eq(take(MOST), 0);
    ck_assert_uint_eq(dump.n_own, N(own));
}

TEST(a_process_that_has_ended_is_an_error)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    seep_remote_process_fini(&from);
    ck_assert_int_eq(seep_remote_process_init(&from, pid), 0);
    ck_assert_int_eq(take(MOST), -SEEP_EIO);
}

SUITE("dump", .setup = set_up, .teardown = tear_down)
