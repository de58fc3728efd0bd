/* What differs between processors in the registers of a thread that is traced (ptrace), in struct
 * user_regs_struct. Each processor's header defines all of this:
 *
 *   SEEP_ARCH_CALL, SEEP_ARCH_CALL_BYTES, SEEP_ARCH_CALL_STEP
 *                                   the instruction that makes a system call, its length, and of
 *                                   what its place is a multiple
 *   SEEP_ARCH_RED_ZONE              bytes below the stack pointer that are in use
 *   seep_arch_set_call()            lets it make a call with six arguments at an instruction
 *   seep_arch_pc(), seep_arch_sp(), seep_arch_result()
 *   seep_arch_call_made()           the call that it is in or has just ended; −1: none
 *   seep_arch_set_result()
 */
#ifndef SEEP_LIBPROF_ARCH_TRACED_H
#define SEEP_LIBPROF_ARCH_TRACED_H

#include <string.h>
#include <sys/user.h>

#include "libprof/arch/arch.h"

#include SEEP_ARCH_TRACED

/* Where in `n` bytes of code, which begin as instructions do, the first call lies; n: nowhere. */
static inline size_t seep_arch_find_call(const uint8_t *code, size_t n)
{
    for (size_t at = 0; at + SEEP_ARCH_CALL_BYTES <= n; at += SEEP_ARCH_CALL_STEP)
        if (memcmp(code + at, SEEP_ARCH_CALL, SEEP_ARCH_CALL_BYTES) == 0)
            return at;
    return n;
}

#endif
