/* The driver below the caching allocator, and the allocator's counters. */
#ifndef SEEP_KERNELS_CACHING_TYPES_H
#define SEEP_KERNELS_CACHING_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Provides segments. Their addresses are not accessed here. */
struct seep_caching_driver {
    void *context;
    /* 0 with *address; -SEEP_ENOMEM where it has no more, and any other code where it failed. */
    int (*take)(void *context, size_t bytes, uintptr_t *address);
    void (*give)(void *context, uintptr_t address, size_t bytes);
    /* For expandable segments: memory for `more_bytes` among the first `bytes` of a segment's
     * range, which give() takes away in parts; *address is 0 at first and the segment's from then
     * on. 0, -SEEP_ENOMEM. NULL: this driver cannot. */
    int (*grow)(void *context, size_t bytes, size_t more_bytes, uintptr_t *address);
};

struct seep_caching_counts {
    size_t live_bytes;     /* of blocks that are handed out, rounded as caching_allocator.h says */
    size_t peak_bytes;     /* the most of it since the last seep_caching_reset_peak() */
    size_t reserved_bytes; /* of segments */
    size_t n_segments;
    uint64_t driver_calls; /* takes, growths and gives */
    struct {
        size_t bytes, live_bytes, reserved_bytes;
    } refused; /* the segment that was last asked for in vain, and what there was then; 0: none was
                */
};

struct seep_caching_allocator;
struct seep_caching_block;

#endif
