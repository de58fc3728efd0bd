/* The memory of one device as a whole: what its driver and PyTorch's allocator say of it, over the
 * processes of the job. */
#ifndef SEEP_LIBPROF_MEASURE_DEVICE_MEMORY_H
#define SEEP_LIBPROF_MEASURE_DEVICE_MEMORY_H

#include "libprof/model/model.h"

struct seep_device_memory {
    /* By the driver, with the last look of each process. Without a look all are 0. */
    uint64_t capacity_bytes;
    uint64_t used_bytes, used_peak_bytes; /* by the job, contexts and code included */
    uint64_t others_bytes;                /* by processes that are none of the job's */
    /* By PyTorch's allocator; of differences between its total and ours the largest. */
    uint64_t reports;
    uint64_t live_bytes, allocated_bytes, reserved_bytes, drift_bytes;
    unsigned settings; /* bits of enum seep_allocator_settings, of all processes that use it */
};

/* device: below SEEP_MAX_DEVICES; of any other everything is 0. */
struct seep_device_memory seep_device_memory_of(const struct seep_model *m, int device);

/* The device that a process works on: where it asked most often; −1 where it had nothing on any. */
int seep_device_of_process(const struct seep_model *m, const struct seep_model_process *p);

/* Whether `device` is the one that another rank of its machine works on, and not its own. No: it is
 * the first rank's own matter what it has there for all. */
bool seep_device_is_anothers(const struct seep_model *m, const struct seep_model_process *p,
                             int device);

/* Whether anything is known of it. */
bool seep_device_memory_is_known(const struct seep_device_memory *d);

/* What the allocator has reserved and nothing is allocated of. */
uint64_t seep_device_memory_cached(const struct seep_device_memory *d);

#endif
