/* --python-allocators and a Python without a GIL: that has one allocator only, and ends at
 * PYTHONMALLOC=malloc before it has begun. So what `seep run` has added is taken away there.
 *
 * Threads: the one that starts the process. Allocates: never. */
#ifndef SEEP_PRELOAD_LIFE_PYTHON_ALLOCATOR_H
#define SEEP_PRELOAD_LIFE_PYTHON_ALLOCATOR_H

/* Takes the variable out of `environment`, in place, if such a Python is loaded. Before the program
 * reads it, while the loader starts. */
void seep_python_allocator_start(char **environment);

#endif
