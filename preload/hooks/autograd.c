/* PyTorch enters autograd's engine through one function, which the Python side calls by its dynamic
 * entry. Its parameters have been the same since 1.7, but none of them is read. */
#include <errno.h>

#include "preload/device/backward.h"
#include "preload/device/caller.h"
#include "preload/device/use.h"

#define EXECUTE                                                                                    \
    _ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_

/* Returns the real function. */
__attribute__((used, visibility("hidden"))) void *seep_backward_entered(uintptr_t ra, uintptr_t cfa,
                                                                        uintptr_t rbp)
{
    const struct seep_regs regs = {.cfa = cfa, .ra = ra, .rbp = rbp};
    const unsigned space = seep_backward_watched();
    if (space && seep_device_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(EXECUTE));
        seep_backward_called(&regs, space);
        errno = saved_errno;
        seep_leave();
    }
    return seep_caller_real(ra, SEEP_HOOK_OF(EXECUTE));
}

/* clang-format off */
SEEP_EXPORT void backward_entry(void)
    __asm__("_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_");
/* clang-format on */

SEEP_EXPORT __attribute__((naked)) void backward_entry(void)
{
    __asm__("push %rdi\n\t"
            "push %rsi\n\t"
            "push %rdx\n\t"
            "push %rcx\n\t"
            "push %r8\n\t"
            "push %r9\n\t"
            "mov 48(%rsp), %rdi\n\t"
            "lea 56(%rsp), %rsi\n\t"
            "mov %rbp, %rdx\n\t"
            "sub $8, %rsp\n\t"
            "call seep_backward_entered\n\t"
            "add $8, %rsp\n\t"
            "pop %r9\n\t"
            "pop %r8\n\t"
            "pop %rcx\n\t"
            "pop %rdx\n\t"
            "pop %rsi\n\t"
            "pop %rdi\n\t"
            "jmp *%rax");
}
