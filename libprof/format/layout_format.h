/* The positions of blocks in a device's memory at an instant: what its driver had given to the
 * process, and the tensors that PyTorch's allocator had in it. The gaps between tensors are the
 * allocator's cache, in pieces.
 *
 * A layout is a chain of pieces, one chunk each. Each device and reason has two chains, written in
 * turn: one is always complete. */
#ifndef SEEP_LIBPROF_FORMAT_LAYOUT_FORMAT_H
#define SEEP_LIBPROF_FORMAT_LAYOUT_FORMAT_H

#include <stdint.h>

enum seep_layout_reason {
    SEEP_LAYOUT_AT_PEAK, /* the driver had given more than ever before */
    SEEP_LAYOUT_REFUSED, /* it had no room; the caller may have tried again */
    SEEP_LAYOUT_FAILED,  /* PyTorch's allocator had none, finally */
    SEEP_N_LAYOUT_REASONS
};

enum seep_layout_kind {
    SEEP_LAYOUT_SEGMENT = 1, /* the driver's */
    SEEP_LAYOUT_MAPPED,      /* the same, a part of one that can grow: mapped next to the previous
                              * part */
    SEEP_LAYOUT_TENSOR,
};

struct seep_layout_block { /* 24 bytes */
    uint64_t address;
    uint64_t bytes;
    uint32_t site; /* file offset / 64 */
    uint32_t kind; /* enum seep_layout_kind */
};

enum { SEEP_LAYOUT_PIECES = 64, SEEP_LAYOUT_PIECE_BLOCKS = 1362 };

/* The writer sets both times to 0, then writes the rest, then the last time, then the first. A
 * reader that finds two different times has met a piece being written. */
struct seep_layout_piece { /* published by t_ns. As large as a chunk */
    uint64_t t_ns;
    uint64_t asked_bytes;    /* by the refused request; 0: at the peak */
    uint64_t left_out_bytes; /* of blocks of both kinds that did not fit here */
    uint32_t left_out;
    uint32_t period;
    uint16_t device;
    uint16_t reason;   /* enum seep_layout_reason */
    uint32_t number;   /* in its chain, from 0 on */
    uint32_t n_pieces; /* in use in its chain */
    uint32_t n_blocks; /* of this piece */
    uint32_t next;     /* next piece of the chain, or 0; also set in one not in use */
    uint32_t reserved[3];
    struct seep_layout_block blocks[SEEP_LAYOUT_PIECE_BLOCKS];
    uint64_t end_t_ns; /* the same as t_ns */
};

#endif
