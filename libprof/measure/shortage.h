/* A device that had no room: which request failed, and what lay there just then, by line.
 *
 * What a job kept up to then is known by the end of the step before. What the step itself had made
 * by the time of the request is not, line by line: a line's highest level is the most that it can
 * have been. */
#ifndef SEEP_LIBPROF_MEASURE_SHORTAGE_H
#define SEEP_LIBPROF_MEASURE_SHORTAGE_H

#include "libprof/code/stack_lines.h"
#include "libprof/code/symbols.h"
#include "libprof/model/model.h"

struct seep_shortage_line {
    uint32_t frame;
    uint32_t site; /* its largest */
    uint64_t kept_bytes, kept_blocks;
    uint64_t step_bytes; /* at most so much more, in the step itself */
};

struct seep_shortage {
    const struct seep_model_no_room *request; /* the last one */
    uint16_t space;                           /* its */
    size_t n_requests;                        /* that failed in this space */
    int32_t first_step;                       /* of the first of them */
    int32_t before;                           /* the step before the last one's */
    /* Of the last one's process: */
    uint64_t kept_bytes, kept_blocks; /* at the end of that */
    uint64_t began_bytes;             /* at the end of the first step */
    struct seep_shortage_line *lines; /* most kept first */
    size_t n_lines;
};

/* Which of the model's requests say that a device had no room, to counts[n_no_room]: not those that
 * the runtime refused PyTorch's allocator, which then empties its cache and tries again. Returns 0
 * or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_shortage_requests(const struct seep_model *m,
                                           const struct seep_stack_lines *frames,
                                           struct seep_symbols *symbols, bool *counts);

/* The requests of a space; false where none counts. Lines are left out. */
bool seep_shortage_find(const struct seep_model *m, const bool *counts, uint16_t space,
                        struct seep_shortage *s);

/* Adds the lines, and what they come to. Returns 0 or -SEEP_ENOMEM. Allocates: s->lines; free(). */
SEEP_MUST_CHECK int seep_shortage_weigh(const struct seep_model *m,
                                        const struct seep_stack_lines *frames,
                                        struct seep_shortage *s);

#endif
