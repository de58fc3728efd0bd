/* Which memory is the stack that a thread runs on: its own, or that of a fibre or a signal handler.
 *
 * A thread's own stack is followed downwards page by page as it is used, so nothing beyond a guard
 * page is taken for it. For other stacks a table has, for each page, how much above it can be read.
 * The kernel is asked once for each page; the table is read without a lock, and an entry holds
 * until the job unmaps the page. Private memory, no malloc. */
#ifndef SEEP_PRELOAD_STACK_STACK_RANGE_H
#define SEEP_PRELOAD_STACK_STACK_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct seep_lock;

struct seep_stack_range {
    uintptr_t low, high;
};

/* What a thread knows; all zero at its start. Used only by that thread. */
struct seep_stacks {
    struct seep_stack_range own; /* as far down as it has been seen to extend */
};

/* The readable part of the stack that `sp` points into; sixteen bytes if it is unknown. Inside the
 * guard only: it may take a lock and make system calls. */
struct seep_stack_range seep_stack_range_find(struct seep_stacks *stacks, uintptr_t sp);

/* True: [from, to) lies in one known stack that, unless it is the thread's own, is still mapped. */
bool seep_stack_range_holds(const struct seep_stacks *stacks, uintptr_t from, uintptr_t to);

/* Whether `sp` points into a stack seen before, other than the thread's own. */
bool seep_stack_range_met(uintptr_t sp);

/* Whether there is room for the shim's work below `sp`, in a stack not seen before: a signal
 * handler's (sigaltstack) may be small. Needs little stack itself. */
bool seep_stack_range_roomy(uintptr_t sp);

/* [start, end) is about to be unmapped, replaced or freed. Inside the guard only. */
void seep_stack_range_unmap(uintptr_t start, uintptr_t end);

/* In a forked child. */
void seep_stack_range_after_fork(void);
struct seep_lock *seep_stack_range_lock(void);

#endif
