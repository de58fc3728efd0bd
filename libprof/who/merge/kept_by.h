/* The part of an answer to "who holds it" that a verdict can rely on. */
#ifndef SEEP_LIBPROF_WHO_MERGE_KEPT_BY_H
#define SEEP_LIBPROF_WHO_MERGE_KEPT_BY_H

#include "libprof/who/merge/small_rise.h"

/* All zeros if no snapshot was taken, or if too little of the line's memory was explained to say
 * anything about it. */
struct seep_kept_by {
    bool known;
    enum seep_holders_state state;
    bool by_python; /* Python objects lead to it */
    bool in_graph;  /* the path to it leads through nodes of an autograd graph */
    bool has_graph; /* such nodes hold some of it, though not most: a result keeps its graph
                     * alive */
    bool trained;   /* parameters that a network and an optimizer share, and the optimizer's state
                     * for them */
    uint64_t cycle_bytes; /* bytes that only cycles hold, if `state` says so */
    bool is_shared;       /* by what several objects of a library share; whatever `known` */
    const char *library;  /* the file of a library whose static data leads to it without any Python
                           * object; "" none. Borrowed from the answer */

    const json_t *way; /* to most of it; NULL if there is none. Borrowed */

    /* The container that holds most of it; `text` is the path to it, "" if there is none. Borrowed
     * from the answer. */
    const char *text, *name, *type;
    bool gathers; /* it outlives the function that fills it, and is not a network */
    bool bounded;
    uint64_t length; /* entries */
    uint64_t bound;  /* the most entries that it can hold, by its own bound */
    double entry_bytes;
    bool in_entries; /* its entries are objects of their own, and they keep the blocks */
    bool stays;      /* its length was the same in all snapshots, of which there are several */
    bool rose;       /* the last snapshot had it longer than the one before */
    int32_t step;    /* in which its length was seen last */
    bool grows;      /* its length grows, up to the end, and there are enough snapshots to tell */
    double pace;     /* entries a step */
};

/* Whether nobody holds it, not even a cycle: it was never freed, or a reference to it was never
 * given back. */
static inline bool seep_kept_by_nobody(const struct seep_kept_by *kept)
{
    return kept->known &&
           (kept->state == SEEP_HOLDERS_LOST || kept->state == SEEP_HOLDERS_REFERENCE);
}

/* The same as a line of evidence; "" if it is not so. */
const char *seep_kept_by_nobody_text(const struct seep_kept_by *kept);

/* Who got more of Python's small objects: one that was seen in several snapshots grows. */
struct seep_kept_by seep_kept_by_of_small(const struct seep_small_rise *rise);

/* `answer`: as seep_line_holders_of() gives it, or NULL. Pure. */
struct seep_kept_by seep_kept_by_of(const json_t *answer);

#endif
