/* Finds out whose malloc the job calls. */
#ifndef SEEP_PRELOAD_LIFE_ALLOCATORS_H
#define SEEP_PRELOAD_LIFE_ALLOCATORS_H

#include <stddef.h>

/* Path of the object whose malloc stands before this library's, so that what it hands out is never
 * seen: the program itself, or a library that was preloaded before. "" where there is none. Walks
 * the loader's list without a lock, so it may be called only while the program starts (in a
 * constructor). */
void seep_allocators_first(char *path, size_t capacity);

#endif
