/* A device that had no room: which request failed, and what lay there just then, by line.
 *
 * What a job kept up to then is known by the end of the step before. What the step itself had made
 * by the time of the request is not, line by line: a line's highest level is the most that it can
 * have been. */
#ifndef SEEP_LIBPROF_MEASURE_SHORTAGE_H
#define SEEP_LIBPROF_MEASURE_SHORTAGE_H

#include "libprof/code/code.h"
#include "libprof/measure/device_memory.h"

/* What an out-of-memory error comes of. */
enum seep_shortage_cause {
    SEEP_SHORTAGE_FILLED,     /* a finding keeps what would have been enough */
    SEEP_SHORTAGE_FRAGMENTED, /* it is reserved, in pieces that are too small */
    SEEP_SHORTAGE_OTHERS,     /* other processes have it */
    SEEP_SHORTAGE_TOO_LARGE,  /* the step needs it */
};

struct seep_shortage_line {
    uint32_t frame;
    uint32_t site; /* its largest */
    uint64_t kept_bytes, kept_blocks;
    uint64_t step_bytes; /* at most so much more, in the step itself */
};

struct seep_shortage {
    const struct seep_model_shortage *request; /* the last one */
    uint16_t space;                            /* its */
    size_t n_requests;                         /* that failed in this space */
    int32_t first_step;                        /* of the first of them */
    int32_t before;                            /* the step before the last one's */
    /* Of the last one's process: */
    uint64_t kept_bytes, kept_blocks; /* at the end of that */
    uint64_t began_bytes;             /* at the end of the first step */
    struct seep_shortage_line *lines; /* most first, kept and made together */
    size_t n_lines;

    /* As the request failed, of its process. Of the runtime's what is kept stands for what is
     * allocated, and nothing is reserved. */
    uint64_t allocated_bytes;   /* of pinned memory with what was registered */
    uint64_t unallocated_bytes; /* reserved, and no tensor lies there */
    size_t unallocated_pieces;  /* in so many; 0: nobody noted where blocks lay */
    uint64_t largest_piece_bytes;
    uint64_t unusable_bytes;          /* in pieces that are too small, or kept for other requests */
    struct seep_device_memory device; /* all 0 of pinned memory */
    uint64_t free_bytes;              /* of the device; 0 also where its capacity is not known */

    enum seep_shortage_cause cause;
    unsigned filler; /* the number of the finding that has most of it; 0: none has */
    uint64_t filled_bytes;
};

/* Whether it is the host's memory that could not be pinned. */
static inline bool seep_shortage_is_pinned(const struct seep_shortage *s)
{
    return s->request->device == SEEP_DEVICE_PINNED;
}

/* Whether PyTorch's pool of pinned memory asked: it does so for powers of two. */
static inline bool seep_shortage_is_of_pool(const struct seep_shortage *s)
{
    const uint64_t asked = s->request->asked_bytes;

    return seep_shortage_is_pinned(s) && !s->request->registers && asked && !(asked & (asked - 1));
}

void seep_shortage_free(struct seep_shortage *s);

/* Which of the model's requests say that a device had no room, to counts[n_shortages]: not those
 * that the runtime refused PyTorch's allocator, which then empties its cache and tries again.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_shortage_requests(const struct seep_code *code, bool *counts);

/* The requests of a space; false where none counts. Lines are left out. */
bool seep_shortage_find(const struct seep_model *m, const bool *counts, uint16_t space,
                        struct seep_shortage *s);

/* Adds the lines, what they come to, and what was there as a whole; cause and filler are left to
 * the judge. Returns 0 or -SEEP_ENOMEM. Allocates: s->lines; free(). */
SEEP_MUST_CHECK int seep_shortage_weigh(const struct seep_code *code, struct seep_shortage *s);

#endif
