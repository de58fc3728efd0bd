/* A device's memory at an instant, in address order: what the driver gave to a process, the tensors
 * in it, and the free pieces between them. */
#ifndef SEEP_LIBPROF_MEASURE_DEVICE_LAYOUT_H
#define SEEP_LIBPROF_MEASURE_DEVICE_LAYOUT_H

#include "libprof/code/stack_lines.h"
#include "libprof/code/symbols.h"
#include "libprof/model/model.h"

struct seep_layout_segment {
    uint64_t address, bytes;
    uint32_t site;   /* that asked for it, index + 1; 0: unknown */
    bool is_small;   /* of the size that PyTorch's allocator takes for small requests */
    bool is_cache;   /* PyTorch's allocator cuts tensors from it: the rest of it is free */
    size_t first, n; /* of tensors[] */
    uint64_t live_bytes;
    uint64_t largest_free_bytes; /* of a cache */
};

struct seep_device_layout {
    const struct seep_model_layout *from;
    struct seep_layout_segment *segments; /* by address; no two overlap */
    size_t n_segments;
    struct seep_model_layout_block *tensors; /* the same */
    size_t n_tensors;

    uint64_t taken_bytes;        /* of all segments */
    uint64_t live_bytes;         /* of all tensors in them */
    uint64_t outside_bytes;      /* of those in none */
    uint64_t others_bytes;       /* of segments that are not the cache */
    uint64_t free_bytes;         /* of the cache */
    uint64_t largest_free_bytes; /* in one piece */
    uint64_t unusable_bytes;     /* free bytes of no use to the request: in pieces too small for it,
                                  * or kept for other requests; 0 without a request */
    size_t n_free;               /* pieces */
};

/* PyTorch's allocator serves requests of up to SEEP_SMALL_REQUEST from segments of
 * SEEP_SMALL_SEGMENT (or maps as much at a time), and larger ones from larger segments: neither
 * kind can use the other's free space (kSmallSize and kSmallBuffer in its source). */
enum { SEEP_SMALL_REQUEST = 1 << 20, SEEP_SMALL_SEGMENT = 2 << 20 };

/* `marked`: which of the dictionary's stacks ask for segments (seep_segments_mark()); NULL:
 * unknown. Returns 0 or -SEEP_ENOMEM. Allocates: fini. */
SEEP_MUST_CHECK int seep_device_layout_make(const struct seep_model *m,
                                            const struct seep_model_layout *from,
                                            const bool *marked, struct seep_device_layout *out);

void seep_device_layout_fini(struct seep_device_layout *layout);

#endif
