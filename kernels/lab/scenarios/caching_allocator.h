/* A model of the caching allocator that PyTorch puts between tensors and the driver of a GPU: what
 * tensors give back stays in its pools, cut to the sizes they had.
 *
 * Sizes are rounded up to 512 B. A request of at most 1 MiB is cut from a segment of 2 MiB, one
 * below 10 MiB from a segment of 20 MiB, a larger one has a segment of its size rounded up to 2
 * MiB. The smallest free block of its pool that is large enough serves; it is split where the rest
 * is 512 B (small pool) or more than 1 MiB (large pool). Free neighbours become one block again.
 * Where nothing fits, the driver is asked; where that refuses, the cache is emptied and it is asked
 * again. A second refusal is final: PyTorch raises OutOfMemoryError then. With expandable segments
 * each pool is one segment, which has memory by pages of 2 MiB (small) or 20 MiB (large); both
 * pools split from a rest of 512 B on. One stream only: nothing waits for an event.
 *
 * Segments are announced to seep as blocks of `device_space`, tensors as blocks of `tensor_space`,
 * and there requests that are refused.
 *
 * All functions: not thread-safe. Memory of its own comes from malloc: two records a block. */
#ifndef SEEP_KERNELS_CACHING_ALLOCATOR_H
#define SEEP_KERNELS_CACHING_ALLOCATOR_H

#include "kernels/lab/scenarios/caching_types.h"
#include "libprof/base/error.h"

#include <stdbool.h>

/* The names of spaces are kept by reference; NULL: nothing is announced. 0, -SEEP_EINVAL
 * (expandable, and the driver cannot), -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_caching_create(const struct seep_caching_driver *driver, bool expandable,
                                        const char *device_space, const char *tensor_space,
                                        struct seep_caching_allocator **out);

/* Gives back all segments, whether blocks of them are out or not. NULL: nothing. */
void seep_caching_destroy(struct seep_caching_allocator *a);

/* 0, -SEEP_ENOMEM, what the driver failed with. 0 bytes count as 1. */
SEEP_MUST_CHECK int seep_caching_alloc(struct seep_caching_allocator *a, size_t bytes,
                                       struct seep_caching_block **out);
void seep_caching_free(struct seep_caching_allocator *a, struct seep_caching_block *block);
uintptr_t seep_caching_address(const struct seep_caching_block *block);
size_t seep_caching_bytes(const struct seep_caching_block *block);

/* torch.cuda.empty_cache(): segments without a block that is out go back to the driver, and of
 * expandable ones all pages without one. */
void seep_caching_empty(struct seep_caching_allocator *a);

struct seep_caching_counts seep_caching_counts(const struct seep_caching_allocator *a);
void seep_caching_reset_peak(struct seep_caching_allocator *a);

#endif
