/* What one process holds, by holder: objects that much memory goes with, each told by the way from
 * a variable, with what it retains (who/retained). Many of one kind, as the entries of a list, are
 * one holder. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_HOLDERS_H
#define SEEP_LIBPROF_LOOK_LOOK_HOLDERS_H

#include "libprof/look/taken.h"
#include "libprof/who/ways/path.h"

#define SEEP_LOOK_NO_HOLDER UINT32_MAX

struct seep_look_holder {
    uint64_t key;      /* of its way without indices and keys: the same in each look at a process */
    uint64_t retained; /* bytes, of all its objects */
    uint64_t objects;
    uint32_t within; /* index of the holder that it goes with; SEEP_LOOK_NO_HOLDER: of none */
    int64_t length;  /* of the container that retains most of them, −1: it is none */
    int64_t bound;   /* what that may ever hold, by its own word; −1: it does not say */
    char type[SEEP_HOP_TYPE];
    struct seep_path path;
    uint32_t node; /* that retains most of them */
    uint64_t most; /* bytes that it does */
};

struct seep_look_holders {
    struct seep_look_holder *list; /* what retains most first */
    size_t n;
    uint64_t nodes, live_bytes;       /* all that is live, */
    uint64_t reached_bytes;           /* what somebody holds, */
    uint64_t cycle_bytes, lost_bytes; /* what only cycles hold, and nobody */
};

/* Of what was taken and settled; `keys`: texts of dict keys may be shown. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_look_holders_fini() in either case. */
SEEP_MUST_CHECK int seep_look_holders_find(struct seep_look_holders *holders,
                                           struct seep_taken *taken, bool keys);
void seep_look_holders_fini(struct seep_look_holders *holders);

#endif
