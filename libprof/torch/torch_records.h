/* What PyTorch's memory snapshot says (torch.cuda.memory._dump_snapshot()), as records: the blocks
 * that were there when it was written, and what happened before, as far as its ring buffers reach
 * back. Of PyTorch 1.13 to 2.15; docs/snapshots.md has what each version writes. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_RECORDS_H
#define SEEP_LIBPROF_TORCH_TORCH_RECORDS_H

#include "libprof/base/hash_index.h"
#include "libprof/torch/pickle_read.h"
#include "libprof/torch/torch_allocator.h"

enum { SEEP_TORCH_DEVICES = 16, SEEP_TORCH_HOST = 0xff, SEEP_TORCH_NO_DEVICE = 0xfe };

struct seep_torch_text {
    uint32_t at, n; /* in the texts' bytes, followed by a NUL */
};

struct seep_torch_frame {
    uint32_t file, function; /* texts */
    uint32_t line;
};

struct seep_torch_stack {
    uint32_t first, n; /* in frame_ids, innermost first */
};

enum seep_torch_action {
    SEEP_TORCH_IGNORED,
    SEEP_TORCH_ALLOC,
    SEEP_TORCH_FREE_REQUESTED,
    SEEP_TORCH_FREE, /* it can be used again: free_completed */
    SEEP_TORCH_SEGMENT_ALLOC,
    SEEP_TORCH_SEGMENT_MAP, /* a part of one that can grow */
    SEEP_TORCH_SEGMENT_FREE,
    SEEP_TORCH_SEGMENT_UNMAP,
    SEEP_TORCH_OOM,
};

struct seep_torch_event {
    uint64_t address; /* of OOM: what the device had left */
    uint64_t bytes;
    int64_t time_us; /* of the Unix epoch; 0: not known (before 2.2) */
    uint32_t stack;
    uint16_t pool; /* in pools */
    uint8_t action;
    uint8_t device; /* or SEEP_TORCH_HOST, SEEP_TORCH_NO_DEVICE */
};

struct seep_torch_block {
    uint64_t address, bytes; /* 0: not known, see `size` */
    uint64_t size;           /* as it was rounded */
    uint32_t stack;
    bool is_live;
};

struct seep_torch_segment {
    uint64_t address, bytes;
    uint32_t stack;
    uint32_t first_block, n_blocks;
    uint16_t pool; /* in pools */
    uint8_t device;
    bool is_expandable;
    bool is_small; /* of blocks up to 1 MiB */
};

/* Where the allocator looks for a free block: blocks of another stream or pool are none. */
struct seep_torch_pool {
    int64_t stream;
    int64_t id[2]; /* {0, 0}: the pool of all; others are graphs', or the program's own */
};

/* The beginning or the end of something that the program, or PyTorch, has given a name. */
struct seep_torch_annotation {
    int64_t time_us;
    uint32_t name;
    bool is_end;
};

struct seep_torch_records {
    char *bytes;
    size_t n_bytes, bytes_capacity;
    struct seep_torch_text *texts;
    size_t n_texts, texts_capacity;
    struct seep_torch_frame *frames;
    size_t n_frames, frames_capacity;
    uint32_t *frame_ids;
    size_t n_frame_ids, frame_ids_capacity;
    struct seep_torch_stack *stacks; /* [0]: none */
    size_t n_stacks, stacks_capacity;
    struct seep_torch_event *events; /* of each device in their order */
    size_t n_events, events_capacity;
    struct seep_torch_block *blocks;
    size_t n_blocks, blocks_capacity;
    struct seep_torch_segment *segments;
    size_t n_segments, segments_capacity;
    struct seep_torch_annotation *annotations;
    size_t n_annotations, annotations_capacity;
    struct seep_torch_pool *pools;
    size_t n_pools, pools_capacity;
    struct seep_hash_index text_index, frame_index, stack_index, pool_index;
    struct seep_allocator_rules rules; /* that the job had; its capacity is not known */
    bool is_cut;                       /* the file ends early */
    bool is_snapshot;
};

/* Reads a snapshot. *records has to be released by seep_torch_records_fini() in every case.
 * Returns 0; -SEEP_ENODATA if nothing was recorded; -SEEP_EFORMAT if it is none, or not read to the
 * end for another reason than that the file ends; -SEEP_EIO; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_records_read(struct seep_torch_records *records,
                                            const struct seep_pickle_source *source,
                                            struct seep_error *err);
void seep_torch_records_fini(struct seep_torch_records *records);

/* The stack of these frames, innermost first. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_stack(struct seep_torch_records *records, const uint32_t *frames,
                                     size_t n, uint32_t *stack);

static inline const char *seep_torch_text(const struct seep_torch_records *r, uint32_t text)
{
    return r->bytes + r->texts[text].at;
}

#endif
