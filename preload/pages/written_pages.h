/* Pages that a forked child shared with its parent until it wrote to them: since then they are its
 * own, though it allocated nothing. */
#ifndef SEEP_PRELOAD_PAGES_WRITTEN_PAGES_H
#define SEEP_PRELOAD_PAGES_WRITTEN_PAGES_H

#include <stdint.h>

/* Of large blocks that this process inherited. All zero at first. */
struct seep_written {
    int pagemap_plus_1;
    uint64_t bytes;
    uint32_t site; /* of more than half of them, if one is */
    uint64_t lead; /* by how much it leads: Boyer and Moore's majority vote */
    uint64_t looked_bytes;
};

/* Adds a block; the larger one is, and the more were added, the smaller the part of it that is
 * looked at, and stands for all. Not reentrant: one static buffer. */
void seep_written_add(struct seep_written *w, uintptr_t start, uintptr_t end, uint32_t site);

/* All have been added. */
void seep_written_end(struct seep_written *w);

#endif
