/* Arrays that grow by one item at a time. */
#ifndef SEEP_KERNELS_GROWING_H
#define SEEP_KERNELS_GROWING_H

#include <stddef.h>

/* A place, all zeros, behind the n items of an array that has grown by this alone: it doubles where
 * n is a power of two, so that no capacity need be kept.
 *   array  the address of the pointer to the items
 * NULL: no memory; the items are as they were. */
void *seep_array_append(void *array, size_t n, size_t item_bytes);

#endif
