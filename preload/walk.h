/* Native stacks, fast: a cache from return address to the rule that finds the next one.
 *
 * A step is one look-up and one or two loads. What the rules cannot express goes to libunwind
 * (unwind.h). Never reads outside the thread's stack. Threads: any, each its own stack. */
#ifndef SEEP_PRELOAD_WALK_H
#define SEEP_PRELOAD_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* The caller's registers at a hook: what the function that called the hook sees after the return. */
struct seep_regs {
    uintptr_t cfa; /* its stack pointer */
    uintptr_t ra;  /* where the hook returns to */
    uintptr_t rbp;
};

/* Of the function in which it is written, which must keep a frame pointer. */
#define SEEP_REGS()                                                       \
    ((struct seep_regs){.cfa = (uintptr_t)__builtin_frame_address(0) + 16, \
                        .ra = (uintptr_t)__builtin_return_address(0),     \
                        .rbp = *(uintptr_t *)__builtin_frame_address(0)})

struct seep_walk {
    uintptr_t stack_low, stack_high; /* bounds of the stack that the thread runs on */
    uint64_t hash;                   /* over what was stored */
};

/* Stores return addresses, innermost first; returns how many. With `stop_at_eval` the walk ends before
 * the first frame of the Python evaluation loop. */
unsigned seep_walk_native(struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                          uintptr_t *addresses, unsigned capacity);

/* Forgets all rules: code has been unloaded. */
void seep_walk_forget(void);

#endif
