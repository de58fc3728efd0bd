/* Who called backward. On a device autograd's own threads run it, which have no Python stack: what
 * they make belongs to the line that called, and waits. */
#ifndef SEEP_PRELOAD_DEVICE_BACKWARD_H
#define SEEP_PRELOAD_DEVICE_BACKWARD_H

#include "preload/record/thread.h"

/* The site that a block belongs to which was made at `site` in `space`: that of who called backward
 * last, where the thread has no Python stack of its own. */
uint32_t seep_backward_site(struct seep_thread *thread, uint32_t site, unsigned space);

/* From now on calls of backward are noted, for a device has tensors: those of `space`. 0: no more.
 */
void seep_backward_watch(unsigned space);

/* The space of these tensors; 0: nobody's calls are to be noted. */
unsigned seep_backward_watched(void);

/* Backward is called, with a device's tensors in `space`. Inside the guard. */
void seep_backward_called(const struct seep_regs *regs, unsigned space);

#endif
