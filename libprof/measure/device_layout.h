/* A device's memory at an instant, in order: what its driver gave to a process, the tensors in
 * there, and what is free between them. */
#ifndef SEEP_LIBPROF_MEASURE_DEVICE_LAYOUT_H
#define SEEP_LIBPROF_MEASURE_DEVICE_LAYOUT_H

#include "libprof/code/stack_lines.h"
#include "libprof/code/symbols.h"
#include "libprof/model/model.h"

struct seep_layout_segment {
    uint64_t address, bytes;
    uint32_t site;   /* that asked for it, index + 1; 0: not known */
    bool is_small;   /* as large as those that PyTorch's allocator takes for small requests */
    bool is_cache;   /* PyTorch's allocator cuts tensors from it: what no tensor has is free */
    size_t first, n; /* of tensors[] */
    uint64_t live_bytes;
    uint64_t largest_free_bytes; /* of a cache */
};

struct seep_device_layout {
    const struct seep_model_layout *from;
    struct seep_layout_segment *segments; /* by address; none lies over another */
    size_t n_segments;
    struct seep_model_layout_block *tensors; /* the same */
    size_t n_tensors;

    uint64_t taken_bytes;        /* of all segments */
    uint64_t live_bytes;         /* of all tensors in them */
    uint64_t outside_bytes;      /* of those in none */
    uint64_t others_bytes;       /* of segments that are no cache */
    uint64_t free_bytes;         /* of the cache */
    uint64_t largest_free_bytes; /* in one piece */
    uint64_t unusable_bytes;     /* of the free bytes, in pieces that what was asked for is larger
                                  * than, or that are kept for others; 0 where nothing was */
    size_t n_free;               /* pieces */
};

/* PyTorch's allocator serves requests of up to the one from segments of the other (or maps as much
 * at a time), and those above from larger segments: what is free in these is of no use to those
 * (kSmallSize and kSmallBuffer in its source). */
enum { SEEP_SMALL_REQUEST = 1 << 20, SEEP_SMALL_SEGMENT = 2 << 20 };

/* `marked`: which of the dictionary's stacks ask for segments (seep_segments_mark());
 * NULL: nobody knows. Returns 0 or -SEEP_ENOMEM. Allocates: fini. */
SEEP_MUST_CHECK int seep_device_layout_make(const struct seep_model *m,
                                            const struct seep_model_layout *from,
                                            const bool *marked, struct seep_device_layout *out);

void seep_device_layout_fini(struct seep_device_layout *layout);

#endif
