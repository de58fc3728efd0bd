/* The books of memory that is not of the malloc family and not mapped: blocks of an allocator of
 * the job's own, of PyTorch's, of a device's driver, each in a space with a name. Spaces overlap (a
 * tensor lies in a segment of its device, whose addresses may be the host's too), so a block is
 * known by its space and its address. Inside the guard only. */
#ifndef SEEP_PRELOAD_DEVICE_BOOKS_H
#define SEEP_PRELOAD_DEVICE_BOOKS_H

#include "preload/record/thread.h"

/* The space of that name, entered if it is new. 0: it is one of the hooks' own, it is no name, or,
 * which is counted, there is no room for one more. */
unsigned seep_books_enter(const char *name);

/* The same of one that is there; 0: none. */
unsigned seep_books_find(const char *name);

/* A block was made, which belongs to `site` (0: it could not be recorded, which is counted). One
 * that lay there before is gone. */
void seep_books_made(unsigned space, const void *address, uint64_t bytes, uint32_t site);

/* Returns the bytes of the block that is gone; 0: none was known. */
uint64_t seep_books_gone(unsigned space, const void *address);

#endif
