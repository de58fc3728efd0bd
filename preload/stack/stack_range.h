/* Which memory is the stack that a thread runs on: its own, or that of a fibre or a signal handler.
 *
 * Own stacks are followed down page by page as they are used, so that nothing beyond a guard page
 * is taken for one. For others it is known, page by page, how much above can be read; that is asked
 * of the kernel once a page and kept in a table that is read without a lock, until the job unmaps
 * it. Private memory, no malloc. */
#ifndef SEEP_PRELOAD_STACK_STACK_RANGE_H
#define SEEP_PRELOAD_STACK_STACK_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct seep_lock;

struct seep_stack_range {
    uintptr_t low, high;
};

/* What a thread knows; all zero at its start. Used by that thread alone. */
struct seep_stacks {
    struct seep_stack_range own; /* as far down as it has been seen to reach */
};

/* What can be read of the stack that `sp` points into; sixteen bytes where nothing can be known of
 * it. Inside the guard only: it may take a lock and make system calls. */
struct seep_stack_range seep_stack_range_find(struct seep_stacks *stacks, uintptr_t sp);

/* True: [from, to) lies in one stack that is known and, but for the thread's own, still mapped. */
bool seep_stack_range_holds(const struct seep_stacks *stacks, uintptr_t from, uintptr_t to);

/* Whether `sp` points into another stack than the thread's own that was met before. */
bool seep_stack_range_met(uintptr_t sp);

/* Whether there is room for the shim's work below `sp`, in a stack that was not met before: a
 * signal handler's (sigaltstack) may be small. Needs little stack itself. */
bool seep_stack_range_roomy(uintptr_t sp);

/* [start, end) is about to be unmapped, replaced or freed. Inside the guard only. */
void seep_stack_range_unmap(uintptr_t start, uintptr_t end);

/* In a forked child. */
void seep_stack_range_after_fork(void);
struct seep_lock *seep_stack_range_lock(void);

#endif
