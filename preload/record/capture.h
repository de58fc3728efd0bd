/* From "here" to a site: merges the calling thread's native and Python stacks into one. */
#ifndef SEEP_PRELOAD_RECORD_CAPTURE_H
#define SEEP_PRELOAD_RECORD_CAPTURE_H

#include "preload/record/thread.h"

/* Site index of the calling stack, of a kind (seep_site_kind()); 0 if nothing can be recorded. */
uint32_t seep_capture(struct seep_thread *thread, const struct seep_regs *regs, unsigned kind);

/* For an allocation that is not recorded, while there is an interpreter: only looks whether a
 * training step begins or ends. */
void seep_capture_marks(struct seep_thread *thread);

/* Whether the calling stack comes from inside another hook of seep's: then libc asks for what the
 * caller of that one wants. Walks the whole stack: for calls that are rare. */
bool seep_capture_is_within_hook(struct seep_thread *thread, const struct seep_regs *regs);

/* In a forked child: locks are free. */
void seep_capture_after_fork(void);

#endif
