/* PyTorch enters autograd's engine through one function, which the Python side calls by its dynamic
 * entry. Its parameters have been the same since 1.7, but none of them is read. */
#include <errno.h>

#include "libprof/arch/arch.h"
#include "preload/device/backward.h"
#include "preload/device/caller.h"
#include "preload/device/use.h"

#define EXECUTE                                                                                    \
    _ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_

/* Returns the real function. */
__attribute__((used, visibility("hidden"))) void *seep_backward_entered(uintptr_t ra, uintptr_t cfa,
                                                                        uintptr_t fp)
{
    const struct seep_regs regs = {.cfa = cfa, .ra = ra, .fp = fp};
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

SEEP_ARCH_ENTRY(EXECUTE, SEEP_ARCH_LOOK_AND_GO("seep_backward_entered"), "i"(0))
