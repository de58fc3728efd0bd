/* What seep look tells of one holder, and of all that it found in one look. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_HOLDER_H
#define SEEP_LIBPROF_LOOK_LOOK_HOLDER_H

#include "libprof/who/retained/retainers.h"
#include "libprof/who/ways/answer.h"

#include <jansson.h>

#define SEEP_LOOK_NO_HOLDER SEEP_NO_RETAINER

/* Memory in which something is held: the host's, that of GPUs. */
enum { SEEP_LOOK_HOST, SEEP_LOOK_MEMORIES = SEEP_RETAINED_MEMORIES };

enum {
    SEEP_LOOK_LINES = 8,  /* of those that made a holder's memory, so many are told, */
    SEEP_LOOK_OTHERS = 24 /* and of the types of what no holder has */
};

struct seep_look_holder {
    uint64_t key; /* of its path without indices and keys: the same in each look at a process */
    enum seep_hold_state
        state; /* SEEP_HOLD_HELD, or why it has no holder: _CYCLE, _REFERENCE, _LOST */
    uint64_t retained[SEEP_LOOK_MEMORIES]; /* bytes of all its objects in each memory, */
    double share; /* and of the memory of which it retains the largest part: that part */
    uint64_t objects;
    uint32_t within; /* index of the holder that it belongs to; SEEP_LOOK_NO_HOLDER: none */
    int64_t length;  /* of the container that retains most of them; −1: no container */
    int64_t bound;   /* the most that the container can hold, by its own bound; −1: no bound */
    char type[SEEP_HOP_TYPE];
    struct seep_path path;
    uint32_t node;  /* the container that retains most of them */
    double most;    /* the share that it retains */
    uint32_t found; /* its index before they were sorted */
    json_t
        *made_at; /* the lines that made its host memory, see look_holders.c; NULL: not asked yet */
};

struct seep_look_memory {
    uint16_t device; /* its kind and its number; 0: the host's */
    char name[24];   /* "cuda:0" */
    uint64_t bytes;  /* in use by what was found, */
    uint64_t least;  /* and what is worth to be listed */
};

/* What many objects of a type have together, none of which is listed. */
struct seep_look_other {
    char type[SEEP_HOP_TYPE]; /* "": blocks of C's that belong to no object */
    uint64_t bytes, objects;
};

struct seep_look_holders {
    struct seep_look_holder *list; /* the one that retains most comes first */
    size_t n;
    struct seep_retained_sum *passed; /* what is not listed, but may be in another look */
    size_t n_passed;
    struct seep_look_other others[SEEP_LOOK_OTHERS]; /* of what is held: the largest comes first */
    size_t n_others;
    struct seep_look_memory memories[SEEP_LOOK_MEMORIES]; /* the host's comes first */
    size_t n_memories;
    bool all_known;             /* all memory is: else some that was not read may hold what nobody
                                 * seems to hold */
    uint64_t free_bytes;        /* in malloc's heaps */
    uint64_t nodes, live_bytes; /* all live memory, */
    uint64_t reached_bytes;     /* what somebody holds, */
    uint64_t cycle_bytes, reference_bytes, lost_bytes; /* and the rest by seep_hold_state */
};

/* Whether a holder is worth to be listed for what it retains in some memory. */
static inline bool seep_look_is_large(const struct seep_look_holders *holders,
                                      const struct seep_look_holder *holder)
{
    for (size_t m = 0; m < holders->n_memories; m++)
        if (holder->retained[m] >= holders->memories[m].least)
            return true;
    return false;
}

/* The largest part that `retained` is of a memory. */
static inline double seep_look_share(const struct seep_look_holders *holders,
                                     const uint64_t retained[SEEP_LOOK_MEMORIES])
{
    double share = 0;

    for (size_t m = 0; m < holders->n_memories; m++) {
        const double of = (double)holders->memories[m].bytes;
        const double part = of > 0 ? (double)retained[m] / of : 0;
        share = part > share ? part : share;
    }
    return share;
}

#endif
