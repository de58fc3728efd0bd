/* A GPU behind the caching allocator, as a training's tensors see it: CUDA's device, or a stand-in
 * that hands out addresses without memory. Segments are blocks of "device:N", tensors of
 * "tensor:N". */
#ifndef SEEP_KERNELS_CACHED_GPU_H
#define SEEP_KERNELS_CACHED_GPU_H

#include "kernels/compute/stream.h"
#include "kernels/lab/scenarios/caching_allocator.h"

struct seep_cached_gpu {
    struct seep_stream *stream; /* NULL: the stand-in */
    struct seep_segment_driver *driver;
    struct seep_caching_allocator *allocator;
    size_t capacity_bytes;
    unsigned number;
    char device_space[24], tensor_space[24];
};

struct seep_cached_gpu_kind {
    enum seep_device device;
    bool expandable;       /* one growing segment per pool, which only the stand-in supports */
    size_t capacity_bytes; /* announced, too; 0: a large GPU's, 80 GiB */
    unsigned number;       /* N */
    bool is_silent;        /* nothing is announced */
};

/* 0, -SEEP_ENOMEM, -SEEP_EINVAL, -SEEP_EDEVICE with why in *err; *out must be finished in any case,
 * and stay where it is until then. */
SEEP_MUST_CHECK int seep_cached_gpu_init(struct seep_cached_gpu *out,
                                         const struct seep_cached_gpu_kind *kind,
                                         struct seep_error *err);
void seep_cached_gpu_fini(struct seep_cached_gpu *gpu);

/* Copies into a block of the allocator's; the stand-in, which has no memory, does nothing. Returns
 * 0 or -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_cached_gpu_upload(struct seep_cached_gpu *gpu,
                                           const struct seep_caching_block *to, const void *from,
                                           size_t n_bytes);

/* The last refused request as PyTorch reports it; returns -code. */
int seep_cached_gpu_complain(const struct seep_cached_gpu *gpu, int code, struct seep_error *err);

#endif
