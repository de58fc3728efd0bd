/* PyTorch's caching allocator on one device, as a model: what it would reserve of the device if it
 * were asked for the same blocks by other rules. It follows c10/cuda/CUDACachingAllocator.cpp of
 * PyTorch 2: best fit among free blocks of one stream and pool, split and joined inside of
 * segments, which the driver gives and gets back whole, or page by page where they can grow.
 *
 * Sizes are bytes. One thread. Whatever it is asked, it stays within `work`. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_ALLOCATOR_H
#define SEEP_LIBPROF_TORCH_TORCH_ALLOCATOR_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Sizes from 1 MiB on, one class for each power of two; smaller ones belong to the first. */
enum { SEEP_ALLOCATOR_SIZES = 16 };

/* PYTORCH_CUDA_ALLOC_CONF, all zero: the defaults. */
struct seep_allocator_rules {
    bool expandable;          /* expandable_segments:True */
    uint64_t max_split_bytes; /* max_split_size_mb; 0: none */
    double collect_above;     /* garbage_collection_threshold, a share of the capacity; 0: never */
    uint64_t capacity_bytes;  /* what the driver can give; 0: whatever is asked for */
    uint32_t divisions[SEEP_ALLOCATOR_SIZES]; /* roundup_power2_divisions; 0, 1: none */
    bool oldest_first; /* of free blocks of one size, that of the oldest segment, as newer versions
                        * do; else the lowest */
};

struct seep_torch_allocator;

/* A block is known by a number, from 1. NULL: no memory. */
struct seep_torch_allocator *seep_torch_allocator_new(const struct seep_allocator_rules *rules,
                                                      uint64_t work);
void seep_torch_allocator_free(struct seep_torch_allocator *a);

/* Of a stream and a pool, which the caller numbers from 0 (below 65,536). If the driver has to give
 * a segment and `hint` is not 0, it lies there. Returns 0; -SEEP_ENODATA: there is no room;
 * -SEEP_ENOMEM; -SEEP_ELIMIT: the work is used up. */
SEEP_MUST_CHECK int seep_torch_allocator_take(struct seep_torch_allocator *a, unsigned pool,
                                              uint64_t bytes, uint64_t hint, uint32_t *block);
/* Of one that was taken. */
void seep_torch_allocator_give(struct seep_torch_allocator *a, uint32_t block);

/* torch.cuda.empty_cache(). Private pools (of CUDA graphs) keep what they have, unless it is them
 * that are emptied. */
void seep_torch_allocator_empty(struct seep_torch_allocator *a, bool private_pools);
/* Before it has anything. */
void seep_torch_allocator_set_private(struct seep_torch_allocator *a, unsigned pool);

/* What is there at first, before anything is taken: a segment, or mapped pages of one that can grow
 * (rising addresses, of a pool one after the other), then the blocks in it (rising). */
SEEP_MUST_CHECK int seep_torch_allocator_put_segment(struct seep_torch_allocator *a, unsigned pool,
                                                     uint64_t address, uint64_t bytes,
                                                     bool is_small, bool is_expandable);
/* In the last segment that was put, behind the last block. */
SEEP_MUST_CHECK int seep_torch_allocator_put_block(struct seep_torch_allocator *a, uint64_t address,
                                                   uint64_t bytes, uint32_t *block);

uint64_t seep_torch_allocator_reserved(const struct seep_torch_allocator *a);
uint64_t seep_torch_allocator_peak(const struct seep_torch_allocator *a);
/* What is left of it. */
uint64_t seep_torch_allocator_work(const struct seep_torch_allocator *a);
/* What of the peak was in private pools. */
uint64_t seep_torch_allocator_private_at_peak(const struct seep_torch_allocator *a);

#endif
