#include "kernels/lab/scenarios/cached_gpu.h"

#include "kernels/lab/scenarios/segment_driver.h"

static const size_t capacity_bytes = (size_t)80 << 30; /* a large GPU's */

int seep_cached_gpu_init(struct seep_cached_gpu *out, enum seep_device device, bool expandable,
                         struct seep_error *err)
{
    *out = (struct seep_cached_gpu){0};
    int rc = device == SEEP_DEVICE_CUDA ? seep_stream_create_cuda(0, &out->stream, err) : 0;
    if (!rc)
        rc = seep_segment_driver_create(out->stream, capacity_bytes, &out->driver);
    if (rc)
        return rc;
    struct seep_caching_driver calls = seep_segment_driver_calls(out->driver);
    return seep_caching_create(&calls, expandable, "device:0", "tensor:0", &out->allocator);
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
