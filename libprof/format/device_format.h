/* What a profile says of devices, beside the blocks in their spaces: an allocator's own books, and
 * requests that it could not meet; where blocks lay is in records of its own. */
#ifndef SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H

#include "libprof/format/layout_format.h"

enum { SEEP_MAX_DEVICES = 16, SEEP_MAX_SHORTAGES = 16, SEEP_DEVICE_LOOKS = 256 };

/* How PyTorch's allocator was told to work, by PYTORCH_CUDA_ALLOC_CONF and kin. */
enum seep_allocator_settings {
    SEEP_ALLOCATOR_EXPANDABLE = 1 << 0, /* expandable_segments:True */
    SEEP_ALLOCATOR_COLLECTS = 1 << 1,   /* garbage_collection_threshold */
    SEEP_ALLOCATOR_MAX_SPLIT = 1 << 2,  /* max_split_size_mb */
    SEEP_ALLOCATOR_ASYNC = 1 << 3,      /* backend:cudaMallocAsync */
    SEEP_ALLOCATOR_NO_CACHE = 1 << 4,   /* PYTORCH_NO_CUDA_MEMORY_CACHING */
};

/* Of PyTorch's allocator on one device. Its totals come with each of its reports. */
struct seep_tensor_books {
    uint64_t reports;
    uint64_t live_bytes;      /* by what it reported block by block */
    uint64_t allocated_bytes; /* by its own total, with the last report */
    uint64_t reserved_bytes;
    uint64_t drift_bytes; /* by so much the two differed at most */
};

/* Of a device, as its management library (NVML) tells it. All 0: nobody asked, or it does not tell.
 */
struct seep_device_use {
    uint64_t capacity_bytes;
    uint64_t used_bytes; /* by this process, context and code included, with the last look */
    uint64_t used_peak_bytes;
    uint64_t all_used_bytes; /* by every process, with the last look */
    uint32_t looks;
    uint32_t reserved;
};

/* What was in use in a period: by its last look, so that it is what a step ended with, as near as
 * looks are, from the time of its first one on. When they are full, every other one is left out. */
struct seep_device_look { /* published by n_looks. 24 bytes */
    uint64_t t_ns;
    uint64_t used_bytes; /* as in seep_device_use */
    uint32_t period;
    uint32_t device;
};

/* Memory of others that the process has pinned or mapped: in no space of its own. */
struct seep_device_aliases {
    uint64_t registered_bytes; /* of the host, pinned where it lies (cudaHostRegister()) */
    uint64_t registered_peak_bytes;
    uint32_t ipc_opened; /* blocks of other processes; CUDA does not tell how large they are */
    uint32_t ipc_closed;
};

/* Who said no. */
enum seep_shortage_source {
    SEEP_SHORTAGE_BY_ALLOCATOR, /* PyTorch's, for good: it had emptied its cache and tried once more
                                 */
    SEEP_SHORTAGE_BY_RUNTIME,   /* a call of the CUDA runtime; who called may have tried again */
    SEEP_SHORTAGE_BY_REGISTER,  /* the same, to pin what the job has already (cudaHostRegister()) */
};

/* A request that failed. */
struct seep_device_shortage {
    uint64_t t_ns; /* stored last; 0: not there */
    uint64_t asked_bytes;
    uint64_t allocated_bytes; /* of the device, by the allocator's totals; of pinned memory what was
                               * registered then; else 0 */
    uint64_t reserved_bytes;
    uint32_t period;
    uint32_t stack; /* ref, 0: not known */
    uint32_t device;
    uint32_t source; /* enum seep_shortage_source */
};

/* Of seep_device_shortage: it was not a device that had no room, but what can be pinned of the
 * host.
 */
enum { SEEP_DEVICE_PINNED = 0xff };

/* What became of the wish to be told by CUPTI. */
enum seep_cupti_state {
    SEEP_CUPTI_UNASKED = 0, /* or CUDA was not used */
    SEEP_CUPTI_LISTENS,
    SEEP_CUPTI_ABSENT,  /* no library, or one that is another */
    SEEP_CUPTI_REFUSED, /* with cupti_error */
};

enum { SEEP_CUPTI_TAKEN = 39 }; /* an error: another tool is there, and there is room for one */

struct seep_device_notes {
    struct seep_tensor_books tensors[SEEP_MAX_DEVICES];
    struct seep_device_use use[SEEP_MAX_DEVICES];
    struct seep_device_shortage shortages[SEEP_MAX_SHORTAGES];
    uint32_t n_shortages;        /* counts on when they are full */
    uint32_t allocator_settings; /* bits of enum seep_allocator_settings */
    struct seep_device_aliases aliases;
    uint32_t n_refused; /* calls of the CUDA runtime or driver that had no room */
    uint16_t cupti;     /* enum seep_cupti_state */
    uint16_t cupti_error;
    uint32_t n_looks; /* by the launcher, as use is */
    uint32_t reserved;
    struct seep_device_look looks[SEEP_DEVICE_LOOKS];
};

#endif
