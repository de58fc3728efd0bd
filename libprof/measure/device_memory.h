/* The memory of one device as a whole, by its driver and by PyTorch's allocator, over all processes
 * of the job. */
#ifndef SEEP_LIBPROF_MEASURE_DEVICE_MEMORY_H
#define SEEP_LIBPROF_MEASURE_DEVICE_MEMORY_H

#include <stdbool.h>

#include "libprof/model/model.h"

struct seep_device_memory {
    bool looked;             /* the driver was asked */
    uint64_t capacity_bytes; /* by the driver, or, if that is less, as the program announced */
    /* By the driver, as of each process's last look; all 0 without one. */
    uint64_t used_bytes, used_peak_bytes; /* by the job, contexts and code included */
    uint64_t others_bytes;                /* by processes outside the job */
    /* By PyTorch's allocator; the largest difference between its total and ours. */
    uint64_t reports;
    uint64_t live_bytes, allocated_bytes, reserved_bytes, drift_bytes;
    unsigned settings; /* bits of enum seep_allocator_settings, of all processes that use it */
};

/* device: below SEEP_MAX_DEVICES; for any other all fields are 0. */
struct seep_device_memory seep_device_memory_of(const struct seep_model *m, int device);

/* The device that a process works on: where it allocated most often; −1 if it had nothing on
 * any. */
int seep_device_of_process(const struct seep_model *m, const struct seep_model_process *p);

/* Whether another rank of the machine works on `device`, and this process works on a different one.
 * Not for the first rank: what it keeps there for all is its own business. */
bool seep_device_is_anothers(const struct seep_model *m, const struct seep_model_process *p,
                             int device);

/* Whether anything is known of it. */
bool seep_device_memory_is_known(const struct seep_device_memory *d);

/* What the allocator has reserved but not allocated. */
uint64_t seep_device_memory_cached(const struct seep_device_memory *d);

/* Which settings make PyTorch's allocator reserve less of a device. */

/* Whether these settings (bits of enum seep_allocator_settings) already keep idle memory from being
 * reserved. */
bool seep_allocator_is_cured(unsigned settings);

/* What else to do, given the settings that are already on. */
const char *seep_allocator_advice(unsigned settings);

#endif
