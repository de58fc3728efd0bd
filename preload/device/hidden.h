/* Blocks of an allocator that the hooks of the malloc family do not see (it is linked into a
 * library, or bound inside of it), as reported by somebody who does. Such a block is part of the
 * host's heap like any other. A block that a hook has seen is left alone: the reporter does not
 * know about hooks. Inside the guard only. */
#ifndef SEEP_PRELOAD_DEVICE_HIDDEN_H
#define SEEP_PRELOAD_DEVICE_HIDDEN_H

#include "preload/record/thread.h"

/* Reported after the block was made, by the thread that made it. */
void seep_hidden_made(void *block, uint64_t bytes, const struct seep_regs *regs);

/* Reported before it is freed. */
void seep_hidden_gone(void *block);

#endif
