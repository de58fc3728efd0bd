/* The for loops that the calling thread is in, and how far each has come.
 *
 * A for loop keeps its iterator on its frame's stack, below everything that the loop's body pushes.
 * So the first values of a frame's stack are its loops' iterators, outermost first, with the
 * __exit__ of with statements among them. A while loop leaves nothing. The values may be anything,
 * so the kernel reads what they point to. Threads: any, each for itself. Allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LOOPS_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LOOPS_H

#include "preload/python/pyframe.h"

enum { SEEP_PYLOOPS = 12, SEEP_PYLOOP_FRAMES = 24 };

struct seep_pyloop {
    uint64_t path;      /* of its frame's calls, its code, and its place among the loops */
    uintptr_t code;     /* of its frame */
    uintptr_t position; /* of its frame */
    uintptr_t iterator;
    uintptr_t counter; /* the iterator that tells it: its own, or one that it goes through */
    intptr_t place;    /* how far it has come: rises by 1 with each item; 0: unknown */
    uint32_t depth;    /* of its frame; 0 is the outermost */
};

/* Of each frame the value that ended the search for loops last time, and the last way out of a with
 * statement that it passed; all zero at first. At one instruction a frame's stack always holds the
 * same kinds of values, so an unchanged value need not be read again. */
struct seep_pyloop_memo {
    struct seep_pyloop_value {
        uint64_t path;
        uintptr_t position, value;
    } end, way_out;
};

/* Stores the loops of the `n_frames` outermost frames of `stack`, which has just been followed,
 * outermost first, as far as there is room. Returns how many. `memo` is the thread's. */
unsigned seep_python_loops(const struct seep_pystack *stack, unsigned n_frames,
                           struct seep_pyloop_memo memo[SEEP_PYLOOP_FRAMES],
                           struct seep_pyloop loops[SEEP_PYLOOPS]);

/* How far an iterator has come, and what it counts through. */
struct seep_pycount {
    uintptr_t iterator, type, within[2]; /* iterator 0: it does not tell */
    intptr_t place;                      /* as in seep_pyloop */
    intptr_t end;                        /* its place once nothing is left; 0: unknown */
};

/* Reads an iterator where no stack is known, even of a loop that may have ended: freed, it still
 * says how far it came until something else takes its place, whose `type` or `within` differ. */
struct seep_pycount seep_python_count(uintptr_t iterator);

/* Changes when a local variable of the frame at `depth` (0 is the outermost) of the stack is bound
 * to another object: only the frame's own code does that. 0 if it has none, as a module. */
uint64_t seep_python_locals(const struct seep_pystack *stack, unsigned depth);

#endif
