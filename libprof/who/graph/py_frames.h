/* Frames: the variables of functions that run, or that a generator or an exception keeps. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_FRAMES_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_FRAMES_H

#include "libprof/who/graph/py_types.h"

/* Walks a frame's variables and what is on its stack, `cost` away; `running`: of its stack nobody
 * has written down where it ends. */
void seep_python_walk_frame(struct seep_heap *heap, uint64_t frame, unsigned cost, bool running);

/* Address of a frame's code object. */
uint64_t seep_python_frame_code(struct seep_heap *heap, uint64_t frame);

#endif
