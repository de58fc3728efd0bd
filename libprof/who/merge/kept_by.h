/* What an answer to "who holds it" says that a verdict can stand on. */
#ifndef SEEP_LIBPROF_WHO_MERGE_KEPT_BY_H
#define SEEP_LIBPROF_WHO_MERGE_KEPT_BY_H

#include "libprof/who/merge/holders_read.h"

/* All zeros where nobody looked, or where what was seen explains too little of the line's memory to
 * say anything about it. */
struct seep_kept_by {
    bool known;
    enum seep_holders_state state;
    bool by_python; /* objects of Python lead to it */
    bool in_graph;  /* the way to it leads through nodes of an autograd graph */
    bool has_graph; /* nodes hold some of it, though not most: a result drags its graph along */
    bool trained;   /* parameters of a network that an optimizer has, too, and its state of them */
    uint64_t cycle_bytes; /* of it, by nobody but cycles; where `state` says so */
    const char *library;  /* the file of a library whose static data leads to it, without anything
                           * of Python's; "" none. Borrowed from the answer */

    const json_t *way; /* to most of it; NULL where there is none. Borrowed */

    /* Of the container that holds most of it; `text` is the way to that, "" where there is
     * none. Borrowed from the answer. */
    const char *text, *name, *type;
    bool gathers; /* it outlives the function that fills it, and is no network */
    bool bounded;
    uint64_t length; /* entries */
    uint64_t bound;  /* entries that it holds at most, by its own word */
    double entry_bytes;
    bool grows;  /* its length does, to the end: snapshots are many enough to say so */
    double pace; /* entries a step */
};

/* Whether nobody holds it, not even a cycle: it was never freed, or a reference to it was never
 * given back. */
static inline bool seep_kept_by_nobody(const struct seep_kept_by *kept)
{
    return kept->known &&
           (kept->state == SEEP_HOLDERS_LOST || kept->state == SEEP_HOLDERS_REFERENCE);
}

/* That, as a line of evidence; "" where it is not so. */
const char *seep_kept_by_nobody_text(const struct seep_kept_by *kept);

/* `answer`: as seep_line_holders_of() gives it, or NULL. Pure. */
struct seep_kept_by seep_kept_by_of(const json_t *answer);

#endif
