/* The walk through code that says nothing of its frames, as a JIT compiler's may: this program is
 * built without call-frame information, libc has it. */
#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "preload/stack/walk.h"
#include "tests/stack/on_thread.h"
#include "tests/suite.h"

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#define WITHOUT_RECORD
#else
#define NOIPA          __attribute__((noipa))
#define WITHOUT_RECORD __attribute__((optimize("omit-frame-pointer")))
#endif

enum { CAPACITY = 256, MOST = 64 };

static struct seep_walk walk;
static uintptr_t walked[CAPACITY],
    called[MOST]; /* who called each function here, outermost first */
static unsigned n_walked, n_called;
static uint64_t hash, guess;
static bool is_guessed;

static inline __attribute__((always_inline)) void note_caller(void)
{
    called[n_called++] = seep_arch_code_address((uintptr_t)__builtin_return_address(0));
}

static NOIPA void probe(void)
{
    const struct seep_regs regs = SEEP_REGS();
    note_caller();
    is_guessed = seep_walk_guess(&walk, &regs, false, 0, &guess);
    n_walked = seep_walk_native(&walk, &regs, false, walked, CAPACITY, &hash);
}

static NOIPA int descend(int depth)
{
    volatile char *room = alloca((size_t)depth * 40 + 8);
    int result = 0;
    note_caller();
    room[0] = (char)depth;
    if (depth == 0)
        probe();
    else
        result = descend(depth - 1) + 1;
    __asm__ volatile("" : "+r"(result));
    return result + room[0];
}

static bool is_in_libc(uintptr_t address)
{
    Dl_info info;
    return dladdr((void *)(address - 1), &info) && strstr(info.dli_fname, "libc.so");
}

/* All who called are there, in order, but `passed_over` of them; and that by which libc started the
 * program, or the thread. Where the frame pointer may be anything the walk ends at the first of
 * them. */
static void expect_all_but(unsigned passed_over)
{
    unsigned missed = 0, at = 0;

    ck_assert_uint_gt(n_called, 1);
    if (!SEEP_ARCH_FRAME_RECORDS) {
        ck_assert_uint_eq(n_walked, 1);
        return;
    }
    for (unsigned i = n_called; i-- > 0;) {
        unsigned k = at;
        while (k < n_walked && walked[k] != called[i])
            k++;
        missed += k == n_walked;
        at = k == n_walked ? at : k + 1;
    }
    ck_assert_uint_eq(missed, passed_over);
    ck_assert_uint_ge(n_walked, n_called - passed_over + 2);
    ck_assert_msg(is_in_libc(walked[n_walked - 2]), "ends at %lx", walked[n_walked - 1]);
}

TEST(records_lead_through_code_that_says_nothing)
{
    descend(0);
    expect_all_but(0);
    n_called = 0;
    descend(30);
    expect_all_but(0);
}

static int compare(const void *a, const void *b)
{
    const int order = *(const int *)a - *(const int *)b;
    note_caller();
    descend(3);
    return order;
}

/* libc's functions say how far their frame reaches from a stack pointer that nobody knows by then.
 */
TEST(functions_that_say_more_are_walked_between_them)
{
    int values[] = {3, 1, 2};
    qsort(values, 3, sizeof(values[0]), compare);
    n_called = 0;
    qsort(values, 3, sizeof(values[0]), compare);
    memmove(called, called + n_called - 5, 5 * sizeof(*called)); /* those of the last comparison */
    n_called = 5;
    expect_all_but(0);
}

/* The frame pointer stays at its caller's record, which says who called that. */
static WITHOUT_RECORD NOIPA int recordless(int depth)
{
    note_caller();
    return descend(depth) + 1;
}

static NOIPA int calls_it(int depth)
{
    note_caller();
    return recordless(depth) + 1;
}

TEST(the_caller_of_a_function_without_a_record_is_passed_over)
{
    calls_it(2);
#ifdef __clang__
    expect_all_but(0);
#else
    expect_all_but(1);
#endif
}

static void on_signal(int number)
{
    number = descend(2);
    __asm__ volatile("" : "+r"(number)); /* or the call becomes a jump */
}

/* What lies behind its frame only its stack pointer would tell. */
TEST(a_handler_that_says_nothing_ends_the_walk)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    ck_assert_uint_eq(n_walked, SEEP_ARCH_FRAME_RECORDS ? n_called : 1);
}

/* Code that is built so has anything in the frame pointer: then the stack ends, the same one
 * whatever the data is. */
TEST(what_only_looks_like_a_record_is_none, .to = 3)
{
    static const int data = 7;
    const uintptr_t behind[] = {0x0102030405060708, (uintptr_t)&descend, (uintptr_t)&data};
    uintptr_t stack[8];
    unsigned n[2];

    for (unsigned i = 0; i < 2; i++) {
        const struct seep_regs regs = {
            .cfa = (uintptr_t)stack, .ra = (uintptr_t)&descend + 8, .fp = (uintptr_t)(stack + 2)};
        for (unsigned k = 0; k < 8; k++)
            stack[k] = k % 2 ? behind[_i] + (i ? 0 : 16) : (uintptr_t)(stack + 4);
        n[i] = seep_walk_native(&walk, &regs, false, walked, CAPACITY, &hash);
        ck_assert(!seep_walk_guess(&walk, &regs, false, 0, &guess) || guess == hash);
    }
    ck_assert_uint_eq(n[0], 1);
    ck_assert_uint_eq(n[1], 1);
}

static void in_thread(void)
{
    descend(9);
}

TEST(a_thread_is_walked_to_its_start)
{
    on_thread(&walk, in_thread);
    expect_all_but(0);
}

TEST(such_a_stack_is_known_again)
{
    for (int i = 0; i < 2; i++) {
        n_called = 0;
        descend(60);
    }
    ck_assert(is_guessed);
    ck_assert_uint_eq(guess, hash);
}

static void setup(void)
{
    seep_walk_start();
    ck_assert(seep_walk_init(&walk));
    n_called = 0;
}

SUITE("frame records", .setup = setup)
