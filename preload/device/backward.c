#include "preload/device/backward.h"

#include "libprof/contract.h"
#include "preload/record/capture.h"

static unsigned watched_space; /* of some device's tensors; 0: none yet */
static uint32_t caller_stack;  /* ref; 0: nobody called yet */

void seep_backward_watch(unsigned space)
{
    __atomic_store_n(&watched_space, space, __ATOMIC_RELAXED);
}

unsigned seep_backward_watched(void)
{
    return __atomic_load_n(&watched_space, __ATOMIC_RELAXED);
}

uint32_t seep_backward_site(struct seep_thread *thread, uint32_t site, unsigned space)
{
    const uint32_t stack = __atomic_load_n(&caller_stack, __ATOMIC_RELAXED);
    if (!site || !stack || thread->stack.n || thread->first)
        return site;
    const uint32_t theirs = seep_site_find(&thread->sites, stack, space);
    return theirs ? theirs : site;
}

/* The stack is kept as that of a site in the device's space: any site will do. */
void seep_backward_called(const struct seep_regs *regs, unsigned space)
{
    SEEP_CHECK(seep_is_inside());
    const uint32_t site = seep_capture(seep_tls.thread, regs, space);
    if (site && seep_tls.thread->stack.n)
        __atomic_store_n(&caller_stack, seep_site_at(site)->stack, __ATOMIC_RELAXED);
}
