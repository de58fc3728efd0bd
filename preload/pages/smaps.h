/* Reads /proc/self/smaps: each map of this process and how much of it is resident. */
#ifndef SEEP_PRELOAD_PAGES_SMAPS_H
#define SEEP_PRELOAD_PAGES_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_VMA_NAME = 128 };

struct seep_vma {
    uintptr_t start, end;
    bool none;   /* PROT_NONE */
    bool shared; /* MAP_SHARED */
    bool file;   /* it has an inode, and is not memory despite that */
    uint64_t rss_bytes;
    uint64_t anonymous_bytes; /* of these, what is no file's: written pages of a private map */
    uint64_t swapped_bytes;
    char name[SEEP_VMA_NAME]; /* of a longer name the beginning and the end */
};

/* Calls `each` for every map, in order of address; no byte is in two of them, whatever the job maps
 * meanwhile. False: it cannot be read (completely). Not reentrant: one static buffer. No libc call
 * that may lock or allocate. */
bool seep_smaps_read(void (*each)(const struct seep_vma *vma, void *arg), void *arg);

#endif
