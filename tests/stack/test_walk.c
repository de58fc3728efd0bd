/* The shim's own stack walk against libunwind's, frame by frame; against GCC's where return
 * addresses are signed, which libunwind 1.6 cannot read. */
#define UNW_LOCAL_ONLY
#include <alloca.h>
#include <check.h>
#ifdef __ARM_FEATURE_PAC_DEFAULT
#include <unwind.h>
#else
#include <libunwind.h>
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libprof/runtime/store/os.h"
#include "preload/objects/modules.h"
#include "preload/stack/walk.h"
#include "tests/stack/on_thread.h"
#include "tests/suite.h"

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

enum { CAPACITY = 1024, LONG = 300 };

static struct seep_walk walk;
static unsigned n_ours, n_theirs;
static uintptr_t ours[CAPACITY], theirs[CAPACITY];
static uint64_t hash, guesses[SEEP_WALK_GUESSES];
static unsigned n_guesses;
static bool in_signal; /* one frame is not at a call: its address is one more than theirs */

#ifdef __ARM_FEATURE_PAC_DEFAULT
static _Unwind_Reason_Code take_theirs(struct _Unwind_Context *context, void *unused)
{
    const uintptr_t ip = _Unwind_GetIP(context);
    (void)unused;
    if (ip && n_theirs < CAPACITY)
        theirs[n_theirs++] = ip;
    return _URC_NO_REASON;
}

/* Its first frame is the caller's own. */
static inline __attribute__((always_inline)) void walk_theirs(void)
{
    n_theirs = 0;
    _Unwind_Backtrace(take_theirs, NULL);
    memmove(theirs, theirs + 1, --n_theirs * sizeof(theirs[0]));
}
#else
static inline __attribute__((always_inline)) void walk_theirs(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    for (n_theirs = 0; n_theirs < CAPACITY && unw_step(&cursor) > 0;) {
        unw_word_t ip;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip)
            theirs[n_theirs++] = (uintptr_t)ip;
    }
}
#endif

/* Stands where a hook stands. */
static NOIPA void probe(void)
{
    struct seep_regs regs = SEEP_REGS();
    n_guesses = 0;
    for (unsigned i = 0; i < SEEP_WALK_GUESSES; i++)
        n_guesses += seep_walk_guess(&walk, &regs, false, i, &guesses[n_guesses]);
    n_ours = seep_walk_native(&walk, &regs, false, ours, CAPACITY, &hash);
    walk_theirs();
}

static void expect_equal(void)
{
    unsigned n_interrupted = 0;
    ck_assert_uint_gt(n_ours, 2);
    ck_assert_uint_eq(n_ours, n_theirs);
    for (unsigned i = 0; i < n_ours; i++) {
        n_interrupted += ours[i] == theirs[i] + 1;
        ck_assert_msg(ours[i] == theirs[i] || ours[i] == theirs[i] + 1, "frame %u: %lx, not %lx", i,
                      ours[i], theirs[i]);
    }
    ck_assert_uint_eq(n_interrupted, in_signal);
}

static bool guessed(void)
{
    for (unsigned i = 0; i < n_guesses; i++)
        if (guesses[i] == hash)
            return true;
    return false;
}

static NOIPA unsigned descend(int depth)
{
    unsigned result = 0;
    if (depth == 0)
        probe();
    else if (depth & 1)
        result = descend(depth - 1) + 1;
    else
        result = descend(depth - 1) * 2;
    __asm__ volatile("" : "+r"(result)); /* or the recursion becomes a loop */
    return result;
}

static NOIPA int with_alloca(int n, int depth)
{
    volatile char *room = alloca((size_t)n);
    room[0] = 1;
    descend(depth);
    return room[0];
}

static NOIPA int realigned(int depth)
{
    _Alignas(64) volatile char block[192];
    block[0] = 1;
    with_alloca(100 + depth, depth);
    return block[0];
}

static NOIPA int with_variable_array(int n)
{
    _Alignas(64) volatile char block[64]; /* realigned and of variable size at once */
    volatile char *room = alloca((size_t)n);
    block[0] = room[0] = 2;
    realigned(3);
    return block[0];
}

