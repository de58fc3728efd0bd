/* Who called backward. On a device, autograd's own threads run it. They have no Python stack, so
 * what they allocate belongs to the line that called backward and is waiting. */
#ifndef SEEP_PRELOAD_DEVICE_BACKWARD_H
#define SEEP_PRELOAD_DEVICE_BACKWARD_H

#include "preload/record/thread.h"

/* The site of a block that was made at `site` in `space`: that of the last caller of backward, if
 * the thread has no Python stack of its own. */
uint32_t seep_backward_site(struct seep_thread *thread, uint32_t site, unsigned space);

/* From now on calls of backward are noted, because a device has tensors: those of `space`. 0: no
 * longer. */
void seep_backward_watch(unsigned space);

/* The space of these tensors; 0: calls are not noted. */
unsigned seep_backward_watched(void);

/* Backward was called, with a device's tensors in `space`. Inside the guard. */
void seep_backward_called(const struct seep_regs *regs, unsigned space);

#endif
