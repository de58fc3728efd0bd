/* What the allocator of a device would have reserved, had something been different: the events of a
 * PyTorch snapshot, tried again. */
#ifndef SEEP_LIBPROF_FORMAT_WHAT_IF_FORMAT_H
#define SEEP_LIBPROF_FORMAT_WHAT_IF_FORMAT_H

#include <stdint.h>

enum { SEEP_MAX_WHAT_IFS = 96 };

enum seep_what_if_change {
    SEEP_WHAT_IF_NOTHING,    /* as it was: the peak is what the driver had in fact given */
    SEEP_WHAT_IF_EXPANDABLE, /* expandable_segments:True */
    SEEP_WHAT_IF_MAX_SPLIT,  /* max_split_size_mb:amount */
    SEEP_WHAT_IF_ROUNDUP,    /* roundup_power2_divisions:amount */
    SEEP_WHAT_IF_KEPT,       /* a line had kept nothing beyond the step that it made it in */
    SEEP_N_WHAT_IFS
};

/* Published by peak_bytes. 40 bytes. The first of a device is SEEP_WHAT_IF_NOTHING. */
struct seep_what_if {
    uint64_t peak_bytes; /* the most that was reserved, or would have been */
    uint64_t
        private_bytes; /* of that, in private pools, as of CUDA graphs: nobody else can use it */
    uint32_t change;   /* enum seep_what_if_change */
    uint32_t amount;
    uint32_t device;
    uint32_t frame;   /* ref, of the line; 0: none */
    uint32_t failed;  /* requests that found no room: in fact */
    uint32_t refused; /* of these, would find none */
};

#endif