TEST(plain_recursion_is_walked_to_its_end)
{
    descend(20);
    expect_equal();
}

TEST(frames_of_variable_size_are_stepped_over)
{
    with_alloca(5000, 3);
    expect_equal();
    realigned(2);
    expect_equal();
    with_variable_array(1000);
    expect_equal();
}

static int compare(const void *a, const void *b)
{
    descend(4);
    return *(const int *)a - *(const int *)b;
}

TEST(callbacks_through_libc_are_walked)
{
    int values[] = {3, 1, 2};
    qsort(values, 3, sizeof(values[0]), compare);
    expect_equal();
}

static void on_signal(int number)
{
    (void)number;
    descend(2);
    in_signal = true;
}

TEST(what_a_signal_has_interrupted_is_walked)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    expect_equal();
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
    on_signal(number);
    siglongjmp(after_fault, 1);
}

/* Stores nothing on its stack: on Arm its return address is in a register, and its frame empty. */
static NOIPA int leaf(const volatile int *at)
{
    return *at + 1;
}

TEST(a_function_without_a_frame_that_was_interrupted_is_walked)
{
    volatile int n = 0;
    signal(SIGSEGV, on_fault);
    if (!sigsetjmp(after_fault, 1))
        n = leaf((const volatile int *)8);
    signal(SIGSEGV, SIG_DFL);
    ck_assert_int_eq(n, 0);
    expect_equal();
}

TEST(a_signal_on_a_stack_of_its_own_is_walked)
{
    static char room[64 * 1024];
    stack_t alternate = {.ss_sp = room, .ss_size = sizeof(room)};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    expect_equal();
}

static void in_thread(void)
{
    descend(9);
}

TEST(a_thread_is_walked_to_its_start)
{
    on_thread(&walk, in_thread);
    expect_equal();
}

TEST(a_stack_that_is_known_is_known_again)
{
    uint64_t first[2];
    volatile int n = 2; /* one call, not two of an unrolled loop */
    for (int i = 0; i < n; i++) {
        descend(12);
        first[i] = hash;
    }
    ck_assert(guessed());
    ck_assert_uint_eq(first[0], first[1]);
}

/* Same depth, same frame sizes, other paths: only return addresses differ. */
static NOIPA void left(unsigned path, int depth);
static NOIPA void right(unsigned path, int depth)
{
    if (depth == 0)
        probe();
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

static NOIPA void left(unsigned path, int depth)
{
    if (depth == 0)
        probe();
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

TEST(no_two_paths_are_taken_for_one)
{
    enum { DEPTH = 8, PATHS = 1 << (DEPTH - 1) };
    uint64_t seen[PATHS];
    volatile unsigned rounds = 2; /* one call, not two of an unrolled loop */
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned path = 0; path < PATHS; path++) {
            left(path, DEPTH);
            expect_equal();
            if (round == 0)
                seen[path] = hash;
            ck_assert_uint_eq(hash, seen[path]);
            for (unsigned other = 0; round == 0 && other < path; other++)
                ck_assert_uint_ne(seen[other], hash);
        }
    }
}

TEST(deep_stacks_are_walked_whole_and_known_again, .to = 7)
{
    static const int depths[] = {40, 70, 90, 100, 120, 250, 600};
    uint64_t first = 0;
    volatile int n = 2;
    for (int i = 0; i < n; i++) {
        descend(depths[_i]);
        expect_equal();
        ck_assert_uint_gt(n_ours, (unsigned)depths[_i]);
        first = i ? first : hash;
    }
    ck_assert(guessed());
    ck_assert_uint_eq(hash, first);
}

/* A long stack whose turns are chosen. */
static bool turns[LONG];
static NOIPA void here(int depth);
static NOIPA void there(int depth)
{
    volatile uintptr_t room[3]; /* another size of frame */
    room[1] = 0;
    if (depth == 0)
        probe();
    else if (turns[depth - 1])
        here(depth - 1);
    else
        there(depth - 1);
    room[2] = room[1];
}

static NOIPA void here(int depth)
{
    if (depth == 0)
        probe();
    else if (turns[depth - 1])
        here(depth - 1);
    else
        there(depth - 1);
    __asm__ volatile("" ::: "memory");
}

