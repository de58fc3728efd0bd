/* What a profile records of devices, beside the blocks in their spaces: an allocator's own books,
 * and requests that it could not meet. The positions of blocks are in other records. */
#ifndef SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_DEVICE_FORMAT_H

#include "libprof/format/layout_format.h"

enum { SEEP_MAX_DEVICES = 16, SEEP_MAX_OOMS = 16, SEEP_DEVICE_LOOKS = 256 };

/* How PyTorch's allocator was told to work, by PYTORCH_CUDA_ALLOC_CONF and kin. */
enum seep_allocator_settings {
    SEEP_ALLOCATOR_EXPANDABLE = 1 << 0, /* expandable_segments:True */
    SEEP_ALLOCATOR_COLLECTS = 1 << 1,   /* garbage_collection_threshold */
    SEEP_ALLOCATOR_MAX_SPLIT = 1 << 2,  /* max_split_size_mb */
    SEEP_ALLOCATOR_ASYNC = 1 << 3,      /* backend:cudaMallocAsync */
    SEEP_ALLOCATOR_NO_CACHE = 1 << 4,   /* PYTORCH_NO_CUDA_MEMORY_CACHING */
};

/* Books of PyTorch's allocator on one device. Its totals come with each of its reports. */
struct seep_tensor_books {
    uint64_t reports;
    uint64_t live_bytes;      /* sum of the blocks it reported */
    uint64_t allocated_bytes; /* its own total in the last report */
    uint64_t reserved_bytes;
    uint64_t drift_bytes; /* the largest difference between the two */
};

/* Use of a device, as its management library (NVML) reports it. All 0: nobody asked, or no
 * answer. */
struct seep_device_use {
    uint64_t capacity_bytes;
    uint64_t used_bytes; /* by this process, context and code included, at the last look */
    uint64_t used_peak_bytes;
    uint64_t all_used_bytes; /* by all processes, at the last look */
    uint32_t looks;
    uint32_t reserved;
};

/* What was in use in a period, by its last look: about what a step ended with. Time is that of the
 * first look. When the table is full, every other entry is dropped. */
struct seep_device_look { /* published by n_looks. 24 bytes */
    uint64_t t_ns;
    uint64_t used_bytes; /* as in seep_device_use */
    uint32_t period;
    uint32_t device;
};

/* Memory of others that the process has pinned or mapped; it is in no space of its own. */
struct seep_device_aliases {
    uint64_t registered_bytes; /* host memory pinned in place (cudaHostRegister()) */
    uint64_t registered_peak_bytes;
    uint32_t ipc_opened; /* blocks of other processes; CUDA does not report their size */
    uint32_t ipc_closed;
};

/* What refused the request. */
enum seep_oom_source {
    SEEP_OOM_BY_ALLOCATOR, /* PyTorch's, finally: it had emptied its cache and tried again */
    SEEP_OOM_BY_RUNTIME,   /* a call of the CUDA runtime; its caller may have tried again */
    SEEP_OOM_BY_REGISTER,  /* the same, pinning memory that the job already had
                            * (cudaHostRegister()) */
    SEEP_OOM_BY_HOST,      /* the C library or the kernel; recorded in host_oom_format.h's
                            * table, not in this one */
    SEEP_OOM_BY_PROGRAM,   /* an allocator of the program's own, finally (seep_block_refused) */
};

/* A request that failed. */
struct seep_device_oom {
    uint64_t t_ns; /* stored last; 0: not there */
    uint64_t asked_bytes;
    uint64_t allocated_bytes; /* of the device, by the allocator's totals, or BY_PROGRAM what was
                               * live in the space; for pinned memory what was registered then;
                               * else 0 */
    uint64_t reserved_bytes;  /* by the allocator's totals; BY_PROGRAM and of tensor:N, what was
                               * live in device:N */
    uint32_t period;
    uint32_t stack; /* ref, 0: unknown */
    uint32_t device;
    uint16_t source; /* enum seep_oom_source */
    uint16_t space;  /* BY_PROGRAM: index in spaces[]; else 0 */
};

/* In place of a device: no room to pin host memory; for host memory itself (never in
 * seep_device_oom); in a space that is on no device. */
enum { SEEP_DEVICE_PINNED = 0xff, SEEP_DEVICE_HOST = 0xfe, SEEP_DEVICE_OWN = 0xfd };

/* Whether CUPTI reports to seep. */
enum seep_cupti_state {
    SEEP_CUPTI_UNASKED = 0, /* or CUDA was not used */
    SEEP_CUPTI_LISTENS,
    SEEP_CUPTI_ABSENT,  /* no library, or a different one */
    SEEP_CUPTI_REFUSED, /* with cupti_error */
};

enum { SEEP_CUPTI_TAKEN = 39 }; /* an error: another tool has the only place */

struct seep_device_notes {
    struct seep_tensor_books tensors[SEEP_MAX_DEVICES];
    struct seep_device_use use[SEEP_MAX_DEVICES];
    struct seep_device_oom ooms[SEEP_MAX_OOMS];
    uint32_t n_ooms;             /* keeps counting when the table is full */
    uint32_t allocator_settings; /* bits of enum seep_allocator_settings */
    struct seep_device_aliases aliases;
    uint32_t n_refused; /* calls of the CUDA runtime or driver refused for lack of room */
    uint16_t cupti;     /* enum seep_cupti_state */
    uint16_t cupti_error;
    uint32_t n_looks; /* written by `seep run`, like use */
    uint32_t reserved;
    struct seep_device_look looks[SEEP_DEVICE_LOOKS];
};

#endif
