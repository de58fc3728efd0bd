/* Which memory is the stack that a thread runs on: its own, or that of a fibre or a signal handler.
 *
 * Own stacks are followed down page by page as they are used, so that nothing beyond a guard page
 * is taken for one. Others are looked up in /proc/self/maps once, and forgotten when the job unmaps
 * a part of them. Private memory, no malloc. */
#ifndef SEEP_PRELOAD_STACK_RANGE_H
#define SEEP_PRELOAD_STACK_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct seep_stack_range {
    uintptr_t low, high;
};

enum { SEEP_OTHER_STACKS = 4 };

/* What a thread knows; all zero at its start. Used by that thread alone. */
struct seep_stacks {
    struct seep_stack_range own; /* as far down as it has been seen to reach */
    struct seep_stack_range others[SEEP_OTHER_STACKS];
    uint32_t generation; /* of `others` */
    uint32_t next;
};

/* The stack that `sp` points into; sixteen bytes where nothing can be known of it. Inside the guard
 * only: it may take a lock and read a file. */
struct seep_stack_range seep_stack_range_find(struct seep_stacks *stacks, uintptr_t sp);

/* True: [from, to) lies in one stack that is known and, but for the thread's own, still mapped. */
bool seep_stack_range_holds(const struct seep_stacks *stacks, uintptr_t from, uintptr_t to);

/* [start, end) is about to be unmapped or replaced. Inside the guard only. */
void seep_stack_range_unmap(uintptr_t start, uintptr_t end);

/* In a forked child. */
void seep_stack_range_after_fork(void);
struct seep_lock *seep_stack_range_lock(void);

#endif