TEST(one_other_frame_anywhere_makes_a_long_stack_another)
{
    uint64_t seen[LONG];
    volatile int n = 2;
    for (int i = 0; i < LONG; i += 7) {
        turns[i] = true;
        for (int k = 0; k < n; k++) {
            here(LONG);
            expect_equal();
        }
        ck_assert(guessed());
        turns[i] = false;
        seen[i] = hash;
        for (int other = 0; other < i; other += 7)
            ck_assert_uint_ne(seen[other], seen[i]);
    }
}

static NOIPA int with_large_frame(int n, int outside, int inside)
{
    if (outside)
        return with_large_frame(n, outside - 1, inside) + 1;
    volatile char *room = alloca((size_t)n);
    room[0] = 1;
    descend(inside);
    return room[0];
}

TEST(frames_of_any_size_are_known_again)
{
    volatile int n = 2;
    for (int size = 100; size < 4 << 20; size *= 3) {
        for (int i = 0; i < n; i++)
            with_large_frame(size, 90, 90);
        expect_equal();
        ck_assert(guessed());
    }
}

TEST(a_walk_stays_within_its_capacity)
{
    uintptr_t few[3];
    struct seep_regs regs = SEEP_REGS();
    ck_assert_uint_le(seep_walk_native(&walk, &regs, false, few, 3, &hash), 3);
}

/* Walks the same stack in many contexts. In how many was it known? */
static unsigned known_in_contexts(unsigned n)
{
    unsigned known = 0;
    for (unsigned i = 1; i <= n; i++) {
        walk.context = i;
        descend(3);
        known += guessed();
    }
    walk.context = 0;
    return known;
}

/* Three for each set of two: most are forgotten before they come again (at some addresses, one in
 * eight is not). In a table of twice the size there is room for them. */
TEST(a_table_that_grows_keeps_what_it_has_and_has_room_for_more)
{
    const unsigned n = (walk.shape_mask + 1) * 3, kept = n * 2 / 3;
    unsigned known[4];

    for (int i = 0; i < 4; i++) {
        if (i == 2)
            seep_walk_grow(&walk);
        known[i] = known_in_contexts(n);
        printf("%u of %u stacks known\n", known[i], n);
    }
    ck_assert_uint_lt(known[1], n / 3);
    ck_assert_uint_gt(known[2], kept * 9 / 10);
    ck_assert_uint_gt(known[3], n * 9 / 10);
}

/* Garbage where frames are expected must end the walk, not the process. */
TEST(a_broken_stack_ends_the_walk)
{
    uintptr_t fake[64];
    for (int i = 0; i < 64; i++)
        fake[i] = (uintptr_t)&descend + 7;
    struct seep_regs regs = {
        .cfa = (uintptr_t)fake, .ra = (uintptr_t)&descend + 7, .fp = 0x1234567};
    ck_assert_uint_le(seep_walk_native(&walk, &regs, false, ours, CAPACITY, &hash), CAPACITY);
    regs.ra = 0x10;
    ck_assert_uint_le(seep_walk_native(&walk, &regs, false, ours, CAPACITY, &hash), CAPACITY);
}

/* As an address of a JIT's may be, or a word that is none; a sandbox lets nobody ask what is there.
 */
TEST(what_is_at_an_unknown_address_is_read_only_if_it_is_there)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t fake[4] = {0};
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(two, MAP_FAILED);
    ck_assert_int_eq(mprotect(two + page, page, PROT_NONE), 0);
    struct seep_regs regs = {.cfa = (uintptr_t)fake, .ra = (uintptr_t)two + page - 4};
    memset(two, 0xd4, page);
    ck_assert_uint_eq(seep_walk_native(&walk, &regs, false, ours, CAPACITY, &hash), 1);
    seep_os_sandboxed = true;
    regs.ra = (uintptr_t)two + page + 16;
    const unsigned n = seep_walk_native(&walk, &regs, false, ours, CAPACITY, &hash);
    seep_os_sandboxed = false;
    ck_assert_uint_eq(n, 1);
    munmap(two, 2 * page);
}

int main(void)
{
    seep_walk_start();
    if (!seep_walk_init(&walk))
        return 1;
    return suite_run((struct suite){.name = "walk"});
}
