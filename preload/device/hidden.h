/* Blocks of an allocator that hides from the hooks of the malloc family (it is linked into a
 * library, or bound inside of it), as somebody tells of them who knows it. Such a block is one of
 * the host's heap like any other. One that a hook has seen is left alone: who tells does not know.
 * Inside the guard only. */
#ifndef SEEP_PRELOAD_DEVICE_HIDDEN_H
#define SEEP_PRELOAD_DEVICE_HIDDEN_H

#include "preload/record/thread.h"

/* Told of after the block was made, by the thread that made it. */
void seep_hidden_made(void *block, uint64_t bytes, const struct seep_regs *regs);

/* Told of before it is freed. */
void seep_hidden_gone(void *block);

#endif
