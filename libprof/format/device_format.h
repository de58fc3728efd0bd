/* What a profile says of devices, beside the blocks in their spaces: an allocator's own books, and
 * requests that it could not meet. */
#ifndef SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H

#include <stdint.h>

enum { SEEP_MAX_DEVICES = 16, SEEP_MAX_OUT_OF_MEMORY = 16 };

/* Of PyTorch's allocator on one device. Its totals come with each of its reports. */
struct seep_tensor_books {
    uint64_t reports;
    uint64_t live_bytes;      /* by what it reported block by block */
    uint64_t allocated_bytes; /* by its own total, with the last report */
    uint64_t reserved_bytes;
    uint64_t drift_bytes; /* by so much the two differed at most */
};

/* A request that failed for good: the allocator had emptied its cache and tried once more. */
struct seep_out_of_memory {
    uint64_t t_ns; /* stored last; 0: not there */
    uint64_t asked_bytes;
    uint64_t allocated_bytes; /* of the device, by the allocator's totals */
    uint64_t reserved_bytes;
    uint32_t period;
    uint32_t stack; /* ref, 0: not known */
    uint32_t device;
    uint32_t reserved;
};

struct seep_device_notes {
    struct seep_tensor_books tensors[SEEP_MAX_DEVICES];
    struct seep_out_of_memory out_of_memory[SEEP_MAX_OUT_OF_MEMORY];
    uint32_t n_out_of_memory; /* counts on when they are full */
    uint32_t reserved;
};

#endif
