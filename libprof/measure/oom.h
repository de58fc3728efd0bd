/* A device, or the host, that had no room: which request failed, and what lay there just then, by
 * line. Of the host: the memory that malloc and private maps have, as one.
 *
 * What a job kept up to then is known by the end of the step before. What the step itself had made
 * by the time of the request is not, line by line: a line's highest level is the most that it can
 * have been. */
#ifndef SEEP_LIBPROF_MEASURE_OOM_H
#define SEEP_LIBPROF_MEASURE_OOM_H

#include "libprof/code/code.h"
#include "libprof/measure/device_memory.h"
#include "libprof/model/model.h"

/* Host memory that was refused: by what, and whether that says that memory ran out.
 *
 * A program may ask for much only to see what it gets: it asks again for less at once, and gets it.
 * That is a probe, and no oom. It is one where the same thread got a block at the same place
 * within SEEP_RETRY_MS and in the same step: from the same call, or at the same Python line at
 * least 1/SEEP_T_RETRY_SHARE of what was refused. So a MemoryError was caught if the job went on at
 * another place, or in the next step, and ended the job if that ended. */

/* What refused a request: a limit of the process, or without one the kernel. */
struct seep_host_bound {
    const char *kind;    /* "RLIMIT_AS", "RLIMIT_DATA", "overcommit"; NULL: not of the host */
    uint64_t bytes;      /* the limit; 0 of overcommit, whose rule depends on all processes */
    uint64_t used_bytes; /* of it then */
};

bool seep_host_refusal_is_probe(const struct seep_model *m, const struct seep_model_oom *its);

/* A limit counts if the request came near it: a heap is enlarged in pieces. A cgroup refuses
 * nothing, it kills. */
struct seep_host_bound seep_host_bound_of(const struct seep_model_oom *its);

uint64_t seep_host_bound_free(const struct seep_host_bound *bound);

/* Causes of an out-of-memory error. */
enum seep_oom_cause {
    SEEP_OOM_FILLED,     /* a finding keeps as much as would have been enough */
    SEEP_OOM_FRAGMENTED, /* it is reserved, in pieces that are too small */
    SEEP_OOM_OTHERS,     /* other processes have it */
    SEEP_OOM_TOO_LARGE,  /* the step needs it */
};

struct seep_oom_line {
    uint32_t frame;
    uint32_t site; /* the largest one */
    uint64_t kept_bytes, kept_blocks;
    uint64_t step_bytes; /* at most this much more, allocated in the step itself */
};

struct seep_oom {
    const struct seep_model_oom *request; /* the last one */
    uint16_t space;                       /* of the request */
    size_t n_requests;                    /* requests that failed in this space */
    int32_t first_step;                   /* of the first failed request */
    int32_t before;                       /* the step before the last failed request's */
    /* Of the last one's process: */
    uint64_t kept_bytes, kept_blocks; /* at the end of step `before` */
    uint64_t began_bytes;             /* at the end of the first step */
    struct seep_oom_line *lines;      /* most first, by kept_bytes + step_bytes */
    size_t n_lines;

    /* Of the process, when the request failed. For a runtime request, kept bytes stand in for
     * allocated ones, and nothing is reserved. */
    uint64_t allocated_bytes;   /* for pinned memory including what was registered */
    uint64_t unallocated_bytes; /* reserved, but not occupied by tensors */
    size_t unallocated_pieces;  /* number of free pieces; 0: the layout was not recorded */
    uint64_t largest_piece_bytes;
    uint64_t unusable_bytes;          /* in pieces that are too small, or kept for other requests */
    struct seep_device_memory device; /* all 0 for pinned memory and for the host; of a space that
                                       * is on no device, its capacity alone */
    struct seep_host_bound bound;     /* for the host: what refused it; else all 0 */
    uint64_t free_bytes;              /* of the device, or below the bound; 0 also if unknown */

    enum seep_oom_cause cause;
    unsigned filler; /* the number of the finding that has most of it; 0: none has */
    uint64_t filled_bytes;
};

/* Whether the allocator of the program's own said so. */
static inline bool seep_oom_is_announced(const struct seep_oom *s)
{
    return s->request->source == SEEP_OOM_BY_PROGRAM;
}

/* Whether an allocator said so that reserves memory and cuts blocks from it. */
static inline bool seep_oom_has_reserve(const struct seep_oom *s)
{
    return s->request->source == SEEP_OOM_BY_ALLOCATOR ||
           (seep_oom_is_announced(s) && s->request->reserved_bytes);
}

/* Whether the host memory could not be pinned. */
static inline bool seep_oom_is_pinned(const struct seep_oom *s)
{
    return s->request->device == SEEP_DEVICE_PINNED && !seep_oom_is_announced(s);
}

static inline bool seep_oom_is_of_host(const struct seep_oom *s)
{
    return s->request->device == SEEP_DEVICE_HOST;
}

/* Whether a space belongs to the memory that ran out. */
static inline bool seep_oom_covers(const struct seep_model *m, const struct seep_oom *s,
                                   uint16_t space)
{
    return space == s->space || (seep_oom_is_of_host(s) && m->spaces[space].name.host_like);
}

/* Whether PyTorch's pool of pinned memory asked: it requests powers of two. */
static inline bool seep_oom_is_of_pool(const struct seep_oom *s)
{
    const uint64_t asked = s->request->asked_bytes;

    return seep_oom_is_pinned(s) && s->request->source != SEEP_OOM_BY_REGISTER && asked &&
           !(asked & (asked - 1));
}

void seep_oom_free(struct seep_oom *s);

/* Which of the model's requests say that memory ran out, to counts[n_ooms]: not those that the
 * runtime refused PyTorch's allocator, which then empties its cache and tries again; nor those of
 * host memory that asked for less at once, and got it (below).
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_oom_requests(const struct seep_code *code, bool *counts);

/* The requests of a space; false where none counts. Lines are left out. */
bool seep_oom_find(const struct seep_model *m, const bool *counts, uint16_t space,
                   struct seep_oom *s);

/* Adds the lines, their sums, and totals at that time; cause and filler are left to the judge.
 * Returns 0 or -SEEP_ENOMEM. Allocates: s->lines; free(). */
SEEP_MUST_CHECK int seep_oom_weigh(const struct seep_code *code, struct seep_oom *s);

#endif
