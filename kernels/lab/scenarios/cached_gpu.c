#include "kernels/lab/scenarios/cached_gpu.h"

#include "kernels/lab/scenarios/segment_driver.h"
#include "libprof/base/text.h"
#include "preload/seep.h"

#include <stdio.h>

static const size_t large_bytes = (size_t)80 << 30; /* a large GPU's */

int seep_cached_gpu_init(struct seep_cached_gpu *out, const struct seep_cached_gpu_kind *kind,
                         struct seep_error *err)
{
    *out = (struct seep_cached_gpu){.number = kind->number,
                                    .capacity_bytes =
                                        kind->capacity_bytes ? kind->capacity_bytes : large_bytes};
    snprintf(out->device_space, sizeof out->device_space, "device:%u", kind->number);
    snprintf(out->tensor_space, sizeof out->tensor_space, "tensor:%u", kind->number);
    int rc = kind->device == SEEP_DEVICE_CUDA
                 ? seep_stream_create_cuda((int)kind->number, &out->stream, err)
                 : 0;
    if (!rc)
        rc = seep_segment_driver_create(out->stream, out->capacity_bytes, &out->driver);
    if (rc)
        return rc;
    if (kind->capacity_bytes && !kind->is_silent)
        seep_space_capacity(out->device_space, out->capacity_bytes);
    struct seep_caching_driver calls = seep_segment_driver_calls(out->driver);
    return seep_caching_create(&calls, kind->expandable, kind->is_silent ? NULL : out->device_space,
                               kind->is_silent ? NULL : out->tensor_space, &out->allocator);
}

void seep_cached_gpu_fini(struct seep_cached_gpu *gpu)
{
    seep_caching_destroy(gpu->allocator);
    seep_segment_driver_destroy(gpu->driver);
    seep_stream_destroy(gpu->stream);
    *gpu = (struct seep_cached_gpu){0};
}

int seep_cached_gpu_upload(struct seep_cached_gpu *gpu, const struct seep_caching_block *to,
                           const void *from, size_t n_bytes)
{
    void *address = (void *)seep_caching_address(to);

    return gpu->stream ? seep_stream_upload(gpu->stream, address, from, n_bytes) : 0;
}

int seep_cached_gpu_complain(const struct seep_cached_gpu *gpu, int code, struct seep_error *err)
{
    struct seep_caching_counts c = seep_caching_counts(gpu->allocator);
    char asked[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT], left[SEEP_SIZE_TEXT], live[SEEP_SIZE_TEXT],
        idle[SEEP_SIZE_TEXT];
    size_t unallocated = c.refused.reserved_bytes - c.refused.live_bytes;
    size_t unreserved = gpu->capacity_bytes - c.refused.reserved_bytes;

    return seep_error_set(err, code, "", 0,
                          "CUDA out of memory. Tried to allocate %s. GPU %u has a total capacity "
                          "of %s of which %s is free. Of the allocated memory %s is allocated by "
                          "PyTorch, and %s is reserved by PyTorch but unallocated",
                          seep_text_size((double)c.refused.bytes, asked), gpu->number,
                          seep_text_size((double)gpu->capacity_bytes, all),
                          seep_text_size((double)unreserved, left),
                          seep_text_size((double)c.refused.live_bytes, live),
                          seep_text_size((double)unallocated, idle));
}
