/* What stands below the caching allocator: a GPU's driver, or a stand-in that hands out addresses
 * of a reserved range and no memory. */
#ifndef SEEP_KERNELS_SEGMENT_DRIVER_H
#define SEEP_KERNELS_SEGMENT_DRIVER_H

#include "kernels/compute/stream.h"
#include "kernels/lab/scenarios/caching_allocator.h"

struct seep_segment_driver;

/* `capacity_bytes`: what may be taken of the device; beyond it requests are refused. With a CUDA
 * stream segments come from cudaMalloc, which may refuse earlier, and cannot grow. 0, -SEEP_ENOMEM.
 * Threads: one at a time. The range is 64 times the capacity, so that addresses are not short:
 * PROT_NONE, never touched. */
SEEP_MUST_CHECK int seep_segment_driver_create(struct seep_stream *stream, size_t capacity_bytes,
                                               struct seep_segment_driver **out);
void seep_segment_driver_destroy(struct seep_segment_driver *d); /* NULL: nothing */

/* For seep_caching_create(); lives as long as `d`. */
struct seep_caching_driver seep_segment_driver_calls(struct seep_segment_driver *d);

#endif
