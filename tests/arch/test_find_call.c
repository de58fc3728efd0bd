/* The instruction that makes a system call, in code of another process: bytes that look like it may
 * lie across two instructions of 64-bit Arm (a libc had them first, and the process that was to
 * fork there got SIGBUS). */
#include "libprof/arch/traced.h"
#include "tests/suite.h"

static size_t find(const char *code, size_t n)
{
    return seep_arch_find_call((const uint8_t *)code, n);
}

TEST(bytes_across_two_instructions_are_no_call_where_instructions_are_aligned)
{
    static const char code[] = "\x90" SEEP_ARCH_CALL "\x90\x90\x90" SEEP_ARCH_CALL "\x90\x90";

    ck_assert_uint_eq(find(code, sizeof code - 1), SEEP_ARCH_CALL_STEP == 1 ? 1 : 8);
}

TEST(a_call_at_the_end_is_found_and_half_of_one_is_not)
{
    static const char code[] = "\x90\x90\x90\x90" SEEP_ARCH_CALL;
    const size_t n = sizeof code - 1;

    ck_assert_uint_eq(find(code, n), 4);
    ck_assert_uint_eq(find(code, n - 1), n - 1);
    ck_assert_uint_eq(find(code, 0), 0);
}

SUITE("find call")
