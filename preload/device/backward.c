/* Autograd's engine is entered by one function of PyTorch's, which the interpreter's side calls by
 * its dynamic entry. What it takes differs in no version from 1.7 on, but none of it is looked at.
 */
#include "preload/device/backward.h"

#include <errno.h>

#include "preload/device/caller.h"
#include "preload/device/use.h"
#include "preload/record/capture.h"

#define EXECUTE                                                                                    \
    _ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_

static unsigned watched_space; /* of some device's tensors; 0: there are none */
static uint32_t caller_stack;  /* ref; 0: nobody called yet */

void seep_backward_watch(unsigned space)
{
    __atomic_store_n(&watched_space, space, __ATOMIC_RELAXED);
}

uint32_t seep_backward_site(struct seep_thread *thread, uint32_t site, unsigned space)
{
    const uint32_t stack = __atomic_load_n(&caller_stack, __ATOMIC_RELAXED);
    if (!site || !stack || thread->stack.n || thread->first)
        return site;
    const uint32_t theirs = seep_site_find(&thread->sites, stack, space);
    return theirs ? theirs : site;
}

/* Returns the real function. The stack is kept as that of a site of the device's: any will do. */
__attribute__((used, visibility("hidden"))) void *seep_backward_entered(uintptr_t ra, uintptr_t cfa,
                                                                        uintptr_t rbp)
{
    const struct seep_regs regs = {.cfa = cfa, .ra = ra, .rbp = rbp};
    const unsigned space = __atomic_load_n(&watched_space, __ATOMIC_RELAXED);
    if (space && seep_device_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(EXECUTE));
        const uint32_t site = seep_capture(seep_tls.thread, &regs, space);
        if (site && seep_tls.thread->stack.n)
            __atomic_store_n(&caller_stack, seep_site_at(site)->stack, __ATOMIC_RELAXED);
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
