/* The for loops that the calling thread is in, and how far each has come.
 *
 * A for loop keeps its iterator at the bottom of what its frame has on its stack, below all that
 * the loop's body puts there. So the iterators of a frame's loops, from the outermost to the
 * innermost, are its first values; a with statement has its way out among them. A while loop leaves
 * nothing. What is read there may be anything, and is read by the kernel. Threads: any, each for
 * itself. Allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LOOPS_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LOOPS_H

#include "preload/python/pyframe.h"

enum { SEEP_PYLOOPS = 12, SEEP_PYLOOP_FRAMES = 24 };

struct seep_pyloop {
    uint64_t path;  /* where its frame was called from, its code, and its place among the loops */
    uintptr_t code; /* of its frame */
    uintptr_t position; /* of its frame */
    uintptr_t iterator;
    intptr_t place; /* how far it has come: rises from one item to the next; 0: not known */
    uint32_t depth; /* of its frame; 0 is the outermost */
};

/* What ended the loops of each frame last time; all zero at first. At one instruction a frame's
 * stack always holds the same kinds of things, so that what has not changed need not be read again.
 */
struct seep_pyloop_memo {
    uint64_t path;
    uintptr_t position, value;
};

/* Those of the `n_frames` outermost frames of `stack`, which has just been followed, outermost
 * first; how many. What has no room is left out. `memo` is the thread's. */
unsigned seep_python_loops(const struct seep_pystack *stack, unsigned n_frames,
                           struct seep_pyloop_memo memo[SEEP_PYLOOP_FRAMES],
                           struct seep_pyloop loops[SEEP_PYLOOPS]);

#endif
