#include "kernels/lab/scenarios/caching_judge.h"

#include "kernels/lab/scenarios/cached_gpu.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)

/* As c10/cuda/CUDACachingAllocator.cpp has it: what an empty allocator makes of a request. */
static const struct request {
    const char *name;
    size_t asked, block, segment;
} requests[] = {
    {"1 B", 1, 512, 2 * MIB},
    {"513 B", 513, 1024, 2 * MIB},
    {"1 MiB", MIB, MIB, 2 * MIB},
    {"1 MiB and 1 B", MIB + 1, MIB + 512, 20 * MIB},
    {"10 MiB but for 512 B", 10 * MIB - 512, 10 * MIB - 512, 20 * MIB},
    {"10 MiB", 10 * MIB, 10 * MIB, 10 * MIB},
    {"10 MiB and 1 B", 10 * MIB + 1, 10 * MIB + 512, 12 * MIB},
};

static int try(const struct request *r, size_t *block_bytes, size_t *segment_bytes)
{
    const struct seep_cached_gpu_kind kind = {.device = SEEP_DEVICE_CPU, .is_silent = true};
    struct seep_caching_block *block;
    struct seep_cached_gpu gpu;
    int rc = seep_cached_gpu_init(&gpu, &kind, NULL);

    if (!rc)
        rc = seep_caching_alloc(gpu.allocator, r->asked, &block);
    if (!rc) {
        *block_bytes = seep_caching_bytes(block);
        *segment_bytes = seep_caching_counts(gpu.allocator).reserved_bytes;
        seep_caching_free(gpu.allocator, block);
    }
    seep_cached_gpu_fini(&gpu);
    return rc;
}

void seep_caching_judge(struct seep_rows *rows)
{
    char name[96], expected[64];

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct request *r = &requests[i];
        size_t block = 0, segment = 0;
        const int rc = try(r, &block, &segment);
        snprintf(name, sizeof name, "PyTorch's allocator, a request of %s", r->name);
        snprintf(expected, sizeof expected, "%zu B of a segment of %zu MiB", r->block,
                 r->segment / MIB);
        seep_rows_add(rows, !rc && block == r->block && segment == r->segment, name, expected,
                      "%zu B of %.4g MiB", block, (double)segment / (double)MIB);
    }
}
